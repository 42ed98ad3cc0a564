//! The scan of a table's Parquet files, divided into as many parts as a stage has partitions.
//!
//! A part is a range of bytes of the files; a row group belongs to the part in which it begins. Files and their sizes are known
//! from the load, so that nothing is listed.

use std::sync::Arc;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::object_store::ObjectStoreUrl;
use datafusion::datasource::physical_plan::{
    FileGroup, FileGroupPartitioner, FileScanConfigBuilder, ParquetSource,
};
use datafusion::datasource::source::DataSourceExec;
use datafusion::physical_plan::ExecutionPlan;

/// Columns of a table's files.
#[derive(Debug, Clone)]
pub struct Scan {
    /// The files.
    pub files: Vec<File>,
    /// All columns of the files.
    pub schema: SchemaRef,
    /// The columns that are read, as indices of `schema`.
    pub columns: Vec<usize>,
}

/// A file of a [`Scan`].
#[derive(Debug, Clone)]
pub struct File {
    /// Path below the directory of data.
    pub path: String,
    /// Size in bytes.
    pub size: u64,
}

impl Scan {
    /// The files in `parts` groups of ranges, some of which may be empty.
    pub fn groups(&self, parts: usize) -> Vec<FileGroup> {
        let files = self
            .files
            .iter()
            .map(|file| PartitionedFile::new(file.path.clone(), file.size));
        let whole = vec![FileGroup::new(files.collect())];
        let mut groups = FileGroupPartitioner::new()
            .with_target_partitions(parts)
            .with_repartition_file_min_size(0)
            .repartition_file_groups(&whole)
            .unwrap_or(whole);
        groups.resize_with(parts.max(1), FileGroup::default);
        groups
    }

    /// A plan node that reads `groups`, one a partition.
    pub fn plan(&self, groups: Vec<FileGroup>) -> Result<Arc<dyn ExecutionPlan>> {
        let source = Arc::new(ParquetSource::new(Arc::clone(&self.schema)));
        let config = FileScanConfigBuilder::new(ObjectStoreUrl::local_filesystem(), source)
            .with_projection_indices(Some(self.columns.clone()))?
            .with_file_groups(groups)
            .build();
        Ok(DataSourceExec::from_data_source(config))
    }
}
