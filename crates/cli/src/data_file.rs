//! `mayfly data.csv`: a file of data as a table of its name.
//!
//! Text (CSV, JSON) is loaded, since reading it takes longer than reading a table. Columnar files (Parquet, Arrow),
//! directories and patterns become views, which read nothing before a statement does.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use mayfly_engine::Session;

use crate::connection::of_session;
use crate::file_format;
use crate::progress::Progress;
use crate::warnings;

/// Opens a file, a directory or a pattern under its name up to the first dot.
pub(crate) fn open(session: &mut Session, path: &str) -> Result<(), String> {
    let name = identifier(&table_name(path));
    if file_format::is_text(path) {
        return load(session, &name, path, path);
    }
    // The view stays in a data directory, wherever the next process is started.
    let absolute = std::path::absolute(path).map_err(|error| format!("{path}: {error}"))?;
    let file = text_literal(&absolute.to_string_lossy());
    let sql = format!("CREATE OR REPLACE VIEW {name} AS SELECT * FROM {file}");
    let made = session.execute(&sql);
    made.map(drop).map_err(|error| format!("{path}: {error}"))
}

/// Loads standard input into the table `stdin`; its first bytes tell the format.
pub(crate) fn open_standard_input(session: &mut Session, directory: &Path) -> Result<(), String> {
    const SHOWN: &str = "standard input";
    let failed = |error: io::Error| format!("{SHOWN}: {error}");
    let mut file = tempfile::Builder::new()
        .prefix("mayfly-stdin-")
        .tempfile_in(directory)
        .map_err(failed)?;
    io::copy(&mut io::stdin().lock(), &mut file).map_err(failed)?;
    file.flush().map_err(failed)?;
    load(session, "`stdin`", &file.path().to_string_lossy(), SHOWN)
}

/// Makes a table with the rows of a file. Errors and warnings name the file as `shown`.
fn load(session: &mut Session, table: &str, path: &str, shown: &str) -> Result<(), String> {
    let bar = Progress::watch(session.progress_handle(), Some(shown));
    let sql = format!(
        "CREATE TABLE {table} AS SELECT * FROM {}",
        text_literal(path)
    );
    let result = session.execute(&sql);
    drop(bar);
    result.map_err(|error| format!("{shown}: {error}"))?;
    warnings::print(&of_session(session), &format!("in {shown}"));
    Ok(())
}

/// The name of a path's table: that of the file up to its first dot; of a pattern, that of the directory it is in.
fn table_name(path: &str) -> String {
    let path = PathBuf::from(path);
    let named = path
        .ancestors()
        .find(|path| !file_format::is_pattern(&path.to_string_lossy()));
    let name = named
        .and_then(Path::file_name)
        .unwrap_or_default()
        .to_string_lossy();
    let name = name.split('.').next().filter(|name| !name.is_empty());
    name.unwrap_or("data").to_owned()
}

fn identifier(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

fn text_literal(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_named_as_their_files() {
        for (path, name) in [
            ("a.csv", "a"),
            ("dir/it's.t.json", "it's"),
            ("dir/.hidden", "data"),
            ("sales/", "sales"),
            ("sales/*.parquet", "sales"),
            ("sales/y=202[45]/*.parquet", "sales"),
            ("*.parquet", "data"),
        ] {
            assert_eq!(table_name(path), name, "{path}");
        }
        assert_eq!(identifier("a`b"), "`a``b`");
        assert_eq!(text_literal("it's \\"), "'it''s \\\\'");
    }
}
