//! The encoding of [`FragmentExec`] in the plans that travel.

use std::sync::Arc;

use datafusion::arrow::datatypes::Schema;
use datafusion::common::{DataFusionError, Result, internal_err};
use datafusion::execution::TaskContext;
use datafusion::physical_plan::ExecutionPlan;
use datafusion_proto::physical_plan::{PhysicalExtensionCodec, PhysicalProtoConverterExtension};
use datafusion_proto::protobuf;
use prost::Message;

use crate::fragment_exec::{FragmentExec, FragmentNode};
use crate::fragments::Fragments;

/// What an encoded node begins with: the library's own nodes have encodings too.
const MARK: &[u8] = b"mayfly-fragment:";

/// Encodes and decodes [`FragmentExec`], and leaves other nodes to another codec.
#[derive(Debug)]
pub struct FragmentCodec {
    fragments: Arc<dyn Fragments>,
    others: Arc<dyn PhysicalExtensionCodec>,
}

/// A [`FragmentNode`] as a message.
#[derive(Clone, PartialEq, Message)]
struct EncodedNode {
    #[prost(bytes = "vec", tag = "1")]
    job: Vec<u8>,
    #[prost(uint32, tag = "2")]
    fragment: u32,
    #[prost(uint32, tag = "3")]
    partitions: u32,
    #[prost(uint32, tag = "4")]
    consumers: u32,
    #[prost(bool, repeated, tag = "5")]
    exchanged: Vec<bool>,
    #[prost(bool, tag = "7")]
    broadcast: bool,
    #[prost(fixed64, tag = "9")]
    number: u64,
    #[prost(uint32, tag = "8")]
    job_partitions: u32,
    #[prost(message, optional, tag = "6")]
    schema: Option<protobuf::Schema>,
}

impl FragmentCodec {
    /// A codec whose decoded nodes run by `fragments`.
    pub fn new(fragments: Arc<dyn Fragments>, others: Arc<dyn PhysicalExtensionCodec>) -> Self {
        Self { fragments, others }
    }
}

impl PhysicalExtensionCodec for FragmentCodec {
    fn try_decode(
        &self,
        bytes: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        context: &TaskContext,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let Some(encoded) = bytes.strip_prefix(MARK) else {
            return self.others.try_decode(bytes, inputs, context, converter);
        };
        let encoded = EncodedNode::decode(encoded)
            .map_err(|error| DataFusionError::External(Box::new(error)))?;
        let Some(schema) = &encoded.schema else {
            return internal_err!("a fragment without columns");
        };
        let node = FragmentNode {
            number: encoded.number,
            job: encoded.job.into(),
            fragment: encoded.fragment as usize,
            partitions: encoded.partitions as usize,
            consumers: encoded.consumers as usize,
            job_partitions: encoded.job_partitions as usize,
            broadcast: encoded.broadcast,
            exchanged: encoded.exchanged,
            schema: Arc::new(Schema::try_from(schema)?),
        };
        Ok(Arc::new(FragmentExec::try_new(
            node,
            inputs.to_vec(),
            Arc::clone(&self.fragments),
        )?))
    }

    fn try_encode(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        bytes: &mut Vec<u8>,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        let Some(plan) = plan.downcast_ref::<FragmentExec>() else {
            return self.others.try_encode(plan, bytes, converter);
        };
        let node = plan.node();
        let encoded = EncodedNode {
            number: node.number,
            job: node.job.to_vec(),
            fragment: node.fragment as u32,
            partitions: node.partitions as u32,
            consumers: node.consumers as u32,
            job_partitions: node.job_partitions as u32,
            broadcast: node.broadcast,
            exchanged: node.exchanged.clone(),
            schema: Some(node.schema.as_ref().try_into()?),
        };
        bytes.extend_from_slice(MARK);
        encoded
            .encode(bytes)
            .map_err(|error| DataFusionError::External(Box::new(error)))
    }
}
