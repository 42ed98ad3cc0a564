//! Replaces expressions by indexed generated columns that hold them, so that the index can find or order rows by them
//! (the manual, "Optimizer Use of Generated Column Indexes", "Functional Key Parts").
//!
//! An expression matches a column only as a whole and as it was written, and where the column's type holds every value
//! of it. Above the inner side of an outer join, where all columns of a missing row are NULL, it must be NULL then too.

use mayfly_types::{SqlType, TypeKind};

use super::planning::Planning;
use super::rule::is_null_with;
use crate::tree::expression::{Expression, ExpressionKind, same_expression};
use crate::tree::logical::{
    ColumnSet, Computed, Query, Relation, Scan, produced, visit_expression_mut, with_stack,
};
use crate::tree::physical::JoinKind;

pub(super) fn apply(query: &mut Query, _planning: &Planning<'_>) {
    let has_any = |table: &std::sync::Arc<crate::catalog::TableSource>| {
        let mut columns = table.columns.iter();
        columns.any(|column| column.generated.is_some())
    };
    if !query.tables.iter().any(has_any) {
        return;
    }
    let mut known: Vec<Known> = Vec::new();
    query.for_each_relation_mut(&mut |relation| {
        if let Relation::Scan(scan) = relation {
            known.extend(known_columns(scan));
        }
    });
    if known.is_empty() {
        return;
    }
    query.for_each_relation_mut(&mut |relation| replace(relation, &known));
}

/// A generated column and its expression.
struct Known {
    computed: Computed,
    /// Columns of its table.
    table: ColumnSet,
}

fn known_columns(scan: &Scan) -> Vec<Known> {
    let holds = |computed: &&Computed| {
        let column = scan.table.columns.get(computed.id - scan.first);
        column.is_some_and(|column| holds_values(&column.ty, &computed.expression.ty))
    };
    let known = scan.generated.iter().filter(holds).map(|computed| Known {
        computed: computed.clone(),
        table: (scan.first..=scan.position()).collect(),
    });
    known.collect()
}

/// Whether a column holds each value of an expression's type unchanged. Integers and strings that it cannot hold are
/// errors in strict SQL mode.
fn holds_values(column: &SqlType, expression: &SqlType) -> bool {
    if column == expression {
        return true;
    }
    let same_physical = column.physical() == expression.physical();
    match (column.kind, expression.kind) {
        _ if column.is_integer() && expression.is_integer() => same_physical,
        (TypeKind::VarChar, _) => {
            expression.is_string()
                && expression.kind != TypeKind::Json
                && column.collation == expression.collation
        }
        (TypeKind::Decimal, TypeKind::Decimal) => column.decimals == expression.decimals,
        (TypeKind::Double, TypeKind::Double) | (TypeKind::Date, TypeKind::Date) => true,
        (TypeKind::DateTime, TypeKind::DateTime) | (TypeKind::Time, TypeKind::Time) => {
            column.decimals == expression.decimals
        }
        _ => false,
    }
}

/// Replaces expressions by their columns, in a relation's own expressions.
fn replace(relation: &mut Relation, known: &[Known]) {
    let mut there = ColumnSet::new();
    let mut extended = ColumnSet::new();
    match relation {
        Relation::Scan(_) => there = produced(relation),
        _ => {
            for input in relation.inputs() {
                there.extend_from(&produced(input));
                collect_extended(input, &mut extended);
            }
        }
    }
    let usable: Vec<&Known> = known
        .iter()
        .filter(|known| {
            there.contains(known.computed.id)
                && (!extended.contains(known.computed.id)
                    || is_null_with(&known.computed.expression, &known.table))
        })
        .collect();
    if usable.is_empty() {
        return;
    }
    relation.for_each_expression_mut(&mut |expression| {
        visit_expression_mut(expression, &mut |inner| {
            if matches!(
                inner.kind,
                ExpressionKind::Column(_) | ExpressionKind::Literal(_)
            ) {
                return true;
            }
            let mut candidates = usable.iter().map(|known| &known.computed);
            match candidates.find(|computed| same_expression(&computed.expression, inner)) {
                Some(computed) => {
                    *inner = Expression::column(computed.id, inner.ty.clone(), true);
                    false
                }
                None => true,
            }
        });
    });
}

/// Adds the columns that an outer join below sets to NULL.
fn collect_extended(relation: &Relation, into: &mut ColumnSet) {
    with_stack(|| {
        if let Relation::Join(join) = relation
            && join.kind == JoinKind::Left
        {
            into.extend_from(&produced(&join.right));
        }
        for input in relation.inputs() {
            collect_extended(input, into);
        }
    });
}
