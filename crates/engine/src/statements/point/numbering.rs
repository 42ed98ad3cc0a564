//! AUTO_INCREMENT for one row of a table that no other session sees.

use mayfly_types::{SqlType, TypeKind, Value};

use crate::catalog::BaseTable;
use crate::catalog::definition::ColumnDefinition;
use crate::session::Session;
use crate::statements::auto_increment::{greatest, is_explicit, number_of};

/// The column that gets numbers.
#[derive(Debug)]
pub(super) struct Numbering {
    pub(super) column: usize,
    ty: SqlType,
}

/// A row's number.
pub(super) enum Number {
    /// It was given.
    Given(u64),
    /// It was made; the table's next one was another.
    Made { number: u64, next: u64 },
}

impl Numbering {
    /// Of a column of whole numbers.
    pub(super) fn new(place: usize, column: &ColumnDefinition) -> Option<Self> {
        let is_whole = !matches!(column.ty.kind, TypeKind::Float | TypeKind::Double);
        is_whole.then(|| Self {
            column: place,
            ty: column.ty.clone(),
        })
    }

    /// The number of a row, which is put into it if it has none; nothing when that is to be done with
    /// more care.
    pub(super) fn number(
        &self,
        session: &Session,
        table: &BaseTable,
        row: &mut [Value],
    ) -> Option<Number> {
        let value = row.get_mut(self.column)?;
        let options = session.options();
        if is_explicit(value, options.sql_mode) {
            return Some(Number::Given(number_of(value)));
        }
        if session.insert_id != 0 {
            return None;
        }
        let next = table.next_auto_increment();
        let step = options.auto_increment_increment.max(1);
        let offset = options.auto_increment_offset.max(1);
        let number = table.take_auto_increment(step, offset);
        let made = Number::Made { number, next };
        if number > greatest(&self.ty) {
            made.give_back(table);
            return None;
        }
        *value = match self.ty.unsigned {
            true => Value::UInt(number),
            false => Value::Int(i64::try_from(number).unwrap_or(i64::MAX)),
        };
        Some(made)
    }
}

impl Number {
    /// The row was not added.
    pub(super) fn give_back(&self, table: &BaseTable) {
        if let Self::Made { next, .. } = self {
            table.set_auto_increment(*next);
        }
    }

    /// The row was added; gives what the client is told.
    pub(super) fn take(&self, session: &Session, table: &BaseTable) -> u64 {
        match self {
            Self::Given(number) => {
                table.advance_auto_increment(number.saturating_add(1));
                *number
            }
            Self::Made { number, .. } => {
                session.set_last_insert_id(*number);
                *number
            }
        }
    }
}
