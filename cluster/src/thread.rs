//! The thread of a run of a fragment.
//!
//! The thread pulls inputs from DataFusion's streams and puts rows into a bounded channel, whose other end is the stream that
//! DataFusion reads. A consumer that is slow makes the thread wait; one that is gone ends it, also while it waits for input.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::{DataFusionError, Result, exec_err};
use datafusion::execution::{RecordBatchStream, SendableRecordBatchStream};
use futures_util::{Stream, StreamExt};
use tokio::runtime::Handle;
use tokio::sync::mpsc::{self, Receiver, Sender};

use crate::fragments::{Batches, Cancel, Fragments, Run};

/// Batches that may wait for their consumer.
const AHEAD: usize = 2;
/// Stack of a thread: expressions are evaluated recursively.
const STACK: usize = 8 << 20;

/// Starts a run, and returns its rows. Called within a runtime of tokio.
pub fn start(
    fragments: Arc<dyn Fragments>,
    run: Run,
    inputs: Vec<SendableRecordBatchStream>,
    schema: SchemaRef,
) -> Result<SendableRecordBatchStream> {
    let cancel = Cancel::default();
    let (sender, receiver) = mpsc::channel(AHEAD);
    let handle =
        Handle::try_current().map_err(|error| DataFusionError::External(Box::new(error)))?;
    let inputs = inputs.into_iter().map(|stream| {
        Box::new(Pulled {
            stream,
            handle: handle.clone(),
            cancel: cancel.clone(),
        }) as Box<dyn Batches>
    });
    let inputs: Vec<_> = inputs.collect();
    let rows = RunRows {
        schema,
        receiver,
        cancel: cancel.clone(),
    };
    std::thread::Builder::new()
        .name(format!("fragment-{}-{}", run.fragment, run.partition))
        .stack_size(STACK)
        .spawn(move || {
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                produce(&*fragments, &run, inputs, &cancel, &sender)
            }));
            let error = match outcome {
                Ok(Ok(())) => return,
                Ok(Err(error)) => error,
                Err(panic) => DataFusionError::Internal(format!(
                    "fragment {} panicked: {}",
                    run.fragment,
                    text(&*panic)
                )),
            };
            // Fails if the consumer is gone, who needs no error then.
            let _ = sender.blocking_send(Err(error));
        })?;
    Ok(Box::pin(rows))
}

/// Runs the fragment and sends its rows.
fn produce(
    fragments: &dyn Fragments,
    run: &Run,
    inputs: Vec<Box<dyn Batches>>,
    cancel: &Cancel,
    sender: &Sender<Result<RecordBatch>>,
) -> Result<()> {
    let mut rows = fragments.run(run, inputs, cancel)?;
    while let Some(batch) = rows.next()? {
        if sender.blocking_send(Ok(batch)).is_err() {
            return Ok(());
        }
    }
    Ok(())
}

/// The message of a panic.
fn text(panic: &(dyn std::any::Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}

/// A stream of DataFusion, read by the thread of a run.
struct Pulled {
    stream: SendableRecordBatchStream,
    handle: Handle,
    cancel: Cancel,
}

impl Batches for Pulled {
    fn next(&mut self) -> Result<Option<RecordBatch>> {
        let Self {
            stream,
            handle,
            cancel,
        } = self;
        handle.block_on(async {
            tokio::select! {
                biased;
                () = cancel.cancelled() => exec_err!("the run was cancelled"),
                batch = stream.next() => batch.transpose(),
            }
        })
    }
}

/// The rows of a run. Dropped, it ends the run.
struct RunRows {
    schema: SchemaRef,
    receiver: Receiver<Result<RecordBatch>>,
    cancel: Cancel,
}

impl Stream for RunRows {
    type Item = Result<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.receiver.poll_recv(context)
    }
}

impl RecordBatchStream for RunRows {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

impl Drop for RunRows {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}
