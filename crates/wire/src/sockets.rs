//! The sockets of all connections, parked ones too: how many there are, and how to stop them.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

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
        self.sockets.0.lock().sockets.remove(&self.number);
    }
}

impl Sockets {
    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.0.lock().sockets.len()
    }

    /// Counts a socket. Where the server stops, nothing more is read of it.
    pub(crate) fn add(self: &Arc<Self>, socket: Socket) -> CountedSocket {
        let mut state = self.0.lock();
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
        let mut state = self.0.lock();
        state.is_stopping = true;
        for socket in state.sockets.values() {
            socket.stop_reading();
        }
    }
}
