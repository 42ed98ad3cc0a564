//! Jobs.

use mayfly_types::{Refusal, Result};

use super::VERSION;
use super::bytes::{Encoded, Reader, Refused, Writer, encoded_enum, encoded_struct};
use crate::job::{
    CallOption, CopyPart, Exchange, Fragment, Input, Job, JobSettings, TableCall, TableCopy,
    TableInput,
};
use mayfly_types::error::codes;

encoded_enum!(Exchange { 0 => Hash(columns), 1 => Broadcast, 2 => Gather });
encoded_struct!(CopyPart { location, rows });
encoded_struct!(TableCopy {
    table,
    parts,
    call,
    types
});
encoded_struct!(CallOption { name, value, ty });
encoded_struct!(TableCall {
    function,
    files,
    options,
    version,
    rows
});
encoded_struct!(TableInput { copy, columns });
encoded_enum!(Input { 0 => Table(table), 1 => Rows { fragment, exchange } });
encoded_struct!(Fragment {
    inputs,
    numbers,
    plan,
    once
});
encoded_struct!(JobSettings {
    session,
    now_utc_microseconds,
    parameters,
    operator_count,
    parameter_count,
    conditions_max,
    notes,
    refusal,
});
encoded_enum!(Refusal { 0 => Nothing, 1 => Values, 2 => ValuesAndDivisions });
encoded_struct!(Job {
    fragments,
    settings
});

impl Job {
    /// The job as bytes, for [`Self::decode`] in another process of the same version.
    ///
    /// # Errors
    /// The reason why a part of a plan is not offloaded.
    pub fn encode(&self) -> Result<Vec<u8>, Refused> {
        let mut writer = Writer::default();
        writer.bytes(VERSION.as_bytes());
        self.write(&mut writer)?;
        Ok(writer.into_bytes())
    }

    /// Reads a job.
    ///
    /// # Errors
    /// 3889 for bytes that another version has written, and an internal error for others that are no job.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(bytes);
        let version = reader.bytes()?;
        if version != VERSION.as_bytes() {
            let version = String::from_utf8_lossy(version);
            let reason =
                format!("the job is of \"{version}\", and this program reads \"{VERSION}\"");
            return Err(codes::ER_SECONDARY_ENGINE.with(&[&reason]));
        }
        let job = Self::read(&mut reader)?;
        reader.end()?;
        job.check()?;
        Ok(job)
    }
}
