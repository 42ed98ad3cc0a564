//! Connections and their statements.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use mayfly_engine::{
    Condition, KillHandle, Prepared, ProgressHandle, Result, ResultStream, Session, codes,
};

use crate::parameters::Parameters;
use crate::rows::{OwnedRow, Rows, StoredRows};
use crate::source::{MissingBy, TableSource};
use crate::summary::Summary;

/// How many statements with parameters a connection keeps prepared by their text.
const KEPT_STATEMENTS: usize = 100;

/// A session of a database, with its temporary tables, variables and transaction. It owns what it needs, may move to
/// another thread, and runs one statement at a time. When it is dropped, an open transaction is rolled back.
#[derive(Debug)]
pub struct Connection {
    database: Arc<mayfly_engine::Database>,
    session: Session,
    kept: HashMap<String, Statement>,
}

impl Connection {
    pub(crate) fn new(database: &Arc<mayfly_engine::Database>) -> Self {
        Self {
            session: database.session(),
            database: Arc::clone(database),
            kept: HashMap::new(),
        }
    }

    /// Prepares a statement with `?` for its parameters.
    ///
    /// # Errors
    /// When the text is no statement, or names what is not there.
    pub fn prepare(&mut self, sql: &str) -> Result<Statement> {
        Ok(Statement {
            prepared: self.session.prepare(sql)?,
            database: Arc::downgrade(&self.database),
        })
    }

    /// Runs a statement to its end. Rows that it gives are dropped.
    ///
    /// # Errors
    /// Those of the statement.
    pub fn execute(
        &mut self,
        statement: impl ToStatement,
        parameters: impl Parameters,
    ) -> Result<Summary> {
        let mut stream = self.run(&statement, &parameters)?;
        while stream.next_batch()?.is_some() {}
        Ok(Summary::of(&stream.finish()))
    }

    /// Runs a statement and gives its rows as they are made. It ends with its last row, or when the rows are dropped.
    ///
    /// # Errors
    /// Those of the statement, before its first row.
    pub fn query(
        &mut self,
        statement: impl ToStatement,
        parameters: impl Parameters,
    ) -> Result<Rows<'_>> {
        self.run(&statement, &parameters).map(Rows::new)
    }

    /// Runs a statement that may give several sets of rows (CALL), and gives all of them.
    ///
    /// # Errors
    /// Those of the statement.
    pub fn query_sets(
        &mut self,
        statement: impl ToStatement,
        parameters: impl Parameters,
    ) -> Result<Vec<StoredRows>> {
        let mut stream = self.run(&statement, &parameters)?;
        let sets = stream.take_sets().into_iter();
        let mut sets: Vec<StoredRows> = sets.map(StoredRows::new).collect();
        if stream.result().has_rows() {
            sets.push(Rows::new(stream).store()?);
        }
        Ok(sets)
    }

    /// Runs a statement and gives its first row.
    ///
    /// # Errors
    /// Those of the statement, and 1329 when there is no row.
    pub fn query_row(
        &mut self,
        statement: impl ToStatement,
        parameters: impl Parameters,
    ) -> Result<OwnedRow> {
        let mut rows = self.query(statement, parameters)?;
        match rows.next()? {
            Some(row) => Ok(row.to_owned()),
            None => Err(codes::ER_SP_FETCH_NO_DATA.error()),
        }
    }

    /// Runs all statements of a text, separated by `;`. The first error ends it; what the statements before it did is done.
    ///
    /// # Errors
    /// That of the first statement that fails.
    pub fn execute_script(&mut self, sql: &str) -> Result<()> {
        let mut rest = sql;
        while let Some((mut stream, after)) = self.session.query_first(rest)? {
            while stream.next_batch()?.is_some() {}
            stream.finish();
            rest = after;
        }
        Ok(())
    }

    /// The warnings, notes and errors of the last statement.
    pub fn warnings(&self) -> Vec<Condition> {
        self.session.warnings()
    }

    /// Has a program give tables for names that lead to no table: its own objects, by the names that they have there. A table
    /// is one of the statement that names it, without a database; a statement asks once for each place of the name.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use mayfly::arrow_array::{ArrayRef, Int64Array, RecordBatch};
    /// use mayfly::{Batches, Database, TableSource};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
    /// let numbers = RecordBatch::try_from_iter([("n", numbers)])?;
    /// let numbers: Arc<dyn TableSource> = Arc::new(Batches::new(numbers.schema(), [numbers]));
    /// let mut connection = Database::in_memory()?.connect();
    /// connection.on_missing_table(move |name| Ok((name == "numbers").then(|| Arc::clone(&numbers))));
    /// let row = connection.query_row("SELECT SUM(a.n * b.n) FROM numbers a, numbers b", ())?;
    /// assert_eq!(row.get::<i64>(0)?, 36);
    /// # Ok(())
    /// # }
    /// ```
    pub fn on_missing_table(
        &mut self,
        table: impl Fn(&str) -> Result<Option<Arc<dyn TableSource>>> + Send + Sync + 'static,
    ) {
        let tables = Arc::new(MissingBy(table));
        self.session.set_missing_tables(Some(tables));
    }

    /// A handle that ends the running statement from another thread.
    pub fn interrupt_handle(&self) -> Interrupt {
        Interrupt(self.session.kill_handle())
    }

    /// A handle that tells another thread how far the running statement is.
    pub fn progress(&self) -> Progress {
        Progress(self.session.progress_handle())
    }

    fn run(
        &mut self,
        statement: &impl ToStatement,
        parameters: &impl Parameters,
    ) -> Result<ResultStream<'_>> {
        let parameters = parameters.values();
        let statement = match statement.source() {
            Source::Text(sql) if parameters.is_empty() => return self.session.query_only(sql),
            Source::Text(sql) => self.kept(sql)?,
            Source::Prepared(statement) => statement.clone(),
        };
        if !std::ptr::eq(statement.database.as_ptr(), &*self.database) {
            let (given, run) = ("of another database", "Connection::query");
            return Err(codes::ER_UNKNOWN_STMT_HANDLER.with(&[&given, &run]));
        }
        let values: Vec<_> = parameters.into_iter().map(|it| it.0).collect();
        self.session.execute_prepared(&statement.prepared, &values)
    }

    fn kept(&mut self, sql: &str) -> Result<Statement> {
        if let Some(statement) = self.kept.get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.prepare(sql)?;
        if self.kept.len() == KEPT_STATEMENTS {
            self.kept.clear();
        }
        self.kept.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }
}

/// A prepared statement, for the connections of its database; on those of another one it is error 1243. Cloning gives
/// another handle to it.
#[derive(Debug, Clone)]
pub struct Statement {
    prepared: Arc<Prepared>,
    /// Its plan names the tables of this database.
    database: Weak<mayfly_engine::Database>,
}

impl Statement {
    /// How many `?` it has.
    pub fn parameter_count(&self) -> usize {
        self.prepared.parameter_count()
    }

    /// Its text.
    pub fn text(&self) -> &str {
        self.prepared.text()
    }
}

/// What [`Connection::query`] runs: a text with one statement, or a prepared [`Statement`]. A text with parameters is
/// prepared when it is first run, and kept.
pub trait ToStatement: private::Sealed {
    /// The text or the statement.
    #[doc(hidden)]
    fn source(&self) -> Source<'_>;
}

/// A text or a prepared statement.
#[doc(hidden)]
#[derive(Debug)]
pub enum Source<'s> {
    /// A text.
    Text(&'s str),
    /// A prepared statement.
    Prepared(&'s Statement),
}

mod private {
    /// Keeps [`super::ToStatement`] to the types of this crate.
    pub trait Sealed {}
    impl Sealed for &str {}
    impl Sealed for &String {}
    impl Sealed for &super::Statement {}
}

impl ToStatement for &str {
    fn source(&self) -> Source<'_> {
        Source::Text(self)
    }
}

impl ToStatement for &String {
    fn source(&self) -> Source<'_> {
        Source::Text(self)
    }
}

impl ToStatement for &Statement {
    fn source(&self) -> Source<'_> {
        Source::Prepared(self)
    }
}

/// Ends the running statement of a connection, from any thread.
#[derive(Debug, Clone)]
pub struct Interrupt(KillHandle);

impl Interrupt {
    /// The running statement, if there is one, ends with error 1317.
    pub fn interrupt(&self) {
        self.0.kill();
    }
}

/// How far the running statement of a connection is.
#[derive(Debug, Clone)]
pub struct Progress(ProgressHandle);

impl Progress {
    /// Rows read from tables so far.
    pub fn rows_read(&self) -> u64 {
        self.0.rows_read()
    }

    /// Rows that will be read; `None` when it is not known.
    pub fn rows_expected(&self) -> Option<u64> {
        Some(self.0.rows_expected()).filter(|rows| *rows > 0)
    }
}
