//! Row formats: fixed-length records, packed rows, keys, and columns built from rows.

mod columns;
mod fixed;
mod key;
mod number;
mod packed;

use mayfly_types::PhysicalType;

pub(super) use columns::RowSink;
pub(super) use fixed::FixedLayout;
pub(super) use key::KeyImages;
pub(super) use packed::{External, PackedLayout, PackedValue};

use super::spec::{DeclaredForm, LegacyColumn};

/// Storage format of a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FieldKind {
    /// A number, in this many of its least significant bytes.
    Number(usize),
    /// A string of up to this many bytes; `None`: of any length.
    Text(Option<usize>),
}

/// Column of a stored row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field {
    pub(super) ty: PhysicalType,
    pub(super) kind: FieldKind,
}

impl Field {
    /// The field for a column; with `natural` every value of its physical type fits.
    pub(super) fn new(column: &LegacyColumn, natural: bool) -> Self {
        let ty = column.ty;
        let bytes = match column.form {
            DeclaredForm::Fixed { bytes } => Some(bytes as usize),
            DeclaredForm::Varying {
                characters,
                bytes_per_character,
            } => Some(characters as usize * usize::from(bytes_per_character)),
            DeclaredForm::Blob => None,
        };
        let width = number::natural_width(ty);
        let kind = if ty == PhysicalType::Bytes {
            FieldKind::Text(bytes.filter(|_| !natural))
        } else if natural || ty == PhysicalType::Float64 {
            FieldKind::Number(width)
        } else {
            FieldKind::Number(bytes.unwrap_or(width).clamp(1, width))
        };
        Self { ty, kind }
    }
}
