//! Base tables: rows in a file of blocks.
//!
//! A [`DurableStore`] is a data directory, or a temporary one that is removed with the process: one LMDB file
//! ([`environment`]) whose records are blocks of rows ([`block`]). A session has one [`DurableTransaction`] for all of
//! its transactions, one after the other; its changes are an overlay in memory ([`overlay`]) that only its own reads
//! see ([`view`]), until the one writer commits them, together with those of others that wait ([`commit`]). A
//! [`Statement`] opens tables of one snapshot; reads take a snapshot ([`snapshot`]), changes take locks ([`locks`])
//! and look at the newest rows ([`table::writer`]). A statement that fills an empty table writes full blocks at once
//! ([`bulk`], [`bulk_load`]).
//!
//! ```text
//! let store = DurableStore::open(StoreOptions { location: StoreLocation::DataDirectory(path), stable })?;
//! let session = store.session(&memory);
//! let definition = Arc::new(TableDefinition::new(columns, indexes, session.new_tree(), trees));
//! session.set_record(b"table:t", Some(&description))?;        // committed with the rows
//! let statement = session.statement(StatementOptions { view: ReadView::Statement, .. });
//! let table = statement.table(&definition)?;                  // a `Table`
//! let mut writer = table.writer()?;
//! writer.insert(&batch)?;
//! writer.finish()?;
//! session.commit()?;                                          // or through `session.participant()`
//! ```

mod backup;
mod block;
mod block_key;
mod bulk;
mod bulk_load;
mod change_map;
mod check;
mod checkpoint;
mod commit;
mod data_file;
mod definition;
mod environment;
mod find;
mod format;
mod gather;
mod load;
mod locks;
mod log;
mod memtable;
mod options;
mod overlay;
mod point;
mod random;
mod record_key;
mod redo;
mod row;
mod row_source;
mod rows;
mod snapshot;
mod statement;
mod statistics;
mod store;
mod table;
mod transaction_snapshots;
mod tree_notes;
mod tree_space;
mod tree_versions;
mod verified;
mod view;

pub use change_map::ChangeStorage;
pub use commit::Durability;
pub use definition::TableDefinition;
pub use locks::statistics::RowLockWaits;
pub use options::{StoreLocation, StoreOptions};
pub use point::LockedRow;
pub use record_key::TreeId;
pub use statement::Statement;
pub use store::transaction::{DurableTransaction, ReadView, StatementOptions};
pub use store::{DurableStore, SyncThread};
pub use table::DurableTable;
pub use tree_space::TreeSpace;
