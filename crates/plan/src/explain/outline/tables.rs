//! Steps that create temporary tables: groups, sorts, set operations, common table expressions.

use super::super::measured::Actual;
use super::super::names::Columns;
use super::step::{Heading, Step};
use super::{Described, Outliner, ROW_COST, limit_step, scan_of};
use crate::document::Document;
use crate::text::{first_rows_text, order_text};
use crate::tree::physical::{
    AggregateCall, Grouping, Operator, Plan, Purpose, SetOperationKind, SharedId, SharedSource,
};
use crate::window::{WindowCall, WindowKeys};

impl Outliner<'_> {
    pub(super) fn aggregate(
        &mut self,
        plan: &Plan,
        input: &Plan,
        grouping: &Grouping,
    ) -> Described {
        let Grouping {
            aggregates,
            rollup,
            first_groups,
            ordered,
            temporary,
            ..
        } = grouping;
        let rows = plan.estimated_rows;
        let input = self.plan(input);
        let (cost, input_rows) = input.step.known();
        let cost = cost + input_rows * ROW_COST;
        let calls = aggregates.iter().map(|call| input.names.call_text(call));
        let calls: Vec<String> = calls.collect();
        let names = input.names.grouped(grouping);
        let functions: Document = calls.iter().map(String::as_str).collect();
        let Some(temporary) = temporary else {
            let text = match (ordered, calls.as_slice()) {
                (false, _) => format!("Aggregate: {}", calls.join(", ")),
                (true, []) => "Group (no aggregates)".to_owned(),
                (true, _) => format!("Group aggregate: {}", calls.join(", ")),
            };
            let mut step = Step::new(text, "aggregate").with("functions", functions);
            if *ordered {
                step = step.with("group_by", true);
            }
            let step = step.costing(cost, rows).over(vec![input.step]);
            let step = step.having_done(self.given(plan));
            return Described { step, names };
        };
        let step = if *rollup {
            let text = format!("Group aggregate with rollup: {}", calls.join(", "));
            let step = Step::new(text, "aggregate").with("functions", functions);
            step.with("group_by", true).with("rollup", true)
        } else if is_distinct(temporary.purpose, aggregates) {
            let text = "Temporary table with deduplication";
            let step = Step::new(text, "materialize").with("temp_table", true);
            step.with("deduplication", true)
        } else {
            Step::new("Aggregate using temporary table", "temp_table_aggregate")
        };
        let mut step = step.costing(cost, rows).holding(cost);
        if let Some(first) = first_groups {
            step.text.push_str(&format!(", first {first} group(s)"));
            step = step.with("first_groups", *first);
        }
        let step = step.over(vec![input.step]).making(self.facts_of(temporary));
        scan_of(step, "<temporary>", names, self.given(plan))
    }

    pub(super) fn sort(&mut self, plan: &Plan) -> Described {
        let Operator::Sort {
            input,
            keys,
            limit,
            for_windows,
            temporary,
        } = &plan.operator
        else {
            return unknown();
        };
        let rows = plan.estimated_rows;
        let input = self.plan(input);
        let (cost, input_rows) = input.step.known();
        let order = order_text(keys, &input.names.plain());
        let fields = keys
            .iter()
            .map(|key| order_text(std::slice::from_ref(key), &input.names.plain()));
        let fields: Document = fields.collect();
        let mut text = format!("Sort: {order}");
        let wanted = limit.map(|(offset, count)| offset.saturating_add(count));
        if let Some(wanted) = wanted {
            text.push_str(&format!(", limit input to {wanted} row(s) per chunk"));
        }
        let first = for_windows.and_then(|order| order.first);
        if let Some(first) = first {
            text.push_str(&format!(", {}", first_rows_text(first)));
        }
        let cost = cost + input_rows * ROW_COST;
        let mut step = Step::new(text, "sort").with("sort_fields", fields);
        if let Some(first) = first {
            step = step.with("per_partition_limit", first.count);
        }
        if let Some(wanted) = wanted {
            step = step.with("per_chunk_limit", wanted);
        }
        let step = step.costing(cost, rows).holding(cost);
        let sorted = step.over(vec![input.step]).making(self.facts_of(temporary));
        let sorted = sorted.having_done(self.given(plan));
        Described {
            step: match limit {
                Some((offset, count)) => {
                    let actual = sorted.actual;
                    limit_step(*offset, *count, rows, sorted).having_done(actual)
                }
                None => sorted,
            },
            names: input.names,
        }
    }

    pub(super) fn window(&mut self, plan: &Plan) -> Described {
        let Operator::Window {
            input,
            partition,
            order,
            calls,
            temporary,
        } = &plan.operator
        else {
            return unknown();
        };
        let input = self.plan(input);
        let (cost, rows) = input.step.known();
        let keys = WindowKeys { partition, order };
        let texts: Vec<String> = calls
            .iter()
            .map(|call| input.names.window_text(&keys, call))
            .collect();
        for call in calls {
            call.for_each_expression(&mut |expression| self.note_subqueries([expression]));
        }
        let buffers = !calls.iter().all(WindowCall::is_streamed);
        let with_buffering = if buffers { " with buffering" } else { "" };
        let text = format!("Window aggregate{with_buffering}: {}", texts.join(", "));
        let mut step =
            Step::new(text, "window").with("functions", texts.into_iter().collect::<Document>());
        if buffers {
            step = step
                .with("buffering", true)
                .making(self.facts_of(temporary));
        }
        let step = step
            .costing(cost + rows * ROW_COST, rows)
            .over(vec![input.step]);
        Described {
            step: step.having_done(self.given(plan)),
            names: input.names.windowed(&keys, calls),
        }
    }

    pub(super) fn set_operation(&mut self, plan: &Plan) -> Described {
        let Operator::SetOperation {
            kind,
            all,
            inputs,
            temporary,
        } = &plan.operator
        else {
            return unknown();
        };
        let rows = plan.estimated_rows;
        let mut names = Columns::default();
        let mut steps = Vec::with_capacity(inputs.len());
        let mut cost = 0.0;
        for (index, input) in inputs.iter().enumerate() {
            let described = self.block(|outliner| outliner.plan(input));
            cost += described.step.known().0;
            if index == 0 {
                names = described.names.unqualified();
            }
            steps.push(described.step);
        }
        let Some(temporary) = temporary else {
            let step = Step::new("Append", "append").costing(cost, rows);
            let streams = steps.into_iter().map(|input| {
                let (cost, rows) = input.known();
                let actual = input.actual;
                let step = Step::new("Stream results", "stream").costing(cost, rows);
                step.over(vec![input]).having_done(actual)
            });
            return Described {
                step: step.over(streams.collect()).having_done(self.given(plan)),
                names,
            };
        };
        let (verb, word) = match kind {
            SetOperationKind::Union => ("Union", "union"),
            SetOperationKind::Intersect => ("Intersect", "intersect"),
            SetOperationKind::Except => ("Except", "except"),
        };
        let text = if *all {
            format!("{verb} all materialize")
        } else {
            format!("{verb} materialize with deduplication")
        };
        let mut step = Step::new(text, "materialize").with(word, true);
        if !*all {
            step = step.with("deduplication", true);
        }
        let step = step.costing(cost, rows).holding(cost).over(steps);
        let step = step.making(self.facts_of(temporary));
        let actual = self.given(plan);
        scan_of(step, &format!("<{word} temporary>"), names, actual)
    }

    pub(super) fn shared_names(&self, shared: SharedId, alias: &str) -> Columns {
        let result = self.plan.shared.get(shared.0);
        result.map_or_else(Columns::default, |result| {
            Columns::of_derived(alias, &result.columns)
        })
    }

    pub(super) fn shared(&mut self, reader: &Plan, shared: SharedId, alias: &str) -> Described {
        let names = self.shared_names(shared, alias);
        let (plan, rows) = (self.plan, reader.estimated_rows);
        let Some(result) = plan.shared.get(shared.0) else {
            return unknown();
        };
        let printed = self
            .seen
            .get_mut(shared.0)
            .is_none_or(|seen| std::mem::replace(seen, true));
        let recursive = matches!(result.source, SharedSource::Recursive { .. });
        let mut text = if recursive {
            format!("Materialize recursive CTE {}", result.name)
        } else {
            format!("Materialize CTE {} if needed", result.name)
        };
        if printed {
            text.push_str(" (query plan printed elsewhere)");
        }
        let mut made = Step::new(text, "materialize").with("cte", true);
        if recursive {
            made = made.with("recursive", true);
        }
        let mut cost = 0.0;
        if !printed {
            let outer = std::mem::take(&mut self.of_select_list);
            match &result.source {
                SharedSource::Plan(source) => {
                    let described = self.plan(source);
                    made.actual = self.given(source).map(Actual::made);
                    cost = described.step.known().0;
                    made.inputs.push(described.step);
                }
                SharedSource::Recursive { seed, step, .. } => {
                    let seed = self.plan(seed);
                    let step = self.plan(step);
                    cost = seed.step.known().0 + step.step.known().0;
                    made.inputs.push(seed.step);
                    let heading = Heading::new("Repeat until convergence");
                    made.inputs.push(step.step.under(heading));
                }
            }
            made.of_select_list = std::mem::replace(&mut self.of_select_list, outer);
            made = made.making(self.facts_of(&result.temporary));
        }
        let made = made.costing(cost, rows).holding(cost);
        scan_of(made, alias, names, self.given(reader))
    }
}

/// Step of an impossible plan that names a missing result.
pub(super) fn unknown() -> Described {
    Described {
        step: Step::new("<unknown>", "unknown"),
        names: Columns::default(),
    }
}

/// Whether a grouping is a DISTINCT: of the select list, or of the values of an aggregate.
fn is_distinct(purpose: Purpose, aggregates: &[AggregateCall]) -> bool {
    purpose == Purpose::Distinct || (purpose == Purpose::Aggregate && aggregates.is_empty())
}
