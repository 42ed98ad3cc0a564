//! Address, account and trust of the server: from the command line, an option file, the environment and the terminal.

use std::io::{BufRead, IsTerminal, Write};
use std::net::IpAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use mayfly_advisor::{Address, Roots, Tls};
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

use super::AdviseOptions;
use crate::serve::config_file;

/// Options that establish trust in a server, under the names of MySQL's clients.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct TrustOptions {
    /// Certificates (PEM) of the authorities that may sign the server's certificate [default: those of the system].
    #[arg(long, value_name = "FILE")]
    ssl_ca: Option<PathBuf>,
    /// TLS to a server over TCP: verifies the certificate and the name of the host, the certificate alone, or disables
    /// TLS [default: VERIFY_IDENTITY; DISABLED on this machine, unless --ssl-ca is given].
    #[arg(long, value_enum, ignore_case = true, value_name = "MODE")]
    ssl_mode: Option<SslMode>,
    /// The server's public RSA key (PEM), with which caching_sha2_password may send the password without TLS.
    #[arg(long, value_name = "FILE")]
    server_public_key_path: Option<PathBuf>,
}

/// TLS modes. There is none without verification: an attacker in between could pose as the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SslMode {
    #[value(name = "DISABLED")]
    Disabled,
    #[value(name = "VERIFY_CA")]
    VerifyCa,
    #[value(name = "VERIFY_IDENTITY")]
    VerifyIdentity,
}

impl TrustOptions {
    /// Takes a setting of an option file; the command line takes precedence.
    fn read(&mut self, name: &str, value: Option<&str>, location: &str) -> Result<(), String> {
        let path = || value.map(PathBuf::from);
        match name {
            "ssl_ca" if self.ssl_ca.is_none() => self.ssl_ca = path(),
            "server_public_key_path" if self.server_public_key_path.is_none() => {
                self.server_public_key_path = path();
            }
            "ssl_mode" if self.ssl_mode.is_none() => {
                let mode = SslMode::from_str(value.unwrap_or_default(), true);
                let mode = mode.map_err(|_| {
                    format!("{location}: ssl-mode is DISABLED, VERIFY_CA or VERIFY_IDENTITY here: TLS is always verified")
                })?;
                self.ssl_mode = Some(mode);
            }
            _ => {}
        }
        Ok(())
    }

    /// Reads the files, and adds the trust options to an address.
    pub(crate) fn apply(&self, address: &mut Address) -> Result<(), String> {
        if let Some(path) = &self.server_public_key_path {
            address.server_key = Some(super::read(path)?);
        }
        address.tls = match self.mode(address) {
            SslMode::Disabled => Tls::Disabled,
            mode => Tls::Verified {
                roots: self.roots()?,
                identity: mode == SslMode::VerifyIdentity,
            },
        };
        Ok(())
    }

    fn mode(&self, address: &Address) -> SslMode {
        if address.socket.is_some() {
            return SslMode::Disabled;
        }
        let is_here = |host: &String| {
            let ip = host.parse::<IpAddr>();
            ip.map_or(host == "localhost", |ip| ip.is_loopback())
        };
        let is_here = address.host.as_ref().is_none_or(is_here);
        self.ssl_mode
            .unwrap_or(if is_here && self.ssl_ca.is_none() {
                SslMode::Disabled
            } else {
                SslMode::VerifyIdentity
            })
    }

    fn roots(&self) -> Result<Roots, String> {
        let Some(path) = &self.ssl_ca else {
            let loaded = rustls_native_certs::load_native_certs();
            let certificates = loaded
                .certs
                .into_iter()
                .map(|certificate| certificate.to_vec());
            return Ok(Roots::from_der(certificates));
        };
        Roots::from_pem(&super::read(path)?).map_err(|error| format!("{}: {error}", path.display()))
    }
}

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

/// The address in a text, and its display name: `mysql://user:password@host:port/`, or `user:password@/path/of/socket`.
/// Without a password in it, MYSQL_PWD is used.
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

/// Parses `host:port/database`; returns whether it is valid.
fn read_place(place: &str, address: &mut Address) -> bool {
    let place = place.split(['/', '?']).next().unwrap_or_default();
    // An IPv6 address is in brackets.
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
    #[test]
    fn servers_elsewhere_are_verified_and_a_socket_needs_nothing() {
        let address = |host: &str| Address {
            host: Some(host.to_owned()),
            ..Address::default()
        };
        let default = TrustOptions::default();
        for (host, mode) in [
            ("localhost", SslMode::Disabled),
            ("127.0.0.1", SslMode::Disabled),
            ("::1", SslMode::Disabled),
            ("db.example", SslMode::VerifyIdentity),
            ("10.0.0.1", SslMode::VerifyIdentity),
            ("localhost.example", SslMode::VerifyIdentity),
        ] {
            assert_eq!(default.mode(&address(host)), mode, "{host}");
        }
        let named = TrustOptions {
            ssl_ca: Some(PathBuf::from("ca.pem")),
            ..TrustOptions::default()
        };
        assert_eq!(named.mode(&address("localhost")), SslMode::VerifyIdentity);
        let mut read = TrustOptions::default();
        assert!(read.read("ssl_mode", Some("required"), "file:1").is_err());
        assert_eq!(read.read("ssl_mode", Some("verify_ca"), "file:1"), Ok(()));
        assert_eq!(read.mode(&address("db.example")), SslMode::VerifyCa);
        let socket = Address {
            socket: Some("/socket".to_owned()),
            ..address("db.example")
        };
        assert_eq!(read.mode(&socket), SslMode::Disabled);
    }
}
