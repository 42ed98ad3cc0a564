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

/// The columns of an input without its rows.
pub(super) fn no_rows(input: Lowered) -> Lowered {
    Lowered {
        plan: Plan {
            operator: Operator::Values { rows: Vec::new() },
            output: input.plan.output,
            estimated_rows: 0.0,
        },
        layout: input.layout,
    }
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
    Lowered {
        plan: Plan {
            output: input.plan.output.clone(),
            estimated_rows: input.plan.estimated_rows,
            operator: Operator::Block {
                input: Box::new(input.plan),
                select_id,
                table,
            },
        },
        layout: input.layout,
    }
}

pub(super) fn materialized(input: Lowered, temporary: TemporaryTable) -> Lowered {
    Lowered {
        plan: Plan {
            output: input.plan.output.clone(),
            estimated_rows: input.plan.estimated_rows,
            operator: Operator::Materialize {
                input: Box::new(input.plan),
                temporary,
            },
        },
        layout: input.layout,
    }
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
    // A projection of a projection is one.
    if let Operator::Project {
        input: below,
        mut expressions,
    } = input.plan.operator
    {
        let mut last_use = vec![usize::MAX; expressions.len()];
        for (at, position) in kept.iter().enumerate() {
            last_use[*position] = at;
        }
        let expressions = kept
            .iter()
            .enumerate()
            .map(|(at, position)| {
                if last_use[*position] == at {
                    let ty = expressions[*position].ty.clone();
                    let taken = Expression::column(0, ty, true);
                    std::mem::replace(&mut expressions[*position], taken)
                } else {
                    expressions[*position].clone()
                }
            })
            .collect();
        return Lowered {
            plan: Plan {
                output,
                estimated_rows: input.plan.estimated_rows,
                operator: Operator::Project {
                    input: below,
                    expressions,
                },
            },
            layout,
        };
    }
    let expressions = kept
        .iter()
        .zip(&output)
        .map(|(position, ty)| Expression::column(*position, ty.clone(), true))
        .collect();
    Lowered {
        plan: Plan {
            output,
            estimated_rows: input.plan.estimated_rows,
            operator: Operator::Project {
                input: Box::new(input.plan),
                expressions,
            },
        },
        layout,
    }
}
