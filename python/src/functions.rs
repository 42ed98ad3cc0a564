//! Functions of Python that statements call.
//!
//! The engine calls them for each row, on the thread that runs the statement. What a function raises is the cause of the
//! statement's error.

use std::sync::Arc;

use mayfly::{CollationId, Function, SqlType, ToParameter, TypeKind, Value};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple, PyType};

use crate::causes::Cause;
use crate::errors::{self, Class};
use crate::parameters::parameter;
use crate::values::object;

/// How a function is called.
pub(crate) struct Calls {
    pub(crate) is_deterministic: bool,
    /// Whether it is called with None; else NULL among the arguments is NULL in the result.
    pub(crate) with_null: bool,
}

/// A function of Python as one of SQL.
pub(crate) fn function(
    name: &str,
    callable: Py<PyAny>,
    parameters: Vec<SqlType>,
    result: SqlType,
    calls: &Calls,
) -> Function {
    let (name, callable) = (name.to_owned(), Arc::new(callable));
    let with_null = calls.with_null;
    let made = Function::new(parameters, result, move |arguments| {
        if !with_null && arguments.iter().any(Value::is_null) {
            return Ok(Value::Null.to_parameter());
        }
        let called = Python::try_attach(|py| {
            let arguments = arguments.iter().map(|argument| object(py, argument));
            let arguments = arguments.collect::<PyResult<Vec<_>>>()?;
            let result = callable.bind(py).call1(PyTuple::new(py, arguments)?)?;
            parameter(&result)
        });
        match called {
            Some(Ok(result)) => Ok(result),
            Some(Err(error)) => Err(Cause::of_thread().error(&name, error)),
            None => Err(mayfly::codes::ER_QUERY_INTERRUPTED.error()),
        }
    });
    match calls.is_deterministic {
        true => made.deterministic(),
        false => made,
    }
}

/// The SQL type that a type of Python, or the name of a SQL type, stands for.
///
/// # Errors
/// ProgrammingError for any other object.
pub(crate) fn sql_type(given: &Bound<'_, PyAny>) -> PyResult<SqlType> {
    let name = match given.cast::<PyType>() {
        Ok(ty) => ty.name()?.to_string(),
        Err(_) => match given.cast::<PyString>() {
            Ok(name) => name.to_string(),
            Err(_) => return Err(no_type(given)),
        },
    };
    named(&name).ok_or_else(|| no_type(given))
}

fn no_type(given: &Bound<'_, PyAny>) -> PyErr {
    let why = format!(
        "{given} is no type of a function: bool, int, float, Decimal, str, bytes, date, datetime, timedelta, or the name of a SQL type such as \
         'BIGINT UNSIGNED', 'DECIMAL(10, 2)', 'VARCHAR(40)', 'DATETIME(6)', 'JSON'"
    );
    errors::of_package(given.py(), Class::Programming, why)
}

/// A type by its name, perhaps with numbers in parentheses.
fn named(text: &str) -> Option<SqlType> {
    let text = text.trim().to_ascii_uppercase();
    let (name, numbers) = match text.split_once('(') {
        Some((name, rest)) => (name.trim(), rest.strip_suffix(')')?),
        None => (text.as_str(), ""),
    };
    let numbers = numbers
        .split(',')
        .filter(|number| !number.trim().is_empty());
    let numbers = numbers.map(|number| number.trim().parse::<u32>().ok());
    let numbers: Vec<u32> = numbers.collect::<Option<_>>()?;
    let characters = CollationId::UTF8MB4_0900_AI_CI;
    let long = |collation| SqlType::text(TypeKind::LongText, collation);
    let ty = match (name, numbers.as_slice()) {
        ("BOOL" | "BOOLEAN" | "TINYINT", []) => SqlType::integer(TypeKind::TinyInt),
        ("INT" | "BIGINT" | "INTEGER", []) => SqlType::bigint(),
        ("BIGINT UNSIGNED", []) => SqlType::bigint_unsigned(),
        ("FLOAT" | "DOUBLE", []) => SqlType::double(),
        ("DECIMAL", []) => SqlType::decimal(65, 30),
        ("DECIMAL", [precision @ 1..=65]) => SqlType::decimal(*precision as u8, 0),
        ("DECIMAL", [precision @ 1..=65, scale @ 0..=30]) if scale <= precision => {
            SqlType::decimal(*precision as u8, *scale as u8)
        }
        ("STR" | "TEXT" | "LONGTEXT", []) => long(characters),
        ("VARCHAR", [length @ 0..=16383]) => SqlType::varchar(*length, characters),
        ("BYTES" | "BLOB" | "LONGBLOB", []) => long(CollationId::BINARY),
        ("VARBINARY", [length @ 0..=65535]) => SqlType::varchar(*length, CollationId::BINARY),
        ("DATE", []) => SqlType::temporal(TypeKind::Date, 0),
        ("TIME" | "TIMEDELTA", []) => SqlType::temporal(TypeKind::Time, 6),
        ("DATETIME", []) => SqlType::temporal(TypeKind::DateTime, 6),
        ("TIME", [digits @ 0..=6]) => SqlType::temporal(TypeKind::Time, *digits as u8),
        ("DATETIME", [digits @ 0..=6]) => SqlType::temporal(TypeKind::DateTime, *digits as u8),
        ("JSON", []) => SqlType::json(),
        _ => return None,
    };
    Some(ty)
}
