//! Values of rows as objects of Python.
//!
//! | SQL | Python |
//! |---|---|
//! | integers, YEAR, BIT, predicates | int |
//! | FLOAT, DOUBLE | float |
//! | DECIMAL | decimal.Decimal, all digits |
//! | DATE, DATETIME, TIMESTAMP | datetime.date, datetime.datetime; str for those that Python does not have (`0000-00-00`) |
//! | TIME | datetime.timedelta |
//! | strings, ENUM, SET, JSON | str |
//! | BINARY, VARBINARY, BLOB | bytes |

use mayfly::{Row, Value};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDate, PyDateTime, PyDelta, PyString, PyTuple, PyType};

const MICROSECONDS_OF_SECOND: i64 = 1_000_000;
const SECONDS_OF_DAY: i64 = 86_400;

/// A row as a tuple.
pub(crate) fn tuple<'py>(py: Python<'py>, row: Row<'_>) -> PyResult<Bound<'py, PyTuple>> {
    let values = row.values().map(|value| object(py, &value));
    PyTuple::new(py, values.collect::<PyResult<Vec<_>>>()?)
}

/// A value as an object.
pub(crate) fn object<'py>(py: Python<'py>, value: &Value<'_>) -> PyResult<Bound<'py, PyAny>> {
    match value {
        Value::Null => Ok(py.None().into_bound(py)),
        Value::Int(number) => number.into_bound_py_any(py),
        Value::UInt(number) => number.into_bound_py_any(py),
        Value::Double(number) => number.into_bound_py_any(py),
        Value::Decimal(number) => decimal_type(py)?.call1((number.to_string(),)),
        Value::Date(date) => {
            match PyDate::new(py, date.year.into(), date.month, date.day) {
                Ok(made) => Ok(made.into_any()),
                // A zero date.
                Err(_) => date.to_string().into_bound_py_any(py),
            }
        }
        Value::DateTime(it) => {
            let date = (i32::from(it.year), it.month, it.day);
            let made = PyDateTime::new(
                py,
                date.0,
                date.1,
                date.2,
                it.hour,
                it.minute,
                it.second,
                it.microsecond,
                None,
            );
            match made {
                Ok(made) => Ok(made.into_any()),
                Err(_) => value.to_string().into_bound_py_any(py),
            }
        }
        Value::Time(time) => {
            let seconds = time.microseconds.div_euclid(MICROSECONDS_OF_SECOND);
            let rest = time.microseconds.rem_euclid(MICROSECONDS_OF_SECOND);
            let days = seconds.div_euclid(SECONDS_OF_DAY);
            let seconds = seconds.rem_euclid(SECONDS_OF_DAY);
            // Each of them is below the number of its unit.
            let made = PyDelta::new(py, days as i32, seconds as i32, rest as i32, false)?;
            Ok(made.into_any())
        }
        Value::Text(text) => Ok(PyString::new(py, text).into_any()),
        Value::Bytes(bytes) => Ok(PyBytes::new(py, bytes).into_any()),
    }
}

/// `decimal.Decimal`
pub(crate) fn decimal_type(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static DECIMAL: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    DECIMAL.import(py, "decimal", "Decimal")
}
