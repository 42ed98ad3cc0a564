//! Operators against expected rows, under every configuration of [`crate::testing::configs`].

mod aggregate;
mod exchange;
mod expression;
mod join;
mod measure;
mod query;
mod window;
