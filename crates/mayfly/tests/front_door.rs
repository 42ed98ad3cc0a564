//! What a program that embeds the engine relies on.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use mayfly::arrow_array::Array;
use mayfly::arrow_array::cast::AsArray;
use mayfly::arrow_array::types::{Date32Type, Int32Type, UInt16Type};
use mayfly::arrow_schema::{DataType, TimeUnit};
use mayfly::{Connection, Database, Date, DateTime, Decimal, Options, Time, Value, params};

fn connection() -> Connection {
    Database::in_memory().unwrap().connect()
}

fn value<T: for<'r> mayfly::FromValue<'r>>(expression: &str) -> mayfly::Result<T> {
    let row = connection().query_row(&format!("SELECT {expression}"), ())?;
    row.get(0)
}

#[test]
fn values_are_read_as_types_of_rust() {
    assert_eq!(value::<i8>("-128"), Ok(-128));
    assert_eq!(value::<u64>("18446744073709551615"), Ok(u64::MAX));
    assert_eq!(value::<bool>("1 < 2"), Ok(true));
    assert_eq!(value::<f64>("1.5"), Ok(1.5));
    assert_eq!(value::<i64>("SUM(7)"), Ok(7), "a DECIMAL that is whole");
    assert_eq!(value::<Option<i64>>("NULL"), Ok(None));
    let texts = [
        ("TIME'-101:02:03.5'", "-101:02:03.5"),
        ("CAST(0.1 AS FLOAT)", "0.1"),
        ("CAST(0.5 AS DECIMAL(5, 3))", "0.500"),
        ("1e300", "1e300"),
        ("-0e0", "-0"),
        (
            "CAST('2026-01-02 03:04:05' AS DATETIME(2))",
            "2026-01-02 03:04:05.00",
        ),
        ("1 = 1", "1"),
    ];
    for (expression, text) in texts {
        assert_eq!(
            value::<String>(expression),
            Ok(text.to_owned()),
            "{expression}"
        );
    }
    let shown = connection().query_row("SELECT 1e300, NULL, DATE'2026-01-02'", ());
    let shown = shown.unwrap();
    let shown: Vec<_> = shown.as_row().values().map(|it| it.to_string()).collect();
    assert_eq!(shown, ["1e300", "NULL", "2026-01-02"]);
    assert_eq!(value::<Vec<u8>>("X'00FF'"), Ok(vec![0, 255]));
    let date = Date {
        year: 2026,
        month: 11,
        day: 28,
    };
    assert_eq!(value::<Date>("DATE'2026-11-28'"), Ok(date));
    assert_eq!(
        value::<DateTime>("DATE'2026-11-28'"),
        Ok(DateTime::date(2026, 11, 28))
    );
    assert_eq!(
        value::<Time>("TIME'-00:00:01'"),
        Ok(Time {
            microseconds: -1_000_000
        })
    );
    let wide = "12345678901234567890123456789012345678901234567890123456789012345";
    assert_eq!(
        value::<Decimal>(wide).map(|it| it.to_string()),
        Ok(wide.to_owned())
    );
    let text = value::<String>("CAST('{\"a\": [1, \"x\"]}' AS JSON)");
    assert_eq!(text, Ok(r#"{"a": [1, "x"]}"#.to_owned()));
}

#[test]
fn what_does_not_fit_is_an_error() {
    let number = |error: mayfly::Error| error.errno();
    assert_eq!(value::<i8>("128").map_err(number), Err(1264));
    assert_eq!(value::<u8>("-1").map_err(number), Err(1264));
    assert_eq!(value::<i64>("'12'").map_err(number), Err(1366));
    assert_eq!(value::<i64>("1.5").map_err(number), Err(1366));
    assert_eq!(value::<String>("NULL").map_err(number), Err(1366));
    assert_eq!(value::<bool>("2").map_err(number), Err(1366));
    let row = connection().query_row("SELECT 1 AS a", ()).unwrap();
    assert_eq!(row.get::<i64>("A"), Ok(1));
    assert_eq!(row.get::<i64>("b").map_err(number), Err(1054));
    assert_eq!(row.get::<i64>(1).map_err(number), Err(1054));
    let nothing = connection().query_row("SELECT 1 WHERE FALSE", ());
    assert_eq!(nothing.map(drop).map_err(number), Err(1329));
}

#[test]
fn parameters_keep_their_values() {
    let mut connection = connection();
    connection
        .execute_script("CREATE TABLE t (d DECIMAL(20,2), b VARBINARY(9), s TEXT, dt DATETIME(6), u BIGINT UNSIGNED)")
        .unwrap();
    let decimal = Decimal::from_i128(10, 2);
    let moment = DateTime {
        hour: 1,
        microsecond: 7,
        ..DateTime::date(2026, 2, 28)
    };
    let insert = connection
        .prepare("INSERT INTO t VALUES (? * 3, ?, ?, ?, ?)")
        .unwrap();
    assert_eq!(insert.parameter_count(), 5);
    let values = params![decimal, &b"\x00\xFF"[..], "ä", moment, u64::MAX];
    let done = connection.execute(&insert, values).unwrap();
    assert_eq!(done.affected_rows, 1);
    let row = connection
        .query_row("SELECT * FROM t WHERE s = ?", ["ä"])
        .unwrap();
    assert_eq!(row.get::<Decimal>("d"), Ok(Decimal::from_i128(30, 2)));
    assert_eq!(row.get::<Vec<u8>>("b"), Ok(vec![0, 255]));
    assert_eq!(row.get::<DateTime>("dt"), Ok(moment));
    assert_eq!(row.get::<u64>("u"), Ok(u64::MAX));
    let again = params![
        Value::Null,
        None::<&str>,
        "b",
        Value::Date(Date::default()),
        1_u8
    ];
    let zero = connection.execute(&insert, again).unwrap_err();
    assert_eq!(zero.errno(), 1292, "a zero date in strict mode");
    let few = connection.execute(&insert, [1]).unwrap_err();
    assert_eq!(few.errno(), 1210);
    let text = connection.execute("SELECT ?", ()).unwrap_err();
    assert_eq!(text.sqlstate(), "42000");
}

#[test]
fn record_batches_have_arrows_types() {
    let mut connection = connection();
    connection
        .execute_script(
            "CREATE TABLE t (i INT, m DECIMAL(40,2), d DATE, ts DATETIME(3), du TIME, e ENUM('x','y'), s SET('p','q'),
                 j JSON, b BLOB, v VARCHAR(30) CHARACTER SET latin1, y YEAR, bits BIT(3), f FLOAT, t8 TINYINT UNSIGNED NOT NULL);
             INSERT INTO t VALUES (1, 1.25, '1969-12-31', '2026-01-02 03:04:05.006', '-100:00:00', 'y', 'p,q', '\"text\"',
                 X'FF', 'größer als zwölf Bytes', 2026, 5, 0.5, 255), (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                 NULL, NULL, NULL, NULL, 0)",
        )
        .unwrap();
    let mut rows = connection
        .query("SELECT * FROM t ORDER BY t8 DESC", ())
        .unwrap();
    let schema = rows.schema();
    let types: Vec<_> = schema
        .fields()
        .iter()
        .map(|field| field.data_type().clone())
        .collect();
    let members = DataType::Dictionary(Box::new(DataType::UInt16), Box::new(DataType::Utf8));
    let expected = [
        DataType::Int32,
        DataType::Decimal256(40, 2),
        DataType::Date32,
        DataType::Timestamp(TimeUnit::Microsecond, None),
        DataType::Duration(TimeUnit::Microsecond),
        members,
        DataType::Utf8View,
        DataType::Utf8View,
        DataType::BinaryView,
        DataType::Utf8View,
        DataType::UInt16,
        DataType::UInt64,
        DataType::Float32,
        DataType::UInt8,
    ];
    assert_eq!(types, expected);
    assert!(!schema.field(13).is_nullable());
    let batch = rows.next_record_batch().unwrap().unwrap();
    assert_eq!(batch.num_rows(), 2);
    assert_eq!(batch.column(0).as_primitive::<Int32Type>().value(0), 1);
    assert_eq!(batch.column(2).as_primitive::<Date32Type>().value(0), -1);
    let members = batch.column(5).as_dictionary::<UInt16Type>();
    assert_eq!((members.keys().value(0), members.values().len()), (1, 2));
    assert_eq!(batch.column(7).as_string_view().value(0), "\"text\"");
    assert_eq!(
        batch.column(9).as_string_view().value(0),
        "größer als zwölf Bytes"
    );
    assert!((0..13).all(|column| batch.column(column).is_null(1)));
    assert!(rows.next_record_batch().unwrap().is_none());
}

#[test]
fn dates_that_arrow_does_not_have_are_errors() {
    let mut connection = connection();
    connection.execute("SET sql_mode = ''", ()).unwrap();
    for date in ["DATE'0000-00-00'", "CAST('2026-02-00' AS DATETIME)"] {
        let mut rows = connection
            .query(&format!("SELECT {date} AS d"), ())
            .unwrap();
        let error = rows.next_record_batch().unwrap_err();
        assert_eq!(error.errno(), 1292, "{date}: {error}");
    }
}

#[test]
fn stored_rows_outlive_their_connection() {
    let database = Options::new()
        .variable("tmp_table_size", "1024")
        .open()
        .unwrap();
    let mut connection = database.connect();
    let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) SELECT i FROM n";
    let mut rows = connection.query(numbers, ()).unwrap();
    let first = rows.next().unwrap().unwrap();
    assert_eq!(first.get::<i64>("i"), Ok(1));
    let mut stored = rows.store().unwrap();
    connection.execute("CREATE TABLE t (i INT)", ()).unwrap();
    drop(connection);
    let read = std::thread::spawn(move || {
        let mut read = 0;
        while let Some(batch) = stored.next_record_batch(1000).unwrap() {
            assert!(batch.num_rows() <= 1000);
            read += batch.num_rows();
        }
        read
    });
    assert_eq!(read.join().unwrap(), 19_999);
}

#[test]
fn a_statement_is_interrupted_from_another_thread() {
    let mut connection = connection();
    let handle = connection.interrupt_handle();
    let waiting = std::thread::spawn(move || {
        let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i MOD 1000 FROM n) SELECT MAX(i) FROM n";
        connection.query_row(endless, ()).map(drop)
    });
    // A statement that has not begun yet is not ended.
    while !waiting.is_finished() {
        handle.interrupt();
        std::thread::yield_now();
    }
    assert_eq!(waiting.join().unwrap().unwrap_err().errno(), 1317);
}

#[test]
fn a_directory_keeps_tables() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("data");
    {
        let mut connection = Database::open(&path).unwrap().connect();
        connection
            .execute_script("CREATE TABLE t (i INT); INSERT INTO t VALUES (1), (2)")
            .unwrap();
        assert!(Database::open(&path).is_err(), "it is open");
    }
    let mut connection = Database::open(&path).unwrap().connect();
    let mut rows = connection.query("SELECT i FROM t ORDER BY i", ()).unwrap();
    let mut seen = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        seen.push(row.get::<i32>(0).unwrap());
    }
    assert_eq!(seen, [1, 2]);
}

#[test]
fn connections_move_between_threads() {
    fn is_send<T: Send>() {}
    fn is_shared<T: Send + Sync>() {}
    is_send::<Connection>();
    is_send::<mayfly::StoredRows>();
    is_shared::<Database>();
    is_shared::<mayfly::Statement>();
    is_shared::<mayfly::Interrupt>();
}

#[test]
fn a_statement_is_for_its_database() {
    let databases = [1, 2].map(|number| {
        let database = Database::in_memory().unwrap();
        let create = format!("CREATE TABLE t AS SELECT {number} AS i");
        database.connect().execute(&create, ()).unwrap();
        database
    });
    let [mut own, mut other] = databases.each_ref().map(Database::connect);
    let statement = own.prepare("SELECT i FROM t").unwrap();
    let read = |connection: &mut Connection| {
        let row = connection.query_row(&statement, ())?;
        row.get::<i64>(0)
    };
    assert_eq!(read(&mut own), Ok(1));
    assert_eq!(read(&mut databases[0].connect()), Ok(1));
    assert_eq!(read(&mut other).unwrap_err().errno(), 1243);
    drop((own, databases));
    assert_eq!(read(&mut other).unwrap_err().errno(), 1243);
}

#[test]
fn a_statement_may_give_several_sets_of_rows() {
    let database = Options::new().executes_texts().open().unwrap();
    let mut connection = database.connect();
    let text = "EXECUTE IMMEDIATE 'SELECT 1 AS a UNION SELECT 2; SELECT ''x'' AS b'";
    let mut sets = connection.query_sets(text, ()).unwrap();
    let names = |set: &mayfly::StoredRows| set.columns().next().unwrap().name().to_owned();
    assert_eq!(sets.iter().map(names).collect::<Vec<_>>(), ["a", "b"]);
    let batch = sets[0].next_record_batch(10).unwrap().unwrap();
    assert_eq!(batch.num_rows(), 2);
    assert!(sets[0].next_record_batch(10).unwrap().is_none());
    let sets = connection
        .query_sets("SELECT 1 UNION SELECT 2", ())
        .unwrap();
    assert_eq!(sets.len(), 1, "a query gives its rows");
    assert!(connection.query_sets("DO 0", ()).unwrap().is_empty());
}

#[cfg(feature = "files")]
#[test]
fn files_are_tables() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.csv");
    std::fs::write(&path, "n,t\n1,x\n2,y\n").unwrap();
    let path = path.to_str().unwrap();
    let mut connection = connection();
    let sum = connection.query_row(&format!("SELECT SUM(n) FROM '{path}'"), ());
    assert_eq!(sum.unwrap().get::<i64>(0), Ok(3));
    let named = "SELECT t FROM read_csv(?) WHERE n = ?";
    let text = connection.query_row(named, params![path, 2]).unwrap();
    assert_eq!(text.get::<String>(0), Ok("y".to_owned()));
    let statement = connection.prepare(named).unwrap();
    let text = connection.query_row(&statement, params![path, 1]).unwrap();
    assert_eq!(text.get::<String>(0), Ok("x".to_owned()));
    let refuses = Options::new().without_files().open().unwrap();
    let refused = refuses.connect().query_row(named, params![path, 2]);
    assert_eq!(refused.unwrap_err().errno(), 1290);
}

#[test]
fn batches_of_rows_are_kept_and_divided() {
    const NUMBERS: &str = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) SELECT i FROM n";
    let mut connection = connection();
    let mut rows = connection.query(NUMBERS, ()).unwrap();
    assert_eq!(rows.next().unwrap().unwrap().get::<i64>(0), Ok(1));
    let batch = rows.next_rows().unwrap().unwrap();
    drop(rows);
    assert_eq!(batch.row(0).unwrap().get::<i64>(0), Ok(2));
    let rest = batch.from(10);
    assert_eq!(rest.len(), batch.len() - 10);
    assert_eq!(rest.row(0).unwrap().get::<i64>(0), Ok(12));
    assert!(rest.row(rest.len()).is_none());
    assert!(batch.from(usize::MAX).is_empty());
    let record = rest.record_batch().unwrap();
    assert_eq!(record.num_rows(), rest.len());

    let mut stored = connection.query(NUMBERS, ()).unwrap().store().unwrap();
    assert_eq!(stored.next_rows(7).unwrap().unwrap().len(), 7);
    let next = stored.next_rows(7).unwrap().unwrap();
    assert_eq!(next.row(0).unwrap().get::<i64>(0), Ok(8));
}

#[test]
fn rows_have_the_counts_of_their_statement() {
    let mut connection = connection();
    connection.execute("CREATE TABLE t (id INT)", ()).unwrap();
    let rows = connection.query("INSERT INTO t VALUES (1), (2)", ());
    assert_eq!(rows.unwrap().summary().affected_rows, 2);
}

#[test]
fn a_program_looks_after_its_duties_at_checkpoints() {
    use std::sync::{Arc, Mutex};

    /// Interrupts the statement of a connection.
    #[derive(Debug, Default)]
    struct Ends(Mutex<Option<mayfly::Interrupt>>);

    impl mayfly::Checkpoint for Ends {
        fn reached(&self) {
            if let Some(interrupt) = &*self.0.lock().unwrap() {
                interrupt.interrupt();
            }
        }
    }

    let ends = Arc::new(Ends::default());
    let database = Options::new().checkpoint(Arc::clone(&ends) as _).open();
    let mut connection = database.unwrap().connect();
    assert!(connection.execute("SELECT SLEEP(0.01)", ()).is_ok());
    *ends.0.lock().unwrap() = Some(connection.interrupt_handle());
    let ended = connection.query("SELECT SLEEP(600)", ());
    let ended = ended.and_then(|mut rows| rows.next().map(drop));
    assert_eq!(ended.map_err(|error| error.errno()), Err(1317));
}

#[cfg(feature = "server")]
#[test]
fn clients_connect_to_a_database_that_is_served() {
    use std::io::Read as _;
    use std::net::{IpAddr, Ipv4Addr, TcpStream};

    use mayfly::ServerOptions;

    let database = Database::in_memory().unwrap();
    let server = database.serve(ServerOptions::new()).unwrap();
    assert!(server.password().is_some_and(|it| it.len() > 10));
    let mut client = TcpStream::connect(server.address()).unwrap();
    // The manual of the protocol, HandshakeV10: a header of 4 bytes, and the version of the protocol.
    let mut greeting = [0; 5];
    client.read_exact(&mut greeting).unwrap();
    assert_eq!(greeting[4], 10);
    let address = server.address();
    server.stop();
    assert!(TcpStream::connect(address).is_err());

    let open = ServerOptions::new()
        .address(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0)
        .password("");
    let refused = database.serve(open).unwrap_err();
    assert!(refused.message().contains("loopback"), "{refused}");
    let again = database.serve(ServerOptions::new()).unwrap();
    assert_eq!(again.password(), None, "root is there already");
}
