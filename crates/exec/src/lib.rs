//! Runs physical plans: operators with all run state, compiled expressions, and the parallel
//! driver.
//!
//! [`execute`] turns a plan into a [`ResultStream`]; batches of Arrow arrays are pulled from it, and
//! dropping it frees everything. A small statement runs on the caller's thread from end to end; a
//! large one drains the inputs of its breakers with several workers, a morsel at a time
//! ([`driver`]). Everything that grows with the data lives in a `TempTable` of crate `storage`:
//! this crate has no hash table or sorter of its own that a budget does not know of.

pub mod context;
mod driver;
mod error;
mod exchange;
pub mod expression;
mod hash_filter;
mod kept;
mod key_filter;
pub mod measure;
mod operators;
mod parameters;
mod representation;
mod rows;
mod run;
mod state;
mod stream;
mod tally;

pub use context::{
    Counters, ExecutionContext, ExecutionOptions, Progress, ResultMemory, RunContext, TableOpener,
};
pub use expression::{Program, Selection, evaluate};
pub use kept::{Found, KeptResults, NothingKept, ResultKeeper};
pub use measure::{Measure, Measures};
pub use stream::{ResultStream, execute};

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
