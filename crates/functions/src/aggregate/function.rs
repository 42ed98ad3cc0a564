//! Aggregate functions and accumulators.

use std::fmt;
use std::ops::RangeInclusive;

use arrow_array::ArrayRef;
use mayfly_types::{Error, Result, SessionParameters, SqlType, Value};

use crate::{Argument, Binding, EvaluationContext};

/// The types of an aggregate call.
#[derive(Debug, Clone, PartialEq)]
pub struct AggregateSignature {
    /// The type that each argument is converted to before the call.
    pub arguments: Vec<SqlType>,
    /// The columns of a partial state, in the order of [`Accumulator::take_state`]; empty when partial states cannot
    /// be combined and the function needs whole groups.
    pub state: Vec<SqlType>,
    /// The type of the result.
    pub result: SqlType,
    /// Whether the result may be NULL.
    pub nullable: bool,
}

/// Derives the types of a call. Arity has been checked.
pub type BindAggregate = fn(&Binding<'_>) -> Result<AggregateSignature>;

/// Makes empty states for a call of a signature, given the constant options of the call (GROUP_CONCAT's separator).
pub type MakeAccumulator = fn(&AggregateSignature, &[Value]) -> Result<Box<dyn Accumulator>>;

/// Aggregate functions, whatever the names by which they are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the variants are the functions' names")]
pub enum Kind {
    Count,
    Sum,
    Avg,
    Min,
    Max,
    AnyValue,
    BitAnd,
    BitOr,
    BitXor,
    VarPop,
    VarSamp,
    StddevPop,
    StddevSamp,
    GroupConcat,
    JsonArrayAgg,
    JsonObjectAgg,
}

/// An aggregate function: a row of [`FUNCTIONS`](super::FUNCTIONS).
pub struct AggregateFunction {
    kind: Kind,
    names: &'static [&'static str],
    arity: RangeInclusive<usize>,
    is_order_sensitive: bool,
    ignores_duplicates: bool,
    shared_states: Option<&'static str>,
    bind: BindAggregate,
    make_accumulator: MakeAccumulator,
}

impl AggregateFunction {
    /// A function with these names in lower case, the canonical one first, and this number of arguments.
    pub const fn new(
        kind: Kind,
        names: &'static [&'static str],
        arity: RangeInclusive<usize>,
        bind: BindAggregate,
        make_accumulator: MakeAccumulator,
    ) -> Self {
        Self {
            kind,
            names,
            arity,
            is_order_sensitive: false,
            ignores_duplicates: false,
            shared_states: None,
            bind,
            make_accumulator,
        }
    }

    /// Marks a function whose result depends on the order of rows.
    #[must_use]
    pub(crate) const fn order_sensitive(mut self) -> Self {
        self.is_order_sensitive = true;
        self
    }

    /// Marks a function that is insensitive to duplicates.
    #[must_use]
    pub(crate) const fn ignoring_duplicates(mut self) -> Self {
        self.ignores_duplicates = true;
        self
    }

    /// Marks a function that shares its partial states with all functions of a family over the same arguments: SUM(x)
    /// and AVG(x) sum the same numbers.
    #[must_use]
    pub(crate) const fn sharing_states(mut self, family: &'static str) -> Self {
        self.shared_states = Some(family);
        self
    }

    /// Which function it is.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Canonical name in lower case.
    pub fn name(&self) -> &'static str {
        self.names[0]
    }

    /// Its names in lower case, the canonical one first.
    pub fn names(&self) -> &'static [&'static str] {
        self.names
    }

    /// The fewest and the most arguments that it takes.
    pub fn arity(&self) -> RangeInclusive<usize> {
        self.arity.clone()
    }

    /// Whether the result depends on the order of rows (GROUP_CONCAT, JSON_ARRAYAGG).
    pub fn is_order_sensitive(&self) -> bool {
        self.is_order_sensitive
    }

    /// Whether the function is insensitive to duplicates (MIN, MAX, BIT_AND, BIT_OR): DISTINCT is dropped.
    pub fn ignores_duplicates(&self) -> bool {
        self.ignores_duplicates
    }

    /// Whether both functions have the same partial states for the same arguments; then either can merge the other's
    /// [`Accumulator::states`].
    pub fn shares_states_with(&self, other: &Self) -> bool {
        self.shared_states.is_some() && self.shared_states == other.shared_states
    }

    /// The types of a call. Arity has been checked.
    pub fn signature(
        &self,
        arguments: &[Argument<'_>],
        session: &SessionParameters,
    ) -> Result<AggregateSignature> {
        (self.bind)(&Binding {
            name: self.names[0],
            arguments,
            session,
        })
    }

    /// Empty states for a call of that signature. `options` are the constant options of the call (GROUP_CONCAT's
    /// separator).
    pub fn accumulator(
        &self,
        signature: &AggregateSignature,
        options: &[Value],
    ) -> Result<Box<dyn Accumulator>> {
        (self.make_accumulator)(signature, options)
    }
}

impl PartialEq for AggregateFunction {
    fn eq(&self, other: &Self) -> bool {
        self.names == other.names
    }
}

impl fmt::Debug for AggregateFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.names[0])
    }
}

/// The states of one aggregate call for groups `0 .. n`.
pub trait Accumulator: Send {
    /// Makes room for groups `0 .. group_count`; new ones start empty. Never shrinks.
    fn resize(&mut self, group_count: usize);

    /// Adds a batch: row `r` belongs to group `groups[r]`.
    fn update(
        &mut self,
        groups: &[u32],
        arguments: &[ArrayRef],
        context: &EvaluationContext,
    ) -> Result<()>;

    /// Adds a batch of which every row belongs to `group`.
    fn update_one_group(
        &mut self,
        group: u32,
        arguments: &[ArrayRef],
        row_count: usize,
        context: &EvaluationContext,
    ) -> Result<()> {
        self.update(&vec![group; row_count], arguments, context)
    }

    /// Combines partial states: row `r` of `state` goes into group `groups[r]`. Never called for an aggregate whose
    /// signature has no state.
    fn merge(
        &mut self,
        _groups: &[u32],
        _state: &[ArrayRef],
        _context: &EvaluationContext,
    ) -> Result<()> {
        Err(stateless())
    }

    /// A copy of the partial states of all groups, one row each. Never called for an aggregate whose function shares
    /// states with no other.
    fn states(&self) -> Result<Vec<ArrayRef>> {
        Err(stateless())
    }

    /// Returns the partial states of all groups, one row each, and resets to no groups. Never called for an aggregate
    /// whose signature has no state.
    fn take_state(&mut self) -> Result<Vec<ArrayRef>> {
        Err(stateless())
    }

    /// Returns the results of all groups, one row each, and resets to no groups.
    fn take_result(&mut self, context: &EvaluationContext) -> Result<ArrayRef>;

    /// Bytes held, for the budget of the temporary table that the states belong to.
    fn memory_bytes(&self) -> usize;
}

/// Error of asking an aggregate without partial states for one: a bug of the planner.
fn stateless() -> Error {
    Error::internal("this aggregate has no partial results")
}

/// Error of arrays that do not match the signature: a bug of the caller.
pub(crate) fn mismatch(name: &str) -> Error {
    Error::internal(format_args!("{name} got an argument of another type"))
}
