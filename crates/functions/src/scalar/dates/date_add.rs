//! DATE_ADD(date, INTERVAL amount unit), DATE_SUB, TIMESTAMPADD(unit, amount, date). The parser and planner pass the
//! unit as a keyword; ADDDATE and SUBDATE are parsed as the first two.

use arrow_array::ArrayRef;
use arrow_buffer::i256;
use mayfly_types::error::codes;
use mayfly_types::temporal::{
    DateTime, Interval, IntervalUnit, add_interval, add_interval_to_time, append_date,
    append_datetime,
};
use mayfly_types::{PhysicalType, Result, SessionParameters, SqlType, TypeKind, Value};

use super::arguments::{self, DateTimes, FRACTION_MAX, MORE_DIGITS, Wanted, WholeDates, ZeroParts};
use crate::input::{AnyInts, Decimals, Texts};
use crate::scalar::Row;
use crate::scalar::facts::{Fact, Parameters};
use crate::{Argument, Binding, Call, EvaluationContext, Signature, derive, output};

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(
        &["date_add", "adddate"],
        3..=3,
        date_add_signature,
        |call| evaluate(call, DATE_ADD, |interval| interval),
    )
    .with(&[Fact::StopsAtNull, Fact::Strict, Fact::FixedString]),
    Row::new(
        &["date_sub", "subdate"],
        3..=3,
        date_add_signature,
        |call| evaluate(call, DATE_ADD, Interval::negate),
    )
    .with(&[Fact::StopsAtNull, Fact::Strict, Fact::FixedString]),
    Row::new(&["timestampadd"], 3..=3, timestampadd_signature, |call| {
        evaluate(call, TIMESTAMPADD, |interval| interval)
    })
    .parameters(Parameters::Interval)
    .with(&[Fact::StopsAtNullIn(&[0, 2, 1]), Fact::FixedString]),
];

/// The positions of the date, the amount and the unit.
type Positions = [usize; 3];

const DATE_ADD: Positions = [0, 1, 2];
const TIMESTAMPADD: Positions = [2, 1, 0];

/// Precision of an interval's seconds, including the fraction.
const SECONDS_PRECISION: u8 = 26;

fn date_add_signature(binding: &Binding<'_>) -> Result<Signature> {
    signature(binding, DATE_ADD)
}

fn timestampadd_signature(binding: &Binding<'_>) -> Result<Signature> {
    signature(binding, TIMESTAMPADD)
}

fn signature(binding: &Binding<'_>, positions: Positions) -> Result<Signature> {
    let [date, amount, unit_word] = positions.map(|position| &binding.arguments[position]);
    let unit = match unit_word.constant {
        Some(Value::Bytes(word)) => arguments::interval_unit(word, binding.name)?,
        _ => return Err(codes::ER_WRONG_ARGUMENTS.with(&[&binding.name])),
    };
    let digits = if unit.has_microseconds() {
        FRACTION_MAX
    } else if unit == IntervalUnit::Second {
        arguments::decimals_of(amount)
    } else {
        0
    };
    let decimals = date.ty.decimals.max(digits);
    let datetime = SqlType::temporal(TypeKind::DateTime, decimals);
    let (date_type, result) = match date.ty.kind {
        TypeKind::Date if !unit.has_time() => (date.ty.clone(), date.ty.clone()),
        TypeKind::Date | TypeKind::DateTime | TypeKind::Timestamp => (date.ty.clone(), datetime),
        TypeKind::Time if is_of_time(unit) => {
            (date.ty.clone(), SqlType::temporal(TypeKind::Time, decimals))
        }
        TypeKind::Time => (datetime.clone(), datetime),
        // A text tells itself whether it has a time; so does the result.
        _ => (
            arguments::whole_type(binding, positions[0]),
            arguments::temporal_text(binding),
        ),
    };
    let mut types = vec![SqlType::null(); 3];
    types[positions[0]] = date_type;
    types[positions[1]] = amount_type(unit, amount, binding.session);
    types[positions[2]] = unit_word.ty.clone();
    Ok(Signature::new(types, result, true))
}

fn evaluate(
    call: &Call<'_>,
    [date, amount, unit]: Positions,
    sign: impl Fn(Interval) -> Interval,
) -> Result<ArrayRef> {
    let (context, result) = (call.context, &call.signature.result);
    let unit = arguments::interval_unit(arguments::word(call, unit)?, call.name)?;
    let amounts = Amounts::new(call, amount, unit)?;
    let amount = |row: usize| match amounts.get(row)? {
        Ok(interval) => Some(sign(interval)),
        Err(TooLarge) => arguments::overflow("datetime", context),
    };
    if result.kind == TypeKind::Time {
        let times = call.ints(date)?;
        return output::ints(call.rows, |row| {
            let (Some(time), Some(interval)) = (times.get(row), amount(row)) else {
                return Ok(None);
            };
            let sum = add_interval_to_time(time, interval);
            let sum = sum.or_else(|| arguments::overflow("time", context));
            Ok(sum.map(|sum| arguments::time_result(sum.into(), result.decimals, context)))
        });
    }
    if result.is_temporal() {
        let dates = DateTimes::new(call, date, Wanted::DateTime, ZeroParts::Refused)?;
        return output::ints(call.rows, |row| {
            let (Some(date), Some(interval)) = (dates.get(row), amount(row)) else {
                return Ok(None);
            };
            let sum = add_interval(date, interval);
            let sum = sum.or_else(|| arguments::overflow("datetime", context));
            Ok(sum.and_then(|sum| arguments::datetime_result(sum, result.decimals, context)))
        });
    }
    let dates = WholeDates::new(call, date)?;
    output::texts(call, |row, out| {
        let Some(interval) = amount(row) else {
            return Ok(false);
        };
        let sum = dates
            .get(row)
            .and_then(|whole| add_to_whole(whole, interval, unit, context, out));
        Ok(sum.is_some())
    })
}

/// Whether a unit has only parts below a day, so that a TIME stays a TIME.
fn is_of_time(unit: IntervalUnit) -> bool {
    matches!(
        unit,
        IntervalUnit::Hour
            | IntervalUnit::Minute
            | IntervalUnit::Second
            | IntervalUnit::Microsecond
            | IntervalUnit::HourMinute
            | IntervalUnit::HourSecond
            | IntervalUnit::HourMicrosecond
            | IntervalUnit::MinuteSecond
            | IntervalUnit::MinuteMicrosecond
            | IntervalUnit::SecondMicrosecond
    )
}

fn amount_type(unit: IntervalUnit, amount: &Argument<'_>, context: &SessionParameters) -> SqlType {
    if amount.ty.kind == TypeKind::Null {
        return amount.ty.clone();
    }
    if unit.is_compound() {
        return derive::text_of(amount, context);
    }
    if amount.ty.is_integer() {
        return match amount.ty.kind {
            TypeKind::Boolean => SqlType::bigint(),
            _ => amount.ty.clone(),
        };
    }
    if unit == IntervalUnit::Second {
        // Digits beyond microseconds are truncated, not rounded.
        let more = match amount.ty.kind {
            TypeKind::Decimal => amount.ty.decimals.saturating_sub(FRACTION_MAX),
            _ => MORE_DIGITS,
        };
        return SqlType::decimal(SECONDS_PRECISION + more, FRACTION_MAX + more);
    }
    SqlType::bigint()
}

/// An amount out of range of every date.
struct TooLarge;

enum Source<'a> {
    Null,
    Integers(AnyInts<'a>),
    /// Seconds, and the divisor from their unscaled numbers to microseconds.
    Seconds(Decimals<'a>, i256),
    Compound(Texts<'a>),
}

struct Amounts<'a> {
    source: Source<'a>,
    unit: IntervalUnit,
}

impl<'a> Amounts<'a> {
    fn new(call: &Call<'a>, index: usize, unit: IntervalUnit) -> Result<Self> {
        let ty = call.ty(index);
        let source = match ty.physical() {
            _ if ty.kind == TypeKind::Null => Source::Null,
            PhysicalType::Bytes => Source::Compound(call.texts(index)?),
            PhysicalType::Decimal128(scale) | PhysicalType::Decimal256(scale) => {
                let more = u32::from(scale.saturating_sub(FRACTION_MAX));
                let divisor = i256::from_i128(10).wrapping_pow(more);
                Source::Seconds(call.decimals(index)?, divisor)
            }
            _ => Source::Integers(call.any_ints(index)?),
        };
        Ok(Self { source, unit })
    }

    fn get(&self, row: usize) -> Option<Result<Interval, TooLarge>> {
        Some(match &self.source {
            Source::Null => return None,
            Source::Integers(values) => i64::try_from(values.get(row)?)
                .map(|count| Interval::of(self.unit, count, 0))
                .map_err(|_| TooLarge),
            Source::Seconds(values, divisor) => {
                let micros = values.get(row)?.wrapping_div(*divisor);
                Ok(Interval {
                    micros: micros.to_i128().unwrap_or(i128::MAX / 4),
                    ..Interval::default()
                })
            }
            Source::Compound(texts) => {
                Interval::parse_compound(self.unit, texts.get(row)?).ok_or(TooLarge)
            }
        })
    }
}

/// The text of a sum: a date without time plus a unit of days is a date without time.
fn add_to_whole(
    (value, is_date): (DateTime, bool),
    interval: Interval,
    unit: IntervalUnit,
    context: &EvaluationContext,
    out: &mut Vec<u8>,
) -> Option<()> {
    let Some(sum) = add_interval(value, interval) else {
        return arguments::overflow("datetime", context);
    };
    if is_date && !unit.has_time() {
        append_date(out, sum.pack());
    } else {
        let has_fraction = sum.microsecond != 0;
        append_datetime(out, sum.pack(), if has_fraction { FRACTION_MAX } else { 0 });
    }
    Some(())
}
