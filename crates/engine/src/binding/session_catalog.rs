//! The catalog for a session's statement: temporary tables hide base tables, and system tables are included. This is
//! the planner's only interface to tables and variables.

use std::cell::{Cell, OnceCell, Ref, RefCell};
use std::ops::Bound;
use std::sync::Arc;

use arrow_array::ArrayRef;
use mayfly_functions::StoredFunction;
use mayfly_plan::catalog::{IndexContent, VariableScope};
use mayfly_plan::{
    Catalog, ColumnStatistics, Constants, Expression, TableId, TableSource, TableStatistics, Trace,
    Usage, ValueRange, ViewSource,
};
use mayfly_plan::{Explanation, ParameterPlace};
use mayfly_storage::{ColumnId, IndexId, KeyBound, KeyRange, Table};
use mayfly_syntax::ast::{Privilege, TableFunctionCall};
use mayfly_types::error::codes;
use mayfly_types::{Batch, CollationId, Error, Result, SqlType, Stage, TypeKind, Value};

use crate::accounts::privileges::PrivilegeSet;
use crate::accounts::rights::{self, Rights};
use crate::binding::table_functions;
use crate::catalog::BaseTable;
use crate::error::ensure;
use crate::information_schema::{self, RelationContext, SystemTable};
use crate::locks::table::TableUse;
use crate::session::locked_rows::{self, LockedRows};
use crate::session::{StatementContext, StatementTables, constant_value};

const SELECT: PrivilegeSet = PrivilegeSet::of(&[Privilege::Select]);

/// A session's view of the catalog. It keeps the tables that were looked up, so that the executor reads exactly the
/// tables that the plan was made for.
pub(crate) struct SessionCatalog<'s> {
    context: &'s StatementContext<'s>,
    /// The values of the statement's `?`.
    parameters: &'s [Value],
    tables: RefCell<Vec<(TableId, Arc<dyn Table>)>>,
    /// Number of these that are computed from the engine's state.
    computed: Cell<usize>,
    base_tables: RefCell<Vec<Arc<BaseTable>>>,
    /// The tables that calls of table functions give.
    calls: RefCell<Vec<Arc<BaseTable>>>,
    /// What relations are computed from, once one is named.
    relations: OnceCell<Arc<RelationContext>>,
    /// The temporary tables named so far, where naming one twice is an error.
    named: RefCell<Vec<(TableId, String)>>,
    /// Whether the planner has read a fact that may differ at the next execution.
    is_uncacheable: Cell<bool>,
    /// The indexes of the `?` whose values the planner has read.
    values_read: RefCell<Vec<usize>>,
    /// Rights used so far: the session's first, then those of views' definers.
    rights: RefCell<Vec<Arc<Rights>>>,
    /// Indexes of the rights in force below the views being bound, and the views' databases, the innermost last.
    below_views: RefCell<Vec<(usize, String)>>,
    /// EXPLAIN and the optimizer trace show the tables below a view only with the privileges to read them and to show the view.
    checks_views: bool,
    /// Whether one of these privileges is missing.
    is_hidden: Cell<bool>,
    /// Whether the query is only described, and never run.
    describes: bool,
    /// Whether the engine itself plans: the planning is a part of the statement's present stage.
    is_own: bool,
    /// Whether the statement is explained by EXPLAIN.
    explains: bool,
    /// The secondary engine whose copies the plan reads: tables appear without their indexes.
    secondary_engine: Option<Arc<str>>,
}

impl<'s> SessionCatalog<'s> {
    /// The catalog of a session, for a statement with these values for its `?`.
    pub(crate) fn new(context: &'s StatementContext<'s>, parameters: &'s [Value]) -> Self {
        Self {
            context,
            parameters,
            tables: RefCell::default(),
            computed: Cell::new(0),
            base_tables: RefCell::default(),
            calls: RefCell::default(),
            relations: OnceCell::new(),
            named: RefCell::default(),
            is_uncacheable: Cell::new(false),
            values_read: RefCell::default(),
            rights: RefCell::new(vec![context.rights()]),
            below_views: RefCell::default(),
            checks_views: (context.explains || context.trace.is_some())
                && !context.privileges().is_unrestricted(),
            is_hidden: Cell::new(false),
            describes: false,
            is_own: false,
            explains: context.explains,
            secondary_engine: None,
        }
    }

    /// For a statement that adds rows to a table: reading the table too names it twice.
    pub(crate) fn adds_rows_to(&self, table: &BaseTable) {
        if table.definition.is_temporary() {
            let name = table.definition.name.clone();
            self.named.borrow_mut().push((table.id, name));
        }
    }

    /// A catalog for a query that is only described, not run.
    pub(crate) fn describing(context: &'s StatementContext<'s>) -> Self {
        Self {
            describes: true,
            ..Self::new(context, &[])
        }
    }

    /// This catalog for a plan that reads the copies of tables in a secondary engine, which have no indexes.
    pub(crate) fn for_secondary_engine(self, name: &str) -> Self {
        Self {
            secondary_engine: Some(Arc::from(name)),
            ..self
        }
    }

    /// A table that was looked up.
    pub(crate) fn opened(&self, id: TableId) -> Option<Arc<dyn Table>> {
        let tables = self.tables.borrow();
        let mut tables = tables.iter();
        tables
            .find(|(known, _)| *known == id)
            .map(|(_, table)| Arc::clone(table))
    }

    /// A catalog for queries of the engine itself, which may read everything.
    pub(crate) fn trusting(context: &'s StatementContext<'s>) -> Self {
        Self::new(context, &[]).trusted()
    }

    /// This catalog with unrestricted privileges.
    pub(crate) fn trusted(self) -> Self {
        let privileges = self.context.privileges();
        let rights = Rights::unrestricted(privileges.user(), privileges.host());
        Self {
            rights: RefCell::new(vec![Arc::new(rights)]),
            is_own: true,
            explains: false,
            ..self
        }
    }

    /// The rights at an index of `rights`.
    fn rights(&self, number: usize) -> Arc<Rights> {
        let rights = self.rights.borrow();
        let known = rights.get(number).or(rights.first());
        known.map_or_else(|| self.context.rights(), Arc::clone)
    }

    /// The values of `?` that the plan depends on.
    pub(crate) fn values_read(&self) -> Vec<(usize, Value)> {
        let read = self.values_read.borrow();
        let value = |index: &usize| Some((*index, self.parameters.get(*index)?.clone()));
        read.iter().filter_map(value).collect()
    }

    /// The tables that were looked up, and, if the plan can be cached, those to be opened at the next execution.
    pub(crate) fn into_tables(self) -> (Arc<StatementTables>, Option<Vec<Arc<BaseTable>>>) {
        let lasts = !self.is_uncacheable.get();
        let (tables, computed) = (self.tables.into_inner(), self.computed.get());
        let tables = Arc::new(StatementTables {
            stored: tables.len() - computed,
            tables,
        });
        (tables, lasts.then(|| self.base_tables.into_inner()))
    }

    /// The base tables and temporary tables that were looked up.
    pub(crate) fn base_tables(&self) -> Ref<'_, Vec<Arc<BaseTable>>> {
        self.base_tables.borrow()
    }

    /// The tables that calls of table functions give.
    pub(crate) fn calls(&self) -> Ref<'_, Vec<Arc<BaseTable>>> {
        self.calls.borrow()
    }

    /// The first temporary table that was looked up.
    pub(crate) fn temporary_table_read(&self) -> Option<String> {
        let tables = self.base_tables.borrow();
        let table = tables
            .iter()
            .find(|table| table.definition.is_temporary())?;
        Some(table.definition.name.clone())
    }

    /// The table of a name, for a statement that calls it `alias`; below a view, temporary tables are not seen.
    fn table_used(
        &self,
        database: Option<&str>,
        name: &str,
        alias: Option<&str>,
        is_of_view: bool,
    ) -> Result<Arc<TableSource>> {
        let context = self.context;
        let table = self.find(database, name, alias, is_of_view)?;
        if !matches!(table, NamedTable::Stored(_)) {
            self.is_uncacheable.set(true);
        }
        match table {
            NamedTable::Locked(rows) => {
                self.remember(rows.source.id, || Ok(Arc::clone(&rows.table)))?;
                Ok(Arc::clone(&rows.source))
            }
            NamedTable::Stored(table) => {
                if let Some(alias) = alias {
                    self.name(&table, alias)?;
                }
                self.remember(table.id, || table.rows_in(context))?;
                self.base_tables.borrow_mut().push(Arc::clone(&table));
                let mut source = table.source_in(context)?;
                if let Some(engine) = &self.secondary_engine {
                    let source = Arc::make_mut(&mut source);
                    source.secondary_engine = Some(Arc::clone(engine));
                    // Hints may name them.
                    source.indexes.iter_mut().for_each(|index| index.id = None);
                    source.index_content = IndexContent::Unavailable;
                }
                Ok(source)
            }
            NamedTable::Computed(table) => {
                table.note_use(context);
                if self.describes {
                    return Ok(Arc::clone(table.source));
                }
                let new = || Arc::new(information_schema::context_of(context));
                let state = self.relations.get_or_init(new);
                self.remember(table.source.id, || {
                    self.computed.update(|count| count + 1);
                    table.open(context, state)
                })?;
                Ok(table.source_in(state))
            }
            NamedTable::OfProgram(table) => self.table_of_statement(&table),
        }
    }

    /// A table that this statement alone has.
    fn table_of_statement(&self, table: &BaseTable) -> Result<Arc<TableSource>> {
        self.remember(table.id, || {
            self.computed.update(|count| count + 1);
            table.rows_in(self.context)
        })?;
        let mut source = table.source_in(self.context)?;
        let own = Arc::make_mut(&mut source);
        own.is_call = true;
        own.secondary_engine.clone_from(&self.secondary_engine);
        Ok(source)
    }

    /// The table that a name leads to, whoever provides it.
    fn find(
        &self,
        database: Option<&str>,
        name: &str,
        alias: Option<&str>,
        is_of_view: bool,
    ) -> Result<NamedTable<'s>> {
        let context = self.context;
        let is_qualified = database.is_some();
        let locked = locked_rows::position_of(name);
        if let Some(rows) = locked.and_then(|position| context.locked_rows.get(position)) {
            return Ok(NamedTable::Locked(rows));
        }
        let database = context.database_or_current(database)?;
        let stored = if is_of_view {
            context.use_base_table(database, name, alias, TableUse::Read)?
        } else {
            context.use_table_as(database, name, alias, TableUse::Read)?
        };
        if let Some(table) = stored {
            return Ok(NamedTable::Stored(table));
        }
        if let Some(table) = information_schema::find(database, name) {
            return Ok(NamedTable::Computed(table));
        }
        if context.catalog().view(database, name).is_some() {
            // Statements that change rows look the view up as a table.
            return Err(codes::ER_NOT_SUPPORTED_YET.with(&[&"changes through views"]));
        }
        if !is_qualified
            && !is_of_view
            && let Some(table) = context.table_of_program(name)?
        {
            return Ok(NamedTable::OfProgram(Box::new(table)));
        }
        Err(match self.describes {
            true => context.missing_table(database, name),
            false => context.missing_for_use(database, name),
        })
    }

    /// Records that a statement names a table: 1137 for a temporary table that it has named already, if the session
    /// makes that an error.
    fn name(&self, table: &BaseTable, alias: &str) -> Result<()> {
        if !table.definition.is_temporary() || !self.context.options().temporary_tables_once {
            return Ok(());
        }
        let mut named = self.named.borrow_mut();
        if let Some((_, first)) = named.iter().find(|(id, _)| *id == table.id) {
            return Err(codes::ER_CANT_REOPEN_TABLE.with(&[first]));
        }
        named.push((table.id, alias.to_owned()));
        Ok(())
    }

    /// EXPLAIN and the optimizer trace: the session itself must have a privilege on a table below a view, or on a column of it.
    fn note_explained(&self, database: &str, name: &str, wanted: Privilege) {
        let held = self.rights(0).on_any_column(database, name);
        if self.checks_views
            && !rights::is_open(database, name)
            && !held.has(PrivilegeSet::of(&[wanted]))
        {
            self.is_hidden.set(self.context.explains);
            if let Some(traced) = &self.context.trace {
                traced.hide();
            }
        }
    }

    /// The plan, or 1345 when EXPLAIN would show parts of it without privilege. As in MySQL, errors of the statement
    /// outside of its views come first, except for reading the changed table below one.
    pub(crate) fn explained<P>(&self, planned: Result<P>) -> Result<P> {
        let is_of_views = |error: &Error| {
            error.is(&codes::ER_VIEW_INVALID) || error.is(&codes::ER_VIEW_PREVENT_UPDATE)
        };
        match planned {
            Err(error) if !is_of_views(&error) => Err(error),
            _ if self.is_hidden.get() => Err(codes::ER_VIEW_NO_EXPLAIN.error()),
            planned => planned,
        }
    }

    fn remember(&self, id: TableId, open: impl FnOnce() -> Result<Arc<dyn Table>>) -> Result<()> {
        if self.tables.borrow().iter().any(|(known, _)| *known == id) {
            return Ok(());
        }
        let table = open()?;
        self.tables.borrow_mut().push((id, table));
        Ok(())
    }
}

/// A table that a name leads to.
enum NamedTable<'s> {
    /// Rows that the statement has locked.
    Locked(&'s LockedRows),
    /// A base table, a table of a provider, or a session's temporary table.
    Stored(Arc<BaseTable>),
    /// A table computed from the engine's state.
    Computed(SystemTable),
    /// A table of the program that embeds the engine, which no other statement sees.
    OfProgram(Box<BaseTable>),
}

/// Source of statistics for the planner.
#[derive(Debug)]
struct StoredStatistics {
    rows: Arc<dyn Table>,
    /// The table, if its rows are stored.
    table: Option<Arc<BaseTable>>,
}

impl TableStatistics for StoredStatistics {
    fn distinct_keys(&self, index: usize, parts: usize) -> u64 {
        self.rows.distinct_keys(IndexId(index), parts)
    }

    fn rows_in_range(&self, index: usize, range: &ValueRange) -> u64 {
        let bound = |bound: &Bound<Vec<Value>>| match bound {
            Bound::Unbounded => KeyBound::Unbounded,
            Bound::Included(values) => KeyBound::Included(values.clone()),
            Bound::Excluded(values) => KeyBound::Excluded(values.clone()),
        };
        let range = KeyRange {
            start: bound(&range.start),
            end: bound(&range.end),
        };
        let rows = self.rows.rows_in_range(IndexId(index), &range);
        // A failing estimate is no reason for a statement to fail.
        rows.unwrap_or_else(|_| self.rows.statistics().rows)
    }

    fn find(&self, index: usize, keys: &ArrayRef, columns: &[usize]) -> Option<Batch> {
        self.table.as_ref()?;
        if self.rows.locks_reads() {
            return None;
        }
        let columns: Vec<ColumnId> = columns.iter().copied().map(ColumnId).collect();
        let keys = std::slice::from_ref(keys);
        let found = self.rows.index_lookup(IndexId(index), keys, &[], &columns);
        found.ok().map(|(rows, _)| rows)
    }

    fn column(&self, column: usize) -> Option<Arc<ColumnStatistics>> {
        let table = self.table.as_ref()?;
        let definition = table.definition.columns.get(column)?;
        let mut histograms = table.definition.histograms.iter();
        let histogram = histograms.find(|histogram| histogram.column == definition.name);
        let (ty, known) = (&definition.ty, &table.column_statistics);
        let of_histogram = histogram.and_then(|histogram| {
            known.of_histogram(histogram, column, ty, self.rows.statistics().rows)
        });
        of_histogram.or_else(|| known.column(&*self.rows, column, ty))
    }
}

impl Constants for SessionCatalog<'_> {
    fn constant(&self, expression: &Expression) -> Option<Value> {
        // Its warnings are about values that are not computed yet.
        constant_value(expression, &self.context.silent_execution())
    }
}

impl Catalog for SessionCatalog<'_> {
    fn enters(&self, stage: Stage) {
        if !self.is_own {
            self.context.stages().enter(stage);
        }
    }

    fn current_database(&self) -> Option<&str> {
        self.context.current_database()
    }

    fn table(&self, database: Option<&str>, name: &str) -> Result<Arc<TableSource>> {
        self.table_used(database, name, None, false)
    }

    fn table_of_view(&self, database: Option<&str>, name: &str) -> Result<Arc<TableSource>> {
        self.table_used(database, name, None, true)
    }

    fn table_as(
        &self,
        database: Option<&str>,
        name: &str,
        alias: &str,
    ) -> Result<Arc<TableSource>> {
        self.table_used(database, name, Some(alias), false)
    }

    fn table_function(&self, call: &TableFunctionCall) -> Result<Arc<TableSource>> {
        // The table may be another one at the next execution.
        self.is_uncacheable.set(true);
        let rights = self.rights(self.current_rights());
        let table = table_functions::call(self.context, call, &rights)?;
        let source = self.table_of_statement(&table)?;
        self.calls.borrow_mut().push(Arc::new(table));
        Ok(source)
    }

    fn view(&self, database: Option<&str>, name: &str) -> Result<Option<Arc<ViewSource>>> {
        let Some(database) = database.or_else(|| self.context.current_database()) else {
            return Ok(None);
        };
        if self.context.temporary_table(database, name).is_some() {
            return Ok(None);
        }
        let Some(view) = self.context.use_view(database, name, self.describes)? else {
            return Ok(None);
        };
        // Tables below it may differ at the next execution.
        self.is_uncacheable.set(true);
        Ok(Some(Arc::clone(&view.source)))
    }

    fn function(&self, database: Option<&str>, name: &str) -> Result<Option<Arc<StoredFunction>>> {
        let below = self.below_views.borrow();
        let of_view = below.last().map(|(_, database)| database.as_str());
        let database = database.or(of_view).or(self.context.current_database());
        let Some(database) = database else {
            return Ok(None);
        };
        let rights = self.rights(below.last().map_or(0, |(rights, _)| *rights));
        rights.require_on_routine(database, name, Privilege::Execute)?;
        let function = self.context.catalog().function(database, name);
        if let Some(function) = &function {
            self.context.note_function(function);
        }
        Ok(function)
    }

    fn statistics(&self, id: TableId) -> Option<Arc<dyn TableStatistics>> {
        let tables = self.tables.borrow();
        let (_, table) = tables.iter().find(|(known, _)| *known == id)?;
        let bases = self.base_tables.borrow();
        let base = bases.iter().find(|known| known.id == id).cloned();
        (base.is_some() || !table.indexes().is_empty()).then(|| {
            Arc::new(StoredStatistics {
                rows: Arc::clone(table),
                table: base,
            }) as _
        })
    }

    fn system_variable(
        &self,
        scope: Option<VariableScope>,
        name: &str,
    ) -> Result<(Value, SqlType)> {
        self.is_uncacheable.set(true);
        self.context.system_variable(scope, name)
    }

    fn parameter_value(&self, index: usize) -> Option<Value> {
        self.values_read.borrow_mut().push(index);
        self.parameters.get(index).cloned()
    }

    fn parameter_meets(&self, index: usize, ty: &SqlType, place: ParameterPlace) {
        self.context.infer_parameter(index, ty, place);
    }

    fn check_table(&self, database: Option<&str>, name: &str, usage: Usage) -> Result<()> {
        if let (Some(database), false) = (database, self.below_views.borrow().is_empty()) {
            self.note_explained(database, name, Privilege::Select);
        }
        let rights = self.rights(self.current_rights());
        if rights.global().has(SELECT) || locked_rows::position_of(name).is_some() {
            return Ok(());
        }
        let database = self.context.database_or_current(database)?;
        let is_own = self.below_views.borrow().is_empty()
            && self.context.temporary_table(database, name).is_some();
        if is_own || rights::is_open(database, name) {
            return Ok(());
        }
        let instead = match usage {
            Usage::ReadOrUpdate | Usage::Update | Usage::ReadOrDelete | Usage::Delete => {
                privilege(usage)
            }
            Usage::Read | Usage::ReadAll | Usage::Insert => PrivilegeSet::NONE,
        };
        if rights.on_any_column(database, name).meets(instead) {
            return Ok(());
        }
        rights.require_on_columns(database, name, SELECT)
    }

    fn checks_columns(&self) -> bool {
        !self.rights(self.current_rights()).global().has(SELECT)
    }

    fn current_rights(&self) -> usize {
        self.below_views
            .borrow()
            .last()
            .map_or(0, |(rights, _)| *rights)
    }

    fn check_column(
        &self,
        rights: usize,
        (database, table): (&str, &str),
        column: &str,
        usage: Usage,
    ) -> Result<()> {
        if rights::is_open(database, table) {
            return Ok(());
        }
        let rights = self.rights(rights);
        let wanted = privilege(usage);
        if usage == Usage::ReadAll {
            let on_column = rights.on_column(database, table, column);
            return ensure(on_column.has(wanted), || {
                rights.denied_table(&wanted.names(), table)
            });
        }
        rights.require_on_column((database, table), column, wanted)
    }

    fn check_change(
        &self,
        rights: usize,
        (database, table): (&str, &str),
        usage: Usage,
    ) -> Result<()> {
        let rights = self.rights(rights);
        rights.require_on_columns(database, table, privilege(usage))
    }

    fn enter_view(&self, view: &ViewSource) -> Result<()> {
        self.note_explained(&view.database, &view.name, Privilege::ShowView);
        let number = match &view.definer {
            Some(definer) => {
                let definer = self.context.privileges().rights_of_definer(definer)?;
                let mut rights = self.rights.borrow_mut();
                rights.push(definer);
                rights.len() - 1
            }
            None => self.current_rights(),
        };
        let database = view.database.clone();
        self.below_views.borrow_mut().push((number, database));
        Ok(())
    }

    fn leave_view(&self) {
        self.below_views.borrow_mut().pop();
    }

    fn warn(&self, warning: Error) {
        self.is_uncacheable.set(true);
        // The first planning has warned.
        if self.secondary_engine.is_none() {
            self.context.warn(warning);
        }
    }

    fn describes(&self) -> bool {
        self.describes
    }

    fn explains(&self) -> bool {
        self.explains
    }

    fn trace(&self) -> Option<&Trace> {
        let traced = self.context.trace.as_ref().filter(|_| !self.is_own)?;
        Some(&traced.trace)
    }

    fn explain(&self, explanation: Explanation) {
        self.context.explanation.replace(Some(explanation));
    }

    fn user_variable_type(&self, name: &str) -> SqlType {
        self.is_uncacheable.set(true);
        match self.context.session.settings.user_variables().get(name) {
            Some((ty, _)) => ty,
            None => SqlType::text(TypeKind::LongText, CollationId::default()),
        }
    }
}

/// The privilege that an access needs.
fn privilege(usage: Usage) -> PrivilegeSet {
    PrivilegeSet::of(&[match usage {
        Usage::Read | Usage::ReadAll => Privilege::Select,
        Usage::ReadOrUpdate | Usage::Update => Privilege::Update,
        Usage::ReadOrDelete | Usage::Delete => Privilege::Delete,
        Usage::Insert => Privilege::Insert,
    }])
}
