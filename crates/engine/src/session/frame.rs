//! Frames: statements inside a statement.
//!
//! A statement of a trigger or of a stored function runs while the statement that invoked it is at work, between two
//! rows that it writes or within an expression of its query. State is in three places:
//!
//! - **The session** has what both share: the connection, the transaction with its locks, temporary tables, user
//!   variables, system variables, memory. The inner statement sees what the outer one has changed so far, and its
//!   changes are committed or undone with those of the outer one.
//! - **A frame** has what each has for itself: the diagnostics area, the numbers of LAST_INSERT_ID(), ROW_COUNT(),
//!   FOUND_ROWS() and `insert_id`, the names of savepoints, and what the program was created with
//!   ([`Environment`]): the current database, `sql_mode`, and the account whose privileges apply. A frame puts its own
//!   into the session, and puts the outer ones back when it is dropped, also by a panic. So all other code finds the
//!   innermost frame's state where it always was, and statements outside of frames pay nothing. Frames are a
//!   stack because each borrows the context of the statement around it.
//! - **A statement** has its [`StatementContext`]. An inner one borrows the session from the frame.
//!
//! A frame needs the session for itself ([`StatementContext::frame`] takes `&mut`; operators have it lent,
//! `session::lending`), so nothing that lives across rows may hold a reference into the session: `RowSink` holds the
//! context exclusively, `RowRules` has handles to what it needs of the statement, and `Writers` and `TableChange` are
//! given the context with each call. The writers of tables hold rows back to write many at once, and are flushed before hooks run (`statements::row_hooks`). A table without
//! hooks is written in batches as if there were no frames.
//!
//! Inner statements run under two rules of MySQL. None ends the transaction (1422): each has a savepoint, to which its
//! own changes are undone if it fails; its error then fails the outer statement, whose savepoint undoes the rest. And
//! none changes a table that a statement around it uses (1442), so that positions of rows, and rows read ahead, stay
//! valid.

use std::sync::Arc;

use mayfly_functions::StoredFunction;
use mayfly_plan::TableId;
use mayfly_types::Result;
use mayfly_types::error::codes;

use super::{Session, SessionDiagnostics, SessionPrivileges, StatementContext};
use crate::catalog::BaseTable;
use crate::catalog::inner_statements::Environment;
use crate::error::refuse;
use crate::transaction::SavepointNames;
use crate::variables::typed;

/// A frame: the session for statements inside a running one.
#[derive(Debug)]
pub(crate) struct Frame<'s> {
    pub(crate) session: &'s mut Session,
    outer: OuterState,
}

/// State of the frame around a frame.
#[derive(Debug)]
struct OuterState {
    diagnostics: SessionDiagnostics,
    savepoints: SavepointNames,
    database: Option<Arc<str>>,
    sql_mode: u64,
    /// The identity of the outer frame, if this one has another.
    privileges: Option<SessionPrivileges>,
    /// Number of tables that statements around the outer one use.
    used_tables: usize,
    /// Number of stored functions around the outer frame.
    functions: usize,
}

impl StatementContext<'_> {
    /// A frame for statements inside this one, which uses the tables of its plan and `written`. 1449 without the
    /// definer's account.
    pub(crate) fn frame(
        &mut self,
        environment: &Environment,
        written: impl Iterator<Item = TableId>,
    ) -> Result<Frame<'_>> {
        self.has_frames = true;
        let planned = self.tables.upgrade();
        let planned = planned.iter().flat_map(|planned| &planned.tables);
        let planned = planned.map(|(id, _)| *id);
        self.session.frame(environment, planned.chain(written))
    }

    /// 1442 for a table that a statement around this one uses, and 1137 for a temporary table.
    pub(crate) fn refuse_used_outside(&self, table: &BaseTable) -> Result<()> {
        refuse(self.session.used_tables.contains(&table.id), || {
            let error = match table.definition.is_temporary() {
                true => &codes::ER_CANT_REOPEN_TABLE,
                false => &codes::ER_CANT_UPDATE_USED_TABLE_IN_SF_OR_TRG,
            };
            error.with(&[&table.definition.name])
        })
    }
}

impl Session {
    /// A frame for statements inside the running one, which uses these tables. 1449 without the definer's account.
    pub(super) fn frame(
        &mut self,
        environment: &Environment,
        used: impl Iterator<Item = TableId>,
    ) -> Result<Frame<'_>> {
        let session = self;
        let definer = match &environment.definer {
            Some(definer) => session.privileges.of_definer(definer)?,
            None => None,
        };
        session.frames += 1;
        let used_tables = session.used_tables.len();
        session.used_tables.extend(used);
        let diagnostics = session.diagnostics.inner(session.settings.options());
        let outer = OuterState {
            diagnostics: std::mem::replace(&mut session.diagnostics, diagnostics),
            savepoints: session.transaction.current.take_savepoints(),
            database: session.settings.current_database.clone(),
            sql_mode: session.settings.variables().get(typed::SQL_MODE),
            privileges: definer.map(|definer| std::mem::replace(&mut session.privileges, definer)),
            used_tables,
            functions: session.functions.len(),
        };
        session
            .settings
            .current_database
            .clone_from(&environment.database);
        let mut frame = Frame { session, outer };
        if let Some(mode) = environment.sql_mode {
            frame.set_sql_mode(mode);
        }
        Ok(frame)
    }
}

impl Frame<'_> {
    /// Begins a statement in the frame. It `keeps` the diagnostics of the frame's statement before it or clears them.
    pub(crate) fn begin(&mut self, keeps: bool) -> StatementContext<'_> {
        let session = &mut *self.session;
        session.diagnostics.begin(keeps, session.settings.options());
        StatementContext::internal(session)
    }

    /// Makes the frame that of a stored function: 1424 if the function is around it already.
    pub(super) fn enter(&mut self, function: &Arc<StoredFunction>) -> Result<()> {
        let is_same = |around: &Arc<StoredFunction>| {
            around.database == function.database && around.name == function.name
        };
        let mut around = self.session.functions.iter();
        refuse(around.any(is_same), || codes::ER_SP_NO_RECURSION.error())?;
        self.session.functions.push(Arc::clone(function));
        Ok(())
    }

    fn set_sql_mode(&mut self, mode: u64) {
        if self.session.settings.variables().get(typed::SQL_MODE) != mode {
            let (position, setting) = typed::SQL_MODE.setting(mode);
            self.session.set_setting(position, setting);
        }
    }
}

impl Drop for Frame<'_> {
    fn drop(&mut self) {
        self.set_sql_mode(self.outer.sql_mode);
        let (session, outer) = (&mut *self.session, &mut self.outer);
        std::mem::swap(&mut session.diagnostics, &mut outer.diagnostics);
        session.diagnostics.end_inner(&mut outer.diagnostics);
        let savepoints = std::mem::take(&mut outer.savepoints);
        session.transaction.current.put_savepoints(savepoints);
        session.settings.current_database = outer.database.take();
        if let Some(privileges) = outer.privileges.take() {
            session.privileges = privileges;
        }
        session.used_tables.truncate(outer.used_tables);
        session.functions.truncate(outer.functions);
        session.frames -= 1;
    }
}
