//! How tightly operators bind (the manual, "Operator Precedence").

pub(crate) const LOWEST: u8 = 0;
pub(crate) const OR: u8 = 1;
pub(crate) const XOR: u8 = 2;
pub(crate) const AND: u8 = 3;
pub(crate) const NOT: u8 = 4;
pub(crate) const IS_TRUTH: u8 = 5;
pub(crate) const COMPARISON: u8 = 6;
pub(crate) const PREDICATE: u8 = 7;
pub(crate) const BIT_OR: u8 = 8;
pub(crate) const BIT_AND: u8 = 9;
pub(crate) const SHIFT: u8 = 10;
pub(crate) const SUM: u8 = 11;
pub(crate) const PRODUCT: u8 = 12;
pub(crate) const BIT_XOR: u8 = 13;
pub(crate) const CONCAT: u8 = 14;
pub(crate) const COLLATE: u8 = 16;
pub(crate) const HIGHEST: u8 = u8::MAX;
