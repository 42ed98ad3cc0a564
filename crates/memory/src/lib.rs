//! Mayfly: the `memory` crate.
