//! JSON_DEPTH(document)

use arrow_array::ArrayRef;
use mayfly_types::Result;

use super::arguments::{self, Documents};
use crate::scalar::ScalarKernel;
use crate::{Argument, Column, EvaluationContext, Signature, SignatureContext, derive, output};

/// JSON_DEPTH()
#[derive(Debug)]
pub(crate) struct JsonDepth;

impl ScalarKernel for JsonDepth {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        _context: &SignatureContext,
    ) -> Result<Signature> {
        let ty = arguments::document_type(&arguments[0]);
        Ok(Signature::new(vec![ty], derive::bigint_of_width(21), true))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        _context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let documents = Documents::new(&arguments[0], &signature.arguments[0], 1, "json_depth")?;
        output::ints(row_count, |row| {
            Ok(documents.tree(row)?.map(|document| document.depth() as i64))
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, check, t};

    #[test]
    fn values() {
        check(&[
            ("json_depth", &[t("{}")], "1"),
            ("json_depth", &[t("true")], "1"),
            ("json_depth", &[t("[10, 20]")], "2"),
            ("json_depth", &[t("[10, {\"a\": 20}]")], "3"),
            ("json_depth", &[NULL], "NULL"),
        ]);
    }
}
