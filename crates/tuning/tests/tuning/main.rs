//! Measurements of a file and the scans that they consist of.

mod measurement;
mod scans;
