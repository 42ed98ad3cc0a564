//! Relations.

use super::asked::Asked;
use super::context::RelationContext;
use super::row::Row;

/// A table computed from the engine's state.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Relation {
    /// Its name, prefixed by its database's unless that is `information_schema`. The files of
    /// [`standard`](super::standard) list its columns under this name.
    pub(crate) name: &'static str,
    /// Its rows for a session. An ENUM or SET value is given as text.
    rows: Rows,
    /// Estimated number of its rows.
    pub(super) row_count: fn(&RelationContext) -> u64,
    /// Whether it needs the PROCESS privilege.
    pub(super) needs_process: bool,
}

/// Function that makes the rows of a relation.
#[derive(Debug, Clone, Copy)]
enum Rows {
    /// All rows.
    All(fn(&RelationContext) -> Vec<Row>),
    /// At least those that are asked for.
    Asked(fn(&RelationContext, &Asked<'_>) -> Vec<Row>),
}

impl Relation {
    pub(super) const fn new(name: &'static str, rows: fn(&RelationContext) -> Vec<Row>) -> Self {
        Self::of(name, Rows::All(rows))
    }

    /// A relation that makes only the rows that are asked for.
    pub(super) const fn asked(
        name: &'static str,
        rows: fn(&RelationContext, &Asked<'_>) -> Vec<Row>,
    ) -> Self {
        Self::of(name, Rows::Asked(rows))
    }

    const fn of(name: &'static str, rows: Rows) -> Self {
        Self {
            name,
            rows,
            row_count: |_| 100,
            needs_process: false,
        }
    }

    /// Sets the estimated number of rows.
    pub(super) const fn with_row_count(mut self, row_count: fn(&RelationContext) -> u64) -> Self {
        self.row_count = row_count;
        self
    }

    /// The rows that are asked for.
    pub(super) fn rows(&self, context: &RelationContext, asked: &Asked<'_>) -> Vec<Row> {
        match self.rows {
            Rows::All(rows) => rows(context),
            Rows::Asked(rows) => rows(context, asked),
        }
    }

    /// Marks a relation that needs the PROCESS privilege.
    pub(super) const fn of_process(mut self) -> Self {
        self.needs_process = true;
        self
    }

    /// (database, name) of the relation.
    pub(super) fn full_name(&self) -> (&'static str, &'static str) {
        let full = self.name.split_once('.');
        full.unwrap_or(("information_schema", self.name))
    }
}
