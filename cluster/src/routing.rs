//! The numbers that make DataFusion send a row to a partition.
//!
//! Mayfly decides where a row goes, by its own keys: rows that are equal under a collation have to meet. DataFusion sends rows by
//! a hash of columns. So the column `target`, in which a sender writes a partition, is replaced by a number whose hash leads
//! there. The numbers are found by trying DataFusion's own partitioner, since its hash function is no part of its interface.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use datafusion::arrow::array::{ArrayRef, AsArray, RecordBatch, UInt64Array};
use datafusion::arrow::datatypes::{DataType, Field, Schema, UInt64Type};
use datafusion::common::{DataFusionError, Result, internal_err};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{Partitioning, PhysicalExpr};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::metrics::Time;
use datafusion::physical_plan::repartition::{BatchPartitioner, RepartitionExec};

/// The name of the column that says where a row goes.
pub const TARGET: &str = "target";

/// For each partition, a number that is sent there.
pub type Routes = Arc<[u64]>;

/// The routes to `partitions` partitions.
pub fn routes(partitions: usize) -> Result<Routes> {
    static FOUND: LazyLock<Mutex<HashMap<usize, Routes>>> = LazyLock::new(Mutex::default);
    if let Some(routes) = FOUND
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .get(&partitions)
    {
        return Ok(Arc::clone(routes));
    }
    let routes: Routes = find(partitions)?.into();
    FOUND
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .insert(partitions, Arc::clone(&routes));
    Ok(routes)
}

/// Tries numbers until each partition has one.
fn find(partitions: usize) -> Result<Vec<u64>> {
    const TRIED_AT_ONCE: u64 = 1024;
    const TRIES: u64 = 1024;
    let schema = Arc::new(Schema::new(vec![Field::new(
        TARGET,
        DataType::UInt64,
        false,
    )]));
    let key: Arc<dyn PhysicalExpr> = Arc::new(Column::new(TARGET, 0));
    let mut partitioner =
        BatchPartitioner::new_hash_partitioner(vec![key], partitions, Time::new())?;
    let mut found = vec![None; partitions];
    for attempt in 0..TRIES {
        let numbers =
            UInt64Array::from_iter_values(attempt * TRIED_AT_ONCE..(attempt + 1) * TRIED_AT_ONCE);
        let batch = RecordBatch::try_new(Arc::clone(&schema), vec![Arc::new(numbers)])?;
        partitioner.partition(batch, |partition, rows| {
            let numbers = rows.column(0).as_primitive::<UInt64Type>();
            if found[partition].is_none() && !numbers.is_empty() {
                found[partition] = Some(numbers.value(0));
            }
            Ok(())
        })?;
        if let Some(routes) = found.iter().copied().collect::<Option<Vec<_>>>() {
            return Ok(routes);
        }
    }
    internal_err!("no number is sent to some of {partitions} partitions")
}

/// Replaces the partitions in the column `target` of `batch` by their routes.
pub fn to_routes(batch: RecordBatch, column: usize, routes: &[u64]) -> Result<RecordBatch> {
    let targets = column_of(&batch, column)?;
    let sent = targets.values().iter().map(|target| {
        usize::try_from(*target)
            .ok()
            .and_then(|target| routes.get(target))
            .copied()
    });
    let Some(sent) = sent.collect::<Option<Vec<_>>>() else {
        return internal_err!("a row goes to a partition beyond {}", routes.len());
    };
    with_column(&batch, column, Arc::new(UInt64Array::from(sent)))
}

/// The rows of `batch` once for each partition, with its route in the column `target`. The copies share all other columns.
pub fn to_all_routes(
    batch: RecordBatch,
    column: usize,
    routes: Routes,
) -> impl Iterator<Item = Result<RecordBatch>> + Send {
    (0..routes.len()).map(move |partition| {
        let sent = UInt64Array::from_value(routes[partition], batch.num_rows());
        with_column(&batch, column, Arc::new(sent))
    })
}

/// Replaces the routes in the column `target` of `batch` by `partition`, to which all of them have to lead.
pub fn from_routes(
    batch: RecordBatch,
    column: usize,
    routes: &[u64],
    partition: usize,
) -> Result<RecordBatch> {
    let sent = column_of(&batch, column)?;
    let expected = routes.get(partition).copied();
    if sent.values().iter().any(|route| Some(*route) != expected) {
        return internal_err!("a row of another partition arrived in partition {partition}");
    }
    let targets = UInt64Array::from_value(partition as u64, batch.num_rows());
    with_column(&batch, column, Arc::new(targets))
}

/// The column `target`.
fn column_of(batch: &RecordBatch, column: usize) -> Result<&UInt64Array> {
    batch
        .columns()
        .get(column)
        .and_then(|array| array.as_primitive_opt::<UInt64Type>())
        .ok_or_else(|| {
            DataFusionError::Internal(format!("column {column} is not the target of rows"))
        })
}

/// `batch` with another array in one column.
fn with_column(batch: &RecordBatch, column: usize, array: ArrayRef) -> Result<RecordBatch> {
    let mut columns = batch.columns().to_vec();
    columns[column] = array;
    Ok(RecordBatch::try_new(batch.schema(), columns)?)
}

/// Rows that go to the partitions that their column `target` names.
pub fn by_target(
    rows: Arc<dyn ExecutionPlan>,
    partitions: usize,
) -> Result<Arc<dyn ExecutionPlan>> {
    let target: Arc<dyn PhysicalExpr> = Arc::new(Column::new_with_schema(TARGET, &rows.schema())?);
    let partitioning = Partitioning::Hash(vec![target], partitions);
    Ok(Arc::new(RepartitionExec::try_new(rows, partitioning)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_partition_has_a_route_of_its_own() {
        for partitions in [1, 2, 3, 7, 64, 1000] {
            let mut routes = routes(partitions).expect("routes").to_vec();
            routes.sort_unstable();
            routes.dedup();
            assert_eq!(routes.len(), partitions);
        }
    }

    #[test]
    fn a_row_of_another_partition_is_noticed() {
        let schema = Arc::new(Schema::new(vec![Field::new(
            TARGET,
            DataType::UInt64,
            false,
        )]));
        let targets = UInt64Array::from(vec![1, 1]);
        let batch = RecordBatch::try_new(schema, vec![Arc::new(targets)]).expect("batch");
        let routes = routes(3).expect("routes");
        let sent = to_routes(batch, 0, &routes).expect("sent");
        assert!(from_routes(sent.clone(), 0, &routes, 2).is_err());
        let arrived = from_routes(sent, 0, &routes, 1).expect("arrived");
        assert_eq!(
            arrived.column(0).as_primitive::<UInt64Type>().values(),
            &[1, 1]
        );
    }
}
