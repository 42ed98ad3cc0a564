//! The sockets of all connections, parked ones too: how many there are, and how to stop them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::stream::Socket;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Sockets(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    sockets: HashMap<u64, Socket>,
    last: u64,
    is_stopping: bool,
}

/// A socket that is counted as long as this lives.
#[derive(Debug)]
pub(crate) struct CountedSocket {
    sockets: Arc<Sockets>,
    number: u64,
}

impl Drop for CountedSocket {
    fn drop(&mut self) {
        self.sockets.state().sockets.remove(&self.number);
    }
}

impl Sockets {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.state().sockets.len()
    }

    /// Counts a socket. Where the server stops, nothing more is read of it.
    pub(crate) fn add(self: &Arc<Self>, socket: Socket) -> CountedSocket {
        let mut state = self.state();
        if state.is_stopping {
            socket.stop_reading();
        }
        state.last += 1;
        let number = state.last;
        state.sockets.insert(number, socket);
        CountedSocket {
            sockets: Arc::clone(self),
            number,
        }
    }

    /// Nothing more comes from any client.
    pub(crate) fn stop_reading(&self) {
        let mut state = self.state();
        state.is_stopping = true;
        for socket in state.sockets.values() {
            socket.stop_reading();
        }
    }
}
