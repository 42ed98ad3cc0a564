//! CRC32C(text) and CRC32C(start, text) of MariaDB: the CRC with Castagnoli's polynomial (RFC 3720, section 12.1)

use arrow_array::ArrayRef;
use mayfly_types::{Result, SqlType};

use crate::scalar::Row;
use crate::scalar::strings::chars;
use crate::{Binding, Call, Signature, derive, output};

pub(crate) const FUNCTIONS: &[Row] = &[Row::new(&["crc32c"], 1..=2, signature, evaluate)];

/// The polynomial, lowest bit first.
const POLYNOMIAL: u32 = 0x82f6_3b78;

fn signature(binding: &Binding<'_>) -> Result<Signature> {
    let result = SqlType {
        unsigned: true,
        ..derive::int_of_width(10)
    };
    let mut arguments = binding.texts();
    if let [start, _] = arguments.as_mut_slice() {
        *start = SqlType::bigint();
    }
    Ok(Signature::new(arguments, result, binding.any_nullable()))
}

fn evaluate(call: &Call<'_>) -> Result<ArrayRef> {
    let text = call.arguments.len() - 1;
    let (values, collation) = (call.texts(text)?, call.collation(text));
    let starts = match text {
        0 => None,
        _ => Some(call.any_ints(0)?),
    };
    output::uints(call.rows, |row| {
        let start = starts.as_ref().map_or(Some(0), |starts| starts.get(row));
        let (Some(start), Some(text)) = (start, values.get(row)) else {
            return Ok(None);
        };
        // As MariaDB, which keeps the low 32 bits.
        let start = u32::try_from(start & i128::from(u32::MAX)).unwrap_or(0);
        Ok(Some(crc(start, &chars::in_charset(text, collation)).into()))
    })
}

fn crc(start: u32, bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| (crc >> 1) ^ (POLYNOMIAL & (crc & 1).wrapping_neg());
    let byte = |crc: u32, byte: &u8| (0..8).fold(crc ^ u32::from(*byte), step);
    !bytes.iter().fold(!start, byte)
}
