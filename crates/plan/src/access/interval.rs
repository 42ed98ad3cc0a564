//! Sets of values of one key part, as intervals in the order of the values, NULL before all of them.

use std::cmp::Ordering;
use std::ops::Bound;

use arrow_buffer::i256;
use mayfly_types::decimal::Decimal;
use mayfly_types::{CollationId, PhysicalType, Value};

/// Order of the values of a key part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ValueOrder(pub(crate) CollationId);

impl ValueOrder {
    /// Compares two values of the part's physical type, NULL first.
    pub(crate) fn compare(self, a: &Value, b: &Value) -> Ordering {
        match (a, b) {
            (Value::Null, Value::Null) => Ordering::Equal,
            (Value::Null, _) => Ordering::Less,
            (_, Value::Null) => Ordering::Greater,
            (Value::Int(a), Value::Int(b)) => a.cmp(b),
            (Value::UInt(a), Value::UInt(b)) => a.cmp(b),
            (Value::Float(a), Value::Float(b)) => a.partial_cmp(b).unwrap_or(Ordering::Equal),
            (Value::Bytes(a), Value::Bytes(b)) => self.0.compare(a, b),
            (
                Value::Decimal {
                    unscaled: a,
                    scale: x,
                },
                Value::Decimal {
                    unscaled: b,
                    scale: y,
                },
            ) => Decimal::new(*a, *x).compare(Decimal::new(*b, *y)),
            _ => Ordering::Equal,
        }
    }
}

/// All values between two bounds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Interval {
    pub(crate) low: Bound<Value>,
    pub(crate) high: Bound<Value>,
}

impl Interval {
    pub(crate) const ALL: Self = Self {
        low: Bound::Unbounded,
        high: Bound::Unbounded,
    };

    /// Every value but NULL.
    pub(crate) const VALUES: Self = Self {
        low: Bound::Excluded(Value::Null),
        high: Bound::Unbounded,
    };

    pub(crate) fn point(value: Value) -> Self {
        Self {
            low: Bound::Included(value.clone()),
            high: Bound::Included(value),
        }
    }

    pub(crate) fn below(high: Bound<Value>) -> Self {
        Self {
            high,
            ..Self::VALUES
        }
    }

    pub(crate) fn above(low: Bound<Value>) -> Self {
        Self {
            low,
            ..Self::VALUES
        }
    }

    /// The single value of the interval, if it is a known point.
    pub(crate) fn as_point(&self, order: ValueOrder) -> Option<&Value> {
        match (&self.low, &self.high) {
            (Bound::Included(low), Bound::Included(high)) => {
                (order.compare(low, high) == Ordering::Equal).then_some(low)
            }
            _ => None,
        }
    }

    fn is_empty(&self, order: ValueOrder) -> bool {
        match (&self.low, &self.high) {
            (Bound::Included(low), Bound::Included(high)) => order.compare(low, high).is_gt(),
            (
                Bound::Included(low) | Bound::Excluded(low),
                Bound::Included(high) | Bound::Excluded(high),
            ) => order.compare(low, high).is_ge(),
            _ => false,
        }
    }
}

/// Compares lower bounds: the one that begins earlier is less.
fn compare_low(a: &Bound<Value>, b: &Bound<Value>, order: ValueOrder) -> Ordering {
    match (a, b) {
        (Bound::Unbounded, Bound::Unbounded) => Ordering::Equal,
        (Bound::Unbounded, _) => Ordering::Less,
        (_, Bound::Unbounded) => Ordering::Greater,
        (Bound::Included(x) | Bound::Excluded(x), Bound::Included(y) | Bound::Excluded(y)) => {
            let excluded = |bound| matches!(bound, &Bound::Excluded(_));
            order.compare(x, y).then(excluded(a).cmp(&excluded(b)))
        }
    }
}

/// Compares upper bounds: the one that ends earlier is less.
fn compare_high(a: &Bound<Value>, b: &Bound<Value>, order: ValueOrder) -> Ordering {
    match (a, b) {
        (Bound::Unbounded, Bound::Unbounded) => Ordering::Equal,
        (Bound::Unbounded, _) => Ordering::Greater,
        (_, Bound::Unbounded) => Ordering::Less,
        (Bound::Included(x) | Bound::Excluded(x), Bound::Included(y) | Bound::Excluded(y)) => {
            let included = |bound| matches!(bound, &Bound::Included(_));
            order.compare(x, y).then(included(a).cmp(&included(b)))
        }
    }
}

/// Intersection of two sets of intervals.
pub(crate) fn intersection(a: &[Interval], b: &[Interval], order: ValueOrder) -> Vec<Interval> {
    let mut both = Vec::new();
    for x in a {
        for y in b {
            let low = match compare_low(&x.low, &y.low, order) {
                Ordering::Less => &y.low,
                _ => &x.low,
            };
            let high = match compare_high(&x.high, &y.high, order) {
                Ordering::Greater => &y.high,
                _ => &x.high,
            };
            let interval = Interval {
                low: low.clone(),
                high: high.clone(),
            };
            if !interval.is_empty(order) {
                both.push(interval);
            }
        }
    }
    both
}

/// Position of a compared value among the values that the column can have.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Fit {
    /// The value is one of the key values.
    Exact(Value),
    /// The value lies between this key value and the next.
    After(Value),
    /// The value is less than all key values.
    BeforeAll,
    /// The value is greater than all key values.
    AfterAll,
}

/// Finds the position of a value, which is not NULL, among the values of a physical type.
pub(crate) fn fit(value: &Value, physical: PhysicalType) -> Fit {
    match (value, physical) {
        (Value::Int(_), PhysicalType::Int64)
        | (Value::UInt(_), PhysicalType::UInt64)
        | (Value::Float(_), PhysicalType::Float64)
        | (Value::Bytes(_), PhysicalType::Bytes) => Fit::Exact(value.clone()),
        (Value::Float(number), PhysicalType::Int64 | PhysicalType::UInt64) => {
            let floor = number.floor();
            // Values beyond i128 saturate, which are beyond all integers of a column too.
            let whole = Decimal::from_i128(floor as i128, 0);
            among_numbers(whole, floor == *number, physical)
        }
        _ => {
            let number = match value {
                Value::Int(number) => Decimal::from_i128(i128::from(*number), 0),
                Value::UInt(number) => Decimal::from_i128(i128::from(*number), 0),
                Value::Decimal { unscaled, scale } => Decimal::new(*unscaled, *scale),
                Value::Null | Value::Float(_) | Value::Bytes(_) => return Fit::BeforeAll,
            };
            let scale = match physical {
                PhysicalType::Int64 | PhysicalType::UInt64 => 0,
                PhysicalType::Decimal128(scale) | PhysicalType::Decimal256(scale) => scale,
                _ => 0,
            };
            let Some(below) = scaled_down(number, scale) else {
                return if number.is_negative() {
                    Fit::BeforeAll
                } else {
                    Fit::AfterAll
                };
            };
            let exact = below.compare(number) == Ordering::Equal;
            among_numbers(below, exact, physical)
        }
    }
}

/// The largest number of a scale that is not greater; `None` if it has too many digits.
fn scaled_down(number: Decimal, scale: u8) -> Option<Decimal> {
    if number.scale <= scale {
        let factor = power_of_ten(scale - number.scale)?;
        return Some(Decimal::new(number.unscaled.checked_mul(factor)?, scale));
    }
    let divisor = power_of_ten(number.scale - scale)?;
    let quotient = number.unscaled.checked_div(divisor)?;
    let rest = number.unscaled.checked_rem(divisor)?;
    let floor = if rest.is_negative() {
        quotient.checked_sub(i256::ONE)?
    } else {
        quotient
    };
    Some(Decimal::new(floor, scale))
}

fn power_of_ten(exponent: u8) -> Option<i256> {
    i256::from_i128(10).checked_pow(exponent.into())
}

fn among_numbers(below: Decimal, exact: bool, physical: PhysicalType) -> Fit {
    let beyond = if below.is_negative() {
        Fit::BeforeAll
    } else {
        Fit::AfterAll
    };
    let value = match physical {
        PhysicalType::Int64 => below
            .unscaled
            .to_i128()
            .and_then(|n| i64::try_from(n).ok())
            .map(Value::Int),
        PhysicalType::UInt64 => below
            .unscaled
            .to_i128()
            .and_then(|n| u64::try_from(n).ok())
            .map(Value::UInt),
        PhysicalType::Decimal128(scale) => below.unscaled.to_i128().map(|n| Value::Decimal {
            unscaled: i256::from_i128(n),
            scale,
        }),
        _ => Some(Value::Decimal {
            unscaled: below.unscaled,
            scale: below.scale,
        }),
    };
    match value {
        None => beyond,
        Some(value) if exact => Fit::Exact(value),
        Some(value) => Fit::After(value),
    }
}
