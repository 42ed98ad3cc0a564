//! The clock: NOW, SYSDATE, CURDATE, CURTIME, UTC_DATE, UTC_TIME, UTC_TIMESTAMP. All but SYSDATE are constant within
//! a statement.

use arrow_array::ArrayRef;
use mayfly_types::temporal::{DateTime, TimeZone, fraction_unit};
use mayfly_types::{Result, SqlType, TypeKind, Value};

use super::arguments;
use crate::scalar::Row;
use crate::scalar::facts::Fact;
use crate::{Binding, Call, Signature, output};

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(
        &["now", "current_timestamp", "localtime", "localtimestamp"],
        0..=1,
        datetime,
        local,
    )
    .with(&[Fact::OnlyInDefaults, Fact::StatementTime])
    .stable(),
    Row::new(&["sysdate"], 0..=1, datetime, sysdate)
        .with(&[Fact::OnlyInDefaults, Fact::UnsafeInLogs])
        .volatile(),
    Row::new(&["curdate", "current_date"], 0..=0, date, local)
        .with(&[Fact::OnlyInDefaults])
        .stable(),
    Row::new(&["curtime", "current_time"], 0..=1, time, local)
        .with(&[Fact::OnlyInDefaults])
        .stable(),
    Row::new(&["utc_date"], 0..=0, date, utc)
        .with(&[Fact::OnlyInDefaults])
        .stable(),
    Row::new(&["utc_time"], 0..=1, time, utc)
        .with(&[Fact::OnlyInDefaults])
        .stable(),
    Row::new(&["utc_timestamp"], 0..=1, datetime, utc)
        .with(&[Fact::OnlyInDefaults])
        .stable(),
];

/// The types of a clock function with the number of fractional digits given by its argument.
fn signature(binding: &Binding<'_>, kind: TypeKind) -> Result<Signature> {
    let digits = arguments::fraction_argument(binding.arguments.first(), binding.name)?;
    let types = binding.each(|argument| argument.ty.clone());
    Ok(Signature::new(
        types,
        SqlType::temporal(kind, digits),
        false,
    ))
}

fn datetime(binding: &Binding<'_>) -> Result<Signature> {
    signature(binding, TypeKind::DateTime)
}

fn date(binding: &Binding<'_>) -> Result<Signature> {
    signature(binding, TypeKind::Date)
}

fn time(binding: &Binding<'_>) -> Result<Signature> {
    let mut signature = signature(binding, TypeKind::Time)?;
    // A time of day needs neither a sign nor a third digit of the hour.
    signature.result.length -= 2;
    Ok(signature)
}

fn local(call: &Call<'_>) -> Result<ArrayRef> {
    let now = shown(
        call,
        call.context.now_utc_microseconds,
        &call.context.session.time_zone,
    );
    Ok(call.constant(&Value::Int(now)))
}

fn utc(call: &Call<'_>) -> Result<ArrayRef> {
    let now = shown(call, call.context.now_utc_microseconds, &TimeZone::UTC);
    Ok(call.constant(&Value::Int(now)))
}

fn sysdate(call: &Call<'_>) -> Result<ArrayRef> {
    output::ints(call.rows, |_| {
        Ok(Some(shown(
            call,
            (call.context.clock)(),
            &call.context.session.time_zone,
        )))
    })
}

/// An instant in a time zone, as the result's type.
fn shown(call: &Call<'_>, instant: i64, zone: &TimeZone) -> i64 {
    let result = &call.signature.result;
    let now = zone.local_of_unix(instant).unwrap_or_default();
    let unit = fraction_unit(result.decimals);
    let now = DateTime {
        microsecond: now.microsecond - now.microsecond % unit as u32,
        ..now
    };
    match result.kind {
        TypeKind::Date => now.at_midnight().pack(),
        TypeKind::Time => now.time_of_day(),
        _ => now.pack(),
    }
}
