//! Prepared statements of clients: COM_STMT_PREPARE and the commands on them.

use std::collections::HashMap;
use std::sync::Arc;

use mayfly_engine::{
    CollationId, Command as SessionCommand, Cursor, Error, KeptMemory, Prepared, ResultColumn,
    ResultEncoder, Session, SqlType, Value, codes,
};
use mysql_common::constants::{CapabilityFlags, ColumnType, StatusFlags};

use super::Connection;
use super::commands::well_formed;
use super::result::{append_columns, append_columns_end, send_batch, send_rows};
use crate::channel::Failure;
use crate::packet::PayloadReader;
use crate::reply::{RowFormat, Rows, append_definition};
use crate::values::{bytes, read_parameter};

/// The flag of COM_STMT_EXECUTE that asks for a cursor.
const CURSOR_TYPE_READ_ONLY: u8 = 1;

/// The highest bit of a parameter's type.
const UNSIGNED: u8 = 0x80;

/// MySQL's error for a value sent in pieces that is too long.
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
            long_data_refused: None,
            long_data_memory: None,
            values: Vec::new(),
            cursor: None,
        };
        self.statements.insert(self.last_id, statement);
        self.last_id
    }

    /// The statement with an id that a client sent with a command.
    fn get(&mut self, id: u32, command: &str) -> Result<&mut ClientStatement, Error> {
        let statement = self.statements.get_mut(&id);
        statement.ok_or_else(|| codes::ER_UNKNOWN_STMT_HANDLER.with(&[&id, &command]))
    }

    pub(super) fn clear(&mut self) {
        self.statements.clear();
    }
}

/// A prepared statement and the data that the client has sent for it.
#[derive(Debug)]
struct ClientStatement {
    prepared: Arc<Prepared>,
    /// The types of the values, which clients send only once.
    types: Vec<(ColumnType, bool)>,
    /// Values sent in pieces, by parameter.
    long_data: HashMap<u16, Vec<u8>>,
    /// Error when one of them was too long, or all together: the statement does not run before it is reset.
    long_data_refused: Option<Error>,
    /// Memory for them, with its number of bytes.
    long_data_memory: Option<(KeptMemory, u64)>,
    /// The values of the previous run, whose memory is reused.
    values: Vec<(Value, SqlType)>,
    cursor: Option<(Cursor, Rows)>,
}

/// Step in which memory for values in pieces is taken.
const LONG_DATA_STEP: u64 = 256 << 10;

impl ClientStatement {
    /// Takes memory for another piece of a value.
    fn keep_long_data(&mut self, piece: usize, session: &Session) -> Result<(), Error> {
        let lengths = self.long_data.values().map(|data| data.len() as u64);
        let bytes = lengths.sum::<u64>() + piece as u64;
        let has = self
            .long_data_memory
            .as_ref()
            .map_or(0, |(_, bytes)| *bytes);
        if bytes > has {
            // The memory held is given back first: it is included in the new request.
            self.long_data_memory = None;
            let step = bytes.next_multiple_of(LONG_DATA_STEP);
            self.long_data_memory = Some((session.keep(step)?, step));
        }
        Ok(())
    }

    fn forget_long_data(&mut self) {
        self.long_data.clear();
        self.long_data_memory = None;
    }
}

impl Connection {
    /// COM_STMT_PREPARE
    pub(super) fn prepare(&mut self, text: &[u8]) -> Result<(), Failure> {
        let text = self.session.text_of_client(text)?.into_owned();
        let prepared = self.session.prepare(&text)?;
        let columns = Arc::clone(prepared.columns());
        let placeholders = Arc::clone(prepared.placeholders());
        let encoder = self.session.result_encoder();
        let warnings = u16::try_from(self.session.warnings().len()).unwrap_or(u16::MAX);
        let id = self.statements.add(prepared);
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
        for described in [placeholders, columns] {
            for column in &*described {
                channel.packet(|out| append_definition(out, column, &encoder));
            }
            if !described.is_empty() {
                append_columns_end(channel, capabilities, status);
            }
        }
        Ok(())
    }

    /// COM_STMT_EXECUTE
    pub(super) fn execute(&mut self, content: &[u8]) -> Result<(), Failure> {
        let mut reader = PayloadReader::new(content);
        let id = well_formed(reader.u32())?;
        let collation = self.session.connection_collation();
        let statement = self.statements.get(id, "mysqld_stmt_execute")?;
        statement.cursor = None;
        if let Some(refused) = &statement.long_data_refused {
            return Err(refused.clone().into());
        }
        let wants_cursor = well_formed(statement.read_run(&mut reader, collation))?;
        let (prepared, values) = (&statement.prepared, &statement.values);
        let mut stream = self.session.execute_prepared(prepared, values)?;
        // As in MySQL, several results are sent at once, even if a cursor is asked for.
        let sets = stream.take_sets();
        let result = if !stream.result().has_rows() {
            stream.finish()
        } else if wants_cursor {
            let encoder = stream.encoder();
            let cursor = stream.into_cursor()?;
            let columns = Arc::clone(cursor.columns());
            let rows = Rows::new(&columns, encoder, RowFormat::Binary);
            statement.cursor = Some((cursor, rows));
            self.cursor_is_open(&columns, &encoder);
            return Ok(());
        } else {
            let channel = self.channel.get();
            send_rows(channel, stream, self.capabilities, RowFormat::Binary)?
        };
        self.send_sets(sets, RowFormat::Binary)?;
        self.end_of_result(&result, false);
        Ok(())
    }

    /// Sends the columns of a cursor; its rows wait for COM_STMT_FETCH.
    fn cursor_is_open(&mut self, columns: &[ResultColumn], encoder: &ResultEncoder) {
        let status = self.status() | StatusFlags::SERVER_STATUS_CURSOR_EXISTS;
        let capabilities = self.capabilities;
        append_columns(self.channel.get(), columns, encoder, capabilities, status);
        if capabilities.contains(CapabilityFlags::CLIENT_DEPRECATE_EOF) {
            self.eof_with(status);
        }
    }

    /// COM_STMT_FETCH
    pub(super) fn fetch(&mut self, content: &[u8]) -> Result<(), Failure> {
        let mut reader = PayloadReader::new(content);
        let (id, count) = (well_formed(reader.u32())?, well_formed(reader.u32())?);
        let statement = self.statements.get(id, "mysqld_stmt_fetch")?;
        let Some((mut cursor, rows)) = statement.cursor.take() else {
            return Err(codes::ER_STMT_HAS_NO_OPEN_CURSOR.with(&[&id]).into());
        };
        self.session.count_command(SessionCommand::StatementFetch);
        let channel = self.channel.get();
        let mut left = count as usize;
        let mut is_at_end = false;
        while left > 0 && !is_at_end {
            match cursor.next_rows(left)? {
                Some(batch) => {
                    send_batch(channel, &rows, cursor.columns(), &batch)?;
                    left = left.saturating_sub(batch.row_count());
                }
                None => is_at_end = true,
            }
        }
        if !is_at_end {
            statement.cursor = Some((cursor, rows));
        }
        let mut status = self.status();
        status.set(StatusFlags::SERVER_STATUS_CURSOR_EXISTS, !is_at_end);
        status.set(StatusFlags::SERVER_STATUS_LAST_ROW_SENT, is_at_end);
        self.eof_with(status);
        Ok(())
    }

    /// COM_STMT_SEND_LONG_DATA, which has no reply: an error is reported when the statement runs.
    pub(super) fn send_long_data(&mut self, content: &[u8]) {
        let mut reader = PayloadReader::new(content);
        let (Some(id), Some(parameter)) = (reader.u32(), reader.u16()) else {
            return;
        };
        self.session
            .count_command(SessionCommand::StatementLongData);
        let limit = usize::try_from(self.limits.packet).unwrap_or(usize::MAX);
        let Some(statement) = self.statements.statements.get_mut(&id) else {
            return;
        };
        if statement.long_data_refused.is_some() {
            return;
        }
        let piece = reader.rest();
        let length = statement.long_data.get(&parameter).map_or(0, Vec::len);
        let fits = length.saturating_add(piece.len()) <= limit;
        let kept = if fits {
            statement.keep_long_data(piece.len(), &self.session)
        } else {
            Err(codes::ER_UNKNOWN_ERROR.with(&[&LONG_DATA_TOO_LONG]))
        };
        match kept {
            Ok(()) => {
                let data = statement.long_data.entry(parameter).or_default();
                data.extend_from_slice(piece);
            }
            Err(refused) => {
                statement.forget_long_data();
                statement.long_data_refused = Some(refused);
            }
        }
    }

    /// COM_STMT_RESET
    pub(super) fn reset_statement(&mut self, content: &[u8]) -> Result<(), Failure> {
        self.session.count_command(SessionCommand::StatementReset);
        let id = PayloadReader::new(content).u32().unwrap_or(0);
        let statement = self.statements.get(id, "mysqld_stmt_reset")?;
        statement.forget_long_data();
        statement.long_data_refused = None;
        statement.cursor = None;
        self.ok();
        Ok(())
    }

    /// COM_STMT_CLOSE, which has no reply.
    pub(super) fn close_statement(&mut self, content: &[u8]) {
        self.session.count_command(SessionCommand::StatementClose);
        if let Some(id) = PayloadReader::new(content).u32() {
            self.statements.statements.remove(&id);
        }
    }
}

impl ClientStatement {
    /// Reads the content of COM_STMT_EXECUTE behind the statement's id: the values, and whether the client wants a
    /// cursor. `None` when it is malformed.
    fn read_run(&mut self, reader: &mut PayloadReader<'_>, collation: CollationId) -> Option<bool> {
        let flags = reader.u8()?;
        // The number of runs, which is always 1.
        reader.u32()?;
        let count = self.prepared.parameter_count();
        let mut long_data = std::mem::take(&mut self.long_data);
        self.long_data_memory = None;
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
                    let collation = match ty {
                        ColumnType::MYSQL_TYPE_TINY_BLOB
                        | ColumnType::MYSQL_TYPE_MEDIUM_BLOB
                        | ColumnType::MYSQL_TYPE_LONG_BLOB
                        | ColumnType::MYSQL_TYPE_BLOB => CollationId::BINARY,
                        _ => collation,
                    };
                    bytes(&data, collation)
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
