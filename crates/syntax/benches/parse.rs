//! How long parsing and digests take: `cargo bench -p mayfly-syntax`. Prints the best of several
//! rounds in nanoseconds a statement.

use std::hint::black_box;
use std::time::{Duration, Instant};

use mayfly_syntax::{ParseOptions, digest, parse_one};

static STATEMENTS: &[(&str, &str)] = &[
    ("one literal", "SELECT 1"),
    ("point query", "SELECT a, b FROM t WHERE id = 4711"),
    (
        "derived table",
        "select * from (select user_id,created, (select user_email from login2 b where \
         b.user_id=a.user_id) from login2 a where a.user_id IN (100005, 100002, 100004, 100003)) \
         as a order by created",
    ),
    (
        "insert",
        "INSERT INTO t (a, b, c) VALUES (1, 'two', 3.0), (4, 'five', 6.0)",
    ),
];

const ROUNDS: u32 = 7;
const REPEATS: u32 = 20_000;

fn best(mut work: impl FnMut()) -> Duration {
    let round = || {
        let start = Instant::now();
        for _ in 0..REPEATS {
            work();
        }
        start.elapsed() / REPEATS
    };
    std::iter::repeat_with(round)
        .take(ROUNDS as usize)
        .min()
        .unwrap_or_default()
}

fn main() {
    for (name, sql) in STATEMENTS {
        let parse = best(|| {
            drop(black_box(parse_one(
                black_box(sql),
                &ParseOptions::MYSQL_DEFAULT,
            )))
        });
        let digest = best(|| drop(black_box(digest(black_box(sql)))));
        println!(
            "{name:14} parse {:6} ns, digest {:6} ns",
            parse.as_nanos(),
            digest.as_nanos()
        );
    }
}
