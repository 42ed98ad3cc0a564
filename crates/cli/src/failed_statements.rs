//! Failed statements of a script, counted by kind, so that a user who continues after errors learns what the result
//! lacks.

use std::collections::BTreeMap;

/// Kinds of objects that CREATE makes, with their names in the singular and the plural.
const OBJECTS: [(&str, &str, &str); 13] = [
    ("TABLE", "table", "tables"),
    ("VIEW", "view", "views"),
    ("TRIGGER", "trigger", "triggers"),
    ("PROCEDURE", "procedure", "procedures"),
    ("FUNCTION", "function", "functions"),
    ("EVENT", "event", "events"),
    ("INDEX", "index", "indexes"),
    ("DATABASE", "database", "databases"),
    ("SCHEMA", "database", "databases"),
    ("USER", "user", "users"),
    ("ROLE", "role", "roles"),
    ("SERVER", "server", "servers"),
    ("TABLESPACE", "tablespace", "tablespaces"),
];
/// Number of bytes of a statement that are examined.
const BEGINNING_BYTES: usize = 1 << 10;

/// The statements that failed, counted by kind.
#[derive(Debug, Default)]
pub(crate) struct FailedStatements {
    /// Number of objects of a kind that were not created, by the index of the kind in the list.
    objects: BTreeMap<usize, u64>,
    /// Number of other failed statements, by their first word.
    others: BTreeMap<String, u64>,
    /// Whether any ever failed.
    any: bool,
}

impl FailedStatements {
    /// Counts a statement.
    pub(crate) fn add(&mut self, statement: &[u8]) {
        self.any = true;
        let beginning = statement.get(..BEGINNING_BYTES).unwrap_or(statement);
        let text = String::from_utf8_lossy(beginning);
        let mut words = text.split_whitespace().filter_map(word);
        let first = words.next().unwrap_or_default();
        let object = (first == "CREATE").then(|| {
            words.find_map(|word| OBJECTS.iter().position(|(object, ..)| *object == word))
        });
        match object.flatten() {
            Some(object) => *self.objects.entry(object).or_default() += 1,
            None => *self.others.entry(first).or_default() += 1,
        }
    }

    /// Whether no statement failed.
    pub(crate) fn is_empty(&self) -> bool {
        !self.any
    }

    /// A text on what is missing because it failed since the last call; `None` if nothing is.
    pub(crate) fn take_summary(&mut self) -> Option<String> {
        let objects = std::mem::take(&mut self.objects).into_iter();
        let objects = objects.filter_map(|(object, count)| {
            let (_, one, several) = OBJECTS.get(object)?;
            Some(format!(
                "{count} {}",
                if count == 1 { one } else { several }
            ))
        });
        let others = std::mem::take(&mut self.others).into_iter();
        let others = others.map(|(word, count)| {
            let ending = if count == 1 { "" } else { "s" };
            format!("{count} statement{ending} {word}")
        });
        let parts: Vec<String> = objects.chain(others).collect();
        (!parts.is_empty()).then(|| format!("left out: {}", parts.join(", ")))
    }
}

/// A word in capitals, without the marks of a conditional comment and the text behind the word.
fn word(text: &str) -> Option<String> {
    let text = text.trim_start_matches("/*M!").trim_start_matches("/*!");
    let letters = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '(');
    let end = letters
        .find(|c: char| !c.is_ascii_alphabetic())
        .unwrap_or(letters.len());
    (end > 0).then(|| letters[..end].to_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_counted() {
        let mut failed = FailedStatements::default();
        assert!(failed.is_empty() && failed.take_summary().is_none());
        for statement in [
            "/*!50003 CREATE*/ /*!50017 DEFINER=`root`@`localhost`*/ /*!50003 TRIGGER t BEFORE INSERT ON a FOR EACH ROW SET @a=1 */",
            "create definer=`root`@`%` trigger `table` after insert on a for each row set @a=1",
            "CREATE TABLE `view` (a INT)",
            "CREATE ALGORITHM=MERGE SQL SECURITY INVOKER VIEW v AS SELECT 1",
            "CREATE UNIQUE INDEX i ON t (a)",
            "INSERT INTO t VALUES (1)",
            "insert into t values (2)",
            "(SELECT 1)",
            "/*!40101 SET @a = nosuch */",
        ] {
            failed.add(statement.as_bytes());
        }
        assert!(!failed.is_empty());
        let expected = "left out: 1 table, 1 view, 2 triggers, 1 index, 2 statements INSERT, 1 statement SELECT, 1 statement SET";
        assert_eq!(failed.take_summary().as_deref(), Some(expected));
        assert!(!failed.is_empty() && failed.take_summary().is_none());
    }
}
