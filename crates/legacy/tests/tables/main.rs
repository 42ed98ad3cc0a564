//! Tests of legacy temporary tables against models, under every limit, and with files that fail.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod benchmark;
mod faults;
#[path = "../../../storage/tests/tables/common/file_errors.rs"]
mod file_errors;
mod fixture;
mod model;
mod placement;
