//! Arguments and results of the family: values that are geometries, SRIDs, and the errors of both.

use arrow_array::ArrayRef;
use mayfly_types::error::codes;
use mayfly_types::geometry::bytes::{self, Rules};
use mayfly_types::geometry::systems::{self, OutOfRange, SpatialReferenceSystem};
use mayfly_types::geometry::{Geometry, GeometryError, GeometryKind};
use mayfly_types::{Error, Result, SqlType};

use crate::input::{AnyInts, Texts};
use crate::{Binding, Call, Signature, derive, output};

/// A geometry of any kind, which results are.
pub(super) fn any_geometry() -> SqlType {
    SqlType::geometry(GeometryKind::Any)
}

/// The signature of a function of one geometry whose result may be NULL.
pub(super) fn of_geometry(binding: &Binding<'_>, result: SqlType) -> Result<Signature> {
    Ok(Signature::new(vec![binding.text(0)], result, true))
}

/// The signature of a function of a geometry and a number.
pub(super) fn of_geometry_and_number(
    binding: &Binding<'_>,
    number: SqlType,
    result: SqlType,
) -> Result<Signature> {
    Ok(Signature::new(vec![binding.text(0), number], result, true))
}

/// Error 3037, or 3055.
pub(super) fn invalid(error: GeometryError, function: &str) -> Error {
    match error {
        GeometryError::Invalid => codes::ER_GIS_INVALID_DATA.with(&[&function]),
        GeometryError::BigEndian => codes::ER_GIS_DATA_WRONG_ENDIANESS.error(),
    }
}

/// The system of an SRID; error 3548 if there is none.
pub(super) fn system(srid: u32) -> Result<SpatialReferenceSystem> {
    systems::system(srid).ok_or_else(|| codes::ER_SRS_NOT_FOUND.with(&[&srid]))
}

/// An error's text of a coordinate.
fn shown(value: f64) -> String {
    format!("{value:.6}")
}

/// Error 3616 or 3617: a coordinate that a function was given is out of range.
pub(super) fn out_of_range(coordinate: OutOfRange, function: &str) -> Error {
    match coordinate {
        OutOfRange::Longitude(value, most) => codes::ER_LONGITUDE_OUT_OF_RANGE.with(&[
            &shown(value),
            &function,
            &shown(-most),
            &shown(most),
        ]),
        OutOfRange::Latitude(value, most) => codes::ER_LATITUDE_OUT_OF_RANGE.with(&[
            &shown(value),
            &function,
            &shown(-most),
            &shown(most),
        ]),
    }
}

/// Error 3731 or 3732: a geometry has a coordinate out of range.
pub(super) fn parameter_out_of_range(coordinate: OutOfRange, function: &str) -> Error {
    let (code, value, most) = match coordinate {
        OutOfRange::Longitude(value, most) => {
            (codes::ER_GEOMETRY_PARAM_LONGITUDE_OUT_OF_RANGE, value, most)
        }
        OutOfRange::Latitude(value, most) => {
            (codes::ER_GEOMETRY_PARAM_LATITUDE_OUT_OF_RANGE, value, most)
        }
    };
    code.with(&[&function, &shown(value), &shown(-most), &shown(most)])
}

/// A geometry with its SRID.
pub(super) type Value = (u32, Geometry);

/// An argument that is a geometry.
pub(super) struct Geometries<'a> {
    values: Texts<'a>,
    function: &'a str,
}

impl<'a> Geometries<'a> {
    pub(super) fn new(call: &Call<'a>, index: usize) -> Result<Self> {
        Self::named(call, index, call.name)
    }

    /// An argument of a function that errors call `function`.
    pub(super) fn named(call: &Call<'a>, index: usize, function: &'a str) -> Result<Self> {
        Ok(Self {
            values: call.texts(index)?,
            function,
        })
    }

    /// Reads a row under some rules, whatever its SRID.
    pub(super) fn read(&self, row: usize, rules: Rules) -> Result<Option<Value>> {
        let value = self.values.get(row);
        let read = value.map(|value| bytes::read(value, rules));
        read.transpose()
            .map_err(|error| invalid(error, self.function))
    }

    /// A row's value for functions that look at its structure.
    pub(super) fn get(&self, row: usize) -> Result<Option<Value>> {
        let value = self.read(row, Rules::STRUCTURE)?;
        if let Some((srid, _)) = &value {
            system(*srid)?;
        }
        Ok(value)
    }

    /// A row's value and system for functions that compute with coordinates.
    pub(super) fn computed(&self, row: usize) -> Result<Option<(Value, SpatialReferenceSystem)>> {
        let Some((srid, geometry)) = self.read(row, Rules::COMPUTED)? else {
            return Ok(None);
        };
        let system = system(srid)?;
        system
            .check(&geometry)
            .map_err(|coordinate| parameter_out_of_range(coordinate, self.function))?;
        Ok(Some(((srid, geometry), system)))
    }
}

/// An argument that is an SRID, if it is given.
pub(super) struct Srids<'a> {
    numbers: Option<AnyInts<'a>>,
    function: &'static str,
    default: u32,
}

impl<'a> Srids<'a> {
    /// The SRIDs of an argument, or a default if the call has no such argument.
    pub(super) fn new(call: &Call<'a>, index: usize, default: u32) -> Result<Self> {
        Ok(Self {
            numbers: call.optional(index, crate::input::any_ints)?,
            function: call.name,
            default,
        })
    }

    /// A row's SRID; error 1690 for a number that is none.
    pub(super) fn get(&self, row: usize) -> Result<Option<u32>> {
        let Some(numbers) = &self.numbers else {
            return Ok(Some(self.default));
        };
        let srid = numbers.get(row).map(u32::try_from).transpose();
        srid.map_err(|_| codes::ER_DATA_OUT_OF_RANGE.with(&[&"SRID", &self.function]))
    }
}

/// The type that an SRID is read as.
pub(super) fn srid_type(binding: &Binding<'_>, index: usize) -> SqlType {
    derive::integer_of(&binding.arguments[index])
}

/// Results that are geometries, computed row by row.
pub(super) fn geometries(
    call: &Call<'_>,
    mut compute: impl FnMut(usize) -> Result<Option<Value>>,
) -> Result<ArrayRef> {
    output::texts(call, |row, out| {
        let value = compute(row)?;
        if let Some((srid, geometry)) = &value {
            bytes::append(out, *srid, geometry);
        }
        Ok(value.is_some())
    })
}
