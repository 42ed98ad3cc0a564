//! Commands, which the first byte of a payload identifies.

use std::io;

use mayfly_engine::{Command, ResultColumn, codes};
use mysql_common::constants::{CapabilityFlags, StatusFlags};

use super::Connection;
use crate::channel::Failure;
use crate::packet::PayloadReader;
use crate::reply::{End, NULL, append_bytes, append_definition, append_row_end};

// The first byte of a command. Those that are missing belong to replication, or are obsolete.
const COM_QUIT: u8 = 1;
const COM_INIT_DB: u8 = 2;
const COM_QUERY: u8 = 3;
const COM_FIELD_LIST: u8 = 4;
const COM_REFRESH: u8 = 7;
const COM_SHUTDOWN: u8 = 8;
const COM_STATISTICS: u8 = 9;
const COM_PROCESS_INFO: u8 = 10;
const COM_PROCESS_KILL: u8 = 12;
const COM_DEBUG: u8 = 13;
const COM_PING: u8 = 14;
const COM_CHANGE_USER: u8 = 17;
const COM_STMT_PREPARE: u8 = 22;
const COM_STMT_EXECUTE: u8 = 23;
const COM_STMT_SEND_LONG_DATA: u8 = 24;
const COM_STMT_CLOSE: u8 = 25;
const COM_STMT_RESET: u8 = 26;
const COM_SET_OPTION: u8 = 27;
const COM_STMT_FETCH: u8 = 28;
const COM_RESET_CONNECTION: u8 = 31;

/// Index of the default in a row of SHOW COLUMNS.
const SHOW_COLUMNS_DEFAULT: usize = 4;

/// COM_REFRESH: the objects that each bit flushes. The other bits flush objects that Mayfly does not have: caches of
/// hosts and threads, replication.
const REFRESHED: [(u8, &str); 4] = [
    (0x01, "FLUSH PRIVILEGES"),
    (0x02, "FLUSH LOGS"),
    (0x04, "FLUSH TABLES"),
    (0x10, "FLUSH STATUS"),
];

/// COM_SET_OPTION: MYSQL_OPTION_MULTI_STATEMENTS_ON and _OFF.
const MULTI_STATEMENTS_ON: u16 = 0;
const MULTI_STATEMENTS_OFF: u16 = 1;

/// The value read from a payload; an error when it is malformed.
pub(super) fn well_formed<T>(read: Option<T>) -> Result<T, Failure> {
    read.ok_or_else(|| codes::ER_MALFORMED_PACKET.error().into())
}

impl Connection {
    /// Runs a command and writes its reply; false when the client ends the connection.
    pub(super) fn command(&mut self, payload: &[u8]) -> io::Result<bool> {
        match self.run(payload) {
            Err(Failure::Wrong(error) | Failure::Refused(error)) => {
                self.error(&error);
                Ok(true)
            }
            Err(Failure::Gone(error)) => Err(error),
            Ok(goes_on) => Ok(goes_on),
        }
    }

    fn run(&mut self, payload: &[u8]) -> Result<bool, Failure> {
        let unknown = || Failure::Refused(codes::ER_UNKNOWN_COM_ERROR.error());
        let (&code, content) = payload.split_first().ok_or_else(unknown)?;
        match code {
            COM_QUIT => {
                self.session.count_command(Command::Quit);
                return Ok(false);
            }
            COM_QUERY => self.query(content)?,
            COM_PING => {
                self.session.count_command(Command::Ping);
                self.ok();
            }
            COM_INIT_DB => {
                let name = self.session.text_of_client(content)?.into_owned();
                self.session.init_database(&name)?;
                self.ok();
            }
            COM_FIELD_LIST => self.field_list(content)?,
            COM_REFRESH => self.refresh(content)?,
            // The kind of shutdown that follows is ignored, since there is only one.
            COM_SHUTDOWN => {
                self.session.execute("SHUTDOWN")?;
                self.eof();
            }
            COM_STATISTICS => self.statistics(),
            COM_PROCESS_INFO => self.query(b"SHOW FULL PROCESSLIST")?,
            COM_DEBUG => self.debug()?,
            COM_PROCESS_KILL => {
                let id = well_formed(PayloadReader::new(content).u32())?;
                self.query(format!("KILL {id}").as_bytes())?;
            }
            COM_SET_OPTION => self.set_option(content)?,
            COM_RESET_CONNECTION => self.reset()?,
            COM_CHANGE_USER => return self.change_user(content),
            COM_STMT_PREPARE => self.prepare(content)?,
            COM_STMT_EXECUTE => self.execute(content)?,
            COM_STMT_FETCH => self.fetch(content)?,
            COM_STMT_SEND_LONG_DATA => self.send_long_data(content),
            COM_STMT_RESET => self.reset_statement(content)?,
            COM_STMT_CLOSE => self.close_statement(content),
            _ => return Err(unknown()),
        }
        Ok(true)
    }

    /// COM_FIELD_LIST: the columns of a table, with their defaults.
    fn field_list(&mut self, content: &[u8]) -> Result<(), Failure> {
        let mut reader = PayloadReader::new(content);
        let table = well_formed(reader.bytes_before_zero())?;
        let pattern = String::from_utf8_lossy(reader.rest()).into_owned();
        let table = String::from_utf8_lossy(table).replace('`', "``");
        let columns = self.table_columns(&table, &pattern)?;
        let encoder = self.session.result_encoder();
        let channel = self.channel.get();
        for (column, default) in &columns {
            channel.packet(|out| {
                append_definition(out, column, &encoder);
                match default {
                    Some(default) => append_bytes(out, default),
                    None => out.push(NULL),
                }
            });
        }
        self.eof();
        Ok(())
    }

    /// A table's columns whose names are like a pattern, with their defaults as text.
    fn table_columns(
        &mut self,
        table: &str,
        pattern: &str,
    ) -> mayfly_engine::Result<Vec<(ResultColumn, Option<Vec<u8>>)>> {
        let like = match pattern {
            "" => String::new(),
            pattern => {
                let quoted = pattern.replace('\\', "\\\\").replace('\'', "''");
                format!(" LIKE '{quoted}'")
            }
        };
        let shown = self
            .session
            .query(&format!("SHOW COLUMNS FROM `{table}`{like}"))?
            .into_result()?;
        let select = format!("SELECT * FROM `{table}` LIMIT 0");
        let all = self.session.query(&select)?.into_result()?;
        let mut columns = Vec::new();
        for row in 0..shown.row_count() {
            let mut values = shown.row_bytes(row);
            let name = values
                .first_mut()
                .and_then(Option::take)
                .unwrap_or_default();
            let column = all.columns.iter().find(|it| it.name.as_bytes() == name);
            if let Some(column) = column {
                let default = values.get_mut(SHOW_COLUMNS_DEFAULT).and_then(Option::take);
                columns.push((column.clone(), default));
            }
        }
        Ok(columns)
    }

    fn statistics(&mut self) {
        self.session.count_command(Command::Statistics);
        let text = self.service.database.statistics_text();
        self.channel
            .get()
            .packet(|out| out.extend_from_slice(text.as_bytes()));
    }

    /// COM_REFRESH, the older form of the statement FLUSH.
    fn refresh(&mut self, content: &[u8]) -> Result<(), Failure> {
        let wanted = *well_formed(content.first())?;
        for (_, flush) in REFRESHED.iter().filter(|(bit, _)| wanted & bit != 0) {
            self.session.execute(flush)?;
        }
        self.ok();
        Ok(())
    }

    /// COM_DEBUG: writes the server's state to its log.
    fn debug(&mut self) -> Result<(), Failure> {
        self.session.count_command(Command::Debug);
        for line in self.session.server_state()? {
            tracing::info!("{line}");
        }
        self.eof();
        Ok(())
    }

    /// Appends an EOF, for a reply that is neither rows nor an OK.
    fn eof(&mut self) {
        let status = self.status();
        self.eof_with(status);
    }

    pub(super) fn eof_with(&mut self, status: StatusFlags) {
        let capabilities = self.capabilities;
        self.channel
            .get()
            .packet(|out| append_row_end(out, &End::with(status), capabilities));
    }

    fn set_option(&mut self, content: &[u8]) -> Result<(), Failure> {
        self.session.count_command(Command::SetOption);
        let is_on = match PayloadReader::new(content).u16() {
            Some(MULTI_STATEMENTS_ON) => true,
            Some(MULTI_STATEMENTS_OFF) => false,
            _ => return Err(codes::ER_UNKNOWN_COM_ERROR.error().into()),
        };
        self.capabilities
            .set(CapabilityFlags::CLIENT_MULTI_STATEMENTS, is_on);
        self.eof();
        Ok(())
    }

    fn reset(&mut self) -> Result<(), Failure> {
        self.session.count_command(Command::ResetConnection);
        self.session.reset();
        self.statements.clear();
        self.session_began()?;
        self.ok();
        Ok(())
    }
}
