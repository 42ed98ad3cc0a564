//! Locks of sessions other than row locks, and the wait-for graph.

pub(crate) mod table;
pub(crate) mod user;
pub(crate) mod waits;
