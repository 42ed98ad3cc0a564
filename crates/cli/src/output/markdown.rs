//! Results as a table of GitHub Flavored Markdown (section 4.10).

use std::io::{self, Write};

use mayfly_engine::ResultColumn;

use super::part::Part;
use super::result_writer::Writer;
use super::values::{is_number, shown};

/// Writes rows as they come.
pub(super) struct MarkdownWriter {
    /// The lines above the rows, until they are written.
    head: Option<String>,
}

impl MarkdownWriter {
    pub(super) fn new(columns: &[ResultColumn]) -> Self {
        let (mut names, mut rule) = ("|".to_owned(), "|".to_owned());
        for column in columns {
            names += &format!(" {} |", cell(&column.name));
            rule += if is_number(column.ty.kind) {
                " ---: |"
            } else {
                " --- |"
            };
        }
        Self {
            head: Some(format!("{names}\n{rule}\n")),
        }
    }

    fn write_head(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let head = self.head.take().unwrap_or_default();
        out.write_all(head.as_bytes())
    }
}

impl Writer for MarkdownWriter {
    fn rows(&mut self, out: &mut dyn Write, part: Part<'_>) -> io::Result<()> {
        self.write_head(out)?;
        for row in part.rows() {
            out.write_all(b"|")?;
            for value in &row {
                write!(out, " {} |", cell(&shown(value.as_deref())))?;
            }
            out.write_all(b"\n")?;
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.write_head(out)
    }
}

/// A text as the content of a cell, in which Markdown changes nothing.
fn cell(text: &str) -> String {
    let mut cell = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '|' | '\\' | '`' | '*' | '_' | '<' | '[' | ']' | '~' => {
                cell.push('\\');
                cell.push(character);
            }
            '&' => cell.push_str("&amp;"),
            '\n' => cell.push_str("<br>"),
            '\r' => {}
            _ => cell.push(character),
        }
    }
    cell
}

#[cfg(test)]
mod tests {
    #[test]
    fn cells_keep_their_text() {
        assert_eq!(super::cell("a|b\r\n*c* <d>"), "a\\|b<br>\\*c\\* \\<d>");
    }
}
