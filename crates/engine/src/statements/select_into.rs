//! SELECT … INTO OUTFILE, INTO DUMPFILE and INTO @variables.

use std::io::{BufWriter, Write};

use mayfly_syntax::ast::{FieldsOptions, IntoTarget, LinesOptions, SelectIntoStatement};
use mayfly_types::error::codes;
use mayfly_types::{Batch, Level, Result, SqlType, Value};

use super::select::{self, Planned, Reading};
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
            let mut writer = Writer::new(session, path, fields, lines)?;
            let mut reading = Reading::start(session, &planned, &values)?;
            let types: Vec<&SqlType> = planned
                .plan
                .columns
                .iter()
                .map(|column| &column.ty)
                .collect();
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
    field_end: Vec<u8>,
    line_start: Vec<u8>,
    line_end: Vec<u8>,
    enclosed: Option<u8>,
    only_strings: bool,
    escape: Option<u8>,
    special: Vec<u8>,
}

impl Writer {
    fn new(
        session: &Session,
        path: &str,
        fields: &FieldsOptions,
        lines: &LinesOptions,
    ) -> Result<Self> {
        let bytes = |text: &Option<String>, default: &str| {
            text.as_deref().unwrap_or(default).as_bytes().to_vec()
        };
        let one = |text: &Option<String>, default: Option<u8>| match text {
            None => Ok(default),
            Some(text) if text.len() > 1 => Err(codes::ER_WRONG_FIELD_TERMINATORS.error()),
            Some(text) => Ok(text.bytes().next()),
        };
        let field_end = bytes(&fields.terminated_by, "\t");
        let line_end = bytes(&lines.terminated_by, "\n");
        let enclosed = one(&fields.enclosed_by, None)?;
        let escape = one(&fields.escaped_by, Some(b'\\'))?;
        // Between enclosing characters the separators need no escape; the enclosing one does.
        let mut special = match enclosed {
            Some(quote) => vec![quote],
            None => field_end
                .first()
                .into_iter()
                .chain(line_end.first())
                .copied()
                .collect(),
        };
        special.extend(line_end.first().filter(|_| enclosed.is_none()));
        special.extend(escape);
        let file = files::create(session, path)?;
        let capacity = usize::try_from(session.settings().unsigned("select_into_buffer_size"));
        Ok(Self {
            file: BufWriter::with_capacity(capacity.unwrap_or(128 << 10), file),
            path: path.to_owned(),
            field_end,
            line_start: bytes(&lines.starting_by, ""),
            line_end,
            enclosed,
            only_strings: fields.optionally_enclosed,
            escape,
            special,
        })
    }

    fn write_all(&mut self, reading: &mut Reading, types: &[&SqlType]) -> Result<u64> {
        let mut rows = 0;
        let (mut line, mut value) = (Vec::new(), Vec::new());
        while let Some(batch) = reading.next_batch()? {
            for row in 0..batch.row_count() {
                line.clear();
                line.extend_from_slice(&self.line_start);
                for (index, (array, ty)) in batch.columns().iter().zip(types).enumerate() {
                    if index > 0 {
                        line.extend_from_slice(&self.field_end);
                    }
                    value.clear();
                    let present = convert::display_row(array, row, ty, &mut value);
                    self.field(&mut line, present.then_some(value.as_slice()), ty);
                }
                line.extend_from_slice(&self.line_end);
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
        let Some(value) = value else {
            match self.escape {
                Some(escape) => line.extend_from_slice(&[escape, b'N']),
                None => line.extend_from_slice(b"NULL"),
            }
            return;
        };
        let textual = !ty.is_numeric();
        let quote = self.enclosed.filter(|_| textual || !self.only_strings);
        line.extend(quote);
        for &byte in value {
            if let Some(escape) = self.escape {
                if byte == 0 {
                    line.extend_from_slice(&[escape, b'0']);
                    continue;
                }
                if self.special.contains(&byte) {
                    line.push(escape);
                }
            } else if Some(byte) == quote {
                line.push(byte);
            }
            line.push(byte);
        }
        line.extend(quote);
    }
}
