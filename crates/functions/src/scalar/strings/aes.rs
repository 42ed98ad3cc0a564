//! AES_ENCRYPT(text, key, …) and AES_DECRYPT(text, key, …) by `block_encryption_mode`, with an initialization vector
//! where the mode needs one, and an optional key derivation function: `hkdf` with salt and info, `pbkdf2_hmac` with
//! salt and iterations.

use std::ops::RangeInclusive;

use aes::cipher::generic_array::GenericArray;
use aes::cipher::{BlockDecrypt, BlockEncrypt, KeyInit};
use aes::{Aes128, Aes192, Aes256};
use arrow_array::ArrayRef;
use mayfly_types::error::codes;
use mayfly_types::{CollationId, Result};
use sha2::{Digest, Sha512};

use crate::block_encryption::{BlockEncryption, Mode};
use crate::scalar::Row;
use crate::scalar::facts::Fact;
use crate::scalar::strings::chars;
use crate::{Binding, Call, Signature, derive, input, output};

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(&["aes_encrypt"], 2..=6, encrypt_signature, |call| {
        evaluate(call, |cipher, mode, initial, text| {
            cipher.encrypt(mode, initial, text);
            true
        })
    })
    .with(&[Fact::StopsAtNull]),
    Row::new(&["aes_decrypt"], 2..=6, decrypt_signature, |call| {
        evaluate(call, |cipher, mode, initial, text| {
            cipher.decrypt(mode, initial, text).is_some()
        })
    })
    .with(&[Fact::StopsAtNull]),
];

const BLOCK: usize = 16;
/// Default and maximum number of PBKDF2's iterations.
const ITERATIONS: u32 = 1000;
const ITERATIONS_ALLOWED: RangeInclusive<u32> = ITERATIONS..=65535;

type Block = [u8; BLOCK];
/// A key, and the parameters of its derivation.
type KeyParts = Vec<Option<Vec<u8>>>;

fn encrypt_signature(binding: &Binding<'_>) -> Result<Signature> {
    let padded = (derive::byte_length(&binding.text(0)) / BLOCK as u64 + 1) * BLOCK as u64;
    let result = derive::string_type(padded, CollationId::BINARY);
    Ok(derive::with_length_limit(binding.of_texts_or_null(result)?))
}

fn decrypt_signature(binding: &Binding<'_>) -> Result<Signature> {
    let bytes = derive::byte_length(&binding.text(0));
    binding.of_texts_or_null(derive::string_type(bytes, CollationId::BINARY))
}

/// Transforms texts by a cipher, which returns whether it succeeded.
fn evaluate(
    call: &Call<'_>,
    change: impl Fn(&Cipher, Mode, Block, &mut Vec<u8>) -> bool,
) -> Result<ArrayRef> {
    let BlockEncryption { key_bytes, mode } = call.context.block_encryption;
    if mode != Mode::Ecb && call.arguments.len() < 3 {
        return Err(codes::ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT.with(&[&call.name]));
    }
    let texts = call.all(0, input::texts)?;
    let bytes_of = |index: usize, row: usize| {
        let text = texts.get(index)?.get(row)?;
        Some(chars::in_charset(text, call.collation(index)))
    };
    // Key derivation is expensive; rows with equal parameters share the key.
    let mut known: Option<(KeyParts, Vec<u8>)> = None;
    output::texts(call, |row, out| {
        let (Some(text), Some(key)) = (bytes_of(0, row), bytes_of(1, row)) else {
            return Ok(false);
        };
        let initial = match bytes_of(2, row) {
            Some(vector) if mode != Mode::Ecb => vector.first_chunk::<BLOCK>().copied(),
            Some(_) => {
                call.context.warn(codes::WARN_OPTION_IGNORED.with(&[&"IV"]));
                Some([0; BLOCK])
            }
            None if mode == Mode::Ecb => Some([0; BLOCK]),
            None => None,
        };
        let Some(initial) = initial else {
            return Err(codes::ER_AES_INVALID_IV.with(&[&call.name, &BLOCK]));
        };
        let key = if call.arguments.len() <= 3 {
            folded(&key, key_bytes)
        } else {
            let own = |index| bytes_of(index, row).map(|bytes| bytes.to_vec());
            let given = vec![Some(key.to_vec()), own(3), own(4), own(5)];
            match &known {
                Some((same, derived)) if *same == given => derived.clone(),
                _ => {
                    let derived = derived(&given, key_bytes)?;
                    known = Some((given, derived.clone()));
                    derived
                }
            }
        };
        let Some(cipher) = Cipher::new(&key) else {
            return Ok(false);
        };
        out.extend_from_slice(&text);
        Ok(change(&cipher, mode, initial, out))
    })
}

/// Folds a key of any length into the cipher's key length.
fn folded(key: &[u8], length: usize) -> Vec<u8> {
    let mut folded = vec![0_u8; length];
    for (index, byte) in key.iter().enumerate() {
        folded[index % length] ^= byte;
    }
    folded
}

/// Derives a key from a key, the function's name, salt, and info or iterations.
fn derived(given: &[Option<Vec<u8>>], length: usize) -> Result<Vec<u8>> {
    let part = |index: usize| {
        given
            .get(index)
            .and_then(|part| part.as_deref())
            .unwrap_or(b"")
    };
    let (key, salt) = (part(0), part(2));
    match part(1) {
        b"hkdf" => {
            let extracted = hmac(salt, &[key]);
            // The longest key is shorter than one digest.
            let expanded = hmac(&extracted, &[part(3), &[1]]);
            Ok(expanded[..length].to_vec())
        }
        b"pbkdf2_hmac" => {
            let iterations = match given.get(3) {
                Some(Some(text)) => std::str::from_utf8(text)
                    .ok()
                    .and_then(|text| text.trim().parse().ok())
                    .unwrap_or(0),
                _ => ITERATIONS,
            };
            if !ITERATIONS_ALLOWED.contains(&iterations) {
                return Err(codes::ER_AES_INVALID_KDF_ITERATIONS.error());
            }
            let mut last = hmac(key, &[salt, &1_u32.to_be_bytes()]);
            let mut sum = last;
            for _ in 1..iterations {
                last = hmac(key, &[&last]);
                sum.iter_mut()
                    .zip(last)
                    .for_each(|(sum, byte)| *sum ^= byte);
            }
            Ok(sum[..length].to_vec())
        }
        _ => Err(codes::ER_AES_INVALID_KDF_NAME.error()),
    }
}

/// HMAC (RFC 2104) with SHA-512.
fn hmac(key: &[u8], message: &[&[u8]]) -> [u8; 64] {
    const HASHED: usize = 128;
    let mut block = [0_u8; HASHED];
    if key.len() > HASHED {
        block[..64].copy_from_slice(&Sha512::digest(key));
    } else {
        block[..key.len()].copy_from_slice(key);
    }
    let mut inner = Sha512::new();
    inner.update(block.map(|byte| byte ^ 0x36));
    for part in message {
        inner.update(part);
    }
    let mut outer = Sha512::new();
    outer.update(block.map(|byte| byte ^ 0x5C));
    outer.update(inner.finalize());
    outer.finalize().into()
}

enum Cipher {
    Aes128(Box<Aes128>),
    Aes192(Box<Aes192>),
    Aes256(Box<Aes256>),
}

impl Cipher {
    fn new(key: &[u8]) -> Option<Self> {
        Some(match key.len() {
            16 => Self::Aes128(Box::new(Aes128::new_from_slice(key).ok()?)),
            24 => Self::Aes192(Box::new(Aes192::new_from_slice(key).ok()?)),
            32 => Self::Aes256(Box::new(Aes256::new_from_slice(key).ok()?)),
            _ => return None,
        })
    }

    fn encrypted(&self, mut block: Block) -> Block {
        let array = GenericArray::from_mut_slice(&mut block);
        match self {
            Self::Aes128(cipher) => cipher.encrypt_block(array),
            Self::Aes192(cipher) => cipher.encrypt_block(array),
            Self::Aes256(cipher) => cipher.encrypt_block(array),
        }
        block
    }

    fn decrypted(&self, mut block: Block) -> Block {
        let array = GenericArray::from_mut_slice(&mut block);
        match self {
            Self::Aes128(cipher) => cipher.decrypt_block(array),
            Self::Aes192(cipher) => cipher.decrypt_block(array),
            Self::Aes256(cipher) => cipher.decrypt_block(array),
        }
        block
    }

    fn encrypt(&self, mode: Mode, initial: Block, text: &mut Vec<u8>) {
        if !matches!(mode, Mode::Ecb | Mode::Cbc) {
            self.stream(mode, initial, text, false);
            return;
        }
        let padding = BLOCK - text.len() % BLOCK;
        text.resize(text.len() + padding, padding as u8);
        let mut last = initial;
        for block in text.as_chunks_mut::<BLOCK>().0 {
            let chained = match mode {
                Mode::Cbc => xor(*block, last),
                _ => *block,
            };
            *block = self.encrypted(chained);
            last = *block;
        }
    }

    /// Decrypts; `None` when the text cannot have been encrypted by this key.
    fn decrypt(&self, mode: Mode, initial: Block, text: &mut Vec<u8>) -> Option<()> {
        if !matches!(mode, Mode::Ecb | Mode::Cbc) {
            self.stream(mode, initial, text, true);
            return Some(());
        }
        if text.is_empty() || !text.len().is_multiple_of(BLOCK) {
            return None;
        }
        let mut last = initial;
        for block in text.as_chunks_mut::<BLOCK>().0 {
            let decrypted = self.decrypted(*block);
            let plain = match mode {
                Mode::Cbc => xor(decrypted, last),
                _ => decrypted,
            };
            last = std::mem::replace(block, plain);
        }
        let padding = usize::from(*text.last()?);
        let kept = text.len().checked_sub(padding)?;
        let is_padded = (1..=BLOCK).contains(&padding)
            && text[kept..]
                .iter()
                .all(|byte| usize::from(*byte) == padding);
        is_padded.then(|| text.truncate(kept))
    }

    /// Stream modes: the text is combined with a key stream.
    fn stream(&self, mode: Mode, initial: Block, text: &mut [u8], decrypts: bool) {
        let mut register = initial;
        match mode {
            Mode::Cfb1 => {
                for byte in text {
                    for bit in (0..8).rev() {
                        let mask = 1 << bit;
                        let given = *byte >> bit & 1;
                        let made = given ^ self.encrypted(register)[0] >> 7;
                        let fed = if decrypts { given } else { made };
                        *byte = *byte & !mask | made << bit;
                        register =
                            (u128::from_be_bytes(register) << 1 | u128::from(fed)).to_be_bytes();
                    }
                }
            }
            Mode::Cfb8 => {
                for byte in text {
                    let given = *byte;
                    *byte ^= self.encrypted(register)[0];
                    let fed = if decrypts { given } else { *byte };
                    register = (u128::from_be_bytes(register) << 8 | u128::from(fed)).to_be_bytes();
                }
            }
            _ => {
                for chunk in text.chunks_mut(BLOCK) {
                    let key = self.encrypted(register);
                    register = key;
                    for (index, byte) in chunk.iter_mut().enumerate() {
                        let given = *byte;
                        *byte ^= key[index];
                        if mode == Mode::Cfb128 {
                            register[index] = if decrypts { given } else { *byte };
                        }
                    }
                }
            }
        }
    }
}

fn xor(block: Block, other: Block) -> Block {
    (u128::from_be_bytes(block) ^ u128::from_be_bytes(other)).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::{BlockEncryption, Cipher, derived, folded};
    use crate::testing::{NULL, b, check, t};

    #[test]
    fn values() {
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

    /// The ciphertexts of MySQL in each mode, and their decryption.
    #[test]
    fn modes() {
        for (name, text, expected) in [
            ("aes-256-cbc", "text", "7A9AFD218F1932225DBE0699B895C211"),
            ("aes-192-ofb", "text", "F5CC11FE"),
            ("aes-128-cfb1", "text", "CF777EAE"),
            ("aes-128-cfb8", "text", "EA00D8B3"),
            (
                "aes-128-cfb128",
                "text text text text",
                "EAFA9EC83A54A6DD80CC23F8935F9389EC5AD3",
            ),
        ] {
            let BlockEncryption { key_bytes, mode } = BlockEncryption::by_name(name).unwrap();
            let cipher = Cipher::new(&folded(b"password", key_bytes)).unwrap();
            let mut bytes = text.as_bytes().to_vec();
            cipher.encrypt(mode, *b"0123456789abcdef", &mut bytes);
            let hex: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
            assert_eq!(hex, expected, "{name}");
            cipher
                .decrypt(mode, *b"0123456789abcdef", &mut bytes)
                .unwrap();
            assert_eq!(bytes, text.as_bytes(), "{name}");
        }
    }

    #[test]
    fn derived_keys() {
        let given = |parts: &[&str]| -> Vec<Option<Vec<u8>>> {
            parts
                .iter()
                .map(|part| Some(part.as_bytes().to_vec()))
                .collect()
        };
        for (parts, expected) in [
            (
                &["password", "hkdf"][..],
                "BA72AC17588BE61E0F3942A195AE6ADE",
            ),
            (
                &["password", "hkdf", "salt"],
                "AB1B6116CB8EEB92C342F3FFEF9055BB",
            ),
            (
                &["password", "hkdf", "salt", "info"],
                "8FB49B66F3F8727CAE823E589836E0DE",
            ),
            (
                &["password", "pbkdf2_hmac"],
                "2C86DCC5DBF0B353F50857D79D2E100D",
            ),
            (
                &["password", "pbkdf2_hmac", "salt"],
                "71B049AFC6B3E96FE9D09F1D3DE39B9B",
            ),
            (
                &["password", "pbkdf2_hmac", "salt", "2000"],
                "6EC0B946A649BBF54C285B1CFFFB6F6A",
            ),
        ] {
            let key = derived(&given(parts), 16).unwrap();
            let mut bytes = b"text".to_vec();
            let mode = BlockEncryption::default().mode;
            Cipher::new(&key)
                .unwrap()
                .encrypt(mode, [0; 16], &mut bytes);
            let hex: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
            assert_eq!(hex, expected, "{parts:?}");
        }
        for wrong in [
            &["k", "nope"][..],
            &["k", "pbkdf2_hmac", "s", "10"],
            &["k", "pbkdf2_hmac", "s", "70000"],
        ] {
            derived(&given(wrong), 16).unwrap_err();
        }
    }
}
