//! GeoJSON: ST_ASGEOJSON(geometry[, decimals[, options]]), ST_GEOMFROMGEOJSON(document[, options[, srid]]).

use arrow_array::ArrayRef;
use mayfly_types::error::codes;
use mayfly_types::geometry::bytes::Rules;
use mayfly_types::geometry::geojson::{self, Format, FurtherDimensions, SRID_DEFAULT, SystemName};
use mayfly_types::json;
use mayfly_types::{Result, SqlType, TypeKind};

use super::arguments::{self, Geometries, Srids, out_of_range, system};
use crate::choice::as_value;
use crate::input::{self, AnyInts};
use crate::scalar::Row;
use crate::scalar::facts::{Fact, ParameterType, Parameters};
use crate::{Binding, Call, Signature, derive, output};

/// The options of ST_ASGEOJSON(): a bounding box, the short and the long name of the system.
const BOUNDING_BOX: i64 = 1;
const SHORT_NAME: i64 = 2;
const LONG_NAME: i64 = 4;
/// The greatest sum of options.
const OPTIONS_MAX: i64 = 7;
/// The greatest number of decimals.
const DECIMALS_MAX: i64 = i32::MAX as i64;

pub(super) const FUNCTIONS: &[Row] = &[
    Row::new(&["st_asgeojson"], 1..=3, print_signature, as_geojson)
        .parameters(Parameters::Typed(&[(ParameterType::Bytes, 0..1)])),
    Row::new(&["st_geomfromgeojson"], 1..=3, read_signature, from_geojson)
        .with(&[Fact::StopsAtNull])
        .parameters(Parameters::Typed(&[(ParameterType::Json, 0..1)])),
];

/// The type of an integer argument; error 3064, with the argument's name, for a number of another type.
fn integer(binding: &Binding<'_>, index: usize, name: &str) -> Result<SqlType> {
    let argument = &binding.arguments[index];
    let ty = argument.ty;
    let is_integer = ty.is_integer() || ty.is_string() || ty.kind == TypeKind::Null;
    match is_integer {
        true => Ok(derive::integer_of(argument)),
        false => Err(wrong_type(binding, name)),
    }
}

fn wrong_type(binding: &Binding<'_>, name: &str) -> mayfly_types::Error {
    codes::ER_INCORRECT_TYPE.with(&[&name, &binding.name])
}

fn print_signature(binding: &Binding<'_>) -> Result<Signature> {
    let ty = binding.arguments[0].ty;
    if !ty.is_binary_string() && ty.kind != TypeKind::Null {
        return Err(wrong_type(binding, "geometry"));
    }
    let mut types = vec![binding.text(0)];
    for (index, name) in [(1, "max decimal digits"), (2, "options")] {
        if index < binding.arguments.len() {
            types.push(integer(binding, index, name)?);
        }
    }
    Ok(Signature::new(types, SqlType::json(), true))
}

/// An optional number, which must be in a range: error 1411 with what it is.
struct Numbers<'a> {
    numbers: Option<AnyInts<'a>>,
    function: &'static str,
    what: &'static str,
}

impl<'a> Numbers<'a> {
    fn new(call: &Call<'a>, index: usize, what: &'static str) -> Result<Self> {
        Ok(Self {
            numbers: call.optional(index, input::any_ints)?,
            function: call.name,
            what,
        })
    }

    /// A row's number, if the argument is given; `None` is NULL.
    fn get(&self, row: usize, least: i64, most: i64) -> Result<Option<Option<i64>>> {
        let Some(numbers) = &self.numbers else {
            return Ok(Some(None));
        };
        let Some(number) = numbers.get(row) else {
            return Ok(None);
        };
        match i64::try_from(number) {
            Ok(known) if (least..=most).contains(&known) => Ok(Some(Some(known))),
            _ => {
                let wrong = codes::ER_WRONG_VALUE_FOR_TYPE;
                Err(wrong.with(&[&self.what, &number, &self.function]))
            }
        }
    }
}

fn as_geojson(call: &Call<'_>) -> Result<ArrayRef> {
    let values = Geometries::new(call, 0)?;
    let decimals = Numbers::new(call, 1, "max decimal digits")?;
    let options = Numbers::new(call, 2, "options")?;
    output::documents(call, |row, out| {
        let decimals = decimals.get(row, 0, DECIMALS_MAX)?;
        let Some(decimals) = decimals else {
            return Ok(false);
        };
        let Some(options) = options.get(row, 0, OPTIONS_MAX)? else {
            return Ok(false);
        };
        let Some((srid, geometry)) = values.read(row, Rules::STRUCTURE)? else {
            return Ok(false);
        };
        let has = |option: i64| options.unwrap_or(0) & option != 0;
        let format = Format {
            decimals: decimals.and_then(|decimals| u32::try_from(decimals).ok()),
            bounding_box: has(BOUNDING_BOX),
            system: if has(LONG_NAME) {
                SystemName::Long
            } else if has(SHORT_NAME) {
                SystemName::Short
            } else {
                SystemName::None
            },
        };
        geojson::to_json(srid, &geometry, format).append_to(out);
        Ok(true)
    })
}

fn read_signature(binding: &Binding<'_>) -> Result<Signature> {
    let ty = binding.arguments[0].ty;
    let is_text = ty.is_string() && !ty.is_binary_string();
    if !is_text && !matches!(ty.kind, TypeKind::Json | TypeKind::Null) {
        return Err(wrong_type(binding, "geojson"));
    }
    let mut types = vec![as_value(ty)];
    for (index, name) in [(1, "options"), (2, "SRID")] {
        if index < binding.arguments.len() {
            types.push(integer(binding, index, name)?);
        }
    }
    Ok(Signature::new(types, arguments::any_geometry(), true))
}

fn from_geojson(call: &Call<'_>) -> Result<ArrayRef> {
    let sources = call.texts(0)?;
    let is_document = call.ty(0).kind == TypeKind::Json;
    let options = Numbers::new(call, 1, "option")?;
    let srids = Srids::new(call, 2, SRID_DEFAULT)?;
    let has_srid = call.arguments.len() > 2;
    arguments::geometries(call, |row| {
        let Some(source) = sources.get(row) else {
            return Ok(None);
        };
        let Some(option) = options.get(row, 1, 4)? else {
            return Ok(None);
        };
        let Some(srid) = srids.get(row)? else {
            return Ok(None);
        };
        let document = if is_document {
            json::parse_normalized(source)
        } else {
            json::parse(source)
        };
        let document = document.map_err(|error| error.in_argument(1, call.name))?;
        let further = match option {
            None | Some(1) => FurtherDimensions::Refused,
            Some(_) => FurtherDimensions::Dropped,
        };
        let parsed = geojson::parse(&document, call.name, further)?;
        let Some(geometry) = parsed.geometry else {
            return Ok(None);
        };
        let srid = match parsed.srid {
            Some(named) if !has_srid => named,
            _ => srid,
        };
        let checked = system(srid)?.check(&geometry);
        checked.map_err(|wrong| out_of_range(wrong, call.name))?;
        Ok(Some((srid, geometry)))
    })
}
