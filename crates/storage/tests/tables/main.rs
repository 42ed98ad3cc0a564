//! Tests of temporary and durable tables through the crate's public interface: one program, so that it is
//! linked once.

mod common;
mod durable;
mod faults;
mod limits;
mod properties;
mod temptable;
mod texts_in_order;
mod user_properties;
