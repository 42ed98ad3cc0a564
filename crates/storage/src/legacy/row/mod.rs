//! Rows as bytes: fixed-length records, packed rows, keys, and the columns that are made of them.

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

/// How a value of a column is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FieldKind {
    /// In so many bytes, of its least significant ones.
    Number(usize),
    /// Up to so many bytes, or any number.
    Text(Option<usize>),
}

/// A column of a stored row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field {
    pub(super) ty: PhysicalType,
    pub(super) kind: FieldKind,
}

impl Field {
    /// A column's field; with `natural` every value of its physical type fits.
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
