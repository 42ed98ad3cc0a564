//! The work of a thread of connections: admits a client, serves it while it is busy, and then parks its connection.
//!
//! A connection belongs to the thread that serves it until it is parked or closed.

use std::sync::Arc;

use mayfly_engine::codes;

use super::admission;
use super::shared::Shared;
use super::workers::Task;
use crate::connection::{Connection, Next};

/// Gives a task to a thread of the server.
pub(super) fn give(shared: &Arc<Shared>, task: Task) {
    let of_thread = Arc::clone(shared);
    shared.workers.give(task, move || work(&of_thread));
}

fn work(shared: &Arc<Shared>) {
    let mut payload = Vec::new();
    while let Some(task) = shared.workers.next() {
        match task {
            Task::Admit(accepted) => {
                if let Some(connection) = admission::admit(shared, accepted) {
                    serve(shared, Box::new(connection), &mut payload);
                }
            }
            Task::Serve(connection) => serve(shared, connection, &mut payload),
            Task::End(mut connection, error) => connection.end_with(&error),
        }
        // The memory of one large packet is given back.
        payload.shrink_to(crate::channel::READ_SIZE);
    }
}

fn serve(shared: &Arc<Shared>, mut connection: Box<Connection>, payload: &mut Vec<u8>) {
    let shutdown = || codes::ER_SERVER_SHUTDOWN.error();
    match connection.serve(payload) {
        Next::Close if shared.is_stopping() => connection.end_with(&shutdown()),
        Next::Close => connection.end_if_shut_out(),
        Next::Park => {
            if let Err(mut connection) = shared.parking.park(connection) {
                connection.end_with(&shutdown());
            }
        }
    }
}
