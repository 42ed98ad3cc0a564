//! STATEMENT_DIGEST() and STATEMENT_DIGEST_TEXT(): a statement without its literals, and its hash
//! (the manual, "Encryption and Compression Functions"; `mayfly_syntax::digest`).

use arrow_array::ArrayRef;
use mayfly_syntax::{ParseOptions, digest, statements};
use mayfly_types::Result;
use mayfly_types::error::codes;

use crate::scalar::Row;
use crate::{Binding, Call, Column, Signature, derive, output};

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(&["statement_digest"], 1..=1, hash_signature, |call| {
        evaluate(call, |(_, hash)| hash)
    }),
    Row::new(&["statement_digest_text"], 1..=1, text_signature, |call| {
        evaluate(call, |(text, _)| text)
    }),
];

fn hash_signature(binding: &Binding<'_>) -> Result<Signature> {
    binding.of_texts_or_null(binding.string(64))
}

fn text_signature(binding: &Binding<'_>) -> Result<Signature> {
    binding.of_texts_or_null(derive::long_text(binding.session.collation_connection))
}

/// The text or the hash of a statement's digest. A parse error is reported in full only for a constant: otherwise it
/// would reveal the contents of a table.
fn evaluate(call: &Call<'_>, shown: fn((String, String)) -> String) -> Result<ArrayRef> {
    let is_constant = matches!(call.arguments.first(), Some(Column::Constant(_)));
    output::mapped_texts(call, 0, |statement, out| {
        let statement = String::from_utf8_lossy(statement);
        let mut parsed = statements(&statement, &ParseOptions::MYSQL_DEFAULT);
        if let Some(Err(error)) = parsed.next() {
            return Err(if is_constant {
                codes::ER_PARSE_ERROR_IN_DIGEST_FN.with(&[&error])
            } else {
                codes::ER_UNDISCLOSED_PARSE_ERROR_IN_DIGEST_FN.error()
            });
        }
        out.extend_from_slice(shown(digest(&statement)).as_bytes());
        Ok(true)
    })
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, check, t};

    // Values from MySQL.
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
