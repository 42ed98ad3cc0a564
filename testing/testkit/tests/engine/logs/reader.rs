//! Reads a slow log like programs that digest it: without knowledge of its format.

use std::collections::HashMap;

/// An entry of a slow log.
#[derive(Debug, Default, Clone)]
pub(crate) struct Entry {
    /// The fields of its comments.
    pub(crate) fields: HashMap<String, String>,
    /// Its comments.
    pub(crate) comments: Vec<String>,
    /// The database of its `use`.
    pub(crate) database: Option<String>,
    pub(crate) timestamp: Option<i64>,
    /// The statement, or `# administrator command: …`.
    pub(crate) statement: String,
}

impl Entry {
    pub(crate) fn number(&self, field: &str) -> u64 {
        let found = self.fields.get(field);
        let found = found.unwrap_or_else(|| panic!("no {field} in {self:?}"));
        found.parse().unwrap()
    }
}

fn begins_entry(line: &str) -> bool {
    line.starts_with("# Time: ") || line.starts_with("# User@Host: ")
}

/// The entries of a log. Lines outside of entries are allowed only at the beginning of a file.
pub(crate) fn entries(log: &str) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut lines = log.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        if !begins_entry(line) {
            let is_header = line.contains(", Version: ")
                || line.starts_with("Tcp port: ")
                || line.starts_with("Time  ")
                || line.trim().is_empty();
            assert!(is_header, "{line:?} stands in no entry of:\n{log}");
            continue;
        }
        let mut entry = Entry::default();
        let mut next = Some(line);
        while let Some(line) = next.filter(|line| line.starts_with('#')) {
            if line.starts_with("# administrator command: ") {
                break;
            }
            entry.comments.push(line.trim_end_matches('\n').to_owned());
            add_fields(&mut entry.fields, line);
            next = lines.next();
        }
        if let Some(name) = next.and_then(|line| line.strip_prefix("use ")) {
            let name = name.trim_end().trim_end_matches(';');
            entry.database = Some(name.trim_matches('`').to_owned());
            next = lines.next();
        }
        let timestamp = next.and_then(|line| line.strip_prefix("SET timestamp="));
        let timestamp = timestamp.unwrap_or_else(|| panic!("no timestamp behind {entry:?}"));
        entry.timestamp = Some(timestamp.trim_end().trim_end_matches(';').parse().unwrap());
        while let Some(line) =
            lines.next_if(|line| !begins_entry(line) && !line.contains(", Version: "))
        {
            entry.statement.push_str(line);
        }
        let statement = entry.statement.strip_suffix(";\n");
        let statement = statement.unwrap_or_else(|| panic!("{entry:?} has no end"));
        entry.statement = statement.to_owned();
        entries.push(entry);
    }
    entries
}

/// `Name: value` of a comment.
fn add_fields(fields: &mut HashMap<String, String>, line: &str) {
    let mut words = line.trim_start_matches('#').split_whitespace().peekable();
    while let Some(word) = words.next() {
        if let (Some(name), Some(value)) = (word.strip_suffix(':'), words.peek()) {
            fields.insert(name.to_owned(), (*value).to_owned());
        }
    }
}
