//! Column types as written: the kind, its numbers and its attributes. What they mean (defaults for
//! missing lengths, silent changes such as `VARCHAR(70000)` to `MEDIUMTEXT`) is the binder's matter.

/// A column type as written in `CREATE TABLE`, `ALTER TABLE` and `JSON_TABLE`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ColumnType {
    /// Which type.
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

    /// The kind of a name as MySQL prints it.
    pub(crate) fn by_name(name: &str) -> Option<Self> {
        let mut names = Self::NAMES.iter();
        names.find(|row| row.1 == name).map(|row| row.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_the_order_of_the_kinds() {
        for (kind, name) in TypeKind::NAMES {
            assert_eq!(kind.name(), name);
            assert_eq!(TypeKind::by_name(name), Some(kind));
        }
    }
}
