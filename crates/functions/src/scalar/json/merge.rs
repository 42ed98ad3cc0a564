//! JSON_MERGE_PATCH(document, …), by RFC 7396, and JSON_MERGE_PRESERVE(document, …), which keeps all values.

use arrow_array::ArrayRef;
use mayfly_types::json::{Json, JsonObject};
use mayfly_types::{Result, SqlType};

use super::arguments::{self, Documents};
use crate::scalar::Row;
use crate::scalar::facts::Fact;
use crate::{Binding, Call, Signature, output};

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(&["json_merge_patch"], 2..=usize::MAX, signature, |call| {
        merge(call, false, |merged, document| match (merged, document) {
            // After a NULL the result is NULL, unless a later non-object replaces everything before it.
            (None, Some(Json::Object(_))) | (_, None) => None,
            (Some(merged), Some(document)) => Some(patch(merged, document)),
            (None, replacement) => replacement,
        })
    }),
    Row::new(
        &["json_merge_preserve", "json_merge"],
        2..=usize::MAX,
        signature,
        |call| {
            merge(call, true, |merged, document| {
                Some(preserve(merged?, document?))
            })
        },
    )
    .with(&[Fact::StopsAtNull]),
];

fn signature(binding: &Binding<'_>) -> Result<Signature> {
    arguments::of_documents(binding, SqlType::json())
}

/// Merges the documents of a row from left to right; `None` is NULL, at which it may stop.
fn merge(
    call: &Call<'_>,
    stops_at_null: bool,
    two: impl Fn(Option<Json>, Option<Json>) -> Option<Json>,
) -> Result<ArrayRef> {
    let documents = Documents::all(call)?;
    output::documents(call, |row, out| {
        let mut documents = documents.iter();
        let mut merged = match documents.next() {
            Some(first) => first.tree(row)?,
            None => None,
        };
        for documents in documents {
            if stops_at_null && merged.is_none() {
                return Ok(false);
            }
            merged = two(merged, documents.tree(row)?);
        }
        if let Some(merged) = &merged {
            merged.append_to(out);
        }
        Ok(merged.is_some())
    })
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
