//! The records of golden files that Mayfly does not answer rightly yet: `tests/open.txt`.
//!
//! A line names the file and the statement, `types/temporal: select …`, as the report of a failure
//! prints them; `[batch_3] types/temporal: select …` is open under one configuration only. The list
//! can only shrink: a record that is not listed must pass, and one that is listed must fail, or the
//! trial does.

use std::collections::BTreeSet;

use crate::corpus;
use crate::runner::Failure;

/// The open records of one file under one configuration.
#[derive(Debug, Default)]
pub struct OpenRecords(BTreeSet<String>);

impl OpenRecords {
    /// Reads the list.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(config: &str, file: &str) -> Result<Self, String> {
        let path = corpus::root().join("tests").join("open.txt");
        let text = std::fs::read_to_string(&path)
            .map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self::parse(&text, config, file))
    }

    fn parse(text: &str, config: &str, file: &str) -> Self {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let named = lines.filter_map(|line| {
            let line = match line.strip_prefix('[') {
                Some(rest) => rest.strip_prefix(config)?.strip_prefix("] ")?,
                None => line,
            };
            line.strip_prefix(file)?.strip_prefix(": ")
        });
        Self(named.map(str::to_owned).collect())
    }

    /// The failures that are listed, and those that are not.
    #[must_use]
    pub fn split<'f>(&self, failures: &'f [Failure]) -> (Vec<&'f Failure>, Vec<&'f Failure>) {
        failures
            .iter()
            .partition(|failure| self.0.contains(&key(failure)))
    }

    /// What to say of listed records that pass.
    #[must_use]
    pub fn closed(&self, failures: &[Failure]) -> Vec<String> {
        let failed: BTreeSet<String> = failures.iter().map(key).collect();
        let passed = self.0.difference(&failed);
        passed
            .map(|sql| format!("passes now, take it out of tests/open.txt: {sql}"))
            .collect()
    }
}

/// A statement on one line.
fn key(failure: &Failure) -> String {
    failure.sql.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(sql: &str) -> Failure {
        Failure {
            line: 1,
            sql: sql.to_owned(),
            expected: String::new(),
            actual: String::new(),
        }
    }

    #[test]
    fn a_listed_record_must_fail_and_another_must_not() {
        let text =
            "# why\na/b: select 1\n[one] a/b: select 2\n[two] a/b: select 3\na/bc: select 4\n";
        let open = OpenRecords::parse(text, "one", "a/b");
        let failures = [failure("select\n1"), failure("select 5")];
        let (listed, others) = open.split(&failures);
        assert_eq!((listed.len(), others.len()), (1, 1));
        assert_eq!(others[0].sql, "select 5");
        let closed = open.closed(&failures);
        assert_eq!(closed.len(), 1);
        assert!(closed[0].ends_with(": select 2"), "{closed:?}");
    }
}
