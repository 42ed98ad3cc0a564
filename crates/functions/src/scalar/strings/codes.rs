//! Character codes: ASCII(text), ORD(text), CHAR(n, …).

use arrow_array::ArrayRef;
use mayfly_types::{CollationId, Result, SqlType};

use crate::scalar::Row;
use crate::scalar::facts::Fact;
use crate::scalar::strings::chars;
use crate::{Binding, Call, Signature, derive, input, output};

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(&["ascii"], 1..=1, ascii_signature, ascii).with(&[Fact::Strict]),
    Row::new(&["ord"], 1..=1, ord_signature, ord),
    Row::new(&["char"], 1..=usize::MAX, char_signature, char::<1>).with(&[Fact::Characters]),
    // CHAR(n, … USING charset), for character sets with at least two, or four, bytes per character.
    Row::new(
        &["char of two bytes"],
        1..=usize::MAX,
        char_signature,
        char::<2>,
    )
    .with(&[Fact::Characters]),
    Row::new(
        &["char of four bytes"],
        1..=usize::MAX,
        char_signature,
        char::<4>,
    )
    .with(&[Fact::Characters]),
];

fn ascii_signature(binding: &Binding<'_>) -> Result<Signature> {
    binding.of_texts(derive::int_of_width(4))
}

/// The first byte, in the character set of the text.
fn ascii(call: &Call<'_>) -> Result<ArrayRef> {
    let (texts, collation) = (call.texts(0)?, call.collation(0));
    let first = |text: &[u8]| {
        let first = &text[..chars::width_at(text, 0, collation)];
        let bytes = chars::in_charset(first, collation);
        i64::from(bytes.first().copied().unwrap_or(0))
    };
    output::ints(call.rows, |row| Ok(texts.get(row).map(first)))
}

fn ord_signature(binding: &Binding<'_>) -> Result<Signature> {
    binding.of_texts(derive::bigint_of_width(21))
}

/// The code of the first character, from its bytes.
fn ord(call: &Call<'_>) -> Result<ArrayRef> {
    let texts = call.texts(0)?;
    let collation = call.collation(0);
    output::ints(call.rows, |row| {
        Ok(texts.get(row).map(|text| {
            let first = &text[..chars::width_at(text, 0, collation)];
            let bytes = chars::in_charset(first, collation);
            let push = |code, byte: &u8| code << 8 | i64::from(*byte);
            bytes.iter().fold(0, push)
        }))
    })
}

fn char_signature(binding: &Binding<'_>) -> Result<Signature> {
    let count = binding.arguments.len();
    let result = SqlType::varchar(count as u32 * 4, CollationId::BINARY);
    Ok(Signature::new(vec![SqlType::bigint(); count], result, true))
}

/// The bytes of numbers, at least `UNIT` per number; NULLs are skipped.
fn char<const UNIT: usize>(call: &Call<'_>) -> Result<ArrayRef> {
    let numbers = call.all(0, input::any_ints)?;
    output::texts(call, |row, out| {
        for number in numbers.iter().filter_map(|number| number.get(row)) {
            let bytes = (number as u32).to_be_bytes();
            let first = bytes.iter().position(|byte| *byte != 0);
            let first = first.unwrap_or(bytes.len()).min(bytes.len() - UNIT);
            out.extend_from_slice(&bytes[first..]);
        }
        Ok(true)
    })
}
