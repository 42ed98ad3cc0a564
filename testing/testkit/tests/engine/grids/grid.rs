//! Descriptions of grids (`testing/grids/*.grid`), and the answers to their cells; `testing/grids/grid.py` defines the
//! lines, and implements the same for other servers.

use super::client::{Answer, Client, Result};

/// A word of a list: its fields, the first of which is its name.
pub(super) type Word = Vec<(String, String)>;

/// The name of a word in files, where spaces separate names.
pub(super) fn label(word: &Word) -> String {
    word[0].1.replace(' ', "_")
}

/// Words of a cell, each with its list's name.
pub(super) type Words<'a> = Vec<(&'a str, &'a Word)>;

/// A description.
#[derive(Default)]
pub(super) struct Grid {
    /// Statements of the setup, each with the list for whose words it is repeated.
    setup: Vec<(Option<String>, String)>,
    axes: Vec<(String, Vec<Word>)>,
    program: Vec<String>,
}

impl Grid {
    /// Reads a file's text.
    pub(super) fn read(text: &str) -> Self {
        let mut grid = Self::default();
        let mut head: Vec<&str> = Vec::new();
        let lines = text.lines();
        for line in lines.filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
            let Some(line) = line.strip_prefix("  ") else {
                head = line.split_whitespace().collect();
                if head[0] == "axis" {
                    grid.axes.push((head[1].to_owned(), Vec::new()));
                }
                continue;
            };
            match head[0] {
                "setup" => {
                    let each = head.get(2).map(|name| (*name).to_owned());
                    grid.setup.push((each, line.to_owned()));
                }
                "axis" => {
                    let (names, fields) = match &head[2..] {
                        [] => (&["name"][..], vec![line]),
                        names => (names, line.split(" |").map(str::trim).collect()),
                    };
                    let fields = fields.into_iter().chain(std::iter::repeat(""));
                    let fields = names.iter().zip(fields);
                    let word = fields.map(|(name, field)| ((*name).to_owned(), field.to_owned()));
                    let (_, words) = grid.axes.last_mut().unwrap();
                    words.push(word.collect());
                }
                _ => grid.program.push(line.to_owned()),
            }
        }
        grid
    }

    /// The statements of the setup.
    pub(super) fn statements(&self) -> Vec<String> {
        let mut statements = Vec::new();
        for (each, statement) in &self.setup {
            match self
                .axes
                .iter()
                .find(|(name, _)| Some(name) == each.as_ref())
            {
                Some((name, words)) => {
                    statements.extend(words.iter().map(|word| expand(statement, &[(name, word)])));
                }
                None => statements.push(statement.clone()),
            }
        }
        statements
    }

    /// The combinations of words of all lists but the last two.
    pub(super) fn blocks(&self) -> Vec<Words<'_>> {
        let mut blocks = vec![Vec::new()];
        for (name, words) in &self.axes[..self.axes.len() - 2] {
            let longer = blocks.into_iter().flat_map(|block: Words<'_>| {
                let last = words.iter().map(move |word| (name.as_str(), word));
                last.map(move |word| [&block[..], &[word]].concat())
            });
            blocks = longer.collect();
        }
        blocks
    }

    /// The cells of a block: its words with each pair of words of the last two lists.
    pub(super) fn cells<'a>(&'a self, block: &'a Words<'a>) -> impl Iterator<Item = Words<'a>> {
        let [.., (row, rows), (column, columns)] = &self.axes[..] else {
            panic!("a grid has two lists at least");
        };
        rows.iter().flat_map(move |one| {
            columns.iter().map(move |other| {
                let mut cell = block.clone();
                cell.extend([(row.as_str(), one), (column.as_str(), other)]);
                cell
            })
        })
    }

    /// Mayfly's answer to a cell in a session, beside which there is another session.
    pub(super) fn run(
        &self,
        client: &mut Client,
        other: &mut Client,
        words: &Words<'_>,
    ) -> Vec<Atom> {
        let mut atoms: Vec<Atom> = Vec::new();
        for step in &self.program {
            let step = expand(step, words);
            let (how, text) = step.split_once(' ').unwrap_or_default();
            let is_over = atoms.last().is_some_and(|atom| atom.text.starts_with('!'));
            match how {
                "undo" => drop(client.query(text)),
                "other-undo" => drop(other.query(text)),
                "" => {}
                _ if is_over => {}
                "do" | "other" => {
                    let session = if how == "do" {
                        &mut *client
                    } else {
                        &mut *other
                    };
                    let failed = session.query(text).err();
                    atoms.extend(failed.map(|errno| Atom::value(format!("!{errno}"))));
                }
                "run" => {
                    let result = client.query(text);
                    atoms.push(told(client, &result));
                }
                "try" => {
                    let errno = client.query(text).err();
                    let told = errno.map_or("ok".to_owned(), |errno| format!("E{errno}"));
                    atoms.push(Atom::value(told));
                }
                "load" => {
                    let (content, text) = text.split_once(" <- ").unwrap();
                    client.infile = content.replace("\\n", "\n").into_bytes();
                    let result = client.query(text);
                    atoms.push(told(client, &result));
                }
                "rows" => match client.query(text) {
                    Ok(answer) => atoms.extend(values(&answer).map(Atom::value)),
                    Err(errno) => atoms.push(Atom::value(format!("E{errno}"))),
                },
                "shape" => match client.query(text) {
                    // Type, Collation, Null and Default of SHOW FULL COLUMNS.
                    Ok(answer) => {
                        let told = [1, 2, 3, 5].map(|place| Atom::ty(column(&answer, place)));
                        atoms.extend(told);
                    }
                    Err(errno) => atoms.push(Atom::value(format!("E{errno}"))),
                },
                "types" => match client.query(text) {
                    Ok(answer) => {
                        let described = answer.columns.iter().map(|column| column.description());
                        atoms.extend(described.map(Atom::ty));
                    }
                    Err(errno) => atoms.push(Atom::value(format!("E{errno}"))),
                },
                "sent" => {
                    let (parameter, text) = text.split_once(" <- ").unwrap();
                    let result = client.prepared(text, parameter);
                    atoms.push(told(client, &result));
                    if let Ok(answer) = &result {
                        let types = answer.columns.iter().map(|column| column.type_name());
                        let pairs = values(answer).zip(types);
                        atoms.extend(
                            pairs.flat_map(|(value, ty)| [Atom::value(value), Atom::ty(ty)]),
                        );
                    }
                }
                "query" => atoms.extend(select(text, |sql| client.query(sql))),
                "text" => {
                    let name = format!("@{}", argument(words, "name"));
                    atoms.extend(select(text, |sql| prepared_in_text(client, sql, &name)));
                }
                "binary" => {
                    let sent = argument(words, "sent");
                    atoms.extend(select(text, |sql| client.prepared(sql, sent)));
                }
                _ => panic!("a step {how}"),
            }
        }
        atoms
    }
}

/// A part of an answer.
pub(super) struct Atom {
    pub(super) text: String,
    /// Whether it is a type, not a value.
    pub(super) is_type: bool,
}

impl Atom {
    fn value(text: String) -> Self {
        Self {
            text,
            is_type: false,
        }
    }

    fn ty(text: String) -> Self {
        Self {
            text,
            is_type: true,
        }
    }
}

/// A field of the word of the list `a`.
fn argument<'a>(words: &Words<'a>, field: &str) -> &'a str {
    let (_, word) = words.iter().find(|(name, _)| *name == "a").unwrap();
    let (_, value) = word.iter().find(|(name, _)| name == field).unwrap();
    value
}

/// `ok` or the error, and the warnings.
fn told(client: &mut Client, result: &Result) -> Atom {
    Atom::value(match result {
        Ok(answer) if answer.warnings == 0 => "ok".to_owned(),
        Ok(_) => format!("ok {}", client.warnings().join(" ")),
        Err(errno) => format!("E{errno}"),
    })
}

fn values(answer: &Answer) -> impl Iterator<Item = String> {
    (0..answer.columns.len()).map(|place| column(answer, place))
}

fn column(answer: &Answer, place: usize) -> String {
    let values = answer.rows.iter().map(|row| atom(row[place].as_deref()));
    values.collect::<Vec<_>>().join(",")
}

fn prepared_in_text(client: &mut Client, sql: &str, variable: &str) -> Result {
    let quoted = sql.replace('\\', "\\\\").replace('\'', "''");
    client.query(&format!("PREPARE s FROM '{quoted}'"))?;
    let variables = vec![variable; sql.matches('?').count()].join(", ");
    let using = if variables.is_empty() { "" } else { " USING " };
    client.query(&format!("EXECUTE s{using}{variables}"))
}

/// Value and type of each expression, together or one by one.
fn select(text: &str, mut run: impl FnMut(&str) -> Result) -> Vec<Atom> {
    let (expressions, behind) = text.split_once(" @ ").unwrap();
    let expressions: Vec<&str> = expressions.split(" ;; ").collect();
    let mut ask = |list: &str| run(format!("SELECT {list} {behind}").trim_end());
    let together = ask(&expressions.join(", "));
    let mut atoms = Vec::new();
    for (place, expression) in expressions.iter().enumerate() {
        let alone;
        let (result, place) = match &together {
            Err(_) if expressions.len() > 1 => {
                alone = ask(expression);
                (&alone, 0)
            }
            result => (result, place),
        };
        let (value, ty) = match result {
            Ok(answer) => (column(answer, place), answer.columns[place].type_name()),
            Err(errno) => (format!("E{errno}"), "-".to_owned()),
        };
        atoms.extend([Atom::value(value), Atom::ty(ty)]);
    }
    atoms
}

/// The form of a value in a file.
fn atom(value: Option<&[u8]>) -> String {
    let Some(value) = value else {
        return "N".to_owned();
    };
    let mut text = String::new();
    let escape = |text: &mut String, byte: u32| text.push_str(&format!("\\x{byte:02x}"));
    for chunk in value.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\0'..='\x1f' | '\x7f' | '|' | '~' => escape(&mut text, u32::from(character)),
                other => text.push(other),
            }
        }
        for byte in chunk.invalid() {
            escape(&mut text, u32::from(*byte));
        }
    }
    if text == "N" {
        return "\\x4e".to_owned();
    }
    if text.starts_with(' ') {
        text.replace_range(..1, "\\x20");
    }
    if text.ends_with(' ') {
        text.replace_range(text.len() - 1.., "\\x20");
    }
    short(text)
}

/// A long text as its beginning, its length and a hash (FNV-1a).
fn short(text: String) -> String {
    let length = text.chars().count();
    if length <= 100 {
        return text;
    }
    let code = text.bytes().fold(0x811c_9dc5_u32, |code, byte| {
        (code ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    let start: String = text.chars().take(60).collect();
    format!("{start}…{length}#{code:08x}")
}

/// The text with words in place of their names.
fn expand(text: &str, words: &[(&str, &Word)]) -> String {
    let mut text = text.to_owned();
    loop {
        let mut done = String::new();
        let mut rest = text.as_str();
        while let Some(at) = rest.find('{') {
            done.push_str(&rest[..at]);
            rest = &rest[at..];
            let end = rest.find('}').unwrap_or(0);
            let word = rest.get(1..end).and_then(|name| named(name, words));
            match word {
                Some(word) => {
                    done.push_str(word);
                    rest = &rest[end + 1..];
                }
                None => {
                    done.push('{');
                    rest = &rest[1..];
                }
            }
        }
        done.push_str(rest);
        if done == text {
            return text;
        }
        text = done;
    }
}

/// The word or the field of this name.
fn named<'a>(name: &str, words: &[(&str, &'a Word)]) -> Option<&'a str> {
    let (axis, wanted) = name.split_once('.').unwrap_or((name, ""));
    let field = |word: &'a Word, wanted: &str| {
        let found = word.iter().find(|(known, _)| known == wanted);
        found.map(|(_, value)| value.as_str())
    };
    match words.iter().find(|(known, _)| *known == axis) {
        Some((_, word)) if wanted.is_empty() => Some(&word[0].1),
        Some((_, word)) => field(word, wanted),
        None if wanted.is_empty() => words.iter().find_map(|(_, word)| field(word, axis)),
        None => None,
    }
}
