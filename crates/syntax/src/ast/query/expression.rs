//! Expressions.
//!
//! Special syntax that means the same as an ordinary call or another expression is parsed into that one;
//! [`crate::encodings`] lists the forms. Each kind of node here has a meaning of its own.

use std::fmt;

use super::{OrderByExpr, Query, WindowType};
use crate::ast::{CastType, Ident, ObjectName};

/// An expression.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "fields are the operands that the syntax shows")]
pub enum Expr {
    /// A literal, or `?`.
    Value(Value),
    /// A column without qualifier; a variable with its `@` (see [`crate::encodings::variable`]).
    Identifier(Ident),
    /// A column with one or two qualifiers.
    CompoundIdentifier(Vec<Ident>),
    /// `(a)`.
    Nested(Box<Expr>),
    /// `(a, b)` or `ROW(a, b)`.
    Tuple(Vec<Expr>),
    /// `-a`, `NOT a`.
    UnaryOp { op: UnaryOperator, expr: Box<Expr> },
    /// `a + b`.
    BinaryOp {
        left: Box<Expr>,
        op: BinaryOperator,
        right: Box<Expr>,
    },
    /// `a IS NULL`.
    IsNull(Box<Expr>),
    /// `a IS NOT NULL`.
    IsNotNull(Box<Expr>),
    /// `a IS TRUE`.
    IsTrue(Box<Expr>),
    /// `a IS NOT TRUE`.
    IsNotTrue(Box<Expr>),
    /// `a IS FALSE`.
    IsFalse(Box<Expr>),
    /// `a IS NOT FALSE`.
    IsNotFalse(Box<Expr>),
    /// `a IS UNKNOWN`.
    IsUnknown(Box<Expr>),
    /// `a IS NOT UNKNOWN`.
    IsNotUnknown(Box<Expr>),
    /// `a [NOT] IN (b, c)`.
    InList {
        expr: Box<Expr>,
        list: Vec<Expr>,
        negated: bool,
    },
    /// `a [NOT] IN (SELECT …)`.
    InSubquery {
        expr: Box<Expr>,
        subquery: Box<Query>,
        negated: bool,
    },
    /// `a [NOT] BETWEEN b AND c`.
    Between {
        expr: Box<Expr>,
        negated: bool,
        low: Box<Expr>,
        high: Box<Expr>,
    },
    /// `a [NOT] LIKE b [ESCAPE c]`.
    Like {
        negated: bool,
        expr: Box<Expr>,
        pattern: Box<Expr>,
        escape_char: Option<Box<Expr>>,
    },
    /// `a [NOT] REGEXP b`, also spelled `RLIKE`.
    RLike {
        negated: bool,
        expr: Box<Expr>,
        pattern: Box<Expr>,
    },
    /// `a MEMBER OF (b)`.
    MemberOf { value: Box<Expr>, array: Box<Expr> },
    /// `a = ANY (SELECT …)`, also spelled `SOME`.
    AnyOp {
        left: Box<Expr>,
        compare_op: BinaryOperator,
        right: Box<Expr>,
    },
    /// `a = ALL (SELECT …)`.
    AllOp {
        left: Box<Expr>,
        compare_op: BinaryOperator,
        right: Box<Expr>,
    },
    /// `[NOT] EXISTS (SELECT …)`.
    Exists { subquery: Box<Query>, negated: bool },
    /// `(SELECT …)`.
    Subquery(Box<Query>),
    /// `CASE [a] WHEN b THEN c … [ELSE d] END`.
    Case {
        operand: Option<Box<Expr>>,
        conditions: Vec<CaseWhen>,
        else_result: Option<Box<Expr>>,
    },
    /// `CAST(a AS type)`.
    Cast {
        expr: Box<Expr>,
        data_type: CastType,
    },
    /// `CONVERT(a USING charset)`.
    Convert { expr: Box<Expr>, charset: String },
    /// `a COLLATE collation`.
    Collate { expr: Box<Expr>, collation: String },
    /// `INTERVAL a unit`, beside `+` or `-` and as an argument.
    Interval(Interval),
    /// `EXTRACT(unit FROM a)`.
    Extract {
        field: IntervalUnit,
        expr: Box<Expr>,
    },
    /// `TRIM([BOTH | LEADING | TRAILING] [b] FROM a)`.
    Trim {
        trim_where: Option<TrimWhereField>,
        trim_what: Option<Box<Expr>>,
        expr: Box<Expr>,
    },
    /// `DATE '…'`, `TIME '…'`, `TIMESTAMP '…'`.
    TypedString(TypedString),
    /// `_charset 'literal'`: the prefix has its underscore.
    Prefixed { prefix: Ident, value: Box<Expr> },
    /// A call.
    Function(Function),
}

/// `WHEN condition THEN result`.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "fields are the words of the syntax")]
pub struct CaseWhen {
    pub condition: Expr,
    pub result: Expr,
}

/// A literal, or `?`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// `NULL`.
    Null,
    /// `TRUE`, `FALSE`.
    Boolean(bool),
    /// A number as it is written.
    Number(String),
    /// A string, its escapes resolved.
    SingleQuotedString(String),
    /// `N'…'`.
    NationalStringLiteral(String),
    /// The digits of `x'4D'` or `0x4D`.
    HexStringLiteral(String),
    /// The digits of `b'01'` or `0b01`.
    BitStringLiteral(String),
    /// `?` with its number in the text, from 1: `?1`.
    Placeholder(String),
}

impl Value {
    /// The text of a literal that is a string, a number or digits.
    pub fn into_string(self) -> Option<String> {
        match self {
            Value::Number(text)
            | Value::SingleQuotedString(text)
            | Value::NationalStringLiteral(text)
            | Value::HexStringLiteral(text)
            | Value::BitStringLiteral(text)
            | Value::Placeholder(text) => Some(text),
            Value::Null | Value::Boolean(_) => None,
        }
    }
}

/// A unary operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is written as it is called")]
pub enum UnaryOperator {
    Plus,
    Minus,
    Not,
    BitwiseNot,
}

/// A binary operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is written as it is called")]
pub enum BinaryOperator {
    Plus,
    Minus,
    Multiply,
    Divide,
    /// `DIV`.
    IntegerDivide,
    Modulo,
    /// `||` under `PIPES_AS_CONCAT`.
    StringConcat,
    Eq,
    NotEq,
    Lt,
    LtEq,
    Gt,
    GtEq,
    /// `<=>`.
    Spaceship,
    And,
    Or,
    Xor,
    BitwiseOr,
    BitwiseAnd,
    BitwiseXor,
    ShiftLeft,
    ShiftRight,
    /// `->`.
    Arrow,
    /// `->>`.
    LongArrow,
    /// `:=`.
    Assignment,
}

/// `INTERVAL value unit`.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "fields are the words of the syntax")]
pub struct Interval {
    pub value: Box<Expr>,
    pub unit: IntervalUnit,
}

/// A unit of intervals and of `EXTRACT`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is written as it is called")]
pub enum IntervalUnit {
    Microsecond,
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Quarter,
    Year,
    SecondMicrosecond,
    MinuteMicrosecond,
    MinuteSecond,
    HourMicrosecond,
    HourSecond,
    HourMinute,
    DayMicrosecond,
    DaySecond,
    DayMinute,
    DayHour,
    YearMonth,
}

impl IntervalUnit {
    /// The unit in the manual's spelling: `DAY`, `HOUR_SECOND`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Microsecond => "MICROSECOND",
            Self::Second => "SECOND",
            Self::Minute => "MINUTE",
            Self::Hour => "HOUR",
            Self::Day => "DAY",
            Self::Week => "WEEK",
            Self::Month => "MONTH",
            Self::Quarter => "QUARTER",
            Self::Year => "YEAR",
            Self::SecondMicrosecond => "SECOND_MICROSECOND",
            Self::MinuteMicrosecond => "MINUTE_MICROSECOND",
            Self::MinuteSecond => "MINUTE_SECOND",
            Self::HourMicrosecond => "HOUR_MICROSECOND",
            Self::HourSecond => "HOUR_SECOND",
            Self::HourMinute => "HOUR_MINUTE",
            Self::DayMicrosecond => "DAY_MICROSECOND",
            Self::DaySecond => "DAY_SECOND",
            Self::DayMinute => "DAY_MINUTE",
            Self::DayHour => "DAY_HOUR",
            Self::YearMonth => "YEAR_MONTH",
        }
    }
}

impl fmt::Display for IntervalUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The ends that `TRIM` takes characters from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is written as it is called")]
pub enum TrimWhereField {
    Both,
    Leading,
    Trailing,
}

/// A temporal literal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypedString {
    /// Its type.
    pub kind: TemporalLiteral,
    /// The text between the quotes.
    pub value: String,
    /// Whether it is written as `{ts '…'}`, which is a mere string where it is not a valid value of its type.
    pub is_escape: bool,
}

/// The type of a temporal literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is written as it is called")]
pub enum TemporalLiteral {
    Date,
    Time,
    Timestamp,
}

impl TemporalLiteral {
    /// The word before the text.
    pub fn name(self) -> &'static str {
        match self {
            Self::Date => "DATE",
            Self::Time => "TIME",
            Self::Timestamp => "TIMESTAMP",
        }
    }
}

/// A call of a function, an aggregate or a window function.
#[derive(Debug, Clone, PartialEq)]
pub struct Function {
    /// Its name, as written.
    pub name: ObjectName,
    /// The arguments.
    pub args: FunctionArguments,
    /// `RESPECT NULLS`, `IGNORE NULLS`.
    pub null_treatment: Option<NullTreatment>,
    /// `OVER …`.
    pub over: Option<WindowType>,
    /// Whether a built-in function of this name is called only with the parenthesis directly behind it, and this call
    /// has a blank, quotes or a database: it is one of a stored function.
    pub only_stored: bool,
}

/// Arguments of a call with its parentheses.
#[derive(Debug, Clone, PartialEq)]
pub enum FunctionArguments {
    /// No parentheses: `CURRENT_DATE`.
    None,
    /// A list of arguments, perhaps empty.
    List(FunctionArgumentList),
}

/// Arguments of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct FunctionArgumentList {
    /// `DISTINCT`.
    pub distinct: bool,
    /// The arguments.
    pub args: Vec<FunctionArg>,
    /// `ORDER BY` of `GROUP_CONCAT`.
    pub order_by: Vec<OrderByExpr>,
    /// `SEPARATOR` of `GROUP_CONCAT`.
    pub separator: Option<Value>,
    /// `LIMIT` of `GROUP_CONCAT` in MariaDB: offset and row count.
    pub limit: Option<(u64, u64)>,
}

/// An argument of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum FunctionArg {
    /// An expression.
    Expr(Expr),
    /// The `*` of `COUNT(*)`.
    Wildcard,
}

/// Treatment of NULL by a window function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is written as it is called")]
pub enum NullTreatment {
    IgnoreNulls,
    RespectNulls,
}
