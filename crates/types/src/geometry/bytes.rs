//! Geometry values and Well-Known Binary (OGC 06-103r4, "Well-known Binary Representation for Geometry").
//!
//! A geometry is a byte for the order of bytes, a number for its kind, and its content: coordinates, or a count and that
//! number of points, rings or geometries. MySQL's functions differ in what they take, which [`Rules`] says: a column
//! refuses a line of one point, ST_ASTEXT() does not; only some functions want rings to be closed.

use super::{DEPTH_MAX, Geometry, GeometryError, GeometryKind, Position};

/// Bytes of the SRID before the WKB of a value.
pub const SRID_BYTES: usize = 4;
/// Bytes of a position.
const POSITION_BYTES: usize = 16;
/// Bytes of the order of bytes and the kind.
const HEADER_BYTES: usize = 5;
/// The byte for "the least significant byte first".
const LITTLE_ENDIAN: u8 = 1;

/// What makes well-formed bytes a geometry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// The fewest points of a line.
    line_points: usize,
    /// The fewest points of a ring.
    ring_points: usize,
    /// Whether a ring ends where it begins.
    closed: bool,
    /// Whether coordinates are finite.
    finite: bool,
    /// Whether a MULTIPOINT and a MULTIPOLYGON may have no element.
    empty_multiples: bool,
    /// Whether the most significant byte may come first.
    big_endian: bool,
}

impl Rules {
    /// Of functions that only look at a value's structure.
    pub const STRUCTURE: Self = Self {
        line_points: 1,
        ring_points: 1,
        closed: false,
        finite: false,
        empty_multiples: false,
        big_endian: false,
    };
    /// Of values that are stored in a column.
    pub const STORED: Self = Self {
        line_points: 2,
        ring_points: 4,
        ..Self::STRUCTURE
    };
    /// Of functions that compute with a value.
    pub const COMPUTED: Self = Self {
        closed: true,
        finite: true,
        big_endian: true,
        ..Self::STORED
    };
    /// Of ST_GEOMFROMWKB() and its kin.
    pub const WKB: Self = Self {
        closed: true,
        empty_multiples: true,
        big_endian: true,
        ..Self::STORED
    };
}

/// Reads a value: its SRID and geometry.
pub fn read(value: &[u8], rules: Rules) -> Result<(u32, Geometry), GeometryError> {
    let (srid, wkb) = split_srid(value).ok_or(GeometryError::Invalid)?;
    Ok((srid, read_wkb(wkb, rules)?))
}

/// The SRID of a value and its WKB, which is not looked at; `None` if the value is too short to have both.
pub fn split_srid(value: &[u8]) -> Option<(u32, &[u8])> {
    let (srid, wkb) = value.split_first_chunk::<SRID_BYTES>()?;
    Some((u32::from_le_bytes(*srid), wkb))
}

/// Reads WKB.
pub fn read_wkb(wkb: &[u8], rules: Rules) -> Result<Geometry, GeometryError> {
    let is_little = match wkb.first() {
        Some(&LITTLE_ENDIAN) => true,
        Some(0) if rules.big_endian => false,
        Some(_) if !rules.big_endian && wkb.len() >= HEADER_BYTES + SRID_BYTES => {
            return Err(GeometryError::BigEndian);
        }
        _ => return Err(GeometryError::Invalid),
    };
    let mut reader = Reader {
        rest: wkb,
        rules,
        is_little,
    };
    let geometry = reader.geometry(GeometryKind::Any, 0)?;
    match reader.rest {
        [] => Ok(geometry),
        _ => Err(GeometryError::Invalid),
    }
}

/// Appends a value.
pub fn append(out: &mut Vec<u8>, srid: u32, geometry: &Geometry) {
    out.extend_from_slice(&srid.to_le_bytes());
    append_wkb(out, geometry);
}

/// A value as bytes.
pub fn value_of(srid: u32, geometry: &Geometry) -> Vec<u8> {
    let mut out = Vec::new();
    append(&mut out, srid, geometry);
    out
}

/// Appends the WKB of a geometry, little endian.
pub fn append_wkb(out: &mut Vec<u8>, geometry: &Geometry) {
    out.push(LITTLE_ENDIAN);
    out.extend_from_slice(&geometry.kind().code().to_le_bytes());
    match geometry {
        Geometry::Point(point) => append_position(out, *point),
        Geometry::LineString(points) => append_positions(out, points),
        Geometry::Polygon(rings) => {
            append_count(out, rings.len());
            for ring in rings {
                append_positions(out, ring);
            }
        }
        Geometry::Collection(_, elements) => {
            append_count(out, elements.len());
            for element in elements {
                append_wkb(out, element);
            }
        }
    }
}

fn append_count(out: &mut Vec<u8>, count: usize) {
    // A text or document of more elements is longer than any value may be.
    out.extend_from_slice(&u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
}

fn append_position(out: &mut Vec<u8>, point: Position) {
    out.extend_from_slice(&point.x.to_le_bytes());
    out.extend_from_slice(&point.y.to_le_bytes());
}

fn append_positions(out: &mut Vec<u8>, points: &[Position]) {
    append_count(out, points.len());
    for point in points {
        append_position(out, *point);
    }
}

/// Reads WKB from its beginning.
struct Reader<'a> {
    rest: &'a [u8],
    rules: Rules,
    is_little: bool,
}

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], GeometryError> {
        let (first, rest) = self
            .rest
            .split_first_chunk::<N>()
            .ok_or(GeometryError::Invalid)?;
        self.rest = rest;
        Ok(*first)
    }

    fn number(&mut self) -> Result<u32, GeometryError> {
        let bytes = self.take::<4>()?;
        Ok(if self.is_little {
            u32::from_le_bytes(bytes)
        } else {
            u32::from_be_bytes(bytes)
        })
    }

    fn coordinate(&mut self) -> Result<f64, GeometryError> {
        let bytes = self.take::<8>()?;
        let value = if self.is_little {
            f64::from_le_bytes(bytes)
        } else {
            f64::from_be_bytes(bytes)
        };
        if self.rules.finite && !value.is_finite() {
            return Err(GeometryError::Invalid);
        }
        Ok(value)
    }

    fn position(&mut self) -> Result<Position, GeometryError> {
        Ok(Position {
            x: self.coordinate()?,
            y: self.coordinate()?,
        })
    }

    /// A count of at least `least` things of at least `bytes` bytes each, which the rest has room for.
    fn count(&mut self, least: usize, bytes: usize) -> Result<usize, GeometryError> {
        let count = usize::try_from(self.number()?).map_err(|_| GeometryError::Invalid)?;
        if count < least || count > self.rest.len() / bytes {
            return Err(GeometryError::Invalid);
        }
        Ok(count)
    }

    fn positions(&mut self, least: usize) -> Result<Vec<Position>, GeometryError> {
        let count = self.count(least, POSITION_BYTES)?;
        (0..count).map(|_| self.position()).collect()
    }

    fn ring(&mut self) -> Result<Vec<Position>, GeometryError> {
        let points = self.positions(self.rules.ring_points)?;
        match self.rules.closed && points.first() != points.last() {
            true => Err(GeometryError::Invalid),
            false => Ok(points),
        }
    }

    fn geometry(&mut self, wanted: GeometryKind, depth: usize) -> Result<Geometry, GeometryError> {
        let [order] = self.take::<1>()?;
        if depth > DEPTH_MAX || order != u8::from(self.is_little) {
            return Err(GeometryError::Invalid);
        }
        let kind = GeometryKind::of_code(self.number()?).ok_or(GeometryError::Invalid)?;
        if wanted != GeometryKind::Any && wanted != kind {
            return Err(GeometryError::Invalid);
        }
        Ok(match kind {
            GeometryKind::Point => Geometry::Point(self.position()?),
            GeometryKind::LineString => {
                Geometry::LineString(self.positions(self.rules.line_points)?)
            }
            GeometryKind::Polygon => {
                let count = self.count(1, SRID_BYTES)?;
                Geometry::Polygon((0..count).map(|_| self.ring()).collect::<Result<_, _>>()?)
            }
            _ => {
                let may_be_empty = match kind {
                    GeometryKind::Collection => true,
                    GeometryKind::MultiLineString => false,
                    _ => self.rules.empty_multiples,
                };
                let count = self.count(usize::from(!may_be_empty), HEADER_BYTES)?;
                let element = kind.element().unwrap_or(GeometryKind::Any);
                let elements = (0..count).map(|_| self.geometry(element, depth + 1));
                Geometry::Collection(kind, elements.collect::<Result<_, _>>()?)
            }
        })
    }
}
