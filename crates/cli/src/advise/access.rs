//! Address and account of the server to ask: from the command line, an option file, the environment and the terminal.

use mayfly_client::Address;

use super::AdviseOptions;
use crate::access::{ask, read_place, without_scheme};
use crate::serve::config_file;

/// The server to ask and its display name; `None` when the command line names none.
pub(super) fn address(options: &AdviseOptions) -> Result<Option<(Address, String)>, String> {
    let mut address = Address::default();
    let mut trust = options.trust.clone();
    if let Some(file) = &options.defaults_file {
        for setting in config_file::read(file, &["client"])? {
            let value = setting.value.clone();
            match setting.name.as_str() {
                "user" => address.user = value.unwrap_or_default(),
                "password" => address.password = value,
                "host" => address.host = value,
                "socket" => address.socket = value,
                "port" => {
                    let port = value.as_deref().and_then(|port| port.parse().ok());
                    address.port =
                        Some(port.ok_or_else(|| format!("{}: no port", setting.location))?);
                }
                name => trust.read(name, value.as_deref(), &setting.location)?,
            }
        }
    }
    if let Some(url) = &options.connect {
        read_url(url, &mut address)?;
        address.socket = None;
    }
    if let Some(socket) = &options.socket {
        address.socket = Some(socket.display().to_string());
    }
    if address.socket.is_none() && address.host.is_none() {
        return Ok(None);
    }
    if let Some(user) = &options.user {
        address.user.clone_from(user);
    }
    if address.user.is_empty() {
        address.user = std::env::var("USER").unwrap_or_else(|_| "root".to_owned());
    }
    if options.password {
        address.password = Some(ask(&format!("Password of {}: ", address.user))?);
    } else if address.password.is_none() {
        address.password = std::env::var("MYSQL_PWD").ok();
    }
    trust.apply(&mut address)?;
    let name = match (&address.socket, &address.host) {
        (Some(socket), _) => format!("the server at {socket}"),
        (None, Some(host)) => format!("the server at {host}:{}", address.port.unwrap_or(3306)),
        (None, None) => String::new(),
    };
    Ok(Some((address, name)))
}

/// `mysql://user@host:port/`
fn read_url(url: &str, address: &mut Address) -> Result<(), String> {
    let rest = without_scheme(url);
    let rest = rest.split(['/', '?']).next().unwrap_or_default();
    let (user, place) = match rest.rsplit_once('@') {
        Some((user, place)) => (Some(user), place),
        None => (None, rest),
    };
    if let Some(user) = user {
        if user.contains(':') {
            return Err("--connect: a password on the command line can be read by others; use MYSQL_PWD, --defaults-file or --password".to_owned());
        }
        address.user = user.to_owned();
    }
    if read_place(place, address) {
        Ok(())
    } else {
        Err(format!("--connect {url}: write mysql://user@host:3306"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls() {
        for (url, user, host, port) in [
            (
                "mysql://ann@db.example:3307/",
                "ann",
                "db.example",
                Some(3307),
            ),
            ("mysql://db.example", "", "db.example", None),
            ("mariadb://ann@[::1]:3306/shop", "ann", "::1", Some(3306)),
            ("ann@[::1]", "ann", "::1", None),
        ] {
            let mut address = Address::default();
            assert_eq!(read_url(url, &mut address), Ok(()), "{url}");
            assert_eq!(
                (address.user.as_str(), address.host.as_deref(), address.port),
                (user, Some(host), port),
                "{url}"
            );
        }
        for url in ["mysql://ann:secret@db", "mysql://", "mysql://db:port"] {
            assert!(read_url(url, &mut Address::default()).is_err(), "{url}");
        }
    }
}
