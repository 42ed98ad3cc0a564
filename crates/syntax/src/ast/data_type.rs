//! Column types as written: the kind, its numbers and its attributes. The binder gives them their meaning (defaults for
//! missing lengths, silent changes such as `VARCHAR(70000)` to `MEDIUMTEXT`).

use std::fmt;

/// A column type as written in `CREATE TABLE`, `ALTER TABLE` and `JSON_TABLE`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ColumnType {
    /// Kind of the type.
    pub kind: TypeKind,
    /// The first number in parentheses: length, display width, precision or fractional digits.
    pub length: Option<u64>,
    /// The second number in parentheses: the scale of a number.
    pub scale: Option<u64>,
    /// `UNSIGNED`, also implied by `ZEROFILL` and `SERIAL`.
    pub unsigned: bool,
    /// `ZEROFILL`.
    pub zerofill: bool,
    /// `CHARACTER SET name`, or what `ASCII`, `UNICODE`, `BYTE` and `NATIONAL` stand for.
    pub charset: Option<String>,
    /// `BINARY` after a character type: the `_bin` collation of its character set.
    pub binary: bool,
    /// `COLLATE name`.
    pub collation: Option<String>,
    /// The members of `ENUM` and `SET`.
    pub members: Vec<String>,
}

impl ColumnType {
    /// A type without numbers or attributes.
    pub fn new(kind: TypeKind) -> Self {
        ColumnType {
            kind,
            length: None,
            scale: None,
            unsigned: false,
            zerofill: false,
            charset: None,
            binary: false,
            collation: None,
            members: Vec::new(),
        }
    }
}

/// The target of a cast.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CastType {
    /// Kind of the type.
    pub kind: CastTypeKind,
    /// Its length, precision or fractional digits.
    pub length: Option<u64>,
    /// Its scale.
    pub scale: Option<u64>,
    /// The character set of `CHAR`.
    pub charset: Option<String>,
    /// `ARRAY`: an array of values of the type, for a multi-valued index.
    pub is_array: bool,
}

impl CastType {
    /// A type without numbers or attributes.
    pub fn new(kind: CastTypeKind) -> Self {
        CastType {
            kind,
            length: None,
            scale: None,
            charset: None,
            is_array: false,
        }
    }
}

impl fmt::Display for CastType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.name())?;
        match (self.length, self.scale) {
            (Some(length), Some(scale)) => write!(f, "({length},{scale})")?,
            (Some(length), None) => write!(f, "({length})")?,
            (None, _) => {}
        }
        if let Some(charset) = &self.charset {
            write!(f, " CHARACTER SET {charset}")?;
        }
        f.write_str(if self.is_array { " ARRAY" } else { "" })
    }
}

/// The types a value can be cast to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the variants are MySQL's own type names")]
pub enum CastTypeKind {
    Signed,
    Unsigned,
    Char,
    Binary,
    Decimal,
    Float,
    Double,
    Date,
    Time,
    DateTime,
    Year,
    Json,
    /// A spatial type.
    Geometry(TypeKind),
}

impl CastTypeKind {
    /// The type's name in the manual's spelling.
    pub fn name(self) -> &'static str {
        match self {
            Self::Signed => "SIGNED",
            Self::Unsigned => "UNSIGNED",
            Self::Char => "CHAR",
            Self::Binary => "BINARY",
            Self::Decimal => "DECIMAL",
            Self::Float => "FLOAT",
            Self::Double => "DOUBLE",
            Self::Date => "DATE",
            Self::Time => "TIME",
            Self::DateTime => "DATETIME",
            Self::Year => "YEAR",
            Self::Json => "JSON",
            Self::Geometry(TypeKind::Point) => "POINT",
            Self::Geometry(TypeKind::LineString) => "LINESTRING",
            Self::Geometry(TypeKind::Polygon) => "POLYGON",
            Self::Geometry(TypeKind::MultiPoint) => "MULTIPOINT",
            Self::Geometry(TypeKind::MultiLineString) => "MULTILINESTRING",
            Self::Geometry(TypeKind::MultiPolygon) => "MULTIPOLYGON",
            Self::Geometry(_) => "GEOMETRYCOLLECTION",
        }
    }
}

/// The types a column can be declared with; synonyms are already resolved
/// (`INTEGER` is `Int`, `NUMERIC` is `Decimal`, `BOOL` is `TinyInt` of length 1, `LONG` is
/// `MediumText`, `REAL` is `Double`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the variants are MySQL's own type names")]
pub enum TypeKind {
    TinyInt,
    SmallInt,
    MediumInt,
    Int,
    BigInt,
    Decimal,
    Float,
    Double,
    Bit,
    Char,
    Varchar,
    Binary,
    Varbinary,
    TinyText,
    Text,
    MediumText,
    LongText,
    TinyBlob,
    Blob,
    MediumBlob,
    LongBlob,
    Date,
    Time,
    DateTime,
    Timestamp,
    Year,
    Enum,
    Set,
    Json,
    /// `BIGINT UNSIGNED NOT NULL AUTO_INCREMENT UNIQUE`; the parser adds those attributes.
    Serial,
    Geometry,
    Point,
    LineString,
    Polygon,
    MultiPoint,
    MultiLineString,
    MultiPolygon,
    GeometryCollection,
    Vector,
}

impl TypeKind {
    /// Every kind in the order of its declaration, with its name.
    const NAMES: [(TypeKind, &str); 39] = [
        (TypeKind::TinyInt, "tinyint"),
        (TypeKind::SmallInt, "smallint"),
        (TypeKind::MediumInt, "mediumint"),
        (TypeKind::Int, "int"),
        (TypeKind::BigInt, "bigint"),
        (TypeKind::Decimal, "decimal"),
        (TypeKind::Float, "float"),
        (TypeKind::Double, "double"),
        (TypeKind::Bit, "bit"),
        (TypeKind::Char, "char"),
        (TypeKind::Varchar, "varchar"),
        (TypeKind::Binary, "binary"),
        (TypeKind::Varbinary, "varbinary"),
        (TypeKind::TinyText, "tinytext"),
        (TypeKind::Text, "text"),
        (TypeKind::MediumText, "mediumtext"),
        (TypeKind::LongText, "longtext"),
        (TypeKind::TinyBlob, "tinyblob"),
        (TypeKind::Blob, "blob"),
        (TypeKind::MediumBlob, "mediumblob"),
        (TypeKind::LongBlob, "longblob"),
        (TypeKind::Date, "date"),
        (TypeKind::Time, "time"),
        (TypeKind::DateTime, "datetime"),
        (TypeKind::Timestamp, "timestamp"),
        (TypeKind::Year, "year"),
        (TypeKind::Enum, "enum"),
        (TypeKind::Set, "set"),
        (TypeKind::Json, "json"),
        (TypeKind::Serial, "serial"),
        (TypeKind::Geometry, "geometry"),
        (TypeKind::Point, "point"),
        (TypeKind::LineString, "linestring"),
        (TypeKind::Polygon, "polygon"),
        (TypeKind::MultiPoint, "multipoint"),
        (TypeKind::MultiLineString, "multilinestring"),
        (TypeKind::MultiPolygon, "multipolygon"),
        (TypeKind::GeometryCollection, "geomcollection"),
        (TypeKind::Vector, "vector"),
    ];

    /// The type's name as MySQL prints it.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_the_order_of_the_kinds() {
        for (kind, name) in TypeKind::NAMES {
            assert_eq!(kind.name(), name);
        }
    }
}
