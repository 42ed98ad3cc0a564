//! A session of a server as a connection of the shell.
//!
//! It is made again when the server has ended it, as by the `mysql` client: with the current database, and without the
//! transaction, variables and temporary tables that it had. Ctrl-C ends the running statement by KILL QUERY on another
//! connection; when that does not help, a second one ends the connection, whatever the server does.

use std::fs::File;
use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mayfly_client::{Address, Client, Closer, Column, Error, Limits, Row as SentRow};
use mayfly_engine::{Level, ResultColumn};

use super::names::{self, OBJECTS, VARIABLES};
use super::{
    Connection, Failure, Interrupter, Receiver, ResultEnd, StatementError, Warning, begins_with,
};
use crate::client_command::{self, ClientCommand};
use crate::output::{Part, Row};

/// Greatest size of a row: MySQL's greatest `max_allowed_packet`.
const ROW_BYTES: usize = 1 << 30;
/// Rows, and bytes of them, that are passed on together.
const PART_ROWS: usize = 1024;
const PART_BYTES: usize = 1 << 20;
/// Time in which a second connection must have ended a statement.
const KILL_TIME: Duration = Duration::from_secs(10);
/// Time between attempts to connect.
const WAIT_TIME: Duration = Duration::from_secs(1);
/// Warnings that are asked for.
const WARNINGS_MAX: usize = 64;

/// The server of a connection, and how a session begins.
#[derive(Debug, Clone)]
pub(crate) struct ServerOptions {
    /// Its address, with the account.
    pub(crate) address: Address,
    /// Its name for people.
    pub(crate) name: String,
    /// Greatest time of a login.
    pub(crate) login_time: Duration,
    /// Statements that begin each session.
    pub(crate) init: Vec<String>,
    /// Whether the first login waits for a server that does not answer.
    pub(crate) waits: bool,
    /// Whether names are read for completion.
    pub(crate) has_names: bool,
    /// Whether for a shell: a lost connection is made again, and one whose output fails is kept.
    pub(crate) is_interactive: bool,
}

impl ServerOptions {
    fn limits(&self) -> Limits {
        Limits {
            login: self.login_time,
            // The user waits as long as he likes.
            time: Duration::MAX,
            rows: WARNINGS_MAX,
            bytes: ROW_BYTES,
        }
    }
}

/// A session of a server.
pub(crate) struct ServerConnection {
    options: ServerOptions,
    client: Client,
    running: Arc<Running>,
}

/// The running statement, as Ctrl-C finds it.
#[derive(Debug, Default)]
struct Running {
    /// The number of the connection, and what ends it.
    target: Mutex<Option<(u32, Closer)>>,
    is_running: AtomicBool,
    /// Ctrl-C during this statement.
    interrupts: AtomicUsize,
}

impl Running {
    fn set_target(&self, client: &Client) {
        let closer = client.closer().ok();
        let target = closer.map(|closer| (client.server().connection, closer));
        *self.target.lock().unwrap_or_else(PoisonError::into_inner) = target;
    }

    fn begin(&self) {
        self.interrupts.store(0, Ordering::Relaxed);
        self.is_running.store(true, Ordering::Release);
    }

    fn end(&self) {
        self.is_running.store(false, Ordering::Release);
    }

    /// Ends the statement, and at the second time the connection; returns whether there was one to end.
    fn interrupt(&self, address: &Address) -> bool {
        if !self.is_running.load(Ordering::Acquire) {
            return false;
        }
        let target = self.target.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((connection, closer)) = &*target else {
            return false;
        };
        match self.interrupts.fetch_add(1, Ordering::Relaxed) {
            0 => {}
            1 => {
                closer.close();
                return true;
            }
            _ => return false,
        }
        let (connection, address) = (*connection, address.clone());
        // The next Ctrl-C does not wait for it.
        std::thread::spawn(move || {
            let limits = Limits {
                login: KILL_TIME,
                time: KILL_TIME,
                ..Limits::default()
            };
            // A statement that has ended is what is wanted; a server that cannot be reached needs the second Ctrl-C.
            if let Ok(mut client) = Client::connect(&address, limits) {
                let _ = client.query(&format!("KILL QUERY {connection}"));
            }
        });
        true
    }
}

impl ServerConnection {
    /// Logs in to a server.
    ///
    /// # Errors
    /// The server cannot be reached or trusted, or refuses the account or a first statement.
    pub(crate) fn open(options: ServerOptions) -> Result<Self, String> {
        let mut is_waiting = false;
        let client = loop {
            match connect(&options) {
                Err(Error::Unreachable(error)) if options.waits => {
                    if !is_waiting {
                        eprintln!("mayfly: {}: {error}; waiting", options.name);
                    }
                    is_waiting = true;
                    std::thread::sleep(WAIT_TIME);
                }
                connected => break connected,
            }
        };
        let client = client.map_err(|error| format!("{}: {}", options.name, error_of(&error)))?;
        let running = Arc::new(Running::default());
        running.set_target(&client);
        Ok(Self {
            options,
            client,
            running,
        })
    }

    /// Connects again, to the database that was current.
    fn reconnect(&mut self) -> Result<(), Failure> {
        eprintln!("The connection is lost. Connecting again…");
        self.client = connect(&self.options).map_err(|error| failure(&error))?;
        self.running.set_target(&self.client);
        let database = self.options.address.database.as_deref();
        eprintln!(
            "Connection {} of {}, current database: {}\n",
            self.client.server().connection,
            self.options.name,
            database.unwrap_or("none")
        );
        Ok(())
    }

    fn names(&mut self, queries: &[&str]) -> Vec<String> {
        if !self.options.has_names || self.client.is_ended() {
            return Vec::new();
        }
        self.running.begin();
        let names = names::of(&mut self.client, queries);
        self.running.end();
        names
    }
}

fn connect(options: &ServerOptions) -> Result<Client, Error> {
    let mut client = Client::connect(&options.address, options.limits())?;
    for sql in &options.init {
        client.query(sql)?;
    }
    Ok(client)
}

fn error_of(error: &Error) -> StatementError {
    StatementError {
        errno: error.code(),
        state: error.state().to_owned(),
        message: error.message().to_owned(),
    }
}

fn failure(error: &Error) -> Failure {
    Failure::Statement(error_of(error))
}

impl Connection for ServerConnection {
    fn run(&mut self, text: &[u8], receiver: &mut dyn Receiver) -> Result<(), Failure> {
        if self.options.is_interactive && self.client.is_ended() {
            self.reconnect()?;
        }
        let mut passing = Passing {
            receiver,
            rows: Vec::new(),
            bytes: 0,
            failed: None,
            reads_to_end: self.options.is_interactive,
        };
        self.running.begin();
        let ran = self.client.run(text, &mut passing);
        self.running.end();
        if let Some(error) = passing.failed {
            return Err(error.into());
        }
        match ran {
            Err(Error::Server { code, .. }) if code == EMPTY_QUERY => return Ok(()),
            ran => ran.map_err(|error| failure(&error))?,
        }
        if let Some(ClientCommand::Use(name)) = client_command::parse(text) {
            self.options.address.database = Some(name);
        }
        Ok(())
    }

    fn warnings(&mut self) -> Vec<Warning> {
        let rows = self
            .client
            .query(&format!("SHOW WARNINGS LIMIT {WARNINGS_MAX}"));
        // They are of no use when the connection is lost.
        let rows = rows.map(|rows| rows.rows).unwrap_or_default();
        rows.iter().filter_map(|row| warning(row)).collect()
    }

    fn object_names(&mut self) -> Vec<String> {
        self.names(&OBJECTS)
    }

    fn variable_names(&mut self) -> Vec<String> {
        self.names(&VARIABLES)
    }

    /// As the `mysql` client, which reads them for each database: the queries change what SHOW WARNINGS and FOUND_ROWS()
    /// show.
    fn changes_names(&self, text: &[u8]) -> bool {
        begins_with(text, &["use"])
    }

    fn status(&self) -> String {
        let quoted = |text: &str| format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"));
        let encryption = self.client.encryption();
        format!(
            "SELECT VERSION() AS `server version`, @@version_comment AS `server`, \
             CONNECTION_ID() AS `connection id`, DATABASE() AS `current database`, \
             CURRENT_USER() AS `current user`, {} AS `connection`, {} AS `encryption`, \
             @@character_set_client AS `character set`, @@sql_mode AS `SQL mode`, @@time_zone AS `time zone`\\G",
            quoted(&self.options.name),
            quoted(encryption.as_deref().unwrap_or("none"))
        )
    }

    fn interrupter(&self) -> Interrupter {
        let running = Arc::clone(&self.running);
        let address = self.options.address.clone();
        Box::new(move || running.interrupt(&address))
    }
}

/// The error of a text without a statement.
const EMPTY_QUERY: u16 = 1065;

/// A row of SHOW WARNINGS.
fn warning(row: &[Option<String>]) -> Option<Warning> {
    let [level, code, message] = row else {
        return None;
    };
    Some(Warning {
        level: match level.as_deref()? {
            "Note" => Level::Note,
            "Error" => Level::Error,
            _ => Level::Warning,
        },
        error: StatementError {
            errno: code.as_deref()?.parse().ok()?,
            state: String::new(),
            message: message.clone()?,
        },
    })
}

/// Passes results on in parts. After an error of the output the connection is ended, or else the rest of the results is
/// read and thrown away.
struct Passing<'r> {
    receiver: &'r mut dyn Receiver,
    rows: Vec<Row>,
    bytes: usize,
    failed: Option<io::Error>,
    reads_to_end: bool,
}

impl Passing<'_> {
    fn pass(
        &mut self,
        pass: impl FnOnce(&mut dyn Receiver) -> io::Result<()>,
    ) -> Result<(), String> {
        if self.failed.is_none() {
            self.failed = pass(self.receiver).err();
        }
        match &self.failed {
            Some(error) if !self.reads_to_end => Err(error.to_string()),
            _ => Ok(()),
        }
    }

    fn pass_rows(&mut self) -> Result<(), String> {
        let rows = std::mem::take(&mut self.rows);
        self.bytes = 0;
        if rows.is_empty() {
            return Ok(());
        }
        self.pass(|receiver| receiver.rows(Part::Texts(&rows)))
    }
}

impl mayfly_client::Receiver for Passing<'_> {
    fn columns(&mut self, columns: Vec<Column>) -> Result<(), String> {
        let columns: Arc<[ResultColumn]> = columns.iter().map(super::columns::of).collect();
        self.pass(|receiver| receiver.columns(&columns))
    }

    fn row(&mut self, row: &SentRow<'_>) -> Result<(), String> {
        let values = row.values()?;
        if self.failed.is_some() {
            return Ok(());
        }
        let bytes = |value: Option<&[u8]>| value.map(<[u8]>::to_vec);
        self.rows.push(values.into_iter().map(bytes).collect());
        self.bytes += row.size();
        if self.rows.len() >= PART_ROWS || self.bytes >= PART_BYTES {
            return self.pass_rows();
        }
        Ok(())
    }

    fn end(&mut self, end: &mayfly_client::ResultEnd) -> Result<(), String> {
        self.pass_rows()?;
        let end = ResultEnd {
            has_rows: end.has_rows,
            affected_rows: end.affected_rows,
            warning_count: end.warnings.into(),
            info: end.info.clone(),
            is_last: end.is_last,
        };
        self.pass(|receiver| receiver.end(&end))
    }

    fn open(&mut self, path: &str) -> io::Result<Box<dyn Read>> {
        Ok(Box::new(File::open(path)?))
    }
}
