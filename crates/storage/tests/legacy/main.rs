//! Legacy temporary tables against models, under every limit, with files that fail.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod benchmark;
mod faults;
#[path = "../common/file_errors.rs"]
mod file_errors;
mod fixture;
mod model;
mod placement;
