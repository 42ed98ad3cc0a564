//! The engine: databases, sessions and statements.
//!
//! This is the API boundary. A shell, a server or a binding opens a [`Database`], opens a [`Session`] and runs the
//! text of statements; everything below (syntax, plans, operators, temporary tables) is reached only through here.
//!
//! This crate has no network protocol, prints nothing, and starts no async runtime.

mod accounts;
pub mod arrow_in;
pub mod arrow_out;
mod authentication;
mod binding;
mod budgets;
mod builder;
mod cached_plan;
mod catalog;
mod character_sets;
mod client;
mod connections;
mod convert;
mod database;
mod ddl;
mod defaults;
pub mod delimited;
mod direct_changes;
mod engines;
mod error;
mod files;
mod information_schema;
mod instrumentation;
mod kept_results;
mod legacy_engines;
mod locales;
mod locks;
mod logs;
mod names;
mod opening;
mod options;
mod persisted;
mod prepared;
mod result;
mod secondary;
mod server_facts;
mod session;
mod spool;
mod statement_cache;
mod statement_memory;
mod statement_options;
mod statements;
mod status;
mod storage_errors;
mod storing;
mod stream;
mod system_schemas;
mod temp_data_files;
mod temp_debug;
mod temp_space;
mod time_zones;
mod transaction;
mod variable_checks;
mod variables;
mod visible_names;

pub use self::accounts::account::AuthenticationPlugin;
pub use self::authentication::{FastCheck, Login, LoginFailure, NewRoot, RootPassword};
pub use self::catalog::file_output::{FileOutput, RowsToWrite, RowsWriter};
pub use self::catalog::inner_statements::InnerStatements;
pub use self::catalog::provider::{
    MissingTables, ProvidedColumn, ProvidedRows, ProviderTransaction, TableProvider,
};
pub use self::catalog::stored_functions::{FunctionBody, FunctionDefinition, FunctionWork};
pub use self::catalog::table_functions::{
    TableArguments, TableFunction, TableFunctionContext, TypeSampling,
};
pub use self::client::{
    BatchEncoder, ClientValue, Cursor, FieldDefinition, FieldFlags, FieldType, ResultEncoder,
    TextColumn, batch_of_texts,
};
pub use self::connections::ConnectionError;
pub use self::convert::value_at;
pub use self::database::Database;
pub use self::files::{
    DirectoryEntry, FileVersion, InputCursor, InputFile, ListedObject, NewDirectory, NewFile,
    NewObject, ObjectStores, StatementFiles, StoreAccess, StoreOptions, StoredObject, shown_path,
    url_scheme, write_error,
};
pub use self::options::{
    BackgroundErrors, Clock, DatabaseOptions, Defaults, FileAccess, HashMode, LogFiles, Randomness,
    SystemClock, SystemLogFiles, SystemRandomness,
};
pub use self::result::{ResultColumn, ResultOrigin, StatementResult, StatementSummary};
pub use self::secondary::{
    CallOption, JobObserver, LoadedColumn, Member, MemberState, PartToLoad, Rows, SecondaryEngine,
    Share, TableCall, TablePart,
};
pub use self::session::{
    Command, InitConnectFailed, KeptMemory, LocalFiles, Session, SessionState, StateChanges,
};
pub use self::statement_memory::StatementMemory;
pub use self::statement_options::ClientLimits;
pub use self::statements::file_rows::FileRows;
pub use self::variables::{is_system_variable, variables_without_effect};
pub use crate::connections::{
    ClientCertificate, Compression, Encryption, KillHandle, ProgressHandle, SessionOptions,
    Transport,
};
pub use crate::prepared::Prepared;
pub use crate::session::ConnectionSlot;
pub use crate::stream::ResultStream;
pub use mayfly_functions::DataAccess;
pub use mayfly_functions::repeated::passing_texts;
pub use mayfly_memory::{MASK_BYTES, Reservation, byte_mask};
pub use mayfly_storage::temptable::RegistryEntry as TemporaryTableRecord;
pub use mayfly_storage::{
    ColumnCondition, ColumnId, ColumnTerm, NumberRange, Participant, ScanRequest, WorkerPool,
};
pub use mayfly_syntax::{CompoundScanner, all_keywords, is_keyword, is_reserved_word};
pub use mayfly_types::convert::ColumnFormatter;
pub use mayfly_types::convert::text::format_value;
pub use mayfly_types::decimal::{Decimal, parse_decimal};
pub use mayfly_types::error::codes;
pub use mayfly_types::json;
pub use mayfly_types::temporal::{DateTime, TimeZone};
pub use mayfly_types::{
    Batch, Checkpoint, CollationId, Condition, Diagnostics, Error, Interrupt, Level, OrderColumn,
    PhysicalType, Result, SessionParameters, SqlType, Stage, TermOperator, TermShape, TermSupport,
    TypeKind, Value, printable, printable_lines,
};
pub use visible_names::function_names;

/// The result of VERSION(): the version of MySQL that Mayfly is compatible with, and its name.
pub const VERSION: &str = "8.4.0-mayfly";
