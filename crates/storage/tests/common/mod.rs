//! What the tests of tables share: contexts with every kind of limit, and random batches.
#![allow(dead_code, reason = "each test uses a part")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

pub(crate) mod work;

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BinaryViewArray, BooleanArray, Decimal128Array, Decimal256Array, Float64Array,
    Int64Array, UInt64Array,
};
use arrow_buffer::i256;
use mayfly_memory::io::{IoBackend, SystemIo};
use mayfly_memory::{
    BlockPool, Budget, BudgetKind, PoolOptions, StableRanges, TempSpace, TempSpaceOptions,
};
use mayfly_storage::{
    HashFunction, Registry, Resources, StatementOwner, TempTableContext, TempTableOptions,
};
use mayfly_types::{Batch, Interrupt, PhysicalType, Value};

/// A small deterministic generator (xorshift).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        (self.next() >> 11) % bound.max(1)
    }
}

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
            pool: BlockPool::new(PoolOptions {
                idle_limit: 16 << 20,
            }),
            stable: StableRanges::new(),
            temp_space: TempSpace::new(io, options),
            registry: Registry::new(),
        };
        Self {
            directory,
            resources,
            memory: Budget::root(BudgetKind::Memory, "temptable_max_ram", u64::MAX),
            temp_space: Budget::root(BudgetKind::TempSpace, "max_tmp_total_space_usage", u64::MAX),
        }
    }

    pub(crate) fn context(&self, options: TempTableOptions) -> TempTableContext {
        TempTableContext::new(
            self.resources.clone(),
            self.memory.child("statement", u64::MAX),
            self.temp_space.child("statement", u64::MAX),
            StatementOwner::default(),
            options,
            Interrupt::default(),
        )
    }

    /// Nothing is held any more.
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

/// Every way in which tables must give the same result.
pub(crate) fn configurations() -> Vec<(&'static str, TempTableOptions)> {
    let base = TempTableOptions {
        batch_rows: 1000,
        threads: 2,
        ..TempTableOptions::default()
    };
    vec![
        ("default", base.clone()),
        (
            "small",
            TempTableOptions {
                tmp_table_size: 256 << 10,
                ..base.clone()
            },
        ),
        (
            "overflow",
            TempTableOptions {
                force_overflow: true,
                ..base.clone()
            },
        ),
        (
            "collide",
            TempTableOptions {
                hash: HashFunction::Colliding,
                ..base.clone()
            },
        ),
        (
            "collide and overflow",
            TempTableOptions {
                hash: HashFunction::Colliding,
                force_overflow: true,
                ..base.clone()
            },
        ),
        (
            "batches of 3",
            TempTableOptions {
                batch_rows: 3,
                threads: 1,
                ..base
            },
        ),
    ]
}

/// Array of a type with values below `distinct` different ones, a tenth of them NULL.
pub(crate) fn random_array(
    random: &mut Random,
    ty: PhysicalType,
    rows: usize,
    distinct: u64,
    long: usize,
) -> ArrayRef {
    let mut pick = || {
        let value = random.below(distinct);
        (random.below(10) != 0).then_some(value)
    };
    let picks: Vec<Option<u64>> = (0..rows).map(|_| pick()).collect();
    let spread = |n: u64| (n.wrapping_mul(0x9E37_79B9_7F4A_7C15)) as i64;
    match ty {
        PhysicalType::Int64 => {
            Arc::new(picks.iter().map(|n| n.map(spread)).collect::<Int64Array>())
        }
        PhysicalType::UInt64 => Arc::new(
            picks
                .iter()
                .map(|n| n.map(|n| spread(n) as u64))
                .collect::<UInt64Array>(),
        ),
        PhysicalType::Float64 => {
            let value = |n: u64| (n as f64 - distinct as f64 / 2.0) * 1.5;
            Arc::new(picks.iter().map(|n| n.map(value)).collect::<Float64Array>())
        }
        PhysicalType::Decimal128(_) => {
            let value = |n: u64| i128::from(spread(n)) << 30;
            let array: Decimal128Array = picks.iter().map(|n| n.map(value)).collect();
            Arc::new(array.with_data_type(ty.arrow()))
        }
        PhysicalType::Decimal256(_) => {
            let value = |n: u64| i256::from_parts(u128::from(n) << 64, i128::from(spread(n)));
            let array: Decimal256Array = picks.iter().map(|n| n.map(value)).collect();
            Arc::new(array.with_data_type(ty.arrow()))
        }
        PhysicalType::Bool => {
            let values = picks.iter().map(|n| n.map(|n| n.is_multiple_of(2)));
            Arc::new(values.collect::<BooleanArray>())
        }
        PhysicalType::Bytes => {
            let text = |n: u64| {
                let length = (n as usize * 7) % (long + 1);
                let mut text = format!("{:x}", spread(n)).into_bytes();
                text.resize(text.len().min(length.max(3)), b'x');
                text.resize(length.max(3), b'a' + (n % 20) as u8);
                text
            };
            Arc::new(
                picks
                    .iter()
                    .map(|n| n.map(text))
                    .collect::<BinaryViewArray>(),
            )
        }
    }
}

/// Batches of random rows, their sizes random too.
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
        let count = (1 + random.below(3000) as usize).min(left);
        let columns = types
            .iter()
            .map(|ty| random_array(random, *ty, count, distinct, long))
            .collect();
        batches.push(Batch::new(columns, count));
        left -= count;
    }
    batches
}

/// One row as values.
pub(crate) fn row(batch: &Batch, row: usize) -> Vec<Value> {
    batch
        .columns()
        .iter()
        .map(|array| value(array, row))
        .collect()
}

/// One value of an array.
pub(crate) fn value(array: &ArrayRef, row: usize) -> Value {
    if array.is_null(row) {
        return Value::Null;
    }
    let any = array.as_any();
    if let Some(array) = any.downcast_ref::<Int64Array>() {
        Value::Int(array.value(row))
    } else if let Some(array) = any.downcast_ref::<BooleanArray>() {
        Value::Int(i64::from(array.value(row)))
    } else if let Some(array) = any.downcast_ref::<Decimal256Array>() {
        Value::Decimal {
            unscaled: array.value(row),
            scale: array.scale() as u8,
        }
    } else if let Some(array) = any.downcast_ref::<UInt64Array>() {
        Value::UInt(array.value(row))
    } else if let Some(array) = any.downcast_ref::<Float64Array>() {
        Value::Float(array.value(row))
    } else if let Some(array) = any.downcast_ref::<Decimal128Array>() {
        let unscaled = i256::from_i128(array.value(row));
        Value::Decimal {
            unscaled,
            scale: array.scale() as u8,
        }
    } else {
        let array = any.downcast_ref::<BinaryViewArray>().expect("a string");
        Value::Bytes(array.value(row).to_vec())
    }
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
