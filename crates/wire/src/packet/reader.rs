//! Reader of the fields of a payload, which may come from any client.

/// The rest of a payload. Every method returns `None` when the payload ends too early.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PayloadReader<'p> {
    rest: &'p [u8],
}

impl<'p> PayloadReader<'p> {
    pub(crate) fn new(payload: &'p [u8]) -> Self {
        Self { rest: payload }
    }

    pub(crate) fn rest(self) -> &'p [u8] {
        self.rest
    }

    pub(crate) fn is_empty(self) -> bool {
        self.rest.is_empty()
    }

    pub(crate) fn bytes(&mut self, length: usize) -> Option<&'p [u8]> {
        let (bytes, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(bytes)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (bytes, rest) = self.rest.split_first_chunk::<N>()?;
        self.rest = rest;
        Some(*bytes)
    }

    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(crate) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// A length-encoded number.
    pub(crate) fn length_encoded_number(&mut self) -> Option<u64> {
        match self.u8()? {
            0xFC => self.u16().map(u64::from),
            0xFD => {
                let [a, b, c] = self.array()?;
                Some(u64::from(u32::from_le_bytes([a, b, c, 0])))
            }
            0xFE => self.u64(),
            // NULL and the first byte of an error are not numbers.
            0xFB | 0xFF => None,
            small => Some(u64::from(small)),
        }
    }

    /// Bytes behind their length.
    pub(crate) fn length_encoded_bytes(&mut self) -> Option<&'p [u8]> {
        let length = self.length_encoded_number()?;
        self.bytes(usize::try_from(length).ok()?)
    }

    /// Bytes before a zero.
    pub(crate) fn bytes_before_zero(&mut self) -> Option<&'p [u8]> {
        let length = self.rest.iter().position(|byte| *byte == 0)?;
        let bytes = &self.rest[..length];
        self.rest = &self.rest[length + 1..];
        Some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_say_how_long_they_are() {
        let number = |bytes: &[u8]| PayloadReader::new(bytes).length_encoded_number();
        assert_eq!(number(&[250]), Some(250));
        assert_eq!(number(&[0xFC, 251, 0]), Some(251));
        assert_eq!(number(&[0xFD, 0, 0, 1]), Some(65_536));
        assert_eq!(number(&[0xFE, 0, 0, 0, 1, 0, 0, 0, 0]), Some(1 << 24));
        assert_eq!(number(&[0xFC, 251]), None);
        assert_eq!(number(&[0xFB]), None);
    }

    #[test]
    fn what_is_cut_off_is_nothing() {
        assert_eq!(PayloadReader::new(b"\x05abcd").length_encoded_bytes(), None);
        assert_eq!(PayloadReader::new(b"root").bytes_before_zero(), None);
        let mut huge = PayloadReader::new(&[0xFE, 255, 255, 255, 255, 255, 255, 255, 255]);
        assert_eq!(huge.length_encoded_bytes(), None);
    }
}
