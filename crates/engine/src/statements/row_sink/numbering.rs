//! AUTO_INCREMENT numbers of added rows (the manual, "AUTO_INCREMENT Handling in InnoDB").

use arrow_array::{Array, ArrayRef, BooleanArray};
use mayfly_types::error::codes;
use mayfly_types::{Batch, Result, TypeKind, Value};

use super::{OnDuplicate, Ready, RowSink};
use crate::builder::ColumnBuilder;
use crate::convert;
use crate::engines::Engine;
use crate::error::ensure;
use crate::statements::auto_increment::{greatest, is_explicit, number_of};

impl RowSink<'_, '_> {
    /// Records the first number generated for an added row.
    pub(super) fn note_number(&mut self, ready: &Ready, first: usize, count: usize) {
        let (None, Some(flags)) = (self.written.first_generated, &ready.numbered) else {
            return;
        };
        let Some(row) = (first..first + count).find(|row| flags.value(*row)) else {
            return;
        };
        if let Some(column) = self.definition.auto_increment_column() {
            let value = convert::value_at(ready.rows.column(column), row);
            self.written.first_generated = Some(number_of(&value));
        }
    }

    /// Whether an explicit number raises the next one only if its row is added: for VALUES, but not for REPLACE.
    pub(super) fn defers_explicit(&self) -> bool {
        self.listed_rows > 0 && !matches!(self.on_duplicate, OnDuplicate::Replace)
    }

    /// Moves the next number behind the explicit ones of added rows.
    pub(super) fn note_explicit(&mut self, ready: &Ready, first: usize, count: usize) {
        let column = self.definition.auto_increment_column();
        let Some(column) = column.filter(|_| self.defers_explicit()) else {
            return;
        };
        let is_made = |row: usize| ready.numbered.as_ref().is_some_and(|made| made.value(row));
        let given = (first..first + count).filter(|row| !is_made(*row));
        let number = |row| number_of(&convert::value_at(ready.rows.column(column), row));
        if let Some(greatest) = given.map(number).max() {
            let step = self.context.options().auto_increment_increment.max(1);
            self.explicit(greatest, step);
        }
    }

    /// Passes the number of a row that was not added to the next row that needs one.
    pub(super) fn pass_number_on(&mut self, ready: &mut Ready, row: usize) {
        let Some(flags) = ready.numbered.as_ref().filter(|flags| flags.value(row)) else {
            return;
        };
        let Some(column) = self.definition.auto_increment_column() else {
            return;
        };
        let numbers = ready.rows.column(column);
        let mut passed = convert::value_at(numbers, row);
        let mut builder = ColumnBuilder::new(&self.definition.columns[column].ty);
        let mut is_passed = true;
        for index in 0..numbers.len() {
            let mut number = convert::value_at(numbers, index);
            if index > row && is_passed {
                match flags.value(index) {
                    true => std::mem::swap(&mut number, &mut passed),
                    // The next number moves behind an explicit one only if its row is added.
                    false if self.defers_explicit() => {}
                    false => is_passed = number_of(&number) < number_of(&passed),
                }
            }
            builder.push(&number);
        }
        if is_passed {
            self.spare_numbers.push_front(number_of(&passed));
        }
        let mut columns = ready.rows.columns().to_vec();
        columns[column] = builder.finish();
        ready.rows = Batch::new(columns, ready.rows.row_count());
    }

    /// AUTO_INCREMENT: numbers the rows without a number; returns which ones.
    pub(super) fn number(&mut self, column: &ArrayRef) -> Result<(ArrayRef, Option<BooleanArray>)> {
        let position = self.definition.auto_increment_column().unwrap_or(0);
        let ty = &self.definition.columns[position].ty;
        let mode = self.rules.sql_mode();
        let options = self.context.options();
        let step = options.auto_increment_increment.max(1);
        let offset = options.auto_increment_offset.max(1);
        let mut builder = ColumnBuilder::new(ty);
        let mut made: Option<Vec<bool>> = None;
        for row in 0..column.len() {
            let value = convert::value_at(column, row);
            let value = match is_explicit(&value, mode) {
                true => {
                    let number = number_of(&value);
                    if !self.defers_explicit() {
                        self.explicit(number, step);
                    }
                    self.written.last_explicit = number;
                    value
                }
                false => {
                    let number = match (self.spare_numbers.pop_front(), self.forced_number) {
                        (Some(number), _) => number,
                        (None, Some(number)) => {
                            let next = number.saturating_add(1);
                            self.forced_number = Some(next);
                            self.table.numbers(&*self.context).advance(next);
                            number
                        }
                        (None, None) => self.take_number(row, step, offset, greatest(ty))?,
                    };
                    if number == u64::MAX {
                        return Err(codes::ER_AUTOINC_READ_FAILED.error());
                    }
                    // The greatest number is repeated, and the key refuses it.
                    let number = number.min(greatest(ty));
                    made.get_or_insert_with(|| vec![false; column.len()])[row] = true;
                    match ty.kind {
                        TypeKind::Float | TypeKind::Double => Value::Float(number as f64),
                        _ if ty.unsigned => Value::UInt(number),
                        _ => Value::Int(i64::try_from(number).unwrap_or(i64::MAX)),
                    }
                }
            };
            builder.push(&value);
        }
        Ok((builder.finish(), made.map(BooleanArray::from)))
    }

    /// The next number of those taken. As in InnoDB, listed rows take their numbers at once, and when explicit values
    /// among them have used those up, as many as rows are left.
    fn take_number(&mut self, row: usize, step: u64, offset: u64, greatest: u64) -> Result<u64> {
        let (next, left) = self.taken_numbers;
        if left > 0 {
            self.taken_numbers = (next.saturating_add(step), left - 1);
            ensure(next <= greatest, || codes::ER_AUTOINC_READ_FAILED.error())?;
            return Ok(next);
        }
        let row = self.rows_before + row as u64;
        let done = row - *self.first_numbered.get_or_insert(row);
        let count = if self.definition.engine == Engine::InnoDb {
            self.listed_rows.saturating_sub(done).max(1)
        } else {
            1
        };
        let first = self
            .table
            .numbers(&*self.context)
            .take_several(count, step, offset);
        self.taken_numbers = (first.saturating_add(step), count - 1);
        Ok(first)
    }

    /// Moves the next generated number behind an explicit one.
    fn explicit(&mut self, number: u64, step: u64) {
        let numbers = self.table.numbers(&*self.context);
        numbers.advance(number.saturating_add(1));
        self.spare_numbers.retain(|spare| *spare > number);
        let (next, left) = &mut self.taken_numbers;
        while *left > 0 && *next <= number {
            *next = next.saturating_add(step);
            *left -= 1;
        }
    }
}
