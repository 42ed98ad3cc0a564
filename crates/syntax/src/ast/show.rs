//! `SHOW`, `DESCRIBE` and `EXPLAIN`.

use std::sync::Arc;

use super::{Expr, LimitClause};

use super::{AccountReference, Statement, TableFunctionCall, TableName, VariableScope};

/// `SHOW kind [FROM ..] [LIKE .. | WHERE ..] [LIMIT ..]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Show {
    /// The object to show.
    pub kind: ShowKind,
    /// Filter of the rows.
    pub filter: Option<ShowFilter>,
    /// `LIMIT`, where MySQL allows it.
    pub limit: Option<LimitClause>,
}

/// Filter of the rows of `SHOW`.
#[derive(Debug, Clone, PartialEq)]
pub enum ShowFilter {
    /// `LIKE 'pattern'`.
    Like(String),
    /// `WHERE condition`.
    Where(Expr),
}

/// Object that `SHOW` shows. A `database` is that of `FROM | IN`; `None` is the current one.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the variants are MySQL's own statement names")]
pub enum ShowKind {
    Databases,
    Tables {
        full: bool,
        extended: bool,
        database: Option<String>,
    },
    /// Mayfly's own: the live internal and user temporary tables of all sessions, as far as the user may see them.
    TemporaryTables,
    /// Mayfly's own: the members of the secondary engine.
    Cluster,
    TableStatus {
        database: Option<String>,
    },
    OpenTables {
        database: Option<String>,
    },
    Columns {
        full: bool,
        extended: bool,
        table: TableName,
    },
    Index {
        extended: bool,
        table: TableName,
    },
    Create(ShowCreate),
    Variables {
        scope: VariableScope,
    },
    Status {
        scope: VariableScope,
    },
    Warnings,
    Errors,
    CountWarnings,
    CountErrors,
    Engines,
    /// `SHOW ENGINE name STATUS | MUTEX | LOGS`.
    Engine {
        engine: String,
        what: String,
    },
    Collation,
    CharacterSet,
    ProcessList {
        full: bool,
    },
    /// `SHOW GRANTS [FOR account [USING roles]]`.
    Grants {
        account: Option<AccountReference>,
        using: Vec<AccountReference>,
    },
    Plugins,
    Privileges,
    Profiles,
    /// `SHOW PROFILE [types] [FOR QUERY n]`; types upper-case.
    Profile {
        types: Vec<String>,
        query: Option<u64>,
    },
    Triggers {
        full: bool,
        database: Option<String>,
    },
    Events {
        database: Option<String>,
    },
    FunctionStatus,
    ProcedureStatus,
    FunctionCode(TableName),
    ProcedureCode(TableName),
    BinaryLogs,
    BinaryLogStatus,
    /// `SHOW BINLOG EVENTS` or `SHOW RELAYLOG EVENTS` with the rest as text.
    LogEvents {
        relay: bool,
        rest: String,
    },
    Replicas,
    ReplicaStatus {
        channel: Option<String>,
    },
}

/// The objects of `SHOW CREATE`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the variants are MySQL's own statement names")]
pub enum ShowCreate {
    Table(TableName),
    View(TableName),
    Database { name: String, if_not_exists: bool },
    Trigger(TableName),
    Function(TableName),
    Procedure(TableName),
    Event(TableName),
    User(AccountReference),
}

/// What DESCRIBE shows the columns of.
#[derive(Debug, Clone, PartialEq)]
pub enum Described {
    /// A table or view.
    Table(TableName),
    /// The table of a call of a table function, or of a file.
    Call(TableFunctionCall),
}

/// `DESCRIBE table [column | 'pattern']`.
#[derive(Debug, Clone, PartialEq)]
pub struct Describe {
    /// The table.
    pub table: Described,
    /// The column name or pattern.
    pub column: Option<String>,
}

/// Kind of an explanation of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExplainKind {
    /// `EXPLAIN`: the plan.
    Plan,
    /// `EXPLAIN ANALYZE`: execution of the query.
    Analyze,
    /// MariaDB's `ANALYZE`: execution of any statement, with its changes.
    Run,
}

/// `EXPLAIN [ANALYZE] [FORMAT = ..] [INTO @v] statement`, or MariaDB's `ANALYZE [FORMAT = ..] statement`.
#[derive(Debug, Clone, PartialEq)]
pub struct Explain {
    /// Kind of the explanation.
    pub kind: ExplainKind,
    /// `FORMAT`, when written.
    pub format: Option<ExplainFormat>,
    /// `INTO @variable`, without its `@`.
    pub into: Option<String>,
    /// `FOR DATABASE name`.
    pub database: Option<String>,
    /// The object to explain.
    pub target: ExplainTarget,
}

/// Formats of `EXPLAIN`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the variants are MySQL's own keywords")]
pub enum ExplainFormat {
    Traditional,
    Tree,
    Json,
    /// Any other name: error 1791.
    Unknown(String),
}

/// Object that `EXPLAIN` explains.
#[derive(Debug, Clone, PartialEq)]
pub enum ExplainTarget {
    /// A statement and its source text.
    Statement {
        /// The statement.
        statement: Arc<Statement>,
        /// Its source text.
        text: String,
    },
    /// The statement that a connection runs.
    Connection(u64),
}
