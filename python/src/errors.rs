//! Errors of the engine as exceptions of PEP 249, and errors of the package itself.
//!
//! The class follows from MySQL's number and SQLSTATE: the first two characters of a SQLSTATE are its class, and the table
//! has the numbers whose SQLSTATE says less than their meaning. The classes are in `mayfly/_errors.py`.

use mayfly::Error;
use pyo3::prelude::*;

/// A class of exceptions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// Closed objects, wrong SQL, missing tables.
    Programming,
    /// A value that a type does not hold.
    Data,
    /// A constraint.
    Integrity,
    /// Locks, limits, privileges, files.
    Operational,
    /// A fault of the engine.
    Internal,
    /// A feature that is not there.
    NotSupported,
    /// The package is used in a way that it cannot serve.
    Interface,
}

impl Class {
    fn name(self) -> &'static str {
        match self {
            Self::Programming => "ProgrammingError",
            Self::Data => "DataError",
            Self::Integrity => "IntegrityError",
            Self::Operational => "OperationalError",
            Self::Internal => "InternalError",
            Self::NotSupported => "NotSupportedError",
            Self::Interface => "InterfaceError",
        }
    }

    fn object(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        py.import("mayfly._errors")?.getattr(self.name())
    }
}

/// Numbers whose SQLSTATE says less than their meaning.
const BY_NUMBER: &[(u16, Class)] = &[
    (1044, Class::Operational),
    (1142, Class::Operational),
    (1143, Class::Operational),
    (1227, Class::Operational),
    (1235, Class::NotSupported),
    (1264, Class::Data),
    (1265, Class::Data),
    (1292, Class::Data),
    (1366, Class::Data),
    (1370, Class::Operational),
    (1815, Class::Internal),
    (3140, Class::Data),
    (3819, Class::Integrity),
];

/// The class of an error.
fn class(errno: u16, sqlstate: &str) -> Class {
    if let Some((_, class)) = BY_NUMBER.iter().find(|(number, _)| *number == errno) {
        return *class;
    }
    match sqlstate.get(..2).unwrap_or_default() {
        "21" | "22" => Class::Data,
        "23" => Class::Integrity,
        "0A" => Class::NotSupported,
        "42" | "3D" | "3F" => Class::Programming,
        _ => Class::Operational,
    }
}

/// An error of the engine as an exception, with MySQL's number and SQLSTATE.
pub(crate) fn of_engine(py: Python<'_>, error: &Error) -> PyErr {
    let class = class(error.errno(), error.sqlstate());
    let made = class.object(py).and_then(|class| {
        let made = class.call1((error.errno(), error.message()))?;
        made.setattr("errno", error.errno())?;
        made.setattr("sqlstate", error.sqlstate())?;
        Ok(made)
    });
    made.map_or_else(|error| error, PyErr::from_value)
}

/// An error of the package itself.
pub(crate) fn of_package(py: Python<'_>, class: Class, message: impl Into<String>) -> PyErr {
    let made = class
        .object(py)
        .and_then(|class| class.call1((message.into(),)));
    made.map_or_else(|error| error, PyErr::from_value)
}
