//! A session's log entries: each statement when it begins and when it has ended, and the client's other commands.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use mayfly_storage::temptable::{Purpose, RegistryEntry};
use mayfly_types::{Error, Result, printable};

use super::log_state::ExplainedPlan;
use super::{Session, StatementContext};
use crate::connections::{Encryption, Identity, SessionOptions};
use crate::database::Database;
use crate::logs::{GeneralEntry, HandlerCounts, LoggedCondition, SlowEntry, StatementKind};
use crate::result::StatementSummary;
use crate::status::{COUNTERS, Counter};

impl StatementContext<'_> {
    /// Whether the running statement is to be explained in the slow log.
    #[inline]
    pub(crate) fn wants_explain(&self) -> bool {
        let logs = &self.database().logs;
        self.ahead.is_none() && logs.slow_is_on() && logs.wants_explain(&self.options().log)
    }

    /// Sets the plan that the slow log explains.
    pub(crate) fn is_explained(&mut self, plan: ExplainedPlan) {
        self.measures = Some(Arc::clone(&plan.measures));
        self.session.log.explained = Some(Box::new(plan));
    }

    /// Logs the start of a statement in the general log, under a command and with its own text, if given.
    pub(crate) fn log_begin(&mut self, command: &str, text: Option<Arc<str>>) {
        let session = &mut *self.session;
        let entry = text.as_ref().unwrap_or(&session.statement_text);
        session.log_general(command, entry);
        session.log.text = text;
    }

    /// Marks the statement as a client's PREPARE, which is a command of its own in the slow log.
    pub(crate) fn log_prepare(&mut self) {
        if self.database().logs.slow_is_on() {
            self.session.log.text = Some(Arc::from("Prepare"));
            self.session.log.is_command = true;
        }
    }

    /// Logs the statement in the slow log, if it was slow.
    pub(super) fn log_end(&mut self) {
        let options = Arc::clone(self.options());
        let database = Arc::clone(self.database());
        let session = &mut *self.session;
        let now = database.options.clock.now_utc_microseconds();
        let summary = session.diagnostics.summary;
        let text = session.log.text.take();
        let mut entry = SlowEntry {
            is_command: session.log.is_command,
            kind: kind(self.identity.command),
            tmp_table_sizes: sizes(&session.diagnostics.finished_temporary_tables),
            errno: self.error.as_ref().map_or(0, |error| error.code),
            text: text.unwrap_or_else(|| Arc::clone(&session.statement_text)),
            ..session.slow_entry(now, summary)
        };
        if options.timestamp != 0.0 {
            entry.timestamp = options.timestamp as i64;
        }
        let (before, explained) = (session.log.before.take(), session.log.explained.take());
        let Some(log) = database.logs.takes(&entry, &options.log) else {
            return;
        };
        entry.verbosity = log.verbosity;
        entry.rate_limit = log.rate_limit;
        entry.counts = before.map(|before| {
            let now = HandlerCounts::of(&session.shared.counters);
            Box::new(now.since(&before))
        });
        entry.explain = explained.map_or_else(Vec::new, |plan| plan.lines());
        if log.verbosity.warnings && session.diagnostics.own_conditions() > 0 {
            let conditions = session.diagnostics.conditions().into_iter();
            let logged = conditions
                .take(log.warnings_max)
                .map(|condition| LoggedCondition {
                    level: condition.level,
                    code: condition.error.errno(),
                    message: Arc::from(condition.error.message()),
                });
            entry.warnings = logged.collect();
        }
        session.log_when_answered(entry);
    }
}

impl Session {
    /// Prepares the log state for a statement, while a log is on.
    pub(super) fn begin_log(&mut self) {
        self.write_pending();
        let log = &mut self.log;
        (log.text, log.explained, log.before) = (None, None, None);
        log.is_command = false;
        let logs = &self.database.logs;
        if logs.slow_is_on() && logs.options().extra {
            let counts = HandlerCounts::of(&self.shared.counters);
            self.log.before = Some(Box::new(counts));
        }
    }

    /// Reports that the client was answered: the bytes received and sent for its last statement or command.
    #[inline]
    pub fn answered(&mut self, received: u64, sent: u64) {
        if let Some(mut entry) = self.log.pending.take() {
            (entry.bytes_received, entry.bytes_sent) = (received, sent);
            self.database.logs.write_slow(&entry);
        }
    }

    /// Writes the pending entry without the number of bytes sent.
    pub(super) fn write_pending(&mut self) {
        if self.log.pending.is_some() {
            self.answered(0, 0);
        }
    }

    /// Keeps an entry until its client is answered, if it has a connection: only then the number of bytes sent is
    /// known.
    fn log_when_answered(&mut self, entry: SlowEntry) {
        if self.shared.transport.get().is_some() {
            self.log.pending = Some(Box::new(entry));
        } else {
            self.database.logs.write_slow(&entry);
        }
    }

    fn user_host(&self) -> Arc<str> {
        let made = || Arc::from(user_host(self.privileges.identity(), true));
        Arc::clone(self.log.user_host.get_or_init(made))
    }

    fn slow_entry(&self, ended_at: i64, summary: StatementSummary) -> SlowEntry {
        let mut entry = SlowEntry {
            session_id: self.shared.id,
            user_host: self.user_host(),
            database: self.settings.current_database().cloned(),
            ended_at,
            summary,
            ..SlowEntry::default()
        };
        entry.timestamp = entry.began_at().div_euclid(1_000_000);
        entry
    }

    /// Writes a client's command to the general log.
    #[inline]
    pub(crate) fn log_general(&self, command: &str, argument: &str) {
        if self.database.logs.general_is_on() && !self.settings.options().log.general_off {
            self.database.logs.write_general(&GeneralEntry {
                at: self.database.options.clock.now_utc_microseconds(),
                session_id: self.shared.id,
                user_host: self.user_host(),
                command,
                argument,
            });
        }
    }

    /// Writes a protocol command to the slow log, if it was slow.
    pub(super) fn log_command(&mut self, name: &str, began: Instant) {
        if !self.database.logs.slow_is_on() {
            return;
        }
        self.write_pending();
        let options = Arc::clone(self.settings.options());
        let summary = StatementSummary {
            elapsed: began.elapsed(),
            ..StatementSummary::default()
        };
        let now = self.database.options.clock.now_utc_microseconds();
        let mut entry = SlowEntry {
            text: Arc::from(name),
            is_command: true,
            ..self.slow_entry(now, summary)
        };
        if let Some(log) = self.database.logs.takes(&entry, &options.log) {
            entry.verbosity = log.verbosity;
            entry.rate_limit = log.rate_limit;
            if self.database.logs.options().extra {
                entry.counts = Some(Box::default());
            }
            self.log_when_answered(entry);
        }
    }

    /// Logs a login, to this account or to another one.
    pub(crate) fn log_login(&self, command: &str) {
        if !self.database.logs.general_is_on() {
            return;
        }
        let identity = self.privileges.identity();
        let transport = self.shared.transport.get();
        let encryption = transport.and_then(|transport| transport.encryption.as_ref());
        let argument = format!(
            "{}@{} on {} using {}",
            identity.user,
            identity.host,
            self.current_database().unwrap_or_default(),
            transport_name(encryption, self.shared.port.is_none())
        );
        self.database.logs.write_general(&GeneralEntry {
            at: self.database.options.clock.now_utc_microseconds(),
            session_id: self.shared.id,
            // As in MySQL, the account is not known yet.
            user_host: Arc::from(user_host(identity, false)),
            command,
            argument: &printable(&argument),
        });
    }
}

impl Database {
    /// Logs a refused login, of the connection with this number, encrypted or not, through a local socket or not.
    pub fn log_refused_login(
        &self,
        connection: u64,
        options: &SessionOptions,
        (encryption, is_socket): (Option<&Encryption>, bool),
        error: &Error,
    ) {
        if !self.logs.general_is_on() {
            return;
        }
        let SessionOptions { user, host, .. } = options;
        let asked = format!(
            "{user}@{host} on {} using {}",
            options.database.as_deref().unwrap_or_default(),
            transport_name(encryption, is_socket)
        );
        let (name, address) = name_and_address(host);
        let user_host = format!("[{user}] @ {name} [{address}]");
        let user_host: Arc<str> = Arc::from(printable(&user_host));
        for argument in [asked.as_str(), error.message()] {
            self.logs.write_general(&GeneralEntry {
                at: self.options.clock.now_utc_microseconds(),
                session_id: connection,
                user_host: Arc::clone(&user_host),
                command: "Connect",
                argument: &printable(argument),
            });
        }
    }

    /// Reopens the log files, as FLUSH LOGS does: renamed files are complete.
    pub fn flush_logs(&self) -> Result<()> {
        let slow = self.logs.reopen_slow();
        self.logs.reopen_general().and(slow)
    }
}

/// MySQL's names of transports.
fn transport_name(encryption: Option<&Encryption>, is_socket: bool) -> &'static str {
    match (encryption, is_socket) {
        (Some(_), _) => "SSL/TLS",
        (None, true) => "Socket",
        (None, false) => "TCP/IP",
    }
}

/// A host as a name and an address, one of which is empty.
fn name_and_address(host: &str) -> (&str, &str) {
    if host.parse::<IpAddr>().is_ok() {
        ("", host)
    } else {
        (host, "")
    }
}

/// `account[user] @ host [address]`
fn user_host(identity: &Identity, with_account: bool) -> String {
    let account = match &identity.account {
        Some(account) if with_account => account.user.as_str(),
        None if with_account => identity.user.as_str(),
        _ => "",
    };
    let (name, address) = name_and_address(&identity.host);
    printable(&format!(
        "{account}[{}] @ {name} [{address}]",
        identity.user
    ))
    .into_owned()
}

fn kind(command: Option<Counter>) -> StatementKind {
    match command {
        Some(
            Counter::ComAlterTable
            | Counter::ComAnalyze
            | Counter::ComCheck
            | Counter::ComCreateIndex
            | Counter::ComDropIndex
            | Counter::ComOptimize
            | Counter::ComRepair,
        ) => StatementKind::Administration,
        Some(counter) if COUNTERS[counter as usize].1.starts_with("Com_show") => {
            StatementKind::Show
        }
        _ => StatementKind::Other,
    }
}

/// The bytes of a statement's temporary tables, as MariaDB sums them: without those of sorts and joins.
fn sizes(tables: &[RegistryEntry]) -> u64 {
    let internal = tables.iter().filter(|table| {
        !matches!(
            table.purpose,
            Purpose::OrderBy | Purpose::Join | Purpose::UserTable | Purpose::TransactionChanges
        )
    });
    internal
        .map(|table| table.memory_peak + table.disk_peak)
        .sum()
}
