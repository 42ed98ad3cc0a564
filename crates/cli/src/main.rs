//! The `mayfly` program.
fn main() {}
