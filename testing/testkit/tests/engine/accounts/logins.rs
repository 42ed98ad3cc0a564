//! Logins through the engine's own interface, as used by the server.

use std::sync::Arc;
use std::time::Duration;

use mayfly_engine::{
    AuthenticationPlugin, ClientCertificate, Database, Encryption, FastCheck, Login, RootPassword,
    Session, SessionOptions,
};
use mayfly_testkit::fixture::{Errno, Fixture, SessionExt};

use super::{log_in, log_in_to_change};

fn try_log_in(database: &Arc<Database>, login: &Login) -> Result<Session, u16> {
    let options = SessionOptions {
        database: None,
        ..SessionOptions::new()
    };
    let session = database.log_in(database.accept().unwrap(), login, options);
    session.map_err(|error| error.errno())
}

#[test]
fn a_password_opens_its_account_alone() {
    let (fixture, mut root) = Fixture::with_session();
    let database = &fixture.database;
    root.must("CREATE USER one IDENTIFIED BY 'first', two@'10.%' IDENTIFIED BY 'second'");
    let login = database.account_for("one", "192.168.0.1");
    assert_eq!(login.plugin(), AuthenticationPlugin::CachingSha2Password);
    assert!(login.has_password());
    // No password is cached yet.
    let scramble = [7; 20];
    assert_eq!(
        login.check_fast(&scramble, &[1; 32]),
        FastCheck::PasswordNeeded
    );
    assert_eq!(login.check_fast(&scramble, b""), FastCheck::Refused);
    assert!(!login.check_password(b"second") && !login.check_password(b""));
    assert!(login.check_password(b"first"));
    let mut session = try_log_in(database, &login).unwrap();
    assert_eq!(
        session.must("SELECT user(), current_user(), current_role()"),
        ["one@192.168.0.1\tone@%\tNONE"]
    );
    for (user, host) in [("two", "192.168.0.1"), ("nobody", "10.0.0.1")] {
        let login = database.account_for(user, host);
        assert_eq!(login.plugin(), AuthenticationPlugin::CachingSha2Password);
        assert!(login.has_password());
        assert_eq!(
            login.check_fast(&scramble, &[1; 32]),
            FastCheck::PasswordNeeded
        );
        assert!(!login.check_password(b"second") && !login.check_password(b""));
        assert_eq!(try_log_in(database, &login).unwrap_err(), 1045);
    }
}

#[test]
fn the_account_of_the_most_specific_host_is_taken() {
    let (fixture, mut root) = Fixture::with_session();
    let database = &fixture.database;
    root.must("CREATE USER u@'%', u@localhost, u@'10.1.%', u@'10.1.2.3', u@'10.1.0.0/255.255.0.0', ''@'10.9.%'");
    for (user, host, account) in [
        ("u", "localhost", "u@localhost"),
        ("u", "127.0.0.1", "u@localhost"),
        ("u", "::1", "u@localhost"),
        ("u", "10.1.2.3", "u@10.1.2.3"),
        ("u", "10.1.2.4", "u@10.1.0.0/255.255.0.0"),
        ("u", "10.2.0.1", "u@%"),
        ("u", "10.9.0.1", "@10.9.%"),
        ("v", "10.9.0.1", "@10.9.%"),
    ] {
        let login = database.account_for(user, host);
        let mut session = try_log_in(database, &login).unwrap();
        assert_eq!(
            session.must("SELECT current_user()"),
            [account],
            "{user}@{host}"
        );
    }
}

#[test]
fn accounts_refuse_for_other_reasons_too() {
    let (fixture, mut root) = Fixture::with_session();
    let database = &fixture.database;
    for account in [
        "locked ACCOUNT LOCK",
        "sealed REQUIRE X509",
        "tls REQUIRE SSL",
        "expired PASSWORD EXPIRE",
        "few WITH MAX_USER_CONNECTIONS 1",
    ] {
        root.must(&format!("CREATE USER {account}"));
    }
    let errno_of = |user: &str| {
        let login = database.account_for(user, "10.0.0.1");
        try_log_in(database, &login).map(drop)
    };
    assert_eq!(errno_of("locked"), Err(3118));
    assert_eq!(errno_of("sealed"), Err(1045));
    assert_eq!(errno_of("expired"), Err(1862));
    assert_eq!(errno_of("tls"), Err(1045));
    let held = log_in(database, "few");
    assert_eq!(errno_of("few"), Err(1226));
    drop(held);
    assert_eq!(errno_of("few"), Ok(()));
    root.must("ALTER USER locked ACCOUNT UNLOCK");
    assert_eq!(errno_of("locked"), Ok(()));
    // A client that supports it is admitted to set another password.
    let mut session = log_in_to_change(database, "expired");
    assert_eq!(session.errno("SELECT 1"), 1820);
    assert_eq!(session.errno("ALTER USER USER() IDENTIFIED BY 'new'"), 0);
    assert_eq!(session.errno("SELECT 1"), 0);
    assert!(
        database
            .account_for("expired", "10.0.0.1")
            .check_password(b"new")
    );
}

#[test]
fn statements_are_counted_against_the_account() {
    let (fixture, mut root) = Fixture::with_session();
    let database = &fixture.database;
    root.must("CREATE USER u WITH MAX_QUERIES_PER_HOUR 3");
    let mut session = log_in(database, "u");
    let errors: Vec<u16> = (0..4).map(|_| session.errno("SELECT 1")).collect();
    assert_eq!(errors, [0, 0, 0, 1226]);
    root.must("FLUSH USER_RESOURCES");
    assert_eq!(session.errno("SELECT 1"), 0);
}

#[test]
fn failed_logins_are_slowed_down_and_block_the_account() {
    let (fixture, mut root) = Fixture::with_session();
    let database = &fixture.database;
    root.must(
        "CREATE USER u IDENTIFIED BY 'x' FAILED_LOGIN_ATTEMPTS 3 PASSWORD_LOCK_TIME UNBOUNDED",
    );
    let login = database.account_for("u", "10.0.0.1");
    let failures: Vec<(u16, Duration)> = (0..3)
        .map(|_| {
            let failure = database.login_failed(&login, true);
            (failure.error.errno(), failure.delay)
        })
        .collect();
    assert_eq!(
        failures.iter().map(|(errno, _)| *errno).collect::<Vec<_>>(),
        [1045, 1045, 3955]
    );
    assert!(failures.is_sorted_by(|a, b| a.1 < b.1));
    assert!(login.check_password(b"x"));
    assert_eq!(try_log_in(database, &login).unwrap_err(), 3955);
    assert_eq!(
        root.must("SHOW STATUS LIKE 'Aborted_connects'"),
        ["Aborted_connects\t4"]
    );
    root.must("ALTER USER u ACCOUNT UNLOCK");
    assert!(try_log_in(database, &login).is_ok());
    let failure = database.login_failed(&login, false);
    assert_eq!(
        failure.error.message(),
        "Access denied for user 'u'@'10.0.0.1' (using password: NO)"
    );
    assert_eq!(failure.delay, Duration::ZERO);
}

#[test]
fn the_first_start_makes_root_once() {
    let fixture = Fixture::open(|_| {});
    let database = &fixture.database;
    let made = database
        .set_up_root(RootPassword::Generated)
        .unwrap()
        .unwrap();
    let password = made.generated.unwrap();
    assert!(password.len() >= 16);
    assert!(database.set_up_root(RootPassword::Empty).unwrap().is_none());
    let login = database.account_for("root", "127.0.0.1");
    assert!(login.check_password(password.as_bytes()) && !login.check_password(b""));
    let mut session = try_log_in(database, &login).unwrap();
    session.must("CREATE TABLE test.t (a int)");
    session.must("CREATE USER other");
    session.must("GRANT ALL ON *.* TO other WITH GRANT OPTION");
    session.must("SET GLOBAL max_connections = 100");
    assert_eq!(session.errno("SELECT * FROM test.t"), 0);
    // The account is for this machine only.
    let login = database.account_for("root", "10.0.0.1");
    assert!(!login.check_password(password.as_bytes()));
}

#[test]
fn passwords_change_and_two_may_hold() {
    let (fixture, mut root) = Fixture::with_session();
    let database = &fixture.database;
    root.must("CREATE USER u IDENTIFIED BY 'old'");
    let opens = |password: &str| {
        let login = database.account_for("u", "localhost");
        login.check_password(password.as_bytes())
    };
    root.must("ALTER USER u IDENTIFIED BY 'new' RETAIN CURRENT PASSWORD");
    assert!(opens("old") && opens("new"));
    root.must("ALTER USER u DISCARD OLD PASSWORD");
    assert!(!opens("old") && opens("new"));
    root.must("SET PASSWORD FOR u = 'third'");
    assert!(!opens("new") && opens("third"));
    root.must("ALTER USER u IDENTIFIED WITH mysql_native_password BY 'native'");
    let login = database.account_for("u", "localhost");
    assert_eq!(login.plugin(), AuthenticationPlugin::MysqlNativePassword);
    assert!(opens("native"));
    root.must(
        "ALTER USER u IDENTIFIED WITH mysql_native_password \
         AS '*2470C0C06DEE42FD1618BB99005ADCA2EC9D1E19'",
    );
    assert!(opens("password"));
    // A password that the user sets is valid at once, and REPLACE requires the current one.
    let login = database.account_for("u", "localhost");
    let mut session = try_log_in(database, &login).unwrap();
    assert_eq!(session.errno("SET PASSWORD = 'own' REPLACE 'wrong'"), 3891);
    assert_eq!(session.errno("SET PASSWORD = 'own' REPLACE 'password'"), 0);
    assert!(opens("own"));
    // A client that proved the old password is no longer admitted.
    assert_eq!(try_log_in(database, &login).unwrap_err(), 1045);
}

#[test]
fn rights_end_at_once() {
    let (fixture, mut root) = Fixture::with_session();
    let database = &fixture.database;
    root.must("CREATE TABLE t (a int PRIMARY KEY, b int)");
    root.must("INSERT INTO t VALUES (1, 1)");
    root.must("CREATE USER u");
    root.must("GRANT SELECT, UPDATE ON test.t TO u");
    let mut session = log_in(database, "u");
    session.must("USE test");
    let read = session.prepare("SELECT b FROM t WHERE a = 1").unwrap();
    let write = session.prepare("UPDATE t SET b = 2 WHERE a = 1").unwrap();
    let text = "SELECT b FROM t WHERE a = 1";
    let outcome = |session: &mut Session, prepared: &mayfly_engine::Prepared| {
        let stream = session.execute_prepared(prepared, &[]);
        stream.and_then(|stream| stream.into_result()).map(drop)
    };
    for _ in 0..5 {
        outcome(&mut session, &read).unwrap();
        outcome(&mut session, &write).unwrap();
        assert_eq!(session.errno(text), 0);
    }
    root.must("REVOKE SELECT ON test.t FROM u");
    assert_eq!(outcome(&mut session, &read).unwrap_err().errno(), 1142);
    assert_eq!(outcome(&mut session, &write).unwrap_err().errno(), 1143);
    assert_eq!(session.errno(text), 1142);
    // The text is known, but not shown to everybody.
    root.must(text);
    assert_eq!(session.errno(text), 1142);
    root.must("DROP USER u");
    assert_eq!(session.errno("SELECT a FROM t"), 1142);
    assert_eq!(session.errno("SELECT 1"), 0);
}

#[test]
fn to_end_another_session_needs_a_right() {
    let (fixture, mut root) = Fixture::with_session();
    let database = &fixture.database;
    root.must("CREATE USER u, other");
    let (mut session, other) = (log_in(database, "u"), log_in(database, "other"));
    let kill = format!("KILL {}", other.id());
    assert_eq!(session.errno(&kill), 1095);
    root.must("GRANT PROCESS, CONNECTION_ADMIN ON *.* TO u");
    assert_eq!(session.errno(&kill), 0);
}

#[test]
fn no_password_is_shown_to_others() {
    let (fixture, mut root) = Fixture::with_session();
    let database = &fixture.database;
    for statement in [
        "CREATE USER u IDENTIFIED BY 'geheim'",
        "CREATE USER u IDENTIFIED BY 'geheim'",
        "ALTER USER u IDENTIFIED BY 'geheim' NONSENSE",
        "PREPARE s FROM 'SET PASSWORD FOR u = ''geheim'''",
        "EXECUTE s",
    ] {
        let _ = root.errno(statement);
        assert!(!format!("{root:?}").contains("geheim"), "{statement}");
        assert!(!format!("{database:?}").contains("geheim"), "{statement}");
    }
}

#[test]
fn who_may_set_all_passwords_need_not_know_the_own() {
    let (fixture, mut root) = Fixture::with_session();
    let database = &fixture.database;
    for (user, grant, answer) in [
        ("a", "CREATE USER ON *.*", 0),
        ("b", "UPDATE ON mysql.*", 0),
        ("c", "APPLICATION_PASSWORD_ADMIN ON *.*", 3892),
        ("d", "SELECT ON *.*", 3892),
    ] {
        let create = format!("CREATE USER {user} IDENTIFIED BY 'x' PASSWORD REQUIRE CURRENT");
        root.must(&create);
        root.must(&format!("GRANT {grant} TO {user}"));
        let login = database.account_for(user, "localhost");
        assert!(login.check_password(b"x"));
        let mut session = try_log_in(database, &login).unwrap();
        let change = "ALTER USER USER() IDENTIFIED BY 'y'";
        assert_eq!(session.errno(change), answer, "{user}");
        let wrong = "ALTER USER USER() IDENTIFIED BY 'z' REPLACE 'w'";
        assert_eq!(session.errno(wrong), 3891, "{user}");
    }
}

#[test]
fn an_account_may_require_tls_and_certificates() {
    let (fixture, mut root) = Fixture::with_session();
    let database = &fixture.database;
    let suite = "TLS_AES_128_GCM_SHA256";
    let named = |subject: &str| {
        Some(Encryption {
            version: "TLSv1.3".to_owned(),
            cipher: suite.to_owned(),
            certificate: Some(ClientCertificate {
                subject: subject.to_owned(),
                issuer: "/CN=authority".to_owned(),
            }),
        })
    };
    let unnamed = named("").map(|encryption| Encryption {
        certificate: None,
        ..encryption
    });
    // Admitted clients: without TLS, without a certificate, with ann's, with bob's.
    for (require, opens) in [
        ("NONE", "++++"),
        ("SSL", "-+++"),
        ("X509", "--++"),
        ("SUBJECT '/CN=ann'", "--+-"),
        ("ISSUER '/CN=authority'", "--++"),
        ("ISSUER '/CN=other'", "----"),
        ("SUBJECT '/CN=bob' AND ISSUER '/CN=authority'", "---+"),
        ("CIPHER 'TLS_AES_128_GCM_SHA256'", "--++"),
        (
            "CIPHER 'TLS_AES_256_GCM_SHA384' AND SUBJECT '/CN=ann'",
            "----",
        ),
    ] {
        root.must(&format!("CREATE USER u REQUIRE {require}"));
        let connections = [None, unnamed.clone(), named("/CN=ann"), named("/CN=bob")];
        for (encryption, opens) in connections.into_iter().zip(opens.chars()) {
            let mut login = database.account_for("u", "10.0.0.1");
            login.set_encryption(encryption.clone());
            let expected = if opens == '+' { Ok(()) } else { Err(1045) };
            let came = try_log_in(database, &login).map(drop);
            assert_eq!(came, expected, "{require} {encryption:?}");
        }
        root.must("DROP USER u");
    }
}

/// Nanoseconds of processor time of this thread.
fn thread_time() -> u64 {
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    statistics.split(' ').next().unwrap().parse().unwrap()
}

#[test]
fn a_login_costs_little_whatever_is_sent() {
    let (fixture, mut root) = Fixture::with_session();
    let database = &fixture.database;
    root.must(
        "CREATE USER u IDENTIFIED BY 'right', open, \
         old IDENTIFIED WITH mysql_native_password BY 'right'",
    );
    for length in [257, 1_000, 100_000, 1 << 20, 16 << 20] {
        let password = vec![b'x'; length];
        for user in ["u", "open", "old", "nobody"] {
            let login = database.account_for(user, "10.0.0.1");
            let before = thread_time();
            assert!(!login.check_password(&password));
            assert!(!login.check_native(&[7; 20], &password));
            login.check_fast(&[7; 20], &password);
            let milliseconds = (thread_time() - before) / 1_000_000;
            assert!(milliseconds < 20, "{user}, {length}: {milliseconds} ms");
        }
    }
}

#[test]
fn a_password_has_at_most_256_bytes() {
    let (fixture, mut root) = Fixture::with_session();
    let database = &fixture.database;
    let longest = "x".repeat(256);
    root.must(&format!("CREATE USER u IDENTIFIED BY '{longest}'"));
    assert!(
        database
            .account_for("u", "h")
            .check_password(longest.as_bytes())
    );
    for statement in [
        "CREATE USER v IDENTIFIED BY '{}': CREATE USER failed for 'v'@'%'",
        "ALTER USER u IDENTIFIED BY '{}': ALTER USER failed for 'u'@'%'",
        "SET PASSWORD FOR u = '{}': SET PASSWORD failed for 'u'@'%'",
        "CREATE USER w IDENTIFIED WITH mysql_native_password BY '{}': CREATE USER failed for 'w'@'%'",
    ] {
        let (statement, operation) = statement.split_once(": ").unwrap();
        let statement = statement.replace("{}", &"x".repeat(257));
        let error = root.execute(&statement).unwrap_err();
        assert_eq!(error.errno(), 1396);
        assert!(error.to_string().contains(operation), "{error}");
    }
    assert!(
        database
            .account_for("u", "h")
            .check_password(longest.as_bytes())
    );
}

#[test]
fn unknown_names_look_like_those_of_accounts() {
    let (fixture, mut root) = Fixture::with_session();
    let database = &fixture.database;
    let drawn = || {
        let plugin = |number| {
            let name = format!("nobody{number}");
            let plugin = database.account_for(&name, "h").plugin();
            assert_eq!(plugin, database.account_for(&name, "h").plugin());
            plugin.name()
        };
        (0..64)
            .map(plugin)
            .collect::<std::collections::BTreeSet<_>>()
    };
    root.must("CREATE USER open, shut IDENTIFIED BY 'x'");
    assert_eq!(drawn().len(), 1);
    for user in ["open", "shut", "nobody"] {
        let login = database.account_for(user, "h");
        let answer = login.check_fast(&[7; 20], &[1; 32]);
        assert_eq!(answer, FastCheck::PasswordNeeded, "{user}");
    }
    // Whether an account exists does not show in the request for another plugin.
    root.must("CREATE USER old IDENTIFIED WITH mysql_native_password BY 'x'");
    assert_eq!(drawn().len(), 2);
}
