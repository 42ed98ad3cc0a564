//! A client proves its password over its channel: at its login, and when it changes its user.

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mayfly_engine::{Encryption, Error, Login};

use crate::channel::{Channel, Failure, Received};
use crate::login::{Exchange, Response, Scramble, Step};
use crate::service::Service;

/// Goes through the exchange that begins with `response`. The last packet of it, if there is one,
/// waits in the channel for what follows. `host`: where the client is; `scramble`: what the response was
/// made with, if that is known; `privacy`: whether nobody can listen, and how the connection is
/// encrypted; `malformed`: the error of a payload that is no proof. A client whose proof is wrong has
/// waited for the error as long as the engine says.
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

/// Lets a client wait. One that goes away, or goes on speaking, is gone at once, and its thread is free.
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
