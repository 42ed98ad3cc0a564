//! A multi-valued index finds the same rows as a table scan: random JSON arrays in durable and temporary tables with
//! such indexes and in a table without any, under the same random changes, some of which are undone; also after the
//! durable tables were checked and opened again.

use mayfly_engine::Session;
use mayfly_testkit::fixture::{DataDirectory, SessionExt, leaks};
use mayfly_trials::{Random, Trials};

/// Types of elements with some of their values; those of a unique key have few rows.
const TYPES: &[(&str, &[&str])] = &[
    (
        "UNSIGNED",
        &["0", "1", "2", "3", "3.0", "70000", "2.5", "true"],
    ),
    (
        "SIGNED",
        &["-2", "-1", "0", "1", "1.0", "9223372036854775807"],
    ),
    (
        "CHAR(4)",
        &["\"\"", "\"a\"", "\"A\"", "\"é\"", "\"a \"", "\"abcd\"", "7"],
    ),
    (
        "BINARY(4)",
        &["\"\"", "\"a\"", "\"A\"", "\"é\"", "\"abcd\""],
    ),
    (
        "DECIMAL(5,2)",
        &["-1.5", "0", "1.25", "1.250", "2", "999.99"],
    ),
    ("DATE", &["\"2020-01-01\"", "\"2021-12-31\"", "20200101"]),
    (
        "DATETIME(3)",
        &["\"2020-01-01 10:00:00\"", "\"2020-01-01 10:00:00.5\""],
    ),
    ("TIME", &["\"10:00:00\"", "\"-01:00:00\"", "\"00:00:00\""]),
];

struct Table {
    values: &'static [&'static str],
    /// Whether an element is in one row only.
    unique: bool,
    keys: String,
}

impl Table {
    fn random(random: &mut Random) -> Self {
        let (ty, values) = random.pick(TYPES);
        let unique = random.one_in(3);
        let array = format!("(CAST(j AS {ty} ARRAY))");
        let kind = if unique { "UNIQUE KEY" } else { "KEY" };
        let other = random.pick(&["a, {}", "{}, a", "a, {}, s", "{}"]);
        let other = other.replace("{}", "(CAST(j->'$[*]' AS {ty} ARRAY))");
        Self {
            values,
            unique,
            keys: format!("{kind} k ({array}), KEY l ({})", other.replace("{ty}", ty)),
        }
    }

    fn value(&self, random: &mut Random) -> &'static str {
        random.pick(self.values)
    }

    fn document(&self, random: &mut Random) -> String {
        match random.below(12) {
            0 => "NULL".to_owned(),
            1 => format!("'{}'", self.value(random)),
            2 => "'[]'".to_owned(),
            3 => "'[null]'".to_owned(),
            _ => {
                let count = if self.unique { 2 } else { 5 };
                let values: Vec<&str> = (0..1 + random.below(count))
                    .map(|_| self.value(random))
                    .collect();
                format!("'[{}]'", values.join(", "))
            }
        }
    }

    fn condition(&self, random: &mut Random) -> String {
        let one = |random: &mut Random| {
            let document = self.document(random);
            match random.below(5) {
                0 => format!("JSON_CONTAINS(j, {document})"),
                1 => format!("JSON_OVERLAPS(j, {document})"),
                2 => format!("JSON_OVERLAPS({document}, j->'$[*]')"),
                _ => format!("CAST('{}' AS JSON) MEMBER OF(j)", self.value(random)),
            }
        };
        let first = one(random);
        match random.below(6) {
            0 => format!("{first} AND {}", one(random)),
            1 => format!("{first} OR {}", one(random)),
            2 => format!("a = {} AND {first}", random.below(3)),
            3 => format!("a IN (0, 2) AND s < 'c' AND {first}"),
            _ => first,
        }
    }

    fn change(&self, random: &mut Random) -> String {
        let row = |random: &mut Random| {
            let document = self.document(random);
            let (id, a) = (random.below(60), random.below(3));
            let s = random.pick(&["'a'", "'b'", "'c'", "NULL"]);
            format!("({id}, {a}, {s}, {document})")
        };
        match random.below(8) {
            0 => format!("DELETE FROM {{t}} WHERE {}", self.condition(random)),
            1 => format!("DELETE FROM {{t}} WHERE id = {}", random.below(60)),
            2 => {
                let document = self.document(random);
                format!(
                    "UPDATE {{t}} SET j = {document} WHERE id = {}",
                    random.below(60)
                )
            }
            3 => format!(
                "UPDATE {{t}} SET a = (a + 1) MOD 3 WHERE {}",
                self.condition(random)
            ),
            4 => format!(
                "UPDATE {{t}} SET id = id + 60 WHERE id = {}",
                random.below(60)
            ),
            5 => format!("REPLACE INTO {{t}} VALUES {}", row(random)),
            _ => {
                let rows: Vec<String> = (0..1 + random.below(6)).map(|_| row(random)).collect();
                format!("INSERT IGNORE INTO {{t}} VALUES {}", rows.join(", "))
            }
        }
    }
}

fn answer(session: &mut Session, sql: &str) -> Vec<String> {
    match session.rows(sql) {
        Ok(rows) => rows,
        Err(error) => vec![format!("error {}", error.errno())],
    }
}

/// The rows that a condition finds by an index are those of a table scan, in tables `x` and `y`.
fn compare(session: &mut Session, table: &Table, random: &mut Random) -> Result<(), String> {
    let condition = table.condition(random);
    for name in ["x", "y"] {
        let sql =
            |hint: &str| format!("SELECT id FROM {name} {hint} WHERE {condition} ORDER BY id");
        let expected = answer(session, &sql("IGNORE INDEX (k, l)"));
        for hint in ["", "FORCE INDEX (k)", "FORCE INDEX (l)"] {
            let found = answer(session, &sql(hint));
            if found != expected {
                let plan = answer(session, &format!("EXPLAIN FORMAT=TREE {}", sql(hint)));
                return Err(format!(
                    "{}\n  expected {expected:?}\n  found    {found:?}\n  {plan:?}",
                    sql(hint)
                ));
            }
        }
    }
    Ok(())
}

/// Both tables have the same rows, and entries for exactly these.
fn check(session: &mut Session) -> Result<(), String> {
    let [x, y] =
        ["x", "y"].map(|name| answer(session, &format!("SELECT * FROM {name} ORDER BY id")));
    if x != y {
        return Err(format!("x has {x:?}\n  y has {y:?}"));
    }
    let checked = answer(session, "CHECK TABLE x");
    match checked.last() {
        Some(last) if last.ends_with("OK") => Ok(()),
        _ => Err(format!("{checked:?}")),
    }
}

/// Applies random changes to the durable table `x` and the temporary one `y`, which have the same keys.
fn one_table(session: &mut Session, random: &mut Random) -> Result<(), String> {
    let table = Table::random(random);
    let keys = &table.keys;
    let columns = "id INT PRIMARY KEY, a INT, s VARCHAR(3), j JSON";
    session.must(&format!("CREATE TABLE x ({columns}, {keys})"));
    session.must(&format!("CREATE TEMPORARY TABLE y ({columns}, {keys})"));
    let said = |error: String| format!("{keys}: {error}");
    for _ in 0..6 {
        session.must("START TRANSACTION");
        for step in 0..8 {
            if step == 4 {
                session.must("SAVEPOINT s");
            }
            let change = table.change(random);
            let [x, y] = ["x", "y"].map(|name| answer(session, &change.replace("{t}", name)));
            if x != y {
                return Err(said(format!("{change}\n  x: {x:?}\n  y: {y:?}")));
            }
            compare(session, &table, random).map_err(said)?;
        }
        session.must(random.pick(&["COMMIT", "COMMIT", "ROLLBACK", "ROLLBACK TO s"]));
        session.must("COMMIT");
        check(session).map_err(said)?;
    }
    // An index over existing rows, by a copy of the table.
    session.must("ALTER TABLE x DROP KEY l, ADD KEY l ((CAST(j AS CHAR(40) ARRAY)))");
    check(session).map_err(said)
}

#[test]
fn a_multi_valued_index_finds_what_the_table_holds() {
    let directory = DataDirectory::new("multi-valued");
    let mut database = directory.open();
    let mut session = database.session();
    session.must("SET GLOBAL innodb_flush_log_at_trx_commit = 0");
    session.must("CREATE DATABASE arrays");
    for seed in Trials::of("multi_valued") {
        session.must("USE arrays");
        let mut random = Random(seed);
        if let Err(failure) = one_table(&mut session, &mut random) {
            panic!("seed {seed}: {failure}");
        }
        if random.one_in(8) {
            drop(session);
            assert_eq!(leaks(&database), Vec::<String>::new());
            drop(database);
            database = directory.open();
            session = database.session();
            let checked = session.must("CHECK TABLE arrays.x");
            assert!(
                checked.last().is_some_and(|last| last.ends_with("OK")),
                "{checked:?}"
            );
        } else {
            session.must("DROP TEMPORARY TABLE y");
        }
        session.must("DROP TABLE arrays.x");
    }
}
