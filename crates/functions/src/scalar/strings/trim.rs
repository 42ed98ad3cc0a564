//! TRIM, LTRIM and RTRIM: removal of spaces or copies of another string from the ends. The parser's TRIM(LEADING x
//! FROM y) is "trim leading"(y, x), and so on.

use arrow_array::ArrayRef;
use mayfly_types::Result;

use crate::input::{self, Texts};
use crate::scalar::Row;
use crate::scalar::facts::Fact;
use crate::{Binding, Call, Signature, output};

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(&["ltrim"], 1..=1, signature, trim::<true, false>).with(&[Fact::Strict]),
    Row::new(
        &["trim leading"],
        2..=2,
        leading_signature,
        trim::<true, false>,
    ),
    Row::new(&["rtrim"], 1..=1, signature, trim::<false, true>).with(&[Fact::Strict]),
    Row::new(
        &["trim trailing"],
        2..=2,
        trailing_signature,
        trim::<false, true>,
    ),
    Row::new(&["trim", "trim both"], 1..=2, signature, trim::<true, true>).with(&[Fact::Strict]),
];

fn signature(binding: &Binding<'_>) -> Result<Signature> {
    binding.changed_text(binding.characters(0), binding.any_nullable())
}

fn leading_signature(binding: &Binding<'_>) -> Result<Signature> {
    signature(&binding.named("ltrim"))
}

fn trailing_signature(binding: &Binding<'_>) -> Result<Signature> {
    signature(&binding.named("rtrim"))
}

fn trim<const LEADING: bool, const TRAILING: bool>(call: &Call<'_>) -> Result<ArrayRef> {
    let texts = call.texts(0)?;
    let removed = call.optional(1, input::texts)?;
    let removed = removed.unwrap_or(Texts::Constant(Some(b" ")));
    output::borrowed_texts(call, |row| {
        let (Some(mut text), Some(removed)) = (texts.get(row), removed.get(row)) else {
            return Ok(None);
        };
        if removed.is_empty() {
            return Ok(Some(text));
        }
        while LEADING && let Some(rest) = text.strip_prefix(removed) {
            text = rest;
        }
        while TRAILING && let Some(rest) = text.strip_suffix(removed) {
            text = rest;
        }
        Ok(Some(text))
    })
}
