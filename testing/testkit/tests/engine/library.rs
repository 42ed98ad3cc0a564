//! The library's interface other than statement texts: prepared statements with values.

use mayfly_testkit::fixture::{Fixture, SessionExt};
use mayfly_types::{SqlType, Value};

#[test]
fn every_statement_begins_with_an_empty_diagnostics_area() {
    let (_fixture, mut session) = Fixture::with_session();
    let prepared = session.prepare("SELECT ? + 1").expect("it is a statement");

    session.must("SELECT CAST('x' AS SIGNED)");
    assert_eq!(session.warnings().len(), 1);
    let values = [(Value::Int(1), SqlType::bigint())];
    let stream = session.execute_prepared(&prepared, &values);
    let result = stream.and_then(|stream| stream.into_result());
    let result = result.expect("a number and a number");
    assert_eq!(result.rows_text(), [[Some("2".to_owned())]]);
    assert!(session.warnings().is_empty());

    session.must("SELECT CAST('x' AS SIGNED)");
    assert!(session.execute("SELEC 1").is_err());
    let errnos = session.warnings();
    let errnos: Vec<u16> = errnos.iter().map(|it| it.error.errno()).collect();
    assert_eq!(errnos, [1064]);
}

/// Answers of MySQL 9.7: a text of comments is a statement without a result, one of blanks or semicolons is an error,
/// and a NUL at the end of the text is not part of it.
#[test]
fn texts_without_a_statement() {
    let (_fixture, mut session) = Fixture::with_session();
    for text in [
        "-- x",
        "# x",
        "/* x */",
        "/*! */",
        "/* a */;",
        "/*!99999 select 1*/",
    ] {
        let results = session.execute(text).expect(text);
        assert_eq!(results.len(), 1, "{text}");
        assert!(!results[0].has_rows(), "{text}");
    }
    for text in ["", "  ;", ";", "\0"] {
        let error = session.execute(text).expect_err(text);
        assert_eq!(error.errno(), 1065, "{text:?}");
    }
    assert_eq!(session.must("SELECT 1\0"), ["1"]);
    let error = session.execute("SELECT 1\0\0").expect_err("a NUL inside");
    assert_eq!(error.errno(), 1064);
    let error = session
        .execute("PREPARE s FROM '/* c */'")
        .expect_err("nothing to run");
    assert_eq!(error.errno(), 1295);
    let error = session
        .execute("PREPARE s FROM ''")
        .expect_err("nothing to parse");
    assert_eq!(error.errno(), 1065);
}
