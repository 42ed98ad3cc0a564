//! COM_QUERY: one or several statements as text.

use std::sync::Arc;

use mayfly_engine::{Cursor, ResultStream, Session, StatementResult, codes};
use mysql_common::constants::{CapabilityFlags, StatusFlags};

use super::Connection;
use super::result::{append_columns, send_batch, send_rows};
use crate::channel::Failure;
use crate::reply::{End, RowFormat, Rows, append_ok, append_row_end};

/// Runs the first statement of a text, or the only one.
fn run<'s, 't>(
    session: &'s mut Session,
    text: &'t str,
    is_several: bool,
) -> mayfly_engine::Result<Option<(ResultStream<'s>, &'t str)>> {
    if is_several {
        session.query_first(text)
    } else {
        session.query_only(text).map(|stream| Some((stream, "")))
    }
}

impl Connection {
    /// Runs the statements of a text and sends their results, until the first error.
    pub(super) fn query(&mut self, text: &[u8]) -> Result<(), Failure> {
        let text = self.session.text_of_client(text)?.into_owned();
        let mut rest = Some(text.as_str());
        while let Some(statements) = rest {
            rest = self.first_statement(statements)?;
        }
        Ok(())
    }

    /// Runs the first statement of a text and sends its result. Returns the text behind it, if that has statements and
    /// the client wants them run.
    fn first_statement<'t>(&mut self, text: &'t str) -> Result<Option<&'t str>, Failure> {
        let is_several = self
            .capabilities
            .contains(CapabilityFlags::CLIENT_MULTI_STATEMENTS);
        self.channel.lend();
        let (mut stream, after) = run(&mut self.session, text, is_several)?
            .ok_or_else(|| codes::ER_EMPTY_QUERY.error())?;
        let sets = stream.take_sets();
        let result = if stream.result().has_rows() {
            let channel = self.channel.get();
            send_rows(channel, stream, self.capabilities, RowFormat::Text)?
        } else {
            stream.finish()
        };
        self.send_sets(sets, RowFormat::Text)?;
        let next = self.session.has_statement(after).then_some(after);
        self.end_of_result(&result, next.is_some());
        if next.is_some() {
            self.answered();
        }
        Ok(next)
    }

    /// Sends the sets of rows before a statement's own result.
    pub(super) fn send_sets(
        &mut self,
        sets: Vec<Cursor>,
        format: RowFormat,
    ) -> Result<(), Failure> {
        let capabilities = self.capabilities;
        let status = self.status() | StatusFlags::SERVER_MORE_RESULTS_EXISTS;
        for mut set in sets {
            let encoder = self.session.result_encoder();
            let columns = Arc::clone(set.columns());
            let rows = Rows::new(&columns, encoder, format);
            let channel = self.channel.get();
            append_columns(channel, &columns, &encoder, capabilities, status);
            while let Some(batch) = set.next_rows(usize::MAX)? {
                send_batch(channel, &rows, &columns, &batch)?;
            }
            let end = End::with(status);
            channel.packet(|out| append_row_end(out, &end, capabilities));
        }
        Ok(())
    }

    /// Appends the end of a result.
    pub(super) fn end_of_result(&mut self, result: &StatementResult, has_more: bool) {
        let changes = self.session.take_state_changes();
        let mut status = self.status();
        status.set(StatusFlags::SERVER_MORE_RESULTS_EXISTS, has_more);
        let end = End {
            affected_rows: result.affected_rows,
            last_insert_id: result.last_insert_id,
            status,
            warnings: result.warning_count,
            info: &result.info,
            changes: changes.as_ref(),
        };
        let capabilities = self.capabilities;
        let channel = self.channel.get();
        if result.has_rows() {
            channel.packet(|out| append_row_end(out, &end, capabilities))
        } else {
            channel.packet(|out| append_ok(out, &end, capabilities))
        }
    }
}
