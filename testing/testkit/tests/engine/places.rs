//! Each expression of a list in each place of a list: no statement ends in an internal error, whether it is valid or
//! not, and the session goes on.
//!
//! `places.txt` has the statements that create tables, the expressions, and the places, apart by empty lines. `{}` in a
//! place is the expression.

use std::collections::BTreeMap;

use mayfly_testkit::fixture::{Errno, Fixture, SessionExt};
use mayfly_types::error::codes;

const PLACES: &str = include_str!("places.txt");

/// Number of statements that are shown of those that fail.
const SHOWN: usize = 20;

#[test]
fn no_expression_is_an_internal_error_in_any_place() {
    let parts: Vec<Vec<&str>> = PLACES
        .split("\n\n")
        .map(|part| part.lines().collect())
        .collect();
    let [tables, expressions, places] = &parts[..] else {
        panic!("places.txt has three parts");
    };
    let fixture = Fixture::open(|_| {});
    let mut session = fixture.session();
    session.must_all(tables);
    session.must("SET autocommit = 0");
    let mut outcomes: BTreeMap<u16, usize> = BTreeMap::new();
    let mut internal = Vec::new();
    for place in places {
        for expression in expressions {
            let sql = place.replace("{}", expression);
            let errno = session.errno(&sql);
            *outcomes.entry(errno).or_default() += 1;
            if errno == codes::ER_UNKNOWN_ERROR.errno {
                internal.push(sql);
            }
            session.must("ROLLBACK");
            session.must("DROP TEMPORARY TABLE IF EXISTS made");
        }
    }
    let valid = outcomes.get(&0).copied().unwrap_or_default();
    let all = places.len() * expressions.len();
    assert!(2 * valid > all, "{valid} of {all} are valid: {outcomes:?}");
    let count = internal.len();
    internal.truncate(SHOWN);
    assert!(internal.is_empty(), "{count}:\n{}", internal.join("\n"));
}
