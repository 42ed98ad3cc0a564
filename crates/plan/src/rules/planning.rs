//! Context of the rules: options, trace and constants.

use crate::catalog::Catalog;
use crate::constants::Constants;
use crate::options::PlanOptions;
use crate::trace::Trace;
use crate::tree::logical::Query;

/// Function that rewrites a statement.
type Apply = fn(&mut Query, &Planning<'_>);

/// (name, function) of a rule.
pub(super) type Rule = (&'static str, Apply);

/// Options of planning, and the receivers of its decisions.
#[derive(Clone, Copy)]
pub(crate) struct Planning<'a> {
    pub(crate) options: &'a PlanOptions,
    /// Optimizer trace; `None` if the session does not trace.
    pub(crate) trace: Option<&'a Trace>,
    /// Evaluator of constants, if there is one.
    pub(crate) constants: Option<&'a dyn Constants>,
    /// Whether the sizes of temporary tables are to be estimated.
    pub(crate) sizes_tables: bool,
}

impl<'a> Planning<'a> {
    /// Context of a statement that names tables of a catalog.
    pub(crate) fn new(options: &'a PlanOptions, catalog: &'a dyn Catalog) -> Self {
        let trace = catalog.trace();
        Self {
            options,
            trace,
            constants: None,
            sizes_tables: catalog.explains() || trace.is_some(),
        }
    }

    /// The context with other options.
    pub(crate) fn with(self, options: &'a PlanOptions) -> Self {
        Self { options, ..self }
    }

    /// Context without a trace.
    pub(crate) fn quiet(options: &'a PlanOptions) -> Self {
        Self {
            options,
            trace: None,
            constants: None,
            sizes_tables: false,
        }
    }
}
