//! Statements as a client sends them: bytes in `character_set_client`.

use std::borrow::Cow;
use std::sync::Arc;

use mayfly_types::Result;
use mayfly_types::charset::Charset;
use mayfly_types::error::codes;

use crate::session::Session;
use crate::stream::ResultStream;

impl Session {
    /// Runs one statement that is in `character_set_client` and gives its rows as they are made.
    /// Strings in it may hold any bytes, as dumps of BLOBs do.
    pub fn query_bytes(&mut self, sql: &[u8]) -> Result<ResultStream<'_>> {
        let text = self.text_of_client(sql)?;
        self.query(&text)
    }

    /// The text of statements that are in `character_set_client`, for [`Self::query_first`] and
    /// [`Self::prepare`]. Bytes that are none are an error like that of a statement.
    pub fn text_of_client<'a>(&mut self, sql: &'a [u8]) -> Result<Cow<'a, str>> {
        self.decode_client(sql)
            .map_err(|error| self.refuse(&Arc::from(String::from_utf8_lossy(sql)), error))
    }

    fn decode_client<'a>(&self, sql: &'a [u8]) -> Result<Cow<'a, str>> {
        let charset = self.settings.options().client_charset;
        if charset.is_stored_as_is()
            && let Ok(text) = std::str::from_utf8(sql)
        {
            return Ok(Cow::Borrowed(text));
        }
        // In character sets of several bytes a quote may be part of a character.
        if charset.max_length() > 1
            && !charset.is_stored_as_is()
            && let Some(text) = decode(charset, sql)
        {
            return Ok(text);
        }
        mayfly_syntax::client_text(sql, &self.settings.options().parse, &|bytes| {
            decode(charset, bytes)
        })
        .map_err(|wrong| {
            let digits: String = wrong.iter().map(|byte| format!("{byte:02X}")).collect();
            codes::ER_INVALID_CHARACTER_STRING.with(&[&charset.name(), &digits])
        })
    }
}

/// The text of bytes in a character set; `None` when they are none.
fn decode(charset: Charset, bytes: &[u8]) -> Option<Cow<'_, str>> {
    match charset.decode(bytes).ok()? {
        Cow::Borrowed(bytes) => std::str::from_utf8(bytes).ok().map(Cow::Borrowed),
        Cow::Owned(bytes) => String::from_utf8(bytes).ok().map(Cow::Owned),
    }
}
