//! The thread that accepts connections and waits for the parked ones.

use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use mayfly_engine::codes;
use mio::{Events, Poll, Token};

use super::listeners::Listeners;
use super::parking::WAKER;
use super::serving;
use super::shared::Shared;
use super::workers::Task;

/// Interval between checks of the parked connections for those that have been idle too long.
const TICK: Duration = Duration::from_secs(1);
/// Number of those intervals between checks for clients that have disconnected.
const ABANDONED_TICKS: u32 = 3;

/// Pause after an error of accept, as when the process has no more descriptors.
const RETRY: Duration = Duration::from_millis(50);

/// Number of events taken at once.
const EVENTS: usize = 256;

/// Starts the thread.
pub(super) fn start(
    shared: Arc<Shared>,
    mut poll: Poll,
    mut listeners: Listeners,
) -> io::Result<JoinHandle<()>> {
    listeners.register(poll.registry())?;
    std::thread::Builder::new()
        .name("reactor".to_owned())
        .spawn(move || run(&shared, &mut poll, &listeners))
}

fn run(shared: &Arc<Shared>, poll: &mut Poll, listeners: &Listeners) {
    let mut events = Events::with_capacity(EVENTS);
    let mut looked_through = Instant::now();
    let mut ticks = 0;
    // Whether some listeners' connections could not all be accepted: they are not announced again.
    let mut is_behind = false;
    while !shared.is_stopping() {
        let wait = if is_behind { RETRY } else { TICK };
        if let Err(error) = poll.poll(&mut events, Some(wait))
            && error.kind() != io::ErrorKind::Interrupted
        {
            tracing::error!("poll: {error}");
            std::thread::sleep(RETRY);
        }
        let mut has_new = is_behind;
        for event in &events {
            match event.token() {
                WAKER => {}
                Token(number) if number < listeners.len() => has_new = true,
                Token(token) => {
                    if let Some(connection) = shared.parking.take(token) {
                        serving::give(shared, Task::Serve(connection));
                    }
                }
            }
        }
        if has_new {
            is_behind = !accept_all(shared, listeners);
        }
        let now = Instant::now();
        if now.saturating_duration_since(looked_through) >= TICK {
            looked_through = now;
            ticks = (ticks + 1) % ABANDONED_TICKS;
            if ticks == 0 {
                shared.sockets.end_abandoned();
            }
            shared.parking.take_idle(now, |connection| {
                let error = codes::ER_CLIENT_INTERACTION_TIMEOUT.error();
                serving::give(shared, Task::End(connection, error));
            });
            shared.database().end_late_logins();
            if shared.workers.forget_ended() {
                shared.database().trim();
            }
        }
    }
    shared.parking.close(|connection| {
        let error = codes::ER_SERVER_SHUTDOWN.error();
        serving::give(shared, Task::End(connection, error));
    });
}

/// Accepts the waiting connections; false when that failed for now.
fn accept_all(shared: &Arc<Shared>, listeners: &Listeners) -> bool {
    let mut is_complete = true;
    for number in 0..listeners.len() {
        loop {
            match listeners.accept(number) {
                Ok(Some(accepted)) => serving::give(shared, Task::Admit(accepted)),
                Ok(None) => break,
                Err(error) => {
                    tracing::warn!("accept: {error}");
                    is_complete = false;
                    break;
                }
            }
        }
    }
    is_complete
}
