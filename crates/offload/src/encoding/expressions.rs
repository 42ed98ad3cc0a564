//! Expressions, and the calls of aggregates and window functions.
//!
//! A built-in function travels as its name: a worker has the functions of the server's version. Functions whose value
//! depends on more than the arguments and the job's settings are refused.

use std::sync::Arc;

use mayfly_functions::scalar::{self, Fact, ScalarFunction, Volatility};
use mayfly_functions::{AggregateFunction, AggregateSignature, FunctionRef, aggregate};
use mayfly_plan::expression::{
    AggregateCall, Comparison, Expression, ExpressionKind, Frame, FrameBound, Over, SortKey,
    Subquery, SubqueryKind, ValueBound, WindowCall, WindowFunction,
};
use mayfly_plan::with_stack;
use mayfly_types::Result;

use super::bytes::{Encoded, Reader, Refused, Writer, encoded_enum, encoded_struct, malformed};

encoded_enum!(Comparison {
    0 => Equal, 1 => NullSafeEqual, 2 => NotEqual, 3 => Less, 4 => LessOrEqual, 5 => Greater,
    6 => GreaterOrEqual,
});

encoded_struct!(SortKey {
    expression,
    descending
});
encoded_struct!(AggregateSignature {
    arguments,
    state,
    result,
    nullable
});
encoded_struct!(AggregateCall {
    function,
    signature,
    arguments,
    options,
    distinct,
    order_by,
    merges,
    text,
});
encoded_struct!(WindowCall {
    function,
    arguments,
    frame,
    result,
    nullable,
    over
});
encoded_struct!(Frame {
    counts_rows,
    start,
    end
});
encoded_struct!(ValueBound {
    key,
    value,
    descending
});

encoded_enum!(WindowFunction {
    0 => RowNumber, 1 => Rank, 2 => DenseRank, 3 => PercentRank, 4 => CumeDist, 5 => Ntile(buckets),
    6 => Lag(rows), 7 => Lead(rows), 8 => FirstValue, 9 => LastValue, 10 => NthValue(row),
    11 => Aggregate(call),
});
encoded_enum!(FrameBound { 0 => Unbounded, 1 => CurrentRow, 2 => Rows(offset), 3 => Value(bound) });

encoded_enum!(SubqueryKind {
    0 => Scalar, 1 => Exists { negated }, 2 => Quantified { left, comparison, all },
    3 => Row { left, comparison },
});
encoded_struct!(Subquery {
    kind,
    plan,
    parameters,
    cacheable,
    select_id
});

encoded_enum!(ExpressionKind {
    0 => Literal(value), 1 => Column(column), 2 => Parameter(parameter),
    3 => Call { function, arguments, signature }, 4 => Cast(operand, name),
    5 => Compare { comparison, left, right }, 6 => And(terms), 7 => Or(terms), 8 => Not(operand),
    9 => IsNull(operand), 10 => IsTruth(operand, truth), 11 => Case { branches, otherwise },
    12 => InList { operand, list, negated }, 13 => Let { values, body }, 14 => Local(number),
    15 => Subquery(subquery),
} else Self::LogicalSubquery(_) => "a subquery without a plan".to_owned());

/// With its nesting limited by the memory of the stack alone.
impl Encoded for Expression {
    fn write(&self, to: &mut Writer) -> Result<(), Refused> {
        with_stack(|| {
            self.kind.write(to)?;
            self.ty.write(to)?;
            self.nullable.write(to)
        })
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        with_stack(|| {
            Ok(Self {
                kind: Encoded::read(from)?,
                ty: Encoded::read(from)?,
                nullable: Encoded::read(from)?,
            })
        })
    }
}

/// For EXPLAIN only: a worker has no use for it.
impl Encoded for Over {
    fn write(&self, _: &mut Writer) -> Result<(), Refused> {
        Ok(())
    }

    fn read(_: &mut Reader<'_>) -> Result<Self> {
        Ok(Self::default())
    }
}

impl<T: Encoded> Encoded for Arc<T> {
    fn write(&self, to: &mut Writer) -> Result<(), Refused> {
        (**self).write(to)
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        T::read(from).map(Self::new)
    }
}

impl Encoded for &'static AggregateFunction {
    fn write(&self, to: &mut Writer) -> Result<(), Refused> {
        let known = aggregate::by_name(self.name());
        if known != Some(*self) {
            return Err(Refused(format!("{}() is not offloaded", self.name())));
        }
        self.name().to_owned().write(to)
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        aggregate::by_name(&String::read(from)?).ok_or_else(malformed)
    }
}

impl Encoded for FunctionRef {
    fn write(&self, to: &mut Writer) -> Result<(), Refused> {
        if let Some(reason) = reason_to_stay(self) {
            return Err(Refused(reason));
        }
        self.name().to_owned().write(to)
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let function = scalar::by_name(&String::read(from)?);
        function.map(Self::BuiltIn).ok_or_else(malformed)
    }
}

/// Reason why calls of a function are not offloaded, if there is one.
fn reason_to_stay(function: &FunctionRef) -> Option<String> {
    let name = function.name();
    let Some(built_in) = function.built_in() else {
        return Some(format!("{name}() is a stored function"));
    };
    let is_found = |known: &'static ScalarFunction| std::ptr::eq(known, built_in);
    let is_known = scalar::by_name(name).is_some_and(is_found);
    match function.volatility() {
        Volatility::Immutable if is_known => None,
        Volatility::Stable if is_known && reads_settings(function) => None,
        Volatility::Immutable => Some(format!("{name}() is not offloaded")),
        Volatility::Stable => Some(format!("{name}() depends on the session")),
        Volatility::Volatile => Some(format!("{name}() may differ from row to row")),
    }
}

/// Whether the job's settings hold all that a function depends on besides its arguments.
pub(crate) fn reads_settings(function: &FunctionRef) -> bool {
    function.has(Fact::StatementTime) || function.has(Fact::ReadsSettings)
}
