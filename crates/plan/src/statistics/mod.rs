//! Column statistics: number of distinct values, fraction of NULLs, the most common values with their fractions of the
//! rows, and an equi-height histogram of all others.
//!
//! They are made from a sample ([`sample`]) or from a histogram of ANALYZE TABLE … UPDATE HISTOGRAM ([`histogram`]),
//! and answer with fractions of all rows of the table. Values are compared as [`Point`]s, which are in the order of the
//! values: only estimates depend on them.

pub mod histogram;
mod sample;
#[cfg(test)]
mod tests;

pub use sample::Sampler;

use std::cmp::Ordering;
use std::ops::Bound;

use arrow_array::ArrayRef;
use mayfly_types::decimal::Decimal;
use mayfly_types::{PhysicalType, SqlType, TypeKind, Value};

/// Maximum bytes of the sort key of a text that are kept.
const KEY_BYTES: usize = 128;

/// Position of a value in the order of a column's values.
#[derive(Debug, Clone, PartialEq)]
pub enum Point {
    /// A number, or the integer that represents a date or time.
    Number(f64),
    /// Prefix of the sort key of a text.
    Text(Box<[u8]>),
}

impl Point {
    /// Position of a value of a column of this type; `None` for NULL and for values without an order.
    pub fn of(value: &Value, ty: &SqlType) -> Option<Self> {
        Some(match value {
            Value::Null => return None,
            Value::Int(number) => Self::Number(*number as f64),
            Value::UInt(number) => Self::Number(*number as f64),
            Value::Float(number) => Self::Number(*number),
            Value::Decimal { unscaled, scale } => {
                Self::Number(Decimal::new(*unscaled, *scale).to_f64())
            }
            Value::Bytes(text)
                if ty.physical() == PhysicalType::Bytes && ty.kind != TypeKind::Json =>
            {
                Self::text(text, ty)
            }
            Value::Bytes(_) => return None,
        })
    }

    fn text(text: &[u8], ty: &SqlType) -> Self {
        let mut key = Vec::with_capacity(KEY_BYTES);
        // Only a prefix of a long text matters.
        let begin = text.get(..KEY_BYTES).unwrap_or(text);
        ty.collation.append_sort_key(begin, &mut key);
        key.truncate(KEY_BYTES);
        Self::Text(key.into_boxed_slice())
    }

    fn order(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => a.total_cmp(b),
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            (Self::Number(_), Self::Text(_)) => Ordering::Less,
            (Self::Text(_), Self::Number(_)) => Ordering::Greater,
        }
    }

    /// Relative position between two points, from 0 to 1.
    fn way(&self, low: &Self, high: &Self) -> f64 {
        let (at, low, high) = match (self, low, high) {
            (Self::Number(at), Self::Number(low), Self::Number(high)) => (*at, *low, *high),
            (Self::Text(at), Self::Text(low), Self::Text(high)) => {
                let same = low.iter().zip(&**high).take_while(|(a, b)| a == b).count();
                (digits(at, same), digits(low, same), digits(high, same))
            }
            _ => return 0.5,
        };
        let way = (at - low) / (high - low);
        if way.is_nan() {
            0.5
        } else {
            way.clamp(0.0, 1.0)
        }
    }
}

/// Bytes of a key from an offset on, as the digits of a number.
fn digits(key: &[u8], from: usize) -> f64 {
    let mut word = [0; 8];
    for (to, byte) in word.iter_mut().zip(key.iter().skip(from)) {
        *to = *byte;
    }
    u64::from_be_bytes(word) as f64
}

/// A common value.
#[derive(Debug, Clone, PartialEq)]
struct Common {
    point: Point,
    /// Fraction of all rows.
    fraction: f64,
}

/// Bucket of adjacent values; buckets have about equal numbers of rows.
#[derive(Debug, Clone, PartialEq)]
struct Bucket {
    lower: Point,
    upper: Point,
    /// Fraction of all rows.
    fraction: f64,
    /// Number of distinct values.
    distinct: f64,
}

impl Bucket {
    /// Fraction of all rows that are in the bucket and less than a point, or not greater if `inclusive`.
    fn below(&self, point: &Point, inclusive: bool) -> f64 {
        let (low, high) = (point.order(&self.lower), point.order(&self.upper));
        if low.is_lt() || (low.is_eq() && !inclusive) {
            return 0.0;
        }
        if high.is_gt() || (high.is_eq() && inclusive) {
            return self.fraction;
        }
        // The values are assumed to be evenly spread from the first to the last.
        let distinct = self.distinct.max(1.0);
        let less = point.way(&self.lower, &self.upper) * (distinct - 1.0);
        let values = less + f64::from(u8::from(inclusive));
        self.fraction * (values / distinct).clamp(0.0, 1.0)
    }

    fn holds(&self, point: &Point) -> bool {
        self.lower.order(point).is_le() && self.upper.order(point).is_ge()
    }
}

/// Statistics of the values of a column.
#[derive(Debug, Clone)]
pub struct ColumnStatistics {
    /// Number of rows of the table at that time.
    pub rows: f64,
    /// Fraction of NULLs.
    pub null_fraction: f64,
    /// Number of distinct values, without NULL.
    pub distinct: f64,
    /// Average bytes of a text.
    pub average_bytes: f64,
    /// Common values, in order.
    common: Vec<Common>,
    /// Buckets of all other values, in order.
    buckets: Vec<Bucket>,
    /// Whether every row was sampled.
    is_whole: bool,
    /// Distribution of run lengths where equal values are adjacent: (rows per value, fraction of the values).
    sizes: Vec<(f64, f64)>,
    /// Example values: of the same rows in all columns that were sampled while the table had the same number of rows.
    examples: Option<ArrayRef>,
}

impl ColumnStatistics {
    /// Average fraction of the rows of a value that is neither common nor otherwise known.
    fn average(&self) -> f64 {
        let common: f64 = self.common.iter().map(|common| common.fraction).sum();
        let rest = (1.0 - self.null_fraction - common).max(0.0);
        rest / (self.distinct - self.common.len() as f64).max(1.0)
    }

    fn common(&self, point: &Point) -> Option<&Common> {
        let at = self
            .common
            .binary_search_by(|common| common.point.order(point));
        at.ok().and_then(|at| self.common.get(at))
    }

    /// Distribution of rows per value, if equal values are adjacent: (rows per value, fraction of the values).
    pub fn sizes(&self) -> &[(f64, f64)] {
        &self.sizes
    }

    /// Example values.
    pub fn examples(&self) -> Option<&ArrayRef> {
        self.examples.as_ref()
    }

    /// Distance between the greatest and the least number.
    pub fn span(&self) -> Option<f64> {
        let common = self.common.iter().map(|common| &common.point);
        let buckets = self.buckets.iter();
        let points = common.chain(buckets.flat_map(|bucket| [&bucket.lower, &bucket.upper]));
        let mut ends: Option<(f64, f64)> = None;
        for point in points {
            let Point::Number(number) = point else {
                return None;
            };
            let (low, high) = ends.unwrap_or((*number, *number));
            ends = Some((low.min(*number), high.max(*number)));
        }
        ends.map(|(low, high)| high - low)
    }

    /// Fraction of the rows equal to a value.
    pub fn equal(&self, point: &Point) -> f64 {
        if let Some(common) = self.common(point) {
            return common.fraction;
        }
        let at = self
            .buckets
            .partition_point(|bucket| bucket.upper.order(point).is_lt());
        match self.buckets.get(at).filter(|bucket| bucket.holds(point)) {
            Some(bucket) => bucket.fraction / bucket.distinct.max(1.0),
            // The sample does not have it, between values that it has.
            None if !self.is_whole && 0 < at && at < self.buckets.len() => self.average(),
            // The value may have been added since.
            None => self.average().min(1.0 / self.rows.max(1.0)),
        }
    }

    /// Fraction of the rows less than a value, or not greater if `inclusive`.
    fn below(&self, point: &Point, inclusive: bool) -> f64 {
        let is_below = |common: &&Common| {
            let order = common.point.order(point);
            order.is_lt() || (inclusive && order.is_eq())
        };
        let common = self.common.iter().filter(is_below);
        let common: f64 = common.map(|common| common.fraction).sum();
        let whole = |bucket: &Bucket| bucket.upper.order(point).is_lt();
        let at = self.buckets.partition_point(whole);
        let (below, others) = self.buckets.split_at(at);
        let below: f64 = below.iter().map(|bucket| bucket.fraction).sum();
        let divided = others
            .first()
            .map_or(0.0, |bucket| bucket.below(point, inclusive));
        common + below + divided
    }

    /// Fraction of the rows between two bounds.
    pub fn between(&self, low: Bound<&Point>, high: Bound<&Point>) -> f64 {
        let below_high = match high {
            Bound::Unbounded => 1.0 - self.null_fraction,
            Bound::Included(point) => self.below(point, true),
            Bound::Excluded(point) => self.below(point, false),
        };
        let below_low = match low {
            Bound::Unbounded => 0.0,
            Bound::Included(point) => self.below(point, false),
            Bound::Excluded(point) => self.below(point, true),
        };
        let found = below_high - below_low;
        // Values missing from the sample may exist: half a row of the sample.
        let least = if self.is_whole { 0.1 } else { 1.0 };
        found.clamp(0.0, 1.0).max(least / self.rows.max(1.0))
    }

    /// Fraction of the rows whose values begin with a text.
    pub fn beginning_with(&self, text: &[u8], ty: &SqlType) -> f64 {
        let low = Point::text(text, ty);
        let Point::Text(key) = &low else {
            return self.average();
        };
        let high = after_all_with(key).map(|key| Point::Text(key.into_boxed_slice()));
        let high = high.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
        self.between(Bound::Included(&low), high)
    }

    /// Fraction of the pairs of rows of two columns, of `distinct` and `other_distinct` values, that are equal: by the
    /// most common values of both as far as they are known, and for the rest by the number of distinct values (the
    /// manual of PostgreSQL, "Row Estimation Examples").
    pub fn equal_pairs(&self, distinct: f64, other: &Self, other_distinct: f64) -> f64 {
        let distinct = distinct.max(other_distinct);
        let share = |statistics: &Self| 1.0 - statistics.null_fraction;
        let plain = share(self) * share(other) / distinct.max(1.0);
        if self.common.is_empty() || other.common.is_empty() {
            return plain;
        }
        let (mut matched, mut own, mut its, mut both) = (0.0, 0.0, 0.0, 0);
        let mut others = other.common.iter().peekable();
        for common in &self.common {
            // Both lists are in order.
            while others
                .next_if(|other| other.point.order(&common.point).is_lt())
                .is_some()
            {}
            if let Some(same) = others.next_if(|other| other.point.order(&common.point).is_eq()) {
                matched += common.fraction * same.fraction;
                own += common.fraction;
                its += same.fraction;
                both += 1;
            }
        }
        if both == 0 {
            return plain;
        }
        let (own, its) = ((share(self) - own).max(0.0), (share(other) - its).max(0.0));
        let rest = (distinct - f64::from(both)).max(1.0);
        matched + own * its / rest
    }
}

/// First key behind all keys with a prefix.
fn after_all_with(key: &[u8]) -> Option<Vec<u8>> {
    let mut after = key.to_vec();
    while let Some(last) = after.pop() {
        if last < u8::MAX {
            after.push(last + 1);
            return Some(after);
        }
    }
    None
}
