//! Checks of values of declared types, where rows that fail them are left out.
//!
//! Both readings of a file decide alike, from the row alone.

use std::sync::Arc;

use mayfly_engine::{SessionParameters, SqlType, TableFunctionContext, TextColumn};

use super::options::Options;
use super::rows::Chunk;
use crate::declared::reason;

/// The checks of values of declared types, where rows that fail them are left out.
pub(crate) struct Checks {
    /// The place of a column in a row, its name and type.
    columns: Vec<(usize, String, SqlType)>,
    session: Arc<SessionParameters>,
}

impl Checks {
    /// The checks of a file's columns, which are given by their places and names.
    pub(super) fn of<'n>(
        columns: impl Iterator<Item = (usize, &'n str)>,
        options: &Options,
        context: &TableFunctionContext,
    ) -> Self {
        let columns = columns.filter(|_| options.ignore_errors);
        let declared = columns.filter_map(|(place, name)| {
            let ty = options.declared.of_column(name)?;
            Some((place, name.to_owned(), ty.clone()))
        });
        Self {
            columns: declared.collect(),
            session: Arc::clone(&context.session),
        }
    }

    /// The rows of a chunk with a value that is none of its type, in order: column and reason of the first one of each.
    pub(super) fn bad_rows(
        &self,
        chunk: &Chunk<'_, '_>,
        options: &Options,
    ) -> Vec<(usize, &str, String)> {
        let mut bad: Vec<(usize, &str, String)> = Vec::new();
        for (place, name, ty) in &self.columns {
            let mut values = TextColumn::new(name, ty, &self.session);
            for (row, field) in chunk.column(*place).enumerate() {
                if options.is_null(&field) {
                    continue;
                }
                if let Err(error) = values.push(Some(&field.bytes())) {
                    bad.push((row, name.as_str(), reason(&error)));
                }
            }
        }
        bad.sort_by_key(|(row, ..)| *row);
        bad.dedup_by_key(|(row, ..)| *row);
        bad
    }
}
