//! Numeric status variables.

use std::collections::HashMap;

use super::watch;
use crate::source::{Source, SourceError};

const STATUS: &str = "SELECT VARIABLE_NAME, VARIABLE_VALUE FROM performance_schema.global_status";

/// The global status variables by their names in small letters.
pub(crate) fn read(source: &dyn Source) -> Result<HashMap<String, f64>, SourceError> {
    let table = watch(source, STATUS)?;
    let pairs = table.rows().filter_map(|row| {
        let name = row.text("VARIABLE_NAME")?.to_ascii_lowercase();
        Some((name, row.number("VARIABLE_VALUE")?))
    });
    Ok(pairs.collect())
}
