//! The threads on which the stores' library runs, and the wait of a statement for them.
//!
//! A statement's thread may be one of an asynchronous program that embeds the engine, which must not enter another runtime:
//! it therefore waits for a channel, not for the future itself.

use std::future::Future;
use std::io;
use std::sync::OnceLock;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use mayfly_engine::{Error, Interrupt, Result, codes};
use tokio::runtime::{Builder, Runtime};

/// Time between looks at the interrupt.
const TICK: Duration = Duration::from_millis(20);

/// The threads of the process.
pub(super) fn runtime() -> Result<&'static Runtime> {
    static RUNTIME: OnceLock<io::Result<Runtime>> = OnceLock::new();
    let runtime = RUNTIME.get_or_init(|| {
        Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("mayfly-stores")
            .enable_all()
            .build()
    });
    let failed = |error: &io::Error| {
        codes::ER_UNKNOWN_ERROR.with(&[&format!("the threads for object stores: {error}")])
    };
    runtime.as_ref().map_err(failed)
}

/// The output of a future: 1317 or 3024 for a statement that ends before, whose future is dropped.
pub(super) fn wait<T: Send + 'static>(
    interrupt: &Interrupt,
    future: impl Future<Output = T> + Send + 'static,
) -> Result<T> {
    interrupt.check()?;
    let (sender, receiver) = sync_channel(1);
    let task = runtime()?.spawn(async move {
        // A statement that has ended takes no answer.
        let _ = sender.send(future.await);
    });
    loop {
        match receiver.recv_timeout(TICK) {
            Ok(output) => return Ok(output),
            Err(RecvTimeoutError::Timeout) => {
                if let Err(error) = interrupt.check() {
                    task.abort();
                    return Err(error);
                }
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Err(codes::ER_UNKNOWN_ERROR.with(&[&"a request to a store has failed"]));
            }
        }
    }
}

/// An error as readers of bytes return it.
pub(super) fn io_error(error: Error) -> io::Error {
    io::Error::other(error.message().to_owned())
}
