//! Row-by-row evaluation of small rounds, where the recursive part consists of conditions and expressions over the
//! round before and reads nothing else. The fixed cost of a batch (arrays, operators, locks) exceeds that of such a
//! round.

use mayfly_plan::physical::{Operator, Plan, SharedResult};
use mayfly_plan::with_stack;
use mayfly_types::convert::{array_of_values, array_value};
use mayfly_types::{Batch, PhysicalType, Result, Selection, Value};

use super::{AllRows, From, Rounds};
use crate::context::RunContext;
use crate::expression::{Program, is_wide};
use crate::representation::column_types;

/// Maximum number of rows of a round evaluated row by row: for larger rounds a batch costs less.
pub(super) const ROWS_MAX: u64 = 8;
/// Bytes of rows, approximately, that are collected before they go into the table of all rows.
const PENDING_BYTES_MAX: usize = 64 << 10;

/// A recursive part that can be evaluated row by row.
pub(super) struct ByRow<'a> {
    /// Arms of its UNION, in which each row of a round gives at most one row.
    arms: Vec<Vec<Step>>,
    from: &'a From<'a>,
    types: Vec<PhysicalType>,
    /// Values of rows that are not in the table of all rows yet, row after row.
    pending: Vec<Value>,
    pending_bytes: usize,
}

enum Step {
    Filter(Program),
    Project(Vec<Program>),
}

impl<'a> ByRow<'a> {
    /// The recursive part in row-by-row form; `None` where it has other operators, or makes long texts.
    pub(super) fn new(part: &Plan, result: &SharedResult, from: &'a From<'a>) -> Option<Self> {
        if result.output.iter().any(is_wide) {
            return None;
        }
        let mut arms = Vec::new();
        add_arms(part, &mut arms)?;
        Some(Self {
            arms,
            from,
            types: column_types(&result.output),
            pending: Vec::new(),
            pending_bytes: 0,
        })
    }

    /// Runs rounds from a round of few rows until a round has more rows or none, or no other may begin. Returns the
    /// last one.
    pub(super) fn run(
        &mut self,
        round: &Batch,
        all: &mut AllRows,
        rounds: &mut Rounds,
        run: &RunContext,
    ) -> Result<Batch> {
        let width = self.types.len();
        let mut rows = Vec::with_capacity(width * round.row_count());
        for row in 0..round.row_count() {
            let columns = round.columns().iter();
            rows.extend(columns.map(|column| array_value(column, row)));
        }
        let mut next = Vec::new();
        while rows.len() <= width * ROWS_MAX as usize && rounds.begin(rows.is_empty(), run)? {
            run.statement.check_interrupt()?;
            for arm in &self.arms {
                for row in rows.chunks_exact(width) {
                    let start = next.len();
                    apply(arm, row, &mut next, run)?;
                    for row in next[start..].chunks_exact_mut(width) {
                        self.from.store_row(row, run.evaluation())?;
                    }
                }
            }
            std::mem::swap(&mut rows, &mut next);
            next.clear();
            self.add(&mut rows, all)?;
            rounds.add((rows.len() / width) as u64);
        }
        self.flush(all)?;
        Ok(self.batch(&rows))
    }

    /// Adds the rows of a round to all rows. Removes duplicates from the round.
    fn add(&mut self, rows: &mut Vec<Value>, all: &mut AllRows) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        if let AllRows::Distinct(_) = all {
            match all.append(&self.batch(rows))? {
                Selection::All => {}
                Selection::None => rows.clear(),
                some => {
                    let width = self.types.len();
                    let mut at = 0;
                    rows.retain(|_| {
                        at += 1;
                        some.contains((at - 1) / width)
                    });
                }
            }
            return Ok(());
        }
        self.pending_bytes += rows.iter().map(bytes).sum::<usize>();
        self.pending.extend_from_slice(rows);
        if self.pending_bytes > PENDING_BYTES_MAX {
            self.flush(all)?;
        }
        Ok(())
    }

    fn flush(&mut self, all: &mut AllRows) -> Result<()> {
        if !self.pending.is_empty() {
            all.append(&self.batch(&self.pending))?;
        }
        self.pending.clear();
        self.pending_bytes = 0;
        Ok(())
    }

    fn batch(&self, rows: &[Value]) -> Batch {
        let width = self.types.len();
        let columns = self.types.iter().enumerate().map(|(index, physical)| {
            let column: Vec<Value> = rows.iter().skip(index).step_by(width).cloned().collect();
            array_of_values(&column, *physical)
        });
        Batch::new(columns.collect(), rows.len() / width)
    }
}

/// Approximate bytes of a value.
fn bytes(value: &Value) -> usize {
    let text = match value {
        Value::Bytes(bytes) => bytes.len(),
        _ => 0,
    };
    size_of::<Value>() + text
}

/// Adds the arms of a part; `None` where one has other operators.
fn add_arms(part: &Plan, arms: &mut Vec<Vec<Step>>) -> Option<()> {
    with_stack(|| match &part.operator {
        Operator::SetOperation {
            kind, all, inputs, ..
        } => {
            let is_union_all = *all && *kind == mayfly_plan::physical::SetOperationKind::Union;
            let mut inputs = is_union_all.then_some(inputs)?.iter();
            inputs.try_for_each(|input| add_arms(input, arms))
        }
        _ => {
            let mut steps = Vec::new();
            add_steps(part, &mut steps)?;
            arms.push(steps);
            Some(())
        }
    })
}

/// Adds the steps of an arm, the first one first.
fn add_steps(part: &Plan, steps: &mut Vec<Step>) -> Option<()> {
    with_stack(|| match &part.operator {
        Operator::WorkingTable { .. } => Some(()),
        Operator::Block { input, .. } => add_steps(input, steps),
        Operator::Filter { input, predicate } => {
            add_steps(input, steps)?;
            let program = Program::compile(predicate);
            steps.push(Step::Filter(program.takes_rows().then_some(program)?));
            Some(())
        }
        Operator::Project { input, expressions } => {
            add_steps(input, steps)?;
            let programs = Program::compile_all(expressions);
            let all_take_rows = programs.iter().all(Program::takes_rows);
            steps.push(Step::Project(all_take_rows.then_some(programs)?));
            Some(())
        }
        _ => None,
    })
}

/// Applies an arm to a row and appends its output.
fn apply(arm: &[Step], row: &[Value], out: &mut Vec<Value>, run: &RunContext) -> Result<()> {
    let mut computed: Option<Vec<Value>> = None;
    for step in arm {
        let row = computed.as_deref().unwrap_or(row);
        match step {
            Step::Filter(condition) => {
                if !condition.selects_row(row, run)? {
                    return Ok(());
                }
            }
            Step::Project(expressions) => {
                let values = expressions.iter().map(|it| it.evaluate_row(row, run));
                computed = Some(values.collect::<Result<_>>()?);
            }
        }
    }
    match computed {
        Some(values) => out.extend(values),
        None => out.extend_from_slice(row),
    }
    Ok(())
}
