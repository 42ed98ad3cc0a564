//! Other servers that answer the queries.

use std::path::PathBuf;
use std::time::Duration;

use mayfly_testkit::client::{Client, LOST, ServerError};
use mayfly_testkit::server::{self, Flavour};

use crate::queries::answers::Answer;
use crate::queries::case::Case;
use crate::queries::schema::{Schema, Tables};

/// `optimizer_switch` of MySQL without optional rules.
pub(crate) const MYSQL_OFF: &str = "derived_merge=off,derived_condition_pushdown=off,semijoin=off,materialization=off,\
     block_nested_loop=off,hash_join=off,hash_set_operations=off";
/// `optimizer_switch` of MariaDB without optional rules.
pub(crate) const MARIADB_OFF: &str = "derived_merge=off,condition_pushdown_for_derived=off,semijoin=off,\
     condition_pushdown_from_having=off,split_materialized=off,index_merge=off,join_cache_hashed=off,\
     table_elimination=off,extended_keys=off,rowid_filter=off";

/// A server.
pub(crate) struct Peer {
    pub(crate) flavour: Flavour,
    socket: PathBuf,
    client: Client,
    database: String,
    /// Queries that it answered by closing the connection.
    pub(crate) faults: Vec<String>,
}

impl Peer {
    pub(crate) fn find(flavour: Flavour) -> Option<Self> {
        let socket = server::socket(flavour)?;
        let client = connect(&socket, flavour).expect("the server that is named answers");
        Some(Self {
            flavour,
            socket,
            client,
            database: format!("mayfly_queries_{}", std::process::id()),
            faults: Vec::new(),
        })
    }

    /// Whether it gets queries on these tables.
    pub(crate) fn takes(&self, schema: &Schema) -> bool {
        self.flavour == Flavour::MySql || schema.portable
    }

    pub(crate) fn begin(&mut self, schema: &Schema) {
        self.make(schema, true);
    }

    /// Creates the tables, with their keys or without.
    fn make(&mut self, schema: &Schema, keys: bool) {
        let database = &self.database;
        let mut statements = vec![
            format!("DROP DATABASE IF EXISTS {database}"),
            format!("CREATE DATABASE {database}"),
            format!("USE {database}"),
        ];
        statements.extend(schema.settings());
        statements.extend(schema.statements(keys, Tables::Base));
        for statement in statements {
            if let Err(error) = self.client.query(&statement)
                && error.code == LOST
            {
                self.reconnect();
                return self.make(schema, keys);
            }
        }
    }

    /// A statement that changes rows.
    pub(crate) fn change(&mut self, statement: &str) {
        let _ = self.client.query(statement);
    }

    /// The answer to a query; `None` if the server closes the connection, as in a crash.
    pub(crate) fn answer(&mut self, case: &Case, schema: &Schema) -> Option<Answer> {
        match self.client.query(&case.text()) {
            Err(error) if error.code == LOST => {
                self.faults.push(case.text());
                self.reconnect();
                self.begin(schema);
                None
            }
            found => Some(case.in_order(Answer::of_peer(found))),
        }
    }

    /// The answers to a query without optimizations: as it is and from a derived table, without optional rules, with
    /// the keys of the tables and without them.
    pub(crate) fn plain_answers(&mut self, case: &Case, schema: &Schema) -> Vec<Answer> {
        let off = match self.flavour {
            Flavour::MySql => MYSQL_OFF,
            _ => MARIADB_OFF,
        };
        let mut answers = Vec::new();
        for keys in [true, false] {
            if !keys {
                self.make(schema, keys);
            }
            let off = format!("SET optimizer_switch = '{off}'");
            let _ = self.client.query(&off);
            answers.extend(self.answer(case, schema));
            let derived = self.client.query(&case.derived());
            answers.push(case.in_order(Answer::of_peer(derived)));
            let _ = self.client.query("SET optimizer_switch = DEFAULT");
        }
        self.begin(schema);
        answers
    }

    pub(crate) fn end(&mut self) {
        let _ = self
            .client
            .query(&format!("DROP DATABASE IF EXISTS {}", self.database));
    }

    /// Waits until the server is up again.
    fn reconnect(&mut self) {
        for _ in 0..120 {
            std::thread::sleep(Duration::from_millis(500));
            if let Ok(client) = connect(&self.socket, self.flavour) {
                self.client = client;
                return;
            }
        }
        panic!(
            "{:?} does not come back after {:?}",
            self.flavour, self.faults
        );
    }
}

fn connect(socket: &std::path::Path, flavour: Flavour) -> Result<Client, ServerError> {
    let mut client = Client::connect(socket, "root")?;
    client.query("SET sql_mode = 'STRICT_TRANS_TABLES'")?;
    client.query(match flavour {
        Flavour::MariaDb => "SET max_statement_time = 5",
        _ => "SET max_execution_time = 5000",
    })?;
    Ok(client)
}
