//! GeoJSON (RFC 7946, and the member `crs` of its predecessor of 2008): the manual, "Spatial GeoJSON Functions".
//!
//! Coordinates are longitude and latitude, as in values. Names of members are found in any letters, as in MySQL.

use super::{DEPTH_MAX, Geometry, GeometryKind, Position};
use crate::convert::number::round_half_even;
use crate::error::{Error, Result, codes};
use crate::json::{Json, JsonObject};

/// The SRID of a document that names no system: WGS 84.
pub const SRID_DEFAULT: u32 = 4326;

/// The prefixes of names of systems that end in an SRID.
const SHORT_NAME: &str = "EPSG:";
const LONG_NAME: &str = "urn:ogc:def:crs:EPSG::";
/// The name of WGS 84 with the longitude first.
const WGS84_NAME: &str = "urn:ogc:def:crs:OGC:1.3:CRS84";
/// The name of SRID 0 in documents that CAST makes.
const PLANE_NAME: &str = "urn:ogc:def:crs:MySQL::0";

/// How a geometry is printed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Format {
    /// The number of decimals to which coordinates are rounded, if they are.
    pub decimals: Option<u32>,
    /// Whether bounding boxes are added.
    pub bounding_box: bool,
    /// The name of the system.
    pub system: SystemName,
}

/// How the system is named in a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SystemName {
    /// Not at all.
    #[default]
    None,
    /// `EPSG:4326`
    Short,
    /// `urn:ogc:def:crs:EPSG::4326`
    Long,
    /// As `Long`, and SRID 0 too.
    Always,
}

/// The document of a geometry.
pub fn to_json(srid: u32, geometry: &Geometry, format: Format) -> Json {
    let Json::Object(mut document) = object(geometry, format) else {
        return Json::Null;
    };
    let name = match format.system {
        SystemName::Always if srid == 0 => Some(PLANE_NAME.to_owned()),
        SystemName::Short if srid != 0 => Some(format!("{SHORT_NAME}{srid}")),
        SystemName::Long | SystemName::Always if srid != 0 => Some(format!("{LONG_NAME}{srid}")),
        _ => None,
    };
    if let Some(name) = name {
        let properties = JsonObject::of(vec![("name".to_owned(), Json::String(name))]);
        let system = JsonObject::of(vec![
            ("type".to_owned(), Json::String("name".to_owned())),
            ("properties".to_owned(), Json::Object(properties)),
        ]);
        document.insert("crs".to_owned(), Json::Object(system));
    }
    Json::Object(document)
}

fn object(geometry: &Geometry, format: Format) -> Json {
    let position = |point: &Position| {
        let number = |value: f64| Json::Double(rounded(value, format.decimals));
        Json::Array(vec![number(point.x), number(point.y)])
    };
    let line = |points: &Vec<Position>| Json::Array(points.iter().map(position).collect());
    let rings = |rings: &Vec<Vec<Position>>| Json::Array(rings.iter().map(line).collect());
    let kind = geometry.kind();
    let content = match geometry {
        Geometry::Point(point) => position(point),
        Geometry::LineString(points) => line(points),
        Geometry::Polygon(exterior_first) => rings(exterior_first),
        Geometry::Collection(GeometryKind::Collection, elements) => {
            Json::Array(elements.iter().map(|it| object(it, format)).collect())
        }
        Geometry::Collection(_, elements) => Json::Array(
            elements
                .iter()
                .map(|element| match element {
                    Geometry::Point(point) => position(point),
                    Geometry::LineString(points) => line(points),
                    Geometry::Polygon(exterior_first) => rings(exterior_first),
                    Geometry::Collection(..) => Json::Null,
                })
                .collect(),
        ),
    };
    let name = match kind {
        GeometryKind::Collection => "geometries",
        _ => "coordinates",
    };
    let mut members = vec![
        ("type".to_owned(), Json::String(kind.json_name().to_owned())),
        (name.to_owned(), content),
    ];
    let has_elements =
        !matches!(geometry, Geometry::Collection(_, elements) if elements.is_empty());
    if format.bounding_box && has_elements {
        members.push(("bbox".to_owned(), bounding_box(geometry, format.decimals)));
    }
    Json::Object(JsonObject::of(members))
}

/// The least and the greatest coordinates.
fn bounding_box(geometry: &Geometry, decimals: Option<u32>) -> Json {
    let mut bounds = [f64::MAX, f64::MAX, f64::MIN, f64::MIN];
    geometry.for_each_position(&mut |point| {
        let point = Position {
            x: rounded(point.x, decimals),
            y: rounded(point.y, decimals),
        };
        bounds = [
            bounds[0].min(point.x),
            bounds[1].min(point.y),
            bounds[2].max(point.x),
            bounds[3].max(point.y),
        ];
    });
    Json::Array(bounds.into_iter().map(Json::Double).collect())
}

fn rounded(value: f64, decimals: Option<u32>) -> f64 {
    if !value.is_finite() {
        // Documents have no number for it.
        return 0.0;
    }
    let Some(decimals) = decimals else {
        return value;
    };
    let power = 10f64.powi(i32::try_from(decimals).unwrap_or(i32::MAX));
    let scaled = value * power;
    if !power.is_finite() || !scaled.is_finite() {
        return value;
    }
    round_half_even(scaled) / power
}

/// What is done with coordinates after the second one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FurtherDimensions {
    /// They are an error.
    Refused,
    /// They are left out.
    Dropped,
}

/// A geometry that was read, and the SRID that the document names.
#[derive(Debug, PartialEq)]
pub struct Parsed {
    /// The geometry; `None` for `null`, or a feature without a geometry.
    pub geometry: Option<Geometry>,
    /// The SRID of the member `crs`.
    pub srid: Option<u32>,
}

/// Reads a document for a function, whose errors name it.
pub fn parse(document: &Json, function: &str, further: FurtherDimensions) -> Result<Parsed> {
    let parser = Parser { function, further };
    let object = match document {
        Json::Null => {
            return Ok(Parsed {
                geometry: None,
                srid: None,
            });
        }
        Json::Object(object) => object,
        _ => return Err(parser.invalid()),
    };
    let srid = parser.system(object)?;
    let geometry = parser.geometry(object, 0)?;
    Ok(Parsed { geometry, srid })
}

struct Parser<'a> {
    function: &'a str,
    further: FurtherDimensions,
}

/// A member whose name is equal but for letters.
fn find<'a>(object: &'a JsonObject, name: &str) -> Option<&'a Json> {
    let mut members = object.members().iter();
    members
        .find(|(key, _)| key.eq_ignore_ascii_case(name))
        .map(|(_, value)| value)
}

impl Parser<'_> {
    fn invalid(&self) -> Error {
        codes::ER_INVALID_GEOJSON_UNSPECIFIED.with(&[&self.function])
    }

    fn wrong_type(&self, member: &str, wanted: &str) -> Error {
        codes::ER_INVALID_GEOJSON_WRONG_TYPE.with(&[&self.function, &member, &wanted])
    }

    fn required<'a>(&self, object: &'a JsonObject, name: &str) -> Result<&'a Json> {
        find(object, name)
            .ok_or_else(|| codes::ER_INVALID_GEOJSON_MISSING_MEMBER.with(&[&self.function, &name]))
    }

    fn string<'a>(&self, object: &'a JsonObject, name: &str) -> Result<&'a str> {
        match self.required(object, name)? {
            Json::String(text) => Ok(text),
            _ => Err(self.wrong_type(name, "string")),
        }
    }

    fn array<'a>(&self, object: &'a JsonObject, name: &str) -> Result<&'a [Json]> {
        match self.required(object, name)? {
            Json::Array(items) => Ok(items),
            _ => Err(self.wrong_type(name, "array")),
        }
    }

    /// An object, or `null`.
    fn object<'a>(&self, object: &'a JsonObject, name: &str) -> Result<Option<&'a JsonObject>> {
        match self.required(object, name)? {
            Json::Object(member) => Ok(Some(member)),
            Json::Null => Ok(None),
            _ => Err(self.wrong_type(name, "object")),
        }
    }

    /// The SRID that the member `crs` names.
    fn system(&self, object: &JsonObject) -> Result<Option<u32>> {
        if find(object, "crs").is_none() {
            return Ok(None);
        }
        let Some(system) = self.object(object, "crs")? else {
            return Ok(None);
        };
        let kind = self.string(system, "type")?;
        let properties = self.object(system, "properties")?;
        let properties = properties.ok_or_else(|| self.wrong_type("properties", "object"))?;
        let name = self.string(properties, "name")?;
        if kind != "name" {
            return Err(self.invalid());
        }
        if name == WGS84_NAME {
            return Ok(Some(SRID_DEFAULT));
        }
        let number = name
            .strip_prefix(LONG_NAME)
            .or_else(|| name.strip_prefix(SHORT_NAME));
        let srid = number.and_then(|number| number.parse().ok());
        srid.map(Some).ok_or_else(|| self.invalid())
    }

    /// The geometry of an object: a geometry, a feature or a collection of features.
    fn geometry(&self, object: &JsonObject, depth: usize) -> Result<Option<Geometry>> {
        if depth > DEPTH_MAX {
            return Err(self.invalid());
        }
        let name = self.string(object, "type")?;
        if depth > 0 && find(object, "crs").is_some() {
            return Err(codes::ER_INVALID_GEOJSON_CRS_NOT_TOP_LEVEL.with(&[&self.function]));
        }
        let elements_of = match name {
            "Feature" => {
                let geometry = self.object(object, "geometry")?;
                self.object(object, "properties")?;
                return match geometry {
                    Some(geometry) => self.geometry(geometry, depth + 1),
                    None => Ok(None),
                };
            }
            "FeatureCollection" => Some("features"),
            "GeometryCollection" => Some("geometries"),
            _ => None,
        };
        if let Some(member) = elements_of {
            let mut elements = Vec::new();
            for element in self.array(object, member)? {
                let Json::Object(element) = element else {
                    return Err(self.wrong_type(member, "object array"));
                };
                elements.extend(self.geometry(element, depth + 1)?);
            }
            return Ok(Some(Geometry::Collection(
                GeometryKind::Collection,
                elements,
            )));
        }
        let kind = GeometryKind::of_json_name(name).ok_or_else(|| self.invalid())?;
        let coordinates = self.array(object, "coordinates")?;
        self.of_coordinates(kind, coordinates).map(Some)
    }

    fn of_coordinates(&self, kind: GeometryKind, coordinates: &[Json]) -> Result<Geometry> {
        Ok(match kind {
            GeometryKind::Point => Geometry::Point(self.position(coordinates)?),
            GeometryKind::LineString => Geometry::LineString(self.positions(coordinates, 2)?),
            GeometryKind::Polygon => {
                let rings = self.arrays(coordinates)?;
                let rings = rings.map(|ring| {
                    let points = self.positions(ring?, 4)?;
                    match points.first() == points.last() {
                        true => Ok(points),
                        false => Err(self.invalid()),
                    }
                });
                Geometry::Polygon(rings.collect::<Result<_>>()?)
            }
            _ => {
                let element = kind.element().ok_or_else(|| self.invalid())?;
                let elements = self.arrays(coordinates)?;
                let elements = elements.map(|element_of| self.of_coordinates(element, element_of?));
                Geometry::Collection(kind, elements.collect::<Result<_>>()?)
            }
        })
    }

    /// The items of an array, which are arrays; there is at least one.
    fn arrays<'a>(
        &'a self,
        items: &'a [Json],
    ) -> Result<impl Iterator<Item = Result<&'a [Json]>> + 'a> {
        if items.is_empty() {
            return Err(self.invalid());
        }
        Ok(items.iter().map(|item| match item {
            Json::Array(items) => Ok(items.as_slice()),
            _ => Err(self.invalid()),
        }))
    }

    fn positions(&self, items: &[Json], least: usize) -> Result<Vec<Position>> {
        if items.len() < least {
            return Err(self.invalid());
        }
        self.arrays(items)?
            .map(|item| self.position(item?))
            .collect()
    }

    fn position(&self, items: &[Json]) -> Result<Position> {
        let number = |item: &Json| match item {
            Json::Int(value) => Ok(*value as f64),
            Json::UInt(value) => Ok(*value as f64),
            Json::Double(value) => Ok(*value),
            Json::Decimal(value) => Ok(value.to_f64()),
            _ => Err(self.wrong_type("array coordinate", "number")),
        };
        let numbers = items.iter().map(number).collect::<Result<Vec<f64>>>()?;
        match numbers.as_slice() {
            [x, y] => Ok(Position { x: *x, y: *y }),
            [x, y, ..] if self.further == FurtherDimensions::Dropped => {
                Ok(Position { x: *x, y: *y })
            }
            [_, _, ..] => {
                Err(codes::ER_DIMENSION_UNSUPPORTED.with(&[&self.function, &numbers.len(), &2]))
            }
            _ => Err(self.invalid()),
        }
    }
}
