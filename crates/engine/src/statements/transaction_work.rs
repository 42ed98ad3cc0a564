//! Transaction state of a statement, for clients that track it: `session_track_transaction_info` (the manual, "Server
//! Tracking of Client Session State").
//!
//! The state is read from the statement's tree, before the statement runs and only for such clients, so that no other
//! statement pays for it. A view counts as the tables below it.

use mayfly_functions::scalar::{self, Fact};
use mayfly_syntax::ast::{
    ExplainTarget, Expr, Flow, InsertSource, Query, ShowKind, Statement, TableName, TableVerb,
    Visit, Visitor,
};
use mayfly_syntax::encodings::{Variable, variable};

use super::properties::properties;
use super::table_references::{self, Access, TableReference};
use crate::session::{Session, TransactionWork as Work};
use crate::variables;

/// Adds the work of a statement that is about to run to its transaction's, for a client that tracks it.
pub(crate) fn note(session: &mut Session, statement: &Statement) {
    if session.tracks_transaction() {
        let work = work_of(session, statement);
        session.note_work(work, properties(statement).ends_transaction());
    }
}

/// The work of a statement.
fn work_of(session: &Session, statement: &Statement) -> Work {
    let mut gathered = Gathered {
        session,
        work: Work::default(),
        views: Vec::new(),
    };
    gathered.statement(statement);
    let _ = table_references::visit(statement, &mut gathered);
    for reference in table_references::of_statement(session, statement) {
        gathered.table(&reference);
    }
    gathered.work
}

struct Gathered<'s> {
    session: &'s Session,
    work: Work,
    /// The views being expanded, to enter none twice.
    views: Vec<(String, String)>,
}

impl Gathered<'_> {
    /// Adds what the kind of the statement implies.
    fn statement(&mut self, statement: &Statement) {
        let work = &mut self.work;
        match statement {
            Statement::Query(_) => work.add_if(true, Work::SENT_ROWS),
            Statement::Insert(insert) => {
                // Which row stays depends on the order of the rows.
                let selects = matches!(insert.source, InsertSource::Query(_));
                work.add_if(selects && (insert.ignore || insert.replace), Work::UNSAFE);
                work.add_if(!insert.returning.is_empty(), Work::SENT_ROWS);
            }
            Statement::Update(update) => {
                work.add_if(update.ignore || update.limit.is_some(), Work::UNSAFE);
            }
            Statement::Delete(delete) => {
                work.add_if(delete.limit.is_some(), Work::UNSAFE);
                work.add_if(!delete.returning.is_empty(), Work::SENT_ROWS);
            }
            Statement::Show(show) => {
                // SHOW reads either the data dictionary, which is transactional, or counters, which are not.
                let reads_counters = matches!(
                    show.kind,
                    ShowKind::Variables { .. } | ShowKind::Status { .. }
                );
                let reads_dictionary = matches!(
                    show.kind,
                    ShowKind::Databases
                        | ShowKind::Tables { .. }
                        | ShowKind::TableStatus { .. }
                        | ShowKind::Columns { .. }
                        | ShowKind::Index { .. }
                        | ShowKind::Collation
                        | ShowKind::CharacterSet
                );
                work.add_if(true, Work::SENT_ROWS);
                work.add_if(reads_counters, Work::READ_WITHOUT);
                work.add_if(reads_dictionary, Work::READ);
            }
            Statement::Describe(_) => {
                work.add_if(true, Work::READ);
                work.add_if(true, Work::SENT_ROWS);
            }
            Statement::Explain(explain) => {
                if let ExplainTarget::Statement { statement, .. } = &explain.target {
                    self.statement(statement);
                }
                self.work.remove(Work::SENT_ROWS);
                self.work.add_if(explain.into.is_none(), Work::SENT_ROWS);
            }
            Statement::TableMaintenance(maintenance) => {
                work.add_if(maintenance.verb == TableVerb::Checksum, Work::SENT_ROWS);
            }
            Statement::StartTransaction(start) => {
                work.add_if(start.consistent_snapshot, Work::READ);
            }
            _ => {}
        }
    }

    fn table(&mut self, reference: &TableReference) {
        let session = self.session;
        let TableName { database, name } = &reference.table;
        let Some(database) = database.as_deref().or(session.current_database()) else {
            return;
        };
        if let Some(has_transactions) = system_table(database, name) {
            return self.note(has_transactions, reference.access);
        }
        if let Some(found) = session.find_table(database, name) {
            let has_transactions = found.definition.engine.has_transactions();
            return self.note(Some(has_transactions), reference.access);
        }
        let Some(view) = session.database.catalog.view(database, name) else {
            return;
        };
        let view_name = (database.to_owned(), name.clone());
        if !self.views.contains(&view_name) {
            self.views.push(view_name);
            let query = &view.source.query;
            let _ = query.body.visit(self);
            for reference in table_references::below_view(query, reference.access) {
                self.table(&reference);
            }
            self.views.pop();
        }
    }

    /// Records an access; `has_transactions` is `None` for a table without storage.
    fn note(&mut self, has_transactions: Option<bool>, access: Access) {
        let work = match (access, has_transactions) {
            (Access::Read, Some(true)) => Work::READ,
            (Access::Read, Some(false)) => Work::READ_WITHOUT,
            (Access::Write, Some(true)) => Work::WRITTEN,
            (Access::Write, Some(false)) => Work::WRITTEN_WITHOUT,
            (Access::Define, _) | (_, None) => return,
        };
        self.work.add_if(true, work);
    }
}

/// Whether a system table is transactional, if it is stored at all: most tables of information_schema are views of
/// the data dictionary.
fn system_table(database: &str, name: &str) -> Option<Option<bool>> {
    let is_in = |schema: &str| database.eq_ignore_ascii_case(schema);
    if is_in("information_schema") {
        const MADE: &[&str] = &[
            "engines",
            "optimizer_trace",
            "plugins",
            "processlist",
            "profiling",
        ];
        let is_made = MADE.iter().any(|made| name.eq_ignore_ascii_case(made));
        return Some((!is_made).then_some(true));
    }
    let is_stored = is_in("mysql") || is_in("performance_schema");
    is_stored.then(|| Some(is_in("mysql")))
}

impl Visitor for Gathered<'_> {
    fn pre_visit_query(&mut self, query: &Query) -> Flow {
        let waits_not = query.locks.iter().any(|it| it.nonblock.is_some());
        let is_cut = query.limit_clause.is_some();
        self.work.add_if(waits_not || is_cut, Work::UNSAFE);
        Flow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> Flow {
        let is_unsafe = match expr {
            Expr::Function(function) => match function.name.0.as_slice() {
                [name] => scalar::by_name(&name.value)
                    .is_some_and(|function| function.has(Fact::UnsafeInLogs)),
                _ => false,
            },
            expr => match variable(expr) {
                Some(Variable::System { name, .. }) => {
                    let position = variables::position(name);
                    !position.is_some_and(|position| variables::all()[position].logged)
                }
                _ => false,
            },
        };
        self.work.add_if(is_unsafe, Work::UNSAFE);
        Flow::Continue(())
    }
}
