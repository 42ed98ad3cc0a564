//! ON DUPLICATE KEY UPDATE: the assignments to a row with a duplicate key.

use std::ops::ControlFlow;
use std::sync::Arc;

use arrow_array::ArrayRef;
use mayfly_exec::ExecutionContext;
use mayfly_plan::{Expression, PlanOptions, ScalarNames};
use mayfly_syntax::ast::{
    Expr, Function, FunctionArg, FunctionArguments, InsertSource, InsertStatement, Query, SetExpr,
    TableFactor, visit_expressions,
};
use mayfly_syntax::encodings;
use mayfly_types::error::codes;
use mayfly_types::{Batch, Error, Result, SqlType, Value};

use crate::binding::expressions::{Bound, columns_of, value_column};
use crate::binding::session_catalog::SessionCatalog;
use crate::builder;
use crate::cached_plan::DuplicatePlan;
use crate::catalog::definition::TableDefinition;
use crate::error::refuse;
use crate::names::same_name;
use crate::session::StatementContext;
use crate::statements::listed_columns::{named_column, refuse_generated};
use crate::statements::row_rules::RowRules;
use crate::statements::row_sink::OnDuplicate;
use crate::statements::row_target::{RowTarget, bind_value};
use crate::statements::same_values::same_value;

/// Names in a clause.
#[derive(Default)]
pub(crate) struct NamesOfDuplicates {
    /// Unqualified columns of the table: error 1052 where the query has such columns, too.
    pub(crate) own: Vec<Expr>,
    /// Names of neither the table nor the new row, but of the source query.
    pub(crate) foreign: Vec<Expr>,
    /// Whether some of `foreign` may be names in a subquery.
    pub(crate) has_subquery: bool,
}

/// The column that VALUES() names.
fn argument_of_values(call: &Function) -> Option<&Expr> {
    match (call.name.0.as_slice(), &call.args) {
        ([name], FunctionArguments::List(list))
            if name.value.eq_ignore_ascii_case("values")
                || name.value.eq_ignore_ascii_case("value") =>
        {
            match list.args.as_slice() {
                [FunctionArg::Expr(column)] => Some(column),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The clause of a statement, with the meaning of its names.
pub(crate) struct DuplicateClause<'i> {
    insert: &'i InsertStatement,
    target: &'i RowTarget,
    /// By column of the table: its name in the new row; empty without one.
    new_names: Vec<&'i str>,
    /// Columns of the source query.
    foreign: &'i [Expr],
}

impl<'i> DuplicateClause<'i> {
    /// The clause of a statement that gives the columns at `positions`.
    pub(crate) fn new(
        insert: &'i InsertStatement,
        target: &'i RowTarget,
        positions: &[usize],
        foreign: &'i [Expr],
    ) -> Result<Self> {
        let columns = &target.names.columns;
        let mut new_names = vec![""; columns.len()];
        if let Some(alias) = &insert.row_alias {
            refuse(alias.name == target.names.name, || {
                codes::ER_NONUNIQ_TABLE.with(&[&alias.name])
            })?;
            let mut names = alias.columns.iter().enumerate();
            let twice = names.find(|(index, name)| {
                let before = &alias.columns[..*index];
                before.iter().any(|other| same_name(other, name))
            });
            if let Some((_, name)) = twice {
                return Err(codes::ER_DUP_FIELDNAME.with(&[name]));
            }
            if !alias.columns.is_empty() && alias.columns.len() != positions.len() {
                return Err(codes::ER_VIEW_WRONG_LIST.error());
            }
            for (index, position) in positions.iter().enumerate() {
                let own = alias.columns.get(index).map(String::as_str);
                new_names[*position] = own.unwrap_or(&columns[*position].name);
            }
        }
        Ok(Self {
            insert,
            target,
            new_names,
            foreign,
        })
    }

    /// The names in the clause of a statement that adds the rows of a query.
    pub(crate) fn names(
        insert: &InsertStatement,
        query: &Query,
        definition: &TableDefinition,
    ) -> Result<NamesOfDuplicates> {
        let mut names = NamesOfDuplicates::default();
        // The argument of VALUES() is a column of the table, and a subquery has names of its own.
        let mut others: Vec<*const Expr> = Vec::new();
        let mut ambiguous = None;
        let reads_target = reads(query, &definition.name);
        for assignment in &insert.on_duplicate_key_update {
            let _: ControlFlow<()> = visit_expressions(&assignment.value, |expr| {
                let (qualifier, name) = match expr {
                    Expr::Identifier(name) if encodings::variable(expr).is_none() => (None, name),
                    Expr::Function(call) => {
                        others.extend(argument_of_values(call).map(std::ptr::from_ref));
                        return ControlFlow::Continue(());
                    }
                    Expr::Subquery(query)
                    | Expr::Exists {
                        subquery: query, ..
                    }
                    | Expr::InSubquery {
                        subquery: query, ..
                    } => {
                        names.has_subquery = true;
                        let _: ControlFlow<()> = visit_expressions(query, |inner| {
                            others.push(inner);
                            ControlFlow::Continue(())
                        });
                        return ControlFlow::Continue(());
                    }
                    Expr::CompoundIdentifier(parts) => match parts.as_slice() {
                        [.., qualifier, name] => (Some(qualifier), name),
                        _ => return ControlFlow::Continue(()),
                    },
                    _ => return ControlFlow::Continue(()),
                };
                let own = qualifier.is_none_or(|table| table.value == definition.name)
                    && definition.column_position(&name.value).is_some();
                if own && qualifier.is_some() && reads_target {
                    ambiguous.get_or_insert_with(|| expr.to_string());
                }
                let names = match own {
                    false => &mut names.foreign,
                    true if qualifier.is_none() && !others.contains(&std::ptr::from_ref(expr)) => {
                        &mut names.own
                    }
                    true => return ControlFlow::Continue(()),
                };
                if !names.contains(expr) {
                    names.push(expr.clone());
                }
                ControlFlow::Continue(())
            });
        }
        match ambiguous {
            Some(name) => Err(codes::ER_NON_UNIQ_ERROR.with(&[&name, &"field list"])),
            None => Ok(names),
        }
    }

    /// The plan for duplicates. `foreign_types` are the types of the query's columns.
    pub(crate) fn plan(
        &self,
        context: &StatementContext<'_>,
        planner: (&SessionCatalog<'_>, &PlanOptions),
        foreign_types: &[SqlType],
    ) -> Result<DuplicatePlan> {
        let written = &self.insert.on_duplicate_key_update;
        if written.is_empty() {
            return Ok(if self.insert.replace {
                DuplicatePlan::Replace
            } else {
                DuplicatePlan::Refuse
            });
        }
        let definition = &*self.target.names;
        let mut columns = columns_of(context, definition);
        let alias = self.insert.row_alias.as_ref();
        let alias = alias.map_or("", |alias| alias.name.as_str());
        let new = definition.columns.iter().zip(&self.new_names);
        columns.extend(new.map(|(column, name)| value_column(alias, name, &column.ty)));
        for (expr, ty) in self.foreign.iter().zip(foreign_types) {
            let (table, name) = match expr {
                Expr::Identifier(name) => ("", name.value.as_str()),
                Expr::CompoundIdentifier(parts) => match parts.as_slice() {
                    [.., table, name] => (table.value.as_str(), name.value.as_str()),
                    _ => continue,
                },
                _ => continue,
            };
            columns.push(value_column(table, name, ty));
        }
        let is_values = matches!(self.insert.source, InsertSource::Values(_));
        let names = ScalarNames {
            columns: &columns,
            inserted: Some(definition.columns.len()),
            target: is_values.then(|| self.target.changed()),
            key_part_of: None,
        };
        let mut assignments = Vec::with_capacity(written.len());
        for assignment in written {
            let column = named_column(definition, &assignment.column)?;
            let mut value = None;
            if !encodings::is_default(&assignment.value) {
                refuse_generated(definition, column)?;
                let ty = &definition.columns[column].ty;
                value = Some(Arc::new(bind_value(&assignment.value, names, planner, ty)?));
            }
            assignments.push((column, value));
        }
        Ok(DuplicatePlan::Update(assignments))
    }
}

impl DuplicatePlan {
    /// The plan in a running statement. Only computed values need the execution context.
    pub(crate) fn run(
        &self,
        execution: Option<&Arc<ExecutionContext>>,
        parameters: &[Value],
    ) -> Result<OnDuplicate> {
        Ok(match self {
            Self::Refuse => OnDuplicate::Refuse,
            Self::Replace => OnDuplicate::Replace,
            Self::Update(assignments) => {
                let missing = || Error::internal("assignments without an execution context");
                let execution = execution.ok_or_else(missing)?;
                let bound = |value: &Arc<Expression>| Bound::of_plan(Arc::clone(value), execution);
                let assignments = assignments.iter();
                let assignments =
                    assignments.map(|(column, value)| (*column, value.as_ref().map(bound)));
                OnDuplicate::Update(Box::new(DuplicateUpdate {
                    assignments: assignments.collect(),
                    parameters: parameters.to_vec(),
                }))
            }
        })
    }
}

/// Whether a query has a table of a name in its FROM.
fn reads(query: &Query, name: &str) -> bool {
    let SetExpr::Select(select) = &*query.body else {
        return false;
    };
    let is_named = |factor: &TableFactor| match factor {
        TableFactor::Table {
            name: table, alias, ..
        } => match alias {
            Some(alias) => alias.name.value == name,
            None => {
                let last = table.0.last();
                last.is_some_and(|part| part.value == name)
            }
        },
        _ => false,
    };
    select.from.iter().any(|item| {
        is_named(&item.relation) || item.joins.iter().any(|join| is_named(&join.relation))
    })
}

/// ON DUPLICATE KEY UPDATE in a running statement.
pub(crate) struct DuplicateUpdate {
    /// As in [`DuplicatePlan::Update`], in this order: later ones see the values of earlier ones.
    assignments: Vec<(usize, Option<Bound>)>,
    /// The values of `?`.
    parameters: Vec<Value>,
}

impl DuplicateUpdate {
    /// The changed row; `None` when nothing changes. `hook` may change the row and mark more columns as assigned.
    pub(super) fn apply(
        &self,
        context: &mut StatementContext<'_>,
        rules: &RowRules<'_>,
        (old, new, extra): (&Batch, &Batch, Option<&Batch>),
        number: u64,
        hook: impl FnOnce(&mut StatementContext<'_>, &mut [ArrayRef], &mut [bool]) -> Result<()>,
    ) -> Result<Option<Batch>> {
        let width = old.columns().len();
        let mut columns = old.columns().to_vec();
        columns.extend_from_slice(new.columns());
        if let Some(extra) = extra {
            columns.extend_from_slice(extra.columns());
        }
        let mut assigned = vec![false; width];
        for (position, value) in &self.assignments {
            let column = &rules.definition.columns[*position];
            let value = match value {
                Some(bound) => {
                    let row = Batch::new(columns.clone(), 1);
                    let value = || bound.scalar(&row, &self.parameters);
                    let (value, ty) = context.lending(value)?;
                    rules.refuse_warnings()?;
                    rules.store_assigned(&value, &ty, column, number)?
                }
                None => {
                    let row = || Batch::new(columns[..width].to_vec(), 1);
                    rules.default_value(*position, row, number)?
                }
            };
            columns[*position] = builder::constant(&value, &column.ty, 1);
            assigned[*position] = true;
        }
        columns.truncate(width);
        hook(context, &mut columns, &mut assigned)?;
        let same = |column: usize| same_value(old.column(column), &columns[column], 0);
        if (0..width).all(same) {
            return Ok(None);
        }
        // As in MySQL all generated columns are computed, also those of a newly added row.
        rules.update_timestamps(&mut columns, &assigned, 1);
        rules.generate(&mut columns, 1, number - 1)?;
        let changed = Batch::new(columns, 1);
        match context.lending(|| rules.check(&changed))? {
            // With IGNORE the row is unchanged.
            Some(_) => Ok(None),
            None => Ok(Some(changed)),
        }
    }
}
