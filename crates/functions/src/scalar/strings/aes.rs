//! AES_ENCRYPT(text, key) and AES_DECRYPT(text, key) by the default `block_encryption_mode`,
//! aes-128-ecb: the key is folded to 16 bytes, the text padded to whole blocks (PKCS #7).

use std::ops::RangeInclusive;

use aes::Aes128;
use aes::cipher::generic_array::GenericArray;
use aes::cipher::{BlockDecrypt, BlockEncrypt, KeyInit};
use arrow_array::ArrayRef;
use mayfly_types::{CollationId, Result};

use crate::scalar::ScalarFunction;
use crate::scalar::strings::chars;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

const BLOCK: usize = 16;

/// One of the two.
#[derive(Debug)]
pub(crate) struct Aes {
    names: &'static [&'static str],
    decrypts: bool,
}

/// AES_ENCRYPT()
pub(crate) static AES_ENCRYPT: Aes = Aes {
    names: &["aes_encrypt"],
    decrypts: false,
};
/// AES_DECRYPT()
pub(crate) static AES_DECRYPT: Aes = Aes {
    names: &["aes_decrypt"],
    decrypts: true,
};

impl ScalarFunction for Aes {
    fn names(&self) -> &'static [&'static str] {
        self.names
    }

    fn arity(&self) -> RangeInclusive<usize> {
        2..=2
    }

    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let text = derive::text_of(&arguments[0], context);
        let bytes = derive::character_length(&text) * derive::bytes_per_character(text.collation);
        let padded = (bytes / BLOCK as u64 + 1) * BLOCK as u64;
        let signature = Signature::new(
            vec![text, derive::text_of(&arguments[1], context)],
            derive::string_type(
                if self.decrypts { bytes } else { padded },
                CollationId::BINARY,
            ),
            true,
        );
        Ok(match self.decrypts {
            true => signature,
            false => derive::foreseen(signature),
        })
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        _context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let texts = input::texts(&arguments[0])?;
        let keys = input::texts(&arguments[1])?;
        let types = &signature.arguments;
        output::texts(row_count, |row, out| {
            let (Some(text), Some(key)) = (texts.get(row), keys.get(row)) else {
                return Ok(false);
            };
            let text = chars::in_charset(text, types[0].collation);
            let cipher = cipher_of(&chars::in_charset(key, types[1].collation));
            Ok(if self.decrypts {
                decrypt(&cipher, &text, out).is_some()
            } else {
                encrypt(&cipher, &text, out);
                true
            })
        })
    }
}

fn cipher_of(key: &[u8]) -> Aes128 {
    let mut folded = [0_u8; BLOCK];
    for (index, byte) in key.iter().enumerate() {
        folded[index % BLOCK] ^= byte;
    }
    Aes128::new(&GenericArray::from(folded))
}

fn encrypt(cipher: &Aes128, text: &[u8], out: &mut Vec<u8>) {
    let padding = BLOCK - text.len() % BLOCK;
    out.extend_from_slice(text);
    out.resize(text.len() + padding, padding as u8);
    for block in out.chunks_exact_mut(BLOCK) {
        cipher.encrypt_block(GenericArray::from_mut_slice(block));
    }
}

/// `None` when the text cannot have been made by this key.
fn decrypt(cipher: &Aes128, text: &[u8], out: &mut Vec<u8>) -> Option<()> {
    if text.is_empty() || !text.len().is_multiple_of(BLOCK) {
        return None;
    }
    out.extend_from_slice(text);
    for block in out.chunks_exact_mut(BLOCK) {
        cipher.decrypt_block(GenericArray::from_mut_slice(block));
    }
    let padding = usize::from(*out.last()?);
    let kept = out.len().checked_sub(padding)?;
    let is_padded = (1..=BLOCK).contains(&padding)
        && out[kept..].iter().all(|byte| usize::from(*byte) == padding);
    is_padded.then(|| out.truncate(kept))
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, b, check, t};

    #[test]
    fn values() {
        // AES-128 of the block "text" + twelve times 0x0C.
        let cipher = super::cipher_of(b"password");
        let mut encrypted = Vec::new();
        super::encrypt(&cipher, b"text", &mut encrypted);
        assert_eq!(encrypted.len(), 16);
        let mut text = Vec::new();
        super::decrypt(&cipher, &encrypted, &mut text).unwrap();
        assert_eq!(text, b"text");
        check(&[
            (
                "aes_encrypt",
                &[t("text"), t("password")],
                "0xF6BD0FA8DCB7F8CD4A2FAABC54668044",
            ),
            ("aes_decrypt", &[b(b"x"), t("y")], "NULL"),
            ("aes_encrypt", &[NULL, t("x")], "NULL"),
        ]);
    }
}
