//! Names for the completion of a shell.

use mayfly_functions::{aggregate, scalar};

use crate::connections::SessionOptions;
use crate::session::Session;

/// The names of the functions that are called by name, in lower case.
pub fn function_names() -> impl Iterator<Item = &'static str> {
    let aggregates = aggregate::FUNCTIONS.iter().map(|function| function.name());
    let scalars = scalar::all().flat_map(|function| function.names().iter().copied());
    let is_word = |name: &&str| name.starts_with(|first: char| first.is_ascii_alphabetic());
    scalars
        .chain(aggregates)
        .chain(WINDOW_FUNCTIONS)
        .filter(is_word)
}

/// Functions that have a window only (MySQL 9.7 Reference Manual, "Window Function Descriptions").
const WINDOW_FUNCTIONS: [&str; 11] = [
    "cume_dist",
    "dense_rank",
    "first_value",
    "lag",
    "last_value",
    "lead",
    "nth_value",
    "ntile",
    "percent_rank",
    "rank",
    "row_number",
];

impl Session {
    /// The names of the databases, and of the tables and columns of the current database, sorted. The session's
    /// diagnostics are unchanged.
    pub fn visible_names(&self) -> Vec<String> {
        let queries = [
            "SELECT schema_name FROM information_schema.schemata",
            "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()",
            "SELECT column_name FROM information_schema.columns WHERE table_schema = DATABASE()",
            "SELECT CONCAT('information_schema.', table_name) FROM information_schema.tables \
             WHERE table_schema = 'information_schema'",
        ];
        self.names_of(&queries)
    }

    /// The names of the system variables, sorted. The session's diagnostics are unchanged.
    pub fn variable_names(&self) -> Vec<String> {
        self.names_of(&["SHOW VARIABLES"])
    }

    /// The first columns of the results of queries, sorted.
    fn names_of(&self, queries: &[&str]) -> Vec<String> {
        let Some(current) = self.current_database() else {
            return Vec::new();
        };
        let options = SessionOptions {
            database: Some(current.to_owned()),
            ..SessionOptions::new()
        };
        let mut reader = self.database.session_with(options);
        let mut names: Vec<String> = Vec::new();
        for query in queries {
            // Errors only reduce the completions.
            let Ok(results) = reader.execute(query) else {
                continue;
            };
            let rows = results.iter().flat_map(|result| result.rows_text());
            names.extend(rows.filter_map(|row| row.into_iter().next()?));
        }
        names.sort_unstable();
        names.dedup();
        names
    }
}
