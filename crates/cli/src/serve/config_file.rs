//! Configuration files of MySQL's form: `my.cnf`.
//!
//! Groups in brackets, `name = value` or `name` alone, comments behind `#` or `;`, `!include` and
//! `!includedir`. Dashes and underscores in names are equivalent. See the manual, "Using Option
//! Files".

use std::path::{Path, PathBuf};

/// Greatest nesting depth of included files.
const DEPTH_MAX: usize = 10;

/// One setting of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Setting {
    /// The group of the setting.
    pub(crate) group: String,
    /// The name, with underscores.
    pub(crate) name: String,
    pub(crate) value: Option<String>,
    /// `file:line`
    pub(crate) location: String,
}

/// The settings of a file that belong to these groups, in order.
pub(crate) fn read(path: &Path, groups: &[&str]) -> Result<Vec<Setting>, String> {
    let mut settings = Vec::new();
    read_into(&mut settings, path, groups, 0)?;
    Ok(settings)
}

fn read_into(
    settings: &mut Vec<Setting>,
    path: &Path,
    groups: &[&str],
    depth: usize,
) -> Result<(), String> {
    if depth > DEPTH_MAX {
        return Err(format!("{}: files include each other", path.display()));
    }
    let text =
        std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut group = None;
    for (index, line) in text.lines().enumerate() {
        let location = format!("{}:{}", path.display(), index + 1);
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(included) = line.strip_prefix("!includedir") {
            for file in files_of(Path::new(included.trim()))? {
                read_into(settings, &file, groups, depth + 1)?;
            }
        } else if let Some(included) = line.strip_prefix("!include") {
            read_into(settings, Path::new(included.trim()), groups, depth + 1)?;
        } else if let Some(rest) = line.strip_prefix('[') {
            let name = rest.split(']').next().unwrap_or(rest).trim();
            if !rest.contains(']') {
                return Err(format!(
                    "{location}: `]` is missing behind the group's name"
                ));
            }
            group = Some(name.to_owned());
        } else {
            let Some(group) = &group else {
                return Err(format!("{location}: `{line}` stands in no group"));
            };
            if groups.contains(&group.as_str()) {
                let (name, value) = match line.split_once('=') {
                    Some((name, value)) => (name.trim(), Some(value_of(value))),
                    None => (without_comment(line), None),
                };
                settings.push(Setting {
                    group: group.clone(),
                    name: name.replace('-', "_"),
                    value,
                    location,
                });
            }
        }
    }
    Ok(())
}

/// The files of `!includedir`, by name.
fn files_of(directory: &Path) -> Result<Vec<PathBuf>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", directory.display());
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|it| it == "cnf") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// The text without the comment that may follow a value after a space.
fn without_comment(text: &str) -> &str {
    let end = text
        .match_indices('#')
        .find(|(offset, _)| *offset == 0 || text.as_bytes()[*offset - 1].is_ascii_whitespace());
    end.map_or(text, |(offset, _)| &text[..offset]).trim()
}

/// A value, unquoted and unescaped.
fn value_of(text: &str) -> String {
    let text = text.trim();
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''));
    let inner = match quote {
        Some(quote) => {
            let inner = &text[1..];
            inner.rfind(quote).map_or(inner, |end| &inner[..end])
        }
        None => without_comment(text),
    };
    let mut value = String::with_capacity(inner.len());
    let mut characters = inner.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            value.push(character);
            continue;
        }
        match characters.next() {
            Some('b') => value.push('\u{8}'),
            Some('t') => value.push('\t'),
            Some('n') => value.push('\n'),
            Some('r') => value.push('\r'),
            Some('s') => value.push(' '),
            Some(other @ ('\\' | '"' | '\'')) => value.push(other),
            Some(other) => value.extend(['\\', other]),
            None => value.push('\\'),
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_as_mysql_reads_it() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = |name: &str, text: &str| {
            let path = directory.path().join(name);
            std::fs::write(&path, text).expect("written");
            path
        };
        let more = directory.path().join("more");
        std::fs::create_dir(&more).expect("made");
        file("more/b.cnf", "[mayfly]\nb=2\n");
        file("more/a.cnf", "[mayfly]\na=1\n");
        file("more/c.txt", "[mayfly]\nc=3\n");
        let text = format!(
            "# comment\n[client]\nport=1\n[mysqld]\nport = 3307 # free\nskip-name-resolve\n\
             socket=\"/tmp/a b.sock\"\ndatadir='C:\\\\data\\sdir'\n; more\n!includedir {}\n\
             [mayfly]\nmax-connections=5\n",
            more.display()
        );
        let path = file("my.cnf", &text);
        let read = read(&path, &["mysqld", "mayfly"]).expect("well formed");
        let pairs: Vec<_> = read
            .iter()
            .map(|setting| (setting.name.as_str(), setting.value.as_deref()))
            .collect();
        let expected = [
            ("port", Some("3307")),
            ("skip_name_resolve", None),
            ("socket", Some("/tmp/a b.sock")),
            ("datadir", Some("C:\\data dir")),
            ("a", Some("1")),
            ("b", Some("2")),
            ("max_connections", Some("5")),
        ];
        assert_eq!(pairs, expected);
        assert_eq!(read[0].location, format!("{}:5", path.display()));
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("my.cnf");
        for (text, part) in [
            ("port=1\n", ":1: `port=1` stands in no group"),
            ("[mayfly]\n\n[mysqld\n", ":3: `]` is missing"),
        ] {
            std::fs::write(&path, text).expect("written");
            let error = read(&path, &["mayfly"]).expect_err("a mistake");
            assert!(error.contains(part), "{error}");
        }
        std::fs::write(&path, format!("!include {}\n", path.display())).expect("written");
        let error = read(&path, &["mayfly"]).expect_err("a cycle");
        assert!(error.contains("include each other"), "{error}");
    }
}
