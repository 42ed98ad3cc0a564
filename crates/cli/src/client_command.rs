//! Commands of the client, which the engine never sees: `use`, `source`, `help`, `exit` and others of the `mysql`
//! client. They are allowed wherever a statement may begin, in the shell and in scripts.

/// Text of `help`.
pub(crate) const HELP: &str = "\
Statements end with ; or \\g, or with \\G to show a line per column.
  \\h, help      this text
  \\q, exit      end the shell (also Ctrl-D)
  \\c            forget what was typed (also Ctrl-C)
  \\. FILE       run the statements of a file (also: source FILE)
  \\u NAME       make a database the current one (also: use NAME)
Tab completes keywords, tables and columns. Ctrl-R searches what was typed before. Ctrl-C during a statement ends the
statement. Temporary tables of running statements: SHOW TEMPORARY TABLES;";

/// A command of the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ClientCommand {
    /// Ends the program.
    Quit,
    /// Shows the help.
    Help,
    /// Discards the input so far.
    Clear,
    /// Runs the statements of a file.
    Source(String),
    /// Makes a database the current one.
    Use(String),
}

impl ClientCommand {
    /// Whether it may end with the delimiter, like a statement: USE is then a statement.
    pub(crate) fn may_be_delimited(&self) -> bool {
        !matches!(self, Self::Use(_))
    }
}

/// Words that begin a command.
const WORDS: [&str; 13] = [
    "\\q", "\\h", "\\?", "\\c", "\\.", "\\u", "?", "quit", "exit", "help", "clear", "source", "use",
];

/// Whether a text is a prefix of a command's word, so that the rest must be read first.
pub(crate) fn is_cut(text: &[u8]) -> bool {
    WORDS.iter().any(|word| {
        let begin = word.as_bytes().get(..text.len());
        begin.is_some_and(|begin| begin.eq_ignore_ascii_case(text)) && text.len() < word.len()
    })
}

/// Whether a command may begin here; called for every statement, before its line is read.
pub(crate) fn may_begin(text: &[u8]) -> bool {
    WORDS.iter().any(|word| {
        text.get(..word.len())
            .is_some_and(|begin| begin.eq_ignore_ascii_case(word.as_bytes()))
    })
}

/// The command in a line, if there is one.
pub(crate) fn parse(line: &[u8]) -> Option<ClientCommand> {
    if !may_begin(line) {
        return None;
    }
    let line = std::str::from_utf8(line).ok()?.trim();
    let (word, argument) = match line.strip_prefix('\\') {
        // There may be no blank between `\.` and a name.
        Some(rest) => rest.split_at(rest.chars().next()?.len_utf8()),
        None => line.split_at(line.find(char::is_whitespace).unwrap_or(line.len())),
    };
    let argument = argument.trim();
    let command = match (word.to_ascii_lowercase().as_str(), argument) {
        ("q" | "quit" | "exit", "") => ClientCommand::Quit,
        ("h" | "?" | "help", "") => ClientCommand::Help,
        ("c" | "clear", "") => ClientCommand::Clear,
        ("." | "source", file) if !file.is_empty() => ClientCommand::Source(file.to_owned()),
        ("u" | "use", name) if !name.is_empty() => ClientCommand::Use(unquoted(name)),
        _ => return None,
    };
    let is_short = line.starts_with('\\');
    // `q` alone is not a command, and neither is `\quit`.
    (is_short == (word.len() == 1 && word != "?") || word == "?").then_some(command)
}

/// A name without the quotes around it.
fn unquoted(name: &str) -> String {
    let unquoted = |quote: &&str| {
        let inside = name.strip_prefix(*quote)?.strip_suffix(*quote)?;
        Some(inside.replace(&quote.repeat(2), quote))
    };
    ["`", "\"", "'"]
        .iter()
        .find_map(unquoted)
        .unwrap_or_else(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands() {
        let source = |file: &str| Some(ClientCommand::Source(file.to_owned()));
        let database = |name: &str| Some(ClientCommand::Use(name.to_owned()));
        for (line, command) in [
            ("\\q", Some(ClientCommand::Quit)),
            ("EXIT", Some(ClientCommand::Quit)),
            ("?", Some(ClientCommand::Help)),
            ("\\?", Some(ClientCommand::Help)),
            ("help", Some(ClientCommand::Help)),
            ("\\c", Some(ClientCommand::Clear)),
            ("source a b.sql", source("a b.sql")),
            ("\\. x.sql", source("x.sql")),
            ("\\.x.sql", source("x.sql")),
            ("use `a``b`", database("a`b")),
            ("\\u a", database("a")),
            ("q", None),
            ("\\exit", None),
            ("source", None),
            ("used x", None),
            ("help SELECT", None),
            ("select 1", None),
        ] {
            assert_eq!(parse(line.as_bytes()), command, "{line}");
        }
    }

    #[test]
    fn words_that_are_cut() {
        assert!(is_cut(b"u") && is_cut(b"SOURC") && is_cut(b"") && is_cut(b"\\"));
        assert!(!is_cut(b"use") && !is_cut(b"u;") && !is_cut(b"select"));
    }
}
