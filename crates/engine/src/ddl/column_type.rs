//! From a column's type as written to the type that the column has: default lengths, silent
//! changes, and the errors of impossible types (the manual, "CREATE TABLE Statement" and "Silent
//! Column Specification Changes").

use std::collections::HashSet;

use mayfly_syntax::ast::{ColumnType, TypeKind as Written};
use mayfly_types::charset::Charset;
use mayfly_types::error::codes;
use mayfly_types::sql_type::{DECIMAL_PRECISION_MAX, DECIMAL_SCALE_MAX, DECIMALS_NOT_FIXED};
use mayfly_types::{CollationId, Diagnostics, Level, Result, SqlType, TypeKind};

use crate::character_sets;
use crate::session::StatementContext;

/// The longest row, and so the longest VARCHAR, in bytes.
const ROW_BYTES_MAX: u64 = 65_535;

/// What a column's type depends on besides its text.
pub(crate) struct TypeContext<'a> {
    /// Whose settings decide what a character set means.
    pub(crate) context: &'a StatementContext<'a>,
    /// The collation of the table.
    pub(crate) table_collation: CollationId,
    /// Strict mode: a VARCHAR that is too long is an error and not a TEXT.
    pub(crate) strict: bool,
    /// Where notes go.
    pub(crate) diagnostics: &'a Diagnostics,
}

/// The collation that CHARACTER SET and COLLATE name, one after the other: options of a table, a
/// database or a column.
#[derive(Debug)]
pub(crate) struct DeclaredCollation {
    named: Option<CollationId>,
    /// `default_collation_for_utf8mb4`
    utf8mb4: CollationId,
}

impl DeclaredCollation {
    /// Nothing yet.
    pub(crate) fn new(context: &StatementContext<'_>) -> Self {
        Self {
            named: None,
            utf8mb4: context.options().plan.utf8mb4_collation,
        }
    }

    /// CHARACTER SET: its default collation, unless another of the same set was named. 1302 for two
    /// sets.
    pub(crate) fn charset(&mut self, name: &str) -> Result<()> {
        let set = character_sets::by_name(name)
            .ok_or_else(|| codes::ER_UNKNOWN_CHARACTER_SET.with(&[&name]))?;
        match self.named.map(CollationId::charset) {
            None if set.charset == Charset::Utf8mb4 => self.named = Some(self.utf8mb4),
            None => self.named = Some(set.default_collation),
            Some(known) if known != set.charset => {
                let word = "CHARACTER SET ";
                let conflict = codes::ER_CONFLICTING_DECLARATIONS;
                return Err(conflict.with(&[&word, &known.name(), &word, &set.name]));
            }
            Some(_) => {}
        }
        Ok(())
    }

    /// COLLATE: 1253 for one of another set.
    pub(crate) fn collation(&mut self, name: &str) -> Result<()> {
        let row = character_sets::collation_by_name(name)
            .ok_or_else(|| codes::ER_UNKNOWN_COLLATION.with(&[&name]))?;
        if let Some(known) = self.named.map(CollationId::charset)
            && known != row.charset
        {
            let mismatch = codes::ER_COLLATION_CHARSET_MISMATCH;
            return Err(mismatch.with(&[&row.name, &known.name()]));
        }
        self.named = Some(row.id);
        Ok(())
    }

    /// What was named, if anything was.
    pub(crate) fn named(&self) -> Option<CollationId> {
        self.named
    }
}

/// The collation that a character set and a collation name together; the character set's default
/// when only it is named.
pub(crate) fn resolve_collation(
    context: &StatementContext<'_>,
    charset: Option<&str>,
    collation: Option<&str>,
) -> Result<Option<CollationId>> {
    let mut declared = DeclaredCollation::new(context);
    charset.map_or(Ok(()), |name| declared.charset(name))?;
    collation.map_or(Ok(()), |name| declared.collation(name))?;
    Ok(declared.named())
}

/// The type of a column, and whether its character set or collation was written.
pub(crate) fn resolve(
    column: &str,
    written: &ColumnType,
    types: &TypeContext<'_>,
) -> Result<(SqlType, bool)> {
    let explicit = resolve_collation(
        types.context,
        written.charset.as_deref(),
        written.collation.as_deref(),
    )?;
    let mut collation = explicit.unwrap_or(types.table_collation);
    if written.binary && written.collation.is_none() {
        types
            .diagnostics
            .warn(codes::ER_WARN_DEPRECATED_SYNTAX.with(&[
                &"BINARY as attribute of a type",
                &"a CHARACTER SET clause with _bin collation",
            ]));
        collation = collation.charset().row().binary_collation;
    }
    let is_explicit = explicit.is_some() || written.binary;
    let ty = match written.kind {
        Written::TinyInt
        | Written::SmallInt
        | Written::MediumInt
        | Written::Int
        | Written::BigInt
        | Written::Serial => integer(column, written, types)?,
        Written::Decimal => decimal(column, written, types)?,
        Written::Float | Written::Double => approximate(column, written, types)?,
        Written::Bit => {
            let bits = written.length.unwrap_or(1);
            if bits > 64 {
                return Err(codes::ER_TOO_BIG_DISPLAYWIDTH.with(&[&column, &64]));
            }
            if bits == 0 {
                return Err(codes::ER_WRONG_FIELD_SPEC.with(&[&column]));
            }
            SqlType::bit(u32::try_from(bits).unwrap_or(64))
        }
        Written::Char | Written::Binary => {
            let collation = if written.kind == Written::Binary {
                CollationId::BINARY
            } else {
                collation
            };
            let length = written.length.unwrap_or(1);
            if length > 255 {
                return Err(codes::ER_TOO_BIG_FIELDLENGTH.with(&[&column, &255]));
            }
            SqlType::char(u32::try_from(length).unwrap_or(255), collation)
        }
        Written::Varchar => varchar(column, written, collation, types)?,
        Written::Varbinary => varchar(column, written, CollationId::BINARY, types)?,
        Written::TinyText => SqlType::text(TypeKind::TinyText, collation),
        Written::Text => text_of_length(written, collation),
        Written::MediumText => SqlType::text(TypeKind::MediumText, collation),
        Written::LongText => SqlType::text(TypeKind::LongText, collation),
        Written::TinyBlob => SqlType::text(TypeKind::TinyText, CollationId::BINARY),
        Written::Blob => text_of_length(written, CollationId::BINARY),
        Written::MediumBlob => SqlType::text(TypeKind::MediumText, CollationId::BINARY),
        Written::LongBlob => SqlType::text(TypeKind::LongText, CollationId::BINARY),
        Written::Date => SqlType::temporal(TypeKind::Date, 0),
        Written::Time => SqlType::temporal(TypeKind::Time, fraction(column, written)?),
        Written::DateTime => SqlType::temporal(TypeKind::DateTime, fraction(column, written)?),
        Written::Timestamp => SqlType::temporal(TypeKind::Timestamp, fraction(column, written)?),
        Written::Year => {
            if written.length.is_some_and(|length| length != 4) {
                return Err(codes::ER_INVALID_YEAR_COLUMN_LENGTH.error());
            }
            SqlType {
                unsigned: true,
                ..SqlType::temporal(TypeKind::Year, 0)
            }
        }
        Written::Enum => members(column, TypeKind::Enum, written, collation, types)?,
        Written::Set => members(column, TypeKind::Set, written, collation, types)?,
        Written::Json => SqlType::json(),
        Written::Geometry
        | Written::Point
        | Written::LineString
        | Written::Polygon
        | Written::MultiPoint
        | Written::MultiLineString
        | Written::MultiPolygon
        | Written::GeometryCollection
        | Written::Vector => {
            return Err(
                codes::ER_NOT_SUPPORTED_YET.with(&[&format!("{:?}", written.kind).to_uppercase()])
            );
        }
    };
    let has_collation = ty.is_string() || matches!(ty.kind, TypeKind::Enum | TypeKind::Set);
    let shown = is_explicit && has_collation && ty.collation != CollationId::BINARY;
    Ok((ty, shown))
}

fn deprecated(types: &TypeContext<'_>, what: &str) {
    types
        .diagnostics
        .warn(codes::ER_WARN_DEPRECATED_SYNTAX_NO_REPLACEMENT.with(&[&what]));
}

fn zerofill_is_deprecated(types: &TypeContext<'_>) {
    types
        .diagnostics
        .warn(codes::ER_WARN_DEPRECATED_ZEROFILL.error());
}

fn integer(column: &str, written: &ColumnType, types: &TypeContext<'_>) -> Result<SqlType> {
    let kind = match written.kind {
        Written::TinyInt => TypeKind::TinyInt,
        Written::SmallInt => TypeKind::SmallInt,
        Written::MediumInt => TypeKind::MediumInt,
        Written::Int => TypeKind::Int,
        _ => TypeKind::BigInt,
    };
    let mut ty = SqlType::integer(kind);
    ty.unsigned = written.unsigned || written.zerofill || written.kind == Written::Serial;
    ty.zerofill = written.zerofill;
    // Unsigned integers need no place for the sign; BIGINT's width of 20 is the unsigned one's too.
    if ty.unsigned && kind != TypeKind::BigInt {
        ty.length -= 1;
    }
    if let Some(width) = written.length {
        let is_bool = kind == TypeKind::TinyInt && width == 1 && !ty.unsigned;
        if !is_bool && !written.zerofill {
            deprecated(types, "Integer display width");
        }
        if width > 255 {
            return Err(codes::ER_TOO_BIG_DISPLAYWIDTH.with(&[&column, &255]));
        }
        // Widths other than that of BOOL are forgotten unless ZEROFILL makes them visible.
        if is_bool || (written.zerofill && width > 0) {
            ty.length = u32::try_from(width).unwrap_or(255);
        }
    }
    if written.zerofill {
        zerofill_is_deprecated(types);
    }
    Ok(ty)
}

fn decimal(column: &str, written: &ColumnType, types: &TypeContext<'_>) -> Result<SqlType> {
    let precision = match written.length {
        None | Some(0) => 10,
        Some(precision) => precision,
    };
    let scale = written.scale.unwrap_or(0);
    if scale > u64::from(DECIMAL_SCALE_MAX) {
        return Err(codes::ER_TOO_BIG_SCALE.with(&[&scale, &column, &DECIMAL_SCALE_MAX]));
    }
    if precision > u64::from(DECIMAL_PRECISION_MAX) {
        return Err(codes::ER_TOO_BIG_PRECISION.with(&[
            &precision,
            &column,
            &DECIMAL_PRECISION_MAX,
        ]));
    }
    if scale > precision {
        return Err(codes::ER_M_BIGGER_THAN_D.with(&[&column]));
    }
    if written.zerofill {
        zerofill_is_deprecated(types);
    }
    if written.unsigned {
        unsigned_approximate(types);
    }
    let mut ty = SqlType::decimal(precision as u8, scale as u8);
    ty.unsigned = written.unsigned || written.zerofill;
    ty.zerofill = written.zerofill;
    Ok(ty)
}

fn unsigned_approximate(types: &TypeContext<'_>) {
    types
        .diagnostics
        .warn(codes::ER_WARN_DEPRECATED_UNSIGNED.error());
}

fn approximate(column: &str, written: &ColumnType, types: &TypeContext<'_>) -> Result<SqlType> {
    let mut kind = if written.kind == Written::Float {
        TypeKind::Float
    } else {
        TypeKind::Double
    };
    let mut decimals = DECIMALS_NOT_FIXED;
    let mut length = None;
    match (written.length, written.scale) {
        (Some(digits), Some(scale)) => {
            deprecated(
                types,
                "Specifying number of digits for floating point data types",
            );
            if scale > u64::from(DECIMAL_SCALE_MAX) {
                return Err(codes::ER_TOO_BIG_SCALE.with(&[&scale, &column, &DECIMAL_SCALE_MAX]));
            }
            if digits > 255 {
                return Err(codes::ER_TOO_BIG_DISPLAYWIDTH.with(&[&column, &255]));
            }
            if scale > digits {
                return Err(codes::ER_M_BIGGER_THAN_D.with(&[&column]));
            }
            decimals = scale as u8;
            length = Some(digits as u32);
        }
        // FLOAT(p) chooses between the two by the bits of precision.
        (Some(bits), None) if written.kind == Written::Float => {
            if bits > 53 {
                return Err(codes::ER_WRONG_FIELD_SPEC.with(&[&column]));
            }
            kind = if bits > 24 {
                TypeKind::Double
            } else {
                TypeKind::Float
            };
        }
        _ => {}
    }
    if written.zerofill {
        zerofill_is_deprecated(types);
    }
    if written.unsigned {
        unsigned_approximate(types);
    }
    let double = SqlType::double();
    Ok(SqlType {
        kind,
        unsigned: written.unsigned || written.zerofill,
        zerofill: written.zerofill,
        length: length.unwrap_or(if kind == TypeKind::Float {
            12
        } else {
            double.length
        }),
        decimals,
        ..double
    })
}

fn varchar(
    column: &str,
    written: &ColumnType,
    collation: CollationId,
    types: &TypeContext<'_>,
) -> Result<SqlType> {
    let bytes_max = u64::from(collation.charset().max_length());
    let length = written.length.unwrap_or(1);
    let longest = ROW_BYTES_MAX / bytes_max;
    if length > longest {
        if types.strict {
            return Err(codes::ER_TOO_BIG_FIELDLENGTH.with(&[&column, &longest]));
        }
        let binary = collation == CollationId::BINARY;
        let (from, to) = if binary {
            ("VARBINARY", "BLOB")
        } else {
            ("VARCHAR", "TEXT")
        };
        let note = codes::ER_AUTO_CONVERT.with(&[&column, &from, &to]);
        types.diagnostics.push(Level::Note, note);
        return Ok(text_of_bytes(length.saturating_mul(bytes_max), collation));
    }
    Ok(SqlType::varchar(
        u32::try_from(length).unwrap_or(u32::MAX),
        collation,
    ))
}

/// TEXT(n) and BLOB(n): the smallest kind that holds n characters.
fn text_of_length(written: &ColumnType, collation: CollationId) -> SqlType {
    match written.length {
        None | Some(0) => SqlType::text(TypeKind::Text, collation),
        Some(characters) => {
            let bytes_max = u64::from(collation.charset().max_length());
            text_of_bytes(characters.saturating_mul(bytes_max), collation)
        }
    }
}

fn text_of_bytes(bytes: u64, collation: CollationId) -> SqlType {
    let kind = match bytes {
        0..=255 => TypeKind::TinyText,
        256..=65_535 => TypeKind::Text,
        65_536..=16_777_215 => TypeKind::MediumText,
        _ => TypeKind::LongText,
    };
    SqlType::text(kind, collation)
}

fn fraction(column: &str, written: &ColumnType) -> Result<u8> {
    match written.length.unwrap_or(0) {
        digits @ 0..=6 => Ok(digits as u8),
        digits => Err(codes::ER_TOO_BIG_PRECISION.with(&[&digits, &column, &6])),
    }
}

fn members(
    column: &str,
    kind: TypeKind,
    written: &ColumnType,
    collation: CollationId,
    types: &TypeContext<'_>,
) -> Result<SqlType> {
    // Trailing blanks of members are removed, unless the members are bytes.
    let trim = |member: &String| match collation {
        CollationId::BINARY => member.clone(),
        _ => member.trim_end_matches(' ').to_owned(),
    };
    let members: Vec<String> = written.members.iter().map(trim).collect();
    let name = if kind == TypeKind::Enum {
        "ENUM"
    } else {
        "SET"
    };
    let mut known = HashSet::with_capacity(members.len());
    for member in &members {
        if kind == TypeKind::Set && member.contains(',') {
            return Err(codes::ER_ILLEGAL_VALUE_FOR_TYPE.with(&[&"set", member]));
        }
        let mut key = Vec::with_capacity(member.len());
        collation.append_equality_key(member.as_bytes(), &mut key);
        if !known.insert(key) {
            let error = codes::ER_DUPLICATED_VALUE_IN_TYPE.with(&[&column, member, &name]);
            if types.strict {
                return Err(error);
            }
            types.diagnostics.warn(error);
        }
    }
    Ok(SqlType::members(kind, members, collation))
}
