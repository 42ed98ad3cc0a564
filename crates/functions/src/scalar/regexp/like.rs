//! REGEXP_LIKE(text, pattern[, match_type]), also written REGEXP and RLIKE.

use arrow_array::ArrayRef;
use mayfly_types::{Result, SqlType};

use super::arguments::{self, Patterns};
use crate::scalar::Row;
use crate::{Binding, Call, Signature, output};

pub(crate) const FUNCTIONS: &[Row] = &[Row::new(
    &["regexp_like", "regexp", "rlike"],
    2..=3,
    signature,
    evaluate,
)];

fn signature(binding: &Binding<'_>) -> Result<Signature> {
    let types = arguments::types(binding, 2, 2)?.arguments;
    let nullable = binding.any_nullable();
    Ok(Signature::new(types, SqlType::boolean(), nullable))
}

fn evaluate(call: &Call<'_>) -> Result<ArrayRef> {
    let (texts, collation) = (call.texts(0)?, call.collation(0));
    let mut patterns = Patterns::new(call, 2)?;
    output::bools(call.rows, |row| {
        let (Some(pattern), Some(text)) = (patterns.get(row)?, texts.get(row)) else {
            return Ok(None);
        };
        let text = arguments::subject(text, collation);
        Ok(Some(pattern.is_match(&text)?))
    })
}
