//! Results as a table of HTML, in the form of `mysql --html`.

use std::io::{self, Write};

use mayfly_charts::html::escape;
use mayfly_engine::ResultColumn;

use super::part::Part;
use super::result_writer::Writer;
use super::values::shown;

/// Writes rows as they come.
pub(super) struct HtmlWriter {
    /// The text before the rows, until it is written.
    head: Option<String>,
}

impl HtmlWriter {
    pub(super) fn new(columns: &[ResultColumn], names: bool) -> Self {
        let mut head = "<TABLE BORDER=1>".to_owned();
        if names {
            let name = |column: &ResultColumn| format!("<TH>{}</TH>", escape(&column.name));
            head += &format!("<TR>{}</TR>", columns.iter().map(name).collect::<String>());
        }
        Self { head: Some(head) }
    }
}

impl Writer for HtmlWriter {
    fn rows(&mut self, out: &mut dyn Write, part: Part<'_>) -> io::Result<()> {
        out.write_all(self.head.take().unwrap_or_default().as_bytes())?;
        for row in part.rows() {
            out.write_all(b"<TR>")?;
            for value in &row {
                write!(out, "<TD>{}</TD>", escape(&shown(value.as_deref())))?;
            }
            out.write_all(b"</TR>")?;
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        // As for `mysql`, an empty result is nothing.
        match self.head {
            Some(_) => Ok(()),
            None => out.write_all(b"</TABLE>\n"),
        }
    }
}
