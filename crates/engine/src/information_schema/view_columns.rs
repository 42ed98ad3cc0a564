//! The columns of views, found by planning their queries over the tables as they are defined now.

use std::sync::Arc;

use mayfly_plan::catalog::VariableScope;
use mayfly_plan::physical::OutputColumn;
use mayfly_plan::{
    Catalog, Constants, Expression, TableId, TableSource, TableStatistics, ViewSource,
};
use mayfly_types::error::codes;
use mayfly_types::{CollationId, Error, Result, SqlType, TypeKind, Value};

use super::context::RelationContext;
use crate::catalog::view::ViewDefinition;
use crate::session::constant_value;

/// The current columns of a view, independent of the session's privileges; `None` when the view is invalid.
pub(super) fn view_columns(
    context: &RelationContext,
    view: &ViewDefinition,
) -> Option<Vec<OutputColumn>> {
    let definitions = Definitions(context);
    let options = &context.options().plan;
    let plan = mayfly_plan::bind_query(&view.source.query, &definitions, options);
    plan.ok().map(|plan| plan.columns)
}

/// Error 1356 of a view whose query cannot be bound; the views of `sys` always can.
pub(super) fn invalid_view(context: &RelationContext, view: &ViewDefinition) -> Option<Error> {
    let is_valid = view.database() == "sys" || view_columns(context, view).is_some();
    (!is_valid).then(|| codes::ER_VIEW_INVALID.with(&[&view.database(), &view.name()]))
}

/// The definitions of tables and views, without locks and privileges.
struct Definitions<'c>(&'c RelationContext);

impl Constants for Definitions<'_> {
    fn constant(&self, expression: &Expression) -> Option<Value> {
        constant_value(expression, &self.0.execution)
    }
}

impl Catalog for Definitions<'_> {
    fn current_database(&self) -> Option<&str> {
        None
    }

    fn table(&self, database: Option<&str>, name: &str) -> Result<Arc<TableSource>> {
        let database = database.ok_or_else(|| codes::ER_NO_DB_ERROR.error())?;
        if let Some(table) = self.0.catalog().table(database, name) {
            return Ok(table.shape());
        }
        let mut relations = self.0.relations.iter();
        let relation = relations.find(|source| {
            source.database.eq_ignore_ascii_case(database) && source.name.eq_ignore_ascii_case(name)
        });
        let missing = || self.0.catalog().missing_table(database, name);
        relation.cloned().ok_or_else(missing)
    }

    fn view(&self, database: Option<&str>, name: &str) -> Result<Option<Arc<ViewSource>>> {
        let view = database.and_then(|database| self.0.catalog().view(database, name));
        Ok(view.map(|view| Arc::clone(&view.source)))
    }

    fn statistics(&self, _id: TableId) -> Option<Arc<dyn TableStatistics>> {
        None
    }

    // Views read no variables.

    fn system_variable(
        &self,
        _scope: Option<VariableScope>,
        _name: &str,
    ) -> Result<(Value, SqlType)> {
        Err(codes::ER_VIEW_SELECT_VARIABLE.error())
    }

    fn user_variable_type(&self, _name: &str) -> SqlType {
        SqlType::text(TypeKind::LongText, CollationId::default())
    }

    fn warn(&self, _warning: Error) {}

    fn describes(&self) -> bool {
        true
    }
}
