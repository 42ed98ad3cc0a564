//! Fixture of legacy tables: resources of a database and a session, over a directory that must be empty in the end.

use std::path::Path;
use std::sync::Arc;

use mayfly_legacy::{
    BufferPool, DiskEngine, KeyCacheOptions, KeyCaches, LegacyColumn, LegacyDirectory,
    LegacyEnvironment, LegacyOptions, LegacyTable, LegacyTableSpec, SessionDisk,
    TemporaryTablespaces,
};
use mayfly_memory::io::{IoBackend, SystemIo};
use mayfly_memory::{Budget, BudgetKind};
use mayfly_storage::{
    HashFunction, KeyMode, Purpose, Resources, StatementOwner, TempTableContext, TempTableOptions,
};
use mayfly_types::convert::{array_of_values, array_value};
use mayfly_types::{Batch, Interrupt, PhysicalType, Result, Value};

/// Settings of tables.
#[derive(Debug, Clone)]
pub(crate) struct Setting {
    pub(crate) options: LegacyOptions,
    pub(crate) key_buffer_size: u64,
    pub(crate) buffer_pool_size: u64,
    pub(crate) batch_rows: usize,
    pub(crate) hash: HashFunction,
}

impl Setting {
    pub(crate) fn new(disk_engine: DiskEngine, tmp_table_size: u64) -> Self {
        Self {
            options: LegacyOptions {
                tmp_table_size,
                disk_engine,
                ..LegacyOptions::default()
            },
            key_buffer_size: 8 << 20,
            buffer_pool_size: 8 << 20,
            batch_rows: 1000,
            hash: HashFunction::Standard,
        }
    }
}

pub(crate) struct Fixture {
    directory: tempfile::TempDir,
    pub(crate) environment: LegacyEnvironment,
    pub(crate) key_caches: KeyCaches,
    pub(crate) disk: SessionDisk,
    pub(crate) context: TempTableContext,
    pub(crate) interrupt: Interrupt,
    pub(crate) setting: Setting,
    pub(crate) memory: Budget,
    pub(crate) space: Budget,
    /// Budget of caches.
    pub(crate) global: Budget,
    resources: Resources,
}

impl Fixture {
    pub(crate) fn new(setting: &Setting) -> Self {
        Self::with_io(setting, Arc::new(SystemIo))
    }

    pub(crate) fn with_io(setting: &Setting, io: Arc<dyn IoBackend>) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let memory = Budget::root(BudgetKind::Memory, "temptable_max_ram", u64::MAX);
        let space = Budget::root(BudgetKind::TempSpace, "max_tmp_total_space_usage", u64::MAX);
        let global = Budget::unlimited(BudgetKind::Memory);
        let path = directory.path().to_owned();
        let key_cache = KeyCacheOptions {
            key_buffer_size: setting.key_buffer_size,
            ..KeyCacheOptions::default()
        };
        let key_caches = KeyCaches::new(key_cache, &global);
        let environment = LegacyEnvironment {
            directory: Arc::new(LegacyDirectory::new(Arc::clone(&io), path.clone(), 0x73f)),
            tablespaces: TemporaryTablespaces::new(io, &path),
            buffer_pool: BufferPool::new(setting.buffer_pool_size, &global),
        };
        let disk = SessionDisk::new(key_caches.default_cache().clone(), &space);
        let resources = Resources::with_defaults(path, 1);
        let interrupt = Interrupt::default();
        let options = TempTableOptions {
            batch_rows: setting.batch_rows,
            hash: setting.hash,
            ..TempTableOptions::default()
        };
        let context = TempTableContext::new(
            resources.clone(),
            memory.child("statement", u64::MAX),
            space.child("statement", u64::MAX),
            StatementOwner::default(),
            options,
            interrupt.clone(),
        );
        Self {
            directory,
            environment,
            key_caches,
            disk,
            context,
            interrupt,
            setting: setting.clone(),
            memory,
            space,
            global,
            resources,
        }
    }

    pub(crate) fn table(&self, columns: &[LegacyColumn], key: &[KeyMode]) -> Result<LegacyTable> {
        let spec = LegacyTableSpec {
            purpose: Purpose::GroupBy,
            cause: "a test".into(),
            columns: columns.to_vec(),
            key: key.to_vec(),
            operator: None,
        };
        LegacyTable::create(
            &self.context,
            &self.environment,
            &self.disk,
            &self.setting.options,
            spec,
        )
    }

    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// The names of existing files.
    pub(crate) fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.directory()).unwrap();
        let name = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name();
        let mut names: Vec<_> = entries
            .map(|entry| name(entry).to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// Asserts that nothing is held once all tables are dropped and the session has ended.
    pub(crate) fn assert_clean(self) {
        self.disk.give_back();
        let Self {
            directory,
            environment,
            key_caches,
            disk,
            context,
            memory,
            space,
            global,
            resources,
            ..
        } = self;
        assert_eq!(memory.used(), 0, "memory is given back");
        assert_eq!(space.used(), 0, "temporary space is given back");
        assert!(resources.registry.is_empty());
        assert_eq!(key_caches.total().blocks_not_flushed, 0);
        assert_eq!(environment.buffer_pool.counters().pages, 0);
        drop((environment, disk, key_caches, context));
        assert_eq!(global.used(), 0);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}

/// A batch of rows.
pub(crate) fn batch(types: &[PhysicalType], rows: &[Vec<Value>]) -> Batch {
    let column = |column: usize| {
        let values: Vec<Value> = rows.iter().map(|row| row[column].clone()).collect();
        array_of_values(&values, types[column])
    };
    Batch::new((0..types.len()).map(column).collect(), rows.len())
}

/// The rows of a batch.
pub(crate) fn rows(types: &[PhysicalType], batch: &Batch) -> Vec<Vec<Value>> {
    let columns = batch.columns();
    assert_eq!(columns.len(), types.len());
    let row = |row: usize| {
        columns
            .iter()
            .map(|column| array_value(column, row))
            .collect()
    };
    (0..batch.row_count()).map(row).collect()
}

/// All rows of a table.
pub(crate) fn scanned(table: &LegacyTable) -> Result<Vec<Vec<Value>>> {
    let types: Vec<_> = table
        .spec()
        .columns
        .iter()
        .map(|column| column.ty)
        .collect();
    let mut scan = table.scan(None)?;
    let mut found = Vec::new();
    while let Some(batch) = scan.next_batch(table)? {
        assert!(!batch.is_empty());
        found.extend(rows(&types, &batch));
    }
    Ok(found)
}
