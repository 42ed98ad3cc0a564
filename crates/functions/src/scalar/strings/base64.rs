//! TO_BASE64(text) and FROM_BASE64(text): lines of 76 characters.

use arrow_array::ArrayRef;
use mayfly_types::{CollationId, Result};

use crate::scalar::ScalarKernel;
use crate::scalar::strings::chars;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// TO_BASE64()
#[derive(Debug)]
pub(crate) struct ToBase64;

impl ScalarKernel for ToBase64 {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let ty = derive::text_of(&arguments[0], context);
        let bytes = derive::character_length(&ty) * derive::bytes_per_character(ty.collation);
        let digits = bytes.div_ceil(3) * 4;
        let characters = digits + digits.saturating_sub(1) / 76;
        Ok(derive::foreseen(Signature::new(
            vec![ty],
            derive::string_type(characters, context.collation_connection),
            arguments[0].nullable,
        )))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let texts = input::texts(&arguments[0])?;
        let collation = signature.arguments[0].collation;
        output::texts(row_count, context, |row, out| {
            let Some(text) = texts.get(row) else {
                return Ok(false);
            };
            let text = chars::in_charset(text, collation);
            // As MySQL foresees it, with a zero behind it.
            let digits = text.len().div_ceil(3).saturating_mul(4);
            let bytes = digits.saturating_add(digits.saturating_sub(1) / DIGITS_A_LINE + 1);
            if !chars::within_packet(bytes, "to_base64", context)? {
                return Ok(false);
            }
            out.reserve_exact(bytes);
            encode(&text, out);
            Ok(true)
        })
    }
}

/// FROM_BASE64()
#[derive(Debug)]
pub(crate) struct FromBase64;

impl ScalarKernel for FromBase64 {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let ty = derive::text_of(&arguments[0], context);
        let bytes =
            derive::character_length(&ty) * derive::bytes_per_character(ty.collation) * 3 / 4;
        Ok(derive::foreseen(Signature::new(
            vec![ty],
            derive::string_type(bytes, CollationId::BINARY),
            true,
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
            Ok(match texts.get(row) {
                Some(text) => decode(text, out).is_some(),
                None => false,
            })
        })
    }
}

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const DIGITS_A_LINE: usize = 76;

fn encode(bytes: &[u8], out: &mut Vec<u8>) {
    for (index, chunk) in bytes.chunks(3).enumerate() {
        if index > 0 && index * 4 % DIGITS_A_LINE == 0 {
            out.push(b'\n');
        }
        let at = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let group = at(0) << 16 | at(1) << 8 | at(2);
        for place in 0..4 {
            out.push(if place <= chunk.len() {
                DIGITS[(group >> (18 - 6 * place) & 63) as usize]
            } else {
                b'='
            });
        }
    }
}

fn decode(text: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let (mut group, mut digits, mut padding) = (0_u32, 0_u32, 0_u32);
    for byte in text.iter().filter(|byte| !byte.is_ascii_whitespace()) {
        if *byte == b'=' {
            padding += 1;
            digits += 1;
            group <<= 6;
        } else {
            let digit = DIGITS.iter().position(|digit| digit == byte)?;
            if padding > 0 {
                return None;
            }
            group = group << 6 | digit as u32;
            digits += 1;
        }
        if digits == 4 {
            let bytes = [(group >> 16) as u8, (group >> 8) as u8, group as u8];
            let kept = 3_u32.checked_sub(padding).filter(|kept| *kept > 0)?;
            out.extend_from_slice(&bytes[..kept as usize]);
            (group, digits) = (0, 0);
        } else if padding > 2 {
            return None;
        }
    }
    (digits == 0).then_some(())
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, t};

    #[test]
    fn values() {
        check(&[
            ("to_base64", &[t("abc")], "YWJj"),
            ("to_base64", &[t("ab")], "YWI="),
            (
                "to_base64",
                &[t("a".repeat(60_000_000).leak())],
                "NULL +1301",
            ),
            ("from_base64", &[t("YWJj")], "abc"),
            ("from_base64", &[t("YW\nI=")], "ab"),
            ("from_base64", &[t("YW!")], "NULL"),
            (
                "to_base64",
                &[t(
                    "0123456789012345678901234567890123456789012345678901234567",
                )],
                "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2\nNw==",
            ),
        ]);
    }
}
