//! EXPLAIN FORMAT=JSON, version 1: query blocks with their tables, in the form and with the members of MySQL 8. Each
//! temporary table adds a member `temporary_table`.

use super::blocks::{
    Body, Child, Note, Operation, OperationKind, Place, QueryBlock, TableUse, query_blocks,
};
use super::facts::Facts;
use super::outline::ROW_COST;
use super::subject::{Change, ChangeKind, Subject};
use super::traditional::{percentage, result_table, rows_of_blocks};
use crate::document::{Document, Layout, Members};
use crate::tree::logical::with_stack;
use crate::tree::physical::SetOperationKind;

pub(super) fn json(subject: &Subject<'_>, layout: Layout) -> String {
    let block = subject.query.map(|query| {
        let facts = Facts::of(subject, query);
        let mut block = query_blocks(query, Some(&facts), subject.measured);
        // Numbers the results of set operations.
        rows_of_blocks(&mut block);
        block
    });
    let writer = Writer {
        change: subject.change.as_ref(),
    };
    let block = match &subject.change {
        Some(change) if change.kind.adds_rows() => writer.adding(change, block),
        _ => block.map_or_else(Document::default, |block| writer.block(block, true)),
    };
    Document::from(vec![("query_block", block)]).to_text(layout)
}

struct Writer<'s> {
    change: Option<&'s Change>,
}

/// A cost with two decimals.
fn money(cost: f64) -> Document {
    Document::from(format!("{cost:.2}"))
}

/// A size such as `54K`, rounded down as in MySQL.
fn size_text(bytes: f64) -> String {
    const UNITS: [&str; 5] = ["", "K", "M", "G", "T"];
    let (mut bytes, mut unit) = (bytes.max(0.0), 0);
    while bytes >= 1024.0 && unit + 1 < UNITS.len() {
        bytes /= 1024.0;
        unit += 1;
    }
    format!("{}{}", bytes.floor(), UNITS[unit])
}

impl Writer<'_> {
    /// Document of INSERT and REPLACE.
    fn adding(&self, change: &Change, source: Option<QueryBlock>) -> Document {
        let verb = match change.kind {
            ChangeKind::Replace => "replace",
            _ => "insert",
        };
        let table = vec![
            (verb, Document::from(true)),
            ("table_name", Document::from(change.tables.join(","))),
            ("access_type", Document::from("ALL")),
        ];
        let mut members: Members = vec![("select_id", Document::from(1))];
        let source = source.map(|block| match self.block(block, false) {
            Document::Object(members) => members,
            _ => Vec::new(),
        });
        let mut from = source.unwrap_or_default();
        from.retain(|(name, _)| *name != "select_id");
        if let Some(at) = from.iter().position(|(name, _)| *name == "cost_info") {
            members.push(from.remove(at));
        }
        members.push(("table", table.into()));
        if !from.is_empty() {
            members.push(("insert_from", from.into()));
        }
        members.into()
    }

    /// Members of `query_block`.
    fn block(&self, block: QueryBlock, is_outermost: bool) -> Document {
        with_stack(|| {
            let QueryBlock {
                id,
                body,
                children,
                recursive,
                ..
            } = block;
            let mut members: Members = Vec::new();
            match body {
                Body::SetOperation {
                    kind,
                    arms,
                    temporary,
                    table,
                    filesort,
                    result_id,
                } => {
                    let name = match kind {
                        SetOperationKind::Union => "union_result",
                        SetOperationKind::Intersect => "intersect_result",
                        SetOperationKind::Except => "except_result",
                    };
                    let is_table = temporary || filesort;
                    let mut result: Members =
                        vec![("using_temporary_table", Document::from(is_table))];
                    if is_table {
                        let ids = arms.iter().map(|arm| arm.id);
                        result.push(("select_id", Document::from(result_id)));
                        result.push(("table_name", result_table(kind, ids).into()));
                        result.push(("access_type", Document::from("ALL")));
                    }
                    if filesort {
                        result.push(("using_filesort", Document::from(true)));
                    }
                    if let Some(table) = table {
                        result.push(("temporary_table", table.document()));
                    }
                    let arms = arms.into_iter().map(|arm| self.specification(arm));
                    result.push(("query_specifications", arms.collect()));
                    members.push((name, result.into()));
                    let (order_by, _) = split(children, |place| place == Place::OrderBy);
                    self.push_subqueries(&mut members, "order_by_subqueries", order_by);
                }
                Body::Tables { tables, operations } => {
                    members.push(("select_id", Document::from(id)));
                    if recursive {
                        members.push(("recursive", Document::from(true)));
                    }
                    self.tables(&mut members, tables, operations, children, is_outermost);
                }
            }
            members.into()
        })
    }

    /// A query block as an element of a list.
    fn specification(&self, block: QueryBlock) -> Document {
        Document::from(vec![
            ("dependent", Document::from(block.dependent)),
            ("cacheable", Document::from(block.cacheable)),
            ("query_block", self.block(block, false)),
        ])
    }

    fn push_subqueries(&self, members: &mut Members, name: &'static str, blocks: Vec<QueryBlock>) {
        if !blocks.is_empty() {
            let blocks = blocks.into_iter().map(|block| self.specification(block));
            members.push((name, blocks.collect()));
        }
    }

    fn tables(
        &self,
        members: &mut Members,
        tables: Vec<TableUse>,
        operations: Vec<Operation>,
        children: Vec<Child>,
        is_outermost: bool,
    ) {
        if let [only] = tables.as_slice()
            && let [Note::Message(message)] = only.notes.as_slice()
        {
            members.push(("message", Document::from(*message)));
            self.clauses(members, children);
            return;
        }
        let several = tables.len() > 1;
        let ordered = tables.first().is_some_and(|table| table.ordered);
        let change = self
            .change
            .filter(|change| is_outermost && !change.kind.adds_rows());
        let mut prefix = Prefix {
            cost: 0.0,
            rows: 1.0,
        };
        let (of_tables, others) = split_children(children);
        let mut of_tables = of_tables;
        let mut written = Vec::with_capacity(tables.len());
        for (index, table) in tables.into_iter().enumerate() {
            let (own, rest) = of_tables
                .into_iter()
                .partition::<Vec<Child>, _>(|child| is_of(child.place, index));
            of_tables = rest;
            written.push(self.table(table, own, &mut prefix, change, several));
        }
        let sorts = |operation: &&Operation| {
            operation.filesort && operation.sorts_all && !operation.temporary
        };
        let sorted = operations.iter().find(sorts).map(|_| prefix.rows);
        let is_single_change = change.is_some() && !several;
        if !is_single_change {
            let cost = prefix.cost + sorted.unwrap_or(0.0);
            members.push(("cost_info", vec![("query_cost", money(cost))].into()));
        }
        let innermost: Members = if several {
            let wrap = |table| Document::from(vec![("table", table)]);
            vec![("nested_loop", written.into_iter().map(wrap).collect())]
        } else {
            written.into_iter().map(|table| ("table", table)).collect()
        };
        let has_order = operations.iter().any(|operation| {
            matches!(
                operation.kind,
                OperationKind::Ordering
                    | OperationKind::Grouping
                    | OperationKind::DuplicatesRemoval
            )
        });
        let mut nested = innermost;
        if ordered && !has_order {
            nested.insert(0, ("using_filesort", Document::from(false)));
            nested = vec![("ordering_operation", nested.into())];
        }
        for operation in operations.into_iter().rev() {
            nested = operation_members(operation, nested, several, sorted);
        }
        members.extend(nested);
        self.clauses(members, others);
    }

    /// Adds the subqueries of clauses.
    fn clauses(&self, members: &mut Members, children: Vec<Child>) {
        let mut rest = children;
        for (name, place) in [
            ("select_list_subqueries", Place::SelectList),
            ("having_subqueries", Place::Having),
            ("group_by_subqueries", Place::GroupBy),
            ("order_by_subqueries", Place::OrderBy),
        ] {
            let (found, others) = split(rest, |known| known == place);
            self.push_subqueries(members, name, found);
            rest = others;
        }
    }

    fn table(
        &self,
        table: TableUse,
        children: Vec<Child>,
        prefix: &mut Prefix,
        change: Option<&Change>,
        several: bool,
    ) -> Document {
        let mut members: Members = Vec::new();
        let alias = table.alias.clone().unwrap_or_default();
        let changed = change.filter(|change| change.tables.contains(&alias));
        let is_single_change = changed.is_some() && !several;
        if let Some(change) = changed {
            let verb = match change.kind {
                ChangeKind::Delete => "delete",
                _ => "update",
            };
            members.push((verb, Document::from(true)));
        }
        members.push(("table_name", Document::from(alias)));
        members.push(("access_type", Document::from(table.key.access)));
        let list = |texts: Vec<String>| texts.into_iter().collect::<Document>();
        if !table.possible.is_empty() {
            members.push(("possible_keys", list(table.possible)));
        }
        if let Some(key) = table.key.key {
            members.push(("key", Document::from(key)));
        }
        if !table.key.parts.is_empty() {
            members.push(("used_key_parts", list(table.key.parts)));
        }
        if let Some(length) = table.key.length {
            members.push(("key_length", Document::from(length)));
        }
        if let Some(reference) = table.key.reference {
            let references = reference.split(',').map(str::to_owned);
            members.push(("ref", references.collect()));
        }
        let rows = table.rows.unwrap_or(0) as f64;
        let read = if table.is_read_by_key {
            prefix.rows * table.cost
        } else {
            table.cost
        };
        let produced = prefix.rows * rows * table.filtered;
        prefix.cost += read;
        prefix.rows = produced;
        members.push(("rows_examined_per_scan", Document::from(rows as u64)));
        if !is_single_change {
            members.push(("rows_produced_per_join", Document::from(produced as u64)));
        }
        let filtered = format!("{:.2}", percentage(table.filtered));
        members.push(("filtered", Document::from(filtered)));
        push_notes(&mut members, &table.notes, (table.reverse, table.covering));
        if let Some(hash) = table.hash {
            members.push(("temporary_table", hash.document()));
        }
        if !is_single_change {
            let eval = produced * ROW_COST;
            let size = produced * table.record_bytes as f64;
            let costs = vec![
                ("read_cost", money((read - eval).max(0.0))),
                ("eval_cost", money(eval)),
                ("prefix_cost", money(prefix.cost)),
                ("data_read_per_join", Document::from(size_text(size))),
            ];
            members.push(("cost_info", costs.into()));
            if !table.used_columns.is_empty() {
                members.push(("used_columns", list(table.used_columns)));
            }
        }
        match table.conditions.as_slice() {
            [] => {}
            [only] => members.push(("attached_condition", Document::from(only.as_str()))),
            several => {
                let text = format!("({})", several.join(" and "));
                members.push(("attached_condition", Document::from(text)));
            }
        }
        let (attached, made) = split(children, |place| matches!(place, Place::Condition(_)));
        self.push_subqueries(&mut members, "attached_subqueries", attached);
        let is_table = table.materialized.is_some();
        let facts = table.materialized.map(|facts| facts.document());
        for child in made {
            let mut made: Members = vec![
                ("using_temporary_table", Document::from(is_table)),
                ("dependent", Document::from(child.block.dependent)),
                ("cacheable", Document::from(child.block.cacheable)),
            ];
            if let Some(facts) = &facts {
                made.push(("temporary_table", facts.clone()));
            }
            made.push(("query_block", self.block(child.block, false)));
            members.push(("materialized_from_subquery", made.into()));
        }
        if let Some(id) = table.shared_with {
            let with = vec![("select_id", Document::from(id))];
            let shared = vec![("sharing_temporary_table_with", with.into())];
            members.push(("materialized_from_subquery", shared.into()));
        }
        members.into()
    }
}

/// Cost and cardinality of the join of the tables so far.
struct Prefix {
    cost: f64,
    rows: f64,
}

fn push_notes(members: &mut Members, notes: &[Note], (reverse, covering): (bool, bool)) {
    let flag = Document::from(true);
    if notes.contains(&Note::GroupsByIndex) {
        members.push(("using_index_for_group_by", flag.clone()));
    }
    if reverse {
        members.push(("backward_index_scan", flag.clone()));
    }
    if covering {
        members.push(("using_index", flag.clone()));
    }
    for note in notes {
        match note {
            Note::FirstMatch(table) => {
                members.push(("first_match", Document::from(table.as_str())))
            }
            Note::PushedCondition(text) => {
                members.push(("pushed_condition", Document::from(text.as_str())));
            }
            Note::SecondaryEngine(name) => {
                members.push(("secondary_engine", Document::from(name.as_str())));
            }
            Note::NotExists => members.push(("not_exists", flag.clone())),
            Note::HashJoin => members.push(("using_join_buffer", Document::from("hash join"))),
            Note::Rematerialize(tables) => {
                members.push(("rematerialize", Document::from(tables.as_str())));
            }
            Note::Merge(_) | Note::Message(_) | Note::Recursive | Note::GroupsByIndex => {}
        }
    }
}

/// Members of an operation around those of its input.
fn operation_members(
    operation: Operation,
    inside: Members,
    several: bool,
    sorted: Option<f64>,
) -> Members {
    let name = match operation.kind {
        OperationKind::Ordering => "ordering_operation",
        OperationKind::Grouping => "grouping_operation",
        OperationKind::DuplicatesRemoval => "duplicates_removal",
        OperationKind::BufferResult => "buffer_result",
    };
    let mut members: Members = Vec::new();
    // The rows of a join are sorted after all are joined.
    if operation.temporary || (operation.filesort && several) {
        members.push(("using_temporary_table", Document::from(true)));
    }
    if operation.kind != OperationKind::BufferResult {
        members.push(("using_filesort", Document::from(operation.filesort)));
    }
    if let (Some(rows), true) = (sorted, operation.filesort && operation.sorts_all) {
        members.push(("cost_info", vec![("sort_cost", money(rows))].into()));
    }
    if let Some(table) = operation.table {
        members.push(("temporary_table", table.document()));
    }
    members.extend(inside);
    vec![(name, members.into())]
}

fn is_of(place: Place, index: usize) -> bool {
    matches!(place, Place::Table(at) | Place::Condition(at) if at == index)
}

/// (query blocks that belong to a table, others).
fn split_children(children: Vec<Child>) -> (Vec<Child>, Vec<Child>) {
    children
        .into_iter()
        .partition(|child| matches!(child.place, Place::Table(_) | Place::Condition(_)))
}

/// (query blocks of some places, others).
fn split(children: Vec<Child>, is_wanted: impl Fn(Place) -> bool) -> (Vec<QueryBlock>, Vec<Child>) {
    let (found, others): (Vec<Child>, Vec<Child>) = children
        .into_iter()
        .partition(|child| is_wanted(child.place));
    (found.into_iter().map(|child| child.block).collect(), others)
}

#[cfg(test)]
mod tests {
    use super::size_text;

    #[test]
    fn sizes_are_rounded_down() {
        let cases = [
            (56.0, "56"),
            (800.0, "800"),
            (56_000.0, "54K"),
            (208_000.0, "203K"),
            (20_800_000.0, "19M"),
        ];
        for (bytes, text) in cases {
            assert_eq!(size_text(bytes), text);
        }
    }
}
