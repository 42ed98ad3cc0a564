//! JSON documents whose members keep the order in which they are added: FORMAT=JSON version 1, the optimizer trace and
//! MariaDB's ANALYZE have an order of their own, version 2 that of MySQL's JSON values ([`Document::sorted`]).

use mayfly_types::json::{append_double, append_quoted};

use crate::stack::with_stack;

/// A JSON value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Document {
    Null,
    Text(String),
    Flag(bool),
    Integer(u64),
    Number(f64),
    List(Vec<Document>),
    Object(Members),
}

/// Members of an object, in order.
pub(crate) type Members = Vec<(&'static str, Document)>;

/// Output options of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Layout {
    /// `end_markers_in_json`: the name of a member is repeated behind its closing bracket.
    pub(crate) end_markers: bool,
    /// Whether lists of texts and numbers are on one line, as MariaDB writes them.
    pub(crate) short_lists: bool,
    /// `optimizer_trace='one_line=on'`: no optional whitespace.
    pub(crate) one_line: bool,
}

impl Default for Document {
    fn default() -> Self {
        Self::Object(Vec::new())
    }
}

impl From<&str> for Document {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Document {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<bool> for Document {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<u64> for Document {
    fn from(number: u64) -> Self {
        Self::Integer(number)
    }
}

impl From<f64> for Document {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<Members> for Document {
    fn from(members: Members) -> Self {
        Self::Object(members)
    }
}

impl<T: Into<Document>> FromIterator<T> for Document {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Self::List(values.into_iter().map(Into::into).collect())
    }
}

impl Document {
    /// Text of the document, without a trailing line break.
    pub(crate) fn to_text(&self, layout: Layout) -> String {
        self.to_bounded_text(layout, usize::MAX).0
    }

    /// (first bytes of the text, number of further bytes, which are never stored).
    pub(crate) fn to_bounded_text(&self, layout: Layout, bytes_max: usize) -> (String, usize) {
        let mut out = Out {
            bytes: Vec::new(),
            bytes_max,
            missing: 0,
        };
        self.append(&mut out, 0, "", layout);
        out.finish()
    }

    /// Members in the order of MySQL's JSON values: by the length of their names, then by the names.
    pub(crate) fn sorted(self) -> Self {
        with_stack(|| match self {
            Self::List(values) => Self::List(values.into_iter().map(Self::sorted).collect()),
            Self::Object(members) => {
                let members = members.into_iter();
                let mut members: Members = members
                    .map(|(name, value)| (name, value.sorted()))
                    .collect();
                members.sort_by_key(|(name, _)| (name.len(), *name));
                Self::Object(members)
            }
            scalar => scalar,
        })
    }

    fn is_scalar(&self) -> bool {
        !matches!(self, Self::List(_) | Self::Object(_))
    }

    fn append(&self, out: &mut Out, depth: usize, name: &str, layout: Layout) {
        with_stack(|| match self {
            Self::Text(text) => append_quoted(&mut out.bytes, text.as_bytes()),
            Self::Null => out.bytes.extend_from_slice(b"null"),
            Self::Flag(true) => out.bytes.extend_from_slice(b"true"),
            Self::Flag(false) => out.bytes.extend_from_slice(b"false"),
            Self::Integer(number) => out.bytes.extend_from_slice(number.to_string().as_bytes()),
            // JSON has no such numbers.
            Self::Number(number) if !number.is_finite() => out.bytes.extend_from_slice(b"null"),
            Self::Number(number) => append_double(&mut out.bytes, *number),
            Self::List(values) if values.is_empty() => out.bytes.extend_from_slice(b"[]"),
            Self::Object(members) if members.is_empty() => out.bytes.extend_from_slice(b"{}"),
            Self::List(values) if layout.short_lists && values.iter().all(Self::is_scalar) => {
                for (index, value) in values.iter().enumerate() {
                    out.bytes
                        .extend_from_slice(if index == 0 { b"[" } else { b", " });
                    value.append(out, depth, "", layout);
                }
                out.bytes.push(b']');
            }
            Self::List(values) => {
                for (index, value) in values.iter().enumerate() {
                    out.bytes.push(if index == 0 { b'[' } else { b',' });
                    new_line(out, depth + 1, layout);
                    value.append(out, depth + 1, "", layout);
                }
                close(out, b']', depth, name, layout);
            }
            Self::Object(members) => {
                for (index, (name, value)) in members.iter().enumerate() {
                    out.bytes.push(if index == 0 { b'{' } else { b',' });
                    new_line(out, depth + 1, layout);
                    append_quoted(&mut out.bytes, name.as_bytes());
                    out.bytes.extend_from_slice(b": ");
                    value.append(out, depth + 1, name, layout);
                }
                close(out, b'}', depth, name, layout);
            }
        });
    }
}

/// A text stored up to a maximum length.
struct Out {
    bytes: Vec<u8>,
    bytes_max: usize,
    /// Number of bytes not stored.
    missing: usize,
}

impl Out {
    fn trim(&mut self) {
        self.missing += self.bytes.len().saturating_sub(self.bytes_max);
        self.bytes.truncate(self.bytes_max);
    }

    fn finish(mut self) -> (String, usize) {
        self.trim();
        let Self {
            mut bytes, missing, ..
        } = self;
        // Only valid text was written; its last character may be cut.
        let valid = match std::str::from_utf8(&bytes) {
            Ok(text) => text.len(),
            Err(error) => error.valid_up_to(),
        };
        let missing = missing + bytes.len() - valid;
        bytes.truncate(valid);
        (String::from_utf8_lossy(&bytes).into_owned(), missing)
    }
}

fn new_line(out: &mut Out, depth: usize, layout: Layout) {
    out.trim();
    if layout.one_line {
        return;
    }
    out.bytes.push(b'\n');
    out.bytes.resize(out.bytes.len() + depth * 2, b' ');
}

fn close(out: &mut Out, bracket: u8, depth: usize, name: &str, layout: Layout) {
    new_line(out, depth, layout);
    out.bytes.push(bracket);
    if layout.end_markers && !name.is_empty() {
        out.bytes
            .extend_from_slice(format!(" /* {name} */").as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::{Document, Layout};

    #[test]
    fn members_are_written_in_their_order_or_sorted() {
        let document: Document = vec![
            ("bb", Document::from(1)),
            (
                "c",
                Document::from(vec![
                    ("z", Document::from(0.5)),
                    ("a", Document::from("\"\n")),
                ]),
            ),
            ("a", ["x", "y"].into_iter().collect()),
            ("empty", Document::List(Vec::new())),
        ]
        .into();
        let text = document.to_text(Layout::default());
        let wanted = "{\n  \"bb\": 1,\n  \"c\": {\n    \"z\": 0.5,\n    \"a\": \"\\\"\\n\"\n  },\n  \"a\": [\n    \"x\",\n    \"y\"\n  ],\n  \"empty\": []\n}";
        assert_eq!(text, wanted);
        let marked = document.to_text(Layout {
            end_markers: true,
            short_lists: true,
            one_line: false,
        });
        assert!(
            marked.contains("  } /* c */,\n  \"a\": [\"x\", \"y\"],\n"),
            "{marked}"
        );
        let line = document.to_text(Layout {
            one_line: true,
            ..Layout::default()
        });
        let wanted = r#"{"bb": 1,"c": {"z": 0.5,"a": "\"\n"},"a": ["x","y"],"empty": []}"#;
        assert_eq!(line, wanted);
        for most in 0..line.len() {
            let bounded = document.to_bounded_text(
                Layout {
                    one_line: true,
                    ..Layout::default()
                },
                most,
            );
            assert_eq!(bounded, (line[..most].to_owned(), line.len() - most));
        }
        let sorted = document.sorted().to_text(Layout::default());
        assert!(sorted.starts_with("{\n  \"a\": [\n"), "{sorted}");
        assert!(sorted.contains("\"c\": {\n    \"a\": "), "{sorted}");
    }
}
