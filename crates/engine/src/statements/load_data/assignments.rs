//! SET column = expression, … of LOAD DATA.

use std::ops::ControlFlow;
use std::sync::Arc;

use arrow_array::ArrayRef;
use mayfly_syntax::ast::{
    BinaryOperator, Expr, Ident, SetAssignment, visit_expressions, visit_expressions_mut,
};
use mayfly_syntax::encodings::{Variable, is_default, variable};
use mayfly_types::{Batch, Diagnostics, Result, SqlType, Value};

use crate::binding::expressions::{self, Bound, columns_of, value_column};
use crate::builder;
use crate::catalog::definition::{ColumnDefinition, TableDefinition};
use crate::session::StatementContext;
use crate::statements::listed_columns::{named_column, refuse_generated};
use crate::statements::row_rules::unset_value;
use crate::storing::Storing;

struct Assignment {
    position: usize,
    /// `None` is DEFAULT.
    value: Option<Bound>,
}

/// The assignments of a statement.
pub(super) struct Assignments {
    list: Vec<Assignment>,
    /// Whether an expression assigns to a variable, or has a subquery that may read one.
    pub(super) need_variables: bool,
    variable_count: usize,
    storing: Storing,
}

impl Assignments {
    /// Binds the expressions; `names` are the variables that the file fills, as texts of type `text`.
    pub(super) fn new(
        context: &StatementContext<'_>,
        definition: &TableDefinition,
        assignments: &[SetAssignment],
        names: &[String],
        text: &SqlType,
    ) -> Result<Self> {
        let mut values = assignments.iter().map(|assignment| &assignment.value);
        let need_variables = values.any(|value| needs_variables(value, names));
        if need_variables {
            let variables = context.session.settings.user_variables();
            for name in names {
                variables.set(name, text.clone(), Value::Null)?;
            }
        }
        // As columns they get names that no column can have in a statement.
        let fields: Vec<String> = names.iter().map(|name| format!("@{name}")).collect();
        let mut columns = columns_of(context, definition);
        columns.extend(fields.iter().map(|name| value_column("", name, text)));
        let mut list = Vec::with_capacity(assignments.len());
        for assignment in assignments {
            let position = named_column(definition, &assignment.column)?;
            refuse_generated(definition, position)?;
            let mut value = None;
            if !is_default(&assignment.value) {
                let mut expression = assignment.value.clone();
                if !need_variables {
                    name_fields(&mut expression, names);
                }
                value = Some(expressions::bind(context, &expression, &columns)?);
            }
            list.push(Assignment { position, value });
        }
        Ok(Self {
            list,
            need_variables,
            variable_count: names.len(),
            storing: Storing::new(context.clock(), &definition.name, true),
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// The columns that are assigned to.
    pub(super) fn positions(&self) -> impl Iterator<Item = usize> {
        self.list.iter().map(|assignment| assignment.position)
    }

    /// The last assignment to a column.
    pub(super) fn last_for(&self, position: usize) -> Option<usize> {
        let mut assignments = self.list.iter();
        assignments.rposition(|assignment| assignment.position == position)
    }

    /// Whether an assignment is to DEFAULT.
    pub(super) fn is_default(&self, index: usize) -> bool {
        let assignment = self.list.get(index);
        assignment.is_some_and(|assignment| assignment.value.is_none())
    }

    /// The values of every assignment for a batch of rows, and their types. `of_table` are the table's columns that
    /// the file gives.
    pub(super) fn evaluate(
        &self,
        definition: &TableDefinition,
        of_table: Vec<Option<ArrayRef>>,
        variables: Vec<ArrayRef>,
        rows: usize,
    ) -> Result<Vec<(ArrayRef, SqlType)>> {
        let unset = |column: &ColumnDefinition| {
            let value = unset_value(column, self.storing.zone());
            builder::constant(&value, &column.ty, rows)
        };
        let of_table = of_table.into_iter().zip(&definition.columns);
        let of_table = of_table.map(|(array, column)| array.unwrap_or_else(|| unset(column)));
        let mut columns: Vec<ArrayRef> = of_table.chain(variables).collect();
        let quiet = Diagnostics::new(0);
        let mut values = Vec::with_capacity(self.list.len());
        for (index, assignment) in self.list.iter().enumerate() {
            let column = &definition.columns[assignment.position];
            let Some(bound) = &assignment.value else {
                let default = unset(column);
                columns[assignment.position] = Arc::clone(&default);
                values.push((default, column.ty.clone()));
                continue;
            };
            let value = bound.evaluate(&Batch::new(columns.clone(), rows))?;
            // Only assignments to the right of it can read the new value.
            if index + 1 < self.list.len()
                && let Ok(stored) = self.storing.column(&value, bound.ty(), column, &quiet)
            {
                columns[assignment.position] = stored;
            }
            values.push((value, bound.ty().clone()));
        }
        Ok(values)
    }

    /// The value of one assignment for one row of the table's columns; `None` is DEFAULT.
    pub(super) fn evaluate_row(
        &self,
        index: usize,
        row: &Batch,
        variables: &[Value],
        text: &SqlType,
    ) -> Result<(usize, Option<(Value, SqlType)>)> {
        let assignment = &self.list[index];
        let Some(bound) = &assignment.value else {
            return Ok((assignment.position, None));
        };
        let mut columns = row.columns().to_vec();
        let variables = variables.iter().take(self.variable_count);
        columns.extend(variables.map(|value| builder::constant(value, text, 1)));
        let value = bound.scalar(&Batch::new(columns, 1), &[])?;
        Ok((assignment.position, Some(value)))
    }
}

fn is_field(expr: &Expr, names: &[String]) -> bool {
    matches!(variable(expr), Some(Variable::User(name))
        if names.iter().any(|known| known.eq_ignore_ascii_case(name)))
}

fn needs_variables(expr: &Expr, names: &[String]) -> bool {
    let found = visit_expressions(expr, |part| {
        let needs = match part {
            // Assigns to a variable that the next row reads.
            Expr::BinaryOp {
                op: BinaryOperator::Assignment,
                ..
            } => true,
            Expr::Subquery(_) | Expr::Exists { .. } | Expr::InSubquery { .. } => !names.is_empty(),
            Expr::AnyOp { .. } | Expr::AllOp { .. } => !names.is_empty(),
            _ => false,
        };
        if needs {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    found.is_break()
}

/// Replaces the variables that the file fills by columns: a variable becomes an unquoted identifier.
fn name_fields(expr: &mut Expr, names: &[String]) {
    let _: ControlFlow<()> = visit_expressions_mut(expr, |part| {
        if is_field(part, names)
            && let Expr::Identifier(ident) = part
        {
            *ident = Ident::with_quote('`', ident.value.clone());
        }
        ControlFlow::Continue(())
    });
}
