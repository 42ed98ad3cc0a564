//! Text of query blocks.

use std::fmt::Write;

use super::super::names::{in_database, quoted};
use super::scope::Scope;
use crate::text::write_window;
use crate::tree::expression::{Comparison, Expression, ExpressionKind};
use crate::tree::logical::{
    Aggregate, ColumnId, Join, Query, Relation, SharedRelation, Window, produced, with_stack,
};
use crate::tree::physical::{JoinKind, Purpose, SetOperationKind, SortKey};

/// Writer of the query blocks of a statement.
pub(super) struct Writer<'q> {
    query: &'q Query,
}

/// Clauses of a SELECT.
pub(super) struct Parts<'q> {
    pub(super) scope: Scope<'q>,
    /// Its number, if it is marked.
    select_id: Option<usize>,
    buffers: bool,
    distinct: bool,
    /// FROM
    pub(super) from: String,
    conditions: Vec<Condition>,
    group: Option<&'q Aggregate>,
    having: Vec<&'q Expression>,
    windows: Vec<&'q Window>,
    order: &'q [SortKey],
    limit: Option<(u64, u64)>,
    /// Set operation in place of a SELECT.
    set_operation: Option<&'q Relation>,
    values: Option<&'q [Vec<Expression>]>,
}

/// A condition of WHERE or ON.
struct Condition {
    text: String,
    /// The condition equates a column with another or with a constant: MySQL writes these before all others, the last
    /// one first.
    is_equality: bool,
}

fn conjunction(conditions: &[Condition]) -> Option<String> {
    let equalities = conditions.iter().filter(|condition| condition.is_equality);
    let others = conditions.iter().filter(|condition| !condition.is_equality);
    let texts = equalities.rev().chain(others);
    let texts: Vec<&str> = texts.map(|condition| condition.text.as_str()).collect();
    match texts.as_slice() {
        [] => None,
        [only] => Some((*only).to_owned()),
        several => Some(format!("({})", several.join(" and "))),
    }
}

impl Parts<'_> {
    /// Text of WHERE and the following clauses.
    pub(super) fn tail(&self) -> String {
        let mut text = String::new();
        if let Some(conditions) = conjunction(&self.conditions) {
            let _ = write!(text, " where {conditions}");
        }
        if let Some(group) = self.group.filter(|group| !group.keys.is_empty()) {
            let keys = group.keys.iter().map(|key| match key.expression.kind {
                ExpressionKind::Column(id) if id == key.id => self.scope.text_of(id),
                _ => self.scope.text(&key.expression),
            });
            let _ = write!(text, " group by {}", keys.collect::<Vec<_>>().join(","));
            if group.rollup.is_some() {
                text.push_str(" with rollup");
            }
        }
        let having = self.having.iter().map(|one| condition(one, &self.scope));
        if let Some(having) = conjunction(&having.collect::<Vec<_>>()) {
            let _ = write!(text, " having {having}");
        }
        let windows = self.named_windows();
        if !windows.is_empty() {
            let _ = write!(text, " window {}", windows.join(","));
        }
        text
    }

    /// WINDOW clause: the windows that functions refer to by name.
    fn named_windows(&self) -> Vec<String> {
        let mut known: Vec<&str> = Vec::new();
        let mut texts = Vec::new();
        for window in self.windows.iter().rev() {
            for (_, call) in &window.calls {
                let over = &call.over;
                let defined = match (&over.name, &over.base) {
                    (Some(name), _) => Some((name, over.definition())),
                    (None, Some(base)) => Some((base, over.definition_of_base())),
                    (None, None) => None,
                };
                let Some((name, over)) =
                    defined.filter(|(name, _)| !known.contains(&name.as_str()))
                else {
                    continue;
                };
                known.push(name);
                let mut text = format!("{} AS (", quoted(name));
                write_window(&mut text, &window.keys(), &over, &self.scope);
                text.push_str(") ");
                texts.push(text);
            }
        }
        texts
    }
}

fn condition(expression: &Expression, scope: &Scope<'_>) -> Condition {
    let is_equality = match &expression.kind {
        ExpressionKind::Compare {
            comparison: Comparison::Equal,
            left,
            right,
        } => {
            let is_column = |one: &Expression| matches!(one.kind, ExpressionKind::Column(_));
            let is_plain = |one: &Expression| {
                matches!(
                    one.kind,
                    ExpressionKind::Column(_)
                        | ExpressionKind::Literal(_)
                        | ExpressionKind::Parameter(_)
                )
            };
            is_plain(left) && is_plain(right) && (is_column(left) || is_column(right))
        }
        _ => false,
    };
    Condition {
        text: scope.text(expression),
        is_equality,
    }
}

/// Text of an expression as a user would have written it: names without quotes and tables, and no outer parentheses.
fn unqualified(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('`') {
        plain.push_str(&rest[..start]);
        let name = &rest[start + 1..];
        let Some(end) = name.find('`') else { break };
        rest = &name[end + 1..];
        match rest.strip_prefix('.') {
            Some(column) if column.starts_with('`') => rest = column,
            _ => plain.push_str(&name[..end]),
        }
    }
    plain.push_str(rest);
    let inner = plain
        .strip_prefix('(')
        .and_then(|text| text.strip_suffix(')'));
    match inner {
        Some(inner) if !inner.contains(['(', ')']) => inner.to_owned(),
        _ => plain,
    }
}

fn conditions_of(expressions: &[Expression], scope: &Scope<'_>, into: &mut Vec<Condition>) {
    into.extend(expressions.iter().map(|one| condition(one, scope)));
}

impl<'q> Writer<'q> {
    pub(super) fn new(query: &'q Query) -> Self {
        Self { query }
    }

    /// Names of the columns of a common table expression.
    pub(super) fn shared_names(&self, shared: usize) -> &'q [String] {
        let shared = self.query.shared.get(shared);
        shared.map_or(&[], |shared| shared.names.as_slice())
    }

    /// WITH clause of the common table expressions that remain.
    pub(super) fn with_clause(&self) -> String {
        let mut texts = Vec::new();
        let mut recursive = false;
        for shared in &self.query.shared {
            let names: Vec<&str> = shared.names.iter().map(String::as_str).collect();
            let text = match &shared.source {
                None => continue,
                Some(_) if shared.readers == 0 => continue,
                Some(SharedRelation::Plain(relation)) => {
                    let (columns, id) = (&shared.columns, shared.select_id);
                    self.query(relation, columns, Some(&names), id, None)
                }
                Some(SharedRelation::Recursive {
                    seed,
                    step,
                    step_columns,
                    distinct,
                    ..
                }) => {
                    recursive = true;
                    let (columns, id) = (&shared.columns, shared.select_id);
                    let seed = self.query(seed, columns, Some(&names), id, None);
                    let step = self.parts(step, None);
                    let step = self.named(&step, step_columns, None, id + 1, None);
                    let all = if *distinct { "" } else { " all" };
                    format!("{seed} union{all} {step}")
                }
            };
            texts.push(format!("{} as ({text})", quoted(&shared.name)));
        }
        if texts.is_empty() {
            return String::new();
        }
        let recursive = if recursive { "recursive " } else { "" };
        format!("with {recursive}{} ", texts.join(", "))
    }

    /// A query expression that gives these columns, with their names where they are visible.
    pub(super) fn query(
        &self,
        relation: &Relation,
        columns: &[ColumnId],
        names: Option<&[&str]>,
        select_id: usize,
        outer: Option<&Scope<'_>>,
    ) -> String {
        with_stack(|| {
            self.text_of(
                &self.parts(relation, outer),
                columns,
                names,
                select_id,
                outer,
            )
        })
    }

    /// Text of a query expression from its clauses. Clauses contain the texts of their subqueries: splitting an
    /// expression twice would take time exponential in the nesting depth.
    fn text_of(
        &self,
        parts: &Parts<'_>,
        columns: &[ColumnId],
        names: Option<&[&str]>,
        select_id: usize,
        outer: Option<&Scope<'_>>,
    ) -> String {
        let mut text = match (parts.set_operation, parts.values) {
            (Some(operation), _) => self.set_operation(operation, names, outer),
            (None, Some(rows)) => {
                let row = |row: &Vec<Expression>| {
                    let values = row.iter().map(|value| parts.scope.text(value));
                    format!("row({})", values.collect::<Vec<_>>().join(","))
                };
                let rows: Vec<String> = rows.iter().map(row).collect();
                format!("values {}", rows.join(","))
            }
            (None, None) => self.select(parts, columns, names, select_id),
        };
        let keys = parts.order.iter().map(|key| {
            let direction = if key.descending { " desc" } else { "" };
            format!(
                "{}{direction}",
                order_key(key, columns, names, &parts.scope)
            )
        });
        let keys: Vec<String> = keys.collect();
        if !keys.is_empty() {
            let _ = write!(text, " order by {}", keys.join(","));
        }
        match parts.limit {
            None => {}
            Some((0, count)) => {
                let _ = write!(text, " limit {count}");
            }
            Some((offset, count)) => {
                let _ = write!(text, " limit {offset},{count}");
            }
        }
        text
    }

    fn select(
        &self,
        parts: &Parts<'_>,
        columns: &[ColumnId],
        names: Option<&[&str]>,
        select_id: usize,
    ) -> String {
        let id = parts.select_id.unwrap_or(select_id);
        let mut text = format!("/* select#{id} */ select ");
        if parts.distinct {
            text.push_str("distinct ");
        }
        if parts.buffers {
            text.push_str("sql_buffer_result ");
        }
        let items = columns.iter().enumerate().map(|(index, id)| {
            let value = parts.scope.text_of(*id);
            match names.and_then(|names| names.get(index)) {
                Some(name) => format!("{value} AS {}", quoted(name)),
                None => value,
            }
        });
        let items: Vec<String> = items.collect();
        text.push_str(if items.is_empty() { "1" } else { "" });
        text.push_str(&items.join(","));
        if !parts.from.is_empty() {
            let _ = write!(text, " from {}", parts.from);
        }
        text + &parts.tail()
    }

    fn set_operation(
        &self,
        operation: &Relation,
        names: Option<&[&str]>,
        outer: Option<&Scope<'_>>,
    ) -> String {
        let Relation::SetOperation {
            kind, all, inputs, ..
        } = operation
        else {
            return String::new();
        };
        let word = match kind {
            SetOperationKind::Union => "union",
            SetOperationKind::Intersect => "intersect",
            SetOperationKind::Except => "except",
        };
        let all = if *all { " all" } else { "" };
        let arms = inputs.iter().enumerate().map(|(index, (arm, columns))| {
            let names = names.filter(|_| index == 0);
            let parts = self.parts(arm, outer);
            let is_nested =
                parts.set_operation.is_some() || parts.limit.is_some() || !parts.order.is_empty();
            let text = self.named(&parts, columns, names, index + 1, outer);
            if is_nested { format!("({text})") } else { text }
        });
        let arms: Vec<String> = arms.collect();
        arms.join(&format!(" {word}{all} "))
    }

    /// Text of a query expression whose columns have these names, or else those of its tables or expressions.
    fn named(
        &self,
        parts: &Parts<'_>,
        columns: &[ColumnId],
        names: Option<&[&str]>,
        select_id: usize,
        outer: Option<&Scope<'_>>,
    ) -> String {
        if names.is_some() {
            return self.text_of(parts, columns, names, select_id, outer);
        }
        let own_name = |id: &ColumnId| {
            let text = parts.scope.text_of(*id);
            match text.rsplit_once(".`") {
                Some((_, last)) if text.starts_with('`') && last.ends_with('`') => {
                    last.trim_end_matches('`').replace("``", "`")
                }
                _ => unqualified(&text),
            }
        };
        let own: Vec<String> = columns.iter().map(own_name).collect();
        let own: Vec<&str> = own.iter().map(String::as_str).collect();
        self.text_of(parts, columns, Some(&own), select_id, outer)
    }

    /// Splits a query block into clauses.
    pub(super) fn parts<'s>(
        &'s self,
        relation: &'s Relation,
        outer: Option<&'s Scope<'s>>,
    ) -> Parts<'s> {
        let mut parts = Parts {
            scope: Scope::new(self, outer),
            select_id: None,
            buffers: false,
            distinct: false,
            from: String::new(),
            conditions: Vec::new(),
            group: None,
            having: Vec::new(),
            windows: Vec::new(),
            order: &[],
            limit: None,
            set_operation: None,
            values: None,
        };
        let mut wheres: Vec<&[Expression]> = Vec::new();
        let mut rest = relation;
        loop {
            rest = match rest {
                Relation::Materialize { input, temporary } => {
                    parts.buffers |= temporary.purpose == Purpose::Buffer;
                    input
                }
                Relation::Block {
                    input,
                    select_id,
                    derived: None,
                } => {
                    parts.select_id = Some(*select_id);
                    input
                }
                Relation::Extend { input, columns } | Relation::Project { input, columns } => {
                    for column in columns {
                        parts.scope.compute(column.id, &column.expression);
                    }
                    input
                }
                Relation::Limit {
                    input,
                    offset,
                    count,
                } if parts.limit.is_none() && parts.group.is_none() => {
                    parts.limit = Some((*offset, *count));
                    input
                }
                Relation::Window(window) => {
                    parts.windows.push(window);
                    parts.scope.window(window);
                    // The sort keys are in the text of the window.
                    match &*window.input {
                        Relation::Sort { input, .. } => input,
                        input => input,
                    }
                }
                Relation::Sort {
                    input, keys, limit, ..
                } if parts.order.is_empty() && parts.group.is_none() => {
                    parts.order = keys;
                    parts.limit = parts.limit.or(*limit);
                    input
                }
                Relation::Filter { input, predicates } => {
                    if parts.group.is_none() && is_above_groups(input) {
                        parts.having.extend(predicates);
                    } else {
                        wheres.push(predicates);
                    }
                    input
                }
                Relation::Aggregate(aggregate)
                    if aggregate.purpose == Purpose::Distinct
                        && parts.group.is_none()
                        && !parts.distinct =>
                {
                    parts.distinct = true;
                    parts.scope.group(aggregate);
                    &aggregate.input
                }
                Relation::Aggregate(aggregate) if parts.group.is_none() => {
                    parts.group = Some(aggregate);
                    parts.scope.group(aggregate);
                    &aggregate.input
                }
                _ => break,
            };
        }
        parts.scope.add_tables(rest);
        match rest {
            Relation::SetOperation { .. } => parts.set_operation = Some(rest),
            Relation::Values { columns, rows, .. } if !columns.is_empty() => {
                parts.values = Some(rows);
            }
            _ => {}
        }
        for predicates in wheres {
            conditions_of(predicates, &parts.scope, &mut parts.conditions);
        }
        if parts.set_operation.is_none() {
            let mut conditions = Vec::new();
            parts.from = self.from(rest, &parts.scope, &mut conditions);
            parts.conditions.extend(conditions);
        }
        parts
    }

    /// Text of a part of FROM; its conditions are added to `conditions`.
    fn from(
        &self,
        relation: &Relation,
        scope: &Scope<'_>,
        conditions: &mut Vec<Condition>,
    ) -> String {
        with_stack(|| match relation {
            Relation::Scan(scan) => {
                conditions_of(&scan.predicates, scope, conditions);
                let table = &scan.table;
                let name = in_database(&table.database, &[&table.name]);
                if table.name == scan.alias {
                    name
                } else {
                    format!("{name} {}", quoted(&scan.alias))
                }
            }
            Relation::SharedScan { shared, alias, .. } => {
                let name = self.query.shared.get(*shared);
                let name = name.map_or("", |shared| &shared.name);
                if name == alias {
                    quoted(name)
                } else {
                    format!("{} {}", quoted(name), quoted(alias))
                }
            }
            Relation::Block {
                input,
                select_id,
                derived: Some(derived),
            } => {
                let (ids, names): (Vec<ColumnId>, Vec<&str>) = derived
                    .columns
                    .iter()
                    .map(|(id, name)| (*id, name.as_str()))
                    .unzip();
                let text = self.query(input, &ids, Some(&names), *select_id, Some(scope));
                format!("({text}) {}", quoted(&derived.alias))
            }
            Relation::Join(join) => self.join(join, scope, conditions),
            Relation::Filter { input, predicates } => {
                let text = self.from(input, scope, conditions);
                conditions_of(predicates, scope, conditions);
                text
            }
            Relation::Extend { input, .. }
            | Relation::Project { input, .. }
            | Relation::Sort { input, .. }
            | Relation::Limit { input, .. }
            | Relation::Materialize { input, .. }
            | Relation::Block { input, .. } => self.from(input, scope, conditions),
            Relation::Values { .. } => String::new(),
            Relation::Aggregate(_) | Relation::Window(_) | Relation::SetOperation { .. } => {
                let columns: Vec<ColumnId> = produced(relation).iter().collect();
                format!("({})", self.query(relation, &columns, None, 1, Some(scope)))
            }
        })
    }

    fn join(&self, join: &Join, scope: &Scope<'_>, conditions: &mut Vec<Condition>) -> String {
        let left = self.from(&join.left, scope, conditions);
        let mut of_right = Vec::new();
        let right = self.from(&join.right, scope, &mut of_right);
        let is_join = matches!(&*join.right, Relation::Join(_));
        let lateral = if join.lateral && !is_join {
            "lateral "
        } else {
            ""
        };
        if left.is_empty() {
            conditions.extend(of_right);
            conditions_of(&join.on, scope, conditions);
            return format!("{lateral}{right}");
        }
        conditions_of(&join.on, scope, &mut of_right);
        for (value, column) in &join.null_aware {
            let text = format!("({} = {})", scope.text(value), scope.text(column));
            let is_equality = true;
            of_right.push(Condition { text, is_equality });
        }
        let in_parentheses = |right: &str| {
            if is_join {
                format!("({right})")
            } else {
                right.to_owned()
            }
        };
        match join.kind {
            JoinKind::Inner => {
                conditions.extend(of_right);
                let word = if join.straight {
                    "straight_join"
                } else {
                    "join"
                };
                format!("{left} {word} {lateral}{}", in_parentheses(&right))
            }
            JoinKind::Semi => {
                conditions.extend(of_right);
                format!("{left} semi join ({right})")
            }
            JoinKind::Left | JoinKind::Anti | JoinKind::NullAwareAnti => {
                let (word, right) = match join.kind {
                    JoinKind::Left => ("left join", format!("{lateral}{}", in_parentheses(&right))),
                    _ => ("anti join", format!("({right})")),
                };
                let on = conjunction(&of_right).unwrap_or_else(|| "true".to_owned());
                format!("{left} {word} {right} on({on})")
            }
        }
    }
}

/// Whether the rows of a relation are groups of its query block.
fn is_above_groups(relation: &Relation) -> bool {
    match relation {
        Relation::Aggregate(aggregate) => aggregate.purpose != Purpose::Distinct,
        Relation::Extend { input, .. }
        | Relation::Project { input, .. }
        | Relation::Filter { input, .. } => is_above_groups(input),
        _ => false,
    }
}

/// Key of ORDER BY: its name in the select list, if it has one.
fn order_key(
    key: &SortKey,
    columns: &[ColumnId],
    names: Option<&[&str]>,
    scope: &Scope<'_>,
) -> String {
    let text = scope.text(&key.expression);
    let ExpressionKind::Column(id) = key.expression.kind else {
        return text;
    };
    let position = columns.iter().position(|column| *column == id);
    let name = position.zip(names).and_then(|(at, names)| names.get(at));
    let is_name = |name: &str| {
        name.chars().all(|one| one.is_alphanumeric() || one == '_')
            && !name.starts_with(|one: char| one.is_ascii_digit())
    };
    match name {
        Some(name) if is_name(name) && !text.starts_with('`') => quoted(name),
        _ => text,
    }
}
