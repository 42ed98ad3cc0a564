//! EXTRACTVALUE(xml, path) and UPDATEXML(xml, path, new): MySQL's XPath, which is a subset of XPath 1.0 with
//! rules of its own (the manual, "XML Functions").

mod document;
mod evaluate;
mod path;

use arrow_array::ArrayRef;
use mayfly_types::error::codes;
use mayfly_types::{Result, Value};

use self::document::{Document, Kind};
use self::evaluate::Evaluation;
use self::path::XPath;
use crate::scalar::Row;
use crate::scalar::facts::Fact;
use crate::{Binding, Call, EvaluationContext, Signature, derive, output};

/// The functions of this family.
pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(&["extractvalue"], 2..=2, signature, extract_value).with(&[Fact::ConstantPath]),
    Row::new(&["updatexml"], 3..=3, signature, update_xml).with(&[Fact::ConstantPath]),
];

/// The types of a call: XML and path are texts of any length. Error 1105 for a literal path that is invalid.
fn signature(binding: &Binding<'_>) -> Result<Signature> {
    if let Some(Value::Bytes(path)) = binding.arguments[1].constant {
        XPath::parse(&String::from_utf8_lossy(path))?;
    }
    let mut signature = binding.collated_text(0, true)?;
    signature.result = derive::long_text(signature.result.collation);
    Ok(signature)
}

/// Cache of the previous row's path, which is mostly the same for all rows.
#[derive(Default)]
struct LastPath<'t> {
    text: &'t [u8],
    path: Option<XPath>,
}

impl<'t> LastPath<'t> {
    fn parse(&mut self, text: &'t [u8]) -> Result<&XPath> {
        let path = match self.path.take().filter(|_| self.text == text) {
            Some(path) => path,
            None => XPath::parse(&String::from_utf8_lossy(text))?,
        };
        self.text = text;
        Ok(self.path.insert(path))
    }
}

/// Parses XML; `None` with warning 1525 when it is invalid.
fn document(xml: &[u8], context: &EvaluationContext) -> Option<Document> {
    match Document::parse(xml) {
        Ok(document) => Some(document),
        Err(message) => {
            let warning = codes::ER_WRONG_VALUE.with(&[&"XML", &message]);
            context.diagnostics.warn(warning);
            None
        }
    }
}

fn extract_value(call: &Call<'_>) -> Result<ArrayRef> {
    let (xmls, paths, context) = (call.texts(0)?, call.texts(1)?, call.context);
    let mut path = LastPath::default();
    output::texts(call, |row, out| {
        let Some(text) = paths.get(row) else {
            return Ok(false);
        };
        let path = path.parse(text)?;
        let Some(xml) = xmls.get(row) else {
            return Ok(false);
        };
        let Some(document) = document(xml, context) else {
            return Ok(false);
        };
        let collation = call.signature.result.collation;
        let mut evaluation = Evaluation::new(&document, xml, collation, context);
        let is_value = evaluation.append_text(path, out)?;
        Ok(is_value && call.within_packet(out.len())?)
    })
}

/// Replaces the one element or attribute that the path leads to; the XML is unchanged when there is none, or more
/// than one.
fn update_xml(call: &Call<'_>) -> Result<ArrayRef> {
    let (xmls, paths, replacements) = (call.texts(0)?, call.texts(1)?, call.texts(2)?);
    let context = call.context;
    let mut path = LastPath::default();
    output::texts(call, |row, out| {
        let Some(text) = paths.get(row) else {
            return Ok(false);
        };
        let path = path.parse(text)?;
        let (Some(xml), Some(replacement)) = (xmls.get(row), replacements.get(row)) else {
            return Ok(false);
        };
        if !path.is_nodes() {
            return Ok(false);
        }
        let Some(document) = document(xml, context) else {
            return Ok(false);
        };
        let collation = call.signature.result.collation;
        let mut evaluation = Evaluation::new(&document, xml, collation, context);
        match evaluation.nodes(path, None)?.as_slice() {
            [found] if found.node == Document::ROOT => out.extend_from_slice(replacement),
            [found] => {
                let node = &document.nodes[found.node];
                // An element's place is extended by its `<` and `>`.
                let bracket = usize::from(node.kind == Kind::Element);
                out.extend_from_slice(&xml[..node.text.start - bracket]);
                out.extend_from_slice(replacement);
                out.extend_from_slice(xml.get(node.end + bracket..).unwrap_or_default());
            }
            _ => out.extend_from_slice(xml),
        }
        call.within_packet(out.len())
    })
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, check, t};

    #[test]
    fn values() {
        let xml = t("<a k='v'>1<b>2</b><b n=\"3\">4<c>5</c>6</b></a>");
        check(&[
            ("extractvalue", &[xml, t("/a/b")], "2 4 6"),
            ("extractvalue", &[xml, t("//b[@n=3]/c")], "5"),
            ("extractvalue", &[xml, t("count(/a/b) + 1")], "3"),
            ("extractvalue", &[xml, t("/a/@k")], "v"),
            ("extractvalue", &[xml, NULL], "NULL"),
            ("extractvalue", &[t("<a>x</b>"), t("/a")], "NULL +1525"),
            (
                "extractvalue",
                &[xml, t("/a/b[")],
                "ERROR 1105 (HY000): XPATH syntax error: ''",
            ),
            (
                "updatexml",
                &[t("<a><b/></a>"), t("/a/b"), t("<z/>")],
                "<a><z/></a>",
            ),
            (
                "updatexml",
                &[t("<a b='1'/>"), t("/a/@b"), t("c")],
                "<a c/>",
            ),
            ("updatexml", &[t("<a/>"), t("/b"), t("c")], "<a/>"),
        ]);
    }
}
