//! Settings of a server's start, from the command line and a configuration file.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::path::PathBuf;

use mayfly_engine::{DatabaseOptions, Defaults};
use mayfly_wire::{ServerOptions, TlsOptions};

use super::config_file::{self, Setting};
use crate::options::{EngineOptions, ServeOptions, parse_size};

/// MySQL's port.
const PORT: u16 = 3306;

/// The groups of a configuration file that apply to this program; the first is its own.
const GROUPS: [&str; 3] = ["mayfly", "mysqld", "server"];

/// Options of a file that name a path or an address.
const PATHS: [&str; 8] = [
    "bind_address",
    "socket",
    "datadir",
    "tmpdir",
    "ssl_cert",
    "ssl_key",
    "ssl_ca",
    "pid_file",
];

/// Options of `mysqld` without a meaning for Mayfly.
const MEANINGLESS: [&str; 8] = [
    "user",
    "basedir",
    "skip_name_resolve",
    "skip_external_locking",
    "symbolic_links",
    "log_error",
    "daemonize",
    "lc_messages_dir",
];

/// Settings of a server's start.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) database: DatabaseOptions,
    pub(super) server: ServerOptions,
    pub(super) insecure: bool,
    pub(super) pid_file: Option<PathBuf>,
    pub(super) log_level: String,
    pub(super) warnings: Vec<String>,
}

/// The settings of a file, which the command line overrides.
#[derive(Debug, Default)]
struct FileSettings {
    port: Option<u16>,
    /// The settings named in [`PATHS`].
    paths: HashMap<String, String>,
    memory_limit: Option<u64>,
    threads: Option<usize>,
    is_tls_off: bool,
    is_networking_off: bool,
    has_mysql_defaults: bool,
    variables: Vec<(String, String)>,
    warnings: Vec<String>,
}

impl Settings {
    /// Merges the settings of the command line with those of the file.
    pub(super) fn gather(serve: &ServeOptions, engine: &EngineOptions) -> Result<Self, String> {
        let mut file = FileSettings::default();
        if let Some(path) = &serve.config {
            for setting in config_file::read(path, &GROUPS)? {
                file.take(setting)?;
            }
        }
        let mut database = engine.database_options()?;
        database.memory_limit = database.memory_limit.or(file.memory_limit);
        if let (None, Some(threads)) = (engine.threads, file.threads) {
            database.threads = threads;
        }
        let path = |given: &Option<PathBuf>, name: &str| {
            let of_file = || file.paths.get(name).map(PathBuf::from);
            given.clone().or_else(of_file)
        };
        if let Some(tmpdir) = path(&engine.tmpdir, "tmpdir") {
            database.tmpdir = tmpdir;
        }
        if serve.ephemeral {
            if database.datadir.is_some() {
                return Err("--ephemeral keeps nothing: it has no --datadir".to_owned());
            }
        } else {
            database.datadir = path(&database.datadir, "datadir");
            if database.datadir.is_none() {
                return Err(
                    "give --datadir DIRECTORY to keep what is written, or --ephemeral".to_owned(),
                );
            }
        }
        // Clients must not read files of the server process.
        database.local_infile = false;
        database.defaults = if engine.mysql_defaults || file.has_mysql_defaults {
            Defaults::MySql
        } else {
            Defaults::Server
        };
        // The command line's precede the file's.
        let given = std::mem::take(&mut database.variables);
        database.variables = std::mem::take(&mut file.variables);
        database.variables.extend(given);
        let bind = serve
            .bind
            .as_ref()
            .or_else(|| file.paths.get("bind_address"));
        let port = serve.port.or(file.port).unwrap_or(PORT);
        let addresses = if file.is_networking_off && serve.port.is_none() {
            Vec::new()
        } else {
            addresses(bind.map(String::as_str), port, serve.insecure)?
        };
        let certificate = path(&serve.ssl_cert, "ssl_cert");
        let key = path(&serve.ssl_key, "ssl_key");
        let authorities = path(&serve.ssl_ca, "ssl_ca");
        let tls = match (certificate.clone(), key.clone()) {
            _ if file.is_tls_off => TlsOptions::Off,
            (None, None) => TlsOptions::SelfSigned,
            (Some(certificate), Some(key)) => TlsOptions::Files { certificate, key },
            _ => return Err("--ssl-cert and --ssl-key belong together".to_owned()),
        };
        let socket = path(&serve.socket, "socket");
        if addresses.is_empty() && socket.is_none() {
            return Err("with skip_networking the server needs a --socket".to_owned());
        }
        let pid_file = path(&serve.pid_file, "pid_file");
        let mut variables = vec![
            ("port".to_owned(), port.to_string()),
            ("hostname".to_owned(), host_name()),
        ];
        for (name, path) in [
            ("socket", &socket),
            ("pid_file", &pid_file),
            ("ssl_ca", &authorities),
            ("ssl_cert", &certificate),
            ("ssl_key", &key),
        ] {
            if let Some(path) = path {
                let path = std::path::absolute(path);
                let path = path.map_err(|error| format!("--{name}: {error}"))?;
                variables.push((name.to_owned(), path.to_string_lossy().into_owned()));
            }
        }
        database.variables.append(&mut variables);
        let inert: Vec<&str> = mayfly_engine::variables_without_effect().collect();
        let names = database.variables.iter().map(|(name, _)| name);
        let inert = names.filter(|name| inert.contains(&name.as_str()));
        let mut warnings = file.warnings;
        warnings.extend(
            inert.map(|name| format!("{name} is accepted for compatibility and has no effect")),
        );
        Ok(Self {
            server: ServerOptions {
                addresses,
                socket,
                directory: database.datadir.clone(),
                tls,
                authorities,
            },
            database,
            insecure: serve.insecure,
            pid_file,
            log_level: serve.log_level.clone(),
            warnings,
        })
    }
}

impl FileSettings {
    fn take(&mut self, setting: Setting) -> Result<(), String> {
        let Setting {
            group,
            name,
            value,
            location,
        } = setting;
        let (name, is_loose) = match name.strip_prefix("loose_") {
            Some(name) => (name.to_owned(), true),
            None => (name, false),
        };
        let is_on = !matches!(
            value.as_deref().map(str::to_ascii_lowercase).as_deref(),
            Some("0" | "off" | "false")
        );
        let wrong = || {
            let value = value.as_deref().unwrap_or("''");
            format!("{location}: {name} cannot be {value}")
        };
        let number = || value.as_deref().and_then(|text| text.parse().ok());
        match name.as_str() {
            "port" => self.port = Some(number().ok_or_else(wrong)?),
            _ if PATHS.contains(&name.as_str()) => {
                let value = value.ok_or_else(|| format!("{location}: {name} needs a value"))?;
                self.paths.insert(name, value);
            }
            "memory_limit" => {
                let size = parse_size(value.as_deref().unwrap_or_default());
                self.memory_limit = Some(size.map_err(|error| format!("{location}: {error}"))?);
            }
            "threads" => {
                let threads: u16 = number().filter(|threads| *threads > 0).ok_or_else(wrong)?;
                self.threads = Some(usize::from(threads));
            }
            "ssl" => self.is_tls_off = !is_on,
            "skip_ssl" => self.is_tls_off = is_on,
            "mysql_defaults" => self.has_mysql_defaults = is_on,
            "skip_networking" => self.is_networking_off = is_on,
            _ if MEANINGLESS.contains(&name.as_str()) => {}
            _ => {
                let is_own = group == GROUPS[0] && !is_loose;
                if mayfly_engine::is_system_variable(&name) {
                    let value = value.unwrap_or_else(|| "1".to_owned());
                    self.variables.push((name, value));
                } else if is_own {
                    return Err(format!("{location}: unknown variable '{name}'"));
                } else {
                    // An option of another server.
                    self.warnings
                        .push(format!("{location}: unknown variable '{name}' left out"));
                }
            }
        }
        Ok(())
    }
}

/// The machine's name, which is part of the names of logs.
fn host_name() -> String {
    let name = rustix::system::uname();
    name.nodename().to_string_lossy().into_owned()
}

/// Addresses to listen on: `bind_address`, a list, or all addresses. Without passwords only
/// loopback addresses.
fn addresses(bind: Option<&str>, port: u16, insecure: bool) -> Result<Vec<SocketAddr>, String> {
    let mut addresses = Vec::new();
    let bind = bind.unwrap_or(if insecure { "127.0.0.1" } else { "*" });
    for part in bind.split(',').map(str::trim) {
        let address = match part {
            "*" => everywhere(),
            "localhost" => IpAddr::V4(Ipv4Addr::LOCALHOST),
            _ => part
                .parse()
                .map_err(|_| format!("--bind {part}: no address of an interface"))?,
        };
        if insecure && !address.is_loopback() {
            return Err(format!(
                "--insecure needs no password: it listens on loopback addresses only, not on {part}"
            ));
        }
        addresses.push(SocketAddr::new(address, port));
    }
    Ok(addresses)
}

/// The unspecified address: of IPv6, which includes IPv4, where there is IPv6.
fn everywhere() -> IpAddr {
    match TcpListener::bind((Ipv6Addr::UNSPECIFIED, 0)) {
        Ok(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
        Err(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_passwords_only_loopback() {
        assert!(addresses(Some("0.0.0.0"), 1, true).is_err());
        assert!(addresses(Some("*"), 1, true).is_err());
        let local = addresses(None, 1, true).expect("loopback");
        assert_eq!(local, ["127.0.0.1:1".parse().expect("an address")]);
        let both = addresses(Some("127.0.0.1, ::1"), 2, true).expect("loopback");
        assert_eq!(both.len(), 2);
        assert!(addresses(Some("example"), 1, false).is_err());
    }
}
