//! Reads the fields of a packet, which may be truncated anywhere.

use mayfly_types::printable_lines;

use super::error::Error;

/// The rest of a packet.
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn new(packet: &'a [u8]) -> Self {
        Self(packet)
    }

    /// The next `count` bytes.
    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], String> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or_else(malformed)?;
        self.0 = rest;
        Ok(taken)
    }

    /// A little-endian integer of `bytes` bytes, at most eight.
    pub(super) fn integer(&mut self, bytes: usize) -> Result<u64, String> {
        let bytes = self.take(bytes)?.iter().rev();
        Ok(bytes.fold(0, |value, byte| value << 8 | u64::from(*byte)))
    }

    /// Bytes up to a zero, or to the end.
    pub(super) fn until_zero(&mut self) -> &'a [u8] {
        let end = self.0.iter().position(|byte| *byte == 0);
        let (taken, rest) = self.0.split_at(end.unwrap_or(self.0.len()));
        self.0 = rest.get(1..).unwrap_or_default();
        taken
    }

    /// A length-encoded integer.
    pub(super) fn length(&mut self) -> Result<u64, String> {
        match self.integer(1)? {
            0xfc => self.integer(2),
            0xfd => self.integer(3),
            0xfe => self.integer(8),
            0xfb | 0xff => Err(malformed()),
            small => Ok(small),
        }
    }

    /// Bytes behind their length.
    pub(super) fn bytes(&mut self) -> Result<&'a [u8], String> {
        let length = usize::try_from(self.length()?).map_err(|_| malformed())?;
        self.take(length)
    }

    /// Text behind its length.
    pub(super) fn text(&mut self) -> Result<String, String> {
        Ok(String::from_utf8_lossy(self.bytes()?).into_owned())
    }

    /// A value of a row: bytes or NULL.
    pub(super) fn value(&mut self) -> Result<Option<&'a [u8]>, String> {
        if let Some(rest) = self.0.strip_prefix(&[0xfb]) {
            self.0 = rest;
            return Ok(None);
        }
        self.bytes().map(Some)
    }

    /// Whether nothing is left.
    pub(super) fn is_at_end(&self) -> bool {
        self.0.is_empty()
    }

    /// The rest.
    pub(super) fn rest(self) -> &'a [u8] {
        self.0
    }
}

/// The message for a malformed packet.
pub(super) fn malformed() -> String {
    "the server sends what is no packet of MySQL's protocol".to_owned()
}

/// The error in an error packet.
pub(super) fn server_error(packet: &[u8]) -> Error {
    let mut reader = Reader::new(packet.get(1..).unwrap_or_default());
    let Ok(code) = reader.integer(2) else {
        return malformed().into();
    };
    let rest = reader.rest();
    // Before the login there is no SQLSTATE.
    let (state, message) = match rest.strip_prefix(b"#") {
        Some(rest) => rest.split_at_checked(5).unwrap_or((rest, &[])),
        None => (b"HY000".as_slice(), rest),
    };
    let text = |bytes| printable_lines(&String::from_utf8_lossy(bytes)).into_owned();
    Error::Server {
        code: code as u16,
        state: text(state),
        message: text(message),
    }
}
