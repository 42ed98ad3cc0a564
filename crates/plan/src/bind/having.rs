//! Names in HAVING: a column of GROUP BY that is selected or that MySQL finds by its name, else an item of the select
//! list (the manual, "MySQL Handling of GROUP BY").

use mayfly_types::Result;

use super::block::same_name;
use super::buffered::Buffered;
use super::scope::{Found, Name, Scope};
use crate::tree::expression::{Expression, ExpressionKind};
use crate::tree::logical::ColumnId;

impl Scope {
    /// Looks up a name in HAVING, outside of aggregates.
    pub(super) fn find_in_having(&self, name: Name<'_>) -> Result<Option<Found>> {
        let item = self.find_item(name)?;
        let named: Vec<ColumnId> = self.named(name).collect();
        // A group key that is a column wins over an item of that name.
        for (index, key) in self.group_keys.iter().enumerate() {
            let ExpressionKind::Column(id) = &key.kind else {
                continue;
            };
            if named.contains(id) {
                let of_item = |item: usize| self.items[item].column.map(|slot| self.id(slot));
                let is_selected = item.is_some_and(|item| of_item(item) == Some(*id));
                if is_selected || self.is_found_by_name(*id, name)? {
                    let hides_item = item.is_some() && !is_selected;
                    return Ok(Some(Found::Key { index, hides_item }));
                }
            }
        }
        Ok(item.map(Found::Item))
    }

    /// Whether HAVING finds a column of GROUP BY that is not selected: MySQL compares the names of columns without
    /// those of their tables, and does not look into merged derived tables.
    fn is_found_by_name(&self, id: ColumnId, name: Name<'_>) -> Result<bool> {
        let of = |id: ColumnId| {
            let slot = self.slot_of(id)?;
            Some(self.tables[slot.table].name(slot.column))
        };
        let is_other = |key: &Expression| {
            let other = key.as_column().filter(|other| *other != id);
            other
                .and_then(of)
                .zip(of(id))
                .is_some_and(|(a, b)| same_name(a, b))
        };
        if self.group_keys.iter().any(is_other) {
            return match name.table {
                None => Err(self.ambiguous(name)),
                Some(_) => Ok(false),
            };
        }
        let slot = self.slot_of(id);
        Ok(slot.is_none_or(|slot| self.buffered_at(slot) == Buffered::Unchanged))
    }
}
