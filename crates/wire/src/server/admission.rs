//! Admission of an accepted socket to a connection: greeting, TLS, login.

use std::sync::Arc;
use std::time::Duration;

use mayfly_engine::{Compression, ConnectionSlot, Database, Session, Transport, codes};
use mysql_common::constants::CapabilityFlags;

use super::listeners::Accepted;
use super::shared::Shared;
use crate::channel::{Channel, Failure, NetworkTimeouts};
use crate::connection::Connection;
use crate::login::{Greeting, LoggedIn, Response, Scramble, server_capabilities, session_options};
use crate::packet::Algorithm;
use crate::prove::prove;
use crate::reply::{append_error, error_payload};
use crate::stream::Stream;

/// The longest payload of an unauthenticated client: 64 KiB of connection attributes, which is the most that clients
/// send, and the rest.
const LOGIN_PAYLOAD_MAX: usize = 68 << 10;

/// The levels of `zstd` that a client may choose. A higher level costs much more of the server's time and memory (22:
/// 700 MiB and a second for each reply) than it saves; a client that asks for more gets the highest.
const ZSTD_LEVELS: std::ops::RangeInclusive<i32> = 1..=7;

/// Admits a client; `None` when it is refused or closes the connection.
pub(super) fn admit(shared: &Arc<Shared>, accepted: Accepted) -> Option<Connection> {
    let database = shared.database();
    let counted = shared.sockets.add(accepted.socket.clone());
    let timeout = database.connect_timeout();
    let timeouts = NetworkTimeouts {
        read: timeout,
        write: timeout,
    };
    let stream = Stream::Plain(accepted.socket.clone());
    let mut channel = Box::new(Channel::new(stream, LOGIN_PAYLOAD_MAX, timeouts).ok()?);
    // A client above `max_connections` gets no greeting.
    let slot = match database.accept() {
        Ok(slot) => slot,
        Err(error) => {
            channel.packet(|out| out.extend_from_slice(&error_payload(&error)));
            let _ = channel.flush();
            return None;
        }
    };
    let socket = accepted.socket.clone();
    let kill = slot.begin_login(&accepted.host, accepted.port);
    kill.on_close(move || socket.close());
    let mut admission = Admission {
        shared,
        accepted: &accepted,
        timeout,
        payload: Vec::new(),
    };
    match admission.run(&mut channel, slot) {
        Ok((session, login)) => {
            let service = Arc::clone(&shared.service);
            Connection::new(channel, session, login, service, counted)
                .inspect_err(|error| tracing::debug!("lost after its login: {error}"))
                .ok()
        }
        Err(failure) => {
            if !matches!(failure, Failure::Refused(_)) {
                database.count_aborted_connect();
            }
            if let Failure::Wrong(error) | Failure::Refused(error) = failure {
                tracing::info!(host = accepted.host, "refused: {error}");
                channel.packet(|out| append_error(out, &error));
                // An error here means that the client has closed the connection.
                let _ = channel.flush();
            }
            None
        }
    }
}

struct Admission<'a> {
    shared: &'a Arc<Shared>,
    accepted: &'a Accepted,
    timeout: Duration,
    payload: Vec<u8>,
}

impl Admission<'_> {
    fn run(
        &mut self,
        channel: &mut Channel,
        slot: ConnectionSlot,
    ) -> Result<(Session, LoggedIn), Failure> {
        let database = Arc::clone(self.shared.database());
        let has_tls = self.shared.tls.is_some() && !self.accepted.is_private;
        let greeting = Greeting {
            id: slot.id(),
            scramble: Scramble::new()?,
            has_tls,
            withheld: withheld(&database),
        };
        channel.packet(|out| out.extend_from_slice(&greeting.payload()));
        channel.flush()?;
        channel.receive_within(&mut self.payload, self.timeout)?;
        if has_tls && Response::tls_request(&self.payload).is_some() {
            if let Some(tls) = &self.shared.tls {
                let configuration = tls.configuration().map_err(|error| {
                    tracing::error!("{error}");
                    std::io::Error::other(error)
                })?;
                channel.start_tls(configuration)?;
            }
            channel.receive_within(&mut self.payload, self.timeout)?;
        }
        let response = Response::of_greeting(&self.payload);
        let malformed = codes::ER_HANDSHAKE_ERROR.error();
        let response = response.ok_or_else(|| Failure::Wrong(malformed.clone()))?;
        let encryption = channel.stream()?.encryption();
        let is_private = self.accepted.is_private || encryption.is_some();
        let must_be_private = database.variable("require_secure_transport");
        if !is_private && must_be_private.as_deref() == Some("ON") {
            return Err(codes::ER_SECURE_TRANSPORT_REQUIRED.error().into());
        }
        let capabilities = CapabilityFlags::from_bits_truncate(response.capabilities)
            & (server_capabilities(has_tls) - greeting.withheld);
        let options = session_options(&response, &self.accepted.host, capabilities);
        let connection = slot.id();
        let proved = prove(
            channel,
            &self.shared.service,
            &response,
            &self.accepted.host,
            Some(greeting.scramble),
            (is_private, encryption.clone()),
            malformed,
        );
        let logged_in = proved.and_then(|login| {
            let session = database.log_in(slot, &login, options.clone());
            session.map_err(Failure::from)
        });
        let mut session = logged_in.inspect_err(|failure| {
            if let Failure::Wrong(error) | Failure::Refused(error) = failure {
                let transport = (encryption.as_ref(), self.accepted.is_private);
                database.log_refused_login(connection, &options, transport, error);
            }
        })?;
        let compression = algorithm(capabilities, response.zstd_level);
        session.set_transport(Transport {
            encryption: encryption.clone(),
            compression: compression.map(|algorithm| {
                let (algorithm, level) = algorithm.name_and_level();
                Compression {
                    algorithm: algorithm.to_owned(),
                    level,
                }
            }),
        });
        let logged_in = LoggedIn {
            capabilities,
            is_private,
            encryption,
            host: self.accepted.host.clone(),
            compression,
        };
        Ok((session, logged_in))
    }
}

/// The compressions that `protocol_compression_algorithms` excludes.
fn withheld(database: &Database) -> CapabilityFlags {
    let allowed = database.variable("protocol_compression_algorithms");
    let allowed = allowed.unwrap_or_default().to_lowercase();
    let mut withheld = CapabilityFlags::empty();
    for (name, capability) in [
        ("zlib", CapabilityFlags::CLIENT_COMPRESS),
        ("zstd", CapabilityFlags::CLIENT_ZSTD_COMPRESSION_ALGORITHM),
    ] {
        let is_allowed = allowed.split(',').any(|word| word.trim() == name);
        withheld.set(capability, !is_allowed);
    }
    withheld
}

/// The compression of the client's packets: zlib if it supports both, as in MySQL and its clients.
fn algorithm(capabilities: CapabilityFlags, level: u8) -> Option<Algorithm> {
    if capabilities.contains(CapabilityFlags::CLIENT_COMPRESS) {
        return Some(Algorithm::Zlib);
    }
    let level = i32::from(level).clamp(*ZSTD_LEVELS.start(), *ZSTD_LEVELS.end());
    capabilities
        .contains(CapabilityFlags::CLIENT_ZSTD_COMPRESSION_ALGORITHM)
        .then_some(Algorithm::Zstd(level))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_client_chooses_what_a_reply_costs() {
        let zstd = CapabilityFlags::CLIENT_ZSTD_COMPRESSION_ALGORITHM;
        for (asked, given) in [(0, 1), (3, 3), (7, 7), (8, 7), (22, 7), (255, 7)] {
            assert_eq!(algorithm(zstd, asked), Some(Algorithm::Zstd(given)));
        }
        let both = zstd | CapabilityFlags::CLIENT_COMPRESS;
        assert_eq!(algorithm(both, 22), Some(Algorithm::Zlib));
        assert_eq!(algorithm(CapabilityFlags::empty(), 22), None);
    }
}
