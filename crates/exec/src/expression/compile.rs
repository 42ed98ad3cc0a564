//! From the plan's expression tree to the flat form that is evaluated.

use std::sync::Arc;

use mayfly_functions::scalar::Volatility;
use mayfly_plan::{Expression, ExpressionKind};
use mayfly_types::TypeKind;

use super::compare::Comparer;
use super::in_list::InList;
use super::slices::{SliceRows, is_wide};
use super::subquery::SubqueryNode;
use super::{Lazy, Node, NodeId, Operation, Program};

/// Stack that must be left before another level of an expression is entered, and how much is added
/// when it is not.
pub(super) const STACK_RED_ZONE: usize = 64 * 1024;
pub(super) const STACK_SEGMENT: usize = 1024 * 1024;

pub(super) fn compile(expression: &Expression) -> Program {
    let mut compiler = Compiler {
        nodes: Vec::new(),
        wide: false,
    };
    let root = compiler.node(expression);
    let assigns = compiler.nodes.iter().any(|node| match &node.operation {
        Operation::Call { function, .. } => function.names().contains(&"set_user_variable"),
        _ => false,
    });
    Program {
        gives_wide: compiler.wide && is_wide(&expression.ty),
        wide: compiler.wide,
        slices: SliceRows::default(),
        nodes: compiler.nodes,
        root,
        assigns,
        physical: expression.ty.physical(),
    }
}

struct Compiler {
    nodes: Vec<Node>,
    /// Something is computed that may be long.
    wide: bool,
}

impl Compiler {
    fn node(&mut self, expression: &Expression) -> NodeId {
        stacker::maybe_grow(STACK_RED_ZONE, STACK_SEGMENT, || {
            let (operation, total) = self.operation(expression);
            let computes = match &operation {
                Operation::Call { .. } | Operation::Subquery(_) => true,
                // It is padded.
                Operation::Cast { to, .. } => to.kind == TypeKind::Char,
                _ => false,
            };
            self.wide |= computes && is_wide(&expression.ty);
            let id = self.nodes.len();
            self.nodes.push(Node {
                operation,
                physical: expression.ty.physical(),
                total,
            });
            NodeId::try_from(id).expect("an expression has fewer than 2^32 nodes")
        })
    }

    fn is_total(&self, node: NodeId) -> bool {
        self.nodes[node as usize].total
    }

    fn operation(&mut self, expression: &Expression) -> (Operation, bool) {
        match &expression.kind {
            ExpressionKind::Literal(value) => (Operation::Constant(value.clone()), true),
            ExpressionKind::Column(column) => (Operation::Column(*column), true),
            ExpressionKind::Parameter(index) => (Operation::Parameter(*index), true),
            ExpressionKind::Call {
                function,
                arguments,
                signature,
            } => {
                let arguments = arguments
                    .iter()
                    .map(|argument| self.node(argument))
                    .collect();
                let operation = Operation::Call {
                    function,
                    arguments,
                    signature: Arc::clone(signature),
                    volatile: function.volatility() == Volatility::Volatile,
                };
                (operation, false)
            }
            ExpressionKind::Cast(input, text) => {
                let operation = Operation::Cast {
                    from: Box::new(input.ty.clone()),
                    to: Box::new(expression.ty.clone()),
                    text: text.clone(),
                    input: self.node(input),
                };
                (operation, false)
            }
            ExpressionKind::Compare {
                comparison,
                left,
                right,
            } => {
                let comparer = Comparer {
                    physical: left.ty.physical(),
                    collation: left.ty.comparison_collation(),
                };
                let (left, right) = (self.node(left), self.node(right));
                let operation = Operation::Compare {
                    comparison: *comparison,
                    left,
                    right,
                    comparer,
                };
                (operation, self.is_total(left) && self.is_total(right))
            }
            ExpressionKind::And(terms) => self.logic(true, terms),
            ExpressionKind::Or(terms) => self.logic(false, terms),
            ExpressionKind::Not(input) => {
                let input = self.node(input);
                (Operation::Not(input), self.is_total(input))
            }
            ExpressionKind::IsNull(input) => {
                let input = self.node(input);
                (Operation::IsNull(input), self.is_total(input))
            }
            ExpressionKind::IsTruth(input, wanted) => {
                let input = self.node(input);
                (Operation::IsTruth(input, *wanted), self.is_total(input))
            }
            ExpressionKind::Case {
                branches,
                otherwise,
            } => {
                let branches: Box<[_]> = branches
                    .iter()
                    .map(|(condition, result)| (self.lazy(condition), self.lazy(result)))
                    .collect();
                let otherwise = otherwise.as_deref().map(|otherwise| self.lazy(otherwise));
                let total = branches
                    .iter()
                    .all(|(a, b)| self.is_total(a.node) && self.is_total(b.node))
                    && otherwise
                        .as_ref()
                        .is_none_or(|lazy| self.is_total(lazy.node));
                (
                    Operation::Case {
                        branches,
                        otherwise,
                    },
                    total,
                )
            }
            ExpressionKind::InList {
                operand,
                list,
                negated,
            } => {
                let operation = Operation::InList {
                    list: InList::new(
                        list,
                        operand.ty.physical(),
                        operand.ty.comparison_collation(),
                    ),
                    operand: self.node(operand),
                    negated: *negated,
                };
                let total = match operation {
                    Operation::InList { operand, .. } => self.is_total(operand),
                    _ => false,
                };
                (operation, total)
            }
            ExpressionKind::Let { values, body } => {
                let values: Box<[_]> = values
                    .iter()
                    .map(|(local, value)| (*local, self.node(value)))
                    .collect();
                let body = self.node(body);
                let is_total = values.iter().all(|(_, value)| self.is_total(*value));
                (
                    Operation::Let { values, body },
                    is_total && self.is_total(body),
                )
            }
            ExpressionKind::Local(local) => (Operation::Local(*local), true),
            ExpressionKind::LogicalSubquery(_) => (Operation::Unplanned, false),
            ExpressionKind::Subquery(subquery) => (
                Operation::Subquery(Box::new(SubqueryNode::compile(subquery))),
                false,
            ),
        }
    }

    fn logic(&mut self, conjunction: bool, terms: &[Expression]) -> (Operation, bool) {
        let terms: Box<[_]> = terms.iter().map(|term| self.lazy(term)).collect();
        let total = terms.iter().all(|term| self.is_total(term.node));
        (Operation::Logic { conjunction, terms }, total)
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
