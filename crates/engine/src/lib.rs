//! The engine: databases, sessions and statements.
//!
//! This is the API boundary. A shell, a server or a binding opens a [`Database`], makes a
//! [`Session`] of it and runs statements' text; everything below (syntax, plans, operators,
//! temporary tables) is reached only through here.
//!
//! What is absent: this crate knows no packet, prints nothing, and starts no async runtime.

mod database;
mod error;
mod options;
mod result;
mod session;
mod statements;
mod visible_names;

pub use self::database::Database;
pub use self::options::{Clock, DatabaseOptions, FileAccess, HashMode, SystemClock};
pub use self::result::{ResultColumn, ResultOrigin, ResultStream, StatementResult};
pub use self::session::{KillHandle, ProgressHandle, Session, SessionOptions};
pub use mayfly_storage::temptable::RegistryEntry as TemporaryTableRecord;
pub use mayfly_types::{Batch, Error, Result, SqlType, TypeKind};
