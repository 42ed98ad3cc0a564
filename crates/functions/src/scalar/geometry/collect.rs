//! Geometries from their parts: POINT(x, y), LINESTRING(point, …), POLYGON(line, …), MULTIPOINT(point, …),
//! MULTILINESTRING(line, …), MULTIPOLYGON(polygon, …), GEOMETRYCOLLECTION(geometry, …). All are in SRID 0.

use arrow_array::ArrayRef;
use mayfly_types::error::codes;
use mayfly_types::geometry::bytes::Rules;
use mayfly_types::geometry::{Geometry, GeometryError, GeometryKind, Position};
use mayfly_types::{Error, Result, SqlType};

use super::arguments::{self, Geometries, invalid};
use crate::scalar::Row;
use crate::scalar::facts::{Fact, ParameterType, Parameters};
use crate::{Binding, Call, Signature, derive};

/// The fewest points of a line and of a ring.
const LINE_POINTS: usize = 2;
const RING_POINTS: usize = 4;

/// A function of any number of geometries.
const fn of_elements(names: &'static [&'static str], fewest: usize) -> Row {
    Row::new(names, fewest..=usize::MAX, signature, collected)
        .with(&[Fact::Strict, Fact::CollectsGeometries])
        .parameters(Parameters::Typed(&[(ParameterType::Bytes, 0..usize::MAX)]))
}

pub(super) const FUNCTIONS: &[Row] = &[
    Row::new(&["point"], 2..=2, point_signature, point)
        .with(&[Fact::Strict])
        .parameters(Parameters::Typed(&[(ParameterType::Double, 0..2)])),
    of_elements(&["linestring"], 1),
    of_elements(&["polygon"], 1),
    of_elements(&["multipoint"], 1),
    of_elements(&["multilinestring"], 1),
    of_elements(&["multipolygon"], 1),
    of_elements(&["geometrycollection", "geomcollection"], 0),
];

fn point_signature(binding: &Binding<'_>) -> Result<Signature> {
    if binding.arguments.iter().any(|it| it.ty.is_geometry()) {
        return Err(codes::ER_WRONG_ARGUMENTS.with(&[&binding.name]));
    }
    let types = vec![SqlType::double(); 2];
    let result = SqlType::geometry(GeometryKind::Point);
    Ok(Signature::new(types, result, true))
}

fn point(call: &Call<'_>) -> Result<ArrayRef> {
    let (xs, ys) = (call.floats(0)?, call.floats(1)?);
    arguments::geometries(call, |row| {
        let position = xs.get(row).zip(ys.get(row));
        Ok(position.map(|(x, y)| (0, Geometry::Point(Position { x, y }))))
    })
}

fn signature(binding: &Binding<'_>) -> Result<Signature> {
    let types = binding.each(|argument| derive::text_of(argument, binding.session));
    Ok(Signature::new(types, arguments::any_geometry(), true))
}

fn collected(call: &Call<'_>) -> Result<ArrayRef> {
    let columns = (0..call.arguments.len()).map(|index| Geometries::new(call, index));
    let columns = columns.collect::<Result<Vec<_>>>()?;
    arguments::geometries(call, |row| {
        let mut elements = Vec::with_capacity(columns.len());
        for column in &columns {
            match column.read(row, Rules::STRUCTURE)? {
                Some((_, element)) => elements.push(element),
                None => return Ok(None),
            }
        }
        let geometry = collect(call.name, elements)?;
        Ok(Some((0, geometry)))
    })
}

/// The geometry of a function from its elements.
fn collect(function: &str, elements: Vec<Geometry>) -> Result<Geometry> {
    let wrong_kind = || codes::ER_WRONG_ARGUMENTS.with(&[&function]);
    let too_few = || invalid(GeometryError::Invalid, function);
    let of_kind = |kind: GeometryKind, elements: Vec<Geometry>| -> Result<Geometry, Error> {
        let element = kind.element().unwrap_or(GeometryKind::Any);
        let is_wrong = |it: &Geometry| element != GeometryKind::Any && it.kind() != element;
        match elements.iter().any(is_wrong) {
            true => Err(wrong_kind()),
            false => Ok(Geometry::Collection(kind, elements)),
        }
    };
    Ok(match function {
        "linestring" => {
            let points = elements.into_iter().map(|element| match element {
                Geometry::Point(point) => Ok(point),
                _ => Err(wrong_kind()),
            });
            let points = points.collect::<Result<Vec<_>>>()?;
            if points.len() < LINE_POINTS {
                return Err(too_few());
            }
            Geometry::LineString(points)
        }
        "polygon" => {
            let rings = elements.into_iter().map(|element| match element {
                Geometry::LineString(points) => Ok(points),
                _ => Err(wrong_kind()),
            });
            let rings = rings.collect::<Result<Vec<_>>>()?;
            let is_ring =
                |ring: &Vec<Position>| ring.len() >= RING_POINTS && ring.first() == ring.last();
            if !rings.iter().all(is_ring) {
                return Err(too_few());
            }
            Geometry::Polygon(rings)
        }
        "multipoint" => of_kind(GeometryKind::MultiPoint, elements)?,
        "multilinestring" => of_kind(GeometryKind::MultiLineString, elements)?,
        "multipolygon" => of_kind(GeometryKind::MultiPolygon, elements)?,
        _ => of_kind(GeometryKind::Collection, elements)?,
    })
}
