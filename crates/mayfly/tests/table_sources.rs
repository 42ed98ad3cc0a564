//! Tables whose rows a program provides.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use mayfly::arrow_array::types::Int32Type;
use mayfly::arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, DictionaryArray, Float32Array,
    Int64Array, NullArray, RecordBatch, StringArray, Time64NanosecondArray, TimestampSecondArray,
    UInt64Array,
};
use mayfly::arrow_schema::{DataType, Field, IntervalUnit, Schema, SchemaRef};
use mayfly::{
    Batches, ColumnCondition, Connection, Database, Order, RecordBatches, Request, TableSource,
    Term, TermOperator, TermShape, TermSupport, Value,
};

/// A source that remembers what it was asked for.
#[derive(Debug, Clone)]
struct Remembering {
    batches: Batches,
    asked: Arc<Mutex<Vec<Request>>>,
}

impl TableSource for Remembering {
    fn schema(&self) -> SchemaRef {
        self.batches.schema()
    }

    fn scan(&self, request: &Request) -> mayfly::Result<RecordBatches> {
        self.asked.lock().unwrap().push(request.clone());
        self.batches.scan(request)
    }
}

fn numbers() -> RecordBatch {
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(1..=1000));
    let names = (1..=1000).map(|id| format!("Name {}", id % 10));
    let names: ArrayRef = Arc::new(StringArray::from_iter_values(names));
    RecordBatch::try_from_iter([("id", ids), ("name", names)]).unwrap()
}

fn source() -> Remembering {
    Remembering {
        batches: Batches::new(numbers().schema(), [numbers(), numbers()]),
        asked: Arc::default(),
    }
}

fn count(connection: &mut Connection, sql: &str) -> i64 {
    connection.query_row(sql, ()).unwrap().get(0).unwrap()
}

#[test]
fn a_source_is_a_table_like_any_other() {
    let database = Database::in_memory().unwrap();
    let source = source();
    database.register("n", source.clone()).unwrap();
    let mut connection = database.connect();
    assert_eq!(count(&mut connection, "SELECT COUNT(*) FROM n"), 2000);
    assert_eq!(
        count(
            &mut connection,
            "SELECT COUNT(*) FROM n a JOIN n b ON a.id = b.id"
        ),
        4000
    );
    assert_eq!(
        count(
            &mut connection,
            "SELECT COUNT(DISTINCT name) FROM test.n WHERE id > 995"
        ),
        5
    );
    connection
        .execute_script("CREATE VIEW v AS SELECT name, SUM(id) AS s FROM n GROUP BY name; CREATE TABLE c AS SELECT * FROM n")
        .unwrap();
    assert_eq!(
        count(&mut connection, "SELECT s FROM v WHERE name = 'name 5'"),
        2 * 50_000
    );
    assert_eq!(
        count(
            &mut connection,
            "SELECT COUNT(*) FROM c WHERE id IN (SELECT id FROM n WHERE id < 3)"
        ),
        4
    );
    let listed = connection.query_row("SHOW TABLES LIKE 'n'", ()).unwrap();
    assert_eq!(listed.get::<String>(0), Ok("n".to_owned()));
    let engine = "SELECT ENGINE FROM information_schema.TABLES WHERE TABLE_NAME = 'n'";
    let engine = connection.query_row(engine, ()).unwrap();
    assert_eq!(engine.get::<String>(0), Ok("EXTERNAL".to_owned()));
    let prepared = connection
        .prepare("SELECT COUNT(*) FROM n WHERE id <= ?")
        .unwrap();
    for most in [3, 5] {
        let row = connection.query_row(&prepared, [most]).unwrap();
        assert_eq!(row.get::<i64>(0), Ok(2 * most));
    }
    let again = database.register("n", source).unwrap_err();
    assert_eq!(again.errno(), 1050);
    connection
        .execute_script(
            "RENAME TABLE n TO m; CREATE TABLE own LIKE m; INSERT INTO own SELECT * FROM m",
        )
        .unwrap();
    assert_eq!(count(&mut connection, "SELECT COUNT(*) FROM own"), 2000);
    connection.execute("DROP TABLE m", ()).unwrap();
    let gone = connection.execute("SELECT * FROM m", ()).unwrap_err();
    assert_eq!(gone.errno(), 1146);
}

#[test]
fn terms_of_a_predicate_reach_the_source() {
    let database = Database::in_memory().unwrap();
    let source = source();
    database.register("n", source.clone()).unwrap();
    let mut connection = database.connect();
    let id = |condition| Term {
        column: 0,
        condition,
        collation: None,
    };
    let name = |name: &'static str| Term {
        column: 1,
        condition: ColumnCondition::Equal(Value::Text(name.into())),
        collation: Some("utf8mb4_0900_ai_ci"),
    };
    let cases = [
        ("id = 5", vec![id(ColumnCondition::Equal(Value::Int(5)))]),
        ("5 < id", vec![id(ColumnCondition::Greater(Value::Int(5)))]),
        (
            "id BETWEEN 3 AND 4 AND name IS NOT NULL",
            vec![
                id(ColumnCondition::AtLeast(Value::Int(3))),
                id(ColumnCondition::AtMost(Value::Int(4))),
                Term {
                    column: 1,
                    condition: ColumnCondition::NotNull,
                    collation: None,
                },
            ],
        ),
        (
            "id IN (1, 2)",
            vec![id(ColumnCondition::Among(vec![
                Value::Int(1),
                Value::Int(2),
            ]))],
        ),
        ("name = 'NAME 3'", vec![name("NAME 3")]),
        // Of these nothing can be told: compared as something else, or not the same for all rows.
        ("name = 3", vec![]),
        ("id = id + 0", vec![]),
        ("id = 1 OR name = 'x'", vec![]),
        ("name COLLATE utf8mb4_bin = 'x'", vec![]),
    ];
    for (predicate, terms) in cases {
        count(
            &mut connection,
            &format!("SELECT COUNT(*) FROM n WHERE {predicate}"),
        );
        let asked = source.asked.lock().unwrap().pop().unwrap();
        assert_eq!(asked.terms, terms, "{predicate}");
    }
    connection
        .execute("SELECT name FROM n WHERE id > 0", ())
        .unwrap();
    let asked = source.asked.lock().unwrap().pop().unwrap();
    assert_eq!(asked.columns.len(), 2, "the predicate is looked at again");
    connection.execute("SELECT COUNT(*) FROM n", ()).unwrap();
    let asked = source.asked.lock().unwrap().pop().unwrap();
    assert!(asked.columns.is_empty() && asked.terms.is_empty());
}

#[test]
fn a_source_is_read_only() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("data");
    let database = Database::open(&path).unwrap();
    database.register("n", source()).unwrap();
    let mut connection = database.connect();
    for statement in [
        "INSERT INTO n VALUES (1, 'x')",
        "REPLACE INTO n SELECT * FROM n",
        "UPDATE n SET id = 2",
        "UPDATE n SET id = 2 WHERE id = 1",
        "DELETE FROM n",
        "DELETE FROM n WHERE id = 7",
        "TRUNCATE n",
        "ALTER TABLE n ADD COLUMN x INT",
        "ALTER TABLE n COMMENT 'x'",
        "CREATE INDEX i ON n (id)",
        "SELECT * FROM n FOR UPDATE",
    ] {
        let error = connection.execute(statement, ()).unwrap_err();
        assert_eq!(
            (error.errno(), error.sqlstate()),
            (1036, "HY000"),
            "{statement}: {error}"
        );
    }
    connection
        .execute_script("ANALYZE TABLE n; CHECK TABLE n; SHOW CREATE TABLE n; LOCK TABLES n READ; UNLOCK TABLES; EXPLAIN SELECT * FROM n")
        .unwrap();
    drop((connection, database));
    let mut connection = Database::open(&path).unwrap().connect();
    let gone = connection.execute("SELECT * FROM n", ()).unwrap_err();
    assert_eq!(gone.errno(), 1146, "it is of one process alone");
}

#[test]
fn arrows_types_keep_their_values() {
    let dictionary: DictionaryArray<Int32Type> =
        vec![Some("a"), None, Some("b")].into_iter().collect();
    let columns: Vec<(&str, ArrayRef, [Option<&str>; 3])> = vec![
        (
            "bits",
            Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)])),
            [Some("1"), None, Some("0")],
        ),
        (
            "big",
            Arc::new(UInt64Array::from(vec![Some(u64::MAX), None, Some(0)])),
            [Some("18446744073709551615"), None, Some("0")],
        ),
        (
            "f",
            Arc::new(Float32Array::from(vec![Some(0.1), None, Some(-2.5)])),
            [Some("0.1"), None, Some("-2.5")],
        ),
        (
            "money",
            Arc::new(
                Decimal128Array::from(vec![Some(123_456), None, Some(-5)])
                    .with_precision_and_scale(10, 2)
                    .unwrap(),
            ),
            [Some("1234.56"), None, Some("-0.05")],
        ),
        (
            "day",
            Arc::new(Date32Array::from(vec![Some(-1), None, Some(20_000)])),
            [Some("1969-12-31"), None, Some("2024-10-04")],
        ),
        (
            "at",
            Arc::new(TimestampSecondArray::from(vec![Some(-1), None, Some(0)])),
            [
                Some("1969-12-31 23:59:59.000000"),
                None,
                Some("1970-01-01 00:00:00.000000"),
            ],
        ),
        (
            "clock",
            Arc::new(Time64NanosecondArray::from(vec![
                Some(1_500_000),
                None,
                Some(0),
            ])),
            [Some("00:00:00.001500"), None, Some("00:00:00.000000")],
        ),
        ("word", Arc::new(dictionary), [Some("a"), None, Some("b")]),
        ("nothing", Arc::new(NullArray::new(3)), [None, None, None]),
    ];
    let fields = columns
        .iter()
        .map(|(name, array, _)| Field::new(*name, array.data_type().clone(), true));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let arrays = columns
        .iter()
        .map(|(_, array, _)| Arc::clone(array))
        .collect();
    let batch = RecordBatch::try_new(Arc::clone(&schema), arrays).unwrap();
    let database = Database::in_memory().unwrap();
    database
        .register("a", Batches::new(schema, [batch]))
        .unwrap();
    let mut connection = database.connect();
    connection
        .execute("CREATE TABLE kept AS SELECT * FROM a", ())
        .unwrap();
    for table in ["a", "kept"] {
        let mut rows = connection
            .query(&format!("SELECT * FROM {table}"), ())
            .unwrap();
        for row in 0..3 {
            let read = rows.next().unwrap().unwrap();
            for (column, (name, _, expected)) in columns.iter().enumerate() {
                let text: Option<String> = read.get(column).unwrap();
                assert_eq!(
                    text.as_deref(),
                    expected[row],
                    "{name} of row {row} of {table}"
                );
            }
        }
    }
}

#[test]
fn what_sql_has_no_value_for_is_an_error() {
    let days = |days| Arc::new(Date32Array::from(vec![0, days])) as ArrayRef;
    let intervals = DataType::Interval(IntervalUnit::DayTime);
    let database = Database::in_memory().unwrap();
    let interval = Batches::new(
        Arc::new(Schema::new(vec![Field::new("i", intervals, true)])),
        [],
    );
    assert_eq!(database.register("i", interval).unwrap_err().errno(), 1235);
    let mut connection = database.connect();
    let late = RecordBatch::try_from_iter([("d", days(3_000_000))]).unwrap();
    database
        .register("late", Batches::new(late.schema(), [late]))
        .unwrap();
    let error = connection.execute("SELECT d FROM late", ()).unwrap_err();
    assert_eq!(error.errno(), 1264, "{error}");
    let twice = RecordBatch::try_from_iter([("d", days(1)), ("D", days(1))]).unwrap();
    let twice = Batches::new(twice.schema(), [twice]);
    assert_eq!(database.register("twice", twice).unwrap_err().errno(), 1060);
    assert_eq!(
        database
            .register("nowhere.t", source())
            .unwrap_err()
            .errno(),
        1049
    );
    assert_eq!(database.register("", source()).unwrap_err().errno(), 1103);
}

/// Numbers from 1 on, in order, of which as many are made as are read.
#[derive(Debug, Clone)]
struct Counting {
    asked: Arc<Mutex<Vec<Request>>>,
    made: Arc<AtomicUsize>,
}

impl TableSource for Counting {
    fn schema(&self) -> SchemaRef {
        numbers().schema()
    }

    fn supports(&self, term: &TermShape) -> TermSupport {
        match (term.column, term.operator) {
            (0, TermOperator::Greater) => TermSupport::Exact,
            _ => TermSupport::Unsupported,
        }
    }

    fn orders(&self) -> Vec<Vec<Order>> {
        vec![
            vec![Order::ascending(0)],
            // Orders of texts have a collation.
            vec![Order::descending(1)],
            vec![Order::descending(1).by("no_such_collation")],
            vec![Order::descending(1).by("utf8mb4_bin")],
            vec![Order::ascending(1).by("utf8mb4_0900_ai_ci")],
        ]
    }

    fn scan(&self, request: &Request) -> mayfly::Result<RecordBatches> {
        self.asked.lock().unwrap().push(request.clone());
        let first = match request.terms.first().map(|term| &term.condition) {
            Some(ColumnCondition::Greater(Value::Int(number))) => *number,
            _ => 0,
        };
        let (made, columns) = (Arc::clone(&self.made), request.columns.clone());
        let one = move |id: i64| {
            made.fetch_add(1, Ordering::Relaxed);
            let row = numbers().slice(usize::try_from(id).unwrap(), 1);
            Ok(row.project(&columns).unwrap())
        };
        Ok(Box::new((first..1000).map(one)))
    }
}

#[test]
fn a_source_filters_orders_and_stops_itself() {
    let database = Database::in_memory().unwrap();
    let source = Counting {
        asked: Arc::default(),
        made: Arc::default(),
    };
    database.register("n", source.clone()).unwrap();
    let mut connection = database.connect();
    let prepared = "SELECT id FROM n WHERE id > ? ORDER BY id LIMIT 2";
    let prepared = connection.prepare(prepared).unwrap();
    for after in [10, 500] {
        let row = connection.query_row(&prepared, [after]).unwrap();
        assert_eq!(row.get::<i64>(0), Ok(after + 1));
        let asked = source.asked.lock().unwrap().pop().unwrap();
        assert_eq!(asked.order, [Order::ascending(0)]);
        assert_eq!(asked.limit, Some(2));
        assert_eq!(asked.terms.len(), 1);
        assert!(source.made.swap(0, Ordering::Relaxed) <= 3);
    }
    let mut orders_of = |sql: &str| {
        connection.execute(sql, ()).unwrap();
        source.asked.lock().unwrap().pop().unwrap().order
    };
    assert_eq!(orders_of("SELECT id FROM n ORDER BY name DESC"), []);
    assert_eq!(
        orders_of("SELECT id FROM n ORDER BY name"),
        [Order::ascending(1).by("utf8mb4_0900_ai_ci")]
    );
}
