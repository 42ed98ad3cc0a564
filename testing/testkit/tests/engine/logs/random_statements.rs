//! Random statements are read back from the log, in each of its formats, with their original text.

use mayfly_trials::{Random, first_seed};

use crate::logs::Logged;
use crate::logs::reader::entries;

/// Parts of statements that are hard for readers of logs.
const PARTS: &[&str] = &[
    "'a'",
    "'a;b'",
    "'it''s'",
    "'line\nline'",
    "'\n# not a time\n'",
    "\"x\"",
    "1",
    "NULL",
    "'# Time: 5'",
    "'use x;'",
    "'SET timestamp=1;'",
    "'\\\\'",
    "'\u{1f980} é'",
    "/* ;\n */ 2",
    "'tab\there'",
    "''",
    "'\r'",
    "x'00ff'",
    "1.5e3",
];

#[test]
fn every_statement_is_read_back() {
    let seed = first_seed("logs");
    let mut random = Random(seed);
    for format in ["MYSQL", "MARIADB", "MARIADB_5_3", "PERCONA"] {
        for verbosity in ["", "full", "query_plan,explain"] {
            let logged = Logged::open(&[
                ("slow_query_log_format", format),
                ("log_slow_verbosity", verbosity),
                ("log_slow_extra", "1"),
            ]);
            let mut session = logged.fixture.session();
            let mut sent = Vec::new();
            for _ in 0..60 {
                let mut sql = String::from("SELECT ");
                for index in 0..1 + random.below(4) {
                    if index > 0 {
                        sql.push(',');
                    }
                    sql.push_str(random.pick(PARTS));
                }
                if random.one_in(5) {
                    // Invalid statements are logged as well.
                    sql.push_str(", nosuch");
                }
                let _ = session.execute(&sql);
                sent.push(sql);
            }
            let read: Vec<String> = logged.statements();
            assert_eq!(read, sent, "{format} {verbosity}, seed {seed}");
            let of = entries(&logged.slow());
            assert!(
                of.iter()
                    .all(|entry| entry.fields.contains_key("Query_time"))
            );
        }
    }
}
