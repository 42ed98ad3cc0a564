//! Registration of tables with rows outside of the engine, and of stored functions, by an embedding program.

use std::collections::HashSet;
use std::sync::Arc;

use mayfly_types::Result;
use mayfly_types::error::codes;

use crate::catalog::BaseTable;
use crate::catalog::file_output::FileOutput;
use crate::catalog::provider::TableProvider;
use crate::catalog::stored_functions::FunctionDefinition;
use crate::catalog::table_functions::TableFunction;
use crate::database::Database;
use crate::error::refuse;
use crate::files::ObjectStores;
use crate::names::check_name;
use crate::session::StatementContext;

impl Database {
    /// Adds a table of a provider; DROP TABLE removes it. It is not kept in the data directory.
    ///
    /// # Errors
    /// 1049 without the database, 1050 when it has a table or view of that name, 1059 for a name that is too long, 1060
    /// for two columns of one name, 1103 and 1166 for names that are empty, 1113 without columns.
    pub fn register_table(
        self: &Arc<Self>,
        database: &str,
        name: &str,
        provider: &Arc<dyn TableProvider>,
    ) -> Result<()> {
        check_name(name, &codes::ER_WRONG_TABLE_NAME)?;
        let columns = provider.columns();
        refuse(columns.is_empty(), || {
            codes::ER_TABLE_WITHOUT_COLUMNS.error()
        })?;
        let mut known = HashSet::new();
        for column in &columns {
            let column = &column.name;
            check_name(column, &codes::ER_WRONG_COLUMN_NAME)?;
            refuse(!known.insert(column.to_lowercase()), || {
                codes::ER_DUP_FIELDNAME.with(&[column])
            })?;
        }
        let id = self.catalog.next_table_id();
        let mut session = self.session();
        let context = StatementContext::internal(&mut session);
        let table = BaseTable::provided(id, (database, name), provider, context.now());
        self.catalog.add_table(&context, Arc::new(table), false)
    }

    /// Adds a stored function to a database; DROP FUNCTION removes it. It is not kept in the data directory.
    ///
    /// # Errors
    /// 1049 without the database, 1059 for a name that is too long, 1304 when the database has a function of the name.
    pub fn add_function(
        self: &Arc<Self>,
        database: &str,
        function: FunctionDefinition,
    ) -> Result<()> {
        check_name(&function.name, &codes::ER_SP_WRONG_NAME)?;
        let mut session = self.session();
        let context = StatementContext::internal(&mut session);
        let function = function.in_database(database, context.now());
        self.catalog.add_function(&context, function)
    }

    /// Adds a function that gives a table in FROM, in place of one of its name. `FROM 'name'` calls the one called
    /// `read_file`.
    pub fn add_table_function(&self, name: &str, function: Arc<dyn TableFunction>) {
        self.catalog.table_functions.add(name, function);
    }

    /// Sets what writes the files of `COPY … TO` and `INTO OUTFILE … FORMAT`.
    pub fn set_file_output(&self, output: Arc<dyn FileOutput>) {
        *self.catalog.file_output.write() = Some(output);
    }

    /// Sets the stores of the objects that statements name by URLs.
    pub fn set_object_stores(&self, stores: Arc<dyn ObjectStores>) {
        *self.catalog.object_stores.write() = Some(stores);
    }
}
