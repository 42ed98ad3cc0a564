//! Mayfly: the `exec` crate.
