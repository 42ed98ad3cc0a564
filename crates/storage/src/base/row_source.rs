//! Source of rows to write: a row of a batch, or a single one given as values. Writers need its keys and its bytes.

use arrow_array::ArrayRef;
use mayfly_types::{Result, Value};

use super::definition::{IndexTree, TableDefinition};
use super::row;
use super::store::Store;
use crate::error::wrong_type;
use crate::key_encoding::RowKeys;
use crate::values::{ColumnValues, StoredValue};

/// A row with all columns of its table.
pub(super) trait RowSource {
    /// Replaces `position` with the row's position: its primary key, or its hidden number.
    fn position(&self, position: &mut Vec<u8>) -> Result<()>;

    /// Calls `each` with the key of each of the row's entries in secondary index `number`, in ascending order. `key` is
    /// a buffer.
    fn each_entry(
        &self,
        number: usize,
        key: &mut Vec<u8>,
        each: impl FnMut(&mut Vec<u8>) -> Result<()>,
    ) -> Result<()>;

    /// Whether a part of that key is NULL: such a key is no duplicate.
    fn has_null(&self, number: usize) -> bool;

    /// Appends the row's encoding.
    fn encode(&self, bytes: &mut Vec<u8>) -> Result<()>;

    /// Appends the encoding of the row's entry in an index.
    fn encode_entry(&self, index: &IndexTree, bytes: &mut Vec<u8>) -> Result<()>;
}

/// Keys of the rows of a batch.
pub(super) struct BatchKeys<'a> {
    definition: &'a TableDefinition,
    columns: Vec<ColumnValues<'a>>,
    primary: Option<RowKeys<'a>>,
    /// Hidden number of the first row, without a primary key.
    first_number: u64,
    /// Keys in each secondary index.
    pub(super) secondary: Vec<RowKeys<'a>>,
}

impl<'a> BatchKeys<'a> {
    /// Keys of new rows.
    pub(super) fn new(
        definition: &'a TableDefinition,
        store: &Store,
        arrays: &'a [ArrayRef],
        rows: usize,
    ) -> Result<Self> {
        let first_number = match definition.primary() {
            Some(_) => 0,
            None => store.row_numbers(definition.rows(), rows as u64)?,
        };
        Ok(Self {
            first_number,
            ..Self::of_positioned(definition, arrays)
        })
    }

    /// Keys of rows that already have positions, if there is no primary key.
    pub(super) fn of_positioned(definition: &'a TableDefinition, arrays: &'a [ArrayRef]) -> Self {
        let primary = definition.primary();
        let secondary = definition.secondary();
        Self {
            definition,
            columns: arrays.iter().map(ColumnValues::new).collect(),
            primary: primary.map(|(_, index)| index.encoder.rows(arrays)),
            first_number: 0,
            secondary: secondary
                .map(|(_, index)| index.encoder.rows(arrays))
                .collect(),
        }
    }

    /// The row at an index.
    pub(super) fn row(&'a self, row: usize) -> BatchRow<'a> {
        BatchRow { keys: self, row }
    }

    /// Replaces `position` with the position of a row.
    pub(super) fn position(&self, row: usize, position: &mut Vec<u8>) {
        position.clear();
        match &self.primary {
            Some(keys) => keys.append(row, position),
            None => {
                let number = self.first_number + row as u64;
                position.extend_from_slice(&number.to_be_bytes());
            }
        }
    }
}

/// A row of a batch.
pub(super) struct BatchRow<'a> {
    keys: &'a BatchKeys<'a>,
    row: usize,
}

impl BatchRow<'_> {
    #[inline]
    fn value(&self, column: usize) -> StoredValue<'_> {
        self.keys.columns[column].get(self.row)
    }
}

impl RowSource for BatchRow<'_> {
    fn position(&self, position: &mut Vec<u8>) -> Result<()> {
        self.keys.position(self.row, position);
        Ok(())
    }

    fn each_entry(
        &self,
        number: usize,
        key: &mut Vec<u8>,
        each: impl FnMut(&mut Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        self.keys.secondary[number].each_entry(self.row, key, each)
    }

    fn has_null(&self, number: usize) -> bool {
        self.keys.secondary[number].has_null(self.row)
    }

    fn encode(&self, bytes: &mut Vec<u8>) -> Result<()> {
        let columns = self.keys.definition.columns().len();
        row::encode(columns, |column| Ok(self.value(column)), bytes)
    }

    fn encode_entry(&self, index: &IndexTree, bytes: &mut Vec<u8>) -> Result<()> {
        let value = |number: usize| Ok(self.value(index.columns[number]));
        row::encode(index.columns.len(), value, bytes)
    }
}

/// A row given as values of its columns' types.
pub(super) struct ValueRow<'a> {
    pub(super) definition: &'a TableDefinition,
    pub(super) values: &'a [Value],
    /// Hidden number of the row, without a primary key.
    pub(super) number: u64,
}

impl ValueRow<'_> {
    fn stored(&self, column: usize) -> Result<StoredValue<'_>> {
        let ty = self.definition.columns()[column];
        StoredValue::of(ty, &self.values[column]).ok_or_else(wrong_type)
    }

    fn append_to(&self, index: &IndexTree, key: &mut Vec<u8>) -> Result<()> {
        let value = |column: usize| self.stored(column);
        index.encoder.append_stored(value, key)
    }

    fn index(&self, number: usize) -> Option<&IndexTree> {
        let index = self.definition.secondary().nth(number);
        index.map(|(_, index)| index)
    }
}

impl RowSource for ValueRow<'_> {
    fn position(&self, position: &mut Vec<u8>) -> Result<()> {
        position.clear();
        match self.definition.primary() {
            Some((_, index)) => self.append_to(index, position),
            None => {
                position.extend_from_slice(&self.number.to_be_bytes());
                Ok(())
            }
        }
    }

    fn each_entry(
        &self,
        number: usize,
        key: &mut Vec<u8>,
        each: impl FnMut(&mut Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        let value = |column: usize| self.stored(column);
        match self.index(number) {
            Some(index) => index.encoder.each_entry(value, key, each),
            None => Ok(()),
        }
    }

    fn has_null(&self, number: usize) -> bool {
        self.index(number).is_some_and(|index| {
            let mut columns = index.encoder.columns();
            columns.any(|column| self.values[column].is_null())
        })
    }

    fn encode(&self, bytes: &mut Vec<u8>) -> Result<()> {
        row::encode(
            self.definition.columns().len(),
            |column| self.stored(column),
            bytes,
        )
    }

    fn encode_entry(&self, index: &IndexTree, bytes: &mut Vec<u8>) -> Result<()> {
        let value = |number: usize| self.stored(index.columns[number]);
        row::encode(index.columns.len(), value, bytes)
    }
}
