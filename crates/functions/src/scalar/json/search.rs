//! JSON_SEARCH(document, one_or_all, pattern[, escape[, path, …]]): the paths of matching strings.

use arrow_array::ArrayRef;
use mayfly_types::charset::utf8;
use mayfly_types::collation::{CollationMix, LikePattern, aggregate_collations};
use mayfly_types::error::codes;
use mayfly_types::json::text::{elements, members, unquote};
use mayfly_types::json::{self, JsonKind, kind_of};
use mayfly_types::{CollationId, Result, SqlType};

use super::arguments::{self, Documents, Paths, Wildcards};
use super::extract::append_array;
use crate::scalar::Row;
use crate::scalar::facts::{Fact, ParameterType, Parameters};
use crate::{Binding, Call, Coercibility, Signature, derive, input, output};

pub(crate) const FUNCTIONS: &[Row] =
    &[
        Row::new(&["json_search"], 3..=usize::MAX, signature, evaluate)
            .parameters(Parameters::Typed(&[(ParameterType::Json, 0..1)]))
            .with(&[Fact::StopsAtNull]),
    ];

fn signature(binding: &Binding<'_>) -> Result<Signature> {
    // The document's strings are compared with the pattern as LIKE compares them.
    let strings = CollationMix::new(CollationId::UTF8MB4_BIN, Coercibility::Coercible);
    let pattern = derive::collation_mix(&binding.arguments[2], binding.session);
    aggregate_collations(&[strings, pattern], "like", true)?;
    arguments::of_document_and_texts(binding, SqlType::json())
}

fn evaluate(call: &Call<'_>) -> Result<ArrayRef> {
    let documents = Documents::new(call, 0)?;
    let (words, patterns) = (call.texts(1)?, call.texts(2)?);
    let escapes = call.optional(3, input::texts)?;
    let mut paths = Paths::all(call, 4, Wildcards::Allowed)?;
    output::documents(call, |row, out| {
        let (Some(document), Some(word), Some(pattern)) =
            (documents.get(row)?, words.get(row), patterns.get(row))
        else {
            return Ok(false);
        };
        let one = arguments::is_one(word, call.name)?;
        let escape = escape_of(escapes.and_then(|escapes| escapes.get(row)))?;
        let mut search = Search {
            document: &document,
            pattern: LikePattern::new(CollationId::UTF8MB4_BIN, pattern, Some(escape)),
            allowed: None,
            found: Vec::new(),
            one,
        };
        if !paths.is_empty() {
            let mut allowed = Vec::new();
            for path in &mut paths {
                let Some(path) = path.get(row)? else {
                    return Ok(false);
                };
                path.find(&document, &mut allowed);
            }
            search.allowed = Some(allowed);
        }
        let is_allowed = search.allowed.is_none();
        search.walk(search.document, &mut b"$".to_vec(), is_allowed);
        let found = search.found;
        match found.as_slice() {
            [] => return Ok(false),
            [path] => json::append_quoted(out, path),
            paths => {
                let quoted: Vec<Vec<u8>> = paths
                    .iter()
                    .map(|path| {
                        let mut quoted = Vec::new();
                        json::append_quoted(&mut quoted, path);
                        quoted
                    })
                    .collect();
                append_array(out, quoted.iter().map(Vec::as_slice));
            }
        }
        Ok(true)
    })
}

/// The escape character of a pattern: a backslash by default.
fn escape_of(escape: Option<&[u8]>) -> Result<u32> {
    let escape = escape.unwrap_or_default();
    match utf8::decode(escape) {
        None => Ok(u32::from('\\')),
        Some((point, length)) if length == escape.len() => Ok(point),
        Some(_) => Err(codes::ER_WRONG_ARGUMENTS.with(&[&"ESCAPE"])),
    }
}

struct Search<'a> {
    document: &'a [u8],
    pattern: LikePattern,
    /// The parts of the document to search.
    allowed: Option<Vec<&'a [u8]>>,
    found: Vec<Vec<u8>>,
    one: bool,
}

impl<'a> Search<'a> {
    /// Searches a value and its descendants. Recursion is bounded by the depth of documents.
    fn walk(&mut self, value: &'a [u8], path: &mut Vec<u8>, is_allowed: bool) {
        if self.one && !self.found.is_empty() {
            return;
        }
        let is_named = |allowed: &Vec<&[u8]>| allowed.iter().any(|part| std::ptr::eq(*part, value));
        let is_allowed = is_allowed || self.allowed.as_ref().is_some_and(is_named);
        let length = path.len();
        match kind_of(value) {
            JsonKind::String if is_allowed && self.pattern.matches(&unquote(value)) => {
                self.found.push(path.clone());
            }
            JsonKind::Array => {
                for (index, element) in elements(value).enumerate() {
                    path.extend_from_slice(format!("[{index}]").as_bytes());
                    self.walk(element, path, is_allowed);
                    path.truncate(length);
                }
            }
            JsonKind::Object => {
                for (key, member) in members(value) {
                    path.push(b'.');
                    let name = unquote(key);
                    let is_plain = name.first().is_some_and(|first| !first.is_ascii_digit())
                        && name.iter().all(|byte| {
                            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$')
                        });
                    path.extend_from_slice(if is_plain { &name } else { key });
                    self.walk(member, path, is_allowed);
                    path.truncate(length);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, check, t};

    const DOCUMENT: &str = r#"["abc", [{"k": "10"}, "def"], {"x": "abc"}, {"y": "bcd"}]"#;

    #[test]
    fn values() {
        check(&[
            (
                "json_search",
                &[t(DOCUMENT), t("one"), t("abc")],
                "\"$[0]\"",
            ),
            (
                "json_search",
                &[t(DOCUMENT), t("all"), t("abc")],
                "[\"$[0]\", \"$[2].x\"]",
            ),
            ("json_search", &[t(DOCUMENT), t("all"), t("ghi")], "NULL"),
            (
                "json_search",
                &[t(DOCUMENT), t("all"), t("10"), NULL, t("$**.k")],
                "\"$[1][0].k\"",
            ),
            (
                "json_search",
                &[t(DOCUMENT), t("all"), t("%b%")],
                "[\"$[0]\", \"$[2].x\", \"$[3].y\"]",
            ),
            (
                "json_search",
                &[t(DOCUMENT), t("all"), t("%b%"), t(""), t("$[3]")],
                "\"$[3].y\"",
            ),
            ("json_search", &[t(DOCUMENT), t("all"), t("ABC")], "NULL"),
            (
                "json_search",
                &[t("{\"a b\": \"x\"}"), t("one"), t("x")],
                "\"$.\\\"a b\\\"\"",
            ),
            (
                "json_search",
                &[t("1"), t("xx"), t("x")],
                "ERROR 3154 (42000): The oneOrAll argument to json_search may take these values: 'one' or 'all'.",
            ),
        ]);
    }
}
