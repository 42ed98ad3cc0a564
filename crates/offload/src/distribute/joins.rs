//! Joins: one side is broadcast to the runs of the other one, or both sides are divided by the hash of the keys.

use mayfly_plan::Expression;
use mayfly_plan::physical::{JoinKind, Operator, Plan};

use super::Distribution;
use super::open::Open;
use crate::encoding::Refused;
use crate::job::Exchange;

/// Maximum estimated rows that are broadcast: each run holds all of them.
const BROADCAST_ROWS_MAX: f64 = 4e6;

impl Distribution<'_> {
    pub(super) fn join(&mut self, plan: &Plan) -> Result<Open, Refused> {
        let (kind, left, right) = match &plan.operator {
            Operator::HashJoin {
                kind, left, right, ..
            }
            | Operator::NestedLoopJoin {
                kind, left, right, ..
            } => (*kind, left, right),
            _ => return Err(Refused("no join".to_owned())),
        };
        let left = self.place(left)?;
        let right = self.place(right)?;
        let (left, right) = self.together(plan, kind, left, right)?;
        let mut inputs = left.inputs;
        inputs.extend(right.inputs);
        let mut operator = plan.operator.clone();
        match &mut operator {
            Operator::HashJoin {
                left: a,
                right: b,
                filters,
                ..
            } => {
                // Filters would reach the tables of another fragment.
                filters.clear();
                (**a, **b) = (left.plan, right.plan);
            }
            Operator::NestedLoopJoin {
                left: a, right: b, ..
            } => {
                (**a, **b) = (left.plan, right.plan);
            }
            _ => {}
        }
        let open = Open {
            plan: Plan {
                operator,
                ..plan.clone()
            },
            inputs,
            once: left.once && right.once,
        };
        self.with_subqueries(open)
    }

    /// Both sides where a run can join them. A side that is broadcast comes as one that runs wherever the other does.
    fn together(
        &mut self,
        plan: &Plan,
        kind: JoinKind,
        left: Open,
        right: Open,
    ) -> Result<(Open, Open), Refused> {
        if left.once && right.once {
            return Ok((left, right));
        }
        let (left_rows, right_rows) = (left.plan.estimated_rows, right.plan.estimated_rows);
        let partitions = self.partitions as f64;
        let is_small = |rows: f64, all: f64| rows <= BROADCAST_ROWS_MAX && rows * partitions <= all;
        let all = left_rows + right_rows;
        let keys = match &plan.operator {
            Operator::HashJoin { keys, .. } if kind != JoinKind::NullAwareAnti => keys.as_slice(),
            _ => &[],
        };
        let is_inner = kind == JoinKind::Inner;
        if !left.once && (keys.is_empty() || is_small(right_rows, all)) {
            let right = self.broadcast(right, left.once);
            return Ok((left, right));
        }
        if is_inner && !right.once && (keys.is_empty() || is_small(left_rows, all)) {
            let left = self.broadcast(left, right.once);
            return Ok((left, right));
        }
        if keys.is_empty() {
            // The left side runs once, and each of its rows must meet all right ones.
            let right = self.gathered(right);
            return Ok((left, right));
        }
        let left_keys: Vec<Expression> = keys.iter().map(|key| key.left.clone()).collect();
        // Both sides are compared by the left side's type.
        let right_keys = keys.iter().map(|key| Expression {
            ty: key.left.ty.clone(),
            ..key.right.clone()
        });
        let right_keys: Vec<Expression> = right_keys.collect();
        let left = self.hashed(left, &left_keys)?;
        let right = self.hashed(right, &right_keys)?;
        Ok((left, right))
    }

    /// All rows of a side in each run of the other one.
    fn broadcast(&mut self, side: Open, once: bool) -> Open {
        let open = self.exchanged(side, Exchange::Broadcast);
        Open { once, ..open }
    }
}
