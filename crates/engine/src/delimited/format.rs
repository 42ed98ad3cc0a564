//! Format of a file's fields and lines (the manual, "LOAD DATA Statement", "Field and Line Handling").

use mayfly_syntax::ast::{FieldsOptions, LinesOptions};
use mayfly_types::error::codes;
use mayfly_types::{Result, SqlType, TypeKind};

/// The FIELDS and LINES clauses with their defaults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Format {
    /// FIELDS TERMINATED BY
    pub field_end: Vec<u8>,
    /// ENCLOSED BY
    pub enclosed: Option<u8>,
    /// OPTIONALLY before ENCLOSED BY: only strings are enclosed. Reading ignores it.
    pub optionally_enclosed: bool,
    /// ESCAPED BY
    pub escape: Option<u8>,
    /// LINES STARTING BY
    pub line_start: Vec<u8>,
    /// LINES TERMINATED BY
    pub line_end: Vec<u8>,
}

impl Default for Format {
    fn default() -> Self {
        Self {
            field_end: b"\t".to_vec(),
            enclosed: None,
            optionally_enclosed: false,
            escape: Some(b'\\'),
            line_start: Vec::new(),
            line_end: b"\n".to_vec(),
        }
    }
}

impl Format {
    /// The format of the clauses: 1083 when an enclosing or escape string is not a single character.
    pub fn new(fields: &FieldsOptions, lines: &LinesOptions) -> Result<Self> {
        let or = |text: &Option<String>, default: Vec<u8>| {
            text.as_ref()
                .map_or(default, |text| text.as_bytes().to_vec())
        };
        let single = |text: &Option<String>, default| match text.as_deref().map(str::as_bytes) {
            None => Ok(default),
            Some([]) => Ok(None),
            Some([byte]) => Ok(Some(*byte)),
            Some(_) => Err(codes::ER_WRONG_FIELD_TERMINATORS.error()),
        };
        let default = Self::default();
        Ok(Self {
            field_end: or(&fields.terminated_by, default.field_end),
            enclosed: single(&fields.enclosed_by, default.enclosed)?,
            optionally_enclosed: fields.optionally_enclosed,
            escape: single(&fields.escaped_by, default.escape)?,
            line_start: or(&lines.starting_by, default.line_start),
            line_end: or(&lines.terminated_by, default.line_end),
        })
    }

    /// Whether fields have no separators: each has the width of its column.
    pub(crate) fn is_fixed_width(&self) -> bool {
        self.field_end.is_empty() && self.enclosed.is_none()
    }

    /// The line terminator when reading. Where fields and lines have the same terminator, a line ends with its last
    /// field.
    pub(crate) fn line_end_when_reading(&self) -> &[u8] {
        if self.line_end == self.field_end {
            &[]
        } else {
            &self.line_end
        }
    }
}

/// Width in bytes of a type's values in a fixed-width file; `None` for the TEXT kinds, which have none.
pub(crate) fn fixed_width(ty: &SqlType) -> Option<usize> {
    let characters = ty.length as usize;
    match ty.kind {
        TypeKind::Char | TypeKind::VarChar | TypeKind::Enum | TypeKind::Set => {
            Some(characters * usize::from(ty.collation.charset().max_length()))
        }
        // The default display widths include a sign.
        TypeKind::TinyInt | TypeKind::SmallInt | TypeKind::MediumInt | TypeKind::Int
            if ty.unsigned && ty.length == SqlType::integer(ty.kind).length =>
        {
            Some(characters - 1)
        }
        // A sign and a point.
        TypeKind::Decimal => {
            Some(characters + usize::from(!ty.unsigned) + usize::from(ty.decimals > 0))
        }
        TypeKind::TinyText
        | TypeKind::Text
        | TypeKind::MediumText
        | TypeKind::LongText
        | TypeKind::Json
        | TypeKind::Geometry(_)
        | TypeKind::Vector => None,
        _ => Some(characters),
    }
}
