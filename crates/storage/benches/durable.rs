//! Durable tables: loading, scanning, reading and changing rows of about 56 bytes.
//!
//! `cargo bench -p mayfly-storage --bench durable -- [rows]`

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use arrow_array::{ArrayRef, BinaryViewArray, Int64Array};
use mayfly_memory::{Budget, BudgetKind};
use mayfly_storage::{
    ChangeStorage, ColumnId, DurableStore, IndexId, IndexSpec, ReadLock, ReadView,
    StatementOptions, StoreOptions, Table, TableDefinition,
};
use mayfly_types::{Batch, Interrupt, PhysicalType};

const BATCH_ROWS: usize = 8192;

fn options() -> StatementOptions {
    StatementOptions {
        view: ReadView::Statement,
        lock_wait: Duration::from_secs(50),
        interrupt: Interrupt::default(),
        batch_rows: BATCH_ROWS,
        read_lock: ReadLock::None,
    }
}

fn batch(first: i64, rows: usize) -> Batch {
    let all = first..first + rows as i64;
    let ids: Int64Array = all.clone().collect();
    let numbers: Int64Array = all.clone().map(|id| id * 7919 % 1000).collect();
    let texts = all.map(|id| format!("{:040x}", (id as u128).pow(4)));
    let texts = BinaryViewArray::from_iter_values(texts.map(String::into_bytes));
    Batch::new(
        vec![Arc::new(ids), Arc::new(texts), Arc::new(numbers)],
        rows,
    )
}

fn report(what: &str, count: usize, start: Instant) {
    let time = start.elapsed();
    let each = time.as_nanos() as f64 / count as f64;
    println!(
        "{what:40} {:9.1} ms {each:10.1} ns each",
        time.as_secs_f64() * 1000.0
    );
}

fn main() {
    let rows: usize = std::env::args()
        .filter_map(|word| word.parse().ok())
        .next()
        .unwrap_or(1_000_000);
    let directory = tempfile::tempdir().expect("a temporary directory");
    let directory = directory.path().join("data");
    let store = DurableStore::open(StoreOptions::of_directory(&directory)).expect("a new store");
    let memory = Budget::unlimited(BudgetKind::Memory);
    let session = store.session(ChangeStorage::for_tests(&memory));
    let primary = IndexSpec::binary(&[0], true, true);
    let columns = vec![
        PhysicalType::Int64,
        PhysicalType::Bytes,
        PhysicalType::Int64,
    ];
    let tree = session.new_tree().expect("a tree");
    let definition = Arc::new(TableDefinition::new(
        columns,
        vec![primary],
        tree,
        vec![tree],
    ));
    let table = || {
        session
            .statement(options())
            .table(&definition)
            .expect("a table")
    };

    let batches: Vec<Batch> = (0..rows.div_ceil(BATCH_ROWS))
        .map(|number| {
            let first = number * BATCH_ROWS;
            batch(first as i64, BATCH_ROWS.min(rows - first))
        })
        .collect();
    let start = Instant::now();
    let mut writer = table().writer().expect("a writer");
    for batch in &batches {
        writer.insert(batch).expect("rows are inserted");
    }
    writer.finish().expect("the statement finishes");
    report("load: until the statement's end", rows, start);
    session.commit().expect("it commits");
    report("load: until it is committed", rows, start);
    drop(batches);

    for threads in [1, 2] {
        for _ in 0..2 {
            let start = Instant::now();
            let columns = [0, 1, 2].map(ColumnId);
            let scan = table().scan(&columns).expect("a scan");
            let count = AtomicUsize::new(0);
            std::thread::scope(|scope| {
                for _ in 0..threads {
                    let (mut scan, count) = (scan.for_another_worker(), &count);
                    scope.spawn(move || {
                        while let Some(batch) = scan.next_batch().expect("rows") {
                            count.fetch_add(batch.row_count(), Ordering::Relaxed);
                        }
                    });
                }
            });
            assert_eq!(count.into_inner(), rows);
            report(&format!("scan, {threads} threads"), rows, start);
        }
    }

    let reads = 100_000;
    let start = Instant::now();
    for number in 0..reads {
        let id = (number as i64 * 7_919_993) % rows as i64;
        let keys: ArrayRef = Arc::new(Int64Array::from(vec![id]));
        let found = table().index_lookup(IndexId(0), &[keys], &[false], &[ColumnId(1)]);
        assert_eq!(found.expect("a row").0.row_count(), 1);
    }
    report("point read", reads, start);

    for threads in [1, 16] {
        let commits = 300;
        let start = Instant::now();
        std::thread::scope(|scope| {
            for thread in 0..threads {
                let (store, definition, memory) = (&store, &definition, &memory);
                scope.spawn(move || {
                    let session = store.session(ChangeStorage::for_tests(memory));
                    for number in 0..commits / threads {
                        let id = (threads * 1_000_000 + thread * 10_000 + number) as i64;
                        let statement = session.statement(options());
                        let table = statement.table(definition).expect("a table");
                        let mut writer = table.writer().expect("a writer");
                        writer
                            .insert(&batch(rows as i64 + id, 1))
                            .expect("a new row");
                        writer.finish().expect("the statement finishes");
                        session.commit().expect("it commits");
                    }
                });
            }
        });
        report(
            &format!("synced insert, {threads} sessions"),
            commits,
            start,
        );
    }
}
