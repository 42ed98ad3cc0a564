//! Functions of what this server does not do, which answer as MySQL does where it does not either:
//! SOURCE_POS_WAIT() without a replica, VALIDATE_PASSWORD_STRENGTH() without a policy.

use arrow_array::ArrayRef;
use mayfly_types::Result;

use crate::scalar::ScalarKernel;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, choice, derive, output,
};

/// One of them.
#[derive(Debug)]
pub(crate) struct Without {
    width: u32,
    /// What it gives if no argument is NULL.
    answer: Option<i64>,
}

/// SOURCE_POS_WAIT(): there is no replica that could come to a place.
pub(crate) static SOURCE_POS_WAIT: Without = Without {
    width: 21,
    answer: None,
};
/// VALIDATE_PASSWORD_STRENGTH(): no policy finds a password strong.
pub(crate) static VALIDATE_PASSWORD_STRENGTH: Without = Without {
    width: 10,
    answer: Some(0),
};

impl ScalarKernel for Without {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        _context: &SignatureContext,
    ) -> Result<Signature> {
        let types = arguments.iter().map(|argument| argument.ty.clone());
        let result = derive::bigint_of_width(self.width);
        Ok(Signature::new(types.collect(), result, true))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        _signature: &Signature,
        _context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        output::ints(row_count, |row| {
            let is_null = |argument: &Column| choice::is_null(argument, row);
            Ok(self.answer.filter(|_| !arguments.iter().any(is_null)))
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, check, i, t};

    #[test]
    fn values() {
        check(&[
            ("validate_password_strength", &[t("N0Tweak$_@123!")], "0"),
            ("validate_password_strength", &[NULL], "NULL"),
            ("source_pos_wait", &[t("binlog.1"), i(4), i(1)], "NULL"),
        ]);
    }
}
