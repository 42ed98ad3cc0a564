//! SHOW CREATE TABLE and SHOW CREATE DATABASE, as MySQL 8.4 prints them.

mod partitioning;

use data_encoding::HEXUPPER;
use itertools::Itertools;
use mayfly_syntax::ast::{KeyKind, OnCommit, Period, TableKind, TimeToLive};
use mayfly_syntax::printer::{quoted_identifier, quoted_string};
use mayfly_types::temporal::TimeZone;
use mayfly_types::{CollationId, TypeKind, Value};

use super::definition::{
    ColumnDefault, ColumnDefinition, ForeignKeyDefinition, KeyDefinition, KeyTarget,
    SECONDARY_ENGINE, TableDefinition,
};
use super::type_text;
use crate::engines::Engine;
use crate::names::word_if;
use crate::{character_sets, convert};

/// The CREATE TABLE statement of a table. `next_auto_increment` is the number of the next row; `zone` the session's,
/// for defaults of TIMESTAMP columns.
pub(crate) fn table(
    definition: &TableDefinition,
    next_auto_increment: u64,
    quotes: NameQuotes,
    zone: &TimeZone,
) -> String {
    let name = |name: &str| identifier(name, quotes);
    let columns = definition.named_columns();
    let columns = columns.map(|column| column_line(column, definition.collation, quotes, zone));
    let keys = definition.keys.iter();
    let keys = keys.map(|key| key_line(key, definition, quotes));
    let foreign_keys = definition.foreign_keys.iter();
    let foreign_keys = foreign_keys.map(|foreign| foreign_key(definition, foreign, quotes));
    let checks = definition.checks.iter().map(|check| {
        let not_enforced = word_if(!check.enforced, " /*!80016 NOT ENFORCED */");
        let name = name(&check.name);
        format!("CONSTRAINT {name} CHECK ({}){not_enforced}", check.text)
    });
    let mut lines = columns.chain(keys).chain(foreign_keys).chain(checks);
    let mut text = format!(
        "CREATE {}TABLE {} (\n  {}\n)",
        kind_words(definition.kind),
        name(&definition.name),
        lines.join(",\n  ")
    );
    text += &format!(" ENGINE={}", definition.engine);
    // InnoDB stores no AUTO_INCREMENT option without such a column.
    let numbered =
        definition.auto_increment_column().is_some() || definition.engine != Engine::InnoDb;
    if next_auto_increment > 1 && numbered {
        text += &format!(" AUTO_INCREMENT={next_auto_increment}");
    }
    let collation = character_sets::row(definition.collation);
    text += &format!(" DEFAULT CHARSET={}", collation.charset.name());
    if !collation.is_default || definition.collation == CollationId::UTF8MB4_0900_AI_CI {
        text += &format!(" COLLATE={}", collation.name);
    }
    let options = definition.options.iter();
    for (option, value) in options.filter(|(option, _)| option != SECONDARY_ENGINE) {
        text += &format!(" {option}={value}");
    }
    if !definition.comment.is_empty() {
        text += &format!(" COMMENT={}", quoted_string(&definition.comment));
    }
    if let Some(engine) = definition.secondary_engine() {
        text += &format!(" {SECONDARY_ENGINE}={}", option_name(engine));
    }
    text += on_commit(definition);
    if let Some(ttl) = &definition.ttl {
        text += &time_to_live(ttl);
    }
    if let Some(partitioning) = &definition.partitioning {
        text += "\n";
        text += &partitioning::comment(partitioning, definition.engine);
    }
    text
}

/// A name as the value of an option. MySQL never quotes it, so that a statement with another name cannot be read back.
fn option_name(name: &str) -> String {
    let is_bare = identifier(name, NameQuotes::WhereNeeded { double: false }) == name
        && !mayfly_syntax::is_reserved_word(name);
    if is_bare {
        name.to_owned()
    } else {
        quoted_string(name)
    }
}

/// The words before TABLE.
fn kind_words(kind: TableKind) -> &'static str {
    match kind {
        TableKind::Base => "",
        TableKind::Temporary => "TEMPORARY ",
        TableKind::GlobalTemporary => "GLOBAL TEMPORARY ",
        TableKind::SharedTemporary => "SHARED TEMPORARY ",
    }
}

/// The TTL clause.
fn time_to_live(ttl: &TimeToLive) -> String {
    let Period { count, unit } = ttl.period;
    let since = if ttl.after_creation {
        "CREATION"
    } else {
        "USE"
    };
    format!(" TTL {count} {} AFTER {since}", unit.name())
}

/// The ON COMMIT clause; none for MySQL's own temporary tables, which MySQL prints without.
fn on_commit(definition: &TableDefinition) -> &'static str {
    match (definition.kind, definition.on_commit) {
        (TableKind::GlobalTemporary, OnCommit::PreserveRows) => " ON COMMIT PRESERVE ROWS",
        (_, OnCommit::PreserveRows) => "",
        (_, OnCommit::DeleteRows) => " ON COMMIT DELETE ROWS",
        (_, OnCommit::Drop) => " ON COMMIT DROP",
    }
}

/// The CREATE DATABASE statement of a database.
pub(crate) fn database(
    name: &str,
    collation: CollationId,
    if_not_exists: bool,
    quotes: NameQuotes,
) -> String {
    let row = character_sets::row(collation);
    let guard = word_if(if_not_exists, "/*!32312 IF NOT EXISTS*/ ");
    let collate = if row.is_default && collation != CollationId::UTF8MB4_0900_AI_CI {
        String::new()
    } else {
        format!(" COLLATE {}", row.name)
    };
    format!(
        "CREATE DATABASE {guard}{} /*!40100 DEFAULT CHARACTER SET {}{collate} */ /*!80016 DEFAULT ENCRYPTION='N' */",
        identifier(name, quotes),
        row.charset.name(),
    )
}

/// The line of a foreign key.
pub(super) fn foreign_key(
    definition: &TableDefinition,
    foreign: &ForeignKeyDefinition,
    quotes: NameQuotes,
) -> String {
    let name = |name: &str| identifier(name, quotes);
    let list = |columns: &[String]| columns.iter().map(|column| name(column)).join(", ");
    let references = &foreign.references;
    let parent = match &references.table.database {
        Some(database) if *database != definition.database => {
            format!("{}.{}", name(database), name(&references.table.name))
        }
        _ => name(&references.table.name),
    };
    let mut line = format!(
        "CONSTRAINT {} FOREIGN KEY ({}) REFERENCES {parent} ({})",
        name(&foreign.name),
        list(&foreign.columns),
        list(&references.columns),
    );
    for (event, action) in [
        ("DELETE", &references.on_delete),
        ("UPDATE", &references.on_update),
    ] {
        if let Some(action) = action.as_deref().filter(|action| *action != "NO ACTION") {
            line += &format!(" ON {event} {action}");
        }
    }
    line
}

/// Quoting of names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameQuotes {
    /// Backticks, unless `sql_quote_show_create` is off.
    Backticks,
    /// Double quotes, under ANSI_QUOTES, as `sql_quote_show_create` has it.
    Double,
    /// Quotes only where the bare name would be invalid.
    WhereNeeded {
        /// Whether by double quotes: ANSI_QUOTES.
        double: bool,
    },
}

pub(super) fn identifier(name: &str, quotes: NameQuotes) -> String {
    let plain = !name.is_empty()
        && name
            .chars()
            .all(|c| c.is_alphanumeric() || c == '_' || c == '$')
        && !name.chars().all(|c| c.is_ascii_digit());
    match quotes {
        NameQuotes::WhereNeeded { .. } if plain => name.to_owned(),
        NameQuotes::Backticks | NameQuotes::WhereNeeded { double: false } => {
            quoted_identifier(name)
        }
        NameQuotes::Double | NameQuotes::WhereNeeded { double: true } => {
            format!("\"{}\"", name.replace('"', "\"\""))
        }
    }
}

fn column_line(
    column: &ColumnDefinition,
    table_collation: CollationId,
    quotes: NameQuotes,
    zone: &TimeZone,
) -> String {
    let mut line = format!(
        "{} {}",
        identifier(&column.name, quotes),
        type_text::column_type(&column.ty)
    );
    if type_text::has_character_set(&column.ty) {
        let row = character_sets::row(column.ty.collation);
        let differs = column.explicit_collation || column.ty.collation != table_collation;
        if differs {
            line += &format!(" CHARACTER SET {}", row.charset.name());
        }
        // utf8mb4's default collation was another before 8.0: utf8mb4 alone would be ambiguous.
        let is_newer_default = column.ty.collation == CollationId::UTF8MB4_0900_AI_CI && differs;
        if column.explicit_collation || !row.is_default || is_newer_default {
            line += &format!(" COLLATE {}", row.name);
        }
    }
    if let Some(generated) = &column.generated {
        let (text, storage) = (&generated.text, generated.storage());
        line += &format!(" GENERATED ALWAYS AS ({text}) {storage}");
    }
    if !column.nullable {
        line += " NOT NULL";
    } else if column.ty.kind == TypeKind::Timestamp {
        line += " NULL";
    }
    line += word_if(column.not_secondary, " NOT SECONDARY");
    if let Some(srid) = column.ty.srid {
        line += &format!(" /*!80003 SRID {srid} */");
    }
    const INVISIBLE: &str = " /*!80023 INVISIBLE */";
    let is_generated = column.generated.is_some();
    line += word_if(column.invisible && is_generated, INVISIBLE);
    if let Some(default) = default_text(column, zone) {
        line += &format!(" DEFAULT {default}");
    }
    if column.on_update_now {
        line += &format!(" ON UPDATE {}", now_text(column));
    }
    line += word_if(column.auto_increment, " AUTO_INCREMENT");
    line += word_if(column.invisible && !is_generated, INVISIBLE);
    if !column.comment.is_empty() {
        line += &format!(" COMMENT {}", quoted_string(&column.comment));
    }
    line
}

/// `CURRENT_TIMESTAMP` with the column's fractional digits.
pub(crate) fn now_text(column: &ColumnDefinition) -> String {
    match column.ty.decimals {
        0 => "CURRENT_TIMESTAMP".to_owned(),
        digits => format!("CURRENT_TIMESTAMP({digits})"),
    }
}

fn default_text(column: &ColumnDefinition, zone: &TimeZone) -> Option<String> {
    if column.generated.is_some() || column.auto_increment {
        return None;
    }
    match &column.default {
        ColumnDefault::None | ColumnDefault::Null => {
            // TEXT and BLOB columns cannot have a literal default, so none is printed.
            let is_shown = !column.ty.is_blob() || column.ty.is_structured_bytes();
            (column.nullable && is_shown).then(|| "NULL".to_owned())
        }
        ColumnDefault::Value(_) => {
            let value = column.default_value(zone)?;
            Some(value_text(column, &value))
        }
        ColumnDefault::Dropped => None,
        ColumnDefault::Now => Some(now_text(column)),
        ColumnDefault::Expression { text, .. } => Some(format!("({text})")),
    }
}

fn value_text(column: &ColumnDefinition, value: &Value) -> String {
    if let (TypeKind::Bit, Value::UInt(bits)) = (column.ty.kind, value) {
        return format!("b'{bits:b}'");
    }
    let bytes = convert::display(value, &column.ty);
    match std::str::from_utf8(&bytes) {
        Ok(text) => quoted_string(text),
        Err(_) => format!("0x{}", HEXUPPER.encode(&bytes)),
    }
}

fn key_line(key: &KeyDefinition, definition: &TableDefinition, quotes: NameQuotes) -> String {
    let name = identifier(&key.name, quotes);
    let word = match key.kind {
        KeyKind::Primary => "PRIMARY KEY".to_owned(),
        KeyKind::Unique => format!("UNIQUE KEY {name}"),
        KeyKind::Plain => format!("KEY {name}"),
        KeyKind::FullText => format!("FULLTEXT KEY {name}"),
        KeyKind::Spatial => format!("SPATIAL KEY {name}"),
    };
    let mut parts = key.parts.iter().map(|part| {
        let mut text = match &part.target {
            KeyTarget::Column(column) => identifier(&definition.columns[*column].name, quotes),
            KeyTarget::Expression(column) => format!("({})", definition.hidden_text(*column)),
        };
        if let Some(prefix) = part.prefix {
            text += &format!("({prefix})");
        }
        text + word_if(part.descending, " DESC")
    });
    let mut line = format!("{word} ({})", parts.join(","));
    if let Some(using) = &key.using {
        line += &format!(" USING {using}");
    }
    if let Some(size) = &key.block_size {
        line += &format!(" KEY_BLOCK_SIZE={size}");
    }
    if !key.comment.is_empty() {
        line += &format!(" COMMENT {}", quoted_string(&key.comment));
    }
    if let Some(parser) = &key.parser {
        line += &format!(" /*!50100 WITH PARSER {} */", identifier(parser, quotes));
    }
    line + word_if(key.invisible, " /*!80000 INVISIBLE */")
}

/// A view's statement with double quotes around its names, for ANSI_QUOTES.
pub(crate) fn with_ansi_quotes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        if !matches!(character, '`' | '\'') {
            out.push(character);
            continue;
        }
        let is_name = character == '`';
        let mark = if is_name { '"' } else { '\'' };
        out.push(mark);
        while let Some(inner) = rest.next() {
            let is_doubled = inner == character && rest.next_if_eq(&character).is_some();
            match inner {
                _ if is_doubled && is_name => out.push('`'),
                _ if is_doubled => out.push_str("''"),
                _ if inner == character => break,
                '"' if is_name => out.push_str("\"\""),
                '\\' if !is_name => {
                    out.push('\\');
                    out.extend(rest.next());
                }
                _ => out.push(inner),
            }
        }
        out.push(mark);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::with_ansi_quotes;

    #[test]
    fn names_are_distinguished_from_strings() {
        let text = r#"`a``b` = 'it''s `no` name \' ' AND `c"d`"#;
        let expected = r#""a`b" = 'it''s `no` name \' ' AND "c""d""#;
        assert_eq!(with_ansi_quotes(text), expected);
    }
}
