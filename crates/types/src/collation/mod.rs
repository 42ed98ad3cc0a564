//! Collations: how strings compare, group, hash and sort.
//!
//! Every value is UTF-8 (or bytes, for `binary`), whatever its character set. A collation gives
//! each value a sequence of weights; two values are equal when their sequences are, and sort by
//! them. Three things are derived from the weights, and always agree with one another:
//! [`CollationId::compare`], sort keys whose byte order is the collation's order
//! ([`CollationId::append_sort_key`]), and hashes ([`CollationId::hash64`]).
//!
//! Nearly all text is ASCII, so every operation first tries to treat both values as ASCII, eight
//! bytes at a time and without a table of weights ([`ascii`]); the rest goes through the weights
//! of the Unicode Collation Algorithm ([`uca`]) or the simpler ones of `general_ci` and of other
//! character sets ([`weights`]). `PAD SPACE` collations compare as if the shorter value had spaces at its end.
//! See the manual, "Unicode Character Sets" and "Collation Coercibility in Expressions".

pub mod aggregate;
mod ascii;
mod beginnings;
mod compare;
mod general_ci;
mod id;
pub mod like;
mod list;
mod order;
mod properties;
#[cfg(test)]
mod tests;
mod uca;
mod weight_string;
mod weights;

pub use aggregate::{Coercibility, CollationMix, aggregate_collations};
pub(crate) use ascii::trim_spaces;
pub use beginnings::{Beginnings, POINT_WEIGHTS};
pub use id::{CollationId, PlainText};
pub use like::LikePattern;
pub use list::COLLATIONS;
pub use order::Collation;
pub(crate) use order::Order;
