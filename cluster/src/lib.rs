//! Reports of Mayfly on several machines.
//!
//! A report is a job of the crate `offload`: fragments of a plan with exchanges between them. Each operator in a fragment is
//! Mayfly's own, so that results, types, warnings and errors are those of one machine. DataFusion only scans Parquet files and
//! moves rows, and one of two engines ([`backend`]) assigns the work to executors: Ballista, whose exchanges are files, or
//! datafusion-distributed, whose exchanges are streams.
//!
//! | module | content |
//! |---|---|
//! | [`graph`] | what both engines need to know of a job: stages, their inputs, their number of partitions |
//! | [`fragments`] | the interface through which a plan node runs a fragment |
//! | [`fragment_exec`], [`codec`], [`thread`] | the plan node, its encoding, and the thread that runs it |
//! | [`routing`] | the numbers that make DataFusion send a row to a partition |
//! | [`scan`] | the scan of a table's Parquet files |
//! | [`bridge`] | arrays between the two versions of Arrow |
//! | [`backend`] | the two engines |

pub mod backend;
pub mod bridge;
pub mod codec;
pub mod errors;
pub mod fragment_exec;
pub mod fragments;
pub mod graph;
pub mod members;
pub mod numbers;
pub mod routing;
pub mod scan;
pub mod thread;
pub mod tls;
pub mod work;
