//! Statistics of a column from a sample of its table.
//!
//! A sample consists of runs of adjacent rows. Equal values are often adjacent, too, so that a value counts once for
//! each run that contains it: with that, tables whose rows are in the order of a column are estimated as well as
//! shuffled ones. The number of distinct values is the estimator Duj1 (Haas, Naughton, Seshadri and Stokes,
//! "Sampling-Based Estimation of the Number of Distinct Values of an Attribute", 1995) over these counts.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Decimal256Type, Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, UInt64Array};
use mayfly_types::decimal::Decimal;
use mayfly_types::{CollationId, PhysicalType, SqlType, TypeKind};

use super::{Bucket, ColumnStatistics, Common, Point};

/// Maximum numbers of most common values and of buckets.
const COMMON_MAX: usize = 100;
const BUCKETS_MAX: usize = 100;
/// Maximum number of buckets of texts: texts are not evenly spread within a bucket, as numbers are.
const TEXT_BUCKETS_MAX: usize = 400;
/// Number of runs beyond which a value is frequent.
const RUNS_MAX: f64 = 10.0;
/// Number of example values.
const EXAMPLES: usize = 512;
/// Maximum average bytes of example texts; longer ones are not kept.
const EXAMPLE_BYTES_MAX: usize = 200;
/// Maximum bytes of a text that are compared.
const TEXT_BYTES: usize = 1024;
/// Factor for common values: a value is common if its frequency exceeds `COMMON_FACTOR` × rows / distinct.
const COMMON_FACTOR: f64 = 1.25;

/// Maximum length of stretches of equal rows that is counted exactly.
const STRETCH_MAX: usize = 63;
/// Minimum number of stretches for a distribution of their lengths.
const STRETCHES_MIN: f64 = 100.0;
/// Equal rows are adjacent if the average stretch is as long as a value has rows, up to this factor.
const STRETCH_ERROR_MAX: f64 = 1.25;

/// A value of the sample.
#[derive(Debug)]
struct Seen {
    point: Point,
    /// Hash of the whole text, to distinguish texts with an equal prefix.
    hash: u64,
    run: u32,
}

impl Seen {
    fn is_same(&self, other: &Self) -> bool {
        self.hash == other.hash && self.point.order(&other.point).is_eq()
    }
}

/// A value with its frequency in the sample.
struct Value {
    point: Point,
    rows: f64,
    runs: f64,
}

/// Collects the runs of a sample of a column.
#[derive(Debug)]
pub struct Sampler {
    ty: SqlType,
    /// Number of rows of the table.
    rows: u64,
    seen: Vec<Seen>,
    runs: u32,
    sampled: usize,
    bytes: usize,
    /// Number of adjacent rows that differ.
    changes: usize,
    neighbours: usize,
    /// Number of stretches of `index` equal rows within runs.
    stretches: Vec<u32>,
    /// Every `stride`-th row is kept as an example.
    stride: usize,
    examples: Vec<ArrayRef>,
}

impl Sampler {
    /// Sample of a column of a table of `rows` rows, of which about `wanted` are examined.
    pub fn new(ty: &SqlType, rows: u64, wanted: usize) -> Self {
        let expected = usize::try_from(rows).map_or(wanted, |rows| rows.min(wanted));
        Self {
            ty: ty.clone(),
            rows,
            seen: Vec::with_capacity(expected),
            runs: 0,
            sampled: 0,
            bytes: 0,
            changes: 0,
            neighbours: 0,
            stretches: vec![0; STRETCH_MAX + 1],
            stride: expected.div_ceil(EXAMPLES).max(1),
            examples: Vec::new(),
        }
    }

    /// Adds a run.
    pub fn add(&mut self, run: &ArrayRef) {
        let examples = (0..run.len()).filter(|row| self.is_example(self.sampled + row));
        let examples: Vec<u64> = examples.map(|row| row as u64).collect();
        if !examples.is_empty()
            && let Ok(taken) = arrow_select::take::take(run, &UInt64Array::from(examples), None)
        {
            // A copy of the texts: views would keep their blocks.
            let own = taken
                .as_binary_view_opt()
                .map(|texts| Arc::new(texts.gc()) as ArrayRef);
            self.examples.push(own.unwrap_or(taken));
        }
        self.sampled += run.len();
        let before = self.seen.len();
        self.bytes += add(&self.ty, run, self.runs, &mut self.seen);
        let valued = self.seen[before..].windows(2);
        self.changes += valued.filter(|pair| !pair[0].is_same(&pair[1])).count();
        self.neighbours += (self.seen.len() - before).saturating_sub(1);
        // The first and the last stretch may extend beyond the run.
        let mut stretches = self.seen[before..]
            .chunk_by(|a, b| a.is_same(b))
            .skip(1)
            .peekable();
        while let Some(stretch) = stretches.next() {
            if stretches.peek().is_some() {
                self.stretches[stretch.len().min(STRETCH_MAX)] += 1;
            }
        }
        self.runs += 1;
    }

    /// Whether a row is an example: one of every `stride`, at a varying offset, since rows may repeat with the same
    /// period.
    fn is_example(&self, row: usize) -> bool {
        let mixed = ((row / self.stride) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33;
        row % self.stride == mixed as usize % self.stride
    }

    /// The statistics; `None` without rows.
    pub fn finish(self) -> Option<ColumnStatistics> {
        (self.sampled > 0).then(|| ColumnStatistics::of_sample(self))
    }

    /// The examples, unless they are long texts.
    fn examples(&self) -> Option<ArrayRef> {
        if self.bytes / self.seen.len().max(1) > EXAMPLE_BYTES_MAX {
            return None;
        }
        let pieces: Vec<&dyn Array> = self.examples.iter().map(|piece| &**piece).collect();
        arrow_select::concat::concat(&pieces).ok()
    }
}

impl ColumnStatistics {
    fn of_sample(sample: Sampler) -> Self {
        let examples = sample.examples();
        let Sampler {
            rows,
            seen,
            sampled,
            bytes,
            changes,
            neighbours,
            stretches,
            ..
        } = sample;
        let all = sampled as f64;
        let valued = seen.len() as f64;
        let is_whole = sampled as u64 >= rows;
        let rows = rows as f64;
        let mut statistics = Self {
            rows,
            null_fraction: 1.0 - valued / all,
            distinct: 0.0,
            average_bytes: bytes as f64 / valued.max(1.0),
            common: Vec::new(),
            buckets: Vec::new(),
            is_whole,
            sizes: Vec::new(),
            examples,
        };
        let values = counted(seen);
        let different = values.len() as f64;
        let once = values.iter().filter(|value| value.runs == 1.0).count() as f64;
        let rows_valued = rows * (1.0 - statistics.null_fraction);
        statistics.distinct = if is_whole || values.is_empty() {
            different
        } else {
            // There are at most as many values as changes between adjacent rows.
            let changes = (changes as f64 + 1.0) / (neighbours as f64).max(1.0) * rows_valued;
            let most = changes.min(rows_valued).max(different);
            distinct_of(&values, rows_valued / valued).clamp(different, most)
        };
        statistics.sizes = sizes(&stretches, rows_valued / statistics.distinct.max(1.0));
        let known = is_whole || once == 0.0;
        statistics.divide(values, all, known);
        statistics
    }

    /// Divides values into common ones and buckets. `known`: the sample has all values.
    fn divide(&mut self, values: Vec<Value>, all: f64, known: bool) {
        let valued: f64 = values.iter().map(|value| value.rows).sum();
        let least = if known && values.len() <= COMMON_MAX {
            0.0
        } else {
            let average = valued / self.distinct.max(1.0);
            let mut rows: Vec<f64> = values
                .iter()
                .filter(|value| known || value.runs > 1.0)
                .map(|value| value.rows)
                .collect();
            rows.sort_unstable_by(|a, b| b.total_cmp(a));
            let last = rows.get(COMMON_MAX).map_or(0.0, |rows| rows + 0.5);
            last.max(average * COMMON_FACTOR).max(1.5)
        };
        let mut rest = Vec::with_capacity(values.len());
        for value in values {
            let is_known = known || value.runs > 1.0;
            if is_known && value.rows >= least && self.common.len() < COMMON_MAX {
                let fraction = value.rows / all;
                let point = value.point;
                self.common.push(Common { point, fraction });
            } else {
                rest.push(value);
            }
        }
        let common = self.common.len() as f64;
        let scale = (self.distinct - common).max(1.0) / (rest.len() as f64).max(1.0);
        let buckets = match rest.first() {
            Some(Value {
                point: Point::Text(_),
                ..
            }) => TEXT_BUCKETS_MAX,
            _ => BUCKETS_MAX,
        };
        let height = rest.iter().map(|value| value.rows).sum::<f64>() / buckets as f64;
        let mut filled = f64::INFINITY;
        for value in rest {
            let fraction = value.rows / all;
            match self.buckets.last_mut() {
                Some(bucket) if filled < height => {
                    bucket.upper = value.point;
                    bucket.fraction += fraction;
                    bucket.distinct += scale;
                    filled += value.rows;
                }
                _ => {
                    self.buckets.push(Bucket {
                        lower: value.point.clone(),
                        upper: value.point,
                        fraction,
                        distinct: scale,
                    });
                    filled = value.rows;
                }
            }
        }
    }
}

/// Estimated number of distinct values of a table that is `times` the size of this sample.
fn distinct_of(values: &[Value], times: f64) -> f64 {
    // Frequent values carry no information about rare ones (the estimator Duj2a leaves them out).
    let rare = values.iter().filter(|value| value.runs <= RUNS_MAX);
    let (mut different, mut runs, mut once) = (0.0, 0.0, 0.0);
    for value in rare {
        different += 1.0;
        runs += value.runs;
        once += f64::from(u8::from(value.runs == 1.0));
    }
    let frequent = values.len() as f64 - different;
    if different == 0.0 {
        return frequent;
    }
    // Number of runs if the whole table were sampled.
    let all_runs = runs * times.max(1.0);
    frequent + runs * different / (runs - once + once * runs / all_runs)
}

/// (size, fraction) distribution of rows per value, if stretches of equal rows are on the average as long as values
/// have rows: each value then has one stretch.
fn sizes(stretches: &[u32], average: f64) -> Vec<(f64, f64)> {
    let all: f64 = stretches.iter().map(|count| f64::from(*count)).sum();
    let sizes = stretches
        .iter()
        .enumerate()
        .filter(|(_, count)| **count > 0);
    let sizes: Vec<(f64, f64)> = sizes
        .map(|(rows, count)| (rows as f64, f64::from(*count) / all))
        .collect();
    let mean: f64 = sizes.iter().map(|(rows, part)| rows * part).sum();
    let is_side_by_side = (mean / average).ln().abs() < STRETCH_ERROR_MAX.ln();
    // Stretches of the maximum length are not known exactly.
    let is_known = all >= STRETCHES_MIN && stretches.last() == Some(&0);
    if is_known && is_side_by_side && mean > 1.0 {
        sizes
    } else {
        Vec::new()
    }
}

/// Distinct values in order, each with its rows and runs.
fn counted(mut seen: Vec<Seen>) -> Vec<Value> {
    seen.sort_unstable_by(|a, b| {
        let order = a.point.order(&b.point);
        order.then(a.hash.cmp(&b.hash)).then(a.run.cmp(&b.run))
    });
    let mut values: Vec<Value> = Vec::new();
    let mut last: Option<(u64, u32)> = None;
    for one in seen {
        match (values.last_mut(), last) {
            (Some(value), Some((hash, run)))
                if hash == one.hash && value.point.order(&one.point).is_eq() =>
            {
                value.rows += 1.0;
                value.runs += f64::from(u8::from(run != one.run));
            }
            _ => values.push(Value {
                point: one.point,
                rows: 1.0,
                runs: 1.0,
            }),
        }
        last = Some((one.hash, one.run));
    }
    values
}

/// Adds the values of a run; returns the bytes of its texts.
fn add(ty: &SqlType, run: &ArrayRef, number: u32, seen: &mut Vec<Seen>) -> usize {
    let mut number_of = |number_at: &dyn Fn(usize) -> f64| {
        for row in (0..run.len()).filter(|row| run.is_valid(*row)) {
            // Normalizes negative zero.
            let point = Point::Number(number_at(row) + 0.0);
            let hash = 0;
            seen.push(Seen {
                point,
                hash,
                run: number,
            });
        }
    };
    match ty.physical() {
        PhysicalType::Int64 => {
            let values = run.as_primitive::<Int64Type>();
            number_of(&|row| values.value(row) as f64);
        }
        PhysicalType::UInt64 => {
            let values = run.as_primitive::<UInt64Type>();
            number_of(&|row| values.value(row) as f64);
        }
        PhysicalType::Float64 => {
            let values = run.as_primitive::<Float64Type>();
            number_of(&|row| values.value(row));
        }
        PhysicalType::Decimal128(scale) => {
            let values = run.as_primitive::<Decimal128Type>();
            number_of(&|row| Decimal::from_i128(values.value(row), scale).to_f64());
        }
        PhysicalType::Decimal256(scale) => {
            let values = run.as_primitive::<Decimal256Type>();
            number_of(&|row| Decimal::new(values.value(row), scale).to_f64());
        }
        PhysicalType::Bool => {}
        PhysicalType::Bytes => {
            let values = run.as_binary_view();
            let mut bytes = 0;
            for text in values.iter().flatten() {
                bytes += text.len();
                let text = text.get(..TEXT_BYTES).unwrap_or(text);
                let (point, hash) = match ty.kind {
                    // Documents are counted, and have no order here.
                    TypeKind::Json => (Point::Text(Box::default()), binary_hash(text)),
                    _ => (Point::text(text, ty), ty.collation.hash64(text, 0)),
                };
                seen.push(Seen {
                    point,
                    hash,
                    run: number,
                });
            }
            return bytes;
        }
    }
    0
}

fn binary_hash(text: &[u8]) -> u64 {
    CollationId::BINARY.hash64(text, 0)
}
