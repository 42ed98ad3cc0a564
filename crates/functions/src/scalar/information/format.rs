//! Human-readable numbers: FORMAT_BYTES(count), FORMAT_PICO_TIME(picoseconds).

use arrow_array::ArrayRef;
use mayfly_types::{Result, SqlType};

use crate::scalar::Row;
use crate::{Binding, Call, Signature, output};

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(&["format_bytes"], 1..=1, signature, |call| {
        format(call, &BYTES, |count| format!("{count:4} bytes"))
    }),
    Row::new(&["format_pico_time"], 1..=1, signature, |call| {
        format(call, &PICOSECONDS, |count| format!("{count:3} ps"))
    }),
];

/// Units, from the smallest.
type Units = [(f64, &'static str)];

const KIB: f64 = 1024.0;

/// Each unit in bytes.
const BYTES: [(f64, &str); 6] = [
    (KIB, "KiB"),
    (KIB * KIB, "MiB"),
    (KIB * KIB * KIB, "GiB"),
    (KIB * KIB * KIB * KIB, "TiB"),
    (KIB * KIB * KIB * KIB * KIB, "PiB"),
    (KIB * KIB * KIB * KIB * KIB * KIB, "EiB"),
];

/// Each unit in picoseconds.
const PICOSECONDS: [(f64, &str); 7] = [
    (1e3, "ns"),
    (1e6, "us"),
    (1e9, "ms"),
    (1e12, "s"),
    (60e12, "min"),
    (3600e12, "h"),
    (86_400e12, "d"),
];

fn signature(binding: &Binding<'_>) -> Result<Signature> {
    let types = vec![SqlType::double()];
    Ok(Signature::new(types, binding.string(11), true))
}

/// Formats numbers in the largest unit that they reach, or by `whole` below all units.
fn format(call: &Call<'_>, units: &Units, whole: impl Fn(i64) -> String) -> Result<ArrayRef> {
    let counts = call.floats(0)?;
    output::texts(call, |row, out| {
        let Some(count) = counts.get(row) else {
            return Ok(false);
        };
        let unit = units.iter().take_while(|(size, _)| count.abs() >= *size);
        let text = match unit.last() {
            None => whole(count as i64),
            Some((size, name)) if (count / size).abs() >= 100_000.0 => {
                let shown = format!("{:.2e} {name}", count / size);
                shown.replacen('e', "e+", 1)
            }
            Some((size, name)) => format!("{:.2} {name}", count / size),
        };
        out.extend_from_slice(text.as_bytes());
        Ok(true)
    })
}
