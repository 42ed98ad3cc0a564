//! Files: opened, rotated, shared by sessions.

use mayfly_testkit::fixture::SessionExt;

use crate::logs::reader::entries;
use crate::logs::{Logged, read};

#[test]
fn a_file_begins_as_mysqls_and_is_rotated_by_flush() {
    let logged = Logged::open(&[
        ("general_log", "1"),
        ("port", "3307"),
        ("socket", "/tmp/x.sock"),
    ]);
    let mut session = logged.fixture.session();
    let header = format!(
        "mayfly, Version: {} (Mayfly). started with:\n\
         Tcp port: 3307  Unix socket: /tmp/x.sock\n\
         Time                 Id Command    Argument\n",
        mayfly_engine::VERSION
    );
    for (file, flush) in [("slow.log", "SLOW LOGS"), ("general.log", "GENERAL LOGS")] {
        session.must(&format!("SELECT '{flush} before'"));
        assert!(logged.text(file).starts_with(&header));
        let old = logged.path("old.log");
        std::fs::rename(logged.path(file), &old).unwrap();
        session.must(&format!("SELECT '{flush} between'"));
        // A renamed file is still written until the logs are flushed.
        assert!(!logged.path(file).exists());
        session.must(&format!("FLUSH {flush}"));
        session.must(&format!("SELECT '{flush} after'"));
        let (old, new) = (read(&old), logged.text(file));
        let in_old =
            ["before", "between", "after"].map(|when| old.contains(&format!("'{flush} {when}'")));
        let in_new =
            ["before", "between", "after"].map(|when| new.contains(&format!("'{flush} {when}'")));
        assert_eq!(
            (in_old, in_new),
            ([true, true, false], [false, false, true])
        );
        assert!(new.starts_with(&header));
        // A new file begins with the time and the database.
        if file == "slow.log" {
            assert!(new.contains("\nuse test;\n"), "{new}");
        }
    }
    std::fs::remove_file(logged.path("slow.log")).unwrap();
    std::fs::remove_file(logged.path("general.log")).unwrap();
    logged.fixture.database.flush_logs().unwrap();
    session.must("SELECT 'again'");
    assert!(logged.slow().contains("'again'") && logged.text("general.log").contains("'again'"));
}

#[test]
fn variables_are_checked_as_mysqls() {
    let logged = Logged::open(&[]);
    let mut session = logged.fixture.session();
    let directory = logged.path("").to_string_lossy().into_owned();
    for (set, errno) in [
        ("slow_query_log_file = '/nosuch/x.log'".to_owned(), 1231),
        ("slow_query_log_file = ''".to_owned(), 1231),
        ("slow_query_log_file = NULL".to_owned(), 1231),
        ("slow_query_log_file = 5".to_owned(), 1232),
        (format!("slow_query_log_file = '{directory}'"), 1231),
        (format!("slow_query_log_file = '{directory}my.cnf'"), 1231),
        ("general_log_file = '/dev/null'".to_owned(), 1231),
        ("log_output = 'x'".to_owned(), 1231),
        ("log_output = ''".to_owned(), 1231),
        ("log_output = 8".to_owned(), 1231),
        ("log_timestamps = 'x'".to_owned(), 1231),
        ("log_slow_verbosity = 'x'".to_owned(), 1231),
        ("log_slow_filter = 4095".to_owned(), 1231),
        ("slow_query_log = 2".to_owned(), 1231),
    ] {
        let error = session.execute(&format!("SET GLOBAL {set}")).unwrap_err();
        assert_eq!(error.errno(), errno, "{set}: {error}");
    }
    for (set, errno) in [
        ("slow_query_log = 1", 1229),
        ("log_slow_extra = 1", 1229),
        ("long_query_time = 'x'", 1232),
    ] {
        let error = session.execute(&format!("SET {set}")).unwrap_err();
        assert_eq!(error.errno(), errno, "{set}: {error}");
    }
    for (set, shown) in [
        ("2", "query_plan"),
        ("'full'", "full"),
        ("'all'", "innodb,query_plan,explain,engine,warnings,full"),
        ("63", "innodb,query_plan,explain,engine,warnings,full"),
        ("'microtime,query_plan'", "query_plan,microtime"),
        ("''", "(empty)"),
    ] {
        session.must(&format!("SET GLOBAL log_slow_verbosity = {set}"));
        assert_eq!(session.value("SELECT @@GLOBAL.log_slow_verbosity"), shown);
    }
    session.must("SET log_slow_verbosity = 'profiling'");
    assert_eq!(session.value("SHOW COUNT(*) WARNINGS"), "1");
    // MariaDB's names.
    session.must("SET GLOBAL log_slow_query = 0, GLOBAL log_slow_query_time = 2");
    assert_eq!(session.value("SELECT @@GLOBAL.slow_query_log"), "0");
    assert_eq!(session.value("SELECT @@GLOBAL.long_query_time"), "2.000000");
}

#[test]
fn a_log_whose_file_cannot_be_opened_stays_off() {
    let logged = Logged::open(&[("slow_query_log", "0")]);
    let mut session = logged.fixture.session();
    let gone = logged.path("gone");
    std::fs::create_dir(&gone).unwrap();
    let file = gone.join("x.log");
    let file = file.to_string_lossy();
    session.must(&format!("SET GLOBAL slow_query_log_file = '{file}'"));
    std::fs::remove_dir(&gone).unwrap();
    let error = session
        .execute("SET GLOBAL slow_query_log = 1")
        .unwrap_err();
    assert_eq!(error.errno(), 29);
    let text = format!("File '{file}' not found (OS errno 2 - No such file or directory)");
    assert_eq!(error.message(), text);
    assert_eq!(session.value("SELECT @@slow_query_log"), "0");
    std::fs::create_dir(&gone).unwrap();
    session.must("SET GLOBAL slow_query_log = 1");
    session.must("SELECT 1");
    assert!(read(&gone.join("x.log")).contains("SELECT 1;"));
    // A file with another name is used at once.
    let other = logged.path("other.log");
    session.must(&format!(
        "SET GLOBAL slow_query_log_file = '{}'",
        other.to_string_lossy()
    ));
    session.must("SELECT 2");
    assert!(read(&other).contains("SELECT 2;") && !read(&gone.join("x.log")).contains("SELECT 2;"));
    session.must("SET GLOBAL slow_query_log = 0");
    session.must("SELECT 3");
    assert!(!read(&other).contains("SELECT 3;"));
}

#[test]
fn the_engines_own_files_are_no_logs() {
    let directory = tempfile::tempdir().unwrap();
    let datadir = directory.path().to_owned();
    let logged = Logged::with(&[], |options| options.datadir = Some(datadir.clone()));
    let mut session = logged.fixture.session();
    session.must("CREATE TABLE t (a INT)");
    session.must("INSERT INTO t VALUES (1)");
    for file in std::fs::read_dir(&datadir).unwrap() {
        let file = file.unwrap().path();
        let set = format!(
            "SET GLOBAL slow_query_log_file = '{}'",
            file.to_string_lossy()
        );
        let error = session.execute(&set).unwrap_err();
        assert_eq!(error.errno(), 1231, "{set}");
    }
    let error = session
        .execute("SET GLOBAL slow_query_log_file = 'data.txt'")
        .unwrap_err();
    assert_eq!(error.errno(), 1231);
    session.must("SET GLOBAL slow_query_log_file = 'mine.log'");
    session.must("SELECT 1");
    assert!(read(&datadir.join("mine.log")).contains("SELECT 1;"));
    session.must("SET GLOBAL slow_query_log_file = DEFAULT");
    assert!(
        session
            .value("SELECT @@slow_query_log_file")
            .ends_with("-slow.log")
    );
    session.must("SET GLOBAL slow_query_log_file = 'mine.log'");
    session.must("SET GLOBAL slow_query_log = 0");
    session.must("DROP TABLE t");
}

#[test]
fn sessions_write_whole_entries() {
    const SESSIONS: usize = 8;
    const STATEMENTS: usize = 100;
    let logged = Logged::open(&[("log_slow_verbosity", "full")]);
    std::thread::scope(|scope| {
        for number in 0..SESSIONS {
            let mut session = logged.fixture.session();
            scope.spawn(move || {
                for statement in 0..STATEMENTS {
                    session.must(&format!("SELECT 'session {number}\nstatement {statement}'"));
                }
            });
        }
        let mut session = logged.fixture.session();
        scope.spawn(move || {
            for _ in 0..20 {
                session.must("FLUSH SLOW LOGS");
            }
        });
    });
    let mut statements = logged.statements();
    statements.retain(|text| text.starts_with("SELECT"));
    statements.sort();
    let of = |number| {
        (0..STATEMENTS).map(move |it| format!("SELECT 'session {number}\nstatement {it}'"))
    };
    let mut expected: Vec<String> = (0..SESSIONS).flat_map(of).collect();
    expected.sort();
    assert_eq!(statements, expected);
    assert_eq!(entries(&logged.slow()).len(), SESSIONS * STATEMENTS + 20);
}
