//! Primitive values as bytes: integers in seven bits a byte (LEB128), signed ones zigzag, texts behind their length.
//!
//! A reader trusts nothing: a length that exceeds the bytes left is an error before anything is allocated for it.

use std::sync::Arc;

use arrow_buffer::i256;
use mayfly_types::{Error, Result};

/// Reason why an item has no encoding: it is not offloaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused(pub String);

/// Type with an encoding. [`Self::read`] of what [`Self::write`] wrote is equal to the value.
pub(crate) trait Encoded: Sized {
    /// Appends the encoding.
    fn write(&self, to: &mut Writer) -> Result<(), Refused>;

    /// Reads a value.
    fn read(from: &mut Reader<'_>) -> Result<Self>;
}

/// Encoded bytes under construction.
#[derive(Debug, Default)]
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    /// Appends one byte.
    pub(crate) fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    /// Appends an unsigned integer.
    pub(crate) fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    /// Appends bytes behind their length.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    /// The bytes.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

/// Encoded bytes being read.
#[derive(Debug)]
pub(crate) struct Reader<'b> {
    rest: &'b [u8],
}

impl<'b> Reader<'b> {
    /// A reader of all bytes.
    pub(crate) fn new(bytes: &'b [u8]) -> Self {
        Self { rest: bytes }
    }

    /// The next byte.
    pub(crate) fn byte(&mut self) -> Result<u8> {
        let (byte, rest) = self.rest.split_first().ok_or_else(malformed)?;
        self.rest = rest;
        Ok(*byte)
    }

    /// The next unsigned integer.
    pub(crate) fn number(&mut self) -> Result<u64> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(malformed())
    }

    /// The next number of items, each of which takes at least one byte.
    pub(crate) fn count(&mut self) -> Result<usize> {
        let count = usize::try_from(self.number()?).map_err(|_| malformed())?;
        if count > self.rest.len() {
            return Err(malformed());
        }
        Ok(count)
    }

    /// The next bytes behind their length.
    pub(crate) fn bytes(&mut self) -> Result<&'b [u8]> {
        let length = self.count()?;
        let (bytes, rest) = self.rest.split_at(length);
        self.rest = rest;
        Ok(bytes)
    }

    /// Checks that no byte is left.
    pub(crate) fn end(&self) -> Result<()> {
        match self.rest {
            [] => Ok(()),
            _ => Err(malformed()),
        }
    }
}

/// Error of bytes that encode nothing.
pub(crate) fn malformed() -> Error {
    Error::internal("a job of the secondary engine has a form that this version does not read")
}

macro_rules! numbers {
    ($($ty:ty),*) => {$(
        impl Encoded for $ty {
            fn write(&self, to: &mut Writer) -> Result<(), Refused> {
                to.number(*self as u64);
                Ok(())
            }

            fn read(from: &mut Reader<'_>) -> Result<Self> {
                <$ty>::try_from(from.number()?).map_err(|_| malformed())
            }
        }
    )*};
}

numbers!(u8, u16, u32, u64, usize);

impl Encoded for i64 {
    fn write(&self, to: &mut Writer) -> Result<(), Refused> {
        to.number(((*self << 1) ^ (*self >> 63)) as u64);
        Ok(())
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let number = from.number()?;
        Ok((number >> 1) as i64 ^ -((number & 1) as i64))
    }
}

impl Encoded for f64 {
    fn write(&self, to: &mut Writer) -> Result<(), Refused> {
        self.to_bits().write(to)
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        u64::read(from).map(Self::from_bits)
    }
}

impl Encoded for i256 {
    fn write(&self, to: &mut Writer) -> Result<(), Refused> {
        to.bytes(&self.to_le_bytes());
        Ok(())
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let bytes = from.bytes()?.try_into().map_err(|_| malformed())?;
        Ok(Self::from_le_bytes(bytes))
    }
}

impl Encoded for bool {
    fn write(&self, to: &mut Writer) -> Result<(), Refused> {
        to.byte(u8::from(*self));
        Ok(())
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        match from.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(malformed()),
        }
    }
}

impl Encoded for String {
    fn write(&self, to: &mut Writer) -> Result<(), Refused> {
        to.bytes(self.as_bytes());
        Ok(())
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Self::from_utf8(from.bytes()?.to_vec()).map_err(|_| malformed())
    }
}

impl Encoded for Arc<str> {
    fn write(&self, to: &mut Writer) -> Result<(), Refused> {
        to.bytes(self.as_bytes());
        Ok(())
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        String::read(from).map(Self::from)
    }
}

impl<T: Encoded> Encoded for Vec<T> {
    fn write(&self, to: &mut Writer) -> Result<(), Refused> {
        to.number(self.len() as u64);
        self.iter().try_for_each(|item| item.write(to))
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let count = from.count()?;
        (0..count).map(|_| T::read(from)).collect()
    }
}

impl<T: Encoded> Encoded for Arc<[T]> {
    fn write(&self, to: &mut Writer) -> Result<(), Refused> {
        to.number(self.len() as u64);
        self.iter().try_for_each(|item| item.write(to))
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Vec::read(from).map(Self::from)
    }
}

impl<T: Encoded> Encoded for Option<T> {
    fn write(&self, to: &mut Writer) -> Result<(), Refused> {
        self.is_some().write(to)?;
        self.iter().try_for_each(|item| item.write(to))
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(match bool::read(from)? {
            true => Some(T::read(from)?),
            false => None,
        })
    }
}

impl<T: Encoded> Encoded for Box<T> {
    fn write(&self, to: &mut Writer) -> Result<(), Refused> {
        (**self).write(to)
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        T::read(from).map(Self::new)
    }
}

impl<A: Encoded, B: Encoded> Encoded for (A, B) {
    fn write(&self, to: &mut Writer) -> Result<(), Refused> {
        self.0.write(to)?;
        self.1.write(to)
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok((A::read(from)?, B::read(from)?))
    }
}

/// Encodes a struct field by field.
macro_rules! encoded_struct {
    ($ty:ty { $($field:ident),* $(,)? }) => {
        impl $crate::encoding::bytes::Encoded for $ty {
            fn write(
                &self,
                to: &mut $crate::encoding::bytes::Writer,
            ) -> Result<(), $crate::encoding::bytes::Refused> {
                $( $crate::encoding::bytes::Encoded::write(&self.$field, to)?; )*
                Ok(())
            }

            fn read(from: &mut $crate::encoding::bytes::Reader<'_>) -> mayfly_types::Result<Self> {
                Ok(Self { $( $field: $crate::encoding::bytes::Encoded::read(from)? ),* })
            }
        }
    };
}

/// Encodes an enum as the number of the variant and its fields. Variants that are not listed are refused with the reason
/// of the last arm.
macro_rules! encoded_enum {
    ($ty:ident {
        $( $tag:literal => $variant:ident $( ( $($item:ident),* ) )? $( { $($field:ident),* $(,)? } )? ),* $(,)?
    } $( else $other:pat => $reason:expr )?) => {
        impl $crate::encoding::bytes::Encoded for $ty {
            fn write(
                &self,
                to: &mut $crate::encoding::bytes::Writer,
            ) -> Result<(), $crate::encoding::bytes::Refused> {
                match self {
                    $( Self::$variant $( ( $($item),* ) )? $( { $($field),* } )? => {
                        to.byte($tag);
                        $( $( $crate::encoding::bytes::Encoded::write($item, to)?; )* )?
                        $( $( $crate::encoding::bytes::Encoded::write($field, to)?; )* )?
                        Ok(())
                    } )*
                    $( $other => Err($crate::encoding::bytes::Refused($reason)), )?
                }
            }

            fn read(from: &mut $crate::encoding::bytes::Reader<'_>) -> mayfly_types::Result<Self> {
                match from.byte()? {
                    $( $tag => {
                        $( $( let $item = $crate::encoding::bytes::Encoded::read(from)?; )* )?
                        $( $( let $field = $crate::encoding::bytes::Encoded::read(from)?; )* )?
                        Ok(Self::$variant $( ( $($item),* ) )? $( { $($field),* } )?)
                    } )*
                    _ => Err($crate::encoding::bytes::malformed()),
                }
            }
        }
    };
}

pub(crate) use {encoded_enum, encoded_struct};
