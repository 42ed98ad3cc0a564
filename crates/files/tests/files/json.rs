//! JSON files.

use crate::support::Files;

#[test]
fn content_and_types() {
    let checks: &[(&str, &str, &[&str])] = &[
        (
            "{\"a\":1,\"b\":\"x\"}\n{\"b\":\"y\",\"a\":2}\n",
            "*",
            &["1|x", "2|y"],
        ),
        ("[{\"a\":1},\n {\"a\":2.50}]\n", "*", &["1.00", "2.50"]),
        ("[]", "1", &[]),
        (
            "{\"a\":1}\n{\"b\":true}\n\n{\"a\":null,\"b\":false}",
            "*",
            &["1|NULL", "NULL|1", "NULL|0"],
        ),
        ("{\"a\":1,\"a\":2}", "*", &["2"]),
        (
            "{\"a\":123456789012345678901234567890}",
            "*",
            &["123456789012345678901234567890"],
        ),
        (
            "{\"a\":18446744073709551615}",
            "*",
            &["18446744073709551615"],
        ),
        ("{\"a\":1e400}\n{\"a\":-0.0}", "*", &["1e400", "-0.0"]),
        ("{\"a\":1.5e3}\n{\"a\":1}", "*", &["1500", "1"]),
        (
            "{\"a\":{\"y\":1,\"x\":[true,null]}}\n{\"a\":7}",
            "*",
            &["{\"x\": [true, null], \"y\": 1}", "7"],
        ),
        (
            "{\"a\":1}\n{\"a\":\"1\"}",
            "JSON_TYPE(a)",
            &["INTEGER", "STRING"],
        ),
        (
            "{\"a\":\"\\u00e9\\n\\\"\"}\n{\"a\":\"\"}",
            "*",
            &["é\n\"", ""],
        ),
        (
            "\u{feff}{\"a\":\"2024-01-01T10:00:00+02:00\"}",
            "*",
            &["2024-01-01T10:00:00+02:00"],
        ),
        (
            "{\n  \"a\": {\n  \"b\": 1 }\n}\n{\"a\":{}}",
            "a->'$.b'",
            &["1", "NULL"],
        ),
        ("[1,2]\n", "value", &["1", "2"]),
        ("{\"A\":1,\"a\":2}", "*", &["1|2"]),
    ];
    for (content, list, expected) in checks {
        let files = Files::new();
        files.write("f.json", content);
        if *content == "[]" {
            assert_eq!(
                files.error("SELECT 1 FROM '@/f.json'"),
                "1105 file '@/f.json': it has no column"
            );
            continue;
        }
        assert_eq!(
            files.rows(&format!("SELECT {list} FROM '@/f.json'")),
            *expected,
            "{content}"
        );
    }
}

#[test]
fn what_is_no_json_is_an_error_with_its_line() {
    for (content, why) in [
        (
            "{\"a\":1}\n{\"a\":}\n",
            "line 2: a value is missing or no JSON",
        ),
        (
            "{\"a\":1}\n{\"a\":{\"b\":01}}\n",
            "line 2: the value of 'a' is no JSON: Missing a comma or '}' after an object member.",
        ),
        (
            "[{\"a\":1}",
            "line 1: a comma or ] is missing behind an element",
        ),
        ("[{\"a\":1},", "it ends within an array"),
        (
            "{\"a\":\"\\x\"}",
            "line 1: the value of 'a' is no JSON: Invalid escape character in string.",
        ),
        ("", "it has no column"),
    ] {
        let files = Files::new();
        files.write("f.ndjson", content);
        let expected = format!("1105 file '@/f.ndjson': {why}");
        assert_eq!(
            files.error("SELECT * FROM '@/f.ndjson'"),
            expected,
            "{content}"
        );
    }
}

/// Blocks of several threads give the rows of the file, whose last one has a column of its own.
#[test]
fn large_files() {
    let files = Files::new();
    let rows =
        (0..200_000).map(|row| format!("{{\"n\": {row}, \"t\": \"row \\\"{row}\\\",\\n\"}}"));
    let rows: Vec<String> = rows
        .chain(["{\"n\":0.5,\"last\":[1]}".to_owned()])
        .collect();
    files.write("lines.ndjson", rows.join("\n"));
    files.write("array.json", format!("[{}]", rows.join(",\n")));
    for name in ["lines.ndjson", "array.json"] {
        let sql = format!("SELECT COUNT(*), SUM(n), COUNT(DISTINCT t), MAX(last) FROM '@/{name}'");
        assert_eq!(
            files.rows(&sql),
            ["200001|19999900000.5|200000|[1]"],
            "{name}"
        );
    }
}
