//! Geometries from Well-Known Text and WKB: ST_GEOMFROMTEXT(text[, srid[, options]]), ST_GEOMFROMWKB(wkb[, srid[,
//! options]]), and their kin for each kind of geometry.

use arrow_array::ArrayRef;
use mayfly_types::Result;
use mayfly_types::error::codes;
use mayfly_types::geometry::bytes::{Rules, read_wkb};
use mayfly_types::geometry::{Geometry, GeometryError, GeometryKind, text};

use super::arguments::{self, Srids, invalid, out_of_range, system};
use super::options::Options;
use crate::scalar::Row;
use crate::scalar::facts::{Fact, ParameterType, Parameters};
use crate::{Binding, Call, Signature};

/// A function of texts by its name.
const fn of_text(names: &'static [&'static str]) -> Row {
    Row::new(names, 1..=3, signature, from_text)
        .with(&[Fact::StopsAtNull])
        .parameters(Parameters::Typed(&[(ParameterType::Text, 0..1)]))
}

/// A function of WKB by its name.
const fn of_wkb(names: &'static [&'static str]) -> Row {
    Row::new(names, 1..=3, signature, from_wkb)
        .with(&[Fact::StopsAtNull])
        .parameters(Parameters::Typed(&[(ParameterType::Bytes, 0..1)]))
}

/// Each name is a function of its own, because errors have it.
pub(super) const FUNCTIONS: &[Row] = &[
    of_text(&["st_geomfromtext"]),
    of_text(&["st_geometryfromtext"]),
    of_text(&["st_pointfromtext"]),
    of_text(&["st_linefromtext"]),
    of_text(&["st_linestringfromtext"]),
    of_text(&["st_polyfromtext"]),
    of_text(&["st_polygonfromtext"]),
    of_text(&["st_mpointfromtext"]),
    of_text(&["st_multipointfromtext"]),
    of_text(&["st_mlinefromtext"]),
    of_text(&["st_multilinestringfromtext"]),
    of_text(&["st_mpolyfromtext"]),
    of_text(&["st_multipolygonfromtext"]),
    of_text(&["st_geomcollfromtext"]),
    of_text(&["st_geomcollfromtxt"]),
    of_text(&["st_geometrycollectionfromtext"]),
    of_wkb(&["st_geomfromwkb"]),
    of_wkb(&["st_geometryfromwkb"]),
    of_wkb(&["st_pointfromwkb"]),
    of_wkb(&["st_linefromwkb"]),
    of_wkb(&["st_linestringfromwkb"]),
    of_wkb(&["st_polyfromwkb"]),
    of_wkb(&["st_polygonfromwkb"]),
    of_wkb(&["st_mpointfromwkb"]),
    of_wkb(&["st_multipointfromwkb"]),
    of_wkb(&["st_mlinefromwkb"]),
    of_wkb(&["st_multilinestringfromwkb"]),
    of_wkb(&["st_mpolyfromwkb"]),
    of_wkb(&["st_multipolygonfromwkb"]),
    of_wkb(&["st_geomcollfromwkb"]),
    of_wkb(&["st_geometrycollectionfromwkb"]),
];

/// The kind that a function makes, by its name without `st_` and what it reads.
fn kind_of(function: &str) -> GeometryKind {
    let name = function.trim_start_matches("st_");
    let end = name.find("from").unwrap_or(name.len());
    match &name[..end] {
        "point" => GeometryKind::Point,
        "line" | "linestring" => GeometryKind::LineString,
        "poly" | "polygon" => GeometryKind::Polygon,
        "mpoint" | "multipoint" => GeometryKind::MultiPoint,
        "mline" | "multilinestring" => GeometryKind::MultiLineString,
        "mpoly" | "multipolygon" => GeometryKind::MultiPolygon,
        "geomcoll" | "geometrycollection" => GeometryKind::Collection,
        _ => GeometryKind::Any,
    }
}

fn signature(binding: &Binding<'_>) -> Result<Signature> {
    let mut types = binding.texts();
    if let Some(srid) = types.get_mut(1) {
        *srid = arguments::srid_type(binding, 1);
    }
    Ok(Signature::new(types, arguments::any_geometry(), true))
}

fn from_text(call: &Call<'_>) -> Result<ArrayRef> {
    read(call, "WKT", text::parse)
}

fn from_wkb(call: &Call<'_>) -> Result<ArrayRef> {
    read(call, "WKB", |wkb| read_wkb(wkb, Rules::WKB))
}

/// Reads every row of a format; `format` is its name in error 3516.
fn read(
    call: &Call<'_>,
    format: &str,
    parse: impl Fn(&[u8]) -> Result<Geometry, GeometryError>,
) -> Result<ArrayRef> {
    let sources = call.texts(0)?;
    let srids = Srids::new(call, 1, 0)?;
    let options = Options::new(call, 2)?;
    let wanted = kind_of(call.name);
    arguments::geometries(call, |row| {
        let Some(source) = sources.get(row) else {
            return Ok(None);
        };
        let Some(srid) = srids.get(row)? else {
            return Ok(None);
        };
        let system = system(srid)?;
        let Some(order) = options.get(row)? else {
            return Ok(None);
        };
        let mut geometry = parse(source).map_err(|error| invalid(error, call.name))?;
        if !wanted.includes(geometry.kind()) {
            let kind = geometry.kind().name();
            return Err(codes::ER_GEOMETRY_UNEXPECTED_TYPE.with(&[&format, &kind, &call.name]));
        }
        if order.swaps(system) {
            geometry.swap();
        }
        let checked = system.check(&geometry);
        checked.map_err(|coordinate| out_of_range(coordinate, call.name))?;
        Ok(Some((srid, geometry)))
    })
}
