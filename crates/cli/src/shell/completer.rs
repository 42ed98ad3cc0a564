//! Completion of keywords, functions, names, variables and files, and the prompts of a statement's lines.

use std::borrow::Cow;
use std::path::Path;
use std::sync::{Arc, OnceLock, RwLock};

use mayfly_engine::{all_keywords, function_names, is_reserved_word};
use rustyline::completion::{Completer, Pair};
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::Hinter;
use rustyline::validate::Validator;
use rustyline::{Context, Helper, Result};

use super::colors;
use super::keys::{CONTINUATION_PROMPT, INDENTATION, Typing, is_word, quoted_path};
use super::terminal::has_pending_input;
use crate::connection::Connection;

/// Keywords that are not reserved, and begin or join clauses all the same.
const UNRESERVED: [&str; 30] = [
    "BEGIN",
    "COLUMNS",
    "COMMIT",
    "CURRENT ROW",
    "DATE",
    "ENGINE",
    "EXECUTE",
    "FIRST",
    "FORMAT",
    "FULL",
    "GLOBAL",
    "LOCAL",
    "OFFSET",
    "PREPARE",
    "PROCESSLIST",
    "ROLLBACK",
    "ROLLUP",
    "SAVEPOINT",
    "SESSION",
    "START TRANSACTION",
    "STATUS",
    "TABLES",
    "TEMPORARY",
    "TEXT",
    "TIMESTAMP",
    "TREE",
    "TRUNCATE",
    "VARIABLES",
    "VIEW",
    "WARNINGS",
];

/// Names for completion, shared by the completer and the shell's loop.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    /// Databases, tables and columns.
    objects: Arc<RwLock<Vec<String>>>,
    /// System variables, which stay the same.
    variables: Arc<OnceLock<Vec<String>>>,
}

impl Names {
    /// The names of databases, tables, columns, variables and functions.
    pub(crate) fn all(&self) -> Vec<String> {
        let mut names = self
            .objects
            .read()
            .unwrap_or_else(|e| e.into_inner())
            .clone();
        names.extend(self.variables.get().into_iter().flatten().cloned());
        names.extend(function_names().map(str::to_owned));
        names
    }

    /// Reads the names that the connection sees now.
    pub(crate) fn refresh(&self, connection: &mut dyn Connection) {
        let names = connection.object_names();
        *self.objects.write().unwrap_or_else(|e| e.into_inner()) = names;
        self.variables.get_or_init(|| connection.variable_names());
    }
}

/// Helper that completes the word before the cursor, and displays the typed text.
pub(super) struct ShellHelper {
    names: Names,
    typing: Arc<Typing>,
    has_colors: bool,
}

impl ShellHelper {
    pub(super) fn new(names: Names, typing: Arc<Typing>) -> Self {
        Self {
            names,
            typing,
            has_colors: std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
        }
    }
}

/// Start of the word before a position, and its completions, with what follows them.
fn completions(names: &Names, line: &str, position: usize) -> (usize, Vec<String>) {
    let before = line.get(..position).unwrap_or(line);
    if let Some(path) = quoted_path(before) {
        return (before.len() - path.len(), files(path));
    }
    let start = before
        .char_indices()
        .rev()
        .take_while(|(_, c)| is_word(*c))
        .last();
    let Some((start, _)) = start else {
        return (before.len(), Vec::new());
    };
    let prefix = before[start..].to_lowercase();
    let matching = |name: &&str| name.to_lowercase().starts_with(&prefix);
    let variables = names.variables.get().map(Vec::as_slice).unwrap_or_default();
    let variables = variables.iter().map(String::as_str).filter(matching);
    let scopes = ["@@", "@@global.", "@@session.", "@@persist."];
    let is_variable = scopes.iter().any(|it| ends_with_word(&before[..start], it));
    if is_variable {
        return (start, variables.map(str::to_owned).collect());
    }
    let names = names.objects.read().unwrap_or_else(|e| e.into_inner());
    let mut words: Vec<String> = names
        .iter()
        .map(String::as_str)
        .filter(matching)
        .map(|word| format!("{word} "))
        .collect();
    // Behind a qualifier there are only names.
    if before[..start].ends_with('.') {
        return (start, words);
    }
    let functions = function_names().filter(matching);
    let mut others: Vec<String> = functions.map(|it| it.to_uppercase() + "(").collect();
    let is_call = |word: &str| others.iter().any(|it| it.strip_suffix('(') == Some(word));
    let reserved = all_keywords().filter(|word| is_reserved_word(word));
    let keywords = reserved
        .chain(UNRESERVED)
        .filter(matching)
        .filter(|word| !is_call(word));
    let keywords: Vec<String> = keywords.map(|word| format!("{word} ")).collect();
    others.extend(keywords);
    let begin = before.trim_start().get(..4).unwrap_or_default();
    if begin.eq_ignore_ascii_case("set ") || begin.eq_ignore_ascii_case("show") {
        others.extend(variables.map(str::to_owned));
    }
    others.sort_unstable();
    others.dedup();
    words.extend(others);
    (start, words)
}

fn ends_with_word(text: &str, end: &str) -> bool {
    let start = text.len().checked_sub(end.len());
    start
        .and_then(|start| text.get(start..))
        .is_some_and(|it| it.eq_ignore_ascii_case(end))
}

/// The files and directories whose paths begin with a text.
fn files(begin: &str) -> Vec<String> {
    let (directory, name) = match begin.rfind('/') {
        Some(at) => begin.split_at(at + 1),
        None => ("", begin),
    };
    let read = std::fs::read_dir(if directory.is_empty() { "." } else { directory });
    let mut found: Vec<String> = read
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|it| it.starts_with(name) && (!it.starts_with('.') || !name.is_empty()))
        .map(|it| format!("{directory}{it}"))
        .map(|it| {
            if Path::new(&it).is_dir() {
                it + "/"
            } else {
                it + "'"
            }
        })
        .collect();
    found.sort_unstable();
    found
}

impl Completer for ShellHelper {
    type Candidate = Pair;

    fn complete(&self, line: &str, position: usize, _: &Context<'_>) -> Result<(usize, Vec<Pair>)> {
        let (start, words) = completions(&self.names, line, position);
        let pair = |word: String| Pair {
            display: word.trim_end_matches([' ', '(', '\'']).to_owned(),
            replacement: word,
        };
        Ok((start, words.into_iter().map(pair).collect()))
    }
}

impl Highlighter for ShellHelper {
    /// Colours the words, and shows the leading blanks of continuation lines as their prompt.
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        let line = if self.has_colors {
            colors::coloured(line)
        } else {
            line.into()
        };
        let (blanks, prompt) = (
            format!("\n{INDENTATION}"),
            format!("\n{CONTINUATION_PROMPT}"),
        );
        if line.contains(&blanks) {
            line.replace(&blanks, &prompt).into()
        } else {
            line
        }
    }

    /// Called with each character that is typed.
    fn highlight_char(&self, _: &str, _: usize, _: CmdKind) -> bool {
        self.typing.typed();
        self.has_colors && !has_pending_input()
    }
}

impl Hinter for ShellHelper {
    type Hint = String;
}

impl Validator for ShellHelper {}

impl Helper for ShellHelper {}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;

    fn names() -> Names {
        let names = Names::default();
        *names.objects.write().unwrap() = vec!["gtest".into(), "group_name".into()];
        let _ = names.variables.set(vec!["group_concat_max_len".into()]);
        names
    }

    fn values(line: &str) -> Vec<String> {
        completions(&names(), line, line.len()).1
    }

    #[test]
    fn words_complete_to_names_then_functions_and_keywords() {
        let line = "SELECT * FROM t group";
        let (start, found) = completions(&names(), line, line.len());
        assert_eq!(found[..2], ["group_name ", "GROUP "]);
        assert!(found.contains(&"GROUP_CONCAT(".to_owned()), "{found:?}");
        assert_eq!(start, line.len() - 5);
        assert_eq!(values("SELECT a.gt"), ["gtest "]);
        assert_eq!(values("SELECT row_nu"), ["ROW_NUMBER("]);
        assert_eq!(values("SELECT @@SESSION.group"), ["group_concat_max_len"]);
        assert!(values("SET group_c").contains(&"group_concat_max_len".to_owned()));
        assert!(values("SELECT ").is_empty());
        assert!(completions(&names(), "é", 1).1.is_empty());
    }

    #[test]
    fn quoted_texts_complete_to_files() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().to_str().unwrap();
        std::fs::create_dir(directory.path().join("sales")).unwrap();
        std::fs::write(directory.path().join("sand.csv"), "").unwrap();
        std::fs::write(directory.path().join(".hidden"), "").unwrap();
        let found = values(&format!("SELECT * FROM '{path}/s"));
        assert_eq!(
            found,
            [format!("{path}/sales/"), format!("{path}/sand.csv'")]
        );
        assert_eq!(values(&format!("SELECT 'it''s' FROM '{path}/")).len(), 2);
        assert!(values(&format!("SELECT '{path}/s' gt")).contains(&"gtest ".to_owned()));
    }
}
