//! Every isolation script on Mayfly, and on MariaDB and MySQL where their sockets are named.
//!
//! `cargo test -p mayfly-testkit --test golden -- '[mariadb] isolation/deadlock'` runs part of it. With
//! `MAYFLY_ISOLATION_COMPLETE=1` the expected results are written again from MariaDB instead.

use std::path::{Path, PathBuf};

use libtest_mimic::{Failed, Trial};
use mayfly_testkit::column::ColumnKind;
use mayfly_testkit::config::Config;
use mayfly_testkit::corpus;
use mayfly_testkit::embedded::Embedded;
use mayfly_testkit::isolation::{self, Script};
use mayfly_testkit::runner::{Paths, ROOT, verdict};
use mayfly_testkit::server::{Flavour, ServerSession, socket};
use sqllogictest::DB;

/// Whether expected results are written instead.
pub(crate) fn writes() -> bool {
    std::env::var_os("MAYFLY_ISOLATION_COMPLETE").is_some()
}

/// A trial for each script and server.
pub(crate) fn trials() -> Vec<Trial> {
    let writes = writes();
    let mut trials = Vec::new();
    for file in corpus::files("isolation", "script") {
        let name = format!("isolation/{}", topic(&file));
        if !writes {
            let file = file.clone();
            trials.push(Trial::test(name.clone(), move || on_mayfly(&file)).with_kind("mayfly"));
        }
        let flavours = [Flavour::MariaDb, Flavour::MySql];
        for flavour in flavours.into_iter().take(if writes { 1 } else { 2 }) {
            let socket = socket(flavour);
            let file = file.clone();
            let absent = socket.is_none();
            let trial = Trial::test(name.clone(), move || match &socket {
                Some(socket) => on_server(socket, flavour, &file, writes),
                None => Err("no socket is named".into()),
            });
            trials.push(trial.with_kind(flavour.label()).with_ignored_flag(absent));
        }
    }
    trials
}

fn topic(file: &Path) -> String {
    let stem = file.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

fn read(file: &Path) -> Result<Script, Failed> {
    Ok(Script::parse(&std::fs::read_to_string(file)?)?)
}

/// A session in the script's own database.
fn enter<D: DB<ColumnType = ColumnKind>>(mut session: D, database: &str) -> Result<D, String> {
    let entered = session.run(&format!("USE {database}"));
    entered.map_err(|error| error.to_string())?;
    Ok(session)
}

fn on_mayfly(file: &Path) -> Result<(), Failed> {
    let script = read(file)?;
    let config = corpus::root().join("tests/configs/durable.toml");
    let paths = Paths::new()?;
    let embedded = Embedded::open(&Config::read(&config)?, paths.clone())?;
    embedded
        .session_of(ROOT)?
        .run("CREATE DATABASE isolation")?;
    let result = isolation::check(&script, "mayfly", || {
        let session = embedded
            .session_of(ROOT)
            .map_err(|error| error.to_string())?;
        enter(session, "isolation")
    });
    embedded.session_of(ROOT)?.run("DROP DATABASE isolation")?;
    let mut problems: Vec<String> = result.err().into_iter().collect();
    problems.extend(embedded.leaks());
    problems.extend(embedded.close());
    paths.clean();
    verdict(problems)
}

fn on_server(socket: &Path, flavour: Flavour, file: &PathBuf, writes: bool) -> Result<(), Failed> {
    let script = read(file)?;
    let paths = Paths::new()?;
    let database = format!("isolation_{}", topic(file));
    let connect = || ServerSession::connect_as(ROOT, socket, flavour, paths.clone());
    let mut main = connect()?;
    main.run(&format!("DROP DATABASE IF EXISTS {database}"))?;
    main.run(&format!("CREATE DATABASE {database}"))?;
    let open = || enter(connect().map_err(|error| error.to_string())?, &database);
    let result = if writes {
        isolation::complete(&script, flavour.label(), open).map(Some)
    } else {
        isolation::check(&script, flavour.label(), open).map(|()| None)
    };
    main.run(&format!("DROP DATABASE {database}"))?;
    paths.clean();
    if let Some(text) = result? {
        std::fs::write(file, text)?;
    }
    Ok(())
}
