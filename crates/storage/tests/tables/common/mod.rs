//! Common parts of the tests of tables: contexts with every kind of limit, and random batches.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

pub(crate) mod file_errors;
pub(crate) mod work;

use std::cmp::Ordering;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_buffer::i256;
use mayfly_memory::io::{IoBackend, SystemIo};
use mayfly_memory::{
    BlockPool, Budget, BudgetKind, PoolOptions, StableRanges, TempSpace, TempSpaceOptions,
};
use mayfly_storage::{
    Access, HashFunction, IndexSpec, KeyMode, Purpose, Registry, Resources, SortKey,
    StatementOwner, TempTable, TempTableContext, TempTableOptions, TempTableSpec, UserTable,
    UserTableContext, UserTableEngine, WorkerPool,
};
use mayfly_trials::{Draw, Random};
use mayfly_types::convert::{array_of_values, array_value};
use mayfly_types::{Batch, Interrupt, PhysicalType, Result, Value};

/// A database's resources with a directory of its own, which must be empty in the end.
pub(crate) struct Fixture {
    pub(crate) directory: PathBuf,
    pub(crate) resources: Resources,
    pub(crate) memory: Budget,
    pub(crate) temp_space: Budget,
}

impl Fixture {
    pub(crate) fn new(name: &str) -> Self {
        Self::with_io(name, Arc::new(SystemIo))
    }

    pub(crate) fn with_io(name: &str, io: Arc<dyn IoBackend>) -> Self {
        let directory =
            std::env::temp_dir().join(format!("mayfly-storage-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let options = TempSpaceOptions::new(directory.clone(), 2, 16 << 20);
        let resources = Resources {
            pool: BlockPool::new(PoolOptions::keeping(16 << 20)),
            stable: StableRanges::new(),
            temp_space: TempSpace::new(io, options),
            registry: Registry::new(),
            queue: Default::default(),
            workers: WorkerPool::new(8),
        };
        Self {
            directory,
            resources,
            memory: Budget::root(BudgetKind::Memory, "temptable_max_ram", u64::MAX),
            temp_space: Budget::root(BudgetKind::TempSpace, "max_tmp_total_space_usage", u64::MAX),
        }
    }

    pub(crate) fn context(&self, options: TempTableOptions) -> TempTableContext {
        self.interruptible(options, Interrupt::default())
    }

    /// A context of a statement that `interrupt` may end.
    pub(crate) fn interruptible(
        &self,
        options: TempTableOptions,
        interrupt: Interrupt,
    ) -> TempTableContext {
        TempTableContext::new(
            self.resources.clone(),
            self.memory.child("statement", u64::MAX),
            self.temp_space.child("statement", u64::MAX),
            StatementOwner::default(),
            options,
            interrupt,
        )
    }

    /// Asserts that no memory, space or file is held any more.
    pub(crate) fn assert_clean(&self) {
        assert_eq!(self.memory.used(), 0, "memory is given back");
        assert_eq!(self.temp_space.used(), 0, "temporary space is given back");
        assert_eq!(self.resources.pool.live_bytes(), 0);
        assert_eq!(self.resources.temp_space.used_bytes(), 0);
        assert!(self.resources.registry.is_empty());
        self.resources.temp_space.trim();
        assert_eq!(std::fs::read_dir(&self.directory).unwrap().count(), 0);
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

/// Configurations under which tables must give equal results, of which a run of the test draws some.
pub(crate) fn configurations(test: &str) -> Vec<(&'static str, TempTableOptions)> {
    let base = TempTableOptions {
        batch_rows: 1000,
        threads: 2,
        ..TempTableOptions::default()
    };
    let with = |change: fn(&mut TempTableOptions)| {
        let mut options = base.clone();
        change(&mut options);
        options
    };
    let all = [
        ("default", base.clone()),
        ("small", with(|options| options.tmp_table_size = 256 << 10)),
        ("overflow", with(|options| options.force_overflow = true)),
        (
            "collide",
            with(|options| options.hash = HashFunction::Colliding),
        ),
        (
            "collide and overflow",
            with(|options| {
                options.hash = HashFunction::Colliding;
                options.force_overflow = true;
            }),
        ),
        (
            "batches of 3",
            with(|options| (options.batch_rows, options.threads) = (3, 1)),
        ),
    ];
    let draw = Draw::of(test);
    let drawn = (0..).zip(all).filter(|(number, _)| draw.has(*number));
    drawn.map(|(_, configuration)| configuration).collect()
}

/// Random array of a type with at most `distinct` distinct values, a tenth of them NULL.
pub(crate) fn random_array(
    random: &mut Random,
    ty: PhysicalType,
    rows: usize,
    distinct: u64,
    long: usize,
) -> ArrayRef {
    let pick = |_| {
        let value = random.below_u64(distinct);
        (random.below_u64(10) != 0).then_some(value)
    };
    let picks: Vec<Option<u64>> = (0..rows).map(pick).collect();
    let spread = |n: u64| (n.wrapping_mul(0x9E37_79B9_7F4A_7C15)) as i64;
    let value = |n: u64| match ty {
        PhysicalType::Int64 => Value::Int(spread(n)),
        PhysicalType::UInt64 => Value::UInt(spread(n) as u64),
        PhysicalType::Float64 => Value::Float((n as f64 - distinct as f64 / 2.0) * 1.5),
        PhysicalType::Decimal128(scale) => Value::Decimal {
            unscaled: i256::from_i128(i128::from(spread(n)) << 30),
            scale,
        },
        PhysicalType::Decimal256(scale) => Value::Decimal {
            unscaled: i256::from_parts(u128::from(n) << 64, i128::from(spread(n))),
            scale,
        },
        PhysicalType::Bool => Value::Int(i64::from(n.is_multiple_of(2))),
        PhysicalType::Bytes => {
            let length = (n as usize).wrapping_mul(7) % (long + 1);
            let mut text = format!("{:x}", spread(n)).into_bytes();
            text.resize(text.len().min(length.max(3)), b'x');
            text.resize(length.max(3), b'a' + (n % 20) as u8);
            Value::Bytes(text)
        }
    };
    let values: Vec<Value> = picks
        .into_iter()
        .map(|n| n.map_or(Value::Null, value))
        .collect();
    array_of_values(&values, ty)
}

/// Random batches of random sizes.
pub(crate) fn random_batches(
    random: &mut Random,
    types: &[PhysicalType],
    rows: usize,
    distinct: u64,
    long: usize,
) -> Vec<Batch> {
    let mut batches = Vec::new();
    let mut left = rows;
    while left > 0 {
        let count = (1 + random.below_u64(3000) as usize).min(left);
        let columns = types
            .iter()
            .map(|ty| random_array(random, *ty, count, distinct, long))
            .collect();
        batches.push(Batch::new(columns, count));
        left -= count;
    }
    batches
}

/// Specification of a table with these columns and this access.
pub(crate) fn spec(columns: &[PhysicalType], access: Access) -> TempTableSpec {
    TempTableSpec {
        purpose: Purpose::Buffer,
        cause: "test".into(),
        operator: None,
        columns: columns.to_vec(),
        access,
    }
}

/// A table filled by `writers` writers, in turn.
pub(crate) fn filled_by(
    writers: usize,
    context: &TempTableContext,
    spec: TempTableSpec,
    batches: &[Batch],
) -> Result<TempTable> {
    let table = TempTable::create(context, spec)?;
    let mut writers: Vec<_> = (0..writers).map(|_| table.writer()).collect();
    for (writer, batch) in (0..writers.len()).cycle().zip(batches) {
        writers[writer].append(batch)?;
    }
    for writer in writers {
        writer.finish()?;
    }
    Ok(table)
}

/// All rows of a scan.
pub(crate) fn drain(
    mut next_batch: impl FnMut() -> Result<Option<Batch>>,
) -> Result<Vec<Vec<Value>>> {
    let mut found = Vec::new();
    while let Some(batch) = next_batch()? {
        found.extend(rows(&[batch]));
    }
    Ok(found)
}

fn compare(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::Null, Value::Null) => Ordering::Equal,
        (Value::Null, _) => Ordering::Less,
        (_, Value::Null) => Ordering::Greater,
        (Value::Int(a), Value::Int(b)) => a.cmp(b),
        (Value::UInt(a), Value::UInt(b)) => a.cmp(b),
        (Value::Float(a), Value::Float(b)) => a.total_cmp(b),
        (Value::Decimal { unscaled: a, .. }, Value::Decimal { unscaled: b, .. }) => a.cmp(b),
        (Value::Bytes(a), Value::Bytes(b)) => a.cmp(b),
        _ => unreachable!("values of one column are of one type"),
    }
}

/// Stable sort of rows by columns, each descending or not.
pub(crate) fn sort_rows(rows: &mut [Vec<Value>], keys: &[(usize, bool)]) {
    let by_key = |a: &[Value], b: &[Value], (column, descending): (usize, bool)| {
        let order = compare(&a[column], &b[column]);
        if descending { order.reverse() } else { order }
    };
    rows.sort_by(|a, b| {
        let mut orders = keys.iter().map(|key| by_key(a, b, *key));
        orders
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    });
}

/// The sort keys of a table with ordered access.
pub(crate) fn sort_keys(keys: &[(usize, bool)]) -> Vec<SortKey> {
    let key = |(column, descending): &(usize, bool)| SortKey {
        column: *column,
        mode: KeyMode::Binary,
        descending: *descending,
    };
    keys.iter().map(key).collect()
}

/// A table of CREATE TEMPORARY TABLE, or of another engine.
pub(crate) fn user_table(
    fixture: &Fixture,
    memory_limit: u64,
    engine: UserTableEngine,
    columns: &[PhysicalType],
    indexes: Vec<IndexSpec>,
) -> UserTable {
    let context = UserTableContext {
        resources: fixture.resources.clone(),
        memory: fixture.memory.child("session", u64::MAX),
        temp_space: fixture.temp_space.child("session", u64::MAX),
        memory_limit,
        owner: StatementOwner::default(),
        purpose: Purpose::UserTable,
        name: "t".into(),
        engine,
        interrupt: Interrupt::default(),
        is_private: true,
    };
    UserTable::new(context, columns.to_vec(), indexes)
}

/// One row as values.
pub(crate) fn row(batch: &Batch, row: usize) -> Vec<Value> {
    let columns = batch.columns().iter();
    columns.map(|array| array_value(array, row)).collect()
}

/// All rows of batches.
pub(crate) fn rows(batches: &[Batch]) -> Vec<Vec<Value>> {
    batches
        .iter()
        .flat_map(|batch| (0..batch.row_count()).map(|n| row(batch, n)))
        .collect()
}

/// Rows as text, sorted: for comparing as sets.
pub(crate) fn sorted_text(rows: &[Vec<Value>]) -> Vec<String> {
    let mut text: Vec<String> = rows.iter().map(|row| format!("{row:?}")).collect();
    text.sort();
    text
}
