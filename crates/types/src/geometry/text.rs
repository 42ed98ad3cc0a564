//! Well-Known Text (OGC 06-103r4, "Well-known Text Representation for Geometry"), as MySQL reads and prints it: in two
//! dimensions, without EMPTY but for a GEOMETRYCOLLECTION.

use super::{DEPTH_MAX, Geometry, GeometryError, GeometryKind, Position};
use crate::convert::float_text::append_double;
use crate::sql_type::DECIMALS_NOT_FIXED;

/// The kinds with a name in texts.
const KINDS: [GeometryKind; 7] = [
    GeometryKind::Point,
    GeometryKind::LineString,
    GeometryKind::Polygon,
    GeometryKind::MultiPoint,
    GeometryKind::MultiLineString,
    GeometryKind::MultiPolygon,
    GeometryKind::Collection,
];

/// The fewest points of a line.
const LINE_POINTS: usize = 2;
/// The fewest points of a ring: a triangle, whose last point is its first.
const RING_POINTS: usize = 4;

/// Reads a text.
pub fn parse(text: &[u8]) -> Result<Geometry, GeometryError> {
    let mut parser = Parser { rest: text };
    let geometry = parser.geometry(0)?;
    parser.skip_spaces();
    match parser.rest {
        [] => Ok(geometry),
        _ => Err(GeometryError::Invalid),
    }
}

/// Appends the text of a geometry.
pub fn append(out: &mut Vec<u8>, geometry: &Geometry) {
    out.extend_from_slice(geometry.kind().text_name().as_bytes());
    append_content(out, geometry);
}

/// Appends the text of a geometry behind the name of its kind.
fn append_content(out: &mut Vec<u8>, geometry: &Geometry) {
    match geometry {
        Geometry::Point(point) => {
            out.push(b'(');
            append_position(out, *point);
            out.push(b')');
        }
        Geometry::LineString(points) => append_points(out, points),
        Geometry::Polygon(rings) => {
            append_list(out, rings, |out, ring| append_points(out, ring));
        }
        Geometry::Collection(GeometryKind::Collection, elements) if elements.is_empty() => {
            out.extend_from_slice(b" EMPTY");
        }
        Geometry::Collection(GeometryKind::Collection, elements) => {
            append_list(out, elements, append);
        }
        Geometry::Collection(_, elements) => append_list(out, elements, append_content),
    }
}

fn append_list<T>(out: &mut Vec<u8>, items: &[T], append: impl Fn(&mut Vec<u8>, &T)) {
    out.push(b'(');
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        append(out, item);
    }
    out.push(b')');
}

fn append_points(out: &mut Vec<u8>, points: &[Position]) {
    append_list(out, points, |out, point| append_position(out, *point));
}

fn append_position(out: &mut Vec<u8>, point: Position) {
    append_double(out, point.x, DECIMALS_NOT_FIXED);
    out.push(b' ');
    append_double(out, point.y, DECIMALS_NOT_FIXED);
}

/// Reads a text from its beginning.
struct Parser<'a> {
    rest: &'a [u8],
}

impl Parser<'_> {
    fn skip_spaces(&mut self) {
        self.rest = self.rest.trim_ascii_start();
    }

    /// Takes a character behind spaces, if it comes next.
    fn eat(&mut self, character: u8) -> bool {
        self.skip_spaces();
        match self.rest.split_first() {
            Some((first, rest)) if *first == character => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }

    fn expect(&mut self, character: u8) -> Result<(), GeometryError> {
        match self.eat(character) {
            true => Ok(()),
            false => Err(GeometryError::Invalid),
        }
    }

    /// Takes a word of letters.
    fn word(&mut self) -> &[u8] {
        self.skip_spaces();
        let letters = self
            .rest
            .iter()
            .take_while(|byte| byte.is_ascii_alphabetic());
        let (word, rest) = self.rest.split_at(letters.count());
        self.rest = rest;
        word
    }

    fn geometry(&mut self, depth: usize) -> Result<Geometry, GeometryError> {
        let word = self.word();
        let kind = KINDS.iter().copied().find(|kind| {
            let name = kind.text_name().as_bytes();
            word.eq_ignore_ascii_case(name)
        });
        let kind = kind.ok_or(GeometryError::Invalid)?;
        if depth > DEPTH_MAX {
            return Err(GeometryError::Invalid);
        }
        Ok(match kind {
            GeometryKind::Point => Geometry::Point(self.point()?),
            GeometryKind::LineString => self.line()?,
            GeometryKind::Polygon => self.polygon()?,
            GeometryKind::MultiPoint => self.multipoint()?,
            GeometryKind::MultiLineString => Geometry::Collection(kind, self.list(Self::line)?),
            GeometryKind::MultiPolygon => Geometry::Collection(kind, self.list(Self::polygon)?),
            _ => Geometry::Collection(kind, self.collection(depth)?),
        })
    }

    /// A list in parentheses with at least one item.
    fn list<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<T, GeometryError>,
    ) -> Result<Vec<T>, GeometryError> {
        self.expect(b'(')?;
        let mut items = vec![item(self)?];
        while self.eat(b',') {
            items.push(item(self)?);
        }
        self.expect(b')')?;
        Ok(items)
    }

    fn point(&mut self) -> Result<Position, GeometryError> {
        self.expect(b'(')?;
        let point = self.position()?;
        self.expect(b')')?;
        Ok(point)
    }

    fn line(&mut self) -> Result<Geometry, GeometryError> {
        let points = self.list(Self::position)?;
        match points.len() < LINE_POINTS {
            true => Err(GeometryError::Invalid),
            false => Ok(Geometry::LineString(points)),
        }
    }

    fn ring(&mut self) -> Result<Vec<Position>, GeometryError> {
        let points = self.list(Self::position)?;
        match points.len() < RING_POINTS || points.first() != points.last() {
            true => Err(GeometryError::Invalid),
            false => Ok(points),
        }
    }

    fn polygon(&mut self) -> Result<Geometry, GeometryError> {
        self.list(Self::ring).map(Geometry::Polygon)
    }

    /// Points with or without parentheses around each, all in one way.
    fn multipoint(&mut self) -> Result<Geometry, GeometryError> {
        let mut has_parentheses = None;
        let points = self.list(|parser| {
            parser.skip_spaces();
            let is_inside = parser.rest.first() == Some(&b'(');
            if *has_parentheses.get_or_insert(is_inside) != is_inside {
                return Err(GeometryError::Invalid);
            }
            let point = if is_inside {
                parser.point()?
            } else {
                parser.position()?
            };
            Ok(Geometry::Point(point))
        })?;
        Ok(Geometry::Collection(GeometryKind::MultiPoint, points))
    }

    /// The elements of a GEOMETRYCOLLECTION: a list, `()` or `EMPTY`.
    fn collection(&mut self, depth: usize) -> Result<Vec<Geometry>, GeometryError> {
        let before = self.rest;
        if self.eat(b'(') && self.eat(b')') {
            return Ok(Vec::new());
        }
        self.rest = before;
        if self.word().eq_ignore_ascii_case(b"EMPTY") {
            return Ok(Vec::new());
        }
        self.rest = before;
        self.list(|parser| parser.geometry(depth + 1))
    }

    fn position(&mut self) -> Result<Position, GeometryError> {
        let x = self.coordinate()?;
        let y = self.coordinate()?;
        Ok(Position { x, y })
    }

    /// A number with an optional sign, point and exponent.
    fn coordinate(&mut self) -> Result<f64, GeometryError> {
        self.skip_spaces();
        let mut length = usize::from(matches!(self.rest.first(), Some(b'+' | b'-')));
        let digits = |from: usize| {
            let rest = self.rest.get(from..).unwrap_or_default();
            rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
        };
        let whole = digits(length);
        length += whole;
        let mut fraction = 0;
        if self.rest.get(length) == Some(&b'.') {
            fraction = digits(length + 1);
            length += 1 + fraction;
        }
        if whole + fraction == 0 {
            return Err(GeometryError::Invalid);
        }
        if matches!(self.rest.get(length), Some(b'e' | b'E')) {
            let sign = matches!(self.rest.get(length + 1), Some(b'+' | b'-'));
            let first = length + 1 + usize::from(sign);
            match digits(first) {
                0 => return Err(GeometryError::Invalid),
                count => length = first + count,
            }
        }
        let (number, rest) = self.rest.split_at(length);
        let value: Option<f64> = std::str::from_utf8(number)
            .ok()
            .and_then(|number| number.parse().ok());
        match value.filter(|value| value.is_finite()) {
            Some(value) => {
                self.rest = rest;
                Ok(value)
            }
            None => Err(GeometryError::Invalid),
        }
    }
}
