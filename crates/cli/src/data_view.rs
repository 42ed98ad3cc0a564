//! `mayfly data.parquet`: a file that the engine reads itself, as a view of its name.

use std::path::Path;

use mayfly_engine::Session;

/// Makes the view `data` of the file `data.parquet` or `data.csv.gz`.
pub(crate) fn open(session: &mut Session, path: &str) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{path}: {error}");
    // The view stays in a data directory, wherever the next process is started.
    let real = Path::new(path).canonicalize().map_err(failed)?;
    let name = Path::new(path).file_name().unwrap_or_default();
    let name = name.to_string_lossy();
    let name = name.split('.').next().filter(|name| !name.is_empty());
    let name = name.unwrap_or("data").replace('`', "``");
    let file = real
        .to_string_lossy()
        .replace('\\', "\\\\")
        .replace('\'', "''");
    let sql = format!("CREATE OR REPLACE VIEW `{name}` AS SELECT * FROM '{file}'");
    let made = session.execute(&sql);
    made.map(drop).map_err(|error| format!("{path}: {error}"))
}
