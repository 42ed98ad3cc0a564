//! Conversion of a column's written type to its SQL type. Invalid definitions are not refused, since the server
//! accepted them: an unknown part becomes the nearest known type.

use mayfly_syntax::ast::{ColumnType, TypeKind as Written};
use mayfly_types::charset::Charset;
use mayfly_types::{CollationId, SqlType, TypeKind};

/// The collation of names as written. A collation of another server that is not known here becomes the default of its
/// character set, which its name begins with.
pub(super) fn collation_of(charset: Option<&str>, collation: Option<&str>) -> Option<CollationId> {
    let by_collation = collation.and_then(|name| {
        CollationId::by_name(name).or_else(|| charset_of(name.split('_').next().unwrap_or(name)))
    });
    by_collation.or_else(|| charset_of(charset?))
}

fn charset_of(name: &str) -> Option<CollationId> {
    let name = match name.to_ascii_lowercase().as_str() {
        "utf8" => "utf8mb3".to_owned(),
        name => name.to_owned(),
    };
    Charset::by_name(&name).map(Charset::default_collation)
}

/// The type of a column.
pub(super) fn column_type(written: &ColumnType, table: CollationId) -> SqlType {
    let named = collation_of(written.charset.as_deref(), written.collation.as_deref());
    let collation = named.unwrap_or(table);
    let length =
        |default: u64| u32::try_from(written.length.unwrap_or(default)).unwrap_or(u32::MAX);
    let digits = |default: u64| u8::try_from(written.length.unwrap_or(default)).unwrap_or(6);
    let integer = |kind| SqlType {
        unsigned: written.unsigned || written.kind == Written::Serial,
        ..SqlType::integer(kind)
    };
    let members = |kind| SqlType::members(kind, written.members.clone(), collation);
    match written.kind {
        Written::TinyInt => integer(TypeKind::TinyInt),
        Written::SmallInt => integer(TypeKind::SmallInt),
        Written::MediumInt => integer(TypeKind::MediumInt),
        Written::Int => integer(TypeKind::Int),
        Written::BigInt | Written::Serial => integer(TypeKind::BigInt),
        Written::Decimal => {
            let scale = u8::try_from(written.scale.unwrap_or(0)).unwrap_or(u8::MAX);
            SqlType::decimal(digits(10), scale)
        }
        Written::Float => SqlType {
            kind: TypeKind::Float,
            length: 12,
            ..SqlType::double()
        },
        Written::Double => SqlType::double(),
        Written::Bit => SqlType::bit(length(1).clamp(1, 64)),
        Written::Char => SqlType::char(length(1), collation),
        Written::Binary => SqlType::char(length(1), CollationId::BINARY),
        Written::Varchar => SqlType::varchar(length(1), collation),
        Written::Varbinary => SqlType::varchar(length(1), CollationId::BINARY),
        Written::TinyText => SqlType::text(TypeKind::TinyText, collation),
        Written::Text => SqlType::text(TypeKind::Text, collation),
        Written::MediumText => SqlType::text(TypeKind::MediumText, collation),
        Written::LongText => SqlType::text(TypeKind::LongText, collation),
        Written::TinyBlob => SqlType::text(TypeKind::TinyText, CollationId::BINARY),
        Written::Blob => SqlType::text(TypeKind::Text, CollationId::BINARY),
        Written::MediumBlob => SqlType::text(TypeKind::MediumText, CollationId::BINARY),
        Written::Date => SqlType::temporal(TypeKind::Date, 0),
        Written::Time => SqlType::temporal(TypeKind::Time, digits(0).min(6)),
        Written::DateTime => SqlType::temporal(TypeKind::DateTime, digits(0).min(6)),
        Written::Timestamp => SqlType::temporal(TypeKind::Timestamp, digits(0).min(6)),
        Written::Year => SqlType::temporal(TypeKind::Year, 0),
        Written::Enum => members(TypeKind::Enum),
        Written::Set => members(TypeKind::Set),
        Written::Json => SqlType::json(),
        Written::LongBlob
        | Written::Geometry
        | Written::Point
        | Written::LineString
        | Written::Polygon
        | Written::MultiPoint
        | Written::MultiLineString
        | Written::MultiPolygon
        | Written::GeometryCollection
        | Written::Vector => SqlType::text(TypeKind::LongText, CollationId::BINARY),
    }
}
