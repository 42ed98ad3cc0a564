//! The interface of formats that are written, and the memory that they hold.

use std::sync::Arc;

use mayfly_engine::{
    Batch, Error, NewFile, Reservation, Result, ResultColumn, StatementMemory, TimeZone, codes,
};

/// What encoders need to know of the rows.
#[derive(Clone)]
pub(crate) struct Rows {
    /// The columns that are in the file.
    pub(crate) columns: Arc<[ResultColumn]>,
    /// The session's time zone, in which TIMESTAMPs are shown.
    pub(crate) zone: TimeZone,
}

/// Writes the rows of one file.
pub(crate) trait Encoder: Send {
    /// Writes rows; `before` rows of the statement came before them.
    fn write(&mut self, batch: &Batch, before: u64) -> Result<()>;

    /// Bytes that it holds.
    fn held(&self) -> u64;

    /// Writes what it holds, as far as the format allows.
    fn relieve(&mut self) -> Result<()> {
        Ok(())
    }

    /// Ends the content of the file.
    fn finish(self: Box<Self>) -> Result<NewFile>;
}

/// A format with its options.
pub(crate) trait Settings: Send {
    /// The ending of names of its files.
    fn ending(&self) -> String;

    /// Begins a file.
    fn encoder(&self, file: NewFile, rows: &Rows) -> Result<Box<dyn Encoder>>;
}

/// How a file is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compression {
    None,
    Gzip,
    Zstd,
    Snappy,
    Lz4,
}

/// The ending of names of compressed files.
pub(crate) fn ending(name: &str, compression: Compression) -> String {
    match compression {
        Compression::Gzip => format!("{name}.gz"),
        Compression::Zstd => format!("{name}.zst"),
        _ => name.to_owned(),
    }
}

/// 1026: the error of a library that writes a file.
pub(crate) fn cannot_write(path: &str, error: impl std::fmt::Display) -> Error {
    codes::ER_ERROR_ON_WRITE.with(&[&path, &error])
}

/// The memory of encoders.
pub(crate) struct Charge {
    memory: StatementMemory,
    held: Option<Reservation>,
}

impl Charge {
    pub(crate) fn new(memory: &StatementMemory) -> Self {
        Self {
            memory: memory.clone(),
            held: None,
        }
    }

    /// Charges what encoders hold, which write it where a limit is reached.
    pub(crate) fn update(&mut self, encoders: &mut [&mut Box<dyn Encoder>]) -> Result<()> {
        /// Charged at once, so that not every batch is an access to the budgets.
        const STEP: u64 = 256 << 10;
        let sum = |encoders: &[&mut Box<dyn Encoder>]| {
            let bytes = encoders.iter().map(|encoder| encoder.held());
            bytes.sum::<u64>().next_multiple_of(STEP)
        };
        let bytes = sum(encoders);
        if self.held.as_ref().is_some_and(|held| held.bytes() == bytes) {
            return Ok(());
        }
        self.held = None;
        if let Ok(held) = self.memory.reserve(bytes) {
            self.held = Some(held);
            return Ok(());
        }
        for encoder in encoders.iter_mut() {
            encoder.relieve()?;
        }
        self.held = Some(self.memory.reserve(sum(encoders))?);
        Ok(())
    }
}
