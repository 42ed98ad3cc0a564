//! Terms of a scan's predicate that the table answers itself ("predicate pushdown").
//!
//! A term compares one column, as it is stored, with a value that is the same for all rows and that can neither fail nor
//! warn. What else a comparison could depend on makes it no term: a conversion of the column, a value of another kind
//! of type, a collation that is not the column's.

use mayfly_functions::scalar::Volatility;
use mayfly_types::convert::is_total_cast;
use mayfly_types::pushdown::string_collation;
use mayfly_types::{Result, SqlMode, SqlType, TermOperator, TermShape, TermSupport, TypeKind};

use super::Lowering;
use crate::access::constant::known_value;
use crate::predicates::conjuncts;
use crate::tree::expression::{Comparison, Expression, ExpressionKind};
use crate::tree::logical::{ColumnId, Scan, is_immutable, visit_expression};
use crate::tree::physical::PushedTerm;

impl Lowering {
    /// The terms of a scan that its table makes use of. Those that it answers exactly leave the predicates.
    pub(super) fn pushed_terms(&mut self, scan: &mut Scan) -> Result<Vec<PushedTerm>> {
        let Some(scans) = scan.table.scans.clone().filter(|_| self.pushes_terms) else {
            return Ok(Vec::new());
        };
        let columns = 0..scan.table.columns.len();
        let layout: Vec<ColumnId> = columns.map(|column| scan.first + column).collect();
        let predicates = std::mem::take(&mut scan.predicates);
        let mut pushed = Vec::new();
        for predicate in predicates.into_iter().flat_map(conjuncts) {
            let shape = shape_of(&predicate, scan);
            let asked = shape.map(|shape| (shape, scans.term(&shape)));
            let asked = asked.filter(|(_, support)| *support > TermSupport::Unsupported);
            let is_exact = asked.is_some_and(|(_, support)| support == TermSupport::Exact);
            if let Some((shape, _)) = asked {
                pushed.push(PushedTerm {
                    shape,
                    predicate: self.expression(predicate.clone(), &layout)?,
                    is_exact,
                });
            }
            if !is_exact {
                scan.predicates.push(predicate);
            }
        }
        Ok(pushed)
    }
}

/// The shape of a predicate that is a term.
fn shape_of(predicate: &Expression, scan: &Scan) -> Option<TermShape> {
    let column_of = |operand: &Expression| {
        let column = operand.as_column()?.checked_sub(scan.first)?;
        (column < scan.table.columns.len()).then_some(column)
    };
    let of_null = |operand: &Expression, operator| {
        Some(TermShape {
            column: column_of(operand)?,
            operator,
            collation: None,
        })
    };
    let (operand, operator) = match &predicate.kind {
        ExpressionKind::IsNull(operand) => return of_null(operand, TermOperator::Null),
        ExpressionKind::Not(inner) => match &inner.kind {
            ExpressionKind::IsNull(operand) => return of_null(operand, TermOperator::NotNull),
            _ => return None,
        },
        ExpressionKind::InList {
            operand,
            negated: false,
            ..
        } => (operand, TermOperator::Among),
        ExpressionKind::Compare {
            comparison,
            left,
            right,
        } => {
            let (operand, value, comparison) = match column_of(left) {
                Some(_) => (left, right, *comparison),
                None => (right, left, comparison.mirrored()),
            };
            let same_collation = string_collation(&left.ty) == string_collation(&operand.ty);
            if !is_alike(&value.ty, &operand.ty) || !same_collation || !is_fixed(value, scan) {
                return None;
            }
            (operand, operator_of(comparison)?)
        }
        _ => return None,
    };
    let column = column_of(operand)?;
    let ty = &scan.table.columns[column].ty;
    let collation = string_collation(ty);
    let is_stored = ty.kind != TypeKind::Json && string_collation(&operand.ty) == collation;
    is_stored.then_some(TermShape {
        column,
        operator,
        collation,
    })
}

fn operator_of(comparison: Comparison) -> Option<TermOperator> {
    Some(match comparison {
        Comparison::Equal => TermOperator::Equal,
        Comparison::Less => TermOperator::Less,
        Comparison::LessOrEqual => TermOperator::AtMost,
        Comparison::Greater => TermOperator::Greater,
        Comparison::GreaterOrEqual => TermOperator::AtLeast,
        Comparison::NotEqual | Comparison::NullSafeEqual => return None,
    })
}

/// Whether values of two types mean the same by their physical form: a DATE is not the DATETIME of its midnight.
fn is_alike(a: &SqlType, b: &SqlType) -> bool {
    let same_family = a.is_numeric() && b.is_numeric() || a.is_string() && b.is_string();
    (a.kind == b.kind || same_family) && a.physical() == b.physical()
}

/// Whether a value is the same for all rows of a scan, and can neither fail nor warn.
fn is_fixed(value: &Expression, scan: &Scan) -> bool {
    // Constants, such as DATE'2024-01-31' + INTERVAL 1 DAY: the value itself shows that nothing fails.
    let is_value = || known_value(value, &[], SqlMode::DEFAULT).is_some_and(|it| !it.is_null());
    if is_immutable(value) && is_value() {
        return true;
    }
    let mut fixed = true;
    visit_expression(value, &mut |inner| {
        fixed &= match &inner.kind {
            // A column of an outer query's row.
            ExpressionKind::Column(id) => !(scan.first..=scan.position()).contains(id),
            ExpressionKind::Call {
                function,
                signature,
                ..
            } => function.is_total(signature) && function.volatility() != Volatility::Volatile,
            ExpressionKind::Cast(operand, _) => is_total_cast(&operand.ty, &inner.ty),
            ExpressionKind::Let { .. }
            | ExpressionKind::Local(_)
            | ExpressionKind::Subquery(_)
            | ExpressionKind::LogicalSubquery(_) => false,
            _ => true,
        };
        fixed
    });
    fixed
}
