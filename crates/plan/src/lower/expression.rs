//! Lowering of expressions: columns become indexes, outer columns parameters, subqueries plans.

use std::sync::Arc;

use mayfly_types::{Result, SqlType};

use crate::lower::{Frame, Lowering, Outer, exact, internal};
use crate::tree::expression::{self, Expression, ExpressionKind};
use crate::tree::logical::{self, ColumnId, ColumnSet, expression_is_volatile, with_stack};
use crate::tree::physical::{Plan, SortKey};
use crate::walk::for_each_child_mut;

impl Lowering {
    pub(super) fn expression(
        &mut self,
        mut expression: Expression,
        layout: &[ColumnId],
    ) -> Result<Expression> {
        self.lower_in_place(&mut expression, layout)?;
        Ok(expression)
    }

    pub(super) fn lower_in_place(
        &mut self,
        expression: &mut Expression,
        layout: &[ColumnId],
    ) -> Result<()> {
        match &mut expression.kind {
            ExpressionKind::Literal(_)
            | ExpressionKind::Parameter(_)
            | ExpressionKind::Local(_) => Ok(()),
            ExpressionKind::Column(id) => {
                let id = *id;
                expression.kind = self.column(id, layout, &expression.ty, expression.nullable)?;
                Ok(())
            }
            _ => with_stack(|| self.lower_operands(expression, layout)),
        }
    }

    fn lower_operands(&mut self, expression: &mut Expression, layout: &[ColumnId]) -> Result<()> {
        let mut outcome = Ok(());
        for_each_child_mut(expression, &mut |child| {
            if outcome.is_ok() {
                outcome = self.lower_in_place(child, layout);
            }
        });
        outcome?;
        if matches!(expression.kind, ExpressionKind::LogicalSubquery(_)) {
            let kind = std::mem::replace(&mut expression.kind, ExpressionKind::Column(0));
            if let ExpressionKind::LogicalSubquery(subquery) = kind {
                expression.kind = self.subquery(*subquery, layout)?;
            }
        }
        Ok(())
    }

    /// Lowers a column of the input, or of an outer query.
    fn column(
        &mut self,
        id: ColumnId,
        layout: &[ColumnId],
        ty: &SqlType,
        nullable: bool,
    ) -> Result<ExpressionKind> {
        if let Some(position) = layout.iter().position(|known| *known == id) {
            return Ok(ExpressionKind::Column(position));
        }
        let Some(frame) = self.frames.last_mut() else {
            return Err(internal(&format!("column {id} is not in its input")));
        };
        if let Some(known) = frame.parameters.iter().find(|outer| outer.id == id) {
            return Ok(ExpressionKind::Parameter(known.parameter));
        }
        let parameter = self.parameter_count;
        self.parameter_count += 1;
        frame.parameters.push(Outer {
            parameter,
            id,
            ty: ty.clone(),
            nullable,
        });
        Ok(ExpressionKind::Parameter(parameter))
    }

    /// Runs `lower`, in which columns of `layout` may be read as parameters; returns these with their values.
    pub(super) fn in_frame<T>(
        &mut self,
        layout: &[ColumnId],
        lower: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<(T, Vec<(usize, Expression)>)> {
        self.frames.push(Frame::default());
        let lowered = lower(self);
        let frame = self.frames.pop().unwrap_or_default();
        let lowered = lowered?;
        let mut parameters = Vec::with_capacity(frame.parameters.len());
        for outer in frame.parameters {
            let kind = self.column(outer.id, layout, &outer.ty, outer.nullable)?;
            let value = Expression::new(kind, outer.ty, outer.nullable);
            parameters.push((outer.parameter, value));
        }
        Ok((lowered, parameters))
    }

    fn subquery(
        &mut self,
        subquery: logical::Subquery,
        layout: &[ColumnId],
    ) -> Result<ExpressionKind> {
        let logical::Subquery {
            kind,
            relation,
            columns,
            nullable: _,
            client_type: _,
            claim: _,
            select_id,
        } = subquery;
        let required: ColumnSet = columns.iter().copied().collect();
        let (plan, parameters) = self.in_frame(layout, |lowering| {
            let lowered = lowering.relation(relation, &required)?;
            if columns.is_empty() {
                return Ok(lowered.plan);
            }
            exact(lowered, &columns)
        })?;
        let cacheable = !is_volatile(&plan);
        Ok(ExpressionKind::Subquery(Arc::new(expression::Subquery {
            kind,
            plan,
            parameters,
            cacheable,
            select_id,
        })))
    }

    pub(super) fn sort_keys(
        &mut self,
        keys: Vec<SortKey>,
        layout: &[ColumnId],
    ) -> Result<Vec<SortKey>> {
        keys.into_iter()
            .map(|key| {
                Ok(SortKey {
                    expression: self.expression(key.expression, layout)?,
                    descending: key.descending,
                })
            })
            .collect()
    }

    /// Lowers the conjunction of predicates.
    pub(super) fn conjunction(
        &mut self,
        predicates: Vec<Expression>,
        layout: &[ColumnId],
    ) -> Result<Option<Expression>> {
        match crate::predicates::conjunction(predicates) {
            Some(predicate) => Ok(Some(self.expression(predicate, layout)?)),
            None => Ok(None),
        }
    }
}

/// Columns of a query block that are computed for their side effects, whether or not they are read.
pub(super) fn volatile_columns(relation: &logical::Relation) -> ColumnSet {
    let of_columns = |columns: &[logical::Computed]| -> ColumnSet {
        let volatile = |column: &&logical::Computed| expression_is_volatile(&column.expression);
        columns
            .iter()
            .filter(volatile)
            .map(|column| column.id)
            .collect()
    };
    match relation {
        logical::Relation::Project { columns, .. } => of_columns(columns),
        logical::Relation::Extend { input, columns } => {
            let mut found = of_columns(columns);
            found.extend_from(&volatile_columns(input));
            found
        }
        logical::Relation::Filter { input, .. }
        | logical::Relation::Sort { input, .. }
        | logical::Relation::Limit { input, .. }
        | logical::Relation::Materialize { input, .. }
        | logical::Relation::Block {
            input,
            derived: None,
            ..
        } => volatile_columns(input),
        logical::Relation::SetOperation {
            inputs, columns, ..
        } => {
            let mut found = ColumnSet::new();
            for (input, ids) in inputs {
                let of_arm = volatile_columns(input);
                let pairs = columns.iter().zip(ids);
                for (column, _) in pairs.filter(|(_, id)| of_arm.contains(**id)) {
                    found.insert(*column);
                }
            }
            found
        }
        _ => ColumnSet::new(),
    }
}

fn is_volatile(plan: &Plan) -> bool {
    let mut found = false;
    plan.for_each_expression(&mut |expression| {
        found = found || expression_is_volatile(expression);
    });
    plan.for_each_input(&mut |input| {
        found = found || with_stack(|| is_volatile(input));
    });
    found
}
