//! The interface through which a client passes on results, and the receivers that keep rows or count them.

use std::io::{self, Read};

use super::column::{Column, Row};

/// Receiver of the results of a text. An error of its methods ends the connection, since the rest of the result is left
/// unread.
pub trait Receiver {
    /// A result with rows begins.
    ///
    /// # Errors
    /// No such result is wanted.
    fn columns(&mut self, columns: Vec<Column>) -> Result<(), String>;

    /// A row of it.
    ///
    /// # Errors
    /// No more rows are wanted.
    fn row(&mut self, row: &Row<'_>) -> Result<(), String>;

    /// A result ends, with rows or without.
    ///
    /// # Errors
    /// No more results are wanted.
    fn end(&mut self, end: &ResultEnd) -> Result<(), String>;

    /// Opens the file that the text itself names for LOAD DATA LOCAL.
    ///
    /// # Errors
    /// The file cannot be opened, or no file is given.
    fn open(&mut self, path: &str) -> io::Result<Box<dyn Read>> {
        Err(io::Error::other(format!("{path}: no file is given")))
    }
}

/// The end of a result.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResultEnd {
    /// Whether it has rows, perhaps none.
    pub has_rows: bool,
    /// Rows inserted, changed or deleted.
    pub affected_rows: u64,
    /// The first generated AUTO_INCREMENT number, or 0.
    pub insert_id: u64,
    /// Number of warnings.
    pub warnings: u16,
    /// "Records: 4  Duplicates: 0  Warnings: 0" and the like.
    pub info: String,
    /// Whether it is the last result of the text.
    pub is_last: bool,
}

/// A result: the names of its columns, and its rows in text form.
#[derive(Debug, Clone, Default)]
pub struct Rows {
    /// The names of the columns.
    pub names: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<Option<String>>>,
}

/// The values of a row as text.
fn texts(row: &Row<'_>) -> Result<Vec<Option<String>>, String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let values = row.values()?.into_iter();
    Ok(values.map(|value| value.map(text)).collect())
}

/// Keeps the rows, within limits.
#[derive(Debug)]
pub(super) struct Keep {
    pub(super) rows: Rows,
    pub(super) rows_max: usize,
    pub(super) bytes_max: usize,
    pub(super) bytes: usize,
}

impl Receiver for Keep {
    fn columns(&mut self, columns: Vec<Column>) -> Result<(), String> {
        if !self.rows.names.is_empty() {
            return Err("the server sends several results for one statement".to_owned());
        }
        self.rows.names = columns.into_iter().map(|column| column.name).collect();
        Ok(())
    }

    fn row(&mut self, row: &Row<'_>) -> Result<(), String> {
        if self.rows.rows.len() == self.rows_max {
            let most = self.rows_max;
            return Err(format!(
                "the server sends more than {most} rows for one statement, which is as many as are kept"
            ));
        }
        let values = texts(row)?;
        self.bytes += row.size() + values.len() * size_of::<Option<String>>();
        if self.bytes > self.bytes_max {
            return Err(format!(
                "the server sends more than {} bytes for one statement, which is as much as is kept",
                self.bytes_max
            ));
        }
        self.rows.rows.push(values);
        Ok(())
    }

    fn end(&mut self, _end: &ResultEnd) -> Result<(), String> {
        Ok(())
    }
}

/// Passes rows to a function and keeps none.
pub(super) struct Pass<F>(pub(super) F);

impl<F: FnMut(&[Option<String>])> Receiver for Pass<F> {
    fn columns(&mut self, _columns: Vec<Column>) -> Result<(), String> {
        Ok(())
    }

    fn row(&mut self, row: &Row<'_>) -> Result<(), String> {
        (self.0)(&texts(row)?);
        Ok(())
    }

    fn end(&mut self, _end: &ResultEnd) -> Result<(), String> {
        Ok(())
    }
}
