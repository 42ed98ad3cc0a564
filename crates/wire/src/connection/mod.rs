//! A client's connection after its login: it reads commands and sends replies.
//!
//! A connection keeps the thread that serves it as long as commands follow each other closely. When
//! the client pauses it is parked, without a thread, until bytes come: see [`crate::server`].

mod change_user;
mod commands;
mod local_files;
mod prepared;
mod query;
mod result;

use std::io;
use std::sync::Arc;
use std::time::Instant;

use mayfly_engine::{ClientLimits, Error, KillHandle, Session};
use mysql_common::constants::{CapabilityFlags, StatusFlags};

use self::local_files::Lent;
use self::prepared::ClientStatements;
use crate::channel::{Channel, Failure, NetworkTimeouts, Received};
use crate::login::LoggedIn;
use crate::reply::{End, append_error, append_ok};
use crate::service::Service;
use crate::sockets::CountedSocket;
use crate::stream::Socket;

/// State of a connection after it was served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// The client pauses.
    Park,
    /// The connection ends.
    Close,
}

/// Bytes of the packets of a payload, before compression.
fn packet_bytes(payload: usize) -> u64 {
    const HEADER: usize = 4;
    const LONGEST: usize = 0xff_ffff;
    (payload + HEADER * (payload / LONGEST + 1)) as u64
}

/// A client's connection after its login.
#[derive(Debug)]
pub(crate) struct Connection {
    channel: Lent,
    socket: Socket,
    session: Session,
    capabilities: CapabilityFlags,
    statements: ClientStatements,
    service: Arc<Service>,
    login: LoggedIn,
    /// Time of the last reply.
    idle_since: Instant,
    limits: ClientLimits,
    kill: KillHandle,
    /// Bytes of the command that is not answered yet.
    received: u64,
    /// Error that answers the first command and ends the connection.
    refused: Option<Error>,
    /// Counts the socket as long as this lives.
    counted: CountedSocket,
}

impl Connection {
    /// A connection of a client that has logged in.
    pub(crate) fn new(
        mut channel: Box<Channel>,
        session: Session,
        login: LoggedIn,
        service: Arc<Service>,
        counted: CountedSocket,
    ) -> io::Result<Self> {
        let socket = channel.stream()?.socket().clone();
        let (limits, kill) = (session.client_limits(), session.kill_handle());
        let mut connection = Self {
            channel: Lent::new(channel),
            socket,
            session,
            capabilities: login.capabilities,
            statements: ClientStatements::default(),
            service,
            login,
            idle_since: Instant::now(),
            limits,
            kill,
            received: 0,
            refused: None,
            counted,
        };
        connection.session_began()?;
        connection.welcome()?;
        // The login does not count for the first statement.
        connection.channel.get().take_replied();
        Ok(connection)
    }

    /// Ends the login. From its OK on everything is compressed, if the client wants compression.
    fn welcome(&mut self) -> io::Result<()> {
        if let Err(failed) = self.session.run_init_connect() {
            tracing::warn!("init_connect: {}; {}", failed.cause, failed.answer);
            self.refused = Some(failed.answer);
        }
        self.ok();
        let compression = self.login.compression;
        let channel = self.channel.get();
        channel.flush()?;
        if let Some(algorithm) = compression {
            channel.start_compression(algorithm);
        }
        Ok(())
    }

    /// Applies the settings of a new session to its connection.
    fn session_began(&mut self) -> io::Result<()> {
        let has = |capability| self.capabilities.contains(capability);
        let files = self
            .channel
            .local_files(has(CapabilityFlags::CLIENT_LOCAL_FILES));
        self.session.set_local_files(files);
        self.session
            .track_state(has(CapabilityFlags::CLIENT_SESSION_TRACK));
        let socket = self.socket.clone();
        self.kill = self.session.kill_handle();
        self.counted.set_session(self.kill.clone());
        self.kill.on_close(move || socket.stop_reading());
        self.apply_limits()
    }

    /// Applies the limits of the connection that a statement may have changed.
    fn settings_changed(&mut self) -> io::Result<()> {
        if self.session.client_limits() != self.limits {
            self.apply_limits()?;
        }
        Ok(())
    }

    fn apply_limits(&mut self) -> io::Result<()> {
        let limits = self.session.client_limits();
        self.limits = limits;
        let channel = self.channel.get();
        channel.set_max_payload(usize::try_from(limits.packet).unwrap_or(usize::MAX));
        channel.set_timeouts(NetworkTimeouts {
            read: limits.read,
            write: limits.write,
        })
    }

    /// The socket, to wait for its bytes.
    pub(crate) fn socket(&self) -> &Socket {
        &self.socket
    }

    /// Whether no command has come for `wait_timeout`.
    pub(crate) fn is_idle_for_too_long(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.idle_since) >= self.limits.idle
    }

    /// Serves commands until the client pauses or closes the connection.
    pub(crate) fn serve(&mut self, payload: &mut Vec<u8>) -> Next {
        loop {
            let channel = self.channel.get();
            channel.begin_command();
            match channel.receive(payload) {
                // A command that came after KILL is not answered.
                Ok(Received::Payload) if self.kill.is_closed() => return Next::Close,
                Ok(Received::Payload) => {}
                Ok(Received::Nothing) => {
                    channel.release();
                    return Next::Park;
                }
                Ok(Received::End) => {
                    self.lost();
                    return Next::Close;
                }
                Err(failure) => {
                    self.lost();
                    if let Failure::Wrong(error) = failure {
                        self.send_last_error(&error);
                    }
                    return Next::Close;
                }
            }
            if let Some(error) = self.refused.take() {
                self.lost();
                self.send_last_error(&error);
                return Next::Close;
            }
            self.received = packet_bytes(payload.len());
            let served = self.command(payload);
            self.answered();
            let served = served.and_then(|goes_on| self.settings_changed().map(|()| goes_on));
            let (received, sent) = self.channel.get().take_traffic();
            self.session.count_traffic(received, sent);
            self.idle_since = Instant::now();
            match served.and_then(|goes_on| self.channel.get().flush().map(|()| goes_on)) {
                Ok(true) if !self.kill.is_closed() => {}
                Ok(_) => return Next::Close,
                Err(error) => {
                    tracing::debug!(connection = self.session.id(), "lost: {error}");
                    self.lost();
                    return Next::Close;
                }
            }
        }
    }

    /// Notes that the reply to a statement or a command is complete, though perhaps not sent.
    fn answered(&mut self) {
        let received = std::mem::take(&mut self.received);
        let sent = self.channel.get().take_replied();
        self.session.answered(received, sent);
    }

    /// Notes that the client closed the connection without COM_QUIT, was too slow, or sent a
    /// malformed packet.
    fn lost(&self) {
        self.service.database.count_aborted_client();
    }

    /// Sends the client an error, if it still reads, before its connection ends.
    fn send_last_error(&mut self, error: &Error) {
        let channel = self.channel.get();
        channel.packet(|out| append_error(out, error));
        // An error here means that the client has closed the connection.
        let _ = channel.flush();
    }

    /// Ends the connection with an error that is not a reply.
    pub(crate) fn end_with(&mut self, error: &Error) {
        self.channel.get().begin_reply();
        self.send_last_error(error);
    }

    /// Ends the connection if it was closed because the server went offline.
    pub(crate) fn end_if_shut_out(&mut self) {
        if self.kill.is_closed()
            && let Some(error) = self.session.shut_out()
        {
            self.end_with(&error);
        }
    }

    /// The status flags of the session.
    fn status(&self) -> StatusFlags {
        use StatusFlags as S;
        let state = self.session.state();
        [
            (S::SERVER_STATUS_AUTOCOMMIT, state.autocommit),
            (S::SERVER_STATUS_IN_TRANS, state.in_transaction),
            (
                S::SERVER_STATUS_IN_TRANS_READONLY,
                state.in_read_only_transaction,
            ),
            (
                S::SERVER_STATUS_NO_BACKSLASH_ESCAPES,
                state.no_backslash_escapes,
            ),
            (S::SERVER_STATUS_NO_INDEX_USED, state.no_index_used),
            (S::SERVER_QUERY_WAS_SLOW, state.slow),
        ]
        .into_iter()
        .fold(
            S::empty(),
            |all, (flag, is_set)| {
                if is_set { all | flag } else { all }
            },
        )
    }

    /// Appends the OK of a command that is not a statement.
    fn ok(&mut self) {
        let changes = self.session.take_state_changes();
        let end = End {
            status: self.status(),
            changes: changes.as_ref(),
            ..End::default()
        };
        let capabilities = self.capabilities;
        self.channel
            .get()
            .packet(|out| append_ok(out, &end, capabilities));
    }

    fn error(&mut self, error: &Error) {
        self.channel.get().packet(|out| append_error(out, error));
    }
}
