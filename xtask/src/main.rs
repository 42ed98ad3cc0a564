//! Chores of the repository, written as a program.
fn main() {}
