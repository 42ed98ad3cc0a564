//! Files of cells in which Mayfly differs: a block, then lines of rows with columns and the numbers of atoms.

use std::collections::BTreeMap;

use super::grid::{Words, label};

/// Where a cell is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) block: String,
    pub(super) row: String,
    pub(super) column: String,
}

impl Place {
    /// The place of a cell's words, the last two of which are row and column.
    pub(super) fn new(block: &str, cell: &Words<'_>) -> Self {
        let [.., (_, row), (_, column)] = &cell[..] else {
            panic!("a cell has a row and a column");
        };
        Self {
            block: block.to_owned(),
            row: label(row),
            column: label(column),
        }
    }
}

/// Names of columns: words, or letters together.
pub(super) fn columns(text: &str) -> Vec<String> {
    if let Some(words) = text.strip_prefix(' ') {
        return words.split(' ').map(str::to_owned).collect();
    }
    text.chars().map(String::from).collect()
}

/// Reads a file of differing cells.
pub(super) fn read(text: &str) -> BTreeMap<Place, Vec<usize>> {
    let mut cells = BTreeMap::new();
    let mut block = "";
    for line in text.lines() {
        if let Some(head) = line.strip_prefix("= ") {
            block = head;
            continue;
        }
        let mut parts = line.split('\t');
        let rows = parts.next().unwrap();
        for part in parts {
            let (names, numbers) = part.rsplit_once(':').unwrap();
            let numbers: Vec<usize> = numbers.split(',').map(|it| it.parse().unwrap()).collect();
            for row in rows.split(' ') {
                for column in columns(names) {
                    let place = Place {
                        block: block.to_owned(),
                        row: row.to_owned(),
                        column,
                    };
                    cells.insert(place, numbers.clone());
                }
            }
        }
    }
    cells
}

/// Writes a file of differing cells.
pub(super) fn write(cells: &BTreeMap<Place, Vec<usize>>) -> String {
    let mut blocks: BTreeMap<&str, BTreeMap<&str, BTreeMap<String, Vec<&str>>>> = BTreeMap::new();
    for (place, numbers) in cells {
        let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
        let rows = blocks.entry(&place.block).or_default();
        let row = rows.entry(&place.row).or_default();
        row.entry(numbers.join(","))
            .or_default()
            .push(&place.column);
    }
    let mut text = String::new();
    for (block, rows) in blocks {
        text.push_str(&format!("= {block}\n"));
        let mut same: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for (row, found) in rows {
            let parts = found.iter().map(|(numbers, columns)| {
                let is_letters = columns.iter().all(|name| name.chars().count() == 1);
                let columns = if is_letters {
                    columns.concat()
                } else {
                    format!(" {}", columns.join(" "))
                };
                format!("\t{columns}:{numbers}")
            });
            same.entry(parts.collect()).or_default().push(row);
        }
        for (parts, rows) in same {
            text.push_str(&format!("{}{parts}\n", rows.join(" ")));
        }
    }
    text
}

/// Cells that differ on purpose.
pub(super) struct Exceptions(Vec<Exception>);

struct Exception {
    block: String,
    rows: Vec<String>,
    columns: String,
    numbers: Vec<usize>,
}

impl Exceptions {
    /// The exceptions of a grid. A line is `slug | grid | block | rows | columns | numbers of atoms`; `*` stands for
    /// all, and at the end of a block's or a row's words for any others.
    pub(super) fn read(text: &str, grid: &str) -> Self {
        let compat = include_str!("../../../../../COMPAT.md");
        let lines = text
            .lines()
            .filter(|it| !it.is_empty() && !it.starts_with('#'));
        let parts = lines.map(|line| line.split(" | ").collect::<Vec<_>>());
        let parts = parts.inspect(|parts| {
            let slug = parts[0];
            assert!(
                compat.contains(&format!("| `{slug}` |")),
                "{slug} has no row in COMPAT.md"
            );
        });
        let own = parts
            .filter(|parts| parts[1] == grid)
            .map(|parts| Exception {
                block: parts[2].to_owned(),
                rows: parts[3].split(' ').map(str::to_owned).collect(),
                columns: parts[4].to_owned(),
                numbers: match parts[5] {
                    "*" => Vec::new(),
                    numbers => numbers.split(',').map(|it| it.parse().unwrap()).collect(),
                },
            });
        Self(own.collect())
    }

    /// Whether an atom of a cell differs on purpose.
    pub(super) fn has(&self, place: &Place, number: usize) -> bool {
        let fits = |pattern: &str, text: &str| match pattern.strip_suffix('*') {
            Some(start) => text.starts_with(start),
            None => text == pattern,
        };
        self.0.iter().any(|exception| {
            fits(&exception.block, &place.block)
                && exception.rows.iter().any(|row| fits(row, &place.row))
                && (exception.columns == "*" || columns(&exception.columns).contains(&place.column))
                && (exception.numbers.is_empty() || exception.numbers.contains(&number))
        })
    }
}
