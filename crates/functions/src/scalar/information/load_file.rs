//! LOAD_FILE(path): the contents of a server file within `secure_file_priv`. A file that cannot be read, or is longer
//! than `max_allowed_packet`, gives NULL.

use arrow_array::ArrayRef;
use mayfly_types::error::codes;
use mayfly_types::{CollationId, Result};

use crate::context::FileContents;
use crate::scalar::Row;
use crate::scalar::facts::Fact;
use crate::{Binding, Call, Signature, derive, output};

pub(crate) const FUNCTIONS: &[Row] = &[Row::new(&["load_file"], 1..=1, signature, evaluate)
    .with(&[Fact::NotInDefinitions, Fact::UnsafeInLogs])
    .stable()];

fn signature(binding: &Binding<'_>) -> Result<Signature> {
    binding.of_texts_or_null(derive::long_text(CollationId::BINARY))
}

fn evaluate(call: &Call<'_>) -> Result<ArrayRef> {
    let paths = call.texts(0)?;
    output::texts(call, |row, out| {
        let path = paths.get(row).and_then(|path| str::from_utf8(path).ok());
        let Some(path) = path else {
            return Ok(false);
        };
        match call
            .context
            .files
            .read(path, call.context.session.max_allowed_packet)
        {
            FileContents::Missing => Ok(false),
            FileContents::NotAFile => Err(codes::ER_TEXTFILE_NOT_READABLE.with(&[&path])),
            FileContents::TooLong => {
                call.context.diagnostics.warn_with(|| {
                    codes::ER_WARN_ALLOWED_PACKET_OVERFLOWED
                        .with(&[&"load_file", &call.context.session.max_allowed_packet])
                });
                Ok(false)
            }
            FileContents::Bytes(bytes) => {
                out.extend_from_slice(&bytes);
                Ok(true)
            }
        }
    })
}
