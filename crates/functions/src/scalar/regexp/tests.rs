//! Results of this family's functions for constants and, by `check`, for columns.

use crate::testing::*;

#[test]
fn values() {
    check(&[
        ("regexp_like", &[t("CamelCase"), t("CAMELCASE")], "1"),
        ("regexp_like", &[t("abc"), t("ABC"), t("c")], "0"),
        ("regexp_like", &[b(b"abc"), b(b"ABC")], "0"),
        ("regexp_like", &[t("new*\n*line"), t("new\\*.\\*line")], "0"),
        (
            "regexp_like",
            &[t("new*\n*line"), t("new\\*.\\*line"), t("n")],
            "1",
        ),
        ("regexp_like", &[t("fo\no"), t("^fo$")], "0"),
        ("regexp_like", &[t("fo\no"), t("^fo$"), t("m")], "1"),
        ("regexp_like", &[NULL, t("a")], "NULL"),
        ("regexp_like", &[t("a"), t("a"), NULL], "NULL"),
        (
            "regexp_like",
            &[t("a"), t("a"), t("z")],
            "ERROR 1210 (HY000): Incorrect arguments to regexp_like",
        ),
        (
            "regexp_like",
            &[t("a"), t("*")],
            "ERROR 3688 (HY000): Syntax error in regular expression on line 1, character 1.",
        ),
        (
            "regexp_like",
            &[b(b"a"), t("a")],
            "ERROR 3995 (HY000): Character set 'binary' cannot be used in conjunction with 'utf8mb4_0900_ai_ci' in call to regexp_like.",
        ),
        ("regexp_replace", &[t("a b c"), t("b"), t("X")], "a X c"),
        (
            "regexp_replace",
            &[t("abc def ghi"), t("[a-z]+"), t("X"), i(1), i(3)],
            "abc def X",
        ),
        ("regexp_replace", &[t("abc"), t("(b)(c)"), t("$2$1")], "acb"),
        ("regexp_replace", &[t("abc"), t("b"), t("\\$")], "a$c"),
        ("regexp_replace", &[t("aaa"), t("a"), t("b"), i(2)], "abb"),
        ("regexp_replace", &[t("aaa"), t("a*?"), t("b")], "bababab"),
        ("regexp_replace", &[NULL, t("a"), t("b")], "NULL"),
        (
            "regexp_replace",
            &[t("abc"), t("b"), t("$9")],
            "ERROR 3686 (HY000): Index out of bounds in regular expression search.",
        ),
        (
            "regexp_replace",
            &[t("abc"), t("b"), t("$x")],
            "ERROR 3887 (HY000): A capture group has an invalid name.",
        ),
    ]);
}
