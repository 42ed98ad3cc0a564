//! Tests that golden files cannot express, through the library and over the wire: one program, so that it is linked
//! once. A test that needs a separate process starts this program again.

mod accounts;
mod advise;
mod checkpoints;
mod client_sessions;
mod column_metadata;
mod comparisons;
mod data_directory;
mod defaults;
mod explain;
mod faults;
mod grids;
mod histories;
mod hostile;
mod index_access;
mod kill;
mod library;
mod logs;
mod memory;
mod multi_valued;
mod mutations;
mod parameters;
mod places;
mod point_statements;
mod provided_changes;
mod provided_scans;
mod server;
mod several_results;
mod stored_functions;
mod system_calls;
mod temp_directories;
mod temp_space;
mod thread_states;
mod transaction_state;
mod user_locks;
mod workers;
