//! Evaluation of a [`Program`] over the rows of a batch.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef};
use arrow_buffer::BooleanBuffer;
use mayfly_functions::{Column, not_null};
use mayfly_plan::{Comparison, with_stack};
use mayfly_types::convert::array_value;
use mayfly_types::{Error, PhysicalType, Result, Value};

use super::branches::{Branch, combine};
use super::cast::{cast, check_text};
use super::truth::Truth;
use super::values::as_in_array;
use super::{Lazy, NodeId, Operation, Program};
use crate::context::RunContext;
use crate::representation::to_boolean;
use crate::rows::{filter_array, selection_filter};

/// Input columns of the rows under evaluation. Columns that the evaluated part does not read may have another length.
#[derive(Clone, Copy)]
enum Columns<'a> {
    Arrays(&'a [ArrayRef]),
    /// Values of one row. Everything computed from it is a constant, so that only functions that return arrays make
    /// one.
    Row(&'a [Value]),
}

impl<'a> Columns<'a> {
    fn arrays(self) -> Result<&'a [ArrayRef]> {
        match self {
            Self::Arrays(columns) => Ok(columns),
            Self::Row(_) => Err(Error::internal("a subquery of a row without arrays")),
        }
    }
}

/// Rows under evaluation.
#[derive(Clone, Copy)]
struct Rows<'a> {
    columns: Columns<'a>,
    /// (number, value) of each enclosing LET.
    locals: &'a [(usize, Column)],
    count: usize,
}

impl<'a> Rows<'a> {
    fn of(columns: &'a [ArrayRef], count: usize) -> Self {
        Self {
            columns: Columns::Arrays(columns),
            locals: &[],
            count,
        }
    }

    fn of_row(row: &'a [Value]) -> Self {
        Self {
            columns: Columns::Row(row),
            locals: &[],
            count: 1,
        }
    }
}

impl Program {
    pub(crate) fn evaluate_rows(
        &self,
        columns: &[ArrayRef],
        count: usize,
        run: &RunContext,
    ) -> Result<Column> {
        self.node(self.root, Rows::of(columns, count), run)
    }

    /// Evaluates a program that [takes rows](Self::takes_rows) over one row.
    pub(crate) fn evaluate_row(&self, row: &[Value], run: &RunContext) -> Result<Value> {
        Ok(match self.node(self.root, Rows::of_row(row), run)? {
            Column::Constant(value) => as_in_array(value, self.physical),
            Column::Array(array) => array_value(&array, 0),
        })
    }

    /// Evaluates a predicate that [takes rows](Self::takes_rows) over one row.
    pub(crate) fn selects_row(&self, row: &[Value], run: &RunContext) -> Result<bool> {
        let truth = self.filter_truth(Rows::of_row(row), run)?;
        Ok(match truth.into_selection() {
            Err(all) => all,
            Ok(selected) => selected.value(0),
        })
    }

    /// Truth for a filter over the rows of a batch.
    pub(super) fn filter_truth_of(
        &self,
        columns: &[ArrayRef],
        count: usize,
        run: &RunContext,
    ) -> Result<Truth> {
        self.filter_truth(Rows::of(columns, count), run)
    }

    /// Truth of the root for a filter, which does not distinguish false from unknown: terms of a top-level AND are
    /// evaluated only where all before them are true.
    fn filter_truth(&self, rows: Rows<'_>, run: &RunContext) -> Result<Truth> {
        match &self.nodes[self.root as usize].operation {
            Operation::Logic {
                conjunction: true,
                terms,
            } => self.logic(true, terms, true, rows, run),
            _ => self.truth(self.root, rows, run),
        }
    }

    fn truth(&self, id: NodeId, rows: Rows<'_>, run: &RunContext) -> Result<Truth> {
        let operation = &self.nodes[id as usize].operation;
        match with_stack(|| self.truth_of(operation, rows, run))? {
            Some(truth) => Ok(truth),
            None => Ok(Truth::of(&self.node(id, rows, run)?)),
        }
    }

    /// Truth of an operation that is a predicate.
    fn truth_of(
        &self,
        operation: &Operation,
        rows: Rows<'_>,
        run: &RunContext,
    ) -> Result<Option<Truth>> {
        Ok(Some(match operation {
            Operation::Compare {
                comparison,
                left,
                right,
                comparer,
            } => {
                let left = self.node(*left, rows, run)?;
                let right = match comparison {
                    Comparison::NullSafeEqual => self.node(right.node, rows, run)?,
                    _ => {
                        let needed = || Ok(not_null(std::slice::from_ref(&left), rows.count));
                        self.needed_part(right, needed, rows, run)?
                    }
                };
                comparer.compare(*comparison, &left, &right, rows.count)
            }
            Operation::Logic { conjunction, terms } => {
                self.logic(*conjunction, terms, false, rows, run)?
            }
            Operation::Not(input) => self.truth(*input, rows, run)?.negate(),
            Operation::IsNull(input) => match self.node(*input, rows, run)? {
                Column::Constant(value) => Truth::Constant(Some(value.is_null())),
                Column::Array(array) => match array.logical_nulls() {
                    None => Truth::Constant(Some(false)),
                    Some(nulls) => Truth::Rows {
                        yes: !nulls.inner(),
                        no: None,
                    },
                },
            },
            Operation::IsTruth(input, wanted) => self.truth(*input, rows, run)?.is(*wanted),
            Operation::InList {
                operand,
                list,
                negated,
            } => {
                let operand = self.node(*operand, rows, run)?;
                let truth = list.contains(&operand);
                if *negated { truth.negate() } else { truth }
            }
            _ => return Ok(None),
        }))
    }

    fn node(&self, id: NodeId, rows: Rows<'_>, run: &RunContext) -> Result<Column> {
        let node = &self.nodes[id as usize];
        match &node.operation {
            Operation::Constant(value) => Ok(Column::Constant(value.clone())),
            Operation::Column(column) => Ok(match rows.columns {
                Columns::Arrays(columns) => Column::Array(match node.physical {
                    PhysicalType::Bool => to_boolean(&columns[*column]),
                    _ => Arc::clone(&columns[*column]),
                }),
                Columns::Row(row) => Column::Constant(match (node.physical, &row[*column]) {
                    (PhysicalType::Bool, Value::Int(number)) => Value::Int(i64::from(*number != 0)),
                    (_, value) => value.clone(),
                }),
            }),
            Operation::Parameter(index) => Ok(Column::Constant(run.parameter(*index))),
            Operation::Local(local) => {
                let value = rows.locals.iter().find(|(known, _)| known == local);
                let outside = || Error::internal("a value is read outside of its LET");
                value.map(|(_, value)| value.clone()).ok_or_else(outside)
            }
            _ => with_stack(|| self.operation(&node.operation, node.physical, rows, run)),
        }
    }

    fn operation(
        &self,
        operation: &Operation,
        physical: PhysicalType,
        rows: Rows<'_>,
        run: &RunContext,
    ) -> Result<Column> {
        match operation {
            Operation::Constant(_)
            | Operation::Column(_)
            | Operation::Parameter(_)
            | Operation::Local(_) => {
                unreachable!("leaves are evaluated by their caller")
            }
            Operation::Let { values, body } => {
                let mut locals = rows.locals.to_vec();
                for (local, value) in values {
                    let before = Rows {
                        locals: &locals,
                        ..rows
                    };
                    let value = self.node(*value, before, run)?;
                    locals.push((*local, value));
                }
                let rows = Rows {
                    locals: &locals,
                    ..rows
                };
                self.node(*body, rows, run)
            }
            Operation::Call {
                function,
                arguments,
                signature,
                volatile,
            } => {
                let arguments = arguments
                    .iter()
                    .map(|argument| self.node(*argument, rows, run))
                    .collect::<Result<Vec<_>>>()?;
                let is_row = matches!(rows.columns, Columns::Row(_));
                if is_row && let Some(value) = function.value(&arguments, signature) {
                    return Ok(Column::Constant(value));
                }
                let constant = !volatile
                    && (rows.count > 1 || is_row)
                    && arguments
                        .iter()
                        .all(|argument| matches!(argument, Column::Constant(_)));
                let count = if constant { 1 } else { rows.count };
                let result = function.evaluate(&arguments, count, signature, run.evaluation())?;
                debug_assert_eq!(result.len(), count, "{function:?} gives a row for each row");
                debug_assert!(
                    *result.data_type() == signature.result.physical().arrow(),
                    "{function:?} gives {} where its signature says {:?}",
                    result.data_type(),
                    signature.result
                );
                Ok(if constant {
                    Column::Constant(array_value(&result, 0))
                } else {
                    Column::Array(result)
                })
            }
            Operation::LazyCall {
                function,
                arguments,
                signature,
            } => {
                let context = run.evaluation();
                let mut known: Vec<Column> = Vec::with_capacity(arguments.len());
                for (_, argument) in arguments {
                    let column = if known.is_empty() {
                        self.node(argument.node, rows, run)?
                    } else {
                        let needed = || function.needs(&known, rows.count, signature, context);
                        self.needed_part(argument, needed, rows, run)?
                    };
                    known.push(column);
                }
                let mut columns = vec![Column::Constant(Value::Null); known.len()];
                for ((place, _), column) in arguments.iter().zip(known) {
                    columns[*place] = column;
                }
                let result = function.evaluate(&columns, rows.count, signature, context)?;
                Ok(Column::Array(result))
            }
            Operation::Cast {
                input,
                from,
                to,
                text,
                is_bytes_as_text,
            } => {
                let input = self.node(*input, rows, run)?;
                if *is_bytes_as_text {
                    check_text(&input, to)?;
                }
                cast(input, from, to, text.as_deref(), run.evaluation())
            }
            Operation::Compare { .. }
            | Operation::Logic { .. }
            | Operation::Not(_)
            | Operation::IsNull(_)
            | Operation::IsTruth(..)
            | Operation::InList { .. } => match self.truth_of(operation, rows, run)? {
                Some(truth) => Ok(truth.into_column()),
                None => unreachable!("these are predicates"),
            },
            Operation::Case {
                branches,
                otherwise,
            } => self.case(branches, otherwise.as_ref(), physical, rows, run),
            Operation::Unplanned => Err(Error::internal(
                "a subquery without a physical plan was to be evaluated",
            )),
            Operation::Subquery(subquery) => {
                subquery.evaluate(rows.columns.arrays()?, rows.count, run)
            }
        }
    }

    /// Values of a part where they are needed, and NULL elsewhere; all values of a part that cannot fail.
    fn needed_part(
        &self,
        part: &Lazy,
        needed: impl FnOnce() -> Result<BooleanBuffer>,
        rows: Rows<'_>,
        run: &RunContext,
    ) -> Result<Column> {
        let node = &self.nodes[part.node as usize];
        if node.total {
            return self.node(part.node, rows, run);
        }
        let needed = needed()?;
        match needed.count_set_bits() {
            0 => Ok(Column::Constant(Value::Null)),
            count if count < rows.count && !node.alike => {
                let others = Branch {
                    column: Column::Constant(Value::Null),
                    is_whole: false,
                    selection: !&needed,
                };
                let branch = self.branch(part, needed, count, rows, run)?;
                combine(vec![branch, others], node.physical, rows.count)
            }
            _ => self.node(part.node, rows, run),
        }
    }

    fn logic(
        &self,
        conjunction: bool,
        terms: &[Lazy],
        unknown_is_false: bool,
        rows: Rows<'_>,
        run: &RunContext,
    ) -> Result<Truth> {
        let mut result = Truth::Constant(Some(conjunction));
        for term in terms {
            let total = self.nodes[term.node as usize].total;
            let undecided = if total {
                None
            } else if unknown_is_false {
                match result.clone().into_selection() {
                    Err(true) => None,
                    Err(false) => return Ok(Truth::Constant(Some(false))),
                    Ok(selection) => Some(selection),
                }
            } else {
                Some(result.undecided(conjunction, rows.count))
            };
            let undecided = match undecided {
                None => None,
                Some(undecided) => match undecided.count_set_bits() {
                    0 => break,
                    count if count == rows.count => None,
                    _ if self.nodes[term.node as usize].alike => None,
                    _ => Some(undecided),
                },
            };
            let truth = match undecided {
                None => self.truth(term.node, rows, run)?,
                Some(undecided) => self
                    .on_selected(term, &undecided, rows, |program, node, rows| {
                        program.truth(node, rows, run)
                    })?
                    .spread(&undecided, conjunction),
            };
            result = if conjunction {
                result.and(truth)
            } else {
                result.or(truth)
            };
        }
        Ok(result)
    }

    /// Evaluates a part over the selected rows only.
    fn on_selected<T>(
        &self,
        part: &Lazy,
        selection: &BooleanBuffer,
        rows: Rows<'_>,
        evaluate: impl FnOnce(&Self, NodeId, Rows<'_>) -> Result<T>,
    ) -> Result<T> {
        let Columns::Arrays(all) = rows.columns else {
            // A selection of a single row is that row.
            return evaluate(self, part.node, rows);
        };
        let filter = selection_filter(selection, part.columns.len());
        let local = |(local, value): &(usize, Column)| match value {
            Column::Array(array) => (*local, Column::Array(filter_array(&filter, array))),
            constant => (*local, constant.clone()),
        };
        let locals: Vec<_> = rows.locals.iter().map(local).collect();
        let mut columns = all.to_vec();
        for column in &part.columns {
            columns[*column] = filter_array(&filter, &all[*column]);
        }
        let rows = Rows {
            columns: Columns::Arrays(&columns),
            locals: &locals,
            count: filter.count(),
        };
        evaluate(self, part.node, rows)
    }

    fn case(
        &self,
        branches: &[(Lazy, Lazy)],
        otherwise: Option<&Lazy>,
        physical: PhysicalType,
        rows: Rows<'_>,
        run: &RunContext,
    ) -> Result<Column> {
        let mut remaining = BooleanBuffer::new_set(rows.count);
        let mut left = rows.count;
        let mut results: Vec<Branch> = Vec::with_capacity(branches.len() + 1);
        for (condition, result) in branches {
            if left == 0 {
                break;
            }
            let taken = if left == rows.count {
                self.truth(condition.node, rows, run)?.into_selection()
            } else {
                let truth = self.on_selected(condition, &remaining, rows, |p, node, rows| {
                    p.truth(node, rows, run)
                })?;
                match truth {
                    Truth::Constant(truth) => Err(truth == Some(true)),
                    rows => rows.spread(&remaining, false).into_selection(),
                }
            };
            let taken = match taken {
                Err(false) => continue,
                Err(true) => remaining.clone(),
                Ok(taken) => taken,
            };
            let count = taken.count_set_bits();
            if count == 0 {
                continue;
            }
            remaining = &remaining & &!&taken;
            left -= count;
            if count == rows.count {
                return self.node(result.node, rows, run);
            }
            results.push(self.branch(result, taken, count, rows, run)?);
        }
        if left > 0 {
            if left == rows.count {
                return match otherwise {
                    None => Ok(Column::Constant(Value::Null)),
                    Some(part) => self.node(part.node, rows, run),
                };
            }
            results.push(match otherwise {
                None => Branch {
                    column: Column::Constant(Value::Null),
                    is_whole: false,
                    selection: remaining,
                },
                Some(part) => self.branch(part, remaining, left, rows, run)?,
            });
        }
        combine(results, physical, rows.count)
    }

    /// Values of a branch of CASE for the `count` rows that reach it.
    fn branch(
        &self,
        part: &Lazy,
        selection: BooleanBuffer,
        count: usize,
        rows: Rows<'_>,
        run: &RunContext,
    ) -> Result<Branch> {
        let node = &self.nodes[part.node as usize];
        let is_column = matches!(node.operation, Operation::Column(_));
        // Evaluating all rows costs less than gathering the selected ones.
        let is_whole = is_column || node.total && count >= rows.count / 2;
        let column = if is_whole {
            self.node(part.node, rows, run)?
        } else {
            self.on_selected(part, &selection, rows, |program, node, rows| {
                program.node(node, rows, run)
            })?
        };
        Ok(Branch {
            is_whole: is_whole && matches!(column, Column::Array(_)),
            column,
            selection,
        })
    }
}
