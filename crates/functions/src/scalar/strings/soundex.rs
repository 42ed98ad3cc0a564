//! SOUNDEX(text): MySQL's variant, of any length.

use arrow_array::ArrayRef;
use mayfly_types::Result;

use crate::scalar::ScalarKernel;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// SOUNDEX()
#[derive(Debug)]
pub(crate) struct Soundex;

impl ScalarKernel for Soundex {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        derive::text_signature(
            arguments,
            context,
            "soundex",
            derive::character_length(arguments[0].ty).max(4),
            arguments[0].nullable,
        )
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
            soundex(&String::from_utf8_lossy(text), out);
            Ok(true)
        })
    }
}

/// The digit of a letter; vowels and H, W, Y have none, and letters outside of A to Z are vowels.
fn digit(letter: char) -> u8 {
    match letter.to_ascii_uppercase() {
        'B' | 'F' | 'P' | 'V' => b'1',
        'C' | 'G' | 'J' | 'K' | 'Q' | 'S' | 'X' | 'Z' => b'2',
        'D' | 'T' => b'3',
        'L' => b'4',
        'M' | 'N' => b'5',
        'R' => b'6',
        _ => b'0',
    }
}

/// MySQL takes every character from À on for a letter.
fn is_letter(character: char) -> bool {
    character.is_ascii_alphabetic() || character >= 'À'
}

fn soundex(text: &str, out: &mut Vec<u8>) {
    let mut letters = text.chars().filter(|character| is_letter(*character));
    let Some(first) = letters.next() else { return };
    let first = first.to_ascii_uppercase();
    out.extend_from_slice(first.encode_utf8(&mut [0; 4]).as_bytes());
    let mut last = digit(first);
    for letter in letters {
        let digit = digit(letter);
        if digit != b'0' && digit != last {
            out.push(digit);
        }
        if digit != b'0' || !matches!(letter.to_ascii_uppercase(), 'H' | 'W') {
            last = if digit == b'0' { last } else { digit };
        }
    }
    let length = String::from_utf8_lossy(out).chars().count();
    out.extend(std::iter::repeat_n(b'0', 4_usize.saturating_sub(length)));
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, t};

    #[test]
    fn values() {
        check(&[
            ("soundex", &[t("Hello")], "H400"),
            ("soundex", &[t("Quadratically")], "Q36324"),
            ("soundex", &[t("")], ""),
        ]);
    }
}
