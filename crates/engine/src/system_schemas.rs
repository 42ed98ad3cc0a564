//! The databases that the engine provides.

/// Their names.
pub(crate) const SCHEMAS: &[&str] = &["information_schema", "performance_schema", "sys"];

/// Whether a case-insensitive name is one of [`SCHEMAS`].
pub(crate) fn is_schema(name: &str) -> bool {
    SCHEMAS
        .iter()
        .any(|schema| schema.eq_ignore_ascii_case(name))
}
