//! Walk over a plan that collects the tables and operations of each query block.

use super::{Body, Child, Note, Operation, OperationKind, Place, QueryBlock, TableUse, whole};
use crate::catalog::TableSource;
use crate::estimate::{NoColumns, selectivity};
use crate::explain::access;
use crate::explain::facts::{Facts, TableFacts};
use crate::explain::measured::{Actual, Measured, Measurements};
use crate::explain::names::Columns;
use crate::explain::outline::{FETCH_COST, ROW_COST, SCAN_COST, row_cost};
use crate::tree::expression::{Expression, ExpressionKind, Subquery};
use crate::tree::logical::with_stack;
use crate::tree::physical::{
    BlockTable, Grouping, IndexLookupJoin, IndexMerge, IndexScan, JoinKind, Operator, Plan,
    Purpose, QueryPlan, SetOperationKind, SharedId, SharedSource, TemporaryTable,
};
use crate::window::WindowKeys;

pub(super) struct Explainer<'p> {
    plan: &'p QueryPlan,
    facts: Option<&'p Facts<'p>>,
    measured: Option<&'p Measurements>,
    /// Whether each shared result is already explained.
    seen: Vec<bool>,
}

/// Contents found of a query block.
struct Found {
    id: u64,
    select_type: &'static str,
    tables: Vec<TableUse>,
    operations: Vec<Operation>,
    children: Vec<Child>,
    /// Set operation, if the block is one.
    arms: Option<Body>,
    recursive: bool,
}

impl Found {
    /// Name of the table that is read first.
    fn first_name(&self) -> String {
        let first = self.tables.first().and_then(|table| table.name.clone());
        first.unwrap_or_default()
    }
}

/// Note on the table in which a join looks for partners of rows of `outer`.
fn partner_note(kind: JoinKind, outer: &str) -> Option<Note> {
    match kind {
        JoinKind::Semi => Some(Note::FirstMatch(outer.to_owned())),
        JoinKind::Anti | JoinKind::NullAwareAnti => Some(Note::NotExists),
        JoinKind::Inner | JoinKind::Left => None,
    }
}

impl<'p> Explainer<'p> {
    pub(super) fn new(
        plan: &'p QueryPlan,
        facts: Option<&'p Facts<'p>>,
        measured: Option<&'p Measurements>,
    ) -> Self {
        Self {
            plan,
            facts,
            measured,
            seen: vec![false; plan.shared.len()],
        }
    }

    /// A query block, or a set operation of several.
    pub(super) fn query(
        &mut self,
        plan: &'p Plan,
        id: u64,
        select_type: &'static str,
    ) -> QueryBlock {
        self.named_query(plan, id, select_type).0
    }

    /// Adds a query with a name and the names of its columns.
    fn named_query(
        &mut self,
        plan: &'p Plan,
        id: u64,
        select_type: &'static str,
    ) -> (QueryBlock, Columns) {
        let id = block_id(plan).unwrap_or(id);
        let mut found = Found {
            id,
            select_type,
            tables: Vec::new(),
            operations: Vec::new(),
            children: Vec::new(),
            arms: None,
            recursive: false,
        };
        let names = self.visit(plan, &mut found);
        let sorts = found.operations.iter().any(|operation| operation.filesort);
        let body = match found.arms.take() {
            Some(Body::SetOperation {
                kind,
                arms,
                temporary,
                table,
                result_id,
                ..
            }) => Body::SetOperation {
                kind,
                arms,
                temporary,
                table,
                filesort: sorts,
                result_id,
            },
            _ => tables_body(&mut found),
        };
        let block = QueryBlock {
            id,
            select_type,
            body,
            children: found.children,
            dependent: select_type.starts_with("DEPENDENT"),
            cacheable: true,
            recursive: found.recursive,
            actual: self.measured_of(plan).map(Actual::given),
        };
        (block, names)
    }

    fn set_operation(&mut self, plan: &'p Plan, found: &mut Found) -> Columns {
        let Operator::SetOperation {
            kind,
            inputs,
            temporary,
            ..
        } = &plan.operator
        else {
            return Columns::default();
        };
        let arm_type = match kind {
            SetOperationKind::Union => "UNION",
            SetOperationKind::Intersect => "INTERSECT",
            SetOperationKind::Except => "EXCEPT",
        };
        let mut names = Columns::default();
        let mut arms = Vec::with_capacity(inputs.len());
        for (index, input) in inputs.iter().enumerate() {
            let select_type = match (index, found.select_type) {
                (0, own) => own,
                (_, "DEPENDENT SUBQUERY" | "DEPENDENT UNION") => "DEPENDENT UNION",
                _ => arm_type,
            };
            let (arm, columns) = self.named_query(input, found.id + index as u64, select_type);
            if index == 0 {
                names = columns.unqualified();
            }
            arms.push(arm);
        }
        found.arms = Some(Body::SetOperation {
            kind: *kind,
            arms,
            temporary: temporary.is_some(),
            table: temporary
                .as_ref()
                .and_then(|temporary| self.facts_of(temporary)),
            filesort: false,
            result_id: 0,
        });
        names
    }

    fn measured_of(&self, plan: &Plan) -> Option<Measured> {
        self.measured.map(|measured| measured.of(plan.number))
    }

    /// Measurements of reading a derived table.
    fn as_table(&self, plan: &Plan) -> Option<(Actual, u64)> {
        let measured = self.measured_of(plan)?;
        Some((Actual::given(measured), measured.rows))
    }

    fn facts_of(&self, temporary: &TemporaryTable) -> Option<TableFacts> {
        self.facts.and_then(|facts| facts.about(temporary))
    }

    fn visit(&mut self, plan: &'p Plan, found: &mut Found) -> Columns {
        with_stack(|| self.operator(plan, found))
    }

    fn operator(&mut self, plan: &'p Plan, found: &mut Found) -> Columns {
        match &plan.operator {
            Operator::Values { rows } => {
                self.subqueries(rows.iter().flatten(), Place::SelectList, found);
                if rows.is_empty() {
                    found.tables.push(TableUse::message("Impossible WHERE"));
                }
                match rows.as_slice() {
                    [only] => Columns::default().computed(only),
                    _ => Columns::unnamed(plan.output.len()),
                }
            }
            Operator::TableScan {
                table,
                alias,
                columns,
                predicate,
                pushed,
                possible,
                ..
            } => {
                let rows = table.row_count as f64;
                let pushed = Columns::of_pushed_terms(pushed, table, alias);
                let pushed = pushed.map(|(all, pushed)| all.quoted_text(&pushed));
                let engine = table.secondary_engine.as_deref();
                let engine = engine.map(|engine| Note::SecondaryEngine(engine.to_owned()));
                let scan = TableUse {
                    possible: index_names(table, possible),
                    notes: Vec::from_iter(
                        pushed.map(Note::PushedCondition).into_iter().chain(engine),
                    ),
                    ..TableUse::scanned(Some(alias), Some(table.row_count))
                };
                let scan = scan.of(table, columns, SCAN_COST + rows * ROW_COST);
                let names = Columns::of_table(table, alias, columns);
                self.read(plan, scan, rows, predicate.as_ref(), &names, found);
                names
            }
            Operator::IndexScan(scan) => self.index_scan(plan, scan, found),
            Operator::IndexMerge(merge) => self.index_merge(plan, merge, found),
            Operator::IndexLookupJoin(join) => self.lookup_join(plan, join, found),
            Operator::SharedScan { shared, alias, .. } => self.shared(plan, *shared, alias, found),
            Operator::WorkingTable { shared, alias } => {
                found.recursive = true;
                let rows = whole(plan.estimated_rows);
                let result = self.plan.shared.get(shared.0);
                let columns = result.map_or(&[][..], |result| result.columns.as_slice());
                found.tables.push(TableUse {
                    notes: vec![Note::Recursive],
                    used_columns: columns.to_vec(),
                    cost: SCAN_COST + rows as f64 * ROW_COST,
                    ..TableUse::scanned(Some(alias), Some(rows))
                });
                Columns::of_derived(alias, columns)
            }
            Operator::Filter { input, predicate } => {
                let names = self.visit(input, found);
                let grouped = is_grouped(input);
                let place = match found.tables.len().checked_sub(1) {
                    Some(last) if !grouped => Place::Condition(last),
                    _ => Place::Having,
                };
                self.subqueries([predicate], place, found);
                if !grouped
                    && let Some(table) = found.tables.last_mut()
                    && table.name.is_some()
                {
                    table.has_conditions = true;
                    table.conditions.push(names.quoted_text(predicate));
                    table.filtered *= share(plan, input.estimated_rows, Some(predicate));
                    if let (Some((_, kept)), Some(measured)) =
                        (&mut table.actual, self.measured_of(plan))
                    {
                        *kept = measured.rows;
                    }
                }
                names
            }
            Operator::Project { input, expressions } => {
                let names = self.visit(input, found);
                self.subqueries(expressions, Place::SelectList, found);
                names.computed(expressions)
            }
            Operator::Limit { input, .. } => self.visit(input, found),
            Operator::Aggregate { input, grouping } => self.aggregate(plan, input, grouping, found),
            Operator::Sort {
                input,
                keys,
                limit,
                temporary,
                ..
            } => {
                let names = self.visit(input, found);
                let operation = Operation {
                    kind: OperationKind::Ordering,
                    temporary: false,
                    table: self.facts_of(temporary),
                    filesort: true,
                    sorts_all: limit.is_none(),
                    sort_key: crate::text::order_text(keys, &names.plain()),
                    limit: limit.map(|(offset, count)| offset.saturating_add(count)),
                    actual: self.measured_of(plan).map(Actual::given),
                };
                found.operations.insert(0, operation);
                let keys = keys.iter().map(|key| &key.expression);
                self.subqueries(keys, Place::OrderBy, found);
                names
            }
            Operator::Window {
                input,
                partition,
                order,
                calls,
                ..
            } => {
                let names = self.visit(input, found);
                for call in calls {
                    call.for_each_expression(&mut |argument| {
                        self.subqueries([argument], Place::SelectList, found);
                    });
                }
                names.windowed(&WindowKeys { partition, order }, calls)
            }
            Operator::SetOperation { .. } => self.set_operation(plan, found),
            Operator::HashJoin { .. }
            | Operator::NestedLoopJoin { .. }
            | Operator::Apply { .. } => self.join(plan, found),
            Operator::Block {
                input,
                select_id,
                table,
            } => match table {
                None => self.visit(input, found),
                Some(table) => self.derived(plan, input, *select_id as u64, table, found),
            },
            Operator::Materialize { input, temporary } if temporary.is_exchange() => {
                self.visit(input, found)
            }
            Operator::Materialize { input, temporary } => {
                let names = self.visit(input, found);
                let operation = Operation {
                    kind: OperationKind::BufferResult,
                    temporary: true,
                    table: self.facts_of(temporary),
                    filesort: false,
                    sorts_all: false,
                    sort_key: String::new(),
                    limit: None,
                    actual: self.measured_of(plan).map(Actual::given),
                };
                found.operations.insert(0, operation);
                names
            }
        }
    }

    fn index_scan(&mut self, plan: &'p Plan, scan: &'p IndexScan, found: &mut Found) -> Columns {
        let skips = scan.groups.is_some();
        let cost = SCAN_COST + scan.read_rows * row_cost(scan.covering);
        let read = TableUse {
            notes: Vec::from_iter(skips.then_some(Note::GroupsByIndex)),
            impossible: access::is_impossible(scan),
            possible: index_names(&scan.table, &scan.possible),
            key: access::of_scan(scan),
            covering: scan.covering && !skips,
            reverse: scan.reverse && !skips,
            ordered: scan.ordered && !skips,
            ..TableUse::found(&scan.alias, scan.read_rows)
        };
        let read = read.of(&scan.table, &scan.columns, cost);
        let names = Columns::of_table(&scan.table, &scan.alias, &scan.columns);
        let predicate = scan.predicate.as_ref();
        self.read(plan, read, scan.read_rows, predicate, &names, found);
        names
    }

    fn index_merge(&mut self, plan: &'p Plan, merge: &'p IndexMerge, found: &mut Found) -> Columns {
        let read = TableUse {
            possible: index_names(&merge.table, &merge.possible),
            key: access::of_merge(merge),
            notes: access::merge_note(merge)
                .map(Note::Merge)
                .into_iter()
                .collect(),
            ..TableUse::found(&merge.alias, merge.read_rows)
        };
        let entries: f64 = merge.parts().map(|scan| scan.read_rows).sum();
        let cost = SCAN_COST + entries * ROW_COST + merge.read_rows * FETCH_COST;
        let read = read.of(&merge.table, &merge.columns, cost);
        let names = Columns::of_table(&merge.table, &merge.alias, &merge.columns);
        let predicate = merge.predicate.as_ref();
        self.read(plan, read, merge.read_rows, predicate, &names, found);
        names
    }

    /// Adds a table of which `read` rows are read, with the condition on these.
    fn read(
        &mut self,
        plan: &Plan,
        table: TableUse,
        read: f64,
        predicate: Option<&'p Expression>,
        names: &Columns,
        found: &mut Found,
    ) {
        let place = Place::Condition(found.tables.len());
        found.tables.push(TableUse {
            filtered: share(plan, read, predicate),
            actual: self
                .measured_of(plan)
                .map(|measured| (Actual::read(measured), measured.rows)),
            has_conditions: predicate.is_some(),
            conditions: predicate.iter().map(|one| names.quoted_text(one)).collect(),
            ..table
        });
        self.subqueries(predicate, place, found);
    }

    fn aggregate(
        &mut self,
        plan: &'p Plan,
        input: &'p Plan,
        grouping: &'p Grouping,
        found: &mut Found,
    ) -> Columns {
        let before = found.tables.len();
        let names = self.visit(input, found);
        if grouping.keys.is_empty() && is_end(input) {
            let ends = found.tables.iter_mut().skip(before);
            ends.for_each(|table| table.is_end = true);
        }
        let temporary = grouping.temporary.as_ref();
        let is_distinct = temporary.is_some_and(|temporary| {
            temporary.purpose == Purpose::Distinct
                || (temporary.purpose == Purpose::Aggregate && grouping.aggregates.is_empty())
        });
        if !grouping.keys.is_empty() {
            let operation = Operation {
                kind: if is_distinct {
                    OperationKind::DuplicatesRemoval
                } else {
                    OperationKind::Grouping
                },
                temporary: temporary.is_some(),
                table: temporary.and_then(|temporary| self.facts_of(temporary)),
                filesort: false,
                sorts_all: false,
                sort_key: String::new(),
                limit: None,
                actual: self.measured_of(plan).map(Actual::given),
            };
            found.operations.insert(0, operation);
        }
        self.subqueries(&grouping.keys, Place::GroupBy, found);
        let calls = grouping.aggregates.iter();
        let arguments = calls.flat_map(|call| &call.arguments);
        self.subqueries(arguments, Place::SelectList, found);
        names.grouped(grouping)
    }

    fn derived(
        &mut self,
        plan: &'p Plan,
        input: &'p Plan,
        id: u64,
        table: &'p BlockTable,
        found: &mut Found,
    ) -> Columns {
        let (rows, materialized) = match &input.operator {
            Operator::Materialize { input, temporary } => (&**input, Some(temporary)),
            _ => (input, None),
        };
        let place = Place::Table(found.tables.len());
        found.tables.push(TableUse {
            actual: self.as_table(plan),
            materialized: materialized.and_then(|temporary| self.facts_of(temporary)),
            ..TableUse::derived(&table.alias, id, plan.estimated_rows, &table.columns)
        });
        let block = self.query(rows, id, "DERIVED");
        found.children.push(Child { place, block });
        Columns::of_derived(&table.alias, &table.columns)
    }

    fn shared(
        &mut self,
        reader: &'p Plan,
        shared: SharedId,
        alias: &str,
        found: &mut Found,
    ) -> Columns {
        let plan: &'p QueryPlan = self.plan;
        let Some(result) = plan.shared.get(shared.0) else {
            return Columns::default();
        };
        let id = result.select_id as u64;
        let known = self
            .seen
            .get_mut(shared.0)
            .is_none_or(|seen| std::mem::replace(seen, true));
        let rows = match &result.source {
            SharedSource::Plan(source) => source.estimated_rows,
            SharedSource::Recursive { seed, step, .. } => seed.estimated_rows + step.estimated_rows,
        };
        let place = Place::Table(found.tables.len());
        found.tables.push(TableUse {
            materialized: self.facts_of(&result.temporary).filter(|_| !known),
            shared_with: known.then_some(id),
            actual: self.as_table(reader),
            ..TableUse::derived(alias, id, rows, &result.columns)
        });
        if !known {
            let block = match &result.source {
                SharedSource::Plan(source) => self.query(source, id, "DERIVED"),
                SharedSource::Recursive { seed, step, .. } => {
                    let seed = self.query(seed, id, "DERIVED");
                    let step_id = block_id(step).unwrap_or(id + 1);
                    let step = self.query(step, step_id, "UNION");
                    QueryBlock {
                        id,
                        select_type: "DERIVED",
                        body: Body::SetOperation {
                            kind: SetOperationKind::Union,
                            arms: vec![seed, step],
                            temporary: false,
                            table: None,
                            filesort: false,
                            result_id: 0,
                        },
                        children: Vec::new(),
                        dependent: false,
                        cacheable: true,
                        recursive: false,
                        actual: None,
                    }
                }
            };
            found.children.push(Child { place, block });
        }
        Columns::of_derived(alias, &result.columns)
    }

    fn join(&mut self, plan: &'p Plan, found: &mut Found) -> Columns {
        let (kind, left, right, build_left, temporary) = match &plan.operator {
            Operator::HashJoin {
                kind,
                left,
                right,
                build_left,
                temporary,
                ..
            } => (*kind, left, right, *build_left, temporary),
            Operator::NestedLoopJoin {
                kind,
                left,
                right,
                temporary,
                ..
            } => (*kind, left, right, true, temporary),
            Operator::Apply {
                kind,
                left,
                right,
                condition,
                ..
            } => {
                let left = self.visit(left, found);
                let names = left.beside(self.lateral(right, found));
                let place = Place::Condition(found.tables.len().saturating_sub(1));
                self.subqueries(condition, place, found);
                return if kind.is_left_only() { left } else { names };
            }
            _ => return Columns::default(),
        };
        // The build side is read first.
        let left_first = kind != JoinKind::Inner || build_left;
        let (first, second) = if left_first {
            (left, right)
        } else {
            (right, left)
        };
        let first = self.visit(first, found);
        let before = found.tables.len();
        let second = self.visit(second, found);
        let (left, right) = if left_first {
            (first, second)
        } else {
            (second, first)
        };
        let both = left.beside(right.clone());
        let mut conditions = Vec::new();
        let residual = match &plan.operator {
            Operator::HashJoin { keys, residual, .. } => {
                conditions.extend(keys.iter().map(|key| {
                    let sign = if key.null_safe { "<=>" } else { "=" };
                    let texts = (left.quoted_text(&key.left), right.quoted_text(&key.right));
                    format!("({} {sign} {})", texts.0, texts.1)
                }));
                residual
            }
            Operator::NestedLoopJoin { condition, .. } => condition,
            _ => &None,
        };
        conditions.extend(residual.iter().map(|one| both.quoted_text(one)));
        self.subqueries(residual, Place::Condition(before), found);
        let outer = found.first_name();
        let hash = self.facts_of(temporary);
        if let Some(table) = found.tables.get_mut(before) {
            table.has_conditions |= !conditions.is_empty();
            table.conditions.extend(conditions);
            table.notes.extend(partner_note(kind, &outer));
            table.notes.push(Note::HashJoin);
            table.hash = hash;
        }
        if kind.is_left_only() { left } else { both }
    }

    fn lookup_join(
        &mut self,
        plan: &'p Plan,
        join: &'p IndexLookupJoin,
        found: &mut Found,
    ) -> Columns {
        let left = self.visit(&join.left, found);
        let outer = found.first_name();
        let own = Columns::of_table(&join.table, &join.alias, &join.columns);
        let both = left.beside(own);
        let residual = &join.residual;
        let mut table = TableUse {
            filtered: residual.as_ref().map_or(1.0, |_| join.kept),
            has_conditions: residual.is_some(),
            conditions: residual.iter().map(|one| both.quoted_text(one)).collect(),
            possible: index_names(&join.table, &join.possible),
            key: access::of_lookup(join, &left),
            covering: join.covering,
            is_read_by_key: true,
            ..TableUse::found(&join.alias, join.rows_per_key)
        };
        let cost = SCAN_COST + join.rows_per_key * row_cost(join.covering);
        table = table.of(&join.table, &join.columns, cost);
        table.actual = self.measured_of(plan).map(|measured| {
            let left = self.measured_of(&join.left).unwrap_or_default();
            let time = (measured.last_row - left.last_row).max(0.0);
            let actual = Actual {
                loops: measured.lookups,
                rows: measured.rows_read,
                first_row: time,
                last_row: time,
            };
            (actual, measured.rows)
        });
        if !(join.kind == JoinKind::Semi && join.finds_one) {
            table.notes.extend(partner_note(join.kind, &outer));
        }
        let place = Place::Condition(found.tables.len());
        found.tables.push(table);
        self.subqueries(residual, place, found);
        if join.kind.is_left_only() { left } else { both }
    }

    /// A lateral derived table is materialized for every row before it.
    fn lateral(&mut self, plan: &'p Plan, found: &mut Found) -> Columns {
        let before = found.tables.len();
        let children = found.children.len();
        let names = self.visit(plan, found);
        let made: Vec<String> = found.tables[before..]
            .iter()
            .filter_map(|table| table.name.clone())
            .collect();
        if let Some(table) = before
            .checked_sub(1)
            .and_then(|last| found.tables.get_mut(last))
        {
            table.notes.push(Note::Rematerialize(made.join(",")));
        }
        for child in found.children.iter_mut().skip(children) {
            if child.block.select_type == "DERIVED" {
                child.block.select_type = "DEPENDENT DERIVED";
                child.block.dependent = true;
                if let Body::SetOperation { arms, .. } = &mut child.block.body
                    && let Some(first) = arms.first_mut()
                {
                    first.select_type = "DEPENDENT DERIVED";
                }
            }
        }
        names
    }

    /// Adds the subqueries of expressions, which follow their query block.
    fn subqueries(
        &mut self,
        expressions: impl IntoIterator<Item = &'p Expression>,
        place: Place,
        found: &mut Found,
    ) {
        for expression in expressions {
            let mut stack = vec![expression];
            while let Some(expression) = stack.pop() {
                if let ExpressionKind::Subquery(subquery) = &expression.kind {
                    let block = self.subquery(subquery);
                    found.children.push(Child { place, block });
                    continue;
                }
                crate::walk::push_children(expression, &mut stack);
            }
        }
    }

    fn subquery(&mut self, subquery: &'p Subquery) -> QueryBlock {
        let select_type = if !subquery.parameters.is_empty() {
            "DEPENDENT SUBQUERY"
        } else if subquery.cacheable {
            "SUBQUERY"
        } else {
            "UNCACHEABLE SUBQUERY"
        };
        let id = subquery.select_id as u64;
        QueryBlock {
            cacheable: select_type == "SUBQUERY",
            ..self.query(&subquery.plan, id, select_type)
        }
    }
}

/// Tables of a query block, or the message if it reads none.
fn tables_body(found: &mut Found) -> Body {
    let mut tables = std::mem::take(&mut found.tables);
    if tables.is_empty() {
        tables.push(TableUse::message("No tables used"));
    }
    if let [only] = tables.as_slice()
        && only.impossible
    {
        tables = vec![TableUse::message("Impossible WHERE")];
    }
    if tables.iter().all(|table| table.is_end) {
        tables = vec![TableUse::message("Select tables optimized away")];
    }
    Body::Tables {
        tables,
        operations: std::mem::take(&mut found.operations),
    }
}

/// Selectivity of a condition on the rows read.
fn share(plan: &Plan, read: f64, predicate: Option<&Expression>) -> f64 {
    match predicate {
        None => 1.0,
        Some(_) if read >= 1.0 => (plan.estimated_rows / read).clamp(0.0, 1.0),
        Some(predicate) => selectivity::of(&NoColumns, predicate),
    }
}

/// Whether a plan reads a single row at an end of an index.
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

/// Number of the query block that a plan marks.
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
