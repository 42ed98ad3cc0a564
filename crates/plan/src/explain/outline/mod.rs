//! Steps of a plan in MySQL's terms, with the names of columns.

mod joins;
mod step;
mod tables;

pub(super) use step::{Estimate, Step};

use std::sync::Arc;

use self::step::Heading;
use super::access;
use super::facts::Facts;
use super::measured::{Actual, Measured, Measurements};
use super::names::Columns;
use super::subject::{Change, ChangeKind, Subject};
use crate::catalog::TableSource;
use crate::document::Document;
use crate::tree::expression::{Expression, ExpressionKind, Subquery};
use crate::tree::logical::{visit_expression, with_stack};
use crate::tree::physical::{IndexMerge, IndexScan, Operator, Plan, QueryPlan};

/// The step of a statement.
pub(super) fn outline(subject: &Subject<'_>) -> Step {
    let found = subject.query.map(|query| {
        let facts = Facts::of(subject, query);
        step_of(query, Some(&facts), subject.measured)
    });
    match (&subject.change, found) {
        (None, Some(step)) => step,
        (change, found) => {
            let found = found.unwrap_or_else(fetched_before);
            match change {
                Some(change) => changing(change, found),
                None => found,
            }
        }
    }
}

/// MySQL's step for rows that no table gives.
fn fetched_before() -> Step {
    Step::new(
        "Rows fetched before execution",
        "rows_fetched_before_execution",
    )
}

fn changing(change: &Change, found: Step) -> Step {
    let tables = change.tables.join(", ");
    let buffered = || {
        let tables = change.tables.iter();
        let tables: Vec<String> = tables.map(|table| format!("{table} (buffered)")).collect();
        tables.join(", ")
    };
    let has_values = found.members.first().is_some_and(|(_, access_type)| {
        *access_type == Document::from("rows_fetched_before_execution")
    });
    let step = match (change.kind, has_values) {
        (ChangeKind::Insert, true) => {
            Step::new(format!("Insert into {tables}"), "insert_values").with("table_name", tables)
        }
        (ChangeKind::Insert, false) => Step {
            members: vec![("table_name", Document::from(tables.as_str()))],
            ..Step::new(format!("Insert into {tables}"), "")
        },
        (ChangeKind::Replace, true) => {
            Step::new(format!("Replace into {tables}"), "replace_values").with("table_name", tables)
        }
        (ChangeKind::Replace, false) => Step {
            members: vec![("table_name", Document::from(tables.as_str()))],
            ..Step::new(format!("Replace into {tables}"), "")
        },
        (ChangeKind::Update, _) => {
            Step::new(format!("Update {}", buffered()), "update_rows").with("tables", buffered())
        }
        (ChangeKind::Delete, _) => Step::new(format!("Delete from {}", buffered()), "delete_rows")
            .with("tables", buffered()),
    };
    step.over(vec![found])
}

/// Steps of a plan.
fn step_of(plan: &QueryPlan, facts: Option<&Facts<'_>>, measured: Option<&Measurements>) -> Step {
    let mut outliner = Outliner {
        plan,
        facts,
        measured,
        seen: vec![false; plan.shared.len()],
        of_select_list: Vec::new(),
    };
    let described = outliner.plan(&plan.root);
    let mut step = described.step;
    step.of_select_list = outliner.of_select_list;
    step
}

/// Estimated number of rows of tables that a query reads, including repeated reads.
pub fn examined_rows(plan: &QueryPlan) -> f64 {
    fn read(step: &Step) -> f64 {
        let (_, rows) = step.known();
        let own = with_stack(|| match step.inputs.as_slice() {
            [] => rows,
            [left, right] if step.text.starts_with("Nested loop") => {
                read(left) + left.known().1 * read(right)
            }
            // MySQL counts combinations of rows.
            [left, right] => rows.max(read(left) + read(right)),
            inputs => inputs.iter().map(read).sum(),
        });
        own + step.of_select_list.iter().map(read).sum::<f64>()
    }
    read(&step_of(plan, None, None))
}

/// A step and the names of its output columns.
struct Described {
    step: Step,
    names: Columns,
}

struct Outliner<'p> {
    plan: &'p QueryPlan,
    facts: Option<&'p Facts<'p>>,
    measured: Option<&'p Measurements>,
    /// Whether each shared result is already printed.
    seen: Vec<bool>,
    /// Subqueries of the select list of the current query block.
    of_select_list: Vec<Step>,
}

/// Costs of reading a table: startup, and per row (MySQL's in-memory figures).
pub(super) const SCAN_COST: f64 = 0.25;
pub(super) const ROW_COST: f64 = 0.1;
/// Cost of a row that an index leads to.
pub(super) const FETCH_COST: f64 = 0.35;

/// Cost of a row that an index finds.
pub(super) fn row_cost(covering: bool) -> f64 {
    if covering { ROW_COST } else { FETCH_COST }
}

/// Names of the columns of a table that are read.
pub(super) fn used_columns(table: &TableSource, columns: &[usize]) -> Vec<String> {
    let columns = columns
        .iter()
        .filter_map(|column| table.columns.get(*column));
    let columns = columns.filter(|column| !column.hidden);
    columns.map(|column| column.name.clone()).collect()
}

/// A step that reads a table.
fn reading(
    text: String,
    access_type: &'static str,
    (table, alias): (&TableSource, &str),
    columns: &[usize],
) -> Step {
    let step = Step::new(text, access_type).with("table_name", alias);
    let step = step.with("schema_name", table.database.as_str());
    match used_columns(table, columns) {
        columns if columns.is_empty() => step,
        columns => step.with("used_columns", columns.into_iter().collect::<Document>()),
    }
}

impl Outliner<'_> {
    fn plan(&mut self, plan: &Plan) -> Described {
        with_stack(|| self.operator(plan))
    }

    fn operator(&mut self, plan: &Plan) -> Described {
        let rows = plan.estimated_rows;
        match &plan.operator {
            Operator::Values { rows: values } => self.values(plan, values),
            Operator::TableScan {
                table,
                alias,
                columns,
                predicate,
                pushed,
                ..
            } => {
                let names = Columns::of_table(table, alias, columns);
                let all = table.row_count as f64;
                let text = format!("Table scan on {alias}");
                let mut scan = reading(text, "table", (table, alias), columns);
                if let Some(engine) = &table.secondary_engine {
                    scan.text
                        .push_str(&format!(" in secondary engine {engine}"));
                    scan = scan.with("secondary_engine", &**engine);
                }
                if let Some((all, pushed)) = Columns::of_pushed_terms(pushed, table, alias) {
                    let pushed = all.plain_text(&pushed);
                    scan.text.push_str(", with pushed condition: ");
                    scan.text.push_str(&pushed);
                    scan = scan.with("pushed_condition", pushed);
                }
                // Without a condition the output is the rows that key filters of hash joins leave.
                let read = if predicate.is_some() { all } else { rows };
                let scan = scan.costing(SCAN_COST + all * ROW_COST, read);
                self.checked(plan, scan, predicate.as_ref(), names)
            }
            Operator::IndexScan(scan) => {
                let names = Columns::of_table(&scan.table, &scan.alias, &scan.columns);
                let cost = SCAN_COST + scan.read_rows * row_cost(scan.covering);
                let read = index_step(scan, &names, cost);
                self.checked(plan, read, scan.predicate.as_ref(), names)
            }
            Operator::IndexMerge(merge) => self.index_merge(plan, merge),
            Operator::IndexLookupJoin(join) => self.lookup_join(plan, join),
            Operator::SharedScan { shared, alias, .. } => self.shared(plan, *shared, alias),
            Operator::WorkingTable { shared, alias } => {
                let text = format!("Scan new records on {alias}");
                let step = Step::new(text, "scan_new_records").with("table_name", alias.as_str());
                Described {
                    step: step
                        .costing(SCAN_COST + rows * ROW_COST, rows)
                        .having_done(self.given(plan)),
                    names: self.shared_names(*shared, alias),
                }
            }
            Operator::Filter { input, predicate } => {
                let input = self.plan(input);
                let step = self.filtered(input.step, predicate, &input.names, rows);
                let step = step.having_done(self.given(plan));
                Described { step, ..input }
            }
            Operator::Project { input, expressions } => {
                let input = self.plan(input);
                self.note_subqueries(expressions);
                Described {
                    names: input.names.computed(expressions),
                    ..input
                }
            }
            Operator::Limit {
                input,
                offset,
                count,
            } => {
                let input = self.plan(input);
                Described {
                    step: limit_step(*offset, *count, rows, input.step)
                        .having_done(self.given(plan)),
                    ..input
                }
            }
            Operator::Aggregate { input, grouping } => self.aggregate(plan, input, grouping),
            Operator::Sort { .. } => self.sort(plan),
            Operator::Window { .. } => self.window(plan),
            Operator::SetOperation { .. } => self.set_operation(plan),
            Operator::HashJoin { .. }
            | Operator::NestedLoopJoin { .. }
            | Operator::Apply { .. } => self.join(plan),
            Operator::Block { input, table, .. } => {
                let Some(table) = table else {
                    return self.plan(input);
                };
                let names = Columns::of_derived(&table.alias, &table.columns);
                let described = self.block(|outliner| match &input.operator {
                    Operator::Materialize { input, temporary } => {
                        let input = outliner.plan(input);
                        let (cost, _) = input.step.known();
                        let made = Step::new("Materialize", "materialize").costing(cost, rows);
                        let made = made.holding(cost).over(vec![input.step]);
                        let made = made.making(outliner.facts_of(temporary));
                        scan_of(made, &table.alias, Columns::default(), outliner.given(plan))
                    }
                    _ => outliner.plan(input),
                });
                Described { names, ..described }
            }
            Operator::Materialize { input, temporary } if temporary.is_exchange() => {
                let input = self.plan(input);
                let (cost, _) = input.step.known();
                let text = format!("Exchange: {}", temporary.cause);
                let sent = Step::new(text, "exchange").costing(cost, rows);
                let sent = sent.over(vec![input.step]).making(self.facts_of(temporary));
                Described {
                    step: sent,
                    ..input
                }
            }
            Operator::Materialize { input, temporary } => {
                let input = self.plan(input);
                let (cost, _) = input.step.known();
                let made = Step::new("Temporary table", "materialize").with("temp_table", true);
                let made = made.costing(cost, rows).holding(cost);
                let made = made.over(vec![input.step]).making(self.facts_of(temporary));
                scan_of(made, "<temporary>", input.names, self.given(plan))
            }
        }
    }

    /// Measurements of an operator.
    fn measured_of(&self, plan: &Plan) -> Option<Measured> {
        self.measured.map(|measured| measured.of(plan.number))
    }

    /// Measurements of an operator's output.
    fn given(&self, plan: &Plan) -> Option<Actual> {
        self.measured_of(plan).map(Actual::given)
    }

    fn values(&mut self, plan: &Plan, values: &[Vec<Expression>]) -> Described {
        let rows = values.len() as f64;
        let step = match values {
            [] => zero_rows(),
            _ => fetched_before(),
        };
        let names = match values {
            [only] => Columns::default().computed(only),
            _ => Columns::unnamed(plan.output.len()),
        };
        self.note_subqueries(values.iter().flatten());
        Described {
            step: step
                .costing(0.0, rows)
                .holding(0.0)
                .having_done(self.given(plan)),
            names,
        }
    }

    fn index_merge(&mut self, plan: &Plan, merge: &IndexMerge) -> Described {
        let names = Columns::of_table(&merge.table, &merge.alias, &merge.columns);
        let scans = match &merge.positions.operator {
            Operator::SetOperation { inputs, .. } => inputs.as_slice(),
            _ => &[],
        };
        let parts = merge.parts().zip(scans).map(|(scan, plan)| {
            let cost = SCAN_COST + scan.read_rows * ROW_COST;
            index_step(scan, &Columns::default(), cost).having_done(self.given(plan))
        });
        let parts: Vec<Step> = parts.collect();
        let found: f64 = merge.parts().map(|scan| scan.read_rows).sum();
        let cost = SCAN_COST + found * ROW_COST + merge.read_rows * FETCH_COST;
        let Some((text, access_type)) = access::merge_step(merge) else {
            let part = merge.parts().zip(scans).next();
            let read = part.map_or_else(zero_rows, |(scan, plan)| {
                index_step(scan, &Columns::default(), cost).having_done(self.given(plan))
            });
            return self.checked(plan, read, merge.predicate.as_ref(), names);
        };
        let table = match &merge.positions.operator {
            Operator::SetOperation {
                temporary: Some(temporary),
                ..
            } => self.facts_of(temporary),
            _ => None,
        };
        let read = Step::new(text, access_type).costing(cost, merge.read_rows);
        let read = read.over(parts).making(table);
        self.checked(plan, read, merge.predicate.as_ref(), names)
    }

    /// Describes a query block; the subqueries of its select list follow its own inputs.
    fn block(&mut self, describe: impl FnOnce(&mut Self) -> Described) -> Described {
        let outer = std::mem::take(&mut self.of_select_list);
        let mut described = describe(self);
        let inside = std::mem::replace(&mut self.of_select_list, outer);
        described.step.of_select_list.extend(inside);
        described
    }

    /// Collects the subqueries of a select list.
    fn note_subqueries<'e>(&mut self, expressions: impl IntoIterator<Item = &'e Expression>) {
        for expression in expressions {
            let found = self.subqueries(expression, "projection");
            self.of_select_list.extend(found);
        }
    }

    /// Rows of a table with the condition that is checked for them.
    fn checked(
        &mut self,
        plan: &Plan,
        read: Step,
        predicate: Option<&Expression>,
        names: Columns,
    ) -> Described {
        let step = match predicate {
            Some(predicate) => {
                let read = read.having_done(self.measured_of(plan).map(Actual::read));
                self.filtered(read, predicate, &names, plan.estimated_rows)
            }
            None => read,
        };
        let step = step.having_done(self.given(plan));
        Described { step, names }
    }

    fn filtered(
        &mut self,
        input: Step,
        predicate: &Expression,
        names: &Columns,
        rows: f64,
    ) -> Step {
        let condition = names.plain_text(predicate);
        let (cost, _) = input.known();
        let filter = Step::new(format!("Filter: {condition}"), "filter").costing(cost, rows);
        let filter = filter.with("condition", condition);
        let columns: Document = names.read_by([predicate]).into_iter().collect();
        let mut inputs = vec![input];
        inputs.extend(self.subqueries(predicate, "condition"));
        filter.with("filter_columns", columns).over(inputs)
    }

    /// Subqueries of an expression as steps.
    fn subqueries(&mut self, expression: &Expression, clause: &'static str) -> Vec<Step> {
        let mut found: Vec<Arc<Subquery>> = Vec::new();
        visit_expression(expression, &mut |inner| {
            if let ExpressionKind::Subquery(subquery) = &inner.kind {
                found.push(subquery.clone());
            }
            true
        });
        found
            .iter()
            .map(|subquery| self.subquery(subquery, clause))
            .collect()
    }

    fn subquery(&mut self, subquery: &Subquery, clause: &'static str) -> Step {
        let (how, member) = if !subquery.parameters.is_empty() {
            ("dependent", Some("dependent"))
        } else if subquery.cacheable {
            ("run only once", Some("cacheable"))
        } else {
            ("uncacheable", None)
        };
        let described = self.block(|outliner| outliner.plan(&subquery.plan));
        let id = subquery.select_id;
        let mut heading = Heading::new(format!("Select #{id} (subquery in {clause}; {how})"));
        heading.members = vec![
            ("subquery", Document::from(true)),
            ("subquery_location", Document::from(clause)),
        ];
        heading
            .members
            .extend(member.map(|member| (member, Document::from(true))));
        described.step.under(heading)
    }

    fn facts_of(
        &self,
        temporary: &crate::tree::physical::TemporaryTable,
    ) -> Option<super::facts::TableFacts> {
        self.facts.and_then(|facts| facts.about(temporary))
    }
}

/// Step without rows.
fn zero_rows() -> Step {
    const CAUSE: &str = "Impossible WHERE";
    Step::new(format!("Zero rows ({CAUSE})"), "zero_rows").with("zero_rows_cause", CAUSE)
}

/// Step of an index scan.
fn index_step(scan: &IndexScan, names: &Columns, cost: f64) -> Step {
    if access::is_impossible(scan) {
        return zero_rows();
    }
    let text = access::scan_text(scan, &names.plain());
    let step = reading(text, "index", (&scan.table, &scan.alias), &scan.columns);
    let mut step = step.costing(cost, scan.read_rows);
    step.members.extend(access::scan_members(scan, names));
    step
}

/// Step that scans the rows which another step creates.
fn scan_of(made: Step, name: &str, names: Columns, actual: Option<Actual>) -> Described {
    let (cost, rows) = made.known();
    let step = Step::new(format!("Table scan on {name}"), "table").with("table_name", name);
    let step = step.costing(cost + rows * ROW_COST, rows).holding(cost);
    let own = made.actual.or(actual.map(Actual::made));
    let made = made.having_done(own);
    Described {
        step: step.over(vec![made]).having_done(actual),
        names,
    }
}

fn limit_step(offset: u64, count: u64, rows: f64, input: Step) -> Step {
    let text = if offset == 0 {
        format!("Limit: {count} row(s)")
    } else {
        format!("Limit/Offset: {count}/{offset} row(s)")
    };
    let step = Step::new(text, "limit").with("limit", offset.saturating_add(count));
    let mut step = step.with("limit_offset", offset);
    step.estimate = input.estimate.map(|estimate| Estimate { rows, ..estimate });
    step.over(vec![input])
}
