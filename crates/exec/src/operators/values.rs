//! Constant rows of expressions: SELECT without FROM, VALUES ROW(…).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow_array::ArrayRef;
use mayfly_plan::Expression;
use mayfly_types::convert::array_value;
use mayfly_types::{Batch, PhysicalType, Result, SqlType};

use crate::context::{Cursor, Node, RunContext};
use crate::expression::Program;
use crate::expression::values::array_of;
use crate::representation::{column_types, to_column};

struct Values {
    rows: Vec<Vec<Program>>,
    types: Vec<PhysicalType>,
    taken: AtomicBool,
}

pub(super) fn build(rows: &[Vec<Expression>], output: &[SqlType]) -> Arc<dyn Node> {
    Arc::new(Values {
        rows: rows.iter().map(Program::compile_all).collect(),
        types: column_types(output),
        taken: AtomicBool::new(false),
    })
}

impl Node for Values {
    fn prepare_node(&self, _run: &RunContext) -> Result<()> {
        Ok(())
    }

    fn rows_hint(&self) -> u64 {
        self.rows.len() as u64
    }

    fn open_node(self: Arc<Self>, _run: &RunContext) -> Result<Box<dyn Cursor>> {
        Ok(Box::new(ValuesCursor(self)))
    }
}

struct ValuesCursor(Arc<Values>);

impl Cursor for ValuesCursor {
    fn next_batch(&mut self, run: &RunContext) -> Result<Option<Batch>> {
        let values = &self.0;
        if values.taken.swap(true, Ordering::Relaxed) {
            return Ok(None);
        }
        let nothing = Batch::new(Vec::new(), 1);
        let evaluate = |program: &Program| -> Result<ArrayRef> {
            Ok(to_column(program.evaluate_array(&nothing, run)?))
        };
        if let [row] = values.rows.as_slice() {
            let columns = row.iter().map(evaluate).collect::<Result<_>>()?;
            return Ok(Some(Batch::new(columns, 1)));
        }
        let mut columns: Vec<Vec<_>> = vec![Vec::new(); values.types.len()];
        for row in &values.rows {
            for (program, column) in row.iter().zip(&mut columns) {
                column.push(array_value(&evaluate(program)?, 0));
            }
        }
        let columns = columns
            .iter()
            .zip(&values.types)
            .map(|(column, physical)| array_of(column, *physical))
            .collect();
        Ok(Some(Batch::new(columns, values.rows.len())))
    }
}
