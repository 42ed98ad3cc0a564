//! Opening a database.

use std::sync::Arc;

use mayfly_types::Result;

use crate::database::Database;
use crate::ddl;
use crate::options::DatabaseOptions;

impl Database {
    /// Opens an engine on its data directory, or with no data.
    pub fn open(options: DatabaseOptions) -> Result<Arc<Self>> {
        let database = Self::new(options)?;
        if database.options.datadir.is_some() {
            ddl::load::load(&database)?;
        }
        // Log files are in the data directory, which may be new.
        database.logs.start(&database.globals());
        Ok(database)
    }
}
