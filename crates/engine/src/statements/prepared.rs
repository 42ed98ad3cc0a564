//! PREPARE, EXECUTE and DEALLOCATE in SQL, and the same for clients.
//!
//! A prepared statement keeps its tree. Values for its `?` come as parameters of the plan, which is
//! made when the statement runs: their types decide about conversions.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};

use mayfly_memory::Reservation;
use mayfly_plan::ChangePlan;
use mayfly_plan::physical::{ClientType, QueryPlan};
use mayfly_syntax::ParsedStatement;
use mayfly_syntax::ast::{Execute, Prepare, PrepareSource, ShowKind, Statement, TableVerb};
use mayfly_types::error::codes;
use mayfly_types::{Error, Result, SqlType, Value};

use crate::accounts::check;
use crate::result::{Outcome, ResultColumn, ResultStream, StatementResult};
use crate::session::{ParseError, Session, Work};
use crate::statements;
use crate::statements::change::Change;
use crate::statements::point;
use crate::statements::select::PlanPlace;
use crate::status::Counter;

/// A statement with places for values. Its names are always those of one database.
#[derive(Debug)]
pub struct Prepared {
    statement: Statement,
    parameters: usize,
    text: Arc<str>,
    /// The height of the statement's tree.
    height: u32,
    /// What the tree takes.
    tree_bytes: u64,
    /// The database of unqualified names when it was prepared.
    database: Option<Arc<str>>,
    /// The columns that it gives, as far as they were known then.
    columns: Arc<[ResultColumn]>,
    /// Its `?`, as clients are told of them.
    placeholders: Arc<[ResultColumn]>,
    plan: PlanPlace<QueryPlan>,
    change: PlanPlace<ChangePlan>,
    insert: PlanPlace<()>,
    counted: Option<Counted>,
    /// What it takes, with its text and a plan.
    held: Option<Reservation>,
}

/// What a prepared statement takes beside tree and plan, about.
const PREPARED_BYTES: u64 = 4 << 10;

/// One of the statements that `max_prepared_stmt_count` limits.
#[derive(Debug)]
struct Counted(Arc<AtomicU64>);

impl Counted {
    /// 1461 when there are as many as may be.
    fn new(session: &Session) -> Result<Self> {
        let count = &session.database.prepared_statements;
        let most = session.database.globals();
        let most = most.unsigned("max_prepared_stmt_count");
        if count.fetch_add(1, Ordering::Relaxed) >= most {
            count.fetch_sub(1, Ordering::Relaxed);
            return Err(codes::ER_MAX_PREPARED_STMT_COUNT_REACHED.with(&[&most]));
        }
        Ok(Self(Arc::clone(count)))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Prepared {
    /// How many `?` it has.
    pub fn parameter_count(&self) -> usize {
        self.parameters
    }

    /// Its text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its `?`, of the types that fit where they stand. The values may be of others.
    pub fn placeholders(&self) -> &Arc<[ResultColumn]> {
        &self.placeholders
    }

    /// The columns that it gives, as far as they are known before its values are; empty for a
    /// statement without rows. Those of a run are what counts.
    pub fn columns(&self) -> &Arc<[ResultColumn]> {
        &self.columns
    }

    /// A statement that was just parsed in a session.
    pub(crate) fn of_parsed(session: &Session, parsed: ParsedStatement<'_>) -> Self {
        Self {
            parameters: parsed.parameters as usize,
            text: Arc::from(&*mayfly_syntax::without_passwords(
                &parsed,
                &session.options().parse,
            )),
            height: parsed.height,
            tree_bytes: parsed.tree_bytes,
            statement: parsed.statement,
            database: session.current_database_handle(),
            columns: Arc::default(),
            placeholders: Arc::default(),
            plan: PlanPlace::default(),
            change: PlanPlace::default(),
            insert: PlanPlace::default(),
            counted: None,
            held: None,
        }
    }

    /// Whether a text is worth keeping for the next time it comes: its statement has a plan.
    pub(crate) fn is_worth_keeping(parsed: &ParsedStatement<'_>) -> bool {
        let has_plan = matches!(
            parsed.statement,
            Statement::Query(_)
                | Statement::Insert(_)
                | Statement::Update(_)
                | Statement::Delete(_)
        );
        has_plan && parsed.parameters == 0
    }

    /// The statement of a text with `?`, if it may come to one row by a key.
    pub(crate) fn parameterized(session: &Session, text: &str) -> Option<Self> {
        let prepared = parse(session, text).ok()?;
        point::may_be_point(&prepared.statement).then_some(prepared)
    }

    /// Whether its plan is kept and still good.
    pub(crate) fn is_planned(&self, session: &Session) -> bool {
        match &self.statement {
            Statement::Query(_) => is_good(session, &self.plan),
            Statement::Insert(_) => is_good(session, &self.insert),
            _ => is_good(session, &self.change),
        }
    }

    /// Plans it for such values, without running it; whether it comes to one row by a key, with every
    /// value in the key or in the row.
    pub(crate) fn plan_point(
        &self,
        session: &mut Session,
        values: &[(Value, SqlType)],
    ) -> Result<bool> {
        check::statement(session, &self.statement)?;
        mayfly_syntax::with_stack(self.height, || {
            session.plan_ahead(|session| self.plan_only(session, values))
        })?;
        Ok(match &self.statement {
            Statement::Query(_) => point::uses_all(&self.plan, self.parameters),
            Statement::Insert(_) => point::uses_all(&self.insert, self.parameters),
            _ => point::uses_all(&self.change, self.parameters),
        })
    }

    fn plan_only(&self, session: &mut Session, parameters: &[(Value, SqlType)]) -> Result<()> {
        let (values, types): (Vec<Value>, Vec<SqlType>) = parameters.iter().cloned().unzip();
        match &self.statement {
            Statement::Query(query) => {
                let kept = Some(&self.plan);
                statements::select::plan_with(session, query, &types, &values, kept).map(|_| ())
            }
            Statement::Insert(insert) => {
                statements::insert::plan_only(session, insert, parameters, &self.insert)
            }
            statement => match Change::of(statement) {
                Some(change) => {
                    let kept = Some(&self.change);
                    statements::change::plan_only(session, &types, &values, kept, change)
                }
                None => Ok(()),
            },
        }
    }

    pub(crate) fn statement(&self) -> &Statement {
        &self.statement
    }

    /// Its own text, as others see it while it runs.
    pub(crate) fn text_handle(&self) -> &Arc<str> {
        &self.text
    }

    /// Whether it reads what the statement before it has left.
    pub(crate) fn keeps_diagnostics(&self) -> bool {
        statements::keeps_diagnostics(&self.statement)
    }
}

fn parse(session: &Session, text: &str) -> Result<Prepared> {
    let mut reader = session.statements_of(text);
    let (parsed, _tree) = match session.parse_next(&mut reader) {
        Some(Ok(parsed)) => parsed,
        Some(Err(ParseError::Syntax(syntax))) => return Err(session.parse_error(&syntax)),
        Some(Err(ParseError::Other(error))) => return Err(error),
        None => return Err(codes::ER_EMPTY_QUERY.error()),
    };
    let prepared = Prepared::of_parsed(session, parsed);
    if let Some(more) = reader.next() {
        // Several statements cannot be prepared together: the second is where the error is.
        let near = more.map_or_else(|error| error.near, |parsed| parsed.text.to_owned());
        return Err(codes::ER_PARSE_ERROR.with(&[&near, &1]));
    }
    if prepared.parameters > usize::from(u16::MAX) {
        return Err(codes::ER_PS_MANY_PARAM.error());
    }
    match can_be_prepared(&prepared.statement) {
        true => Ok(prepared),
        false => Err(codes::ER_UNSUPPORTED_PS.error()),
    }
}

/// Which statements MySQL prepares (the manual, "SQL Syntax Permitted in Prepared Statements").
fn can_be_prepared(statement: &Statement) -> bool {
    match statement {
        Statement::Prepare(_)
        | Statement::Execute(_)
        | Statement::Deallocate(_)
        | Statement::LoadData(_)
        | Statement::Use(_)
        | Statement::StartTransaction(_)
        | Statement::Savepoint(_)
        | Statement::RollbackToSavepoint(_)
        | Statement::ReleaseSavepoint(_)
        | Statement::LockTables(_)
        | Statement::UnlockTables
        | Statement::AlterDatabase(_)
        | Statement::Handler(_)
        | Statement::Empty
        | Statement::Shutdown
        | Statement::ResetPersist { .. }
        | Statement::Help(_) => false,
        Statement::Show(show) => !matches!(
            show.kind,
            ShowKind::Warnings | ShowKind::Errors | ShowKind::CountWarnings | ShowKind::CountErrors
        ),
        Statement::TableMaintenance(maintenance) => maintenance.verb != TableVerb::Check,
        _ => true,
    }
}

/// Parses a statement, finds its columns, and counts it.
fn make(session: &mut Session, text: &str) -> Result<Prepared> {
    super::count(session, Counter::ComStmtPrepare);
    let mut prepared = parse(session, text)?;
    let counted = Counted::new(session)?;
    // The tree, and a plan that is kept.
    let held = session.reserve_own(prepared.tree_bytes * 2 + PREPARED_BYTES)?;
    let height = prepared.height;
    session.take_noted_parameters();
    let columns = mayfly_syntax::with_stack(height, || {
        session.plan_ahead(|session| describe(session, &prepared.statement, prepared.parameters))
    });
    prepared.columns = columns?;
    let met = session.take_noted_parameters();
    prepared.placeholders = (0..prepared.parameters)
        .map(|index| placeholder(session, met.get(&index)))
        .collect();
    prepared.counted = Some(counted);
    prepared.held = Some(held);
    Ok(prepared)
}

/// A `?` that meets values of a type.
fn placeholder(session: &Session, met: Option<&SqlType>) -> ResultColumn {
    let collation = session.options().collation_connection;
    ResultColumn {
        client_type: ClientType::Computed,
        ..ResultColumn::new("?", mayfly_plan::parameter_type(met, collation))
    }
}

/// PREPARE
pub(super) fn prepare(session: &mut Session, statement: &Prepare) -> Result<Outcome> {
    super::count(session, Counter::ComPrepareSql);
    let text = match &statement.source {
        PrepareSource::Text(text) => text.clone(),
        PrepareSource::Variable(name) => match session.user_variables().get(name) {
            Some((_, Value::Null)) | None => "NULL".to_owned(),
            Some((_, value)) => crate::variables::check::text_of(&value),
        },
    };
    let name = statement.name.to_lowercase();
    // A statement of the name is gone even when the new one is wrong.
    session.prepared.remove(&name);
    let prepared = make(session, &text)?;
    session.prepared.insert(name, Arc::new(prepared));
    session.note_state_change();
    Ok(StatementResult {
        info: "Statement prepared".into(),
        ..StatementResult::default()
    }
    .into())
}

/// The columns that a statement will give. Names that do not exist are errors already; what else is
/// wrong with a statement that waits for values may be right with them.
fn describe(
    session: &mut Session,
    statement: &Statement,
    parameters: usize,
) -> Result<Arc<[ResultColumn]>> {
    check::statement(session, statement)?;
    let columns = match statement {
        Statement::Query(query) => {
            let planned = statements::select::plan(session, query);
            planned.map(|planned| ResultColumn::of_plan(&planned.plan.columns))
        }
        Statement::SelectInto(into) => {
            let planned = statements::select::plan(session, &into.query);
            planned.map(|_| Arc::default())
        }
        Statement::CreateTable(create) => match &create.select {
            Some(select) => {
                let planned = statements::select::plan(session, &select.query);
                planned.map(|_| Arc::default())
            }
            None => Ok(Arc::default()),
        },
        Statement::Insert(insert) => statements::insert::describe(session, insert),
        Statement::Update(update) => statements::change::describe(session, Change::Update(update)),
        Statement::Delete(delete) => statements::change::describe(session, Change::Delete(delete)),
        // They do nothing but show.
        Statement::Show(_) | Statement::Describe(_) => {
            let nothing = vec![(Value::Null, SqlType::null()); parameters];
            let outcome = with_parameters(session, &nothing, |session| {
                statements::dispatch(session, statement)
            });
            outcome.map(|outcome| outcome.columns())
        }
        _ => Ok(Arc::default()),
    };
    match columns {
        Err(error) if parameters > 0 && !is_about_names(&error) => Ok(Arc::default()),
        columns => columns,
    }
}

/// Whether an error is about names or numbers of columns, which values do not change.
fn is_about_names(error: &Error) -> bool {
    [
        codes::ER_NO_DB_ERROR,
        codes::ER_BAD_DB_ERROR,
        codes::ER_TABLEACCESS_DENIED_ERROR,
        codes::ER_COLUMNACCESS_DENIED_ERROR,
        codes::ER_NO_SUCH_TABLE,
        codes::ER_UNKNOWN_TABLE,
        codes::ER_BAD_TABLE_ERROR,
        codes::ER_NONUNIQ_TABLE,
        codes::ER_BAD_FIELD_ERROR,
        codes::ER_NON_UNIQ_ERROR,
        codes::ER_FIELD_SPECIFIED_TWICE,
        codes::ER_DUP_FIELDNAME,
        codes::ER_SP_DOES_NOT_EXIST,
        codes::ER_WRONG_VALUE_COUNT_ON_ROW,
        codes::ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT,
        codes::ER_WRONG_NUMBER_OF_COLUMNS_IN_SELECT,
        codes::ER_DERIVED_MUST_HAVE_ALIAS,
        codes::ER_INVALID_GROUP_FUNC_USE,
    ]
    .iter()
    .any(|code| error.is(code))
}

/// Runs something while `?` have values.
fn with_parameters<T>(
    session: &mut Session,
    values: &[(Value, SqlType)],
    run: impl FnOnce(&mut Session) -> T,
) -> T {
    let before = session.replace_parameters(values.to_vec());
    let done = run(session);
    session.replace_parameters(before);
    done
}

/// EXECUTE
pub(super) fn execute(session: &mut Session, statement: &Execute) -> Result<Outcome> {
    super::count(session, Counter::ComExecuteSql);
    let name = statement.name.to_lowercase();
    let prepared = session
        .prepared
        .get(&name)
        .cloned()
        .ok_or_else(|| codes::ER_UNKNOWN_STMT_HANDLER.with(&[&statement.name, &"EXECUTE"]))?;
    let variable = |name: &String| {
        session
            .user_variables()
            .get(name)
            .map_or((Value::Null, SqlType::null()), |(ty, value)| (value, ty))
    };
    let values: Vec<(Value, SqlType)> = statement.using.iter().map(variable).collect();
    run(session, &prepared, &values)
}

/// Runs a prepared statement with the values of its `?`.
pub(crate) fn run(
    session: &mut Session,
    prepared: &Prepared,
    values: &[(Value, SqlType)],
) -> Result<Outcome> {
    if values.len() != prepared.parameters {
        return Err(codes::ER_WRONG_ARGUMENTS.with(&[&"EXECUTE"]));
    }
    check::admit(session, &prepared.statement)?;
    session.note_statement(&prepared.statement);
    // A kept plan has the tables of its names, and what was allowed then still is.
    if let Some(outcome) = run_point(session, prepared, values)? {
        return Ok(outcome);
    }
    session.now();
    mayfly_syntax::with_stack(prepared.height, || {
        if session.current_database() == prepared.database.as_deref() {
            return run_in_place(session, prepared, values);
        }
        let database = session.replace_database(prepared.database.clone());
        let outcome = run_in_place(session, prepared, values);
        session.replace_database(database);
        outcome
    })
}

/// Whether a plan is kept, and names and settings mean what they did when it was made.
fn is_good<P>(session: &Session, place: &PlanPlace<P>) -> bool {
    let kept = place.lock().unwrap_or_else(PoisonError::into_inner);
    kept.as_ref().is_some_and(|kept| kept.is_in(session))
}

/// Reads or changes the one row that the statement comes to, if that is known of it.
pub(crate) fn run_point(
    session: &mut Session,
    prepared: &Prepared,
    values: &[(Value, SqlType)],
) -> Result<Option<Outcome>> {
    match &prepared.statement {
        Statement::Query(_) if session.locks_what_it_reads() => Ok(None),
        Statement::Query(_) => point::run(session, &prepared.plan, values),
        Statement::Insert(_) => point::run(session, &prepared.insert, values),
        Statement::Update(update) if !update.ignore => {
            point::run(session, &prepared.change, values)
        }
        Statement::Delete(delete)
            if !delete.ignore && delete.targets.is_empty() && delete.returning.is_empty() =>
        {
            point::run(session, &prepared.change, values)
        }
        _ => Ok(None),
    }
}

fn run_in_place(
    session: &mut Session,
    prepared: &Prepared,
    values: &[(Value, SqlType)],
) -> Result<Outcome> {
    check::statement(session, &prepared.statement)?;
    match &prepared.statement {
        Statement::Query(query) => {
            statements::select::run(session, query, values, Some(&prepared.plan))
        }
        Statement::Insert(insert) => {
            statements::insert::run(session, insert, values, Some(&prepared.insert))
        }
        Statement::Update(update) => {
            statements::change::update(session, update, values, Some(&prepared.change))
        }
        Statement::Delete(delete) => {
            statements::change::delete(session, delete, values, Some(&prepared.change))
        }
        Statement::SelectInto(into) => statements::select_into::run(session, into, values),
        statement => with_parameters(session, values, |session| {
            statements::dispatch(session, statement)
        }),
    }
}

/// DEALLOCATE PREPARE
pub(super) fn deallocate(session: &mut Session, name: &str) -> Result<Outcome> {
    super::count(session, Counter::ComDeallocSql);
    if session.prepared.remove(&name.to_lowercase()).is_none() {
        let error = codes::ER_UNKNOWN_STMT_HANDLER;
        return Err(error.with(&[&name, &"DEALLOCATE PREPARE"]));
    }
    Ok(StatementResult::default().into())
}

impl Session {
    /// Prepares a statement for a client.
    pub fn prepare(&mut self, sql: &str) -> Result<Arc<Prepared>> {
        let mut made = None;
        let text = mayfly_syntax::text_without_passwords(sql, &self.options().parse);
        let text = Arc::from(&*text);
        self.run_statement(Work::Prepare, &text, false, |session| {
            made = Some(make(session, sql)?);
            Ok(StatementResult::default().into())
        })?;
        let missing = || codes::ER_UNKNOWN_ERROR.with(&[&"nothing was prepared"]);
        made.map(Arc::new).ok_or_else(missing)
    }

    /// Runs a prepared statement with the values of its `?`.
    pub fn execute_prepared(
        &mut self,
        prepared: &Prepared,
        values: &[(Value, SqlType)],
    ) -> Result<ResultStream<'_>> {
        self.counters().add(Counter::ComStmtExecute, 1);
        let keeps_diagnostics = prepared.keeps_diagnostics();
        self.run_statement(
            Work::Execute,
            &prepared.text,
            keeps_diagnostics,
            |session| run(session, prepared, values),
        )
    }
}
