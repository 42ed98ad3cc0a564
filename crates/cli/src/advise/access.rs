//! Where the server is and who asks: the command line, an option file, the environment, the terminal.

use std::io::{BufRead, IsTerminal, Write};

use mayfly_advisor::Address;
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

use super::AdviseOptions;
use crate::serve::config_file;

/// The server to ask and its name for people; none when the command line names none.
pub(super) fn address(options: &AdviseOptions) -> Result<Option<(Address, String)>, String> {
    let mut address = Address::default();
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
                _ => {}
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
    let name = match (&address.socket, &address.host) {
        (Some(socket), _) => format!("the server at {socket}"),
        (None, Some(host)) => format!("the server at {host}:{}", address.port.unwrap_or(3306)),
        (None, None) => String::new(),
    };
    Ok(Some((address, name)))
}

/// The server of an address in one text, and its name for people: `mysql://user:password@host:port/`, or
/// `user:password@/path/of/socket`. A password that is not in it is that of MYSQL_PWD.
pub(crate) fn of_text(text: &str) -> Result<(Address, String), String> {
    let mut address = Address {
        user: "root".to_owned(),
        password: std::env::var("MYSQL_PWD").ok(),
        ..Address::default()
    };
    let rest = without_scheme(text);
    let (account, place) = match rest.rsplit_once('@') {
        Some((account, place)) => (Some(account), place),
        None => (None, rest),
    };
    if let Some(account) = account {
        let (user, password) = match account.split_once(':') {
            Some((user, password)) => (user, Some(password.to_owned())),
            None => (account, None),
        };
        address.user = user.to_owned();
        address.password = password.or(address.password);
    }
    if place.starts_with('/') {
        address.socket = Some(place.to_owned());
    } else if !read_place(place, &mut address) {
        return Err(format!(
            "`{place}` is no server: write mysql://user@host:3306/ or user@/path/of/socket"
        ));
    }
    let name = place.trim_end_matches('/').to_owned();
    Ok((address, name))
}

fn without_scheme(url: &str) -> &str {
    url.strip_prefix("mysql://")
        .or_else(|| url.strip_prefix("mariadb://"))
        .unwrap_or(url)
}

/// Reads `host:port/database`; whether it is one.
fn read_place(place: &str, address: &mut Address) -> bool {
    let place = place.split(['/', '?']).next().unwrap_or_default();
    // An address of IPv6 stands in brackets.
    let (host, port) = match place.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (place, None),
    };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    if host.is_empty() {
        return false;
    }
    address.host = Some(host.to_owned());
    match port.map(str::parse) {
        None => true,
        Some(Ok(port)) => {
            address.port = Some(port);
            true
        }
        Some(Err(_)) => false,
    }
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

/// Reads a line from the terminal without showing it.
fn ask(prompt: &str) -> Result<String, String> {
    let input = std::io::stdin();
    if !input.is_terminal() {
        return Err(
            "--password: there is no terminal to ask at; use MYSQL_PWD or --defaults-file"
                .to_owned(),
        );
    }
    eprint!("{prompt}");
    std::io::stderr()
        .flush()
        .map_err(|error| error.to_string())?;
    let before = tcgetattr(&input).map_err(|error| error.to_string())?;
    let mut silent = before.clone();
    silent.local_modes.remove(LocalModes::ECHO);
    tcsetattr(&input, OptionalActions::Now, &silent).map_err(|error| error.to_string())?;
    let mut line = String::new();
    let read = input.lock().read_line(&mut line);
    let shown = tcsetattr(&input, OptionalActions::Now, &before);
    eprintln!();
    read.map_err(|error| error.to_string())?;
    shown.map_err(|error| error.to_string())?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
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

    #[test]
    fn servers_in_one_text() {
        let (address, name) = of_text("mysql://ann:p@ss@db:3307/").unwrap_or_default();
        assert_eq!(
            (
                address.user.as_str(),
                address.password.as_deref(),
                address.host.as_deref(),
                address.port
            ),
            ("ann", Some("p@ss"), Some("db"), Some(3307))
        );
        assert_eq!(name, "db:3307");
        let (address, _) = of_text("bob@/run/mysqld/mysqld.sock").unwrap_or_default();
        assert_eq!(
            (
                address.user.as_str(),
                address.socket.as_deref(),
                address.host
            ),
            ("bob", Some("/run/mysqld/mysqld.sock"), None)
        );
        for text in ["", "mysql://", "ann@", "db:port"] {
            assert!(of_text(text).is_err(), "{text}");
        }
    }
}
