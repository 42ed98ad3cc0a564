//! Names for the completion of a shell.

use crate::connections::SessionOptions;
use crate::session::Session;

impl Session {
    /// The names of the databases, and of the tables and columns of the current database, sorted. The session's
    /// diagnostics are unchanged.
    pub fn visible_names(&self) -> Vec<String> {
        let Some(current) = self.current_database() else {
            return Vec::new();
        };
        let options = SessionOptions {
            database: Some(current.to_owned()),
            ..SessionOptions::new()
        };
        let mut reader = self.database.session_with(options);
        let queries = [
            "SELECT schema_name FROM information_schema.schemata",
            "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()",
            "SELECT column_name FROM information_schema.columns WHERE table_schema = DATABASE()",
        ];
        let mut names: Vec<String> = Vec::new();
        for query in queries {
            // Errors only reduce the completions.
            let Ok(results) = reader.execute(query) else {
                continue;
            };
            let rows = results.iter().flat_map(|result| result.rows_text());
            names.extend(rows.flatten().flatten());
        }
        names.sort_unstable();
        names.dedup();
        names
    }
}
