//! SQL types and the physical types that carry them.
//!
//! MySQL has some thirty column types; kernels see seven. A [`SqlType`] is what the user declared
//! or what an expression was derived to be; [`SqlType::physical`] is the Arrow array that holds
//! its values. See the manual, "Data Types".

use std::sync::Arc;

use arrow_schema::DataType;

use crate::collation::CollationId;
use crate::geometry::GeometryKind;
use crate::vector;

/// The largest precision that fits in an [`PhysicalType::Decimal128`].
pub(crate) const DECIMAL128_PRECISION_MAX: u8 = 38;
/// The largest precision of a MySQL DECIMAL.
pub const DECIMAL_PRECISION_MAX: u8 = 65;
/// The largest scale of a MySQL DECIMAL.
pub const DECIMAL_SCALE_MAX: u8 = 30;
/// [`SqlType::decimals`] of a FLOAT or DOUBLE without a fixed number of decimals.
pub const DECIMALS_NOT_FIXED: u8 = 31;

/// The kind of a SQL type, as the manual names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TypeKind {
    /// The type of a bare NULL literal.
    Null,
    /// The result of a predicate, before it is stored: shown to users as an INT of one digit.
    Boolean,
    /// One byte.
    TinyInt,
    /// Two bytes.
    SmallInt,
    /// Three bytes.
    MediumInt,
    /// Four bytes.
    Int,
    /// Eight bytes.
    BigInt,
    /// Exact numeric of `length` digits, `decimals` of them after the point.
    Decimal,
    /// Single precision.
    Float,
    /// Double precision.
    Double,
    /// A field of `length` bits.
    Bit,
    /// 1901 to 2155, and 0000.
    Year,
    /// A day.
    Date,
    /// A time of day or an interval; `decimals` fractional digits.
    Time,
    /// Day and time of day; `decimals` fractional digits.
    DateTime,
    /// A point in time, shown in the session's time zone; `decimals` fractional digits.
    Timestamp,
    /// Character or binary string of fixed `length`.
    Char,
    /// Character or binary string of at most `length`.
    VarChar,
    /// String of at most 255 bytes.
    TinyText,
    /// String of at most 65,535 bytes.
    Text,
    /// String of at most 16,777,215 bytes.
    MediumText,
    /// String of at most 4,294,967,295 bytes.
    LongText,
    /// One of a list of strings, held as its index from 1; 0 is the error value.
    Enum,
    /// A subset of a list of strings, held as bits.
    Set,
    /// A JSON document, held as its normalised text.
    Json,
    /// GEOMETRY or one of its subtypes: bytes of an SRID and Well-Known Binary.
    Geometry(GeometryKind),
    /// A list of at most `length / 4` single-precision numbers, as bytes.
    Vector,
}

/// The Arrow array that carries values of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PhysicalType {
    /// `BooleanArray`; only inside expressions, never in a stored row.
    Bool,
    /// `Int64Array`
    Int64,
    /// `UInt64Array`
    UInt64,
    /// `Float64Array`
    Float64,
    /// `Decimal128Array` of this scale.
    Decimal128(u8),
    /// `Decimal256Array` of this scale.
    Decimal256(u8),
    /// `BinaryViewArray`
    Bytes,
}

impl PhysicalType {
    /// The Arrow type of arrays of this physical type.
    pub fn arrow(self) -> DataType {
        match self {
            Self::Bool => DataType::Boolean,
            Self::Int64 => DataType::Int64,
            Self::UInt64 => DataType::UInt64,
            Self::Float64 => DataType::Float64,
            Self::Decimal128(scale) => DataType::Decimal128(38, scale as i8),
            Self::Decimal256(scale) => DataType::Decimal256(76, scale as i8),
            Self::Bytes => DataType::BinaryView,
        }
    }
}

/// A SQL type with everything that MySQL's result metadata and conversions need.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SqlType {
    /// The kind of the type.
    pub kind: TypeKind,
    /// UNSIGNED, for the numeric kinds.
    pub unsigned: bool,
    /// ZEROFILL, for the integer kinds.
    pub zerofill: bool,
    /// Whether this is the VARBINARY of a hexadecimal or bit literal, which is a number in a numeric context. A
    /// hexadecimal literal is also `unsigned`.
    pub is_bytes_literal: bool,
    /// Integers: display width. DECIMAL: precision. BIT: bits. CHAR and VARCHAR: characters
    /// (bytes when the collation is binary). TEXT kinds: the bytes that the kind allows.
    pub length: u32,
    /// DECIMAL: scale. FLOAT and DOUBLE: fixed decimals or [`DECIMALS_NOT_FIXED`]. TIME, DATETIME,
    /// TIMESTAMP: fractional digits, 0 to 6.
    pub decimals: u8,
    /// Character set and collation of the string kinds, ENUM and SET; `binary` makes CHAR a BINARY,
    /// VARCHAR a VARBINARY and TEXT a BLOB. Numbers and temporal values have `binary` too.
    pub collation: CollationId,
    /// VARCHAR: the text of a date or time that a function returned for a string argument (ADDDATE('2024-01-31', 1));
    /// in a numeric context it is the number of that date, 20240201, and not 2024.
    pub temporal_text: bool,
    /// The SRID that values of a geometry column have, if the column has one.
    pub srid: Option<u32>,
    /// The members of an ENUM or SET, in order, also for the string that MIN() or MAX() of one returns; empty
    /// otherwise.
    pub members: Arc<[String]>,
}

impl SqlType {
    #[inline]
    fn plain(kind: TypeKind, length: u32, decimals: u8, collation: CollationId) -> Self {
        static NO_MEMBERS: std::sync::LazyLock<Arc<[String]>> =
            std::sync::LazyLock::new(|| Arc::from(Vec::new()));
        Self {
            kind,
            unsigned: false,
            zerofill: false,
            is_bytes_literal: false,
            length,
            decimals,
            collation,
            temporal_text: false,
            srid: None,
            members: Arc::clone(&NO_MEMBERS),
        }
    }

    /// The type of a bare NULL.
    pub fn null() -> Self {
        Self::plain(TypeKind::Null, 0, 0, CollationId::BINARY)
    }

    /// The type of a predicate.
    pub fn boolean() -> Self {
        Self::plain(TypeKind::Boolean, 1, 0, CollationId::BINARY)
    }

    /// A signed integer kind with its default display width.
    #[inline]
    pub fn integer(kind: TypeKind) -> Self {
        let width = match kind {
            TypeKind::TinyInt => 4,
            TypeKind::SmallInt => 6,
            TypeKind::MediumInt => 9,
            TypeKind::Int => 11,
            _ => 20,
        };
        Self::plain(kind, width, 0, CollationId::BINARY)
    }

    /// BIGINT
    #[inline]
    pub fn bigint() -> Self {
        Self::integer(TypeKind::BigInt)
    }

    /// BIGINT UNSIGNED
    pub fn bigint_unsigned() -> Self {
        Self {
            unsigned: true,
            ..Self::bigint()
        }
    }

    /// DOUBLE without fixed decimals.
    pub fn double() -> Self {
        Self::plain(
            TypeKind::Double,
            22,
            DECIMALS_NOT_FIXED,
            CollationId::BINARY,
        )
    }

    /// DECIMAL of a precision and scale, both clamped to what MySQL allows.
    pub fn decimal(precision: u8, scale: u8) -> Self {
        let scale = scale.min(DECIMAL_SCALE_MAX);
        let precision = precision.clamp(scale.max(1), DECIMAL_PRECISION_MAX);
        Self::plain(
            TypeKind::Decimal,
            u32::from(precision),
            scale,
            CollationId::BINARY,
        )
    }

    /// A temporal kind with fractional digits.
    pub fn temporal(kind: TypeKind, fractional_digits: u8) -> Self {
        let fraction = u32::from(fractional_digits);
        let fraction = if fraction == 0 { 0 } else { fraction + 1 };
        let width = match kind {
            TypeKind::Date => 10,
            TypeKind::Time => 10 + fraction,
            TypeKind::Year => 4,
            _ => 19 + fraction,
        };
        Self::plain(kind, width, fractional_digits, CollationId::BINARY)
    }

    /// VARCHAR of at most `length` characters, or VARBINARY when the collation is `binary`.
    #[inline]
    pub fn varchar(length: u32, collation: CollationId) -> Self {
        Self::plain(TypeKind::VarChar, length, 0, collation)
    }

    /// CHAR of `length` characters, or BINARY when the collation is `binary`.
    pub fn char(length: u32, collation: CollationId) -> Self {
        Self::plain(TypeKind::Char, length, 0, collation)
    }

    /// One of the TEXT kinds, or the BLOB kind of that size when the collation is `binary`.
    pub fn text(kind: TypeKind, collation: CollationId) -> Self {
        let bytes = match kind {
            TypeKind::TinyText => 255,
            TypeKind::Text => 65_535,
            TypeKind::MediumText => 16_777_215,
            _ => u32::MAX,
        };
        Self::plain(kind, bytes, 0, collation)
    }

    /// JSON
    pub fn json() -> Self {
        Self::plain(TypeKind::Json, u32::MAX, 0, CollationId::UTF8MB4_BIN)
    }

    /// GEOMETRY or one of its subtypes.
    pub fn geometry(kind: GeometryKind) -> Self {
        let kind = TypeKind::Geometry(kind);
        Self::plain(kind, u32::MAX, 0, CollationId::BINARY)
    }

    /// VECTOR of at most `dimensions` elements.
    pub fn vector(dimensions: u32) -> Self {
        let bytes = dimensions.min(vector::DIMENSIONS_MAX) * vector::ELEMENT_BYTES as u32;
        Self::plain(TypeKind::Vector, bytes, 0, CollationId::BINARY)
    }

    /// BIT of `bits` bits.
    pub fn bit(bits: u32) -> Self {
        Self {
            unsigned: true,
            ..Self::plain(TypeKind::Bit, bits, 0, CollationId::BINARY)
        }
    }

    /// ENUM or SET over `members`.
    pub fn members(kind: TypeKind, members: Vec<String>, collation: CollationId) -> Self {
        let characters = members.iter().map(|member| member.chars().count());
        let length = match kind {
            TypeKind::Set => characters.sum::<usize>() + members.len().saturating_sub(1),
            _ => characters.max().unwrap_or(0),
        };
        let length = u32::try_from(length).unwrap_or(u32::MAX);
        Self {
            members: members.into(),
            ..Self::plain(kind, length, 0, collation)
        }
    }

    /// The type of a computed value with this column type: without display width and ZEROFILL.
    pub fn without_display_width(&self) -> Self {
        let is_bool = self.kind == TypeKind::TinyInt && self.length == 1;
        if !self.zerofill && !is_bool {
            return self.clone();
        }
        let length = match (self.kind, self.unsigned) {
            (TypeKind::BigInt, _) => 20,
            (TypeKind::TinyInt | TypeKind::SmallInt | TypeKind::MediumInt | TypeKind::Int, _) => {
                Self::integer(self.kind).length - u32::from(self.unsigned)
            }
            _ => self.length,
        };
        Self {
            zerofill: false,
            length,
            ..self.clone()
        }
    }

    /// The physical type that carries values of this type.
    pub fn physical(&self) -> PhysicalType {
        match self.kind {
            TypeKind::Boolean => PhysicalType::Bool,
            TypeKind::TinyInt
            | TypeKind::SmallInt
            | TypeKind::MediumInt
            | TypeKind::Int
            | TypeKind::BigInt => {
                if self.unsigned {
                    PhysicalType::UInt64
                } else {
                    PhysicalType::Int64
                }
            }
            TypeKind::Bit | TypeKind::Year | TypeKind::Enum | TypeKind::Set => PhysicalType::UInt64,
            TypeKind::Null
            | TypeKind::Date
            | TypeKind::Time
            | TypeKind::DateTime
            | TypeKind::Timestamp => PhysicalType::Int64,
            TypeKind::Float | TypeKind::Double => PhysicalType::Float64,
            TypeKind::Decimal => {
                if self.length <= u32::from(DECIMAL128_PRECISION_MAX) {
                    PhysicalType::Decimal128(self.decimals)
                } else {
                    PhysicalType::Decimal256(self.decimals)
                }
            }
            TypeKind::Char
            | TypeKind::VarChar
            | TypeKind::TinyText
            | TypeKind::Text
            | TypeKind::MediumText
            | TypeKind::LongText
            | TypeKind::Json
            | TypeKind::Geometry(_)
            | TypeKind::Vector => PhysicalType::Bytes,
        }
    }

    /// The collation by which values of physical type Bytes compare: its own, or the order of JSON documents.
    pub fn comparison_collation(&self) -> CollationId {
        match self.kind {
            TypeKind::Json => CollationId::JSON,
            _ => self.collation,
        }
    }

    /// Whether it is one of the integer kinds, YEAR, BIT or a predicate.
    pub fn is_integer(&self) -> bool {
        matches!(
            self.kind,
            TypeKind::Boolean
                | TypeKind::TinyInt
                | TypeKind::SmallInt
                | TypeKind::MediumInt
                | TypeKind::Int
                | TypeKind::BigInt
                | TypeKind::Year
                | TypeKind::Bit
        )
    }

    /// The bits of an integer kind, the sign bit included; `None` for any other type.
    pub fn integer_bits(&self) -> Option<u32> {
        match self.kind {
            TypeKind::TinyInt => Some(8),
            TypeKind::SmallInt => Some(16),
            TypeKind::MediumInt => Some(24),
            TypeKind::Int => Some(32),
            TypeKind::BigInt => Some(64),
            _ => None,
        }
    }

    /// Whether it is an integer, DECIMAL, FLOAT or DOUBLE.
    pub fn is_numeric(&self) -> bool {
        self.is_integer()
            || matches!(
                self.kind,
                TypeKind::Decimal | TypeKind::Float | TypeKind::Double
            )
    }

    /// Whether it is DATE, TIME, DATETIME or TIMESTAMP.
    pub fn is_temporal(&self) -> bool {
        matches!(
            self.kind,
            TypeKind::Date | TypeKind::Time | TypeKind::DateTime | TypeKind::Timestamp
        )
    }

    /// Whether it is a geometry type.
    pub fn is_geometry(&self) -> bool {
        matches!(self.kind, TypeKind::Geometry(_))
    }

    /// Whether its values are bytes of a structure: a geometry or VECTOR type.
    pub fn is_structured_bytes(&self) -> bool {
        self.is_geometry() || self.kind == TypeKind::Vector
    }

    /// Whether it is CHAR, VARCHAR, one of the TEXT kinds or their binary twins, or a type whose values are bytes, as a
    /// BLOB's are: geometry and VECTOR; not ENUM, SET or JSON.
    pub fn is_string(&self) -> bool {
        matches!(self.kind, TypeKind::Char | TypeKind::VarChar) || self.is_blob()
    }

    /// Whether it is one of the TEXT kinds or their binary twins, TINYTEXT to LONGBLOB, or a geometry or VECTOR type.
    pub fn is_blob(&self) -> bool {
        matches!(
            self.kind,
            TypeKind::TinyText
                | TypeKind::Text
                | TypeKind::MediumText
                | TypeKind::LongText
                | TypeKind::Geometry(_)
                | TypeKind::Vector
        )
    }

    /// Whether it is a string type (see [`SqlType::is_string`]) of bytes without a character set.
    pub fn is_binary_string(&self) -> bool {
        self.is_string() && self.collation == CollationId::BINARY
    }
}
