//! The steps of a plan in MySQL's words, with the names of columns put back in.

use super::{ChangeKind, Fact, Subject, access};
use crate::catalog::TableSource;
use crate::estimate::selectivity;
use crate::text::{Names, call_text, expression_text, order_text};
use crate::tree::expression::{Expression, ExpressionKind, Subquery};
use crate::tree::logical::{visit_expression, with_stack};
use crate::tree::physical::{
    AggregateCall, Grouping, IndexLookupJoin, JoinKey, JoinKind, Operator, Plan, Purpose,
    QueryPlan, SetOperationKind, SharedId, SharedSource, TemporaryTable,
};

/// One line of the tree.
pub(super) struct Step {
    /// What is done.
    pub(super) text: String,
    /// Cost and rows, where they are thought to be known.
    pub(super) estimate: Option<(f64, f64)>,
    /// Why there is a temporary table.
    pub(super) cause: Option<String>,
    /// What the text says, each for itself.
    pub(super) facts: Vec<(&'static str, Fact)>,
    /// What it reads.
    pub(super) inputs: Vec<Step>,
}

/// The steps of a statement; those behind the first are the subqueries of the select list.
pub(super) fn outline(subject: &Subject<'_>) -> Vec<Step> {
    let found = subject.query.map(steps_of);
    let Some(change) = &subject.change else {
        return found.unwrap_or_default();
    };
    let buffered = |verb: &str| {
        let tables: Vec<String> = change
            .tables
            .iter()
            .map(|table| format!("{table} (buffered)"))
            .collect();
        format!("{verb} {}", tables.join(", "))
    };
    let text = match change.kind {
        ChangeKind::Insert => format!("Insert into {}", change.tables.join(", ")),
        ChangeKind::Replace => format!("Replace into {}", change.tables.join(", ")),
        ChangeKind::Update => buffered("Update"),
        ChangeKind::Delete => buffered("Delete from"),
    };
    let fetched = || {
        vec![Step::unestimated(
            "Rows fetched before execution",
            Vec::new(),
        )]
    };
    vec![Step::unestimated(text, found.unwrap_or_else(fetched))]
}

/// The steps of a plan.
fn steps_of(plan: &QueryPlan) -> Vec<Step> {
    let mut outliner = Outliner {
        plan,
        seen: vec![false; plan.shared.len()],
        beside: Vec::new(),
    };
    let described = outliner.plan(&plan.root);
    let mut steps = vec![described.step];
    steps.append(&mut outliner.beside);
    steps
}

/// How many rows of tables a query probably reads, each as often as it is read.
pub fn examined_rows(plan: &QueryPlan) -> f64 {
    fn read(step: &Step) -> f64 {
        let rows = |step: &Step| step.estimate.map_or(0.0, |(_, rows)| rows);
        with_stack(|| match step.inputs.as_slice() {
            [] => rows(step),
            [left, right] if step.text.starts_with("Nested loop") => {
                read(left) + rows(left) * read(right)
            }
            inputs => inputs.iter().map(read).sum(),
        })
    }
    steps_of(plan).iter().map(read).sum()
}

/// The names of the columns that a part of a plan gives.
pub(super) fn names_of(query: &QueryPlan, plan: &Plan) -> Vec<String> {
    let mut outliner = Outliner {
        plan: query,
        seen: vec![true; query.shared.len()],
        beside: Vec::new(),
    };
    outliner.plan(plan).names
}

/// A step and the names of the columns that it gives.
struct Described {
    step: Step,
    names: Vec<String>,
    cost: f64,
}

struct Outliner<'p> {
    plan: &'p QueryPlan,
    /// Shared results that are printed already.
    seen: Vec<bool>,
    /// Subqueries of the select list of the query block at hand.
    beside: Vec<Step>,
}

/// Names of columns by position.
struct ByPosition<'n>(&'n [String]);

impl Names for ByPosition<'_> {
    fn column(&self, column: usize) -> String {
        self.0
            .get(column)
            .cloned()
            .unwrap_or_else(|| format!("column_{column}"))
    }
}

/// What reading a table costs before its first row, and for each row: MySQL's in-memory figures.
const SCAN_COST: f64 = 0.25;
const ROW_COST: f64 = 0.1;
/// What a row costs that an index leads to.
const FETCH_COST: f64 = 0.35;

/// What a row costs that an index finds.
fn row_cost(covering: bool) -> f64 {
    if covering { ROW_COST } else { FETCH_COST }
}

impl Step {
    fn new(text: impl Into<String>, cost: f64, rows: f64, inputs: Vec<Step>) -> Self {
        Self {
            estimate: Some((cost, rows)),
            ..Self::unestimated(text, inputs)
        }
    }

    fn unestimated(text: impl Into<String>, inputs: Vec<Step>) -> Self {
        Self {
            text: text.into(),
            estimate: None,
            cause: None,
            facts: Vec::new(),
            inputs,
        }
    }

    /// What makes a temporary table.
    fn because(self, temporary: &TemporaryTable) -> Self {
        Self {
            cause: Some(temporary.cause.to_string()),
            ..self
        }
    }
}

impl Described {
    fn new(
        text: impl Into<String>,
        cost: f64,
        rows: f64,
        inputs: Vec<Step>,
        names: Vec<String>,
    ) -> Self {
        Self {
            step: Step::new(text, cost, rows, inputs),
            names,
            cost,
        }
    }

    /// A scan of all rows that a step makes.
    fn scan_of(made: Step, name: &str, names: Vec<String>) -> Self {
        let (cost, rows) = made.estimate.unwrap_or_default();
        let text = format!("Table scan on {name}");
        Self::new(text, cost + rows * ROW_COST, rows, vec![made], names)
    }
}

/// What is said of a table that is read.
fn table_facts(table: &TableSource, alias: &str) -> Vec<(&'static str, Fact)> {
    vec![
        ("schema_name", Fact::Text(table.database.clone())),
        ("table_name", Fact::Text(alias.to_owned())),
        ("access_type", Fact::Text("table".to_owned())),
    ]
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
                ..
            } => {
                let names = column_names(table, alias, columns);
                let all = table.row_count as f64;
                let cost = SCAN_COST + all * ROW_COST;
                let mut scan = Step::new(format!("Table scan on {alias}"), cost, all, Vec::new());
                scan.facts = table_facts(table, alias);
                self.checked(scan, predicate.as_ref(), names, cost, rows)
            }
            Operator::IndexScan(scan) => {
                let names = column_names(&scan.table, &scan.alias, &scan.columns);
                let cost = SCAN_COST + scan.read_rows * row_cost(scan.covering);
                let text = access::scan_text(scan, &ByPosition(&names));
                let mut read = Step::new(text, cost, scan.read_rows, Vec::new());
                read.facts = access::scan_facts(scan, &ByPosition(&names));
                self.checked(read, scan.predicate.as_ref(), names, cost, rows)
            }
            Operator::IndexMerge(merge) => {
                let names = column_names(&merge.table, &merge.alias, &merge.columns);
                let parts: Vec<Step> = merge
                    .parts()
                    .map(|scan| {
                        let text = access::scan_text(scan, &ByPosition(&[]));
                        let cost = SCAN_COST + scan.read_rows * ROW_COST;
                        let mut read = Step::new(text, cost, scan.read_rows, Vec::new());
                        read.facts = access::scan_facts(scan, &ByPosition(&[]));
                        read
                    })
                    .collect();
                let found: f64 = merge.parts().map(|scan| scan.read_rows).sum();
                let cost = SCAN_COST + found * ROW_COST + merge.read_rows * FETCH_COST;
                let text = access::merge_text(merge).to_owned();
                let read = Step::new(text, cost, merge.read_rows, parts);
                self.checked(read, merge.predicate.as_ref(), names, cost, rows)
            }
            Operator::IndexLookupJoin(join) => self.lookup_join(join, rows),
            Operator::SharedScan { shared, alias } => self.shared(*shared, alias, rows),
            Operator::WorkingTable { shared, alias } => {
                let cost = SCAN_COST + rows * ROW_COST;
                let text = format!("Scan new records on {alias}");
                let names = self.shared_names(*shared, alias);
                Described::new(text, cost, rows, Vec::new(), names)
            }
            Operator::Filter { input, predicate } => {
                let input = self.plan(input);
                let step = self.filtered(input.step, predicate, &input.names, input.cost, rows);
                Described { step, ..input }
            }
            Operator::Project { input, expressions } => {
                let input = self.plan(input);
                self.note_subqueries(expressions);
                let names = texts(expressions, &input.names);
                Described { names, ..input }
            }
            Operator::Limit {
                input,
                offset,
                count,
            } => {
                let input = self.plan(input);
                Described {
                    step: limit_step(*offset, *count, input.cost, rows, input.step),
                    ..input
                }
            }
            Operator::Aggregate { input, grouping } => self.aggregate(input, grouping, rows),
            Operator::Sort { .. } => self.sort(plan),
            Operator::SetOperation { .. } => self.set_operation(plan),
            Operator::HashJoin { .. }
            | Operator::NestedLoopJoin { .. }
            | Operator::Apply { .. } => self.join(plan),
            Operator::Block { input, table, .. } => {
                let Some(table) = table else {
                    return self.plan(input);
                };
                let names = table
                    .columns
                    .iter()
                    .map(|column| format!("{}.{column}", table.alias))
                    .collect();
                let described = self.block(|outliner| match &input.operator {
                    Operator::Materialize { input, temporary } => {
                        let input = outliner.plan(input);
                        let made = Step::new("Materialize", input.cost, rows, vec![input.step]);
                        let made = made.because(temporary);
                        Described::scan_of(made, &table.alias, Vec::new())
                    }
                    _ => outliner.plan(input),
                });
                Described { names, ..described }
            }
            Operator::Materialize { input, temporary } => {
                let input = self.plan(input);
                let made = Step::new("Temporary table", input.cost, rows, vec![input.step]);
                Described::scan_of(made.because(temporary), "<temporary>", input.names)
            }
        }
    }

    fn values(&mut self, plan: &Plan, values: &[Vec<Expression>]) -> Described {
        let rows = values.len() as f64;
        let text = match values {
            [] => "Zero rows (Impossible WHERE)",
            _ => "Rows fetched before execution",
        };
        let names = match values {
            [only] => texts(only, &[]),
            _ => (0..plan.output.len())
                .map(|index| format!("column_{index}"))
                .collect(),
        };
        self.note_subqueries(values.iter().flatten());
        Described::new(text, 0.0, rows, Vec::new(), names)
    }

    /// Describes a query block; the subqueries of its select list stand behind its own inputs.
    fn block(&mut self, describe: impl FnOnce(&mut Self) -> Described) -> Described {
        let outer = std::mem::take(&mut self.beside);
        let mut described = describe(self);
        let inside = std::mem::replace(&mut self.beside, outer);
        described.step.inputs.extend(inside);
        described
    }

    /// Notes the subqueries of a select list.
    fn note_subqueries<'e>(&mut self, expressions: impl IntoIterator<Item = &'e Expression>) {
        for expression in expressions {
            let found = self.subqueries(expression, "projection");
            self.beside.extend(found);
        }
    }

    /// Rows of a table, and the condition that is checked of them.
    fn checked(
        &mut self,
        read: Step,
        predicate: Option<&Expression>,
        names: Vec<String>,
        cost: f64,
        rows: f64,
    ) -> Described {
        let step = match predicate {
            Some(predicate) => self.filtered(read, predicate, &names, cost, rows),
            None => read,
        };
        Described { step, names, cost }
    }

    fn filtered(
        &mut self,
        input: Step,
        predicate: &Expression,
        names: &[String],
        cost: f64,
        rows: f64,
    ) -> Step {
        let condition = expression_text(predicate, &ByPosition(names));
        let text = format!("Filter: {condition}");
        let mut inputs = vec![input];
        inputs.extend(self.subqueries(predicate, "condition"));
        let mut filter = Step::new(text, cost, rows, inputs);
        filter.facts = vec![
            ("access_type", Fact::Text("filter".to_owned())),
            ("condition", Fact::Text(condition)),
        ];
        filter
    }

    /// The subqueries of an expression as steps.
    fn subqueries(&mut self, expression: &Expression, clause: &str) -> Vec<Step> {
        let mut found: Vec<std::sync::Arc<Subquery>> = Vec::new();
        visit_expression(expression, &mut |inner| {
            if let ExpressionKind::Subquery(subquery) = &inner.kind {
                found.push(subquery.clone());
            }
            true
        });
        found
            .iter()
            .map(|subquery| {
                let how = if !subquery.parameters.is_empty() {
                    "dependent"
                } else if subquery.cacheable {
                    "run only once"
                } else {
                    "uncacheable"
                };
                let outer = std::mem::take(&mut self.beside);
                let plan = self.plan(&subquery.plan);
                let inside = std::mem::replace(&mut self.beside, outer);
                let mut inputs = vec![plan.step];
                inputs.extend(inside);
                let id = subquery.select_id;
                Step::unestimated(
                    format!("Select #{id} (subquery in {clause}; {how})"),
                    inputs,
                )
            })
            .collect()
    }

    fn aggregate(&mut self, input: &Plan, grouping: &Grouping, rows: f64) -> Described {
        let Grouping {
            keys,
            aggregates,
            rollup,
            first_groups,
            ordered,
            temporary,
        } = grouping;
        let input = self.plan(input);
        let cost = input.cost + input.step.estimate.map_or(0.0, |(_, rows)| rows) * ROW_COST;
        let by_position = ByPosition(&input.names);
        let calls = aggregates.iter().map(|call| call_text(call, &by_position));
        let mut names = texts(keys, &input.names);
        names.extend(calls.clone());
        let calls: Vec<String> = calls.collect();
        if *rollup {
            names.push("<rollup level>".to_owned());
        }
        let Some(temporary) = temporary else {
            let text = match (ordered, calls.as_slice()) {
                (false, _) => format!("Aggregate: {}", calls.join(", ")),
                (true, []) => "Group (no aggregates)".to_owned(),
                (true, _) => format!("Group aggregate: {}", calls.join(", ")),
            };
            return Described::new(text, cost, rows, vec![input.step], names);
        };
        let mut text = if *rollup {
            format!("Group aggregate with rollup: {}", calls.join(", "))
        } else if is_distinct(temporary.purpose, aggregates) {
            "Temporary table with deduplication".to_owned()
        } else {
            "Aggregate using temporary table".to_owned()
        };
        if let Some(first) = first_groups {
            text.push_str(&format!(", first {first} group(s)"));
        }
        let made = Step::new(text, cost, rows, vec![input.step]).because(temporary);
        Described::scan_of(made, "<temporary>", names)
    }

    fn sort(&mut self, plan: &Plan) -> Described {
        let Operator::Sort {
            input, keys, limit, ..
        } = &plan.operator
        else {
            return self.unknown();
        };
        let rows = plan.estimated_rows;
        let input = self.plan(input);
        let mut text = format!("Sort: {}", order_text(keys, &ByPosition(&input.names)));
        if let Some((offset, count)) = limit {
            let wanted = offset.saturating_add(*count);
            text.push_str(&format!(", limit input to {wanted} row(s) per chunk"));
        }
        let cost = input.cost + rows * ROW_COST;
        let sorted = Step::new(text, cost, rows, vec![input.step]);
        Described {
            step: match limit {
                Some((offset, count)) => limit_step(*offset, *count, cost, rows, sorted),
                None => sorted,
            },
            names: input.names,
            cost,
        }
    }

    fn set_operation(&mut self, plan: &Plan) -> Described {
        let Operator::SetOperation {
            kind,
            all,
            inputs,
            temporary,
        } = &plan.operator
        else {
            return self.unknown();
        };
        let rows = plan.estimated_rows;
        let mut names = Vec::new();
        let mut steps = Vec::with_capacity(inputs.len());
        let mut cost = 0.0;
        for (index, input) in inputs.iter().enumerate() {
            let described = self.block(|outliner| outliner.plan(input));
            cost += described.cost;
            if index == 0 {
                names = described
                    .names
                    .iter()
                    .map(|name| unqualified(name))
                    .collect();
            }
            steps.push(described.step);
        }
        let word = match kind {
            SetOperationKind::Union => "union",
            SetOperationKind::Intersect => "intersect",
            SetOperationKind::Except => "except",
        };
        let Some(temporary) = temporary else {
            return Described::new("Append", cost, rows, steps, names);
        };
        let verb = word[..1].to_uppercase() + &word[1..];
        let text = if *all {
            format!("{verb} all materialize")
        } else {
            format!("{verb} materialize with deduplication")
        };
        let made = Step::new(text, cost, rows, steps).because(temporary);
        Described::scan_of(made, &format!("<{word} temporary>"), names)
    }

    fn lookup_join(&mut self, join: &IndexLookupJoin, rows: f64) -> Described {
        let left = self.plan(&join.left);
        let mut names = left.names.clone();
        let once = SCAN_COST + join.rows_per_key * row_cost(join.covering);
        let text = access::lookup_text(join, &ByPosition(&names));
        let facts = access::lookup_facts(join, &ByPosition(&names));
        names.extend(column_names(&join.table, &join.alias, &join.columns));
        let mut right = Step::new(text, once, join.rows_per_key, Vec::new());
        right.facts = facts;
        if let Some(residual) = &join.residual {
            let kept = join.rows_per_key * selectivity(residual);
            right = self.filtered(right, residual, &names, once, kept);
        }
        let cost = left.cost + join.left.estimated_rows * once;
        let text = match join.kind {
            JoinKind::Semi => "Nested loop semijoin (FirstMatch)".to_owned(),
            kind => format!("Nested loop {}", join_word(kind)),
        };
        if join.kind.is_left_only() {
            names.truncate(left.names.len());
        }
        Described::new(text, cost, rows, vec![left.step, right], names)
    }

    fn join(&mut self, plan: &Plan) -> Described {
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
            _ => return self.unknown(),
        };
        let left = self.plan(left_plan);
        let right = self.plan(right_plan);
        let mut both = left.names.clone();
        both.extend(right.names.iter().cloned());
        let cost = left.cost + right.cost + rows * ROW_COST;
        let hash = |built: Step| Step::unestimated("Hash", vec![built]);
        let (mut text, condition, mut inputs) = match &plan.operator {
            Operator::HashJoin {
                keys,
                residual,
                build_left,
                temporary,
                ..
            } => {
                let keys: Vec<String> = keys
                    .iter()
                    .map(|key| key_text(key, &left.names, &right.names))
                    .collect();
                let text = format!("{} {}", hash_join_name(kind), keys.join(", "));
                let (probe, built) = if *build_left {
                    (right.step, left.step)
                } else {
                    (left.step, right.step)
                };
                let built = hash(built).because(temporary);
                (text, residual.as_ref(), vec![probe, built])
            }
            Operator::NestedLoopJoin {
                condition,
                temporary,
                ..
            } => {
                let text = format!("{} (no condition)", hash_join_name(kind));
                let built = hash(right.step).because(temporary);
                (text, condition.as_ref(), vec![left.step, built])
            }
            Operator::Apply { condition, .. } => {
                let text = format!("Nested loop {}", join_word(kind));
                (text, condition.as_ref(), vec![left.step, right.step])
            }
            _ => return self.unknown(),
        };
        if let Some(condition) = condition {
            let extra = expression_text(condition, &ByPosition(&both));
            text.push_str(&format!(", extra conditions: {extra}"));
            inputs.extend(self.subqueries(condition, "condition"));
        }
        let names = if kind.is_left_only() {
            left.names
        } else {
            both
        };
        Described::new(text, cost, rows, inputs, names)
    }

    fn shared_names(&self, shared: SharedId, alias: &str) -> Vec<String> {
        self.plan
            .shared
            .get(shared.0)
            .map_or_else(Vec::new, |result| {
                let columns = result.columns.iter();
                columns.map(|column| format!("{alias}.{column}")).collect()
            })
    }

    fn shared(&mut self, shared: SharedId, alias: &str, rows: f64) -> Described {
        let names = self.shared_names(shared, alias);
        let plan = self.plan;
        let Some(result) = plan.shared.get(shared.0) else {
            return self.unknown();
        };
        let printed = self
            .seen
            .get_mut(shared.0)
            .is_none_or(|seen| std::mem::replace(seen, true));
        let mut inputs = Vec::new();
        let recursive = matches!(result.source, SharedSource::Recursive { .. });
        let mut text = if recursive {
            format!("Materialize recursive CTE {}", result.name)
        } else {
            format!("Materialize CTE {} if needed", result.name)
        };
        let mut cost = 0.0;
        if printed {
            text.push_str(" (query plan printed elsewhere)");
        } else {
            let outer = std::mem::take(&mut self.beside);
            match &result.source {
                SharedSource::Plan(source) => {
                    let described = self.plan(source);
                    cost = described.cost;
                    inputs.push(described.step);
                }
                SharedSource::Recursive { seed, step, .. } => {
                    let seed = self.plan(seed);
                    let step = self.plan(step);
                    cost = seed.cost + step.cost;
                    inputs.push(seed.step);
                    let rounds = vec![step.step];
                    inputs.push(Step::unestimated("Repeat until convergence", rounds));
                }
            }
            inputs.extend(std::mem::replace(&mut self.beside, outer));
        }
        let made = Step::new(text, cost, rows, inputs).because(&result.temporary);
        Described::scan_of(made, alias, names)
    }

    /// What cannot be: a plan that names a result that it does not have.
    fn unknown(&self) -> Described {
        Described::new("<unknown>", 0.0, 0.0, Vec::new(), Vec::new())
    }
}

fn texts(expressions: &[Expression], names: &[String]) -> Vec<String> {
    expressions
        .iter()
        .map(|expression| expression_text(expression, &ByPosition(names)))
        .collect()
}

fn limit_step(offset: u64, count: u64, cost: f64, rows: f64, input: Step) -> Step {
    let text = if offset == 0 {
        format!("Limit: {count} row(s)")
    } else {
        format!("Limit/Offset: {count}/{offset} row(s)")
    };
    Step::new(text, cost, rows, vec![input])
}

/// Whether a grouping is a DISTINCT: of the select list, or of the values of an aggregate.
fn is_distinct(purpose: Purpose, aggregates: &[AggregateCall]) -> bool {
    purpose == Purpose::Distinct || (purpose == Purpose::Aggregate && aggregates.is_empty())
}

fn join_word(kind: JoinKind) -> &'static str {
    match kind {
        JoinKind::Inner => "inner join",
        JoinKind::Left => "left join",
        JoinKind::Semi => "semijoin",
        JoinKind::Anti | JoinKind::NullAwareAnti => "antijoin",
    }
}

/// The names of some columns of a table.
fn column_names(table: &TableSource, alias: &str, columns: &[usize]) -> Vec<String> {
    let name = |index: &usize| {
        let column = table.columns.get(*index);
        match column {
            // Its name is an expression.
            Some(column) if column.hidden => column.name.clone(),
            _ => format!("{alias}.{}", column.map_or("", |column| &column.name)),
        }
    };
    columns.iter().map(name).collect()
}

fn hash_join_name(kind: JoinKind) -> &'static str {
    match kind {
        JoinKind::Inner => "Inner hash join",
        JoinKind::Left => "Left hash join",
        JoinKind::Semi => "Hash semijoin",
        JoinKind::Anti => "Hash antijoin",
        JoinKind::NullAwareAnti => "Hash antijoin (null-aware)",
    }
}

fn key_text(key: &JoinKey, left: &[String], right: &[String]) -> String {
    format!(
        "({} {} {})",
        expression_text(&key.left, &ByPosition(left)),
        if key.null_safe { "<=>" } else { "=" },
        expression_text(&key.right, &ByPosition(right)),
    )
}

/// A column's name without its table's.
fn unqualified(name: &str) -> String {
    match name.rsplit_once('.') {
        Some((table, column)) if !table.contains([' ', '(']) && !column.contains([' ', ')']) => {
            column.to_owned()
        }
        _ => name.to_owned(),
    }
}
