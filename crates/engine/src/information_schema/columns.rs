//! `information_schema.COLUMNS`, and its rows with the session's temporary tables for SHOW COLUMNS.

use std::collections::HashMap;
use std::sync::OnceLock;

use data_encoding::HEXUPPER;
use itertools::Itertools;
use mayfly_plan::physical::{ClientType, OutputColumn};
use mayfly_plan::{DefaultSource, TableSource};
use mayfly_syntax::ast::{KeyKind, SetExpr};
use mayfly_types::convert::implicit_default;
use mayfly_types::error::codes;
use mayfly_types::sql_type::DECIMALS_NOT_FIXED;
use mayfly_types::temporal::TimeZone;
use mayfly_types::{SqlType, TypeKind, Value};

use super::asked::Asked;
use super::context::RelationContext;
use super::relation::Relation;
use super::row::{Row, row, text, yes_no};
use super::source_definition;
use super::view_columns::view_columns;
use crate::accounts::privileges::PrivilegeSet;
use crate::catalog::definition::{ColumnDefault, ColumnDefinition, KeyPart, TableDefinition};
use crate::catalog::selected_type::selected_type;
use crate::catalog::view::ViewDefinition;
use crate::catalog::{show_create, system_views, type_text};
use crate::variable_checks::text_of;
use crate::{character_sets, convert};

pub(super) const RELATIONS: &[Relation] = &[
    Relation::asked("COLUMNS", rows).with_row_count(|context| 8 * context.table_count()),
    Relation::new("#temporary_columns", temporary),
];

/// Positions of the column's name and of its privileges in a row.
const COLUMN_NAME: usize = 3;
const PRIVILEGES: usize = 18;

/// The text of a column's privileges for `PRIVILEGES`.
fn privileges(held: PrivilegeSet) -> String {
    held.members().map(|row| row.name.to_lowercase()).join(",")
}

pub(super) fn rows(context: &RelationContext, asked: &Asked<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for source in asked.relations(context) {
        match source_definition::log(source) {
            Some(log) => rows.extend(definition_rows(&log, &context.options().session.time_zone)),
            None => rows.extend(system_rows(source)),
        }
    }
    let rights = context.rights();
    // The rows are made with all privileges.
    let may_all = rights.global().has(PrivilegeSet::COLUMN);
    let mut add = |database: &str, name: &str, own: Vec<Row>| {
        if may_all {
            rows.extend(own);
            return;
        }
        rows.extend(own.into_iter().filter_map(|mut row| {
            let column = row.get(COLUMN_NAME).map(text_of).unwrap_or_default();
            let held = rights.on_column(database, name, &column);
            let held = held.and(PrivilegeSet::COLUMN);
            if held.is_empty() {
                return None;
            }
            if let Some(shown) = row.get_mut(PRIVILEGES) {
                *shown = text(privileges(held));
            }
            Some(row)
        }));
    };
    for table in asked.tables(context) {
        let definition = &table.definition;
        let own = definition_rows(definition, &context.options().session.time_zone);
        add(&definition.database, &definition.name, own);
    }
    for view in asked.views(context) {
        let own = match view.database() {
            "sys" => system_view_rows(context, view.name()),
            _ => view_rows(context, &view),
        };
        add(view.database(), view.name(), own);
    }
    rows
}

/// The columns of a view of `sys`. They never change, and there are many: they are planned on first use.
fn system_view_rows(context: &RelationContext, name: &str) -> Vec<Row> {
    static KNOWN: OnceLock<HashMap<String, Vec<Row>>> = OnceLock::new();
    let known = KNOWN.get_or_init(|| {
        let all = system_views::all();
        let rows = all.map(|view| (view.name().to_owned(), view_rows(context, view)));
        rows.collect()
    });
    known.get(name).cloned().unwrap_or_default()
}

/// The columns of a view, with their current types, and the defaults of the tables' columns that they show; none, with
/// warning 1356, when the view is invalid.
fn view_rows(context: &RelationContext, view: &ViewDefinition) -> Vec<Row> {
    let Some(planned) = view_columns(context, view) else {
        context.warn(codes::ER_VIEW_INVALID.with(&[&view.database(), &view.name()]));
        return Vec::new();
    };
    let zone = &context.options().session.time_zone;
    let columns = planned.iter().zip(&view.source.columns);
    let is_union = matches!(*view.source.query.body, SetExpr::SetOperation { .. });
    let columns = columns.zip(1_u64..).map(|((column, name), position)| {
        // The dictionary has the number that IFNULL() of BITs computes.
        let ty = match column.client_type {
            ClientType::Kept(TypeKind::Bit) => {
                let client_type = ClientType::Choice(TypeKind::Bit);
                let column = column.clone();
                selected_type(
                    &OutputColumn {
                        client_type,
                        ..column
                    },
                    is_union,
                )
            }
            _ => selected_type(column, is_union),
        };
        let base = column.origin.as_ref().and_then(|origin| {
            let table = context.catalog().table(&origin.database, &origin.table)?;
            let position = table.definition.column_position(&origin.column)?;
            table.definition.columns.get(position).cloned()
        });
        let default = match &base {
            Some(base) if !base.auto_increment => default_value(base, zone),
            _ if column.nullable => Value::Null,
            _ => Value::Bytes(convert::display(&implicit_default(&ty), &ty)),
        };
        Column {
            default,
            nullable: column.nullable,
            ..Column::plain((view.database(), view.name()), position, name, &ty)
        }
        .row()
    });
    columns.collect()
}

fn temporary(context: &RelationContext) -> Vec<Row> {
    let (tables, zone) = (
        context.temporary_tables.iter(),
        &context.options().session.time_zone,
    );
    let rows = tables.flat_map(|table| definition_rows(&table.definition, zone));
    rows.collect()
}

fn system_rows(source: &TableSource) -> impl Iterator<Item = Row> + '_ {
    let columns = source.columns.iter().zip(1..);
    columns.map(|(column, position)| {
        let default = match &column.default {
            DefaultSource::Value(value) => Value::Bytes(convert::display(value, &column.ty)),
            _ => Value::Null,
        };
        let table = (&*source.database, &*source.name);
        Column {
            default,
            nullable: column.nullable,
            ..Column::plain(table, position, &column.name, &column.ty)
        }
        .row()
    })
}

fn definition_rows(definition: &TableDefinition, zone: &TimeZone) -> Vec<Row> {
    let columns = definition.named_columns().zip(1_u64..);
    let rows = columns.map(|(column, position)| {
        // For columns of temporary tables MySQL shows no further attributes.
        let extra = Some(extra_text(column));
        let extra = extra.filter(|extra| !definition.is_temporary() || !extra.is_empty());
        let generated = column.generated.as_ref();
        let table = (&*definition.database, &*definition.name);
        Column {
            default: default_value(column, zone),
            nullable: column.nullable,
            key: key_text(definition, usize::try_from(position - 1).unwrap_or(0)),
            extra,
            comment: &column.comment,
            generation: generated.map_or("", |generated| &generated.text),
            ..Column::plain(table, position, &column.name, &column.ty)
        }
        .row()
    });
    rows.collect()
}

/// A row before its type-dependent values are set.
struct Column<'a> {
    table: (&'a str, &'a str),
    position: u64,
    name: &'a str,
    ty: &'a SqlType,
    default: Value,
    nullable: bool,
    key: &'static str,
    extra: Option<String>,
    comment: &'a str,
    generation: &'a str,
}

impl<'a> Column<'a> {
    /// A column with a type and no other attributes.
    fn plain(table: (&'a str, &'a str), position: u64, name: &'a str, ty: &'a SqlType) -> Self {
        Self {
            table,
            position,
            name,
            ty,
            default: Value::Null,
            nullable: true,
            key: "",
            extra: Some(String::new()),
            comment: "",
            generation: "",
        }
    }

    fn row(self) -> Row {
        let ty = self.ty;
        let mut row = row![
            "def",
            self.table.0,
            self.table.1,
            self.name,
            self.position,
            self.default,
            yes_no(self.nullable),
        ];
        row.extend(type_values(ty));
        row.extend(row![
            type_text::column_type(ty),
            self.key,
            self.extra,
            "select,insert,update,references",
            self.comment,
            escaped_quotes(self.generation),
            ty.srid.map_or(Value::Null, |srid| Value::UInt(srid.into())),
        ]);
        row
    }
}

/// The values of the columns from DATA_TYPE to COLLATION_NAME.
pub(super) fn type_values(ty: &SqlType) -> Row {
    let (characters, octets) = lengths(ty);
    let (precision, scale) = numeric(ty);
    let has_fraction = matches!(
        ty.kind,
        TypeKind::Time | TypeKind::DateTime | TypeKind::Timestamp
    );
    let collation = type_text::has_character_set(ty).then(|| character_sets::row(ty.collation));
    row![
        type_text::data_type(ty),
        characters,
        octets,
        precision,
        scale,
        has_fraction.then_some(u64::from(ty.decimals)),
        collation.map(|row| row.charset.name()),
        collation.map(|row| row.name),
    ]
}

fn lengths(ty: &SqlType) -> (Value, Value) {
    let bytes_max = i64::from(ty.collation.charset().max_length());
    let length = i64::from(ty.length);
    match ty.kind {
        TypeKind::Char | TypeKind::VarChar | TypeKind::Enum | TypeKind::Set => {
            (Value::Int(length), Value::Int(length * bytes_max))
        }
        TypeKind::TinyText
        | TypeKind::Text
        | TypeKind::MediumText
        | TypeKind::LongText
        | TypeKind::Vector => (Value::Int(length), Value::Int(length)),
        _ => (Value::Null, Value::Null),
    }
}

fn numeric(ty: &SqlType) -> (Option<u64>, Option<u64>) {
    let integer = |digits: u64| (Some(digits), Some(0));
    let (length, decimals) = (Some(u64::from(ty.length)), Some(u64::from(ty.decimals)));
    match ty.kind {
        TypeKind::TinyInt | TypeKind::Boolean => integer(3),
        TypeKind::SmallInt => integer(5),
        TypeKind::MediumInt => integer(7),
        TypeKind::Int => integer(10),
        TypeKind::BigInt if ty.unsigned => integer(20),
        TypeKind::BigInt => integer(19),
        TypeKind::Decimal => (length, decimals),
        TypeKind::Float | TypeKind::Double if ty.decimals < DECIMALS_NOT_FIXED => {
            (length, decimals)
        }
        TypeKind::Float | TypeKind::Double | TypeKind::Bit => (length, None),
        _ => (None, None),
    }
}

fn default_value(column: &ColumnDefinition, zone: &TimeZone) -> Value {
    if let Some(value) = column.default_value(zone) {
        return shown_default(column, &value);
    }
    match &column.default {
        ColumnDefault::Now => text(show_create::now_text(column)),
        ColumnDefault::Expression {
            text: expression, ..
        } => text(escaped_quotes(expression)),
        ColumnDefault::None
        | ColumnDefault::Null
        | ColumnDefault::Dropped
        | ColumnDefault::Value(_) => Value::Null,
    }
}

/// An expression as in MySQL's data dictionary, with escaped quotes.
pub(super) fn escaped_quotes(expression: &str) -> String {
    expression.replace('\'', "\\'")
}

fn shown_default(column: &ColumnDefinition, value: &Value) -> Value {
    match (column.ty.kind, value) {
        (TypeKind::Bit, Value::UInt(bits)) => text(format!("b'{bits:b}'")),
        (TypeKind::VarChar, Value::Bytes(bytes)) if bytes.is_empty() => text(String::new()),
        (_, Value::Bytes(bytes)) if column.ty.is_binary_string() => {
            // Trailing zero bytes are padding of BINARY.
            let last = bytes.iter().rposition(|byte| *byte != 0);
            let shown = &bytes[..last.map_or(0, |last| last + 1)];
            text(format!("0x{}", HEXUPPER.encode(shown)))
        }
        _ => Value::Bytes(convert::display(value, &column.ty)),
    }
}

/// PRI, UNI, MUL or empty, as DESCRIBE prints it.
pub(crate) fn key_text(definition: &TableDefinition, position: usize) -> &'static str {
    let is_it = |part: &KeyPart| part.column() == Some(position);
    let primary = definition.primary_key();
    if primary.is_some_and(|key| key.parts.iter().any(is_it)) {
        return "PRI";
    }
    let keys = definition.keys.iter();
    let mut found = "";
    for key in keys.filter(|key| key.parts.first().is_some_and(is_it)) {
        if key.kind == KeyKind::Unique && key.parts.len() == 1 {
            // A unique NOT NULL key is shown as the primary key when there is none.
            let promoted = primary.is_none() && !definition.columns[position].nullable;
            return if promoted { "PRI" } else { "UNI" };
        }
        found = "MUL";
    }
    found
}

/// The column Extra of DESCRIBE.
fn extra_text(column: &ColumnDefinition) -> String {
    let mut parts = Vec::new();
    if column.auto_increment {
        parts.push("auto_increment".to_owned());
    }
    if let Some(generated) = &column.generated {
        parts.push(format!("{} GENERATED", generated.storage()));
    }
    if matches!(
        column.default,
        ColumnDefault::Now | ColumnDefault::Expression { .. }
    ) {
        parts.push("DEFAULT_GENERATED".to_owned());
    }
    if column.on_update_now {
        parts.push(format!("on update {}", show_create::now_text(column)));
    }
    if column.not_secondary {
        parts.push("NOT SECONDARY".to_owned());
    }
    if column.invisible {
        parts.push("INVISIBLE".to_owned());
    }
    parts.join(" ")
}
