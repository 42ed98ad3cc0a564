//! A materialized table that operators read, in one of the engines.

use std::sync::{Arc, Mutex};

use mayfly_storage::{InternalScan, InternalTable, Scan, TempTable};
use mayfly_types::{Batch, Result};

use super::lock;

/// A table with all of its rows, which can be read any number of times.
#[derive(Debug, Clone)]
pub(crate) enum MadeTable {
    TempTable(TempTable),
    OfOtherEngine(Arc<dyn InternalTable>),
}

impl MadeTable {
    pub(crate) fn row_count(&self) -> u64 {
        match self {
            Self::TempTable(table) => table.row_count(),
            Self::OfOtherEngine(table) => table.row_count(),
        }
    }

    /// A scan that workers share.
    pub(crate) fn scan(&self) -> Result<MadeScan> {
        Ok(match self {
            Self::TempTable(table) => MadeScan::TempTable(table.scan(None)),
            Self::OfOtherEngine(table) => {
                MadeScan::OfOtherEngine(Arc::new(Mutex::new(Arc::clone(table).scan()?)))
            }
        })
    }
}

/// Position of a worker in a table.
pub(crate) enum MadeScan {
    TempTable(Scan),
    OfOtherEngine(Arc<Mutex<Box<dyn InternalScan>>>),
}

impl MadeScan {
    /// A scan that shares the rows with this one.
    pub(crate) fn for_another_worker(&self) -> Self {
        match self {
            Self::TempTable(scan) => Self::TempTable(scan.for_another_worker()),
            Self::OfOtherEngine(scan) => Self::OfOtherEngine(Arc::clone(scan)),
        }
    }

    pub(crate) fn next_batch(&mut self) -> Result<Option<Batch>> {
        match self {
            Self::TempTable(scan) => scan.next_batch(),
            Self::OfOtherEngine(scan) => lock(scan).next_batch(),
        }
    }
}
