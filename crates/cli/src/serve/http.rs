//! The live page: its server over sessions of the engine, which run as `root@localhost` in this process.

use std::collections::HashSet;
use std::io::Write;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mayfly_advisor::{Connection, Input, Live, Report, Rows, Schema};
use mayfly_engine::{Database, Error, KillHandle, Session, SessionOptions, VERSION};
use mayfly_http::{Facts, Options, Server, Source, SourceError, Table, Token};

use crate::options::{HttpOptions, WithoutToken};

/// Program name of the page's sessions in `session_connect_attrs`.
const PROGRAM: &str = "mayfly live page";

/// Greatest number of statements with findings on the page.
const FINDINGS_MAX: usize = 50;

/// Greatest time of the statements of one request, whatever hints and kinds of statements it has.
const TIME_MAX: Duration = Duration::from_secs(60);
/// Interval of repeated kills, for a statement that begins just then.
const KILL_AGAIN: Duration = Duration::from_millis(100);
/// MySQL's error of a statement that exceeded its time limit.
const ER_QUERY_TIMEOUT: u16 = 3024;

/// Statement that hides the page's own statements from the page.
const UNSEEN: &str = "UPDATE performance_schema.threads SET INSTRUMENTED = 'NO' WHERE PROCESSLIST_ID = CONNECTION_ID()";

/// Starts the page if the command line asks for it, and prints its address.
pub(super) fn start(
    database: &Arc<Database>,
    options: &HttpOptions,
) -> Result<Option<Server>, String> {
    let Some(port) = options.http else {
        return Ok(None);
    };
    let address = SocketAddr::new(options.http_bind, port);
    let (token, shown) = token(options)?;
    let mut page = Options::new(address, token);
    page.names.clone_from(&options.http_names);
    page.metrics_digests = usize::from(options.http_metrics_digests);
    let source = EngineSource {
        database: Arc::clone(database),
        idle: Mutex::default(),
        watching: Mutex::default(),
        time_max: TIME_MAX,
    };
    let server = Server::start(Arc::new(source), page)
        .map_err(|error| format!("--http: {address}: {error}"))?;
    if !options.http_bind.is_loopback() {
        tracing::warn!(
            "the live page is reached from other machines, and HTTP hides nothing on the way"
        );
    }
    let place = server.url();
    // Not through the log, which may be stored.
    match (shown, &options.http_token_file) {
        (Some(token), _) => eprintln!("live page: {place}/#token={token}"),
        (None, Some(file)) => eprintln!("live page: {place}/ (its token is in {})", file.display()),
        (None, None) => eprintln!("live page: {place}/ (without a token)"),
    }
    Ok(Some(server))
}

/// The token, and its text if it is to be printed.
fn token(options: &HttpOptions) -> Result<(Option<Token>, Option<String>), String> {
    match (options.http_without_token, &options.http_token_file) {
        (Some(without), _) => {
            check_without_token(without, options.http_bind)?;
            Ok((None, None))
        }
        (None, Some(file)) => Ok((Some(token_of_file(file)?), None)),
        (None, None) => {
            let text = Token::random_text()?;
            Ok((Some(Token::new(&text)?), Some(text)))
        }
    }
}

fn check_without_token(without: WithoutToken, bind: IpAddr) -> Result<(), String> {
    if without == WithoutToken::Anywhere || bind.is_loopback() {
        return Ok(());
    }
    Err(format!(
        "--http-without-token lets everybody who reaches {bind} read and end statements: it is for loopback addresses, \
         unless --http-without-token=anywhere says that this is meant"
    ))
}

/// The token in a file. A missing file is created, readable by its owner only.
fn token_of_file(path: &Path) -> Result<Token, String> {
    let failed = |error: std::io::Error| format!("--http-token-file {}: {error}", path.display());
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let text = Token::random_text()?;
            let mut options = std::fs::OpenOptions::new();
            options.write(true).create_new(true);
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            let mut file = options.open(path).map_err(failed)?;
            file.write_all(format!("{text}\n").as_bytes())
                .map_err(failed)?;
            text
        }
        Err(error) => return Err(failed(error)),
    };
    Token::new(text.trim())
        .map_err(|error| format!("--http-token-file {}: {error}", path.display()))
}

/// The engine as a source of the page.
#[derive(Debug)]
struct EngineSource {
    database: Arc<Database>,
    /// Idle monitoring sessions.
    idle: Mutex<Vec<Session>>,
    /// The ids of all monitoring sessions.
    watching: Mutex<HashSet<u64>>,
    /// Greatest time of one request.
    time_max: Duration,
}

impl EngineSource {
    fn session(&self) -> Session {
        let mut options = SessionOptions::new();
        options.database = None;
        options.attributes = vec![("program_name".to_owned(), PROGRAM.to_owned())];
        self.database.session_with(options)
    }

    fn watcher(&self) -> Session {
        if let Some(session) = lock(&self.idle).pop() {
            return session;
        }
        let mut session = self.session();
        lock(&self.watching).insert(session.id());
        // Without that table, they are visible.
        let _ = session.execute(UNSEEN);
        session
    }
}

impl EngineSource {
    /// Runs `work` in a session, and ends its statements when all together exceed the time limit.
    fn in_time<T>(
        &self,
        kill: KillHandle,
        work: impl FnOnce() -> Result<T, SourceError>,
    ) -> Result<T, SourceError> {
        let time_max = self.time_max;
        let (ended, is_ended) = channel::<()>();
        std::thread::scope(|scope| {
            let watch = scope.spawn(move || {
                let (mut wait, mut is_late) = (time_max, false);
                while is_ended.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                    kill.kill();
                    (wait, is_late) = (KILL_AGAIN, true);
                }
                is_late
            });
            let done = work();
            drop(ended);
            match (done, watch.join()) {
                (Err(_), Ok(true)) => Err(SourceError {
                    code: ER_QUERY_TIMEOUT,
                    message: format!(
                        "Query execution was interrupted: the page lets it run {} seconds",
                        time_max.as_secs_f32()
                    ),
                }),
                (done, _) => done,
            }
        })
    }
}

impl Source for EngineSource {
    fn run(
        &self,
        session: mayfly_http::Session,
        statements: &[&str],
    ) -> Result<Vec<Table>, SourceError> {
        match session {
            mayfly_http::Session::Asked => {
                let mut session = self.session();
                self.in_time(session.kill_handle(), || run_all(&mut session, statements))
            }
            mayfly_http::Session::Watching => {
                let mut session = self.watcher();
                let kill = session.kill_handle();
                let results = self.in_time(kill, || run_all(&mut session, statements));
                // A killed session is not reused.
                if session.shut_out().is_none() {
                    lock(&self.idle).push(session);
                } else {
                    lock(&self.watching).remove(&session.id());
                }
                results
            }
        }
    }

    fn facts(&self) -> Facts {
        Facts {
            version: VERSION.to_owned(),
            account: "root@localhost".to_owned(),
        }
    }

    fn findings(&self) -> Result<Option<serde_json::Value>, SourceError> {
        // Its settings change: it is not reused.
        let session = self.watcher();
        let id = session.id();
        let report = self.in_time(session.kill_handle(), || {
            advise(session).map_err(|message| SourceError { code: 0, message })
        });
        lock(&self.watching).remove(&id);
        report.map(Some)
    }

    fn is_watching(&self, session_id: u64) -> bool {
        lock(&self.watching).contains(&session_id)
    }
}

/// The advisor's findings on a session's server, in their JSON form.
fn advise(session: Session) -> Result<serde_json::Value, String> {
    let mut live = Live::new(Box::new(Asking(session)))?;
    let workload = live.workload()?;
    let mut schema = Schema::new();
    live.read_schema(&workload, &mut schema);
    let (server, notes) = (live.server().clone(), live.notes().to_vec());
    let input = Input {
        workload: &workload,
        schema: &schema,
        server: &server,
    };
    let sources = vec!["this server".to_owned()];
    let mut report = Report::new(&input, sources, FINDINGS_MAX, &mut live);
    report.notes.extend(notes);
    serde_json::from_str(&mayfly_advisor::json(&report)).map_err(|error| error.to_string())
}

/// The advisor's session.
struct Asking(Session);

impl Connection for Asking {
    fn query(&mut self, sql: &str) -> Result<Rows, String> {
        let tables = run_all(&mut self.0, &[sql]).map_err(|error| error.to_string())?;
        let table = tables.into_iter().next().unwrap_or_default();
        Ok(Rows {
            names: table.columns,
            rows: table.rows,
        })
    }
}

fn run_all(session: &mut Session, statements: &[&str]) -> Result<Vec<Table>, SourceError> {
    let run = |sql: &&str| {
        let result = session.query_only(sql).and_then(|rows| rows.into_result());
        let result = result.map_err(source_error)?;
        Ok(Table {
            columns: result.columns.iter().map(|it| it.name.clone()).collect(),
            rows: result.rows_text(),
        })
    };
    statements.iter().map(run).collect()
}

fn source_error(error: Error) -> SourceError {
    SourceError {
        code: error.errno(),
        message: error.message().to_owned(),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_token_only_where_it_is_meant() {
        let [loopback, other] = ["127.0.0.1", "0.0.0.0"].map(|it| it.parse().expect("an address"));
        assert!(check_without_token(WithoutToken::Loopback, loopback).is_ok());
        assert!(check_without_token(WithoutToken::Loopback, other).is_err());
        assert!(check_without_token(WithoutToken::Anywhere, other).is_ok());
    }

    #[test]
    fn nothing_that_the_page_runs_takes_longer_than_it_may() {
        let database = Database::open(mayfly_engine::DatabaseOptions::new());
        let source = EngineSource {
            database: database.expect("an engine"),
            idle: Mutex::default(),
            watching: Mutex::default(),
            time_max: Duration::from_millis(200),
        };
        let endless = "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT COUNT(*) FROM r";
        let hinted = format!(
            "EXPLAIN ANALYZE FORMAT=TREE {}",
            endless.replacen(
                ") SELECT",
                ") SELECT /*+ MAX_EXECUTION_TIME(0) SET_VAR(max_execution_time=0) */",
                1
            )
        );
        let more = "SET SESSION cte_max_recursion_depth = 4294967295";
        for statements in [
            vec![more, endless],
            vec![more, "SET SESSION max_execution_time = 60000", &hinted],
        ] {
            let error = source.run(mayfly_http::Session::Asked, &statements);
            let error = error.expect_err("it is ended");
            assert_eq!(error.code, ER_QUERY_TIMEOUT, "{statements:?}: {error}");
        }
        let quick = source.run(mayfly_http::Session::Asked, &["SELECT 1"]);
        assert_eq!(quick.expect("in time").len(), 1);
    }

    #[test]
    fn a_token_file_is_made_for_its_owner_and_read_again() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("token");
        token_of_file(&path).expect("made");
        let text = std::fs::read_to_string(&path).expect("written");
        let mode = std::fs::metadata(&path)
            .expect("written")
            .permissions()
            .mode();
        assert_eq!((text.trim().len(), mode & 0o777), (32, 0o600));
        token_of_file(&path).expect("read");
        assert_eq!(std::fs::read_to_string(&path).expect("still there"), text);
        std::fs::write(&path, "short\n").expect("written");
        assert!(token_of_file(&path).is_err());
    }
}
