//! What other servers do with the statement's temporary tables: what EXPLAIN notes under `tmp_table_compat`.

use mayfly_engine::{Result, Session};
use serde_json::{Value, json};

/// The servers: the value of `tmp_table_compat`, and the name.
const SERVERS: [(&str, &str); 5] = [
    ("mysql80", "MySQL 8.0 and later"),
    ("mysql57", "MySQL 5.7"),
    ("mysql50", "MySQL 5.0"),
    ("mariadb1011", "MariaDB 10.11"),
    ("mariadb13", "MariaDB 13"),
];

/// What a server does.
pub(crate) struct Elsewhere {
    server: &'static str,
    /// Its tables, for people.
    tables: Vec<String>,
    /// The notes "Using temporary" and "Using filesort" of EXPLAIN.
    notes: Vec<&'static str>,
}

/// Asks for each server; the session is left with Mayfly's own tables.
pub(crate) fn ask(session: &mut Session, statement: &str) -> Result<Vec<Elsewhere>> {
    let mut found = Vec::with_capacity(SERVERS.len());
    for (value, server) in SERVERS {
        session.execute(&format!("SET tmp_table_compat = '{value}'"))?;
        let explained = session.execute(&format!("EXPLAIN FORMAT=TRADITIONAL {statement}"));
        let text = |rows: Vec<Vec<Option<String>>>| {
            rows.concat()
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join("; ")
        };
        let shown = match explained {
            Ok(results) => results
                .iter()
                .map(|result| text(result.rows_text()))
                .collect::<String>(),
            Err(error) => {
                session.execute("SET tmp_table_compat = DEFAULT")?;
                return Err(error);
            }
        };
        let prefix = format!("{value}: ");
        let warnings = session.warnings();
        let tables = warnings
            .iter()
            .filter_map(|it| it.error.message().strip_prefix(&prefix));
        let notes = ["Using temporary", "Using filesort"];
        found.push(Elsewhere {
            server,
            tables: tables.map(str::to_owned).collect(),
            notes: notes
                .into_iter()
                .filter(|note| shown.contains(note))
                .collect(),
        });
    }
    session.execute("SET tmp_table_compat = DEFAULT")?;
    Ok(found)
}

impl Elsewhere {
    /// A line of the report.
    pub(crate) fn text(&self) -> String {
        let notes = match self.notes.as_slice() {
            [] => String::new(),
            notes => format!(" ({})", notes.join("; ")),
        };
        format!("  {:<20} {}{notes}", self.server, self.tables.join(", "))
    }

    /// The members of the report in JSON.
    pub(crate) fn json(&self) -> Value {
        json!({ "server": self.server, "temporary_tables": self.tables, "explain": self.notes })
    }
}
