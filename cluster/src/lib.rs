//! Reports of Mayfly on several machines.
//!
//! A report is a job of the crate `offload`: fragments of a plan with exchanges between them. Each operator in a fragment is
//! Mayfly's own, so that results, types, warnings and errors are those of one machine. DataFusion scans Parquet files, and
//! datafusion-distributed assigns the work to executors and moves rows between them.
//!
//! | module | content |
//! |---|---|
//! | [`engine`] | the secondary engine: jobs, copies of tables, members |
//! | [`convert`], [`graph`] | what DataFusion needs to know of a job: stages, their inputs, their number of partitions |
//! | [`fragments`], [`worker`] | the interface through which a plan node runs a fragment, and its implementation |
//! | [`fragment_exec`], [`codec`], [`numbers`], [`thread`] | the plan node, its encoding, and the thread that runs it |
//! | [`routing`] | the numbers that make DataFusion send a row to a partition |
//! | [`data`], [`copies`], [`scan`] | the place of the tables' files, Parquet files of tables, and their scan |
//! | [`files`] | files that are tables without a load |
//! | [`bridge`] | arrays between the two versions of Arrow |
//! | [`distributed`], [`connections`] | plans of datafusion-distributed, and connections between processes |
//! | [`job_rows`], [`errors`] | the end of a job: its rows, its cancellation, lost executors |
//! | [`arguments`], [`process`], [`executor`], [`coordinator`], [`demo`] | the command line and the processes |
//! | [`members`], [`tls`], [`work`] | which executors there are, who may connect, temporary files |

pub mod arguments;
pub mod bridge;
pub mod codec;
pub mod connections;
pub mod convert;
pub mod coordinator;
pub mod copies;
pub mod data;
pub mod demo;
pub mod distributed;
pub mod engine;
pub mod errors;
pub mod executor;
pub mod files;
pub mod fragment_exec;
pub mod fragments;
pub mod graph;
pub mod job_rows;
pub mod members;
pub mod numbers;
pub mod process;
pub mod progress;
pub mod routing;
pub mod scan;
pub mod thread;
pub mod tls;
pub mod work;
pub mod worker;
