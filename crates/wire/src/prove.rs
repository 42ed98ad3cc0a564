//! Authentication of a client over its channel: at its login, and when it changes its user.

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mayfly_engine::{Encryption, Error, Login};

use crate::channel::{Channel, Failure, Received};
use crate::login::{Exchange, Response, Scramble, Step};
use crate::service::Service;

/// Runs the exchange that begins with `response`. The last packet of the exchange, if there is one, waits in the
/// channel for the packets that follow. `host`: the client's host; `scramble`: the nonce of the response, if that is
/// known; `privacy`: whether nobody can listen, and how the connection is encrypted; `malformed`: the error of a
/// payload that is not a proof. A client whose proof is wrong gets the error after the delay that the engine demands.
pub(crate) fn prove(
    channel: &mut Channel,
    service: &Service,
    response: &Response,
    host: &str,
    scramble: Option<Scramble>,
    privacy: (bool, Option<Encryption>),
    malformed: Error,
) -> Result<Login, Failure> {
    let database = &service.database;
    let keys = Arc::clone(&service.keys);
    let (mut exchange, mut step) =
        Exchange::begin(database, keys, response, host, scramble, privacy)?;
    let mut payload = Vec::new();
    loop {
        match step {
            Step::Ask(question) => {
                channel.packet(|out| out.extend_from_slice(&question));
                channel.flush()?;
                channel.receive_now(&mut payload)?;
                step = exchange.next(&payload);
            }
            Step::Accept(last) => {
                if let Some(last) = last {
                    channel.packet(|out| out.extend_from_slice(&last));
                }
                return Ok(exchange.into_login());
            }
            Step::Refuse(has_password) => {
                let refusal = database.login_failed(exchange.login(), has_password);
                hold(channel, refusal.delay)?;
                return Err(refusal.error.into());
            }
            Step::Malformed => return Err(Failure::Wrong(malformed)),
        }
    }
}

/// Delays a client. One that closes the connection, or continues sending, is dropped at once, which frees its thread.
fn hold(channel: &mut Channel, delay: Duration) -> Result<(), Failure> {
    let begun = Instant::now();
    let mut payload = Vec::new();
    while begun.elapsed() < delay {
        match channel.receive(&mut payload)? {
            Received::Nothing => {}
            Received::Payload | Received::End => {
                return Err(Failure::Gone(ErrorKind::ConnectionAborted.into()));
            }
        }
    }
    Ok(())
}
