//! COMPRESS(text), UNCOMPRESS(bytes), UNCOMPRESSED_LENGTH(bytes): zlib behind four bytes of length.

use std::io::{Read, Write};

use arrow_array::ArrayRef;
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use mayfly_types::error::codes;
use mayfly_types::{CollationId, Result};

use crate::scalar::ScalarKernel;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// COMPRESS()
#[derive(Debug)]
pub(crate) struct Compress;

impl ScalarKernel for Compress {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let ty = derive::text_of(&arguments[0], context);
        let bytes = derive::character_length(&ty) * derive::bytes_per_character(ty.collation);
        Ok(derive::foreseen(Signature::new(
            vec![ty],
            derive::string_type(compressed_bound(bytes), CollationId::BINARY),
            arguments[0].nullable,
        )))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        _signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let texts = input::texts(&arguments[0])?;
        output::texts(row_count, context, |row, out| {
            let Some(text) = texts.get(row) else {
                return Ok(false);
            };
            if text.is_empty() {
                return Ok(true);
            }
            out.extend_from_slice(&(text.len() as u32 & 0x3FFF_FFFF).to_le_bytes());
            let mut encoder = ZlibEncoder::new(&mut *out, Compression::default());
            // Writing to memory cannot fail.
            if encoder.write_all(text).is_err() || encoder.finish().is_err() {
                return Ok(false);
            }
            // A trailing space could be lost in a CHAR column.
            if out.last() == Some(&b' ') {
                out.push(b'.');
            }
            Ok(true)
        })
    }
}

/// The most bytes that zlib makes of so many, and what stands around them.
fn compressed_bound(bytes: u64) -> u64 {
    bytes + (bytes >> 12) + (bytes >> 14) + (bytes >> 25) + 13 + 5
}

/// UNCOMPRESS()
#[derive(Debug)]
pub(crate) struct Uncompress;

impl ScalarKernel for Uncompress {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        Ok(Signature::new(
            vec![derive::text_of(&arguments[0], context)],
            derive::long_text(CollationId::BINARY),
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
        let texts = input::texts(&arguments[0])?;
        output::texts(row_count, context, |row, out| {
            let Some(text) = texts.get(row) else {
                return Ok(false);
            };
            if text.is_empty() {
                return Ok(true);
            }
            let Some((length, body)) = text
                .split_first_chunk::<4>()
                .filter(|(_, body)| !body.is_empty())
            else {
                context
                    .diagnostics
                    .warn(codes::ER_ZLIB_Z_DATA_ERROR.error());
                return Ok(false);
            };
            let length = u64::from(u32::from_le_bytes(*length) & 0x3FFF_FFFF);
            if length > context.max_allowed_packet {
                context
                    .diagnostics
                    .warn(codes::ER_TOO_BIG_FOR_UNCOMPRESS.with(&[&context.max_allowed_packet]));
                return Ok(false);
            }
            let decoded = ZlibDecoder::new(body).take(length + 1).read_to_end(out);
            if decoded.is_err() || out.len() as u64 > length {
                context
                    .diagnostics
                    .warn(codes::ER_ZLIB_Z_DATA_ERROR.error());
                return Ok(false);
            }
            Ok(true)
        })
    }
}

/// UNCOMPRESSED_LENGTH()
#[derive(Debug)]
pub(crate) struct UncompressedLength;

impl ScalarKernel for UncompressedLength {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        Ok(Signature::new(
            vec![derive::text_of(&arguments[0], context)],
            derive::int_of_width(11),
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
        let texts = input::texts(&arguments[0])?;
        output::ints(row_count, |row| {
            Ok(texts.get(row).map(|text| match text.split_first_chunk() {
                Some((length, [_, ..])) => i64::from(u32::from_le_bytes(*length) & 0x3FFF_FFFF),
                _ => {
                    if !text.is_empty() {
                        let error = codes::ER_ZLIB_Z_DATA_ERROR.error();
                        context.diagnostics.warn(error);
                    }
                    0
                }
            }))
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{b, check, t};

    #[test]
    fn values() {
        check(&[
            ("uncompressed_length", &[b(b"\x1E\x00\x00\x00xx")], "30"),
            ("uncompress", &[t("any string")], "NULL +1256"),
            ("compress", &[t("")], ""),
            (
                "uncompress",
                &[b(
                    b"\x03\x00\x00\x00\x78\x9c\x4b\x4c\x4a\x06\x00\x02\x4d\x01\x27",
                )],
                "abc",
            ),
        ]);
    }
}
