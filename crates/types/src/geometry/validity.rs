//! Validity of geometries in the sense of the OpenGIS specification (OGC 06-103r4, "Geometry object model").
//!
//! * A line has two different points.
//! * The rings of a polygon do not meet themselves, and each other in points only; holes are inside the exterior ring and
//!   outside of each other, and the interior is connected. The direction of rings does not matter.
//! * The polygons of a MULTIPOLYGON meet in points only, and have no common interior.
//!
//! Segments are compared with those that follow them by their least x, as far as their ranges of x overlap. A geometry on
//! an ellipsoid is tested on the plane of longitudes and latitudes.
//!
//! That the interior is connected is a property of a graph: its nodes are rings and the points in which rings meet, its
//! edges connect a ring with its points. A cycle encloses a part of the interior.

use super::{Geometry, GeometryKind, Position};

/// Whether a geometry is valid. `checkpoint` is called repeatedly, and an error of it ends the test.
pub fn is_valid<E>(
    geometry: &Geometry,
    checkpoint: &mut impl FnMut() -> Result<(), E>,
) -> Result<bool, E> {
    let polygons_of = |elements: &[Geometry]| {
        let rings = elements.iter().filter_map(|element| match element {
            Geometry::Polygon(rings) => Some(rings.clone()),
            _ => None,
        });
        rings.collect::<Vec<_>>()
    };
    match geometry {
        Geometry::Point(_) => Ok(true),
        Geometry::LineString(points) => Ok(points.iter().any(|point| *point != points[0])),
        Geometry::Polygon(rings) => are_valid(vec![rings.clone()], checkpoint),
        Geometry::Collection(GeometryKind::MultiPolygon, elements) => {
            are_valid(polygons_of(elements), checkpoint)
        }
        Geometry::Collection(_, elements) => {
            for element in elements {
                if !is_valid(element, checkpoint)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
    }
}

/// A ring without its last point and without points that repeat the one before.
struct Ring {
    polygon: usize,
    points: Vec<Position>,
}

impl Ring {
    fn of(polygon: usize, mut points: Vec<Position>) -> Self {
        points.dedup();
        if points.len() > 1 && points.first() == points.last() {
            points.pop();
        }
        Self { polygon, points }
    }

    fn segment(&self, index: usize) -> (Position, Position) {
        let end = (index + 1) % self.points.len();
        (self.points[index], self.points[end])
    }
}

/// A segment of a ring.
#[derive(Clone, Copy)]
struct Segment {
    ring: usize,
    index: usize,
    from: Position,
    to: Position,
}

/// How two segments meet.
enum Meeting {
    None,
    At(Position),
    /// They cross, or have more than a point in common.
    Crossing,
}

/// A point in which segments of two rings meet.
#[derive(Clone, Copy)]
struct Touch {
    segments: [(usize, usize); 2],
    at: Position,
}

fn are_valid<E>(
    polygons: Vec<Vec<Vec<Position>>>,
    checkpoint: &mut impl FnMut() -> Result<(), E>,
) -> Result<bool, E> {
    let mut rings = Vec::new();
    for (number, polygon) in polygons.into_iter().enumerate() {
        rings.extend(polygon.into_iter().map(|points| Ring::of(number, points)));
    }
    if rings.iter().any(|ring| ring.points.len() < 3) {
        return Ok(false);
    }
    let Some(touches) = touches(&rings, checkpoint)? else {
        return Ok(false);
    };
    if !interiors_are_connected(&rings, &touches) {
        return Ok(false);
    }
    for first in 0..rings.len() {
        checkpoint()?;
        for second in first + 1..rings.len() {
            if !are_placed_well(&rings, first, second, &touches) {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// The points in which different rings meet; `None` if rings cross, overlap, or meet themselves.
fn touches<E>(
    rings: &[Ring],
    checkpoint: &mut impl FnMut() -> Result<(), E>,
) -> Result<Option<Vec<Touch>>, E> {
    let mut segments = Vec::new();
    for (number, ring) in rings.iter().enumerate() {
        segments.extend((0..ring.points.len()).map(|index| {
            let (from, to) = ring.segment(index);
            Segment {
                ring: number,
                index,
                from,
                to,
            }
        }));
    }
    let least = |segment: &Segment| segment.from.x.min(segment.to.x);
    segments.sort_by(|a, b| least(a).total_cmp(&least(b)));
    let mut found = Vec::new();
    for (position, segment) in segments.iter().enumerate() {
        checkpoint()?;
        let greatest = segment.from.x.max(segment.to.x);
        let following = segments[position + 1..].iter();
        for other in following.take_while(|other| least(other) <= greatest) {
            let at = match meeting(segment, other) {
                Meeting::None => continue,
                Meeting::Crossing => return Ok(None),
                Meeting::At(at) => at,
            };
            if segment.ring != other.ring {
                found.push(Touch {
                    segments: [(segment.ring, segment.index), (other.ring, other.index)],
                    at,
                });
                continue;
            }
            let count = rings[segment.ring].points.len();
            let follows = |a: &Segment, b: &Segment| (a.index + 1) % count == b.index && a.to == at;
            if !follows(segment, other) && !follows(other, segment) {
                return Ok(None);
            }
        }
    }
    Ok(Some(found))
}

/// The side of a line on which a point is: positive on the left, 0 on the line.
fn side(from: Position, to: Position, point: Position) -> f64 {
    let value = (to.x - from.x) * (point.y - from.y) - (to.y - from.y) * (point.x - from.x);
    if value == 0.0 { 0.0 } else { value.signum() }
}

/// Whether a point is in the rectangle of which two points are corners.
fn is_between(from: Position, to: Position, point: Position) -> bool {
    let within = |a: f64, b: f64, value: f64| a.min(b) <= value && value <= a.max(b);
    within(from.x, to.x, point.x) && within(from.y, to.y, point.y)
}

fn meeting(a: &Segment, b: &Segment) -> Meeting {
    let sides_of_a = [side(a.from, a.to, b.from), side(a.from, a.to, b.to)];
    let sides_of_b = [side(b.from, b.to, a.from), side(b.from, b.to, a.to)];
    if sides_of_a[0] * sides_of_a[1] < 0.0 && sides_of_b[0] * sides_of_b[1] < 0.0 {
        return Meeting::Crossing;
    }
    let ends = [
        (sides_of_a[0], b.from, a),
        (sides_of_a[1], b.to, a),
        (sides_of_b[0], a.from, b),
        (sides_of_b[1], a.to, b),
    ];
    let mut on = ends
        .iter()
        .filter(|(side, end, segment)| *side == 0.0 && is_between(segment.from, segment.to, *end))
        .map(|(_, end, _)| *end);
    match on.next() {
        None => Meeting::None,
        // On one line, the segments have more than a point in common if two different ends are on both.
        Some(first) if on.any(|end| end != first) => Meeting::Crossing,
        Some(first) => Meeting::At(first),
    }
}

/// Whether the graph of each polygon's rings and the points in which they meet has no cycle.
fn interiors_are_connected(rings: &[Ring], touches: &[Touch]) -> bool {
    let inside = |touch: &&Touch| {
        let [(first, _), (second, _)] = touch.segments;
        rings[first].polygon == rings[second].polygon
    };
    // The points, each with the rings that meet there. -0 is 0.
    let mut edges: Vec<(u64, u64, usize)> = touches
        .iter()
        .filter(inside)
        .flat_map(|touch| {
            let key = |value: f64| (value + 0.0).to_bits();
            let (x, y) = (key(touch.at.x), key(touch.at.y));
            touch.segments.map(|(ring, _)| (x, y, ring))
        })
        .collect();
    edges.sort_unstable();
    edges.dedup();
    let mut parents: Vec<usize> = (0..rings.len()).collect();
    let root = |parents: &mut Vec<usize>, mut node: usize| {
        while parents[node] != node {
            parents[node] = parents[parents[node]];
            node = parents[node];
        }
        node
    };
    for group in edges.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        let polygons = group.chunk_by(|a, b| rings[a.2].polygon == rings[b.2].polygon);
        for meeting in polygons {
            for pair in meeting.windows(2) {
                let (a, b) = (root(&mut parents, pair[0].2), root(&mut parents, pair[1].2));
                if a == b {
                    return false;
                }
                parents[a] = b;
            }
        }
    }
    true
}

/// A point's place by a ring.
#[derive(PartialEq)]
enum Place {
    Inside,
    Outside,
    On,
}

fn place(point: Position, ring: &Ring) -> Place {
    let mut is_inside = false;
    for index in 0..ring.points.len() {
        let (from, to) = ring.segment(index);
        let side = side(from, to, point);
        if side == 0.0 && is_between(from, to, point) {
            return Place::On;
        }
        if (from.y > point.y) != (to.y > point.y) && (side > 0.0) == (to.y > from.y) {
            is_inside = !is_inside;
        }
    }
    if is_inside {
        Place::Inside
    } else {
        Place::Outside
    }
}

/// Whether two rings, which meet in points only, are where they may be.
fn are_placed_well(rings: &[Ring], first: usize, second: usize, touches: &[Touch]) -> bool {
    let (a, b) = (&rings[first], &rings[second]);
    let is_exterior = |ring: usize| ring == 0 || rings[ring - 1].polygon != rings[ring].polygon;
    if a.polygon == b.polygon {
        return if is_exterior(first) {
            probes(rings, second, first, touches).all(|point| place(point, a) != Place::Outside)
        } else {
            probes(rings, second, first, touches).all(|point| place(point, a) != Place::Inside)
                && probes(rings, first, second, touches)
                    .all(|point| place(point, b) != Place::Inside)
        };
    }
    if !is_exterior(first) || !is_exterior(second) {
        return true;
    }
    // Interiors are apart if no exterior ring leads through the other polygon's interior.
    let is_apart = |through: usize, other: usize| {
        let polygon = rings[other].polygon;
        let is_within = |point: Position| {
            let mut of_other = rings[other..].iter().take_while(|it| it.polygon == polygon);
            let is_inside = of_other
                .next()
                .is_some_and(|it| place(point, it) == Place::Inside);
            is_inside && of_other.all(|hole| place(point, hole) == Place::Outside)
        };
        !probes(rings, through, other, touches).any(is_within)
    };
    is_apart(first, second) && is_apart(second, first)
}

/// Points of a ring of which one is in each part that lies between two points in which it meets another ring's polygon.
fn probes<'a>(
    rings: &'a [Ring],
    ring: usize,
    other: usize,
    touches: &'a [Touch],
) -> impl Iterator<Item = Position> + 'a {
    let polygon = rings[other].polygon;
    let mut cuts: Vec<(usize, Position)> = Vec::new();
    for touch in touches {
        for (own, its) in [(0, 1), (1, 0)] {
            let (at_ring, segment) = touch.segments[own];
            if at_ring == ring && rings[touch.segments[its].0].polygon == polygon {
                cuts.push((segment, touch.at));
            }
        }
    }
    let segments = match cuts.is_empty() {
        // Nothing separates its points from each other.
        true => 1,
        false => rings[ring].points.len(),
    };
    (0..segments).flat_map(move |segment| {
        let (from, to) = rings[ring].segment(segment);
        let mut stops = vec![from, to];
        stops.extend(cuts.iter().filter(|cut| cut.0 == segment).map(|cut| cut.1));
        let distance = |point: &Position| (point.x - from.x).abs() + (point.y - from.y).abs();
        stops.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
        stops.dedup();
        let middles = stops.windows(2).map(|pair| Position {
            x: pair[0].x / 2.0 + pair[1].x / 2.0,
            y: pair[0].y / 2.0 + pair[1].y / 2.0,
        });
        middles.collect::<Vec<_>>()
    })
}
