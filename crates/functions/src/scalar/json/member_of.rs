//! `value MEMBER OF (array)`

use arrow_array::ArrayRef;
use mayfly_types::json::text::elements;
use mayfly_types::json::{JsonKind, compare, kind_of};
use mayfly_types::{Result, SqlType};

use super::arguments::{self, Documents, Values};
use crate::scalar::ScalarKernel;
use crate::{Argument, Column, EvaluationContext, Signature, SignatureContext, output};

/// MEMBER OF
#[derive(Debug)]
pub(crate) struct MemberOf;

impl ScalarKernel for MemberOf {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        _context: &SignatureContext,
    ) -> Result<Signature> {
        let types = vec![
            arguments::value_type(&arguments[0]),
            arguments::document_type(&arguments[1]),
        ];
        Ok(Signature::new(types, SqlType::boolean(), true))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        _context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let values = Values::new(&arguments[0], &signature.arguments[0])?;
        let documents = Documents::new(&arguments[1], &signature.arguments[1], 2, "member of")?;
        output::bools(row_count, |row| {
            let (Some(value), Some(document)) = (values.document(row), documents.get(row)?) else {
                return Ok(None);
            };
            Ok(Some(match kind_of(&document) {
                JsonKind::Array => {
                    elements(&document).any(|element| compare(element, &value).is_eq())
                }
                _ => compare(&document, &value).is_eq(),
            }))
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, check, i, t};

    #[test]
    fn values() {
        check(&[
            (
                "member of",
                &[i(17), t("[23, \"abc\", 17, \"ab\", 10]")],
                "1",
            ),
            (
                "member of",
                &[t("ab"), t("[23, \"abc\", 17, \"ab\", 10]")],
                "1",
            ),
            ("member of", &[i(7), t("[23, \"abc\"]")], "0"),
            ("member of", &[t("[4,5]"), t("[[3,4],[4,5]]")], "0"),
            ("member of", &[i(1), t("1")], "1"),
            ("member of", &[NULL, t("[1]")], "NULL"),
        ]);
    }
}
