//! Facts of a step, as documents show them.

/// A value of a JSON document.
pub(super) enum Fact {
    Text(String),
    Flag(bool),
    List(Vec<String>),
}
