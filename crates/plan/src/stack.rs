//! Stack for what goes as deep as a statement or its plan.

/// How much stack is left when a step continues on a new piece: what an operator or a function uses between two steps
/// stays below.
const RED_ZONE: usize = 128 << 10;
/// How large such a piece is.
const STACK_PIECE: usize = 2 << 20;

/// Runs a recursive step with enough stack below it.
#[inline]
pub fn with_stack<R>(step: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(RED_ZONE, STACK_PIECE, step)
}
