//! The planner's catalog of the schema: names and types for the binder, without execution.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use mayfly_plan::catalog::VariableScope;
use mayfly_plan::{Catalog, ColumnSource, TableId, TableSource, TableStatistics, ViewSource};
use mayfly_types::error::codes;
use mayfly_types::{CollationId, Error, Result, SqlType, Value};

use super::Schema;

/// Catalog of a schema with a default database.
#[derive(Debug)]
pub(crate) struct SchemaCatalog<'s> {
    schema: &'s Schema,
    database: Option<&'s str>,
    made: RefCell<HashMap<(String, String), Arc<TableSource>>>,
}

impl<'s> SchemaCatalog<'s> {
    /// The catalog of a schema with a default database.
    pub(crate) fn new(schema: &'s Schema, database: Option<&'s str>) -> Self {
        Self {
            schema,
            database,
            made: RefCell::default(),
        }
    }
}

impl Catalog for SchemaCatalog<'_> {
    fn current_database(&self) -> Option<&str> {
        self.database
    }

    fn table(&self, database: Option<&str>, name: &str) -> Result<Arc<TableSource>> {
        let database = database.or(self.database).unwrap_or_default();
        let Some(table) = self.schema.table(database, name) else {
            return Err(codes::ER_NO_SUCH_TABLE.with(&[&database, &name]));
        };
        let mut made = self.made.borrow_mut();
        let id = TableId(made.len() as u64 + 1);
        let key = (table.database.to_lowercase(), table.name.to_lowercase());
        let source = made.entry(key).or_insert_with(|| {
            let columns = table.columns.iter();
            let columns = columns
                .map(|column| ColumnSource::new(&column.name, column.ty.clone(), column.nullable));
            Arc::new(TableSource::new(
                id,
                &table.database,
                &table.name,
                columns.collect(),
                table.rows.unwrap_or(1000),
            ))
        });
        Ok(Arc::clone(source))
    }

    fn statistics(&self, _id: TableId) -> Option<Arc<dyn TableStatistics>> {
        None
    }

    fn view(&self, database: Option<&str>, name: &str) -> Result<Option<Arc<ViewSource>>> {
        let database = database.or(self.database).unwrap_or_default();
        let view = self.schema.view(database, name);
        Ok(view.map(|view| Arc::clone(&view.source)))
    }

    fn system_variable(
        &self,
        _scope: Option<VariableScope>,
        _name: &str,
    ) -> Result<(Value, SqlType)> {
        Ok((Value::Null, SqlType::varchar(100, CollationId::default())))
    }

    fn user_variable_type(&self, _name: &str) -> SqlType {
        SqlType::varchar(100, CollationId::default())
    }

    fn warn(&self, _warning: Error) {}
}
