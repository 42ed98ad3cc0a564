//! A statement's rows, sent as they are produced.

use std::io;
use std::sync::Arc;

use mayfly_engine::{Batch, ResultColumn, ResultEncoder, ResultStream, Stage, StatementResult};
use mysql_common::constants::{CapabilityFlags, StatusFlags};

use crate::channel::{Channel, Failure};
use crate::reply::{End, RowFormat, Rows, append_definition, append_number, append_row_end};

/// Appends the number of columns and their descriptions.
pub(super) fn append_columns(
    channel: &mut Channel,
    columns: &[ResultColumn],
    encoder: &ResultEncoder,
    capabilities: CapabilityFlags,
    status: StatusFlags,
) {
    channel.packet(|out| append_number(out, columns.len() as u64));
    for column in columns {
        channel.packet(|out| append_definition(out, column, encoder));
    }
    append_columns_end(channel, capabilities, status);
}

/// Appends the packet that ends column definitions, for clients that expect it.
pub(super) fn append_columns_end(
    channel: &mut Channel,
    capabilities: CapabilityFlags,
    status: StatusFlags,
) {
    if !capabilities.contains(CapabilityFlags::CLIENT_DEPRECATE_EOF) {
        channel.packet(|out| append_row_end(out, &End::with(status), capabilities));
    }
}

/// Sends the columns and rows of a result, without its end.
pub(super) fn send_rows(
    channel: &mut Channel,
    mut stream: ResultStream<'_>,
    capabilities: CapabilityFlags,
    format: RowFormat,
) -> Result<StatementResult, Failure> {
    let before = (channel.encoder().len(), channel.encoder().sequence());
    let columns = Arc::clone(&stream.result().columns);
    let encoder = stream.encoder();
    append_columns(
        channel,
        &columns,
        &encoder,
        capabilities,
        StatusFlags::empty(),
    );
    let rows = Rows::new(&columns, encoder, format);
    let mut was_flushed = false;
    if stream.has_single_row() {
        // The row is in single values already: no batch is made of it.
        if let Ok(Some(values)) = stream.next_row() {
            channel.packet(|out| rows.append(&columns, values, out));
        }
    }
    loop {
        match stream.next_batch() {
            Ok(Some(batch)) => {
                let _stage = stream.stages().within(Stage::SendingToClient);
                was_flushed |= send_batch(channel, &rows, &columns, &batch)?;
            }
            Ok(None) => return Ok(stream.finish()),
            Err(error) => {
                if !was_flushed {
                    // The client needs no columns without rows.
                    channel.encoder().truncate(before.0, before.1);
                }
                return Err(error.into());
            }
        }
    }
}

/// Appends the rows of a batch, and sends waiting bytes if there are many; returns whether there
/// were.
pub(super) fn send_batch(
    channel: &mut Channel,
    rows: &Rows,
    columns: &[ResultColumn],
    batch: &Batch,
) -> io::Result<bool> {
    let mut was_flushed = false;
    let values = rows.of(columns, batch);
    for row in 0..batch.row_count() {
        channel.packet(|out| values.append(row, out));
        was_flushed |= channel.flush_if_full()?;
    }
    Ok(was_flushed)
}
