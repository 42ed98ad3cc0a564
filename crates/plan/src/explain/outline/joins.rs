//! Steps of joins.

use super::super::access;
use super::super::measured::Actual;
use super::super::names::Columns;
use super::step::{Heading, Step};
use super::tables::unknown;
use super::{Described, Outliner, ROW_COST, SCAN_COST, reading, row_cost};
use crate::document::Document;
use crate::tree::physical::{IndexLookupJoin, JoinKey, JoinKind, Operator, Plan};

impl Outliner<'_> {
    pub(super) fn lookup_join(&mut self, plan: &Plan, join: &IndexLookupJoin) -> Described {
        let rows = plan.estimated_rows;
        let left = self.plan(&join.left);
        let once = SCAN_COST + join.rows_per_key * row_cost(join.covering);
        let text = access::lookup_text(join, &left.names.plain());
        let right = reading(text, "index", (&join.table, &join.alias), &join.columns);
        let mut right = right.costing(once, join.rows_per_key);
        right
            .members
            .extend(access::lookup_members(join, &left.names));
        let lookups = self.measured_of(plan).map(|measured| {
            // The time of the join beyond its left input, for all keys.
            let left = self.measured_of(&join.left).unwrap_or_default();
            let time = (measured.last_row - left.last_row).max(0.0);
            Actual {
                loops: measured.lookups,
                rows: measured.rows_read,
                first_row: time,
                last_row: time,
            }
        });
        right = right.having_done(lookups);
        let found = Columns::of_table(&join.table, &join.alias, &join.columns);
        let both = left.names.beside(found);
        if let Some(residual) = &join.residual {
            let found = join.rows_per_key * join.kept;
            // One row is enough for an existence test.
            let kept = if join.kind.is_left_only() {
                found.min(1.0)
            } else {
                found
            };
            right = self.filtered(right, residual, &both, kept);
            let given = self.measured_of(plan).map(|measured| measured.rows);
            right.actual = lookups.zip(given).map(|(actual, given)| {
                let rows = match join.kind {
                    // Output rows of the antijoin found no partner.
                    JoinKind::Anti | JoinKind::NullAwareAnti => actual.loops.saturating_sub(given),
                    _ => given,
                };
                Actual { rows, ..actual }
            });
        }
        let hash = join.hash.as_ref();
        right = right.making(hash.and_then(|hash| self.facts_of(&hash.temporary)));
        let cost = left.step.known().0 + join.left.estimated_rows * once;
        let step = nested_loop(join.kind).costing(cost, rows);
        let step = step.having_done(self.given(plan));
        Described {
            step: step.over(vec![left.step, right]),
            names: if join.kind.is_left_only() {
                left.names
            } else {
                both
            },
        }
    }

    pub(super) fn join(&mut self, plan: &Plan) -> Described {
        let rows = plan.estimated_rows;
        let (kind, left_plan, right_plan) = match &plan.operator {
            Operator::HashJoin {
                kind, left, right, ..
            }
            | Operator::NestedLoopJoin {
                kind, left, right, ..
            }
            | Operator::Apply {
                kind, left, right, ..
            } => (*kind, left, right),
            _ => return unknown(),
        };
        let left = self.plan(left_plan);
        let right = self.plan(right_plan);
        let both = left.names.beside(right.names.clone());
        let cost = left.step.known().0 + right.step.known().0 + rows * ROW_COST;
        let hash = |built: Step, table| built.under(Heading::new("Hash").making(table));
        let (step, condition, mut inputs) = match &plan.operator {
            Operator::HashJoin {
                keys,
                residual,
                build_left,
                temporary,
                ..
            } => {
                let sides = (&left.names, &right.names);
                let texts: Vec<String> = keys.iter().map(|key| key_text(key, sides)).collect();
                let step = hash_join(kind, &texts.join(", "));
                let mut columns = left.names.read_by(keys.iter().map(|key| &key.left));
                columns.extend(right.names.read_by(keys.iter().map(|key| &key.right)));
                columns.extend(both.read_by(residual));
                columns.sort_unstable();
                columns.dedup();
                let step = step.with("join_columns", columns.into_iter().collect::<Document>());
                let step = step.with("hash_condition", texts.into_iter().collect::<Document>());
                let (probe, built) = if *build_left {
                    (right.step, left.step)
                } else {
                    (left.step, right.step)
                };
                let built = hash(built, self.facts_of(temporary));
                (step, residual.as_ref(), vec![probe, built])
            }
            Operator::NestedLoopJoin {
                condition,
                temporary,
                ..
            } => {
                let step = hash_join(kind, "(no condition)");
                let columns: Document = both.read_by(condition).into_iter().collect();
                let step = step.with("join_columns", columns);
                let step = step.with("hash_condition", Document::List(Vec::new()));
                let built = hash(right.step, self.facts_of(temporary));
                (step, condition.as_ref(), vec![left.step, built])
            }
            Operator::Apply { condition, .. } => {
                let step = nested_loop(kind);
                (step, condition.as_ref(), vec![left.step, right.step])
            }
            _ => return unknown(),
        };
        let mut step = step.costing(cost, rows).having_done(self.given(plan));
        if let Some(condition) = condition {
            let extra = both.plain_text(condition);
            step.text.push_str(&format!(", extra conditions: {extra}"));
            step = step.with("extra_condition", [extra].into_iter().collect::<Document>());
            inputs.extend(self.subqueries(condition, "condition"));
        }
        Described {
            step: step.over(inputs),
            names: if kind.is_left_only() {
                left.names
            } else {
                both
            },
        }
    }
}

fn nested_loop(kind: JoinKind) -> Step {
    let word = join_word(kind);
    let step = match kind {
        JoinKind::Semi => {
            let step = Step::new("Nested loop semijoin (FirstMatch)", "join");
            step.with("semijoin_strategy", "firstmatch")
        }
        _ => Step::new(format!("Nested loop {word}"), "join"),
    };
    step.with("join_type", word)
        .with("join_algorithm", "nested_loop")
}

fn hash_join(kind: JoinKind, keys: &str) -> Step {
    let name = match kind {
        JoinKind::Inner => "Inner hash join",
        JoinKind::Left => "Left hash join",
        JoinKind::Semi => "Hash semijoin",
        JoinKind::Anti => "Hash antijoin",
        JoinKind::NullAwareAnti => "Hash antijoin (null-aware)",
    };
    let step = Step::new(format!("{name} {keys}"), "join");
    step.with("join_type", join_word(kind))
        .with("join_algorithm", "hash")
}

fn join_word(kind: JoinKind) -> &'static str {
    match kind {
        JoinKind::Inner => "inner join",
        JoinKind::Left => "left join",
        JoinKind::Semi => "semijoin",
        JoinKind::Anti | JoinKind::NullAwareAnti => "antijoin",
    }
}

fn key_text(key: &JoinKey, (left, right): (&Columns, &Columns)) -> String {
    format!(
        "({} {} {})",
        left.plain_text(&key.left),
        if key.null_safe { "<=>" } else { "=" },
        right.plain_text(&key.right),
    )
}
