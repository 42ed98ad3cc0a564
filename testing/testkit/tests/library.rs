//! What the library offers beyond the text of a statement: prepared statements with values.

use mayfly_testkit::fixture::{Fixture, must};
use mayfly_types::{SqlType, Value};

#[test]
fn every_statement_begins_with_an_empty_diagnostics_area() {
    let fixture = Fixture::open(|_| ());
    let mut session = fixture.database.session();
    let prepared = session.prepare("SELECT ? + 1").expect("it is a statement");

    must(&mut session, "SELECT CAST('x' AS SIGNED)");
    assert_eq!(session.warnings().len(), 1);
    let values = [(Value::Int(1), SqlType::bigint())];
    let stream = session.execute_prepared(&prepared, &values);
    let result = stream.and_then(|stream| stream.into_result());
    let result = result.expect("a number and a number");
    assert_eq!(result.rows_text(), [[Some("2".to_owned())]]);
    assert!(session.warnings().is_empty());

    must(&mut session, "SELECT CAST('x' AS SIGNED)");
    assert!(session.execute("SELEC 1").is_err());
    let errnos = session.warnings();
    let errnos: Vec<u16> = errnos.iter().map(|it| it.error.errno()).collect();
    assert_eq!(errnos, [1064]);
}
