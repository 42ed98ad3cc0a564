//! VAR_POP(x), VAR_SAMP(x), STDDEV_POP(x), STDDEV_SAMP(x).
//!
//! Σx and Σx² are kept exactly (see [`super::exact_sum`]), so that n·Σx² - (Σx)², where the textbook formula loses
//! its digits, is exact too and rounded once: the result depends neither on the order of the rows nor on how they
//! were split.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array};
use mayfly_types::sql_type::DECIMALS_NOT_FIXED;
use mayfly_types::{CollationId, Result, SqlType};

use super::exact_sum::{ExactSums, two_square};
use super::growth::lengthen;
use super::state::{self, States};
use crate::{Accumulator, AggregateSignature, Binding, EvaluationContext, derive, input, output};

/// Length of a group's run from which it is added in lanes.
const LONG_RUN: usize = 32;

pub(super) fn signature(_binding: &Binding<'_>) -> Result<AggregateSignature> {
    let sum = SqlType::varchar(1024, CollationId::BINARY);
    Ok(AggregateSignature {
        arguments: vec![SqlType::double()],
        state: vec![SqlType::bigint(), sum.clone(), sum],
        result: derive::double_of_decimals(DECIMALS_NOT_FIXED),
        nullable: true,
    })
}

/// The states of a variance, or of its root, the standard deviation.
pub(super) fn states(of_sample: bool, is_root: bool) -> Result<Box<dyn Accumulator>> {
    Ok(Box::new(Spreads {
        of_sample,
        is_root,
        ..Spreads::default()
    }))
}

#[derive(Default)]
pub(super) struct Spreads {
    of_sample: bool,
    is_root: bool,
    counts: Vec<i64>,
    sums: ExactSums,
    squares: ExactSums<3>,
}

impl Spreads {
    /// The state of one group.
    pub(super) fn of_one_group(of_sample: bool, is_root: bool) -> Self {
        let mut spreads = Self {
            of_sample,
            is_root,
            ..Self::default()
        };
        spreads.resize(1);
        spreads
    }

    /// Adds a number to a group.
    pub(super) fn add(&mut self, group: u32, value: f64) {
        self.add_all(group, &[value]);
    }

    /// Adds numbers to a group.
    fn add_all(&mut self, group: u32, values: &[f64]) {
        let squares = |value: f64| {
            let (square, error) = two_square(value);
            [square, error]
        };
        self.counts[group as usize] += values.len() as i64;
        if values.len() >= LONG_RUN {
            self.sums.add_run(group, values, |value| [value]);
            self.squares.add_run(group, values, squares);
            return;
        }
        self.sums.add_all(group, values.iter().copied());
        let squares = values.iter().flat_map(|value| squares(*value));
        self.squares.add_all(group, squares);
    }

    /// Subtracts a number that was added to the group.
    pub(super) fn subtract(&mut self, group: u32, value: f64) {
        let (square, error) = two_square(value);
        self.counts[group as usize] -= 1;
        self.sums.add(group, -value);
        self.squares.add(group, -square);
        self.squares.add(group, -error);
    }

    /// Removes all numbers.
    pub(super) fn restart(&mut self) {
        self.counts.fill(0);
        self.sums.restart();
        self.squares.restart();
    }

    pub(super) fn result(&self, group: usize) -> Option<f64> {
        let count = self.counts[group];
        let divisor = if self.of_sample { count - 1 } else { count };
        if divisor <= 0 {
            return None;
        }
        let count = count as f64;
        let sum = self.sums.expansion(group);
        let mut difference = self.squares.expansion(group).scaled(count);
        difference.add_all(&sum.product(&sum).scaled(-1.0));
        let variance = (difference.round() / count / divisor as f64).max(0.0);
        Some(if self.is_root {
            variance.sqrt()
        } else {
            variance
        })
    }

    fn clear(&mut self) {
        self.sums.clear();
        self.squares.clear();
        self.counts = Vec::new();
    }
}

impl Accumulator for Spreads {
    fn resize(&mut self, group_count: usize) {
        let group_count = group_count.max(self.counts.len());
        lengthen(&mut self.counts, group_count, 0);
        self.sums.resize(group_count);
        self.squares.resize(group_count);
    }

    fn update(
        &mut self,
        groups: &[u32],
        arguments: &[ArrayRef],
        _context: &EvaluationContext,
    ) -> Result<()> {
        let column = state::column(&arguments[0]);
        let values = input::floats(&column)?;
        let states = [
            States::of(&self.counts),
            self.sums.places(),
            self.squares.places(),
        ];
        let nulls = state::nulls(&arguments[0]);
        if let (None, input::Numbers::Array(array)) = (nulls, values) {
            // Sorted rows come group by group: a run of one group is added up in registers.
            state::with_states_ahead(groups, states, |mut first, groups| {
                for run in groups.chunk_by(|group, next| group == next) {
                    let end = first + run.len();
                    self.add_all(run[0], &array.values()[first..end]);
                    first = end;
                }
            });
            return Ok(());
        }
        state::for_each_valid(groups, nulls, states, |group, row| {
            if let Some(value) = values.get(row) {
                self.add(group, value);
            }
        });
        Ok(())
    }

    fn merge(
        &mut self,
        groups: &[u32],
        state: &[ArrayRef],
        _context: &EvaluationContext,
    ) -> Result<()> {
        let columns: Vec<_> = state.iter().map(state::column).collect();
        let counts = input::ints(&columns[0])?;
        let (sums, squares) = (input::texts(&columns[1])?, input::texts(&columns[2])?);
        for (row, group) in groups.iter().enumerate() {
            self.counts[*group as usize] += counts.get(row).unwrap_or(0);
            self.sums.merge(*group, sums.get(row).unwrap_or_default());
            self.squares
                .merge(*group, squares.get(row).unwrap_or_default());
        }
        Ok(())
    }

    fn states(&self) -> Result<Vec<ArrayRef>> {
        Ok(vec![
            Arc::new(Int64Array::from(self.counts.clone())),
            self.sums.states()?,
            self.squares.states()?,
        ])
    }

    fn take_state(&mut self) -> Result<Vec<ArrayRef>> {
        let states = self.states()?;
        self.clear();
        Ok(states)
    }

    fn take_result(&mut self, _context: &EvaluationContext) -> Result<ArrayRef> {
        let result = output::floats(self.counts.len(), |group| match self.result(group) {
            Some(value) if !value.is_finite() => Err(output::out_of_range("DOUBLE", None)),
            value => Ok(value),
        });
        self.clear();
        result
    }

    fn memory_bytes(&self) -> usize {
        self.counts.capacity() * 8 + self.sums.memory_bytes() + self.squares.memory_bytes()
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::Float64Array;

    use super::*;
    use crate::testing::context;

    #[test]
    fn runs_of_a_group_give_what_their_rows_give() {
        let groups: Vec<u32> = (0..3000_u32)
            .map(|row| row / 7 % 5 + row % 991 / 990)
            .collect();
        let value = |row: usize| (row as f64 - 1500.0) * 1e-3;
        let values: ArrayRef = Arc::new((0..groups.len()).map(value).collect::<Float64Array>());
        let (mut by_runs, mut by_rows) = (Spreads::default(), Spreads::default());
        by_runs.resize(6);
        by_rows.resize(6);
        by_runs.update(&groups, &[values], &context()).unwrap();
        for (row, group) in groups.iter().enumerate() {
            by_rows.add(*group, value(row));
        }
        for group in 0..6 {
            assert!(by_rows.result(group).is_some());
            assert_eq!(by_runs.result(group), by_rows.result(group));
        }
        assert_eq!(by_runs.counts, by_rows.counts);
    }
}
