//! Keys over geometry and VECTOR columns: what MySQL refuses, and spatial keys, which are not implemented.

use mayfly_syntax::ast::KeyKind;
use mayfly_types::error::codes;
use mayfly_types::{Result, TypeKind};

use crate::catalog::definition::ColumnDefinition;
use crate::error::refuse;

/// Checks a part of a key of `parts` parts. A key of a geometry column is a spatial one, whatever the statement calls it.
pub(crate) fn check(
    kind: KeyKind,
    parts: usize,
    column: &ColumnDefinition,
    prefix: Option<u64>,
    is_ordered: bool,
) -> Result<()> {
    if column.ty.kind == TypeKind::Vector {
        return Err(codes::ER_NON_SCALAR_USED_AS_KEY.with(&[&column.name]));
    }
    if !column.ty.is_geometry() {
        return refuse(kind == KeyKind::Spatial, || {
            codes::ER_SPATIAL_MUST_HAVE_GEOM_COL.error()
        });
    }
    if kind == KeyKind::FullText {
        return Err(codes::ER_BAD_FT_COLUMN.with(&[&column.name]));
    }
    Err(if prefix.is_some() {
        codes::ER_WRONG_SUB_KEY.error()
    } else if parts > 1 {
        codes::ER_TOO_MANY_KEY_PARTS.with(&[&1])
    } else if matches!(kind, KeyKind::Primary | KeyKind::Unique) {
        codes::ER_SPATIAL_UNIQUE_INDEX.error()
    } else if is_ordered {
        let order = "explicit index order";
        codes::ER_WRONG_USAGE.with(&[&"spatial/fulltext/hash index", &order])
    } else if column.nullable {
        codes::ER_SPATIAL_CANT_HAVE_NULL.error()
    } else {
        codes::ER_NOT_SUPPORTED_YET.with(&[&"SPATIAL INDEX"])
    })
}
