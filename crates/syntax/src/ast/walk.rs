//! Walks over the expressions, queries and tables of a statement.
//!
//! A walk goes from top to bottom and, in a query, in the order of its text. It calls the visitor's hook for each node
//! before the node's parts, for some nodes also after them, and ends when a hook returns `Break`; the visitor keeps its
//! own results. Visitors are `dyn`, so that each kind of walk is compiled once and not once per visitor.

use std::ops::ControlFlow;

use super::{
    Cte, Expr, Function, FunctionArg, FunctionArguments, GroupBy, Join, JoinConstraint,
    LimitClause, NamedWindowDefinition, ObjectName, OrderByExpr, Query, Select, SelectItem,
    SetExpr, TableFactor, TableFunctionArgument, TableWithJoins, WindowFrameBound, WindowSpec,
    WindowType, With,
};

/// Stack that must be left; below it, a walk continues on a new segment.
const RED_ZONE: usize = 64 << 10;
/// Size of such a segment.
const STACK_PIECE: usize = 1 << 20;

/// Whether a walk continues.
pub type Flow = ControlFlow<()>;

/// Defines both walks, over shared and over mutable nodes, from one text.
macro_rules! walks {
    ($(#[$docs:meta])* $visitor:ident, $(#[$visit_docs:meta])* $visit:ident, $walk:ident, $constraint:ident $(, $mutable:tt)?) => {
        $(#[$docs])*
        #[expect(unused_variables, reason = "by default nothing is done with a node")]
        pub trait $visitor {
            /// Called with a query before its parts.
            fn pre_visit_query(&mut self, query: & $($mutable)? Query) -> Flow {
                Flow::Continue(())
            }
            /// Called with a query after its parts.
            fn post_visit_query(&mut self, query: & $($mutable)? Query) -> Flow {
                Flow::Continue(())
            }
            /// Called with a query block before its parts.
            fn pre_visit_select(&mut self, select: & $($mutable)? Select) -> Flow {
                Flow::Continue(())
            }
            /// Called with GROUP BY before its keys; there may be none.
            fn pre_visit_group_by(&mut self, group_by: & $($mutable)? GroupBy) -> Flow {
                Flow::Continue(())
            }
            /// Called with GROUP BY after its keys; there may be none.
            fn post_visit_group_by(&mut self, group_by: & $($mutable)? GroupBy) -> Flow {
                Flow::Continue(())
            }
            /// Called with a query's ORDER BY before its keys, if it has any.
            fn pre_visit_order_by(&mut self, order_by: & $($mutable)? [OrderByExpr]) -> Flow {
                Flow::Continue(())
            }
            /// Called with an operand of a join before its parts.
            fn pre_visit_table_factor(&mut self, factor: & $($mutable)? TableFactor) -> Flow {
                Flow::Continue(())
            }
            /// Called with the name of a table in FROM.
            fn pre_visit_relation(&mut self, name: & $($mutable)? ObjectName) -> Flow {
                Flow::Continue(())
            }
            /// Called with an expression before its operands.
            fn pre_visit_expr(&mut self, expr: & $($mutable)? Expr) -> Flow {
                Flow::Continue(())
            }
        }

        $(#[$visit_docs])*
        pub trait $visit {
            /// Walks over this node and its parts.
            fn $walk(& $($mutable)? self, visitor: &mut dyn $visitor) -> Flow;
        }

        impl<T: $visit> $visit for Option<T> {
            fn $walk(& $($mutable)? self, visitor: &mut dyn $visitor) -> Flow {
                match self {
                    Some(node) => node.$walk(visitor),
                    None => Flow::Continue(()),
                }
            }
        }

        impl<T: $visit + ?Sized> $visit for Box<T> {
            fn $walk(& $($mutable)? self, visitor: &mut dyn $visitor) -> Flow {
                (**self).$walk(visitor)
            }
        }

        impl<T: $visit> $visit for Vec<T> {
            fn $walk(& $($mutable)? self, visitor: &mut dyn $visitor) -> Flow {
                for node in self {
                    node.$walk(visitor)?;
                }
                Flow::Continue(())
            }
        }

        impl $visit for Query {
            fn $walk(& $($mutable)? self, visitor: &mut dyn $visitor) -> Flow {
                stacker::maybe_grow(RED_ZONE, STACK_PIECE, || {
                    visitor.pre_visit_query(self)?;
                    self.with.$walk(visitor)?;
                    self.body.$walk(visitor)?;
                    if !self.order_by.is_empty() {
                        visitor.pre_visit_order_by(& $($mutable)? self.order_by)?;
                        self.order_by.$walk(visitor)?;
                    }
                    self.limit_clause.$walk(visitor)?;
                    visitor.post_visit_query(self)
                })
            }
        }

        impl $visit for With {
            fn $walk(& $($mutable)? self, visitor: &mut dyn $visitor) -> Flow {
                self.cte_tables.$walk(visitor)
            }
        }

        impl $visit for Cte {
            fn $walk(& $($mutable)? self, visitor: &mut dyn $visitor) -> Flow {
                self.query.$walk(visitor)
            }
        }

        impl $visit for SetExpr {
            fn $walk(& $($mutable)? self, visitor: &mut dyn $visitor) -> Flow {
                match self {
                    SetExpr::Select(select) => select.$walk(visitor),
                    SetExpr::Query(query) => query.$walk(visitor),
                    SetExpr::SetOperation { left, right, .. } => {
                        stacker::maybe_grow(RED_ZONE, STACK_PIECE, || {
                            left.$walk(visitor)?;
                            right.$walk(visitor)
                        })
                    }
                    SetExpr::Values(rows) => rows.$walk(visitor),
                    SetExpr::Table(_) => Flow::Continue(()),
                }
            }
        }

        impl $visit for Select {
            fn $walk(& $($mutable)? self, visitor: &mut dyn $visitor) -> Flow {
                visitor.pre_visit_select(self)?;
                self.projection.$walk(visitor)?;
                self.from.$walk(visitor)?;
                self.selection.$walk(visitor)?;
                visitor.pre_visit_group_by(& $($mutable)? self.group_by)?;
                self.group_by.keys.$walk(visitor)?;
                visitor.post_visit_group_by(& $($mutable)? self.group_by)?;
                self.having.$walk(visitor)?;
                self.named_window.$walk(visitor)
            }
        }

        impl $visit for SelectItem {
            fn $walk(& $($mutable)? self, visitor: &mut dyn $visitor) -> Flow {
                match self {
                    SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => {
                        expr.$walk(visitor)
                    }
                    SelectItem::QualifiedWildcard(_) | SelectItem::Wildcard => Flow::Continue(()),
                }
            }
        }

        impl $visit for OrderByExpr {
            fn $walk(& $($mutable)? self, visitor: &mut dyn $visitor) -> Flow {
                self.expr.$walk(visitor)
            }
        }

        impl $visit for LimitClause {
            fn $walk(& $($mutable)? self, visitor: &mut dyn $visitor) -> Flow {
                self.limit.$walk(visitor)?;
                self.offset.$walk(visitor)
            }
        }

        impl $visit for TableWithJoins {
            fn $walk(& $($mutable)? self, visitor: &mut dyn $visitor) -> Flow {
                self.relation.$walk(visitor)?;
                self.joins.$walk(visitor)
            }
        }

        impl $visit for Join {
            fn $walk(& $($mutable)? self, visitor: &mut dyn $visitor) -> Flow {
                self.relation.$walk(visitor)?;
                match self.join_operator.$constraint() {
                    JoinConstraint::On(condition) => condition.$walk(visitor),
                    JoinConstraint::Using(_) | JoinConstraint::Natural | JoinConstraint::None => {
                        Flow::Continue(())
                    }
                }
            }
        }

        impl $visit for TableFactor {
            fn $walk(& $($mutable)? self, visitor: &mut dyn $visitor) -> Flow {
                visitor.pre_visit_table_factor(self)?;
                match self {
                    TableFactor::Table { name, .. } => visitor.pre_visit_relation(name),
                    TableFactor::Derived { subquery, .. } => subquery.$walk(visitor),
                    TableFactor::JsonTable { json_expr, .. } => json_expr.$walk(visitor),
                    TableFactor::Function { call, .. } => call.arguments.$walk(visitor),
                    TableFactor::NestedJoin { table_with_joins } => {
                        stacker::maybe_grow(RED_ZONE, STACK_PIECE, || {
                            table_with_joins.$walk(visitor)
                        })
                    }
                }
            }
        }

        impl $visit for TableFunctionArgument {
            fn $walk(& $($mutable)? self, visitor: &mut dyn $visitor) -> Flow {
                self.value.$walk(visitor)
            }
        }

        impl $visit for NamedWindowDefinition {
            fn $walk(& $($mutable)? self, visitor: &mut dyn $visitor) -> Flow {
                self.1.$walk(visitor)
            }
        }

        impl $visit for WindowType {
            fn $walk(& $($mutable)? self, visitor: &mut dyn $visitor) -> Flow {
                match self {
                    WindowType::WindowSpec(spec) => spec.$walk(visitor),
                    WindowType::NamedWindow(_) => Flow::Continue(()),
                }
            }
        }

        impl $visit for WindowSpec {
            fn $walk(& $($mutable)? self, visitor: &mut dyn $visitor) -> Flow {
                self.partition_by.$walk(visitor)?;
                self.order_by.$walk(visitor)?;
                if let Some(frame) = & $($mutable)? self.window_frame {
                    frame.start_bound.$walk(visitor)?;
                    frame.end_bound.$walk(visitor)?;
                }
                Flow::Continue(())
            }
        }

        impl $visit for WindowFrameBound {
            fn $walk(& $($mutable)? self, visitor: &mut dyn $visitor) -> Flow {
                match self {
                    WindowFrameBound::CurrentRow => Flow::Continue(()),
                    WindowFrameBound::Preceding(distance) | WindowFrameBound::Following(distance) => {
                        distance.$walk(visitor)
                    }
                }
            }
        }

        impl $visit for FunctionArguments {
            fn $walk(& $($mutable)? self, visitor: &mut dyn $visitor) -> Flow {
                let FunctionArguments::List(list) = self else {
                    return Flow::Continue(());
                };
                list.args.$walk(visitor)?;
                list.order_by.$walk(visitor)
            }
        }

        impl $visit for FunctionArg {
            fn $walk(& $($mutable)? self, visitor: &mut dyn $visitor) -> Flow {
                match self {
                    FunctionArg::Expr(expr) => expr.$walk(visitor),
                    FunctionArg::Wildcard => Flow::Continue(()),
                }
            }
        }

        impl $visit for Function {
            fn $walk(& $($mutable)? self, visitor: &mut dyn $visitor) -> Flow {
                self.args.$walk(visitor)?;
                self.over.$walk(visitor)
            }
        }

        impl $visit for Expr {
            fn $walk(& $($mutable)? self, visitor: &mut dyn $visitor) -> Flow {
                stacker::maybe_grow(RED_ZONE, STACK_PIECE, || {
                    visitor.pre_visit_expr(self)?;
                    match self {
                        Expr::Value(_)
                        | Expr::Identifier(_)
                        | Expr::CompoundIdentifier(_)
                        | Expr::TypedString(_) => Flow::Continue(()),
                        Expr::Nested(expr)
                        | Expr::UnaryOp { expr, .. }
                        | Expr::IsNull(expr)
                        | Expr::IsNotNull(expr)
                        | Expr::IsTrue(expr)
                        | Expr::IsNotTrue(expr)
                        | Expr::IsFalse(expr)
                        | Expr::IsNotFalse(expr)
                        | Expr::IsUnknown(expr)
                        | Expr::IsNotUnknown(expr)
                        | Expr::Cast { expr, .. }
                        | Expr::Convert { expr, .. }
                        | Expr::Collate { expr, .. }
                        | Expr::Extract { expr, .. }
                        | Expr::Prefixed { value: expr, .. } => expr.$walk(visitor),
                        Expr::Interval(interval) => interval.value.$walk(visitor),
                        Expr::Tuple(parts) => parts.$walk(visitor),
                        Expr::BinaryOp { left, right, .. }
                        | Expr::AnyOp { left, right, .. }
                        | Expr::AllOp { left, right, .. }
                        | Expr::MemberOf {
                            value: left,
                            array: right,
                        } => {
                            left.$walk(visitor)?;
                            right.$walk(visitor)
                        }
                        Expr::InList { expr, list, .. } => {
                            expr.$walk(visitor)?;
                            list.$walk(visitor)
                        }
                        Expr::InSubquery { expr, subquery, .. } => {
                            expr.$walk(visitor)?;
                            subquery.$walk(visitor)
                        }
                        Expr::Between {
                            expr, low, high, ..
                        } => {
                            expr.$walk(visitor)?;
                            low.$walk(visitor)?;
                            high.$walk(visitor)
                        }
                        Expr::Like {
                            expr,
                            pattern,
                            escape_char,
                            ..
                        } => {
                            expr.$walk(visitor)?;
                            pattern.$walk(visitor)?;
                            escape_char.$walk(visitor)
                        }
                        Expr::RLike { expr, pattern, .. } => {
                            expr.$walk(visitor)?;
                            pattern.$walk(visitor)
                        }
                        Expr::Exists { subquery, .. } | Expr::Subquery(subquery) => {
                            subquery.$walk(visitor)
                        }
                        Expr::Case {
                            operand,
                            conditions,
                            else_result,
                        } => {
                            operand.$walk(visitor)?;
                            for when in conditions {
                                when.condition.$walk(visitor)?;
                                when.result.$walk(visitor)?;
                            }
                            else_result.$walk(visitor)
                        }
                        Expr::Trim {
                            trim_what, expr, ..
                        } => {
                            trim_what.$walk(visitor)?;
                            expr.$walk(visitor)
                        }
                        Expr::Function(call) => call.$walk(visitor),
                    }
                })
            }
        }
    };
}

walks! {
    /// Hooks of a walk.
    Visitor,
    /// A node that can be walked over.
    Visit, visit, constraint
}

walks! {
    /// Hooks of a walk that may change the nodes. A node that a hook puts in the place of another is walked over in its
    /// stead.
    VisitorMut,
    /// A node that can be walked over and changed.
    VisitMut, visit_mut, constraint_mut, mut
}

/// Visitor that calls a function with each expression before its operands.
struct EachExpr<'f>(&'f mut dyn FnMut(&Expr) -> Flow);

impl Visitor for EachExpr<'_> {
    fn pre_visit_expr(&mut self, expr: &Expr) -> Flow {
        (self.0)(expr)
    }
}

/// Calls a function with each expression of a node, before its operands, until it breaks.
pub fn visit_expressions<B>(
    node: &dyn Visit,
    mut each: impl FnMut(&Expr) -> ControlFlow<B>,
) -> ControlFlow<B> {
    let mut kept = None;
    let _ = node.visit(&mut EachExpr(&mut |expr| keep(each(expr), &mut kept)));
    kept.map_or(ControlFlow::Continue(()), ControlFlow::Break)
}

struct EachExprMut<'f>(&'f mut dyn FnMut(&mut Expr) -> Flow);

impl VisitorMut for EachExprMut<'_> {
    fn pre_visit_expr(&mut self, expr: &mut Expr) -> Flow {
        (self.0)(expr)
    }
}

/// Calls a function with each expression of a node, mutably and before its operands, until it breaks.
pub fn visit_expressions_mut<B>(
    node: &mut dyn VisitMut,
    mut each: impl FnMut(&mut Expr) -> ControlFlow<B>,
) -> ControlFlow<B> {
    let mut kept = None;
    let _ = node.visit_mut(&mut EachExprMut(&mut |expr| keep(each(expr), &mut kept)));
    kept.map_or(ControlFlow::Continue(()), ControlFlow::Break)
}

struct EachRelation<'f>(&'f mut dyn FnMut(&ObjectName) -> Flow);

impl Visitor for EachRelation<'_> {
    fn pre_visit_relation(&mut self, name: &ObjectName) -> Flow {
        (self.0)(name)
    }
}

/// Calls a function with the name of each table in the FROM clauses of a node, until it breaks.
pub fn visit_relations<B>(
    node: &dyn Visit,
    mut each: impl FnMut(&ObjectName) -> ControlFlow<B>,
) -> ControlFlow<B> {
    let mut kept = None;
    let _ = node.visit(&mut EachRelation(&mut |name| keep(each(name), &mut kept)));
    kept.map_or(ControlFlow::Continue(()), ControlFlow::Break)
}

/// Stores the value of a `Break`.
fn keep<B>(flow: ControlFlow<B>, kept: &mut Option<B>) -> Flow {
    flow.map_break(|found| *kept = Some(found))
}
