//! Notes: what a run tells those that receive its rows.

use mayfly_types::error::codes;
use mayfly_types::{Condition, Error, ErrorCode, Level, Result};

use crate::encoding::bytes::{encoded_enum, encoded_struct};
use crate::encoding::{Encoded, Reader, Refused, Writer};
use crate::job::{Input, Job};

/// Note of a run to one partition.
#[derive(Debug, Clone)]
pub(crate) struct Note {
    /// Partition of the run.
    pub(crate) partition: usize,
    /// Number of rows that it has sent to the receiver's partition.
    pub(crate) rows: u64,
    /// Number of warnings of the run and of those before it.
    pub(crate) condition_count: u64,
    /// The first warnings.
    pub(crate) conditions: Vec<Condition>,
    /// Figures of the run and of those before it.
    pub(crate) figures: Vec<Figures>,
}

/// Figures of one run of a fragment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Figures {
    /// Number of the fragment.
    pub fragment: usize,
    /// Partition of the run.
    pub partition: usize,
    /// Rows read from each input.
    pub rows_in: Vec<u64>,
    /// For each input, whether it has been read to its end.
    pub ended: Vec<bool>,
    /// Rows sent.
    pub rows_out: u64,
    /// Bytes of the rows sent.
    pub bytes_out: u64,
    /// Bytes that temporary tables wrote to disk.
    pub spilled_bytes: u64,
    /// Most bytes of memory held at once.
    pub memory_peak: u64,
    /// Microseconds of the run, waits for inputs included.
    pub microseconds: u64,
    /// Name of the process.
    pub worker: String,
}

encoded_struct!(Figures {
    fragment,
    partition,
    rows_in,
    ended,
    rows_out,
    bytes_out,
    spilled_bytes,
    memory_peak,
    microseconds,
    worker,
});
encoded_struct!(Note {
    partition,
    rows,
    condition_count,
    conditions,
    figures
});
encoded_struct!(Condition { level, error });
encoded_enum!(Level { 0 => Note, 1 => Warning, 2 => Error });

impl Encoded for Error {
    fn write(&self, to: &mut Writer) -> Result<(), Refused> {
        self.errno().write(to)?;
        self.sqlstate().to_owned().write(to)?;
        self.message().to_owned().write(to)
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let (errno, sqlstate) = (u16::read(from)?, String::read(from)?);
        let message = String::read(from)?;
        let is_code = |code: &&ErrorCode| code.errno == errno && code.sqlstate == sqlstate;
        let code = codes::ALL.iter().find(is_code);
        let code = code.unwrap_or(&codes::ER_UNKNOWN_ERROR);
        Ok(code.with_text(message))
    }
}

/// Observer of a job's runs, for those that show what they do.
pub trait JobObserver: Send + Sync {
    /// Takes figures of a run, which may go on. Those of a run of the same fragment and partition that came before are
    /// outdated.
    fn observe(&self, figures: Figures);
}

impl Figures {
    /// The figures as bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        // Nothing in figures is refused.
        let _ = self.write(&mut writer);
        writer.into_bytes()
    }

    /// Reads figures.
    ///
    /// # Errors
    /// An internal error for other bytes.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        Self::read(&mut Reader::new(bytes))
    }
}

impl Note {
    /// The note as bytes.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        // Nothing in a note is refused.
        let _ = self.write(&mut writer);
        writer.into_bytes()
    }

    /// Reads a note.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(bytes);
        let note = Self::read(&mut reader)?;
        reader.end()?;
        Ok(note)
    }
}

/// Checks the figures of a job's runs: where all runs have read an input of a table to its end, they have read each row
/// of the copy once.
///
/// # Errors
/// 3889 for rows of a table that have not come, or have come twice.
pub fn check_tables(job: &Job, partitions: usize, figures: &[Figures]) -> Result<()> {
    for (number, fragment) in job.fragments.iter().enumerate() {
        let own: Vec<&Figures> = figures
            .iter()
            .filter(|own| own.fragment == number)
            .collect();
        if own.len() != job.runs(number, partitions) {
            // A reader stopped before the notes came, as LIMIT does.
            continue;
        }
        for (position, input) in fragment.inputs.iter().enumerate() {
            let Input::Table(table) = input else { continue };
            if table.copy.call.is_some() {
                // The run has read the rows by itself, without those that no term of the scan meets.
                continue;
            }
            let has_ended = |own: &&Figures| own.ended.get(position) == Some(&true);
            let read = own
                .iter()
                .map(|own| own.rows_in.get(position).unwrap_or(&0))
                .sum::<u64>();
            let rows = table.copy.rows();
            if own.iter().all(has_ended) && read != rows {
                let name = &table.copy.table;
                let reason =
                    format!("{read} rows of the copy of {name} have come, which has {rows}");
                return Err(codes::ER_SECONDARY_ENGINE.with(&[&reason]));
            }
        }
    }
    Ok(())
}

/// Text of an error that a transport carries in texts of its own: [`error_in`] finds it there.
pub fn error_text(error: &Error) -> String {
    let mut writer = Writer::default();
    let _ = error.write(&mut writer);
    let mut text = String::from(ERROR_START);
    for byte in writer.into_bytes() {
        text.push_str(&format!("{byte:02x}"));
    }
    text.push(ERROR_END);
    text
}

/// The error that a text of a transport carries, if there is one.
pub fn error_in(text: &str) -> Option<Error> {
    let start = text.find(ERROR_START)? + ERROR_START.len();
    let digits = &text[start..start + text[start..].find(ERROR_END)?];
    let pairs = digits.as_bytes().chunks(2);
    let bytes = pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
    let bytes: Vec<u8> = bytes.collect::<Option<_>>()?;
    Error::read(&mut Reader::new(&bytes)).ok()
}

const ERROR_START: &str = "mayfly-error{";
const ERROR_END: char = '}';
