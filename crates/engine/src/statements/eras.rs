//! `tmp_table_compat`: what another server's temporary tables would be for the session's statements.

use std::sync::Arc;

use mayfly_plan::eras::{self, EraOptions, PredictedTable, Prediction};
use mayfly_syntax::ast::Statement;

use crate::binding::session_catalog::SessionCatalog;
use crate::session::StatementContext;
use crate::variables::{TMP_TABLE_COMPAT_SERVERS, typed};

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

/// The tables of a prediction, for people: one note for each kind of table.
pub(super) fn notes(context: &StatementContext<'_>, prediction: &Prediction) -> Vec<String> {
    let server = context.settings().get(typed::TMP_TABLE_COMPAT);
    let server = TMP_TABLE_COMPAT_SERVERS
        .get(usize::try_from(server).unwrap_or(0))
        .unwrap_or(&"native");
    if prediction.tables.is_empty() {
        return vec![format!("{server}: no internal temporary table")];
    }
    let mut kinds: Vec<(&PredictedTable, u64)> = Vec::new();
    for table in &prediction.tables {
        match kinds.iter_mut().find(|(known, _)| *known == table) {
            Some((_, count)) => *count += 1,
            None => kinds.push((table, 1)),
        }
    }
    let note = |(table, count): &(&PredictedTable, u64)| {
        let place = if table.on_disk {
            "on disk"
        } else {
            "in memory"
        };
        let cause = table
            .cause
            .map(|cause| format!(": {cause}"))
            .unwrap_or_default();
        let (purpose, engine) = (table.purpose, table.engine);
        format!("{server}: {count} of {purpose} in {engine}, {place}{cause}")
    };
    kinds.iter().map(note).collect()
}
