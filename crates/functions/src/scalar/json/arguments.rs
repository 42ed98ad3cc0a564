//! Arguments of JSON functions: documents, values to be inserted into one, and paths.

use std::borrow::Cow;

use mayfly_types::error::codes;
use mayfly_types::json::{self, Json, JsonPath};
use mayfly_types::{CollationId, Error, Result, SqlType, TypeKind};

use crate::input::{self, Texts};
use crate::{Argument, Binding, Call, Column, Signature, choice};

/// The type that a document argument is converted to: JSON, or text to be parsed. Any other type is refused when it
/// is read.
pub(crate) fn document_type(argument: &Argument<'_>) -> SqlType {
    match argument.ty.kind {
        TypeKind::Null => SqlType::json(),
        _ => argument.ty.clone(),
    }
}

/// Error 3144 for a binary string, which has no character set and cannot be JSON.
pub(crate) fn refuse_binary(ty: &SqlType) -> Result<()> {
    if ty.is_binary_string() {
        let charset = CollationId::BINARY.charset().name();
        return Err(codes::ER_INVALID_JSON_CHARSET.with(&[&charset]));
    }
    Ok(())
}

/// The type that a value is converted to before it becomes part of a document: text becomes a string, everything else
/// is cast.
pub(crate) fn value_type(argument: &Argument<'_>) -> SqlType {
    let ty = argument.ty;
    if ty.is_string() && !ty.is_binary_string() {
        ty.clone()
    } else {
        SqlType::json()
    }
}

/// The types of a function of documents.
pub(crate) fn of_documents(binding: &Binding<'_>, result: SqlType) -> Result<Signature> {
    Ok(Signature::new(binding.each(document_type), result, true))
}

/// The types of a function of a document and of paths or other texts.
pub(crate) fn of_document_and_texts(binding: &Binding<'_>, result: SqlType) -> Result<Signature> {
    let mut types = vec![document_type(&binding.arguments[0])];
    types.extend(binding.part(1..).texts());
    Ok(Signature::new(types, result, true))
}

/// An argument of [`document_type`].
pub(crate) struct Documents<'a> {
    texts: Texts<'a>,
    /// The error of a wrong type: 3146, or 3144 for a binary string.
    refused: Option<(&'a Column, Error)>,
    is_json: bool,
    /// The position of the argument, from 1.
    number: usize,
    function: &'static str,
    /// The document of a constant, parsed once; its error is raised at the first row.
    constant: Option<Result<Vec<u8>>>,
}

impl<'a> Documents<'a> {
    pub(crate) fn new(call: &Call<'a>, index: usize) -> Result<Self> {
        let (ty, column, number) = (call.ty(index), &call.arguments[index], index + 1);
        let refused = match ty.kind {
            TypeKind::Json => None,
            _ if ty.is_string() => refuse_binary(ty).err(),
            _ => Some(codes::ER_INVALID_TYPE_FOR_JSON.with(&[&number, &call.name])),
        };
        let mut documents = Self {
            texts: match refused {
                None => input::texts(column)?,
                Some(_) => Texts::Constant(None),
            },
            refused: refused.map(|error| (column, error)),
            is_json: ty.kind == TypeKind::Json,
            number,
            function: call.name,
            constant: None,
        };
        if let (false, Some(Some(text))) = (documents.is_json, documents.texts.constant()) {
            documents.constant = Some(documents.normalized(text));
        }
        Ok(documents)
    }

    /// All arguments of a function.
    pub(crate) fn all(call: &Call<'a>) -> Result<Vec<Self>> {
        (0..call.arguments.len())
            .map(|index| Self::new(call, index))
            .collect()
    }

    fn normalized(&self, text: &[u8]) -> Result<Vec<u8>> {
        let mut out = Vec::with_capacity(text.len());
        json::append_normalized(&mut out, text)
            .map_err(|error| error.in_argument(self.number, self.function))?;
        Ok(out)
    }

    fn text(&self, row: usize) -> Result<Option<&'a [u8]>> {
        match &self.refused {
            Some((column, error)) if !choice::is_null(column, row) => Err(error.clone()),
            _ => Ok(self.texts.get(row)),
        }
    }

    /// The document of a row as normalized text.
    pub(crate) fn get(&self, row: usize) -> Result<Option<Cow<'_, [u8]>>> {
        let Some(text) = self.text(row)? else {
            return Ok(None);
        };
        Ok(Some(if self.is_json {
            Cow::Borrowed(text)
        } else if let Some(constant) = &self.constant {
            Cow::Borrowed(constant.as_ref().map_err(Error::clone)?)
        } else {
            Cow::Owned(self.normalized(text)?)
        }))
    }

    /// The document of a row as a tree.
    pub(crate) fn tree(&self, row: usize) -> Result<Option<Json>> {
        let Some(text) = self.text(row)? else {
            return Ok(None);
        };
        let parsed = match (&self.constant, self.is_json) {
            (Some(constant), _) => json::parse_normalized(constant.as_ref().map_err(Error::clone)?),
            (None, true) => json::parse_normalized(text),
            (None, false) => json::parse(text),
        };
        parsed
            .map(Some)
            .map_err(|error| error.in_argument(self.number, self.function))
    }
}

/// An argument of [`value_type`].
pub(crate) struct Values<'a> {
    texts: Texts<'a>,
    is_json: bool,
}

impl<'a> Values<'a> {
    pub(crate) fn new(call: &Call<'a>, index: usize) -> Result<Self> {
        Self::of_column(&call.arguments[index], call.ty(index))
    }

    pub(crate) fn of_column(column: &'a Column, ty: &SqlType) -> Result<Self> {
        Ok(Self {
            texts: input::texts(column)?,
            is_json: ty.kind == TypeKind::Json,
        })
    }

    /// Appends the value of a row as normalized text; NULL is `null`.
    pub(crate) fn append(&self, row: usize, out: &mut Vec<u8>) {
        match self.texts.get(row) {
            None => out.extend_from_slice(b"null"),
            Some(document) if self.is_json => out.extend_from_slice(document),
            Some(text) => json::append_quoted(out, text),
        }
    }

    /// The value of a row as normalized text; `None` for NULL.
    pub(crate) fn document(&self, row: usize) -> Option<Cow<'a, [u8]>> {
        let text = self.texts.get(row)?;
        if self.is_json {
            return Some(Cow::Borrowed(text));
        }
        let mut out = Vec::with_capacity(text.len() + 2);
        json::append_quoted(&mut out, text);
        Some(Cow::Owned(out))
    }

    /// The value of a row as a tree; NULL is `null`.
    pub(crate) fn tree(&self, row: usize) -> Json {
        match self.texts.get(row) {
            None => Json::Null,
            Some(document) if self.is_json => {
                json::parse_normalized(document).unwrap_or(Json::Null)
            }
            Some(text) => Json::String(String::from_utf8_lossy(text).into_owned()),
        }
    }
}

/// Kinds of paths that a function accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wildcards {
    /// Any path.
    Allowed,
    /// Paths to at most one value; error 3149 for others.
    Refused,
}

/// A path argument, compiled when its text changes.
pub(crate) struct Paths<'a> {
    texts: Texts<'a>,
    wildcards: Wildcards,
    compiled: Option<(&'a [u8], JsonPath)>,
}

impl<'a> Paths<'a> {
    pub(crate) fn new(column: &'a Column, wildcards: Wildcards) -> Result<Self> {
        Ok(Self {
            texts: input::texts(column)?,
            wildcards,
            compiled: None,
        })
    }

    /// The path arguments from index `first` on, if there are any.
    pub(crate) fn all(call: &Call<'a>, first: usize, wildcards: Wildcards) -> Result<Vec<Self>> {
        let columns = call.arguments.iter().skip(first);
        columns.map(|column| Self::new(column, wildcards)).collect()
    }

    /// The path of a row.
    pub(crate) fn get(&mut self, row: usize) -> Result<Option<&JsonPath>> {
        let Some(text) = self.texts.get(row) else {
            return Ok(None);
        };
        let is_known = self
            .compiled
            .as_ref()
            .is_some_and(|(known, _)| *known == text);
        if !is_known {
            let path = JsonPath::parse(text)?;
            if self.wildcards == Wildcards::Refused && path.has_wildcard() {
                return Err(codes::ER_INVALID_JSON_PATH_WILDCARD.error());
            }
            self.compiled = Some((text, path));
        }
        Ok(self.compiled.as_ref().map(|(_, path)| path))
    }
}

/// The part of a document at the path of a row, if it exists; the document itself without a path.
pub(crate) fn part<'d>(
    document: &'d [u8],
    path: Option<&mut Paths<'_>>,
    row: usize,
) -> Result<Option<&'d [u8]>> {
    match path {
        None => Ok(Some(document)),
        Some(path) => Ok(path.get(row)?.and_then(|path| path.find_first(document))),
    }
}

/// Whether the word is 'one' rather than 'all' (error 3154).
pub(crate) fn is_one(word: &[u8], function: &str) -> Result<bool> {
    if word.eq_ignore_ascii_case(b"one") {
        Ok(true)
    } else if word.eq_ignore_ascii_case(b"all") {
        Ok(false)
    } else {
        Err(codes::ER_JSON_BAD_ONE_OR_ALL_ARG.with(&[&function]))
    }
}
