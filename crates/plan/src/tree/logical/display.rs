//! Logical plans as text, a line for each relation: for the tests of rules, and for debugging.

use std::fmt;

use crate::text::{
    call_text, expression_text, first_rows_text, joined_text, order_text, window_text,
};
use crate::tree::expression::{Expression, ExpressionKind};
use crate::tree::logical::{Query, Relation, Shared, SharedRelation, visit_expression, with_stack};
use crate::tree::physical::JoinKind;

/// Maximum indentation of a line.
const INDENT_MAX: usize = 1000;

/// Names of the columns of base tables, in the order of their numbers.
struct ColumnNames(Vec<(usize, String)>);

impl ColumnNames {
    fn collect(&mut self, relation: &Relation) {
        with_stack(|| self.collect_here(relation));
    }

    fn collect_here(&mut self, relation: &Relation) {
        if let Relation::Scan(scan) = relation {
            for (index, column) in scan.table.columns.iter().enumerate() {
                self.0.push((
                    scan.first + index,
                    format!("{}.{}", scan.alias, column.name),
                ));
            }
        }
        relation.for_each_expression(&mut |expression| {
            each_subquery(expression, &mut |subquery| self.collect(subquery));
        });
        relation
            .inputs()
            .into_iter()
            .for_each(|input| self.collect(input));
    }
}

impl crate::text::Names for ColumnNames {
    fn column(&self, column: usize) -> String {
        let first = self.0.partition_point(|(known, _)| *known < column);
        match self.0.get(first) {
            Some((known, name)) if *known == column => name.clone(),
            _ => format!("#{column}"),
        }
    }
}

fn each_subquery(expression: &Expression, visit: &mut dyn FnMut(&Relation)) {
    visit_expression(expression, &mut |inner| {
        if let ExpressionKind::LogicalSubquery(subquery) = &inner.kind {
            visit(&subquery.relation);
        }
        true
    });
}

impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut names = ColumnNames(Vec::new());
        names.collect(&self.relation);
        self.shared
            .iter()
            .for_each(|shared| shared.for_each_relation(&mut |relation| names.collect(relation)));
        names.0.sort_by_key(|(column, _)| *column);
        write_relation(f, &self.relation, 0, &names)?;
        for (index, shared) in self.shared.iter().enumerate() {
            match &shared.source {
                None => continue,
                Some(SharedRelation::Plain(relation)) => {
                    writeln!(f, "shared {index} {}:", shared.name)?;
                    write_relation(f, relation, 1, &names)?;
                }
                Some(SharedRelation::Recursive { seed, step, .. }) => {
                    writeln!(f, "shared {index} {}, recursive:", shared.name)?;
                    write_relation(f, seed, 1, &names)?;
                    write_relation(f, step, 1, &names)?;
                }
            }
        }
        Ok(())
    }
}

impl Shared {
    fn for_each_relation(&self, visit: &mut dyn FnMut(&Relation)) {
        match &self.source {
            None => {}
            Some(SharedRelation::Plain(relation)) => visit(relation),
            Some(SharedRelation::Recursive { seed, step, .. }) => {
                visit(seed);
                visit(step);
            }
        }
    }
}

fn write_relation(
    f: &mut fmt::Formatter<'_>,
    relation: &Relation,
    depth: usize,
    names: &ColumnNames,
) -> fmt::Result {
    let depth = depth.min(INDENT_MAX);
    write!(f, "{:indent$}", "", indent = depth * 2)?;
    write_line(f, relation, names)?;
    let mut outcome = Ok(());
    relation.for_each_expression(&mut |expression| {
        each_subquery(expression, &mut |subquery| {
            if outcome.is_ok() {
                outcome = writeln!(f, "{:indent$}subquery:", "", indent = depth * 2 + 2)
                    .and_then(|()| write_relation(f, subquery, depth + 2, names));
            }
        });
    });
    outcome?;
    let mut inputs = relation.inputs().into_iter();
    inputs.try_for_each(|input| with_stack(|| write_relation(f, input, depth + 1, names)))
}

fn write_line(f: &mut fmt::Formatter<'_>, relation: &Relation, names: &ColumnNames) -> fmt::Result {
    let all = |predicates: &[Expression]| joined_text(predicates, " and ", names);
    match relation {
        Relation::Values { rows, .. } => writeln!(f, "values: {} rows", rows.len()),
        Relation::Scan(scan) if scan.predicates.is_empty() => writeln!(f, "scan {}", scan.alias),
        Relation::Scan(scan) => writeln!(f, "scan {}: {}", scan.alias, all(&scan.predicates)),
        Relation::SharedScan { shared, alias, .. } => writeln!(f, "shared {shared} as {alias}"),
        Relation::Filter { predicates, .. } => writeln!(f, "filter: {}", all(predicates)),
        Relation::Project { columns, .. } | Relation::Extend { columns, .. } => {
            let word = match relation {
                Relation::Project { .. } => "project",
                _ => "extend",
            };
            write!(f, "{word}:")?;
            for column in columns {
                let text = expression_text(&column.expression, names);
                write!(f, " #{}={text}", column.id)?;
            }
            writeln!(f)
        }
        Relation::Aggregate(aggregate) => {
            write!(f, "aggregate by")?;
            for key in &aggregate.keys {
                write!(f, " {}", expression_text(&key.expression, names))?;
            }
            write!(f, ":")?;
            for (_, call) in &aggregate.aggregates {
                write!(f, " {}", call_text(call, names))?;
            }
            if aggregate.rollup.is_some() {
                write!(f, " with rollup")?;
            }
            if let Some(first) = aggregate.first_groups {
                write!(f, " first {first}")?;
            }
            writeln!(f)
        }
        Relation::Window(window) => {
            write!(f, "window:")?;
            for (id, call) in &window.calls {
                write!(f, " #{id}={}", window_text(&window.keys(), call, names))?;
            }
            writeln!(f)
        }
        Relation::Sort {
            keys,
            limit,
            for_windows,
            ..
        } => {
            write!(f, "sort: {}", order_text(keys, names))?;
            if let Some(first) = for_windows.and_then(|order| order.first) {
                write!(f, " {}", first_rows_text(first))?;
            }
            if let Some((offset, count)) = limit {
                write!(f, " limit {offset},{count}")?;
            }
            writeln!(f)
        }
        Relation::Limit { offset, count, .. } => writeln!(f, "limit {offset},{count}"),
        Relation::SetOperation { kind, all, .. } => {
            let all = if *all { " all" } else { "" };
            writeln!(f, "{kind:?}{all}")
        }
        Relation::Join(join) => {
            let kind = match join.kind {
                JoinKind::Inner => "inner",
                JoinKind::Left => "left",
                JoinKind::Semi => "semi",
                JoinKind::Anti => "anti",
                JoinKind::NullAwareAnti => "null-aware anti",
            };
            write!(f, "{kind} join")?;
            if !(join.on.is_empty() && join.null_aware.is_empty()) {
                write!(f, ": {}", all(&join.on))?;
            }
            for (left, right) in &join.null_aware {
                let (left, right) = (expression_text(left, names), expression_text(right, names));
                write!(f, "{left} not in {right}")?;
            }
            writeln!(f)
        }
        Relation::Block {
            select_id, derived, ..
        } => match derived {
            Some(derived) => writeln!(f, "derived {} (select #{select_id})", derived.alias),
            None => writeln!(f, "select #{select_id}"),
        },
        Relation::Materialize { .. } => writeln!(f, "materialize"),
    }
}
