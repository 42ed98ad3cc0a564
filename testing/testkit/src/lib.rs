//! The test kit: golden SQL files run under many configurations and on other servers.
//!
//! A golden file (`tests/slt/<area>/<topic>.slt`, sqllogictest format) holds statements with
//! MySQL's results. [`runner`] runs one file through a driver: [`embedded`] (Mayfly in this
//! process) or [`server`] (MariaDB or MySQL on a local socket). [`complete`] writes the expected
//! results by asking MySQL, and marks records in which MariaDB differs. The engine under test never
//! writes an expectation.

/// Defines a test for each of several cases; all call one function.
#[macro_export]
macro_rules! cases {
    ($run:ident: $($name:ident($($argument:expr),+);)+) => {
        $(#[test]
        fn $name() {
            $run($($argument),+);
        })+
    };
}

pub mod cell;
pub mod client;
pub mod cluster;
pub mod column;
pub mod complete;
pub mod config;
pub mod corpus;
pub mod embedded;
pub mod fixture;
pub mod groups;
pub mod isolation;
pub mod prepared;
pub mod process;
pub mod runner;
pub mod secondary;
pub mod server;
pub mod wire;
pub mod words;
pub mod workload;
