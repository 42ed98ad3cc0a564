//! Statements with several results, in each form that clients get them.

use std::sync::Arc;

use mayfly_engine::{Database, DatabaseOptions, RootPassword};
use mayfly_wire::{Server, ServerOptions, TlsOptions};
use mysql::prelude::Queryable;
use mysql::{Conn, OptsBuilder, QueryResult};

const TEXT: &str = "EXECUTE IMMEDIATE 'SELECT 1 AS a UNION ALL SELECT 2; DO 0; SELECT ''x'' AS b, NULL AS c; \
    INSERT INTO test.t VALUES (7), (8)'";

fn database() -> Arc<Database> {
    let mut options = DatabaseOptions::new();
    options.executes_texts = true;
    let database = Database::open(options).expect("opens");
    let mut session = database.session();
    session
        .execute("CREATE TABLE t (a INT)")
        .expect("makes a table");
    database
}

/// The columns and values of each result, and how many rows it changed.
fn results<P: mysql::prelude::Protocol>(mut all: QueryResult<'_, '_, '_, P>) -> Vec<String> {
    let mut seen = Vec::new();
    while let Some(set) = all.iter() {
        let affected = set.affected_rows();
        let columns = set.columns();
        let names: Vec<_> = columns
            .as_ref()
            .iter()
            .map(|it| it.name_str().into_owned())
            .collect();
        let rows = set.map(|row| {
            let values = row.expect("a row").unwrap();
            let values = values.iter().map(|value| value.as_sql(true));
            values.collect::<Vec<_>>().join(" ")
        });
        let rows: Vec<String> = rows.collect();
        seen.push(format!(
            "{}: {} ({affected})",
            names.join(" "),
            rows.join("; ")
        ));
    }
    seen
}

#[test]
fn clients_of_the_server_get_one_after_the_other() {
    let database = database();
    database
        .set_up_root(RootPassword::Empty)
        .expect("makes an account");
    let options = ServerOptions {
        addresses: vec!["127.0.0.1:0".parse().expect("an address")],
        tls: TlsOptions::Off,
        ..ServerOptions::default()
    };
    let server = Server::start(Arc::clone(&database), &options).expect("listens");
    let options = OptsBuilder::new()
        .ip_or_hostname(Some("127.0.0.1"))
        .tcp_port(server.addresses()[0].port())
        .prefer_socket(false)
        .user(Some("root"));
    let mut client = Conn::new(options).expect("logs in");
    let expected = ["a: '1'; '2' (0)", "b c: 'x' NULL (0)", ":  (2)"];
    assert_eq!(results(client.query_iter(TEXT).expect("runs")), expected);
    let more = format!("{TEXT}; SELECT 3 AS d");
    let all = results(client.query_iter(more).expect("runs"));
    assert_eq!(all[..3], expected);
    assert_eq!(all[3..], ["d: '3' (0)"]);
    let count: Option<u64> = client
        .query_first("SELECT COUNT(*) FROM test.t")
        .expect("counts");
    assert_eq!(count, Some(4));
}

#[test]
fn a_session_gives_them_as_results() {
    let database = database();
    let mut session = database.session();
    let results = session.execute(TEXT).expect("runs");
    let rows: Vec<_> = results
        .iter()
        .map(|result| result.rows_text().len())
        .collect();
    assert_eq!(rows, [2, 1, 0]);
    assert_eq!(results[2].affected_rows, 2);
    let stream = session.query("SELECT 1").expect("is free again");
    assert_eq!(stream.into_result().expect("a row").row_count(), 1);
    // Its memory is that of its rows.
    let mut stream = session.query(TEXT).expect("runs");
    let mut sets = stream.take_sets();
    drop(stream);
    session
        .execute("DROP TABLE t")
        .expect("the statement has ended");
    let batch = sets[0].next_rows(1).expect("reads").expect("a row");
    assert_eq!(mayfly_types::Batch::row_count(&batch), 1);
}

#[test]
fn an_error_in_one_undoes_all() {
    let database = database();
    let mut session = database.session();
    let text = "EXECUTE IMMEDIATE 'SELECT 1; INSERT INTO t VALUES (1); SELECT * FROM missing'";
    let error = session.execute(text).expect_err("no table");
    assert_eq!(error.errno(), 1146);
    let count = session.execute("SELECT COUNT(*) FROM t").expect("counts");
    assert_eq!(count[0].rows_text(), [[Some("0".to_owned())]]);
}
