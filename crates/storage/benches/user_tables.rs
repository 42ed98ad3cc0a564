//! Temporary tables of users: what a statement costs that finds and changes one row.
//!
//! `cargo bench -p mayfly-storage --bench user_tables [rows]`: a table with a primary key and one more
//! index, keys in sorted, reversed and random order; each statement opens the table, as the engine
//! does. The rows of statements are made beforehand; what taking one costs is measured and taken off.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark")]

use std::hint::black_box;
use std::sync::Arc;

use arrow_array::{ArrayRef, BinaryViewArray, Int64Array};
use mayfly_memory::{Budget, BudgetKind};
use mayfly_storage::{
    ColumnId, IndexId, IndexSpec, KeyRange, Participant, Resources, StatementOwner, Table,
    TableScan, TableWriter, TempTableContext, UndoLog, UserTable, UserTableContext,
    UserTableEngine,
};
use mayfly_types::{Batch, PhysicalType};

const ALL: [ColumnId; 3] = [ColumnId(0), ColumnId(1), ColumnId(2)];

struct Bench {
    resources: Resources,
    memory: Budget,
    statement: TempTableContext,
    undo: UndoLog,
}

impl Bench {
    fn new() -> Self {
        Self {
            resources: Resources::with_defaults(std::env::temp_dir(), 2),
            memory: Budget::unlimited(BudgetKind::Memory).child("session", u64::MAX),
            statement: TempTableContext::for_tests(),
            undo: UndoLog::new(),
        }
    }

    fn table(&self, memory_limit: u64) -> UserTable {
        let context = UserTableContext {
            resources: self.resources.clone(),
            memory: self.memory.clone(),
            temp_space: Budget::unlimited(BudgetKind::TempSpace),
            memory_limit,
            owner: StatementOwner::default(),
            purpose: mayfly_storage::Purpose::UserTable,
            name: "t".into(),
            engine: UserTableEngine::Transactional,
        };
        let columns = vec![
            PhysicalType::Int64,
            PhysicalType::Int64,
            PhysicalType::Bytes,
        ];
        UserTable::new(
            context,
            columns,
            vec![
                IndexSpec::binary(&[0], true, true),
                IndexSpec::binary(&[1], false, false),
            ],
        )
    }

    fn open(&self, table: &UserTable) -> Arc<dyn Table> {
        table.open(&self.statement, &self.undo)
    }

    /// A statement that changes rows, and commits.
    fn change(&self, table: &UserTable, work: impl FnOnce(&dyn Table, &mut dyn TableWriter)) {
        let handle = self.open(table);
        let mut writer = handle.writer().unwrap();
        work(&*handle, &mut *writer);
        writer.finish().unwrap();
        self.undo.clone().commit().unwrap();
    }
}

fn rows(keys: &[i64]) -> Batch {
    let second = keys.iter().map(|key| key.wrapping_mul(7_919) % 1_000_003);
    let texts = keys.iter().map(|key| format!("value {:06}", key % 100_000));
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from(keys.to_vec())),
        Arc::new(second.collect::<Int64Array>()),
        Arc::new(BinaryViewArray::from_iter_values(texts)),
    ];
    Batch::new(columns, keys.len())
}

/// The thread's processor time in nanoseconds: on a machine that is shared it says more than the
/// clock.
#[expect(unsafe_code, reason = "a system call that fills in a struct")]
fn processor_time() -> f64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid timespec.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

/// Nanoseconds for each of `count`.
fn time(count: usize, mut work: impl FnMut(usize)) -> f64 {
    let start = processor_time();
    for number in 0..count {
        work(number);
    }
    (processor_time() - start) / count as f64
}

fn keys(order: &str, count: usize) -> Vec<i64> {
    let mut keys: Vec<i64> = (1..=count as i64).collect();
    match order {
        "reversed" => keys.reverse(),
        "random" => {
            let mut state = 88_172_645_463_325_252_u64;
            for index in (1..keys.len()).rev() {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                keys.swap(index, (state % (index as u64 + 1)) as usize);
            }
        }
        _ => {}
    }
    keys
}

fn insert(writer: &mut dyn TableWriter, rows: &Batch) {
    assert!(writer.insert(rows).unwrap().duplicate.is_none());
}

/// The row of a primary key.
fn find(handle: &dyn Table, key: &[ArrayRef], columns: &[ColumnId]) -> Batch {
    let found = handle.index_lookup(IndexId(0), key, &[false], columns);
    found.unwrap().0
}

fn statements(bench: &Bench, order: &str, count: usize) {
    let table = bench.table(u64::MAX);
    let keys = keys(order, count);
    let all = rows(&keys);
    let taking = time(count, |row| {
        black_box(all.slice(row, 1));
    });
    let inserted = time(count, |row| {
        bench.change(&table, |_, writer| insert(writer, &all.slice(row, 1)));
    });
    let key = |row: usize| [all.column(0).slice(row, 1)];
    let taking_key = time(count, |row| {
        black_box(key(row));
    });
    let read = time(count, |row| {
        assert_eq!(find(&*bench.open(&table), &key(row), &ALL).row_count(), 1);
    });
    let changed: Vec<i64> = keys.iter().map(|key| key ^ 1).collect();
    let changed = rows(&changed);
    let changed = Batch::new(
        vec![
            all.column(0).clone(),
            all.column(1).clone(),
            changed.column(2).clone(),
        ],
        count,
    );
    let update = time(count, |row| {
        let new = changed.slice(row, 1);
        bench.change(&table, |handle, writer| {
            let found = find(handle, &key(row), &[ColumnId::POSITION]);
            writer.update(found.column(0), &new).unwrap();
        });
    });
    let read_all = |scan: &dyn Fn(&dyn Table) -> Box<dyn TableScan>| {
        let start = processor_time();
        let mut scan = scan(&*bench.open(&table));
        while let Some(batch) = scan.next_batch().unwrap() {
            black_box(batch);
        }
        (processor_time() - start) / count as f64
    };
    let scan = read_all(&|handle| handle.scan(&ALL).unwrap());
    let index_scan = read_all(&|handle| {
        let all = [KeyRange::ALL];
        handle.index_scan(IndexId(1), &all, false, &ALL).unwrap()
    });
    let memory = bench.memory.used() as f64 / count as f64;
    let delete = time(count, |row| {
        bench.change(&table, |handle, writer| {
            let found = find(handle, &key(row), &[ColumnId::POSITION]);
            assert_eq!(writer.delete(found.column(0)).unwrap(), 1);
        });
    });
    println!(
        "{order:>9}: insert {:4.0}  read {:4.0}  update {:4.0}  delete {:4.0}  scan {scan:4.0}  by index {index_scan:4.0} ns, {memory:.0} bytes a row",
        inserted - taking,
        read - taking_key,
        update - taking - taking_key,
        delete - taking_key,
    );
}

fn bulk(bench: &Bench, order: &str, count: usize, memory_limit: u64) {
    let table = bench.table(memory_limit);
    let all = rows(&keys(order, count));
    let start = processor_time();
    bench.change(&table, |_, writer| {
        for first in (0..count).step_by(8192) {
            insert(writer, &all.slice(first, 8192.min(count - first)));
        }
    });
    let nanoseconds = (processor_time() - start) / count as f64;
    let limit = if memory_limit == u64::MAX {
        "no limit".to_owned()
    } else {
        format!("{} MiB", memory_limit >> 20)
    };
    println!("{order:>9}: insert in batches, {limit}: {nanoseconds:.0} ns a row");
}

fn main() {
    let count = std::env::args()
        .skip(1)
        .find_map(|argument| argument.parse().ok());
    let count = count.unwrap_or(1_000_000);
    let bench = Bench::new();
    let create = || drop(black_box(bench.table(u64::MAX)));
    time(1000, |_| create());
    println!("create and drop: {:.0} ns", time(20_000, |_| create()));
    let one = rows(&[1]);
    let used = time(20_000, |_| {
        let table = bench.table(u64::MAX);
        bench.change(&table, |_, writer| insert(writer, &one));
    });
    println!("create, insert a row and drop: {used:.0} ns");
    for order in ["sorted", "reversed", "random"] {
        statements(&bench, order, count);
    }
    for order in ["sorted", "random"] {
        bulk(&bench, order, count, u64::MAX);
        bulk(&bench, order, count, 16 << 20);
    }
}
