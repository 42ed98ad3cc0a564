//! What rules plan a statement with.

use crate::catalog::Catalog;
use crate::constants::Constants;
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
    /// Who computes constants, where somebody does.
    pub(crate) constants: Option<&'a dyn Constants>,
    /// Somebody asks how large temporary tables are thought to become.
    pub(crate) sizes_tables: bool,
}

impl<'a> Planning<'a> {
    /// Of a statement that names tables of a catalog.
    pub(crate) fn new(options: &'a PlanOptions, catalog: &'a dyn Catalog) -> Self {
        let trace = catalog.trace();
        Self {
            options,
            trace,
            constants: None,
            sizes_tables: catalog.explains() || trace.is_some(),
        }
    }

    /// Nobody is told.
    pub(crate) fn quiet(options: &'a PlanOptions) -> Self {
        Self {
            options,
            trace: None,
            constants: None,
            sizes_tables: false,
        }
    }
}
