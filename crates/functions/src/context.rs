//! What functions may know of the statement that calls them.

use mayfly_types::{Diagnostics, SqlMode};

/// The surroundings of a call: settings, clock and diagnostics, all injected, so that a statement
/// can be run again with the same result. Read once a statement; shared by its threads.
#[derive(Debug)]
pub struct EvaluationContext {
    /// `sql_mode` of the session.
    pub sql_mode: SqlMode,
    /// Where warnings go.
    pub diagnostics: std::sync::Arc<Diagnostics>,
    /// The moment the statement began (or `@@timestamp`): microseconds since 1970 UTC.
    pub now_utc_microseconds: i64,
}
