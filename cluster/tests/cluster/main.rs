//! Clusters of real processes on this machine.

mod answers;
mod faults;
mod fixture;
mod strangers;
