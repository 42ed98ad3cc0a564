//! The data file and its log on a disk that fails, or whose power is cut.
#![cfg(all(target_os = "linux", target_pointer_width = "64"))]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod calls;
#[allow(dead_code, reason = "another test writes more kinds of rows")]
#[path = "../random/crash/definitions.rs"]
mod definitions;
mod disk;
mod every_sync;
mod failed_commits;
mod faults;
mod held_syncs;
#[allow(dead_code, reason = "another test writes more kinds of rows")]
#[path = "../random/crash/model.rs"]
mod model;
mod power_cuts;
