//! What a statement tells of itself when it has ended: the only place where its event is made.

use std::sync::Arc;
use std::time::Instant;

use mayfly_types::Error;

use super::StatementContext;
use crate::instrumentation::{StatementError, StatementEvent};
use crate::prepared::Prepared;
use crate::status::Counter;

impl StatementContext<'_> {
    /// The statement is this one. Its digest is found the first time that it runs.
    #[inline]
    pub(crate) fn is_of(&mut self, prepared: &Prepared, command: Option<Counter>) {
        self.identity.command = command;
        let database = self.database();
        if !database.instrumentation.sizes.is_on {
            return;
        }
        let digest = prepared.digest.get_or_init(|| {
            let (schema, options) = (prepared.database(), &self.options().parse);
            let digests = &database.instrumentation.digests;
            digests.of(schema, &prepared.text, options)
        });
        self.identity.digest = Some(Arc::clone(digest));
    }

    pub(super) fn note_error(&mut self, error: &Error) {
        self.error = Some(StatementError {
            code: error.errno(),
            sqlstate: error.sqlstate(),
            message: Arc::from(error.message()),
        });
    }

    /// The statement has ended now.
    pub(super) fn report(&mut self, now: Instant) {
        self.session.diagnostics.summary.warnings = self.session.diagnostics.own_conditions();
        let summary = self.session.diagnostics.summary;
        self.count_slow();
        if self.database().logs.slow_is_on() {
            self.log_end();
        }
        let (identity, error) = (std::mem::take(&mut self.identity), self.error.take());
        let database = self.database();
        let instrumentation = &database.instrumentation;
        if !instrumentation.sizes.is_on {
            return;
        }
        let elapsed = summary.elapsed;
        let ended_at = database.options.clock.now_utc_microseconds();
        let shared = &self.session.shared;
        let event = StatementEvent {
            id: shared.next_event(),
            session_id: shared.id,
            account: Arc::clone(self.privileges().user_text()),
            database: self.session.settings.current_database().cloned(),
            text: instrumentation.kept_text(&self.session.statement_text),
            command: identity.command,
            digest: identity.digest,
            began_at: ended_at - i64::try_from(elapsed.as_micros()).unwrap_or(0),
            timer_start: instrumentation.timer(now.checked_sub(elapsed).unwrap_or(now)),
            summary,
            error,
        };
        if let Some(digest) = &event.digest {
            digest.add(&event);
        }
        if instrumentation.history_long.is_kept() {
            instrumentation.history_long.add(event.clone());
        }
        shared.history.add(event);
    }

    /// A statement is slow that took longer than `long_query_time`, or used no index where that is asked for, and
    /// read at least as many rows as `min_examined_row_limit` says.
    fn count_slow(&self) {
        let (summary, options) = (&self.session.diagnostics.summary, &self.options().log);
        let lacks_index = || summary.no_index_used && self.database().logs.counts_without_index();
        if summary.rows_examined >= options.rows_examined_min
            && (summary.elapsed.as_secs_f64() > options.long_query_time || lacks_index())
        {
            self.count(Counter::SlowQueries);
        }
    }
}
