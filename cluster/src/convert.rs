//! A job as stages.

use std::sync::Arc;

use datafusion::arrow::datatypes::{Field, Schema, SchemaRef};
use mayfly_offload::job::carried;
use mayfly_offload::{Exchange, Input as JobInput, Job, TableInput};
use mayfly_types::{Error, PhysicalType, Result, SqlType};

use crate::bridge::outside_type;
use crate::copies;
use crate::graph::{Graph, Input, Stage};
use crate::routing::TARGET;
use crate::scan::Scan;

/// The stages of `job` over `partitions` partitions. `encoded` is the job as it travels, `number` that of its run.
pub fn graph(job: &Job, encoded: Vec<u8>, partitions: usize, number: u64) -> Result<Graph> {
    let stages = job.fragments.iter().enumerate().map(|(number, fragment)| {
        let inputs = fragment.inputs.iter().map(|input| match input {
            JobInput::Table(table) if table.copy.call.is_some() => Ok(Input::Own),
            JobInput::Table(table) => scan(table).map(Input::Table),
            JobInput::Rows { fragment, .. } => Ok(Input::Stage(*fragment)),
        });
        Ok(Stage {
            inputs: inputs.collect::<Result<_>>()?,
            schema: sent(job, number),
            partitions: job.runs(number, partitions),
            broadcast: *job.exchange_of(number) == Exchange::Broadcast,
        })
    });
    Ok(Graph {
        number,
        job: encoded.into(),
        partitions,
        stages: stages.collect::<Result<_>>()?,
    })
}

/// The columns that a fragment sends: its own, then where a row goes and the note.
pub fn sent(job: &Job, fragment: usize) -> SchemaRef {
    let columns = job.sent(fragment);
    let envelope = columns.len() - mayfly_offload::exchange::ENVELOPE.len();
    let fields = columns.into_iter().enumerate().map(|(index, physical)| {
        let name = match index.checked_sub(envelope) {
            None => format!("c{index}"),
            Some(0) => TARGET.to_owned(),
            Some(_) => "note".to_owned(),
        };
        Field::new(name, outside_type(physical), true)
    });
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// The columns of a table's files.
pub fn stored(types: &[SqlType]) -> SchemaRef {
    let fields = types.iter().enumerate();
    let fields = fields
        .map(|(index, ty)| Field::new(format!("c{index}"), outside_type(stored_as(ty)), true));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// The array that a column has in a file.
pub fn stored_as(ty: &SqlType) -> PhysicalType {
    carried(ty)
}

/// The scan of the columns of a copy.
fn scan(table: &TableInput) -> Result<Scan> {
    let files = table.copy.parts.iter().map(|part| {
        let malformed =
            || Error::internal(format_args!("'{}' is no part of a table", part.location));
        copies::file(&part.location).ok_or_else(malformed)
    });
    Ok(Scan {
        files: files.collect::<Result<_>>()?,
        schema: stored(&table.copy.types),
        columns: table.columns.clone(),
    })
}
