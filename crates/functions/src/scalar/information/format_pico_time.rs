//! FORMAT_PICO_TIME(picoseconds): a duration for people.

use arrow_array::ArrayRef;
use mayfly_types::{Result, SqlType};

use crate::scalar::ScalarKernel;
use crate::{Argument, Column, EvaluationContext, Signature, SignatureContext, input, output};

/// Each unit in picoseconds.
const UNITS: [(f64, &str); 7] = [
    (1e3, "ns"),
    (1e6, "us"),
    (1e9, "ms"),
    (1e12, "s"),
    (60e12, "min"),
    (3600e12, "h"),
    (86_400e12, "d"),
];

/// FORMAT_PICO_TIME()
#[derive(Debug)]
pub(crate) struct FormatPicoTime;

impl ScalarKernel for FormatPicoTime {
    fn signature(
        &self,
        _arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        Ok(Signature::new(
            vec![SqlType::double()],
            SqlType::varchar(11, context.collation_connection),
            true,
        ))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        _signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let times = input::floats(&arguments[0])?;
        output::texts(row_count, context, |row, out| {
            let Some(time) = times.get(row) else {
                return Ok(false);
            };
            let unit = UNITS.iter().take_while(|(size, _)| time.abs() >= *size);
            let text = match unit.last() {
                None => format!("{:3} ps", time as i64),
                Some((size, name)) if (time / size).abs() >= 100_000.0 => {
                    let shown = format!("{:.2e} {name}", time / size);
                    shown.replacen('e', "e+", 1)
                }
                Some((size, name)) => format!("{:.2} {name}", time / size),
            };
            out.extend_from_slice(text.as_bytes());
            Ok(true)
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, i};

    #[test]
    fn values() {
        check(&[
            ("format_pico_time", &[i(50)], " 50 ps"),
            ("format_pico_time", &[i(3501)], "3.50 ns"),
            ("format_pico_time", &[i(188_732_396_662_000)], "3.15 min"),
        ]);
    }
}
