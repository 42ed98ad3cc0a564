//! Window functions: the rows of a partition in one run.
//!
//! Windows that read the same sorted rows come one above the other, over the sort. Their rows are divided by what all of
//! them are partitioned by.

use mayfly_plan::Expression;
use mayfly_plan::expression::{SortKey, WindowCall, WindowFunction, same_expression};
use mayfly_plan::physical::{Operator, Plan};

use super::Distribution;
use super::open::Open;
use crate::encoding::Refused;

/// Partition and order of a window.
type Specification<'p> = (&'p [Expression], &'p [SortKey]);

impl Distribution<'_> {
    /// Places windows that read the same rows, from the topmost one down to the sort of the rows.
    pub(super) fn windows(&mut self, plan: &Plan) -> Result<Open, Refused> {
        let mut windows = Vec::new();
        let mut specifications: Vec<Specification<'_>> = Vec::new();
        let mut at = plan;
        while let Operator::Window {
            input,
            partition,
            order,
            ..
        } = &at.operator
        {
            windows.push(at);
            specifications.push((partition, order));
            at = input;
        }
        let (sort, orders_partitions, below) = match &at.operator {
            Operator::Sort {
                input,
                for_windows: Some(order),
                ..
            } => (Some(at), order.orders_partitions, &**input),
            _ => (None, false, at),
        };
        let open = self.place(below)?;
        let open = if open.once {
            open
        } else if sort.is_none() && specifications.iter().any(|one| !is_unordered(*one)) {
            return Err(Refused(
                "a window over rows in an order of the tables".to_owned(),
            ));
        } else {
            match common(&specifications, open.plan.output.len()) {
                keys if keys.is_empty() || orders_partitions => self.gathered(open),
                keys => self.hashed(open, &keys)?,
            }
        };
        let mut open = match sort {
            Some(sort) => self.with_subqueries(open.under(sort))?,
            None => open,
        };
        for window in windows.into_iter().rev() {
            open = self.with_subqueries(open.under(window))?;
        }
        Ok(open)
    }
}

/// Whether a call gives peers the same value, in whichever order they come.
pub(super) fn is_same_for_peers(call: &WindowCall) -> bool {
    let is_ranged = !call.frame.counts_rows;
    match &call.function {
        WindowFunction::Rank
        | WindowFunction::DenseRank
        | WindowFunction::PercentRank
        | WindowFunction::CumeDist => true,
        WindowFunction::Aggregate(call) => is_ranged && !call.function.is_order_sensitive(),
        _ => false,
    }
}

/// Whether a window reads all rows in any order.
fn is_unordered((partition, order): Specification<'_>) -> bool {
    partition.is_empty() && order.is_empty()
}

/// What all windows are partitioned by, as far as it reads the columns of the rows alone.
fn common(windows: &[Specification<'_>], width: usize) -> Vec<Expression> {
    let Some(((first, _), others)) = windows.split_first() else {
        return Vec::new();
    };
    let is_in_all = |key: &&Expression| {
        let has = |(partition, _): &Specification<'_>| {
            partition.iter().any(|own| same_expression(own, key))
        };
        others.iter().all(has)
    };
    let reads_rows = |key: &&Expression| {
        let mut reads = true;
        mayfly_plan::logical::visit_expression(key, &mut |inner| {
            if let mayfly_plan::ExpressionKind::Column(column) = inner.kind {
                reads &= column < width;
            }
            true
        });
        reads
    };
    first
        .iter()
        .filter(is_in_all)
        .filter(reads_rows)
        .cloned()
        .collect()
}
