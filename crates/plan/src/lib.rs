//! Mayfly: the `plan` crate.
