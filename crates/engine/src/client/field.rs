//! Metadata of result columns in MySQL's form: type, length, flags, character set.
//!
//! See the manual, "C API Basic Data Structures" (MYSQL_FIELD). Lengths are bytes in the character set of results;
//! MySQL reports a table's column and an expression of the same type differently in places, and drivers know both.

use mayfly_plan::physical::ClientType;
use mayfly_types::sql_type::{DECIMAL_PRECISION_MAX, DECIMAL_SCALE_MAX};
use mayfly_types::{CollationId, SqlType, TypeKind};

use crate::result::ResultColumn;

/// Type number of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
#[expect(missing_docs, reason = "the variants are MySQL's own names")]
pub enum FieldType {
    Tiny = 1,
    Short = 2,
    Long = 3,
    Float = 4,
    Double = 5,
    Null = 6,
    Timestamp = 7,
    LongLong = 8,
    Int24 = 9,
    Date = 10,
    Time = 11,
    DateTime = 12,
    Year = 13,
    Bit = 16,
    Vector = 242,
    Json = 245,
    NewDecimal = 246,
    Enum = 247,
    /// SET
    Set = 248,
    MediumBlob = 250,
    LongBlob = 251,
    Blob = 252,
    VarString = 253,
    String = 254,
    Geometry = 255,
}

/// Flags of a column, as a bit set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct FieldFlags(pub u16);

impl FieldFlags {
    /// Never NULL.
    pub const NOT_NULL: Self = Self(1);
    /// A part of the primary key.
    pub const PRI_KEY: Self = Self(2);
    /// A unique key by itself.
    pub const UNIQUE_KEY: Self = Self(4);
    /// The first part of another key.
    pub const MULTIPLE_KEY: Self = Self(8);
    /// A TEXT, BLOB or JSON.
    pub const BLOB: Self = Self(16);
    /// UNSIGNED
    pub const UNSIGNED: Self = Self(32);
    /// ZEROFILL
    pub const ZEROFILL: Self = Self(64);
    /// Compared by bytes: a binary collation.
    pub const BINARY: Self = Self(128);
    /// ENUM
    pub const ENUM: Self = Self(256);
    /// AUTO_INCREMENT
    pub const AUTO_INCREMENT: Self = Self(512);
    /// A TIMESTAMP that is set to the current time automatically.
    pub const TIMESTAMP: Self = Self(1024);
    /// SET
    pub const SET: Self = Self(2048);
    /// NOT NULL without a default.
    pub const NO_DEFAULT_VALUE: Self = Self(4096);
    /// ON UPDATE CURRENT_TIMESTAMP
    pub const ON_UPDATE_NOW: Self = Self(8192);
    /// A part of some key.
    pub const PART_KEY: Self = Self(16_384);

    /// Whether it contains all flags of another set.
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    fn set(&mut self, flag: Self, is_set: bool) {
        if is_set {
            self.0 |= flag.0;
        }
    }
}

/// Metadata of a column for a client, besides its names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldDefinition {
    /// The collation of its values as sent; 63 is `binary`.
    pub collation: CollationId,
    /// Maximum bytes of a value.
    pub length: u32,
    /// Its type.
    pub field_type: FieldType,
    /// Its flags.
    pub flags: FieldFlags,
    /// Fractional digits; 31 when they are not fixed.
    pub decimals: u8,
}

const NOT_FIXED: u8 = 31;

/// Maximum bytes of a MEDIUMBLOB.
const MEDIUM_BYTES_MAX: u64 = 16_777_215;

/// Origin of a result column.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    /// A column of a table.
    Table,
    /// A column of a derived table or a set operation, which MySQL reads from a temporary table.
    Copied,
    /// A computed expression.
    Expression,
}

impl FieldDefinition {
    /// The metadata of a column, for results converted to the character set of a collation, or not converted.
    pub(crate) fn of(column: &ResultColumn, results: Option<CollationId>) -> Self {
        let ty = &column.ty;
        let shown = match &column.origin {
            Some(origin) if origin.is_of_table() => Shown::Table,
            Some(origin) if !origin.is_merged => Shown::Copied,
            _ => Shown::Expression,
        };
        let mut flags = FieldFlags::default();
        flags.set(FieldFlags::NOT_NULL, !column.nullable);
        if let Some(origin) = &column.origin {
            let traits = origin.traits;
            flags.set(FieldFlags::PRI_KEY, traits.primary_key);
            flags.set(FieldFlags::UNIQUE_KEY, traits.unique_key);
            flags.set(FieldFlags::MULTIPLE_KEY, traits.multiple_key);
            flags.set(FieldFlags::PART_KEY, traits.key_part);
            flags.set(FieldFlags::AUTO_INCREMENT, traits.auto_increment);
            flags.set(FieldFlags::NO_DEFAULT_VALUE, traits.no_default);
            flags.set(FieldFlags::TIMESTAMP, traits.timestamp);
            flags.set(FieldFlags::ON_UPDATE_NOW, traits.on_update_now);
        }
        match ty.kind {
            TypeKind::Char
            | TypeKind::VarChar
            | TypeKind::TinyText
            | TypeKind::Text
            | TypeKind::MediumText
            | TypeKind::LongText
            | TypeKind::Enum
            | TypeKind::Set
            | TypeKind::Geometry(_)
            | TypeKind::Vector
            | TypeKind::Json => {
                let field = match column.client_type {
                    _ if ty.is_structured_bytes() => string(ty, shown, flags, results),
                    ClientType::Choice(kind) => {
                        let choice = SqlType { kind, ..ty.clone() };
                        let mut field = string(&choice, shown, flags, results);
                        match kind {
                            TypeKind::Enum => field.field_type = FieldType::Enum,
                            TypeKind::Set => field.field_type = FieldType::Set,
                            _ if choice.is_blob() => field.field_type = FieldType::Blob,
                            _ => {}
                        }
                        field
                    }
                    ClientType::Collected => FieldDefinition {
                        field_type: FieldType::LongBlob,
                        ..string(ty, shown, flags, results)
                    },
                    ClientType::Computed if is_long(ty) => {
                        let kind = TypeKind::LongText;
                        let long = SqlType { kind, ..ty.clone() };
                        string(&long, shown, flags, results)
                    }
                    ClientType::Computed if ty.is_blob() && shown == Shown::Expression => {
                        let kind = TypeKind::VarChar;
                        let short = SqlType { kind, ..ty.clone() };
                        string(&short, shown, flags, results)
                    }
                    _ => string(ty, shown, flags, results),
                };
                let is_computed = column.client_type == ClientType::Computed;
                let is_computed = is_computed && shown == Shown::Expression;
                if is_computed && ty.kind == TypeKind::Char && ty.is_binary_string() {
                    return FieldDefinition {
                        field_type: FieldType::VarString,
                        ..field
                    };
                }
                match column.client_type {
                    ClientType::Hexadecimal => field.of_number(true),
                    ClientType::Bits => field.of_number(false),
                    _ => field,
                }
            }
            _ => number(column, shown, flags),
        }
    }
}

/// Whether a computed string is described as a BLOB by its length.
fn is_long(ty: &SqlType) -> bool {
    let bytes = u64::from(ty.length) * u64::from(ty.collation.charset().max_length());
    let is_string = matches!(ty.kind, TypeKind::Char | TypeKind::VarChar);
    (is_string || ty.is_blob()) && bytes > u64::from(u16::MAX)
}

impl FieldDefinition {
    /// Makes a string's metadata a number's, too.
    fn of_number(mut self, unsigned: bool) -> Self {
        self.flags.set(FieldFlags::UNSIGNED, unsigned);
        self.decimals = 0;
        self
    }
}

/// Metadata of numbers and temporal values.
fn number(column: &ResultColumn, shown: Shown, mut flags: FieldFlags) -> FieldDefinition {
    let ty = &column.ty;
    let is_temporal = ty.is_temporal();
    let is_bit = ty.kind == TypeKind::Bit;
    let is_year = ty.kind == TypeKind::Year;
    flags.set(
        FieldFlags::BINARY,
        is_temporal || ty.kind == TypeKind::Null || shown == Shown::Expression && !is_bit,
    );
    flags.set(FieldFlags::UNSIGNED, ty.unsigned || is_bit || is_year);
    flags.set(
        FieldFlags::ZEROFILL,
        ty.zerofill || is_year && shown != Shown::Expression,
    );
    let is_wide = column.client_type == ClientType::Computed;
    let ty = match column.client_type {
        ClientType::Variable => &SqlType::decimal(DECIMAL_PRECISION_MAX, DECIMAL_SCALE_MAX),
        _ => ty,
    };
    let kind = match column.client_type {
        ClientType::Choice(kind) | ClientType::Kept(kind) => kind,
        _ => ty.kind,
    };
    let field_type = match kind {
        TypeKind::Null => FieldType::Null,
        TypeKind::TinyInt | TypeKind::SmallInt | TypeKind::MediumInt | TypeKind::Int if is_wide => {
            FieldType::LongLong
        }
        TypeKind::TinyInt => FieldType::Tiny,
        TypeKind::SmallInt => FieldType::Short,
        TypeKind::MediumInt => FieldType::Int24,
        TypeKind::Int => FieldType::Long,
        TypeKind::Decimal => FieldType::NewDecimal,
        TypeKind::Float => FieldType::Float,
        TypeKind::Double => FieldType::Double,
        TypeKind::Bit => FieldType::Bit,
        TypeKind::Year => FieldType::Year,
        TypeKind::Date => FieldType::Date,
        TypeKind::Time => FieldType::Time,
        TypeKind::DateTime => FieldType::DateTime,
        TypeKind::Timestamp => FieldType::Timestamp,
        // NULL is reported as a text column.
        TypeKind::VarChar => FieldType::VarString,
        _ => FieldType::LongLong,
    };
    FieldDefinition {
        collation: CollationId::BINARY,
        length: number_length(ty, shown, is_wide),
        field_type,
        flags,
        decimals: match ty.kind {
            TypeKind::Decimal
            | TypeKind::Float
            | TypeKind::Double
            | TypeKind::Time
            | TypeKind::DateTime
            | TypeKind::Timestamp => ty.decimals,
            _ => 0,
        },
    }
}

fn number_length(ty: &SqlType, shown: Shown, is_computed: bool) -> u32 {
    let integer = |unsigned: u32, signed: u32| match shown {
        // A display width is shown where SHOW CREATE TABLE still prints one.
        Shown::Table if !ty.zerofill && ty.length != 1 => {
            if ty.unsigned {
                unsigned
            } else {
                signed
            }
        }
        _ => ty.length,
    };
    match ty.kind {
        TypeKind::Null => 0,
        TypeKind::TinyInt => integer(3, 4),
        TypeKind::SmallInt => integer(5, 6),
        TypeKind::MediumInt => integer(8, 9),
        TypeKind::Int => integer(10, 11),
        TypeKind::BigInt => integer(20, 20),
        TypeKind::Decimal => ty.length + u32::from(ty.decimals > 0) + u32::from(!ty.unsigned),
        TypeKind::Float if ty.decimals == NOT_FIXED => match shown {
            Shown::Expression | Shown::Copied if is_computed => 23,
            _ => 12,
        },
        TypeKind::Double if shown != Shown::Table && is_computed && ty.length == 22 => 23,
        TypeKind::Date => 10,
        TypeKind::Year => 4,
        _ => ty.length,
    }
}

/// Metadata of strings, members and documents.
fn string(
    ty: &SqlType,
    shown: Shown,
    mut flags: FieldFlags,
    results: Option<CollationId>,
) -> FieldDefinition {
    let is_text = matches!(
        ty.kind,
        TypeKind::TinyText | TypeKind::Text | TypeKind::MediumText | TypeKind::LongText
    );
    let is_json = ty.kind == TypeKind::Json;
    let is_structured = ty.is_structured_bytes();
    let of_table = shown == Shown::Table;
    let is_kept = shown != Shown::Expression;
    // Clients see a JSON column as a binary one.
    let own = if is_json && is_kept {
        CollationId::BINARY
    } else {
        ty.collation
    };
    flags.set(FieldFlags::BINARY, is_json || is_by_bytes(ty.collation));
    let has_blob = is_text || is_json || is_structured;
    flags.set(FieldFlags::BLOB, has_blob && is_kept);
    flags.set(FieldFlags::ENUM, ty.kind == TypeKind::Enum && is_kept);
    flags.set(FieldFlags::SET, ty.kind == TypeKind::Set && is_kept);
    let own_bytes = u64::from(own.charset().max_length());
    let field_type = match ty.kind {
        TypeKind::Json => FieldType::Json,
        TypeKind::Geometry(_) => FieldType::Geometry,
        TypeKind::Vector => FieldType::Vector,
        TypeKind::VarChar => FieldType::VarString,
        TypeKind::LongText if shown == Shown::Expression => {
            if u64::from(ty.length) * own_bytes <= MEDIUM_BYTES_MAX {
                FieldType::MediumBlob
            } else {
                FieldType::LongBlob
            }
        }
        _ if is_text => FieldType::Blob,
        _ => FieldType::String,
    };
    let collation = match results {
        Some(results) if own != CollationId::BINARY => results,
        _ => own,
    };
    let bytes = match own {
        CollationId::BINARY => 1,
        _ => u64::from(collation.charset().max_length()),
    };
    let length = u64::from(ty.length);
    let length = match ty.kind {
        TypeKind::Json if is_kept => u64::from(u32::MAX),
        TypeKind::Json => u64::from(u32::MAX) / bytes * bytes,
        // The bytes that the type allows; of an expression, those of its operand's type. Converted text may have as
        // many characters.
        _ if is_text => {
            let length = if of_table { length } else { length * own_bytes };
            match results {
                Some(_) => length / u64::from(own.charset().min_length()) * bytes,
                None => length,
            }
        }
        _ => length * bytes,
    };
    FieldDefinition {
        collation,
        length: u32::try_from(length).unwrap_or(u32::MAX),
        field_type,
        flags,
        decimals: match shown {
            _ if ty.is_geometry() => 0,
            _ if ty.kind == TypeKind::Vector => NOT_FIXED,
            Shown::Expression => NOT_FIXED,
            _ => 0,
        },
    }
}

/// Whether clients see a collation as a binary one.
fn is_by_bytes(collation: CollationId) -> bool {
    collation.is_binary_order()
}
