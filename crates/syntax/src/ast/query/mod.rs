//! Queries: `WITH`, set operations, query blocks, windows, and table references.

pub mod expression;

use self::expression::Expr;
use super::{ColumnType, Ident, ObjectName, TableName};

/// A query: its body with the clauses before and behind it.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// `WITH …`.
    pub with: Option<With>,
    /// Query blocks and the set operations between them.
    pub body: Box<SetExpr>,
    /// `ORDER BY …`; empty without.
    pub order_by: Vec<OrderByExpr>,
    /// `LIMIT …`.
    pub limit_clause: Option<LimitClause>,
    /// `FOR UPDATE`, `FOR SHARE`: one clause for each named table.
    pub locks: Vec<LockClause>,
}

/// `WITH [RECURSIVE] …`.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "fields are the words of the syntax")]
pub struct With {
    pub recursive: bool,
    pub cte_tables: Vec<Cte>,
}

/// `name [(columns)] AS [[NOT] MATERIALIZED] (query)`.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "fields are the words of the syntax")]
pub struct Cte {
    pub alias: TableAlias,
    pub materialized: Option<bool>,
    pub query: Box<Query>,
}

/// The body of a query.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "fields are the words of the syntax")]
pub enum SetExpr {
    /// `SELECT …`.
    Select(Box<Select>),
    /// `(query)`.
    Query(Box<Query>),
    /// `a UNION b`.
    SetOperation {
        op: SetOperator,
        set_quantifier: SetQuantifier,
        left: Box<SetExpr>,
        right: Box<SetExpr>,
    },
    /// `VALUES ROW(…), …`: the rows.
    Values(Vec<Vec<Expr>>),
    /// `TABLE t`.
    Table(TableName),
}

/// An operator between two query bodies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is written as it is called")]
pub enum SetOperator {
    Union,
    Except,
    Intersect,
}

/// The word behind a set operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is written as it is called")]
pub enum SetQuantifier {
    All,
    Distinct,
    /// No quantifier, which means DISTINCT.
    None,
}

/// A query block.
#[derive(Debug, Clone, PartialEq)]
pub struct Select {
    /// Hint comments behind SELECT, without their `/*+` and `*/`.
    pub optimizer_hints: Vec<String>,
    /// `DISTINCT`.
    pub distinct: bool,
    /// `SQL_BIG_RESULT` and its kind.
    pub select_modifiers: SelectModifiers,
    /// The select list.
    pub projection: Vec<SelectItem>,
    /// `FROM …`; empty without.
    pub from: Vec<TableWithJoins>,
    /// `WHERE …`.
    pub selection: Option<Expr>,
    /// `GROUP BY …`.
    pub group_by: GroupBy,
    /// `HAVING …`.
    pub having: Option<Expr>,
    /// `WINDOW …`.
    pub named_window: Vec<NamedWindowDefinition>,
}

/// Words between `SELECT` and the select list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is written as it is called")]
pub struct SelectModifiers {
    pub high_priority: bool,
    pub straight_join: bool,
    pub sql_small_result: bool,
    pub sql_big_result: bool,
    pub sql_buffer_result: bool,
    pub sql_no_cache: bool,
    pub sql_calc_found_rows: bool,
}

/// An item of a select list.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "fields are the words of the syntax")]
pub enum SelectItem {
    /// An expression without an alias that is a column and keeps its name.
    UnnamedExpr(Expr),
    /// An expression with the name of its column, an alias or the expression's text.
    ExprWithAlias {
        expr: Expr,
        alias: Ident,
        /// Whether the name is the expression's text, not an alias.
        implicit: bool,
    },
    /// `t.*`.
    QualifiedWildcard(ObjectName),
    /// `*`.
    Wildcard,
}

/// `GROUP BY keys [WITH ROLLUP]`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GroupBy {
    /// The keys; empty without the clause.
    pub keys: Vec<Expr>,
    /// `WITH ROLLUP`.
    pub with_rollup: bool,
    /// `CUBE (…)` or `GROUPING SETS (…)`, which in MySQL only a secondary engine supports.
    pub several_sets: bool,
}

/// A key of `ORDER BY`.
#[derive(Debug, Clone, PartialEq)]
pub struct OrderByExpr {
    /// The key.
    pub expr: Expr,
    /// `ASC`, `DESC`, if written.
    pub sort: Option<OrderBySort>,
}

/// The direction of a key of `ORDER BY`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is written as it is called")]
pub enum OrderBySort {
    Asc,
    Desc,
}

/// `LIMIT limit OFFSET offset`.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "fields are the words of the syntax")]
pub struct LimitClause {
    pub limit: Expr,
    pub offset: Option<Expr>,
}

/// `FOR UPDATE | SHARE [OF table] [NOWAIT | SKIP LOCKED]`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "fields are the words of the syntax")]
pub struct LockClause {
    pub lock_type: LockType,
    pub of: Option<ObjectName>,
    pub nonblock: Option<NonBlock>,
}

/// Strength of the row locks of a locking read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is written as it is called")]
pub enum LockType {
    Share,
    Update,
}

/// `NOWAIT` or `SKIP LOCKED` of a locking read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is written as it is called")]
pub enum NonBlock {
    Nowait,
    SkipLocked,
}

/// A table of `FROM` with everything joined to it.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "fields are the words of the syntax")]
pub struct TableWithJoins {
    pub relation: TableFactor,
    pub joins: Vec<Join>,
}

/// A join with its right operand.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "fields are the words of the syntax")]
pub struct Join {
    pub relation: TableFactor,
    pub join_operator: JoinOperator,
}

/// The kind of a join and its condition.
#[derive(Debug, Clone, PartialEq)]
pub enum JoinOperator {
    /// `JOIN`, `INNER JOIN`, `CROSS JOIN`, and a comma in parentheses.
    Inner(JoinConstraint),
    /// `LEFT JOIN`.
    Left(JoinConstraint),
    /// `RIGHT JOIN`.
    Right(JoinConstraint),
    /// `STRAIGHT_JOIN`.
    StraightJoin(JoinConstraint),
}

impl JoinOperator {
    /// The condition.
    pub fn constraint(&self) -> &JoinConstraint {
        match self {
            Self::Inner(constraint)
            | Self::Left(constraint)
            | Self::Right(constraint)
            | Self::StraightJoin(constraint) => constraint,
        }
    }

    /// The condition, mutably.
    pub(crate) fn constraint_mut(&mut self) -> &mut JoinConstraint {
        match self {
            Self::Inner(constraint)
            | Self::Left(constraint)
            | Self::Right(constraint)
            | Self::StraightJoin(constraint) => constraint,
        }
    }
}

/// The condition of a join.
#[derive(Debug, Clone, PartialEq)]
pub enum JoinConstraint {
    /// `ON condition`.
    On(Expr),
    /// `USING (columns)`.
    Using(Vec<Ident>),
    /// `NATURAL`.
    Natural,
    /// No condition.
    None,
}

/// One operand of a join.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "fields are the words of the syntax")]
pub enum TableFactor {
    /// A table or a view by its name.
    Table {
        name: ObjectName,
        alias: Option<TableAlias>,
        partitions: Vec<Ident>,
        index_hints: Vec<TableIndexHints>,
    },
    /// `[LATERAL] (query) alias`. A missing alias is error 1248 of the binder.
    Derived {
        lateral: bool,
        subquery: Box<Query>,
        alias: Option<TableAlias>,
    },
    /// `JSON_TABLE(document, path COLUMNS (…)) alias`.
    JsonTable {
        json_expr: Expr,
        json_path: String,
        columns: Vec<JsonTableColumn>,
        alias: Option<TableAlias>,
    },
    /// A call of a table function, or the name of a file.
    Function {
        call: TableFunctionCall,
        alias: Option<TableAlias>,
    },
    /// `(tables)`.
    NestedJoin {
        table_with_joins: Box<TableWithJoins>,
    },
}

/// `function(value, name => value, …)`, or `'file'`.
#[derive(Debug, Clone, PartialEq)]
pub struct TableFunctionCall {
    /// The function; `None` for the name of a file, which is the only argument.
    pub name: Option<Ident>,
    /// Its arguments.
    pub arguments: Vec<TableFunctionArgument>,
}

/// An argument of a table function.
#[derive(Debug, Clone, PartialEq)]
pub struct TableFunctionArgument {
    /// The name of the option; `None` for an argument by its position.
    pub name: Option<Ident>,
    /// Its value.
    pub value: Expr,
}

/// `AS name (columns)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableAlias {
    /// The name.
    pub name: Ident,
    /// Names of the columns; empty where none are written.
    pub columns: Vec<Ident>,
}

/// `USE | FORCE | IGNORE INDEX [FOR …] (names)`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "fields are the words of the syntax")]
pub struct TableIndexHints {
    pub hint_type: TableIndexHintType,
    pub for_clause: Option<TableIndexHintForClause>,
    pub index_names: Vec<Ident>,
}

/// The first word of an index hint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is written as it is called")]
pub enum TableIndexHintType {
    Use,
    Ignore,
    Force,
}

/// Scope of an index hint (`FOR JOIN`, …).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is written as it is called")]
pub enum TableIndexHintForClause {
    Join,
    OrderBy,
    GroupBy,
}

/// A column of `JSON_TABLE`.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "fields are the words of the syntax")]
pub enum JsonTableColumn {
    /// `name type [EXISTS] PATH path [… ON EMPTY] [… ON ERROR]`.
    Named(JsonTableNamedColumn),
    /// `name FOR ORDINALITY`.
    ForOrdinality(Ident),
    /// `NESTED PATH path COLUMNS (…)`.
    Nested {
        path: String,
        columns: Vec<JsonTableColumn>,
    },
}

/// A column of `JSON_TABLE` that has a value from the document.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "fields are the words of the syntax")]
pub struct JsonTableNamedColumn {
    pub name: Ident,
    pub column_type: ColumnType,
    pub path: String,
    pub exists: bool,
    pub on_empty: Option<JsonTableColumnErrorHandling>,
    pub on_error: Option<JsonTableColumnErrorHandling>,
}

/// Value of a column of `JSON_TABLE` where the document has none.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is written as it is called")]
pub enum JsonTableColumnErrorHandling {
    Null,
    Error,
    Default(String),
}

/// `OVER …`.
#[derive(Debug, Clone, PartialEq)]
pub enum WindowType {
    /// `OVER (…)`.
    WindowSpec(WindowSpec),
    /// `OVER name`.
    NamedWindow(Ident),
}

/// `name AS (…)` of the clause `WINDOW`.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedWindowDefinition(pub Ident, pub WindowSpec);

/// A window specification, the part between the parentheses.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowSpec {
    /// The named window that it extends.
    pub window_name: Option<Ident>,
    /// `PARTITION BY …`; empty without.
    pub partition_by: Vec<Expr>,
    /// `ORDER BY …`; empty without.
    pub order_by: Vec<OrderByExpr>,
    /// The frame.
    pub window_frame: Option<WindowFrame>,
}

/// `units BETWEEN start AND end`.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowFrame {
    /// Unit of its distances.
    pub units: WindowFrameUnits,
    /// Its first row.
    pub start_bound: WindowFrameBound,
    /// Its last row; `None`: the current row.
    pub end_bound: Option<WindowFrameBound>,
}

/// Unit of the distances of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is written as it is called")]
pub enum WindowFrameUnits {
    Rows,
    Range,
    Groups,
}

/// A bound of a frame; a distance of `None` is UNBOUNDED.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "each is written as it is called")]
pub enum WindowFrameBound {
    CurrentRow,
    Preceding(Option<Box<Expr>>),
    Following(Option<Box<Expr>>),
}
