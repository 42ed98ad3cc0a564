//! GTID_SUBSET(set, other) and GTID_SUBTRACT(set, other): sets of transactions by their server, in replication's
//! notation: `uuid[:tag]:from-to:number,…`.

use std::collections::BTreeMap;

use arrow_array::ArrayRef;
use mayfly_types::error::codes;
use mayfly_types::{CollationId, Result};

use crate::scalar::Row;
use crate::scalar::facts::Fact;
use crate::{Binding, Call, Signature, choice, derive, output};

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(&["gtid_subset"], 2..=2, subset_signature, is_subset).with(&[Fact::StopsAtNull]),
    Row::new(&["gtid_subtract"], 2..=2, subtract_signature, subtract).with(&[Fact::StopsAtNull]),
    Row::new(&["wait_for_executed_gtid_set"], 1..=2, wait_signature, wait).volatile(),
];

/// The largest transaction number.
const NUMBER_MAX: i64 = i64::MAX - 1;
/// Maximum length of a tag.
const TAG_MAX: usize = 32;

/// (from, to): half-open intervals of numbers, sorted and disjoint.
type Intervals = Vec<(i64, i64)>;

/// Set of transactions, by server and tag.
#[derive(Debug, Default)]
struct GtidSet(BTreeMap<(String, String), Intervals>);

impl GtidSet {
    /// Parses a set; `None` when it is invalid.
    fn parse(text: &str) -> Option<Self> {
        let mut set = Self::default();
        let text: String = text.chars().filter(|c| !c.is_ascii_whitespace()).collect();
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let mut fields = part.split(':');
            let server = uuid(fields.next()?)?;
            let mut tag = String::new();
            for field in fields {
                if field.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
                    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
                    if field.len() > TAG_MAX || !field.chars().all(is_word) {
                        return None;
                    }
                    tag = field.to_ascii_lowercase();
                    continue;
                }
                let (from, to) = field.split_once('-').unwrap_or((field, field));
                let (from, to) = (number(from, 1)?, number(to, 0)?);
                let intervals = set.0.entry((server.clone(), tag.clone())).or_default();
                if from <= to {
                    intervals.push((from, to + 1));
                }
            }
        }
        for intervals in set.0.values_mut() {
            *intervals = joined(std::mem::take(intervals));
        }
        set.0.retain(|_, intervals| !intervals.is_empty());
        Some(set)
    }

    /// The difference: this set without another.
    fn without(mut self, other: &Self) -> Self {
        for (server, intervals) in &mut self.0 {
            if let Some(removed) = other.0.get(server) {
                *intervals = difference(intervals, removed);
            }
        }
        self.0.retain(|_, intervals| !intervals.is_empty());
        self
    }

    fn append_to(&self, out: &mut Vec<u8>) {
        let mut last: Option<&str> = None;
        for ((server, tag), intervals) in &self.0 {
            if last != Some(server) {
                if last.is_some() {
                    out.extend_from_slice(b",\n");
                }
                out.extend_from_slice(server.as_bytes());
                last = Some(server);
            }
            if !tag.is_empty() {
                out.push(b':');
                out.extend_from_slice(tag.as_bytes());
            }
            for (from, end) in intervals {
                out.extend_from_slice(format!(":{from}").as_bytes());
                if end - from > 1 {
                    out.extend_from_slice(format!("-{}", end - 1).as_bytes());
                }
            }
        }
    }
}

/// A server's UUID in lower case and with its dashes.
fn uuid(text: &str) -> Option<String> {
    let inner = text
        .strip_prefix('{')
        .and_then(|text| text.strip_suffix('}'))
        .unwrap_or(text);
    let digits: String = inner.chars().filter(|c| *c != '-').collect();
    let is_dashed =
        inner.len() == 36 && [8, 13, 18, 23].map(|at| inner.as_bytes()[at]) == [b'-'; 4];
    let is_uuid = digits.len() == 32
        && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
        && (inner.len() == 32 || is_dashed);
    let digits = digits.to_ascii_lowercase();
    is_uuid.then(|| {
        let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|range| &digits[range]);
        parts.join("-")
    })
}

fn number(digits: &str, least: i64) -> Option<i64> {
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let number = digits.parse().ok().filter(|_| is_number)?;
    (least..=NUMBER_MAX).contains(&number).then_some(number)
}

/// These intervals sorted, with overlapping and adjacent ones merged.
fn joined(mut intervals: Intervals) -> Intervals {
    intervals.sort_unstable();
    let mut joined: Intervals = Vec::with_capacity(intervals.len());
    for (from, end) in intervals {
        match joined.last_mut() {
            Some((_, last)) if from <= *last => *last = end.max(*last),
            _ => joined.push((from, end)),
        }
    }
    joined
}

fn difference(intervals: &Intervals, removed: &Intervals) -> Intervals {
    let mut rest = Vec::new();
    let mut at = 0;
    for (from, end) in intervals {
        let mut from = *from;
        while removed.get(at).is_some_and(|(_, until)| *until <= from) {
            at += 1;
        }
        let mut next = at;
        while let Some((start, until)) = removed.get(next).filter(|(start, _)| start < end) {
            if from < *start {
                rest.push((from, *start));
            }
            from = from.max(*until);
            next += 1;
        }
        if from < *end {
            rest.push((from, *end));
        }
    }
    rest
}

/// The difference of the two sets of each row.
fn differences<'a>(call: &Call<'a>) -> Result<impl Fn(usize) -> Result<Option<GtidSet>> + use<'a>> {
    let (sets, others) = (call.texts(0)?, call.texts(1)?);
    let parsed = |text: &[u8]| {
        let text = String::from_utf8_lossy(text);
        GtidSet::parse(&text)
            .ok_or_else(|| codes::ER_MALFORMED_GTID_SET_SPECIFICATION.with(&[&text]))
    };
    Ok(move |row| match (sets.get(row), others.get(row)) {
        (Some(set), Some(other)) => Ok(Some(parsed(set)?.without(&parsed(other)?))),
        _ => Ok(None),
    })
}

fn subset_signature(binding: &Binding<'_>) -> Result<Signature> {
    binding.of_texts_or_null(derive::bigint_of_width(21))
}

fn is_subset(call: &Call<'_>) -> Result<ArrayRef> {
    let difference = differences(call)?;
    output::ints(call.rows, |row| {
        Ok(difference(row)?.map(|rest| i64::from(rest.0.is_empty())))
    })
}

fn subtract_signature(binding: &Binding<'_>) -> Result<Signature> {
    let collation = CollationId::UTF8MB3_GENERAL_CI;
    let length = |index: usize| {
        let bytes = derive::length_in(binding.arguments[index].ty, CollationId::BINARY);
        i64::try_from(bytes).unwrap_or(i64::MAX / 5)
    };
    // A set grows where it is split: `1-100` without `9` is `1-8:10-100`. MySQL subtracts the length of a UUID from
    // that of the second set first, and takes a negative length for a very large one.
    let grown = length(0) + ((length(1) - UUID_LENGTH) * 5).div_euclid(2);
    let characters = u64::try_from(grown).unwrap_or(derive::LENGTH_LIMIT);
    let own = derive::character_length(&binding.text(0));
    let result = derive::string_type(characters.max(own), collation);
    Ok(derive::with_length_limit(binding.of_texts_or_null(result)?))
}

/// Length of the text of a UUID.
const UUID_LENGTH: i64 = 36;

fn subtract(call: &Call<'_>) -> Result<ArrayRef> {
    let difference = differences(call)?;
    output::texts(call, |row, out| {
        let rest = difference(row)?;
        if let Some(rest) = &rest {
            rest.append_to(out);
        }
        Ok(rest.is_some())
    })
}

fn wait_signature(binding: &Binding<'_>) -> Result<Signature> {
    let types = binding.each(|argument| argument.ty.clone());
    Ok(Signature::new(types, derive::bigint_of_width(21), true))
}

/// WAIT_FOR_EXECUTED_GTID_SET(set[, seconds]): transactions have no GTIDs here, as with MySQL's `gtid_mode = OFF`.
fn wait(call: &Call<'_>) -> Result<ArrayRef> {
    output::ints(call.rows, |row| {
        Err(if choice::is_null(&call.arguments[0], row) {
            codes::ER_MALFORMED_GTID_SET_SPECIFICATION.with(&[&"NULL"])
        } else {
            codes::ER_GTID_MODE_OFF.with(&[&"use WAIT_FOR_EXECUTED_GTID_SET"])
        })
    })
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, check, t};

    #[test]
    fn values() {
        let all = t("3E11FA47-71CA-11E1-9E33-C80AA9429562:21-57:100");
        check(&[
            (
                "gtid_subset",
                &[t("3e11fa4771ca11e19e33c80aa9429562:23"), all],
                "1",
            ),
            (
                "gtid_subset",
                &[t("3E11FA47-71CA-11E1-9E33-C80AA9429562:57-58"), all],
                "0",
            ),
            ("gtid_subset", &[NULL, t("")], "NULL"),
            (
                "gtid_subtract",
                &[all, t("3E11FA47-71CA-11E1-9E33-C80AA9429562:23-24:57-100")],
                "3e11fa47-71ca-11e1-9e33-c80aa9429562:21-22:25-56",
            ),
            (
                "gtid_subset",
                &[t("abc"), t("")],
                "ERROR 1772 (HY000): Malformed GTID set specification 'abc'.",
            ),
        ]);
    }
}
