//! Rules that every row of a table obeys, whichever statement writes it: the types of the columns, NOT NULL,
//! generated columns and CHECK constraints.
//!
//! A column whose conversion raises an error or a warning is stored again row by row, so that these come in MySQL's
//! order: all of the first row's before any of the second's.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray};
use arrow_select::filter::filter;
use mayfly_types::convert::implicit_default;
use mayfly_types::error::codes;
use mayfly_types::temporal::TimeZone;
use mayfly_types::{
    Batch, Diagnostics, Error, ErrorCode, Result, SqlMode, SqlType, TypeKind, Value,
};

use super::row_target::RunningView;
use crate::binding::expressions::{self, Bound, own_columns_of};
use crate::builder::{self, ColumnBuilder};
use crate::catalog::column_uses::names_column;
use crate::catalog::definition::{ColumnDefault, ColumnDefinition, TableDefinition};
use crate::convert;
use crate::session::StatementContext;
use crate::statement_options::StatementOptions;
use crate::storing::{StatementClock, Storing};

/// Origin of a row's column.
pub(super) enum Origin {
    /// The statement gives it.
    Given,
    /// The column's default, the same for every row.
    Constant(Value),
    /// A default that is computed for each row.
    Computed(Bound),
    /// No default: 1364, or the type's own default with a warning.
    Missing,
    /// GENERATED ALWAYS AS
    Generated,
}

/// The rules of one table for one statement.
pub(super) struct RowRules<'t> {
    pub(super) definition: &'t TableDefinition,
    pub(super) ignore: bool,
    /// Number of rows that VALUES or SET lists; `None` for those of a query or a file.
    pub(super) listed_rows: Option<u64>,
    /// Whether a NULL in an AUTO_INCREMENT column asks for the next number.
    pub(super) numbers_rows: bool,
    /// Whether hooks may still set what is NULL: [`Self::settle_nulls`] refuses it after them.
    pub(super) defers_nulls: bool,
    /// The view through which new rows are added.
    pub(super) view: Option<RunningView<'t>>,
    /// The statement's diagnostics area.
    diagnostics: Arc<Diagnostics>,
    options: Arc<StatementOptions>,
    /// When the statement began.
    now: i64,
    storing: Storing,
    /// The generation expressions, by column.
    generated: Vec<Option<Bound>>,
    /// The default expressions, by column.
    computed_defaults: Vec<Option<Bound>>,
    /// The columns that each generated column reads.
    reads: Vec<Vec<usize>>,
    checks: Vec<(&'t str, Bound)>,
}

impl<'t> RowRules<'t> {
    /// The rules for new rows, or for changed ones.
    pub(super) fn new(
        context: &StatementContext<'_>,
        definition: &'t TableDefinition,
        ignore: bool,
        numbers_rows: bool,
    ) -> Result<Self> {
        let bind = |expression| {
            expressions::bind(context, expression, &own_columns_of(context, definition))
        };
        let columns = own_columns_of(context, definition);
        let generated = (0..definition.columns.len()).map(|position| {
            expressions::bind_generated(context, definition, position, &columns).transpose()
        });
        let computed_defaults = definition
            .columns
            .iter()
            .map(|column| match &column.default {
                ColumnDefault::Expression { expression, .. } => bind(expression).map(Some),
                _ => Ok(None),
            });
        let checks = definition.checks.iter().filter(|check| check.enforced);
        let reads = definition.columns.iter().map(|column| {
            let Some(generated) = &column.generated else {
                return Vec::new();
            };
            let names = |read: &ColumnDefinition| names_column(&generated.expression, &read.name);
            let positions = 0..definition.columns.len();
            positions
                .filter(|read| names(&definition.columns[*read]))
                .collect()
        });
        Ok(Self {
            reads: reads.collect(),
            generated: generated.collect::<Result<_>>()?,
            computed_defaults: computed_defaults.collect::<Result<_>>()?,
            checks: checks
                .map(|check| Ok((check.name.as_str(), bind(&check.expression)?)))
                .collect::<Result<_>>()?,
            storing: Storing::new(context.clock(), &definition.name, ignore),
            diagnostics: Arc::clone(context.diagnostics()),
            options: Arc::clone(context.options()),
            now: context.now(),
            listed_rows: None,
            view: None,
            definition,
            ignore,
            numbers_rows,
            defers_nulls: false,
        })
    }

    /// `sql_mode` of the statement.
    pub(super) fn sql_mode(&self) -> SqlMode {
        self.storing.sql_mode()
    }

    fn takes_null(&self, column: &ColumnDefinition) -> bool {
        column.nullable || (self.numbers_rows && column.auto_increment)
    }

    /// Whether a NULL may be stored in a column for now.
    fn takes_null_for_now(&self, column: &ColumnDefinition) -> bool {
        self.takes_null(column) || (self.defers_nulls && column.generated.is_none())
    }

    /// Refuses the NULLs of one row that hooks have left in NOT NULL columns, or replaces them, as
    /// [`Self::store_value`] would have done at once.
    pub(super) fn settle_nulls(&self, columns: &mut [ArrayRef]) -> Result<()> {
        for (array, column) in columns.iter_mut().zip(&self.definition.columns) {
            if array.is_null(0) && !self.takes_null(column) && column.generated.is_none() {
                let value = self.in_place_of_null(column, self.listed_rows == Some(1))?;
                *array = builder::constant(&value, &column.ty, 1);
            }
        }
        Ok(())
    }

    /// Converts values to their column's type; `None` when a value needs an error or a warning.
    pub(super) fn store_quietly(
        &self,
        values: &ArrayRef,
        ty: &SqlType,
        column: &ColumnDefinition,
    ) -> Option<ArrayRef> {
        let quiet = Diagnostics::new(0);
        let stored = self.storing.column(values, ty, column, &quiet).ok()?;
        let good =
            quiet.count() == 0 && (stored.null_count() == 0 || self.takes_null_for_now(column));
        good.then_some(stored)
    }

    /// Converts values to their column's type. `rows_before`: rows of the statement before the first.
    pub(super) fn store(
        &self,
        values: &ArrayRef,
        ty: &SqlType,
        column: &ColumnDefinition,
        rows_before: u64,
    ) -> Result<ArrayRef> {
        if let Some(stored) = self.store_quietly(values, ty, column) {
            return Ok(stored);
        }
        let mut builder = ColumnBuilder::new(&column.ty);
        for row in 0..values.len() {
            let number = rows_before + row as u64 + 1;
            builder.push(&self.store_value(&convert::value_at(values, row), ty, column, number)?);
        }
        Ok(builder.finish())
    }

    /// Converts a value to its column's type.
    pub(super) fn store_value(
        &self,
        value: &Value,
        ty: &SqlType,
        column: &ColumnDefinition,
        row: u64,
    ) -> Result<Value> {
        let stored = match value {
            Value::Null => Value::Null,
            value => self
                .storing
                .value(value, ty, column, row, &self.diagnostics)?,
        };
        if !stored.is_null() || self.takes_null_for_now(column) {
            return Ok(stored);
        }
        // A NULL in a single listed row is an error in every mode.
        self.in_place_of_null(column, self.listed_rows == Some(1))
    }

    /// The value of a NOT NULL column in place of NULL: 1048 in strict mode, or if `is_error`.
    fn in_place_of_null(&self, column: &ColumnDefinition, is_error: bool) -> Result<Value> {
        if column.ty.is_geometry() {
            // No geometry stands for a missing one.
            return Err(codes::ER_BAD_NULL_ERROR_NOT_IGNORED.with(&[&column.name]));
        }
        let is_error = is_error || self.storing.is_strict();
        let error = codes::ER_BAD_NULL_ERROR.with(&[&column.name]);
        self.warn_if(self.ignore || !is_error, error)?;
        // An ENUM gets the empty member, and not the first, which is its implicit default.
        Ok(match column.ty.kind {
            TypeKind::Enum => Value::UInt(0),
            _ => implicit_default(&column.ty),
        })
    }

    /// Raises a warning in place of an error, under IGNORE.
    pub(super) fn warn(&self, error: Error) {
        self.diagnostics.warn(error);
    }

    /// Raises an error as a warning, if `is_warning`.
    pub(super) fn warn_if(&self, is_warning: bool, error: Error) -> Result<()> {
        if !is_warning {
            return Err(error);
        }
        self.warn(error);
        Ok(())
    }

    /// Raises the warnings of expressions that are errors in strict mode.
    pub(super) fn refuse_warnings(&self) -> Result<()> {
        self.diagnostics.refused().map_or(Ok(()), Err)
    }

    fn clock(&self) -> StatementClock<'_> {
        StatementClock {
            options: &self.options,
            now: self.now,
        }
    }

    /// The value of a column without a default.
    pub(super) fn missing(&self, column: &ColumnDefinition) -> Result<Value> {
        if column.auto_increment {
            return Ok(Value::Null);
        }
        // The implicit default of a NOT NULL ENUM is its first member.
        if column.ty.kind == TypeKind::Enum {
            return Ok(implicit_default(&column.ty));
        }
        let error = match &self.view {
            Some(view) => view.no_default(),
            None => codes::ER_NO_DEFAULT_FOR_FIELD.with(&[&column.name]),
        };
        let is_error = self.storing.is_strict() && !self.ignore || column.ty.is_geometry();
        self.warn_if(!is_error, error)?;
        Ok(implicit_default(&column.ty))
    }

    /// The origin of a column of new rows, of which the columns at `given` are given.
    pub(super) fn origin(&self, position: usize, given: &[usize]) -> Origin {
        if self.generated[position].is_some() {
            return Origin::Generated;
        }
        if given.contains(&position) {
            return Origin::Given;
        }
        self.default_of(position)
    }

    /// The origin of a column with no value, or with DEFAULT.
    pub(super) fn default_of(&self, position: usize) -> Origin {
        let column = &self.definition.columns[position];
        match &column.default {
            ColumnDefault::Value(_) => {
                let value = column.default_value(&self.options.session.time_zone);
                Origin::Constant(value.unwrap_or(Value::Null))
            }
            ColumnDefault::Null => Origin::Constant(Value::Null),
            ColumnDefault::Now => Origin::Constant(self.clock().current_timestamp(&column.ty)),
            ColumnDefault::Expression { .. } => match &self.computed_defaults[position] {
                Some(bound) => Origin::Computed(bound.clone()),
                None => Origin::Missing,
            },
            ColumnDefault::None if self.takes_null(column) => Origin::Constant(Value::Null),
            ColumnDefault::None | ColumnDefault::Dropped => Origin::Missing,
        }
    }

    /// Converts a value that is assigned to a column of an existing row: NULL asks for no number.
    pub(super) fn store_assigned(
        &self,
        value: &Value,
        ty: &SqlType,
        column: &ColumnDefinition,
        row: u64,
    ) -> Result<Value> {
        let is_settled_later = self.defers_nulls && !column.auto_increment;
        if value.is_null() && !column.nullable && !is_settled_later {
            // MySQL continues with a warning only where several rows are listed.
            return self.in_place_of_null(column, self.listed_rows.is_none_or(|rows| rows == 1));
        }
        self.store_value(value, ty, column, row)
    }

    /// The value of DEFAULT for a column of one row.
    pub(super) fn default_value(
        &self,
        position: usize,
        row: impl FnOnce() -> Batch,
        number: u64,
    ) -> Result<Value> {
        let column = &self.definition.columns[position];
        match self.default_of(position) {
            Origin::Constant(value) => Ok(value),
            Origin::Computed(bound) => {
                let (value, ty) = bound.scalar(&row(), &[])?;
                self.store_value(&value, &ty, column, number)
            }
            _ => self.missing(column),
        }
    }

    /// Completes changed rows: ON UPDATE CURRENT_TIMESTAMP of columns that the statement does not set, and generated
    /// columns that depend on changed ones. Other columns keep their values, whatever these were computed from.
    pub(super) fn complete_change(
        &self,
        columns: &mut [ArrayRef],
        assigned: &[bool],
        rows: usize,
        rows_before: u64,
    ) -> Result<()> {
        let mut changes = self.update_timestamps(columns, assigned, rows);
        for (position, generated) in self.generated.iter().enumerate() {
            if let Some(bound) = generated
                && self.reads[position].iter().any(|read| changes[*read])
            {
                columns[position] = self.compute(bound, position, columns, rows, rows_before)?;
                changes[position] = true;
            }
        }
        Ok(())
    }

    /// Sets columns with ON UPDATE CURRENT_TIMESTAMP that the statement does not set; returns which columns are set
    /// then.
    pub(super) fn update_timestamps(
        &self,
        columns: &mut [ArrayRef],
        assigned: &[bool],
        rows: usize,
    ) -> Vec<bool> {
        let mut set = assigned.to_vec();
        for (position, column) in self.definition.columns.iter().enumerate() {
            if column.on_update_now && !assigned[position] {
                let now = self.clock().current_timestamp(&column.ty);
                columns[position] = builder::constant(&now, &column.ty, rows);
                set[position] = true;
            }
        }
        set
    }

    /// Computes a column of rows whose columns to its left are complete.
    pub(super) fn compute(
        &self,
        bound: &Bound,
        position: usize,
        columns: &[ArrayRef],
        rows: usize,
        rows_before: u64,
    ) -> Result<ArrayRef> {
        let batch = Batch::new(columns.to_vec(), rows);
        let values = bound
            .evaluate(&batch)
            .map_err(|error| self.at_row(error, bound, position, &batch, rows_before))?;
        self.refuse_warnings()?;
        let column = &self.definition.columns[position];
        self.store(&values, bound.ty(), column, rows_before)
    }

    /// The error of a multi-valued key part, with the number of the row in the statement.
    fn at_row(
        &self,
        error: Error,
        bound: &Bound,
        position: usize,
        batch: &Batch,
        rows_before: u64,
    ) -> Error {
        const NUMBERED: [&ErrorCode; 2] = [
            &codes::ER_FUNCTIONAL_INDEX_DATA_TRUNCATED,
            &codes::ER_FUNCTIONAL_INDEX_OUT_OF_RANGE,
        ];
        let Some(code) = NUMBERED.into_iter().find(|code| error.is(code)) else {
            return error;
        };
        let is_wrong = |row: &usize| bound.evaluate(&batch.slice(*row, 1)).is_err();
        let row = (0..batch.row_count()).find(is_wrong).unwrap_or(0);
        let key = self.definition.key_over(position);
        let name = key.map_or("", |key| &key.name);
        code.with(&[&name, &(rows_before + row as u64 + 1)])
    }

    /// The generation expression of a column.
    pub(super) fn generated(&self, position: usize) -> Option<&Bound> {
        self.generated[position].as_ref()
    }

    /// Computes the generated columns, in order: one may read those to its left.
    pub(super) fn generate(
        &self,
        columns: &mut [ArrayRef],
        rows: usize,
        rows_before: u64,
    ) -> Result<()> {
        for (position, generated) in self.generated.iter().enumerate() {
            if let Some(bound) = generated {
                columns[position] = self.compute(bound, position, columns, rows, rows_before)?;
            }
        }
        Ok(())
    }

    /// Checks CHECK constraints: none may be false. With IGNORE failing rows are skipped: returns the other rows, if
    /// some fail.
    pub(super) fn check(&self, batch: &Batch) -> Result<Option<BooleanArray>> {
        let mut good: Option<Vec<bool>> = None;
        for (name, check) in &self.checks {
            let values = check.evaluate(batch)?;
            if self.diagnostics.refused().is_some() {
                return Err(codes::ER_CHECK_CONSTRAINT_VIOLATED.with(&[name]));
            }
            for row in convert::false_rows(&values) {
                let error = codes::ER_CHECK_CONSTRAINT_VIOLATED.with(&[name]);
                self.warn_if(self.ignore, error)?;
                good.get_or_insert_with(|| vec![true; batch.row_count()])[row] = false;
            }
        }
        if let Some(view) = &self.view {
            let shown = view.shows(batch)?;
            self.refuse_warnings()?;
            if let Some(shown) = shown {
                self.left_out(&shown, &mut good, || view.refusal())?;
            }
        }
        Ok(good.map(BooleanArray::from))
    }

    /// The rows of a batch that pass WITH CHECK OPTION; without IGNORE 1369 unless all do.
    pub(super) fn left_out(
        &self,
        shown: &BooleanArray,
        good: &mut Option<Vec<bool>>,
        error: impl Fn() -> Error,
    ) -> Result<()> {
        let good = good.get_or_insert_with(|| vec![true; shown.len()]);
        for (row, good) in good.iter_mut().enumerate() {
            if *good && !shown.value(row) {
                self.warn_if(self.ignore, error())?;
                *good = false;
            }
        }
        Ok(())
    }
}

/// The value that expressions read of a column before it is set.
pub(super) fn unset_value(column: &ColumnDefinition, zone: &TimeZone) -> Value {
    match column.default_value(zone) {
        Some(value) => value,
        None if column.nullable => Value::Null,
        None => implicit_default(&column.ty),
    }
}

/// Builders for values of a table's columns.
pub(super) fn column_builders(definition: &TableDefinition) -> Vec<ColumnBuilder> {
    let columns = definition.columns.iter();
    columns
        .map(|column| ColumnBuilder::new(&column.ty))
        .collect()
}

/// The rows of a batch for which a filter is true; all without a filter.
pub(super) fn filtered(batch: Batch, rows: Option<&BooleanArray>) -> Result<Batch> {
    let Some(rows) = rows else {
        return Ok(batch);
    };
    let columns = batch.columns().iter();
    let columns = columns.map(|column| filter(column, rows).map_err(Error::internal));
    Ok(Batch::new(
        columns.collect::<Result<_>>()?,
        rows.true_count(),
    ))
}
