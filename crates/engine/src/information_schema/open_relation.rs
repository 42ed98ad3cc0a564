//! A relation that a statement reads, as the provider of a table: rows are made when a scan begins.

use std::sync::Arc;

use mayfly_plan::TableSource;
use mayfly_storage::{ColumnId, ScanRequest};
use mayfly_types::{Batch, Result, SqlType, Value};
use parking_lot::Mutex;

use super::asked::Asked;
use super::context::RelationContext;
use super::relation::Relation;
use super::row::{Row, push_stored};
use crate::builder::ColumnBuilder;
use crate::catalog::provider::{ProvidedColumn, ProvidedRows, TableProvider};

/// Number of scans of a statement for which rows are made one after another. A correlated subquery scans again for
/// each outer row: from here on all rows are made once.
const NARROW_SCANS_MAX: usize = 16;

/// A relation within a statement.
#[derive(Debug)]
pub(super) struct OpenRelation {
    relation: &'static Relation,
    source: &'static TableSource,
    context: Arc<RelationContext>,
    made: Mutex<Made>,
}

/// Rows that were made.
#[derive(Debug, Default)]
struct Made {
    /// Number of scans so far.
    scans: usize,
    /// All rows with all values, once a scan wanted them: the statement's other scans read the same ones.
    all: Option<Arc<[Row]>>,
}

impl OpenRelation {
    pub(super) fn new(
        relation: &'static Relation,
        source: &'static TableSource,
        context: &Arc<RelationContext>,
    ) -> Self {
        Self {
            relation,
            source,
            context: Arc::clone(context),
            made: Mutex::default(),
        }
    }

    fn rows(&self, request: &ScanRequest<'_>) -> Arc<[Row]> {
        let mut made = self.made.lock();
        if let Some(all) = &made.all {
            return Arc::clone(all);
        }
        made.scans += 1;
        let every: Vec<_> = (0..self.source.columns.len()).map(ColumnId).collect();
        let all = ScanRequest::of(&every);
        let request = if made.scans > NARROW_SCANS_MAX {
            &all
        } else {
            request
        };
        let asked = Asked::new(self.source, request);
        let rows: Arc<[Row]> = self.relation.rows(&self.context, &asked).into();
        if !asked.is_narrowed() {
            made.all = Some(Arc::clone(&rows));
        }
        rows
    }
}

impl TableProvider for OpenRelation {
    fn columns(&self) -> Vec<ProvidedColumn> {
        let columns = self.source.columns.iter();
        let columns = columns.map(|column| ProvidedColumn {
            name: column.name.clone(),
            ty: column.ty.clone(),
            nullable: column.nullable,
        });
        columns.collect()
    }

    fn row_count(&self) -> u64 {
        (self.relation.row_count)(&self.context)
    }

    fn scan(&self, request: &ScanRequest<'_>) -> Result<Box<dyn ProvidedRows>> {
        let columns = request.columns.iter();
        let columns = columns.map(|column| (column.0, &self.source.columns[column.0].ty));
        Ok(Box::new(RelationRows {
            rows: self.rows(request),
            columns: columns.collect(),
            next: 0,
        }))
    }
}

/// Rows of a relation.
struct RelationRows {
    rows: Arc<[Row]>,
    /// (index in a row, type) of each column that is read.
    columns: Vec<(usize, &'static SqlType)>,
    /// Index of the next row.
    next: usize,
}

impl ProvidedRows for RelationRows {
    fn next_batch(&mut self) -> Result<Option<Batch>> {
        const BATCH_ROWS: usize = 4096;
        let rows = &self.rows[self.next..];
        let rows = &rows[..rows.len().min(BATCH_ROWS)];
        self.next += rows.len();
        let column = |(index, ty): &(usize, &SqlType)| {
            let mut builder = ColumnBuilder::new(ty);
            for row in rows {
                push_stored(&mut builder, row.get(*index).unwrap_or(&Value::Null), ty);
            }
            builder.finish()
        };
        let columns = self.columns.iter().map(column).collect();
        Ok((!rows.is_empty()).then(|| Batch::new(columns, rows.len())))
    }
}

#[cfg(test)]
mod tests {
    use mayfly_storage::ScanPredicate;

    use super::*;
    use crate::convert::value_at;
    use crate::database::Database;
    use crate::information_schema::{context_of, find};
    use crate::options::DatabaseOptions;
    use crate::session::{Session, StatementContext};

    /// Wants the rows with a text in a column.
    #[derive(Debug)]
    struct Only(ColumnId, &'static str);

    impl ScanPredicate for Only {
        fn select(&self, columns: &[ColumnId], values: &dyn Fn() -> Batch) -> Option<Vec<bool>> {
            let place = columns.iter().position(|known| *known == self.0)?;
            let values = values();
            let is_it = |row| value_at(values.column(place), row) == Value::from(self.1);
            Some((0..values.row_count()).map(is_it).collect())
        }
    }

    /// A session of a database with the tables `test.one` and `test.two`.
    fn with_two_tables() -> Session {
        let database = Database::open(DatabaseOptions::default()).unwrap();
        let mut session = database.session();
        for name in ["one", "two"] {
            let statement = format!("CREATE TABLE test.{name} (a INT)");
            session.execute(&statement).unwrap();
        }
        session
    }

    #[test]
    fn only_rows_that_a_scan_may_want_are_made() {
        let mut session = with_two_tables();
        let context = StatementContext::internal(&mut session);
        let state = Arc::new(context_of(&context));
        for (name, column, value, rows) in [
            ("TABLES", "TABLE_NAME", "two", 1),
            ("TABLES", "TABLE_SCHEMA", "test", 2),
            ("COLUMNS", "TABLE_NAME", "one", 1),
            ("SESSION_VARIABLES", "VARIABLE_NAME", "tmpdir", 1),
        ] {
            let table = find("information_schema", name).unwrap();
            let open = OpenRelation::new(table.relation, table.source, &state);
            let mut columns = table.source.columns.iter();
            let column = ColumnId(columns.position(|it| it.name == column).unwrap());
            let read = [column];
            let predicate = Only(column, value);
            let narrow = ScanRequest {
                predicate: Some(&predicate),
                ..ScanRequest::of(&read)
            };
            for _ in 0..NARROW_SCANS_MAX {
                assert_eq!(open.rows(&narrow).len(), rows, "{name}");
            }
            // From here on all rows are there, with all values.
            let all = open.rows(&narrow);
            assert!(all.len() > rows, "{name}");
            assert!(
                Arc::ptr_eq(&all, &open.rows(&ScanRequest::of(&[]))),
                "{name}"
            );
        }
    }

    #[test]
    fn sizes_are_computed_where_they_are_read() {
        let database = Database::open(DatabaseOptions::default()).unwrap();
        let mut session = database.session();
        session.execute("CREATE TABLE test.t (a INT)").unwrap();
        session
            .execute("INSERT INTO test.t VALUES (1), (2)")
            .unwrap();
        let context = StatementContext::internal(&mut session);
        let state = Arc::new(context_of(&context));
        let table = find("information_schema", "tables").unwrap();
        let open = OpenRelation::new(table.relation, table.source, &state);
        let mut columns = table.source.columns.iter();
        let size = columns.position(|it| it.name == "TABLE_ROWS").unwrap();
        let rows_of_t = |rows: &[Row]| {
            let mut rows = rows.iter();
            let row = rows.find(|row| row[2] == Value::from("t")).unwrap();
            row[size].clone()
        };
        assert_eq!(rows_of_t(&open.rows(&ScanRequest::of(&[]))), Value::UInt(0));
        let read = [ColumnId(size)];
        assert_eq!(
            rows_of_t(&open.rows(&ScanRequest::of(&read))),
            Value::UInt(2)
        );
        assert!(open.row_count() > 1);
    }

    #[test]
    fn every_condition_on_known_values_leaves_out_rows() {
        let mut session = with_two_tables();
        for (from, rows) in [
            (
                "information_schema.TABLES WHERE TABLE_SCHEMA = 'test' AND TABLE_NAME IN ('one', 'x')",
                1,
            ),
            (
                "information_schema.TABLES WHERE LOWER(TABLE_SCHEMA) LIKE 'te%'",
                2,
            ),
            (
                "information_schema.COLUMNS WHERE CONCAT(TABLE_SCHEMA, '.', TABLE_NAME) = 'test.two'",
                1,
            ),
            (
                "performance_schema.session_variables WHERE VARIABLE_NAME LIKE 'tmp_ir'",
                1,
            ),
            (
                "information_schema.PROCESSLIST WHERE ID = CONNECTION_ID() + 1",
                0,
            ),
            (
                "performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID() OR THREAD_ID = 0",
                1,
            ),
        ] {
            let query = format!("SELECT * FROM {from}");
            session.execute(&query).unwrap();
            assert_eq!(session.diagnostics.summary.rows_examined, rows, "{from}");
        }
    }
}
