//! Address, account and trust of a server, for all commands that connect to one.

mod password;
mod server;
mod text;
mod trust;

pub(crate) use self::password::ask;
pub(crate) use self::server::ClientOptions;
pub(crate) use self::text::{of_text, read_place, without_scheme};
pub(crate) use self::trust::TrustOptions;
