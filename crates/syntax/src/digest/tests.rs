//! Digest texts, as MySQL prints them.

use super::*;

fn check(sql: &str, expected: &str) {
    assert_eq!(digest(sql).0, expected, "{sql}");
}

#[test]
fn texts_as_mysql() {
    for case in include_str!("mysql.txt").lines() {
        let (sql, expected) = case.split_once('\t').expect("two columns");
        check(sql, expected);
    }
}

#[test]
fn hashes() {
    // SHA-256 of "SELECT ?".
    let (_, one) = digest("select 1");
    assert_eq!(one, digest(" SELECT  -2 -- same").1);
    assert_ne!(one, digest("select 1, 2").1);
    assert_eq!(one.len(), 64);
}

#[test]
fn any_text_has_a_digest() {
    check("", "");
    check(";;", "");
    check(" ; select 1; select a", "SELECT ?");
    check("select 'abc", "SELECT 'abc");
    check("select a from t /*+ x", "SELECT `a` FROM `t` /*+ x");
    check("select \u{1}", "SELECT \u{1}");
    check("-1", "- ?");
}
