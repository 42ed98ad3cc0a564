//! Facts about scalar functions that do not follow from the types of a call: each stands on the function's row, where
//! the planner and DDL ask for it.
//!
//! Invariant: nothing is assumed that no row says, so that a new function works without facts. But a function whose
//! result depends on more than its arguments needs [`Fact::NotInDefinitions`] or [`Fact::OnlyInDefaults`], and
//! [`Fact::UnsafeInLogs`] unless what it depends on is logged with a statement.

use std::ops::Range;

/// A fact about a function or operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fact {
    /// NULL whenever an argument is NULL.
    Strict,
    /// Evaluates its arguments one after another until one is NULL: later ones can neither fail nor warn then.
    StopsAtNull,
    /// [`Fact::StopsAtNull`] for a function that evaluates its arguments in another order, which names the first ones.
    StopsAtNullIn(&'static [usize]),
    /// Raises error 1690, which shows the call.
    Overflows,
    /// Its second argument is an XPath expression, which must be a constant.
    ConstantPath,
    /// The type of its result depends on the values of these arguments, where they are constant.
    TypedByConstants(&'static [usize]),
    /// A hexadecimal or bit literal as one of the first `n` arguments is an integer.
    ReadsIntegers(usize),
    /// A hexadecimal or bit literal as the first argument is a DOUBLE.
    ReadsDouble,
    /// Returns one of its arguments, or a known string: no longer than `max_allowed_packet`, so that strict mode does
    /// not make the result nullable.
    GivesArgument,
    /// An argument is the target character set: characters that it lacks become `?`.
    NamesCharset,
    /// A VARCHAR result is a fixed-length string to clients, though not from a CHAR column.
    FixedString,
    /// Returns one of its arguments, whose types have one common type.
    Choice,
    /// ELT(): returns the argument that its first one numbers.
    Elt,
    /// The greatest or least of its arguments.
    Extreme,
    /// CHAR(): characters of codes.
    Characters,
    /// Allowed in no definition: waits, reads files or the session, or counts its statements.
    NotInDefinitions,
    /// Nondeterministic: allowed in definitions of defaults alone.
    OnlyInDefaults,
    /// Makes statement-based logging unsafe: the text may have another effect when it is executed again (the manual,
    /// "Determination of Safe and Unsafe Statements in Binary Logging").
    UnsafeInLogs,
    /// Time at which the statement began.
    StatementTime,
    /// Depends on the session by its settings ([`SessionParameters`](mayfly_types::SessionParameters)) and the time at
    /// which the statement began alone.
    ReadsSettings,
    /// Reads a user variable.
    ReadsVariable,
    /// Assigns a user variable.
    SetsVariable,
    /// Converts a constant to the temporal type of the column that it is compared with.
    ComparedConstant,
    /// Its arguments are geometries: error 1367 for one of another type.
    CollectsGeometries,
    /// LIKE.
    Like,
    /// MEMBER OF(): its first argument is an element of the second, a document.
    MemberOf,
    /// JSON_CONTAINS(): the elements of its second argument are elements of the first.
    JsonContains,
    /// JSON_OVERLAPS(): its arguments have an element in common.
    JsonOverlaps,
    /// EXTRACT(): its first argument is a unit, whose function gives the same number.
    ExtractsPart,
    /// YEAR().
    YearOfDate,
    /// NAME_CONST(): a value with a coercibility of its own.
    NamedConstant,
}

/// Types that a function gives to `?` arguments.
#[derive(Debug, Clone, Copy)]
pub enum Parameters {
    /// The types that the call's signature wants.
    OfSignature,
    /// The type of the other operands; the named one if all operands are `?`.
    OfOthers(ParameterType),
    /// The type that the enclosing expression wants, or DOUBLE where it wants none.
    OfContext,
    /// Types of an amount and a date that go with the unit, which is the first argument: TIMESTAMPADD().
    Interval,
    /// DATETIME for the second argument where the unit, the first one, is part of a date: EXTRACT().
    PartOfDate,
    /// A type for each range of arguments.
    Typed(&'static [(ParameterType, Range<usize>)]),
}

/// Type of a `?` that nothing else determines: the widest of its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterType {
    /// DOUBLE
    Double,
    /// DECIMAL(65, 30)
    Decimal,
    /// VARBINARY
    Bytes,
    /// VARCHAR in the connection's collation.
    Text,
    /// DATE
    Date,
    /// TIME(6)
    Time,
    /// DATETIME(6)
    DateTime,
    /// JSON
    Json,
}

/// Form in which EXPLAIN and errors print a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Printed {
    /// `name(argument, …)`
    Call,
    /// The symbol between two operands.
    Infix(&'static str),
    /// The symbol before the operand in parentheses.
    Prefix(&'static str),
    /// The first argument alone.
    FirstArgument,
    /// `(@name)`
    Variable,
    /// `(@name:=value)`
    Assignment,
}
