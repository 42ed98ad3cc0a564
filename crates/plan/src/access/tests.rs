//! Ranges of conditions, and chosen access paths, over the table `w` of [`crate::testing`].

use std::ops::Bound;

use mayfly_types::{SqlMode, Value};

use super::analysis::analyse;
use super::constant::known_value;
use crate::catalog::ValueRange;
use crate::explain::traditional;
use crate::testing::{check_cases, planned, rewritten};
use crate::tree::logical::{Relation, Scan};

fn scan_of(relation: &Relation) -> Option<&Scan> {
    match relation {
        Relation::Scan(scan) => Some(scan),
        other => other.inputs().into_iter().find_map(scan_of),
    }
}

fn value_text(value: &Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Int(number) => number.to_string(),
        Value::UInt(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Decimal { unscaled, scale } => format!("{unscaled}e-{scale}"),
        Value::Bytes(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) if text.chars().all(char::is_alphanumeric) => text.to_owned(),
            _ => format!("{} bytes", bytes.len()),
        },
    }
}

fn range_text(range: &ValueRange) -> String {
    let values = |values: &[Value]| values.iter().map(value_text).collect::<Vec<_>>().join(",");
    let start = match &range.start {
        Bound::Unbounded => "(..".to_owned(),
        Bound::Included(start) => format!("[{}", values(start)),
        Bound::Excluded(start) => format!("({}", values(start)),
    };
    let end = match &range.end {
        Bound::Unbounded => "..)".to_owned(),
        Bound::Included(end) => format!("{}]", values(end)),
        Bound::Excluded(end) => format!("{})", values(end)),
    };
    if let (Bound::Included(a), Bound::Included(b)) = (&range.start, &range.end)
        && a == b
    {
        return format!("[{}]", values(a));
    }
    format!("{start} {end}")
}

/// Checks the ranges of an index, and whether they cover the condition.
#[track_caller]
fn check(index: &str, condition: &str, expected: &str, covered: bool) {
    let query = rewritten(&format!("SELECT id FROM w WHERE {condition}"));
    let scan = scan_of(&query.relation).expect("the statement reads a table");
    let index = scan.table.indexes.iter().find(|known| known.name == index);
    let index = index.expect("the index is there");
    let found = analyse(&scan.predicates, &scan.table, scan.first, index, &[]);
    let Some(found) = found else {
        assert_eq!("none", expected, "{condition}");
        return;
    };
    let ranges = found
        .ranges
        .resolve(&mut |value| Ok(known_value(value, &[], SqlMode::DEFAULT)))
        .expect("resolving does not fail")
        .expect("all values are known");
    let text: Vec<String> = ranges.iter().map(range_text).collect();
    assert_eq!(text.join(" "), expected, "{condition}");
    let all = found.covered.iter().all(|covered| *covered);
    assert_eq!(all, covered, "{condition} is covered");
}

#[test]
fn comparisons_of_numbers() {
    check("PRIMARY", "id = 5", "[5]", true);
    check("PRIMARY", "5 > id", "(NULL 5)", true);
    check("PRIMARY", "id <= 5.5", "(NULL 5]", true);
    check("PRIMARY", "id >= 5.5", "(5 ..)", true);
    check("PRIMARY", "id = 5.5", "", true);
    check("PRIMARY", "id < -1e30", "", true);
    check("PRIMARY", "id > 1e30", "", true);
    check("PRIMARY", "id < 1e30", "(NULL ..)", true);
    check("PRIMARY", "id = '7'", "[7]", true);
    check("PRIMARY", "id = 'x'", "[0]", true);
    check("PRIMARY", "id BETWEEN 3 AND 8", "[3 8]", true);
    check("PRIMARY", "id BETWEEN 8 AND 3", "", true);
    check("PRIMARY", "id IN (9, 1, 3, 1)", "[1] [3] [9]", true);
    check("PRIMARY", "id IN (1, 2) AND id > 1", "[2]", true);
    check("PRIMARY", "id <> 4", "(NULL 4) (4 ..)", true);
    check("PRIMARY", "id NOT IN (4, 6)", "(NULL 4) (4 6) (6 ..)", true);
    check(
        "PRIMARY",
        "id < 3 OR id > 7 OR id = 5",
        "(NULL 3) [5] (7 ..)",
        true,
    );
    check("PRIMARY", "id < 5 OR id > 3", "(NULL ..)", true);
    check("PRIMARY", "id + 0 = 5", "none", true);
    check("PRIMARY", "id = 5 OR a = 3", "none", true);
    check("kc", "c = 1.5", "[150e-2]", true);
    check("kc", "c < 1.555", "(NULL 155e-2]", true);
    check("kc", "c = 1.555", "", true);
    check("kc", "c > -1.555", "(-156e-2 ..)", true);
    check("kc", "c = 2", "[200e-2]", true);
    check("kc", "c = 2e0", "none", true);
    check("ke", "e = -1", "", true);
    check("ke", "e > -1", "(NULL ..)", true);
    check("ke", "e = 9007199254740993", "[9007199254740993]", true);
    check(
        "ke",
        "e = 9007199254740992e0",
        "[9007199254740991 9007199254740994]",
        false,
    );
}

#[test]
fn nulls() {
    check("ka", "a IS NULL", "[NULL]", true);
    check("ka", "a IS NOT NULL", "(NULL ..)", true);
    check("ka", "a <=> NULL", "[NULL]", true);
    check("ka", "a <=> 3", "[3]", true);
    check("ka", "a = 3 OR a IS NULL", "[NULL] [3]", true);
    check("ka", "a IN (3, NULL)", "[3]", true);
    check("ka", "a < 3", "(NULL 3)", true);
}

#[test]
fn several_parts() {
    check("ka", "a = 1 AND b = 'x'", "[1,x]", true);
    check("ka", "a = 1 AND b > 'x'", "(1,x 1]", true);
    check("ka", "a = 1 AND b < 'x'", "(1,NULL 1,x)", true);
    check("ka", "a > 1 AND b = 'x'", "(1 ..)", false);
    check("ka", "b = 'x'", "none", true);
    check(
        "ka",
        "a IN (1, 2) AND b IN ('x', 'y')",
        "[1,x] [1,y] [2,x] [2,y]",
        true,
    );
    check("ka", "(a, b) = (1, 'x')", "[1,x]", true);
    check("ka", "(a, b) > (1, 'x')", "(1,x ..)", true);
    check("ka", "(a, b) >= (1, 'x')", "[1,x ..)", true);
    check("ka", "(a, b) < (1, 'x')", "(NULL 1) (1,NULL 1,x)", true);
    check("ka", "(a, b) IN ((2, 'y'), (1, 'x'))", "[1,x] [2,y]", true);
    check("ka", "a = 1 AND id = 4", "[1]", false);
    check(
        "ka",
        "a = 1 AND (b < 'c' OR b > 'x')",
        "(1,NULL 1,c) (1,x 1]",
        true,
    );
}

#[test]
fn texts_and_moments() {
    check("kb", "b = 'x'", "[x]", true);
    check("kb", "b = 5", "none", true);
    check("kb", "b = 'x' COLLATE utf8mb4_bin", "none", true);
    check("kb", "b LIKE 'ab%'", "[ab 26 bytes]", false);
    check("kb", "b LIKE '%ab'", "none", true);
    check("kb", "b LIKE 'a\\_%'", "[a 28 bytes]", false);
    check("kp", "f = 'abcdef'", "[abc]", false);
    check("kp", "f > 'abcdef'", "[abc ..)", false);
    check("kd", "d IS NULL", "[NULL]", true);
    // A descending part: the range begins at its greatest value.
    let query = rewritten("SELECT id FROM w WHERE d > '2024-01-01'");
    let scan = scan_of(&query.relation).expect("the statement reads a table");
    let index = scan.table.indexes.iter().find(|index| index.name == "kd");
    let found = analyse(
        &scan.predicates,
        &scan.table,
        scan.first,
        index.expect("kd"),
        &[],
    );
    let ranges = found.expect("it is used").ranges;
    let ranges = ranges.resolve(&mut |value| Ok(known_value(value, &[], SqlMode::DEFAULT)));
    let ranges = ranges.expect("no failure").expect("literals");
    assert!(matches!(
        ranges.as_slice(),
        [ValueRange {
            start: Bound::Unbounded,
            end: Bound::Excluded(_)
        }]
    ));
}

/// Checks statements with a line below each for every table: table type key key_len ref rows Extra
#[track_caller]
fn check_rows(cases: &str) {
    let text = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    check_cases(cases, |sql| {
        let rows = traditional(&(&planned(sql)).into());
        let rows = rows.into_iter().map(|row| {
            [
                text(row.table),
                text(row.access.map(str::to_owned)),
                text(row.key),
                text(row.key_length),
                text(row.reference),
                text(row.rows.map(|rows| rows.to_string())),
                text(row.extra),
            ]
            .join(" ")
        });
        rows.collect::<Vec<_>>().join("\n")
    });
}

#[test]
fn one_table() {
    check_rows(
        "
        SELECT * FROM w WHERE id = 5
          w const PRIMARY 4 const 1 -
        SELECT * FROM w WHERE a = 5
          w ref ka 5 const 10 -
        SELECT * FROM w WHERE a = 5 AND b = 'x'
          w ref ka 48 const,const 10 -
        SELECT a, id FROM w WHERE a IN (1, 2)
          w range ka 5 - 20 Using index
        SELECT * FROM w WHERE a = 1 OR a IS NULL
          w ref_or_null ka 5 const 20 -
        SELECT * FROM w WHERE g = 1
          w ALL - - - 10000 Using where
        SELECT a FROM w WHERE a > 1
          w range ka 5 - 10 Using index
        SELECT * FROM w IGNORE INDEX (ka) WHERE a = 5
          w ALL - - - 10000 Using where
        SELECT * FROM w WHERE a = a
          w ALL - - - 10000 Using where
        ",
    );
}

#[test]
fn joins() {
    check_rows(
        "
        SELECT * FROM u JOIN w ON w.id = u.a
          u ALL - - - 10 -
          w eq_ref PRIMARY 4 test.u.a 1 -
        SELECT * FROM w JOIN u ON w.id = u.a
          u ALL - - - 10 -
          w eq_ref PRIMARY 4 test.u.a 1 -
        SELECT * FROM u LEFT JOIN w IGNORE INDEX (kb) ON w.a = u.a AND w.b = 'x'
          u ALL - - - 10 -
          w ref ka 48 test.u.a,const 10 -
        SELECT * FROM u WHERE a IN (SELECT a FROM w)
          u ALL - - - 10 -
          w ref ka 5 test.u.a 10 Using index; FirstMatch(u)
        SELECT * FROM u WHERE NOT EXISTS (SELECT 1 FROM w WHERE w.id = u.a)
          u ALL - - - 10 -
          w eq_ref PRIMARY 4 test.u.a 1 Using index; Not exists
        # Most of it is read anyway.
        SELECT * FROM v JOIN w ON w.id = v.a
          w ALL - - - 10000 -
          v ALL - - - 100000 Using where; Using join buffer (hash join)
        SELECT (SELECT b FROM w WHERE w.id = u.a) FROM u
          u ALL - - - 10 -
          w eq_ref PRIMARY 4 func 1 -
        ",
    );
}

#[test]
fn orders() {
    check_rows(
        "
        SELECT * FROM w ORDER BY id LIMIT 3
          w index PRIMARY 4 - 3 -
        SELECT * FROM w ORDER BY a, b LIMIT 3
          w index ka 48 - 3 -
        SELECT * FROM w ORDER BY a DESC, b DESC LIMIT 3
          w index ka 48 - 3 Backward index scan
        SELECT * FROM w ORDER BY a, b DESC LIMIT 3
          w ALL - - - 10000 Using filesort
        SELECT * FROM w WHERE a = 3 ORDER BY b
          w ref ka 5 const 10 -
        SELECT a FROM w ORDER BY a
          w index ka 48 - 10000 Using index
        SELECT a, count(*) FROM w GROUP BY a ORDER BY a
          w index ka 48 - 10000 Using index
        SELECT DISTINCT a FROM w
          w range ka 5 - 1000 Using index for group-by
        SELECT u.c, w.b FROM w JOIN u ON u.c = w.g ORDER BY w.id
          u ALL - - - 10 Using temporary; Using filesort
          w ALL - - - 10000 Using where; Using join buffer (hash join)
        ",
    );
}

#[test]
fn semijoins_from_the_inner_side() {
    check_rows(
        "
        SELECT * FROM w WHERE id IN (SELECT a FROM u WHERE c = 'x')
          u ALL - - - 10 Using where; Using temporary
          w eq_ref PRIMARY 4 test.u.a 1 -
        SELECT * FROM w x WHERE a IN (SELECT g FROM w y WHERE y.id = 3)
          y const PRIMARY 4 const 1 -
          x ref ka 5 test.y.g 10 -
        # Not equal alone: each outer row may meet several inner ones.
        SELECT * FROM u WHERE EXISTS (SELECT 1 FROM w WHERE w.id > u.a)
          u ALL - - - 10 -
          w ALL - - - 10000 Using where; FirstMatch(u); Using join buffer (hash join)
        ",
    );
}

#[test]
fn groups_of_which_the_ends_are_enough() {
    check_rows(
        "
        SELECT a, MIN(b) FROM w GROUP BY a
          w range ka 5 - 1000 Using index for group-by
        # With many small groups a full index scan is cheaper than finding both ends.
        SELECT a, MIN(b), MAX(b) FROM w GROUP BY a
          w index ka 48 - 10000 Using index
        SELECT COUNT(DISTINCT a) FROM w
          w range ka 5 - 1000 Using index for group-by
        # The hidden end of every key is that of the primary one.
        SELECT * FROM w WHERE a = 3 AND b = 'x' ORDER BY id LIMIT 2
          w ref ka 48 const,const 10 -
        SELECT id, b FROM w ORDER BY b DESC, id DESC LIMIT 2
          w index kb 43 - 2 Backward index scan; Using index
        ",
    );
}
