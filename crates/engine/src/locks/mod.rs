//! Locks that sessions hold beside those of rows, and the graph of who waits for whom.

pub(crate) mod table;
pub(crate) mod user;
pub(crate) mod waits;
