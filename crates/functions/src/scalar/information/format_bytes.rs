//! FORMAT_BYTES(count): a number of bytes for people.

use arrow_array::ArrayRef;
use mayfly_types::{Result, SqlType};

use crate::scalar::ScalarKernel;
use crate::{Argument, Column, EvaluationContext, Signature, SignatureContext, input, output};

const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/// FORMAT_BYTES()
#[derive(Debug)]
pub(crate) struct FormatBytes;

impl ScalarKernel for FormatBytes {
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
        let counts = input::floats(&arguments[0])?;
        output::texts(row_count, context, |row, out| {
            let Some(count) = counts.get(row) else {
                return Ok(false);
            };
            out.extend_from_slice(text(count).as_bytes());
            Ok(true)
        })
    }
}

fn text(count: f64) -> String {
    let unit = UNITS
        .iter()
        .enumerate()
        .map(|(index, name)| (1024_f64.powi(index as i32 + 1), name))
        .take_while(|(size, _)| count.abs() >= *size)
        .last();
    match unit {
        None => format!("{:4} bytes", count as i64),
        Some((size, name)) if (count / size).abs() >= 100_000.0 => {
            let shown = format!("{:.2e} {name}", count / size);
            shown.replacen('e', "e+", 1)
        }
        Some((size, name)) => format!("{:.2} {name}", count / size),
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, check, i, u};

    #[test]
    fn values() {
        check(&[
            ("format_bytes", &[i(512)], " 512 bytes"),
            ("format_bytes", &[i(1025)], "1.00 KiB"),
            ("format_bytes", &[u(18446644073709551615)], "16.00 EiB"),
            ("format_bytes", &[NULL], "NULL"),
        ]);
    }
}
