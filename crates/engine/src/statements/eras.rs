//! `tmp_table_compat`: what another server's temporary tables would be for the session's statements.

use std::sync::Arc;

use mayfly_plan::eras::{self, EraOptions, Prediction};
use mayfly_syntax::ast::Statement;

use crate::binding::session_catalog::SessionCatalog;
use crate::session::StatementContext;
use crate::variables::typed;

/// The prediction for a statement, under `tmp_table_compat`.
pub(super) fn predict(
    context: &StatementContext<'_>,
    statement: &Statement,
) -> Option<Arc<Prediction>> {
    let options = context.options();
    let era = options.era?;
    let options = EraOptions {
        era,
        big_tables: options.big_tables,
        sort_buffer_size: context.settings().get(typed::SORT_BUFFER_SIZE),
        derived_merge: options.plan.switches.derived_merge,
    };
    let catalog = SessionCatalog::new(context, &[]);
    eras::predict(statement, &catalog, &options).map(Arc::new)
}
