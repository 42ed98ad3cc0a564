//! Rows of CSV files that cannot be read: `read_csv_rejects('a.csv', …)` shows those that `read_csv` with `ignore_errors`
//! leaves out.
//!
//! A row is left out if it is malformed, has too few or too many fields, or has a value that is none of its declared type.

use std::sync::Arc;

use arrow_array::builder::BinaryViewBuilder;
use arrow_array::{ArrayRef, Int64Array};
use mayfly_engine::{
    CollationId, ProvidedColumn, Result, SqlType, TableArguments, TableFunctionContext, TypeKind,
    codes,
};

use super::reject::{REJECTS_MAX, Reject};
use crate::kept::KeptRows;
use crate::paths::DataFile;
use crate::table::Format;

/// Reads files for the rows that cannot be read.
pub(crate) fn open(
    files: &[DataFile],
    arguments: &mut TableArguments,
    context: &TableFunctionContext,
) -> Result<Box<dyn Format>> {
    let mut options = super::options_of(files, arguments, context)?;
    options.ignore_errors = true;
    options.keeps_rejects = true;
    let read = super::read(files, &mut options, false, context)?;
    let names = read.columns.iter().map(|column| column.name.as_str());
    options.declared.of_columns(names, arguments)?;
    let mut bytes = 0;
    let mut arrays = Vec::with_capacity(files.len());
    for DataFile { path, .. } in files {
        let found = read.rejects.iter().find(|(known, _)| known == path);
        let mut rejects = found.map_or_else(Vec::new, |(_, rejects)| rejects.clone());
        rejects.sort_by_key(|reject| reject.byte);
        rejects.truncate(REJECTS_MAX);
        if rejects.len() == REJECTS_MAX {
            let what = format!("file '{path}': no more than {REJECTS_MAX} rows are shown");
            context
                .diagnostics
                .warn(codes::ER_UNKNOWN_ERROR.with(&[&what]));
        }
        bytes += rejects.iter().map(|it| it.text.len() + 128).sum::<usize>();
        arrays.push(columns_of(path, &rejects));
    }
    let text = |length| SqlType::varchar(length, CollationId::default());
    let columns = [
        ("file", text(4096), false),
        ("line", SqlType::bigint(), false),
        ("byte", SqlType::bigint(), false),
        ("column", text(256), true),
        ("reason", text(1024), false),
        (
            "text",
            SqlType::text(TypeKind::LongText, CollationId::default()),
            false,
        ),
    ];
    let columns = columns.map(|(name, ty, nullable)| ProvidedColumn {
        name: name.to_owned(),
        ty,
        nullable,
    });
    Ok(Box::new(KeptRows {
        columns: columns.into(),
        files: arrays.into(),
        batch_rows: context.batch_rows.max(1),
        memory: Arc::new(context.memory.reserve(bytes as u64)?),
    }))
}

/// The columns of the rows of a file.
fn columns_of(path: &str, rejects: &[Reject]) -> Vec<ArrayRef> {
    let texts = |text: &dyn Fn(&Reject) -> Option<Vec<u8>>| -> ArrayRef {
        let mut builder = BinaryViewBuilder::new();
        for reject in rejects {
            builder.append_option(text(reject));
        }
        Arc::new(builder.finish())
    };
    let numbers = |number: fn(&Reject) -> u64| -> ArrayRef {
        let numbers = rejects.iter();
        let numbers = numbers.map(|it| i64::try_from(number(it)).unwrap_or(i64::MAX));
        Arc::new(numbers.collect::<Int64Array>())
    };
    vec![
        texts(&|_| Some(path.as_bytes().to_vec())),
        numbers(|reject| reject.line),
        numbers(|reject| reject.byte),
        texts(&|reject| reject.column.clone().map(String::into_bytes)),
        texts(&|reject| Some(reject.reason.clone().into_bytes())),
        texts(&|reject| Some(reject.text.clone())),
    ]
}
