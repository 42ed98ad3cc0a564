//! SELECT … INTO OUTFILE, INTO DUMPFILE and INTO @variables. Files of a data format are written in `data_file`.

use std::borrow::Cow;
use std::io::{BufWriter, Write};
use std::sync::Arc;

use mayfly_plan::physical::OutputColumn;
use mayfly_syntax::ast::{IntoTarget, SelectIntoStatement};
use mayfly_types::charset::{Charset, CharsetError};
use mayfly_types::convert::shown_bytes;
use mayfly_types::error::codes;
use mayfly_types::{Batch, Diagnostics, Result, SqlType, TypeKind};

use super::data_file;
use super::planned::Planned;
use super::select::{self, Reading};
use crate::delimited::{Format, fixed_width};
use crate::result::{Outcome, StatementResult};
use crate::session::StatementContext;
use crate::variables::typed;
use crate::{character_sets, convert, files};

/// Runs the statement.
pub(super) fn run(
    context: &mut StatementContext<'_>,
    statement: &SelectIntoStatement,
) -> Result<Outcome> {
    if context.locks_what_it_reads() {
        context.read_for_change();
    }
    let plan = |context: &StatementContext<'_>| select::plan(context, &statement.query);
    match &statement.target {
        IntoTarget::Variables(names) => {
            let planned = plan(context)?;
            variables(context, &planned, names)
        }
        IntoTarget::DataFile(file) => {
            context.sampling_types(|context| data_file::write(context, &statement.query, file))
        }
        IntoTarget::DumpFile(path) => {
            let planned = plan(context)?;
            let mut file = files::create(&context.database().file_rules, path)?;
            let row = only_row(context, &planned)?;
            if let Some(batch) = &row {
                let mut bytes = Vec::new();
                for (array, column) in batch.columns().iter().zip(&planned.plan.columns) {
                    let mut value = Vec::new();
                    convert::display_row(array, 0, &column.ty, &mut value);
                    let in_file = InFile::new(&column.ty, None);
                    bytes.extend_from_slice(&in_file.bytes(&value, |_| {}));
                }
                file.write_all(&bytes)
                    .map_err(|error| files::write_error(path, &error))?;
            }
            Ok(StatementResult::affected(row.is_some().into()).into())
        }
        IntoTarget::OutFile {
            path,
            charset,
            fields,
            lines,
        } => {
            let planned = plan(context)?;
            let format = Format::new(fields, lines)?;
            let charset = charset.as_deref().map(character_sets::charset_of_file);
            let charset = charset.transpose()?;
            let columns = &planned.plan.columns;
            let mut writer = Writer::new(context, path, format, charset, columns)?;
            let mut found = context.session.diagnostics.found_rows;
            let written = select::read(context, &planned, |context, reading| {
                let written = writer.write_all(context, reading, columns);
                found = reading.found_rows();
                written
            });
            context.session.diagnostics.found_rows = found;
            Ok(StatementResult::affected(written?).into())
        }
    }
}

/// The row, if there is one: 1172 when there are more.
fn only_row(context: &mut StatementContext<'_>, planned: &Planned) -> Result<Option<Batch>> {
    let (row, found) = select::read(context, planned, |context, reading| {
        let mut only = None;
        while let Some(batch) = reading.next_batch(context)? {
            match batch.row_count() {
                0 => {}
                1 if only.is_none() => only = Some(batch),
                _ => return Err(codes::ER_TOO_MANY_ROWS.error()),
            }
        }
        Ok((only, reading.found_rows()))
    })?;
    context.session.diagnostics.found_rows = found;
    Ok(row)
}

fn variables(
    context: &mut StatementContext<'_>,
    planned: &Planned,
    names: &[String],
) -> Result<Outcome> {
    if names.len() != planned.plan.columns.len() {
        return Err(codes::ER_WRONG_NUMBER_OF_COLUMNS_IN_SELECT.error());
    }
    let Some(row) = only_row(context, planned)? else {
        context.warn(codes::ER_SP_FETCH_NO_DATA.error());
        return Ok(StatementResult::affected(0).into());
    };
    let variables = context.session.settings.user_variables();
    names
        .iter()
        .try_for_each(|name| mayfly_plan::check_user_variable(name))?;
    for ((name, array), column) in names.iter().zip(row.columns()).zip(&planned.plan.columns) {
        variables.set(name, column.ty.clone(), convert::value_at(array, 0))?;
    }
    Ok(StatementResult::affected(1).into())
}

/// Writer of rows in the format that LOAD DATA with the same clauses reads.
struct Writer {
    file: BufWriter<std::fs::File>,
    path: String,
    format: Format,
    /// The width of each column where no separators are written.
    widths: Vec<usize>,
    /// The character set conversion of each column.
    in_file: Vec<InFile>,
    diagnostics: Arc<Diagnostics>,
}

/// Character set conversion of a column: without CHARACTER SET its values are written in its own.
#[derive(Debug, Clone, Copy)]
struct InFile {
    /// The column's character set; binary for non-text columns.
    own: Charset,
    file: Charset,
}

impl InFile {
    fn new(ty: &SqlType, file: Option<Charset>) -> Self {
        let own = match ty.kind {
            _ if ty.is_string() => ty.collation.charset(),
            TypeKind::Enum | TypeKind::Set => ty.collation.charset(),
            TypeKind::Json => Charset::Utf8mb4,
            // Digits and points are the same in every character set.
            _ => Charset::Binary,
        };
        let file = file.filter(|file| *file != Charset::Binary).unwrap_or(own);
        Self { own, file }
    }

    /// The bytes of a value. Characters missing in the file's character set become `?`; invalid bytes end the value,
    /// and `wrong` gets the bytes from there on.
    fn bytes<'v>(self, value: &'v [u8], wrong: impl FnOnce(&[u8])) -> Cow<'v, [u8]> {
        if self.own == Charset::Binary {
            return match self.file.decode(value) {
                Ok(_) => Cow::Borrowed(value),
                Err(CharsetError { position }) => {
                    wrong(&value[position..]);
                    Cow::Borrowed(&value[..position])
                }
            };
        }
        self.file
            .encode(value)
            .unwrap_or_else(|CharsetError { position }| {
                wrong(&self.own.encode_lossy(&value[position..]));
                self.file.encode_lossy(value)
            })
    }
}

/// Last characters of escape sequences: as an enclosing character they are doubled instead of escaped.
const ENDS_OF_ESCAPES: &[u8] = b"ntrb0ZN";

impl Writer {
    fn new(
        context: &StatementContext<'_>,
        path: &str,
        format: Format,
        charset: Option<Charset>,
        columns: &[OutputColumn],
    ) -> Result<Self> {
        let types = columns.iter().map(|column| &column.ty);
        // If one column has no width, none has.
        let widths = if format.is_fixed_width() {
            types.clone().map(fixed_width).collect()
        } else {
            None
        };
        let file = files::create(&context.database().file_rules, path)?;
        let capacity = usize::try_from(context.settings().get(typed::SELECT_INTO_BUFFER_SIZE));
        Ok(Self {
            file: BufWriter::with_capacity(capacity.unwrap_or(128 << 10), file),
            path: path.to_owned(),
            format,
            widths: widths.unwrap_or_default(),
            in_file: types.map(|ty| InFile::new(ty, charset)).collect(),
            diagnostics: Arc::clone(context.diagnostics()),
        })
    }

    fn write_all(
        &mut self,
        context: &mut StatementContext<'_>,
        reading: &mut Reading,
        columns: &[OutputColumn],
    ) -> Result<u64> {
        let mut rows = 0;
        let (mut line, mut value) = (Vec::new(), Vec::new());
        while let Some(batch) = reading.next_batch(context)? {
            for row in 0..batch.row_count() {
                line.clear();
                line.extend_from_slice(&self.format.line_start);
                for (index, (array, column)) in batch.columns().iter().zip(columns).enumerate() {
                    let ty = &column.ty;
                    if index > 0 {
                        line.extend_from_slice(&self.format.field_end);
                    }
                    value.clear();
                    let present = convert::display_row(array, row, ty, &mut value);
                    let start = line.len();
                    let bytes = self.in_file[index].bytes(&value, |wrong| {
                        self.diagnostics.warn_with(|| {
                            codes::ER_TRUNCATED_WRONG_VALUE_FOR_FIELD.with(&[
                                &"string",
                                &shown_bytes(wrong),
                                &column.name,
                                &(rows + 1),
                            ])
                        });
                    });
                    self.field(&mut line, present.then_some(&*bytes), ty);
                    if let Some(width) = self.widths.get(index) {
                        // A value with escapes may be longer than its column.
                        let end = (start + width).max(line.len());
                        line.resize(end, b' ');
                    }
                }
                line.extend_from_slice(&self.format.line_end);
                let written = self.file.write_all(&line);
                written.map_err(|error| files::write_error(&self.path, &error))?;
                rows += 1;
            }
        }
        self.file
            .flush()
            .map_err(|error| files::write_error(&self.path, &error))?;
        Ok(rows)
    }

    fn field(&self, line: &mut Vec<u8>, value: Option<&[u8]>, ty: &SqlType) {
        let format = &self.format;
        let Some(value) = value else {
            match format.escape {
                _ if !self.widths.is_empty() => {}
                Some(escape) => line.extend_from_slice(&[escape, b'N']),
                None => line.extend_from_slice(b"NULL"),
            }
            return;
        };
        // BIT values are bytes, any of which may be a separator.
        let is_text = !ty.is_numeric() || ty.kind == TypeKind::Bit;
        let quote = format
            .enclosed
            .filter(|_| is_text || !format.optionally_enclosed);
        line.extend(quote);
        match format.escape {
            Some(escape) if is_text => {
                let separator = quote.or(format.field_end.first().copied());
                let line_end = format.line_end.first().copied();
                for &byte in value {
                    let this = Some(byte);
                    if byte == 0 {
                        line.extend_from_slice(&[escape, b'0']);
                        continue;
                    }
                    if this == separator && this == quote && ENDS_OF_ESCAPES.contains(&byte) {
                        line.push(byte);
                    } else if byte == escape || this == separator || this == line_end {
                        line.push(escape);
                    }
                    line.push(byte);
                }
            }
            _ => line.extend_from_slice(value),
        }
        line.extend(quote);
    }
}
