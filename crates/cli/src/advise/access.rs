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

/// `mysql://user@host:port/`
fn read_url(url: &str, address: &mut Address) -> Result<(), String> {
    let wrong = || format!("--connect {url}: write mysql://user@host:3306");
    let rest = url
        .strip_prefix("mysql://")
        .or_else(|| url.strip_prefix("mariadb://"))
        .unwrap_or(url);
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
    // An address of IPv6 stands in brackets.
    let (host, port) = match place.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (place, None),
    };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    if host.is_empty() {
        return Err(wrong());
    }
    address.host = Some(host.to_owned());
    if let Some(port) = port {
        address.port = Some(port.parse().map_err(|_| wrong())?);
    }
    Ok(())
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
}
