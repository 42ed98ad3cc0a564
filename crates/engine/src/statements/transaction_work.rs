//! What a statement does in its transaction, for clients that want to be told of it:
//! `session_track_transaction_info` (the manual, "Server Tracking of Client Session State").
//!
//! It is read off the statement, before it runs and only for those clients, so that no other
//! statement pays for it. A view counts as what is below it.

use std::ops::ControlFlow;
use std::sync::Arc;

use mayfly_syntax::ast::{
    Delete, Explain, ExplainTarget, Expr, InsertSource, InsertStatement, LockMode, LockType,
    ObjectName, ObjectNamePart, Query, SetExpr, SetItem, SetValue, Show, ShowKind, Statement,
    TableFactor, TableName, TableVerb, TableWithJoins, UpdateStatement, Visit, Visitor, With,
};
use mayfly_syntax::encodings::{Variable, variable};

use super::properties::properties;
use crate::catalog::{BaseTable, engines};
use crate::names::same_name;
use crate::session::{Session, TransactionWork};

/// A statement is about to run: what it does in the transaction is noted for a client that is told of it.
pub(crate) fn note(session: &mut Session, statement: &Statement) {
    if session.tracks_transaction() {
        let work = work_of(session, statement);
        session.note_work(work, properties(statement).ends_transaction());
    }
}

/// What a statement does.
fn work_of(session: &Session, statement: &Statement) -> TransactionWork {
    let mut walk = Walk {
        session,
        work: TransactionWork::default(),
        locked: Vec::new(),
        common_tables: Vec::new(),
        views: Vec::new(),
    };
    walk.statement(statement);
    walk.work
}

/// Functions with which a statement does something else when its text is run again (the manual,
/// "Determination of Safe and Unsafe Statements in Binary Logging").
const UNSAFE_FUNCTIONS: [&str; 22] = [
    "CURRENT_USER",
    "FOUND_ROWS",
    "GET_LOCK",
    "ICU_VERSION",
    "IS_FREE_LOCK",
    "IS_USED_LOCK",
    "LOAD_FILE",
    "MASTER_POS_WAIT",
    "RAND",
    "RANDOM_BYTES",
    "RELEASE_ALL_LOCKS",
    "RELEASE_LOCK",
    "ROW_COUNT",
    "SESSION_USER",
    "SLEEP",
    "SOURCE_POS_WAIT",
    "SYSDATE",
    "SYSTEM_USER",
    "USER",
    "UUID",
    "UUID_SHORT",
    "VERSION",
];

/// Variables whose values go along with a statement (the manual, "Replication and Variables").
const SAFE_VARIABLES: [&str; 20] = [
    "auto_increment_increment",
    "auto_increment_offset",
    "character_set_client",
    "character_set_connection",
    "character_set_database",
    "character_set_server",
    "collation_connection",
    "collation_database",
    "collation_server",
    "foreign_key_checks",
    "identity",
    "last_insert_id",
    "lc_time_names",
    "pseudo_thread_id",
    "rand_seed1",
    "rand_seed2",
    "sql_auto_is_null",
    "time_zone",
    "timestamp",
    "unique_checks",
];

/// What is done with a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Read,
    Write,
}

/// Which of its tables a query locks to change them.
#[derive(Debug)]
enum Locked {
    Nothing,
    All,
    /// FOR UPDATE OF these.
    Only(Vec<String>),
}

impl Locked {
    fn of(query: &Query) -> Self {
        let mut names = Vec::new();
        for lock in &query.locks {
            match (&lock.lock_type, &lock.of) {
                (LockType::Update, None) => return Self::All,
                (LockType::Update, Some(name)) => names.extend(last_name(name)),
                (LockType::Share, _) => {}
            }
        }
        match names.is_empty() {
            true => Self::Nothing,
            false => Self::Only(names),
        }
    }

    fn use_of(&self, alias: &str) -> Use {
        let is_locked = match self {
            Self::Nothing => false,
            Self::All => true,
            Self::Only(names) => names.iter().any(|name| same_name(name, alias)),
        };
        if is_locked { Use::Write } else { Use::Read }
    }
}

fn last_name(name: &ObjectName) -> Option<String> {
    Some(name.0.last()?.as_ident()?.value.clone())
}

struct Walk<'s> {
    session: &'s Session,
    work: TransactionWork,
    /// Which tables of the queries that are open are locked to be changed, the innermost last.
    locked: Vec<Locked>,
    /// The names of common table expressions that were met.
    common_tables: Vec<String>,
    /// The views that are open, so that none is gone into twice.
    views: Vec<(String, String)>,
}

impl Walk<'_> {
    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Query(query) => {
                self.walk(query);
                self.work.sent_rows = true;
            }
            Statement::SelectInto(into) => self.walk(&into.query),
            Statement::Insert(insert) => self.insert(insert),
            Statement::Update(update) => self.update(update),
            Statement::Delete(delete) => self.delete(delete),
            Statement::LoadData(load) => {
                self.table(&load.table, Use::Write);
                for assignment in &load.assignments {
                    self.walk(&assignment.value);
                }
            }
            Statement::LockTables(tables) => {
                for lock in tables {
                    let is_written = lock.mode == LockMode::Write;
                    self.table(&lock.table, if is_written { Use::Write } else { Use::Read });
                }
            }
            Statement::Set(items) => self.set(items),
            Statement::Do(expressions) => {
                for expression in expressions {
                    self.walk(expression);
                }
            }
            Statement::Show(show) => self.show(show),
            Statement::Describe(_) => {
                self.work.read = true;
                self.work.sent_rows = true;
            }
            Statement::Explain(explain) => self.explain(explain),
            Statement::TableMaintenance(maintenance) if maintenance.verb == TableVerb::Checksum => {
                for table in &maintenance.tables {
                    self.table(table, Use::Read);
                }
                self.work.sent_rows = true;
            }
            Statement::StartTransaction(start) => self.work.read |= start.consistent_snapshot,
            _ => {}
        }
    }

    fn walk(&mut self, node: &impl Visit) {
        let ControlFlow::Continue(()) = node.visit(self);
    }

    fn explain(&mut self, explain: &Explain) {
        if let ExplainTarget::Statement { statement, .. } = &explain.target {
            self.statement(statement);
        }
        self.work.sent_rows = explain.into.is_none();
    }

    fn insert(&mut self, insert: &InsertStatement) {
        self.table(&insert.table, Use::Write);
        match &insert.source {
            InsertSource::Values(rows) => self.walk(rows),
            InsertSource::Query(query) => {
                // Which row stays depends on the order in which they come.
                self.work.is_unsafe |= insert.ignore || insert.replace;
                self.walk(query);
            }
        }
        for assignment in &insert.on_duplicate_key_update {
            self.walk(&assignment.value);
        }
        self.work.sent_rows |= !insert.returning.is_empty();
    }

    fn update(&mut self, update: &UpdateStatement) {
        let session = self.session;
        let assigned = |table: &TableName, alias: &str| {
            let mut columns = update.assignments.iter().map(|it| &it.column);
            columns.any(|column| match column.as_slice() {
                [.., qualifier, _] => same_name(&qualifier.value, alias),
                [column] => has_column(session, table, &column.value),
                [] => false,
            })
        };
        let is_one = is_one_table(&update.tables);
        self.with(&update.with);
        self.tables(&update.tables, |table, alias| {
            is_one || assigned(table, alias)
        });
        self.work.is_unsafe |= update.ignore || update.limit.is_some();
        for assignment in &update.assignments {
            self.walk(&assignment.value);
        }
        self.walk(&update.selection);
        self.walk(&update.order_by);
    }

    fn delete(&mut self, delete: &Delete) {
        let is_one = delete.targets.is_empty();
        let named = |alias: &str| {
            let mut targets = delete.targets.iter();
            targets.any(|target| same_name(&target.name, alias))
        };
        self.with(&delete.with);
        self.tables(&delete.from, |_, alias| is_one || named(alias));
        self.work.is_unsafe |= delete.limit.is_some();
        self.work.sent_rows |= !delete.returning.is_empty();
        self.walk(&delete.selection);
        self.walk(&delete.order_by);
    }

    fn with(&mut self, with: &Option<With>) {
        for cte in with.iter().flat_map(|with| &with.cte_tables) {
            self.common_tables.push(cte.alias.name.value.clone());
            self.walk(&cte.query);
        }
    }

    /// The tables of an UPDATE or DELETE; those that `is_target`, which gets their aliases too, says
    /// are changed.
    fn tables(&mut self, tables: &[TableWithJoins], is_target: impl Fn(&TableName, &str) -> bool) {
        for from in tables {
            let joined = from.joins.iter().map(|join| &join.relation);
            for factor in std::iter::once(&from.relation).chain(joined) {
                match table_and_alias(factor) {
                    Some((table, alias)) if is_target(&table, alias) => {
                        self.table(&table, Use::Write);
                    }
                    _ => self.walk(factor),
                }
            }
            for join in &from.joins {
                self.walk(&join.join_operator);
            }
        }
    }

    fn set(&mut self, items: &[SetItem]) {
        for item in items {
            if let SetItem::Assign { value, .. } = item
                && let SetValue::Expr(value) = value
            {
                self.walk(value);
            }
        }
    }

    /// SHOW reads the data dictionary, which has transactions, or counters, which have none.
    fn show(&mut self, show: &Show) {
        match show.kind {
            ShowKind::Variables { .. } | ShowKind::Status { .. } => self.work.read_without = true,
            ShowKind::Databases
            | ShowKind::Tables { .. }
            | ShowKind::TableStatus { .. }
            | ShowKind::Columns { .. }
            | ShowKind::Index { .. }
            | ShowKind::Collation
            | ShowKind::CharacterSet => self.work.read = true,
            _ => {}
        }
        self.work.sent_rows = true;
    }

    fn table(&mut self, table: &TableName, usage: Use) {
        let session = self.session;
        let database = table.database.as_deref().or(session.current_database());
        let Some(database) = database else {
            return;
        };
        if let Some(has_transactions) = system_table(database, &table.name) {
            return self.note(has_transactions, usage);
        }
        if let Some(found) = base_table(session, table) {
            let has_transactions = engines::has_transactions(&found.definition.engine);
            return self.note(Some(has_transactions), usage);
        }
        let Some(view) = session.database.catalog.view(database, &table.name) else {
            return;
        };
        let name = (database.to_owned(), table.name.clone());
        if !self.views.contains(&name) {
            self.views.push(name);
            let source = Arc::clone(&view.source);
            self.query_used(&source.query, usage);
            self.views.pop();
        }
    }

    /// A query all of whose own tables are used alike.
    fn query_used(&mut self, query: &Query, usage: Use) {
        let outer = std::mem::take(&mut self.common_tables);
        self.locked.push(match usage {
            Use::Read => Locked::Nothing,
            Use::Write => Locked::All,
        });
        self.table_statements(&query.body);
        self.walk(&query.body);
        self.locked.pop();
        self.common_tables = outer;
    }

    /// The tables of `TABLE t` in a query, which are none of a FROM.
    fn table_statements(&mut self, body: &SetExpr) {
        match body {
            SetExpr::Table(table) => {
                if let Some(name) = &table.table_name {
                    let table = TableName {
                        database: table.schema_name.clone(),
                        name: name.clone(),
                    };
                    self.table(&table, Use::Read);
                }
            }
            SetExpr::SetOperation { left, right, .. } => {
                self.table_statements(left);
                self.table_statements(right);
            }
            _ => {}
        }
    }

    /// `None`: a table that nothing is stored in.
    fn note(&mut self, has_transactions: Option<bool>, usage: Use) {
        let work = &mut self.work;
        match (usage, has_transactions) {
            (Use::Read, Some(true)) => work.read = true,
            (Use::Read, Some(false)) => work.read_without = true,
            (Use::Write, Some(true)) => work.written = true,
            (Use::Write, Some(false)) => work.written_without = true,
            (_, None) => {}
        }
    }
}

/// The table of a name, if it is no view.
fn base_table(session: &Session, table: &TableName) -> Option<Arc<BaseTable>> {
    let database = table.database.as_deref().or(session.current_database())?;
    let own = session.temporary_tables.get(database, &table.name);
    own.or_else(|| session.database.catalog.table(database, &table.name))
}

fn has_column(session: &Session, table: &TableName, name: &str) -> bool {
    base_table(session, table).is_some_and(|table| {
        let mut columns = table.definition.columns.iter();
        columns.any(|column| same_name(&column.name, name))
    })
}

/// A table of FROM and what it is called there.
fn table_and_alias(factor: &TableFactor) -> Option<(TableName, &str)> {
    let TableFactor::Table { name, alias, .. } = factor else {
        return None;
    };
    let table = TableName::from_object_name(name)?;
    let alias = alias.as_ref().map(|alias| &alias.name);
    let alias = alias.or_else(|| name.0.last()?.as_ident())?;
    Some((table, &alias.value))
}

fn is_one_table(tables: &[TableWithJoins]) -> bool {
    matches!(tables, [only] if only.joins.is_empty())
}

/// For a table of the system, whether it has transactions, if it is stored at all: most of
/// information_schema are views of the data dictionary.
fn system_table(database: &str, name: &str) -> Option<Option<bool>> {
    let is_in = |schema: &str| database.eq_ignore_ascii_case(schema);
    if is_in("information_schema") {
        let is_made = [
            "engines",
            "optimizer_trace",
            "plugins",
            "processlist",
            "profiling",
        ];
        let is_made = is_made.iter().any(|made| name.eq_ignore_ascii_case(made));
        return Some((!is_made).then_some(true));
    }
    let is_stored = is_in("mysql") || is_in("performance_schema");
    is_stored.then(|| Some(is_in("mysql")))
}

impl Visitor for Walk<'_> {
    type Break = std::convert::Infallible;

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<Self::Break> {
        for cte in query.with.iter().flat_map(|with| &with.cte_tables) {
            self.common_tables.push(cte.alias.name.value.clone());
        }
        let waits_not = query.locks.iter().any(|it| it.nonblock.is_some());
        let is_cut = query.limit_clause.is_some() || query.fetch.is_some();
        self.work.is_unsafe |= waits_not || is_cut;
        self.locked.push(Locked::of(query));
        self.table_statements(&query.body);
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<Self::Break> {
        self.locked.pop();
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<Self::Break> {
        if let Some((table, alias)) = table_and_alias(factor) {
            let is_common = |name: &String| same_name(name, &table.name);
            if table.database.is_some() || !self.common_tables.iter().any(is_common) {
                let locked = self.locked.last();
                let usage = locked.map_or(Use::Read, |locked| locked.use_of(alias));
                self.table(&table, usage);
            }
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<Self::Break> {
        let named =
            |names: &[&str], name: &str| names.iter().any(|known| known.eq_ignore_ascii_case(name));
        self.work.is_unsafe |= match expr {
            Expr::Function(function) => match function.name.0.as_slice() {
                [ObjectNamePart::Identifier(name)] => named(&UNSAFE_FUNCTIONS, &name.value),
                _ => false,
            },
            expr => match variable(expr) {
                Some(Variable::System { name, .. }) => !named(&SAFE_VARIABLES, name),
                _ => false,
            },
        };
        ControlFlow::Continue(())
    }
}
