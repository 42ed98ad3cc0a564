//! What every connection has of its server.

use std::sync::Arc;

use mayfly_engine::Database;

use crate::login::LoginKeys;

/// See the module.
#[derive(Debug)]
pub(crate) struct Service {
    pub(crate) database: Arc<Database>,
    pub(crate) keys: Arc<LoginKeys>,
}
