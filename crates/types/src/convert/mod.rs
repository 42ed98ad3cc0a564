//! Conversions between types: CAST and the implicit casts of expressions ([`cast_array`],
//! [`cast_value`]), and assignment to columns ([`store_array`], [`store_value`]).
//!
//! An expression's cast always gives a value, and complains by warnings; storing rejects what does
//! not fit in strict mode and otherwise stores the nearest value with a warning. See the manual,
//! "Cast Functions and Operators", "Out-of-Range and Overflow Handling", and "Server SQL Modes".
//!
//! * [`source`]: one value of an array, without an allocation
//! * [`number`]: text to numbers; [`float_text`]: floats to text; [`text`]: any value to text
//! * [`mod@store`] — assignment
//! * [`numeric`], [`temporal`], [`string`]: casts by the kind of their target
//! * [`totality`]: which casts can neither fail nor warn

mod array;
pub mod float_text;
pub mod number;
mod numeric;
pub mod source;
mod store;
mod string;
mod temporal;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
pub mod text;
mod totality;

pub use array::{array_of_values, array_value, cast_array, cast_value};
pub use store::{StoreContext, implicit_default, store_array, store_value, store_value_in};
pub use text::ColumnFormatter;
pub use totality::{MAX_ALLOWED_PACKET_MIN, is_total_cast};

use crate::diagnostics::Diagnostics;
use crate::error::codes;
use crate::sql_mode::SqlMode;
use crate::temporal::{DateTime, MICROS_PER_DAY, TimeZone};

/// Context of a conversion: the parts of the statement and session that it depends on.
#[derive(Debug, Clone, Copy)]
pub struct CastContext<'a> {
    /// Decides which dates are valid, and about rounding of fractional seconds.
    pub sql_mode: SqlMode,
    /// Receives warnings.
    pub diagnostics: &'a Diagnostics,
    /// The session's time zone, for text with an offset.
    pub time_zone: &'a TimeZone,
    /// The statement's time in the session's time zone: a TIME that becomes a DATETIME is one of its day, and one that
    /// becomes a DATE counts from it.
    pub now: DateTime,
    /// The name of the value in warning 1264 and error 1690.
    pub operand: &'a str,
    /// Called with the length of each string of a new column; may fail for lack of memory.
    pub room: Option<Room<'a>>,
}

/// A check called with the number of bytes that a new string takes.
#[derive(Clone, Copy)]
pub struct Room<'a>(pub &'a dyn Fn(usize) -> crate::Result<()>);

impl std::fmt::Debug for Room<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Room")
    }
}

impl CastContext<'_> {
    /// Warning 3156: a JSON document has no value of the type.
    fn refuse_json(&self, type_name: &str) {
        self.diagnostics.warn_with(|| {
            codes::ER_INVALID_JSON_VALUE_FOR_CAST.with(&[&type_name, &"cast_as_json", &1])
        });
    }

    /// `Truncated incorrect DOUBLE value: 'abc'`
    pub(crate) fn warn_truncated(&self, type_name: &str, value: &[u8]) {
        self.diagnostics
            .warn_with(|| codes::ER_TRUNCATED_WRONG_VALUE.with(&[&type_name, &shown(value)]));
    }

    /// `Incorrect datetime value: 'abc'`
    pub(crate) fn warn_incorrect(&self, type_name: &str, value: &[u8]) {
        self.diagnostics
            .warn_with(|| codes::ER_WRONG_TEMPORAL_VALUE.with(&[&type_name, &shown(value)]));
    }

    pub(crate) fn warn_out_of_range(&self) {
        self.diagnostics
            .warn_with(|| codes::ER_WARN_DATA_OUT_OF_RANGE.with(&[&self.operand, &1]));
    }

    pub(crate) fn warn_text(&self, text: &str) {
        self.diagnostics
            .warn_with(|| codes::ER_UNKNOWN_ERROR.with(&[&text]));
    }

    /// A TIME as a DATE: of a time of day the statement's day, of any other one the day of the statement's time and that
    /// time together, as in MySQL.
    pub fn date_of_time(&self, micros: i64) -> Option<DateTime> {
        if (0..MICROS_PER_DAY).contains(&micros) {
            return Some(self.now.at_midnight());
        }
        DateTime::from_micros(i128::from(self.now.to_micros()) + i128::from(micros))
    }

    /// A TIME on the statement's day.
    pub fn datetime_of_time(&self, micros: i64) -> Option<DateTime> {
        let day = self.now.at_midnight();
        if (0..MICROS_PER_DAY).contains(&micros) {
            return Some(day.with_time_of_day(micros));
        }
        DateTime::from_micros(i128::from(day.to_micros()) + i128::from(micros))
    }

    pub(crate) fn truncates_fractions(&self) -> bool {
        self.sql_mode.has(SqlMode::TIME_TRUNCATE_FRACTIONAL)
    }
}

/// A value as messages quote it: at most 64 characters, wrong bytes as `\xNN`.
pub fn shown(value: &[u8]) -> String {
    let mut out = String::new();
    for chunk in value.utf8_chunks() {
        // Messages are in utf8mb3.
        let narrow = |c: char| if u32::from(c) > 0xFFFF { '?' } else { c };
        out.extend(chunk.valid().chars().map(narrow));
        for byte in chunk.invalid() {
            out.push_str(&format!("\\x{byte:02X}"));
        }
        if out.len() > 512 {
            break;
        }
    }
    match out.char_indices().nth(128) {
        Some((end, _)) => out[..end].to_owned(),
        None => out,
    }
}

/// The bytes of characters as error 1366 shows them: `\xD0\xB6`, at most six, then `...`.
pub fn shown_bytes(value: &[u8]) -> String {
    let mut out = String::new();
    for byte in value.iter().take(6) {
        match byte {
            0x20..0x7F => out.push(char::from(*byte)),
            _ => out.push_str(&format!("\\x{byte:02X}")),
        }
    }
    if value.len() > 6 {
        out.push_str("...");
    }
    out
}
