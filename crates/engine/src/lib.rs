//! Mayfly: the `engine` crate.
