//! What a client does with its session besides running statements: it resets it, logs in as another user, has its
//! commands counted, and asks for the state that servers report.

use std::collections::HashMap;
use std::fmt::Debug;
use std::io::Read;
use std::sync::Arc;
use std::time::Instant;

use mayfly_syntax::ast::Statement;
use mayfly_types::error::codes;
use mayfly_types::{CollationId, Error, Result};

use super::memory::ParseError;
use super::tracking::Tracker;
use super::{LoggedIn, Session};
use crate::accounts::privileges::SUPER;
use crate::character_sets;
use crate::client::ResultEncoder;
use crate::connections::{SessionOptions, Transport};
use crate::database::server_modes::is_exempt;
use crate::prepared::Prepared;
use crate::statement_options::ClientLimits;
use crate::status::Counter;
use crate::variables::typed;
use crate::variables::{Settings, sql_mode};

/// Why a session of an ordinary account does not begin.
#[derive(Debug)]
pub struct InitConnectFailed {
    /// The error of the statement.
    pub cause: Error,
    /// What the client is told.
    pub answer: Error,
}

/// Where LOAD DATA LOCAL reads the files of a client that is not this process.
pub trait LocalFiles: Debug + Send {
    /// Asks the client for a file. Its bytes are read to the end, or dropped after an error of the
    /// statement: the implementation then skips what the client still sends.
    fn open(&mut self, name: &str) -> Result<Box<dyn Read + Send>>;
}

/// The state of a session, as it is reported to the client after each statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SessionState {
    /// A transaction is open.
    pub in_transaction: bool,
    /// Whether the open transaction is READ ONLY.
    pub in_read_only_transaction: bool,
    /// `autocommit`
    pub autocommit: bool,
    /// A backslash in a string is a character like any other.
    pub no_backslash_escapes: bool,
    /// The statement read a table without an index.
    pub no_index_used: bool,
    /// Whether the statement exceeded `long_query_time`.
    pub slow: bool,
}

/// What clients ask for besides statements, where it is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// Rows of an open cursor.
    StatementFetch,
    /// A prepared statement goes.
    StatementClose,
    /// Its long data and its cursor go.
    StatementReset,
    /// A piece of a long parameter.
    StatementLongData,
    /// Another account.
    ChangeUser,
    /// The server's state goes to its log.
    Debug,
    /// Whether the server lives.
    Ping,
    /// A session as it began.
    ResetConnection,
    /// The connection ends.
    Quit,
    /// The text of statistics.
    Statistics,
    /// Whether several statements may come together.
    SetOption,
}

impl Command {
    /// As the logs name it.
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

    /// Whether MySQL's general log has it. Another account is logged with its name.
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

/// What a session knows of its client.
#[derive(Debug)]
pub(crate) struct ClientState {
    is_interactive: bool,
    /// An UPDATE tells the rows that it found.
    pub(crate) counts_found_rows: bool,
    ignores_space: bool,
    /// PREPARE
    pub(crate) prepared: HashMap<String, Arc<Prepared>>,
    /// Where LOAD DATA LOCAL reads, if not the files of the process.
    local_files: Option<Box<dyn LocalFiles>>,
    pub(super) tracker: Option<Box<Tracker>>,
}

impl ClientState {
    /// That of a session that begins.
    pub(super) fn new(options: &SessionOptions) -> Self {
        Self {
            is_interactive: options.interactive,
            counts_found_rows: options.found_rows,
            ignores_space: options.ignore_space,
            prepared: HashMap::new(),
            local_files: None,
            tracker: None,
        }
    }

    /// The client's file of a name, if the client is not this process.
    pub(crate) fn open_local_file(&mut self, name: &str) -> Option<Result<Box<dyn Read + Send>>> {
        Some(self.local_files.as_mut()?.open(name))
    }
}

/// The settings of a session that begins.
pub(super) fn begin_settings(settings: &mut Settings, options: &SessionOptions) {
    if options.interactive {
        let seconds = settings.get(typed::INTERACTIVE_TIMEOUT);
        settings.put(typed::WAIT_TIMEOUT, seconds);
    }
    if options.ignore_space {
        let mode = sql_mode::bit("IGNORE_SPACE") | settings.get(typed::SQL_MODE);
        settings.put(typed::SQL_MODE, mode);
    }
    // A client that names a character set in which no statement can come has that of the server.
    let usable = |collation: &CollationId| character_sets::may_be_the_clients(collation.charset());
    let Some(collation) = options.collation.filter(usable) else {
        return;
    };
    let text = |text: &str| Some(Arc::from(text));
    let charset = collation.charset().name();
    settings.put(typed::CHARACTER_SET_CLIENT, text(charset));
    let results = character_sets::results_name(character_sets::row(collation));
    settings.put(typed::CHARACTER_SET_RESULTS, text(results));
    settings.put(typed::CHARACTER_SET_CONNECTION, text(charset));
    settings.put(typed::COLLATION_CONNECTION, text(collation.name()));
}

impl Session {
    /// Resets everything to what it was when the session began, but for its number, its account and the current
    /// database: open changes are rolled back, locks released, temporary tables dropped.
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
        self.begin_as(options, login);
    }

    /// A new session in place of this one, with its number. No account is asked for, as by
    /// [`Database::session_with`].
    ///
    /// [`Database::session_with`]: crate::Database::session_with
    pub fn change_user(&mut self, options: SessionOptions) {
        self.begin_as(options, LoggedIn::default());
    }

    pub(crate) fn begin_as(&mut self, options: SessionOptions, login: LoggedIn) {
        self.leave();
        self.write_pending();
        let slot = self.slot.take();
        let shared = Arc::clone(&self.shared);
        let database = Arc::clone(&self.database);
        let identity = super::identity(&database, &options, &login);
        let mut fresh = Self::over((database, slot, shared), identity, options, login);
        fresh.client.local_files = self.client.local_files.take();
        if self.client.tracker.is_some() {
            fresh.track_state(true);
            fresh.note_state_change();
        }
        *self = fresh;
    }

    /// What a session holds is released.
    pub(super) fn leave(&mut self) {
        self.transaction.leave();
        self.temporary_tables.clear();
    }

    /// Where LOAD DATA LOCAL reads from here on, instead of this process' own files.
    pub fn set_local_files(&mut self, files: Box<dyn LocalFiles>) {
        self.client.local_files = Some(files);
    }

    /// How long to wait for the client.
    #[inline]
    pub fn client_limits(&self) -> ClientLimits {
        self.settings.options().client
    }

    /// What is reported to the client after each statement.
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

    /// How columns and values are given to the client.
    #[inline]
    pub fn result_encoder(&self) -> ResultEncoder {
        ResultEncoder::new(self.settings.options().results)
    }

    /// Bytes that came from the client and went to it.
    #[inline]
    pub fn count_traffic(&self, received: u64, sent: u64) {
        self.counters().add(Counter::BytesReceived, received);
        self.counters().add(Counter::BytesSent, sent);
    }

    /// The client asked for something that is no statement.
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

    /// How the server is and what its sessions do, a line each, for its log: 1227 without SUPER.
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

    /// How the client is connected, for as long as the connection lives.
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

    /// True where a text is queries alone, which may be run again and again.
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

    /// The current database for a client that names one without a statement: 1046 for an empty name,
    /// 1049 when there is none of that name.
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
