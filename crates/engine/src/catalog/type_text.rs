//! Printer of types, as in SHOW CREATE TABLE and `information_schema.COLUMNS.COLUMN_TYPE`.

use itertools::Itertools;
use mayfly_syntax::printer::quoted_string;
use mayfly_types::sql_type::DECIMALS_NOT_FIXED;
use mayfly_types::{CollationId, GeometryKind, SqlType, TypeKind, vector};

use crate::names::word_if;

/// The whole type: `decimal(10,2) unsigned`, `enum('a','b')`.
pub(crate) fn column_type(ty: &SqlType) -> String {
    let mut text = data_type(ty).to_owned();
    match ty.kind {
        TypeKind::TinyInt
        | TypeKind::SmallInt
        | TypeKind::MediumInt
        | TypeKind::Int
        | TypeKind::BigInt => {
            let is_bool = ty.kind == TypeKind::TinyInt && ty.length == 1 && !ty.unsigned;
            if ty.zerofill || is_bool {
                text += &format!("({})", ty.length);
            }
        }
        TypeKind::Boolean => text += "(1)",
        TypeKind::Decimal => text += &format!("({},{})", ty.length, ty.decimals),
        TypeKind::Float | TypeKind::Double if ty.decimals < DECIMALS_NOT_FIXED => {
            text += &format!("({},{})", ty.length, ty.decimals);
        }
        TypeKind::Bit | TypeKind::Char | TypeKind::VarChar => {
            text += &format!("({})", ty.length);
        }
        TypeKind::Time | TypeKind::DateTime | TypeKind::Timestamp if ty.decimals > 0 => {
            text += &format!("({})", ty.decimals);
        }
        TypeKind::Vector => {
            let dimensions = ty.length as usize / vector::ELEMENT_BYTES;
            text += &format!("({dimensions})");
        }
        TypeKind::Enum | TypeKind::Set => {
            let members = ty.members.iter().map(|member| quoted_string(member));
            text += &format!("({})", members.format(","));
        }
        TypeKind::Null => text += "(0)",
        _ => {}
    }
    let shows_sign = !matches!(ty.kind, TypeKind::Bit | TypeKind::Year | TypeKind::Boolean);
    text += word_if(ty.unsigned && ty.is_numeric() && shows_sign, " unsigned");
    text + word_if(ty.zerofill, " zerofill")
}

/// The bare name: `decimal`, `varbinary`, `longblob`.
pub(crate) fn data_type(ty: &SqlType) -> &'static str {
    let binary = ty.collation == CollationId::BINARY;
    match ty.kind {
        TypeKind::Null => "binary",
        TypeKind::Boolean | TypeKind::TinyInt => "tinyint",
        TypeKind::SmallInt => "smallint",
        TypeKind::MediumInt => "mediumint",
        TypeKind::Int => "int",
        TypeKind::BigInt => "bigint",
        TypeKind::Decimal => "decimal",
        TypeKind::Float => "float",
        TypeKind::Double => "double",
        TypeKind::Bit => "bit",
        TypeKind::Year => "year",
        TypeKind::Date => "date",
        TypeKind::Time => "time",
        TypeKind::DateTime => "datetime",
        TypeKind::Timestamp => "timestamp",
        TypeKind::Char if binary => "binary",
        TypeKind::Char => "char",
        TypeKind::VarChar if binary => "varbinary",
        TypeKind::VarChar => "varchar",
        TypeKind::TinyText if binary => "tinyblob",
        TypeKind::TinyText => "tinytext",
        TypeKind::Text if binary => "blob",
        TypeKind::Text => "text",
        TypeKind::MediumText if binary => "mediumblob",
        TypeKind::MediumText => "mediumtext",
        TypeKind::LongText if binary => "longblob",
        TypeKind::LongText => "longtext",
        TypeKind::Enum => "enum",
        TypeKind::Set => "set",
        TypeKind::Json => "json",
        TypeKind::Vector => "vector",
        TypeKind::Geometry(kind) => geometry_name(kind),
    }
}

fn geometry_name(kind: GeometryKind) -> &'static str {
    match kind {
        GeometryKind::Any => "geometry",
        GeometryKind::Point => "point",
        GeometryKind::LineString => "linestring",
        GeometryKind::Polygon => "polygon",
        GeometryKind::MultiPoint => "multipoint",
        GeometryKind::MultiLineString => "multilinestring",
        GeometryKind::MultiPolygon => "multipolygon",
        GeometryKind::Collection => "geomcollection",
    }
}

/// Whether the type has a character set that SHOW CREATE may print.
pub(crate) fn has_character_set(ty: &SqlType) -> bool {
    (ty.is_string() && ty.collation != CollationId::BINARY)
        || matches!(ty.kind, TypeKind::Enum | TypeKind::Set)
}
