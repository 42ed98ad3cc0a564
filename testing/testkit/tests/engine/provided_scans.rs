//! Scans of a table whose provider filters, orders and limits its rows itself: statements have the results of a plain
//! table with the same rows, whatever the provider can do, and leave it the work that it can do.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::cmp::Ordering;
use std::sync::{Arc, Mutex};

use arrow_array::{ArrayRef, BinaryViewArray, Int64Array};
use mayfly_engine::{
    Batch, CollationId, ColumnCondition, ColumnTerm, DateTime, OrderColumn, ProvidedColumn,
    ProvidedRows, Result, ScanRequest, Session, SqlType, TableProvider, TermOperator, TermShape,
    TermSupport, TypeKind, Value,
};
use mayfly_testkit::fixture::{Fixture, SessionExt};
use mayfly_trials::{Random, Trials};

/// `a BIGINT, d DATE, s VARCHAR(9), b VARCHAR(9) COLLATE utf8mb4_bin`, with NULLs. Texts of `s` are in lower case, so that
/// equal ones are the same.
const COLUMNS: [&str; 4] = ["a", "d", "s", "b"];

fn types() -> [SqlType; 4] {
    [
        SqlType::bigint(),
        SqlType::temporal(TypeKind::Date, 0),
        SqlType::varchar(9, CollationId::default()),
        SqlType::varchar(9, CollationId::by_name("utf8mb4_bin").unwrap()),
    ]
}

type Row = [Value; 4];

/// What a provider was asked for.
#[derive(Debug, Clone, PartialEq)]
struct Asked {
    columns: usize,
    terms: Vec<ColumnTerm>,
    limit: Option<u64>,
    order: Vec<OrderColumn>,
    /// Number of rows that were read.
    rows: usize,
}

/// A table with its capabilities: a number for each column and operator, and the orders.
#[derive(Debug, Default)]
struct Capable {
    rows: Vec<Row>,
    exact: Vec<(usize, TermOperator)>,
    inexact: Vec<(usize, TermOperator)>,
    orders: Vec<Vec<OrderColumn>>,
    /// Whether it stops at the limit of a request.
    stops: bool,
    asked: Arc<Mutex<Vec<Asked>>>,
}

fn day(year: u16, month: u16, day: u16) -> Value {
    let (month, day) = (month.try_into().unwrap(), day.try_into().unwrap());
    Value::Int(DateTime::date(year, month, day).pack())
}

/// MySQL's order of two values of a column.
fn compare(column: usize, one: &Value, other: &Value) -> Ordering {
    let folded = |value: &Value| match value {
        Value::Bytes(bytes) if column == 2 => bytes.to_ascii_lowercase(),
        Value::Bytes(bytes) => bytes.to_vec(),
        _ => Vec::new(),
    };
    match (one, other) {
        (Value::Null, Value::Null) => Ordering::Equal,
        (Value::Null, _) => Ordering::Less,
        (_, Value::Null) => Ordering::Greater,
        (Value::Int(one), Value::Int(other)) => one.cmp(other),
        _ => folded(one).cmp(&folded(other)),
    }
}

fn meets(row: &Row, term: &ColumnTerm) -> bool {
    let column = term.column.0;
    let value = &row[column];
    let is = |holds: fn(Ordering) -> bool, other| {
        !value.is_null() && holds(compare(column, value, other))
    };
    match &term.condition {
        ColumnCondition::Equal(other) => is(Ordering::is_eq, other),
        ColumnCondition::Less(other) => is(Ordering::is_lt, other),
        ColumnCondition::AtMost(other) => is(Ordering::is_le, other),
        ColumnCondition::Greater(other) => is(Ordering::is_gt, other),
        ColumnCondition::AtLeast(other) => is(Ordering::is_ge, other),
        ColumnCondition::Among(others) => others.iter().any(|other| is(Ordering::is_eq, other)),
        ColumnCondition::Null => value.is_null(),
        ColumnCondition::NotNull => !value.is_null(),
    }
}

fn operator_of(condition: &ColumnCondition) -> TermOperator {
    match condition {
        ColumnCondition::Equal(_) => TermOperator::Equal,
        ColumnCondition::Less(_) => TermOperator::Less,
        ColumnCondition::AtMost(_) => TermOperator::AtMost,
        ColumnCondition::Greater(_) => TermOperator::Greater,
        ColumnCondition::AtLeast(_) => TermOperator::AtLeast,
        ColumnCondition::Among(_) => TermOperator::Among,
        ColumnCondition::Null => TermOperator::Null,
        ColumnCondition::NotNull => TermOperator::NotNull,
    }
}

impl TableProvider for Capable {
    fn columns(&self) -> Vec<ProvidedColumn> {
        let columns = COLUMNS.into_iter().zip(types());
        let columns = columns.map(|(name, ty)| ProvidedColumn {
            name: name.to_owned(),
            ty,
            nullable: true,
        });
        columns.collect()
    }

    fn row_count(&self) -> u64 {
        self.rows.len() as u64
    }

    fn term(&self, term: &TermShape) -> TermSupport {
        let is_null = matches!(term.operator, TermOperator::Null | TermOperator::NotNull);
        let collation = (!is_null && term.column > 1).then(|| types()[term.column].collation);
        assert_eq!(term.collation, collation, "{term:?}");
        let shape = (term.column, term.operator);
        match (self.exact.contains(&shape), self.inexact.contains(&shape)) {
            (true, _) => TermSupport::Exact,
            (_, true) => TermSupport::Inexact,
            _ => TermSupport::Unsupported,
        }
    }

    fn orders(&self) -> Vec<Vec<OrderColumn>> {
        self.orders.clone()
    }

    fn scan(&self, request: &ScanRequest<'_>) -> Result<Box<dyn ProvidedRows>> {
        let mut kept = 0_usize;
        let wanted = |row: &&Row| {
            request.terms.iter().all(|term| {
                let shape = (term.column.0, operator_of(&term.condition));
                kept += 1;
                // Of the rows that do not meet an inexact term some are left out.
                meets(row, term) || !self.exact.contains(&shape) && !kept.is_multiple_of(3)
            })
        };
        let mut rows: Vec<&Row> = self.rows.iter().filter(wanted).collect();
        rows.sort_by(|one, other| {
            let columns = request.order.iter().map(|order| {
                let (one, other) = (&one[order.column], &other[order.column]);
                let ordering = compare(order.column, one, other);
                if order.descending {
                    ordering.reverse()
                } else {
                    ordering
                }
            });
            columns.fold(Ordering::Equal, Ordering::then)
        });
        if let (true, Some(limit)) = (self.stops, request.limit) {
            rows.truncate(usize::try_from(limit).unwrap());
        }
        let column = |column: usize| -> ArrayRef {
            let values = rows.iter().map(|row| &row[column]);
            match column {
                0 | 1 => Arc::new(Int64Array::from_iter(values.map(|value| match value {
                    Value::Int(number) => Some(*number),
                    _ => None,
                }))),
                _ => Arc::new(BinaryViewArray::from_iter(values.map(
                    |value| match value {
                        Value::Bytes(bytes) => Some(&bytes[..]),
                        _ => None,
                    },
                ))),
            }
        };
        let columns: Vec<ArrayRef> = request.columns.iter().map(|id| column(id.0)).collect();
        let mut asked = self.asked.lock().unwrap();
        asked.push(Asked {
            columns: columns.len(),
            terms: request.terms.to_vec(),
            limit: request.limit,
            order: request.order.to_vec(),
            rows: 0,
        });
        Ok(Box::new(Rows {
            all: Batch::new(columns, rows.len()),
            next: 0,
            scan: asked.len() - 1,
            asked: Arc::clone(&self.asked),
        }))
    }
}

/// Rows in batches of two.
struct Rows {
    all: Batch,
    next: usize,
    scan: usize,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl ProvidedRows for Rows {
    fn next_batch(&mut self) -> Result<Option<Batch>> {
        let rows = (self.all.row_count() - self.next).min(2);
        let batch = self.all.slice(self.next, rows);
        self.next += rows;
        self.asked.lock().unwrap()[self.scan].rows += rows;
        Ok((rows > 0).then_some(batch))
    }
}

const OPERATORS: [TermOperator; 8] = [
    TermOperator::Equal,
    TermOperator::Less,
    TermOperator::AtMost,
    TermOperator::Greater,
    TermOperator::AtLeast,
    TermOperator::Among,
    TermOperator::Null,
    TermOperator::NotNull,
];

/// Rows as values, and as a list of VALUES.
fn random_rows(random: &mut Random, session: &mut Session) -> (Vec<Row>, String) {
    let mut rows = Vec::new();
    let mut texts = Vec::new();
    for _ in 0..1 + random.below(40) {
        let value = |random: &mut Random, of: &[&'static str]| match random.below(6) {
            0 => "NULL",
            _ => random.pick(of),
        };
        let a = value(random, &["-2", "-1", "0", "1", "2", "3"]);
        let d = value(random, &["'2020-01-01'", "'2020-01-02'", "'2021-12-31'"]);
        let s = value(random, &["''", "'a'", "'b'", "'bb'", "'c'"]);
        let b = value(random, &["'A'", "'a'", "'B'", "'bb'", "'c'"]);
        texts.push(format!("({a}, {d}, {s}, {b})"));
        let text = |text: &str| match text {
            "NULL" => Value::Null,
            text => Value::from(text.trim_matches('\'')),
        };
        let date = |text: &str| match text {
            "NULL" => Value::Null,
            text => {
                let parts = text.trim_matches('\'').split('-');
                let parts: Vec<u16> = parts.map(|part| part.parse().unwrap()).collect();
                day(parts[0], parts[1], parts[2])
            }
        };
        let number = a.parse().map_or(Value::Null, Value::Int);
        rows.push([number, date(d), text(s), text(b)]);
    }
    let values = texts.join(", ");
    session.must(&format!("INSERT INTO plain VALUES {values}"));
    (rows, values)
}

fn random_condition(random: &mut Random) -> String {
    let (column, values): (_, &[&str]) = random.pick(&[
        ("a", &["-1", "0", "2", "NULL", "1.5", "'1'", "1 + 1"]),
        (
            "d",
            &[
                "'2020-01-02'",
                "DATE'2021-01-01'",
                "NULL",
                "TIMESTAMP'2020-01-01 12:00:00'",
            ],
        ),
        (
            "s",
            &["'B'", "'bb'", "''", "NULL", "'A' COLLATE utf8mb4_bin"],
        ),
        ("b", &["'B'", "'a'", "'b'", "NULL"]),
    ]);
    let comparison = random.pick(&["=", "<", "<=", ">", ">=", "<>", "<=>"]);
    let value = random.pick(values);
    match random.below(9) {
        0 => format!("{column} IS NULL"),
        1 => format!("{column} IS NOT NULL"),
        2 => format!("{column} IN ({value}, {})", random.pick(values)),
        3 => format!("{value} {comparison} {column}"),
        4 => format!("({column} {comparison} {value} OR a = 1)"),
        5 => format!("{column} BETWEEN {value} AND {}", random.pick(values)),
        _ => format!("{column} {comparison} {value}"),
    }
}

/// A query of a table `{t}`, with one result whichever rows of equal keys come first.
fn random_query(random: &mut Random) -> (String, bool) {
    let count = 1 + random.below(3);
    let conditions: Vec<String> = (0..random.below(4))
        .map(|_| random_condition(random))
        .collect();
    let condition = match conditions.is_empty() {
        true => "1 = 1".to_owned(),
        false => conditions.join(" AND "),
    };
    let mut columns = COLUMNS;
    random.shuffle(&mut columns);
    let keys = columns[..count].join(", ");
    let order: Vec<String> = columns[..count]
        .iter()
        .map(|column| format!("{column}{}", random.pick(&["", " DESC"])))
        .collect();
    let order = order.join(", ");
    let (limit, offset) = (random.below(6), random.below(3));
    let filtered = format!("FROM {{t}} WHERE {condition}");
    match random.below(8) {
        0 | 1 => (format!("SELECT {keys} {filtered} ORDER BY {order}"), true),
        2 | 3 => {
            let limited = format!("ORDER BY {order} LIMIT {limit} OFFSET {offset}");
            (format!("SELECT {keys} {filtered} {limited}"), true)
        }
        4 => {
            let groups = format!("SELECT {keys}, COUNT(*), SUM(a) {filtered} GROUP BY {keys}");
            (groups, false)
        }
        5 => (format!("SELECT DISTINCT {keys} {filtered}"), false),
        6 => {
            let limited = format!("SELECT a {filtered} LIMIT {limit} OFFSET {offset}");
            (format!("SELECT COUNT(*) FROM ({limited}) AS x"), true)
        }
        _ => {
            let exists = "SELECT a, b FROM plain AS o WHERE EXISTS";
            (
                format!("{exists} (SELECT 1 {filtered} AND {{t}}.a <= o.a)"),
                false,
            )
        }
    }
}

#[test]
fn capabilities_do_not_change_results() {
    let mut pushed = 0;
    for seed in Trials::of("provided_scans") {
        let mut random = Random(seed);
        let (fixture, mut session) = Fixture::with_session();
        session.must(
            "USE test; CREATE TABLE plain (a BIGINT, d DATE, s VARCHAR(9), b VARCHAR(9) COLLATE utf8mb4_bin)",
        );
        let (rows, values) = random_rows(&mut random, &mut session);
        let mut provider = Capable {
            rows,
            stops: random.one_in(2),
            ..Capable::default()
        };
        for shape in (0..4).flat_map(|column| OPERATORS.map(|operator| (column, operator))) {
            match random.below(4) {
                0 | 1 => provider.exact.push(shape),
                2 => provider.inexact.push(shape),
                _ => {}
            }
        }
        for _ in 0..random.below(4) {
            let mut columns = [0, 1, 2, 3];
            random.shuffle(&mut columns);
            let columns = columns.into_iter().take(1 + random.below(4));
            let order = columns
                .map(|column| OrderColumn::of(column, &types()[column], random.one_in(2)))
                .collect();
            provider.orders.push(order);
        }
        let asked = Arc::clone(&provider.asked);
        let described = format!(
            "{:?} {:?} {:?}",
            provider.exact, provider.inexact, provider.orders
        );
        let provider: Arc<dyn TableProvider> = Arc::new(provider);
        let registered = fixture.database.register_table("test", "t", &provider);
        registered.expect("the name is free");
        for _ in 0..30 {
            let (query, ordered) = random_query(&mut random);
            let mut results =
                ["plain", "t"].map(|table| session.rows(&query.replace("{t}", table)));
            if !ordered {
                for rows in results.iter_mut().flatten() {
                    rows.sort();
                }
            }
            let [expected, found] = results.map(|rows| rows.map_err(|error| error.errno()));
            assert_eq!(
                found, expected,
                "seed {seed}: {query}\n{values}\n{described}"
            );
        }
        pushed += asked
            .lock()
            .unwrap()
            .iter()
            .filter(|it| !it.terms.is_empty())
            .count();
        drop(session);
    }
    assert!(pushed > 0, "no term was pushed down");
}

/// A table `t` of 20 rows whose provider can do everything with the column `a` and has the order (d, a DESC).
fn capable() -> (Fixture, Session, Arc<Mutex<Vec<Asked>>>) {
    let (fixture, mut session) = Fixture::with_session();
    let row = |n: u16| {
        [
            Value::Int(n.into()),
            day(2020, 1, 1 + n / 4),
            Value::from("x"),
            Value::Null,
        ]
    };
    let provider = Capable {
        rows: (0..20).map(row).collect(),
        exact: OPERATORS.map(|operator| (0, operator)).to_vec(),
        inexact: OPERATORS.map(|operator| (2, operator)).to_vec(),
        orders: vec![vec![
            OrderColumn::of(1, &types()[1], false),
            OrderColumn::of(0, &types()[0], true),
        ]],
        ..Capable::default()
    };
    let asked = Arc::clone(&provider.asked);
    let provider: Arc<dyn TableProvider> = Arc::new(provider);
    let registered = fixture.database.register_table("test", "t", &provider);
    registered.expect("the name is free");
    session.must("USE test");
    (fixture, session, asked)
}

#[test]
fn a_scan_stops_at_a_limit_that_reaches_it() {
    let (_fixture, mut session, asked) = capable();
    for (query, limit, rows) in [
        ("SELECT a FROM t LIMIT 3", Some(3), 4),
        ("SELECT a + 1 FROM t LIMIT 3 OFFSET 2", Some(5), 6),
        ("SELECT a FROM t WHERE a > 4 AND a < 15 LIMIT 2", Some(2), 2),
        ("SELECT d FROM t ORDER BY d, a DESC LIMIT 2", Some(2), 2),
        (
            "SELECT 1 FROM (SELECT a FROM t WHERE a > 1 LIMIT 1) AS x",
            Some(1),
            2,
        ),
        // Rows are dropped, joined or sorted in between.
        ("SELECT a FROM t WHERE s = 'x' LIMIT 2", None, 2),
        ("SELECT a FROM t WHERE a + 1 > 1 LIMIT 2", None, 4),
        ("SELECT a FROM t ORDER BY a LIMIT 2", None, 20),
        ("SELECT COUNT(*) FROM t LIMIT 2", None, 20),
        ("SELECT SQL_CALC_FOUND_ROWS a FROM t LIMIT 2", None, 20),
    ] {
        session.must(query);
        let asked = asked.lock().unwrap().pop().unwrap();
        assert_eq!((asked.limit, asked.rows), (limit, rows), "{query}");
    }
}

#[test]
fn explain_shows_what_a_table_does_itself() {
    let (_fixture, mut session, asked) = capable();
    let plan = |session: &mut Session, query: &str| {
        session
            .must(&format!("EXPLAIN FORMAT=TREE {query}"))
            .join("\n")
    };
    for (query, shown, hidden) in [
        (
            "SELECT d FROM t WHERE a = 5 AND a IS NOT NULL",
            "on t, with pushed condition: ((t.a = 5)",
            "Filter",
        ),
        (
            "SELECT d FROM t WHERE a IN (1, 2)",
            "with pushed condition: (t.a in (1,2))",
            "Filter",
        ),
        (
            "SELECT d FROM t WHERE s = 'x'",
            "Filter: (t.s = 'x')",
            "nothing",
        ),
        (
            "SELECT d FROM t WHERE s = 'x'",
            "with pushed condition: (t.s = 'x')",
            "nothing",
        ),
        (
            "SELECT d FROM t WHERE b = 'x'",
            "Filter: (t.b = 'x')",
            "pushed",
        ),
        (
            "SELECT a FROM t ORDER BY d, a DESC",
            "Table scan on t",
            "Sort",
        ),
        ("SELECT a FROM t ORDER BY d LIMIT 1", "Limit: 1", "Sort"),
        (
            "SELECT d, COUNT(*) FROM t GROUP BY d ORDER BY d",
            "Group aggregate",
            "Sort",
        ),
        (
            "SELECT a, d, COUNT(*) FROM t GROUP BY a, d",
            "Group aggregate",
            "temporary",
        ),
        (
            "SELECT DISTINCT d FROM t",
            "Group (no aggregates)",
            "temporary",
        ),
        (
            "SELECT RANK() OVER (ORDER BY d) FROM t",
            "Window aggregate",
            "Sort",
        ),
        (
            "SELECT a FROM t ORDER BY d DESC",
            "Sort: t.d DESC",
            "pushed",
        ),
        (
            "SELECT d, COUNT(*) FROM t GROUP BY d ORDER BY d DESC",
            "Sort: ",
            "temporary",
        ),
        (
            "SELECT a FROM t ORDER BY a DESC",
            "Sort: t.a DESC",
            "pushed",
        ),
    ] {
        let plan = plan(&mut session, query);
        assert!(
            plan.contains(shown) && !plan.contains(hidden),
            "{query}: {plan}"
        );
    }
    session.must("SET optimizer_switch = 'engine_condition_pushdown=off'");
    let filtered = plan(&mut session, "SELECT d FROM t WHERE a = 5");
    assert!(filtered.contains("Filter: (t.a = 5)") && !filtered.contains("pushed"));
    session.must("SET optimizer_switch = DEFAULT");
    let extra = session.must("EXPLAIN FORMAT=TRADITIONAL SELECT d FROM t WHERE a = 5");
    assert!(
        extra[0].ends_with("Using pushed condition (`test`.`t`.`a` = 5)"),
        "{extra:?}"
    );
    session.must("SELECT d FROM t WHERE a = 5 ORDER BY d");
    let asked = asked.lock().unwrap().pop().unwrap();
    assert_eq!(
        asked.columns, 1,
        "no column is read for a term that is exact"
    );
    assert_eq!(asked.order, [OrderColumn::of(1, &types()[1], false)]);
}

#[test]
fn a_comparison_that_is_no_term_is_not_pushed_down() {
    let (_fixture, mut session, asked) = capable();
    for condition in [
        "a + 0 = 1",
        "a <> 1",
        "a <=> 1",
        "a NOT IN (1, 2)",
        "a = 1 OR a = 2 AND d IS NULL",
        "a = '1x'",
        "a = d",
        "a = RAND()",
        "a = (SELECT 1 FROM DUAL WHERE RAND() >= 0)",
        "s = 1",
        "s = 'x' COLLATE utf8mb4_bin",
        "s COLLATE utf8mb4_bin = 'x'",
        "LOWER(s) = 'x'",
        "s LIKE 'x%'",
    ] {
        session.must(&format!("SELECT COUNT(*) FROM t WHERE {condition}"));
        let asked = asked.lock().unwrap().pop().unwrap();
        assert_eq!(asked.terms, [], "{condition}");
    }
}

#[test]
fn a_comparison_with_null_reads_nothing() {
    let (_fixture, mut session, asked) = capable();
    session.must("SET @n = NULL; PREPARE p FROM 'SELECT COUNT(*) FROM t WHERE a < ?'");
    assert_eq!(session.must("EXECUTE p USING @n"), ["0"]);
    assert!(asked.lock().unwrap().is_empty());
    session.must("SET @n = 7");
    assert_eq!(session.must("EXECUTE p USING @n"), ["7"]);
    assert_eq!(asked.lock().unwrap().len(), 1);
}
