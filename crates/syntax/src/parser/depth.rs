//! The limit on nesting, so that no walk over a tree can overflow its stack.
//!
//! Two numbers are kept. The *depth* counts open recursions of the parser. The *height* counts the levels of the
//! finished tree, to which dropping it recurses. Both are limited by [`crate::DEPTH_MAX`]. Chains such as `1+1+1+...`,
//! which programs do generate by the thousand, are parsed in a loop and built as low trees ([`crate::chain`]), so that
//! they count by the logarithm of their length.
//!
//! The parser's own recursion runs on a stack that grows when it has to.

use super::cursor::{Failure, Parser, Result};
use crate::DEPTH_MAX;

/// Stack that must be left when a level is entered; the size of a new segment otherwise.
const RED_ZONE: usize = 128 << 10;
const GROWTH: usize = 2 << 20;

/// Number of levels that a query block counts as: its parts are walked by larger functions than operators.
pub(crate) const QUERY_WEIGHT: u32 = 4;

impl Parser<'_> {
    /// Runs one level of recursion, whose tree is `weight` higher than its highest part.
    pub(crate) fn nested<T>(
        &mut self,
        weight: u32,
        level: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        self.depth += weight;
        if self.depth > DEPTH_MAX {
            return self.too_deep();
        }
        let siblings = std::mem::take(&mut self.height);
        let result = stacker::maybe_grow(RED_ZONE, GROWTH, || level(self))?;
        self.depth -= weight;
        self.raise(weight)?;
        self.height = self.height.max(siblings);
        Ok(result)
    }

    /// Counts `levels` more levels above the tree completed last.
    pub(crate) fn raise(&mut self, levels: u32) -> Result<()> {
        self.height = self.height.saturating_add(levels);
        self.height_max = self.height_max.max(self.height);
        if self.height > DEPTH_MAX {
            self.too_deep()
        } else {
            Ok(())
        }
    }

    fn too_deep<T>(&self) -> Result<T> {
        Err(Failure::TooDeep {
            token: self.position as u32,
        })
    }
}
