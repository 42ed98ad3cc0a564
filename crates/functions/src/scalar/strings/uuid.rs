//! UUID(), UUID_SHORT(), IS_UUID(text), UUID_TO_BIN(text[, swap]), BIN_TO_UUID(bytes[, swap]).

use std::sync::atomic::Ordering;

use arrow_array::ArrayRef;
use mayfly_types::error::codes;
use mayfly_types::{CollationId, Result, SqlType};

use crate::scalar::ScalarKernel;
use crate::scalar::strings::chars;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// UUID()
#[derive(Debug)]
pub(crate) struct Uuid;

impl ScalarKernel for Uuid {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let _ = (arguments, context);
        Ok(Signature::new(
            Vec::new(),
            SqlType::varchar(36, CollationId::UTF8MB3_GENERAL_CI),
            false,
        ))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let _ = arguments;
        let _ = signature;
        let mut node = [0_u8; 8];
        (context.entropy)(&mut node);
        // Version 1: the time in units of 100 ns since 1582; a random node has the multicast bit set.
        node[2] |= 1;
        let start = (context.clock)()
            .wrapping_mul(10)
            .wrapping_add(0x01B2_1DD2_1381_4000)
            .cast_unsigned();
        output::texts(row_count, context, |row, out| {
            let time = start.wrapping_add(row as u64);
            let mut bytes = [0_u8; 16];
            bytes[..4].copy_from_slice(&(time as u32).to_be_bytes());
            bytes[4..6].copy_from_slice(&((time >> 32) as u16).to_be_bytes());
            bytes[6..8].copy_from_slice(&((time >> 48) as u16 & 0x0FFF | 0x1000).to_be_bytes());
            bytes[8..].copy_from_slice(&node);
            bytes[8] = bytes[8] & 0x3F | 0x80;
            write(&bytes, out);
            Ok(true)
        })
    }
}

/// UUID_SHORT(): a number that the server gives once.
#[derive(Debug)]
pub(crate) struct UuidShort;

impl ScalarKernel for UuidShort {
    fn signature(
        &self,
        _arguments: &[Argument<'_>],
        _context: &SignatureContext,
    ) -> Result<Signature> {
        let result = derive::unsigned_bigint();
        Ok(Signature::new(Vec::new(), result, false))
    }

    fn evaluate(
        &self,
        _arguments: &[Column],
        row_count: usize,
        _signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let next = || context.short_uuids.fetch_add(1, Ordering::Relaxed);
        output::uints(row_count, |_| Ok(Some(next())))
    }
}

/// IS_UUID()
#[derive(Debug)]
pub(crate) struct IsUuid;

impl ScalarKernel for IsUuid {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        Ok(Signature::new(
            vec![derive::text_of(&arguments[0], context)],
            derive::int_of_width(1),
            arguments[0].nullable,
        ))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        _signature: &Signature,
        _context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let texts = input::texts(&arguments[0])?;
        output::ints(row_count, |row| {
            Ok(texts.get(row).map(|text| i64::from(parse(text).is_some())))
        })
    }
}

/// UUID_TO_BIN()
#[derive(Debug)]
pub(crate) struct UuidToBin;

impl ScalarKernel for UuidToBin {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let mut types = vec![derive::text_of(&arguments[0], context)];
        types.extend(arguments[1..].iter().map(|_| SqlType::bigint()));
        Ok(Signature::new(
            types,
            SqlType::varchar(16, CollationId::BINARY),
            derive::any_nullable(arguments),
        ))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        _signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let texts = input::texts(&arguments[0])?;
        let swaps = arguments.get(1).map(input::ints).transpose()?;
        output::texts(row_count, context, |row, out| {
            let Some(text) = texts.get(row) else {
                return Ok(false);
            };
            let Some(bytes) = parse(text) else {
                return Err(codes::ER_WRONG_VALUE_FOR_TYPE.with(&[
                    &"string",
                    &String::from_utf8_lossy(text),
                    &"uuid_to_bin",
                ]));
            };
            let swaps = swaps
                .and_then(|swaps| swaps.get(row))
                .is_some_and(|swap| swap != 0);
            out.extend_from_slice(&if swaps { swap(&bytes) } else { bytes });
            Ok(true)
        })
    }
}

/// BIN_TO_UUID()
#[derive(Debug)]
pub(crate) struct BinToUuid;

impl ScalarKernel for BinToUuid {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let mut types = vec![derive::text_of(&arguments[0], context)];
        types.extend(arguments[1..].iter().map(|_| SqlType::bigint()));
        Ok(Signature::new(
            types,
            SqlType::varchar(36, context.collation_connection),
            derive::any_nullable(arguments),
        ))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        _signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let texts = input::texts(&arguments[0])?;
        let swaps = arguments.get(1).map(input::ints).transpose()?;
        output::texts(row_count, context, |row, out| {
            let Some(text) = texts.get(row) else {
                return Ok(false);
            };
            let Ok(bytes) = <[u8; 16]>::try_from(text) else {
                return Err(codes::ER_WRONG_VALUE_FOR_TYPE.with(&[
                    &"string",
                    &String::from_utf8_lossy(text),
                    &"bin_to_uuid",
                ]));
            };
            let swaps = swaps
                .and_then(|swaps| swaps.get(row))
                .is_some_and(|swap| swap != 0);
            write(&if swaps { unswap(&bytes) } else { bytes }, out);
            Ok(true)
        })
    }
}

fn write(bytes: &[u8; 16], out: &mut Vec<u8>) {
    for (index, byte) in bytes.iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            out.push(b'-');
        }
        chars::append_hex(&[*byte], out);
    }
    out.make_ascii_lowercase();
}

/// 32 digits, with or without dashes after the 8th, 12th, 16th and 20th, with or without braces
/// around the dashed form.
fn parse(text: &[u8]) -> Option<[u8; 16]> {
    let text = match text {
        [b'{', inner @ .., b'}'] if inner.len() == 36 => inner,
        _ => text,
    };
    let mut bytes = [0; 16];
    let mut place = 0;
    for (index, byte) in text.iter().enumerate() {
        if text.len() == 36 && matches!(index, 8 | 13 | 18 | 23) {
            if *byte != b'-' {
                return None;
            }
            continue;
        }
        let digit = char::from(*byte).to_digit(16)? as u8;
        let target: &mut u8 = bytes.get_mut(place / 2)?;
        *target = *target << 4 | digit;
        place += 1;
    }
    (place == 32 && matches!(text.len(), 32 | 36)).then_some(bytes)
}

/// Time parts from high to low, so that they sort by time.
fn swap(bytes: &[u8; 16]) -> [u8; 16] {
    let mut swapped = *bytes;
    swapped[..2].copy_from_slice(&bytes[6..8]);
    swapped[2..4].copy_from_slice(&bytes[4..6]);
    swapped[4..8].copy_from_slice(&bytes[..4]);
    swapped
}

fn unswap(bytes: &[u8; 16]) -> [u8; 16] {
    let mut original = *bytes;
    original[6..8].copy_from_slice(&bytes[..2]);
    original[4..6].copy_from_slice(&bytes[2..4]);
    original[..4].copy_from_slice(&bytes[4..8]);
    original
}

#[cfg(test)]
mod tests {
    use crate::testing::{b, check, i, t};

    #[test]
    fn values() {
        check(&[
            ("is_uuid", &[t("6ccd780c-baba-1026-9564-5b8c656024db")], "1"),
            (
                "is_uuid",
                &[t("{6ccd780c-baba-1026-9564-5b8c656024db}")],
                "1",
            ),
            ("is_uuid", &[t("6ccd780cbaba102695645b8c656024d")], "0"),
            (
                "uuid_to_bin",
                &[t("6ccd780c-baba-1026-9564-5b8c656024db")],
                "0x6CCD780CBABA102695645B8C656024DB",
            ),
            (
                "uuid_to_bin",
                &[t("6ccd780c-baba-1026-9564-5b8c656024db"), i(1)],
                "0x1026BABA6CCD780C95645B8C656024DB",
            ),
            (
                "bin_to_uuid",
                &[
                    b(b"\x10\x26\xba\xba\x6c\xcd\x78\x0c\x95\x64\x5b\x8c\x65\x60\x24\xdb"),
                    i(1),
                ],
                "6ccd780c-baba-1026-9564-5b8c656024db",
            ),
            (
                "uuid_to_bin",
                &[t("x")],
                "ERROR 1411 (HY000): Incorrect string value: 'x' for function uuid_to_bin",
            ),
        ]);
    }
}
