//! Tests of geometries: round trips, and bytes and texts that are none.

use std::convert::Infallible;

use proptest::prelude::*;

use super::bytes::{self, Rules};
use super::geojson::{self, Format, FurtherDimensions};
use super::systems::{self, AngularUnit, SpatialReferenceSystem};
use super::*;

fn parsed(text: &str) -> Geometry {
    text::parse(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error:?}"))
}

fn printed(geometry: &Geometry) -> String {
    let mut out = Vec::new();
    text::append(&mut out, geometry);
    String::from_utf8(out).unwrap()
}

fn validity(text: &str) -> bool {
    let Ok(valid) = validity::is_valid(&parsed(text), &mut || Ok::<(), Infallible>(()));
    valid
}

fn positions() -> impl Strategy<Value = Position> {
    let number = || {
        prop_oneof![
            (-1000_i32..1000).prop_map(f64::from),
            proptest::num::f64::NORMAL
        ]
    };
    (number(), number()).prop_map(|(x, y)| Position { x, y })
}

fn lines() -> impl Strategy<Value = Vec<Position>> {
    proptest::collection::vec(positions(), 2..6)
}

fn polygons() -> impl Strategy<Value = Geometry> {
    let ring = proptest::collection::vec(positions(), 3..6).prop_map(|mut points| {
        points.push(points[0]);
        points
    });
    proptest::collection::vec(ring, 1..3).prop_map(Geometry::Polygon)
}

fn geometries() -> impl Strategy<Value = Geometry> {
    let of = |kind: GeometryKind, element: BoxedStrategy<Geometry>| {
        let elements = proptest::collection::vec(element, 1..4);
        elements.prop_map(move |elements| Geometry::Collection(kind, elements))
    };
    let point = || positions().prop_map(Geometry::Point);
    let line = || lines().prop_map(Geometry::LineString);
    let leaf = prop_oneof![
        point(),
        line(),
        polygons(),
        of(GeometryKind::MultiPoint, point().boxed()),
        of(GeometryKind::MultiLineString, line().boxed()),
        of(GeometryKind::MultiPolygon, polygons().boxed()),
    ];
    leaf.prop_recursive(3, 20, 4, |element| {
        proptest::collection::vec(element, 0..4)
            .prop_map(|elements| Geometry::Collection(GeometryKind::Collection, elements))
    })
}

/// A change of one byte, or the loss of the end.
fn mutated(mut bytes: Vec<u8>, at: prop::sample::Index, with: u8, cut: bool) -> Vec<u8> {
    let at = at.index(bytes.len());
    if cut {
        bytes.truncate(at);
    } else {
        bytes[at] = with;
    }
    bytes
}

proptest! {
    #[test]
    fn a_printed_geometry_reads_back(geometry in geometries(), srid: u32) {
        prop_assert_eq!(&parsed(&printed(&geometry)), &geometry);
        let value = bytes::value_of(srid, &geometry);
        for rules in [Rules::STRUCTURE, Rules::STORED, Rules::COMPUTED] {
            prop_assert_eq!(bytes::read(&value, rules), Ok((srid, geometry.clone())));
        }
        prop_assert_eq!(bytes::read_wkb(&value[4..], Rules::WKB), Ok(geometry.clone()));
        let document = geojson::to_json(srid, &geometry, Format::default());
        let read = geojson::parse(&document, "f", FurtherDimensions::Refused).unwrap();
        prop_assert_eq!(read.geometry, Some(geometry));
    }

    #[test]
    fn mutated_bytes_are_read_without_panic(
        geometry in geometries(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), any::<bool>()), 1..4),
    ) {
        let mut value = bytes::value_of(0, &geometry);
        for (at, with, cut) in changes {
            if !value.is_empty() {
                value = mutated(value, at, with, cut);
            }
        }
        for rules in [Rules::STRUCTURE, Rules::STORED, Rules::COMPUTED, Rules::WKB] {
            // What is read is written as it was, but for the order of bytes.
            if let Ok((srid, read)) = bytes::read(&value, rules)
                && value.get(4) == Some(&1)
            {
                prop_assert_eq!(&bytes::value_of(srid, &read), &value);
            }
        }
        let _ = bytes::read_wkb(&value, Rules::WKB);
    }

    #[test]
    fn mutated_texts_are_read_without_panic(
        geometry in geometries(), at: prop::sample::Index, with: u8, cut: bool,
    ) {
        let text = mutated(printed(&geometry).into_bytes(), at, with, cut);
        let _ = text::parse(&text);
    }

    #[test]
    fn validity_does_not_depend_on_where_rings_begin(
        ring in proptest::collection::vec((-4_i32..4, -4_i32..4), 3..7), turn in 0_usize..6,
    ) {
        let ring: Vec<Position> = ring
            .into_iter()
            .map(|(x, y)| Position { x: x.into(), y: y.into() })
            .collect();
        let closed = |mut points: Vec<Position>| {
            points.push(points[0]);
            Geometry::Polygon(vec![points])
        };
        let test = |geometry: &Geometry| {
            let Ok(valid) = validity::is_valid(geometry, &mut || Ok::<(), Infallible>(()));
            valid
        };
        let mut other = ring.clone();
        other.rotate_left(turn % ring.len());
        let valid = test(&closed(ring));
        prop_assert_eq!(test(&closed(other.clone())), valid);
        other.reverse();
        prop_assert_eq!(test(&closed(other)), valid);
    }
}

#[test]
fn big_endian_wkb_is_read_and_values_are_little_endian() {
    let mut wkb = vec![0, 0, 0, 0, 1];
    wkb.extend_from_slice(&1f64.to_be_bytes());
    wkb.extend_from_slice(&2f64.to_be_bytes());
    let point = Geometry::Point(Position { x: 1.0, y: 2.0 });
    assert_eq!(bytes::read_wkb(&wkb, Rules::WKB), Ok(point));
    assert_eq!(
        bytes::read_wkb(&wkb, Rules::STORED),
        Err(GeometryError::BigEndian)
    );
}

#[test]
fn collections_have_a_greatest_depth() {
    let nested = |depth: usize| {
        let text = "GEOMETRYCOLLECTION(".repeat(depth) + "POINT(1 1)" + &")".repeat(depth);
        text::parse(text.as_bytes())
    };
    let deepest = nested(DEPTH_MAX).unwrap();
    let value = bytes::value_of(0, &deepest);
    assert_eq!(bytes::read(&value, Rules::STORED), Ok((0, deepest)));
    assert_eq!(nested(DEPTH_MAX + 1), Err(GeometryError::Invalid));
    assert_eq!(nested(100_000), Err(GeometryError::Invalid));
    let mut wkb = Vec::new();
    for _ in 0..100_000 {
        wkb.extend_from_slice(&[1, 7, 0, 0, 0, 1, 0, 0, 0]);
    }
    assert_eq!(
        bytes::read_wkb(&wkb, Rules::WKB),
        Err(GeometryError::Invalid)
    );
}

#[test]
fn systems_are_known_by_their_srid() {
    let geographic = |latitude_first, unit| {
        Some(SpatialReferenceSystem::Geographic {
            latitude_first,
            unit,
        })
    };
    assert_eq!(systems::system(0), Some(SpatialReferenceSystem::Plane));
    assert_eq!(systems::system(3857), Some(SpatialReferenceSystem::Plane));
    assert_eq!(systems::system(4326), geographic(true, AngularUnit::Degree));
    assert_eq!(systems::system(4807), geographic(true, AngularUnit::Grad));
    assert_eq!(
        systems::system(7035),
        geographic(false, AngularUnit::Degree)
    );
    for unknown in [1, 999_999, u32::MAX] {
        assert_eq!(systems::system(unknown), None);
    }
}

#[test]
fn polygons_are_valid_as_in_the_specification() {
    for (text, valid) in [
        ("LINESTRING(0 0,0 0)", false),
        ("LINESTRING(0 0,1 1,0 0)", true),
        ("POLYGON((0 0,0 1,1 1,1 0,0 0))", true),
        ("POLYGON((0 0,1 1,1 0,0 1,0 0))", false),
        ("POLYGON((0 0,0 0,0 0,0 0))", false),
        ("POLYGON((0 0,4 0,4 0,4 4,0 0))", true),
        // A spike.
        ("POLYGON((0 0,4 0,4 4,4 6,4 4,0 4,0 0))", false),
        // A ring that meets itself in a point.
        ("POLYGON((0 0,4 0,2 2,4 4,0 4,2 2,0 0))", false),
        ("POLYGON((0 0,9 0,9 9,0 9,0 0),(4 4,6 4,6 6,4 6,4 4))", true),
        (
            "POLYGON((0 0,9 0,9 9,0 9,0 0),(10 10,12 10,12 12,10 10))",
            false,
        ),
        (
            "POLYGON((4 4,6 4,6 6,4 6,4 4),(0 0,9 0,9 9,0 9,0 0))",
            false,
        ),
        // A hole inside of another one, and two that meet in one point.
        (
            "POLYGON((0 0,9 0,9 9,0 9,0 0),(1 1,8 1,8 8,1 1),(5 2,7 2,7 4,5 2))",
            false,
        ),
        (
            "POLYGON((0 0,9 0,9 9,0 9,0 0),(1 1,4 1,4 4,1 1),(4 4,7 4,7 7,4 4))",
            true,
        ),
        // A hole that meets the exterior ring in one and in two points, and in a segment.
        ("POLYGON((0 0,9 0,9 9,0 9,0 0),(0 4,3 3,3 5,0 4))", true),
        (
            "POLYGON((0 0,9 0,9 9,0 9,0 0),(0 4,4 2,9 4,4 6,0 4))",
            false,
        ),
        (
            "POLYGON((0 0,9 0,9 9,0 9,0 0),(0 3,3 3,3 5,0 5,0 3))",
            false,
        ),
        // Three rings in a circle of points.
        (
            "POLYGON((0 0,9 0,9 9,0 9,0 0),(0 4,4 2,4 6,0 4),(4 2,6 0,6 3,4 2))",
            false,
        ),
        (
            "MULTIPOLYGON(((0 0,2 0,2 2,0 2,0 0)),((1 1,3 1,3 3,1 3,1 1)))",
            false,
        ),
        (
            "MULTIPOLYGON(((0 0,2 0,2 2,0 2,0 0)),((2 2,3 2,3 3,2 2)))",
            true,
        ),
        (
            "MULTIPOLYGON(((0 0,2 0,2 2,0 2,0 0)),((2 0,3 0,3 2,2 2,2 0)))",
            false,
        ),
        (
            "MULTIPOLYGON(((0 0,9 0,9 9,0 9,0 0)),((1 1,2 1,2 2,1 1)))",
            false,
        ),
        (
            "MULTIPOLYGON(((1 1,2 1,2 2,1 1)),((0 0,9 0,9 9,0 9,0 0)))",
            false,
        ),
        (
            "MULTIPOLYGON(((0 0,9 0,9 9,0 9,0 0),(2 2,7 2,7 7,2 7,2 2)),((3 3,4 3,4 4,3 3)))",
            true,
        ),
        (
            "GEOMETRYCOLLECTION(POINT(1 1),POLYGON((0 0,1 1,1 0,0 1,0 0)))",
            false,
        ),
    ] {
        assert_eq!(validity(text), valid, "{text}");
    }
}
