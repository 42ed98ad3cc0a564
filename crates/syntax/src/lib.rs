//! Mayfly: the `syntax` crate.
