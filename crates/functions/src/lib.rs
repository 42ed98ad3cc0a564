//! Mayfly: the `functions` crate.
