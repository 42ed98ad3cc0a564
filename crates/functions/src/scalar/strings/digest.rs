//! MD5(text), SHA1(text) and SHA2(text, bits): digests in hexadecimal.

use arrow_array::ArrayRef;
use mayfly_types::error::codes;
use mayfly_types::{Result, SqlType};
use md5::{Digest, Md5};
use sha1::Sha1;
use sha2::{Sha224, Sha256, Sha384, Sha512};

use crate::scalar::Row;
use crate::scalar::facts::Fact;
use crate::scalar::strings::chars;
use crate::{Binding, Call, Signature, derive, output};

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(&["md5"], 1..=1, signature::<32>, digest::<Md5>),
    Row::new(&["sha1", "sha"], 1..=1, signature::<40>, digest::<Sha1>),
    Row::new(&["sha2"], 2..=2, sha2_signature, sha2).with(&[Fact::StopsAtNull]),
];

fn signature<const CHARACTERS: u64>(binding: &Binding<'_>) -> Result<Signature> {
    binding.of_texts(binding.string(CHARACTERS))
}

fn append<D: Digest>(text: &[u8], out: &mut Vec<u8>) {
    chars::append_hex(D::digest(text).as_slice(), out);
    out.make_ascii_lowercase();
}

fn digest<D: Digest>(call: &Call<'_>) -> Result<ArrayRef> {
    let collation = call.collation(0);
    output::mapped_texts(call, 0, |text, out| {
        append::<D>(&chars::in_charset(text, collation), out);
        Ok(true)
    })
}

fn sha2_signature(binding: &Binding<'_>) -> Result<Signature> {
    let characters = match derive::constant_integer(&binding.arguments[1]) {
        Some(224) => 56,
        Some(0 | 256) => 64,
        Some(384) => 96,
        _ => 128,
    };
    let types = vec![binding.text(0), SqlType::bigint()];
    Ok(Signature::new(types, binding.string(characters), true))
}

fn sha2(call: &Call<'_>) -> Result<ArrayRef> {
    let (texts, bits, collation) = (call.texts(0)?, call.ints(1)?, call.collation(0));
    output::texts(call, |row, out| {
        let append = match bits.get(row) {
            Some(224) => append::<Sha224>,
            Some(0 | 256) => append::<Sha256>,
            Some(384) => append::<Sha384>,
            Some(512) => append::<Sha512>,
            Some(_) => {
                let warning = codes::ER_WRONG_PARAMETERS_TO_NATIVE_FCT.with(&[&call.name]);
                call.context.warn(warning);
                return Ok(false);
            }
            None => return Ok(false),
        };
        let text = texts.get(row);
        text.inspect(|text| append(&chars::in_charset(text, collation), out));
        Ok(text.is_some())
    })
}
