//! What an index finds is what the whole table holds: the same random statements over a table with
//! random keys and over the same rows without any. Random types, collations, prefixes and
//! directions; constants of any type; as user temporary tables and as durable ones.
//!
//! `MAYFLY_ACCESS_SECONDS` is how long it looks for a difference, `MAYFLY_ACCESS_SEED` where it
//! begins.

use std::time::{Duration, Instant};

use mayfly_engine::Session;
use mayfly_testkit::fixture::{Fixture, must, rows};

/// A generator that the same seed repeats (Steele, Lea and Flood, "Fast Splittable Pseudorandom
/// Number Generators", 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    fn pick<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[self.below(of.len())]
    }
}

/// A type of columns with values that it takes.
struct Kind {
    sql: &'static str,
    values: &'static [&'static str],
    /// The whole column cannot be a key part.
    prefix_only: bool,
    /// A prefix of so many characters can be one.
    prefix: Option<u32>,
}

const SMALL: &[&str] = &["-1", "0", "1", "2", "3", "5", "9", "10", "-128", "127"];
const SMALL_UNSIGNED: &[&str] = &["0", "1", "2", "3", "5", "9", "10", "127", "255"];
const LARGE: &[&str] = &[
    "-1",
    "0",
    "1",
    "2",
    "9007199254740992",
    "9007199254740993",
    "9007199254740994",
    "9223372036854775807",
    "9223372036854775806",
    "-9223372036854775808",
    "-9223372036854775807",
    "10",
];
const LARGE_UNSIGNED: &[&str] = &[
    "0",
    "1",
    "2",
    "9007199254740992",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551614",
    "10",
];
const DECIMALS: &[&str] = &[
    "0", "1", "-1", "1.5", "1.50", "-1.25", "9.99", "2", "10", "999.99", "-999.99", "0.01",
];
const DOUBLES: &[&str] = &[
    "0", "-0e0", "1", "0.1", "1.5", "-1.5", "1e10", "-1e10", "2", "3e-5", "10", "16777216",
];
const DATES: &[&str] = &[
    "'2024-01-01'",
    "'2024-02-29'",
    "'2023-12-31'",
    "'1999-01-01'",
    "'2024-01-02'",
    "'1000-01-01'",
    "'9999-12-31'",
];
const MOMENTS: &[&str] = &[
    "'2024-01-01'",
    "'2024-01-01 00:00:00.5'",
    "'2024-01-01 00:00:01'",
    "'2024-02-29 23:59:59.999'",
    "'2024-01-01 10:11:12'",
    "'2023-12-31 23:59:59.123456'",
    "'2024-01-02'",
];
const TIMES: &[&str] = &[
    "'00:00:00'",
    "'10:11:12'",
    "'-10:11:12'",
    "'838:59:59'",
    "'-838:59:59'",
    "'10:11:12.5'",
    "'10:11:13'",
    "'00:00:10'",
];
const YEARS: &[&str] = &["1901", "1999", "2000", "2024", "2025", "2155", "0"];
const BITS: &[&str] = &["b'0'", "b'1'", "b'10'", "b'11'", "b'1010'", "b'1100001'"];
const WORDS: &[&str] = &[
    "'a'",
    "'A'",
    "'ä'",
    "'Ä'",
    "'a '",
    "'b'",
    "'B'",
    "'ab'",
    "'aB'",
    "'abc'",
    "'ABD'",
    "''",
    "' '",
    "'a\\tb'",
    "'a\\t'",
    "'10'",
    "'1e1'",
    "'1'",
    "'ß'",
    "'ss'",
    "'SS'",
    "'ñ'",
    "'n'",
    "'z'",
    "'Z '",
    "'zz'",
    "'o'",
    "'ö'",
    "'😀'",
    "'2024-01-01'",
    "'a%'",
    "'a_b'",
    "'~'",
    "'é'",
    "'e'",
    "'ab '",
    "'-1'",
    "'2.0'",
];
/// Each character has one weight, so that the beginnings of equal strings are equal: elsewhere MySQL's
/// prefix indexes miss rows too.
const PLAIN: &[&str] = &[
    "'a'",
    "'A'",
    "'ä'",
    "'Ä'",
    "'a '",
    "'b'",
    "'B'",
    "'ab'",
    "'aB'",
    "'abc'",
    "'ABD'",
    "''",
    "' '",
    "'10'",
    "'1e1'",
    "'1'",
    "'ñ'",
    "'n'",
    "'z'",
    "'Z '",
    "'zz'",
    "'o'",
    "'ö'",
    "'😀'",
    "'2024-01-01'",
    "'a%'",
    "'a_b'",
    "'~'",
    "'é'",
    "'e'",
    "'ab '",
    "'-1'",
    "'2.0'",
];
const ASCII_WORDS: &[&str] = &[
    "'a'",
    "'A'",
    "'a '",
    "'b'",
    "'B'",
    "'ab'",
    "'aB'",
    "'abc'",
    "''",
    "' '",
    "'a\\tb'",
    "'10'",
    "'1e1'",
    "'1'",
    "'ß'",
    "'ä'",
    "'é'",
    "'z'",
    "'Z '",
    "'2024-01-01'",
    "'ÿ'",
    "'~'",
];
const BYTES: &[&str] = &[
    "'a'", "'A'", "X'6100'", "X'61'", "X'00'", "''", "X'FF'", "X'FFFF'", "'ab'", "'a '", "'10'",
    "X'C3A4'", "'abcd'",
];

const fn kind(sql: &'static str, values: &'static [&'static str]) -> Kind {
    Kind {
        sql,
        values,
        prefix_only: false,
        prefix: None,
    }
}

const fn text(sql: &'static str, values: &'static [&'static str]) -> Kind {
    Kind {
        prefix: Some(1),
        ..kind(sql, values)
    }
}

const fn blob(sql: &'static str, values: &'static [&'static str]) -> Kind {
    Kind {
        prefix_only: true,
        prefix: Some(2),
        ..kind(sql, values)
    }
}

const KINDS: &[Kind] = &[
    kind("TINYINT", SMALL),
    kind("SMALLINT UNSIGNED", SMALL_UNSIGNED),
    kind("MEDIUMINT", SMALL),
    kind("INT", SMALL),
    kind("INT UNSIGNED", SMALL_UNSIGNED),
    kind("BIGINT", LARGE),
    kind("BIGINT UNSIGNED", LARGE_UNSIGNED),
    kind("DECIMAL(5,2)", DECIMALS),
    kind("DECIMAL(20,0)", DECIMALS),
    kind("DECIMAL(30,10)", DECIMALS),
    kind("DECIMAL(60,20)", DECIMALS),
    kind("FLOAT", DOUBLES),
    kind("DOUBLE", DOUBLES),
    kind("DATE", DATES),
    kind("DATETIME", MOMENTS),
    kind("DATETIME(3)", MOMENTS),
    kind("TIMESTAMP NULL", MOMENTS),
    kind("TIMESTAMP(6) NULL", MOMENTS),
    kind("TIME", TIMES),
    kind("TIME(2)", TIMES),
    kind("YEAR", YEARS),
    kind("BIT(8)", BITS),
    kind("BIT(64)", BITS),
    kind(
        "ENUM('b', 'a', 'C', '10', '1')",
        &["'a'", "'b'", "'C'", "'10'", "'1'", "1", "2"],
    ),
    kind(
        "SET('x', 'y', 'z')",
        &["'x'", "'y'", "'x,z'", "''", "'x,y,z'", "'z'"],
    ),
    kind("CHAR(5)", WORDS_SHORT),
    kind("VARCHAR(10)", WORDS),
    text("VARCHAR(12)", PLAIN),
    text("VARCHAR(10) COLLATE utf8mb4_bin", WORDS),
    text("VARCHAR(10) COLLATE utf8mb4_general_ci", WORDS),
    kind("VARCHAR(10) COLLATE utf8mb4_unicode_ci", WORDS),
    text("VARCHAR(12) COLLATE utf8mb4_unicode_ci", PLAIN),
    kind("VARCHAR(10) COLLATE utf8mb4_0900_as_cs", WORDS),
    text("VARCHAR(12) COLLATE utf8mb4_0900_as_cs", PLAIN),
    text("VARCHAR(10) COLLATE utf8mb4_0900_bin", WORDS),
    text("CHAR(10) COLLATE utf8mb4_general_ci", WORDS),
    text("VARCHAR(10) CHARACTER SET latin1", ASCII_WORDS),
    text(
        "CHAR(10) CHARACTER SET latin1 COLLATE latin1_bin",
        ASCII_WORDS,
    ),
    blob("TEXT", PLAIN),
    blob("TEXT COLLATE utf8mb4_bin", WORDS),
    text("BINARY(4)", BYTES),
    text("VARBINARY(6)", BYTES),
    blob("BLOB", BYTES),
];

const WORDS_SHORT: &[&str] = &[
    "'a'", "'A'", "'ä'", "'a '", "'b'", "'B'", "'ab'", "'aB'", "'abc'", "''", "'a\\tb'", "'10'",
    "'ß'", "'ss'", "'z'",
];

/// Constants to compare anything with.
const CONSTANTS: &[&str] = &[
    "0",
    "1",
    "-1",
    "2",
    "10",
    "127",
    "128",
    "-129",
    "255",
    "256",
    "2024",
    "20240101",
    "101112",
    "1.5",
    "0.1",
    "-0.5",
    "1.50",
    "0.9999999",
    "9.995",
    "1e0",
    "1.5e0",
    "-1e-3",
    "1e10",
    "1e30",
    "-1e30",
    "9007199254740993",
    "9007199254740993e0",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "-9223372036854775809",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999999999999",
    "-99999999999999999999999999999999",
    "NULL",
    "TRUE",
    "FALSE",
    "'10'",
    "'1'",
    "' 1'",
    "'1x'",
    "'abc'",
    "'a'",
    "'A'",
    "'ä'",
    "''",
    "' '",
    "'1e1'",
    "'-1'",
    "'1.5'",
    "'9223372036854775808'",
    "'2024-01-01'",
    "'2024-1-1'",
    "'2024-01-01 00:00:00'",
    "'2024-01-01 00:00:00.5'",
    "'2024-02-30'",
    "'24-01-01'",
    "'20240101'",
    "DATE'2024-01-01'",
    "TIMESTAMP'2024-01-01 00:00:00'",
    "TIMESTAMP'2024-01-01 10:11:12.5'",
    "TIMESTAMP'2023-12-31 23:59:59.123456'",
    "TIME'10:11:12'",
    "TIME'10:11:12.5'",
    "'10:11:12'",
    "'10:11'",
    "'0000-00-00'",
    "'838:59:59'",
    "'900:00:00'",
    "X'61'",
    "X'6100'",
    "X'0A'",
    "b'1'",
    "_utf8mb4'a' COLLATE utf8mb4_bin",
    "'A' COLLATE utf8mb4_0900_ai_ci",
    "_latin1'a'",
    "_binary'a'",
    "CAST(1 AS UNSIGNED)",
    "CAST('1' AS JSON)",
    "CAST('\"a\"' AS JSON)",
    "CAST('2024-01-01' AS DATETIME(6))",
    "0.1e0",
    "CAST(0.1 AS FLOAT)",
    "16777217",
    "'x,z'",
    "'x'",
    "3",
    "5",
    "4e0",
    "'b'",
    "'C'",
];

const PATTERNS: &[&str] = &[
    "'a%'",
    "'A%'",
    "'ä%'",
    "'ab%'",
    "'a_%'",
    "'a\\\\_%'",
    "'a\\\\%'",
    "'%a'",
    "''",
    "'ß%'",
    "'s%'",
    "'ss%'",
    "'1%'",
    "'a'",
    "'a %'",
    "'2024%'",
    "'😀%'",
    "'z%'",
    "'a|%%' ESCAPE '|'",
    "NULL",
    "'n%'",
    "'1.%'",
    "'~%'",
    "'a%b'",
    "'ÿ%'",
    "'abc%'",
];

struct Table {
    kinds: Vec<&'static Kind>,
    keys: Vec<String>,
}

impl Table {
    fn random(random: &mut Random) -> Self {
        let count = 2 + random.below(3);
        let kinds: Vec<&Kind> = (0..count)
            .map(|_| &KINDS[random.below(KINDS.len())])
            .collect();
        let mut keys = Vec::new();
        for number in 0..1 + random.below(3) {
            let mut parts: Vec<usize> = (0..count).collect();
            for place in (1..count).rev() {
                parts.swap(place, random.below(place + 1));
            }
            parts.truncate(1 + random.below(count.min(3)));
            let text: Vec<String> = parts
                .iter()
                .map(|column| {
                    let kind = kinds[*column];
                    let prefix = match kind.prefix {
                        Some(prefix) if kind.prefix_only || random.one_in(4) => {
                            format!("({})", prefix + random.below(2) as u32)
                        }
                        _ => String::new(),
                    };
                    let direction = if random.one_in(4) { " DESC" } else { "" };
                    format!("c{column}{prefix}{direction}")
                })
                .collect();
            let nullable = parts.iter().any(|part| kinds[*part].sql.ends_with("NULL"));
            let unique = if random.one_in(6) { "UNIQUE " } else { "" };
            keys.push(match number == 0 && !nullable && random.one_in(4) {
                true => format!("PRIMARY KEY ({})", text.join(", ")),
                false => format!("{unique}KEY k{number} ({})", text.join(", ")),
            });
        }
        Self { kinds, keys }
    }

    fn columns(&self) -> String {
        let columns = self.kinds.iter().enumerate();
        let text: Vec<String> = columns
            .map(|(number, kind)| format!(", c{number} {}", kind.sql))
            .collect();
        format!("id INT{}", text.concat())
    }

    fn definition(&self) -> String {
        format!("({}, {})", self.columns(), self.keys.join(", "))
    }

    fn key_names(&self) -> Vec<String> {
        let names = self.keys.iter().enumerate();
        names
            .map(|(number, key)| match key.starts_with("PRIMARY") {
                true => "PRIMARY".to_owned(),
                false => format!("k{number}"),
            })
            .collect()
    }

    fn value(&self, column: usize, random: &mut Random) -> String {
        match random.one_in(8) {
            true => "NULL".to_owned(),
            false => random.pick(self.kinds[column].values).to_owned(),
        }
    }

    fn constant(&self, column: usize, random: &mut Random) -> String {
        match random.below(5) {
            0 | 1 => random.pick(CONSTANTS).to_owned(),
            _ => random.pick(self.kinds[column].values).to_owned(),
        }
    }

    fn condition(&self, alias: &str, depth: usize, random: &mut Random) -> String {
        const SIGNS: &[&str] = &["=", "<=>", "<>", "<", "<=", ">", ">=", "=", "="];
        if depth > 0 && random.below(3) > 0 {
            let a = self.condition(alias, depth - 1, random);
            let b = self.condition(alias, depth - 1, random);
            return match random.below(9) {
                0..=4 => format!("({a} AND {b})"),
                5..=7 => format!("({a} OR {b})"),
                _ => format!("(NOT {a})"),
            };
        }
        let column = random.below(self.kinds.len());
        let name = format!("{alias}c{column}");
        let mut value = || self.constant(column, random);
        let (x, y, z) = (value(), value(), value());
        match random.below(20) {
            0..=7 => format!("{name} {} {x}", random.pick(SIGNS)),
            8 => format!("{x} {} {name}", random.pick(SIGNS)),
            9 | 10 => format!("{name} BETWEEN {x} AND {y}"),
            11 => format!("{name} NOT BETWEEN {x} AND {y}"),
            12 | 13 => format!("{name} IN ({x}, {y}, {z})"),
            14 => format!("{name} NOT IN ({x}, {y})"),
            15 => format!("{name} IS NULL"),
            16 => format!("{name} IS NOT NULL"),
            17 => format!("{name} LIKE {}", random.pick(PATTERNS)),
            place => {
                let other = random.below(self.kinds.len());
                let (u, v) = (self.constant(other, random), self.constant(other, random));
                let pair = format!("({name}, {alias}c{other})");
                match place {
                    18 => format!("{pair} {} ({x}, {u})", random.pick(SIGNS)),
                    _ => format!("{pair} IN (({x}, {u}), ({y}, {v}))"),
                }
            }
        }
    }

    fn order(&self, alias: &str, random: &mut Random) -> String {
        let parts: Vec<String> = (0..1 + random.below(2))
            .map(|_| {
                let column = random.below(self.kinds.len());
                let direction = if random.one_in(2) { " DESC" } else { "" };
                format!("{alias}c{column}{direction}")
            })
            .collect();
        parts.join(", ")
    }

    /// A statement with `{t}` for the table.
    fn statement(&self, other: &Self, random: &mut Random) -> (String, bool) {
        let condition = self.condition("t.", 2, random);
        let column = random.below(self.kinds.len());
        let theirs = random.below(other.kinds.len());
        let sign = if random.one_in(5) { "<=>" } else { "=" };
        let and = format!("t.c{column} {sign} u.c{theirs}");
        let more = match random.one_in(2) {
            true => {
                let second = random.below(self.kinds.len());
                let of = random.below(other.kinds.len());
                format!(" AND t.c{second} = u.c{of}")
            }
            false => String::new(),
        };
        let rest = match random.one_in(2) {
            true => format!(" AND {}", self.condition("t.", 0, random)),
            false => String::new(),
        };
        let is_text = ["CHAR", "TEXT", "BINARY", "BLOB"]
            .iter()
            .any(|name| self.kinds[column].sql.contains(name));
        match random.below(24) {
            0..=8 => (format!("SELECT id FROM {{t}} WHERE {condition}"), false),
            9 | 10 => {
                let order = self.order("t.", random);
                let limit = random.below(6);
                (
                    format!(
                        "SELECT {} FROM {{t}} WHERE {condition} ORDER BY {order} LIMIT {limit}",
                        ranks(&order)
                    ),
                    true,
                )
            }
            11 => {
                let order = self.order("t.", random);
                (
                    format!(
                        "SELECT {} FROM {{t}} WHERE {condition} ORDER BY {order}",
                        ranks(&order)
                    ),
                    true,
                )
            }
            12 | 13 => {
                let order = self.order("t.", random).replace(" DESC", "");
                (
                    format!(
                        "SELECT COUNT(*), SUM(id), MIN(id) FROM {{t}} WHERE {condition} GROUP BY {order}"
                    ),
                    false,
                )
            }
            14 => {
                let order = self.order("t.", random).replace(" DESC", "");
                (
                    format!(
                        "SELECT COUNT(*) FROM (SELECT DISTINCT {order} FROM {{t}} WHERE {condition}) AS x"
                    ),
                    false,
                )
            }
            15 | 16 => {
                let end = random.pick(&["MIN", "MAX"]);
                match is_text {
                    false => (
                        format!(
                            "SELECT {end}(t.c{column}), COUNT(*) > 0 FROM {{t}} WHERE {condition}"
                        ),
                        false,
                    ),
                    true => (
                        format!(
                            "SELECT COUNT(*) FROM f AS o WHERE o.c{column} <=> (SELECT {end}(t.c{column}) FROM {{t}} WHERE {condition})"
                        ),
                        false,
                    ),
                }
            }
            17 | 18 => (
                format!(
                    "SELECT STRAIGHT_JOIN u.id, t.id FROM u JOIN {{t}} ON {and}{more} WHERE 1{rest}"
                ),
                false,
            ),
            19 => (
                format!("SELECT u.id, t.id FROM u LEFT JOIN {{t}} ON {and}{more}{rest}"),
                false,
            ),
            20 => (
                format!(
                    "SELECT u.id FROM u WHERE u.c{theirs} IN (SELECT t.c{column} FROM {{t}} WHERE 1{rest})"
                ),
                false,
            ),
            21 => (
                format!(
                    "SELECT u.id FROM u WHERE u.c{theirs} NOT IN (SELECT t.c{column} FROM {{t}} WHERE 1{rest})"
                ),
                false,
            ),
            22 => {
                let not = if random.one_in(2) { "NOT " } else { "" };
                (
                    format!(
                        "SELECT u.id FROM u WHERE {not}EXISTS (SELECT 1 FROM {{t}} WHERE {and}{more}{rest})"
                    ),
                    false,
                )
            }
            _ => (
                format!("SELECT u.id, (SELECT COUNT(*) FROM {{t}} WHERE {and}{more}{rest}) FROM u"),
                false,
            ),
        }
    }
}

/// How many rows are before one, by each key of an order: what compares equal may be in any order.
fn ranks(order: &str) -> String {
    let keys = order.replace(" DESC", "");
    let ranks = keys.split(", ").map(|key| {
        format!(
            "(SELECT COUNT(*) FROM f AS o WHERE o.{} < {key})",
            &key[2..]
        )
    });
    ranks.collect::<Vec<_>>().join(", ")
}

fn fill(session: &mut Session, name: &str, table: &Table, count: usize, random: &mut Random) {
    for id in 0..count {
        let values: Vec<String> = (0..table.kinds.len())
            .map(|column| table.value(column, random))
            .collect();
        let _ = rows(
            session,
            &format!(
                "INSERT IGNORE INTO {name} VALUES ({id}, {})",
                values.join(", ")
            ),
        );
    }
}

/// The rows, or the number of the error; in order only where that is defined.
fn answer(session: &mut Session, sql: &str, ordered: bool) -> Vec<String> {
    match rows(session, sql) {
        Ok(mut rows) => {
            if !ordered {
                rows.sort();
            }
            rows
        }
        Err(error) => vec![format!("error {}", error.errno())],
    }
}

/// Looks at one random table; what it finds different.
fn one_table(session: &mut Session, seed: u64, failures: &mut Vec<String>) {
    let mut random = Random(seed);
    let table = Table::random(&mut random);
    let mut other = Table::random(&mut random);
    if random.one_in(2) {
        other.kinds.clone_from(&table.kinds);
    }
    let zone = random.pick(&["SYSTEM", "+00:00", "+05:30", "Europe/Berlin"]);
    must(session, &format!("SET time_zone = '{zone}'"));
    let temporary = if random.one_in(2) { "TEMPORARY " } else { "" };
    if let Err(error) = rows(
        session,
        &format!("CREATE {temporary}TABLE x {}", table.definition()),
    ) {
        failures.push(format!("seed {seed}: {}: {error}", table.definition()));
        return;
    }
    must(
        session,
        &format!("CREATE {temporary}TABLE u ({})", other.columns()),
    );
    must(
        session,
        &format!("CREATE {temporary}TABLE f ({})", table.columns()),
    );
    let count = 5 + random.below(60);
    fill(session, "x", &table, count, &mut random);
    fill(session, "u", &other, 12, &mut random);
    must(session, "INSERT INTO f SELECT * FROM x");
    if random.one_in(2) {
        must(session, "ANALYZE TABLE x");
    }
    for _ in 0..40 {
        let (statement, ordered) = table.statement(&other, &mut random);
        let expected = answer(session, &statement.replace("{t}", "f AS t"), ordered);
        let all = table.key_names().join(", ");
        let mut ways = vec!["x AS t".to_owned(), format!("x AS t IGNORE INDEX ({all})")];
        for name in table.key_names() {
            ways.push(format!("x AS t FORCE INDEX ({name})"));
        }
        for way in ways {
            let sql = statement.replace("{t}", &way);
            let found = answer(session, &sql, ordered);
            if found != expected {
                let plan = answer(session, &format!("EXPLAIN FORMAT=TREE {sql}"), true);
                failures.push(format!(
                    "seed {seed}: {zone} {temporary}{}\n  {sql}\n  expected {expected:?}\n  found    {found:?}\n  {}",
                    table.definition(),
                    plan.join("\n").replace("\\n", "\n  "),
                ));
                break;
            }
        }
    }
    for name in ["x", "u", "f"] {
        must(session, &format!("DROP {temporary}TABLE {name}"));
    }
}

#[test]
fn an_index_finds_what_the_table_holds() {
    let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
    let seconds = number("MAYFLY_ACCESS_SECONDS").unwrap_or(5);
    let first = number("MAYFLY_ACCESS_SEED").unwrap_or(1);
    let directory = std::env::temp_dir().join(format!("mayfly-access-{}", std::process::id()));
    let fixture = Fixture::open(|options| {
        options.datadir = Some(directory.clone());
        options.batch_size = 7;
    });
    let mut session = fixture.database.session();
    must(
        &mut session,
        "SET GLOBAL innodb_flush_log_at_trx_commit = 0",
    );
    must(&mut session, "SET sql_mode = ''");
    must(&mut session, "CREATE DATABASE access");
    must(&mut session, "USE access");
    let begun = Instant::now();
    let mut failures = Vec::new();
    let mut tables = 0;
    while begun.elapsed() < Duration::from_secs(seconds) && failures.len() < 25 {
        one_table(&mut session, first + tables, &mut failures);
        tables += 1;
    }
    drop(session);
    fixture.finish();
    let _ = std::fs::remove_dir_all(&directory);
    println!("{tables} tables");
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}
