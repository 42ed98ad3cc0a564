//! UNION, INTERSECT and EXCEPT: equal rows in the same run.

use mayfly_plan::physical::{Operator, Plan, SetOperationKind};

use super::open::Open;
use super::{Distribution, columns};
use crate::encoding::Refused;

impl Distribution<'_> {
    pub(super) fn set_operation(
        &mut self,
        plan: &Plan,
        kind: SetOperationKind,
        all: bool,
        inputs: &[Plan],
    ) -> Result<Open, Refused> {
        let opens = inputs.iter().map(|input| self.place(input));
        let mut opens = opens.collect::<Result<Vec<Open>, Refused>>()?;
        let once = opens.iter().all(|open| open.once);
        if !once {
            let streams = kind == SetOperationKind::Union && all;
            let placed = opens.into_iter().map(|open| {
                if streams {
                    return Ok(self.on_partitions(open));
                }
                let keys = columns(&open.plan.output);
                self.hashed(open, &keys)
            });
            opens = placed.collect::<Result<Vec<Open>, Refused>>()?;
        }
        let mut sources = Vec::new();
        let mut plans = Vec::new();
        for open in opens {
            sources.extend(open.inputs);
            plans.push(open.plan);
        }
        let mut operator = plan.operator.clone();
        if let Operator::SetOperation { inputs, .. } = &mut operator {
            *inputs = plans;
        }
        Ok(Open {
            plan: Plan {
                operator,
                ..plan.clone()
            },
            inputs: sources,
            once,
        })
    }
}
