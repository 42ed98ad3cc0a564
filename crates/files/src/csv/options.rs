//! The options of `read_csv`.

use mayfly_engine::{Result, TableArguments, TableFunctionContext};

use super::dialect::Dialect;
use super::fields::Field;
use super::guess::Guess;
use super::literals::DateOrder;
use crate::declared::Declared;
use crate::text::input::Encoding;

/// What a call says of its files; what it leaves open is found in the first one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Options {
    pub(crate) dialect: Dialect,
    pub(crate) delimiter: Option<u8>,
    /// Whether the first row has the names.
    pub(crate) header: Option<bool>,
    pub(crate) names: Option<Vec<String>>,
    /// Lines before the first row.
    pub(crate) skip: u64,
    pub(crate) encoding: Encoding,
    /// Texts without quotes that are NULL, beside none at all.
    pub(crate) nulls: Vec<Vec<u8>>,
    pub(crate) all_text: bool,
    pub(crate) date_order: Option<DateOrder>,
    /// Rows that are malformed, or have too few or too many fields, are left out with a warning.
    pub(crate) ignore_errors: bool,
    /// Fields that are missing at the end of a row are NULL.
    pub(crate) null_padding: bool,
    pub(crate) union_by_name: bool,
    /// Whether the rows that are left out are kept, for the function that shows them.
    pub(crate) keeps_rejects: bool,
    /// The types of columns that the call declares.
    pub(crate) declared: Declared,
    /// Whether delimiter and header are known.
    pub(crate) is_settled: bool,
}

impl Options {
    pub(crate) fn of(
        arguments: &mut TableArguments,
        context: &TableFunctionContext,
    ) -> Result<Self> {
        let mut byte = |names: [&'static str; 2]| -> Result<Option<Option<u8>>> {
            let mut found = None;
            for name in names.iter().filter(|name| !name.is_empty()) {
                let Some(text) = arguments.text(name)? else {
                    continue;
                };
                found = Some(match text.as_bytes() {
                    [] => None,
                    [byte] if byte.is_ascii() && !matches!(byte, b'\n' | b'\r') => Some(*byte),
                    _ if text == "\\t" => Some(b'\t'),
                    _ => {
                        let why = format!("option '{name}' takes one ASCII character");
                        return Err(arguments.error(why));
                    }
                });
            }
            Ok(found)
        };
        let delimiter = byte(["delimiter", "delim"])?.flatten();
        let quote = byte(["quote", ""])?.unwrap_or(Some(b'"'));
        let escape = byte(["escape", ""])?.unwrap_or(quote);
        let comment = byte(["comment", ""])?.flatten();
        let names = arguments.text("names")?;
        let encoding = match arguments.text("encoding")? {
            None => Encoding::Utf8,
            Some(name) => match name.to_ascii_lowercase().as_str() {
                "utf8" | "utf-8" | "utf8mb4" => Encoding::Utf8,
                "latin1" | "cp1252" | "windows-1252" => Encoding::Latin1,
                "utf-16" | "utf16le" | "utf-16le" => Encoding::Utf16Le,
                "utf16" | "utf-16be" => Encoding::Utf16Be,
                _ => {
                    let why = format!(
                        "encoding '{name}' is not known; there are utf8mb4, latin1, utf16 and utf16le"
                    );
                    return Err(arguments.error(why));
                }
            },
        };
        let date_order = match arguments.text("date_order")? {
            None => None,
            Some(name) => Some(
                DateOrder::by_name(&name)
                    .ok_or_else(|| arguments.error("option 'date_order' takes ymd, dmy or mdy"))?,
            ),
        };
        let nulls = match arguments.text("nullstr")? {
            None => vec![b"\\N".to_vec(), b"NULL".to_vec()],
            Some(text) => vec![text.into_bytes()],
        };
        Ok(Self {
            dialect: Dialect {
                quote,
                escape,
                comment,
                ..Dialect::default()
            },
            delimiter,
            header: arguments.flag("header")?,
            names: names.map(|names| names.split(',').map(|it| it.trim().to_owned()).collect()),
            skip: arguments.count("skip")?.unwrap_or(0),
            encoding,
            nulls,
            all_text: arguments.flag("all_text")?.unwrap_or(false),
            date_order,
            ignore_errors: arguments.flag("ignore_errors")?.unwrap_or(false),
            null_padding: arguments.flag("null_padding")?.unwrap_or(false),
            union_by_name: arguments.flag("union_by_name")?.unwrap_or(false),
            keeps_rejects: false,
            declared: Declared::of(arguments, context)?,
            is_settled: false,
        })
    }

    /// The guess of a column without values.
    pub(crate) fn guess(&self) -> Guess {
        Guess::new(self.date_order, self.dialect.delimiter)
    }

    /// Whether a field is NULL: without quotes, and empty or one of the texts for it.
    #[inline]
    pub(crate) fn is_null(&self, field: &Field<'_>) -> bool {
        let text = field.raw();
        let is_null = text.is_empty() || self.nulls.iter().any(|null| null == text);
        is_null && !field.is_quoted()
    }
}
