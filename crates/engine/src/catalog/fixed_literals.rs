//! Temporal literals of a definition, with the values that they have when it is made.
//!
//! `TIMESTAMP'2024-01-01 00:00:00+05:00'` depends on the session's time zone, and `{ts '…'}` on its SQL mode. As in
//! MySQL a view, a default, a generated column, a constraint and a functional key keep the value of the session that
//! defines them, and SHOW CREATE shows it in the usual form.

use std::ops::ControlFlow;

use mayfly_syntax::ast::{
    Expr, TemporalLiteral, TypedString, Value, VisitMut, visit_expressions_mut,
};
use mayfly_types::temporal::{
    DateRules, DateTime, TimeZone, append_date, append_datetime, append_time, parse_datetime,
    parse_time,
};
use mayfly_types::{SessionParameters, SqlMode};

/// Replaces the temporal literals of a definition by their values in a session.
pub(crate) fn fix_literals(definition: &mut dyn VisitMut, session: &SessionParameters) {
    let _ = visit_expressions_mut(definition, |expression| {
        if let Expr::TypedString(typed) = expression {
            match value_text(typed, session) {
                Some(value) => {
                    *typed = TypedString {
                        kind: typed.kind,
                        value,
                        is_escape: false,
                    };
                }
                // `{ts 'x'}` is a string.
                None if typed.is_escape => {
                    let text = std::mem::take(&mut typed.value);
                    *expression = Expr::Value(Value::SingleQuotedString(text));
                }
                None => {}
            }
        }
        ControlFlow::<()>::Continue(())
    });
}

/// An expression of a definition with the values of its temporal literals.
pub(crate) fn fixed(expression: &Expr, session: &SessionParameters) -> Expr {
    let mut fixed = expression.clone();
    fix_literals(&mut fixed, session);
    fixed
}

/// Whether an expression is a literal whose value depends on the time zone.
pub(crate) fn has_offset(expression: &Expr) -> bool {
    let Expr::TypedString(typed) = expression else {
        return false;
    };
    let parsed = parse_datetime(typed.value.as_bytes(), DateRules::default(), false);
    parsed.is_ok_and(|parsed| parsed.offset.is_some())
}

/// The text of a literal's value; `None` if it is not a value of its type.
fn value_text(typed: &TypedString, session: &SessionParameters) -> Option<String> {
    let text = typed.value.as_bytes();
    let truncate = session.sql_mode.has(SqlMode::TIME_TRUNCATE_FRACTIONAL);
    let mut out = Vec::new();
    if typed.kind == TemporalLiteral::Time {
        let time = parse_time(text, truncate).ok()?;
        if time.truncated || time.out_of_range || time.moment.is_some() {
            return None;
        }
        append_time(&mut out, time.micros, time.fractional_digits.min(6));
    } else {
        let rules = DateRules::of(session.sql_mode);
        let parsed = parse_datetime(text, rules, truncate).ok()?;
        if parsed.truncated || parsed.is_date != (typed.kind == TemporalLiteral::Date) {
            return None;
        }
        let value = match parsed.offset {
            None => parsed.value,
            Some(offset) => local(parsed.value, offset, &session.time_zone)?,
        };
        match typed.kind {
            TemporalLiteral::Date => append_date(&mut out, value.pack()),
            _ => append_datetime(&mut out, value.pack(), parsed.fractional_digits.min(6)),
        }
    }
    String::from_utf8(out).ok()
}

/// A moment with an offset from UTC in a time zone.
fn local(value: DateTime, offset: i32, zone: &TimeZone) -> Option<DateTime> {
    zone.local_of_unix(TimeZone::Offset(offset).unix_of_local(value)?)
}
