//! A DELETE of several tables between which foreign keys lie: rows of children go first, whatever the
//! order of the tables, of the plan, and of the batches.

use mayfly_testkit::fixture::{Fixture, must, rows};

fn deletes_children_first(batch_size: usize) {
    let fixture = Fixture::open(|options| options.batch_size = batch_size);
    let mut session = fixture.database.session();
    must(&mut session, "CREATE TABLE p (a INT PRIMARY KEY, b INT)");
    must(
        &mut session,
        "CREATE TABLE c (a INT PRIMARY KEY, pa INT, FOREIGN KEY (pa) REFERENCES p (a))",
    );
    must(
        &mut session,
        "CREATE TABLE g (a INT PRIMARY KEY, ca INT, FOREIGN KEY (ca) REFERENCES c (a))",
    );
    for from in [
        "p JOIN c ON c.pa = p.a JOIN g ON g.ca = c.a",
        "g STRAIGHT_JOIN c ON g.ca = c.a STRAIGHT_JOIN p ON c.pa = p.a",
        "p STRAIGHT_JOIN c ON c.pa = p.a STRAIGHT_JOIN g ON g.ca = c.a",
    ] {
        for targets in ["p, c, g", "g, c, p", "c, p, g", "g, p, c"] {
            // Rows of one parent are far apart.
            for fill in [
                "INSERT INTO p WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 20) \
                 SELECT n, n FROM r",
                "INSERT INTO c WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 100) \
                 SELECT n, n % 20 + 1 FROM r",
                "INSERT INTO g WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 300) \
                 SELECT n, n % 100 + 1 FROM r",
            ] {
                must(&mut session, fill);
            }
            let delete = format!("DELETE {targets} FROM {from} WHERE p.a <= 10");
            must(&mut session, &delete);
            assert_eq!(
                must(&mut session, "SELECT ROW_COUNT()"),
                ["210"],
                "{delete}"
            );
            for (table, left) in [("p", "10"), ("c", "50"), ("g", "150")] {
                let count = format!("SELECT COUNT(*) FROM {table}");
                assert_eq!(must(&mut session, &count), [left], "{delete}");
            }
            // A row that is not among those found keeps its parent.
            let refused =
                format!("DELETE {targets} FROM {from} WHERE g.a > 1 AND p.a > 10 AND c.a <> 30");
            let error = rows(&mut session, &refused).map_err(|error| error.errno());
            assert_eq!(error, Err(1451), "{refused}");
            must(&mut session, &format!("DELETE {targets} FROM {from}"));
        }
    }
    must(&mut session, "DROP TABLE g, c, p");
    drop(session);
    fixture.finish();
}

#[test]
fn children_go_first() {
    deletes_children_first(8192);
}

#[test]
fn children_go_first_in_small_batches() {
    deletes_children_first(3);
}
