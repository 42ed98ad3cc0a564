//! SELECT … INTO OUTFILE, INTO DUMPFILE and INTO @variables.

use std::io::{BufWriter, Write};

use mayfly_syntax::ast::{IntoTarget, SelectIntoStatement};
use mayfly_types::error::codes;
use mayfly_types::{Batch, Level, Result, SqlType, Value};

use super::select::{self, Planned, Reading};
use crate::delimited::{Format, fixed_width};
use crate::result::{Outcome, StatementResult};
use crate::session::Session;
use crate::status::Counter;
use crate::{convert, files};

/// Runs the statement.
pub(super) fn run(
    session: &mut Session,
    statement: &SelectIntoStatement,
    parameters: &[(Value, SqlType)],
) -> Result<Outcome> {
    super::count(session, Counter::ComSelect);
    let types: Vec<SqlType> = parameters.iter().map(|(_, ty)| ty.clone()).collect();
    let values: Vec<Value> = parameters.iter().map(|(value, _)| value.clone()).collect();
    let planned = select::plan_with(session, &statement.query, &types, &values)?;
    match &statement.target {
        IntoTarget::Variables(names) => variables(session, &planned, &values, names),
        IntoTarget::DumpFile(path) => {
            let mut file = files::create(session, path)?;
            let rows = first_rows(session, &planned, &values)?;
            if let Some((batch, _)) = rows.first() {
                let mut bytes = Vec::new();
                for (array, column) in batch.columns().iter().zip(&planned.plan.columns) {
                    convert::display_row(array, 0, &column.ty, &mut bytes);
                }
                file.write_all(&bytes)
                    .map_err(|error| files::write_error(path, &error))?;
            }
            Ok(affected(rows.len() as u64))
        }
        IntoTarget::OutFile {
            path,
            fields,
            lines,
            ..
        } => {
            let format = Format::new(fields, lines)?;
            let types: Vec<&SqlType> = planned
                .plan
                .columns
                .iter()
                .map(|column| &column.ty)
                .collect();
            let mut writer = Writer::new(session, path, format, &types)?;
            let mut reading = Reading::start(session, &planned, &values)?;
            let written = writer.write_all(&mut reading, &types);
            reading.finish(session);
            let rows = written?;
            Ok(affected(rows))
        }
    }
}

fn affected(rows: u64) -> Outcome {
    StatementResult {
        affected_rows: rows,
        ..StatementResult::default()
    }
    .into()
}

/// The first row; 1172 when there is another.
fn first_rows(
    session: &mut Session,
    planned: &Planned,
    values: &[Value],
) -> Result<Vec<(Batch, usize)>> {
    let mut reading = Reading::start(session, planned, values)?;
    let mut rows = Vec::new();
    let outcome = loop {
        match reading.next_batch() {
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
            Ok(Some(batch)) => {
                for row in 0..batch.row_count().min(2) {
                    rows.push((batch.slice(row, 1), row));
                }
                if rows.len() > 1 {
                    break Err(codes::ER_TOO_MANY_ROWS.error());
                }
            }
        }
    };
    reading.finish(session);
    outcome.map(|()| rows)
}

fn variables(
    session: &mut Session,
    planned: &Planned,
    values: &[Value],
    names: &[String],
) -> Result<Outcome> {
    if names.len() != planned.plan.columns.len() {
        return Err(codes::ER_WRONG_NUMBER_OF_COLUMNS_IN_SELECT.error());
    }
    let rows = first_rows(session, planned, values)?;
    let Some((batch, _)) = rows.first() else {
        session
            .diagnostics()
            .push(Level::Warning, codes::ER_SP_FETCH_NO_DATA.error());
        return Ok(affected(0));
    };
    for ((name, array), column) in names.iter().zip(batch.columns()).zip(&planned.plan.columns) {
        let value = convert::value_at(array, 0);
        session.user_variables().set(name, column.ty.clone(), value);
    }
    Ok(affected(1))
}

/// Writes rows as LOAD DATA with the same clauses reads them.
struct Writer {
    file: BufWriter<std::fs::File>,
    path: String,
    format: Format,
    /// The width of each column where nothing separates them.
    widths: Vec<usize>,
}

/// Escape sequences end in these: as an enclosing character they are doubled instead of escaped.
const ENDS_OF_ESCAPES: &[u8] = b"ntrb0ZN";

impl Writer {
    fn new(session: &Session, path: &str, format: Format, types: &[&SqlType]) -> Result<Self> {
        // A column without a width makes the others lose theirs.
        let widths = match format.is_fixed_width() {
            true => types.iter().map(|ty| fixed_width(ty)).collect(),
            false => None,
        };
        let file = files::create(session, path)?;
        let capacity = usize::try_from(session.settings().unsigned("select_into_buffer_size"));
        Ok(Self {
            file: BufWriter::with_capacity(capacity.unwrap_or(128 << 10), file),
            path: path.to_owned(),
            format,
            widths: widths.unwrap_or_default(),
        })
    }

    fn write_all(&mut self, reading: &mut Reading, types: &[&SqlType]) -> Result<u64> {
        let mut rows = 0;
        let (mut line, mut value) = (Vec::new(), Vec::new());
        while let Some(batch) = reading.next_batch()? {
            for row in 0..batch.row_count() {
                line.clear();
                line.extend_from_slice(&self.format.line_start);
                for (index, (array, ty)) in batch.columns().iter().zip(types).enumerate() {
                    if index > 0 {
                        line.extend_from_slice(&self.format.field_end);
                    }
                    value.clear();
                    let present = convert::display_row(array, row, ty, &mut value);
                    let start = line.len();
                    self.field(&mut line, present.then_some(value.as_slice()), ty);
                    if let Some(width) = self.widths.get(index) {
                        // A value that holds escapes may be longer.
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
        let is_text = !ty.is_numeric();
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
