//! Mayfly in a process of one's own: a MySQL-compatible SQL engine without a server.
//!
//! ```
//! use mayfly::{Database, params};
//!
//! # fn main() -> mayfly::Result<()> {
//! let database = Database::in_memory()?;
//! let mut connection = database.connect();
//! connection.execute("CREATE TABLE visits (page VARCHAR(40), day DATE, visitors INT)", ())?;
//! let insert = connection.prepare("INSERT INTO visits VALUES (?, ?, ?)")?;
//! connection.execute(&insert, params!["home", "2026-11-28", 310])?;
//! connection.execute(&insert, params!["docs", "2026-11-28", 41])?;
//! connection.execute(&insert, params!["home", "2026-11-29", 280])?;
//!
//! let mut rows = connection.query(
//!     "SELECT page, SUM(visitors) AS total, MAX(day) FROM visits GROUP BY page HAVING total > ? ORDER BY total DESC",
//!     params![40],
//! )?;
//! while let Some(row) = rows.next()? {
//!     let (page, total, last): (String, u64, mayfly::Date) = (row.get(0)?, row.get("total")?, row.get(2)?);
//!     println!("{page}: {total} until {last}");
//! }
//! # drop(rows);
//! # let first = connection.query_row("SELECT page, MAX(day) FROM visits GROUP BY page ORDER BY 1 DESC LIMIT 1", ())?;
//! # assert_eq!(first.get::<String>(0)?, "home");
//! # assert_eq!(first.get::<mayfly::Date>(1)?.to_string(), "2026-11-29");
//! # Ok(())
//! # }
//! ```
//!
//! A [`Database`] holds tables: in memory, or in a directory ([`Options::directory`]). Any number of [`Connection`]s
//! run statements on it, each in a thread of its choice. [`Rows`] come as the statement makes them, as values of Rust
//! ([`Row::get`]) or as Arrow's record batches ([`Rows::next_record_batch`]), whose text is not copied. Errors have MySQL's
//! number, SQLSTATE and text ([`Error`]). With the feature `server` other programs connect to the database as to a MySQL
//! server (`Database::serve`).

mod arrow;
mod connection;
mod database;
mod function;
mod parameters;
mod rows;
#[cfg(feature = "server")]
mod server;
mod source;
mod summary;
mod value;

pub use arrow_array;
pub use arrow_schema;

pub use self::connection::{Connection, Interrupt, Progress, Statement, ToStatement};
pub use self::database::{Database, Options};
pub use self::function::Function;
pub use self::parameters::{Parameter, Parameters, ToParameter};
pub use self::rows::{Column, ColumnIndex, Columns, OwnedRow, Row, RowBatch, Rows, StoredRows};
#[cfg(feature = "server")]
pub use self::server::{Server, ServerOptions};
pub use self::source::{
    Batches, Condition as ColumnCondition, Order, RecordBatches, Request, TableSource, Term,
    TermShape,
};
pub use self::summary::Summary;
pub use self::value::{Date, FromValue, Time, Value};
pub use mayfly_engine::{
    Checkpoint, CollationId, Condition, DateTime, Decimal, Error, Level, Result, SqlType,
    TermOperator, TermSupport, TypeKind, codes, parse_decimal,
};
