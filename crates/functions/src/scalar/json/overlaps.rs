//! JSON_OVERLAPS(a, b): whether two documents have an element or a member in common.

use arrow_array::ArrayRef;
use mayfly_types::json::text::{elements, members};
use mayfly_types::json::{JsonKind, compare, kind_of};
use mayfly_types::{Result, SqlType};

use super::arguments;
use crate::scalar::ScalarKernel;
use crate::{Argument, Column, EvaluationContext, Signature, SignatureContext, output};

/// JSON_OVERLAPS()
#[derive(Debug)]
pub(crate) struct JsonOverlaps;

impl ScalarKernel for JsonOverlaps {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        _context: &SignatureContext,
    ) -> Result<Signature> {
        let types = vec![
            arguments::document_type(&arguments[0]),
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
        let documents = arguments::documents(arguments, &signature.arguments, "json_overlaps")?;
        output::bools(row_count, |row| {
            let Some(a) = documents[0].get(row)? else {
                return Ok(None);
            };
            let Some(b) = documents[1].get(row)? else {
                return Ok(None);
            };
            Ok(Some(overlap(&a, &b)))
        })
    }
}

fn overlap(a: &[u8], b: &[u8]) -> bool {
    let equal = |a: &[u8], b: &[u8]| compare(a, b).is_eq();
    match (kind_of(a), kind_of(b)) {
        (JsonKind::Array, JsonKind::Array) => elements(a).any(|a| elements(b).any(|b| equal(a, b))),
        (JsonKind::Array, _) => elements(a).any(|a| equal(a, b)),
        (_, JsonKind::Array) => elements(b).any(|b| equal(a, b)),
        (JsonKind::Object, JsonKind::Object) => {
            members(a).any(|(key, a)| members(b).any(|(other, b)| key == other && equal(a, b)))
        }
        _ => equal(a, b),
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, check, t};

    #[test]
    fn values() {
        check(&[
            ("json_overlaps", &[t("[1,3,5,7]"), t("[2,5,7]")], "1"),
            (
                "json_overlaps",
                &[t("[[1,2],[3,4],5]"), t("[1,[2,3],[4,5]]")],
                "0",
            ),
            (
                "json_overlaps",
                &[t("{\"a\":1,\"d\":10}"), t("{\"c\":1,\"d\":10}")],
                "1",
            ),
            (
                "json_overlaps",
                &[t("{\"a\":1,\"d\":10}"), t("{\"a\":5,\"d\":1}")],
                "0",
            ),
            ("json_overlaps", &[t("5"), t("[1,5]")], "1"),
            ("json_overlaps", &[t("[4,5,\"6\",7]"), t("6")], "0"),
            ("json_overlaps", &[t("5"), NULL], "NULL"),
        ]);
    }
}
