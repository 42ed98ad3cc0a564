//! CHARSET(x), COLLATION(x), COERCIBILITY(x): known from the types alone. COLLATE, BINARY and
//! CONVERT … USING give their operand another collation.

use arrow_array::ArrayRef;
use mayfly_types::collation::aggregate::{check_collation_of_charset, check_converted};
use mayfly_types::error::codes;
use mayfly_types::{Charset, CollationId, Result, SqlType, TypeKind, Value};

use crate::scalar::ScalarKernel;
use crate::{
    Argument, Coercibility, Column, EvaluationContext, Signature, SignatureContext, derive, input,
    output,
};

/// CHARSET(), COLLATION() or COERCIBILITY().
#[derive(Debug)]
pub(crate) struct OfType {
    answer: fn(&Argument<'_>, &SignatureContext) -> Value,
}

fn collation_of(argument: &Argument<'_>) -> CollationId {
    match argument.ty.kind {
        TypeKind::Json => CollationId::UTF8MB4_BIN,
        _ => argument.ty.collation,
    }
}

/// CHARSET()
pub(crate) static CHARSET: OfType = OfType {
    answer: |argument, _| Value::from(collation_of(argument).charset().name()),
};
/// COLLATION()
pub(crate) static COLLATION: OfType = OfType {
    answer: |argument, _| Value::from(collation_of(argument).name()),
};
/// COERCIBILITY()
pub(crate) static COERCIBILITY: OfType = OfType {
    answer: |argument, _| Value::Int(argument.coercibility as i64),
};

impl ScalarKernel for OfType {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let known = (self.answer)(&arguments[0], context);
        let result = match known {
            Value::Int(_) => derive::int_of_width(10),
            _ => SqlType::varchar(64, CollationId::UTF8MB3_GENERAL_CI),
        };
        let mut signature = Signature::new(vec![arguments[0].ty.clone()], result, false);
        signature.known = Some(known);
        Ok(signature.with_coercibility(Coercibility::SystemConstant))
    }

    fn evaluate(
        &self,
        _arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        _context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let known = signature.known.as_ref().unwrap_or(&Value::Null);
        Ok(output::repeat(known, &signature.result, row_count))
    }
}

/// Which collation a call gives, and how firmly.
type Target = fn(&[Argument<'_>], &SignatureContext) -> Result<(CollationId, Coercibility)>;

/// Puts a text under another collation, which makes of its bytes what the planner's cast does.
#[derive(Debug)]
pub(crate) struct Recollate {
    target: Target,
}

fn constant_text<'a>(argument: &Argument<'a>) -> &'a str {
    match argument.constant {
        Some(Value::Bytes(name)) => std::str::from_utf8(name).unwrap_or_default(),
        _ => "",
    }
}

/// `x COLLATE name`: "collate"(x, 'name').
pub(crate) static COLLATE: Recollate = Recollate {
    target: |arguments, _| {
        let name = constant_text(&arguments[1]);
        let Some(collation) = CollationId::by_name(name) else {
            return Err(codes::ER_UNKNOWN_COLLATION.with(&[&name]));
        };
        if arguments[0].ty.is_string() || arguments[0].ty.kind == TypeKind::Enum {
            check_collation_of_charset(collation, arguments[0].ty.collation.charset())?;
        }
        Ok((collation, Coercibility::Explicit))
    },
};
/// `CONVERT(x USING charset)`: "convert using"(x, 'charset').
pub(crate) static CONVERT_USING: Recollate = Recollate {
    target: |arguments, _| {
        let name = constant_text(&arguments[1]);
        let collation = Charset::by_name(name)
            .map(Charset::default_collation)
            .ok_or_else(|| codes::ER_UNKNOWN_CHARACTER_SET.with(&[&name]))?;
        Ok((collation, Coercibility::Implicit))
    },
};
/// `BINARY x`: "binary"(x).
pub(crate) static BINARY: Recollate = Recollate {
    target: |_, _| Ok((CollationId::BINARY, Coercibility::Implicit)),
};

impl ScalarKernel for Recollate {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let (collation, coercibility) = (self.target)(arguments, context)?;
        let ty = derive::with_collation(&derive::text_of(&arguments[0], context), collation);
        let mut types = vec![ty.clone()];
        types.extend(arguments[1..].iter().map(|name| name.ty.clone()));
        Ok(Signature::new(types, ty, arguments[0].nullable).with_coercibility(coercibility))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        _context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        Ok(match &arguments[0] {
            Column::Array(array) => ArrayRef::clone(array),
            Column::Constant(value) => output::repeat(value, &signature.result, row_count),
        })
    }
}

/// A text that gives way to the collation of others: "convert exactly"(x) gives it in the character set of
/// the planner's signature, and is error 3854 where that lacks a character.
#[derive(Debug)]
pub(crate) struct ConvertExactly;

impl ScalarKernel for ConvertExactly {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        _context: &SignatureContext,
    ) -> Result<Signature> {
        let ty = arguments[0].ty.clone();
        Ok(Signature::new(vec![ty.clone()], ty, arguments[0].nullable))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        _context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let own = signature.arguments[0].collation.charset();
        let charset = signature.result.collation.charset();
        let texts = input::texts(&arguments[0])?;
        for text in (0..row_count).filter_map(|row| texts.get(row)) {
            check_converted(text, own, charset)?;
        }
        Ok(match &arguments[0] {
            Column::Array(array) => ArrayRef::clone(array),
            Column::Constant(value) => output::repeat(value, &signature.result, row_count),
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, check, i, t};

    #[test]
    fn values() {
        check(&[
            ("charset", &[t("a")], "utf8mb4"),
            ("charset", &[i(1)], "binary"),
            ("collation", &[t("a")], "utf8mb4_0900_ai_ci"),
            ("coercibility", &[t("a")], "4"),
            ("coercibility", &[i(1)], "5"),
            ("coercibility", &[NULL], "6"),
            ("collate", &[t("a"), t("utf8mb4_bin")], "a"),
            (
                "collate",
                &[t("a"), t("nope")],
                "ERROR 1273 (HY000): Unknown collation: 'nope'",
            ),
            (
                "collate",
                &[t("a"), t("latin1_bin")],
                "ERROR 1253 (42000): COLLATION 'latin1_bin' is not valid for CHARACTER SET 'utf8mb4'",
            ),
            ("binary", &[t("a")], "a"),
        ]);
    }
}
