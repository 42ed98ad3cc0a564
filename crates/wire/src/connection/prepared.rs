//! Prepared statements of clients: COM_STMT_PREPARE and what follows it.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use mayfly_engine::{
    CollationId, Command as SessionCommand, Cursor, Prepared, ResultColumn, ResultEncoder, SqlType,
    Value, codes,
};
use mysql_common::constants::{CapabilityFlags, ColumnType, StatusFlags};

use super::Connection;
use super::result::{Sent, append_columns, append_columns_end, send_batch, send_rows};
use crate::packet::PayloadReader;
use crate::reply::{End, RowFormat, Rows, append_definition, append_error, append_row_end};
use crate::values::{bytes, read_parameter};

/// The flag of COM_STMT_EXECUTE that asks for a cursor.
const CURSOR_TYPE_READ_ONLY: u8 = 1;

/// The highest bit of a parameter's type.
const UNSIGNED: u8 = 0x80;

/// What MySQL says of a value that came in pieces.
const LONG_DATA_TOO_LONG: &str = "Parameter of prepared statement which is set through \
    mysql_send_long_data() is longer than 'max_allowed_packet' bytes";

/// The prepared statements of one connection.
#[derive(Debug, Default)]
pub(super) struct ClientStatements {
    statements: HashMap<u32, ClientStatement>,
    last_id: u32,
}

impl ClientStatements {
    fn add(&mut self, prepared: Arc<Prepared>) -> u32 {
        self.last_id = self.last_id.wrapping_add(1).max(1);
        while self.statements.contains_key(&self.last_id) {
            self.last_id = self.last_id.wrapping_add(1).max(1);
        }
        let statement = ClientStatement {
            prepared,
            types: Vec::new(),
            long_data: HashMap::new(),
            long_data_refused: false,
            values: Vec::new(),
            cursor: None,
        };
        self.statements.insert(self.last_id, statement);
        self.last_id
    }

    pub(super) fn clear(&mut self) {
        self.statements.clear();
    }
}

/// One statement and what the client has sent for it.
#[derive(Debug)]
struct ClientStatement {
    prepared: Arc<Prepared>,
    /// The types of the values: clients send them once.
    types: Vec<(ColumnType, bool)>,
    /// Values that came in pieces, by their parameter.
    long_data: HashMap<u16, Vec<u8>>,
    /// One of them was too long: the statement does not run before it is reset.
    long_data_refused: bool,
    /// The values of the run before, whose memory is used again.
    values: Vec<(Value, SqlType)>,
    cursor: Option<(Cursor, Rows)>,
}

impl Connection {
    /// COM_STMT_PREPARE
    pub(super) fn prepare(&mut self, text: &[u8]) {
        let prepared = match self.session.text_of_client(text) {
            Ok(text) => {
                let text = text.into_owned();
                self.session.prepare(&text)
            }
            Err(error) => Err(error),
        };
        let prepared = match prepared {
            Ok(prepared) => prepared,
            Err(error) => return self.error(&error),
        };
        let columns = Arc::clone(prepared.columns());
        let placeholders = Arc::clone(prepared.placeholders());
        let encoder = self.session.result_encoder();
        let warnings = u16::try_from(self.session.warnings().len()).unwrap_or(u16::MAX);
        let id = self.statements.add(Arc::clone(&prepared));
        let capabilities = self.capabilities;
        let status = self.status();
        let channel = self.channel.get();
        channel.packet(|out| {
            out.push(0);
            out.extend_from_slice(&id.to_le_bytes());
            out.extend_from_slice(&(columns.len() as u16).to_le_bytes());
            out.extend_from_slice(&(placeholders.len() as u16).to_le_bytes());
            out.push(0);
            out.extend_from_slice(&warnings.to_le_bytes());
        });
        for placeholder in &*placeholders {
            channel.packet(|out| append_definition(out, placeholder, &encoder));
        }
        if !placeholders.is_empty() {
            append_columns_end(channel, capabilities, status);
        }
        for column in &*columns {
            channel.packet(|out| append_definition(out, column, &encoder));
        }
        if !columns.is_empty() {
            append_columns_end(channel, capabilities, status);
        }
    }

    /// COM_STMT_EXECUTE
    pub(super) fn execute(&mut self, content: &[u8]) -> io::Result<()> {
        let mut reader = PayloadReader::new(content);
        let Some(id) = reader.u32() else {
            self.malformed();
            return Ok(());
        };
        let collation = self.session.connection_collation();
        let Some(statement) = self.statements.statements.get_mut(&id) else {
            self.unknown_statement(id, "mysqld_stmt_execute");
            return Ok(());
        };
        statement.cursor = None;
        if statement.long_data_refused {
            let error = codes::ER_UNKNOWN_ERROR.with(&[&LONG_DATA_TOO_LONG]);
            self.error(&error);
            return Ok(());
        }
        let Some(wants_cursor) = statement.read_run(&mut reader, collation) else {
            self.malformed();
            return Ok(());
        };
        let (prepared, values) = (&statement.prepared, &statement.values);
        let stream = match self.session.execute_prepared(prepared, values) {
            Ok(stream) => stream,
            Err(error) => {
                self.channel.get().packet(|out| append_error(out, &error));
                return Ok(());
            }
        };
        if !stream.result().has_rows() {
            let result = stream.finish();
            self.end_of_result(&result, false);
            return Ok(());
        }
        if wants_cursor {
            let encoder = stream.encoder();
            let cursor = match stream.into_cursor() {
                Ok(cursor) => cursor,
                Err(error) => {
                    self.channel.get().packet(|out| append_error(out, &error));
                    return Ok(());
                }
            };
            let columns = Arc::clone(cursor.columns());
            let rows = Rows::new(&columns, encoder, RowFormat::Binary);
            statement.cursor = Some((cursor, rows));
            self.cursor_is_open(&columns, &encoder);
            return Ok(());
        }
        let channel = self.channel.get();
        match send_rows(channel, stream, self.capabilities, RowFormat::Binary)? {
            Sent::Rows(result) => self.end_of_result(&result, false),
            Sent::Failed => {}
        }
        Ok(())
    }

    /// The columns of a cursor go out; its rows wait for COM_STMT_FETCH.
    fn cursor_is_open(&mut self, columns: &[ResultColumn], encoder: &ResultEncoder) {
        let status = self.status() | StatusFlags::SERVER_STATUS_CURSOR_EXISTS;
        let capabilities = self.capabilities;
        let channel = self.channel.get();
        append_columns(channel, columns, encoder, capabilities, status);
        if capabilities.contains(CapabilityFlags::CLIENT_DEPRECATE_EOF) {
            let end = End {
                status,
                ..End::default()
            };
            channel.packet(|out| append_row_end(out, &end, capabilities));
        }
    }

    /// COM_STMT_FETCH
    pub(super) fn fetch(&mut self, content: &[u8]) -> io::Result<()> {
        let mut reader = PayloadReader::new(content);
        let (Some(id), Some(count)) = (reader.u32(), reader.u32()) else {
            self.malformed();
            return Ok(());
        };
        let Some(statement) = self.statements.statements.get_mut(&id) else {
            self.unknown_statement(id, "mysqld_stmt_fetch");
            return Ok(());
        };
        let Some((cursor, rows)) = &mut statement.cursor else {
            let error = codes::ER_STMT_HAS_NO_OPEN_CURSOR.with(&[&id]);
            self.error(&error);
            return Ok(());
        };
        self.session.count_command(SessionCommand::StatementFetch);
        let channel = self.channel.get();
        let mut left = count as usize;
        let (mut failed, mut is_at_end) = (None, false);
        while left > 0 {
            let batch = match cursor.next_rows(left) {
                Ok(Some(batch)) => batch,
                Ok(None) => {
                    is_at_end = true;
                    break;
                }
                Err(error) => {
                    failed = Some(error);
                    break;
                }
            };
            send_batch(channel, rows, cursor.columns(), &batch)?;
            left = left.saturating_sub(batch.row_count());
        }
        if is_at_end || failed.is_some() {
            statement.cursor = None;
        }
        if let Some(error) = failed {
            self.error(&error);
            return Ok(());
        }
        let mut status = self.status();
        status.set(StatusFlags::SERVER_STATUS_CURSOR_EXISTS, !is_at_end);
        status.set(StatusFlags::SERVER_STATUS_LAST_ROW_SENT, is_at_end);
        let end = End {
            status,
            ..End::default()
        };
        let capabilities = self.capabilities;
        self.channel
            .get()
            .packet(|out| append_row_end(out, &end, capabilities));
        Ok(())
    }

    /// COM_STMT_SEND_LONG_DATA, which has no reply: what is wrong with it shows when the statement
    /// runs.
    pub(super) fn send_long_data(&mut self, content: &[u8]) {
        let mut reader = PayloadReader::new(content);
        let (Some(id), Some(parameter)) = (reader.u32(), reader.u16()) else {
            return;
        };
        self.session
            .count_command(SessionCommand::StatementLongData);
        let limit = usize::try_from(self.limits.packet).unwrap_or(usize::MAX);
        if let Some(statement) = self.statements.statements.get_mut(&id) {
            let data = statement.long_data.entry(parameter).or_default();
            let is_whole = !statement.long_data_refused;
            if is_whole && data.len().saturating_add(reader.rest().len()) <= limit {
                data.extend_from_slice(reader.rest());
            } else {
                statement.long_data_refused = true;
                data.clear();
            }
        }
    }

    /// COM_STMT_RESET
    pub(super) fn reset_statement(&mut self, content: &[u8]) {
        self.session.count_command(SessionCommand::StatementReset);
        let id = PayloadReader::new(content).u32().unwrap_or(0);
        match self.statements.statements.get_mut(&id) {
            Some(statement) => {
                statement.long_data.clear();
                statement.long_data_refused = false;
                statement.cursor = None;
                self.ok();
            }
            None => self.unknown_statement(id, "mysqld_stmt_reset"),
        }
    }

    /// COM_STMT_CLOSE, which has no reply.
    pub(super) fn close_statement(&mut self, content: &[u8]) {
        self.session.count_command(SessionCommand::StatementClose);
        if let Some(id) = PayloadReader::new(content).u32() {
            self.statements.statements.remove(&id);
        }
    }

    fn unknown_statement(&mut self, id: u32, command: &str) {
        self.error(&codes::ER_UNKNOWN_STMT_HANDLER.with(&[&id, &command]));
    }
}

impl ClientStatement {
    /// Reads what COM_STMT_EXECUTE says behind the statement's number: its values, and whether the
    /// client wants a cursor. `None` when it is malformed.
    fn read_run(&mut self, reader: &mut PayloadReader<'_>, collation: CollationId) -> Option<bool> {
        let flags = reader.u8()?;
        // The number of runs, which is always 1.
        reader.u32()?;
        let count = self.prepared.parameter_count();
        let mut long_data = std::mem::take(&mut self.long_data);
        self.values.clear();
        if count > 0 {
            let nulls = reader.bytes(count.div_ceil(8))?;
            if reader.u8()? == 1 {
                self.types.clear();
                for _ in 0..count {
                    let ty = ColumnType::try_from(reader.u8()?).ok()?;
                    self.types.push((ty, reader.u8()? & UNSIGNED != 0));
                }
            }
            if self.types.len() != count {
                return None;
            }
            for (parameter, (ty, unsigned)) in self.types.iter().enumerate() {
                let number = u16::try_from(parameter).ok()?;
                let value = if let Some(data) = long_data.remove(&number) {
                    let is_binary = matches!(
                        ty,
                        ColumnType::MYSQL_TYPE_TINY_BLOB
                            | ColumnType::MYSQL_TYPE_MEDIUM_BLOB
                            | ColumnType::MYSQL_TYPE_LONG_BLOB
                            | ColumnType::MYSQL_TYPE_BLOB
                    );
                    match is_binary {
                        true => bytes(&data, CollationId::BINARY),
                        false => bytes(&data, collation),
                    }
                } else if nulls[parameter / 8] & (1 << (parameter % 8)) != 0 {
                    (Value::Null, SqlType::null())
                } else {
                    read_parameter(reader, *ty, *unsigned, collation)?
                };
                self.values.push(value);
            }
        }
        Some(flags & CURSOR_TYPE_READ_ONLY != 0)
    }
}
