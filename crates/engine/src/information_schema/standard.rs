//! The columns of `information_schema` and `performance_schema`, as in MySQL: `standard_columns.tsv` and
//! `performance_schema_columns.tsv` have a line for each relation, or for several with the same columns, followed by
//! one line per column: name, type, collation, nullability, and the default if there is one. The name of a relation
//! of another database is prefixed by the database's.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use mayfly_plan::{ColumnSource, ColumnTraits, DefaultSource};
use mayfly_types::{CollationId, SqlType, TypeKind, Value};

use crate::character_sets;

const LINES: [&str; 2] = [
    include_str!("standard_columns.tsv"),
    include_str!("performance_schema_columns.tsv"),
];

static RELATIONS: LazyLock<BTreeMap<&'static str, Vec<ColumnSource>>> = LazyLock::new(|| {
    let mut relations: BTreeMap<_, Vec<_>> = BTreeMap::new();
    let mut names = "";
    for line in LINES.into_iter().flat_map(str::lines) {
        let Some(column) = line.strip_prefix('\t').and_then(parse_column) else {
            names = line;
            continue;
        };
        for name in names.split('\t') {
            relations.entry(name).or_default().push(column.clone());
        }
    }
    relations
});

/// The columns of a relation; empty when it is not in the files.
pub(super) fn columns(relation: &str) -> &'static [ColumnSource] {
    RELATIONS.get(relation).map_or(&[], Vec::as_slice)
}

/// The names of all relations.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    RELATIONS.keys().copied()
}

fn parse_column(line: &str) -> Option<ColumnSource> {
    let mut fields = line.split('\t');
    let (name, ty, collation) = (fields.next()?, fields.next()?, fields.next()?);
    let nullable = fields.next()? == "NULL";
    let collation =
        character_sets::collation_by_name(collation).map_or(CollationId::BINARY, |row| row.id);
    let ty = parse_type(ty, collation)?;
    let default = match fields.next() {
        None => DefaultSource::None,
        Some(text) => match (ty.is_integer(), text.parse()) {
            (true, Ok(number)) => DefaultSource::Value(Value::Int(number)),
            _ => DefaultSource::Value(Value::Bytes(text.as_bytes().to_vec())),
        },
    };
    Some(ColumnSource {
        name: name.to_owned(),
        ty,
        nullable,
        invisible: false,
        hidden: false,
        generated: None,
        default,
        traits: ColumnTraits::default(),
    })
}

/// Parses a type in the form of `COLUMN_TYPE`.
fn parse_type(text: &str, collation: CollationId) -> Option<SqlType> {
    let (text, unsigned) = match text.strip_suffix(" unsigned") {
        Some(text) => (text, true),
        None => (text, false),
    };
    let (name, arguments) = match text.split_once('(') {
        Some((name, rest)) => (name, rest.strip_suffix(')')?),
        None => (text, ""),
    };
    let length = || arguments.parse::<u32>().ok();
    let digits = arguments.parse::<u8>().unwrap_or(0);
    let members = || {
        let quoted = arguments.split(',');
        quoted.map(|member| member.trim_matches('\'').to_owned())
    };
    let ty = match name {
        "varchar" => SqlType::varchar(length()?, collation),
        "char" => SqlType::char(length()?, collation),
        "varbinary" => SqlType::varchar(length()?, CollationId::BINARY),
        "text" => SqlType::text(TypeKind::Text, collation),
        "mediumtext" => SqlType::text(TypeKind::MediumText, collation),
        "mediumblob" => SqlType::text(TypeKind::MediumText, CollationId::BINARY),
        "longtext" => SqlType::text(TypeKind::LongText, collation),
        "blob" => SqlType::text(TypeKind::Text, CollationId::BINARY),
        "json" => SqlType::json(),
        "tinyint" => SqlType {
            length: length().unwrap_or(4),
            ..SqlType::integer(TypeKind::TinyInt)
        },
        "int" => SqlType::integer(TypeKind::Int),
        "bigint" => SqlType::bigint(),
        "double" => SqlType::double(),
        "decimal" => {
            let (precision, scale) = arguments.split_once(',')?;
            SqlType::decimal(precision.parse().ok()?, scale.parse().ok()?)
        }
        "time" => SqlType::temporal(TypeKind::Time, digits),
        "datetime" => SqlType::temporal(TypeKind::DateTime, digits),
        "timestamp" => SqlType::temporal(TypeKind::Timestamp, digits),
        "enum" => SqlType::members(TypeKind::Enum, members().collect(), collation),
        "set" => SqlType::members(TypeKind::Set, members().collect(), collation),
        _ => return None,
    };
    Some(SqlType { unsigned, ..ty })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::type_text;

    #[test]
    fn every_line_is_a_column() {
        let lines = LINES.into_iter().flat_map(str::lines);
        let columns: Vec<&str> = lines.filter_map(|line| line.strip_prefix('\t')).collect();
        for line in &columns {
            let ty = line.split('\t').nth(1).unwrap();
            let column = parse_column(line).unwrap_or_else(|| panic!("{line}"));
            assert_eq!(type_text::column_type(&column.ty), ty, "{line}");
        }
        let named = RELATIONS.keys().map(|name| name.len() + 1).sum::<usize>();
        let headings = LINES.into_iter().flat_map(str::lines);
        let headings = headings.filter(|line| !line.starts_with('\t'));
        assert_eq!(headings.map(|line| line.len() + 1).sum::<usize>(), named);
    }
}
