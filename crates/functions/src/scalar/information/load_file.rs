//! LOAD_FILE(path): a file of the server, within `secure_file_priv`. A file that cannot be read, or
//! that is longer than `max_allowed_packet`, gives NULL.

use arrow_array::ArrayRef;
use mayfly_types::error::codes;
use mayfly_types::{CollationId, Result};

use crate::context::FileContents;
use crate::scalar::ScalarKernel;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// LOAD_FILE()
#[derive(Debug)]
pub(crate) struct LoadFile;

impl ScalarKernel for LoadFile {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        Ok(Signature::new(
            vec![derive::text_of(&arguments[0], context)],
            derive::long_text(CollationId::BINARY),
            true,
        ))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        _signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let paths = input::texts(&arguments[0])?;
        output::texts(row_count, context, |row, out| {
            let path = paths.get(row).and_then(|path| str::from_utf8(path).ok());
            let Some(path) = path else {
                return Ok(false);
            };
            match context.files.read(path, context.max_allowed_packet) {
                FileContents::Missing => Ok(false),
                FileContents::NotAFile => Err(codes::ER_TEXTFILE_NOT_READABLE.with(&[&path])),
                FileContents::TooLong => {
                    context.diagnostics.warn_with(|| {
                        codes::ER_WARN_ALLOWED_PACKET_OVERFLOWED
                            .with(&[&"load_file", &context.max_allowed_packet])
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
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, check, t};

    #[test]
    fn a_context_without_files_has_none() {
        check(&[
            ("load_file", &[t("/etc/hostname")], "NULL"),
            ("load_file", &[NULL], "NULL"),
        ]);
    }
}
