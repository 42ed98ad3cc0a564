//! Objects of Python as the values of `?`.
//!
//! Nothing is rounded on the way: a number that no DECIMAL holds exactly, an infinite one, and a TIME beyond 838:59:59 are
//! DataErrors.

use mayfly::{Date, DateTime, Decimal, Parameter, Time, ToParameter, Value, parse_decimal};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyDate, PyDateAccess, PyDateTime, PyDelta, PyDeltaAccess,
    PyFloat, PyInt, PyList, PyMapping, PyMemoryView, PySequence, PyString, PyTime, PyTimeAccess,
    PyTuple, PyType,
};

use crate::errors::{self, Class};
use crate::values::decimal_type;

/// The digits that a DECIMAL may have behind the point.
const SCALE_MAX: u8 = 30;
/// 838:59:59
const TIME_MAX: i64 = ((838 * 60 + 59) * 60 + 59) * 1_000_000;

/// The values of a statement's `?`: None, or a sequence.
///
/// # Errors
/// ProgrammingError for what is no sequence of values that a parameter can have, DataError for a value that SQL cannot hold.
pub(crate) fn parameters(given: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<Parameter>> {
    let Some(given) = given.filter(|given| !given.is_none()) else {
        return Ok(Vec::new());
    };
    if let Ok(tuple) = given.cast::<PyTuple>() {
        return tuple.iter().map(|value| parameter(&value)).collect();
    }
    if let Ok(list) = given.cast::<PyList>() {
        return list.iter().map(|value| parameter(&value)).collect();
    }
    let is_text = given.is_instance_of::<PyString>() || given.is_instance_of::<PyBytes>();
    if is_text || given.is_instance_of::<PyMapping>() || !is_sequence(given) {
        let ty = given.get_type().name()?;
        let why = format!(
            "parameters are a sequence of values, one for each ?, not an object of type {ty}"
        );
        return Err(errors::of_package(given.py(), Class::Programming, why));
    }
    let values = given.try_iter()?;
    values.map(|value| parameter(&value?)).collect()
}

fn is_sequence(given: &Bound<'_, PyAny>) -> bool {
    // An array of numpy is no Sequence by its class.
    given.is_instance_of::<PySequence>()
        || (given.hasattr("__len__").unwrap_or(false)
            && given.hasattr("__getitem__").unwrap_or(false))
}

/// An object as a parameter.
///
/// # Errors
/// ProgrammingError for an object that is no value of SQL, DataError for a value that SQL cannot hold.
pub(crate) fn parameter(value: &Bound<'_, PyAny>) -> PyResult<Parameter> {
    let py = value.py();
    if value.is_none() {
        return Ok(Value::Null.to_parameter());
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(text.to_cow()?.as_ref().to_parameter());
    }
    if let Ok(flag) = value.cast::<PyBool>() {
        return Ok(flag.is_true().to_parameter());
    }
    if value.is_instance_of::<PyInt>() {
        return integer(value);
    }
    if let Ok(number) = value.cast::<PyFloat>() {
        return double(py, number.value());
    }
    if let Ok(bytes) = value.cast::<PyBytes>() {
        return Ok(bytes.as_bytes().to_parameter());
    }
    if value.is_instance(decimal_type(py)?)? {
        let text: String = value.call_method1("__format__", ("f",))?.extract()?;
        return decimal(py, &text);
    }
    if let Some(parameter) = temporal(value)? {
        return Ok(parameter);
    }
    if value.is_instance_of::<PyByteArray>() || value.is_instance_of::<PyMemoryView>() {
        let bytes = py.get_type::<PyBytes>().call1((value,))?;
        return parameter(&bytes);
    }
    if value.is_instance(uuid_type(py)?)? {
        return Ok(value.str()?.to_cow()?.as_ref().to_parameter());
    }
    other(value)
}

fn integer(value: &Bound<'_, PyAny>) -> PyResult<Parameter> {
    if let Ok(number) = value.extract::<i64>() {
        return Ok(number.to_parameter());
    }
    if let Ok(number) = value.extract::<u64>() {
        return Ok(number.to_parameter());
    }
    let py = value.py();
    // `bool` of int is not asked: its __str__ is a word. Python has no text of a number of more than 4300 digits.
    let text = py.get_type::<PyInt>().call_method1("__repr__", (value,));
    match text {
        Ok(text) => decimal(py, &text.extract::<String>()?),
        Err(_) => Err(too_long(py)),
    }
}

fn double(py: Python<'_>, number: f64) -> PyResult<Parameter> {
    if number.is_finite() {
        return Ok(number.to_parameter());
    }
    let why = format!("SQL has no number {number}; use None for NULL");
    Err(errors::of_package(py, Class::Data, why))
}

fn too_long(py: Python<'_>) -> PyErr {
    let why = "a DECIMAL has at most 65 digits, and 30 of them behind the point";
    errors::of_package(py, Class::Data, why)
}

fn decimal(py: Python<'_>, text: &str) -> PyResult<Parameter> {
    let read = parse_decimal(text.as_bytes());
    if read.consumed != text.len() {
        let why = format!("SQL has no number {text}; use None for NULL");
        return Err(errors::of_package(py, Class::Data, why));
    }
    let Decimal { scale, .. } = read.value;
    if read.overflow || read.rounded || scale > SCALE_MAX || read.value.precision() > 65 {
        return Err(too_long(py));
    }
    Ok(read.value.to_parameter())
}

fn temporal(value: &Bound<'_, PyAny>) -> PyResult<Option<Parameter>> {
    let py = value.py();
    if let Ok(moment) = value.cast::<PyDateTime>() {
        // pandas.NaT is a datetime by its class.
        if value.get_type().name()?.to_cow()? == "NaTType" {
            return Ok(Some(Value::Null.to_parameter()));
        }
        if !value.getattr("tzinfo")?.is_none() {
            // The server converts it to the session's time zone.
            let text: String = value.call_method1("isoformat", (" ",))?.extract()?;
            return Ok(Some(text.to_parameter()));
        }
        let year = u16::try_from(moment.get_year()).unwrap_or_default();
        let made = DateTime {
            hour: moment.get_hour(),
            minute: moment.get_minute(),
            second: moment.get_second(),
            microsecond: moment.get_microsecond(),
            ..DateTime::date(year, moment.get_month(), moment.get_day())
        };
        return Ok(Some(made.to_parameter()));
    }
    if let Ok(day) = value.cast::<PyDate>() {
        let made = Date {
            year: u16::try_from(day.get_year()).unwrap_or_default(),
            month: day.get_month(),
            day: day.get_day(),
        };
        return Ok(Some(made.to_parameter()));
    }
    let microseconds = if let Ok(interval) = value.cast::<PyDelta>() {
        let seconds = i64::from(interval.get_days()) * 86_400 + i64::from(interval.get_seconds());
        seconds * 1_000_000 + i64::from(interval.get_microseconds())
    } else if let Ok(time) = value.cast::<PyTime>() {
        let minutes = i64::from(time.get_hour()) * 60 + i64::from(time.get_minute());
        let seconds = minutes * 60 + i64::from(time.get_second());
        seconds * 1_000_000 + i64::from(time.get_microsecond())
    } else {
        return Ok(None);
    };
    if microseconds.abs() > TIME_MAX {
        let why = format!("{value} is beyond 838:59:59, the greatest TIME");
        return Err(errors::of_package(py, Class::Data, why));
    }
    Ok(Some(Time { microseconds }.to_parameter()))
}

/// Scalars of numpy and pandas, and what says that it is an integer or a real number.
fn other(value: &Bound<'_, PyAny>) -> PyResult<Parameter> {
    let py = value.py();
    let ty = value.get_type();
    let name = ty.name()?.to_string();
    if name == "NAType" {
        return Ok(Value::Null.to_parameter());
    }
    if matches!(name.as_str(), "datetime64" | "timedelta64") && value.hasattr("astype")? {
        // Nanoseconds would become an integer.
        let micros = value.call_method1("astype", (format!("{name}[us]"),))?;
        return parameter(&micros.call_method0("item")?);
    }
    let module: String = ty.getattr("__module__")?.extract().unwrap_or_default();
    if module == "numpy" && value.hasattr("item")? {
        let item = value.call_method0("item")?;
        if !item.get_type().is(&ty) {
            return parameter(&item);
        }
    }
    if value.hasattr("__index__")? {
        return integer(&value.call_method0("__index__")?);
    }
    let why = format!("an object of type {name} is no value of SQL");
    Err(errors::of_package(py, Class::Programming, why))
}

fn uuid_type(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static UUID: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    UUID.import(py, "uuid", "UUID")
}
