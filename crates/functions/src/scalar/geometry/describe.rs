//! Facts about geometries: ST_GEOMETRYTYPE, ST_DIMENSION, ST_ISEMPTY, ST_ISVALID, ST_ISCLOSED, ST_NUMPOINTS,
//! ST_NUMGEOMETRIES, ST_NUMINTERIORRINGS.

use arrow_array::ArrayRef;
use mayfly_types::geometry::{Geometry, GeometryKind, validity};
use mayfly_types::{Result, SqlType};

use super::arguments::{self, Geometries};
use crate::scalar::Row;
use crate::{Binding, Call, Signature, derive, output};

/// Characters of a name and of a number.
const NAME_CHARACTERS: u64 = 15;
const NUMBER_WIDTH: u32 = 10;

pub(super) const FUNCTIONS: &[Row] = &[
    Row::new(&["st_geometrytype"], 1..=1, name_signature, geometry_type)
        .strict_of_bytes()
        .distinct_values(7),
    Row::new(&["st_dimension"], 1..=1, number_signature, dimension).strict_of_bytes(),
    Row::new(&["st_isempty"], 1..=1, truth_signature, is_empty).strict_of_bytes(),
    Row::new(&["st_isvalid"], 1..=1, validity_signature, is_valid).strict_of_bytes(),
    Row::new(&["st_isclosed"], 1..=1, truth_signature, is_closed).strict_of_bytes(),
    Row::new(&["st_numpoints"], 1..=1, number_signature, points).strict_of_bytes(),
    Row::new(&["st_numgeometries"], 1..=1, number_signature, geometries).strict_of_bytes(),
    Row::new(
        &["st_numinteriorrings", "st_numinteriorring"],
        1..=1,
        number_signature,
        interior_rings,
    )
    .strict_of_bytes(),
];

fn name_signature(binding: &Binding<'_>) -> Result<Signature> {
    arguments::of_geometry(binding, binding.string(NAME_CHARACTERS))
}

fn number_signature(binding: &Binding<'_>) -> Result<Signature> {
    arguments::of_geometry(binding, number())
}

fn truth_signature(binding: &Binding<'_>) -> Result<Signature> {
    arguments::of_geometry(binding, derive::int_of_width(1))
}

fn validity_signature(binding: &Binding<'_>) -> Result<Signature> {
    let signature = truth_signature(binding)?;
    Ok(Signature {
        nullable: binding.any_nullable(),
        ..signature
    })
}

/// The type of counts and SRIDs.
pub(super) fn number() -> SqlType {
    derive::int_of_width(NUMBER_WIDTH)
}

/// An integer for every geometry, or NULL.
fn counted(call: &Call<'_>, count: impl Fn(&Geometry) -> Option<usize>) -> Result<ArrayRef> {
    let values = Geometries::new(call, 0)?;
    output::ints(call.rows, |row| {
        let value = values.get(row)?;
        let count = value.and_then(|(_, geometry)| count(&geometry));
        Ok(count.map(|count| i64::try_from(count).unwrap_or(i64::MAX)))
    })
}

fn geometry_type(call: &Call<'_>) -> Result<ArrayRef> {
    let values = Geometries::new(call, 0)?;
    output::texts(call, |row, out| {
        let value = values.get(row)?;
        if let Some((_, geometry)) = &value {
            out.extend_from_slice(geometry.kind().name().as_bytes());
        }
        Ok(value.is_some())
    })
}

fn dimension(call: &Call<'_>) -> Result<ArrayRef> {
    counted(call, |geometry| geometry.dimension().map(usize::from))
}

fn is_empty(call: &Call<'_>) -> Result<ArrayRef> {
    counted(call, |geometry| Some(usize::from(geometry.is_empty())))
}

fn is_valid(call: &Call<'_>) -> Result<ArrayRef> {
    let values = Geometries::new(call, 0)?;
    output::ints(call.rows, |row| {
        let Some(((_, geometry), _)) = values.computed(row)? else {
            return Ok(None);
        };
        let valid = validity::is_valid(&geometry, &mut || call.context.interrupt.check())?;
        Ok(Some(i64::from(valid)))
    })
}

fn is_closed(call: &Call<'_>) -> Result<ArrayRef> {
    let is_line_closed = |geometry: &Geometry| match geometry {
        Geometry::LineString(points) => points.first() == points.last(),
        _ => false,
    };
    counted(call, |geometry| match geometry {
        Geometry::LineString(_) => Some(usize::from(is_line_closed(geometry))),
        Geometry::Collection(GeometryKind::MultiLineString, lines) => {
            Some(usize::from(lines.iter().all(is_line_closed)))
        }
        _ => None,
    })
}

fn points(call: &Call<'_>) -> Result<ArrayRef> {
    counted(call, |geometry| match geometry {
        Geometry::LineString(points) => Some(points.len()),
        _ => None,
    })
}

fn geometries(call: &Call<'_>) -> Result<ArrayRef> {
    counted(call, |geometry| match geometry {
        Geometry::Collection(_, elements) => Some(elements.len()),
        _ => None,
    })
}

fn interior_rings(call: &Call<'_>) -> Result<ArrayRef> {
    counted(call, |geometry| match geometry {
        Geometry::Polygon(rings) => Some(rings.len().saturating_sub(1)),
        _ => None,
    })
}
