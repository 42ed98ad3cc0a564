//! Rows of shared temporary tables: what they are charged to.
//!
//! The rows are in a store of durable tables without a log ([`super::trees::Lifespan::Volatile`]), so that snapshots, row
//! locks and plans are those of base tables; what differs is that they count against the temporary space of the user who
//! has made the table, whoever adds rows.

use std::sync::Arc;

use mayfly_storage::TreeSpace;

/// The user whose temporary space the rows of a table take, and what they take, until this is dropped.
#[derive(Debug)]
pub(crate) struct SharedSpace {
    /// The user.
    pub(crate) owner: Arc<str>,
    /// What the trees of the table take.
    pub(crate) _trees: Vec<Arc<TreeSpace>>,
}
