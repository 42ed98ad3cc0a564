//! Completion of keywords, tables and columns.

use std::sync::{Arc, RwLock};

use mayfly_engine::Session;
use reedline::{Completer, CompletionResult, Span, Suggestion};

/// Words that begin or join the clauses of statements.
const KEYWORDS: &str = "ALL, ALTER, ANALYZE, AND, AS, ASC, AVG, BETWEEN, BY, CASE, COUNT, CREATE, CROSS, DATABASE, \
    DATABASES, DELETE, DESC, DESCRIBE, DISTINCT, DROP, ELSE, END, EXCEPT, EXISTS, EXPLAIN, \
    FLUSH, FORMAT, FROM, GLOBAL, GROUP, GROUP_CONCAT, HAVING, IN, INFILE, INNER, INSERT, \
    INTERSECT, INTO, IS, JOIN, LEFT, LIKE, LIMIT, LOAD DATA, LOCAL, MAX, MIN, NATURAL, NOT, \
    NULL, OFFSET, ON, OR, ORDER, OUTFILE, RECURSIVE, REPLACE, RIGHT, ROLLUP, SELECT, SESSION, \
    SET, SHOW, STATUS, SUM, TABLE, TABLES, TEMPORARY, THEN, TREE, TRUNCATE, UNION, UPDATE, USE, \
    USING, VALUES, VARIABLES, WARNINGS, WHEN, WHERE, WITH";

/// Names of databases, tables and columns, shared by the completer and the shell's loop.
#[derive(Debug, Clone, Default)]
pub(super) struct Names(Arc<RwLock<Vec<String>>>);

impl Names {
    /// Takes the names that the session sees now.
    pub(super) fn refresh(&self, session: &mut Session) {
        *self.0.write().unwrap_or_else(|e| e.into_inner()) = session.visible_names();
    }
}

/// Completes the word before the cursor.
pub(super) struct WordCompleter {
    names: Names,
}

impl WordCompleter {
    pub(super) fn new(names: Names) -> Self {
        Self { names }
    }

    fn suggestions(&self, line: &str, position: usize) -> Vec<Suggestion> {
        let before = line.get(..position).unwrap_or(line);
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
        let start = before
            .char_indices()
            .rev()
            .take_while(|(_, c)| is_word(*c))
            .last();
        let Some((start, _)) = start else {
            return Vec::new();
        };
        let prefix = before[start..].to_lowercase();
        let suggestion = |value: String| Suggestion {
            value,
            span: Span::new(start, before.len()),
            append_whitespace: true,
            ..Suggestion::default()
        };
        let names = self.names.0.read().unwrap_or_else(|e| e.into_inner());
        let matching = |name: &&str| name.to_lowercase().starts_with(&prefix);
        names
            .iter()
            .map(String::as_str)
            .filter(matching)
            .chain(KEYWORDS.split(", ").filter(matching))
            .map(|name| suggestion(name.to_owned()))
            .collect()
    }
}

impl Completer for WordCompleter {
    fn complete(&mut self, line: &str, position: usize) -> CompletionResult {
        CompletionResult::fresh(self.suggestions(line, position))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_complete_to_names_then_keywords() {
        let names = Names(Arc::new(RwLock::new(vec![
            "gtest".into(),
            "group_name".into(),
        ])));
        let completer = WordCompleter::new(names);
        let values = |suggestions: Vec<Suggestion>| -> Vec<String> {
            suggestions
                .into_iter()
                .map(|suggestion| suggestion.value)
                .collect()
        };
        let line = "SELECT * FROM t gro";
        let found = values(completer.suggestions(line, line.len()));
        assert_eq!(found, ["group_name", "GROUP", "GROUP_CONCAT"]);
        assert_eq!(values(completer.suggestions("SELECT a.gt", 11)), ["gtest"]);
        assert!(completer.suggestions("SELECT ", 7).is_empty());
        assert!(completer.suggestions("é", 1).is_empty());
    }
}
