//! Ranges of an index in a plan: conditions on key parts, over values that are known when the plan runs.
//! [`KeyRanges::resolve`] computes the ranges that are read: ordered, disjoint, adjacent ones merged.

use std::cmp::Ordering;
use std::ops::Bound;

use mayfly_types::charset::utf8;
use mayfly_types::json::{self, JsonKind};
use mayfly_types::{CollationId, PhysicalType, Result, SqlType, TypeKind, Value};

use crate::access::interval::{Fit, Interval, ValueOrder, fit, intersection};
use crate::catalog::ValueRange;
pub(crate) use crate::tree::access::{
    Analysis, Condition, KeyBox, KeyRanges, RangePart, SoughtElements,
};
use crate::tree::expression::{Comparison, Expression};

impl SoughtElements {
    /// The keys of the elements, if the index finds by them every array that has one; `ty` is the type of its elements.
    pub(crate) fn keys(&self, value: &Value, ty: &SqlType) -> Option<Vec<Value>> {
        let Value::Bytes(text) = value else {
            return None;
        };
        let mut document = Vec::new();
        match self.value.ty.kind {
            TypeKind::Json => document.extend_from_slice(text),
            _ if !self.value.ty.is_string() || self.value.ty.is_binary_string() => return None,
            _ if self.is_element => json::append_quoted(&mut document, text),
            _ => json::append_normalized(&mut document, text).ok()?,
        }
        let is_array = matches!(json::kind_of(&document), JsonKind::Array);
        let keys = json::sought_values(&document, ty);
        keys.filter(|_| !(self.is_element && is_array))
    }
}

impl Condition {
    /// Whether the condition leaves only single values of a column.
    pub(crate) fn is_points(&self, column: &SqlType) -> bool {
        match self {
            Self::Compare(comparison, value) => {
                matches!(comparison, Comparison::Equal | Comparison::NullSafeEqual)
                    && !is_rounded(column, &value.ty)
            }
            Self::In(_, ty) => !is_rounded(column, ty),
            Self::IsNull | Self::Elements(_) => true,
            Self::IsNotNull | Self::Like(..) => false,
        }
    }

    /// Maximum number of values, if the condition leaves points.
    pub(crate) fn point_count(&self) -> usize {
        match self {
            Self::In(list, _) => list.len(),
            Self::Elements(sought) => sought.count,
            _ => 1,
        }
    }

    /// Calls `visit` on the values of the condition.
    pub(crate) fn for_each_expression<'e>(&'e self, visit: &mut dyn FnMut(&'e Expression)) {
        match self {
            Self::Compare(_, value) | Self::Like(value, _) => visit(value),
            Self::Elements(sought) => visit(&sought.value),
            Self::In(..) | Self::IsNull | Self::IsNotNull => {}
        }
    }
}

/// Whether several values of a column may be equal to one value of another type: large integers, as doubles.
pub(crate) fn is_rounded(column: &SqlType, other: &SqlType) -> bool {
    matches!(
        column.kind,
        TypeKind::BigInt | TypeKind::Bit | TypeKind::Set
    ) && other.physical() == PhysicalType::Float64
}

/// Whether equal texts may have different first characters: a prefix index has them at several positions.
pub(crate) fn has_many_beginnings(column: &SqlType, prefix: Option<u32>) -> bool {
    prefix.is_some() && !column.collation.orders_beginnings()
}

/// Function that gives the value of an expression without columns; `None` while it is not known.
pub(crate) type ValueOf<'a> = &'a mut dyn FnMut(&Expression) -> Result<Option<Value>>;

impl KeyRanges {
    /// Calls `visit` on every value that the ranges depend on.
    pub fn for_each_expression<'e>(&'e self, visit: &mut dyn FnMut(&'e Expression)) {
        for condition in self.boxes.iter().flat_map(|b| &b.parts).flatten() {
            condition.for_each_expression(visit);
        }
    }

    /// Calls `visit` on every value that the ranges depend on.
    pub(crate) fn for_each_expression_mut(&mut self, visit: &mut dyn FnMut(&mut Expression)) {
        let parts = self.boxes.iter_mut().flat_map(|b| &mut b.parts);
        for condition in parts.flatten() {
            match condition {
                Condition::Compare(_, value) | Condition::Like(value, _) => visit(value),
                Condition::Elements(sought) => visit(&mut sought.value),
                Condition::In(..) | Condition::IsNull | Condition::IsNotNull => {}
            }
        }
    }

    /// Number of key parts used.
    pub fn part_count(&self) -> usize {
        let parts = self.boxes.iter().map(|b| b.parts.len());
        parts.max().unwrap_or(0)
    }

    /// Values that the parts must equal, if the ranges are a single point.
    pub fn point(&self) -> Option<Vec<&Expression>> {
        let [only] = self.boxes.as_slice() else {
            return None;
        };
        if only.parts.len() != self.parts.len() {
            return None;
        }
        let parts = only.parts.iter().zip(&self.parts);
        let values = parts.map(|(conditions, part)| match conditions.as_slice() {
            [Condition::Compare(Comparison::Equal, value)]
                if part.prefix.is_none()
                    && part.ty.kind != TypeKind::Enum
                    && !is_rounded(&part.ty, &value.ty) =>
            {
                Some(value)
            }
            _ => None,
        });
        values.collect()
    }

    /// Number of leading parts with a single value, whatever the other parts: all rows that are read have the same
    /// values there.
    pub(crate) fn fixed_parts(&self) -> usize {
        let [only] = self.boxes.as_slice() else {
            return 0;
        };
        only.parts
            .iter()
            .zip(&self.parts)
            .take_while(|(conditions, part)| conditions.iter().any(|one| part.is_fixed_by(one)))
            .count()
    }

    /// Whether all ranges are between values, and none between sort keys.
    pub(crate) fn is_of_values(&self) -> bool {
        let mut used = self.parts.iter().take(self.part_count());
        !used.any(RangePart::has_many_beginnings)
    }

    /// The ranges, in the order of the index; `None` while a value is not known, or if an index does not find the
    /// elements of a value.
    pub fn resolve(&self, value_of: ValueOf<'_>) -> Result<Option<Vec<ValueRange>>> {
        self.resolve_with(value_of, Beginnings::Possible)
    }

    /// The ranges that contain nearly all rows: of text prefixes only the usual one.
    pub(crate) fn resolve_usual(&self, value_of: ValueOf<'_>) -> Result<Option<Vec<ValueRange>>> {
        self.resolve_with(value_of, Beginnings::Usual)
    }

    fn resolve_with(
        &self,
        value_of: ValueOf<'_>,
        beginnings: Beginnings,
    ) -> Result<Option<Vec<ValueRange>>> {
        let mut ranges = Vec::new();
        for one in &self.boxes {
            let mut prefixes = vec![Vec::new()];
            for (position, conditions) in one.parts.iter().enumerate() {
                let Some(part) = self.parts.get(position) else {
                    break;
                };
                let Some(intervals) = part.intervals(conditions, value_of, beginnings)? else {
                    return Ok(None);
                };
                let is_last = position + 1 == one.parts.len();
                // Conditions on later parts apply to points only.
                let (points, spans): (Vec<Interval>, Vec<Interval>) = if is_last {
                    (Vec::new(), intervals)
                } else {
                    intervals
                        .into_iter()
                        .partition(|interval| interval.as_point(part.order()).is_some())
                };
                ranges.extend(prefixes.iter().flat_map(|prefix| {
                    spans
                        .iter()
                        .map(|interval| range_of(prefix, interval, part.descending))
                }));
                prefixes = prefixes
                    .iter()
                    .flat_map(|prefix| {
                        points.iter().filter_map(|point| {
                            Some(extended(prefix, point.as_point(part.order())?))
                        })
                    })
                    .collect();
            }
        }
        Ok(Some(self.joined(ranges)))
    }

    /// The ranges in order, with adjacent ones merged.
    fn joined(&self, mut ranges: Vec<ValueRange>) -> Vec<ValueRange> {
        ranges.retain(|range| {
            self.compare(
                &Boundary::of(&range.start, true),
                &Boundary::of(&range.end, false),
            )
            .is_lt()
        });
        ranges.sort_by(|a, b| {
            self.compare(&Boundary::of(&a.start, true), &Boundary::of(&b.start, true))
        });
        let mut joined: Vec<ValueRange> = Vec::with_capacity(ranges.len());
        for range in ranges {
            match joined.last_mut() {
                Some(last)
                    if self
                        .compare(
                            &Boundary::of(&range.start, true),
                            &Boundary::of(&last.end, false),
                        )
                        .is_le() =>
                {
                    if self
                        .compare(
                            &Boundary::of(&range.end, false),
                            &Boundary::of(&last.end, false),
                        )
                        .is_gt()
                    {
                        last.end = range.end;
                    }
                }
                _ => joined.push(range),
            }
        }
        joined
    }

    fn compare(&self, a: &Boundary<'_>, b: &Boundary<'_>) -> Ordering {
        let (a, b) = match (a, b) {
            (Boundary::First, Boundary::First) | (Boundary::Last, Boundary::Last) => {
                return Ordering::Equal;
            }
            (Boundary::First, _) | (_, Boundary::Last) => return Ordering::Less,
            (Boundary::Last, _) | (_, Boundary::First) => return Ordering::Greater,
            (Boundary::At(a, x), Boundary::At(b, y)) => ((a, *x), (b, *y)),
        };
        for ((x, y), part) in a.0.iter().zip(b.0.iter()).zip(&self.parts) {
            let ordering = part.order().compare(x, y);
            let ordering = if part.descending {
                ordering.reverse()
            } else {
                ordering
            };
            if ordering.is_ne() {
                return ordering;
            }
        }
        match a.0.len().cmp(&b.0.len()) {
            Ordering::Equal => a.1.cmp(&b.1),
            // The shorter bound is before or behind all keys with it as a prefix.
            Ordering::Less if a.1 => Ordering::Greater,
            Ordering::Less => Ordering::Less,
            Ordering::Greater if b.1 => Ordering::Less,
            Ordering::Greater => Ordering::Greater,
        }
    }
}

/// A boundary between keys.
enum Boundary<'a> {
    First,
    Last,
    /// Before (`false`) or behind (`true`) all keys that begin with these values.
    At(&'a [Value], bool),
}

impl<'a> Boundary<'a> {
    fn of(bound: &'a Bound<Vec<Value>>, is_start: bool) -> Self {
        match bound {
            Bound::Unbounded if is_start => Self::First,
            Bound::Unbounded => Self::Last,
            Bound::Included(values) => Self::At(values, !is_start),
            Bound::Excluded(values) => Self::At(values, is_start),
        }
    }
}

fn extended(prefix: &[Value], value: &Value) -> Vec<Value> {
    let mut values = Vec::with_capacity(prefix.len() + 1);
    values.extend_from_slice(prefix);
    values.push(value.clone());
    values
}

fn range_of(prefix: &[Value], interval: &Interval, descending: bool) -> ValueRange {
    let bound = |bound: &Bound<Value>| match bound {
        Bound::Unbounded if prefix.is_empty() => Bound::Unbounded,
        Bound::Unbounded => Bound::Included(prefix.to_vec()),
        Bound::Included(value) => Bound::Included(extended(prefix, value)),
        Bound::Excluded(value) => Bound::Excluded(extended(prefix, value)),
    };
    let (low, high) = (bound(&interval.low), bound(&interval.high));
    if descending {
        ValueRange {
            start: high,
            end: low,
        }
    } else {
        ValueRange {
            start: low,
            end: high,
        }
    }
}

/// Prefixes of a text to search for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Beginnings {
    /// All possible ones.
    Possible,
    /// The usual one, of nearly all texts, in which each character has one weight.
    Usual,
}

impl RangePart {
    /// Order of the bounds: bounds of prefixes that are not in the order of texts are sort keys.
    fn order(&self) -> ValueOrder {
        ValueOrder(if self.has_many_beginnings() {
            CollationId::BINARY
        } else {
            self.ty.comparison_collation()
        })
    }

    /// Whether equal texts may have different prefixes in the index.
    pub(crate) fn has_many_beginnings(&self) -> bool {
        has_many_beginnings(&self.ty, self.prefix)
    }

    /// Whether a condition leaves one value of the column.
    pub(crate) fn is_fixed_by(&self, condition: &Condition) -> bool {
        let is_element = match condition {
            Condition::Elements(sought) => sought.is_element,
            _ => true,
        };
        is_element && condition.is_points(&self.ty) && condition.point_count() == 1
    }

    /// Intersection of the conditions; `None` while a value is not known.
    fn intervals(
        &self,
        conditions: &[Condition],
        value_of: ValueOf<'_>,
        beginnings: Beginnings,
    ) -> Result<Option<Vec<Interval>>> {
        let mut left = vec![Interval::ALL];
        for condition in conditions {
            let Some(intervals) = self.intervals_of(condition, value_of, beginnings)? else {
                return Ok(None);
            };
            left = intersection(&left, &intervals, self.order());
        }
        Ok(Some(left))
    }

    fn intervals_of(
        &self,
        condition: &Condition,
        value_of: ValueOf<'_>,
        beginnings: Beginnings,
    ) -> Result<Option<Vec<Interval>>> {
        Ok(Some(match condition {
            Condition::IsNull => vec![Interval::point(Value::Null)],
            Condition::IsNotNull => vec![Interval::VALUES],
            Condition::In(list, ty) => {
                let points = list
                    .iter()
                    .flat_map(|value| self.compared(Comparison::Equal, value, ty, beginnings));
                points.collect()
            }
            Condition::Compare(comparison, expression) => {
                let Some(value) = value_of(expression)? else {
                    return Ok(None);
                };
                self.compared(*comparison, &value, &expression.ty, beginnings)
            }
            Condition::Elements(sought) => {
                let Some(value) = value_of(&sought.value)? else {
                    return Ok(None);
                };
                if value.is_null() {
                    return Ok(Some(Vec::new()));
                }
                let Some(keys) = sought.keys(&value, &self.ty) else {
                    return Ok(None);
                };
                keys.into_iter().map(Interval::point).collect()
            }
            Condition::Like(pattern, escape) => match value_of(pattern)? {
                None => return Ok(None),
                Some(Value::Bytes(pattern)) => vec![self.like(&pattern, *escape)],
                Some(_) => Vec::new(),
            },
        }))
    }

    /// Values for which a comparison with a value of another type is true.
    fn compared(
        &self,
        comparison: Comparison,
        value: &Value,
        ty: &SqlType,
        beginnings: Beginnings,
    ) -> Vec<Interval> {
        if value.is_null() {
            return match comparison {
                Comparison::NullSafeEqual => vec![Interval::point(Value::Null)],
                _ => Vec::new(),
            };
        }
        if self.ty.kind == TypeKind::Enum && ty.is_string() {
            return self.members(value, ty.collation);
        }
        if is_rounded(&self.ty, ty) {
            return self.about(comparison, value);
        }
        let fit = fit(value, self.ty.physical());
        match &self.prefix {
            Some(prefix) => self.compared_prefix(comparison, fit, *prefix, beginnings),
            None => exactly(comparison, fit),
        }
    }

    /// Members of an ENUM that are equal to a text.
    fn members(&self, text: &Value, collation: CollationId) -> Vec<Interval> {
        let Value::Bytes(text) = text else {
            return Vec::new();
        };
        let error_value = std::iter::once("");
        let names = error_value.chain(self.ty.members.iter().map(String::as_str));
        (0..)
            .zip(names)
            .filter(|(_, name)| collation.equals(name.as_bytes(), text))
            .map(|(number, _)| Interval::point(Value::UInt(number)))
            .collect()
    }

    /// Superset of the values for which a comparison with a double is true, to which several integers may be equal.
    fn about(&self, comparison: Comparison, value: &Value) -> Vec<Interval> {
        let Value::Float(number) = value else {
            return vec![Interval::VALUES];
        };
        let integer = |number: f64| match self.ty.physical() {
            PhysicalType::UInt64 => Value::UInt(number as u64),
            _ => Value::Int(number as i64),
        };
        let low = Bound::Included(integer(number.next_down().floor()));
        let high = Bound::Included(integer(number.next_up().ceil()));
        vec![match comparison {
            Comparison::Equal | Comparison::NullSafeEqual => Interval { low, high },
            Comparison::Less | Comparison::LessOrEqual => Interval::below(high),
            Comparison::Greater | Comparison::GreaterOrEqual => Interval::above(low),
            Comparison::NotEqual => Interval::VALUES,
        }]
    }

    /// Range for a comparison on a prefix, which is inexact: rows with an equal prefix must be read.
    fn compared_prefix(
        &self,
        comparison: Comparison,
        fit: Fit,
        prefix: u32,
        beginnings: Beginnings,
    ) -> Vec<Interval> {
        let Fit::Exact(Value::Bytes(text)) = fit else {
            return vec![Interval::VALUES];
        };
        let cut = self.cut(&text, prefix);
        if !self.has_many_beginnings() {
            let point = Interval::point(Value::Bytes(cut.to_vec()));
            return vec![compared_with(comparison, &point)];
        }
        let collation = self.ty.collation;
        let known = match beginnings {
            Beginnings::Possible => collation.beginnings(&text, prefix),
            Beginnings::Usual => None,
        };
        let Some(known) = known else {
            let usual = collation.first_level_key(cut).unwrap_or_default();
            return vec![compared_with(comparison, &self.of_first_level(usual))];
        };
        let points = known.points.into_iter();
        let points = points.map(|point| self.of_first_level(point));
        let rest = known.rest.map(|(first, last)| Interval {
            low: self.of_first_level(first).low,
            high: self.of_first_level(last).high,
        });
        let points = points.chain(rest);
        match comparison {
            Comparison::Equal | Comparison::NullSafeEqual => points.collect(),
            Comparison::NotEqual => vec![Interval::VALUES],
            _ => {
                let whole = compared_with(comparison, &self.of_first_level(known.whole));
                let mut intervals: Vec<Interval> = points
                    .filter(|point| {
                        let both = [std::slice::from_ref(point), std::slice::from_ref(&whole)];
                        intersection(both[0], both[1], self.order()).as_slice() != both[0]
                    })
                    .collect();
                intervals.push(whole);
                intervals
            }
        }
    }

    /// Sort keys that have this first level.
    fn of_first_level(&self, first: Vec<u8>) -> Interval {
        if self.ty.collation.has_one_level() {
            return Interval::point(Value::Bytes(first));
        }
        // Weights of the other levels have small first bytes.
        let last = [first.as_slice(), &[u8::MAX]].concat();
        Interval {
            low: Bound::Included(Value::Bytes(first)),
            high: Bound::Included(Value::Bytes(last)),
        }
    }

    fn is_binary(&self) -> bool {
        self.ty.collation == CollationId::BINARY
    }

    /// First characters of a text.
    fn cut<'t>(&self, text: &'t [u8], characters: u32) -> &'t [u8] {
        let mut length = 0;
        for _ in 0..characters {
            let rest = text.get(length..).unwrap_or_default();
            length += match self.is_binary() {
                _ if rest.is_empty() => break,
                true => 1,
                false => utf8::decode(rest).map_or(1, |(_, bytes)| bytes),
            };
        }
        text.get(..length).unwrap_or(text)
    }

    /// Superset of the texts that match a pattern: those with its literal prefix.
    fn like(&self, pattern: &[u8], escape: Option<char>) -> Interval {
        const CHARACTERS_MAX: u32 = 1024;
        let mut escapes = [0; 4];
        let escapes = escape.unwrap_or('\\').encode_utf8(&mut escapes).as_bytes();
        let mut length = 0;
        while let Some(rest) = pattern.get(length..).filter(|rest| !rest.is_empty()) {
            if matches!(rest[0], b'%' | b'_') || rest.starts_with(escapes) {
                break;
            }
            length += if self.is_binary() {
                1
            } else {
                utf8::decode(rest).map_or(1, |(_, bytes)| bytes)
            };
        }
        let start = pattern.get(..length).unwrap_or(pattern);
        let start = self.ty.collation.without_begun_letter(start);
        if start.is_empty() {
            return Interval::VALUES;
        }
        let longest = self.prefix.unwrap_or(self.ty.length).min(CHARACTERS_MAX);
        let start = match self.prefix {
            Some(prefix) => self.cut(start, prefix),
            None => start,
        };
        // Trailing characters may have been removed.
        let kept = if self.is_binary() {
            start.len()
        } else {
            std::str::from_utf8(start).map_or(0, |start| start.chars().count())
        };
        let filled = |with: &[u8]| {
            let mut text = start.to_vec();
            for _ in kept..longest as usize {
                text.extend_from_slice(with);
            }
            Value::Bytes(text)
        };
        // Trailing spaces do not count in a PAD SPACE collation, so that "a\t" is before "a".
        let low = if self.ty.collation.collation().pad_space {
            let mut first = [0; 4];
            let first = self.ty.collation.first_character().encode_utf8(&mut first);
            filled(first.as_bytes())
        } else {
            Value::Bytes(start.to_vec())
        };
        let high = if self.is_binary() {
            filled(b"\xFF")
        } else {
            let mut last = [0; 4];
            filled(
                self.ty
                    .collation
                    .last_character()
                    .encode_utf8(&mut last)
                    .as_bytes(),
            )
        };
        if let (true, Value::Bytes(low), Value::Bytes(high)) =
            (self.has_many_beginnings(), &low, &high)
        {
            let key = |text| self.ty.collation.first_level_key(text).unwrap_or_default();
            return Interval {
                low: self.of_first_level(key(low)).low,
                high: self.of_first_level(key(high)).high,
            };
        }
        Interval {
            low: Bound::Included(low),
            high: Bound::Included(high),
        }
    }
}

/// Values for which a comparison is true with all values of an interval.
fn compared_with(comparison: Comparison, part: &Interval) -> Interval {
    match comparison {
        Comparison::Equal | Comparison::NullSafeEqual => part.clone(),
        Comparison::Less | Comparison::LessOrEqual => Interval::below(part.high.clone()),
        Comparison::Greater | Comparison::GreaterOrEqual => Interval::above(part.low.clone()),
        Comparison::NotEqual => Interval::VALUES,
    }
}

/// Values for which a comparison is true with a value at a position among them.
fn exactly(comparison: Comparison, fit: Fit) -> Vec<Interval> {
    use Comparison::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual, NullSafeEqual};
    match (comparison, fit) {
        (Equal | NullSafeEqual, Fit::Exact(value)) => vec![Interval::point(value)],
        (Equal | NullSafeEqual, _) => Vec::new(),
        (NotEqual, Fit::Exact(value)) => vec![
            Interval::below(Bound::Excluded(value.clone())),
            Interval::above(Bound::Excluded(value)),
        ],
        (NotEqual, _) => vec![Interval::VALUES],
        (Less, Fit::Exact(value)) => vec![Interval::below(Bound::Excluded(value))],
        (Less | LessOrEqual, Fit::Exact(value) | Fit::After(value)) => {
            vec![Interval::below(Bound::Included(value))]
        }
        (Greater | GreaterOrEqual, Fit::After(value)) | (Greater, Fit::Exact(value)) => {
            vec![Interval::above(Bound::Excluded(value))]
        }
        (GreaterOrEqual, Fit::Exact(value)) => vec![Interval::above(Bound::Included(value))],
        (Less | LessOrEqual, Fit::AfterAll) | (Greater | GreaterOrEqual, Fit::BeforeAll) => {
            vec![Interval::VALUES]
        }
        (Less | LessOrEqual, Fit::BeforeAll) | (Greater | GreaterOrEqual, Fit::AfterAll) => {
            Vec::new()
        }
    }
}
