//! HEX(x) and UNHEX(text).

use std::fmt::Display;

use arrow_array::ArrayRef;
use mayfly_types::error::codes;
use mayfly_types::{CollationId, PhysicalType, Result, TypeKind};

use crate::scalar::Row;
use crate::scalar::facts::Fact;
use crate::scalar::operators::numeric;
use crate::scalar::strings::chars;
use crate::{Binding, Call, Signature, derive, output};

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(&["hex"], 1..=1, hex_signature, hex).with(&[Fact::Strict]),
    Row::new(&["unhex"], 1..=1, unhex_signature, unhex),
];

fn hex_signature(binding: &Binding<'_>) -> Result<Signature> {
    let ty = binding.arguments[0].ty;
    let is_number = matches!(ty.kind, TypeKind::Double | TypeKind::Float);
    let (ty, characters) = if numeric::kind_of(ty) == numeric::Kind::Double && !is_number {
        let ty = binding.text(0);
        let characters = derive::byte_length(&ty) * 2;
        (ty, characters)
    } else if ty.is_temporal() {
        let ty = binding.text(0);
        let characters = derive::character_length(&ty) * 2;
        (ty, characters)
    } else {
        (numeric::bits_argument(&binding.arguments[0]), 16)
    };
    let result = binding.string(characters);
    // A text may be too long.
    let nullable = binding.any_nullable() || ty.physical() == PhysicalType::Bytes;
    Ok(Signature::new(vec![ty], result, nullable))
}

fn hex(call: &Call<'_>) -> Result<ArrayRef> {
    if call.ty(0).physical() == PhysicalType::Bytes {
        let collation = call.collation(0);
        return output::mapped_texts(call, 0, |text, out| {
            let bytes = chars::in_charset(text, collation);
            // Nested calls would double until memory ends.
            let fits = call.within_packet(bytes.len() * 2)?;
            if fits {
                chars::append_hex(&bytes, out);
            }
            Ok(fits)
        });
    }
    let numbers = call.any_ints(0)?;
    output::texts(call, |row, out| {
        let Some(number) = numbers.get(row) else {
            return Ok(false);
        };
        out.extend_from_slice(format!("{:X}", number as u64).as_bytes());
        Ok(true)
    })
}

fn unhex_signature(binding: &Binding<'_>) -> Result<Signature> {
    let bytes = derive::byte_length(&binding.text(0)).div_ceil(2);
    binding.of_texts_or_null(derive::string_type(bytes, CollationId::BINARY))
}

fn unhex(call: &Call<'_>) -> Result<ArrayRef> {
    let collation = call.collation(0);
    output::mapped_texts(call, 0, |characters, out| {
        let text = &*chars::in_charset(characters, collation);
        // An odd number of digits is preceded by a zero.
        let mut high = if text.len() % 2 == 1 { Some(0) } else { None };
        for digit in text {
            let Some(digit) = char::from(*digit).to_digit(16) else {
                // MySQL shows the expression, thus a literal with its quotes.
                let text = format!("'{}'", String::from_utf8_lossy(characters));
                let parts: [&dyn Display; 3] = [&"string", &text, &call.name];
                call.context
                    .warn(codes::ER_WRONG_VALUE_FOR_TYPE.with(&parts));
                return Ok(false);
            };
            match high.take() {
                None => high = Some(digit),
                Some(high) => out.push((high << 4 | digit) as u8),
            }
        }
        Ok(true)
    })
}
