//! Numbers that a session knows: CONNECTION_ID(), PS_CURRENT_THREAD_ID(), ROW_COUNT(), FOUND_ROWS().

use arrow_array::ArrayRef;
use mayfly_types::{Result, SqlType, Value};

use crate::scalar::ScalarKernel;
use crate::{
    Argument, Column, EvaluationContext, SessionFacts, Signature, SignatureContext, derive, output,
};

/// One of them.
#[derive(Debug)]
pub(crate) struct Number {
    unsigned: bool,
    nullable: bool,
    value: fn(&SessionFacts) -> Value,
}

/// CONNECTION_ID()
pub(crate) static CONNECTION_ID: Number = Number {
    unsigned: true,
    nullable: false,
    value: |facts| Value::UInt(facts.connection_id),
};
/// PS_CURRENT_THREAD_ID(): a session's thread in performance_schema has its number.
pub(crate) static PS_CURRENT_THREAD_ID: Number = Number {
    unsigned: true,
    nullable: true,
    value: |facts| Value::UInt(facts.connection_id),
};
/// ROW_COUNT()
pub(crate) static ROW_COUNT: Number = Number {
    unsigned: false,
    nullable: false,
    value: |facts| Value::Int(facts.row_count),
};
/// FOUND_ROWS()
pub(crate) static FOUND_ROWS: Number = Number {
    unsigned: false,
    nullable: false,
    value: |facts| Value::Int(i64::try_from(facts.found_rows).unwrap_or(i64::MAX)),
};

impl ScalarKernel for Number {
    fn signature(
        &self,
        _arguments: &[Argument<'_>],
        _context: &SignatureContext,
    ) -> Result<Signature> {
        let result = SqlType {
            unsigned: self.unsigned,
            ..derive::bigint_of_width(21)
        };
        Ok(Signature::new(Vec::new(), result, self.nullable))
    }

    fn evaluate(
        &self,
        _arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let value = (self.value)(&context.facts);
        Ok(output::repeat(&value, &signature.result, row_count))
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::check;

    #[test]
    fn values() {
        check(&[
            ("connection_id", &[], "1"),
            ("ps_current_thread_id", &[], "1"),
            ("row_count", &[], "-1"),
            ("found_rows", &[], "0"),
        ]);
    }
}
