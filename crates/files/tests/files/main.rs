//! Files as tables, through SQL.

mod arrow;
mod csv;
mod damage;
mod json;
mod parquet;
mod paths;
mod statements;
mod support;
