//! Results of this family's functions for constants and, by `check`, for columns.

use crate::testing::*;

#[test]
fn values() {
    check(&[
        ("coalesce", &[NULL, i(1)], "1"),
        ("coalesce", &[NULL, NULL, NULL], "NULL"),
        ("coalesce", &[NULL, d("3.5"), t("x")], "3.5"),
        ("coalesce", &[i(1), d("3.5")], "1.0"),
        (
            "coalesce",
            &[NULL, u(u64::MAX), i(-1)],
            "18446744073709551615",
        ),
        ("ifnull", &[i(1), i(0)], "1"),
        ("ifnull", &[NULL, t("yes")], "yes"),
        ("greatest", &[i(2), i(0)], "2"),
        ("greatest", &[f(34.0), f(3.0), f(5.0), f(767.0)], "767"),
        ("greatest", &[t("B"), t("A"), t("C")], "C"),
        ("greatest", &[i(10), t("9")], "9"),
        ("greatest", &[i(1), d("2.5")], "2.5"),
        ("greatest", &[i(1), NULL], "NULL"),
        ("least", &[i(2), i(0)], "0"),
        ("least", &[t("b"), i(1), t("a")], "1"),
        ("least", &[t("a"), t("B")], "a"),
        ("greatest", &[t("B"), t("b")], "b"),
        ("least", &[t("B"), t("b")], "B"),
        ("if", &[i(1), i(2), i(3)], "2"),
        ("if", &[i(0), t("yes"), t("no")], "no"),
        ("if", &[NULL, i(2), t("three")], "three"),
        (
            "interval",
            &[i(23), i(1), i(15), i(17), i(30), i(44), i(200)],
            "3",
        ),
        ("interval", &[i(10), i(1), i(10), i(100), i(1000)], "2"),
        ("interval", &[i(22), i(23), i(30), i(44), i(200)], "0"),
        ("interval", &[NULL, i(1)], "-1"),
        ("interval", &[i(5), i(1), NULL, i(10)], "2"),
        ("interval", &[d("1.5"), i(1), i(2)], "1"),
        (
            "interval",
            &[i(i64::MAX), i(1), d("9223372036854775807.5")],
            "1",
        ),
        ("isnull", &[NULL], "1"),
        ("isnull", &[i(0)], "0"),
        ("nullif", &[i(1), i(1)], "NULL"),
        ("nullif", &[i(1), i(2)], "1"),
        ("nullif", &[t("a"), t("A")], "NULL"),
        ("nullif", &[i(1), NULL], "1"),
        ("nullif", &[NULL, i(1)], "NULL"),
    ]);
}
