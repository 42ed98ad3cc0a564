//! Types of JSON scalars that their text does not show.

use std::borrow::Cow;

/// Tag for the type of a scalar. It stands behind the text as a control character, which normalised text otherwise
/// always escapes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum TypeTag {
    /// DECIMAL
    Decimal = 1,
    /// An unsigned integer.
    Unsigned = 2,
    /// DATE
    Date = 3,
    /// TIME
    Time = 4,
    /// DATETIME
    DateTime = 5,
    /// A string of bytes.
    Blob = 6,
    /// BIT
    Bit = 7,
    /// TIMESTAMP
    Timestamp = 8,
}

impl TypeTag {
    /// The tag of a byte, if it is one.
    pub(super) fn of(byte: u8) -> Option<Self> {
        let index = usize::from(byte).checked_sub(1)?;
        Self::NAMES.get(index).map(|row| row.0)
    }

    /// The byte of the tag.
    pub(crate) fn byte(self) -> u8 {
        self as u8
    }

    /// The name of the type, as JSON_TYPE() gives it.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize - 1].1
    }

    /// Every tag in the order of its byte, with its name.
    const NAMES: [(Self, &str); 8] = [
        (Self::Decimal, "DECIMAL"),
        (Self::Unsigned, "UNSIGNED INTEGER"),
        (Self::Date, "DATE"),
        (Self::Time, "TIME"),
        (Self::DateTime, "DATETIME"),
        (Self::Blob, "BLOB"),
        (Self::Bit, "BIT"),
        (Self::Timestamp, "TIMESTAMP"),
    ];
}

/// A scalar without its tag, and the tag.
pub(super) fn untagged(scalar: &[u8]) -> (&[u8], Option<TypeTag>) {
    let last = scalar.split_last();
    match last.and_then(|(byte, text)| Some((text, TypeTag::of(*byte)?))) {
        Some((text, tag)) => (text, Some(tag)),
        None => (scalar, None),
    }
}

/// A normalised document as users see it.
pub fn displayed(document: &[u8]) -> Cow<'_, [u8]> {
    let is_tag = |byte: &u8| TypeTag::of(*byte).is_some();
    if !document.iter().any(is_tag) {
        return Cow::Borrowed(document);
    }
    let bytes = document.iter().copied();
    Cow::Owned(bytes.filter(|byte| !is_tag(byte)).collect())
}
