//! Commands of the client, which the engine never sees: `use`, `source`, `help`, `exit` and others of the `mysql`
//! client. They are allowed wherever a statement may begin, in the shell and in scripts.

/// Text of `help`.
pub(crate) const HELP: &str = "\
Statements end with ; or \\g, or with \\G to show a line per column.
  \\h, help         this text
  \\q, exit         end the shell (also Ctrl-D)
  \\c               forget what was typed (also Ctrl-C)
  \\. FILE          run the statements of a file (also: source FILE)
  \\u NAME          make a database the current one (also: use NAME)
  \\d [TABLE]       the tables of the current database, or the columns and indexes of a table
  \\#               read the names for Tab again (also: rehash)
  \\s               server, database, account, limits (also: status)
  \\e               edit the last statement in $VISUAL or $EDITOR, and run it
  \\! COMMAND       run a command of the system
  \\format [NAME]   table, vertical, tsv, csv, json, jsonl, markdown or html; parquet FILE or arrow FILE
  \\maxrows N       rows of a table that are shown; 0 for all
  \\timing on|off   how long statements take
  \\plot [FILE.svg] the last result as bars: of its first column that is no number, and its numbers
  \\pager [COMMAND] show results in a pager [default: $PAGER, or less -SFX]; \\nopager ends it (also \\P, \\n)
  \\tee FILE        append what is shown to a file; \\notee ends it (also \\T, \\t)
Tab completes keywords, functions, tables, columns, variables and, in quotes, files. Ctrl-R searches what was typed before.
Ctrl-C during a statement ends the statement. Temporary tables of running statements: SHOW TEMPORARY TABLES;";

/// A command of the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ClientCommand {
    /// Ends the program.
    Quit,
    /// Shows the help.
    Help,
    /// Discards the input so far.
    Clear,
    /// Reads the names for completion again.
    Rehash,
    /// Runs the statements of a file.
    Source(String),
    /// Makes a database the current one.
    Use(String),
    /// Shows the tables, or the columns and indexes of one.
    Describe(Option<String>),
    /// Shows server, database, account and limits.
    Status,
    /// Edits and runs the last statement.
    Edit,
    /// Runs a command of the system.
    System(String),
    /// Sets or shows the format of results.
    Format(Option<String>),
    /// Sets the number of rows that a table shows.
    MaxRows(usize),
    /// Whether times are shown.
    Timing(bool),
    /// Draws the last result, perhaps into a file.
    Plot(Option<String>),
    /// Shows results in a pager.
    Pager(Option<String>),
    /// Shows results without a pager.
    NoPager,
    /// Appends what is shown to a file.
    Tee(String),
    /// Ends the copy.
    NoTee,
}

impl ClientCommand {
    /// Whether it may end with the delimiter, like a statement: USE is then a statement.
    pub(crate) fn may_be_delimited(&self) -> bool {
        !matches!(self, Self::Use(_) | Self::System(_))
    }
}

/// Commands without a backslash, as `mysql` has them.
const WORDS: [&str; 15] = [
    "?", "quit", "exit", "help", "clear", "source", "use", "status", "edit", "system", "pager",
    "nopager", "tee", "notee", "rehash",
];

/// Commands with a backslash and more than one letter.
const LONG: [&str; 8] = [
    "format", "maxrows", "timing", "plot", "pager", "nopager", "tee", "notee",
];

/// Letters of commands with a backslash.
const LETTERS: &[u8] = b"qh?c.udse!PnTt#";

/// Whether a text is a prefix of a command's word, so that the rest must be read first.
pub(crate) fn is_cut(text: &[u8]) -> bool {
    text == b"\\"
        || WORDS.iter().any(|word| {
            let begin = word.as_bytes().get(..text.len());
            begin.is_some_and(|begin| begin.eq_ignore_ascii_case(text)) && text.len() < word.len()
        })
}

/// Whether a command may begin here; called for every statement, before its line is read.
pub(crate) fn may_begin(text: &[u8]) -> bool {
    if let [b'\\', next, ..] = text {
        let is_long = |word: &&str| word.as_bytes()[0] == next.to_ascii_lowercase();
        return LETTERS.contains(next) || LONG.iter().any(is_long);
    }
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
        Some(rest) => {
            let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
            let (word, argument) = rest.split_at(end);
            if LONG.iter().any(|long| word.eq_ignore_ascii_case(long)) {
                (word.to_ascii_lowercase(), argument)
            } else {
                // There may be no blank between `\.` and a name.
                let (letter, argument) = rest.split_at(rest.chars().next()?.len_utf8());
                (letter_command(letter)?.to_owned(), argument)
            }
        }
        None => {
            let end = line.find(char::is_whitespace).unwrap_or(line.len());
            let (word, argument) = line.split_at(end);
            let word = word.to_ascii_lowercase();
            let is_known = WORDS.contains(&word.as_str());
            (is_known.then_some(word)?, argument)
        }
    };
    let argument = argument.trim();
    let text = || argument.to_owned();
    let given = || (!argument.is_empty()).then(text);
    Some(match (word.as_str(), argument) {
        ("quit" | "exit", "") => ClientCommand::Quit,
        ("?" | "help", "") => ClientCommand::Help,
        ("clear", "") => ClientCommand::Clear,
        ("status", "") => ClientCommand::Status,
        ("rehash", "") => ClientCommand::Rehash,
        ("edit", "") => ClientCommand::Edit,
        ("nopager", "") => ClientCommand::NoPager,
        ("notee", "") => ClientCommand::NoTee,
        ("source", _) => ClientCommand::Source(given()?),
        ("use", _) => ClientCommand::Use(unquoted(&given()?)),
        ("system", _) => ClientCommand::System(given()?),
        ("tee", _) => ClientCommand::Tee(given()?),
        ("pager", _) => ClientCommand::Pager(given()),
        ("describe", _) => ClientCommand::Describe(given()),
        ("format", _) => ClientCommand::Format(given()),
        ("plot", _) => ClientCommand::Plot(given()),
        ("maxrows", _) => ClientCommand::MaxRows(argument.parse().ok()?),
        ("timing", "on" | "") => ClientCommand::Timing(true),
        ("timing", "off") => ClientCommand::Timing(false),
        _ => return None,
    })
}

/// The word of a command's letter.
fn letter_command(letter: &str) -> Option<&'static str> {
    Some(match letter {
        "q" => "quit",
        "h" | "?" => "help",
        "c" => "clear",
        "." => "source",
        "u" => "use",
        "d" => "describe",
        "s" => "status",
        "e" => "edit",
        "!" => "system",
        "P" => "pager",
        "n" => "nopager",
        "T" => "tee",
        "t" => "notee",
        "#" => "rehash",
        _ => return None,
    })
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
            ("\\d", Some(ClientCommand::Describe(None))),
            ("\\d t", Some(ClientCommand::Describe(Some("t".to_owned())))),
            ("\\!ls -l", Some(ClientCommand::System("ls -l".to_owned()))),
            ("\\s", Some(ClientCommand::Status)),
            ("status", Some(ClientCommand::Status)),
            (
                "\\format csv",
                Some(ClientCommand::Format(Some("csv".to_owned()))),
            ),
            ("\\timing off", Some(ClientCommand::Timing(false))),
            ("\\maxrows 10", Some(ClientCommand::MaxRows(10))),
            (
                "\\P less",
                Some(ClientCommand::Pager(Some("less".to_owned()))),
            ),
            ("\\plot", Some(ClientCommand::Plot(None))),
            ("\\t", Some(ClientCommand::NoTee)),
            ("\\#", Some(ClientCommand::Rehash)),
            ("rehash", Some(ClientCommand::Rehash)),
            (
                "\\T out.txt",
                Some(ClientCommand::Tee("out.txt".to_owned())),
            ),
            ("\\maxrows", None),
            ("\\maxrows x", None),
            ("q", None),
            ("\\exit", None),
            ("source", None),
            ("used x", None),
            ("help SELECT", None),
            ("edited", None),
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
