//! From a written column type to the column's type: default lengths, silent changes, and the errors of invalid types
//! (the manual, "CREATE TABLE Statement" and "Silent Column Specification Changes").

use std::collections::HashSet;

use mayfly_syntax::ast::{ColumnType, TypeKind as Written};
use mayfly_types::charset::Charset;
use mayfly_types::error::codes;
use mayfly_types::geometry::systems;
use mayfly_types::sql_type::{DECIMAL_PRECISION_MAX, DECIMAL_SCALE_MAX, DECIMALS_NOT_FIXED};
use mayfly_types::{
    CollationId, Diagnostics, Error, GeometryKind, Level, Result, SqlType, TypeKind, vector,
};

use crate::character_sets;
use crate::error::refuse;
use crate::statement_options::StatementOptions;

/// Maximum bytes of a row, and so of a VARCHAR.
const ROW_BYTES_MAX: u64 = 65_535;

/// Context of a column type's resolution.
pub(crate) struct TypeContext<'a> {
    /// The statement's settings, which decide default collations.
    pub(crate) options: &'a StatementOptions,
    /// The collation of the table.
    pub(crate) table_collation: CollationId,
    /// Strict mode: a VARCHAR that is too long is an error instead of becoming a TEXT.
    pub(crate) strict: bool,
    /// The receiver of notes.
    pub(crate) diagnostics: &'a Diagnostics,
}

/// Collation declared by CHARACTER SET and COLLATE, one after the other: options of a table, a database or a column.
#[derive(Debug)]
pub(crate) struct DeclaredCollation {
    named: Option<CollationId>,
    /// `default_collation_for_utf8mb4`
    utf8mb4: CollationId,
}

impl DeclaredCollation {
    /// No declaration.
    pub(crate) fn new(options: &StatementOptions) -> Self {
        Self {
            named: None,
            utf8mb4: options.plan.utf8mb4_collation,
        }
    }

    /// CHARACTER SET: its default collation, unless another of the same set was declared. 1302 for two sets.
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

    /// COLLATE: 1253 for a collation of another set.
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

    /// The declared collation, if any.
    pub(crate) fn named(&self) -> Option<CollationId> {
        self.named
    }
}

/// The collation of a declared character set and collation; the set's default when only it is declared.
pub(crate) fn resolve_collation(
    options: &StatementOptions,
    charset: Option<&str>,
    collation: Option<&str>,
) -> Result<Option<CollationId>> {
    let mut declared = DeclaredCollation::new(options);
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
        types.options,
        written.charset.as_deref(),
        written.collation.as_deref(),
    )?;
    let mut collation = explicit.unwrap_or(types.table_collation);
    if written.binary && written.collation.is_none() {
        let (old, new) = (
            "BINARY as attribute of a type",
            "a CHARACTER SET clause with _bin collation",
        );
        types.warn(codes::ER_WARN_DEPRECATED_SYNTAX.with(&[&old, &new]));
        collation = collation.charset().row().binary_collation;
    }
    let is_explicit = explicit.is_some() || written.binary;
    if written
        .length
        .is_some_and(|length| length > u64::from(u32::MAX))
    {
        return Err(codes::ER_TOO_BIG_DISPLAYWIDTH.with(&[&column, &u32::MAX]));
    }
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
            refuse(bits == 0, || codes::ER_INVALID_FIELD_SIZE.with(&[&column]))?;
            SqlType::bit(u32::try_from(bits).unwrap_or(64))
        }
        Written::Char => char(column, written, collation)?,
        Written::Binary => char(column, written, CollationId::BINARY)?,
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
        Written::Geometry => SqlType::geometry(GeometryKind::Any),
        Written::Point => SqlType::geometry(GeometryKind::Point),
        Written::LineString => SqlType::geometry(GeometryKind::LineString),
        Written::Polygon => SqlType::geometry(GeometryKind::Polygon),
        Written::MultiPoint => SqlType::geometry(GeometryKind::MultiPoint),
        Written::MultiLineString => SqlType::geometry(GeometryKind::MultiLineString),
        Written::MultiPolygon => SqlType::geometry(GeometryKind::MultiPolygon),
        Written::GeometryCollection => SqlType::geometry(GeometryKind::Collection),
        Written::Vector => vector_type(column, written)?,
    };
    let has_collation = ty.is_string() || matches!(ty.kind, TypeKind::Enum | TypeKind::Set);
    let shown = is_explicit && has_collation && ty.collation != CollationId::BINARY;
    Ok((ty, shown))
}

impl TypeContext<'_> {
    fn warn(&self, warning: Error) {
        self.diagnostics.warn(warning);
    }

    fn warn_deprecated(&self, what: &str) {
        self.warn(codes::ER_WARN_DEPRECATED_SYNTAX_NO_REPLACEMENT.with(&[&what]));
    }

    /// Warns of attributes deprecated for non-integer numbers.
    fn warn_of_attributes(&self, written: &ColumnType) {
        if written.zerofill {
            self.warn(codes::ER_WARN_DEPRECATED_ZEROFILL.error());
        }
        if written.unsigned {
            self.warn(codes::ER_WARN_DEPRECATED_UNSIGNED.error());
        }
    }
}

/// Checks that the scale does not exceed the precision.
fn check_scale(column: &str, scale: u64) -> Result<()> {
    refuse(scale > u64::from(DECIMAL_SCALE_MAX), || {
        codes::ER_TOO_BIG_SCALE.with(&[&scale, &column, &DECIMAL_SCALE_MAX])
    })
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
    // Unsigned integers need no width for the sign; BIGINT's width of 20 is also its unsigned one.
    if ty.unsigned && kind != TypeKind::BigInt {
        ty.length -= 1;
    }
    if let Some(width) = written.length {
        let is_bool = kind == TypeKind::TinyInt && width == 1 && !ty.unsigned;
        if !is_bool {
            types.warn_deprecated("Integer display width");
        }
        if width > 255 {
            return Err(codes::ER_TOO_BIG_DISPLAYWIDTH.with(&[&column, &255]));
        }
        // Widths other than BOOL's are dropped unless ZEROFILL makes them visible.
        if is_bool || (written.zerofill && width > 0) {
            ty.length = u32::try_from(width).unwrap_or(255);
        }
    }
    if written.zerofill {
        types.warn(codes::ER_WARN_DEPRECATED_ZEROFILL.error());
    }
    Ok(ty)
}

fn decimal(column: &str, written: &ColumnType, types: &TypeContext<'_>) -> Result<SqlType> {
    let precision = match written.length {
        None | Some(0) => 10,
        Some(precision) => precision,
    };
    let scale = written.scale.unwrap_or(0);
    check_scale(column, scale)?;
    if precision > u64::from(DECIMAL_PRECISION_MAX) {
        let too_big = codes::ER_TOO_BIG_PRECISION;
        return Err(too_big.with(&[&precision, &column, &DECIMAL_PRECISION_MAX]));
    }
    if scale > precision {
        return Err(codes::ER_M_BIGGER_THAN_D.with(&[&column]));
    }
    types.warn_of_attributes(written);
    let mut ty = SqlType::decimal(precision as u8, scale as u8);
    ty.unsigned = written.unsigned || written.zerofill;
    ty.zerofill = written.zerofill;
    Ok(ty)
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
            types.warn_deprecated("Specifying number of digits for floating point data types");
            check_scale(column, scale)?;
            if digits > 255 {
                return Err(codes::ER_TOO_BIG_DISPLAYWIDTH.with(&[&column, &255]));
            }
            if scale > digits {
                return Err(codes::ER_M_BIGGER_THAN_D.with(&[&column]));
            }
            decimals = scale as u8;
            length = Some(digits as u32);
        }
        // FLOAT(p) becomes FLOAT or DOUBLE by the bits of precision.
        (Some(bits), None) if written.kind == Written::Float => {
            refuse(bits > 53, || codes::ER_WRONG_FIELD_SPEC.with(&[&column]))?;
            if bits > 24 {
                kind = TypeKind::Double;
            }
        }
        _ => {}
    }
    types.warn_of_attributes(written);
    let double = SqlType::double();
    let usual = match kind {
        TypeKind::Float => 12,
        _ => double.length,
    };
    Ok(SqlType {
        kind,
        unsigned: written.unsigned || written.zerofill,
        zerofill: written.zerofill,
        length: length.unwrap_or(usual),
        decimals,
        ..double
    })
}

fn char(column: &str, written: &ColumnType, collation: CollationId) -> Result<SqlType> {
    match written.length.unwrap_or(1) {
        length @ 0..=255 => Ok(SqlType::char(length as u32, collation)),
        _ => Err(codes::ER_TOO_BIG_FIELDLENGTH.with(&[&column, &255])),
    }
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
        let (from, to) = match collation {
            CollationId::BINARY => ("VARBINARY", "BLOB"),
            _ => ("VARCHAR", "TEXT"),
        };
        let note = codes::ER_AUTO_CONVERT.with(&[&column, &from, &to]);
        types.diagnostics.push(Level::Note, note);
        return Ok(text_of_bytes(length.saturating_mul(bytes_max), collation));
    }
    // No more than a row has bytes.
    Ok(SqlType::varchar(length as u32, collation))
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

/// The SRID that a column's attribute names.
pub(crate) fn srid(ty: &SqlType, written: u64) -> Result<u32> {
    let srid = u32::try_from(written)
        .map_err(|_| codes::ER_DATA_OUT_OF_RANGE.with(&[&"SRID", &"SRID"]))?;
    refuse(!ty.is_geometry(), || {
        codes::ER_WRONG_USAGE.with(&[&"SRID", &"non-geometry column"])
    })?;
    refuse(systems::system(srid).is_none(), || {
        codes::ER_SRS_NOT_FOUND.with(&[&srid])
    })?;
    Ok(srid)
}

fn vector_type(column: &str, written: &ColumnType) -> Result<SqlType> {
    let default = u64::from(vector::DIMENSIONS_DEFAULT);
    let dimensions = written.length.unwrap_or(default);
    let bytes = |dimensions: u64| dimensions * vector::ELEMENT_BYTES as u64;
    match u32::try_from(dimensions) {
        Ok(dimensions) if dimensions <= vector::DIMENSIONS_MAX => Ok(SqlType::vector(dimensions)),
        _ => {
            let most = u64::from(vector::DIMENSIONS_MAX);
            let exceeds = codes::ER_EXCEEDS_VECTOR_MAX_DIMENSIONS;
            Err(exceeds.with(&[
                &bytes(dimensions),
                &dimensions,
                &bytes(most),
                &most,
                &column,
            ]))
        }
    }
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
    // Trailing spaces of members are removed, unless the members are binary.
    let trim = |member: &String| match collation {
        CollationId::BINARY => member.clone(),
        _ => member.trim_end_matches(' ').to_owned(),
    };
    let members: Vec<String> = written.members.iter().map(trim).collect();
    let is_set = kind == TypeKind::Set;
    let name = if is_set { "SET" } else { "ENUM" };
    let mut known = HashSet::with_capacity(members.len());
    for member in &members {
        if is_set && member.contains(',') {
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
