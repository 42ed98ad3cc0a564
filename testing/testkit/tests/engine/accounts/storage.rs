//! Accounts in a data directory persist when it is opened again.

use mayfly_engine::{RootPassword, Session};
use mayfly_testkit::fixture::{DataDirectory, Errno, SessionExt};

const ACCOUNTS: &[&str] = &[
    "u@localhost",
    "`odd``'name`@'%.example.com'",
    "limited",
    "reader",
    "''@'10.%'",
];

fn shown(session: &mut Session) -> Vec<String> {
    session.must("SET print_identified_with_as_hex = 1");
    let mut all = Vec::new();
    for account in ACCOUNTS {
        all.extend(session.must(&format!("SHOW CREATE USER {account}")));
        all.extend(session.must(&format!("SHOW GRANTS FOR {account}")));
    }
    all
}

#[test]
fn accounts_come_back() {
    let directory = DataDirectory::new("accounts");
    let before;
    {
        let database = directory.open();
        assert!(
            database
                .set_up_root(RootPassword::Given("root's"))
                .unwrap()
                .is_some()
        );
        let mut session = database.session();
        session.must_all([
            "CREATE TABLE t (a int, b int)",
            "CREATE USER u@localhost IDENTIFIED BY 'päss\\'word'",
            "CREATE USER `odd``'name`@'%.example.com' IDENTIFIED WITH mysql_native_password BY 'x'",
            "CREATE USER ''@'10.%'",
            "CREATE USER limited IDENTIFIED BY 'y' REQUIRE SUBJECT '/CN=a \\'b\\'' ISSUER 'c\\\\d' \
             WITH MAX_QUERIES_PER_HOUR 5 MAX_USER_CONNECTIONS 6 PASSWORD EXPIRE INTERVAL 9 DAY \
             ACCOUNT LOCK PASSWORD HISTORY 3 PASSWORD REUSE INTERVAL 4 DAY PASSWORD REQUIRE CURRENT \
             FAILED_LOGIN_ATTEMPTS 7 PASSWORD_LOCK_TIME UNBOUNDED ATTRIBUTE '{\"a\": \"it\\'s\"}'",
            "CREATE ROLE reader",
            "GRANT SELECT, PROCESS, BACKUP_ADMIN ON *.* TO u@localhost WITH GRANT OPTION",
            "GRANT INSERT ON `a\\_b%`.* TO u@localhost",
            "GRANT ALL ON test.* TO u@localhost",
            "GRANT SELECT (a, b), DELETE ON test.t TO u@localhost WITH GRANT OPTION",
            "GRANT reader TO u@localhost, limited WITH ADMIN OPTION",
            "SET DEFAULT ROLE reader TO u@localhost",
            "ALTER USER u@localhost IDENTIFIED BY 'second' RETAIN CURRENT PASSWORD",
            "ALTER USER u@localhost PASSWORD EXPIRE",
            "CREATE USER lasting IDENTIFIED BY 'one' PASSWORD HISTORY 5",
            "ALTER USER lasting IDENTIFIED BY 'two'",
        ]);
        before = shown(&mut session);
    }
    let database = directory.open();
    assert!(
        database
            .set_up_root(RootPassword::Generated)
            .unwrap()
            .is_none()
    );
    let mut session = database.session();
    assert_eq!(shown(&mut session), before);
    let opens = |user: &str, host: &str, password: &str| {
        let login = database.account_for(user, host);
        login.check_password(password.as_bytes())
    };
    assert!(opens("root", "localhost", "root's") && !opens("root", "localhost", ""));
    assert!(opens("u", "localhost", "päss'word") && opens("u", "localhost", "second"));
    assert!(opens("odd`'name", "db.example.com", "x"));
    for (password, answer) in [("one", 3638), ("two", 3638), ("three", 0)] {
        let change = format!("ALTER USER lasting IDENTIFIED BY '{password}'");
        assert_eq!(session.errno(&change), answer, "{password}");
    }
    session.must("DROP USER u@localhost, reader");
    drop(session);
    drop(database);
    let database = directory.open();
    let mut session = database.session();
    assert!(session.execute("SHOW GRANTS FOR u@localhost").is_err());
    assert_eq!(
        session.must("SHOW GRANTS FOR limited"),
        ["GRANT USAGE ON *.* TO `limited`@`%`"]
    );
}
