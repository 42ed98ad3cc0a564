//! JSON_PRETTY(document): one value a line, indented by two.

use arrow_array::ArrayRef;
use mayfly_types::json::text::{elements, members};
use mayfly_types::json::{JsonKind, displayed, kind_of};
use mayfly_types::{CollationId, Result};

use super::arguments::{self, Documents};
use crate::scalar::ScalarKernel;
use crate::{Argument, Column, EvaluationContext, Signature, SignatureContext, derive, output};

/// JSON_PRETTY()
#[derive(Debug)]
pub(crate) struct JsonPretty;

impl ScalarKernel for JsonPretty {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        _context: &SignatureContext,
    ) -> Result<Signature> {
        let ty = arguments::document_type(&arguments[0]);
        let result = derive::long_text(CollationId::UTF8MB4_BIN);
        Ok(Signature::new(vec![ty], result, true))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let documents = Documents::new(&arguments[0], &signature.arguments[0], 1, "json_pretty")?;
        output::documents(row_count, "json_pretty", context, |row, out| {
            let document = documents.get(row)?;
            if let Some(document) = &document {
                append(out, document, 0);
            }
            Ok(document.is_some())
        })
    }
}

/// Documents are at most a hundred levels deep, and so is the recursion.
fn append(out: &mut Vec<u8>, value: &[u8], depth: usize) {
    let new_line = |out: &mut Vec<u8>, depth: usize| {
        out.push(b'\n');
        out.resize(out.len() + depth * 2, b' ');
    };
    let kind = kind_of(value);
    let mut is_first = true;
    let mut begin = |out: &mut Vec<u8>, bracket: u8| {
        out.push(if std::mem::take(&mut is_first) {
            bracket
        } else {
            b','
        });
        new_line(out, depth + 1);
    };
    let closing = match kind {
        JsonKind::Array if elements(value).next().is_some() => {
            for element in elements(value) {
                begin(out, b'[');
                append(out, element, depth + 1);
            }
            b']'
        }
        JsonKind::Object if members(value).next().is_some() => {
            for (key, member) in members(value) {
                begin(out, b'{');
                out.extend_from_slice(key);
                out.extend_from_slice(b": ");
                append(out, member, depth + 1);
            }
            b'}'
        }
        _ => {
            out.extend_from_slice(&displayed(value));
            return;
        }
    };
    new_line(out, depth);
    out.push(closing);
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, t};

    #[test]
    fn values() {
        check(&[
            ("json_pretty", &[t("[]")], "[]"),
            ("json_pretty", &[t("1")], "1"),
            (
                "json_pretty",
                &[t("{\"a\": \"10\", \"b\": {}, \"d\": [1, {\"x\": 1}]}")],
                "{\n  \"a\": \"10\",\n  \"b\": {},\n  \"d\": [\n    1,\n    {\n      \"x\": 1\n    }\n  ]\n}",
            ),
        ]);
    }
}
