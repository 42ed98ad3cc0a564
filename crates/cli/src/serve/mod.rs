//! `mayfly serve`: the server for MySQL clients.
//!
//! The command line overrides a configuration file, which overrides the defaults. When the server listens it prints one
//! line on standard output, which scripts can wait for; everything else that it reports goes to standard error. Exit
//! codes: 0 after a shutdown, 1 when it could not start, 2 for a wrong command line.

pub(crate) mod config_file;
mod descriptors;
mod http;
mod log;
mod settings;

use std::fs::{File, Permissions};
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use mayfly_engine::{BackgroundErrors, Database, RootPassword, VERSION};
use mayfly_wire::{Server, ServerOptions};
use sd_notify::NotifyState;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use self::settings::Settings;
use crate::options::{EngineOptions, ServeOptions};

/// Time for which running statements may continue when the server is stopped, for those that are about to end.
const PATIENCE: Duration = Duration::from_millis(500);
/// Time for which requests to the page may continue then.
const PAGE_PATIENCE: Duration = Duration::from_secs(5);

/// A server, for programs that add something to its database.
#[derive(Debug, Args)]
pub struct Serve {
    #[command(flatten)]
    serve: ServeOptions,
    #[command(flatten)]
    engine: EngineOptions,
}

impl Serve {
    /// Serves until a signal or a client asks it to stop. `prepare` gets the database before clients do.
    ///
    /// # Errors
    /// The reason why the server could not start.
    pub fn run(
        &self,
        prepare: impl FnOnce(&Arc<Database>) -> Result<(), String>,
    ) -> Result<ExitCode, String> {
        run(&self.serve, &self.engine, prepare)
    }
}

/// Serves until a signal or a client asks it to stop. `prepare` gets the database before clients do.
pub(crate) fn run(
    serve: &ServeOptions,
    engine: &EngineOptions,
    prepare: impl FnOnce(&Arc<Database>) -> Result<(), String>,
) -> Result<ExitCode, String> {
    let mut settings = Settings::gather(serve, engine)?;
    log::start(&settings.log_level)?;
    // From here on signals are held until they are read.
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM]).map_err(|error| error.to_string())?;
    for warning in &settings.warnings {
        tracing::warn!("{warning}");
    }
    settings.database.background_errors = Some(Arc::new(ServerLog));
    let database = Database::open(settings.database).map_err(|error| error.to_string())?;
    mayfly_files::register(&database);
    prepare(&database)?;
    let most = database.variable("max_connections");
    if let Err(warning) = descriptors::raise_limit(most.and_then(|it| it.parse().ok()).unwrap_or(0))
    {
        tracing::warn!("{warning}");
    }
    set_up_root(&database, settings.insecure)?;
    // A client that runs SHUTDOWN ends the wait for signals.
    let wait = signals.handle();
    database.on_shutdown(move || wait.close());
    let mut server = Server::start(Arc::clone(&database), &settings.server)?;
    let mut page = http::start(&database, &serve.page)?;
    announce(&server, &settings.server, settings.pid_file.as_deref())?;
    wait_for_the_end(&mut signals, &database);
    let _ = sd_notify::notify(&[NotifyState::Stopping]);
    if !server.stop(PATIENCE) {
        tracing::warn!("{} connections did not end", server.connections());
    }
    if let Some(page) = &mut page
        && !page.stop(PAGE_PATIENCE)
    {
        tracing::warn!("the live page did not end");
    }
    drop(page);
    drop(server);
    drop(database);
    if let Some(path) = &settings.pid_file {
        // Scripts that wait for the end wait until the file is gone.
        let _ = std::fs::remove_file(path);
    }
    tracing::info!("shutdown complete");
    Ok(ExitCode::SUCCESS)
}

/// Waits for a signal that ends the server, or for SHUTDOWN. SIGHUP reopens the logs, like FLUSH LOGS.
fn wait_for_the_end(signals: &mut Signals, database: &Database) {
    for signal in signals.forever() {
        if signal != SIGHUP {
            tracing::info!("signal {signal}: shutting down");
            return;
        }
        match database.flush_logs() {
            Ok(()) => tracing::info!("signal {signal}: the logs are opened anew"),
            Err(error) => tracing::error!("signal {signal}: {error}"),
        }
    }
    tracing::info!("SHUTDOWN: shutting down");
}

/// Log of errors that are reported to no client.
#[derive(Debug)]
struct ServerLog;

impl BackgroundErrors for ServerLog {
    fn sync(&self, error: Option<&mayfly_engine::Error>) {
        match error {
            Some(error) => tracing::error!(
                "the data directory cannot be brought to disk, which is tried every second: {error}"
            ),
            None => tracing::info!("the data directory is on disk again"),
        }
    }

    fn was_open_to_others(&self, directory: &Path) {
        tracing::warn!(
            "others could read or write in the data directory {} until now: its modes are 0750 and 0640",
            directory.display()
        );
    }

    fn log_was_open_to_others(&self, file: &Path) {
        tracing::warn!(
            "others could read or write the log {} until now: its mode is 0640",
            file.display()
        );
    }

    fn storage(&self, error: &mayfly_engine::Error, unreported: u64) {
        match unreported {
            0 => tracing::error!("a statement ended: {error}"),
            _ => tracing::error!("a statement ended, after {unreported} others: {error}"),
        }
    }

    fn log_file(&self, file: &Path, error: Option<&std::io::Error>) {
        let file = file.display();
        match error {
            Some(error) => tracing::error!(
                "the log {file} cannot be written, so that entries are lost: {error}"
            ),
            None => tracing::info!("the log {file} is written again"),
        }
    }
}

/// Creates the root account at the first start.
fn set_up_root(database: &Arc<Database>, insecure: bool) -> Result<(), String> {
    let password = if insecure {
        RootPassword::Empty
    } else {
        RootPassword::Generated
    };
    let made = database.set_up_root(password).map_err(|e| e.to_string())?;
    if let Some(password) = made.and_then(|root| root.generated) {
        // Not through the log, which may be stored.
        eprintln!("A password was generated for root@localhost: {password}");
    }
    Ok(())
}

/// Writes a file that only its owner may write, whatever the umask, since its readers trust it; not through a link, whose
/// target would be replaced.
fn write_private(path: &Path, text: &str) -> std::io::Result<()> {
    let mut options = File::options();
    options.write(true).create(true).truncate(true).mode(0o640);
    options.custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed());
    let mut file = options.open(path)?;
    file.set_permissions(Permissions::from_mode(0o640))?;
    file.write_all(text.as_bytes())
}

/// Prints the line that scripts wait for, after writing the file with the process id.
fn announce(
    server: &Server,
    options: &ServerOptions,
    pid_file: Option<&Path>,
) -> Result<(), String> {
    if let Some(path) = pid_file {
        write_private(path, &format!("{}\n", std::process::id()))
            .map_err(|error| format!("{}: {error}", path.display()))?;
    }
    let mut line = format!("mayfly {VERSION}: ready for connections.");
    if let Some(address) = server.addresses().first() {
        line.push_str(&format!(" port: {}", address.port()));
    }
    if let Some(socket) = &options.socket {
        line.push_str(&format!(" socket: {}", socket.display()));
    }
    let mut out = std::io::stdout();
    writeln!(out, "{line}")
        .and_then(|()| out.flush())
        .map_err(|error| format!("standard output: {error}"))?;
    // On an error, systemd is not listening.
    let _ = sd_notify::notify(&[NotifyState::Ready]);
    Ok(())
}
