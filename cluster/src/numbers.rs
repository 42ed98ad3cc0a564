//! The child of a plan node that tells a task which partitions of its stage it has.
//!
//! A task counts its partitions from 0, and both engines hide which partitions of the stage they are: what a task needs is to be
//! in its plan. So the numbers are a table of one row a partition, which the engines divide as they divide every table.

use std::sync::Arc;

use datafusion::arrow::array::{AsArray, RecordBatch, UInt64Array};
use datafusion::arrow::datatypes::{DataType, Field, Schema, UInt64Type};
use datafusion::common::{Result, internal_err};
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::datasource::source::DataSourceExec;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::ExecutionPlan;
use futures_util::StreamExt;

/// A table whose partition `i` tells `numbers[i]`.
pub fn table(numbers: impl IntoIterator<Item = usize>) -> Result<Arc<dyn ExecutionPlan>> {
    let schema = Arc::new(Schema::new(vec![Field::new(
        "number",
        DataType::UInt64,
        false,
    )]));
    let rows = numbers.into_iter().map(|number| {
        let column = Arc::new(UInt64Array::from(vec![number as u64]));
        Ok(vec![RecordBatch::try_new(
            Arc::clone(&schema),
            vec![column],
        )?])
    });
    let rows = rows.collect::<Result<Vec<_>>>()?;
    Ok(DataSourceExec::from_data_source(
        MemorySourceConfig::try_new(&rows, schema, None)?,
    ))
}

/// The number that a partition of such a table tells.
pub async fn read(mut rows: SendableRecordBatchStream) -> Result<usize> {
    let mut numbers = Vec::with_capacity(1);
    while let Some(batch) = rows.next().await {
        let batch = batch?;
        let Some(column) = batch
            .columns()
            .first()
            .and_then(|column| column.as_primitive_opt::<UInt64Type>())
        else {
            return internal_err!("a partition without a number");
        };
        numbers.extend(column.values().iter().map(|number| *number as usize));
    }
    match numbers[..] {
        [number] => Ok(number),
        _ => internal_err!("a partition has {} numbers", numbers.len()),
    }
}
