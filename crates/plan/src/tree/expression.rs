//! Bound expressions, and the calls of aggregates and window functions: names resolved, types derived, conversions
//! explicit.
//!
//! Logical and physical plans share this tree; only the meaning of [`ExpressionKind::Column`] differs. After binding
//! every operand has exactly the type that its operator or function works on: an implicit conversion of MySQL is a
//! [`ExpressionKind::Cast`] here.

use std::cmp::Ordering;
use std::sync::Arc;

use mayfly_functions::{AggregateFunction, AggregateSignature, FunctionRef, Signature};
use mayfly_types::{SqlType, Value};

use crate::asked::Computation;
use crate::tree::logical;
use crate::tree::physical::Plan;

/// A typed expression. Two are equal when their trees are; [`same_expression`] decides whether they are the same
/// computation.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression {
    /// Kind and operands.
    pub kind: ExpressionKind,
    /// Type of the value.
    pub ty: SqlType,
    /// Whether the value may be NULL.
    pub nullable: bool,
}

/// Binary comparisons. Both sides have the same physical type and collation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// `=`
    Equal,
    /// `<=>`: NULL equals NULL, and the result is never NULL.
    NullSafeEqual,
    /// `<>`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

impl Comparison {
    /// Whether the comparison is true for this order of its sides.
    pub fn holds(self, order: Ordering) -> bool {
        match self {
            Self::Equal | Self::NullSafeEqual => order.is_eq(),
            Self::NotEqual => order.is_ne(),
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterOrEqual => order.is_ge(),
        }
    }

    /// The comparison with its sides exchanged.
    #[must_use]
    pub fn mirrored(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
            same => same,
        }
    }
}

/// Kind of an [`Expression`].
#[derive(Debug, Clone, PartialEq)]
pub enum ExpressionKind {
    /// A constant.
    Literal(Value),
    /// Logical plans: the column with that number, unique in the statement. Physical plans: the index in the input row.
    Column(usize),
    /// A value set before a plan runs: a `?` of a prepared statement, or a column of an outer query's current row.
    Parameter(usize),
    /// A function or operator of crate `functions`, or a stored function. All arguments are evaluated.
    Call {
        /// Function called.
        function: FunctionRef,
        /// Arguments, converted to the types of the signature.
        arguments: Vec<Expression>,
        /// Signature of the function for the types of its arguments; passed to every evaluation.
        signature: Arc<Signature>,
    },
    /// A conversion, as CAST does it, and its name in errors and warnings, if known.
    Cast(Box<Expression>, Option<Arc<str>>),
    /// A comparison; the collation is that of the left side's type.
    Compare {
        /// Comparison operator.
        comparison: Comparison,
        /// Left side.
        left: Box<Expression>,
        /// Right side, converted to the left side's type.
        right: Box<Expression>,
    },
    /// Conjunction of predicates with three-valued logic; a later one is evaluated only for rows
    /// that the earlier ones leave undecided.
    And(Vec<Expression>),
    /// Disjunction, evaluated like [`Self::And`].
    Or(Vec<Expression>),
    /// Negation of a predicate.
    Not(Box<Expression>),
    /// IS NULL
    IsNull(Box<Expression>),
    /// IS TRUE (`Some(true)`), IS FALSE (`Some(false)`) or IS UNKNOWN (`None`) of a predicate.
    IsTruth(Box<Expression>, Option<bool>),
    /// CASE WHEN … THEN … ELSE … END, IF, IFNULL, COALESCE and NULLIF: branches are evaluated only
    /// for the rows that take them, so that an error or warning in the others never shows.
    Case {
        /// Predicates with their results; all results have the type of the expression.
        branches: Vec<(Expression, Expression)>,
        /// ELSE; NULL when absent.
        otherwise: Option<Box<Expression>>,
    },
    /// `operand IN (list of constants)`: a hash or sorted lookup, with SQL's rules for NULL.
    InList {
        /// Value looked up.
        operand: Box<Expression>,
        /// Constants of the operand's type.
        list: Arc<[Value]>,
        /// NOT IN
        negated: bool,
    },
    /// `body` with values that are computed once for each row, however often they are read: the operand of BETWEEN, IN
    /// and CASE when computing it again could give another value, and intermediate results of a long chain of
    /// operators, so that the tree is not as high as the chain is long.
    Let {
        /// Values, each with its number, unique in the statement; one may read those before it.
        values: Vec<(usize, Expression)>,
        /// Expression that reads them as [`ExpressionKind::Local`].
        body: Box<Expression>,
    },
    /// Value of the [`ExpressionKind::Let`] of that number.
    Local(usize),
    /// A subquery used as a value or predicate.
    Subquery(Arc<Subquery>),
    /// Logical plans only: a subquery before it is planned. Physical plans have [`ExpressionKind::Subquery`] in its
    /// place.
    LogicalSubquery(Box<logical::Subquery>),
}

/// A subquery inside an expression.
#[derive(Debug, Clone)]
pub struct Subquery {
    /// Use of its rows.
    pub kind: SubqueryKind,
    /// Plan of the subquery. Inside it, columns of outer queries are [`ExpressionKind::Parameter`]s.
    pub plan: Plan,
    /// Parameters that the plan reads and the expressions over the outer row that set them. None: the subquery is
    /// evaluated once. Results are cached by the values of the parameters.
    pub parameters: Vec<(usize, Expression)>,
    /// Whether results may be cached (no volatile function inside).
    pub cacheable: bool,
    /// `select#` of EXPLAIN.
    pub select_id: usize,
}

/// Equality by identity: a subquery is planned once, and shared by the copies of its expression.
impl PartialEq for Subquery {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

/// Use of a subquery's rows.
#[derive(Debug, Clone, PartialEq)]
pub enum SubqueryKind {
    /// Value of the single row; NULL without rows; error 1242 with more than one.
    Scalar,
    /// Whether a row exists.
    Exists {
        /// NOT EXISTS
        negated: bool,
    },
    /// `(left) comparison ANY|ALL (subquery)`; IN is `= ANY`, NOT IN is `<> ALL`. Several left expressions (row values)
    /// come only with `Equal` and ANY, or `NotEqual` and ALL.
    Quantified {
        /// Left side, of the types of the subquery's columns.
        left: Vec<Expression>,
        /// Comparison operator.
        comparison: Comparison,
        /// ALL instead of ANY.
        all: bool,
    },
    /// `(left) comparison (subquery)` of row values: `(a, b) = (SELECT c, d …)`.
    Row {
        /// Left side.
        left: Vec<Expression>,
        /// Comparison operator.
        comparison: Comparison,
    },
}

impl SubqueryKind {
    /// Left side; empty if there is none.
    pub fn left(&self) -> &[Expression] {
        match self {
            Self::Scalar | Self::Exists { .. } => &[],
            Self::Quantified { left, .. } | Self::Row { left, .. } => left,
        }
    }
}

/// A sort key.
#[derive(Debug, Clone, PartialEq)]
pub struct SortKey {
    /// Expression to sort by; NULL sorts lowest.
    pub expression: Expression,
    /// DESC
    pub descending: bool,
}

/// An aggregate call.
#[derive(Debug, Clone, PartialEq)]
pub struct AggregateCall {
    /// Aggregate function.
    pub function: &'static AggregateFunction,
    /// Types of arguments, state and result.
    pub signature: AggregateSignature,
    /// Arguments over the input row, converted to the types of the signature.
    pub arguments: Vec<Expression>,
    /// Constants that belong to the call (GROUP_CONCAT's separator).
    pub options: Vec<Value>,
    /// DISTINCT: each combination of arguments counts once (rows with a NULL argument never do).
    pub distinct: bool,
    /// ORDER BY inside the call.
    pub order_by: Vec<SortKey>,
    /// Whether the arguments are columns of partial states, which the call merges. The types of the signature are those
    /// of the call over the rows themselves.
    pub merges: bool,
    /// Text of the call as written, for EXPLAIN.
    pub text: String,
}

impl AggregateCall {
    /// Whether duplicate rows do not change the result.
    pub(crate) fn minds_no_repeats(&self) -> bool {
        self.function.ignores_duplicates() || self.distinct && !self.function.is_order_sensitive()
    }
}

/// A call of a window function.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowCall {
    /// Window function.
    pub function: WindowFunction,
    /// Arguments over the input row; those of an aggregate are in its call.
    pub arguments: Vec<Expression>,
    /// Frame, if the function depends on it.
    pub frame: Frame,
    /// Type of the value.
    pub result: SqlType,
    /// Whether the value may be NULL.
    pub nullable: bool,
    /// Window as written.
    pub over: Over,
}

/// Name and clauses of a window, for EXPLAIN.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Over {
    /// `OVER name`
    pub name: Option<String>,
    /// `OVER (base …)`: the named window that it extends.
    pub base: Option<String>,
    /// Whether it has an ORDER BY of its own, not that of its base.
    pub has_own_order: bool,
    /// Text of its frame.
    pub frame: Option<String>,
}

/// The window functions.
#[derive(Debug, Clone, PartialEq)]
pub enum WindowFunction {
    /// ROW_NUMBER()
    RowNumber,
    /// RANK()
    Rank,
    /// DENSE_RANK()
    DenseRank,
    /// PERCENT_RANK()
    PercentRank,
    /// CUME_DIST()
    CumeDist,
    /// NTILE(n): number of buckets.
    Ntile(u64),
    /// LAG(value, n, default): number of rows before.
    Lag(u64),
    /// LEAD(value, n, default): number of rows behind.
    Lead(u64),
    /// FIRST_VALUE(value)
    FirstValue,
    /// LAST_VALUE(value)
    LastValue,
    /// NTH_VALUE(value, n): number of the row in the frame, from 1 on.
    NthValue(u64),
    /// An aggregate over the rows of the frame.
    Aggregate(Box<AggregateCall>),
}

/// Rows of a partition that a function reads, relative to the current row.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// ROWS: CURRENT ROW means the row alone; else (RANGE) also its peers, the rows with equal keys.
    pub counts_rows: bool,
    /// Start of the frame.
    pub start: FrameBound,
    /// End of the frame.
    pub end: FrameBound,
}

/// One end of a frame.
#[derive(Debug, Clone, PartialEq)]
pub enum FrameBound {
    /// The first row of the partition as a start, the last one as an end.
    Unbounded,
    /// The row itself, or its peers.
    CurrentRow,
    /// Offset in rows from the current row: negative before it, positive behind it.
    Rows(i64),
    /// Rows whose key is not before this value (as a start) or not behind it (as an end). For a row whose key is NULL,
    /// its peers.
    Value(Box<ValueBound>),
}

/// A bound by the value of the single sort key.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueBound {
    /// Sort key, converted to the type of the bound.
    pub key: Expression,
    /// Value of the bound. NULL, where it is out of range, means no bound.
    pub value: Expression,
    /// Whether keys are in descending order.
    pub descending: bool,
}

impl Expression {
    /// An expression of a type.
    pub fn new(kind: ExpressionKind, ty: SqlType, nullable: bool) -> Self {
        Self { kind, ty, nullable }
    }

    /// A predicate.
    pub fn predicate(kind: ExpressionKind, nullable: bool) -> Self {
        Self::new(kind, SqlType::boolean(), nullable)
    }

    /// A function call, of the type of its signature.
    pub fn call(
        function: impl Into<FunctionRef>,
        arguments: Vec<Expression>,
        signature: Signature,
    ) -> Self {
        Self {
            ty: signature.result.clone(),
            nullable: signature.nullable,
            kind: ExpressionKind::Call {
                function: function.into(),
                arguments,
                signature: Arc::new(signature),
            },
        }
    }

    /// A constant.
    pub fn literal(value: Value, ty: SqlType) -> Self {
        let nullable = value.is_null();
        Self::new(ExpressionKind::Literal(value), ty, nullable)
    }

    /// A column.
    pub fn column(column: usize, ty: SqlType, nullable: bool) -> Self {
        Self::new(ExpressionKind::Column(column), ty, nullable)
    }

    /// Columns of rows of these types, by index.
    pub fn columns_of(types: &[SqlType]) -> Vec<Self> {
        let columns = types.iter().enumerate();
        columns
            .map(|(position, ty)| Self::column(position, ty.clone(), true))
            .collect()
    }

    /// Replaces the expression by `make` of it.
    pub(crate) fn change(&mut self, make: impl FnOnce(Self) -> Self) {
        let nothing = Self::literal(Value::Null, SqlType::null());
        *self = make(std::mem::replace(self, nothing));
    }

    /// Column number, if the expression is a column.
    pub(crate) fn as_column(&self) -> Option<usize> {
        match self.kind {
            ExpressionKind::Column(id) => Some(id),
            _ => None,
        }
    }

    /// Both sides, if this is a comparison by `=`.
    pub(crate) fn as_equality(&self) -> Option<(&Self, &Self)> {
        match &self.kind {
            ExpressionKind::Compare {
                comparison: Comparison::Equal,
                left,
                right,
            } => Some((left, right)),
            _ => None,
        }
    }

    /// Value, if the expression is a constant.
    pub(crate) fn as_literal(&self) -> Option<&Value> {
        match &self.kind {
            ExpressionKind::Literal(value) => Some(value),
            _ => None,
        }
    }
}

/// Whether two bound expressions are the same computation. Calls of volatile functions are never the same, unless the
/// binder has named their value; a subquery is the same only as itself, referenced by an alias.
pub fn same_expression(a: &Expression, b: &Expression) -> bool {
    use mayfly_functions::scalar::{Fact, Volatility};

    if a.ty != b.ty {
        return false;
    }
    logical::with_stack(|| match (&a.kind, &b.kind) {
        (ExpressionKind::Literal(a), ExpressionKind::Literal(b)) => a == b,
        (ExpressionKind::Column(a), ExpressionKind::Column(b))
        | (ExpressionKind::Parameter(a), ExpressionKind::Parameter(b)) => a == b,
        (
            ExpressionKind::Call {
                function: f,
                arguments: a,
                signature: first,
            },
            ExpressionKind::Call {
                function: g,
                arguments: b,
                signature: second,
            },
        ) => {
            // A name that the binder has given to a value identifies it.
            let is_named = |arguments: &[Expression]| match arguments {
                [name, value] => {
                    f.has(Fact::NamedConstant)
                        && value.as_literal().is_none()
                        && matches!(name.as_literal(), Some(Value::Bytes(name)) if !name.is_empty())
                }
                _ => false,
            };
            if is_named(a) && is_named(b) && f == g {
                return same_expression(&a[0], &b[0]);
            }
            f.volatility() != Volatility::Volatile
                && f == g
                && first.arguments == second.arguments
                && same_expressions(a, b)
        }
        // Each subquery has column numbers of its own, which a copy keeps.
        (ExpressionKind::LogicalSubquery(a), ExpressionKind::LogicalSubquery(b)) => {
            a.select_id == b.select_id && a == b
        }
        (ExpressionKind::Cast(a, _), ExpressionKind::Cast(b, _))
        | (ExpressionKind::Not(a), ExpressionKind::Not(b))
        | (ExpressionKind::IsNull(a), ExpressionKind::IsNull(b)) => same_expression(a, b),
        (ExpressionKind::IsTruth(a, x), ExpressionKind::IsTruth(b, y)) => {
            x == y && same_expression(a, b)
        }
        (
            ExpressionKind::Compare {
                comparison: x,
                left: a,
                right: b,
            },
            ExpressionKind::Compare {
                comparison: y,
                left: c,
                right: d,
            },
        ) => x == y && same_expression(a, c) && same_expression(b, d),
        (ExpressionKind::And(a), ExpressionKind::And(b))
        | (ExpressionKind::Or(a), ExpressionKind::Or(b)) => same_expressions(a, b),
        (
            ExpressionKind::Case {
                branches: a,
                otherwise: x,
            },
            ExpressionKind::Case {
                branches: b,
                otherwise: y,
            },
        ) => {
            a.len() == b.len()
                && a.iter()
                    .zip(b)
                    .all(|((a, x), (b, y))| same_expression(a, b) && same_expression(x, y))
                && match (x, y) {
                    (Some(x), Some(y)) => same_expression(x, y),
                    (None, None) => true,
                    _ => false,
                }
        }
        (
            ExpressionKind::InList {
                operand: a,
                list: x,
                negated: m,
            },
            ExpressionKind::InList {
                operand: b,
                list: y,
                negated: n,
            },
        ) => m == n && x == y && same_expression(a, b),
        // A copy keeps the numbers of its local values.
        (ExpressionKind::Local(a), ExpressionKind::Local(b)) => a == b,
        (
            ExpressionKind::Let { values: a, body: x },
            ExpressionKind::Let { values: b, body: y },
        ) => {
            let same = |((m, a), (n, b)): (&(usize, Expression), &(usize, Expression))| {
                m == n && same_expression(a, b)
            };
            a.len() == b.len() && a.iter().zip(b).all(same) && same_expression(x, y)
        }
        _ => false,
    })
}

impl Computation for Expression {
    fn is_same(&self, other: &Self) -> bool {
        same_expression(self, other)
    }
}

/// Whether two lists of bound expressions are pairwise the same computations.
pub(crate) fn same_expressions(a: &[Expression], b: &[Expression]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_expression(a, b))
}

/// Whether two sort orders are the same.
pub(crate) fn same_order(a: &[SortKey], b: &[SortKey]) -> bool {
    let same = |(a, b): (&SortKey, &SortKey)| {
        a.descending == b.descending && same_expression(&a.expression, &b.expression)
    };
    a.len() == b.len() && a.iter().zip(b).all(same)
}

/// Name of an explicit conversion to a string without a length.
pub(crate) const WRITTEN_CAST: &str = "cast";

/// Names of conversions to strings of an explicit length that exceeds the maximum.
pub const LENGTH_CASTS: [&str; 2] = ["cast_as_char", "cast_as_binary"];
