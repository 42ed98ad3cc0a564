//! The catalog as one session's statement sees it: its temporary tables hide base tables, and
//! system tables are there too. This is the planner's only way to tables and variables.

use std::cell::RefCell;
use std::sync::Arc;

use mayfly_plan::catalog::VariableScope;
use mayfly_plan::{Catalog, TableId, TableSource};
use mayfly_storage::Table;
use mayfly_types::error::codes;
use mayfly_types::{CollationId, Error, Result, SqlType, Value};

use crate::information_schema;
use crate::session::{Session, StatementTables};

/// A session's view of the catalog. It remembers the tables that were asked for, so that the
/// executor reads the very tables that the plan was made for.
pub(crate) struct SessionCatalog<'s> {
    session: &'s Session,
    tables: RefCell<Vec<(TableId, Arc<dyn Table>)>>,
}

impl<'s> SessionCatalog<'s> {
    /// The view of a session.
    pub(crate) fn new(session: &'s Session) -> Self {
        Self {
            session,
            tables: RefCell::default(),
        }
    }

    /// The tables that were asked for.
    pub(crate) fn into_tables(self) -> Arc<StatementTables> {
        Arc::new(StatementTables(self.tables.into_inner()))
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

impl Catalog for SessionCatalog<'_> {
    fn current_database(&self) -> Option<&str> {
        self.session.current_database()
    }

    fn table(&self, database: Option<&str>, name: &str) -> Result<Arc<TableSource>> {
        let Some(database) = database.or_else(|| self.session.current_database()) else {
            return Err(codes::ER_NO_DB_ERROR.error());
        };
        if let Some(table) = self.session.find_table(database, name) {
            self.remember(table.id, || Ok(table.rows_in(self.session)))?;
            return Ok(table.source_in(self.session));
        }
        if let Some(source) = information_schema::table(database, name) {
            let missing = || codes::ER_NO_SUCH_TABLE.with(&[&database, &name]);
            self.remember(source.id, || {
                information_schema::open(self.session, source.id).ok_or_else(missing)
            })?;
            return Ok(source);
        }
        if database.eq_ignore_ascii_case("information_schema") {
            let name = name.to_uppercase();
            return Err(codes::ER_UNKNOWN_TABLE.with(&[&name, &"information_schema"]));
        }
        if self
            .session
            .database
            .catalog
            .database_collation(database)
            .is_none()
        {
            return Err(codes::ER_BAD_DB_ERROR.with(&[&database]));
        }
        Err(codes::ER_NO_SUCH_TABLE.with(&[&database, &name]))
    }

    fn system_variable(
        &self,
        scope: Option<VariableScope>,
        name: &str,
    ) -> Result<(Value, SqlType)> {
        self.session.system_variable(scope, name)
    }

    fn warn(&self, warning: Error) {
        self.session.diagnostics().warn(warning);
    }

    fn user_variable_type(&self, name: &str) -> SqlType {
        match self.session.user_variables().get(name) {
            Some((ty, _)) => ty,
            None => SqlType::text(mayfly_types::TypeKind::LongText, CollationId::default()),
        }
    }
}
