//! The state that the threads of a server share: the reactor, the threads of connections, and the owner of the server.
//!
//! Each part has its own lock; none is held while another part is used.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mayfly_engine::Database;

use super::parking::Parking;
use super::workers::Workers;
use crate::service::Service;
use crate::sockets::Sockets;
use crate::tls::Tls;

/// State shared by all threads of a server.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) service: Arc<Service>,
    pub(super) sockets: Arc<Sockets>,
    pub(super) tls: Option<Tls>,
    pub(super) parking: Parking,
    pub(super) workers: Workers,
    pub(super) is_stopping: AtomicBool,
}

impl Shared {
    pub(super) fn database(&self) -> &Arc<Database> {
        &self.service.database
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::Acquire)
    }
}
