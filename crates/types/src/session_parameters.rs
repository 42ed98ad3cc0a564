//! Settings of a session that types, conversions and functions depend on.
//!
//! One immutable struct serves planning, evaluation and storing, shared by reference counts. It is made when a setting
//! changes, not once a statement; code that runs under other settings (a definition under the `sql_mode` that it was
//! made in) replaces the whole.

use crate::collation::CollationId;
use crate::sql_mode::SqlMode;
use crate::temporal::{Locale, TimeZone};

/// Settings of a session, by the names of the system variables.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionParameters {
    /// `sql_mode`
    pub sql_mode: SqlMode,
    /// `collation_connection`: the collation of string literals, and of string results that come from no column.
    pub collation_connection: CollationId,
    /// `time_zone`
    pub time_zone: TimeZone,
    /// `lc_time_names`
    pub lc_time_names: &'static Locale,
    /// `default_week_format`: the mode of WEEK() without a second argument.
    pub default_week_format: u8,
    /// `div_precision_increment`
    pub div_precision_increment: u8,
    /// `group_concat_max_len`, in bytes.
    pub group_concat_max_len: u64,
    /// `max_allowed_packet`, in bytes: the longest string that a function makes.
    pub max_allowed_packet: u64,
}

/// The defaults of MySQL.
impl Default for SessionParameters {
    fn default() -> Self {
        Self {
            sql_mode: SqlMode::DEFAULT,
            collation_connection: CollationId::default(),
            time_zone: TimeZone::System,
            lc_time_names: <&Locale>::default(),
            default_week_format: 0,
            div_precision_increment: 4,
            group_concat_max_len: 1024,
            max_allowed_packet: 64 << 20,
        }
    }
}
