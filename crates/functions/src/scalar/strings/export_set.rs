//! EXPORT_SET(bits, on, off[, separator[, number of bits]])

use arrow_array::ArrayRef;
use mayfly_types::{Result, SqlType};

use crate::scalar::ScalarKernel;
use crate::scalar::strings::chars;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// EXPORT_SET()
#[derive(Debug)]
pub(crate) struct ExportSet;

impl ScalarKernel for ExportSet {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let count = 64;
        let longest = derive::character_length(arguments[1].ty)
            .max(derive::character_length(arguments[2].ty));
        let separator = arguments
            .get(3)
            .map_or(1, |separator| derive::character_length(separator.ty));
        let texts = &arguments[1..arguments.len().min(4)];
        let mut signature = derive::text_signature(
            texts,
            context,
            "export_set",
            count * longest + (count - 1) * separator,
            derive::any_nullable(arguments),
        )?;
        signature.arguments.insert(0, SqlType::bigint());
        if arguments.len() == 5 {
            signature.arguments.push(SqlType::bigint());
        }
        Ok(derive::foreseen(signature))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        _signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let bits = input::any_ints(&arguments[0])?;
        let (on, off) = (input::texts(&arguments[1])?, input::texts(&arguments[2])?);
        let separators = match arguments.get(3) {
            Some(separator) => input::texts(separator)?,
            None => input::Texts::Constant(Some(b",")),
        };
        let counts = match arguments.get(4) {
            Some(count) => input::ints(count)?,
            None => input::Ints::Constant(Some(64)),
        };
        output::texts(row_count, context, |row, out| {
            let (Some(bits), Some(on), Some(off), Some(separator), Some(count)) = (
                bits.get(row),
                on.get(row),
                off.get(row),
                separators.get(row),
                counts.get(row),
            ) else {
                return Ok(false);
            };
            let count = if (0..=64).contains(&count) { count } else { 64 };
            let (times, between) = (count.cast_unsigned() as usize, (count - 1).max(0) as usize);
            let longest = on.len().max(off.len()).saturating_mul(times);
            let bytes = longest.saturating_add(separator.len().saturating_mul(between));
            if !chars::within_packet(bytes, "export_set", context)? {
                return Ok(false);
            }
            for index in 0..count {
                if index > 0 {
                    out.extend_from_slice(separator);
                }
                out.extend_from_slice(if bits as u64 >> index & 1 == 1 {
                    on
                } else {
                    off
                });
            }
            Ok(true)
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, i, t};

    #[test]
    fn values() {
        check(&[
            (
                "export_set",
                &[i(5), t("Y"), t("N"), t(","), i(4)],
                "Y,N,Y,N",
            ),
            (
                "export_set",
                &[i(6), t("1"), t("0"), t(","), i(10)],
                "0,1,1,0,0,0,0,0,0,0",
            ),
            (
                "export_set",
                &[i(1), t("a".repeat(1_100_000).leak()), t("b")],
                "NULL +1301",
            ),
        ]);
    }
}
