//! Histograms of columns, made by ANALYZE TABLE … UPDATE HISTOGRAM and shown in `COLUMN_STATISTICS`: a document in
//! MySQL's form (the manual, "Optimizer Statistics"), which is a part of the table's definition.
//!
//! Up to as many values as buckets make a `singleton` histogram, with one bucket per value. More values make an
//! `equi-height` one, whose buckets have about the same number of rows: the least number for which the buckets
//! suffice.

use std::sync::Arc;

use data_encoding::BASE64;
use mayfly_plan::ColumnStatistics;
use mayfly_plan::statistics::Point;
use mayfly_plan::statistics::histogram::HistogramBucket;
use mayfly_types::convert::{CastContext, cast_value};
use mayfly_types::error::codes;
use mayfly_types::json::{self, Json, JsonObject};
use mayfly_types::temporal::{DateTime, TimeZone};
use mayfly_types::{CollationId, Diagnostics, Error, SqlMode, SqlType, TypeKind, Value};

/// Characters of a text that are kept.
pub(crate) const TEXT_CHARACTERS: usize = 42;
/// Prefix of a text's bytes in the document.
const TEXT_PREFIX: &str = "base64:type254:";

/// Default number of buckets.
pub(crate) const BUCKETS: u32 = 100;

/// The histogram of a column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Histogram {
    /// The name of the column.
    pub(crate) column: String,
    /// The document that `COLUMN_STATISTICS` shows.
    pub(crate) document: Arc<Json>,
}

/// Settings of a histogram to be made.
#[derive(Debug, Clone)]
pub(crate) struct HistogramSettings {
    pub(crate) buckets: u32,
    pub(crate) auto_update: bool,
    /// Time of creation, in the document's format.
    pub(crate) now: String,
}

/// MySQL's name of a type in a histogram; `None` for a type without histograms.
pub(crate) fn data_type(ty: &SqlType) -> Option<&'static str> {
    Some(match ty.kind {
        TypeKind::Json | TypeKind::Geometry(_) => return None,
        TypeKind::Enum => "enum",
        TypeKind::Set => "set",
        TypeKind::Date => "date",
        TypeKind::Time => "time",
        TypeKind::DateTime | TypeKind::Timestamp => "datetime",
        TypeKind::Decimal => "decimal",
        TypeKind::Float | TypeKind::Double => "double",
        TypeKind::Year | TypeKind::Bit => "int",
        TypeKind::BigInt if ty.unsigned => "uint",
        _ if ty.is_integer() => "int",
        _ => "string",
    })
}

/// A text in the document's format.
pub(crate) fn text(bytes: &[u8]) -> Json {
    Json::String(format!("{TEXT_PREFIX}{}", BASE64.encode(bytes)))
}

/// The histogram of a column: its values in order, each with its number of rows, and the number of NULLs.
pub(crate) fn document(
    ty: &SqlType,
    values: &[(Json, u64)],
    nulls: u64,
    settings: &HistogramSettings,
) -> Json {
    let valued: u64 = values.iter().map(|(_, count)| count).sum();
    let all = (valued + nulls).max(1) as f64;
    let is_singleton = values.len() <= settings.buckets as usize;
    let mut below = 0;
    let buckets: Vec<Json> = if is_singleton {
        let bucket = |(value, count): &(Json, u64)| {
            below += count;
            Json::Array(vec![value.clone(), Json::Double(below as f64 / all)])
        };
        values.iter().map(bucket).collect()
    } else {
        let bucket = |values: &[(Json, u64)]| {
            below += values.iter().map(|(_, count)| count).sum::<u64>();
            let ends = [values.first(), values.last()];
            let mut bucket: Vec<Json> = ends
                .into_iter()
                .flatten()
                .map(|(end, _)| end.clone())
                .collect();
            bucket.push(Json::Double(below as f64 / all));
            bucket.push(Json::Int(values.len() as i64));
            Json::Array(bucket)
        };
        divided(values, settings.buckets as usize)
            .map(bucket)
            .collect()
    };
    let collation = match ty.kind {
        TypeKind::Enum | TypeKind::Set => ty.collation,
        TypeKind::Bit => CollationId::BINARY,
        _ if ty.is_string() => ty.collation,
        // The collation of numbers: latin1_swedish_ci.
        _ => CollationId::by_number(8).unwrap_or(CollationId::BINARY),
    };
    let kind = if is_singleton {
        "singleton"
    } else {
        "equi-height"
    };
    let text = |text: &str| Json::String(text.to_owned());
    let members = [
        ("buckets", Json::Array(buckets)),
        ("data-type", text(data_type(ty).unwrap_or("string"))),
        ("auto-update", Json::Bool(settings.auto_update)),
        ("null-values", Json::Double(nulls as f64 / all)),
        ("collation-id", Json::Int(collation.0.into())),
        ("last-updated", text(&settings.now)),
        ("sampling-rate", Json::Double(1.0)),
        ("histogram-type", text(kind)),
        (
            "number-of-buckets-specified",
            Json::Int(settings.buckets.into()),
        ),
    ];
    let members = members.map(|(name, value)| (name.to_owned(), value));
    Json::Object(JsonObject::of(members.into()))
}

/// Number of values from `start` on that fit a bucket of at most `rows` rows.
fn bucket_length(values: &[(Json, u64)], rows: u64) -> usize {
    let mut sum = 0;
    let fits = values.iter().take_while(|(_, count)| {
        sum += count;
        sum <= rows
    });
    // A value with more rows has a bucket of its own.
    fits.count().max(1)
}

/// The values divided into at most `buckets` buckets.
fn divided(values: &[(Json, u64)], buckets: usize) -> impl Iterator<Item = &[(Json, u64)]> {
    let needed = |rows: u64| {
        let (mut rest, mut needed) = (values, 0);
        while !rest.is_empty() && needed <= buckets {
            rest = &rest[bucket_length(rest, rows)..];
            needed += 1;
        }
        needed
    };
    let (mut low, mut high) = (1, values.iter().map(|(_, count)| count).sum::<u64>().max(1));
    while low < high {
        let middle = low + (high - low) / 2;
        if needed(middle) <= buckets {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    let mut rest = values;
    std::iter::from_fn(move || {
        let (bucket, others) = rest.split_at_checked(match rest.is_empty() {
            true => return None,
            false => bucket_length(rest, low),
        })?;
        rest = others;
        Some(bucket)
    })
}

/// The histogram of USING DATA, or the error in it.
pub(crate) fn of_text(text: &str, ty: &SqlType, now: &str) -> Result<Json, Vec<String>> {
    let invalid = |error: json::JsonError| {
        let error: Error = error.in_argument(1, "UPDATE HISTOGRAM");
        vec![
            error.message().to_owned(),
            String::new(),
            "JSON format error.".to_owned(),
        ]
    };
    let wrong = |text: String| vec![String::new(), text];
    let Json::Object(mut object) = json::parse(text.as_bytes()).map_err(invalid)? else {
        return Err(wrong("JSON format error.".to_owned()));
    };
    const ATTRIBUTES: &[&str] = &[
        "histogram-type",
        "auto-update",
        "data-type",
        "null-values",
        "sampling-rate",
        "collation-id",
        "number-of-buckets-specified",
        "buckets",
    ];
    for name in ATTRIBUTES {
        if object.get(name).is_none() {
            return Err(wrong(format!("Missing attribute at '$.\"{name}\"'.")));
        }
    }
    object.insert("last-updated".to_owned(), Json::String(now.to_owned()));
    let document = Json::Object(object);
    if statistics(&document, ty, 1).is_none() {
        return Err(wrong("Wrong attribute type at '$.\"buckets\"'.".to_owned()));
    }
    Ok(document)
}

impl Histogram {
    /// The record in the dictionary: an object of the column's name and the document, in one line.
    pub(crate) fn record(&self) -> String {
        let members = vec![(self.column.clone(), Json::clone(&self.document))];
        let text = Json::Object(JsonObject::of(members)).to_text();
        String::from_utf8_lossy(&text).into_owned()
    }

    /// The histogram of a record; `None` if it is damaged.
    pub(crate) fn of_record(record: &str) -> Option<Self> {
        let Json::Object(object) = json::parse(record.as_bytes()).ok()? else {
            return None;
        };
        let (column, document) = object.into_members().pop()?;
        let document = Arc::new(document);
        Some(Self { column, document })
    }

    /// Whether a plain ANALYZE TABLE rebuilds it (AUTO UPDATE).
    pub(crate) fn is_auto_updated(&self) -> bool {
        member(&self.document, "auto-update") == Some(&Json::Bool(true))
    }

    /// The number of buckets that was asked for.
    pub(crate) fn buckets(&self) -> u32 {
        match member(&self.document, "number-of-buckets-specified") {
            Some(Json::Int(buckets)) => u32::try_from(*buckets).unwrap_or(BUCKETS),
            _ => BUCKETS,
        }
    }

    /// Statistics of the column for a table that now has `rows` rows.
    pub(crate) fn statistics(&self, ty: &SqlType, rows: u64) -> Option<ColumnStatistics> {
        statistics(&self.document, ty, rows)
    }
}

fn member<'j>(document: &'j Json, name: &str) -> Option<&'j Json> {
    match document {
        Json::Object(object) => object.get(name),
        _ => None,
    }
}

fn number(json: &Json) -> Option<f64> {
    match json {
        Json::Int(number) => Some(*number as f64),
        Json::UInt(number) => Some(*number as f64),
        Json::Double(number) => Some(*number),
        Json::Decimal(number) => Some(number.to_f64()),
        _ => None,
    }
}

fn statistics(document: &Json, ty: &SqlType, rows: u64) -> Option<ColumnStatistics> {
    let nulls = number(member(document, "null-values")?)?;
    let Json::Array(given) = member(document, "buckets")? else {
        return None;
    };
    let mut below = 0.0;
    let mut buckets = Vec::with_capacity(given.len());
    for bucket in given {
        let Json::Array(bucket) = bucket else {
            return None;
        };
        let (lower, upper, cumulative, distinct) = match bucket.as_slice() {
            [value, cumulative] => (value, value, cumulative, 1.0),
            [lower, upper, cumulative, distinct] => (lower, upper, cumulative, number(distinct)?),
            _ => return None,
        };
        let cumulative = number(cumulative)?;
        buckets.push(HistogramBucket {
            lower: point(lower, ty)?,
            upper: point(upper, ty)?,
            fraction: (cumulative - below).max(0.0),
            distinct,
        });
        below = cumulative;
    }
    Some(ColumnStatistics::of_histogram(rows, nulls, buckets))
}

/// A value of the document as a point of the column's type.
fn point(json: &Json, ty: &SqlType) -> Option<Point> {
    if let Some(number) = number(json) {
        return (!ty.is_string()).then_some(Point::Number(number));
    }
    let Json::String(text) = json else {
        return None;
    };
    if ty.is_string() {
        let bytes = BASE64
            .decode(text.strip_prefix(TEXT_PREFIX)?.as_bytes())
            .ok()?;
        return Point::of(&Value::Bytes(bytes), ty);
    }
    let from = SqlType::varchar(64, CollationId::default());
    let diagnostics = Diagnostics::new(0);
    let cast = CastContext {
        sql_mode: SqlMode::DEFAULT,
        diagnostics: &diagnostics,
        time_zone: &TimeZone::UTC,
        now: DateTime::default(),
        operand: "",
        room: None,
    };
    let value = cast_value(&Value::from(text.as_str()), &from, ty, &cast).ok()?;
    Point::of(&value, ty)
}

/// 1690: histograms have 1 to 1024 buckets.
pub(crate) fn check_buckets(buckets: u64) -> Result<u32, Error> {
    match u32::try_from(buckets) {
        Ok(buckets) if (1..=1024).contains(&buckets) => Ok(buckets),
        _ => Err(codes::ER_DATA_OUT_OF_RANGE.with(&[&"Number of buckets", &"ANALYZE TABLE"])),
    }
}

#[cfg(test)]
mod tests {
    use mayfly_types::json::Json;

    use super::divided;

    #[test]
    fn buckets_have_about_as_many_rows_as_mysqls() {
        let lengths = |counts: &[u64], buckets: usize| -> Vec<usize> {
            let values: Vec<(Json, u64)> =
                counts.iter().map(|count| (Json::Null, *count)).collect();
            divided(&values, buckets).map(<[_]>::len).collect()
        };
        // Expected buckets from MySQL 9.7, for 0 to 333, three rows each but the last, and a value with half of all
        // rows.
        let mut counts = vec![3; 334];
        counts[333] = 1;
        assert_eq!(lengths(&counts, 4), [84, 84, 84, 82]);
        let mut counts = vec![1; 501];
        counts[0] = 500;
        assert_eq!(lengths(&counts, 4), [1, 167, 167, 166]);
        assert_eq!(lengths(&[25; 40], 4), [10; 4]);
    }
}
