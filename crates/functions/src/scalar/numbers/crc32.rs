//! CRC32(text)

use arrow_array::ArrayRef;
use mayfly_types::{Result, SqlType, TypeKind};

use crate::scalar::ScalarKernel;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// CRC32()
#[derive(Debug)]
pub(crate) struct Crc32;

impl ScalarKernel for Crc32 {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        Ok(Signature::new(
            vec![derive::text_of(&arguments[0], context)],
            SqlType {
                length: 10,
                unsigned: true,
                ..SqlType::integer(TypeKind::Int)
            },
            arguments[0].nullable,
        ))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        _signature: &Signature,
        _context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let values = input::texts(&arguments[0])?;
        output::uints(row_count, |row| {
            Ok(values
                .get(row)
                .map(|bytes| u64::from(crc32fast::hash(bytes))))
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, t};

    #[test]
    fn values() {
        check(&[
            ("crc32", &[t("MySQL")], "3259397556"),
            ("crc32", &[t("mysql")], "2501908538"),
        ]);
    }
}
