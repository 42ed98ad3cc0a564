//! The databases that the engine provides.

/// Their names.
pub(crate) const SCHEMAS: &[&str] = &["information_schema", "performance_schema", "sys"];

/// Id of the first table in them. The lower bits of an id are the relation's position; no base table reaches these
/// ids.
pub(crate) const FIRST_SYSTEM_ID: u64 = 1 << 62;

/// Whether a case-insensitive name is one of [`SCHEMAS`].
pub(crate) fn is_schema(name: &str) -> bool {
    SCHEMAS
        .iter()
        .any(|schema| schema.eq_ignore_ascii_case(name))
}
