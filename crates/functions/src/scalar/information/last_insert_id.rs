//! LAST_INSERT_ID() and LAST_INSERT_ID(value), which sets what the next call gives.

use std::sync::atomic::Ordering;

use arrow_array::ArrayRef;
use mayfly_types::Result;

use crate::scalar::ScalarKernel;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// LAST_INSERT_ID()
#[derive(Debug)]
pub(crate) struct LastInsertId;

impl ScalarKernel for LastInsertId {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        _context: &SignatureContext,
    ) -> Result<Signature> {
        let unsigned = derive::unsigned_bigint();
        Ok(Signature::new(
            arguments.iter().map(|_| unsigned.clone()).collect(),
            unsigned.clone(),
            derive::any_nullable(arguments),
        ))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        _signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let last = &context.facts.last_insert_id;
        let Some(argument) = arguments.first() else {
            return output::uints(row_count, |_| Ok(Some(last.load(Ordering::Relaxed))));
        };
        let values = input::uints(argument)?;
        output::uints(row_count, |row| {
            let value = values.get(row);
            last.store(value.unwrap_or(0), Ordering::Relaxed);
            Ok(value)
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, check, i};

    #[test]
    fn values() {
        check(&[
            ("last_insert_id", &[], "0"),
            ("last_insert_id", &[i(7)], "7"),
            ("last_insert_id", &[NULL], "NULL"),
        ]);
    }
}
