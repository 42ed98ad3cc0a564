//! A database for the advisor, on a running server.

use std::path::PathBuf;

use mayfly_advisor::{Event, Finding, Input, Live, Schema, Trial, Workload, findings};
use mayfly_client::{Address, Limits};
use mayfly_testkit::client::{Answer, Client, Row};
use mayfly_testkit::corpus;
use mayfly_testkit::server::{self, Flavour};

/// A database with the tables of `tests/advise/schema.sql`, and an account that may only read it.
pub(super) struct Shop {
    pub(super) socket: PathBuf,
    pub(super) database: String,
    pub(super) reader: String,
    pub(super) settings: Vec<(String, String)>,
}

/// A connection of an account that may connect.
fn connect(address: &Address) -> Box<mayfly_client::Client> {
    let client = mayfly_client::Client::connect(address, Limits::default());
    Box::new(client.expect("the account may connect"))
}

impl Shop {
    pub(super) fn new(socket: PathBuf, name: &str) -> Self {
        let database = format!("advise_{name}_{}", std::process::id());
        let reader = format!("advise_{name}");
        let shop = Self {
            socket,
            database,
            reader,
            settings: Vec::new(),
        };
        let mut root = shop.client(None);
        for sql in [
            format!("DROP DATABASE IF EXISTS {}", shop.database),
            format!("CREATE DATABASE {}", shop.database),
            format!("DROP USER IF EXISTS {}@localhost", shop.reader),
            format!("CREATE USER {}@localhost", shop.reader),
            format!(
                "GRANT SELECT, SHOW VIEW ON {}.* TO {}@localhost",
                shop.database, shop.reader
            ),
            format!(
                "GRANT SELECT ON performance_schema.* TO {}@localhost",
                shop.reader
            ),
            format!("GRANT PROCESS ON *.* TO {}@localhost", shop.reader),
            format!("USE {}", shop.database),
        ] {
            run(&mut root, &sql);
        }
        let text = std::fs::read_to_string(corpus::root().join("tests/advise/schema.sql"))
            .expect("the schema is there");
        let lines: Vec<&str> = text
            .lines()
            .filter(|line| !line.starts_with("--"))
            .collect();
        for sql in lines
            .join("\n")
            .split(";\n")
            .filter(|sql| !sql.trim().is_empty())
        {
            run(&mut root, sql);
        }
        shop
    }

    /// A new session with the current global settings.
    pub(super) fn client(&self, database: Option<&str>) -> Client {
        let mut client =
            Client::connect(&self.socket, "root").expect("root may connect without a password");
        if let Some(database) = database {
            run(&mut client, &format!("USE {database}"));
        }
        client
    }

    pub(super) fn session(&self) -> Client {
        self.client(Some(&self.database))
    }

    pub(super) fn live(&self) -> Live {
        let address = Address {
            socket: Some(self.socket.display().to_string()),
            user: self.reader.clone(),
            ..Address::default()
        };
        let connection = connect(&address);
        Live::new(connection).expect("the server answers")
    }

    /// A session in which changes are tried, as an account that may make temporary tables.
    pub(super) fn trial(&self) -> Trial {
        let address = Address {
            socket: Some(self.socket.display().to_string()),
            user: "root".to_owned(),
            ..Address::default()
        };
        let connection = connect(&address);
        Trial::new(connection, self.live().server()).expect("the server answers")
    }

    /// Changes a global setting until the end of the test.
    pub(super) fn set(&mut self, name: &str, value: &str) {
        let before = text_of(&mut self.client(None), &format!("SELECT @@global.{name}"));
        self.settings.push((name.to_owned(), before));
        run(
            &mut self.client(None),
            &format!("SET GLOBAL {name} = {value}"),
        );
    }

    /// Runs a statement in a separate session: the entry that a slow log would have, and its rows.
    pub(super) fn measure(&self, sql: &str) -> (Event, Vec<Row>) {
        let mut session = self.session();
        let before = counters(&mut session);
        let own = counters(&mut session);
        let rows = rows_of(&mut session, sql);
        let after = counters(&mut session);
        // Reading the counters creates tables too.
        let made = |at: usize| after[at] - own[at] - (own[at] - before[at]);
        let event = Event {
            text: sql.to_owned(),
            database: Some(self.database.clone()),
            query_time: 1.0,
            rows_sent: rows.len() as u64,
            rows_examined: 100_000,
            tables: Some(made(0)),
            disk_tables: Some(made(1)),
            ..Event::default()
        };
        (event, rows)
    }

    /// The findings on a statement as it has just run.
    pub(super) fn findings(&self, event: Event) -> Vec<Finding> {
        let mut live = self.live();
        let mut workload = Workload::new();
        workload.add(event);
        let mut schema = Schema::new();
        live.read_schema(&workload, &mut schema);
        let server = live.server().clone();
        let input = Input {
            workload: &workload,
            schema: &schema,
            server: &server,
        };
        let digest = &workload.digests()[0];
        let explain = live.explain(digest);
        assert!(explain.is_some(), "EXPLAIN is refused");
        findings(&input, digest, explain)
    }
}

impl Drop for Shop {
    fn drop(&mut self) {
        let Ok(mut root) = Client::connect(&self.socket, "root") else {
            return;
        };
        for (name, value) in self.settings.iter().rev() {
            let value = if value.parse::<f64>().is_ok() {
                value.clone()
            } else {
                format!("'{value}'")
            };
            let _ = root.query(&format!("SET GLOBAL {name} = {value}"));
        }
        let _ = root.query(&format!("DROP DATABASE IF EXISTS {}", self.database));
        let _ = root.query(&format!("DROP USER IF EXISTS {}@localhost", self.reader));
    }
}

pub(super) fn run(client: &mut Client, sql: &str) {
    client
        .query(sql)
        .unwrap_or_else(|error| panic!("{sql}: {error}"));
}

pub(super) fn rows_of(client: &mut Client, sql: &str) -> Vec<Row> {
    match client
        .query(sql)
        .unwrap_or_else(|error| panic!("{sql}: {error}"))
    {
        Answer::Rows { rows, .. } => rows,
        Answer::Done(_) => Vec::new(),
    }
}

pub(super) fn text_of(client: &mut Client, sql: &str) -> String {
    let value = rows_of(client, sql).into_iter().flatten().flatten().next();
    String::from_utf8_lossy(&value.unwrap_or_default()).into_owned()
}

/// Temporary tables of the session, and those on disk.
pub(super) fn counters(client: &mut Client) -> [u64; 2] {
    let rows = rows_of(
        client,
        "SHOW SESSION STATUS WHERE Variable_name IN ('Created_tmp_tables', 'Created_tmp_disk_tables')",
    );
    let value = |name: &str| {
        let row = rows
            .iter()
            .find(|row| row[0].as_deref() == Some(name.as_bytes()));
        let value = row.and_then(|row| row[1].clone()).unwrap_or_default();
        String::from_utf8_lossy(&value).parse().unwrap_or(0)
    };
    [
        value("Created_tmp_tables"),
        value("Created_tmp_disk_tables"),
    ]
}

pub(super) fn socket(flavour: Flavour, variable: &str) -> Option<PathBuf> {
    let socket = server::socket(flavour);
    if socket.is_none() {
        println!("skipped: {variable} names no server");
    }
    socket
}
