//! LOAD DATA (the manual, "LOAD DATA Statement").
//!
//! A file is read in blocks that several threads parse into columns of the table's types
//! (`parse`, [`delimited`]); batches of them go into the table as they are, after the SET expressions were
//! evaluated over them. A block with anything that is worth an error or a warning is processed line by line instead,
//! so that these come in the order of the file and with the number of their row. Every path ends in the same
//! [`RowSink`].
//!
//! In SET expressions the variables that the file fills are columns of the batch; only expressions that assign to a
//! variable, or may read one in a subquery, need real variables and are evaluated line by line.

mod assignments;
mod parse;
mod value;

use std::io::Read;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use arrow_array::ArrayRef;
use mayfly_exec::ExecutionContext;
use mayfly_memory::Reservation;
use mayfly_plan::catalog::VariableScope;
use mayfly_syntax::ast::{LoadData, LoadDuplicate, LoadTarget};
use mayfly_types::charset::Charset;
use mayfly_types::convert::implicit_default;
use mayfly_types::error::codes;
use mayfly_types::{Batch, CollationId, Error, Result, SqlType, TypeKind, Value};

use self::assignments::Assignments;
use self::parse::{LineParser, ParsedBlock};
use super::admission::Additions;
use super::listed_columns::{last_part, named_column, refuse_generated};
use super::row_sink::{Insertion, OnDuplicate, RowSink, Written};
use super::row_target::RowTarget;
use crate::binding::session_catalog::SessionCatalog;
use crate::catalog::definition::{ColumnDefault, ColumnDefinition, TableDefinition};
use crate::delimited::{self, Block, Blocks, Format, LineEnd, Splitter, Step, Taker, fixed_width};
use crate::result::{Outcome, StatementResult};
use crate::session::StatementContext;
use crate::statements::table_names::note_write;
use crate::storing::Storing;
use crate::variables::typed;
use crate::{character_sets, convert, files};

/// Runs the statement.
pub(super) fn run(context: &mut StatementContext<'_>, load: &LoadData) -> Result<Outcome> {
    context.read_for_change();
    if load.local && !server_takes_local_files(context) {
        return Err(codes::ER_CLIENT_LOCAL_FILES_DISABLED.error());
    }
    let format = Format::new(&load.fields, &load.lines)?;
    let listed = load.targets.iter().filter_map(|target| match target {
        LoadTarget::Column(name) => Some(last_part(name)),
        LoadTarget::Variable(_) => None,
    });
    let listed: Vec<&str> = listed.collect();
    let assigned = load.assignments.iter().map(|it| last_part(&it.column));
    let assigned: Vec<&str> = assigned.collect();
    let additions = Additions {
        replaces: load.duplicates == LoadDuplicate::Replace,
        updated: &[],
        listed: (!load.targets.is_empty()).then_some(listed.as_slice()),
        assigned: &assigned,
    };
    let catalog = SessionCatalog::new(context, &[]);
    let planner = (&catalog, &context.options().plan);
    let target = RowTarget::find(context, planner, &load.table, &load.partitions, additions)?;
    note_write(context, &target.table)?;
    let tables = catalog.into_tables().0;
    context.tables = Arc::downgrade(&tables);
    context.target = Some(target.table.id);
    let (table, definition) = (&target.table, Arc::clone(&target.names));
    let charset = file_charset(context, load)?;
    let targets = targets(&target, &load.targets)?;
    check_fixed_width(&format, &definition, &targets)?;
    // The client's data cannot be stopped, so errors of LOCAL are warnings.
    let ignore = match load.duplicates {
        LoadDuplicate::Unspecified => load.local,
        LoadDuplicate::Ignore => true,
        LoadDuplicate::Replace => false,
    };
    let text = SqlType::text(TypeKind::LongText, charset.default_collation());
    let names = variable_names(&targets);
    let assignments = Assignments::new(context, &definition, &load.assignments, &names, &text)?;

    let (file, length) = open(context, load)?;
    let execution = context.execution_context(tables);
    let memory = execution.temp.memory();
    let mut blocks = Blocks::new(file, &load.path, &format)
        .in_charset(charset)
        .reading(context.settings().get(typed::READ_BUFFER_SIZE))
        .within(memory.effective_limit() / 8, execution.options.threads);
    blocks.skip_lines(&format, load.ignore_lines)?;
    let storing = Storing::new(context.clock(), &definition.name, ignore);
    let given = given_columns(&targets, &assignments);
    let insertion = Insertion {
        ignore,
        view: target.view.as_ref().map(|view| view.run(&execution)),
        on_duplicate: match load.duplicates {
            LoadDuplicate::Replace => OnDuplicate::Replace,
            _ => OnDuplicate::Refuse,
        },
        ..Insertion::plain(table, &given.positions)
    };
    let mut loader = Loader {
        sink: RowSink::new(context, insertion)?,
        last: vec![Value::Null; names.len()],
        definition: &definition,
        format: &format,
        targets: &targets,
        given: &given,
        assignments,
        names,
        is_strict: storing.is_strict() && !ignore,
        text: text.clone(),
        charset,
        row: 0,
        held: memory.reservation(),
        block_memory: 0,
        execution: Arc::clone(&execution),
        bytes: 0,
        length,
    };
    let parser = LineParser {
        format: &format,
        targets: targets
            .iter()
            .map(|target| match target {
                Destination::Column(position) => Some(&definition.columns[*position]),
                Destination::Variable(_) => None,
            })
            .collect(),
        storing: &storing,
        text,
        is_binary: charset == Charset::Binary,
        batch_rows: execution.options.batch_rows.max(1),
        line_by_line: format.is_fixed_width() || loader.assignments.need_variables,
    };
    let threads = if parser.line_by_line {
        1
    } else {
        execution.options.threads
    };
    loader.block_memory = blocks.memory_bytes(threads);
    loader.hold(0)?;
    let workers = &execution.temp.resources().workers;
    delimited::read(blocks, threads, workers, &parser, &mut loader)?;
    let written = loader.finish()?;
    context.account(&execution);
    if let Some(first) = written.first_generated {
        context.session.diagnostics.set_last_insert_id(first);
    }
    let (records, deleted, skipped) = (written.records(), written.deleted, written.skipped);
    let warnings = context.diagnostics().count();
    let result = StatementResult {
        info: format!(
            "Records: {records}  Deleted: {deleted}  Skipped: {skipped}  Warnings: {warnings}"
        )
        .into(),
        ..written.result()
    };
    Ok(result.into())
}

/// Opens the file; returns its length, where that is known.
fn open(
    context: &mut StatementContext<'_>,
    load: &LoadData,
) -> Result<(Box<dyn Read + Send>, u64)> {
    if load.local
        && let Some(file) = context.session.client.open_local_file(&load.path)
    {
        return Ok((file?, 0));
    }
    let file = files::open(&context.database().file_rules, &load.path, load.local)?;
    let length = file.metadata().map_or(0, |metadata| metadata.len());
    Ok((Box::new(file), length))
}

/// Destination of a field.
#[derive(Debug, Clone, PartialEq)]
enum Destination {
    /// A column, by its position.
    Column(usize),
    /// A user variable.
    Variable(String),
}

fn targets(target: &RowTarget, list: &[LoadTarget]) -> Result<Vec<Destination>> {
    let definition = &*target.names;
    if list.is_empty() {
        let generated = |position: &usize| definition.columns[*position].generated.is_some();
        let positions = target.columns(None)?.into_iter();
        let written = positions.filter(|position| !generated(position));
        return Ok(written.map(Destination::Column).collect());
    }
    let target = |target: &LoadTarget| match target {
        LoadTarget::Variable(name) => Ok(Destination::Variable(name.clone())),
        LoadTarget::Column(name) => {
            let position = named_column(definition, name)?;
            refuse_generated(definition, position)?;
            Ok(Destination::Column(position))
        }
    };
    list.iter().map(target).collect()
}

fn variable_names(targets: &[Destination]) -> Vec<String> {
    let name = |target: &Destination| match target {
        Destination::Variable(name) => Some(name.clone()),
        Destination::Column(_) => None,
    };
    targets.iter().filter_map(name).collect()
}

/// The character set of the file: CHARACTER SET, or else the default of the current database.
fn file_charset(context: &StatementContext<'_>, load: &LoadData) -> Result<Charset> {
    let of_database = context.settings().get(typed::CHARACTER_SET_DATABASE);
    let name = load.charset.as_deref().or(of_database.map(|name| &**name));
    character_sets::charset_of_file(name.unwrap_or("utf8mb4"))
}

/// The global variable `local_infile`.
fn server_takes_local_files(context: &StatementContext<'_>) -> bool {
    let scope = Some(VariableScope::Global);
    let value = context.system_variable(scope, "local_infile");
    !matches!(value, Ok((Value::Int(0) | Value::UInt(0), _)))
}

/// Fields without terminators are as wide as their columns, so all of them must be columns whose
/// width is known.
fn check_fixed_width(
    format: &Format,
    definition: &TableDefinition,
    targets: &[Destination],
) -> Result<()> {
    if !format.is_fixed_width() {
        return Ok(());
    }
    for target in targets {
        match target {
            Destination::Variable(_) => {
                return Err(codes::ER_LOAD_FROM_FIXED_SIZE_ROWS_TO_VAR.error());
            }
            Destination::Column(position) => {
                let column = &definition.columns[*position];
                if fixed_width(&column.ty).is_none() && format.line_end.is_empty() {
                    return Err(codes::ER_BLOBS_AND_NO_TERMINATED.error());
                }
            }
        }
    }
    Ok(())
}

/// The columns that the statement sets, with the sources of their values.
#[derive(Debug)]
struct Given {
    positions: Vec<usize>,
    /// By column: a field, or an assignment.
    sources: Vec<Source>,
}

#[derive(Debug, Clone, Copy)]
enum Source {
    Field(usize),
    Assignment(usize),
}

/// Every column once: SET overrides the file.
fn given_columns(targets: &[Destination], assignments: &Assignments) -> Given {
    let mut given: Vec<(usize, Source)> = Vec::new();
    for (index, position) in assignments.positions().enumerate() {
        // The last assignment to a column counts; a column assigned DEFAULT is not given.
        if assignments.last_for(position) == Some(index) && !assignments.is_default(index) {
            given.push((position, Source::Assignment(index)));
        }
    }
    for (index, target) in targets.iter().enumerate() {
        if let Destination::Column(position) = target
            && assignments.last_for(*position).is_none()
            && !given.iter().any(|(given, _)| given == position)
        {
            given.push((*position, Source::Field(index)));
        }
    }
    let (positions, sources) = given.into_iter().unzip();
    Given { positions, sources }
}

/// Moves parsed lines into the table.
struct Loader<'s, 'c> {
    definition: &'s TableDefinition,
    format: &'s Format,
    targets: &'s [Destination],
    given: &'s Given,
    assignments: Assignments,
    /// The user variables among the targets, in order.
    names: Vec<String>,
    /// Their values in the last row.
    last: Vec<Value>,
    is_strict: bool,
    text: SqlType,
    charset: Charset,
    sink: RowSink<'s, 'c>,
    /// Number of rows so far.
    row: u64,
    execution: Arc<ExecutionContext>,
    /// Memory of what is read ahead, and of a longer line.
    held: Reservation,
    block_memory: u64,
    bytes: u64,
    length: u64,
}

impl Taker<ParsedBlock> for Loader<'_, '_> {
    fn take(&mut self, block: &Block, parsed: ParsedBlock) -> Result<usize> {
        self.execution.check_interrupt()?;
        let end = match parsed {
            Some((batches, end)) => {
                batches.iter().try_for_each(|batch| self.append(batch))?;
                end
            }
            None => self.lines(block)?,
        };
        self.bytes += end as u64;
        let progress = &self.execution.progress;
        progress.rows_read.store(self.row, Ordering::Relaxed);
        if self.bytes > 0 {
            let expected = u128::from(self.row) * u128::from(self.length) / u128::from(self.bytes);
            let expected = u64::try_from(expected).unwrap_or(u64::MAX);
            progress.rows_expected.store(expected, Ordering::Relaxed);
        }
        Ok(end)
    }

    fn hold(&mut self, bytes: usize) -> Result<()> {
        self.execution.check_interrupt()?;
        // The memory of the line and of its fields.
        let bytes = self.block_memory.saturating_add(2 * bytes as u64);
        let temp = &self.execution.temp;
        temp.resize_working_set(&mut self.held, bytes)
    }
}

impl Loader<'_, '_> {
    /// Appends rows whose fields are columns.
    fn append(&mut self, fields: &Batch) -> Result<()> {
        let rows = fields.row_count();
        self.row += rows as u64;
        let mut variables = Vec::with_capacity(self.last.len());
        let mut of_table: Vec<Option<ArrayRef>> = vec![None; self.definition.columns.len()];
        for (target, array) in self.targets.iter().zip(fields.columns()) {
            match target {
                Destination::Column(position) => of_table[*position] = Some(Arc::clone(array)),
                Destination::Variable(_) => variables.push(Arc::clone(array)),
            }
        }
        for (last, array) in self.last.iter_mut().zip(&variables) {
            *last = convert::value_at(array, rows - 1);
        }
        if self.assignments.is_empty() {
            let given = self.given.sources.iter().map(|source| match source {
                Source::Field(index) | Source::Assignment(index) => {
                    Arc::clone(fields.column(*index))
                }
            });
            let given = given.collect();
            return self.sink.append_stored(given, rows);
        }
        let assignments = &self.assignments;
        let evaluate = || assignments.evaluate(self.definition, of_table, variables, rows);
        let assigned = self.sink.context.lending(evaluate)?;
        let given = self.given.positions.iter().zip(&self.given.sources);
        let given = given.map(|(position, source)| match source {
            Source::Field(index) => {
                let ty = self.definition.columns[*position].ty.clone();
                (Arc::clone(fields.column(*index)), ty)
            }
            Source::Assignment(index) => assigned[*index].clone(),
        });
        let (columns, types): (Vec<ArrayRef>, Vec<SqlType>) = given.unzip();
        self.sink.append(&Batch::new(columns, rows), &types)
    }

    /// Processes the lines of a block one by one; returns their number of bytes.
    fn lines(&mut self, block: &Block) -> Result<usize> {
        let mut splitter = Splitter::new(self.format, &block.bytes, block.is_last);
        // A line's fields are read before any of them is stored: the block may end in between.
        let mut fields: Vec<Option<Value>> = Vec::with_capacity(self.targets.len());
        loop {
            if self.row.is_multiple_of(4096) {
                self.execution.check_interrupt()?;
            }
            fields.clear();
            let read = if self.format.is_fixed_width() {
                self.read_fixed_width(&mut splitter, &mut fields)
            } else {
                self.read_fields(&mut splitter, &mut fields)
            };
            let ControlFlow::Continue(has_more) = read else {
                break;
            };
            let end = splitter.next_line();
            if end == LineEnd::Incomplete {
                break;
            }
            self.store_line(&mut fields)?;
            if has_more || end == (LineEnd::Ended { cut: true }) {
                self.complain(codes::ER_WARN_TOO_MANY_RECORDS.with(&[&self.row]))?;
            }
            if end == LineEnd::EndOfFile {
                break;
            }
        }
        Ok(splitter.line_begin())
    }

    /// Reads a line's fields; stops where the block or the file ends.
    fn read_fields(
        &self,
        splitter: &mut Splitter<'_>,
        fields: &mut Vec<Option<Value>>,
    ) -> ControlFlow<(), bool> {
        while fields.len() < self.targets.len() {
            match splitter.field() {
                Step::Field(field) if splitter.is_null(&field) => fields.push(Some(Value::Null)),
                Step::Field(field) => {
                    let bytes = splitter.bytes_of(&field).to_vec();
                    fields.push(Some(Value::Bytes(bytes)));
                }
                Step::NoField if fields.is_empty() => return ControlFlow::Break(()),
                Step::NoField => fields.push(None),
                Step::Incomplete => return ControlFlow::Break(()),
            }
        }
        ControlFlow::Continue(false)
    }

    /// Splits a line into fields as wide as their columns; returns whether there is more.
    fn read_fixed_width(
        &self,
        splitter: &mut Splitter<'_>,
        fields: &mut Vec<Option<Value>>,
    ) -> ControlFlow<(), bool> {
        // A TEXT column takes the rest of a line, up to this width.
        const TEXT_WIDTH: usize = 256;
        let widths = self.targets.iter().map(|target| match target {
            Destination::Column(position) => {
                fixed_width(&self.definition.columns[*position].ty).unwrap_or(TEXT_WIDTH)
            }
            Destination::Variable(_) => 0,
        });
        let Step::Field(line) = splitter.fixed_line(widths.clone().sum()) else {
            return ControlFlow::Break(());
        };
        let mut rest = splitter.bytes_of(&line);
        for width in widths {
            let (field, behind) = rest.split_at(width.min(rest.len()));
            let is_missing = field.is_empty() && width > 0;
            fields.push((!is_missing).then(|| Value::Bytes(field.to_vec())));
            rest = behind;
        }
        ControlFlow::Continue(!rest.is_empty())
    }

    /// An error in strict mode, else a warning.
    fn complain(&self, error: Error) -> Result<()> {
        self.sink.context.warn_if(!self.is_strict, error)
    }

    /// Stores a line, whose missing fields are `None`.
    fn store_line(&mut self, fields: &mut [Option<Value>]) -> Result<()> {
        self.row += 1;
        self.sink.begin_row();
        let definition = self.definition;
        for field in fields.iter().flatten() {
            if let Value::Bytes(bytes) = field {
                self.check_characters(bytes)?;
            }
        }
        let variables = Arc::clone(self.sink.context.session.settings.user_variables());
        let mut variable = 0;
        for (target, field) in self.targets.iter().zip(fields) {
            let field = field.take();
            match target {
                Destination::Variable(name) => {
                    self.last[variable] = field.unwrap_or(Value::Null);
                    if self.assignments.need_variables {
                        let value = self.last[variable].clone();
                        variables.set(name, self.text.clone(), value)?;
                    }
                    variable += 1;
                }
                Destination::Column(position) => {
                    let column = &definition.columns[*position];
                    match field {
                        Some(Value::Null) => self.store_null(*position, column)?,
                        Some(value) => {
                            let ty = self.type_of(&value);
                            self.sink.set(*position, &value, &ty)?;
                        }
                        None => {
                            self.complain(codes::ER_WARN_TOO_FEW_RECORDS.with(&[&self.row]))?;
                            let value = self.value_for_missing(column)?;
                            self.sink.set_stored(*position, value);
                        }
                    }
                }
            }
        }
        for index in 0..self.assignments.len() {
            let row = self.sink.current_row();
            let assignments = &self.assignments;
            let value = || assignments.evaluate_row(index, &row, &self.last, &self.text);
            match self.sink.context.lending(value)? {
                (position, Some((value, ty))) => self.sink.set(position, &value, &ty)?,
                (position, None) => self.sink.set_default(position)?,
            }
        }
        self.sink.end_row()
    }

    /// 1300, in every mode: a byte that begins no character.
    fn check_characters(&self, bytes: &[u8]) -> Result<()> {
        if !matches!(self.charset, Charset::Utf8mb3 | Charset::Utf8mb4) {
            return Ok(());
        }
        let mut at = 0;
        while let Some(first) = bytes.get(at) {
            let length = match first {
                0..0x80 => 1,
                0xC2..0xE0 => 2,
                0xE0..0xF0 => 3,
                0xF0..0xF8 => 4,
                _ => {
                    let before = bytes[..at].split(|byte| *byte == 0).next();
                    let before = String::from_utf8_lossy(before.unwrap_or(&[]));
                    let error = codes::ER_INVALID_CHARACTER_STRING;
                    return Err(error.with(&[&self.charset.name(), &before]));
                }
            };
            let character = bytes.get(at..at + length);
            let is_whole = character.is_some_and(|bytes| std::str::from_utf8(bytes).is_ok());
            at += if is_whole { length } else { 1 };
        }
        Ok(())
    }

    /// The type of a field: bytes that are invalid in the file's character set are binary, which the conversions
    /// report.
    fn type_of(&self, value: &Value) -> SqlType {
        match value {
            Value::Bytes(bytes)
                if self.charset != Charset::Binary && std::str::from_utf8(bytes).is_err() =>
            {
                SqlType::text(TypeKind::LongText, CollationId::BINARY)
            }
            _ => self.text.clone(),
        }
    }

    /// NULL for a column that may not be NULL: 1263, and the type's own default.
    fn store_null(&mut self, position: usize, column: &ColumnDefinition) -> Result<()> {
        let mut value = Value::Null;
        if !(column.nullable || column.auto_increment) {
            self.complain(codes::ER_WARN_NULL_TO_NOTNULL.with(&[&column.name, &self.row]))?;
            value = self.type_default(column)?;
        }
        self.sink.set_stored(position, value);
        Ok(())
    }

    /// The value of a column whose field is missing: not its default, but 0 or the empty string, unless its default
    /// is NULL.
    fn value_for_missing(&self, column: &ColumnDefinition) -> Result<Value> {
        let by_default_null = matches!(column.default, ColumnDefault::None | ColumnDefault::Null);
        if (column.nullable && by_default_null) || column.auto_increment {
            Ok(Value::Null)
        } else {
            self.type_default(column)
        }
    }

    fn type_default(&self, column: &ColumnDefinition) -> Result<Value> {
        Ok(match column.ty.kind {
            TypeKind::Geometry(_) => {
                return Err(codes::ER_BAD_NULL_ERROR_NOT_IGNORED.with(&[&column.name]));
            }
            TypeKind::Timestamp => self.sink.context.clock().current_timestamp(&column.ty),
            _ => implicit_default(&column.ty),
        })
    }

    fn finish(self) -> Result<Written> {
        let variables = Arc::clone(self.sink.context.session.settings.user_variables());
        let written = self.sink.finish()?;
        if self.row > 0 {
            for (name, value) in self.names.iter().zip(self.last) {
                variables.set(name, self.text.clone(), value)?;
            }
        }
        Ok(written)
    }
}
