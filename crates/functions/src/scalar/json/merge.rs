//! JSON_MERGE_PATCH(document, …), as RFC 7396 has it, and JSON_MERGE_PRESERVE(document, …), which
//! loses nothing.

use arrow_array::ArrayRef;
use mayfly_types::json::{Json, JsonObject};
use mayfly_types::{Result, SqlType};

use super::arguments;
use crate::scalar::ScalarKernel;
use crate::{Argument, Column, EvaluationContext, Signature, SignatureContext, output};

/// One of the two.
#[derive(Debug)]
pub(crate) struct Merge {
    names: &'static [&'static str],
    is_patch: bool,
}

/// JSON_MERGE_PATCH()
pub(crate) static MERGE_PATCH: Merge = Merge {
    names: &["json_merge_patch"],
    is_patch: true,
};
/// JSON_MERGE_PRESERVE()
pub(crate) static MERGE_PRESERVE: Merge = Merge {
    names: &["json_merge_preserve", "json_merge"],
    is_patch: false,
};

impl ScalarKernel for Merge {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        _context: &SignatureContext,
    ) -> Result<Signature> {
        let types = arguments.iter().map(arguments::document_type).collect();
        Ok(Signature::new(types, SqlType::json(), true))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let documents = arguments::documents(arguments, &signature.arguments, self.names[0])?;
        output::documents(row_count, self.names[0], context, |row, out| {
            let mut merged = None;
            for (index, documents) in documents.iter().enumerate() {
                let document = documents.tree(row)?;
                merged = match (merged, document) {
                    (_, document) if index == 0 => document,
                    // Nothing is known of what follows, unless that replaces all before it.
                    (None, Some(Json::Object(_))) if self.is_patch => None,
                    (_, Some(document)) if self.is_patch && !is_object(&document) => Some(document),
                    (Some(merged), Some(document)) if self.is_patch => {
                        Some(patch(merged, document))
                    }
                    (Some(merged), Some(document)) => Some(preserve(merged, document)),
                    _ if self.is_patch => None,
                    _ => return Ok(false),
                };
                if merged.is_none() && !self.is_patch {
                    return Ok(false);
                }
            }
            if let Some(merged) = &merged {
                merged.append_to(out);
            }
            Ok(merged.is_some())
        })
    }
}

fn is_object(document: &Json) -> bool {
    matches!(document, Json::Object(_))
}

fn patch(target: Json, patch_with: Json) -> Json {
    let Json::Object(changes) = patch_with else {
        return patch_with;
    };
    let mut object = match target {
        Json::Object(object) => object,
        _ => JsonObject::default(),
    };
    for (key, change) in changes.into_members() {
        if change == Json::Null {
            object.remove(&key);
            continue;
        }
        let old = object.remove(&key).unwrap_or(Json::Null);
        object.insert(key, patch(old, change));
    }
    Json::Object(object)
}

fn preserve(first: Json, second: Json) -> Json {
    match (first, second) {
        (Json::Object(mut first), Json::Object(second)) => {
            for (key, value) in second.into_members() {
                let merged = match first.remove(&key) {
                    Some(old) => preserve(old, value),
                    None => value,
                };
                first.insert(key, merged);
            }
            Json::Object(first)
        }
        (first, second) => {
            let elements = |document: Json| match document {
                Json::Array(elements) => elements,
                other => vec![other],
            };
            let mut all = elements(first);
            all.extend(elements(second));
            Json::Array(all)
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, check, t};

    #[test]
    fn patches() {
        check(&[
            (
                "json_merge_patch",
                &[t("[1,2]"), t("[true,false]")],
                "[true, false]",
            ),
            (
                "json_merge_patch",
                &[t("{\"name\":\"x\"}"), t("{\"id\":47}")],
                "{\"id\": 47, \"name\": \"x\"}",
            ),
            (
                "json_merge_patch",
                &[t("{\"a\":1,\"b\":2}"), t("{\"b\":null}")],
                "{\"a\": 1}",
            ),
            (
                "json_merge_patch",
                &[t("{\"a\":{\"x\":1}}"), t("{\"a\":{\"y\":2}}")],
                "{\"a\": {\"x\": 1, \"y\": 2}}",
            ),
            ("json_merge_patch", &[t("1"), t("{\"a\":null}")], "{}"),
            ("json_merge_patch", &[NULL, t("1")], "1"),
            ("json_merge_patch", &[t("{}"), NULL], "NULL"),
            ("json_merge_patch", &[t("{\"a\":1}"), NULL, t("2")], "2"),
            (
                "json_merge_patch",
                &[
                    t("{\"a\":{\"b\":1}}"),
                    t("{\"a\":{\"b\":null,\"c\":{\"d\":null}}}"),
                ],
                "{\"a\": {\"c\": {}}}",
            ),
        ]);
    }

    #[test]
    fn preserves() {
        check(&[
            (
                "json_merge_preserve",
                &[t("[1,2]"), t("[true,false]")],
                "[1, 2, true, false]",
            ),
            ("json_merge_preserve", &[t("1"), t("true")], "[1, true]"),
            (
                "json_merge_preserve",
                &[t("{\"a\":1,\"b\":2}"), t("{\"a\":3,\"c\":4}")],
                "{\"a\": [1, 3], \"b\": 2, \"c\": 4}",
            ),
            (
                "json_merge_preserve",
                &[t("[1]"), t("{\"a\":1}")],
                "[1, {\"a\": 1}]",
            ),
            ("json_merge_preserve", &[t("1"), NULL], "NULL"),
        ]);
    }
}
