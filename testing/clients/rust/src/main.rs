//! The test suite of `mysql_async`: `query` uses the text protocol, `exec` a prepared statement.

mod checks;

use std::time::Duration;

use checks::{Outcome, Round, SERVER, database, env, equal, fail, needs, rows_of, statements, value_of};
use futures_util::{StreamExt, stream};
use mysql_async::prelude::{FromRow, Query, Queryable, StatementLike, WithParams};
use mysql_async::{
    ChangeUserOpts, Column, Compression, Conn, Error, IsolationLevel, OptsBuilder, Params, Pool, PoolConstraints,
    PoolOpts, Row, SslOpts, TxOpts, Value,
};

const MIB: usize = 1 << 20;

fn options() -> OptsBuilder {
    OptsBuilder::default()
        .ip_or_hostname(env("ROUND_HOST"))
        .tcp_port(env("ROUND_PORT").parse().expect("a port"))
        .user(Some(env("ROUND_USER")))
        .pass(Some(env("ROUND_PASSWORD")))
        .db_name(Some(database()))
        .prefer_socket(false)
        .setup(vec!["SET time_zone = '+00:00'"])
        .max_allowed_packet(Some(64 * MIB))
        .wait_timeout(Some(600))
}

async fn open() -> Result<Conn, Error> {
    Conn::new(options()).await
}

fn tls() -> Option<SslOpts> {
    Some(SslOpts::default().with_danger_accept_invalid_certs(true).with_danger_skip_domain_validation(true))
}

/// Checks that the outcome is this error of the server.
fn failed_with<T>(outcome: Result<T, Error>, number: u16, state: &str, text: &str) -> Outcome {
    match outcome {
        Ok(_) => fail(format!("no error, expected {number}")),
        Err(Error::Server(error)) => {
            equal(error.code, number, &error.message)?;
            equal(error.state.as_str(), state, "SQLSTATE")?;
            if error.message.contains(text) {
Ok(())
} else {
fail(format!("got {:?}, expected {text:?}", error.message))
}
        }
        Err(other) => fail(format!("expected {number}, got {other}")),
    }
}

async fn first<T: FromRow + Send + 'static>(connection: &mut Conn, sql: &str) -> Result<T, checks::Problem> {
    match connection.query_first(sql).await? {
        Some(row) => Ok(row),
        None => Err("no row".into()),
    }
}

async fn status(connection: &mut Conn, name: &str) -> Result<String, checks::Problem> {
    let row: Option<(String, String)> = connection.query_first(format!("SHOW STATUS LIKE '{name}'")).await?;
    Ok(row.map(|(_, value)| value).unwrap_or_default())
}

async fn account(kind: &str, plugin: &str, password: &str) -> Result<String, checks::Problem> {
    let name = format!("rust_{kind}");
    let mut connection = Conn::new(options().db_name(None::<String>)).await?;
    let identified = match SERVER.as_str() {
        "mariadb" => format!("IDENTIFIED BY '{password}'"),
        _ => format!("IDENTIFIED WITH {plugin} BY '{password}'"),
    };
    connection.query_drop(format!("DROP USER IF EXISTS '{name}'@'%'")).await?;
    connection.query_drop(format!("CREATE USER '{name}'@'%' {identified}")).await?;
    connection.query_drop(format!("GRANT ALL ON *.* TO '{name}'@'%'")).await?;
    connection.disconnect().await?;
    Ok(name)
}

/// All rows of a statement; prepared where it has parameters.
async fn all(connection: &mut Conn, sql: &str, parameters: Params) -> Result<Vec<Row>, Error> {
    match parameters {
        Params::Empty => connection.query(sql).await,
        _ => connection.exec(sql, parameters).await,
    }
}

/// A value in the form of `common/values.tsv`, from either protocol.
fn text_of(column: &str, value: &Value) -> Option<Vec<u8>> {
    Some(match value {
        Value::NULL => return None,
        Value::Bytes(bytes) => bytes.clone(),
        Value::Int(number) => number.to_string().into_bytes(),
        Value::UInt(number) => number.to_string().into_bytes(),
        Value::Float(number) => number.to_string().into_bytes(),
        Value::Double(number) => number.to_string().into_bytes(),
        Value::Date(year, month, day, _, _, _, _) if column == "c_date" => format!("{year:04}-{month:02}-{day:02}").into_bytes(),
        Value::Date(year, month, day, hour, minute, second, micro) => {
            format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{micro:06}").into_bytes()
        }
        Value::Time(negative, days, hours, minutes, seconds, micro) => {
            let sign = if *negative { "-" } else { "" };
            format!("{sign}{:02}:{minutes:02}:{seconds:02}.{micro:06}", days * 24 + u32::from(*hours)).into_bytes()
        }
    })
}

fn number<T: std::str::FromStr>(bytes: &[u8]) -> Option<T> {
    std::str::from_utf8(bytes).ok()?.parse().ok()
}

fn same_values(rows: &[Row]) -> Outcome {
    let expected = rows_of("values.tsv");
    equal(rows.len(), 4, "rows")?;
    for (index, row) in rows.iter().enumerate() {
        for (line, value) in expected.iter().zip(row.clone().unwrap()) {
            let (column, want) = (line[0].as_str(), value_of(&line[index + 1]));
            let got = text_of(column, &value);
            match (column, &got, &want) {
                ("c_float", Some(a), Some(b)) => equal(number::<f32>(a), number::<f32>(b), column)?,
                ("c_double", Some(a), Some(b)) => equal(number::<f64>(a), number::<f64>(b), column)?,
                _ => equal(got, want, &format!("{column} of row {}", index + 1))?,
            }
        }
    }
    Ok(())
}

fn same_columns(columns: &[Column], table: &str) -> Outcome {
    for (line, column) in rows_of("metadata.tsv").iter().zip(columns) {
        // The client asks for utf8mb4_general_ci in its handshake.
        let charset = if line[2] == "255" { "45" } else { &line[2] };
        let got = [
            column.name_str().into_owned(),
            (column.column_type() as u8).to_string(),
            column.character_set().to_string(),
            column.column_length().to_string(),
            column.flags().bits().to_string(),
            column.decimals().to_string(),
        ];
        let want = [&line[0], &line[1], charset, &line[3], &line[4], &line[5]].map(str::to_owned);
        equal(got, want, &line[0])?;
        let names = [column.schema_str(), column.table_str(), column.org_table_str(), column.org_name_str()];
        equal(names.map(|name| name.into_owned()), [database(), table.into(), "every_type".into(), line[0].clone()], &line[0])?;
    }
    Ok(())
}

#[tokio::main]
async fn main() {
    let mut round = Round::default();
    round.check("setup", setup).await;
    connections(&mut round).await;
    types(&mut round).await;
    errors(&mut round).await;
    sessions(&mut round).await;
    large(&mut round).await;
    std::process::exit(i32::from(round.failed > 0));
}

async fn setup() -> Outcome {
    let mut connection = Conn::new(options().db_name(None::<String>)).await?;
    connection.query_drop(format!("DROP DATABASE IF EXISTS {}", database())).await?;
    connection.query_drop(format!("CREATE DATABASE {} DEFAULT CHARACTER SET utf8mb4", database())).await?;
    connection.query_drop("SET GLOBAL local_infile = 1").await?;
    connection.query_drop("SET GLOBAL max_allowed_packet = 67108864").await?;
    connection.query_drop(format!("USE {}", database())).await?;
    for sql in statements("types.sql") {
        connection.query_drop(sql).await?;
    }
    connection.disconnect().await?;
    Ok(())
}

async fn connections(round: &mut Round) {
    round
        .check("connect.tcp", || async {
            let mut connection = open().await?;
            connection.ping().await?;
            equal(first(&mut connection, "SELECT 1, DATABASE()").await?, (1, database()), "row")
        })
        .await;
    round
        .check("connect.unix_socket", || async {
            let mut connection = Conn::new(options().socket(Some(env("ROUND_SOCKET")))).await?;
            equal(first(&mut connection, "SELECT DATABASE()").await?, database(), "database")
        })
        .await;
    round
        .check("connect.no_database", || async {
            let mut connection = Conn::new(options().db_name(None::<String>)).await?;
            equal(first(&mut connection, "SELECT DATABASE()").await?, None::<String>, "database")?;
            failed_with(connection.query_drop("SELECT * FROM every_type").await, 1046, "3D000", "No database selected")
        })
        .await;
    round
        .check("connect.unknown_database", || async {
            failed_with(Conn::new(options().db_name(Some("nosuch"))).await, 1049, "42000", "Unknown database 'nosuch'")
        })
        .await;
    round
        .check("connect.wrong_password", || async {
            let user = account("right", "caching_sha2_password", "right").await?;
            let wrong = Conn::new(options().user(Some(&user)).pass(Some("wrong"))).await;
            failed_with(wrong, 1045, "28000", &format!("Access denied for user '{user}'@"))?;
            Conn::new(options().user(Some(&user)).pass(Some("right"))).await?.disconnect().await?;
            Ok(())
        })
        .await;
    for (name, ssl) in [("connect.caching_sha2_over_tls", tls()), ("connect.caching_sha2_by_rsa", None)] {
        let encrypted = ssl.is_some();
        round
            .check(name, || async move {
                needs(SERVER.as_str() != "mariadb", "MariaDB 10.11 has no caching_sha2_password")?;
                let user = account(if encrypted { "tls" } else { "rsa" }, "caching_sha2_password", "pä55 wörd€").await?;
                for _ in ["full", "fast"] {
                    let mut connection =
                        Conn::new(options().user(Some(&user)).pass(Some("pä55 wörd€")).ssl_opts(ssl.clone())).await?;
                    equal(first(&mut connection, "SELECT CURRENT_USER()").await?, format!("{user}@%"), "user")?;
                    equal(!status(&mut connection, "Ssl_cipher").await?.is_empty(), encrypted, "cipher")?;
                    if encrypted {
                        same_values(&all(&mut connection, "SELECT * FROM every_type ORDER BY id", Params::Empty).await?)?;
                    }
                    connection.disconnect().await?;
                }
                Ok(())
            })
            .await;
    }
    round
        .check("connect.native_password", || async {
            needs(SERVER.as_str() != "mysql", "MySQL 9 has no mysql_native_password")?;
            let user = account("native", "mysql_native_password", "secret").await?;
            let mut connection = Conn::new(options().user(Some(&user)).pass(Some("secret"))).await?;
            equal(first(&mut connection, "SELECT CURRENT_USER()").await?, format!("{user}@%"), "user")
        })
        .await;
    round
        .check("connect.empty_password", || async {
            let user = account("empty", "caching_sha2_password", "").await?;
            let mut connection = Conn::new(options().user(Some(&user)).pass(None::<String>)).await?;
            equal(first(&mut connection, "SELECT 1").await?, 1, "row")
        })
        .await;
    round
        .check("connect.compression", || async {
            let mut connection = Conn::new(options().compression(Compression::fast())).await?;
            equal(status(&mut connection, "Compression").await?, "ON".to_owned(), "Compression")?;
            same_values(&all(&mut connection, "SELECT * FROM every_type ORDER BY id", Params::Empty).await?)?;
            let text = "ü€😀x".repeat(2 * MIB);
            let back: Option<String> = connection.exec_first("SELECT ?", (&text,)).await?;
            equal(back == Some(text), true, "20 MiB there and back")
        })
        .await;
    round
        .check("connect.attributes", || async {
            needs(SERVER.as_str() != "mariadb", "performance_schema")?;
            let mut connection = Conn::new(options().connect_attribute("round", "rust")).await?;
            let sql = "SELECT attr_value FROM performance_schema.session_connect_attrs \
                       WHERE processlist_id = CONNECTION_ID() AND attr_name = 'round'";
            equal(first(&mut connection, sql).await?, "rust".to_owned(), "attribute")
        })
        .await;
}

async fn types(round: &mut Round) {
    round
        .check("types.text", || async {
            let mut connection = open().await?;
            same_values(&all(&mut connection, "SELECT * FROM every_type ORDER BY id", Params::Empty).await?)
        })
        .await;
    round
        .check("types.prepared", || async {
            let mut connection = open().await?;
            same_values(&all(&mut connection, "SELECT * FROM every_type WHERE id > ? ORDER BY id", (0,).into()).await?)
        })
        .await;
    round
        .check("types.written_by_parameters", || async {
            let mut connection = open().await?;
            connection.query_drop("DROP TABLE IF EXISTS written").await?;
            connection.query_drop("CREATE TABLE written LIKE every_type").await?;
            // Values read in the binary protocol are written back in their own types.
            let rows = all(&mut connection, "SELECT * FROM every_type WHERE id > ? ORDER BY id", (0,).into()).await?;
            let marks = vec!["?"; rows[0].len()].join(", ");
            let insert = connection.prep(format!("INSERT INTO written VALUES ({marks})")).await?;
            let bits = rows_of("values.tsv").iter().position(|line| line[0] == "c_bit").expect("a BIT");
            for row in rows {
                let mut values = row.unwrap();
                if let Value::Bytes(bytes) = &values[bits] {
                    values[bits] = bytes.iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte)).into();
                }
                connection.exec_drop(&insert, Params::Positional(values)).await?;
            }
            same_values(&all(&mut connection, "SELECT * FROM written ORDER BY id", Params::Empty).await?)
        })
        .await;
    round
        .check("metadata.of_every_type", || async {
            needs(SERVER.as_str() != "mariadb", "MariaDB's flags and lengths differ")?;
            let mut connection = open().await?;
            let columns = connection.query_iter("SELECT * FROM every_type t LIMIT 0").await?.columns().expect("columns");
            same_columns(&columns, "t")?;
            let statement = connection.prep("SELECT * FROM every_type u WHERE id = ?").await?;
            same_columns(&statement.columns(), "u")?;
            equal(statement.params().len(), 1, "parameters")?;
            let columns = connection.exec_iter(&statement, (3,)).await?.columns().expect("columns");
            same_columns(&columns, "u")
        })
        .await;
    round
        .check("metadata.of_expressions", || async {
            needs(SERVER.as_str() != "mariadb", "MariaDB's flags and lengths differ")?;
            let mut connection = open().await?;
            for line in rows_of("metadata_expressions.tsv") {
                let columns = connection.query_iter(line[6].as_str()).await?.columns().expect("columns");
                let column = &columns[0];
                let charset = if line[2] == "255" { "45" } else { &line[2] };
                let got = [
                    (column.column_type() as u8).to_string(),
                    column.character_set().to_string(),
                    column.column_length().to_string(),
                    column.flags().bits().to_string(),
                    column.decimals().to_string(),
                ];
                equal(got, [&line[1], charset, &line[3], &line[4], &line[5]].map(str::to_owned), &line[0])?;
            }
            Ok(())
        })
        .await;
    round
        .check("prepared.executed_again", || async {
            let mut connection = open().await?;
            let statement = connection.prep("SELECT ?, ?").await?;
            let pairs: [(Value, Value); 5] = [
                (1.into(), "a".into()),
                ("x".into(), 2.5.into()),
                (Value::NULL, Value::NULL),
                (u64::MAX.into(), vec![0_u8, 255].into()),
                ((-1).into(), Value::Time(true, 1, 6, 0, 0, 1)),
            ];
            for (a, b) in pairs {
                let row: Option<(Value, Value)> = connection.exec_first(&statement, (a.clone(), b.clone())).await?;
                let (c, d) = row.expect("a row");
                let text = |value: &Value| text_of("", value);
                equal((text(&c), text(&d)), (text(&a), text(&b)), "row")?;
            }
            connection.close(statement).await?;
            Ok(())
        })
        .await;
    round
        .check("prepared.many_parameters", || async {
            let mut connection = open().await?;
            let marks = |count: usize| vec!["?"; count].join(", ");
            let values: Vec<Value> = (0..65535).map(Value::from).collect();
            let sql = format!("SELECT 65534 IN ({})", marks(65535));
            let found: Option<i32> = connection.exec_first(sql, Params::Positional(values)).await?;
            equal(found, Some(1), "65,535 parameters")?;
            let text = "Prepared statement contains too many placeholders";
            failed_with(connection.prep(format!("SELECT 1 IN ({})", marks(65536))).await, 1390, "HY000", text)?;
            connection.ping().await?;
            Ok(())
        })
        .await;
    round
        .check("prepared.named_parameters", || async {
            let mut connection = open().await?;
            let row: Option<(i64, String)> = "SELECT CAST(:number + :number AS SIGNED), CONCAT(:text, '!')"
                .with(Params::from(vec![("number", Value::from(21)), ("text", "ü".into())]))
                .first(&mut connection)
                .await?;
            equal(row, Some((42, "ü!".to_owned())), "row")
        })
        .await;
    round
        .check("prepared.long_data", || async {
            // A value that does not fit into this client's packets is sent as
            // COM_STMT_SEND_LONG_DATA.
            let mut connection = open().await?;
            connection.query_drop("DROP TABLE IF EXISTS long_data").await?;
            connection.query_drop("CREATE TABLE long_data (id INT PRIMARY KEY, b LONGBLOB, t LONGTEXT)").await?;
            let blob: Vec<u8> = (0..20 * MIB).map(|i| (i * 31) as u8).collect();
            let text = "ab€😀é'\\\n".repeat(20 * MIB / 15);
            let insert = "INSERT INTO long_data VALUES (?, ?, ?)";
            connection.exec_drop(insert, (1, &blob, &text)).await?;
            connection.exec_drop(insert, (2, Vec::<u8>::new(), None::<String>)).await?;
            for parameters in [Params::Empty, (1,).into()] {
                let more = if parameters == Params::Empty { "" } else { " AND 1 = ?" };
                let rows = all(&mut connection, &format!("SELECT b, t FROM long_data WHERE id = 1{more}"), parameters).await?;
                let (b, t): (Vec<u8>, String) = mysql_async::from_row(rows.into_iter().next().expect("a row"));
                equal(b == blob && t == text, true, "20 MiB")?;
            }
            equal(first(&mut connection, "SELECT b = '', t FROM long_data WHERE id = 2").await?, (1, None::<String>), "row")
        })
        .await;
    round
        .check("prepared.statement_cache", || async {
            let mut connection = Conn::new(options().stmt_cache_size(5)).await?;
            for number in 0..50 {
                let sum: Option<i32> = connection.exec_first(format!("SELECT {number} + ?"), (1,)).await?;
                equal(sum, Some(number + 1), "sum")?;
            }
            connection.query_drop("CREATE TEMPORARY TABLE vanishing (id INT)").await?;
            let statement = connection.prep("SELECT * FROM vanishing WHERE id = ?").await?;
            equal(connection.exec::<Row, _, _>(&statement, (1,)).await?.len(), 0, "rows")?;
            connection.query_drop("ALTER TABLE vanishing ADD v INT").await?;
            connection.query_drop("INSERT INTO vanishing VALUES (1, 2)").await?;
            let row: Option<(i32, i32)> = connection.exec_first(&statement, (1,)).await?;
            equal(row, Some((1, 2)), "prepared again by the server")?;
            connection.query_drop("DROP TEMPORARY TABLE vanishing").await?;
            failed_with(connection.exec_drop(&statement, (1,)).await, 1146, "42S02", "vanishing")
        })
        .await;
    round
        .check("results.counts", || async {
            let mut connection = open().await?;
            connection.query_drop("CREATE TEMPORARY TABLE counted (id INT AUTO_INCREMENT PRIMARY KEY, v INT)").await?;
            connection.query_drop("INSERT INTO counted (v) VALUES (1), (2), (3)").await?;
            equal((connection.affected_rows(), connection.last_insert_id()), (3, Some(1)), "inserted")?;
            equal(connection.info().into_owned(), "Records: 3  Duplicates: 0  Warnings: 0".to_owned(), "info")?;
            connection.exec_drop("INSERT INTO counted (v) VALUES (?)", (4,)).await?;
            equal((connection.affected_rows(), connection.last_insert_id()), (1, Some(4)), "inserted")?;
            connection.query_drop("UPDATE counted SET v = 1").await?;
            equal(connection.affected_rows(), 3, "changed")?;
            connection.query_drop("DELETE FROM counted").await?;
            equal(connection.affected_rows(), 4, "deleted")?;
            let mut found = Conn::new(options().client_found_rows(true)).await?;
            found.query_drop("CREATE TEMPORARY TABLE same (v INT)").await?;
            found.query_drop("INSERT INTO same VALUES (1), (1)").await?;
            found.query_drop("UPDATE same SET v = 1").await?;
            equal(found.affected_rows(), 2, "found")
        })
        .await;
    round
        .check("multi.results", || async {
            let mut connection = open().await?;
            let mut results = connection.query_iter("SELECT 1; SET @a = 5; SELECT @a UNION ALL SELECT 6").await?;
            equal(results.collect::<i32>().await?, vec![1], "first")?;
            equal(results.collect::<i32>().await?, vec![], "second")?;
            equal(results.collect::<i32>().await?, vec![5, 6], "third")?;
            equal(results.is_empty(), true, "end")?;
            drop(results);
            failed_with(connection.query_drop("SELECT 1; SELECT * FROM nosuch; SELECT 3").await, 1146, "42S02", "nosuch")?;
            equal(first(&mut connection, "SELECT 2").await?, 2, "afterwards")
        })
        .await;
}

async fn errors(round: &mut Round) {
    for line in rows_of("errors.tsv") {
        round
            .check(&format!("errors.{}", line[0]), || async move {
                let mut connection = open().await?;
                let text = match SERVER.as_str() {
                    "mariadb" => String::new(),
                    _ => line[3].replace("{database}", &database()),
                };
                failed_with(connection.query_drop(&line[4]).await, line[1].parse().expect("a number"), &line[2], &text)?;
                equal(first(&mut connection, "SELECT 1").await?, 1, "afterwards")
            })
            .await;
    }
    round
        .check("errors.lock_wait_timeout", || async {
            let (mut one, mut two) = (open().await?, open().await?);
            one.query_drop("DROP TABLE IF EXISTS locks").await?;
            one.query_drop("CREATE TABLE locks (id INT PRIMARY KEY, v INT)").await?;
            one.query_drop("INSERT INTO locks VALUES (1, 0), (2, 0)").await?;
            let mut first = one.start_transaction(TxOpts::default()).await?;
            first.exec_drop("UPDATE locks SET v = 1 WHERE id = ?", (1,)).await?;
            two.query_drop("SET innodb_lock_wait_timeout = 1").await?;
            let text = "Lock wait timeout exceeded; try restarting transaction";
            failed_with(two.exec_drop("UPDATE locks SET v = 2 WHERE id = ?", (1,)).await, 1205, "HY000", text)?;
            first.rollback().await?;
            two.exec_drop("UPDATE locks SET v = 2 WHERE id = ?", (1,)).await?;
            Ok(())
        })
        .await;
    round
        .check("errors.deadlock", || async {
            let (mut one, mut two) = (open().await?, open().await?);
            one.query_drop("BEGIN").await?;
            two.query_drop("BEGIN").await?;
            one.query_drop("UPDATE locks SET v = 3 WHERE id = 1").await?;
            two.query_drop("UPDATE locks SET v = 4 WHERE id = 2").await?;
            let first = async {
                one.query_drop("UPDATE locks SET v = 3 WHERE id = 2").await?;
                one.query_drop("COMMIT").await
            };
            let second = async {
                tokio::time::sleep(Duration::from_millis(100)).await;
                two.query_drop("UPDATE locks SET v = 4 WHERE id = 1").await?;
                two.query_drop("COMMIT").await
            };
            let (a, b) = tokio::join!(first, second);
            equal(a.is_err() != b.is_err(), true, "one of the two loses")?;
            failed_with(a.and(b), 1213, "40001", "Deadlock found when trying to get lock; try restarting transaction")
        })
        .await;
    round
        .check("warnings.count_and_show", || async {
            let mut connection = open().await?;
            for parameters in [Params::Empty, ("1x",).into()] {
                let mark = if parameters == Params::Empty { "'1x'" } else { "?" };
                all(&mut connection, &format!("SELECT CAST({mark} AS SIGNED)"), parameters).await?;
                equal(connection.get_warnings(), 1, "count")?;
                let warnings: Vec<(String, u16, String)> = connection.query("SHOW WARNINGS").await?;
                let text = "Truncated incorrect INTEGER value: '1x'".to_owned();
                equal(warnings, vec![("Warning".to_owned(), 1292, text)], "warnings")?;
            }
            Ok(())
        })
        .await;
}

async fn scratch(connection: &mut Conn) -> Result<(), Error> {
    connection.query_drop("CREATE TEMPORARY TABLE scratch (id INT)").await?;
    connection.query_drop("INSERT INTO scratch VALUES (1)").await?;
    connection.query_drop("SET @kept = 1, SESSION sql_mode = ''").await
}

async fn nothing_left(connection: &mut Conn) -> Outcome {
    failed_with(connection.query_drop("SELECT * FROM scratch").await, 1146, "42S02", "scratch")?;
    equal(first(connection, "SELECT @kept, @@sql_mode = ''").await?, (None::<i32>, 0), "variables")
}

async fn sessions(round: &mut Round) {
    round
        .check("transactions.commit_and_rollback", || async {
            let (mut one, mut two) = (open().await?, open().await?);
            one.query_drop("DROP TABLE IF EXISTS moves").await?;
            one.query_drop("CREATE TABLE moves (id INT PRIMARY KEY)").await?;
            let count = "SELECT COUNT(*) FROM moves";
            let mut work = one.start_transaction(TxOpts::default()).await?;
            work.exec_drop("INSERT INTO moves VALUES (?)", (1,)).await?;
            equal(first(&mut two, count).await?, 0, "before commit")?;
            work.commit().await?;
            equal(first(&mut two, count).await?, 1, "after commit")?;
            let mut work = one.start_transaction(TxOpts::default()).await?;
            work.exec_drop("INSERT INTO moves VALUES (?)", (2,)).await?;
            work.query_drop("SAVEPOINT here").await?;
            work.exec_drop("INSERT INTO moves VALUES (?)", (3,)).await?;
            work.query_drop("ROLLBACK TO here").await?;
            equal(work.query_first(count).await?, Some(2), "savepoint")?;
            work.rollback().await?;
            equal(first(&mut two, count).await?, 1, "after rollback")
        })
        .await;
    round
        .check("transactions.isolation_levels", || async {
            let (mut one, mut two) = (open().await?, open().await?);
            let count = "SELECT COUNT(*) FROM moves";
            for (level, seen) in [(IsolationLevel::ReadCommitted, 2), (IsolationLevel::RepeatableRead, 1)] {
                two.query_drop("DELETE FROM moves WHERE id = 9").await?;
                let mut work = one.start_transaction(TxOpts::default().with_isolation_level(level).clone()).await?;
                equal(work.query_first(count).await?, Some(1), "at first")?;
                two.query_drop("INSERT INTO moves VALUES (9)").await?;
                equal(work.query_first(count).await?, Some(seen), "later")?;
                work.commit().await?;
            }
            let mut work = one.start_transaction(TxOpts::default().with_readonly(Some(true)).clone()).await?;
            failed_with(work.query_drop("DELETE FROM moves").await, 1792, "25006", "READ ONLY transaction")?;
            work.rollback().await?;
            Ok(())
        })
        .await;
    round
        .check("temporary.reset_and_change_user", || async {
            let user = account("other", "caching_sha2_password", "other").await?;
            let mut connection = open().await?;
            let id = connection.id();
            scratch(&mut connection).await?;
            equal(connection.reset().await?, true, "reset")?;
            nothing_left(&mut connection).await?;
            scratch(&mut connection).await?;
            let other = || ChangeUserOpts::default().with_user(Some(user.clone())).with_db_name(Some(database()));
            connection.change_user(other().with_pass(Some("other".to_owned()))).await?;
            nothing_left(&mut connection).await?;
            equal(first(&mut connection, "SELECT CURRENT_USER()").await?, format!("{user}@%"), "user")?;
            equal(connection.id(), id, "connection")?;
            let wrong = connection.change_user(other().with_pass(Some("wrong".to_owned()))).await;
            failed_with(wrong, 1045, "28000", "Access denied")
        })
        .await;
    round
        .check("reset.pool", || async {
            let constraints = PoolConstraints::new(1, 2).expect("one is below two");
            let pool = Pool::new(options().pool_opts(PoolOpts::default().with_constraints(constraints)));
            let mut connection = pool.get_conn().await?;
            scratch(&mut connection).await?;
            let id = connection.id();
            drop(connection);
            tokio::time::sleep(Duration::from_millis(300)).await; // The pool resets it by the way.
            let mut connection = pool.get_conn().await?;
            equal(connection.id(), id, "connection")?;
            nothing_left(&mut connection).await?;
            let mut other = pool.get_conn().await?;
            other.query_drop(format!("KILL {id}")).await?;
            tokio::time::sleep(Duration::from_millis(300)).await;
            equal(connection.query_drop("SELECT 1").await.is_err(), true, "lost")?;
            drop(connection);
            let mut third = pool.get_conn().await?;
            equal(first(&mut third, "SELECT 1").await?, 1, "another one")?;
            let sums = stream::iter(0..20)
                .map(|number| {
                    let pool = pool.clone();
                    async move {
                        let mut connection = pool.get_conn().await?;
                        connection.exec_first::<i32, _, _>("SELECT ? + COUNT(*) FROM every_type", (number,)).await
                    }
                })
                .buffer_unordered(8);
            drop((other, third));
            let sums: Vec<_> = sums.collect().await;
            let total: i32 = sums.into_iter().collect::<Result<Vec<_>, Error>>()?.into_iter().flatten().sum();
            equal(total, 190 + 80, "sums")?;
            pool.disconnect().await?;
            Ok(())
        })
        .await;
    round
        .check("kill.query", || async {
            let (mut one, mut two) = (open().await?, open().await?);
            let id = one.id();
            let heavy = "SELECT COUNT(*) FROM information_schema.columns a, information_schema.columns b WHERE SLEEP(1) = 5";
            let kill = async {
                tokio::time::sleep(Duration::from_millis(300)).await;
                two.query_drop(format!("KILL QUERY {id}")).await
            };
            let (ended, killed) = tokio::join!(one.query_drop(heavy), kill);
            killed?;
            failed_with(ended, 1317, "70100", "Query execution was interrupted")?;
            one.ping().await?;
            Ok(())
        })
        .await;
}

async fn large(round: &mut Round) {
    round
        .check("large.result_of_200000_rows", || async {
            let mut connection = open().await?;
            let limit = if SERVER.as_str() == "mariadb" { "max_recursive_iterations" } else { "cte_max_recursion_depth" };
            connection.query_drop(format!("SET {limit} = 1000000")).await?;
            let sql = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000) \
                       SELECT i, CONCAT('row ', i) FROM n";
            counted(sql, &mut connection).await?;
            let statement = connection.prep(sql).await?;
            counted(statement, &mut connection).await
        })
        .await;
    round
        .check("large.packets", || async {
            let mut connection = open().await?;
            for size in [16 * MIB - 10, 16 * MIB - 6, 16 * MIB - 5, 16 * MIB - 4, 16 * MIB, 32 * MIB - 10, 32 * MIB] {
                let text: Option<String> = connection.exec_first("SELECT REPEAT('x', ?)", (size,)).await?;
                equal(text.map(|text| text.len()), Some(size), "length")?;
            }
            for size in 16 * MIB - 22..16 * MIB - 8 {
                let length: usize = first(&mut connection, &format!("SELECT LENGTH('{}')", "x".repeat(size))).await?;
                equal(length, size, "length in a statement")?;
            }
            Ok(())
        })
        .await;
    round
        .check("infile.streams", || async {
            let mut connection = open().await?;
            connection.query_drop("DROP TABLE IF EXISTS loaded").await?;
            connection.query_drop("CREATE TABLE loaded (id INT PRIMARY KEY, v VARCHAR(50))").await?;
            let lines: Vec<String> = (0..3000).map(|number| format!("{number}\tvalue ü{number}\n")).collect();
            let load = "LOAD DATA LOCAL INFILE 'x' INTO TABLE loaded CHARACTER SET utf8mb4";
            connection.set_infile_handler(async move {
                Ok(stream::iter(lines.into_iter().map(|line| Ok(line.into_bytes().into()))).boxed())
            });
            connection.query_drop(load).await?;
            equal(connection.affected_rows(), 3000, "rows")?;
            equal(first(&mut connection, "SELECT v FROM loaded WHERE id = 7").await?, "value ü7".to_owned(), "value")?;
            connection.set_infile_handler(async move { Ok(stream::iter([]).boxed()) });
            connection.query_drop(load).await?;
            equal(connection.affected_rows(), 0, "an empty file")?;
            connection.set_infile_handler(async move { Ok(stream::iter([Ok("1\tx\n".into())]).boxed()) });
            let outcome = connection.query_drop("LOAD DATA LOCAL INFILE 'x' INTO TABLE nosuch").await;
            failed_with(outcome, 1146, "42S02", "nosuch")?;
            equal(first(&mut connection, "SELECT 1").await?, 1, "afterwards")?;
            // Without a handler the client refuses the file, and ends the connection.
            let mut connection = open().await?;
            equal(connection.query_drop(load).await.is_err(), true, "no handler")
        })
        .await;
}

/// Reads the rows one by one and checks them.
async fn counted<S: StatementLike + Send + 'static>(statement: S, connection: &mut Conn) -> Outcome {
    let mut rows = connection.exec_stream::<(u32, String), _, _>(statement, ()).await?;
    let mut count = 0;
    while let Some(row) = rows.next().await {
        count += 1;
        equal(row?, (count, format!("row {count}")), "row")?;
    }
    equal(count, 200_000, "rows")
}
