//! The server that the shell talks to: `mysql`'s options, its form of a URL, and an option file's group `[client]`.
//!
//! The command line counts more than the URL, and that more than the option file.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use mayfly_client::Address;

use super::{TrustOptions, ask, read_place, without_scheme};
use crate::command_line::{self, percent_decoded};
use crate::connection::ServerOptions;
use crate::serve::config_file;

/// Places of the server's Unix socket where none is named.
const SOCKETS: [&str; 3] = [
    "/run/mysqld/mysqld.sock",
    "/var/lib/mysql/mysql.sock",
    "/tmp/mysql.sock",
];
/// Greatest time of a login without the option, in seconds.
const LOGIN_SECONDS: u64 = 30;

/// Options that name a server and an account, under the names of the `mysql` client.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "A server instead of this process's databases")]
pub(crate) struct ClientOptions {
    /// Host of the server; `localhost` is its Unix socket, if there is one.
    #[arg(short = 'h', long, value_name = "HOST", num_args = 0..=1, default_missing_value = "")]
    pub(crate) host: Option<String>,
    /// Port of the server [default: 3306].
    #[arg(short = 'P', long)]
    port: Option<u16>,
    /// Account [default: that of the option file, or the system user].
    #[arg(short, long, value_name = "NAME")]
    user: Option<String>,
    /// Password: `-pPASSWORD`; without one in the option, it is prompted for. Else it is that of the option file, or
    /// MYSQL_PWD.
    #[arg(short, long, value_name = "PASSWORD", num_args = 0..=1, require_equals = true)]
    password: Option<Option<String>>,
    /// Unix socket of the server.
    #[arg(short = 'S', long, value_name = "FILE")]
    socket: Option<PathBuf>,
    /// Whether to connect over TCP or the Unix socket.
    #[arg(long, value_enum, ignore_case = true, value_name = "NAME")]
    protocol: Option<Protocol>,
    #[command(flatten)]
    trust: TrustOptions,
    #[expect(
        rustdoc::broken_intra_doc_links,
        reason = "the groups of a file in brackets, for the help"
    )]
    /// Option file with user, password, host, port or socket in its group [client].
    #[arg(long, value_name = "FILE")]
    defaults_file: Option<PathBuf>,
    /// Seconds in which the login must succeed [default: 30].
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    connect_timeout: Option<u64>,
    /// Statement that begins each session with the server.
    #[arg(long, value_name = "SQL")]
    init_command: Option<String>,
    /// Character set of statements and results [default: utf8mb4].
    #[arg(long, value_name = "NAME")]
    default_character_set: Option<String>,
    /// Does not read names for completion.
    #[arg(short = 'A', long)]
    no_auto_rehash: bool,
    /// Waits for a server that does not answer yet.
    #[arg(short, long)]
    wait: bool,
}

/// Ways to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Protocol {
    #[value(name = "TCP")]
    Tcp,
    #[value(name = "SOCKET")]
    Socket,
}

/// What names the server, from all sources.
#[derive(Debug, Default)]
struct Place {
    address: Address,
    trust: TrustOptions,
    connect_timeout: Option<u64>,
}

impl ClientOptions {
    /// Whether the command line names a server.
    pub(crate) fn names_server(&self, url: Option<&str>) -> bool {
        url.is_some()
            || self.host.is_some()
            || self.port.is_some()
            || self.user.is_some()
            || self.socket.is_some()
            || self.defaults_file.is_some()
    }

    /// Whether names are read for completion.
    pub(crate) fn completes_names(&self) -> bool {
        !self.no_auto_rehash
    }

    /// An option that has no effect without a server, if there is one.
    pub(crate) fn of_server_only(&self) -> Option<&'static str> {
        let given = [
            (self.password.is_some(), "--password"),
            (self.protocol.is_some(), "--protocol"),
            (self.connect_timeout.is_some(), "--connect-timeout"),
            (self.wait, "--wait"),
        ];
        let mut given = given.iter();
        given.find(|(is_given, _)| *is_given).map(|(_, name)| *name)
    }

    /// Statements that begin a session.
    pub(crate) fn init(&self) -> Vec<String> {
        let names = self.default_character_set.as_ref();
        let names = names.map(|name| format!("SET NAMES '{}'", name.replace('\'', "''")));
        names.into_iter().chain(self.init_command.clone()).collect()
    }

    /// The server that the options and a URL name, with the database that is current first.
    pub(crate) fn server(
        &self,
        url: Option<&str>,
        database: Option<&str>,
    ) -> Result<ServerOptions, String> {
        let mut place = Place {
            trust: self.trust.clone(),
            connect_timeout: self.connect_timeout,
            ..Place::default()
        };
        if let Some(file) = &self.defaults_file {
            read_file(file, &mut place)?;
        }
        if let Some(url) = url {
            read_url(url, &mut place)?;
        }
        let Place {
            mut address,
            trust,
            connect_timeout,
        } = place;
        self.choose_place(&mut address)?;
        if let Some(user) = &self.user {
            address.user.clone_from(user);
        }
        if address.user.is_empty() {
            address.user = std::env::var("USER").unwrap_or_else(|_| "root".to_owned());
        }
        if let Some(password) = command_line::password() {
            address.password = Some(password);
        }
        match &self.password {
            Some(Some(password)) => address.password = Some(password.clone()),
            Some(None) => address.password = Some(ask(&format!("Password of {}: ", address.user))?),
            None if address.password.is_none() => {
                address.password = std::env::var("MYSQL_PWD").ok();
            }
            None => {}
        }
        if let Some(database) = database {
            address.database = Some(database.to_owned());
        }
        address.several_results = true;
        address.local_files = true;
        trust.apply(&mut address)?;
        let name = match (&address.socket, &address.host) {
            (Some(socket), _) => format!("the server at {socket}"),
            (None, host) => format!(
                "the server at {}:{}",
                host.as_deref().unwrap_or("127.0.0.1"),
                address.port.unwrap_or(3306)
            ),
        };
        Ok(ServerOptions {
            address,
            name,
            login_time: Duration::from_secs(connect_timeout.unwrap_or(LOGIN_SECONDS)),
            init: self.init(),
            waits: self.wait,
            has_names: false,
            is_interactive: false,
        })
    }

    /// TCP or a Unix socket: as the option says, else the one that is named, else the socket on this machine.
    fn choose_place(&self, address: &mut Address) -> Result<(), String> {
        if let Some(host) = &self.host {
            address.host = Some(host.clone());
            address.socket = None;
        }
        if self.port.is_some() {
            address.port = self.port;
            address.socket = None;
        }
        if let Some(socket) = &self.socket {
            address.socket = Some(socket.display().to_string());
        }
        let is_local = address.host.as_ref().is_none_or(|host| host == "localhost");
        let usual = || SOCKETS.iter().find(|path| Path::new(path).exists());
        match self.protocol {
            Some(Protocol::Tcp) => address.socket = None,
            Some(Protocol::Socket) if address.socket.is_none() => {
                let found = usual().filter(|_| is_local);
                let found = found.ok_or("--protocol SOCKET: name the socket with --socket FILE")?;
                address.socket = Some((*found).to_owned());
            }
            None if address.socket.is_none() && is_local && address.port.is_none() => {
                address.socket = usual().map(|found| (*found).to_owned());
            }
            _ => {}
        }
        Ok(())
    }
}

/// Reads the group `[client]` of an option file.
fn read_file(file: &Path, place: &mut Place) -> Result<(), String> {
    for setting in config_file::read(file, &["client"])? {
        let (value, at) = (setting.value, &setting.location);
        let address = &mut place.address;
        match setting.name.as_str() {
            "user" => address.user = value.unwrap_or_default(),
            "password" => address.password = value,
            "host" => address.host = value,
            "socket" => address.socket = value,
            "database" => address.database = value,
            "port" => {
                let port = value.as_deref().and_then(|port| port.parse().ok());
                address.port = Some(port.ok_or_else(|| format!("{at}: no port"))?);
            }
            "connect_timeout" if place.connect_timeout.is_none() => {
                let seconds = value.as_deref().and_then(|value| value.parse().ok());
                place.connect_timeout = Some(seconds.ok_or_else(|| format!("{at}: no number"))?);
            }
            name => place.trust.read(name, value.as_deref(), at)?,
        }
    }
    Ok(())
}

/// Reads `mysql://user@host:port/database?ssl-mode=…`; the password has been taken out of it.
fn read_url(url: &str, place: &mut Place) -> Result<(), String> {
    let wrong = || format!("{url}: write mysql://user@host:3306/database");
    let (rest, options) = match without_scheme(url).split_once('?') {
        Some((rest, options)) => (rest, options),
        None => (without_scheme(url), ""),
    };
    let (server, database) = rest.split_once('/').unwrap_or((rest, ""));
    let address = &mut place.address;
    let host = match server.rsplit_once('@') {
        Some((user, host)) => {
            address.user = percent_decoded(user);
            host
        }
        None => server,
    };
    address.socket = None;
    if !host.is_empty() && !read_place(host, address) {
        return Err(wrong());
    }
    if !database.is_empty() {
        address.database = Some(percent_decoded(database.trim_end_matches('/')));
    }
    for option in options.split('&').filter(|option| !option.is_empty()) {
        let (name, value) = option.split_once('=').ok_or_else(wrong)?;
        let (name, value) = (name.replace('-', "_"), percent_decoded(value));
        match name.as_str() {
            "socket" => place.address.socket = Some(value),
            "connect_timeout" => {
                let seconds = value.parse().map_err(|_| wrong())?;
                place.connect_timeout.get_or_insert(seconds);
            }
            "ssl_mode" | "ssl_ca" | "server_public_key_path" => {
                place.trust.read(&name, Some(&value), url)?;
            }
            _ => return Err(format!("{url}: there is no option {name}")),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    #[command(disable_help_flag = true)]
    struct Line {
        #[command(flatten)]
        client: ClientOptions,
    }

    fn server(line: &str, url: Option<&str>) -> Result<ServerOptions, String> {
        let words = ["m"].into_iter().chain(line.split_whitespace());
        let line = Line::try_parse_from(words).map_err(|error| error.to_string())?;
        line.client.server(url, None)
    }

    #[test]
    fn urls_and_options_name_a_server() -> Result<(), String> {
        let url = "mysql://an%6e@db.example:3307/sh%2fop?ssl-mode=DISABLED&connect-timeout=5";
        let named = server("", Some(url))?;
        let address = &named.address;
        assert_eq!(
            (&*address.user, address.host.as_deref(), address.port),
            ("ann", Some("db.example"), Some(3307))
        );
        assert_eq!(address.database.as_deref(), Some("sh/op"));
        assert_eq!(named.login_time, Duration::from_secs(5));
        assert!(matches!(address.tls, mayfly_client::Tls::Disabled));
        // The command line counts more.
        let named = server("-ubob -h 127.0.0.1 -P3308 --connect-timeout 7", Some(url))?;
        let address = &named.address;
        assert_eq!(
            (&*address.user, address.host.as_deref(), address.port),
            ("bob", Some("127.0.0.1"), Some(3308))
        );
        assert_eq!(named.login_time, Duration::from_secs(7));
        let named = server("-S /a/b --default-character-set=latin1", None)?;
        assert_eq!(named.address.socket.as_deref(), Some("/a/b"));
        assert_eq!(named.init, ["SET NAMES 'latin1'"]);
        let named = server("-S /a/b --protocol tcp -h localhost", None)?;
        assert_eq!(named.address.socket, None);
        for url in [
            "mysql://db:port/x",
            "mysql://db/?nonsense=1",
            "mysql://db/?ssl-mode=PREFERRED",
            "mysql://db/?ssl-mode",
        ] {
            assert!(server("", Some(url)).is_err(), "{url}");
        }
        Ok(())
    }
}
