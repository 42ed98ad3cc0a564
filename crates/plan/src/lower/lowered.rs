//! A lowered relation with simple operators over it: the boundary of a block, a temporary table, a choice of its
//! columns.

use std::cell::Cell;
use std::rc::Rc;

use mayfly_types::{Result, SqlType};

use crate::lower::internal;
use crate::tree::expression::Expression;
use crate::tree::logical::{ColumnId, ColumnSet, DerivedTable};
use crate::tree::physical::{BlockTable, Operator, OperatorNumber, Plan, TemporaryTable};

/// Numbering of the operators of a statement. Clones share the counter.
#[derive(Clone, Default)]
pub(super) struct Numbering(Rc<Cell<OperatorNumber>>);

impl Numbering {
    fn next(&self) -> OperatorNumber {
        let number = self.0.get();
        self.0.set(number + 1);
        number
    }

    /// Number of numbered operators.
    pub(super) fn count(&self) -> usize {
        self.0.get() as usize
    }

    /// Numbers an operator and the temporary table that it creates.
    pub(super) fn plan(
        &self,
        mut operator: Operator,
        output: Vec<SqlType>,
        estimated_rows: f64,
    ) -> Plan {
        let number = self.next();
        if let Some(temporary) = operator.temporary_mut() {
            temporary.operator = Some(number);
        }
        Plan {
            number,
            operator,
            output,
            estimated_rows,
        }
    }

    /// Numbers a temporary table without an operator.
    pub(super) fn temporary(&self, temporary: TemporaryTable) -> TemporaryTable {
        TemporaryTable {
            operator: Some(self.next()),
            ..temporary
        }
    }

    /// An operator with its output columns.
    pub(super) fn lowered(
        &self,
        operator: Operator,
        output: Vec<SqlType>,
        estimated_rows: f64,
        layout: Vec<ColumnId>,
    ) -> Lowered {
        Lowered {
            plan: self.plan(operator, output, estimated_rows),
            layout,
            numbering: self.clone(),
        }
    }
}

/// An operator and its output columns, in order.
pub(super) struct Lowered {
    pub(super) plan: Plan,
    pub(super) layout: Vec<ColumnId>,
    numbering: Numbering,
}

impl Lowered {
    /// An operator over this one that gives the same columns and about `rows` rows.
    pub(super) fn over(
        self,
        estimated_rows: f64,
        operator: impl FnOnce(Box<Plan>) -> Operator,
    ) -> Self {
        let output = self.plan.output.clone();
        let operator = operator(Box::new(self.plan));
        self.numbering
            .lowered(operator, output, estimated_rows, self.layout)
    }
}

/// An empty relation with the columns of an input.
pub(super) fn no_rows(input: Lowered) -> Lowered {
    let operator = Operator::Values { rows: Vec::new() };
    let Lowered {
        plan,
        layout,
        numbering,
    } = input;
    numbering.lowered(operator, plan.output, 0.0, layout)
}

/// The boundary of a query block.
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

/// Projection that drops the columns that nothing above reads.
pub(super) fn narrowed(input: Lowered, required: &ColumnSet) -> Lowered {
    if input.layout.iter().all(|id| required.contains(*id)) {
        return input;
    }
    let kept: Vec<usize> = (0..input.layout.len())
        .filter(|position| required.contains(input.layout[*position]))
        .collect();
    reordered(input, &kept)
}

/// Projection to exactly these columns, in order.
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
    let (rows, numbering) = (input.plan.estimated_rows, input.numbering);
    // Merges two projections into one.
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
    numbering.lowered(project, output, rows, layout)
}

/// Expressions at these positions, copied only where a position is repeated.
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
