//! The table functions, one for each format, and `read_file`, which chooses among them.

use std::sync::Arc;

use mayfly_engine::{
    CallOption, Result, TableArguments, TableFunction, TableFunctionContext, TableProvider,
    shown_path,
};

use crate::guard::damaged;
use crate::paths::{DataFile, Found, Search};
use crate::stores;
use crate::table::{FileTable, Format, GivenCall, ended};
use crate::text::input::{Encoding, Input};
use crate::{arrow, csv, excel, json, parquet};

/// A file format.
#[derive(Debug)]
pub(crate) struct FileFormat {
    /// The table function.
    pub(crate) function: &'static str,
    /// The endings of its files' names, before one of a compression.
    endings: &'static [&'static str],
    /// First bytes that its files may have.
    begin: &'static [&'static [u8]],
    /// Reads what the columns of files need.
    open: Open,
}

/// Reads what the columns of files need.
type Open = fn(&[DataFile], &mut TableArguments, &TableFunctionContext) -> Result<Box<dyn Format>>;

/// The formats; the first one is that of text without first bytes of its own.
pub(crate) const FORMATS: &[FileFormat] = &[
    FileFormat {
        function: "read_csv",
        endings: &["csv", "tsv", "tab"],
        begin: &[],
        open: csv::open,
    },
    FileFormat {
        function: "read_json",
        endings: &["json", "ndjson", "jsonl"],
        begin: &[b"{", b"["],
        open: json::open,
    },
    FileFormat {
        function: "read_parquet",
        endings: &["parquet", "pq"],
        begin: &[b"PAR1"],
        open: parquet::open,
    },
    FileFormat {
        function: "read_arrow",
        endings: &["arrow", "feather", "arrows"],
        begin: &[b"ARROW1"],
        open: arrow::open,
    },
    FileFormat {
        function: "read_excel",
        // What the old format has is said by its reader.
        endings: &["xlsx", "xlsm", "xlsb", "ods", "xls"],
        begin: &[b"PK\x03\x04", excel::OLD],
        open: excel::open,
    },
];

/// The rows of CSV files that cannot be read.
pub(crate) static REJECTS: FileFormat = FileFormat {
    function: "read_csv_rejects",
    endings: FORMATS[0].endings,
    begin: &[],
    open: csv::rejects::open,
};

/// Options that say which files there are, of which format, or what a call elsewhere cannot repeat.
const NOT_REPEATED: &[&str] = &["hive_partitioning", "filename", "format"];

/// Number of bytes that tell the format of a file whose name does not.
const SAMPLE: usize = 4096;

/// Endings of compressed files.
const COMPRESSIONS: &[&str] = &["gz", "zst"];

/// The format of a file's name.
fn by_name(path: &str) -> Option<&'static FileFormat> {
    let path = shown_path(path);
    let mut parts = path.rsplit('.');
    let mut ending = parts.next()?.to_ascii_lowercase();
    if COMPRESSIONS.contains(&ending.as_str()) {
        ending = parts.next()?.to_ascii_lowercase();
    }
    FORMATS
        .iter()
        .find(|format| format.endings.contains(&ending.as_str()))
}

/// The function that reads files of one format, or of the format that their names or first bytes tell.
#[derive(Debug)]
pub(crate) struct ReadFiles(pub(crate) Option<&'static FileFormat>);

impl TableFunction for ReadFiles {
    fn table(
        &self,
        mut arguments: TableArguments,
        context: &TableFunctionContext,
    ) -> Result<Arc<dyn TableProvider>> {
        let mut options = arguments.options();
        options.retain(|option| {
            let mut names = NOT_REPEATED.iter();
            !names.any(|name| option.name.eq_ignore_ascii_case(name))
        });
        let patterns = arguments.texts()?;
        let mut context = context.clone();
        context.files = stores::with_options(&context.files, &patterns, &mut arguments)?;
        ended(
            &context.interrupt,
            self.open(patterns, arguments, options, &context),
        )
    }
}

impl ReadFiles {
    fn open(
        &self,
        patterns: Vec<String>,
        mut arguments: TableArguments,
        options: Vec<CallOption>,
        context: &TableFunctionContext,
    ) -> Result<Arc<dyn TableProvider>> {
        let hive = arguments.flag("hive_partitioning")?;
        let filename = arguments.flag("filename")?.unwrap_or(false);
        let is_data = |name: &str| match self.0 {
            Some(format) => by_name(name).is_some_and(|known| known.endings == format.endings),
            None => by_name(name).is_some(),
        };
        let search = Search {
            files: &context.files,
            hive,
            is_data: &is_data,
        };
        let Found { files, keys } = search.run(&patterns)?;
        let named = match self.0 {
            Some(format) => Some(format),
            None => named(&mut arguments)?,
        };
        let format = match named {
            Some(format) => format,
            None => of_files(&files, context)?,
        };
        let open = (format.open)(&files, &mut arguments, context)?;
        arguments.end()?;
        let interrupt = context.interrupt.clone();
        let call = GivenCall {
            function: format.function,
            options,
            filename,
        };
        let table = FileTable::new(open, files, keys, call, interrupt)?;
        Ok(Arc::new(table))
    }
}

/// The format of the option `format`: by its function's name or the ending of its files.
fn named(arguments: &mut TableArguments) -> Result<Option<&'static FileFormat>> {
    let Some(name) = arguments.text("format")? else {
        return Ok(None);
    };
    let name = name.to_ascii_lowercase();
    let mut formats = FORMATS.iter();
    let is_named = |format: &&FileFormat| {
        let of_function = format.function.strip_prefix("read_") == Some(name.as_str());
        of_function || format.endings.contains(&name.as_str())
    };
    match formats.find(is_named) {
        Some(format) => Ok(Some(format)),
        None => {
            let names = FORMATS
                .iter()
                .filter_map(|it| it.function.strip_prefix("read_"));
            let names = names.collect::<Vec<_>>().join(", ");
            Err(arguments.error(format!(
                "there is no format '{name}'; the formats are {names}"
            )))
        }
    }
}

/// The format of files, which all have the same one.
fn of_files(files: &[DataFile], context: &TableFunctionContext) -> Result<&'static FileFormat> {
    let mut first: Option<&FileFormat> = None;
    for file in files {
        let format = match by_name(&file.path) {
            Some(format) => format,
            None => by_content(&file.path, context)?,
        };
        match first {
            Some(known) if known.function != format.function => {
                return Err(damaged(
                    &file.path,
                    format!(
                        "it is read by {}, and '{}' by {}",
                        format.function,
                        shown_path(&files[0].path),
                        known.function
                    ),
                ));
            }
            _ => first = Some(format),
        }
    }
    first.ok_or_else(|| damaged("", "no file is named"))
}

/// The format of a file's first bytes; text of no other format is CSV.
fn by_content(path: &str, context: &TableFunctionContext) -> Result<&'static FileFormat> {
    let (mut input, _) = Input::open(&context.files, path, Encoding::Utf8)?;
    let begin = input.sample(SAMPLE)?;
    let mut formats = FORMATS.iter();
    let is_of = |format: &&FileFormat| format.begin.iter().any(|it| begin.starts_with(it));
    if let Some(format) = formats.find(is_of) {
        return Ok(format);
    }
    // The last character may be cut off.
    let is_text = match std::str::from_utf8(begin) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none(),
    };
    if is_text && !begin.is_empty() && !begin.contains(&0) {
        return Ok(&FORMATS[0]);
    }
    let functions: Vec<&str> = FORMATS.iter().map(|format| format.function).collect();
    let functions = functions.join(", ");
    Err(damaged(
        path,
        format!("neither name nor content tell its format; call one of {functions}"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_formats() {
        for (name, function) in [
            ("a.csv", Some("read_csv")),
            ("a.b/c.TSV.gz", Some("read_csv")),
            ("a.csv.zst", Some("read_csv")),
            ("a.pq", Some("read_parquet")),
            ("a.feather", Some("read_arrow")),
            ("a.sql", None),
            ("csv", Some("read_csv")),
            ("a", None),
        ] {
            let found = by_name(name).map(|format| format.function);
            if name != "csv" {
                assert_eq!(found, function, "{name}");
            }
        }
    }
}
