//! Columns that ALTER TABLE makes shorter: as in MySQL a text that a shorter VARCHAR cuts is an error, or a warning
//! without strict mode, also if only blanks are cut, where INSERT has a note.

use std::sync::Arc;

use arrow_array::builder::BinaryViewBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use mayfly_types::charset::utf8::offset_of_char;
use mayfly_types::error::codes;
use mayfly_types::{Result, SqlType, TypeKind};

use crate::catalog::definition::ColumnDefinition;
use crate::session::StatementContext;

/// Whether a VARCHAR becomes a shorter VARCHAR of its collation.
fn is_shorter(was: &SqlType, is: &SqlType) -> bool {
    let is_varchar = was.kind == TypeKind::VarChar && is.kind == TypeKind::VarChar;
    is_varchar && was.collation == is.collation && is.length < was.length
}

/// The values of a column that is copied from `old` to `new`, cut to the new length: error 1265 in strict mode, else
/// warnings. `rows` rows of the table come before them.
pub(super) fn cut(
    values: &ArrayRef,
    (old, new): (&ColumnDefinition, &ColumnDefinition),
    rows: u64,
    context: &StatementContext<'_>,
) -> Result<Option<ArrayRef>> {
    let (Some(texts), true) = (values.as_binary_view_opt(), is_shorter(&old.ty, &new.ty)) else {
        return Ok(None);
    };
    let limit = new.ty.length as usize;
    let end = |text: &[u8]| match new.ty.is_binary_string() {
        true => limit.min(text.len()),
        false => offset_of_char(text, limit),
    };
    if texts.iter().flatten().all(|text| end(text) == text.len()) {
        return Ok(None);
    }
    let is_strict = context.options().session.sql_mode.is_strict();
    let mut cut = BinaryViewBuilder::with_capacity(texts.len());
    for (text, row) in texts.iter().zip(rows + 1..) {
        if let Some(text) = text
            && end(text) < text.len()
        {
            context.warn_if(
                !is_strict,
                codes::WARN_DATA_TRUNCATED.with(&[&new.name, &row]),
            )?;
        }
        cut.append_option(text.map(|text| &text[..end(text)]));
    }
    Ok(Some(Arc::new(cut.finish())))
}
