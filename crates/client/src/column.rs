//! Definitions of result columns, and the values of a row. See the manual, "C API Basic Data Structures" (MYSQL_FIELD).

use super::reader::Reader;

/// A column of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// The number of its type in the protocol.
    pub field_type: u8,
    /// Its flags, as a bit set.
    pub flags: u16,
    /// Greatest number of bytes of a value.
    pub length: u32,
    /// Digits of a fraction; 31 where they are not fixed.
    pub decimals: u8,
    /// The number of its collation; 63 is `binary`.
    pub collation: u16,
}

/// Length of the fields of a definition behind its names.
const FIXED: u64 = 12;

impl Column {
    /// Reads a definition.
    pub(super) fn read(packet: &[u8]) -> Result<Self, String> {
        let mut reader = Reader::new(packet);
        for _ in ["catalog", "schema", "table", "original table"] {
            reader.bytes()?;
        }
        let name = reader.text()?;
        let _original_name = reader.bytes()?;
        if reader.length()? < FIXED {
            return Err(super::reader::malformed());
        }
        Ok(Self {
            name,
            collation: reader.integer(2)? as u16,
            length: reader.integer(4)? as u32,
            field_type: reader.integer(1)? as u8,
            flags: reader.integer(2)? as u16,
            decimals: reader.integer(1)? as u8,
        })
    }
}

/// The values of a row, in text form.
#[derive(Debug)]
pub struct Row<'p> {
    packet: &'p [u8],
    columns: usize,
}

impl<'p> Row<'p> {
    pub(super) fn new(packet: &'p [u8], columns: usize) -> Self {
        Self { packet, columns }
    }

    /// The bytes of each value; `None` is NULL.
    ///
    /// # Errors
    /// The packet is malformed.
    pub fn values(&self) -> Result<Vec<Option<&'p [u8]>>, String> {
        let mut reader = Reader::new(self.packet);
        (0..self.columns).map(|_| reader.value()).collect()
    }

    /// Bytes of the packet.
    pub fn size(&self) -> usize {
        self.packet.len()
    }
}
