//! Times of the temporary table without SQL on top: the headline aggregation, few groups, sorts and
//! joins, at several memory limits.
//!
//! `cargo bench -p mayfly-storage --bench temptable -- [rows] [filter]`; medians of several runs. The
//! processor time of all threads stands beside the clock's: it says more on a machine that is shared.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a program for developers"
)]

use std::cell::LazyCell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use arrow_array::builder::BinaryViewBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, Int64Array};
use arrow_buffer::Buffer;
use mayfly_memory::{
    BlockPool, Budget, BudgetKind, PoolOptions, StableRange, StableRanges, TempSpace,
    TempSpaceOptions, io::SystemIo,
};
use mayfly_storage::{
    Access, BatchTable, ColumnId, GroupIndex, JoinMatches, KeyColumn, KeyMode, Purpose, Registry,
    Resources, SortKey, StatementOwner, Table, TableScan, TempTable, TempTableContext,
    TempTableOptions, TempTableSpec,
};
use mayfly_types::{Batch, CollationId, Interrupt, PhysicalType};

const THREADS: usize = 2;
const BATCH_ROWS: usize = 8192;
const RUNS: usize = 7;
const UNLIMITED: u64 = u64::MAX;

fn hex(number: u64, out: &mut Vec<u8>) {
    // As long and as random as SHA-1 in hexadecimal, much cheaper to make.
    let mut state = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x1234_5678_9ABC_DEF0;
    for _ in 0..5 {
        state ^= state >> 31;
        state = state.wrapping_mul(0xBF58_476D_1CE4_E5B9);
        for nibble in 0..8 {
            out.push(b"0123456789abcdef"[(state >> (nibble * 4 + 20)) as usize & 15]);
        }
    }
}

fn strings(rows: usize, text: impl Fn(usize, &mut Vec<u8>)) -> ArrayRef {
    // One buffer, as base tables have.
    let mut builder = BinaryViewBuilder::new().with_fixed_block_size(1 << 20);
    let mut value = Vec::new();
    for row in 0..rows {
        value.clear();
        text(row, &mut value);
        builder.append_value(&value);
    }
    Arc::new(builder.finish())
}

/// A table, and the memory of its strings that temporary tables may point into.
struct Base {
    table: BatchTable,
    _stable: Vec<StableRange>,
}

/// Article 0's table: a string and a number; `kind` says which strings.
fn base(rows: usize, stable: &StableRanges, kind: &str) -> Base {
    let distinct = rows as u64 * 95 / 100;
    let few: Vec<Vec<u8>> = (0..500)
        .map(|group| format!("{group:0>100}").into_bytes())
        .collect();
    let mut batches = Vec::new();
    let mut start = 0;
    while start < rows {
        let count = BATCH_ROWS.min(rows - start);
        let number = |row: usize| {
            let n = (start + row) as u64;
            if n < distinct {
                n
            } else {
                (n * 7919) % distinct
            }
        };
        let strings = match kind {
            "few" => strings(count, |row, out| {
                let group = (number(row).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) % 500;
                out.extend_from_slice(&few[group as usize]);
            }),
            _ => strings(count, |row, out| hex(number(row), out)),
        };
        let numbers: Int64Array = (0..count)
            .map(|row| {
                Some((number(row).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as i64 % 100_000)
            })
            .collect();
        let batch = Batch::new(vec![strings, Arc::new(numbers)], count);
        batches.push(batch);
        start += count;
    }
    let buffers = batches.iter().flat_map(|batch: &Batch| {
        let strings = batch.column(0).as_binary_view();
        strings.data_buffers().iter()
    });
    let register = |buffer: &Buffer| stable.register(buffer.as_ptr() as usize, buffer.len());
    Base {
        _stable: buffers.map(register).collect(),
        table: BatchTable::new(vec![PhysicalType::Bytes, PhysicalType::Int64], batches),
    }
}

/// What a database shares, and files where `MAYFLY_BENCH_TMPDIR` says.
fn resources() -> Resources {
    let tmpdir = std::env::var_os("MAYFLY_BENCH_TMPDIR")
        .map_or_else(std::env::temp_dir, std::path::PathBuf::from);
    let idle_limit = 1 << 30;
    Resources {
        pool: BlockPool::new(PoolOptions { idle_limit }),
        temp_space: TempSpace::new(
            Arc::new(SystemIo),
            TempSpaceOptions::new(tmpdir, THREADS, idle_limit),
        ),
        stable: StableRanges::new(),
        registry: Registry::new(),
    }
}

fn context(resources: &Resources, table_limit: u64, memory: Budget) -> TempTableContext {
    TempTableContext::new(
        resources.clone(),
        memory,
        Budget::unlimited(BudgetKind::TempSpace),
        StatementOwner::default(),
        TempTableOptions {
            tmp_table_size: table_limit,
            threads: THREADS,
            batch_rows: BATCH_ROWS,
            ..TempTableOptions::default()
        },
        Interrupt::default(),
    )
}

/// Runs `work` on every thread.
fn parallel(work: impl Fn() + Sync) {
    std::thread::scope(|scope| {
        for _ in 1..THREADS {
            scope.spawn(&work);
        }
        work();
    });
}

/// Gives every thread a cursor of one scan.
fn parallel_scan(base: &Base, columns: &[usize], work: impl Fn(&mut dyn TableScan) + Sync) {
    let columns: Vec<_> = columns.iter().map(|column| ColumnId(*column)).collect();
    let scan = Mutex::new(base.table.scan(&columns).unwrap());
    parallel(|| {
        let mut scan = scan.lock().unwrap().for_another_worker();
        work(&mut *scan);
    });
}

fn fill(table: &TempTable, base: &Base, columns: &[usize]) {
    parallel_scan(base, columns, |scan| {
        let mut writer = table.writer();
        while let Some(batch) = scan.next_batch().unwrap() {
            writer.append(&batch).unwrap();
        }
        writer.finish().unwrap();
    });
}

fn spec(columns: &[PhysicalType], access: Access) -> TempTableSpec {
    TempTableSpec {
        purpose: Purpose::GroupBy,
        cause: "bench".into(),
        columns: columns.to_vec(),
        access,
    }
}

/// COUNT(*) by string: partition, group, count. Returns groups, and milliseconds of both passes.
fn headline(context: &TempTableContext, base: &Base, mode: KeyMode) -> (usize, f64, f64) {
    let key = KeyColumn {
        column: 0,
        mode,
        null_safe: false,
    };
    let spec = spec(&[PhysicalType::Bytes], Access::Hash(vec![key]));
    let table = TempTable::create(context, spec).unwrap();
    let start = Instant::now();
    fill(&table, base, &[0]);
    let filled = start.elapsed().as_secs_f64() * 1e3;
    let start = Instant::now();
    let queue = table.partitions();
    let total = AtomicUsize::new(0);
    parallel(|| {
        while let Some(partition) = queue.next_partition().unwrap() {
            let groups = partition.groups().unwrap();
            let mut counts = vec![0_i64; groups.group_count()];
            for group in groups.ids() {
                counts[*group as usize] += 1;
            }
            let first = groups.first_rows();
            for first in first.chunks(BATCH_ROWS) {
                std::hint::black_box(partition.gather(&[0], first).unwrap());
            }
            total.fetch_add(groups.group_count(), Ordering::Relaxed);
        }
    });
    let grouped = start.elapsed().as_secs_f64() * 1e3;
    (total.into_inner(), filled, grouped)
}

fn few_groups(context: &TempTableContext, base: &Base, column: usize) -> usize {
    let ty = [PhysicalType::Bytes, PhysicalType::Int64][column];
    let total = AtomicUsize::new(0);
    parallel_scan(base, &[column], |scan| {
        let mut index = GroupIndex::new(context, vec![ty], vec![KeyMode::Binary]).unwrap();
        let (mut ids, mut counts) = (Vec::new(), Vec::new());
        while let Some(batch) = scan.next_batch().unwrap() {
            index
                .find_or_insert(batch.columns(), batch.row_count(), &mut ids)
                .unwrap();
            counts.resize(index.group_count(), 0_i64);
            for id in &ids {
                counts[*id as usize] += 1;
            }
        }
        total.fetch_add(index.group_count(), Ordering::Relaxed);
    });
    total.into_inner()
}

fn sort(context: &TempTableContext, base: &Base, offset: u64, limit: Option<u64>) -> usize {
    let key = |column| SortKey {
        column,
        mode: KeyMode::Binary,
        descending: false,
    };
    let access = Access::Ordered {
        keys: vec![key(0), key(1)],
        limit: limit.map(|limit| limit + offset),
    };
    let types = [PhysicalType::Bytes, PhysicalType::Int64];
    let table = TempTable::create(context, spec(&types, access)).unwrap();
    fill(&table, base, &[0, 1]);
    let mut scan = table.sorted(offset, limit).unwrap();
    let mut rows = 0;
    while let Some(batch) = scan.next_batch().unwrap() {
        rows += batch.row_count();
    }
    rows
}

fn join(context: &TempTableContext, base: &Base) -> usize {
    let keys = vec![KeyColumn::binary(0)];
    let spec = spec(&[PhysicalType::Bytes], Access::Hash(keys));
    let table = TempTable::create(context, spec.clone()).unwrap();
    fill(&table, base, &[0]);
    let total = AtomicUsize::new(0);
    let probe_all =
        |index: &mayfly_storage::JoinIndex, batch: &Batch, matches: &mut JoinMatches| {
            let mut probe = index
                .probe(&[batch.column(0).clone()], batch.row_count())
                .unwrap();
            while index.next_matches(&mut probe, BATCH_ROWS, matches) {
                total.fetch_add(matches.probe_rows.len(), Ordering::Relaxed);
            }
        };
    if let Some(index) = table.join_index().unwrap() {
        parallel_scan(base, &[0], |scan| {
            let mut matches = JoinMatches::default();
            while let Some(batch) = scan.next_batch().unwrap() {
                probe_all(&index, &batch, &mut matches);
            }
        });
    } else {
        let probe = TempTable::create(context, spec).unwrap();
        fill(&probe, base, &[0]);
        let queue = mayfly_storage::PartitionQueue::pairs(&table, &probe);
        parallel(|| {
            let mut matches = JoinMatches::default();
            while let Some(mut pair) = queue.next_pair().unwrap() {
                while let Some(index) = pair.next_index().unwrap() {
                    while let Some(batch) = pair.next_probed(&mut Vec::new()).unwrap() {
                        probe_all(&index, &batch, &mut matches);
                    }
                }
            }
        });
    }
    total.into_inner()
}

/// Processor time that the process has used.
#[expect(unsafe_code, reason = "asks the system for a number")]
fn processor_seconds() -> f64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: writes to `time`.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn report(name: &str, filter: &str, mut work: impl FnMut() -> (usize, String)) {
    if !name.contains(filter) {
        return;
    }
    // Makes the base table too.
    work();
    let (mut times, mut processor) = (Vec::new(), Vec::new());
    let mut note = String::new();
    let mut count = 0;
    for _ in 0..RUNS {
        let (start, used) = (Instant::now(), processor_seconds());
        (count, note) = work();
        times.push(start.elapsed().as_secs_f64() * 1e3);
        processor.push((processor_seconds() - used) * 1e3);
    }
    let least = times.iter().copied().fold(f64::MAX, f64::min);
    let (median, processor) = (median(times), median(processor));
    println!(
        "{name:<44} {median:7.1} ms median {least:7.1} min {processor:7.1} cpu  {count:>9} {note}"
    );
}

fn main() {
    let mut arguments = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench");
    let rows = arguments
        .next()
        .and_then(|rows| rows.parse().ok())
        .unwrap_or(4_000_000);
    let filter = arguments.next().unwrap_or_default();
    let resources = resources();
    // Made when they are asked for: a filter may need none.
    let unlimited_table = LazyCell::new(|| base(rows, &resources.stable, "hash"));
    // It is not known to stay where it is: its strings are copied.
    let copied = LazyCell::new(|| base(rows, &StableRanges::new(), "hash"));
    let few = LazyCell::new(|| base(rows, &resources.stable, "few"));
    let ci = KeyMode::Collated(CollationId::UTF8MB4_0900_AI_CI);
    report("scan", &filter, || {
        let total = AtomicUsize::new(0);
        parallel_scan(&unlimited_table, &[0, 1], |scan| {
            while let Some(batch) = scan.next_batch().unwrap() {
                total.fetch_add(batch.row_count(), Ordering::Relaxed);
            }
        });
        (total.into_inner(), String::new())
    });
    let limits = [
        ("in memory", UNLIMITED, UNLIMITED),
        ("64 MiB", UNLIMITED, 64 << 20),
        ("1 MiB a table, 8 MiB in all", 1 << 20, 8 << 20),
    ];
    for (limit, table_limit, all) in limits {
        let everything = Budget::root(BudgetKind::Memory, "temptable_max_ram", all);
        let context = || {
            everything.reset_peak();
            context(&resources, table_limit, everything.clone())
        };
        let peak = || format!("peak {} MiB", everything.peak() >> 20);
        for (what, is_copied, mode) in [
            ("headline", false, KeyMode::Binary),
            ("headline ai_ci", false, ci),
            ("headline copied", true, KeyMode::Binary),
        ] {
            report(&format!("{what}, {limit}"), &filter, || {
                let table: &Base = if is_copied { &copied } else { &unlimited_table };
                let (groups, fill, group) = headline(&context(), table, mode);
                let note = format!("fill {fill:.1} group {group:.1} {}", peak());
                (groups, note)
            });
        }
        report(&format!("sort, {limit}"), &filter, || {
            (sort(&context(), &unlimited_table, 0, None), peak())
        });
        let name = format!("sort limit 10 offset 500000, {limit}");
        report(&name, &filter, || {
            let rows = sort(&context(), &unlimited_table, 500_000, Some(10));
            (rows, peak())
        });
        report(&format!("self-join, {limit}"), &filter, || {
            (join(&context(), &unlimited_table), peak())
        });
    }
    let context = context(&resources, UNLIMITED, Budget::unlimited(BudgetKind::Memory));
    report("500 groups of 100 bytes", &filter, || {
        (few_groups(&context, &few, 0), String::new())
    });
    report("100000 integer groups", &filter, || {
        (few_groups(&context, &unlimited_table, 1), String::new())
    });
    report("one-row table", &filter, || {
        let columns = [ColumnId(0), ColumnId(1)];
        let mut scan = unlimited_table.table.scan(&columns).unwrap();
        let row = scan.next_batch().unwrap().unwrap().slice(0, 1);
        for _ in 0..1000 {
            let types = [PhysicalType::Bytes, PhysicalType::Int64];
            let table = TempTable::create(&context, spec(&types, Access::Plain)).unwrap();
            let mut writer = table.writer();
            writer.append(&row).unwrap();
            writer.finish().unwrap();
            std::hint::black_box(table.scan(None).next_batch().unwrap());
        }
        (1000, "tables".into())
    });
}
