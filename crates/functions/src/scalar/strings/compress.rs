//! COMPRESS(text), UNCOMPRESS(bytes), UNCOMPRESSED_LENGTH(bytes): zlib after a four-byte length.

use std::io::{Read, Write};

use arrow_array::ArrayRef;
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use mayfly_types::error::codes;
use mayfly_types::{CollationId, Result};

use crate::scalar::Row;
use crate::scalar::strings::chars;
use crate::{Binding, Call, Signature, derive, output};

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(&["compress"], 1..=1, compress_signature, compress),
    Row::new(&["uncompress"], 1..=1, uncompress_signature, uncompress),
    Row::new(
        &["uncompressed_length"],
        1..=1,
        uncompressed_length_signature,
        uncompressed_length,
    ),
];

/// Bits of the length before compressed bytes.
const LENGTH_MASK: u32 = 0x3FFF_FFFF;

fn compress_signature(binding: &Binding<'_>) -> Result<Signature> {
    let bytes = derive::byte_length(&binding.text(0));
    // The most bytes that zlib makes of `bytes` bytes, and the header around them.
    let compressed = bytes + (bytes >> 12) + (bytes >> 14) + (bytes >> 25) + 13 + 5;
    let result = derive::string_type(compressed, CollationId::BINARY);
    Ok(derive::with_length_limit(binding.of_texts(result)?))
}

fn compress(call: &Call<'_>) -> Result<ArrayRef> {
    let collation = call.collation(0);
    output::mapped_texts(call, 0, |text, out| {
        if text.is_empty() {
            return Ok(true);
        }
        let text = &*chars::in_charset(text, collation);
        out.extend_from_slice(&(text.len() as u32 & LENGTH_MASK).to_le_bytes());
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

/// The length, and the compressed bytes after it.
fn parts(compressed: &[u8]) -> Option<(u32, &[u8])> {
    let (length, body) = compressed.split_first_chunk::<4>()?;
    (!body.is_empty()).then(|| (u32::from_le_bytes(*length) & LENGTH_MASK, body))
}

fn uncompress_signature(binding: &Binding<'_>) -> Result<Signature> {
    binding.of_texts_or_null(derive::long_text(CollationId::BINARY))
}

fn uncompress(call: &Call<'_>) -> Result<ArrayRef> {
    let context = call.context;
    output::mapped_texts(call, 0, |text, out| {
        if text.is_empty() {
            return Ok(true);
        }
        let Some((length, body)) = parts(text) else {
            context.warn(codes::ER_ZLIB_Z_DATA_ERROR.error());
            return Ok(false);
        };
        let length = u64::from(length);
        if length > context.session.max_allowed_packet {
            let most = &context.session.max_allowed_packet;
            context.warn(codes::ER_TOO_BIG_FOR_UNCOMPRESS.with(&[most]));
            return Ok(false);
        }
        let decoded = ZlibDecoder::new(body).take(length + 1).read_to_end(out);
        if decoded.is_err() || out.len() as u64 > length {
            context.warn(codes::ER_ZLIB_Z_DATA_ERROR.error());
            return Ok(false);
        }
        Ok(true)
    })
}

fn uncompressed_length_signature(binding: &Binding<'_>) -> Result<Signature> {
    binding.of_texts_or_null(derive::int_of_width(11))
}

fn uncompressed_length(call: &Call<'_>) -> Result<ArrayRef> {
    let texts = call.texts(0)?;
    output::ints(call.rows, |row| {
        Ok(texts.get(row).map(|text| match parts(text) {
            Some((length, _)) => i64::from(length),
            None => {
                if !text.is_empty() {
                    call.context.warn(codes::ER_ZLIB_Z_DATA_ERROR.error());
                }
                0
            }
        }))
    })
}
