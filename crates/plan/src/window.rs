//! Window functions over the rows around a row (the manual, "Window Functions").
//!
//! A [`Window`] reads rows that come partition by partition and, within a partition, in its order. The bounds of frames
//! are constants in MySQL, so that from one row to the next both ends of a frame only move forward. The evaluation of a
//! window may rely on that: a value enters a frame once and leaves it once.

use crate::tree::expression::Expression;
pub use crate::tree::expression::{
    Frame, FrameBound, Over, ValueBound, WindowCall, WindowFunction,
};
pub use crate::tree::logical::Window;
use crate::tree::logical::{ColumnId, Relation};
use crate::tree::physical::{SortKey, WindowOrder};

/// Partition and sort keys of a window.
#[derive(Debug, Clone, Copy)]
pub struct WindowKeys<'w> {
    /// PARTITION BY
    pub partition: &'w [Expression],
    /// ORDER BY
    pub order: &'w [SortKey],
}

impl Over {
    /// The window that it names, as the WINDOW clause defines it.
    pub fn definition(&self) -> Self {
        Self {
            name: None,
            ..self.clone()
        }
    }

    /// The named window that it extends: with its partitions, and its order if the window has none of its own.
    pub(crate) fn definition_of_base(&self) -> Self {
        Self {
            name: None,
            base: None,
            has_own_order: !self.has_own_order,
            frame: None,
        }
    }
}

/// Cause of the sort below a window.
const SORT_CAUSE: &str = "a window function reads its rows in order";

impl WindowKeys<'_> {
    /// Sort keys: the partition keys, then the order.
    pub fn sort_keys(&self) -> Vec<SortKey> {
        let partition = self.partition.iter().map(|key| SortKey {
            expression: key.clone(),
            descending: false,
        });
        partition.chain(self.order.iter().cloned()).collect()
    }
}

impl Window {
    /// Window over the rows of a relation, which are sorted for it.
    pub fn over(
        relation: Relation,
        partition: Vec<Expression>,
        order: Vec<SortKey>,
        calls: Vec<(ColumnId, WindowCall)>,
    ) -> Relation {
        let keys = WindowKeys {
            partition: &partition,
            order: &order,
        };
        let keys = keys.sort_keys();
        let for_windows = WindowOrder {
            partition_keys: partition.len(),
            orders_partitions: false,
            first: None,
        };
        let input = if keys.is_empty() {
            relation
        } else {
            Relation::Sort {
                input: Box::new(relation),
                keys,
                limit: None,
                for_windows: Some(for_windows),
                cause: SORT_CAUSE.to_owned(),
            }
        };
        Relation::Window(Self {
            input: Box::new(input),
            partition,
            order,
            calls,
        })
    }

    /// Partition and sort keys.
    pub fn keys(&self) -> WindowKeys<'_> {
        WindowKeys {
            partition: &self.partition,
            order: &self.order,
        }
    }
}

impl WindowFunction {
    /// Function name, as MySQL prints it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::RowNumber => "row_number",
            Self::Rank => "rank",
            Self::DenseRank => "dense_rank",
            Self::PercentRank => "percent_rank",
            Self::CumeDist => "cume_dist",
            Self::Ntile(_) => "ntile",
            Self::Lag(_) => "lag",
            Self::Lead(_) => "lead",
            Self::FirstValue => "first_value",
            Self::LastValue => "last_value",
            Self::NthValue(_) => "nth_value",
            Self::Aggregate(call) => call.function.name(),
        }
    }
}

impl Frame {
    /// Default frame: all rows up to the current row and its peers if there is an order, else the whole partition.
    pub fn usual(is_ordered: bool) -> Self {
        Self {
            counts_rows: false,
            start: FrameBound::Unbounded,
            end: if is_ordered {
                FrameBound::CurrentRow
            } else {
                FrameBound::Unbounded
            },
        }
    }

    fn values(&self) -> impl Iterator<Item = &ValueBound> {
        let bounds = [&self.start, &self.end].into_iter();
        bounds.filter_map(|bound| match bound {
            FrameBound::Value(value) => Some(&**value),
            _ => None,
        })
    }

    fn values_mut(&mut self) -> impl Iterator<Item = &mut ValueBound> {
        let bounds = [&mut self.start, &mut self.end].into_iter();
        bounds.filter_map(|bound| match bound {
            FrameBound::Value(value) => Some(&mut **value),
            _ => None,
        })
    }
}

impl WindowCall {
    /// Whether the value of a row does not depend on following rows, so that it is known as rows come. The executor
    /// decides for itself how many rows it waits for, by the same rules.
    pub(crate) fn is_streamed(&self) -> bool {
        let begins_with_partition = matches!(self.frame.start, FrameBound::Unbounded);
        let ends_by_row = match &self.frame.end {
            FrameBound::CurrentRow => self.frame.counts_rows,
            FrameBound::Rows(behind) => *behind <= 0,
            FrameBound::Unbounded | FrameBound::Value(_) => false,
        };
        match &self.function {
            WindowFunction::RowNumber
            | WindowFunction::Rank
            | WindowFunction::DenseRank
            | WindowFunction::Lag(_) => true,
            // The first row of the partition is in the frame, wherever the frame ends.
            WindowFunction::FirstValue if begins_with_partition => {
                !matches!(self.frame.end, FrameBound::Value(_))
            }
            WindowFunction::FirstValue
            | WindowFunction::LastValue
            | WindowFunction::NthValue(_)
            | WindowFunction::Aggregate(_) => ends_by_row,
            WindowFunction::PercentRank
            | WindowFunction::CumeDist
            | WindowFunction::Ntile(_)
            | WindowFunction::Lead(_) => false,
        }
    }

    /// Calls `visit` on each expression of the call.
    pub fn for_each_expression<'e>(&'e self, visit: &mut dyn FnMut(&'e Expression)) {
        self.arguments.iter().for_each(&mut *visit);
        if let WindowFunction::Aggregate(call) = &self.function {
            call.arguments.iter().for_each(&mut *visit);
        }
        for bound in self.frame.values() {
            visit(&bound.key);
            visit(&bound.value);
        }
    }

    /// Calls `visit` on each expression of the call.
    pub(crate) fn for_each_expression_mut(&mut self, visit: &mut dyn FnMut(&mut Expression)) {
        self.arguments.iter_mut().for_each(&mut *visit);
        if let WindowFunction::Aggregate(call) = &mut self.function {
            call.arguments.iter_mut().for_each(&mut *visit);
        }
        for bound in self.frame.values_mut() {
            visit(&mut bound.key);
            visit(&mut bound.value);
        }
    }
}
