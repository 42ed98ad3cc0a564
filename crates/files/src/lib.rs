//! Data files as tables: `FROM 'sales.csv'`, `FROM read_parquet('years/*.parquet')`, `COPY t TO 'sales.parquet'`.
//!
//! Each format is a table function of the engine. A call finds its files (`paths`), reads as much of them as their
//! columns need, and gives the engine a provider (`table`) whose scans are divided into pieces (row groups, blocks of
//! text) that the workers of a statement take one after another. Rows are written by `write`. `docs/files.md` has the types and options.
//!
//! Paths that are URLs name objects of stores, if the feature `object-stores` is on (`stores`).
//!
//! No value is changed without a word: what a SQL type cannot hold is an error that names file and place.

mod arrow;
mod columns;
mod csv;
mod declared;
mod excel;
mod function;
mod guard;
mod json;
mod kept;
mod parquet;
mod paths;
mod stores;
mod table;
mod terms;
mod text;
mod write;

use std::sync::Arc;

use mayfly_engine::Database;

use self::function::{FORMATS, REJECTS};
pub use self::write::result_file;

/// Adds the functions that read files to a database: `read_csv`, `read_json`, `read_parquet`, `read_arrow`, `read_excel`,
/// `read_csv_rejects`, and `read_file`, which `FROM 'name'` calls; and the writer of files.
pub fn register(database: &Database) {
    let functions = FORMATS
        .iter()
        .map(|format| (format.function, function::ReadFiles(Some(format))));
    let any = ("read_file", function::ReadFiles(None));
    // DuckDB's name of the function.
    let excel = FORMATS
        .iter()
        .find(|format| format.function == "read_excel");
    let xlsx = ("read_xlsx", function::ReadFiles(excel));
    let rejects = ("read_csv_rejects", function::ReadFiles(Some(&REJECTS)));
    for (name, function) in functions.chain([any, xlsx, rejects]) {
        database.add_table_function(name, Arc::new(function));
    }
    database.set_file_output(Arc::new(write::WriteFiles));
    #[cfg(feature = "object-stores")]
    database.set_object_stores(Arc::new(stores::Stores::default()));
}
