//! MD5(text), SHA1(text) and SHA2(text, bits): digests in hexadecimal.

use arrow_array::ArrayRef;
use mayfly_types::error::codes;
use mayfly_types::{Result, SqlType};
use md5::Digest;

use crate::scalar::ScalarKernel;
use crate::scalar::strings::chars;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// MD5()
#[derive(Debug)]
pub(crate) struct Md5Hash;

impl ScalarKernel for Md5Hash {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        digest_signature(arguments, context, 32)
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        hash_rows(arguments, row_count, signature, context, |bytes| {
            Some(md5::Md5::digest(bytes).to_vec())
        })
    }
}

/// SHA1()
#[derive(Debug)]
pub(crate) struct Sha1Hash;

impl ScalarKernel for Sha1Hash {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        digest_signature(arguments, context, 40)
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        hash_rows(arguments, row_count, signature, context, |bytes| {
            Some(sha1::Sha1::digest(bytes).to_vec())
        })
    }
}

/// SHA2()
#[derive(Debug)]
pub(crate) struct Sha2Hash;

impl ScalarKernel for Sha2Hash {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let characters = match derive::constant_integer(&arguments[1]) {
            Some(224) => 56,
            Some(0 | 256) => 64,
            Some(384) => 96,
            _ => 128,
        };
        let mut signature = digest_signature(&arguments[..1], context, characters)?;
        signature.arguments.push(SqlType::bigint());
        signature.nullable = true;
        Ok(signature)
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let bits = input::ints(&arguments[1])?;
        let mut row = 0;
        hash_rows(arguments, row_count, signature, context, |bytes| {
            let bits = bits.get(row);
            row += 1;
            Some(match bits? {
                224 => sha2::Sha224::digest(bytes).to_vec(),
                0 | 256 => sha2::Sha256::digest(bytes).to_vec(),
                384 => sha2::Sha384::digest(bytes).to_vec(),
                512 => sha2::Sha512::digest(bytes).to_vec(),
                other => {
                    let _ = other;
                    context
                        .diagnostics
                        .warn(codes::ER_WRONG_PARAMETERS_TO_NATIVE_FCT.with(&[&"sha2"]));
                    return None;
                }
            })
        })
    }
}

fn digest_signature(
    arguments: &[Argument<'_>],
    context: &SignatureContext,
    characters: u32,
) -> Result<Signature> {
    Ok(Signature::new(
        vec![derive::text_of(&arguments[0], context)],
        SqlType::varchar(characters, context.collation_connection),
        arguments[0].nullable,
    ))
}

fn hash_rows(
    arguments: &[Column],
    row_count: usize,
    signature: &Signature,
    context: &EvaluationContext,
    mut digest: impl FnMut(&[u8]) -> Option<Vec<u8>>,
) -> Result<ArrayRef> {
    let texts = input::texts(&arguments[0])?;
    let collation = signature.arguments[0].collation;
    output::texts(row_count, context, |row, out| {
        // Called for NULLs too, so that it may count rows.
        let text = texts.get(row);
        let digest = digest(&chars::in_charset(text.unwrap_or_default(), collation));
        let (Some(_), Some(digest)) = (text, digest) else {
            return Ok(false);
        };
        chars::append_hex(&digest, out);
        out.make_ascii_lowercase();
        Ok(true)
    })
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, i, t};

    #[test]
    fn values() {
        check(&[
            ("md5", &[t("testing")], "ae2b1fca515949e5d54fb22b8ed95575"),
            (
                "sha1",
                &[t("abc")],
                "a9993e364706816aba3e25717850c26c9cd0d89d",
            ),
            (
                "sha2",
                &[t("abc"), i(224)],
                "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7",
            ),
            (
                "sha2",
                &[t("abc"), i(0)],
                "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            ),
            ("sha2", &[t("abc"), i(7)], "NULL +1583"),
        ]);
    }
}
