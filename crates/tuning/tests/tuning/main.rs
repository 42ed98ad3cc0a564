//! Measurements of a file and the scans below them.

mod measurement;
mod scans;
