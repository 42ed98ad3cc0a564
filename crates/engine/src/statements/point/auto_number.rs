//! AUTO_INCREMENT for a point INSERT.

use mayfly_types::{TypeKind, Value};

use crate::cached_plan::AutoNumber;
use crate::catalog::BaseTable;
use crate::catalog::definition::ColumnDefinition;
use crate::session::StatementContext;
use crate::statements::auto_increment::{greatest, is_explicit, number_of};

/// A row's AUTO_INCREMENT number.
pub(super) enum Number {
    /// The number was given.
    Given(u64),
    /// The number was generated; `next` was the table's counter before.
    Made { number: u64, next: u64 },
}

impl AutoNumber {
    /// The AUTO_INCREMENT column at a position, if it is an integer column.
    pub(super) fn new(position: usize, column: &ColumnDefinition) -> Option<Self> {
        let is_whole = !matches!(column.ty.kind, TypeKind::Float | TypeKind::Double);
        is_whole.then(|| Self {
            column: position,
            ty: column.ty.clone(),
        })
    }

    /// The number of a row, generated into the row if it has none; `None` when the generic path must do that.
    #[inline]
    pub(super) fn take(
        &self,
        context: &StatementContext<'_>,
        table: &BaseTable,
        row: &mut [Value],
    ) -> Option<Number> {
        let value = row.get_mut(self.column)?;
        let options = context.options();
        if is_explicit(value, options.session.sql_mode) {
            return Some(Number::Given(number_of(value)));
        }
        if context.session.diagnostics.insert_id != 0 {
            return None;
        }
        let numbers = table.numbers(context);
        let next = numbers.next();
        let step = options.auto_increment_increment.max(1);
        let offset = options.auto_increment_offset.max(1);
        let number = numbers.take(step, offset);
        let made = Number::Made { number, next };
        if number > greatest(&self.ty) {
            made.give_back(context, table);
            return None;
        }
        *value = if self.ty.unsigned {
            Value::UInt(number)
        } else {
            Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
        };
        Some(made)
    }
}

impl Number {
    /// Returns the number of a row that was not added, unless another row has got a later one since.
    pub(super) fn give_back(&self, context: &StatementContext<'_>, table: &BaseTable) {
        if let Self::Made { number, next } = self {
            let numbers = table.numbers(context);
            numbers.give_back(number.saturating_add(1), *next);
        }
    }

    /// Records the number of an added row; returns the number that the client gets.
    pub(super) fn confirm(&self, context: &StatementContext<'_>, table: &BaseTable) -> u64 {
        match self {
            Self::Given(number) => {
                let numbers = table.numbers(context);
                numbers.advance(number.saturating_add(1));
                *number
            }
            Self::Made { number, .. } => {
                context.session.diagnostics.set_last_insert_id(*number);
                *number
            }
        }
    }
}
