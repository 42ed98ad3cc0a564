//! Files as tables, and tables as files, through SQL.

mod arrow;
mod csv;
mod damage;
mod declared;
mod excel;
mod json;
mod loading;
mod odd;
mod parquet;
mod parquet_filter;
mod parquet_pruning;
mod paths;
mod sampled;
mod statements;
#[cfg(feature = "object-stores")]
mod stores;
mod support;
mod writing;
