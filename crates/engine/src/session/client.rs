//! Client-side operations on a session besides running statements: reset, change of user, counting of commands, and
//! the state that servers report.

use std::sync::Arc;
use std::time::Instant;

use mayfly_syntax::ast::Statement;
use mayfly_types::error::codes;
use mayfly_types::{Error, Result};

use super::client_state::LocalFiles;
use super::memory::ParseError;
use super::{LoggedIn, Session};
use crate::accounts::privileges::SUPER;
use crate::budgets::SessionMemory;
use crate::client::ResultEncoder;
use crate::connections::{SessionOptions, Transport};
use crate::database::server_modes::is_exempt;
use crate::statement_options::ClientLimits;
use crate::status::Counter;
use crate::variables::typed;

/// `init_connect` failed, so that a session of an ordinary account does not begin.
#[derive(Debug)]
pub struct InitConnectFailed {
    /// The error of the statement.
    pub cause: Error,
    /// The error sent to the client.
    pub answer: Error,
}

/// Session state reported to the client after each statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SessionState {
    /// Whether a transaction is open.
    pub in_transaction: bool,
    /// Whether the open transaction is READ ONLY.
    pub in_read_only_transaction: bool,
    /// `autocommit`
    pub autocommit: bool,
    /// Whether NO_BACKSLASH_ESCAPES is on: a backslash in a string is an ordinary character.
    pub no_backslash_escapes: bool,
    /// Whether the statement read a table without an index.
    pub no_index_used: bool,
    /// Whether the statement exceeded `long_query_time`.
    pub slow: bool,
}

/// Protocol commands other than queries, for the status counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// Rows of an open cursor.
    StatementFetch,
    /// Closes a prepared statement.
    StatementClose,
    /// Drops its long data and its cursor.
    StatementReset,
    /// Sends a piece of a long parameter.
    StatementLongData,
    /// Logs in to another account.
    ChangeUser,
    /// Writes the server's state to its log.
    Debug,
    /// Checks whether the server is alive.
    Ping,
    /// Resets the session.
    ResetConnection,
    /// Ends the connection.
    Quit,
    /// Requests the text of statistics.
    Statistics,
    /// Sets whether one query may have several statements.
    SetOption,
}

impl Command {
    /// The command's name in the logs.
    fn name(self) -> &'static str {
        match self {
            Self::StatementFetch => "Fetch",
            Self::StatementClose => "Close stmt",
            Self::StatementReset => "Reset stmt",
            Self::StatementLongData => "Long Data",
            Self::ChangeUser => "Change user",
            Self::Debug => "Debug",
            Self::Ping => "Ping",
            Self::ResetConnection => "Reset Connection",
            Self::Quit => "Quit",
            Self::Statistics => "Statistics",
            Self::SetOption => "Set option",
        }
    }

    /// Whether MySQL's general log has the command. A change of user is logged with the account's name.
    fn is_in_general_log(self) -> bool {
        matches!(
            self,
            Self::StatementClose
                | Self::StatementReset
                | Self::Debug
                | Self::Quit
                | Self::Statistics
        )
    }
}

impl Session {
    /// Resets the session to its initial state, but for its number, its account and the current database: rolls back,
    /// releases locks, drops temporary tables unless `session_keep_temp_tables` is ON.
    pub fn reset(&mut self) {
        let options = SessionOptions {
            user: self.user().to_owned(),
            host: self.host().to_owned(),
            database: self.current_database().map(str::to_owned),
            interactive: self.client.is_interactive,
            collation: None,
            changes_expired_password: false,
            found_rows: self.client.counts_found_rows,
            ignore_space: self.client.ignores_space,
            attributes: self.privileges.identity().attributes.kept.clone(),
        };
        let login = self.privileges.login_again();
        if !self.settings.options().session_keep_temp_tables {
            return self.begin_as(options, login);
        }
        self.transaction.leave();
        let tables = self.temporary_tables.detached();
        let memory = self.memory.clone();
        self.begin_with(options, login, Some(memory));
        let joins = tables.act_on_commit();
        tables.show_all();
        self.temporary_tables = tables;
        if joins {
            self.join_temporary_tables();
        }
    }

    /// Replaces the session by a new one with the same number, without authentication, as [`Database::session_with`].
    ///
    /// [`Database::session_with`]: crate::Database::session_with
    pub fn change_user(&mut self, options: SessionOptions) {
        self.begin_as(options, LoggedIn::default());
    }

    pub(crate) fn begin_as(&mut self, options: SessionOptions, login: LoggedIn) {
        self.begin_with(options, login, None);
    }

    /// [`Self::begin_as`], with the budgets of tables that are kept.
    fn begin_with(
        &mut self,
        options: SessionOptions,
        login: LoggedIn,
        memory: Option<SessionMemory>,
    ) {
        self.leave();
        self.write_pending();
        let slot = self.slot.take();
        let shared = Arc::clone(&self.shared);
        let database = Arc::clone(&self.database);
        let identity = super::identity(&database, &options, &login);
        let mut fresh = Self::over((database, slot, shared), identity, options, login, memory);
        fresh.client.local_files = self.client.local_files.take();
        if self.client.tracker.is_some() {
            fresh.track_state(true);
            fresh.note_state_change();
        }
        *self = fresh;
    }

    /// Releases everything that a session holds.
    pub(super) fn leave(&mut self) {
        self.transaction.leave();
        self.temporary_tables.clear();
    }

    /// Sets the source of LOAD DATA LOCAL, in place of this process' own files.
    pub fn set_local_files(&mut self, files: Box<dyn LocalFiles>) {
        self.client.local_files = Some(files);
    }

    /// Time limits of waiting for the client.
    #[inline]
    pub fn client_limits(&self) -> ClientLimits {
        self.settings.options().client
    }

    /// Session state for the client after each statement.
    pub fn state(&self) -> SessionState {
        let options = self.settings.options();
        let begun = self.transaction.current.is_begun();
        let in_transaction = begun || (!options.autocommit && self.holds_tables());
        let characteristics = self.transaction.current.characteristics();
        let characteristics = characteristics.unwrap_or(options.transaction);
        SessionState {
            in_transaction,
            in_read_only_transaction: in_transaction && characteristics.read_only,
            autocommit: options.autocommit,
            no_backslash_escapes: options.parse.no_backslash_escapes,
            no_index_used: self.diagnostics.summary.no_index_used,
            slow: self.diagnostics.summary.elapsed.as_secs_f64() > options.log.long_query_time,
        }
    }

    /// Whether the open transaction has used a table.
    pub(crate) fn holds_tables(&self) -> bool {
        self.transaction.tables.is_any() || self.transaction.has_durable_changes()
    }

    /// The encoder of columns and values for the client.
    #[inline]
    pub fn result_encoder(&self) -> ResultEncoder {
        ResultEncoder::new(self.settings.options().results)
    }

    /// Counts bytes received from the client and sent to it.
    #[inline]
    pub fn count_traffic(&self, received: u64, sent: u64) {
        self.counters().add(Counter::BytesReceived, received);
        self.counters().add(Counter::BytesSent, sent);
    }

    /// Counts a protocol command other than a query.
    pub fn count_command(&mut self, command: Command) {
        let began = Instant::now();
        if command.is_in_general_log() {
            self.log_general(command.name(), "");
        }
        self.log_command(command.name(), began);
        let counter = match command {
            Command::StatementFetch => Counter::ComStmtFetch,
            Command::StatementClose => Counter::ComStmtClose,
            Command::StatementReset => Counter::ComStmtReset,
            Command::StatementLongData => Counter::ComStmtSendLongData,
            Command::ChangeUser | Command::Debug | Command::Ping | Command::ResetConnection => {
                Counter::ComAdminCommands
            }
            Command::Quit => return,
            Command::Statistics => Counter::ComShowStatus,
            Command::SetOption => Counter::ComSetOption,
        };
        self.counters().add(counter, 1);
    }

    /// The server's state and its sessions' work, one line each, for its log: 1227 without SUPER.
    pub fn server_state(&self) -> Result<Vec<String>> {
        self.privileges.rights().require(SUPER, &[], "SUPER")?;
        let mut lines = vec![self.database.statistics_text()];
        for other in self.database.living_sessions() {
            let (activity, identity) = (&other.activity, other.identity());
            lines.push(format!(
                "Session {} of {}@{}: {} for {} s {}",
                other.id,
                identity.user,
                identity.host,
                activity.work().name(),
                activity.duration().as_secs(),
                activity.statement().as_deref().unwrap_or_default(),
            ));
        }
        Ok(lines)
    }

    /// Sets the client's transport, for the life of the connection.
    pub fn set_transport(&mut self, transport: Transport) {
        // The first transport stays: the login has set it.
        let _ = self.shared.transport.set(transport);
        self.log_login("Connect");
    }

    /// Runs `init_connect`, but for administrators, who could not mend it otherwise.
    ///
    /// # Errors
    /// 1184, which is the answer to the client's first command, with the error of the statement.
    pub fn run_init_connect(&mut self) -> std::result::Result<(), InitConnectFailed> {
        let globals = self.database.globals();
        let text = globals.get(typed::INIT_CONNECT);
        let Some(text) = text.filter(|text| !text.trim().is_empty()) else {
            return Ok(());
        };
        if is_exempt(&self.privileges.rights()) {
            return Ok(());
        }
        let Err(cause) = self.execute(text) else {
            return Ok(());
        };
        let identity = self.privileges.identity();
        let answer = codes::ER_NEW_ABORTING_CONNECTION.with(&[
            &self.id(),
            &self.current_database().unwrap_or("unconnected"),
            &identity.user,
            &identity.host,
            &"init_connect command failed",
        ]);
        Err(InitConnectFailed { cause, answer })
    }

    /// Whether a text has only queries, which may be repeated without effect.
    ///
    /// # Errors
    /// Where its syntax is wrong.
    pub fn is_query(&self, sql: &str) -> Result<bool> {
        for parsed in self.statements_of(sql) {
            let parsed = parsed.map_err(|error| self.parse_error(ParseError::Syntax(error)))?;
            if !matches!(parsed.statement, Statement::Query(_) | Statement::Empty) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Sets the current database for a client, without a statement: 1046 for an empty name, 1049 when there is none
    /// of that name.
    pub fn init_database(&mut self, name: &str) -> Result<()> {
        let began = Instant::now();
        self.counters().add(Counter::ComChangeDb, 1);
        self.log_general("Init DB", name);
        let used = match name {
            "" => Err(codes::ER_NO_DB_ERROR.error()),
            name => self.use_database(name),
        };
        used.map_err(|error| self.refuse(&Arc::from(name), error))?;
        self.log_command("Init DB", began);
        Ok(())
    }
}
