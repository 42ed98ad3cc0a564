//! HEX(x) and UNHEX(text).

use arrow_array::ArrayRef;
use mayfly_types::error::codes;
use mayfly_types::{CollationId, PhysicalType, Result, TypeKind};

use crate::scalar::ScalarKernel;
use crate::scalar::operators::numeric;
use crate::scalar::strings::chars;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// HEX()
#[derive(Debug)]
pub(crate) struct Hex;

impl ScalarKernel for Hex {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let argument = &arguments[0];
        let (ty, characters) = if numeric::kind_of(argument.ty) == numeric::Kind::Double
            && !matches!(argument.ty.kind, TypeKind::Double | TypeKind::Float)
        {
            let ty = derive::text_of(argument, context);
            let characters =
                derive::character_length(&ty) * derive::bytes_per_character(ty.collation) * 2;
            (ty, characters)
        } else if argument.ty.is_temporal() {
            let ty = derive::text_of(argument, context);
            let characters = derive::character_length(&ty) * 2;
            (ty, characters)
        } else {
            (numeric::integer_argument(argument.ty), 16)
        };
        Ok(Signature::new(
            vec![ty],
            derive::string_type(characters, context.collation_connection),
            argument.nullable,
        ))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        if signature.arguments[0].physical() == PhysicalType::Bytes {
            let texts = input::texts(&arguments[0])?;
            let collation = signature.arguments[0].collation;
            return output::texts(row_count, context, |row, out| {
                let Some(text) = texts.get(row) else {
                    return Ok(false);
                };
                chars::append_hex(&chars::in_charset(text, collation), out);
                Ok(true)
            });
        }
        let numbers = input::any_ints(&arguments[0])?;
        output::texts(row_count, context, |row, out| {
            let Some(number) = numbers.get(row) else {
                return Ok(false);
            };
            out.extend_from_slice(format!("{:X}", number as u64).as_bytes());
            Ok(true)
        })
    }
}

/// UNHEX()
#[derive(Debug)]
pub(crate) struct Unhex;

impl ScalarKernel for Unhex {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let ty = derive::text_of(&arguments[0], context);
        let bytes =
            (derive::character_length(&ty) * derive::bytes_per_character(ty.collation)).div_ceil(2);
        Ok(Signature::new(
            vec![ty],
            derive::string_type(bytes, CollationId::BINARY),
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
        let texts = input::texts(&arguments[0])?;
        output::texts(row_count, context, |row, out| {
            let Some(text) = texts.get(row) else {
                return Ok(false);
            };
            // An odd number of digits has a zero before them.
            let mut high = if text.len() % 2 == 1 { Some(0) } else { None };
            for digit in text {
                let Some(digit) = char::from(*digit).to_digit(16) else {
                    context
                        .diagnostics
                        .warn(codes::ER_WRONG_VALUE_FOR_TYPE.with(&[
                            &"string",
                            &String::from_utf8_lossy(text),
                            &"unhex",
                        ]));
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
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, d, i, t};

    #[test]
    fn values() {
        check(&[
            ("hex", &[t("abc")], "616263"),
            ("hex", &[i(255)], "FF"),
            ("hex", &[i(-1)], "FFFFFFFFFFFFFFFF"),
            ("hex", &[d("15.6")], "10"),
            ("unhex", &[t("4D7953514C")], "MySQL"),
            ("unhex", &[t("F")], "0x0F"),
            ("unhex", &[t("GG")], "NULL +1411"),
        ]);
    }
}
