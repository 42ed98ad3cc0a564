//! A database that reads the files of a directory of its own.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::RecordBatch;
use mayfly_engine::{Database, DatabaseOptions, Session, SessionOptions};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};
use tempfile::TempDir;

pub(crate) struct Files {
    pub(crate) database: Arc<Database>,
    directory: TempDir,
}

impl Files {
    /// A database with two threads.
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    /// A database with changed options.
    pub(crate) fn with(change: impl FnOnce(&mut DatabaseOptions)) -> Self {
        let directory = TempDir::new().expect("a temporary directory");
        let mut options = DatabaseOptions::new();
        options.threads = 2;
        change(&mut options);
        let database = Database::open(options).expect("opens");
        mayfly_files::register(&database);
        Self {
            database,
            directory,
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// The names in a directory.
    pub(crate) fn names(&self, directory: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(directory)).expect("a directory");
        let names = entries.map(|entry| entry.expect("an entry").file_name());
        let mut names: Vec<String> = names.map(|it| it.into_string().expect("a text")).collect();
        names.sort();
        names
    }

    /// Writes a file.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a directory")).expect("makes directories");
        fs::write(path, content).expect("writes");
        self
    }

    /// Writes record batches, each of which is a row group.
    pub(crate) fn write_parquet(&self, name: &str, batches: &[RecordBatch]) -> &Self {
        self.write(name, parquet_bytes(batches))
    }

    /// The rows of a statement, in which `@` stands for the directory: values with `|` between them.
    pub(crate) fn rows(&self, sql: &str) -> Vec<String> {
        let mut session = self.database.session();
        self.run(&mut session, sql)
            .unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    /// The error of a statement, in which `@` stands for the directory, as well as in the error.
    pub(crate) fn error(&self, sql: &str) -> String {
        let mut session = self.database.session();
        match self.run(&mut session, sql) {
            Ok(rows) => panic!("{sql}: {rows:?}"),
            Err(error) => error,
        }
    }

    /// [`Self::rows`] in a session.
    pub(crate) fn run(&self, session: &mut Session, sql: &str) -> Result<Vec<String>, String> {
        let directory = self.directory.path().to_str().expect("a text");
        let sql = sql.replace("@/", &format!("{directory}/"));
        let failed = |error: mayfly_engine::Error| {
            let text = format!("{} {}", error.errno(), error.message());
            text.replace(directory, "@")
        };
        let result = session.execute(&sql).map_err(failed)?;
        let Some(last) = result.last() else {
            return Ok(Vec::new());
        };
        let mut rows = Vec::new();
        for batch in &last.batches {
            for row in 0..batch.row_count() {
                let values = batch.columns().iter().zip(last.columns.iter());
                let values = values.map(|(array, column)| {
                    let value = mayfly_engine::value_at(array, row);
                    mayfly_engine::format_value(&value, &column.ty)
                        .map_or("NULL".to_owned(), |text| {
                            String::from_utf8_lossy(&text).into_owned()
                        })
                });
                rows.push(values.collect::<Vec<_>>().join("|"));
            }
        }
        Ok(rows)
    }
}

/// A Parquet file of record batches, each of which is a row group.
pub(crate) fn parquet_bytes(batches: &[RecordBatch]) -> Vec<u8> {
    parquet_bytes_with(batches, WriterProperties::builder())
}

/// [`parquet_bytes`] with properties of the writer, compressed.
pub(crate) fn parquet_bytes_with(
    batches: &[RecordBatch],
    properties: WriterPropertiesBuilder,
) -> Vec<u8> {
    let schema = batches[0].schema();
    let properties = properties
        .set_compression(parquet::basic::Compression::SNAPPY)
        .build();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, schema, Some(properties)).expect("begins");
    for batch in batches {
        writer.write(batch).expect("writes");
        writer.flush().expect("ends a row group");
    }
    writer.close().expect("ends");
    bytes
}

/// A session of an account that has no password.
pub(crate) fn login(files: &Files, user: &str) -> Session {
    let database = &files.database;
    let account = database.account_for(user, "localhost");
    assert!(account.check_password(b""));
    let slot = database.accept().expect("a connection is free");
    let session = database.log_in(slot, &account, SessionOptions::new());
    session.expect("logs in")
}
