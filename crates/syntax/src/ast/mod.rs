//! The statements of MySQL 8.4 as typed data, one module a statement family.
//!
//! Expressions ([`Expr`]) and queries ([`Query`]) are among them; [`crate::encodings`] lists the forms that are parsed
//! into others of the same meaning. [`walk`] visits the nodes.
//!
//! Architecture invariant: nothing here knows a catalog, a value or a session.

pub mod account;
pub mod alter;
pub mod create_table;
pub mod data_type;
pub mod database;
mod display;
pub mod dml;
pub mod handler;
pub mod load;
pub mod maintenance;
mod name;
pub mod partitioning;
pub mod prepared;
pub mod query;
pub mod set;
pub mod show;
pub mod stored_program;
pub mod table_option;
pub mod transaction;
pub mod view;
pub mod walk;

pub use self::account::{
    AccountDefinition, AccountLimit, AccountOptions, AccountReference, AccountStatement, AlterUser,
    CreateUser, Grant, GrantLevel, Identification, IdentifiedBy, ListedPrivilege, NewPassword,
    PasswordExpire, Privilege, PrivilegeName, Privileges, Require, Revoke, RoleChoice,
};
pub use self::alter::{AlterAction, AlterTable, ColumnPosition, SecondaryAction};
pub use self::create_table::{
    CacheClause, CheckDefinition, ColumnAttribute, ColumnDefinition, CreateSelect, CreateTable,
    ForeignKey, GeneratedStorage, KeyDefinition, KeyKind, KeyPart, KeyPartTarget, OnCommit,
    OnDuplicateRow, Period, PeriodUnit, References, TableElement, TableKind, TimeToLive,
};
pub use self::data_type::{CastType, CastTypeKind, ColumnType, TypeKind};
pub use self::database::{
    AlterDatabase, CreateDatabase, CreateIndex, DatabaseOption, DropDatabase, DropIndex, DropTable,
    RenameTable,
};
pub use self::dml::{
    Delete, DmlPriority, InsertSource, InsertStatement, RowAlias, SetAssignment, UpdateStatement,
};
pub use self::handler::{HandlerAction, HandlerRead, HandlerStatement};
pub use self::load::{
    DataFile, FieldsOptions, FileOption, IntoTarget, LinesOptions, LoadConcurrency, LoadData,
    LoadDuplicate, LoadTarget,
};
pub use self::maintenance::{
    Flush, FlushTarget, HistogramChange, HistogramUpdate, LockMode, TableLock, TableMaintenance,
    TableVerb,
};
pub use self::name::{Ident, ObjectName};
pub use self::partitioning::{
    PartitionDefinition, PartitionFunction, PartitionKind, PartitionValues, PartitionedBy,
    Partitioning,
};
pub use self::prepared::{Execute, Executed, Prepare, PrepareSource};
pub use self::query::expression::{
    BinaryOperator, CaseWhen, Expr, Function, FunctionArg, FunctionArgumentList, FunctionArguments,
    Interval, IntervalUnit, NullTreatment, TemporalLiteral, TrimWhereField, TypedString,
    UnaryOperator, Value,
};
pub use self::query::{
    Cte, GroupBy, Join, JoinConstraint, JoinOperator, JsonTableColumn,
    JsonTableColumnErrorHandling, JsonTableNamedColumn, LimitClause, LockClause, LockType,
    NamedWindowDefinition, NonBlock, OrderByExpr, OrderBySort, Query, Select, SelectItem,
    SelectModifiers, SetExpr, SetOperator, SetQuantifier, TableAlias, TableFactor,
    TableFunctionArgument, TableFunctionCall, TableIndexHintForClause, TableIndexHintType,
    TableIndexHints, TableWithJoins, WindowFrame, WindowFrameBound, WindowFrameUnits, WindowSpec,
    WindowType, With,
};
pub use self::set::{SetItem, SetTarget, SetValue, VariableScope};
pub use self::show::{
    Describe, Described, Explain, ExplainFormat, ExplainKind, ExplainTarget, Show, ShowCreate,
    ShowFilter, ShowKind,
};
pub use self::stored_program::{DropStoredProgram, StoredProgramKind};
pub use self::table_option::TableOption;
pub use self::transaction::{
    AccessMode, Completion, IsolationLevel, SetTransaction, StartTransaction,
};
pub use self::view::{CreateView, DropView, ViewAlgorithm};
pub use self::walk::{
    Flow, Visit, VisitMut, Visitor, VisitorMut, visit_expressions, visit_expressions_mut,
    visit_relations,
};

use std::fmt;

/// Object that `KILL` ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KillTarget {
    /// A connection.
    Connection,
    /// The statement that a connection runs.
    Statement,
    /// A temporary table, and the statement that needs it.
    TemporaryTable,
}

/// One statement of the MySQL dialect.
#[derive(Debug, Clone, PartialEq)]
pub enum Statement {
    /// `SELECT`, `TABLE t`, `VALUES ROW(...)`, `WITH ...`, and unions of them.
    Query(Box<Query>),
    /// A query whose rows go to a file or to variables: `SELECT ... INTO ...`.
    SelectInto(Box<SelectIntoStatement>),
    /// `INSERT` and `REPLACE`.
    Insert(Box<InsertStatement>),
    /// `UPDATE`, of one table or several.
    Update(Box<UpdateStatement>),
    /// `DELETE`, from one table or several.
    Delete(Box<Delete>),
    /// `LOAD DATA`.
    LoadData(Box<LoadData>),
    /// `CREATE TABLE`.
    CreateTable(Box<CreateTable>),
    /// `ALTER TABLE`.
    AlterTable(Box<AlterTable>),
    /// `DROP TABLE`.
    DropTable(DropTable),
    /// `TRUNCATE [TABLE]`.
    TruncateTable(TableName),
    /// `RENAME TABLE`.
    RenameTable(RenameTable),
    /// `CREATE INDEX`.
    CreateIndex(Box<CreateIndex>),
    /// `DROP INDEX`.
    DropIndex(DropIndex),
    /// `CREATE VIEW` and `ALTER VIEW`.
    CreateView(Box<CreateView>),
    /// `DROP VIEW`.
    DropView(DropView),
    /// `DROP PROCEDURE | FUNCTION | TRIGGER | EVENT`.
    DropStoredProgram(DropStoredProgram),
    /// `CREATE DATABASE`.
    CreateDatabase(CreateDatabase),
    /// `ALTER DATABASE`.
    AlterDatabase(AlterDatabase),
    /// `DROP DATABASE`.
    DropDatabase(DropDatabase),
    /// `USE db`.
    Use(String),
    /// `SHOW ...`.
    Show(Box<Show>),
    /// `DESCRIBE t [column | 'pattern']`, also spelled `DESC`, `EXPLAIN t` and `SHOW COLUMNS`-like.
    Describe(Describe),
    /// `EXPLAIN statement`.
    Explain(Box<Explain>),
    /// `HELP 'topic'`.
    Help(String),
    /// `SET` of variables, names and character sets, in the order written.
    Set(Vec<SetItem>),
    /// MariaDB's `SET STATEMENT … FOR`: a statement with settings of its own.
    SetStatement(Vec<SetItem>, std::sync::Arc<Statement>),
    /// `SET [GLOBAL | SESSION] TRANSACTION ...`.
    SetTransaction(SetTransaction),
    /// `FLUSH ...`.
    Flush(Flush),
    /// `BEGIN`, `START TRANSACTION`.
    StartTransaction(StartTransaction),
    /// `COMMIT`.
    Commit(Completion),
    /// `ROLLBACK` of the whole transaction.
    Rollback(Completion),
    /// `SAVEPOINT name`.
    Savepoint(String),
    /// `ROLLBACK TO [SAVEPOINT] name`.
    RollbackToSavepoint(String),
    /// `RELEASE SAVEPOINT name`.
    ReleaseSavepoint(String),
    /// `DO expression, ...`.
    Do(Vec<Expr>),
    /// `KILL [CONNECTION | QUERY | TEMPORARY TABLE] id`.
    Kill {
        /// The object that is ended.
        target: KillTarget,
        /// The connection's id, or the temporary table's.
        id: Expr,
    },
    /// `SHUTDOWN`.
    Shutdown,
    /// `RESET PERSIST [[IF EXISTS] name]`.
    ResetPersist {
        /// The variable; `None`: all variables.
        name: Option<String>,
        /// `IF EXISTS`.
        if_exists: bool,
    },
    /// `PREPARE name FROM ...`.
    Prepare(Prepare),
    /// `EXECUTE name [USING @a, ...]`.
    Execute(Execute),
    /// `DEALLOCATE PREPARE name`, `DROP PREPARE name`.
    Deallocate(String),
    /// `LOCK TABLES`.
    LockTables(Vec<TableLock>),
    /// `UNLOCK TABLES`.
    UnlockTables,
    /// `ANALYZE`, `CHECK`, `CHECKSUM`, `OPTIMIZE` and `REPAIR TABLE`.
    TableMaintenance(TableMaintenance),
    /// `HANDLER t OPEN | READ | CLOSE`.
    Handler(Box<HandlerStatement>),
    /// `CREATE | ALTER | DROP USER`, `GRANT`, `REVOKE`, `SET PASSWORD`, roles.
    Account(Box<AccountStatement>),
    /// Comments, and nothing else.
    Empty,
    /// A statement that Mayfly cannot run, known by its first keywords, which the text holds.
    Unsupported(String),
}

/// `SELECT ... INTO target`, and `COPY ... TO`: the query without the clause, and the clause.
#[derive(Debug, Clone, PartialEq)]
pub struct SelectIntoStatement {
    /// The query without `INTO`.
    pub query: Box<Query>,
    /// Target of the rows.
    pub target: IntoTarget,
}

/// A table's name with its database, when one is written.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TableName {
    /// The database, when written.
    pub database: Option<String>,
    /// The table.
    pub name: String,
}

impl TableName {
    /// A name without a database.
    pub fn bare(name: impl Into<String>) -> Self {
        TableName {
            database: None,
            name: name.into(),
        }
    }

    /// The name of an [`ObjectName`]; `None` when it has no part or more than two.
    pub fn from_object_name(name: &ObjectName) -> Option<Self> {
        let (database, name) = match name.0.as_slice() {
            [name] => (None, name),
            [database, name] => (Some(database.value.clone()), name),
            _ => return None,
        };
        Some(TableName {
            database,
            name: name.value.clone(),
        })
    }

    /// The name as an [`ObjectName`], the form in query blocks.
    pub fn to_object_name(&self) -> ObjectName {
        let quoted = |part: &String| Ident::with_quote('`', part.clone());
        ObjectName::from(
            self.database
                .iter()
                .chain(std::iter::once(&self.name))
                .map(quoted)
                .collect::<Vec<_>>(),
        )
    }
}

impl fmt::Display for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(database) = &self.database {
            write!(f, "{}.", crate::printer::quoted_identifier(database))?;
        }
        f.write_str(&crate::printer::quoted_identifier(&self.name))
    }
}
