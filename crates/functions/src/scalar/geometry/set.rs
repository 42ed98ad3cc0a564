//! Coordinates and SRIDs, read and replaced: ST_X(point[, x]), ST_Y(point[, y]), ST_LATITUDE(point[, latitude]),
//! ST_LONGITUDE(point[, longitude]), ST_SRID(geometry[, srid]).

use arrow_array::ArrayRef;
use mayfly_types::error::codes;
use mayfly_types::geometry::bytes::Rules;
use mayfly_types::geometry::systems::{self, SpatialReferenceSystem};
use mayfly_types::geometry::{Geometry, GeometryKind, Position};
use mayfly_types::{Result, SqlType};

use super::arguments::{
    self, Geometries, Srids, Value, out_of_range, parameter_out_of_range, system,
};
use super::describe;
use crate::scalar::Row;
use crate::scalar::facts::{Fact, ParameterType, Parameters};
use crate::{Binding, Call, Signature, derive, output};

/// A coordinate of a value.
#[derive(Clone, Copy, PartialEq)]
enum Coordinate {
    X,
    Y,
}

const fn of_point(names: &'static [&'static str], evaluate: crate::scalar::Evaluate) -> Row {
    Row::new(names, 1..=2, coordinate_signature, evaluate)
        .with(&[Fact::StopsAtNull])
        .parameters(Parameters::Typed(&[
            (ParameterType::Bytes, 0..1),
            (ParameterType::Double, 1..2),
        ]))
}

pub(super) const FUNCTIONS: &[Row] = &[
    of_point(&["st_x"], x),
    of_point(&["st_y"], y),
    of_point(&["st_latitude"], latitude),
    of_point(&["st_longitude"], longitude),
    Row::new(&["st_srid"], 1..=2, srid_signature, srid)
        .with(&[Fact::StopsAtNull])
        .parameters(Parameters::Typed(&[(ParameterType::Bytes, 0..1)])),
];

fn coordinate_signature(binding: &Binding<'_>) -> Result<Signature> {
    if binding.arguments.len() == 1 {
        let nullable = binding.any_nullable();
        let result = derive::double_of_decimals(u8::MAX);
        return Ok(Signature::new(vec![binding.text(0)], result, nullable));
    }
    let result = arguments::any_geometry();
    arguments::of_geometry_and_number(binding, SqlType::double(), result)
}

fn srid_signature(binding: &Binding<'_>) -> Result<Signature> {
    if binding.arguments.len() == 1 {
        let types = vec![binding.text(0)];
        return Ok(Signature::new(
            types,
            describe::number(),
            binding.any_nullable(),
        ));
    }
    let srid = arguments::srid_type(binding, 1);
    arguments::of_geometry_and_number(binding, srid, arguments::any_geometry())
}

fn x(call: &Call<'_>) -> Result<ArrayRef> {
    // The first axis of the system.
    coordinate(call, |system| Ok(axis(system, true)))
}

fn y(call: &Call<'_>) -> Result<ArrayRef> {
    coordinate(call, |system| Ok(axis(system, false)))
}

fn axis(system: SpatialReferenceSystem, is_first: bool) -> Coordinate {
    match system.is_latitude_first() == is_first {
        true => Coordinate::Y,
        false => Coordinate::X,
    }
}

fn latitude(call: &Call<'_>) -> Result<ArrayRef> {
    geographic(call, Coordinate::Y)
}

fn longitude(call: &Call<'_>) -> Result<ArrayRef> {
    geographic(call, Coordinate::X)
}

/// A coordinate of points in geographic systems; error 3726 in others.
fn geographic(call: &Call<'_>, coordinate_of: Coordinate) -> Result<ArrayRef> {
    coordinate(call, |system| match system.is_geographic() {
        true => Ok(coordinate_of),
        false => Err(()),
    })
}

/// Reads or replaces the coordinate that a system chooses.
fn coordinate(
    call: &Call<'_>,
    choose: impl Fn(SpatialReferenceSystem) -> Result<Coordinate, ()>,
) -> Result<ArrayRef> {
    let values = Geometries::new(call, 0)?;
    let point = |row: usize| -> Result<_> {
        let Some(((srid, geometry), system)) = values.computed(row)? else {
            return Ok(None);
        };
        let Geometry::Point(point) = geometry else {
            let (wanted, kind) = (GeometryKind::Point.name(), geometry.kind().name());
            let unexpected = codes::ER_GEOMETRY_UNEXPECTED_TYPE;
            return Err(unexpected.with(&[&wanted, &kind, &call.name]));
        };
        let chosen =
            choose(system).map_err(|()| codes::ER_SRS_NOT_GEOGRAPHIC.with(&[&call.name, &srid]))?;
        Ok(Some((srid, system, chosen, point)))
    };
    if call.arguments.len() == 1 {
        return output::floats(call.rows, |row| {
            let value = point(row)?;
            Ok(value.map(|(_, _, chosen, point)| match chosen {
                Coordinate::X => point.x,
                Coordinate::Y => point.y,
            }))
        });
    }
    let numbers = call.floats(1)?;
    arguments::geometries(call, |row| {
        let Some((srid, system, chosen, point)) = point(row)? else {
            return Ok(None);
        };
        let Some(number) = numbers.get(row) else {
            return Ok(None);
        };
        let (checked, point) = match chosen {
            Coordinate::X => (
                system.check_longitude(number),
                Position { x: number, ..point },
            ),
            Coordinate::Y => (
                system.check_latitude(number),
                Position { y: number, ..point },
            ),
        };
        checked.map_err(|wrong| out_of_range(wrong, call.name))?;
        Ok(Some((srid, Geometry::Point(point))))
    })
}

fn srid(call: &Call<'_>) -> Result<ArrayRef> {
    let values = Geometries::new(call, 0)?;
    if call.arguments.len() == 1 {
        return output::ints(call.rows, |row| {
            let Some((srid, _)) = values.read(row, Rules::COMPUTED)? else {
                return Ok(None);
            };
            if systems::system(srid).is_none() {
                let unknown = codes::ER_WARN_SRS_NOT_FOUND.with(&[&srid]);
                call.context.warn(unknown);
            }
            Ok(Some(i64::from(srid)))
        });
    }
    let srids = Srids::new(call, 1, 0)?;
    arguments::geometries(call, |row| {
        let Some((_, geometry)) = values.read(row, Rules::COMPUTED)? else {
            return Ok(None);
        };
        let Some(srid) = srids.get(row)? else {
            return Ok(None);
        };
        let checked = system(srid)?.check(&geometry);
        checked.map_err(|wrong| parameter_out_of_range(wrong, call.name))?;
        let value: Value = (srid, geometry);
        Ok(Some(value))
    })
}
