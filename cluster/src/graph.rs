//! The stages of a job, as far as DataFusion has to know them.
//!
//! Every exchange of a job is a hash exchange on the column `target`, also those of one consumer, and those that bring each row to
//! every consumer: there each row is sent once for each. A plan therefore has one kind of stage boundary, which both engines cut.
//!
//! Invariant: a stage is read by at most one other stage, a later one, and the last stage by none.

use std::sync::Arc;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::{Result, internal_err};

use crate::fragment_exec::FragmentNode;
use crate::scan::Scan;

/// A job as stages: each is a fragment that runs once in each of its partitions.
#[derive(Debug, Clone)]
pub struct Graph {
    /// The number of this run of a job, of which there is no other.
    pub number: u64,
    /// The encoded job, which travels in every plan node.
    pub job: Arc<[u8]>,
    /// The number of partitions of its stages that are divided.
    pub partitions: usize,
    /// The stages, each after those that it reads. The rows of the last one are the job's.
    pub stages: Vec<Stage>,
}

/// A stage of a [`Graph`].
#[derive(Debug, Clone)]
pub struct Stage {
    /// What its fragment reads, in the fragment's order.
    pub inputs: Vec<Input>,
    /// The columns that leave it: those of the fragment, then `target` and `note`.
    pub schema: SchemaRef,
    /// The number of its partitions.
    pub partitions: usize,
    /// Whether its rows go to every partition of the stage that reads it.
    pub broadcast: bool,
}

/// An input of a [`Stage`].
#[derive(Debug, Clone)]
pub enum Input {
    /// Files of a table, divided among the partitions of the stage.
    Table(Scan),
    /// The rows that the stage of this index sends.
    Stage(usize),
    /// Rows that each run reads by itself.
    Own,
}

impl Input {
    /// Whether DataFusion brings the rows.
    pub fn has_rows(&self) -> bool {
        !matches!(self, Self::Own)
    }
}

impl Graph {
    /// The plan node of a stage without its children. `consumers` are those of [`Self::consumers`].
    pub fn node(&self, index: usize, consumers: &[usize]) -> FragmentNode {
        let stage = &self.stages[index];
        let inputs = stage.inputs.iter().filter(|input| input.has_rows());
        let is_exchange = |input: &Input| matches!(input, Input::Stage(_));
        FragmentNode {
            number: self.number,
            job: Arc::clone(&self.job),
            fragment: index,
            partitions: stage.partitions,
            consumers: consumers[index],
            job_partitions: self.partitions,
            broadcast: stage.broadcast,
            exchanged: inputs.map(is_exchange).collect(),
            schema: Arc::clone(&stage.schema),
        }
    }

    /// Checks the invariant, and returns the consumer's number of partitions for each stage (0 for the last one).
    pub fn consumers(&self) -> Result<Vec<usize>> {
        let mut consumers = vec![0; self.stages.len()];
        for (index, stage) in self.stages.iter().enumerate() {
            for input in &stage.inputs {
                let Input::Stage(producer) = input else {
                    continue;
                };
                if *producer >= index {
                    return internal_err!("stage {index} reads the later stage {producer}");
                }
                if std::mem::replace(&mut consumers[*producer], stage.partitions) != 0 {
                    return internal_err!("stage {producer} is read twice");
                }
            }
        }
        match consumers.split_last() {
            Some((_, producers)) if !producers.contains(&0) => Ok(consumers),
            Some(_) => internal_err!("a stage other than the last is read by none"),
            None => internal_err!("a job without stages"),
        }
    }
}
