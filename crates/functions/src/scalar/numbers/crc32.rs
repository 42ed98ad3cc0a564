//! CRC32(text)

use arrow_array::ArrayRef;
use mayfly_types::{Result, SqlType};

use crate::scalar::Row;
use crate::scalar::strings::chars;
use crate::{Binding, Call, Signature, derive, output};

pub(crate) const FUNCTIONS: &[Row] = &[Row::new(&["crc32"], 1..=1, signature, evaluate)];

fn signature(binding: &Binding<'_>) -> Result<Signature> {
    binding.of_texts(SqlType {
        unsigned: true,
        ..derive::int_of_width(10)
    })
}

fn evaluate(call: &Call<'_>) -> Result<ArrayRef> {
    let (values, collation) = (call.texts(0)?, call.collation(0));
    let hash = |text: &[u8]| crc32fast::hash(&chars::in_charset(text, collation)).into();
    output::uints(call.rows, |row| Ok(values.get(row).map(hash)))
}
