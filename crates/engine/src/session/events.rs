//! Events of ended statements, which are made here alone.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use mayfly_types::Error;
use mayfly_types::stage::StageSpan;

use super::{Session, StatementContext};
use crate::instrumentation::{
    Consumer, Instrument, StageEvent, StatementError, StatementEvent, measure_usage, picoseconds,
    share,
};
use crate::prepared::Prepared;
use crate::status::Counter;

impl Session {
    /// Begins timing of stages if a profile, or an event for each stage, is wanted.
    #[inline]
    pub(super) fn begin_stages(&self) {
        let profiles = self.settings.options().profiling;
        let is_timed = profiles || self.database.instrumentation.setup.times_stages();
        let measure = profiles.then_some(measure_usage as _);
        self.shared.activity.stages.begin(is_timed, measure);
    }
}

impl StatementContext<'_> {
    /// Sets the running statement's identity. Its digest is computed the first time that it runs.
    #[inline]
    pub(crate) fn is_of(&mut self, prepared: &Prepared, command: Option<Counter>) {
        self.identity.command = command;
        self.session.shared.activity.is_of(command);
        let database = self.database();
        if !database.instrumentation.sizes.is_on {
            return;
        }
        if !database
            .instrumentation
            .setup
            .consumes(Consumer::StatementsDigest)
        {
            return;
        }
        let digest = prepared.digest.get_or_init(|| {
            let (schema, options) = (prepared.database(), &self.options().parse);
            let digests = &database.instrumentation.digests;
            digests.of(schema, &prepared.text, options)
        });
        share(&mut self.session.digest, Some(digest));
        self.identity.has_digest = true;
    }

    pub(super) fn note_error(&mut self, error: &Error) {
        let database = self.database();
        if let Some(receiver) = &database.options.background_errors {
            let now = database.options.clock.now_utc_microseconds();
            database.storage_errors.note(error, now, &**receiver);
        }
        self.error = Some(StatementError {
            code: error.errno(),
            sqlstate: error.sqlstate(),
            message: Arc::from(error.message()),
        });
    }

    /// Reports the end of the statement at `now`.
    pub(super) fn report(&mut self, now: Instant) {
        // The error itself is not counted as a warning.
        let errors = u64::from(self.error.is_some());
        let conditions = self.session.diagnostics.own_conditions();
        self.session.diagnostics.summary.warnings = conditions.saturating_sub(errors);
        self.session.diagnostics.summary.lock_time = self.stages().locked();
        self.count_slow();
        if self.database().logs.slow_is_on() {
            self.log_end();
        }
        let (identity, error) = (std::mem::take(&mut self.identity), self.error.take());
        let stages = self.stages().finish();
        let database = self.database();
        let summary = &self.session.diagnostics.summary;
        let instrumentation = &database.instrumentation;
        let shared = &self.session.shared;
        let is_seen = instrumentation.sizes.is_on
            && instrumentation.setup.sees(identity.command)
            && shared.is_instrumented.load(Ordering::Relaxed);
        if !is_seen {
            self.keep_stages(stages);
            return;
        }
        let (id, ended) = (shared.next_event(), instrumentation.nanoseconds(now));
        let text = instrumentation.kept_text(&self.session.statement_text);
        let digest = self.session.digest.as_ref().filter(|_| identity.has_digest);
        let has_failed = error.is_some();
        if let Some(digest) = digest {
            digest.add(summary, has_failed, ended, &text);
        }
        shared.statements.add(identity.command, summary, has_failed);
        let fill = |event: &mut StatementEvent| {
            event.id = id;
            event.session_id = shared.id;
            share(
                &mut event.database,
                self.session.settings.current_database(),
            );
            share(&mut event.text, Some(&text));
            event.command = identity.command;
            share(&mut event.digest, digest);
            event.ended = ended;
            event.summary = *summary;
            event.gives_rows = self.session.diagnostics.row_count < 0;
            event.error.clone_from(&error);
        };
        let setup = &instrumentation.setup;
        if shared.has_history.load(Ordering::Relaxed) {
            if setup.keeps(Consumer::StatementsHistoryLong) {
                instrumentation.history_long.add(fill);
            }
            if setup.keeps(Consumer::StatementsHistory) {
                shared.history.add(fill);
            }
        }
        self.keep_stages(stages);
    }

    /// Stores the statement's complete trace.
    pub(super) fn keep_trace(&mut self) {
        let Some(statement) = self.trace.take() else {
            return;
        };
        let options = Arc::clone(self.options());
        debug_assert!(options.trace.is_on, "nobody has asked for a trace");
        let session = &mut *self.session;
        let tables = &session.diagnostics.finished_temporary_tables;
        if statement.end(self.error.is_some(), tables) {
            session.traces.add(&statement, &options.trace);
        }
    }

    /// Stores the timed stages as a profile and as events, where wanted.
    fn keep_stages(&mut self, spans: Vec<StageSpan>) {
        if spans.is_empty() {
            return;
        }
        let instrumentation = &self.database().instrumentation;
        let shared = &self.session.shared;
        let is_seen = instrumentation.sizes.is_on && shared.is_instrumented.load(Ordering::Relaxed);
        if is_seen && instrumentation.setup.times_stages() {
            let setup = &instrumentation.setup;
            let seen = spans.iter();
            for span in seen.filter(|span| setup.instruments(Instrument::Stage(span.stage))) {
                instrumentation.stages.add(span);
                let event = StageEvent {
                    session_id: shared.id,
                    statement: shared.last_event(),
                    stage: span.stage,
                    timer_start: instrumentation.timer(span.began),
                    timer_wait: picoseconds(span.duration),
                };
                if setup.keeps(Consumer::StagesHistoryLong) {
                    instrumentation
                        .stages_long
                        .add(|kept| *kept = event.clone());
                }
                if setup.keeps(Consumer::StagesHistory) {
                    shared.stages.add(|kept| *kept = event);
                }
            }
        }
        let session = &mut *self.session;
        let options = session.settings.options();
        if options.profiling {
            let most = options.profiling_history_size;
            session.profiles.add(&session.statement_text, spans, most);
        }
    }

    /// Counts a slow query: it took longer than `long_query_time`, or used no index where that is asked for, and
    /// examined at least `min_examined_row_limit` rows.
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
