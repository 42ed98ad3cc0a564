//! CAST(geometry AS kind): the manual, "Cast Functions and Operators", "Conversion of Geometries". The rows have names that
//! no call can have; the planner calls them.
//!
//! Exterior rings of results run counterclockwise, others clockwise. A line becomes a ring if it runs so.

use arrow_array::ArrayRef;
use mayfly_types::error::codes;
use mayfly_types::geometry::{Geometry, GeometryKind, Position};
use mayfly_types::{Error, Result, SqlType};

use super::arguments::{self, Geometries};
use crate::scalar::Row;
use crate::{Binding, Call, Signature};

/// The fewest points of a ring.
const RING_POINTS: usize = 4;

const fn to_kind(names: &'static [&'static str]) -> Row {
    Row::new(names, 1..=1, signature, cast).strict_of_bytes()
}

pub(super) const FUNCTIONS: &[Row] = &[
    to_kind(&["cast as point"]),
    to_kind(&["cast as linestring"]),
    to_kind(&["cast as polygon"]),
    to_kind(&["cast as multipoint"]),
    to_kind(&["cast as multilinestring"]),
    to_kind(&["cast as multipolygon"]),
    to_kind(&["cast as geometrycollection"]),
];

/// The kind that a row's name ends with.
fn kind_of(name: &str) -> GeometryKind {
    match name.rsplit(' ').next() {
        Some("point") => GeometryKind::Point,
        Some("linestring") => GeometryKind::LineString,
        Some("polygon") => GeometryKind::Polygon,
        Some("multipoint") => GeometryKind::MultiPoint,
        Some("multilinestring") => GeometryKind::MultiLineString,
        Some("multipolygon") => GeometryKind::MultiPolygon,
        _ => GeometryKind::Collection,
    }
}

fn signature(binding: &Binding<'_>) -> Result<Signature> {
    arguments::of_geometry(binding, SqlType::geometry(kind_of(binding.name)))
}

fn cast(call: &Call<'_>) -> Result<ArrayRef> {
    let kind = kind_of(call.name);
    let name = call.name.replace(' ', "_");
    let values = Geometries::named(call, 0, &name)?;
    arguments::geometries(call, |row| {
        let Some(((srid, geometry), _)) = values.computed(row)? else {
            return Ok(None);
        };
        let geometry = directed(geometry);
        let from = geometry.kind();
        let result = converted(geometry, kind).map_err(|refused| refused.error(from, kind))?;
        Ok(Some((srid, result)))
    })
}

/// Why a geometry has no counterpart of a kind.
enum Refused {
    /// Error 4032.
    Kind,
    /// Error 4032 or 4033 of an element of this kind.
    Element(GeometryKind, Box<Refused>),
    /// Error 4033: a line runs in the wrong direction.
    Direction,
}

impl Refused {
    fn error(self, from: GeometryKind, to: GeometryKind) -> Error {
        match self {
            Self::Kind => codes::ER_INVALID_CAST.with(&[&from.name(), &to.name()]),
            Self::Element(kind, why) => why.error(kind, to),
            Self::Direction => {
                codes::ER_INVALID_CAST_POLYGON_RING_DIRECTION.with(&[&from.name(), &to.name()])
            }
        }
    }
}

/// Twice the area within a ring, negative if it runs clockwise.
fn area(ring: &[Position]) -> f64 {
    let pairs = ring.windows(2);
    pairs.map(|it| it[0].x * it[1].y - it[1].x * it[0].y).sum()
}

fn is_counterclockwise(ring: &[Position]) -> bool {
    area(ring) > 0.0
}

/// A geometry whose polygons have their exterior rings counterclockwise and the others clockwise.
fn directed(geometry: Geometry) -> Geometry {
    match geometry {
        Geometry::Polygon(mut rings) => {
            for (position, ring) in rings.iter_mut().enumerate() {
                if is_counterclockwise(ring) != (position == 0) {
                    ring.reverse();
                }
            }
            Geometry::Polygon(rings)
        }
        Geometry::Collection(kind, elements) => {
            Geometry::Collection(kind, elements.into_iter().map(directed).collect())
        }
        other => other,
    }
}

/// The only element.
fn only(elements: Vec<Geometry>) -> Result<Geometry, Refused> {
    let mut elements = elements.into_iter();
    match (elements.next(), elements.next()) {
        (Some(only), None) => Ok(only),
        _ => Err(Refused::Kind),
    }
}

/// A line as a ring of a polygon.
fn ring(points: Vec<Position>, is_exterior: bool) -> Result<Vec<Position>, Refused> {
    if points.len() < RING_POINTS || points.first() != points.last() {
        return Err(Refused::Kind);
    }
    match is_counterclockwise(&points) == is_exterior {
        true => Ok(points),
        false => Err(Refused::Direction),
    }
}

fn of_line(error: Refused) -> Refused {
    Refused::Element(GeometryKind::LineString, Box::new(error))
}

fn lines(rings: Vec<Vec<Position>>) -> Vec<Geometry> {
    rings.into_iter().map(Geometry::LineString).collect()
}

/// Elements that all are of a kind.
fn all_of(kind: GeometryKind, elements: Vec<Geometry>) -> Result<Vec<Geometry>, Refused> {
    match !elements.is_empty() && elements.iter().all(|it| it.kind() == kind) {
        true => Ok(elements),
        false => Err(Refused::Kind),
    }
}

fn converted(geometry: Geometry, to: GeometryKind) -> Result<Geometry, Refused> {
    use Geometry::{Collection, LineString, Point, Polygon};
    use GeometryKind as Kind;
    if geometry.kind() == to {
        return Ok(geometry);
    }
    Ok(match (to, geometry) {
        (Kind::Point | Kind::LineString | Kind::Polygon, Collection(kind, elements))
            if kind == Kind::Collection || kind.element() == Some(to) =>
        {
            let element = only(elements)?;
            match element.kind() == to {
                true => element,
                false => return Err(Refused::Kind),
            }
        }
        (Kind::LineString, Polygon(rings)) => only(lines(rings))?,
        (Kind::LineString, Collection(Kind::MultiPoint, points)) if points.len() > 1 => {
            let points = points.into_iter().filter_map(|element| match element {
                Point(point) => Some(point),
                _ => None,
            });
            LineString(points.collect())
        }
        (Kind::Polygon, LineString(points)) => Polygon(vec![ring(points, true)?]),
        (Kind::Polygon, Collection(Kind::MultiLineString, elements)) => {
            let rings = elements
                .into_iter()
                .enumerate()
                .map(|(position, line)| match line {
                    LineString(points) => ring(points, position == 0).map_err(of_line),
                    _ => Err(Refused::Kind),
                });
            Polygon(rings.collect::<Result<_, _>>()?)
        }
        (Kind::MultiPoint, LineString(points)) => {
            Collection(to, points.into_iter().map(Point).collect())
        }
        (Kind::MultiLineString, Polygon(rings)) => Collection(to, lines(rings)),
        (Kind::MultiLineString, Collection(Kind::MultiPolygon, polygons)) => {
            let rings = polygons.into_iter().flat_map(|polygon| match polygon {
                Polygon(rings) => lines(rings),
                _ => Vec::new(),
            });
            Collection(to, rings.collect())
        }
        (Kind::MultiPolygon, Collection(Kind::MultiLineString, elements)) => {
            let polygons = elements.into_iter().map(|line| match line {
                LineString(points) => ring(points, true).map(|ring| Polygon(vec![ring])),
                _ => Err(Refused::Kind),
            });
            Collection(to, polygons.collect::<Result<_, _>>()?)
        }
        (Kind::MultiPoint | Kind::MultiLineString | Kind::MultiPolygon, geometry)
            if to.element() == Some(geometry.kind()) =>
        {
            Collection(to, vec![geometry])
        }
        (
            Kind::MultiPoint | Kind::MultiLineString | Kind::MultiPolygon,
            Collection(Kind::Collection, elements),
        ) => {
            let element = to.element().ok_or(Refused::Kind)?;
            Collection(to, all_of(element, elements)?)
        }
        (Kind::Collection, Collection(_, elements)) => Collection(to, elements),
        (Kind::Collection, geometry) => Collection(to, vec![geometry]),
        _ => return Err(Refused::Kind),
    })
}
