//! Prepared statements: PREPARE, EXECUTE and DEALLOCATE in SQL, and the client protocol's commands.
//!
//! A prepared statement keeps its tree. The values of its `?` are parameters of the plan, which is made when the
//! statement runs: their types decide about conversions.

use std::sync::{Arc, OnceLock};

use mayfly_plan::ParameterPlace;
use mayfly_plan::physical::ClientType;
use mayfly_syntax::ParsedStatement;
use mayfly_syntax::ast::{Execute, Executed, Expr, Prepare, PrepareSource, Statement};
use mayfly_syntax::encodings::{self, Variable};
use mayfly_types::error::codes;
use mayfly_types::{Diagnostics, Error, Result, SqlType, Value};
use parking_lot::{MappedMutexGuard, Mutex, MutexGuard};

use super::properties::properties;
use super::{inner_statements, locking_subqueries, point};
use crate::binding::expressions;
use crate::cached_plan::CachedPlan;
use crate::connections::Work;
use crate::error::ensure;
use crate::prepared::{Counted, DerivedTypes, PlanSlot, Prepared};
use crate::result::{Outcome, ResultColumn, StatementResult};
use crate::session::{Session, StatementContext};
use crate::statements::{self, admission, transaction_work};
use crate::status::Counter;
use crate::stream::ResultStream;
use crate::variables::typed;

/// Estimated bytes of a prepared statement besides tree and plan.
const PREPARED_BYTES: u64 = 4 << 10;

impl Prepared {
    /// Wraps a statement just parsed in a session, with a slot for its plan if that can be cached.
    pub(crate) fn of_parsed(
        session: &Session,
        parsed: ParsedStatement<'_>,
        plan: Option<PlanSlot>,
    ) -> Self {
        let options = &session.settings.options().parse;
        Self {
            parameters: parsed.parameters as usize,
            text: Arc::from(&*mayfly_syntax::without_passwords(&parsed, options)),
            height: parsed.height,
            tree_bytes: parsed.tree_bytes,
            variables: parsed.variables,
            has_locking_subqueries: locking_subqueries::may_have_any(&parsed.statement),
            statement: Arc::new(parsed.statement),
            database: session.settings.current_database().cloned(),
            columns: Arc::default(),
            placeholders: Arc::default(),
            derived: Mutex::default(),
            plan,
            counted: None,
            digest: OnceLock::new(),
            held: None,
        }
    }

    /// Whether a text is cached for its next use: its statement has a plan.
    pub(crate) fn is_cacheable(parsed: &ParsedStatement<'_>) -> bool {
        properties(&parsed.statement).has_plan && parsed.parameters == 0
    }

    /// The statement of a text with `?`, if it may be a point statement.
    pub(crate) fn parameterized(session: &Session, text: &str) -> Option<Self> {
        let prepared = parse_preparable(session, text).ok()?;
        point::may_be_point(&prepared.statement).then_some(prepared)
    }

    /// Plans the statement for these values, without running it; returns whether it is a point statement with every
    /// value in the key or in the row.
    pub(crate) fn plan_point(
        &self,
        context: &mut StatementContext<'_>,
        values: &[(Value, SqlType)],
    ) -> Result<bool> {
        let uses_all = |plan: &CachedPlan| {
            let point = plan.point.as_ref();
            point.is_some_and(|point| point.uses_all(self.parameters))
        };
        if let Some(plan) = self.plan().and_then(PlanSlot::look)
            && plan.is_in(context)
        {
            return Ok(uses_all(&plan));
        }
        // Warnings of planning are raised when the text itself is planned.
        let quiet = Arc::new(Diagnostics::new(0));
        let ahead = context.planning_ahead(quiet, values);
        admission::statement(&ahead, &self.statement)?;
        let ready = mayfly_syntax::with_stack(self.height, || {
            statements::planning::plan(&ahead, &self.statement, self.plan())
        })?;
        Ok(uses_all(&ready.plan))
    }

    /// 1210 unless there is one value per `?`.
    fn check_count(&self, values: &[(Value, SqlType)]) -> Result<()> {
        ensure(values.len() == self.parameters, || {
            codes::ER_WRONG_ARGUMENTS.with(&[&"EXECUTE"])
        })
    }

    /// 1064 for a text with a `?` that is not prepared.
    pub(crate) fn refuse_placeholders(&self) -> Result<()> {
        if self.parameters == 0 {
            return Ok(());
        }
        let near = self
            .text
            .find('?')
            .map_or("", |offset| &self.text[offset..]);
        Err(codes::ER_PARSE_ERROR.with(&[&near, &1]))
    }

    /// Checks that the session may run statements, and runs this one.
    pub(crate) fn execute(
        &self,
        context: &mut StatementContext<'_>,
        values: &[(Value, SqlType)],
    ) -> Result<Outcome> {
        admission::admit(context, &self.statement)?;
        transaction_work::note(context.session, &self.statement);
        statements::execute(context, self, values)
    }

    /// Whether the statement reads the diagnostics of the statement before it.
    pub(crate) fn keeps_diagnostics(&self) -> bool {
        properties(&self.statement).keeps_diagnostics
    }
}

/// Parses a statement for PREPARE: 1295 for one that cannot be prepared.
fn parse_preparable(session: &Session, text: &str) -> Result<Prepared> {
    let prepared = parse(session, text)?;
    let is_preparable = properties(&prepared.statement).is_preparable;
    ensure(is_preparable, || codes::ER_UNSUPPORTED_PS.error())?;
    Ok(prepared)
}

/// Parses a text of one statement.
pub(super) fn parse(session: &Session, text: &str) -> Result<Prepared> {
    let mut reader = session.statements_of(text);
    let (parsed, _tree) = session.parse_statement(&mut reader)?;
    let prepared = Prepared::of_parsed(session, parsed, Some(PlanSlot::default()));
    if let Some(more) = reader.next() {
        // Only one statement can be prepared: the error is at the second.
        let near = more.map_or_else(|error| error.near, |parsed| parsed.text.to_owned());
        return Err(codes::ER_PARSE_ERROR.with(&[&near, &1]));
    }
    if prepared.parameters > usize::from(u16::MAX) {
        return Err(codes::ER_PS_MANY_PARAM.error());
    }
    Ok(prepared)
}

/// Parses a statement, derives its columns, and counts it.
fn make(context: &mut StatementContext<'_>, text: &str) -> Result<Prepared> {
    context.count(Counter::ComStmtPrepare);
    let mut prepared = parse_preparable(context.session, text)?;
    let database = context.database();
    let most = database.globals().get(typed::MAX_PREPARED_STMT_COUNT);
    let counted = Counted::new(&database.prepared_statements, most)?;
    // Bytes of the tree, and of a cached plan.
    let bytes = prepared.tree_bytes * 2 + PREPARED_BYTES;
    let held = context.session.reserve_kept(bytes)?;
    let diagnostics = Arc::clone(context.diagnostics());
    let (columns, derived) = describe(context, &prepared, diagnostics)?;
    prepared.columns = columns;
    let types = derived.types.iter();
    prepared.placeholders = types.map(|(ty, _)| placeholder(ty)).collect();
    prepared.derived = Mutex::new(Some(Arc::new(derived)));
    prepared.counted = Some(counted);
    prepared.held = Some(held);
    Ok(prepared)
}

/// Metadata column for a `?` of a type.
fn placeholder(ty: &SqlType) -> ResultColumn {
    ResultColumn {
        client_type: ClientType::Computed,
        ..ResultColumn::new("?", ty.clone())
    }
}

/// The result columns of a statement, and the types of its `?`. Conditions go to `diagnostics`.
fn describe(
    context: &mut StatementContext<'_>,
    prepared: &Prepared,
    diagnostics: Arc<Diagnostics>,
) -> Result<(Arc<[ResultColumn]>, DerivedTypes)> {
    let collation = context.options().session.collation_connection;
    let mut ahead = context.planning_ahead(diagnostics, &[]);
    let columns = mayfly_syntax::with_stack(prepared.height, || columns_of(&mut ahead, prepared))?;
    let mut inferred = ahead.take_inferred_types();
    drop(ahead);
    let types = (0..prepared.parameters).map(|index| match inferred.remove(&index) {
        Some((met, place)) => (mayfly_plan::parameter_type(Some(&met), collation), place),
        None => (
            mayfly_plan::parameter_type(None, collation),
            ParameterPlace::Operand,
        ),
    });
    let derived = DerivedTypes {
        types: types.collect(),
        catalog: context.catalog().version(),
        temporary_tables: context.session.temporary_tables.version(),
        options: Arc::clone(context.options()),
    };
    Ok((columns, derived))
}

/// The types of a statement's `?` derived at PREPARE, if names and settings still mean what they did. They are read
/// under their lock, which costs less than sharing them.
#[inline]
pub(super) fn known_types<'p>(
    context: &StatementContext<'_>,
    prepared: &'p Prepared,
) -> Option<MappedMutexGuard<'p, Arc<DerivedTypes>>> {
    let is_good = |derived: &DerivedTypes| {
        derived.temporary_tables == context.session.temporary_tables.version()
            && Arc::ptr_eq(&derived.options, context.options())
            && derived.catalog == context.catalog().version()
    };
    let known = MutexGuard::try_map(prepared.derived.lock(), Option::as_mut);
    known.ok().filter(|known| is_good(known))
}

/// The types of a statement's `?`: [`known_types`], or else derived anew.
pub(super) fn derived_types(
    context: &mut StatementContext<'_>,
    prepared: &Prepared,
) -> Result<Arc<DerivedTypes>> {
    if let Some(known) = known_types(context, prepared) {
        return Ok(Arc::clone(&known));
    }
    // Errors of the statement are raised when it is planned.
    let quiet = Arc::new(Diagnostics::new(0));
    let (_, derived) = describe(context, prepared, quiet)?;
    let derived = Arc::new(derived);
    *prepared.derived.lock() = Some(Arc::clone(&derived));
    Ok(derived)
}

/// The text of a statement; empty for NULL.
fn text_of(context: &mut StatementContext<'_>, source: &PrepareSource) -> Result<String> {
    let value = match source {
        PrepareSource::Text(text) => return Ok(text.clone()),
        PrepareSource::Variable(name) => {
            let variable = context.session.settings.user_variables().get(name);
            variable.map_or(Value::Null, |(_, value)| value)
        }
        PrepareSource::Expression(expr) => value_of(context, expr)?.0,
    };
    Ok(match value {
        Value::Null => "NULL".to_owned(),
        value => crate::variable_checks::text_of(&value),
    })
}

/// The value of an expression given for a `?`.
fn value_of(context: &mut StatementContext<'_>, expr: &Expr) -> Result<(Value, SqlType)> {
    if let Some(Variable::User(name)) = encodings::variable(expr) {
        let variable = context.session.settings.user_variables().get(name);
        return Ok(variable.map_or((Value::Null, SqlType::null()), |(ty, value)| (value, ty)));
    }
    let bound = expressions::bind(context, expr, &[])?;
    let parameters = Arc::clone(&context.parameters().values);
    context.lending(|| bound.scalar(&expressions::one_row(), &parameters))
}

/// PREPARE
pub(super) fn prepare(context: &mut StatementContext<'_>, statement: &Prepare) -> Result<Outcome> {
    let text = text_of(context, &statement.source)?;
    let name = statement.name.to_lowercase();
    // The name is removed even when the new statement is invalid.
    context.session.client.prepared.remove(&name);
    let prepared = Arc::new(make(context, &text)?);
    context.session.log_general("Prepare", &prepared.text);
    context.session.client.prepared.insert(name, prepared);
    context.session.note_state_change();
    Ok(StatementResult {
        info: "Statement prepared".into(),
        ..StatementResult::default()
    }
    .into())
}

/// The result columns of a statement. Unknown names are errors already; other errors of a statement with `?` may
/// depend on the values.
fn columns_of(
    context: &mut StatementContext<'_>,
    prepared: &Prepared,
) -> Result<Arc<[ResultColumn]>> {
    let statement = &prepared.statement;
    admission::statement(context, statement)?;
    if let Statement::CreateView(create) = &**statement {
        statements::views::refuse_variables(&create.query)?;
    }
    let query = |query| statements::select::plan_here(context, query);
    let columns = match &**statement {
        Statement::Query(asked) => {
            query(asked).map(|planned| ResultColumn::computed_by_plan(&planned.plan.columns))
        }
        Statement::SelectInto(into) => query(&into.query).map(|_| Arc::default()),
        Statement::CreateTable(create) => match &create.select {
            Some(select) => query(&select.query).map(|_| Arc::default()),
            None => Ok(Arc::default()),
        },
        // They only show something.
        Statement::Show(_) | Statement::Describe(_) => {
            context.set_parameters(&vec![(Value::Null, SqlType::null()); prepared.parameters]);
            let outcome = statements::run(context, statement, None);
            outcome.map(|outcome| outcome.columns())
        }
        _ => {
            let ready = statements::planning::plan(context, statement, None);
            ready.map(|ready| Arc::clone(&ready.plan.columns))
        }
    };
    match columns {
        Err(error) if prepared.parameters > 0 && !is_about_names(&error) => Ok(Arc::default()),
        columns => columns,
    }
}

/// Whether an error is about names or column counts, which do not depend on values.
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

/// EXECUTE
pub(super) fn execute(context: &mut StatementContext<'_>, statement: &Execute) -> Result<Outcome> {
    let values = statement.using.iter();
    let values: Vec<(Value, SqlType)> = values
        .map(|value| value_of(context, value))
        .collect::<Result<_>>()?;
    let prepared = match &statement.what {
        Executed::Prepared(name) => {
            let unknown = || codes::ER_UNKNOWN_STMT_HANDLER.with(&[name, &"EXECUTE"]);
            let known = context.session.client.prepared.get(&name.to_lowercase());
            known.cloned().ok_or_else(unknown)?
        }
        Executed::Immediate(source) => {
            let text = text_of(context, source)?;
            if context.database().options.executes_texts {
                return inner_statements::run_text(context, &text);
            }
            Arc::new(make(context, &text)?)
        }
    };
    prepared.check_count(&values)?;
    context.log_execute(&prepared, &values);
    transaction_work::note(context.session, &prepared.statement);
    statements::execute(context, &prepared, &values)
}

/// DEALLOCATE PREPARE
pub(super) fn deallocate(context: &mut StatementContext<'_>, name: &str) -> Result<()> {
    let prepared = &mut context.session.client.prepared;
    let removed = prepared.remove(&name.to_lowercase());
    let unknown = || codes::ER_UNKNOWN_STMT_HANDLER.with(&[&name, &"DEALLOCATE PREPARE"]);
    removed.map(drop).ok_or_else(unknown)
}

impl Session {
    /// Prepares a statement for a client.
    pub fn prepare(&mut self, sql: &str) -> Result<Arc<Prepared>> {
        let mut made = None;
        let text = mayfly_syntax::text_without_passwords(sql, &self.settings.options().parse);
        let text = Arc::from(&*text);
        let context = StatementContext::begin(self, Work::Prepare, &text, false);
        let stream = ResultStream::run(context, |context| {
            context.log_prepare();
            let prepared = make(context, sql)?;
            context.session.log_general("Prepare", &prepared.text);
            made = Some(prepared);
            Ok(StatementResult::default().into())
        })?;
        stream.finish();
        let missing = || Error::internal("nothing was prepared");
        made.map(Arc::new).ok_or_else(missing)
    }

    /// Runs a prepared statement with its parameter values.
    pub fn execute_prepared(
        &mut self,
        prepared: &Prepared,
        values: &[(Value, SqlType)],
    ) -> Result<ResultStream<'_>> {
        self.counters().add(Counter::ComStmtExecute, 1);
        let keeps = prepared.keeps_diagnostics();
        let mut context = StatementContext::begin(self, Work::Execute, &prepared.text, keeps);
        context.is_of(prepared, properties(&prepared.statement).counter);
        ResultStream::run(context, |context| {
            prepared.check_count(values)?;
            context.log_execute(prepared, values);
            prepared.execute(context, values)
        })
    }
}
