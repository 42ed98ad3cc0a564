//! When a transaction of REPEATABLE READ fixes the moment that it sees: with its first plain read, not
//! with statements that change rows, whatever they are.

use mayfly_testkit::fixture::{Fixture, must};

#[test]
fn statements_that_change_rows_fix_no_moment() {
    let fixture = Fixture::open(|_| {});
    let file = fixture.tmpdir().with_extension("txt");
    std::fs::write(&file, "7\n8\n").unwrap();
    let load = format!("LOAD DATA INFILE '{}'", file.display());
    let changes = [
        "INSERT INTO changed VALUES (1)".to_owned(),
        "INSERT INTO changed SELECT i + 10 FROM third".to_owned(),
        "REPLACE INTO changed VALUES (2)".to_owned(),
        "UPDATE changed SET i = i + 100".to_owned(),
        "DELETE FROM changed".to_owned(),
        format!("{load} INTO TABLE changed"),
        format!("{load} REPLACE INTO TABLE changed SET i = i + 20"),
        format!("{load} IGNORE INTO TABLE changed (@i) SET i = @i + 40"),
    ];
    let (mut a, mut b) = (fixture.database.session(), fixture.database.session());
    must(&mut a, "CREATE DATABASE snapshots");
    for session in [&mut a, &mut b] {
        must(session, "USE snapshots");
    }
    must(&mut a, "CREATE TABLE changed (i INT PRIMARY KEY)");
    must(&mut a, "CREATE TABLE other (i INT PRIMARY KEY)");
    must(&mut a, "CREATE TABLE third AS SELECT 1 AS i");
    for (number, change) in changes.iter().enumerate() {
        must(&mut a, "BEGIN");
        must(&mut a, change);
        must(&mut b, &format!("INSERT INTO other VALUES ({number})"));
        let seen = must(&mut a, "SELECT MAX(i) FROM other");
        assert_eq!(seen, [number.to_string()], "{change}");
        must(&mut a, "ROLLBACK");
    }
    must(&mut a, "DROP DATABASE snapshots");
    drop((a, b));
    std::fs::remove_file(file).unwrap();
    fixture.finish();
}
