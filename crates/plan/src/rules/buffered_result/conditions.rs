//! Conditions of a query block that MySQL finds to be never true before it reads rows: constants, also those of merged
//! derived tables, subqueries without rows, and columns that are compared with themselves or with numbers out of their
//! range ("Constant-Folding Optimization" in the manual).

use std::collections::HashMap;

use mayfly_functions::scalar::Fact;
use mayfly_types::{SqlType, Value};

use super::Tables;
use crate::constants;
use crate::tree::expression::{Comparison, Expression, ExpressionKind};
use crate::tree::logical::{
    ColumnId, Relation, Shared, SubqueryKind, is_immutable, visit_expression_mut, with_stack,
};
use crate::tree::physical::JoinKind;

/// Evaluator of constants, if there is one, and the columns that have one value in all rows.
#[derive(Clone, Copy)]
pub(super) struct Constants<'r> {
    pub(super) evaluator: Option<&'r dyn constants::Constants>,
    pub(super) known: &'r HashMap<ColumnId, Expression>,
    pub(super) shared: &'r [Shared],
}

impl Constants<'_> {
    /// Whether a condition is false or NULL for every row.
    pub(super) fn is_never_true(&self, predicate: &Expression) -> bool {
        match self.value(predicate) {
            Some(Value::Int(number)) => number == 0,
            Some(Value::Null) => true,
            _ => self.is_never_true_of_parts(predicate),
        }
    }

    /// Whether the parts make a predicate never true: one part of AND is enough, OR needs all.
    fn is_never_true_of_parts(&self, predicate: &Expression) -> bool {
        match &predicate.kind {
            ExpressionKind::And(parts) => parts.iter().any(|part| self.is_never_true(part)),
            ExpressionKind::Or(parts) => parts.iter().all(|part| self.is_never_true(part)),
            ExpressionKind::IsNull(operand) => !operand.nullable,
            // MySQL compares no column with itself.
            ExpressionKind::Compare {
                comparison: Comparison::Less | Comparison::Greater | Comparison::NotEqual,
                left,
                right,
            } if compared_column(left).is_some()
                && compared_column(left) == compared_column(right) =>
            {
                true
            }
            ExpressionKind::Compare {
                comparison,
                left,
                right,
            } if self.is_out_of_range(*comparison, left, right) => true,
            ExpressionKind::LogicalSubquery(subquery) => match &subquery.kind {
                SubqueryKind::Exists { negated: false }
                | SubqueryKind::Quantified {
                    comparison: Comparison::Equal,
                    all: false,
                    ..
                } => self.has_no_rows(&subquery.relation),
                _ => false,
            },
            _ => predicate.columns().is_empty() && self.is_null(predicate),
        }
    }

    /// Whether an integer column is compared with a number for which no value of its type is true ("Constant-Folding
    /// Optimization" in the manual).
    fn is_out_of_range(
        &self,
        comparison: Comparison,
        left: &Expression,
        right: &Expression,
    ) -> bool {
        let (column, number, comparison) = match (compared_column(left), compared_column(right)) {
            (Some((_, ty)), None) => (ty, self.value(right), comparison),
            (None, Some((_, ty))) => (ty, self.value(left), comparison.mirrored()),
            _ => return false,
        };
        let Some((smallest, largest)) = integer_range(column) else {
            return false;
        };
        let number = match number {
            Some(Value::Int(number)) => number as f64,
            Some(Value::UInt(number)) => number as f64,
            Some(Value::Float(number)) => number,
            Some(Value::Decimal { unscaled, scale }) => {
                let digits = unscaled.to_string().parse::<f64>().unwrap_or(f64::NAN);
                digits / 10_f64.powi(i32::from(scale))
            }
            _ => return false,
        };
        match comparison {
            Comparison::Equal | Comparison::NullSafeEqual => {
                number < smallest || number > largest || number.fract() != 0.0
            }
            Comparison::Less => number <= smallest,
            Comparison::LessOrEqual => number < smallest,
            Comparison::Greater => number >= largest,
            Comparison::GreaterOrEqual => number > largest,
            Comparison::NotEqual => false,
        }
    }

    /// Whether an expression without columns is NULL: a constant, a subquery without rows, or a comparison or call with
    /// one.
    fn is_null(&self, expression: &Expression) -> bool {
        if let Some(value) = self.value(expression) {
            return value.is_null();
        }
        match &expression.kind {
            ExpressionKind::Compare {
                comparison,
                left,
                right,
            } => {
                *comparison != Comparison::NullSafeEqual
                    && (self.is_null(left) || self.is_null(right))
            }
            ExpressionKind::Call {
                function,
                arguments,
                ..
            } => function.has(Fact::Strict) && arguments.iter().any(|it| self.is_null(it)),
            ExpressionKind::Cast(operand, _) => self.is_null(operand),
            ExpressionKind::LogicalSubquery(subquery) => {
                subquery.kind == SubqueryKind::Scalar && self.has_no_rows(&subquery.relation)
            }
            _ => false,
        }
    }

    /// Whether conditions let no row of a relation pass, which is not an aggregate of all rows.
    pub(super) fn has_no_rows(&self, relation: &Relation) -> bool {
        if let Relation::Aggregate(aggregate) = relation
            && aggregate.keys.is_empty()
        {
            return false;
        }
        let mut tables = Tables::new(*self);
        tables.collect(relation);
        tables.has_no_rows
    }

    fn value(&self, expression: &Expression) -> Option<Value> {
        match expression.as_literal() {
            Some(value) => Some(value.clone()),
            None if is_immutable(expression) => self.evaluator?.constant(expression),
            None => {
                let columns = expression.columns();
                let mut columns = columns.iter();
                if !columns.all(|id| self.known.contains_key(&id)) {
                    return None;
                }
                let mut given = expression.clone();
                visit_expression_mut(&mut given, &mut |part| {
                    let known = part.as_column().and_then(|id| self.known.get(&id));
                    if let Some(value) = known {
                        *part = value.clone();
                    }
                    true
                });
                match is_immutable(&given) {
                    true => self.evaluator?.constant(&given),
                    false => None,
                }
            }
        }
    }
}

/// The column of a comparison, without a conversion, and its type.
fn compared_column(expression: &Expression) -> Option<(ColumnId, &SqlType)> {
    let operand = match &expression.kind {
        ExpressionKind::Cast(operand, _) => operand,
        _ => expression,
    };
    Some((operand.as_column()?, &operand.ty))
}

/// Smallest and largest number of an integer type of at most 32 bits, which a DOUBLE holds.
fn integer_range(ty: &SqlType) -> Option<(f64, f64)> {
    let bits = ty.integer_bits().filter(|bits| *bits <= 32)?;
    let count = 2_f64.powi(bits as i32);
    Some(match ty.unsigned {
        true => (0.0, count - 1.0),
        false => (-count / 2.0, count / 2.0 - 1.0),
    })
}

/// Records the columns of merged derived tables that are constants, unless an outer join may make them NULL.
pub(super) fn note_constants(relation: &Relation, known: &mut HashMap<ColumnId, Expression>) {
    with_stack(|| match relation {
        Relation::Project { input, columns } | Relation::Extend { input, columns } => {
            for column in columns {
                if is_immutable(&column.expression) {
                    known.insert(column.id, column.expression.clone());
                }
            }
            note_constants(input, known);
        }
        Relation::Filter { input, .. }
        | Relation::Sort { input, .. }
        | Relation::Block {
            input,
            derived: None,
            ..
        } => note_constants(input, known),
        Relation::Window(window) => note_constants(&window.input, known),
        Relation::Aggregate(aggregate) => note_constants(&aggregate.input, known),
        Relation::Join(join) => {
            note_constants(&join.left, known);
            if join.kind == JoinKind::Inner {
                note_constants(&join.right, known);
            }
        }
        _ => {}
    });
}
