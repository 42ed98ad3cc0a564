//! Definitions from text: dumps, and the output of SHOW CREATE.
//!
//! Each column and key of a table is parsed separately, so that one which only another server understands does not make
//! the others unreadable.

use std::sync::Arc;

use mayfly_plan::ViewSource;
use mayfly_syntax::ast::{
    AlterAction, ColumnAttribute, ColumnDefinition, CreateView, KeyDefinition, KeyKind,
    KeyPartTarget, ObjectName, Statement, TableElement, TableName, ViewAlgorithm, VisitMut,
    VisitorMut,
};
use mayfly_syntax::{CompoundScanner, ParseOptions, parse_one};
use mayfly_types::CollationId;

use super::types::{collation_of, column_type};
use super::{Column, Index, Schema, Table, View};
use crate::sql_text::{Kind, Token, tokens};

/// Reads the definitions of a text into a schema; returns the names of those that could not be read.
pub(super) fn read(schema: &mut Schema, text: &str, database: &str) -> Vec<String> {
    let mut database = database.to_owned();
    let mut failed = Vec::new();
    let mut found = Vec::new();
    for statement in split(text) {
        let mut tokens = tokens(statement);
        let Some(first) = tokens.next() else { continue };
        if first.is(statement, "use") {
            database = tokens
                .next()
                .map(|name| name.name(statement))
                .unwrap_or_default();
        } else if first.is(statement, "create") {
            let rest: Vec<Token> = tokens.take(20).collect();
            let word = |name: &str| rest.iter().position(|token| token.is(statement, name));
            let table = word("table");
            let view = word("view").filter(|view| table.is_none_or(|table| *view < table));
            if view.is_some() {
                match view_of(statement, &database) {
                    Some(view) => schema.add_view(view),
                    None => failed.push(crate::sql_text::one_line(statement, 60)),
                }
            } else if table.is_some_and(|table| table <= 3) {
                match table_of(statement, &database, schema) {
                    Some(table) => schema.add_table(table),
                    None => failed.push(crate::sql_text::one_line(statement, 60)),
                }
            } else if word("index").is_some() {
                found.push((statement, database.clone()));
            }
        } else if first.is(statement, "alter") {
            found.push((statement, database.clone()));
        }
    }
    for (statement, database) in found {
        add_indexes(schema, statement, &database);
    }
    failed
}

/// The statements of a text, which end with a semicolon, or with the delimiter of DELIMITER.
fn split(text: &str) -> Vec<&str> {
    let mut statements = Vec::new();
    let mut start = 0;
    let mut behind = 0;
    let mut compound = CompoundScanner::default();
    for token in tokens(text) {
        // Text between DELIMITER lines is bodies of routines and triggers.
        if token.start < behind {
            continue;
        }
        if token.is(text, "delimiter")
            && text[..token.start]
                .trim_end_matches([' ', '\t'])
                .ends_with(['\n'])
            || token.is(text, "delimiter") && token.start == 0
        {
            let rest = &text[token.end..];
            let end = rest
                .find("\nDELIMITER ;")
                .or_else(|| rest.find("\ndelimiter ;"));
            behind = end.map_or(text.len(), |end| token.end + end + "\nDELIMITER ;".len());
            start = behind;
            compound = CompoundScanner::default();
        } else if token.is_symbol(text, ';') && !compound.is_open() {
            statements.push(&text[start..token.start]);
            start = token.end;
            compound = CompoundScanner::default();
        } else if !compound.is_plain() {
            match (token.kind, token.of(text).as_bytes()) {
                (Kind::Word, word) => compound.word(word),
                (Kind::Symbol, [symbol]) => compound.symbol(*symbol),
                _ => compound.other(),
            }
        }
    }
    statements.push(text.get(start..).unwrap_or_default());
    statements
}

/// The name that stands at a token, and the position behind it.
fn name_at(sql: &str, list: &[Token], at: usize) -> Option<(TableName, usize)> {
    let first = list.get(at)?;
    if !matches!(first.kind, Kind::Word | Kind::Name) {
        return None;
    }
    let second = list.get(at + 1).is_some_and(|dot| dot.is_symbol(sql, '.'));
    match list.get(at + 2).filter(|_| second) {
        Some(name) => {
            let name = TableName {
                database: Some(first.name(sql)),
                name: name.name(sql),
            };
            Some((name, at + 3))
        }
        None => Some((TableName::bare(first.name(sql)), at + 1)),
    }
}

fn table_of(sql: &str, database: &str, schema: &Schema) -> Option<Table> {
    let list: Vec<Token> = tokens(sql).collect();
    let mut at = list.iter().position(|token| token.is(sql, "table"))? + 1;
    while list.get(at).is_some_and(|token| {
        ["if", "not", "exists"]
            .iter()
            .any(|word| token.is(sql, word))
    }) {
        at += 1;
    }
    let (name, at) = name_at(sql, &list, at)?;
    if list.get(at).is_some_and(|token| token.is(sql, "like")) {
        let (other, _) = name_at(sql, &list, at + 1)?;
        let from = other.database.as_deref().unwrap_or(database);
        return Some(Table {
            database: name.database.unwrap_or_else(|| database.to_owned()),
            name: name.name,
            rows: None,
            ..Table::clone(schema.table(from, &other.name)?)
        });
    }
    list.get(at).filter(|token| token.is_symbol(sql, '('))?;
    let (elements, close) = elements(sql, &list, at);
    let tail = list
        .get(close)
        .map_or("", |close| sql.get(close.end..).unwrap_or_default());
    let collation = table_collation(tail);
    let mut table = Table {
        database: name.database.unwrap_or_else(|| database.to_owned()),
        name: name.name,
        columns: Vec::new(),
        indexes: Vec::new(),
        rows: None,
        row_bytes: None,
    };
    let parsed: Vec<(&str, TableElement)> = elements
        .into_iter()
        .filter_map(|element| Some((element, parse_element(element)?)))
        .collect();
    for (text, element) in &parsed {
        if let TableElement::Column(column) = element {
            table.columns.push(column_of(column, text, collation));
        }
    }
    for (_, element) in &parsed {
        match element {
            TableElement::Column(column) => {
                for attribute in &column.attributes {
                    let kind = match attribute {
                        ColumnAttribute::PrimaryKey => KeyKind::Primary,
                        ColumnAttribute::UniqueKey => KeyKind::Unique,
                        _ => continue,
                    };
                    let part = (table.column(&column.name), None);
                    let index = index(kind, Some(&column.name), vec![part]);
                    table.indexes.push(index);
                }
            }
            TableElement::Key(key) => {
                let key = key_of(key, &table);
                table.indexes.push(key);
            }
            TableElement::ForeignKey(_) | TableElement::Check(_) => {}
        }
    }
    for index in table.indexes.iter().filter(|index| index.primary) {
        for (column, _) in &index.parts {
            if let Some(column) = column.and_then(|column| table.columns.get_mut(column)) {
                column.nullable = false;
            }
        }
    }
    (!table.columns.is_empty()).then_some(table)
}

/// The texts between commas behind an opening parenthesis, and the index of the closing one.
fn elements<'a>(sql: &'a str, list: &[Token], open: usize) -> (Vec<&'a str>, usize) {
    let mut found = Vec::new();
    let mut depth = 0_usize;
    let mut start = list.get(open).map_or(0, |open| open.end);
    for (position, token) in list.iter().enumerate().skip(open) {
        if token.is_symbol(sql, '(') {
            depth += 1;
        } else if token.is_symbol(sql, ')') {
            depth -= 1;
        }
        let ends = depth == 0 || depth == 1 && token.is_symbol(sql, ',');
        if ends {
            found.push(sql.get(start..token.start).unwrap_or_default().trim());
            start = token.end;
        }
        if depth == 0 {
            return (found, position);
        }
    }
    (found, list.len())
}

fn parse_element(text: &str) -> Option<TableElement> {
    let sql = format!("CREATE TABLE x ({text})");
    let parse = |sql: &str| match parse_one(sql, &ParseOptions::MYSQL_DEFAULT).ok()?.statement {
        Statement::CreateTable(create) => create.elements.into_iter().next(),
        _ => None,
    };
    parse(&sql).or_else(|| {
        // The name and the type, without attributes that only another server knows.
        let list: Vec<Token> = tokens(text).collect();
        let (start, end) = type_place(text, &list)?;
        parse(&format!(
            "CREATE TABLE x ({} {})",
            list.first()?.of(text),
            text.get(start..end)?
        ))
    })
}

/// Start and end of the type in a column's definition.
fn type_place(text: &str, list: &[Token]) -> Option<(usize, usize)> {
    let ty = list.get(1)?;
    let mut end = ty.end;
    if list.get(2).is_some_and(|open| open.is_symbol(text, '(')) {
        let close = list
            .iter()
            .skip(2)
            .find(|token| token.is_symbol(text, ')'))?;
        end = close.end;
    }
    Some((ty.start, end))
}

fn column_of(column: &ColumnDefinition, text: &str, table: CollationId) -> Column {
    let list: Vec<Token> = tokens(text).collect();
    let attributes = type_place(text, &list).and_then(|(_, end)| text.get(end..));
    Column {
        name: column.name.clone(),
        ty: column_type(&column.data_type, table),
        nullable: !column.attributes.iter().any(|attribute| {
            matches!(
                attribute,
                ColumnAttribute::NotNull | ColumnAttribute::PrimaryKey
            )
        }),
        attributes: attributes.unwrap_or_default().trim().to_owned(),
        generated: column
            .attributes
            .iter()
            .any(|attribute| matches!(attribute, ColumnAttribute::Generated { .. })),
    }
}

fn index(kind: KeyKind, name: Option<&str>, parts: Vec<(Option<usize>, Option<u64>)>) -> Index {
    let name = match kind {
        KeyKind::Primary => "PRIMARY",
        _ => name.unwrap_or_default(),
    };
    Index {
        name: name.to_owned(),
        parts,
        unique: matches!(kind, KeyKind::Primary | KeyKind::Unique),
        primary: kind == KeyKind::Primary,
        ordered: !matches!(kind, KeyKind::FullText | KeyKind::Spatial),
    }
}

fn key_of(key: &KeyDefinition, table: &Table) -> Index {
    let parts = key.parts.iter().map(|part| match &part.target {
        KeyPartTarget::Column { name, prefix } => (table.column(name), *prefix),
        KeyPartTarget::Expression(_) => (None, None),
    });
    let mut index = index(key.kind, key.name.as_deref(), parts.collect());
    if index.name.is_empty()
        && let Some((Some(column), _)) = index.parts.first()
    {
        index.name.clone_from(&table.columns[*column].name);
    }
    let hidden = key
        .options
        .iter()
        .any(|option| matches!(option.name.as_str(), "INVISIBLE" | "IGNORED"));
    index.ordered &= key.using.as_deref() != Some("HASH") && !hidden;
    index
}

/// Indexes that ALTER TABLE and CREATE INDEX add.
fn add_indexes(schema: &mut Schema, sql: &str, database: &str) {
    let Ok(parsed) = parse_one(sql, &ParseOptions::MYSQL_DEFAULT) else {
        return;
    };
    let (name, keys): (TableName, Vec<KeyDefinition>) = match parsed.statement {
        Statement::CreateIndex(create) => (create.table, vec![create.key]),
        Statement::AlterTable(alter) => {
            let keys = alter.actions.into_iter().filter_map(|action| match action {
                AlterAction::Add(TableElement::Key(key)) => Some(key),
                _ => None,
            });
            (alter.table, keys.collect())
        }
        _ => return,
    };
    let database = name.database.as_deref().unwrap_or(database);
    let Some(table) = schema.table(database, &name.name) else {
        return;
    };
    let mut table = Table::clone(table);
    for key in keys {
        let key = key_of(&key, &table);
        table.indexes.push(key);
    }
    schema.add_table(table);
}

/// The collation of a table's options; MySQL's default without one.
fn table_collation(tail: &str) -> CollationId {
    let list: Vec<Token> = tokens(tail).collect();
    let value = |names: [&str; 2]| {
        let at = list
            .iter()
            .position(|token| names.iter().any(|name| token.is(tail, name)))?;
        let mut behind = list.iter().skip(at + 1);
        behind
            .find(|token| matches!(token.kind, Kind::Word | Kind::Text) && !token.is(tail, "set"))
            .map(|token| token.of(tail).trim_matches(['\'', '"']).to_owned())
    };
    let charset = value(["charset", "character"]);
    let collation = value(["collate", "collate"]);
    collation_of(charset.as_deref(), collation.as_deref()).unwrap_or_default()
}

fn view_of(sql: &str, database: &str) -> Option<View> {
    let plain = without_version_comments(sql);
    let parsed = parse_one(&plain, &ParseOptions::MYSQL_DEFAULT).ok()?;
    let Statement::CreateView(view) = parsed.statement else {
        return None;
    };
    let CreateView {
        name,
        columns,
        mut query,
        text,
        algorithm,
        ..
    } = *view;
    let database = name.database.unwrap_or_else(|| database.to_owned());
    let _ = query.visit_mut(&mut Qualify {
        database: &database,
        common: common_tables(&query),
    });
    let columns = if columns.is_empty() {
        column_names(&query)
    } else {
        columns
    };
    Some(View {
        source: Arc::new(ViewSource {
            database,
            name: name.name,
            columns,
            query,
            materialized: algorithm == ViewAlgorithm::TempTable,
            check_option: None,
            definer: None,
        }),
        text,
    })
}

/// The names of a query's columns; empty when one of them is `*`, which SHOW CREATE VIEW never shows.
fn column_names(query: &mayfly_syntax::ast::Query) -> Vec<String> {
    use mayfly_syntax::ast::SetExpr;
    let mut body = &*query.body;
    loop {
        match body {
            SetExpr::Select(select) => {
                let names = select
                    .projection
                    .iter()
                    .map(mayfly_syntax::encodings::item_name);
                return names
                    .map(|name| name.map(str::to_owned))
                    .collect::<Option<_>>()
                    .unwrap_or_default();
            }
            SetExpr::SetOperation { left, .. } => body = left,
            SetExpr::Query(query) => body = &query.body,
            _ => return Vec::new(),
        }
    }
}

fn common_tables(query: &mayfly_syntax::ast::Query) -> Vec<String> {
    let tables = query.with.iter().flat_map(|with| &with.cte_tables);
    tables.map(|table| table.alias.name.value.clone()).collect()
}

/// Qualifies names of tables that have no database, since a view may be read from another one.
struct Qualify<'a> {
    database: &'a str,
    common: Vec<String>,
}

impl VisitorMut for Qualify<'_> {
    fn pre_visit_relation(&mut self, name: &mut ObjectName) -> std::ops::ControlFlow<()> {
        if let Some(TableName {
            database: None,
            name: bare,
        }) = TableName::from_object_name(name)
            && !self.common.contains(&bare)
            && !self.database.is_empty()
        {
            let qualified = TableName {
                database: Some(self.database.to_owned()),
                name: bare,
            };
            *name = qualified.to_object_name();
        }
        std::ops::ControlFlow::Continue(())
    }
}

/// The text with the content of `/*! … */` as code.
fn without_version_comments(sql: &str) -> String {
    let mut text = String::with_capacity(sql.len());
    let mut behind = 0;
    for token in tokens(sql) {
        if token.start > behind {
            text.push(' ');
        }
        text.push_str(token.of(sql));
        behind = token.end;
    }
    text
}
