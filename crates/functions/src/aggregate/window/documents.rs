//! JSON_ARRAYAGG and JSON_OBJECTAGG over frames: each result is built anew from the frame's rows, as many as it has
//! members.

use std::collections::VecDeque;
use std::ops::Range;

use arrow_array::{Array, ArrayRef};
use mayfly_types::Result;

use super::kernel::Kernel;
use crate::EvaluationContext;
use crate::aggregate::function::{Accumulator, AggregateFunction, AggregateSignature};

pub(super) struct Documents {
    function: &'static AggregateFunction,
    signature: AggregateSignature,
    /// The rows of the frame, as ranges of the blocks in which they came.
    rows: VecDeque<(Vec<ArrayRef>, Range<usize>)>,
    results: Option<Box<dyn Accumulator>>,
    count: usize,
}

impl Documents {
    pub(super) fn new(
        function: &'static AggregateFunction,
        signature: &AggregateSignature,
    ) -> Self {
        Self {
            function,
            signature: signature.clone(),
            rows: VecDeque::new(),
            results: None,
            count: 0,
        }
    }

    fn results(&mut self) -> Result<Box<dyn Accumulator>> {
        match self.results.take() {
            Some(results) => Ok(results),
            None => self.function.accumulator(&self.signature, &[]),
        }
    }
}

impl Kernel for Documents {
    type Values<'a> = &'a [ArrayRef];

    fn values<'a>(&self, arguments: &'a [ArrayRef]) -> Result<Self::Values<'a>> {
        Ok(arguments)
    }

    fn clear(&mut self) {
        self.rows.clear();
    }

    fn add(&mut self, values: &Self::Values<'_>, row: usize) -> Result<()> {
        if let Some((arrays, rows)) = self.rows.back_mut() {
            let mut pairs = arrays.iter().zip(*values);
            if rows.end == row && pairs.all(|(a, b)| std::sync::Arc::ptr_eq(a, b)) {
                rows.end += 1;
                return Ok(());
            }
        }
        self.rows.push_back((values.to_vec(), row..row + 1));
        Ok(())
    }

    fn remove(&mut self, _values: &Self::Values<'_>, _row: usize) {
        if let Some((_, rows)) = self.rows.front_mut() {
            rows.start += 1;
            if rows.start == rows.end {
                self.rows.pop_front();
            }
        }
    }

    fn push(&mut self, _is_same: bool, context: &EvaluationContext) -> Result<()> {
        let mut results = self.results()?;
        let group = self.count as u32;
        self.count += 1;
        results.resize(self.count);
        for (arrays, rows) in &self.rows {
            let arguments: Vec<ArrayRef> = arrays
                .iter()
                .map(|array| array.slice(rows.start, rows.len()))
                .collect();
            results.update_one_group(group, &arguments, rows.len(), context)?;
        }
        self.results = Some(results);
        Ok(())
    }

    fn take_results(&mut self, context: &EvaluationContext) -> Result<ArrayRef> {
        self.count = 0;
        let mut results = self.results()?;
        let array = results.take_result(context)?;
        self.results = Some(results);
        Ok(array)
    }

    fn memory_bytes(&self) -> usize {
        let results = self.results.as_ref();
        self.rows.len() * 64 + results.map_or(0, |results| results.memory_bytes())
    }
}
