//! The parts of a server that every connection uses.

use std::sync::Arc;

use mayfly_engine::Database;

use crate::login::LoginKeys;

/// The parts of a server that every connection uses.
#[derive(Debug)]
pub(crate) struct Service {
    pub(crate) database: Arc<Database>,
    pub(crate) keys: Arc<LoginKeys>,
}
