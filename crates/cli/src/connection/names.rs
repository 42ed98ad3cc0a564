//! The names that a server has, for completion: at most as many as are useful, whatever it sends.

use mayfly_client::{Client, Column, Receiver, ResultEnd, Row};

/// Greatest number of names of a kind, and of their bytes.
const NAMES_MAX: usize = 20_000;
const NAME_BYTES: usize = 256;

/// The queries for databases, and for the tables and columns of the current one.
pub(super) const OBJECTS: [&str; 3] = [
    "SELECT schema_name FROM information_schema.schemata LIMIT 20000",
    "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() LIMIT 20000",
    "SELECT DISTINCT column_name FROM information_schema.columns WHERE table_schema = DATABASE() LIMIT 20000",
];

/// The query for variables.
pub(super) const VARIABLES: [&str; 1] = ["SHOW VARIABLES"];

/// The names in the first columns of the results of queries. A query that fails has none.
pub(super) fn of(client: &mut Client, queries: &[&str]) -> Vec<String> {
    let mut names = Vec::new();
    for sql in queries {
        let mut taken = Names(Vec::new());
        if client.run(sql.as_bytes(), &mut taken).is_ok() {
            names.append(&mut taken.0);
        }
    }
    names.sort_unstable();
    names.dedup();
    names
}

struct Names(Vec<String>);

impl Receiver for Names {
    fn columns(&mut self, _columns: Vec<Column>) -> Result<(), String> {
        Ok(())
    }

    fn row(&mut self, row: &Row<'_>) -> Result<(), String> {
        let values = row.values()?;
        let name = values.first().copied().flatten();
        let name = name.and_then(|name| std::str::from_utf8(name).ok());
        // The terminal shows them as they are.
        let name = name.filter(|name| name.len() <= NAME_BYTES && !name.contains(char::is_control));
        if let Some(name) = name
            && self.0.len() < NAMES_MAX
        {
            self.0.push(name.to_owned());
        }
        Ok(())
    }

    fn end(&mut self, _end: &ResultEnd) -> Result<(), String> {
        Ok(())
    }
}
