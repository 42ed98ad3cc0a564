//! Open fragments, and the exchanges between them.

use mayfly_plan::Expression;
use mayfly_plan::physical::{Operator, OperatorNumber, Plan};
use mayfly_types::SqlType;

use super::operators::over;
use super::{Distribution, columns, scan_of};
use crate::encoding::Refused;
use crate::job::{Exchange, Fragment, Input, input_source};

/// Fragment that is being built: operators are put on top of it.
pub(super) struct Open {
    pub(super) plan: Plan,
    /// Inputs with their numbers.
    pub(super) inputs: Vec<(usize, Input)>,
    /// Whether it runs once, and not on each partition with a part of the rows.
    pub(super) once: bool,
}

impl Open {
    /// A fragment without inputs, which runs once.
    pub(super) fn once(plan: Plan) -> Self {
        Self {
            plan,
            inputs: Vec::new(),
            once: true,
        }
    }

    /// A fragment on each partition with one input.
    pub(super) fn parts(plan: Plan, number: usize, input: Input) -> Self {
        Self {
            plan,
            inputs: vec![(number, input)],
            once: false,
        }
    }

    /// The fragment with a copy of a unary operator on top of it.
    pub(super) fn under(self, above: &Plan) -> Self {
        let plan = over(above, self.plan);
        Self { plan, ..self }
    }

    /// The fragment with another operator on top of it.
    pub(super) fn with(
        self,
        number: OperatorNumber,
        output: Vec<SqlType>,
        operator: impl FnOnce(Box<Plan>) -> Operator,
    ) -> Self {
        let estimated_rows = self.plan.estimated_rows;
        let operator = operator(Box::new(self.plan));
        let plan = Plan {
            number,
            operator,
            output,
            estimated_rows,
        };
        Self { plan, ..self }
    }
}

impl Distribution<'_> {
    /// Closes a fragment; its number.
    pub(super) fn close(&mut self, open: Open) -> usize {
        let (numbers, inputs) = open.inputs.into_iter().unzip();
        self.fragments.push(Fragment {
            inputs,
            numbers,
            plan: open.plan,
            once: open.once,
        });
        self.fragments.len() - 1
    }

    /// Closes a fragment whose rows an exchange brings to another one: a scan of these rows there, and the input.
    pub(super) fn sent(&mut self, open: Open, exchange: Exchange) -> (Plan, (usize, Input)) {
        let (types, rows) = (open.plan.output.clone(), open.plan.estimated_rows);
        let operator_number = open.plan.number;
        let fragment = self.close(open);
        let number = self.input_number();
        let scan = Plan {
            number: operator_number,
            operator: scan_of(input_source(number, &types, rows), None),
            output: types,
            estimated_rows: rows,
        };
        (scan, (number, Input::Rows { fragment, exchange }))
    }

    /// Closes a fragment and opens one that reads its rows.
    pub(super) fn exchanged(&mut self, open: Open, exchange: Exchange) -> Open {
        let once = exchange == Exchange::Gather;
        let (plan, input) = self.sent(open, exchange);
        Open {
            plan,
            inputs: vec![input],
            once,
        }
    }

    /// All rows in one run.
    pub(super) fn gathered(&mut self, open: Open) -> Open {
        if open.once {
            return open;
        }
        self.exchanged(open, Exchange::Gather)
    }

    /// Rows with equal values of these expressions in the same run.
    pub(super) fn hashed(&mut self, open: Open, keys: &[Expression]) -> Result<Open, Refused> {
        let width = open.plan.output.len();
        let types = open.plan.output.clone();
        let (mut open, places) = with_keys(open, keys);
        if open.plan.output.len() > width {
            self.subqueries(&mut open)?;
        }
        let mut open = self.exchanged(open, Exchange::Hash(places));
        if let Operator::TableScan { columns, .. } = &mut open.plan.operator {
            // Keys that are no columns have served their purpose.
            columns.truncate(width);
            open.plan.output = types;
        }
        Ok(open)
    }

    /// Rows of several open fragments for one that runs on each partition: what runs once gives its rows to the first one.
    pub(super) fn on_partitions(&mut self, open: Open) -> Open {
        if open.once {
            self.exchanged(open, Exchange::Hash(Vec::new()))
        } else {
            open
        }
    }
}

/// The fragment with a column for each key, and the columns of the keys.
fn with_keys(open: Open, keys: &[Expression]) -> (Open, Vec<usize>) {
    let types = open.plan.output.clone();
    let mut expressions = columns(&types);
    let places = keys.iter().map(|key| match key.kind {
        mayfly_plan::ExpressionKind::Column(column) if types[column] == key.ty => column,
        _ => {
            expressions.push(key.clone());
            expressions.len() - 1
        }
    });
    let places: Vec<usize> = places.collect();
    if expressions.len() == types.len() {
        return (open, places);
    }
    let output = expressions.iter().map(|one| one.ty.clone()).collect();
    let number = open.plan.number;
    let open = open.with(number, output, |input| Operator::Project {
        input,
        expressions,
    });
    (open, places)
}
