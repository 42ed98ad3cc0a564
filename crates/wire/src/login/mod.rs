//! The login: the exchange from the greeting to the first command, and the one of COM_CHANGE_USER.
//!
//! No I/O here: [`Exchange`] takes the client's payloads and returns the next step. See the protocol documentation,
//! "Connection Phase" and "caching_sha2_password".

mod exchange;
mod greeting;
mod keys;
mod response;
mod scramble;

use mayfly_engine::Encryption;
use mysql_common::constants::CapabilityFlags;

pub(crate) use self::exchange::{Exchange, Step, session_options};
pub(crate) use self::greeting::{Greeting, server_capabilities};
pub(crate) use self::keys::LoginKeys;
pub(crate) use self::response::Response;
pub(crate) use self::scramble::Scramble;
use crate::packet::Algorithm;

/// The outcome of a login, for its connection.
#[derive(Debug)]
pub(crate) struct LoggedIn {
    pub(crate) capabilities: CapabilityFlags,
    /// Whether nobody can listen.
    pub(crate) is_private: bool,
    pub(crate) encryption: Option<Encryption>,
    pub(crate) host: String,
    pub(crate) compression: Option<Algorithm>,
}
