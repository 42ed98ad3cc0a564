//! The sockets of all connections, parked ones included: counting them, stopping them, and finding disconnected
//! clients.

use std::collections::HashMap;
use std::sync::Arc;

use mayfly_engine::KillHandle;
use parking_lot::Mutex;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::stream::Socket;

/// The sockets of all connections.
#[derive(Debug, Default)]
pub(crate) struct Sockets(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    sockets: HashMap<u64, Counted>,
    last: u64,
    is_stopping: bool,
}

#[derive(Debug)]
struct Counted {
    socket: Socket,
    /// Handle that ends its session, once there is one.
    kill: Option<KillHandle>,
}

/// Guard of a counted socket.
#[derive(Debug)]
pub(crate) struct CountedSocket {
    sockets: Arc<Sockets>,
    number: u64,
}

impl CountedSocket {
    /// Sets the session of the client, which ends when the client disconnects.
    pub(crate) fn set_session(&self, kill: KillHandle) {
        if let Some(counted) = self.sockets.0.lock().sockets.get_mut(&self.number) {
            counted.kill = Some(kill);
        }
    }
}

impl Drop for CountedSocket {
    fn drop(&mut self) {
        self.sockets.0.lock().sockets.remove(&self.number);
    }
}

impl Sockets {
    /// Number of sockets.
    pub(crate) fn count(&self) -> usize {
        self.0.lock().sockets.len()
    }

    /// Counts a socket. When the server stops, it is not read any more.
    pub(crate) fn add(self: &Arc<Self>, socket: Socket) -> CountedSocket {
        let mut state = self.0.lock();
        if state.is_stopping {
            socket.stop_reading();
        }
        state.last += 1;
        let number = state.last;
        state.sockets.insert(number, Counted { socket, kill: None });
        CountedSocket {
            sockets: Arc::clone(self),
            number,
        }
    }

    /// Stops reading from all clients.
    pub(crate) fn stop_reading(&self) {
        let mut state = self.0.lock();
        state.is_stopping = true;
        for counted in state.sockets.values() {
            counted.socket.stop_reading();
        }
    }

    /// Ends the sessions of disconnected clients: one that runs a statement does not read, and would otherwise run to
    /// its end.
    pub(crate) fn end_abandoned(&self) {
        let state = self.0.lock();
        let sessions = state.sockets.values();
        let sessions = sessions.filter_map(|it| Some((it.socket.clone(), it.kill.clone()?)));
        let sessions: Vec<(Socket, KillHandle)> = sessions.collect();
        drop(state);
        let asked = sessions
            .iter()
            .map(|(socket, _)| PollFd::new(socket, PollFlags::RDHUP));
        let mut asked: Vec<PollFd<'_>> = asked.collect();
        let at_once = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // The sockets are polled again soon.
        if poll(&mut asked, Some(&at_once)).is_err() {
            return;
        }
        let gone = PollFlags::RDHUP | PollFlags::HUP | PollFlags::ERR;
        for (answer, (_, kill)) in asked.iter().zip(&sessions) {
            if answer.revents().intersects(gone) {
                kill.close();
            }
        }
    }
}
