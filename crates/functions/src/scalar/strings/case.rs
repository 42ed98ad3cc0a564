//! LOWER(text), UPPER(text), and REVERSE(text), by characters. Binary strings have no letter case.

use arrow_array::ArrayRef;
use mayfly_types::charset::case;
use mayfly_types::{CollationId, Result};

use crate::scalar::Row;
use crate::scalar::facts::Fact;
use crate::{Binding, Call, Signature, output};

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(&["lower", "lcase"], 1..=1, signature, |call| {
        convert(call, case::append_lower)
    })
    .with(&[Fact::Strict]),
    Row::new(&["upper", "ucase"], 1..=1, signature, |call| {
        convert(call, case::append_upper)
    })
    .with(&[Fact::Strict]),
    Row::new(&["reverse"], 1..=1, signature, reverse).with(&[Fact::Strict]),
];

fn signature(binding: &Binding<'_>) -> Result<Signature> {
    binding.collated_text(binding.characters(0), binding.any_nullable())
}

fn convert(call: &Call<'_>, append: impl Fn(&[u8], &mut Vec<u8>)) -> Result<ArrayRef> {
    if call.signature.result.collation == CollationId::BINARY {
        let texts = call.texts(0)?;
        return output::borrowed_texts(call, |row| Ok(texts.get(row)));
    }
    output::mapped_texts(call, 0, |text, out| {
        append(text, out);
        Ok(true)
    })
}

fn reverse(call: &Call<'_>) -> Result<ArrayRef> {
    let has_characters = call.signature.result.collation != CollationId::BINARY;
    output::mapped_texts(call, 0, |text, out| {
        out.extend(text.iter().rev());
        if has_characters && !text.is_ascii() {
            // Restores the byte order within each character.
            let mut start = 0;
            for index in 0..out.len() {
                if out[index] & 0xC0 != 0x80 {
                    out[start..=index].reverse();
                    start = index + 1;
                }
            }
        }
        Ok(true)
    })
}
