//! Parts of geometries: ST_POINTN(line, n), ST_STARTPOINT(line), ST_ENDPOINT(line), ST_GEOMETRYN(collection, n),
//! ST_EXTERIORRING(polygon), ST_INTERIORRINGN(polygon, n); NULL for a geometry of another kind, or without the part.
//! ST_SWAPXY(geometry) exchanges the coordinates.

use arrow_array::ArrayRef;
use mayfly_types::Result;
use mayfly_types::geometry::Geometry;

use super::arguments::{self, Geometries};
use crate::scalar::Row;
use crate::{Binding, Call, Signature, derive};

const fn of_geometry(names: &'static [&'static str], evaluate: crate::scalar::Evaluate) -> Row {
    Row::new(names, 1..=1, signature, evaluate).strict_of_bytes()
}

const fn of_number(names: &'static [&'static str], evaluate: crate::scalar::Evaluate) -> Row {
    Row::new(names, 2..=2, numbered_signature, evaluate).strict_of_bytes()
}

pub(super) const FUNCTIONS: &[Row] = &[
    of_number(&["st_pointn"], point_n),
    of_geometry(&["st_startpoint"], start_point),
    of_geometry(&["st_endpoint"], end_point),
    of_number(&["st_geometryn"], geometry_n),
    of_geometry(&["st_exteriorring"], exterior_ring),
    of_number(&["st_interiorringn"], interior_ring_n),
    of_geometry(&["st_swapxy"], swap),
];

fn signature(binding: &Binding<'_>) -> Result<Signature> {
    arguments::of_geometry(binding, arguments::any_geometry())
}

fn numbered_signature(binding: &Binding<'_>) -> Result<Signature> {
    let number = derive::integer_of(&binding.arguments[1]);
    arguments::of_geometry_and_number(binding, number, arguments::any_geometry())
}

/// A part of every geometry, in its SRID.
fn part(call: &Call<'_>, part: impl Fn(Geometry) -> Option<Geometry>) -> Result<ArrayRef> {
    let values = Geometries::new(call, 0)?;
    arguments::geometries(call, |row| {
        let value = values.get(row)?;
        Ok(value.and_then(|(srid, geometry)| Some((srid, part(geometry)?))))
    })
}

/// The n-th part of every geometry, counted from 1.
fn numbered(
    call: &Call<'_>,
    part: impl Fn(Geometry, usize) -> Option<Geometry>,
) -> Result<ArrayRef> {
    let values = Geometries::new(call, 0)?;
    let numbers = call.any_ints(1)?;
    arguments::geometries(call, |row| {
        let value = values.get(row)?;
        let index = numbers.get(row).and_then(|number| {
            let index = usize::try_from(number).ok()?;
            index.checked_sub(1)
        });
        let found = value.zip(index).and_then(|((srid, geometry), index)| {
            let part = part(geometry, index)?;
            Some((srid, part))
        });
        Ok(found)
    })
}

fn point_n(call: &Call<'_>) -> Result<ArrayRef> {
    numbered(call, |geometry, index| match geometry {
        Geometry::LineString(points) => points.get(index).copied().map(Geometry::Point),
        _ => None,
    })
}

fn start_point(call: &Call<'_>) -> Result<ArrayRef> {
    part(call, |geometry| match geometry {
        Geometry::LineString(points) => points.first().copied().map(Geometry::Point),
        _ => None,
    })
}

fn end_point(call: &Call<'_>) -> Result<ArrayRef> {
    part(call, |geometry| match geometry {
        Geometry::LineString(points) => points.last().copied().map(Geometry::Point),
        _ => None,
    })
}

fn geometry_n(call: &Call<'_>) -> Result<ArrayRef> {
    numbered(call, |geometry, index| match geometry {
        Geometry::Collection(_, elements) => elements.into_iter().nth(index),
        _ => None,
    })
}

fn exterior_ring(call: &Call<'_>) -> Result<ArrayRef> {
    part(call, |geometry| match geometry {
        Geometry::Polygon(rings) => rings.into_iter().next().map(Geometry::LineString),
        _ => None,
    })
}

fn interior_ring_n(call: &Call<'_>) -> Result<ArrayRef> {
    numbered(call, |geometry, index| match geometry {
        Geometry::Polygon(rings) => rings.into_iter().nth(index + 1).map(Geometry::LineString),
        _ => None,
    })
}

fn swap(call: &Call<'_>) -> Result<ArrayRef> {
    part(call, |mut geometry| {
        geometry.swap();
        Some(geometry)
    })
}
