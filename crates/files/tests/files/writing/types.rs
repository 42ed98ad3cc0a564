//! Each SQL type in each format and back: random tables by seed, and the values that a format does not have.

use std::fmt::Write as _;

use mayfly_trials::{Random, Trials};

use crate::support::Files;

/// A SQL type in files.
struct Case {
    sql: &'static str,
    /// The type of the column that a Parquet file and an Arrow file give.
    parquet: &'static str,
    arrow: &'static str,
    /// A random literal.
    value: fn(&mut Random) -> String,
    /// The value `{}` of the table as the binary formats give it, and as the texts do.
    binary: &'static str,
    text: &'static str,
}

const fn case(
    sql: &'static str,
    types: [&'static str; 2],
    value: fn(&mut Random) -> String,
) -> Case {
    let [parquet, arrow] = types;
    Case {
        sql,
        parquet,
        arrow,
        value,
        binary: "{}",
        text: "{}",
    }
}

fn signed(random: &mut Random, bits: u32) -> String {
    let number = random.next_number() as i64 >> (64 - bits);
    match random.below(6) {
        0 => (i64::MIN >> (64 - bits)).to_string(),
        1 => (i64::MAX >> (64 - bits)).to_string(),
        _ => number.to_string(),
    }
}

fn unsigned(random: &mut Random, bits: u32) -> String {
    match random.below(6) {
        0 => (u64::MAX >> (64 - bits)).to_string(),
        _ => (random.next_number() >> (64 - bits)).to_string(),
    }
}

fn digits(random: &mut Random, whole: usize, fraction: usize) -> String {
    let mut text = String::new();
    if random.below(2) == 0 {
        text.push('-');
    }
    for _ in 0..=random.below(whole) {
        let _ = write!(text, "{}", random.below(10));
    }
    text.push('.');
    for _ in 0..fraction {
        let _ = write!(text, "{}", random.below(10));
    }
    text
}

fn date(random: &mut Random) -> String {
    let year = [1, 999, 1969, 1970, 2024, 9999][random.below(6)];
    format!(
        "{year:04}-{:02}-{:02}",
        1 + random.below(12),
        1 + random.below(28)
    )
}

fn clock(random: &mut Random) -> String {
    let (hour, minute) = (random.below(24), random.below(60));
    format!(
        "{hour:02}:{minute:02}:{:02}.{:06}",
        random.below(60),
        random.below(1_000_000)
    )
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

fn words(random: &mut Random) -> String {
    const PARTS: &[&str] = &[
        "a",
        "Z",
        "é",
        "😀",
        "0",
        "007",
        "1e5",
        ",",
        ";",
        "\"",
        "'",
        "\n",
        "\r\n",
        "\t",
        " ",
        "\\N",
        "\\",
        "NULL",
        "null",
        "2026-01-01",
        "-",
        "true",
        "#",
        "\u{FEFF}",
        "{}",
        "%",
    ];
    let mut text = String::new();
    for _ in 0..random.below(4) {
        text += PARTS[random.below(PARTS.len())];
    }
    quoted(&text)
}

fn bytes(random: &mut Random) -> String {
    let mut text = String::from("X'");
    for _ in 0..random.below(21) {
        let _ = write!(text, "{:02X}", random.below(256));
    }
    text + "'"
}

fn document(random: &mut Random) -> String {
    const PARTS: &[&str] = &[
        "[]",
        "{}",
        "[1, -2.5, 1e20]",
        "{\"a\": null, \"é\": [true, {\"b\": \"\\\"x\\n\"}]}",
        "[18446744073709551615]",
        "[[\"\"]]",
    ];
    quoted(PARTS[random.below(PARTS.len())])
}

const CASES: &[Case] = &[
    case("TINYINT", ["tinyint", "tinyint"], |random| {
        signed(random, 8)
    }),
    case(
        "TINYINT UNSIGNED",
        ["tinyint unsigned", "tinyint unsigned"],
        |random| unsigned(random, 8),
    ),
    case("SMALLINT", ["smallint", "smallint"], |random| {
        signed(random, 16)
    }),
    case(
        "SMALLINT UNSIGNED",
        ["smallint unsigned", "smallint unsigned"],
        |random| unsigned(random, 16),
    ),
    case("MEDIUMINT", ["int", "int"], |random| signed(random, 24)),
    case(
        "MEDIUMINT UNSIGNED",
        ["int unsigned", "int unsigned"],
        |random| unsigned(random, 24),
    ),
    case("INT", ["int", "int"], |random| signed(random, 32)),
    case("INT UNSIGNED", ["int unsigned", "int unsigned"], |random| {
        unsigned(random, 32)
    }),
    case("BIGINT", ["bigint", "bigint"], |random| signed(random, 64)),
    case(
        "BIGINT UNSIGNED",
        ["bigint unsigned", "bigint unsigned"],
        |random| unsigned(random, 64),
    ),
    case(
        "DECIMAL(5, 0)",
        ["decimal(5,0)", "decimal(5,0)"],
        |random| digits(random, 5, 0),
    ),
    case(
        "DECIMAL(18, 4)",
        ["decimal(18,4)", "decimal(18,4)"],
        |random| digits(random, 14, 4),
    ),
    case(
        "DECIMAL(38, 10)",
        ["decimal(38,10)", "decimal(38,10)"],
        |random| digits(random, 28, 10),
    ),
    case(
        "DECIMAL(39, 0)",
        ["decimal(39,0)", "decimal(39,0)"],
        |random| digits(random, 39, 0),
    ),
    case(
        "DECIMAL(65, 30)",
        ["decimal(65,30)", "decimal(65,30)"],
        |random| digits(random, 35, 30),
    ),
    Case {
        binary: "{} + 0",
        text: "{} + 0",
        ..case(
            "YEAR",
            ["smallint unsigned", "smallint unsigned"],
            |random| ["0", "1901", "1999", "2155"][random.below(4)].to_owned(),
        )
    },
    Case {
        binary: "{} + 0",
        text: "{} + 0",
        ..case("BIT(1)", ["bigint unsigned", "bigint unsigned"], |random| {
            random.below(2).to_string()
        })
    },
    Case {
        binary: "{} + 0",
        text: "{} + 0",
        ..case(
            "BIT(64)",
            ["bigint unsigned", "bigint unsigned"],
            |random| unsigned(random, 64),
        )
    },
    case("DATE", ["date", "date"], |random| quoted(&date(random))),
    case("TIME(6)", ["time(6)", "time(6)"], |random| {
        quoted(&clock(random))
    }),
    case("DATETIME(6)", ["datetime(6)", "datetime(6)"], |random| {
        quoted(&format!("{} {}", date(random), clock(random)))
    }),
    Case {
        // The session's time zone is two hours before UTC then.
        binary: "{} - INTERVAL 2 HOUR",
        text: "CONCAT({} - INTERVAL 2 HOUR, '+00:00')",
        ..case("TIMESTAMP(6)", ["datetime(6)", "datetime(6)"], |random| {
            quoted(&format!(
                "2024-{:02}-17 {}",
                5 + random.below(5),
                clock(random)
            ))
        })
    },
    case("CHAR(40)", ["longtext", "longtext"], words),
    case("VARCHAR(40)", ["longtext", "longtext"], words),
    case("LONGTEXT", ["longtext", "longtext"], words),
    case(
        "VARCHAR(40) CHARACTER SET utf16",
        ["longtext", "longtext"],
        words,
    ),
    Case {
        text: "TO_BASE64({})",
        ..case("BINARY(20)", ["longblob", "longblob"], bytes)
    },
    Case {
        text: "TO_BASE64({})",
        ..case("BLOB", ["longblob", "longblob"], bytes)
    },
    case(
        "ENUM('a', 'b c', 'é')",
        ["longtext", "longtext"],
        |random| (1 + random.below(3)).to_string(),
    ),
    case("SET('a', 'b c', 'é')", ["longtext", "longtext"], |random| {
        random.below(8).to_string()
    }),
    case("JSON", ["longtext", "longtext"], document),
];

/// Columns whose texts in CSV and JSON are compared as doubles.
const FLOATS: &[(&str, &str)] = &[("FLOAT", "float"), ("DOUBLE", "double")];

fn float(random: &mut Random, is_float: bool) -> String {
    match (random.below(5), is_float) {
        (0, _) => "0".to_owned(),
        (1, _) => signed(random, 20),
        (2, true) => format!("{:e}", random.next_number() as f32 / 7.0),
        (2, false) => format!("{:e}", f64::MAX / (random.next_number() | 1) as f64),
        (3, false) => format!(
            "{:e}",
            f64::MIN_POSITIVE * (random.next_number() | 1) as f64
        ),
        _ => format!("{:e}", random.next_number() as i64 as f64 / 1e19),
    }
}

/// Fails with the first row that differs.
fn assert_same(read: &[String], expected: &[String], seed: u64, from: &str) {
    for (read, expected) in read.iter().zip(expected) {
        assert_eq!(read, expected, "MAYFLY_SEED={seed} {from}");
    }
    assert_eq!(read.len(), expected.len(), "MAYFLY_SEED={seed} {from}");
}

#[test]
fn random_tables_are_read_as_they_were_written() {
    let files = Files::new();
    let mut session = files.database.session();
    for (trial, seed) in Trials::of("written_files").enumerate() {
        let mut random = Random(seed);
        let mut run = |sql: &str| {
            files.run(&mut session, sql).unwrap_or_else(|error| {
                let sql: String = sql.chars().take(400).collect();
                panic!("MAYFLY_SEED={seed} {sql}: {error}")
            })
        };
        run("SET time_zone = 'Europe/Zurich', sql_mode = DEFAULT");
        let columns = CASES
            .iter()
            .enumerate()
            .map(|(at, case)| format!("c{at} {}", case.sql));
        let floats = FLOATS
            .iter()
            .enumerate()
            .map(|(at, case)| format!("f{at} {}", case.0));
        let columns: Vec<String> = columns.chain(floats).collect();
        run("DROP TABLE IF EXISTS t");
        run(&format!("CREATE TABLE t (id INT, {})", columns.join(", ")));
        let mut rows = Vec::new();
        for id in 0..1 + random.below(60) {
            let mut values = vec![id.to_string()];
            for case in CASES {
                let value = (case.value)(&mut random);
                values.push(if random.below(7) == 0 {
                    "NULL".to_owned()
                } else {
                    value
                });
            }
            values.extend((0..FLOATS.len()).map(|at| float(&mut random, at == 0)));
            rows.push(format!("({})", values.join(", ")));
        }
        run(&format!("INSERT INTO t VALUES {}", rows.join(", ")));
        let list = |wanted: &dyn Fn(&Case) -> &'static str| {
            let columns = CASES.iter().enumerate();
            let columns = columns.map(|(at, case)| wanted(case).replace("{}", &format!("c{at}")));
            columns.collect::<Vec<_>>().join(", ")
        };
        let plain = list(&|_| "{}");
        let as_binary = list(&|case| case.binary);
        let as_text = list(&|case| case.text);
        let compressions = [["none", "zstd"], ["lz4", "zstd"]];
        for (name, options) in [
            (
                "t.parquet",
                format!("ROW_GROUP_SIZE {}", 1 + random.below(70)),
            ),
            (
                "t.arrow",
                format!(
                    "COMPRESSION {}",
                    compressions[random.below(2)][random.below(2)]
                ),
            ),
            ("t.arrows", "COMPRESSION none".to_owned()),
        ] {
            run(&format!("COPY t TO '@/{name}' ({options}, OVERWRITE)"));
            let read = run(&format!(
                "SELECT {plain}, f0, f1 FROM '@/{name}' ORDER BY id"
            ));
            let expected = run(&format!("SELECT {as_binary}, f0, f1 FROM t ORDER BY id"));
            assert_same(&read, &expected, seed, name);
            if trial > 0 {
                continue;
            }
            let described = run(&format!("DESCRIBE '@/{name}'"));
            for (case, described) in CASES.iter().zip(&described[1..]) {
                let ty = if name == "t.parquet" {
                    case.parquet
                } else {
                    case.arrow
                };
                assert_eq!(described.split('|').nth(1), Some(ty), "{name} {}", case.sql);
            }
        }
        let (delimiter, ending) = [
            (",", "csv"),
            (";", "csv.gz"),
            ("\t", "csv.zst"),
            ("1", "csv"),
        ][random.below(4)];
        let read_csv = format!(
            "read_csv('@/t.{ending}', all_text => true, header => true, delimiter => '{delimiter}')"
        );
        run(&format!(
            "COPY t TO '@/t.{ending}' (DELIMITER '{delimiter}', OVERWRITE)"
        ));
        run("COPY t TO '@/t.json' (OVERWRITE)");
        run("COPY t TO '@/t.ndjson.gz' (OVERWRITE)");
        let expected = run(&format!("SELECT {as_text} FROM t ORDER BY id"));
        let floats = |from: &str| {
            format!("SELECT CAST(f0 AS FLOAT), f1 + 0e0 FROM {from} f ORDER BY id + 0")
        };
        let expected_floats = run(&floats("t"));
        for from in [&*read_csv, "'@/t.json'", "'@/t.ndjson.gz'"] {
            let read = run(&format!("SELECT {plain} FROM {from} f ORDER BY id + 0"));
            assert_same(&read, &expected, seed, from);
            assert_eq!(
                run(&floats(from)),
                expected_floats,
                "MAYFLY_SEED={seed} {from}"
            );
        }
    }
}

/// Values that a format does not have: errors that name the column, the row, and a way.
#[test]
fn values_without_a_place() {
    let files = Files::new();
    let mut session = files.database.session();
    let mut run = |sql: &str| files.run(&mut session, sql);
    for sql in [
        "SET sql_mode = '', time_zone = 'Europe/Zurich'",
        "CREATE TABLE z (d DATE, dt DATETIME, ts TIMESTAMP NULL, t TIME, e ENUM('a'))",
        "INSERT INTO z VALUES ('2026-01-01', '2026-01-01', NULL, '1:00', 'a'), ('0000-00-00', '2026-00-10', '0000-00-00', '-1:00', 'no'), ('2026-02-00', '0000-00-00', '2026-01-01', '100:00', '')",
        "CREATE TABLE s (ts TIMESTAMP)",
        "SET time_zone = '+00:00'",
        "INSERT INTO s VALUES ('2024-10-27 00:30:00'), ('2024-10-27 01:30:00')",
        "SET time_zone = 'Europe/Zurich'",
    ] {
        run(sql).expect(sql);
    }
    let date = "is no date of the calendar; CAST(… AS CHAR) writes it as a text, NULLIF(…) as NULL";
    let time = "is no time of day; CAST(… AS CHAR) writes it as a text, TIME_TO_SEC(…) as seconds";
    let twice = "is not one point in time in the session's time zone; SET time_zone = '+00:00' gives each its own text";
    for (sql, format, error) in [
        (
            "SELECT d FROM z",
            "parquet",
            format!("1105 column 'd', row 2: '0000-00-00' {date}"),
        ),
        (
            "SELECT d FROM z",
            "arrow",
            format!("1105 column 'd', row 2: '0000-00-00' {date}"),
        ),
        (
            "SELECT dt FROM z",
            "parquet",
            format!("1105 column 'dt', row 2: '2026-00-10 00:00:00' {date}"),
        ),
        (
            "SELECT ts FROM z",
            "arrow",
            format!("1105 column 'ts', row 2: '0000-00-00 00:00:00' {date}"),
        ),
        (
            "SELECT t FROM z",
            "parquet",
            format!("1105 column 't', row 2: '-01:00:00' {time}"),
        ),
        (
            "SELECT t FROM z WHERE t > 0",
            "parquet",
            format!("1105 column 't', row 2: '100:00:00' {time}"),
        ),
        (
            "SELECT ts FROM s",
            "parquet",
            format!("1105 column 'ts', row 1: '2024-10-27 02:30:00' {twice}"),
        ),
        (
            "SELECT ts FROM s",
            "csv",
            format!("1105 column 'ts', row 1: '2024-10-27 02:30:00' {twice}"),
        ),
    ] {
        let copied = run(&format!("COPY ({sql}) TO '@/f.{format}'"));
        assert_eq!(copied.expect_err(sql), error, "{sql} {format}");
    }
    // Texts have all of them, and so have intervals of Arrow.
    for (sql, name, rows) in [
        (
            "SELECT * FROM z",
            "a.csv",
            vec![
                "2026-01-01|2026-01-01 00:00:00|NULL|01:00:00|a",
                "0000-00-00|2026-00-10 00:00:00|0000-00-00 00:00:00|-01:00:00|",
                "2026-02-00|0000-00-00 00:00:00|2025-12-31 23:00:00+00:00|100:00:00|",
            ],
        ),
        (
            "SELECT t, e FROM z",
            "a.arrow",
            vec![
                "01:00:00.000000|a",
                "-01:00:00.000000|",
                "100:00:00.000000|",
            ],
        ),
        (
            "SELECT CAST(d AS CHAR) AS d, NULLIF(dt, 0) AS dt, TIME_TO_SEC(t) AS t FROM z WHERE t > '50:00'",
            "a.parquet",
            vec!["2026-02-00|NULL|360000"],
        ),
        (
            "SELECT NULL AS n, 1 = 1 AS b, e FROM z WHERE t > 0",
            "b.parquet",
            vec!["NULL|1|a", "NULL|1|"],
        ),
        (
            "SELECT NULL AS n, 1 = 1 AS b, e FROM z WHERE t > 0",
            "b.arrow",
            vec!["NULL|1|a", "NULL|1|"],
        ),
    ] {
        run(&format!("COPY ({sql}) TO '@/{name}'")).expect(sql);
        assert_eq!(
            run(&format!("SELECT * FROM '@/{name}'")).expect(name),
            rows,
            "{sql}"
        );
    }
    run("SET time_zone = '+00:00'").expect("sets");
    run("COPY s TO '@/s.parquet'").expect("writes");
    assert_eq!(
        run("SELECT * FROM '@/s.parquet'").expect("reads"),
        ["2024-10-27 00:30:00.000000", "2024-10-27 01:30:00.000000"]
    );
}
