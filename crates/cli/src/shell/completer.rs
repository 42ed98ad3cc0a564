//! Completion of keywords, tables and columns, and the prompts of a statement's lines.

use std::borrow::Cow;
use std::sync::{Arc, RwLock};

use mayfly_engine::Session;
use rustyline::completion::{Completer, Pair};
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::Hinter;
use rustyline::validate::Validator;
use rustyline::{Context, Helper, Result};

use super::keys::{CONTINUATION_PROMPT, INDENTATION, Typing, is_word};

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
pub(crate) struct Names(Arc<RwLock<Vec<String>>>);

impl Names {
    /// Reads the names that the session sees now.
    pub(crate) fn refresh(&self, session: &mut Session) {
        *self.0.write().unwrap_or_else(|e| e.into_inner()) = session.visible_names();
    }
}

/// Helper that completes the word before the cursor, and displays the typed text.
pub(super) struct ShellHelper {
    names: Names,
    typing: Arc<Typing>,
}

impl ShellHelper {
    pub(super) fn new(names: Names, typing: Arc<Typing>) -> Self {
        Self { names, typing }
    }
}

/// Start of the word before a position, and its completions.
fn completions(names: &Names, line: &str, position: usize) -> (usize, Vec<String>) {
    let before = line.get(..position).unwrap_or(line);
    let start = before
        .char_indices()
        .rev()
        .take_while(|(_, c)| is_word(*c))
        .last();
    let Some((start, _)) = start else {
        return (before.len(), Vec::new());
    };
    let prefix = before[start..].to_lowercase();
    let names = names.0.read().unwrap_or_else(|e| e.into_inner());
    let matching = |name: &&str| name.to_lowercase().starts_with(&prefix);
    let words = names
        .iter()
        .map(String::as_str)
        .filter(matching)
        .chain(KEYWORDS.split(", ").filter(matching));
    (start, words.map(str::to_owned).collect())
}

impl Completer for ShellHelper {
    type Candidate = Pair;

    fn complete(&self, line: &str, position: usize, _: &Context<'_>) -> Result<(usize, Vec<Pair>)> {
        let (start, words) = completions(&self.names, line, position);
        let pair = |word: String| Pair {
            replacement: format!("{word} "),
            display: word,
        };
        Ok((start, words.into_iter().map(pair).collect()))
    }
}

impl Highlighter for ShellHelper {
    /// Shows the leading blanks of continuation lines as their prompt.
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        let (blanks, prompt) = (
            format!("\n{INDENTATION}"),
            format!("\n{CONTINUATION_PROMPT}"),
        );
        if line.contains(&blanks) {
            line.replace(&blanks, &prompt).into()
        } else {
            line.into()
        }
    }

    /// Called with each character that is typed.
    fn highlight_char(&self, _: &str, _: usize, _: CmdKind) -> bool {
        self.typing.typed();
        false
    }
}

impl Hinter for ShellHelper {
    type Hint = String;
}

impl Validator for ShellHelper {}

impl Helper for ShellHelper {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_complete_to_names_then_keywords() {
        let names = Names(Arc::new(RwLock::new(vec![
            "gtest".into(),
            "group_name".into(),
        ])));
        let values = |line: &str, position| completions(&names, line, position).1;
        let line = "SELECT * FROM t gro";
        let (start, found) = completions(&names, line, line.len());
        assert_eq!(found, ["group_name", "GROUP", "GROUP_CONCAT"]);
        assert_eq!(start, line.len() - 3);
        assert_eq!(values("SELECT a.gt", 11), ["gtest"]);
        assert!(values("SELECT ", 7).is_empty());
        assert!(values("é", 1).is_empty());
    }
}
