//! Defaults of TIMESTAMP columns: in UTC in a table's definition, in local time in a session.

use mayfly_types::temporal::{TimeZone, ZoneClock};
use mayfly_types::{SqlType, TypeKind, Value};

/// A column's default in UTC, for the table's definition.
pub(crate) fn value_to_utc(zone: &TimeZone, value: Value, ty: &SqlType) -> Value {
    match (ty.kind, value) {
        (TypeKind::Timestamp, Value::Int(packed)) => {
            Value::Int(ZoneClock::new(zone).utc_of_local(packed))
        }
        (_, value) => value,
    }
}

/// A column's default in a session's time zone.
pub(crate) fn value_in(zone: &TimeZone, value: &Value, ty: &SqlType) -> Value {
    match (ty.kind, value) {
        (TypeKind::Timestamp, Value::Int(packed)) => {
            Value::Int(ZoneClock::new(zone).local_of_utc(*packed))
        }
        (_, value) => value.clone(),
    }
}
