//! Aggregates over the frames of window functions.
//!
//! From one row to the next both ends of a frame only move forward, since MySQL's bounds are constants. So a row
//! enters a frame once and leaves it once, and the cost of an aggregate per row does not depend on the frame's size:
//!
//! - exactly invertible aggregates are added and subtracted: counts, sums (of doubles too, which are kept exactly,
//!   see [`super::exact_sum`]), variances, and bits, which are counted;
//! - minima and maxima keep the candidates for later results, in order (a monotonic queue), each of which is added
//!   and removed once;
//! - documents keep the rows of the frame, as many as the result has members.

mod bit_strings;
mod bits;
mod counts;
mod documents;
mod extremes;
mod frame;
mod kernel;
mod sliding;
mod spreads;
mod sums;
#[cfg(test)]
mod tests;

use mayfly_types::Result;

pub use self::frame::{Block, Frame, FrameAggregate};
use self::sliding::boxed;
use super::Kind;
use super::bit_operation::Operation;
use super::function::{AggregateFunction, AggregateSignature};

/// The frame aggregate of a call. `never_removes`: every frame begins where its partition does.
pub fn frame_aggregate(
    function: &'static AggregateFunction,
    signature: &AggregateSignature,
    never_removes: bool,
) -> Result<Box<dyn FrameAggregate>> {
    match function.kind() {
        Kind::Count => Ok(boxed(counts::Counts::default())),
        Kind::Sum => sums::over_frames(signature, false),
        Kind::Avg => sums::over_frames(signature, true),
        Kind::Min => extremes::over_frames(signature, super::Keeps::Smallest, never_removes),
        Kind::Max => extremes::over_frames(signature, super::Keeps::Largest, never_removes),
        Kind::BitAnd => bits::over_frames(signature, Operation::And),
        Kind::BitOr => bits::over_frames(signature, Operation::Or),
        Kind::BitXor => bits::over_frames(signature, Operation::Xor),
        Kind::VarPop => Ok(boxed(spreads::Spreads::new(false, false))),
        Kind::VarSamp => Ok(boxed(spreads::Spreads::new(true, false))),
        Kind::StddevPop => Ok(boxed(spreads::Spreads::new(false, true))),
        Kind::StddevSamp => Ok(boxed(spreads::Spreads::new(true, true))),
        _ => Ok(boxed(documents::Documents::new(function, signature))),
    }
}
