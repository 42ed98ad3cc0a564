//! The databases that the engine makes itself.

/// Their names.
pub(crate) const SCHEMAS: &[&str] = &["information_schema", "performance_schema", "sys"];

/// The number of the first table in them. Positions of relations are the lower bits of their numbers, which no
/// base table reaches.
pub(crate) const FIRST_SYSTEM_ID: u64 = 1 << 62;

/// Whether a name is that of one of [`SCHEMAS`], in any case.
pub(crate) fn is_schema(name: &str) -> bool {
    SCHEMAS
        .iter()
        .any(|schema| schema.eq_ignore_ascii_case(name))
}
