//! COM_QUERY: one or several statements as text.

use std::io;

use mayfly_engine::{ResultStream, Session, StatementResult, codes};
use mysql_common::constants::{CapabilityFlags, StatusFlags};

use super::Connection;
use super::result::{Sent, send_rows};
use crate::reply::{End, RowFormat, append_error, append_ok, append_row_end};

/// Runs the first statement of a text, or the only one.
fn run<'s, 't>(
    session: &'s mut Session,
    text: &'t str,
    is_several: bool,
) -> mayfly_engine::Result<Option<(ResultStream<'s>, &'t str)>> {
    match is_several {
        true => session.query_first(text),
        false => session.query_only(text).map(|stream| Some((stream, ""))),
    }
}

impl Connection {
    /// Runs the statements of a text and sends their results. An error ends it.
    pub(super) fn query(&mut self, text: &[u8]) -> io::Result<()> {
        let text = match self.session.text_of_client(text) {
            Ok(text) => text.into_owned(),
            Err(error) => {
                self.error(&error);
                return Ok(());
            }
        };
        let mut rest = Some(text.as_str());
        while let Some(statements) = rest {
            rest = self.first_statement(statements)?;
        }
        Ok(())
    }

    /// Runs the first statement of a text and sends its result. Gives what follows it, when that has
    /// statements and the client wants them run.
    fn first_statement<'t>(&mut self, text: &'t str) -> io::Result<Option<&'t str>> {
        let is_several = self
            .capabilities
            .contains(CapabilityFlags::CLIENT_MULTI_STATEMENTS);
        self.channel.lend();
        let (stream, after) = match run(&mut self.session, text, is_several) {
            Ok(Some(ran)) => ran,
            Ok(None) => {
                let error = codes::ER_EMPTY_QUERY.error();
                self.channel.get().packet(|out| append_error(out, &error));
                return Ok(None);
            }
            Err(error) => {
                self.channel.get().packet(|out| append_error(out, &error));
                return Ok(None);
            }
        };
        let result = if stream.result().has_rows() {
            let channel = self.channel.get();
            match send_rows(channel, stream, self.capabilities, RowFormat::Text)? {
                Sent::Rows(result) => *result,
                Sent::Failed => return Ok(None),
            }
        } else {
            stream.finish()
        };
        let next = self.session.has_statement(after).then_some(after);
        self.end_of_result(&result, next.is_some());
        Ok(next)
    }

    /// Ends what was sent of a result.
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
        match result.has_rows() {
            true => channel.packet(|out| append_row_end(out, &end, capabilities)),
            false => channel.packet(|out| append_ok(out, &end, capabilities)),
        }
    }
}
