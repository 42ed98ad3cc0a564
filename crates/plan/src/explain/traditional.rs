//! EXPLAIN in the traditional format: a row for each table, query block by query block (the manual,
//! "EXPLAIN Output Format").

use std::collections::VecDeque;

use super::Subject;
use super::access::{self, KeyColumns};
use crate::catalog::TableSource;
use crate::estimate::selectivity;
use crate::tree::expression::{Expression, ExpressionKind};
use crate::tree::logical::with_stack;
use crate::tree::physical::{
    IndexLookupJoin, JoinKind, Operator, Plan, QueryPlan, SetOperationKind, SharedId, SharedSource,
};

/// A row of the traditional format. What is `None` is shown as NULL.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExplainRow {
    /// The number of the query block.
    pub id: u64,
    /// What kind of query block it is.
    pub select_type: &'static str,
    /// The table: an alias, `<derivedN>` or `<unionN,M>`.
    pub table: Option<String>,
    /// How it is read.
    pub access: Option<&'static str>,
    /// The indexes that its conditions could use.
    pub possible_keys: Option<String>,
    /// The index that is read.
    pub key: Option<String>,
    /// How many bytes of the key matter.
    pub key_length: Option<String>,
    /// What the key is compared with.
    pub reference: Option<String>,
    /// How many rows it is thought to have.
    pub rows: Option<u64>,
    /// How many percent of them its conditions are thought to leave.
    pub filtered: Option<f64>,
    /// What else is to be known.
    pub extra: Option<String>,
}

/// The rows of the traditional format.
pub fn traditional(subject: &Subject<'_>) -> Vec<ExplainRow> {
    let mut rows = subject.query.map(rows_of).unwrap_or_default();
    let Some(change) = &subject.change else {
        return rows;
    };
    let select_type = change.kind.select_type();
    if change.kind.adds_rows() {
        let target = ExplainRow {
            id: 1,
            select_type,
            table: change.tables.first().cloned(),
            access: Some("ALL"),
            ..ExplainRow::default()
        };
        rows.insert(0, target);
        return rows;
    }
    for row in &mut rows {
        let is_target = |name: &String| change.tables.contains(name);
        let several = change.tables.len() > 1;
        if matches!(row.select_type, "SIMPLE" | "PRIMARY")
            && (row.table.as_ref().is_some_and(is_target) || (row.table.is_none() && !several))
        {
            row.select_type = select_type;
            // A row that is changed is read, whatever led to it.
            let notes = row.extra.iter().flat_map(|extra| extra.split("; "));
            let notes: Vec<&str> = notes.filter(|note| *note != "Using index").collect();
            row.extra = (!notes.is_empty()).then(|| notes.join("; "));
        }
    }
    rows
}

fn rows_of(plan: &QueryPlan) -> Vec<ExplainRow> {
    let mut explainer = Explainer {
        plan,
        rows: Vec::new(),
        waiting: VecDeque::new(),
        seen: vec![false; plan.shared.len()],
    };
    explainer.query(&plan.root, 1, "PRIMARY");
    while let Some((source, id, select_type)) = explainer.waiting.pop_front() {
        explainer.query(source, id, select_type);
    }
    let mut rows = explainer.rows;
    let first = rows.first().map(|row| row.id);
    if rows.iter().all(|row| Some(row.id) == first) {
        for row in &mut rows {
            if row.select_type == "PRIMARY" {
                row.select_type = "SIMPLE";
            }
        }
    }
    rows
}

struct Explainer<'p> {
    plan: &'p QueryPlan,
    rows: Vec<ExplainRow>,
    /// Query blocks that come after the one at hand.
    waiting: VecDeque<(&'p Plan, u64, &'static str)>,
    /// Shared results that are explained already.
    seen: Vec<bool>,
}

/// What is found of a query block.
struct Block<'p> {
    id: u64,
    select_type: &'static str,
    tables: Vec<Table>,
    temporary: bool,
    filesort: bool,
    /// The set operation that it is, and nothing else.
    arms: Option<&'p Plan>,
}

impl Block<'_> {
    /// The name of the table that is read first.
    fn first_name(&self) -> String {
        let first = self.tables.first().and_then(|table| table.name.clone());
        first.unwrap_or_default()
    }
}

/// What is noted of the table in which a join looks for partners of rows of `outer`.
fn partner_note(kind: JoinKind, outer: &str) -> Option<String> {
    match kind {
        JoinKind::Semi => Some(format!("FirstMatch({outer})")),
        JoinKind::Anti | JoinKind::NullAwareAnti => Some("Not exists".to_owned()),
        JoinKind::Inner | JoinKind::Left => None,
    }
}

struct Table {
    name: Option<String>,
    rows: Option<u64>,
    filtered: f64,
    conditions: bool,
    notes: Vec<String>,
    /// Which indexes are merged.
    merge: Option<String>,
    key: KeyColumns,
    possible: Vec<String>,
    /// What is read of it is known not to be there.
    impossible: bool,
    /// One row is read, at an end of an index.
    is_end: bool,
}

impl Table {
    fn scanned(name: Option<String>, rows: Option<u64>) -> Self {
        Self {
            name,
            rows,
            filtered: 1.0,
            conditions: false,
            notes: Vec::new(),
            merge: None,
            key: KeyColumns {
                access: "ALL",
                ..KeyColumns::default()
            },
            possible: Vec::new(),
            impossible: false,
            is_end: false,
        }
    }

    /// A table of which an index finds about so many rows.
    fn found(alias: &str, rows: f64) -> Self {
        Self::scanned(Some(alias.to_owned()), Some((rows.round() as u64).max(1)))
    }

    /// The notes about an index; how it is read.
    fn by_index(mut self, covering: bool, reverse: bool) -> Self {
        if reverse {
            self.notes.push("Backward index scan".to_owned());
        }
        if covering {
            self.notes.push("Using index".to_owned());
        }
        self
    }
}

impl<'p> Explainer<'p> {
    /// A query block, or a set operation of several.
    fn query(&mut self, plan: &'p Plan, id: u64, select_type: &'static str) {
        let mut block = Block {
            id: block_id(plan).unwrap_or(id),
            select_type,
            tables: Vec::new(),
            temporary: false,
            filesort: false,
            arms: None,
        };
        self.visit(plan, &mut block);
        match block.arms {
            Some(arms) => self.arms(arms, &block),
            None => self.finish(block),
        }
    }

    fn finish(&mut self, mut block: Block<'_>) {
        if block.tables.is_empty() {
            block.tables.push(no_table("No tables used"));
        }
        if let [only] = block.tables.as_slice()
            && only.impossible
        {
            block.tables = vec![no_table("Impossible WHERE")];
        }
        if block.tables.iter().all(|table| table.is_end) {
            block.tables = vec![no_table("Select tables optimized away")];
        }
        let several = block.tables.len() > 1;
        for (index, table) in block.tables.into_iter().enumerate() {
            let mut notes = Vec::from_iter(table.merge);
            if table.conditions {
                notes.push("Using where".to_owned());
            }
            let of_index = table.key.key.is_some();
            let (mut behind, before) = (table.notes, &mut notes);
            if of_index {
                let is_join =
                    |note: &String| !note.starts_with("Using") && !note.starts_with("Backward");
                let (joins, index): (Vec<_>, Vec<_>) = behind.into_iter().partition(is_join);
                before.extend(index);
                behind = joins;
            }
            if index == 0 {
                // The rows of a join are sorted once they are all there.
                if block.temporary || (block.filesort && several) {
                    notes.push("Using temporary".to_owned());
                }
                if block.filesort {
                    notes.push("Using filesort".to_owned());
                }
            }
            notes.extend(behind);
            let is_table = table.name.is_some();
            let possible = (!table.possible.is_empty()).then(|| table.possible.join(","));
            self.rows.push(ExplainRow {
                id: block.id,
                select_type: block.select_type,
                access: is_table.then_some(table.key.access),
                possible_keys: possible,
                key: table.key.key,
                key_length: table.key.length,
                reference: table.key.reference,
                table: table.name,
                rows: table.rows,
                filtered: is_table.then_some((table.filtered * 10_000.0).round() / 100.0),
                extra: (!notes.is_empty()).then(|| notes.join("; ")),
            });
        }
    }

    /// The arms of a set operation, and its result.
    fn arms(&mut self, plan: &'p Plan, block: &Block<'_>) {
        let Operator::SetOperation {
            kind,
            inputs,
            temporary,
            ..
        } = &plan.operator
        else {
            return;
        };
        let (arm_type, result_type, word) = match kind {
            SetOperationKind::Union => ("UNION", "UNION RESULT", "union"),
            SetOperationKind::Intersect => ("INTERSECT", "INTERSECT RESULT", "intersect"),
            SetOperationKind::Except => ("EXCEPT", "EXCEPT RESULT", "except"),
        };
        let mut ids = Vec::with_capacity(inputs.len());
        for (index, input) in inputs.iter().enumerate() {
            let id = block_id(input).unwrap_or(block.id + index as u64);
            ids.push(id.to_string());
            let select_type = match (index, block.select_type) {
                (0, own) => own,
                (_, "DEPENDENT SUBQUERY" | "DEPENDENT UNION") => "DEPENDENT UNION",
                _ => arm_type,
            };
            with_stack(|| self.query(input, id, select_type));
        }
        if temporary.is_none() && !block.filesort {
            return;
        }
        let last = self.rows.iter().map(|row| row.id).max().unwrap_or(0);
        let mut extra = "Using temporary".to_owned();
        if block.filesort {
            extra.push_str("; Using filesort");
        }
        self.rows.push(ExplainRow {
            id: last + 1,
            select_type: result_type,
            table: Some(format!("<{word}{}>", ids.join(","))),
            access: Some("ALL"),
            extra: Some(extra),
            ..ExplainRow::default()
        });
    }

    fn visit(&mut self, plan: &'p Plan, block: &mut Block<'p>) {
        with_stack(|| self.operator(plan, block));
    }

    fn operator(&mut self, plan: &'p Plan, block: &mut Block<'p>) {
        match &plan.operator {
            Operator::Values { rows } => {
                self.subqueries(rows.iter().flatten());
                if rows.is_empty() {
                    block.tables.push(no_table("Impossible WHERE"));
                }
            }
            Operator::TableScan {
                table,
                alias,
                predicate,
                possible,
                ..
            } => {
                let rows = table.row_count;
                let scan = Table {
                    possible: index_names(table, possible),
                    ..Table::scanned(Some(alias.clone()), Some(rows))
                };
                self.read(plan, scan, rows as f64, predicate.as_ref(), block);
            }
            Operator::IndexScan(scan) => {
                let skips = scan.groups.is_some();
                let note = skips.then(|| "Using index for group-by".to_owned());
                let read = Table {
                    notes: note.into_iter().collect(),
                    impossible: access::is_impossible(scan),
                    possible: index_names(&scan.table, &scan.possible),
                    key: access::of_scan(scan),
                    ..Table::found(&scan.alias, scan.read_rows)
                }
                .by_index(scan.covering && !skips, scan.reverse && !skips);
                self.read(plan, read, scan.read_rows, scan.predicate.as_ref(), block);
            }
            Operator::IndexMerge(merge) => {
                let read = Table {
                    possible: index_names(&merge.table, &merge.possible),
                    key: access::of_merge(merge),
                    merge: Some(access::merge_note(merge)),
                    ..Table::found(&merge.alias, merge.read_rows)
                };
                self.read(plan, read, merge.read_rows, merge.predicate.as_ref(), block);
            }
            Operator::IndexLookupJoin(join) => self.lookup_join(join, block),
            Operator::SharedScan { shared, .. } => self.shared(*shared, block),
            Operator::WorkingTable { alias, .. } => block.tables.push(Table {
                notes: vec!["Recursive".to_owned()],
                ..Table::scanned(Some(alias.clone()), Some(whole(plan.estimated_rows)))
            }),
            Operator::Filter { input, predicate } => {
                self.visit(input, block);
                self.subqueries([predicate]);
                if !is_grouped(input)
                    && let Some(table) = block.tables.last_mut()
                    && table.name.is_some()
                {
                    table.conditions = true;
                    table.filtered *= selectivity(predicate);
                }
            }
            Operator::Project { input, expressions } => {
                self.visit(input, block);
                self.subqueries(expressions);
            }
            Operator::Limit { input, .. } => self.visit(input, block),
            Operator::Aggregate { input, grouping } => {
                let before = block.tables.len();
                self.visit(input, block);
                if grouping.keys.is_empty() && is_end(input) {
                    let ends = block.tables.iter_mut().skip(before);
                    ends.for_each(|table| table.is_end = true);
                }
                block.temporary |= grouping.temporary.is_some();
                let calls = grouping.aggregates.iter();
                let arguments = calls.flat_map(|call| &call.arguments);
                self.subqueries(grouping.keys.iter().chain(arguments));
            }
            Operator::Sort { input, keys, .. } => {
                self.visit(input, block);
                block.filesort = true;
                self.subqueries(keys.iter().map(|key| &key.expression));
            }
            Operator::SetOperation { .. } => block.arms = Some(plan),
            Operator::HashJoin { .. }
            | Operator::NestedLoopJoin { .. }
            | Operator::Apply { .. } => self.join(plan, block),
            Operator::Block {
                input,
                select_id,
                table,
            } => {
                if table.is_none() {
                    return self.visit(input, block);
                }
                let rows = match &input.operator {
                    Operator::Materialize { input, .. } => input,
                    _ => input,
                };
                let id = *select_id as u64;
                self.derived(rows, id, plan.estimated_rows, "DERIVED", block);
            }
            Operator::Materialize { input, .. } => {
                self.visit(input, block);
                block.temporary = true;
            }
        }
    }

    /// A table that is read, `read` rows of it, and the condition on these.
    fn read(
        &mut self,
        plan: &Plan,
        table: Table,
        read: f64,
        predicate: Option<&'p Expression>,
        block: &mut Block<'p>,
    ) {
        block.tables.push(Table {
            filtered: share(plan, read, predicate),
            conditions: predicate.is_some(),
            ..table
        });
        self.subqueries(predicate);
    }

    fn derived(
        &mut self,
        rows: &'p Plan,
        id: u64,
        estimate: f64,
        select_type: &'static str,
        block: &mut Block<'p>,
    ) {
        block.tables.push(derived_table(id, estimate));
        self.waiting.push_back((rows, id, select_type));
    }

    fn shared(&mut self, shared: SharedId, block: &mut Block<'p>) {
        let plan: &'p QueryPlan = self.plan;
        let Some(result) = plan.shared.get(shared.0) else {
            return;
        };
        let id = result.select_id as u64;
        let known = self
            .seen
            .get_mut(shared.0)
            .is_none_or(|seen| std::mem::replace(seen, true));
        match &result.source {
            SharedSource::Plan(source) => {
                block.tables.push(derived_table(id, source.estimated_rows));
                if !known {
                    self.waiting.push_back((source, id, "DERIVED"));
                }
            }
            SharedSource::Recursive { seed, step, .. } => {
                let rows = seed.estimated_rows + step.estimated_rows;
                block.tables.push(derived_table(id, rows));
                if !known {
                    self.waiting.push_back((seed, id, "DERIVED"));
                    let step_id = block_id(step).unwrap_or(id + 1);
                    self.waiting.push_back((step, step_id, "UNION"));
                }
            }
        }
    }

    fn join(&mut self, plan: &'p Plan, block: &mut Block<'p>) {
        let (kind, left, right, conditions, build_left) = match &plan.operator {
            Operator::HashJoin {
                kind,
                left,
                right,
                residual,
                build_left,
                ..
            } => {
                self.subqueries(residual);
                (*kind, left, right, true, *build_left)
            }
            Operator::NestedLoopJoin {
                kind,
                left,
                right,
                condition,
                ..
            } => {
                self.subqueries(condition);
                (*kind, left, right, condition.is_some(), true)
            }
            Operator::Apply {
                left,
                right,
                condition,
                ..
            } => {
                self.subqueries(condition);
                self.visit(left, block);
                self.lateral(right, block);
                return;
            }
            _ => return,
        };
        // The side that the hash table is over is read first.
        let (first, second) = if kind != JoinKind::Inner || build_left {
            (left, right)
        } else {
            (right, left)
        };
        self.visit(first, block);
        let before = block.tables.len();
        self.visit(second, block);
        let outer = block.first_name();
        if let Some(table) = block.tables.get_mut(before) {
            table.conditions |= conditions;
            table.notes.extend(partner_note(kind, &outer));
            table.notes.push("Using join buffer (hash join)".to_owned());
        }
    }

    fn lookup_join(&mut self, join: &'p IndexLookupJoin, block: &mut Block<'p>) {
        self.visit(&join.left, block);
        let outer = block.first_name();
        let names = super::outline::names_of(self.plan, &join.left);
        let mut table = Table {
            filtered: join.residual.as_ref().map_or(1.0, selectivity),
            conditions: join.residual.is_some(),
            possible: index_names(&join.table, &join.possible),
            key: access::of_lookup(join, &|column: usize| {
                names.get(column).cloned().unwrap_or_default()
            }),
            ..Table::found(&join.alias, join.rows_per_key)
        }
        .by_index(join.covering, false);
        if !(join.kind == JoinKind::Semi && join.finds_one) {
            table.notes.extend(partner_note(join.kind, &outer));
        }
        block.tables.push(table);
        self.subqueries(&join.residual);
    }

    /// A lateral derived table is made anew for every row before it.
    fn lateral(&mut self, plan: &'p Plan, block: &mut Block<'p>) {
        let before = block.tables.len();
        let waiting = self.waiting.len();
        self.visit(plan, block);
        let names: Vec<String> = block.tables[before..]
            .iter()
            .filter_map(|table| table.name.clone())
            .collect();
        if let Some(table) = before
            .checked_sub(1)
            .and_then(|last| block.tables.get_mut(last))
        {
            let made_anew = names.join(",");
            table.notes.push(format!("Rematerialize ({made_anew})"));
        }
        for (_, _, select_type) in self.waiting.iter_mut().skip(waiting) {
            if *select_type == "DERIVED" {
                *select_type = "DEPENDENT DERIVED";
            }
        }
    }

    /// Subqueries of expressions come after the query block that they stand in.
    fn subqueries(&mut self, expressions: impl IntoIterator<Item = &'p Expression>) {
        expressions
            .into_iter()
            .for_each(|one| self.subqueries_of(one));
    }

    fn subqueries_of(&mut self, expression: &'p Expression) {
        let mut stack = vec![expression];
        while let Some(expression) = stack.pop() {
            if let ExpressionKind::Subquery(subquery) = &expression.kind {
                let select_type = if !subquery.parameters.is_empty() {
                    "DEPENDENT SUBQUERY"
                } else if subquery.cacheable {
                    "SUBQUERY"
                } else {
                    "UNCACHEABLE SUBQUERY"
                };
                self.waiting
                    .push_back((&subquery.plan, subquery.select_id as u64, select_type));
                continue;
            }
            crate::walk::push_children(expression, &mut stack);
        }
    }
}

/// What share of the rows that are read meets a condition on them.
fn share(plan: &Plan, read: f64, predicate: Option<&Expression>) -> f64 {
    match predicate {
        None => 1.0,
        Some(_) if read >= 1.0 => (plan.estimated_rows / read).clamp(0.0, 1.0),
        Some(predicate) => selectivity(predicate),
    }
}

/// Whether a plan reads one row at an end of an index.
fn is_end(plan: &Plan) -> bool {
    match &plan.operator {
        Operator::Project { input, .. } => is_end(input),
        Operator::Limit {
            input,
            offset: 0,
            count: 1,
        } => match &input.operator {
            Operator::IndexScan(scan) => {
                scan.ordered && scan.predicate.is_none() && !access::is_dependent(scan)
            }
            _ => false,
        },
        _ => false,
    }
}

fn index_names(table: &TableSource, positions: &[usize]) -> Vec<String> {
    let indexes = positions
        .iter()
        .filter_map(|position| table.indexes.get(*position));
    indexes.map(|index| index.name.clone()).collect()
}

fn derived_table(id: u64, estimate: f64) -> Table {
    Table::scanned(Some(format!("<derived{id}>")), Some(whole(estimate)))
}

fn no_table(note: &str) -> Table {
    Table {
        notes: vec![note.to_owned()],
        ..Table::scanned(None, None)
    }
}

/// MySQL never shows fewer than two rows of a table that it does not know yet.
fn whole(rows: f64) -> u64 {
    (rows.round() as u64).max(2)
}

/// The number of the query block that a plan marks itself as.
fn block_id(plan: &Plan) -> Option<u64> {
    match &plan.operator {
        Operator::Block {
            select_id,
            table: None,
            ..
        } => Some(*select_id as u64),
        Operator::Project { input, .. } => block_id(input),
        _ => None,
    }
}

/// Whether the rows of a plan are groups.
fn is_grouped(plan: &Plan) -> bool {
    match &plan.operator {
        Operator::Aggregate { .. } => true,
        Operator::Project { input, .. } | Operator::Filter { input, .. } => is_grouped(input),
        _ => false,
    }
}
