//! Source of the page's data: statements in SQL, and their results as text.

use std::fmt;

/// Purpose of a statement's session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Session {
    /// The page's own monitoring, which the page does not show.
    Watching,
    /// A user's request: EXPLAIN, KILL.
    Asked,
}

/// Facts about a source that need no SQL.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// The server's version, as in VERSION().
    pub version: String,
    /// The account that runs the statements.
    pub account: String,
}

/// A source of the page's data. Each call may come from another thread.
pub trait Source: Send + Sync + 'static {
    /// Runs statements in one session and returns the result of each. The session has its default settings before and
    /// after. Each text must be one statement: a text with a second one is an error, and runs nothing. The first error
    /// ends it.
    fn run(&self, session: Session, statements: &[&str]) -> Result<Vec<Table>, SourceError>;

    /// See [`Facts`].
    fn facts(&self) -> Facts;

    /// The report of the advisor in its own JSON form, or `None` where there is no advisor.
    fn findings(&self) -> Result<Option<serde_json::Value>, SourceError>;

    /// Whether a session is one of [`Session::Watching`].
    fn is_watching(&self, session_id: u64) -> bool;
}

/// A statement's error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceError {
    /// MySQL's error number.
    pub code: u16,
    /// MySQL's error text.
    pub message: String,
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code)
    }
}

impl std::error::Error for SourceError {}

/// A result: column names, and values as a client displays them; `None` is NULL.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Table {
    /// Names, in any letter case.
    pub columns: Vec<String>,
    /// One value per column.
    pub rows: Vec<Vec<Option<String>>>,
}

impl Table {
    /// The rows, with access by column name.
    pub(crate) fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.rows.iter().map(|values| Row {
            columns: &self.columns,
            values,
        })
    }
}

/// A row of a [`Table`]. A missing column reads as NULL, so that the page works without it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row<'t> {
    columns: &'t [String],
    values: &'t [Option<String>],
}

impl<'t> Row<'t> {
    pub(crate) fn text(&self, column: &str) -> Option<&'t str> {
        let is_it = |name: &String| name.eq_ignore_ascii_case(column);
        let index = self.columns.iter().position(is_it)?;
        self.values.get(index)?.as_deref()
    }

    pub(crate) fn whole(&self, column: &str) -> Option<u64> {
        self.text(column)?.parse().ok()
    }

    pub(crate) fn number(&self, column: &str) -> Option<f64> {
        let number: f64 = self.text(column)?.parse().ok()?;
        number.is_finite().then_some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_that_is_not_there_is_null() {
        let table = Table {
            columns: vec!["Id".to_owned(), "TIME".to_owned(), "short".to_owned()],
            rows: vec![vec![Some("7".to_owned()), None]],
        };
        let row = table.rows().next().expect("a row");
        assert_eq!(row.whole("ID"), Some(7));
        assert_eq!(row.number("id"), Some(7.0));
        assert_eq!(row.text("time"), None);
        assert_eq!(row.text("short"), None, "a row may be short");
        assert_eq!(row.text("other"), None);
    }

    #[test]
    fn numbers_that_json_has_not_are_null() {
        let table = Table {
            columns: vec!["a".to_owned()],
            rows: vec![vec![Some("inf".to_owned())], vec![Some("-3".to_owned())]],
        };
        let rows: Vec<_> = table.rows().collect();
        assert_eq!(rows[0].number("a"), None);
        assert_eq!(rows[1].whole("a"), None);
        assert_eq!(rows[1].number("a"), Some(-3.0));
    }
}
