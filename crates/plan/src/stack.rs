//! Stack growth for recursions as deep as a statement or its plan.

/// Remaining stack below which a step continues on a new segment: an operator or a function uses less between two
/// steps.
const RED_ZONE: usize = 128 << 10;
/// Size of a new segment.
const STACK_PIECE: usize = 2 << 20;

/// Runs a recursive step with enough stack below it.
#[inline]
pub fn with_stack<R>(step: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(RED_ZONE, STACK_PIECE, step)
}
