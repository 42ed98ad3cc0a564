//! Storing in geometry and VECTOR columns. Bytes that are no value are an error in every mode, also with IGNORE.

use super::context::StoreContext;
use crate::convert::source::Datum;
use crate::error::{Result, codes};
use crate::geometry::GeometryKind;
use crate::geometry::bytes::{self, Rules};
use crate::sql_type::{SqlType, TypeKind};
use crate::vector;

/// Bytes of an integer, a floating-point number and a DECIMAL, as error 6136 counts them.
const NUMBER_BYTES: usize = 8;
const DECIMAL_BYTES: usize = 64;

/// Whether every value of a type is stored as it is.
pub(super) fn all_fit(from: &SqlType, to: &SqlType) -> bool {
    match (from.kind, to.kind) {
        (TypeKind::Geometry(kind), TypeKind::Geometry(wanted)) => {
            let is_stored = from.srid.is_some() && from.srid == to.srid;
            wanted.includes(kind) && is_stored
        }
        (TypeKind::Vector, TypeKind::Vector) => from.length <= to.length,
        _ => false,
    }
}

/// Stores in a geometry column of a kind.
pub(super) fn geometry(
    out: &mut Vec<u8>,
    datum: Datum<'_>,
    kind: GeometryKind,
    to: &SqlType,
    context: &StoreContext<'_>,
) -> Result<()> {
    let refused = || codes::ER_CANT_CREATE_GEOMETRY_OBJECT.error();
    let Datum::Bytes(value) = datum else {
        return Err(refused());
    };
    let read = bytes::read(value, Rules::STORED);
    let (srid, geometry) = read.map_err(|_| refused())?;
    if !kind.includes(geometry.kind()) {
        return Err(refused());
    }
    match to.srid {
        Some(wanted) if wanted != srid => {
            Err(codes::ER_WRONG_SRID_FOR_COLUMN.with(&[&context.column, &srid, &wanted]))
        }
        _ => {
            out.extend_from_slice(value);
            Ok(())
        }
    }
}

/// Stores in a VECTOR column. A value with too many elements is an error in strict mode, else the empty value.
pub(super) fn vector(
    out: &mut Vec<u8>,
    datum: Datum<'_>,
    from: &SqlType,
    to: &SqlType,
    context: &StoreContext<'_>,
) -> Result<()> {
    let refused = |what: &str, bytes: usize| {
        Err(codes::ER_DATA_INCOMPATIBLE_WITH_VECTOR.with(&[&what, &bytes]))
    };
    let value = match datum {
        Datum::Bytes(value) if from.is_binary_string() => value,
        Datum::Decimal(_) => return refused("numeric", DECIMAL_BYTES),
        _ if from.is_numeric() => return refused("numeric", NUMBER_BYTES),
        _ => {
            let mut text = Vec::new();
            crate::convert::text::append_text(&mut text, datum, from);
            return refused("string", text.len());
        }
    };
    if value.is_empty() || !value.len().is_multiple_of(vector::ELEMENT_BYTES) {
        return refused("string", value.len());
    }
    if !vector::elements(value).all(f32::is_finite) {
        return refused("NAN or INF", value.len());
    }
    if value.len() > to.length as usize {
        return context.reject(|| context.column_error(&codes::ER_DATA_TOO_LONG));
    }
    out.extend_from_slice(value);
    Ok(())
}
