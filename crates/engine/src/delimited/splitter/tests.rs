//! Fields of texts in several formats; expected values are from MySQL.

use super::*;

/// Every line's fields, separated by `|`; NULL is `~`, an enclosed field is in `<>`, and a line that
/// had more is followed by `...`.
fn split(format: &Format, text: &str, fields: usize) -> Vec<String> {
    let mut splitter = Splitter::new(format, text.as_bytes(), true);
    let mut lines = Vec::new();
    loop {
        let mut line = Vec::new();
        while line.len() < fields {
            match splitter.field() {
                Step::Field(field) => {
                    let value = String::from_utf8_lossy(splitter.bytes_of(&field)).into_owned();
                    line.push(match (splitter.is_null(&field), field.enclosed) {
                        (true, _) => "~".to_owned(),
                        (_, true) => format!("<{value}>"),
                        _ => value,
                    });
                }
                Step::NoField => break,
                Step::Incomplete => panic!("{text}: the file is whole"),
            }
        }
        if line.is_empty() {
            return lines;
        }
        let end = splitter.next_line();
        let cut = if end == (LineEnd::Ended { cut: true }) {
            "..."
        } else {
            ""
        };
        lines.push(line.join("|") + cut);
        if end == LineEnd::EndOfFile {
            return lines;
        }
    }
}

fn check(format: &Format, text: &str, fields: usize, expected: &[&str]) {
    assert_eq!(split(format, text, fields), expected, "{text}");
    // Wherever the text is cut, the fields of the lines that are whole are the same.
    for cut in 0..text.len() {
        let mut splitter = Splitter::new(format, &text.as_bytes()[..cut], false);
        'lines: loop {
            for _ in 0..fields {
                match splitter.field() {
                    Step::Field(_) => {}
                    Step::NoField => break,
                    Step::Incomplete => break 'lines,
                }
            }
            match splitter.next_line() {
                LineEnd::Ended { .. } => {}
                _ => break,
            }
        }
        let whole = splitter.line_begin();
        let mut lines = split_part(format, &text.as_bytes()[..whole], fields);
        lines.extend(split(format, &text[whole..], fields));
        assert_eq!(lines, expected, "{text} cut at {cut}");
    }
}

fn split_part(format: &Format, bytes: &[u8], fields: usize) -> Vec<String> {
    split(
        format,
        std::str::from_utf8(bytes).expect("cut between characters"),
        fields,
    )
}

fn csv() -> Format {
    Format {
        field_end: b",".to_vec(),
        enclosed: Some(b'"'),
        ..Format::default()
    }
}

#[test]
fn default_format() {
    let format = Format::default();
    check(&format, "1\tone\n2\ttwo\n", 2, &["1|one", "2|two"]);
    check(&format, "1\tone\n2\ttwo", 2, &["1|one", "2|two"]);
    check(&format, "1\\\t2\t\\N\n", 2, &["1\t2|~"]);
    check(
        &format,
        "a\\\nb\\n\\0\\Z\\q\\\\\t\\NN\n",
        2,
        &["a\nb\n\0\u{1a}q\\|NN"],
    );
    check(&format, "\"\\N\"\tNULL\n", 2, &["\"N\"|NULL"]);
    check(&format, "1\n\n2\t3\t4\n", 2, &["1", "", "2|3..."]);
    check(&format, "", 2, &[]);
    check(&format, "\n", 2, &[""]);
    check(&format, "1\t", 2, &["1"]);
    check(&format, "a\\", 1, &["a\\"]);
}

#[test]
fn enclosed_fields() {
    let format = csv();
    check(
        &format,
        "\"a,b\",c\n\"d\ne\",\"f\"\n",
        2,
        &["<a,b>|c", "<d\ne>|<f>"],
    );
    check(
        &format,
        "\"say \"\"hi\"\"\",x\"y\n",
        2,
        &["<say \"hi\">|x\"y"],
    );
    check(&format, "\"a\"b\",c\n", 2, &["<a\"b>|c"]);
    check(&format, "\"\\N\",\"NULL\",NULL,\\N\n", 4, &["~|<NULL>|~|~"]);
    check(&format, "\"\",\"\"\n", 2, &["<>|<>"]);
    check(&format, "\"open,\n1\n", 2, &["\"open,\n1\n"]);
    check(&format, "\"last\"", 2, &["<last>"]);
    check(
        &format,
        "1,2,\"x\ny\",3\n4,5\n",
        2,
        &["1|2...", "y\"|3", "4|5"],
    );
    let unescaped = Format {
        escape: None,
        ..csv()
    };
    check(
        &unescaped,
        "\"a\\\",\\N\n\"b\"\"\",NULL\n",
        2,
        &["<a\\>|\\N", "<b\">|~"],
    );
    let quote_escapes = Format {
        escape: Some(b'"'),
        ..csv()
    };
    check(
        &quote_escapes,
        "\"fie\"\"ld1\",\"f2\"\n",
        2,
        &["<fie\"ld1>|<f2>"],
    );
}

#[test]
fn longer_terminators() {
    let format = Format {
        field_end: b"||".to_vec(),
        line_end: b"\r\n".to_vec(),
        line_start: b"> ".to_vec(),
        ..Format::default()
    };
    check(
        &format,
        "> a|b||c\rd\r\nno\r\nx > e||f\r\n",
        2,
        &["a|b|c\rd", "e|f"],
    );
    let quoted = Format {
        enclosed: Some(b'\''),
        ..format
    };
    check(
        &quoted,
        "> 'a||b'||'c'|'\r\n> d||'e'\r\n",
        2,
        &["<a||b>|<c'|>", "d|<e>"],
    );
}

#[test]
fn lines_that_end_like_fields() {
    let format = Format {
        field_end: b",".to_vec(),
        line_end: b",".to_vec(),
        ..Format::default()
    };
    check(&format, "1,2,3,4,", 2, &["1|2", "3|4"]);
    let no_end = Format {
        line_end: Vec::new(),
        ..format
    };
    check(&no_end, "1,2,3,4", 2, &["1|2", "3|4"]);
}

#[test]
fn fixed_width() {
    let format = Format {
        field_end: Vec::new(),
        ..Format::default()
    };
    let mut splitter = Splitter::new(&format, b"12ab\n3\\n4cd\n56", true);
    let mut lines = Vec::new();
    while let Step::Field(field) = splitter.fixed_line(4) {
        lines.push(String::from_utf8_lossy(splitter.bytes_of(&field)).into_owned());
        let end = splitter.next_line();
        lines.push(format!("{end:?}"));
    }
    assert_eq!(
        lines,
        [
            "12ab",
            "Ended { cut: false }",
            "3\n4c",
            "Ended { cut: true }",
            "56",
            "EndOfFile"
        ]
    );
}
