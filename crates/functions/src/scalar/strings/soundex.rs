//! SOUNDEX(text): the Soundex code, in MySQL's variant, of any length.

use arrow_array::ArrayRef;
use mayfly_types::Result;

use crate::scalar::Row;
use crate::{Binding, Call, Signature, output};

pub(crate) const FUNCTIONS: &[Row] = &[Row::new(&["soundex"], 1..=1, signature, evaluate)];

fn signature(binding: &Binding<'_>) -> Result<Signature> {
    let characters = binding.characters(0).max(4);
    binding.collated_text(characters, binding.any_nullable())
}

fn evaluate(call: &Call<'_>) -> Result<ArrayRef> {
    output::mapped_texts(call, 0, |text, out| {
        soundex(&String::from_utf8_lossy(text), out);
        Ok(true)
    })
}

/// The code digit of a letter; vowels and H, W, Y have none, and letters outside of A to Z are vowels.
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

/// MySQL treats every character from À on as a letter.
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
