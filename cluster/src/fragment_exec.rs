//! The plan node that runs a fragment.
//!
//! Its children have the node's number of partitions each, and it runs the fragment once a partition, on the streams of that
//! partition. The last child tells which partitions of the stage the node's partitions are ([`crate::numbers`]). So the node is
//! never a leaf: the engines divide a plan by dividing its leaves, and would run an unknown leaf whole in each task.

use std::fmt::{self, Formatter};
use std::sync::Arc;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, Partitioning,
    PlanProperties,
};
use futures_util::{StreamExt, TryFutureExt, TryStreamExt};

use crate::fragments::{Fragments, Run};
use crate::{numbers, routing, thread};

/// Which fragment a [`FragmentExec`] runs, and between which neighbours.
#[derive(Debug, Clone)]
pub struct FragmentNode {
    /// The number of the run of the job.
    pub number: u64,
    /// The encoded job.
    pub job: Arc<[u8]>,
    /// The fragment's index in the job.
    pub fragment: usize,
    /// The number of partitions of the job.
    pub job_partitions: usize,
    /// The number of partitions of its stage.
    pub partitions: usize,
    /// The number of partitions of the stage that reads it, or 0 for the last stage.
    pub consumers: usize,
    /// Whether its rows go to each of them.
    pub broadcast: bool,
    /// Which of the inputs that DataFusion brings are exchanges. The child after the inputs tells the partitions' numbers.
    pub exchanged: Vec<bool>,
    /// The columns that leave it.
    pub schema: SchemaRef,
}

/// The plan node that runs a fragment.
#[derive(Debug)]
pub struct FragmentExec {
    node: FragmentNode,
    children: Vec<Arc<dyn ExecutionPlan>>,
    properties: Arc<PlanProperties>,
    fragments: Arc<dyn Fragments>,
}

impl FragmentExec {
    /// A node that runs `node` by `fragments`.
    pub fn try_new(
        node: FragmentNode,
        children: Vec<Arc<dyn ExecutionPlan>>,
        fragments: Arc<dyn Fragments>,
    ) -> Result<Self> {
        if children.len() != node.exchanged.len() + 1 {
            return internal_err!("fragment {} has {} children", node.fragment, children.len());
        }
        let count = |child: &Arc<dyn ExecutionPlan>| child.output_partitioning().partition_count();
        let partitions = children.last().map_or(0, count);
        if children.iter().any(|child| count(child) != partitions) {
            let counts: Vec<_> = children.iter().map(count).collect();
            return internal_err!(
                "children of fragment {} differ in partitions: {counts:?}",
                node.fragment
            );
        }
        let properties = PlanProperties::new(
            EquivalenceProperties::new(Arc::clone(&node.schema)),
            Partitioning::UnknownPartitioning(partitions),
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        Ok(Self {
            node,
            children,
            properties: Arc::new(properties),
            fragments,
        })
    }

    /// Which fragment it runs.
    pub fn node(&self) -> &FragmentNode {
        &self.node
    }
}

impl DisplayAs for FragmentExec {
    fn fmt_as(&self, _: DisplayFormatType, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "FragmentExec: fragment={}, partitions={}",
            self.node.fragment, self.node.partitions
        )
    }
}

impl ExecutionPlan for FragmentExec {
    fn name(&self) -> &str {
        "FragmentExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        self.children.iter().collect()
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    // Else a planner would put exchanges of its own below the node.
    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false; self.children.len()]
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let copy = Self::try_new(self.node.clone(), children, Arc::clone(&self.fragments))?;
        Ok(Arc::new(copy))
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let mut streams = Vec::with_capacity(self.children.len());
        for child in &self.children {
            streams.push(child.execute(partition, Arc::clone(&context))?);
        }
        let Some(number) = streams.pop() else {
            return internal_err!("fragment {} has no children", self.node.fragment);
        };
        let node = self.node.clone();
        let fragments = Arc::clone(&self.fragments);
        let rows = async move { start(node, numbers::read(number).await?, streams, fragments) };
        Ok(Box::pin(RecordBatchStreamAdapter::new(
            self.schema(),
            rows.try_flatten_stream(),
        )))
    }
}

/// Starts the run of partition `partition` of a stage, between the exchanges that it reads and the one that it writes.
fn start(
    node: FragmentNode,
    partition: usize,
    inputs: Vec<SendableRecordBatchStream>,
    fragments: Arc<dyn Fragments>,
) -> Result<SendableRecordBatchStream> {
    let arriving = routing::routes(node.partitions)?;
    let inputs = inputs.into_iter().zip(&node.exchanged).map(
        |(stream, exchanged)| -> Result<SendableRecordBatchStream> {
            if !exchanged {
                return Ok(stream);
            }
            let schema = stream.schema();
            let column = schema.index_of(routing::TARGET)?;
            let routes = Arc::clone(&arriving);
            let rows =
                stream.map(move |batch| routing::from_routes(batch?, column, &routes, partition));
            Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
        },
    );
    let inputs = inputs.collect::<Result<Vec<_>>>()?;
    let run = Run {
        number: node.number,
        job: node.job,
        fragment: node.fragment,
        partition,
        job_partitions: node.job_partitions,
    };
    let rows = thread::start(fragments, run, inputs, Arc::clone(&node.schema))?;
    if node.consumers == 0 {
        return Ok(rows);
    }
    let column = node.schema.index_of(routing::TARGET)?;
    let leaving = routing::routes(node.consumers)?;
    if node.broadcast {
        let sent = rows.map_ok(move |batch| {
            futures_util::stream::iter(routing::to_all_routes(batch, column, Arc::clone(&leaving)))
        });
        return Ok(Box::pin(RecordBatchStreamAdapter::new(
            node.schema,
            sent.try_flatten(),
        )));
    }
    let sent = rows.map(move |batch| routing::to_routes(batch?, column, &leaving));
    Ok(Box::pin(RecordBatchStreamAdapter::new(node.schema, sent)))
}
