//! Commands: the first byte of a payload says which.

use std::borrow::Cow;
use std::io;

use mayfly_engine::{Command, ResultColumn, codes};
use mysql_common::constants::CapabilityFlags;

use super::Connection;
use crate::packet::PayloadReader;
use crate::reply::{End, NULL, append_bytes, append_definition, append_row_end};

// The first byte of a command. Those that are missing are of replication, or of servers long gone.
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

/// The place of the default in a row of SHOW COLUMNS.
const SHOW_COLUMNS_DEFAULT: usize = 4;

/// COM_REFRESH: what each bit flushes. The others are of what Mayfly does not have: caches of hosts
/// and threads, replication.
const REFRESHED: [(u8, &str); 4] = [
    (0x01, "FLUSH PRIVILEGES"),
    (0x02, "FLUSH LOGS"),
    (0x04, "FLUSH TABLES"),
    (0x10, "FLUSH STATUS"),
];

/// COM_SET_OPTION: MYSQL_OPTION_MULTI_STATEMENTS_ON and _OFF.
const MULTI_STATEMENTS_ON: u16 = 0;
const MULTI_STATEMENTS_OFF: u16 = 1;

impl Connection {
    /// Runs a command and writes its reply; false when the client is done.
    pub(super) fn command(&mut self, payload: &[u8]) -> io::Result<bool> {
        let Some((&code, content)) = payload.split_first() else {
            self.error(&codes::ER_UNKNOWN_COM_ERROR.error());
            return Ok(true);
        };
        match code {
            COM_QUIT => return Ok(false),
            COM_QUERY => self.query(content)?,
            COM_PING => {
                self.session.count_command(Command::Administration);
                self.ok();
            }
            COM_INIT_DB => self.init_db(content),
            COM_FIELD_LIST => self.field_list(content),
            COM_REFRESH => self.refresh(content),
            COM_SHUTDOWN => self.shutdown(),
            COM_STATISTICS => self.statistics(),
            COM_PROCESS_INFO => self.query(b"SHOW FULL PROCESSLIST")?,
            COM_DEBUG => self.debug(),
            COM_PROCESS_KILL => self.process_kill(content)?,
            COM_SET_OPTION => self.set_option(content),
            COM_RESET_CONNECTION => self.reset()?,
            COM_CHANGE_USER => return self.change_user(content),
            COM_STMT_PREPARE => self.prepare(content),
            COM_STMT_EXECUTE => self.execute(content)?,
            COM_STMT_FETCH => self.fetch(content)?,
            COM_STMT_SEND_LONG_DATA => self.send_long_data(content),
            COM_STMT_RESET => self.reset_statement(content),
            COM_STMT_CLOSE => self.close_statement(content),
            _ => self.error(&codes::ER_UNKNOWN_COM_ERROR.error()),
        }
        Ok(true)
    }

    pub(super) fn malformed(&mut self) {
        self.error(&codes::ER_MALFORMED_PACKET.error());
    }

    fn init_db(&mut self, name: &[u8]) {
        let name = self.session.text_of_client(name).map(Cow::into_owned);
        let used = name.and_then(|name| self.session.init_database(&name));
        self.done(used);
    }

    /// COM_FIELD_LIST: the columns of a table, with their defaults.
    fn field_list(&mut self, content: &[u8]) {
        let mut reader = PayloadReader::new(content);
        let Some(table) = reader.bytes_before_zero() else {
            return self.malformed();
        };
        let pattern = String::from_utf8_lossy(reader.rest()).into_owned();
        let table = String::from_utf8_lossy(table).replace('`', "``");
        let columns = match self.table_columns(&table, &pattern) {
            Ok(columns) => columns,
            Err(error) => return self.error(&error),
        };
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

    /// COM_REFRESH, which is what FLUSH was before it was a statement.
    fn refresh(&mut self, content: &[u8]) {
        let Some(&wanted) = content.first() else {
            return self.malformed();
        };
        let mut wanted = REFRESHED.iter().filter(|(bit, _)| wanted & bit != 0);
        let done = wanted.try_for_each(|(_, flush)| self.session.execute(flush).map(drop));
        self.done(done);
    }

    /// COM_SHUTDOWN, with a kind of shutdown that means nothing since there is one.
    fn shutdown(&mut self) {
        match self.session.execute("SHUTDOWN") {
            Ok(_) => self.eof(),
            Err(error) => self.error(&error),
        }
    }

    /// COM_DEBUG: how the server is goes to its log.
    fn debug(&mut self) {
        self.session.count_command(Command::Administration);
        match self.session.server_state() {
            Ok(lines) => {
                for line in lines {
                    tracing::info!("{line}");
                }
                self.eof();
            }
            Err(error) => self.error(&error),
        }
    }

    /// The end of a reply that is neither rows nor an OK.
    fn eof(&mut self) {
        let end = End {
            status: self.status(),
            ..End::default()
        };
        let capabilities = self.capabilities;
        self.channel
            .get()
            .packet(|out| append_row_end(out, &end, capabilities));
    }

    fn process_kill(&mut self, content: &[u8]) -> io::Result<()> {
        match PayloadReader::new(content).u32() {
            Some(id) => self.query(format!("KILL {id}").as_bytes()),
            None => {
                self.malformed();
                Ok(())
            }
        }
    }

    fn set_option(&mut self, content: &[u8]) {
        self.session.count_command(Command::SetOption);
        let option = PayloadReader::new(content).u16();
        let is_on = match option {
            Some(MULTI_STATEMENTS_ON) => true,
            Some(MULTI_STATEMENTS_OFF) => false,
            _ => return self.error(&codes::ER_UNKNOWN_COM_ERROR.error()),
        };
        self.capabilities
            .set(CapabilityFlags::CLIENT_MULTI_STATEMENTS, is_on);
        self.eof();
    }

    fn reset(&mut self) -> io::Result<()> {
        self.session.count_command(Command::Administration);
        self.session.reset();
        self.statements.clear();
        self.session_began()?;
        self.ok();
        Ok(())
    }
}
