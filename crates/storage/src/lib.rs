//! Mayfly: the `storage` crate.
