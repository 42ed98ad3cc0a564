//! Tables without a primary key: refused under `sql_require_primary_key`, and given a generated one under
//! `sql_generate_invisible_primary_key`. A unique key over NOT NULL columns serves as well.

use mayfly_syntax::ast::{CreateTable, Statement};
use mayfly_types::error::codes;
use mayfly_types::{CollationId, Result};

use crate::catalog::definition::{ColumnDefinition, TableDefinition};
use crate::ddl::{create, secondary};
use crate::engines::Engine;
use crate::error::{parse_own, refuse};
use crate::session::StatementContext;
use crate::variables::typed;

/// The column of a generated key, with MySQL's name.
const COLUMN: &str = "my_row_id";

/// The definition of a new table; see [`create::definition`].
pub(crate) fn definition_with_key(
    context: &StatementContext<'_>,
    database: &str,
    collation: CollationId,
    statement: &CreateTable,
    extra_columns: Vec<ColumnDefinition>,
) -> Result<TableDefinition> {
    let define = |statement: &CreateTable, extra| {
        create::definition(context, database, collation, statement, extra)
    };
    let definition = define(statement, extra_columns.clone())?;
    secondary::check_new(&definition, &statement.options)?;
    if !generates(context) || !takes_generated(&definition) {
        require(context, &definition)?;
        return Ok(definition);
    }
    if definition.column_position(COLUMN).is_some() {
        return Err(codes::ER_GIPK_FAILED_COLUMN_EXISTS.error());
    }
    if definition.auto_increment_column().is_some() {
        return Err(codes::ER_GIPK_FAILED_AUTOINC_COLUMN_EXISTS.error());
    }
    let text = format!(
        "CREATE TABLE t ({COLUMN} BIGINT UNSIGNED NOT NULL AUTO_INCREMENT INVISIBLE PRIMARY KEY)"
    );
    let mut with_key = statement.clone();
    if let Statement::CreateTable(key) = parse_own(&text)? {
        let elements = std::mem::take(&mut with_key.elements);
        with_key.elements = key.elements.into_iter().chain(elements).collect();
    }
    define(&with_key, extra_columns)
}

fn generates(context: &StatementContext<'_>) -> bool {
    let variable = typed::SQL_GENERATE_INVISIBLE_PRIMARY_KEY;
    context.settings().get(variable)
}

/// Whether a table gets a generated key.
fn takes_generated(definition: &TableDefinition) -> bool {
    definition.engine == Engine::InnoDb && definition.identifying_columns().is_empty()
}

/// 3750 for a table without a primary key where one is required.
pub(crate) fn require(context: &StatementContext<'_>, definition: &TableDefinition) -> Result<()> {
    let required = context.settings().get(typed::SQL_REQUIRE_PRIMARY_KEY);
    let is_missing = required && definition.identifying_columns().is_empty();
    refuse(is_missing, || codes::ER_TABLE_WITHOUT_PK.error())
}

/// 3750 for an altered table without a primary key where there must be one; 1235 where it would lose its generated
/// one.
pub(crate) fn require_of_altered(
    context: &StatementContext<'_>,
    before: &TableDefinition,
    after: &TableDefinition,
) -> Result<()> {
    require(context, after)?;
    let had_key = !before.identifying_columns().is_empty();
    if generates(context) && takes_generated(after) && had_key {
        let what = "an operation that leaves the table without a PRIMARY KEY or a UNIQUE NOT NULL \
                    key while @@sql_generate_invisible_primary_key=ON.";
        return Err(codes::ER_NOT_SUPPORTED_YET.with(&[&what]));
    }
    Ok(())
}
