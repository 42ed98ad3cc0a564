//! The columns of a table of several files, whose types are those of all files.

use std::sync::atomic::{AtomicBool, Ordering};

use arrow_array::ArrayRef;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, DurationNanosecondType, Time64NanosecondType, TimestampNanosecondType,
};
use arrow_schema::{DataType, Field, TimeUnit};
use mayfly_engine::{
    Diagnostics, InputFile, Level, PhysicalType, ProvidedColumn, Result, SqlType, TableArguments,
    TableFunctionContext, arrow_in, codes, url_scheme,
};

use crate::guard::{damaged, guarded};
use crate::paths::DataFile;

/// A file with Arrow's schema that was opened for its columns.
#[derive(Debug)]
pub(crate) struct Opened<T> {
    pub(crate) path: String,
    pub(crate) fields: Vec<Field>,
    /// See [`places`].
    pub(crate) places: Vec<Option<usize>>,
    /// What else was read.
    pub(crate) content: T,
    /// Whether a field has had nanoseconds that were cut: each is noted once.
    cut: Vec<AtomicBool>,
}

impl<T> Opened<T> {
    /// The array that the engine computes on for an array of a field. NaN and infinities are NULL, with a warning;
    /// nanoseconds below the microsecond are cut, with a note.
    pub(crate) fn values(
        &self,
        array: &ArrayRef,
        place: usize,
        diagnostics: &Diagnostics,
    ) -> Result<ArrayRef> {
        let field = &self.fields[place];
        if let Some(row) = first_cut(array)
            && !self.cut[place].swap(true, Ordering::Relaxed)
        {
            let note = codes::WARN_DATA_TRUNCATED.with(&[&field.name(), &(row + 1)]);
            diagnostics.push(Level::Note, note);
        }
        arrow_in::values(array, field, &|error| {
            diagnostics.warn(error);
            Ok(())
        })
    }
}

/// The first row with nanoseconds below the microsecond.
fn first_cut(array: &ArrayRef) -> Option<usize> {
    fn first<N: ArrowPrimitiveType<Native = i64>>(array: &ArrayRef) -> Option<usize> {
        let numbers = array.as_primitive::<N>();
        let is_cut = |number: Option<i64>| number.is_some_and(|number| number % 1000 != 0);
        numbers.iter().position(is_cut)
    }
    match array.data_type() {
        DataType::Timestamp(TimeUnit::Nanosecond, _) => first::<TimestampNanosecondType>(array),
        DataType::Time64(TimeUnit::Nanosecond) => first::<Time64NanosecondType>(array),
        DataType::Duration(TimeUnit::Nanosecond) => first::<DurationNanosecondType>(array),
        _ => None,
    }
}

/// Opens the files of a call, of which `read` gives the fields and what else is needed; returns the columns of their
/// table too. The option `union_by_name` unites the columns of the files.
pub(crate) fn open<T>(
    files: &[DataFile],
    arguments: &mut TableArguments,
    context: &TableFunctionContext,
    read: impl Fn(&str, InputFile) -> Result<(Vec<Field>, T)> + Sync,
) -> Result<(Vec<ProvidedColumn>, Vec<Opened<T>>)>
where
    T: Send,
{
    let by_name = arguments.flag("union_by_name")?.unwrap_or(false);
    let mut columns = Columns::new(by_name);
    let mut opened = Vec::with_capacity(files.len());
    let read = |path: &str| {
        context.interrupt.check()?;
        let file = context.files.open(path)?;
        guarded(path, || read(path, file))
    };
    for files in files.chunks(REQUESTS) {
        for (DataFile { path, .. }, read) in files.iter().zip(read_together(files, &read)) {
            let (fields, content) = read?;
            columns.add(path, &fields, &context.diagnostics)?;
            opened.push((path, fields, content));
        }
    }
    let columns = columns.columns;
    let opened = opened.into_iter().map(|(path, fields, content)| Opened {
        path: path.clone(),
        places: places(&columns, &fields),
        cut: fields.iter().map(|_| AtomicBool::new(false)).collect(),
        fields,
        content,
    });
    let opened = opened.collect();
    Ok((columns, opened))
}

/// Objects that are looked at together: a thread waits for each.
const REQUESTS: usize = 16;

/// Reads some files: one after another, or objects of a store together.
fn read_together<T: Send>(
    files: &[DataFile],
    read: &(impl Fn(&str) -> Result<T> + Sync),
) -> Vec<Result<T>> {
    let are_remote = files.iter().all(|file| url_scheme(&file.path).is_some());
    if !are_remote || files.len() == 1 {
        return files.iter().map(|file| read(&file.path)).collect();
    }
    std::thread::scope(|scope| {
        let threads = files.iter().map(|file| scope.spawn(|| read(&file.path)));
        let threads: Vec<_> = threads.collect();
        let joined = threads.into_iter().map(|thread| match thread.join() {
            Ok(read) => read,
            Err(payload) => std::panic::resume_unwind(payload),
        });
        joined.collect()
    })
}

/// The types of the columns' arrays.
pub(crate) fn array_types(columns: &[ProvidedColumn]) -> impl Iterator<Item = DataType> {
    columns.iter().map(|column| column.ty.physical().arrow())
}

/// The columns of the files so far.
struct Columns {
    by_name: bool,
    first: Option<String>,
    columns: Vec<ProvidedColumn>,
    /// Whether no file so far has a value of the column.
    is_empty: Vec<bool>,
}

impl Columns {
    /// Without files. Files may have other columns than the first one if they are united by name: the others are then NULL.
    fn new(by_name: bool) -> Self {
        Self {
            by_name,
            first: None,
            columns: Vec::new(),
            is_empty: Vec::new(),
        }
    }

    /// Adds the columns of a file, which must be those of the first one unless they are united.
    /// A column that SQL has no type for is left out, with a warning.
    fn add(&mut self, path: &str, fields: &[Field], diagnostics: &Diagnostics) -> Result<()> {
        let is_first = self.first.is_none();
        let first = self.first.get_or_insert_with(|| path.to_owned()).clone();
        let mut has = vec![false; self.columns.len()];
        for field in fields {
            let column = match arrow_in::column(field) {
                // NaN is NULL.
                Ok(column) if column.ty.physical() == PhysicalType::Float64 => ProvidedColumn {
                    nullable: true,
                    ..column
                },
                Ok(column) => column,
                Err(error) => {
                    diagnostics.warn(error);
                    continue;
                }
            };
            let is_null = *field.data_type() == DataType::Null;
            let is_free = |at: usize| has.get(at) == Some(&false);
            let Some(at) = position(&self.columns, &column.name, is_free) else {
                if !is_first && !self.by_name {
                    return Err(another(path, &column.name, &first));
                }
                let nullable = column.nullable || !is_first;
                self.columns.push(ProvidedColumn { nullable, ..column });
                self.is_empty.push(is_null);
                continue;
            };
            has[at] = true;
            let known = &mut self.columns[at];
            known.nullable |= column.nullable;
            if is_null {
                continue;
            }
            known.ty = if self.is_empty[at] {
                column.ty
            } else {
                common(&known.ty, &column.ty).ok_or_else(|| {
                    let name = &column.name;
                    damaged(
                        path,
                        format!("its column '{name}' is of another type than that of '{first}'"),
                    )
                })?
            };
            self.is_empty[at] = false;
        }
        for (at, _) in has.iter().enumerate().filter(|(_, has)| !**has) {
            if !self.by_name {
                let name = self.columns[at].name.clone();
                let why = format!(
                    "it has no column '{name}' as '{first}' has; union_by_name => true gives NULL"
                );
                return Err(damaged(path, why));
            }
            self.columns[at].nullable = true;
        }
        Ok(())
    }
}

fn another(path: &str, name: &str, first: &str) -> mayfly_engine::Error {
    let why = format!(
        "it has a column '{name}' that '{first}' has not; union_by_name => true unites the columns"
    );
    damaged(path, why)
}

/// The first free column of a name: of that very name, or else without regard to case.
fn position(
    columns: &[ProvidedColumn],
    name: &str,
    is_free: impl Fn(usize) -> bool,
) -> Option<usize> {
    let find = |is_it: &dyn Fn(&str) -> bool| {
        let mut columns = columns.iter().enumerate();
        columns.find(|(at, column)| is_free(*at) && is_it(&column.name))
    };
    let lower = name.to_lowercase();
    let found = find(&|it| it == name).or_else(|| find(&|it| it.to_lowercase() == lower));
    found.map(|(at, _)| at)
}

/// For each column its index among a file's fields; `None` if the file has none or only NULLs.
fn places(columns: &[ProvidedColumn], fields: &[Field]) -> Vec<Option<usize>> {
    let mut places = vec![None; columns.len()];
    let mut used = vec![false; columns.len()];
    for (at, field) in fields.iter().enumerate() {
        if let Some(column) = position(columns, field.name(), |column| !used[column]) {
            used[column] = true;
            places[column] = (*field.data_type() != DataType::Null).then_some(at);
        }
    }
    places
}

/// The type that holds the values of both, in the arrays of both.
fn common(a: &SqlType, b: &SqlType) -> Option<SqlType> {
    if a == b {
        return Some(a.clone());
    }
    let is_alike = a.physical() == b.physical()
        && (a.is_numeric() && b.is_numeric() || a.is_string() && b.is_string())
        && a.collation == b.collation;
    let wider = if b.length > a.length { b } else { a };
    is_alike.then(|| wider.clone())
}
