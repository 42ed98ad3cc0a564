//! STATEMENT_DIGEST() and STATEMENT_DIGEST_TEXT(): a statement without its literals, and its hash
//! (the manual, "Encryption and Compression Functions"; `mayfly_syntax::digest`).

use arrow_array::ArrayRef;
use mayfly_syntax::{ParseOptions, digest, statements};
use mayfly_types::error::codes;
use mayfly_types::{Result, SqlType};

use crate::scalar::ScalarKernel;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// One of the two.
#[derive(Debug)]
pub(crate) struct StatementDigest {
    is_text: bool,
}

/// STATEMENT_DIGEST()
pub(crate) static HASH: StatementDigest = StatementDigest { is_text: false };
/// STATEMENT_DIGEST_TEXT()
pub(crate) static TEXT: StatementDigest = StatementDigest { is_text: true };

impl ScalarKernel for StatementDigest {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let collation = context.collation_connection;
        let result = match self.is_text {
            true => derive::long_text(collation),
            false => SqlType::varchar(64, collation),
        };
        let text = derive::text_of(&arguments[0], context);
        Ok(Signature::new(vec![text], result, true))
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
            let Some(statement) = texts.get(row) else {
                return Ok(false);
            };
            let statement = String::from_utf8_lossy(statement);
            let mut parsed = statements(&statement, &ParseOptions::MYSQL_DEFAULT);
            if let Some(Err(error)) = parsed.next() {
                return Err(codes::ER_PARSE_ERROR_IN_DIGEST_FN.with(&[&error]));
            }
            let (text, hash) = digest(&statement);
            let shown = if self.is_text { text } else { hash };
            out.extend_from_slice(shown.as_bytes());
            Ok(true)
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, check, t};

    // Values of MySQL.
    #[test]
    fn values() {
        check(&[
            (
                "statement_digest_text",
                &[t("select 1, 2 from t where a in (1,2)")],
                "SELECT ?, ... FROM `t` WHERE `a` IN (...)",
            ),
            ("statement_digest_text", &[NULL], "NULL"),
            (
                "statement_digest",
                &[t("selec 1")],
                "ERROR 3676 (HY000): Could not parse argument to digest function: \"You have an \
                 error in your SQL syntax; check the manual that corresponds to your MySQL server \
                 version for the right syntax to use near 'selec 1' at line 1\".",
            ),
        ]);
    }
}
