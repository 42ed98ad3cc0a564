//! LENGTH(text), BIT_LENGTH(text) and CHAR_LENGTH(text): bytes in the text's own character set, bits, characters.

use arrow_array::ArrayRef;
use mayfly_types::{CollationId, Result};

use crate::scalar::Row;
use crate::scalar::facts::Fact;
use crate::scalar::strings::chars;
use crate::{Binding, Call, Signature, derive, output};

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(&["length", "octet_length"], 1..=1, signature, |call| {
        measure(call, chars::octets)
    })
    .with(&[Fact::Strict]),
    Row::new(&["bit_length"], 1..=1, signature, |call| {
        measure(call, |text, collation| chars::octets(text, collation) * 8)
    }),
    Row::new(
        &["char_length", "character_length"],
        1..=1,
        signature,
        |call| measure(call, chars::count),
    )
    .with(&[Fact::Strict]),
];

fn signature(binding: &Binding<'_>) -> Result<Signature> {
    binding.of_texts(derive::int_of_width(11))
}

fn measure(call: &Call<'_>, length: impl Fn(&[u8], CollationId) -> usize) -> Result<ArrayRef> {
    let (texts, collation) = (call.texts(0)?, call.collation(0));
    output::ints(call.rows, |row| {
        Ok(texts.get(row).map(|text| length(text, collation) as i64))
    })
}
