//! Files as tables, through SQL.

mod arrow;
mod csv;
mod damage;
mod paths;
mod parquet;
mod statements;
mod support;
