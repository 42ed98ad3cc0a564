//! What rules plan a statement with.

use crate::options::PlanOptions;
use crate::trace::Trace;
use crate::tree::logical::Query;

/// Rewrites a statement.
type Apply = fn(&mut Query, &Planning<'_>);

/// A rule and its name.
pub(super) type Rule = (&'static str, Apply);

/// The settings that a statement is planned under, and who is told what was decided.
#[derive(Clone, Copy)]
pub(crate) struct Planning<'a> {
    pub(crate) options: &'a PlanOptions,
    /// None while nobody asks: nothing is written down then.
    pub(crate) trace: Option<&'a Trace>,
}

impl<'a> Planning<'a> {
    /// Nobody is told.
    pub(crate) fn quiet(options: &'a PlanOptions) -> Self {
        let trace = None;
        Self { options, trace }
    }
}
