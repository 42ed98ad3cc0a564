//! A lowered relation with what is put over it: the end of a block, a temporary table, a choice of
//! its columns.

use mayfly_types::{Result, SqlType};

use crate::lower::internal;
use crate::tree::expression::Expression;
use crate::tree::logical::{ColumnId, ColumnSet, DerivedTable};
use crate::tree::physical::{BlockTable, Operator, Plan, TemporaryTable};

/// An operator with the columns that it gives, in order.
pub(super) struct Lowered {
    pub(super) plan: Plan,
    pub(super) layout: Vec<ColumnId>,
}

impl Lowered {
    pub(super) fn new(
        operator: Operator,
        output: Vec<SqlType>,
        estimated_rows: f64,
        layout: Vec<ColumnId>,
    ) -> Self {
        Self {
            plan: Plan {
                operator,
                output,
                estimated_rows,
            },
            layout,
        }
    }

    /// An operator over this one that gives the same columns, and about so many rows.
    pub(super) fn over(
        self,
        estimated_rows: f64,
        operator: impl FnOnce(Box<Plan>) -> Operator,
    ) -> Self {
        let output = self.plan.output.clone();
        let operator = operator(Box::new(self.plan));
        Self::new(operator, output, estimated_rows, self.layout)
    }
}

/// The columns of an input without its rows.
pub(super) fn no_rows(input: Lowered) -> Lowered {
    let operator = Operator::Values { rows: Vec::new() };
    Lowered::new(operator, input.plan.output, 0.0, input.layout)
}

/// The end of a query block.
pub(super) fn block(
    input: Lowered,
    select_id: usize,
    derived: Option<Box<DerivedTable>>,
    required: &ColumnSet,
) -> Lowered {
    let Some(derived) = derived else {
        return marked(input, select_id, None);
    };
    let input = narrowed(input, required);
    let name = |id: &ColumnId| {
        let named = derived.columns.iter().find(|(known, _)| known == id);
        named.map_or_else(String::new, |(_, name)| name.clone())
    };
    let table = BlockTable {
        alias: derived.alias.clone(),
        columns: input.layout.iter().map(name).collect(),
    };
    match derived.materialize {
        Some(temporary) => {
            let rows = marked(input, select_id, None);
            marked(materialized(rows, temporary), select_id, Some(table))
        }
        None => marked(input, select_id, Some(table)),
    }
}

fn marked(input: Lowered, select_id: usize, table: Option<BlockTable>) -> Lowered {
    let rows = input.plan.estimated_rows;
    input.over(rows, |input| Operator::Block {
        input,
        select_id,
        table,
    })
}

pub(super) fn materialized(input: Lowered, temporary: TemporaryTable) -> Lowered {
    let rows = input.plan.estimated_rows;
    input.over(rows, |input| Operator::Materialize { input, temporary })
}

/// The same rows without columns that nobody asked for.
pub(super) fn narrowed(input: Lowered, required: &ColumnSet) -> Lowered {
    if input.layout.iter().all(|id| required.contains(*id)) {
        return input;
    }
    let kept: Vec<usize> = (0..input.layout.len())
        .filter(|position| required.contains(input.layout[*position]))
        .collect();
    reordered(input, &kept)
}

/// The same rows with exactly these columns, in order.
pub(super) fn exact(input: Lowered, columns: &[ColumnId]) -> Result<Plan> {
    if input.layout == columns {
        return Ok(input.plan);
    }
    let kept = columns
        .iter()
        .map(|id| input.layout.iter().position(|known| known == id))
        .collect::<Option<Vec<_>>>()
        .ok_or_else(|| internal("a result column is not computed"))?;
    Ok(reordered(input, &kept).plan)
}

pub(super) fn reordered(input: Lowered, kept: &[usize]) -> Lowered {
    let output: Vec<SqlType> = kept
        .iter()
        .map(|position| input.plan.output[*position].clone())
        .collect();
    let layout = kept
        .iter()
        .map(|position| input.layout[*position])
        .collect();
    let rows = input.plan.estimated_rows;
    // A projection of a projection is one.
    let (input, expressions) = match input.plan.operator {
        Operator::Project { input, expressions } => (input, chosen(expressions, kept)),
        _ => {
            let columns = kept.iter().zip(&output);
            let columns =
                columns.map(|(position, ty)| Expression::column(*position, ty.clone(), true));
            (Box::new(input.plan), columns.collect())
        }
    };
    let project = Operator::Project { input, expressions };
    Lowered::new(project, output, rows, layout)
}

/// The expressions at these positions, each copied only where another position is the same.
fn chosen(mut expressions: Vec<Expression>, kept: &[usize]) -> Vec<Expression> {
    let mut last_use = vec![usize::MAX; expressions.len()];
    for (at, position) in kept.iter().enumerate() {
        last_use[*position] = at;
    }
    let choose = |(at, position): (usize, &usize)| {
        if last_use[*position] == at {
            let ty = expressions[*position].ty.clone();
            let taken = Expression::column(0, ty, true);
            std::mem::replace(&mut expressions[*position], taken)
        } else {
            expressions[*position].clone()
        }
    };
    kept.iter().enumerate().map(choose).collect()
}
