//! Geometry values: the manual, "Spatial Data Types" and "Supported Spatial Data Formats".
//!
//! A value of a geometry type is bytes: the SRID (four bytes, the least significant first), then the geometry in
//! Well-Known Binary (WKB), little endian. So it is stored, sorted, grouped and compared as any other binary string; the
//! type adds what may be in the bytes. A [`Geometry`] is a value that was read from its bytes, from WKB, from Well-Known
//! Text or from GeoJSON, for functions that look into it.
//!
//! * [`bytes`]: values and WKB, read under rules of several strictness, as MySQL's functions have them
//! * [`text`]: Well-Known Text
//! * [`mod@geojson`], the form of RFC 7946
//! * [`systems`]: what an SRID says of coordinates
//! * [`validity`]: whether a geometry is valid in the sense of the OpenGIS specification
//!
//! Invariant: no bytes and no text make a reader panic, recurse deeper than [`DEPTH_MAX`], or allocate more than a small
//! multiple of their length.

pub mod bytes;
pub mod geojson;
pub mod systems;
#[cfg(test)]
mod tests;
pub mod text;
pub mod validity;

/// Greatest nesting depth of collections.
pub const DEPTH_MAX: usize = 256;

/// A type of geometries: GEOMETRY for any, or one of its subtypes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GeometryKind {
    /// GEOMETRY: a value of any subtype.
    Any,
    /// POINT
    Point,
    /// LINESTRING
    LineString,
    /// POLYGON
    Polygon,
    /// MULTIPOINT
    MultiPoint,
    /// MULTILINESTRING
    MultiLineString,
    /// MULTIPOLYGON
    MultiPolygon,
    /// GEOMETRYCOLLECTION
    Collection,
}

/// Kinds with their name in MySQL's messages, in GeoJSON, and in Well-Known Text where that differs; the position of a
/// kind is its number in WKB.
const NAMES: [(GeometryKind, &str, &str); 8] = [
    (GeometryKind::Any, "GEOMETRY", "Geometry"),
    (GeometryKind::Point, "POINT", "Point"),
    (GeometryKind::LineString, "LINESTRING", "LineString"),
    (GeometryKind::Polygon, "POLYGON", "Polygon"),
    (GeometryKind::MultiPoint, "MULTIPOINT", "MultiPoint"),
    (
        GeometryKind::MultiLineString,
        "MULTILINESTRING",
        "MultiLineString",
    ),
    (GeometryKind::MultiPolygon, "MULTIPOLYGON", "MultiPolygon"),
    (
        GeometryKind::Collection,
        "GEOMCOLLECTION",
        "GeometryCollection",
    ),
];

impl GeometryKind {
    /// The kind with a number in WKB, 1 to 7.
    pub fn of_code(code: u32) -> Option<Self> {
        let position = usize::try_from(code).ok().filter(|code| *code > 0)?;
        NAMES.get(position).map(|(kind, ..)| *kind)
    }

    /// Its number in WKB.
    pub fn code(self) -> u32 {
        self as u32
    }

    /// Its name as MySQL prints it: `GEOMCOLLECTION`.
    pub fn name(self) -> &'static str {
        NAMES[self as usize].1
    }

    /// Its name in GeoJSON: `GeometryCollection`.
    pub fn json_name(self) -> &'static str {
        NAMES[self as usize].2
    }

    /// The kind with a name of GeoJSON, in its exact letters.
    pub fn of_json_name(name: &str) -> Option<Self> {
        let mut kinds = NAMES.iter().skip(1);
        kinds.find(|row| row.2 == name).map(|row| row.0)
    }

    /// Its name in Well-Known Text: `GEOMETRYCOLLECTION`.
    pub fn text_name(self) -> &'static str {
        match self {
            Self::Collection => "GEOMETRYCOLLECTION",
            _ => self.name(),
        }
    }

    /// Whether a value of another kind is one of this kind: a MULTIPOINT is a GEOMETRYCOLLECTION, and all are GEOMETRY.
    pub fn includes(self, other: Self) -> bool {
        match self {
            Self::Any => true,
            Self::Collection => other.element().is_some(),
            _ => self == other,
        }
    }

    /// The kind of the elements of a collection; `None` for kinds without elements.
    pub fn element(self) -> Option<Self> {
        match self {
            Self::MultiPoint => Some(Self::Point),
            Self::MultiLineString => Some(Self::LineString),
            Self::MultiPolygon => Some(Self::Polygon),
            Self::Collection => Some(Self::Any),
            _ => None,
        }
    }
}

/// A pair of coordinates: x is the longitude in a geographic spatial reference system, whatever the order of its axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Position {
    /// The first coordinate in WKB.
    pub x: f64,
    /// The second coordinate in WKB.
    pub y: f64,
}

impl Position {
    /// The position with its coordinates exchanged.
    #[must_use]
    pub fn swapped(self) -> Self {
        Self {
            x: self.y,
            y: self.x,
        }
    }
}

/// A geometry without its SRID.
#[derive(Debug, Clone, PartialEq)]
pub enum Geometry {
    /// A point.
    Point(Position),
    /// The points of a line.
    LineString(Vec<Position>),
    /// The rings of a polygon, the exterior one first.
    Polygon(Vec<Vec<Position>>),
    /// Elements: of one kind for a MULTI… kind, of any for a GEOMETRYCOLLECTION.
    Collection(GeometryKind, Vec<Geometry>),
}

/// Why bytes or a text are no geometry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GeometryError {
    /// They do not have the format, or break a rule.
    Invalid,
    /// A value, which must be little endian, is not.
    BigEndian,
}

impl Geometry {
    /// Its kind.
    pub fn kind(&self) -> GeometryKind {
        match self {
            Self::Point(_) => GeometryKind::Point,
            Self::LineString(_) => GeometryKind::LineString,
            Self::Polygon(_) => GeometryKind::Polygon,
            Self::Collection(kind, _) => *kind,
        }
    }

    /// Whether it has no point.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Point(_) => false,
            Self::LineString(points) => points.is_empty(),
            Self::Polygon(rings) => rings.is_empty(),
            Self::Collection(_, elements) => elements.iter().all(Self::is_empty),
        }
    }

    /// Its dimension: 0 for points, 1 for lines, 2 for polygons, the greatest one of a collection; `None` if that is or
    /// has an empty one, as in MySQL.
    pub fn dimension(&self) -> Option<u8> {
        match self {
            Self::Point(_) => Some(0),
            Self::LineString(_) => Some(1),
            Self::Polygon(_) => Some(2),
            Self::Collection(_, elements) => {
                let dimensions: Option<Vec<u8>> = elements.iter().map(Self::dimension).collect();
                dimensions?.into_iter().max()
            }
        }
    }

    /// Calls a function for every position.
    pub fn for_each_position(&self, visit: &mut impl FnMut(Position)) {
        match self {
            Self::Point(point) => visit(*point),
            Self::LineString(points) => points.iter().copied().for_each(visit),
            Self::Polygon(rings) => rings.iter().flatten().copied().for_each(visit),
            Self::Collection(_, elements) => {
                for element in elements {
                    element.for_each_position(visit);
                }
            }
        }
    }

    /// Changes every position.
    pub fn change_positions(&mut self, change: &impl Fn(Position) -> Position) {
        match self {
            Self::Point(point) => *point = change(*point),
            Self::LineString(points) => {
                for point in points {
                    *point = change(*point);
                }
            }
            Self::Polygon(rings) => {
                for point in rings.iter_mut().flatten() {
                    *point = change(*point);
                }
            }
            Self::Collection(_, elements) => {
                for element in elements {
                    element.change_positions(change);
                }
            }
        }
    }

    /// Exchanges the coordinates of every position.
    pub fn swap(&mut self) {
        self.change_positions(&Position::swapped);
    }

    /// Whether all coordinates are finite numbers.
    pub fn is_finite(&self) -> bool {
        let mut is_finite = true;
        self.for_each_position(&mut |point| {
            is_finite &= point.x.is_finite() && point.y.is_finite();
        });
        is_finite
    }
}
