//! Execution contexts of statements, and the session's counters.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use mayfly_exec::{ExecutionContext, ExecutionOptions, ResultMemory, RunContext};
use mayfly_functions::context::SessionFacts;
use mayfly_functions::{CallStored, EvaluationContext};
use mayfly_plan::eras::Prediction;
use mayfly_plan::{Expression, TableId};
use mayfly_storage::temptable::{
    HashFunction, OverflowPolicy, Purpose, RegistryEntry, StatementOwner, TempTableContext,
    TempTableOptions,
};
use mayfly_types::{Batch, Diagnostics, Interrupt, Value};

use super::kept_results::StatementResults;
use super::lending::LentSession;
use super::{StatementContext, StatementTables};
use crate::budgets::unlimited_if_zero;
use crate::catalog::stored_functions::FunctionUse;
use crate::convert;
use crate::options::HashMode;
use crate::status::Counter;
use crate::variables::typed;

impl StatementContext<'_> {
    pub(super) fn statement_owner(&self) -> StatementOwner {
        StatementOwner {
            session_id: self.id(),
            user: Arc::clone(self.privileges().user_text()),
            statement: Arc::clone(&self.session.statement_text),
        }
    }

    /// The interrupt of the running statement.
    pub(crate) fn interrupt(&self) -> &Interrupt {
        let session = &self.session.interrupt;
        if self.time_limit == 0 {
            return session;
        }
        self.interrupt.get_or_init(|| {
            let limit = Duration::from_millis(self.time_limit);
            let deadline = Instant::now().checked_add(limit);
            session.clone().with_deadline(deadline)
        })
    }

    /// The context of the running statement's temporary tables.
    pub(crate) fn temp_table_context(&self) -> &TempTableContext {
        self.temp
            .get_or_init(|| self.new_temp_table_context(self.interrupt().clone()))
    }

    /// The context of rows that outlast their statement: nothing but KILL ends the client's reading.
    pub(crate) fn cursor_context(&self) -> TempTableContext {
        self.new_temp_table_context(Interrupt::new(self.session.shared.kill.killed()))
    }

    fn new_temp_table_context(&self, interrupt: Interrupt) -> TempTableContext {
        let (options, database) = (self.options(), &self.database().options);
        let (batch_rows, threads) = self.rows_at_once();
        let temp_options = TempTableOptions {
            tmp_table_size: options.tmp_table_size,
            threads,
            batch_rows,
            hash: match database.hash_mode {
                HashMode::Normal => HashFunction::Standard,
                HashMode::Collide => HashFunction::Colliding,
                HashMode::Crowd => HashFunction::Crowded,
            },
            force_overflow: database.force_overflow || options.big_tables,
            on_disk: options.big_tables,
            spill_after_rows: self.session.settings.spill_after_rows(),
            policy: self.overflow_policy(),
            tmp_disk_table_size: options.tmp_disk_table_size,
        };
        let memory = &self.session.memory;
        let memory_limit = unlimited_if_zero(options.max_tmp_statement_memory_usage);
        let space_limit = unlimited_if_zero(options.max_tmp_statement_space_usage);
        TempTableContext::new(
            self.session.settings.temp_resources(),
            memory
                .rows
                .child("max_tmp_statement_memory_usage", memory_limit),
            memory
                .temp_space
                .child("max_tmp_statement_space_usage", space_limit),
            self.statement_owner(),
            temp_options,
            interrupt,
        )
    }

    /// `tmp_overflow_policy`. A statement that holds locks does not queue behind statements that may wait for them.
    fn overflow_policy(&self) -> OverflowPolicy {
        let options = self.options();
        match options.tmp_overflow_policy {
            1 if !self.session.transaction.has_durable_changes() => {
                let (budgets, threads) =
                    (&self.database().budgets, self.database().options.threads);
                OverflowPolicy::Queue(budgets.queue_share(options.tmp_table_size, threads))
            }
            2 => OverflowPolicy::Error,
            _ => OverflowPolicy::Disk,
        }
    }

    /// The context that the operators of one statement share. `tables` are the tables that its plan names.
    pub(crate) fn execution_context(
        &self,
        tables: Arc<dyn mayfly_exec::TableOpener>,
    ) -> Arc<ExecutionContext> {
        let options = self.options();
        let database = &self.database().options;
        let (batch_rows, threads) = self.rows_at_once();
        let temp = self.temp_table_context().clone();
        let others = EvaluationContext::new(
            Arc::clone(&options.session),
            Arc::clone(self.diagnostics()),
            self.now(),
        );
        let evaluation = EvaluationContext {
            facts: SessionFacts {
                version: crate::VERSION,
                user: Arc::clone(self.privileges().user_text()),
                current_user: self.privileges().current_user(),
                current_role: self.privileges().current_role(),
                database: self.current_database().map(Arc::from),
                connection_id: self.id(),
                last_insert_id: Arc::clone(&self.session.diagnostics.last_insert_id),
                row_count: self.session.diagnostics.row_count,
                found_rows: self.session.diagnostics.found_rows,
                sees_roles: self.privileges().sees_roles(),
            },
            block_encryption: options.block_encryption,
            user_variables: Arc::clone(&self.session.settings.user_variables),
            random: Arc::clone(&self.session.settings.random),
            server: Arc::clone(self.database()) as _,
            files: self.privileges().readable_files(),
            user_locks: Arc::clone(&self.session.transaction.user_locks) as _,
            short_uuids: Arc::clone(&self.database().short_uuids),
            interrupt: temp.interrupt().clone(),
            memory: Arc::new(ResultMemory {
                resources: self.database().resources.clone(),
                budget: self.session.memory.own.clone(),
            }),
            stored_functions: match self.function_caller() {
                Some(caller) => caller,
                None => Arc::clone(&others.stored_functions),
            },
            ..others
        };
        Arc::new(ExecutionContext {
            evaluation: Arc::new(evaluation),
            options: ExecutionOptions {
                batch_rows,
                cte_max_recursion_depth: options.cte_max_recursion_depth,
                parallel_rows_min: database.parallel_rows_min,
                ..ExecutionOptions::new(threads)
            },
            temp,
            tables,
            counters: Arc::default(),
            progress: Arc::clone(&self.session.progress),
            other_engine: self.database().legacy_engines.tables(options, || {
                let new = || {
                    self.database()
                        .legacy_engines
                        .session_disk(&self.session.memory.temp_space)
                };
                let mut disk = self.session.legacy_disk.get_or_init(new).clone();
                let name = self.settings().text(typed::TMP_KEY_CACHE);
                // The work of a dropped key cache goes to the default one.
                if let Some(cache) = self.database().legacy_engines.key_caches.get(name) {
                    disk.key_cache = cache;
                }
                disk
            }),
            measures: self.measures.clone(),
            kept: Arc::new(self.kept_results()),
        })
    }

    /// The kept results as the statement sees them.
    pub(crate) fn kept_results(&self) -> StatementResults {
        StatementResults {
            database: Arc::clone(self.database()),
            options: Arc::clone(self.options()),
            current_database: self.session.settings.current_database().cloned(),
            rights: Arc::clone(self.privileges().key()),
            variables: Arc::clone(&self.session.settings.user_variables),
            owner: self.statement_owner(),
            used: Arc::clone(&self.session.diagnostics.results),
        }
    }

    /// The context of expressions that read no table, and whose warnings are thrown away.
    pub(crate) fn silent_execution(&self) -> Arc<ExecutionContext> {
        let mut execution = self.execution_context(Arc::new(StatementTables::default()));
        let own = Arc::get_mut(&mut execution);
        if let Some(own) = own.and_then(|own| Arc::get_mut(&mut own.evaluation)) {
            own.diagnostics = Arc::new(Diagnostics::new(0));
        }
        execution
    }

    /// The temporary tables and sorts that are counted for the statement: its own, or under `tmp_table_compat` those of
    /// another server, of which the tables that outgrew their memory are on disk.
    fn made(&mut self, execution: &ExecutionContext) -> Made {
        let (done, temp) = (&execution.counters, execution.temp.counters());
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let Some(prediction) = &self.prediction else {
            return Made {
                tables: get(&temp.created_tmp_tables),
                disk_tables: get(&temp.created_tmp_disk_tables),
                sort_scan: get(&done.sort_scan),
                sort_range: get(&done.sort_range),
                merges: get(&temp.sort_merge_passes),
            };
        };
        // A statement may have several executions, and is counted with the first.
        let prediction = match self.is_predicted.replace(true) {
            true => &Prediction::default(),
            false => &**prediction,
        };
        let files = &self.session.shared.predicted_files;
        files.fetch_add(prediction.files, Ordering::Relaxed);
        let tables = prediction.tables.len() as u64;
        let converted = match self.options().tmp_table_size >= prediction.least_memory {
            true => get(&temp.hit_tmp_table_size),
            false => 0,
        };
        Made {
            tables,
            disk_tables: prediction.on_disk().max(converted.min(tables)),
            sort_scan: prediction.sorts,
            sort_range: 0,
            merges: prediction.merges,
        }
    }

    /// Adds a statement's counters to the session's and to its summary.
    pub(crate) fn account(&mut self, execution: &ExecutionContext) {
        let (done, temp) = (&execution.counters, execution.temp.counters());
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let Made {
            tables,
            disk_tables,
            sort_scan,
            sort_range,
            merges,
        } = self.made(execution);
        for (counter, count) in [
            (Counter::SortScan, sort_scan),
            (Counter::SortRange, sort_range),
            (Counter::SortMergePasses, merges),
            (Counter::CreatedTmpTables, tables),
            (Counter::CreatedTmpDiskTables, disk_tables),
        ] {
            self.counters().add(counter, count);
        }
        for (counter, count) in [
            (Counter::HandlerReadFirst, &done.handler_read_first),
            (Counter::HandlerReadLast, &done.handler_read_last),
            (Counter::HandlerReadNext, &done.handler_read_next),
            (Counter::HandlerReadPrev, &done.handler_read_prev),
            (Counter::HandlerReadRndNext, &done.handler_read_rnd_next),
            (Counter::HandlerReadRnd, &done.handler_read_rnd),
            (Counter::HandlerReadKey, &done.handler_read_key),
            (Counter::HandlerWrite, &done.handler_write),
            (
                Counter::SortPriorityQueueSorts,
                &done.sort_priority_queue_sorts,
            ),
            (Counter::HandlerTmpWrite, &temp.rows_written),
            (Counter::RowsTmpRead, &temp.rows_read),
            (Counter::SortRows, &done.sort_rows),
            (Counter::SelectScan, &done.select_scan),
            (Counter::SelectRange, &done.select_range),
            (Counter::SelectFullRangeJoin, &done.select_full_range_join),
            (Counter::SelectFullJoin, &done.select_full_join),
            (Counter::CountHitTmpTableSize, &temp.hit_tmp_table_size),
            (Counter::TempTableCountHitMaxRam, &temp.hit_max_ram),
            (Counter::TmpBytesOverflowed, &temp.bytes_overflowed),
        ] {
            self.counters().add(counter, get(count));
        }
        let diagnostics = &mut self.session.diagnostics;
        let finished = temp.finished_tables();
        let rows_reread: u64 = finished.iter().map(rows_read_again).sum();
        let bytes_exchanged: u64 = finished.iter().map(|table| table.bytes_exchanged).sum();
        let on_secondary = finished
            .iter()
            .any(|table| table.purpose == Purpose::Exchange);
        diagnostics.finished_temporary_tables.extend(finished);
        let summary = &mut diagnostics.summary;
        summary.has_worked = true;
        summary.temporary_tables += tables;
        summary.hit_tmp_table_size += get(&temp.hit_tmp_table_size);
        summary.hit_max_ram += get(&temp.hit_max_ram);
        summary.select_full_join += get(&done.select_full_join);
        summary.select_full_range_join += get(&done.select_full_range_join);
        summary.select_range += get(&done.select_range);
        summary.select_scan += get(&done.select_scan);
        summary.sort_merge_passes += merges;
        summary.sort_range += sort_range;
        summary.sort_rows += get(&done.sort_rows);
        summary.sort_priority_queue += get(&done.sort_priority_queue_sorts);
        summary.sort_scan += sort_scan;
        summary.disk_tables += disk_tables;
        summary.bytes_overflowed += get(&temp.bytes_overflowed);
        summary.bytes_exchanged += bytes_exchanged;
        summary.on_secondary |= on_secondary;
        summary.rows_examined += get(&done.rows_examined) + get(&done.sort_rows) + rows_reread;
        summary.no_index_used |= get(&done.select_scan) + get(&done.select_full_join) > 0;
        summary.memory_peak = summary.memory_peak.max(execution.temp.memory().peak());
        summary.disk_peak = summary.disk_peak.max(execution.temp.temp_space().peak());
        summary.rows_written += get(&temp.rows_written);
        summary.results = *diagnostics.results.lock();
        if on_secondary {
            let counter = Counter::SecondaryEngineExecutionCount;
            self.counters().add(counter, 1);
        }
    }
}

/// Temporary tables and sorts that are counted for a statement.
struct Made {
    tables: u64,
    disk_tables: u64,
    sort_scan: u64,
    sort_range: u64,
    merges: u64,
}

impl StatementContext<'_> {
    /// Does work in which the statement's expressions are evaluated: stored functions have the session.
    pub(crate) fn lending<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let Some(place) = self.lent.get().map(Arc::clone) else {
            return work();
        };
        self.has_frames = true;
        let used_tables = self.used_tables();
        place.with(&mut *self.session, used_tables, work)
    }

    /// The session as the expressions of the statement call functions in it; `None` if they call none.
    fn function_caller(&self) -> Option<Arc<dyn CallStored>> {
        if self.functions() == FunctionUse::None {
            return None;
        }
        let place = || Arc::new(LentSession::of_idle(self.session.idle()));
        Some(Arc::clone(self.lent.get_or_init(place)) as _)
    }

    /// The tables of the statement's plan, and the table that it adds rows to.
    fn used_tables(&self) -> Vec<TableId> {
        let planned = self.tables.upgrade();
        let planned = planned.iter().flat_map(|planned| &planned.tables);
        planned.map(|(id, _)| *id).chain(self.target).collect()
    }
}

/// The value of an expression that reads no table; `None` where it fails.
pub(crate) fn constant_value(
    expression: &Expression,
    execution: &Arc<ExecutionContext>,
) -> Option<Value> {
    let run = RunContext::for_expressions(Arc::clone(execution), &[]);
    let one_row = Batch::new(Vec::new(), 1);
    let values = mayfly_exec::evaluate(expression, &one_row, &run).ok()?;
    Some(convert::value_at(&values, 0))
}

/// Rows of a temporary table that count as examined by the statement: rows of an intermediate result that another
/// part of the statement reads. MySQL counts neither groups, which it returns as it finds them, nor lookup keys.
fn rows_read_again(table: &RegistryEntry) -> u64 {
    match table.purpose {
        Purpose::SetOperation | Purpose::DerivedTable | Purpose::CommonTableExpression => {
            table.rows
        }
        _ => 0,
    }
}
