//! Compiles the plan's expression tree to the flat form that is evaluated.

use std::sync::Arc;

use mayfly_functions::scalar::Volatility;
use mayfly_functions::{FunctionRef, Signature};
use mayfly_plan::{Expression, ExpressionKind, with_stack};
use mayfly_types::convert::is_total_cast;
use mayfly_types::{PhysicalType, TypeKind};

use super::compare::Comparer;
use super::in_list::InList;
use super::slices::{SliceRows, is_wide};
use super::subquery::SubqueryNode;
use super::{Lazy, Node, NodeId, Operation, Program};

pub(super) fn compile(expression: &Expression) -> Program {
    let mut compiler = Compiler {
        nodes: Vec::new(),
        wide: false,
        partial: 0,
        constant: 0,
        of_rows: 0,
    };
    let root = compiler.node(expression);
    let calls = |is: fn(&FunctionRef) -> bool| {
        compiler.nodes.iter().any(|node| match &node.operation {
            Operation::Call { function, .. } => is(function),
            _ => false,
        })
    };
    let assigns = calls(FunctionRef::changes_state);
    let runs_statements = calls(FunctionRef::runs_statements);
    let is_computed = !matches!(
        compiler.nodes[root as usize].operation,
        Operation::Constant(_) | Operation::Column(_) | Operation::Parameter(_)
    );
    let is_text = is_computed && expression.ty.physical() == PhysicalType::Bytes;
    Program {
        text_length: if is_text { expression.ty.length } else { 0 },
        gives_wide: compiler.wide && is_wide(&expression.ty),
        wide: compiler.wide,
        slices: SliceRows::default(),
        nodes: compiler.nodes,
        root,
        assigns,
        runs_statements,
        physical: expression.ty.physical(),
    }
}

struct Compiler {
    nodes: Vec<Node>,
    /// Whether a computed value may be long.
    wide: bool,
    /// Number of nodes that may fail, warn or have side effects by themselves, different from row to row.
    partial: usize,
    /// Number of such nodes that do so for all rows alike.
    constant: usize,
    /// Number of nodes whose values differ from row to row.
    of_rows: usize,
}

impl Compiler {
    fn node(&mut self, expression: &Expression) -> NodeId {
        with_stack(|| {
            let (partial, constant, of_rows) = (self.partial, self.constant, self.of_rows);
            let operation = self.operation(expression);
            let computes = match &operation {
                Operation::Call { .. } | Operation::LazyCall { .. } | Operation::Subquery(_) => {
                    true
                }
                // CHAR pads its value.
                Operation::Cast { to, .. } => to.kind == TypeKind::Char,
                _ => false,
            };
            self.wide |= computes && is_wide(&expression.ty);
            let is_partial = match &operation {
                Operation::Call {
                    function,
                    signature,
                    ..
                } => !function.is_total(signature),
                Operation::LazyCall {
                    function,
                    signature,
                    ..
                } => !function.is_total(signature),
                Operation::Cast { from, to, .. } => !is_total_cast(from, to),
                Operation::Subquery(_) | Operation::Unplanned => true,
                _ => false,
            };
            let differs = match &operation {
                Operation::Call { volatile, .. } => *volatile,
                Operation::Column(_)
                | Operation::Local(_)
                | Operation::Subquery(_)
                | Operation::Unplanned => true,
                _ => false,
            };
            self.of_rows += usize::from(differs);
            match is_partial {
                true if self.of_rows > of_rows => self.partial += 1,
                true => self.constant += 1,
                false => {}
            }
            let id = self.nodes.len();
            self.nodes.push(Node {
                operation,
                physical: expression.ty.physical(),
                // Neither the node nor anything below is partial.
                total: self.partial == partial && self.constant == constant,
                alike: self.partial == partial,
            });
            NodeId::try_from(id).expect("an expression has fewer than 2^32 nodes")
        })
    }

    fn operation(&mut self, expression: &Expression) -> Operation {
        match &expression.kind {
            ExpressionKind::Literal(value) => Operation::Constant(value.clone()),
            ExpressionKind::Column(column) => Operation::Column(*column),
            ExpressionKind::Parameter(index) => Operation::Parameter(*index),
            ExpressionKind::Local(local) => Operation::Local(*local),
            ExpressionKind::Call {
                function,
                arguments,
                signature,
            } => self.call(function, arguments, signature),
            ExpressionKind::Cast(input, text) => Operation::Cast {
                from: Box::new(input.ty.clone()),
                to: Box::new(expression.ty.clone()),
                text: text.clone(),
                is_bytes_as_text: text.is_none()
                    && (input.ty.is_bytes_literal
                        || matches!(input.kind, ExpressionKind::Literal(_)))
                    && input.ty.is_binary_string()
                    && expression.ty.is_string()
                    && !expression.ty.is_binary_string(),
                input: self.node(input),
            },
            ExpressionKind::Compare {
                comparison,
                left,
                right,
            } => Operation::Compare {
                comparison: *comparison,
                comparer: Comparer {
                    physical: left.ty.physical(),
                    collation: left.ty.comparison_collation(),
                },
                left: self.node(left),
                right: self.lazy(right),
            },
            ExpressionKind::And(terms) => self.logic(true, terms),
            ExpressionKind::Or(terms) => self.logic(false, terms),
            ExpressionKind::Not(input) => Operation::Not(self.node(input)),
            ExpressionKind::IsNull(input) => Operation::IsNull(self.node(input)),
            ExpressionKind::IsTruth(input, wanted) => Operation::IsTruth(self.node(input), *wanted),
            ExpressionKind::Case {
                branches,
                otherwise,
            } => Operation::Case {
                branches: branches
                    .iter()
                    .map(|(condition, result)| (self.lazy(condition), self.lazy(result)))
                    .collect(),
                otherwise: otherwise.as_deref().map(|otherwise| self.lazy(otherwise)),
            },
            ExpressionKind::InList {
                operand,
                list,
                negated,
            } => {
                let (physical, collation) =
                    (operand.ty.physical(), operand.ty.comparison_collation());
                Operation::InList {
                    list: InList::new(list, physical, collation),
                    operand: self.node(operand),
                    negated: *negated,
                }
            }
            ExpressionKind::Let { values, body } => Operation::Let {
                values: values
                    .iter()
                    .map(|(local, value)| (*local, self.node(value)))
                    .collect(),
                body: self.node(body),
            },
            ExpressionKind::LogicalSubquery(_) => Operation::Unplanned,
            ExpressionKind::Subquery(subquery) => {
                Operation::Subquery(Box::new(SubqueryNode::compile(subquery)))
            }
        }
    }

    fn call(
        &mut self,
        function: &FunctionRef,
        arguments: &[Expression],
        signature: &Arc<Signature>,
    ) -> Operation {
        let signature = Arc::clone(signature);
        if let Some(function) = function.built_in()
            && let Some(order) = function.evaluation_order(arguments.len())
        {
            let parts = order.into_iter().map(|place| {
                let part = self.lazy(&arguments[place]);
                (place, part)
            });
            let parts: Box<[(usize, Lazy)]> = parts.collect();
            let is_total = |(_, part): &(usize, Lazy)| self.nodes[part.node as usize].total;
            if function.is_lazy() || !parts.iter().skip(1).all(is_total) {
                return Operation::LazyCall {
                    function,
                    arguments: parts,
                    signature,
                };
            }
            let mut nodes: Box<[NodeId]> = vec![0; arguments.len()].into();
            for (place, part) in &parts {
                nodes[*place] = part.node;
            }
            return Operation::Call {
                function: FunctionRef::BuiltIn(function),
                arguments: nodes,
                signature,
                volatile: function.volatility() == Volatility::Volatile,
            };
        }
        Operation::Call {
            function: function.clone(),
            arguments: arguments.iter().map(|value| self.node(value)).collect(),
            signature,
            volatile: function.volatility() == Volatility::Volatile,
        }
    }

    fn logic(&mut self, conjunction: bool, terms: &[Expression]) -> Operation {
        let terms = terms.iter().map(|term| self.lazy(term)).collect();
        Operation::Logic { conjunction, terms }
    }

    fn lazy(&mut self, expression: &Expression) -> Lazy {
        let first = self.nodes.len();
        let node = self.node(expression);
        let mut columns: Vec<usize> = self.nodes[first..]
            .iter()
            .flat_map(Node::columns)
            .copied()
            .collect();
        columns.sort_unstable();
        columns.dedup();
        Lazy {
            node,
            columns: columns.into(),
        }
    }
}
