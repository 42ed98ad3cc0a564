//! Clusters of real processes on this machine.

mod answers;
mod deployment;
mod faults;
mod fixture;
mod seeds;
mod statements;
mod stores;
mod strangers;
