//! Eager aggregation: rows are grouped before they are joined where that reduces their number. In `SELECT d.name,
//! SUM(f.amount) FROM facts f JOIN days d ON f.day = d.id GROUP BY d.name` the facts are summed by their day first,
//! each day is joined once, and the sums are summed again (Yan and Larson, "Eager Aggregation and Lazy Aggregation",
//! VLDB 1995).
//!
//! Rows that agree in all columns read above them, except in aggregates, have the same partners in every join, so that
//! their partial group represents all of them; its result counts once for each partner. The rows may be those of either
//! side of an inner join, and of the preserved side of other joins: on the other side of an outer join a NULL-extended
//! row counts as one.
//!
//! An aggregate over columns of other tables does not prevent this if it ignores duplicates. SUM() and AVG() of doubles
//! are not split: their sums are rounded once, at the end.
//!
//! `SUM(CASE WHEN d.name = 'Sunday' THEN f.amount END)` is `SUM(CASE WHEN d.name = 'Sunday' THEN partial END)` over
//! `SUM(f.amount)` of groups whose rows all meet the condition or all do not: the columns that it reads are keys.

use arrow_buffer::i256;
use mayfly_functions::AggregateSignature;
use mayfly_functions::aggregate::{self, Kind};
use mayfly_types::{PhysicalType, SqlType, TypeKind, Value};

use super::planning::Planning;
use super::rule::{NewColumns, is_exact, is_plain, substitute};
use crate::estimate::{Estimates, groups};
use crate::options::PlanOptions;
use crate::tree::expression::{Comparison, Expression, ExpressionKind};
use crate::tree::logical::{
    Aggregate, ColumnId, ColumnSet, Computed, Join, Query, Relation, produced, visit_expression,
    with_stack,
};
use crate::tree::physical::{AggregateCall, JoinKind, Purpose};

/// Minimum factor of the estimated saving: the number of partial groups is estimated poorly.
const RISK: f64 = 1.5;
/// Saving that is not worth another grouping: rows that are joined in about a millisecond.
const NEGLIGIBLE: f64 = 10_000.0;

pub(super) fn apply(query: &mut Query, planning: &Planning<'_>) {
    let is_candidate = |relation: &Relation| match relation {
        Relation::Aggregate(aggregate) => match &*aggregate.input {
            Relation::Extend { input, .. } => joins_below(input),
            input => joins_below(input),
        },
        _ => false,
    };
    if !planning.options.switches.eager_aggregation || !query.holds(is_candidate) {
        return;
    }
    let eager = Eager {
        estimates: Estimates::of(query),
        columns: NewColumns::of(query),
        options: planning.options,
    };
    query.for_each_relation_mut(&mut |relation| {
        if let Relation::Aggregate(aggregate) = relation {
            eager.aggregate(aggregate);
        }
    });
    query.next_column = eager.columns.next();
}

fn joins_below(relation: &Relation) -> bool {
    match relation {
        Relation::Join(_) => true,
        Relation::Filter { input, .. } => joins_below(input),
        _ => false,
    }
}

/// Removes the expressions computed between an aggregate and the joins.
fn take_computed(relation: &mut Relation) -> Vec<Computed> {
    match relation {
        Relation::Extend { input, columns }
            if columns.iter().all(|column| is_plain(&column.expression)) =>
        {
            let columns = std::mem::take(columns);
            *relation = input.take();
            columns
        }
        _ => Vec::new(),
    }
}

struct Eager<'a> {
    estimates: Estimates,
    columns: NewColumns,
    options: &'a PlanOptions,
}

/// Input of a relation on the path to the rows that are grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    Left,
    Right,
}

/// The relations above the rows that are grouped.
#[derive(Clone, Default)]
struct Above<'r> {
    /// Path from the aggregate, one turn for each join.
    turns: Vec<Turn>,
    /// Cardinality of each join on the path, the uppermost first.
    rows: Vec<f64>,
    /// Expressions on the path.
    expressions: Vec<&'r Expression>,
}

/// A place where rows may be grouped.
struct Place {
    turns: Vec<Turn>,
    keys: Vec<Expression>,
    gain: f64,
}

impl Eager<'_> {
    /// Groups rows below an aggregate, where that pays.
    fn aggregate(&self, aggregate: &mut Aggregate) {
        let computed = take_computed(&mut aggregate.input);
        if computed.is_empty() {
            self.group_below(aggregate);
            return;
        }
        let written = (aggregate.keys.clone(), aggregate.aggregates.clone());
        let keys = aggregate.keys.iter_mut().map(|key| &mut key.expression);
        let calls = aggregate.aggregates.iter_mut();
        let arguments = calls.flat_map(|(_, call)| &mut call.arguments);
        keys.chain(arguments)
            .for_each(|expression| substitute(expression, &computed));
        if self.group_below(aggregate).is_none() {
            (aggregate.keys, aggregate.aggregates) = written;
            *aggregate.input = aggregate.input.take().extended(computed);
        }
    }

    fn group_below(&self, aggregate: &mut Aggregate) -> Option<()> {
        let mut best: Option<Place> = None;
        let mut above = Above::default();
        let keys = aggregate.keys.iter().map(|key| &key.expression);
        above.expressions.extend(keys);
        self.search(&aggregate.input, above, aggregate, &mut best);
        let place = best?;
        let rows = at(&mut aggregate.input, &place.turns)?;
        let own = produced(rows);
        let mut partial = Vec::new();
        for (_, call) in &mut aggregate.aggregates {
            if let Some(Part::Partial(in_two)) = Part::of(call, &own) {
                let ids = self.columns.some(in_two.partial.len());
                let merged = in_two.merged(call, ids);
                partial.extend((ids..).zip(in_two.partial));
                *call = merged;
            }
        }
        let keys = place.keys.into_iter().filter_map(|expression| {
            let id = expression.as_column()?;
            Some(Computed { id, expression })
        });
        let cause = "rows are grouped before they are joined";
        let (purpose, keys) = (Purpose::Aggregate, keys.collect());
        let groups = Aggregate::new(rows.take(), keys, partial, purpose, cause);
        *rows = Relation::Aggregate(groups);
        Some(())
    }

    /// Finds the best place below a relation.
    fn search<'r>(
        &self,
        relation: &'r Relation,
        mut above: Above<'r>,
        aggregate: &Aggregate,
        best: &mut Option<Place>,
    ) {
        with_stack(|| match relation {
            Relation::Filter { input, predicates } if predicates.iter().all(is_plain) => {
                above.expressions.extend(predicates);
                self.search(input, above, aggregate, best);
            }
            Relation::Join(join) if is_open(join) => {
                above.expressions.extend(&join.on);
                above.rows.push(self.estimates.relation(relation));
                let mut below = |input, turn| {
                    let mut above = above.clone();
                    above.turns.push(turn);
                    self.consider(input, &above, aggregate, best);
                    self.search(input, above, aggregate, best);
                };
                below(&join.left, Turn::Left);
                if join.kind == JoinKind::Inner {
                    below(&join.right, Turn::Right);
                }
            }
            _ => {}
        });
    }

    fn consider(
        &self,
        rows: &Relation,
        above: &Above<'_>,
        aggregate: &Aggregate,
        best: &mut Option<Place>,
    ) {
        let Some(keys) = keys_of(rows, above, aggregate) else {
            return;
        };
        let gain = self.gain(rows, &keys, above);
        if gain > best.as_ref().map_or(0.0, |best| best.gain) {
            let turns = above.turns.clone();
            *best = Some(Place { turns, keys, gain });
        }
    }

    /// Estimated number of rows saved in grouping and joins; 0 where it does not pay.
    fn gain(&self, rows: &Relation, keys: &[Expression], above: &Above<'_>) -> f64 {
        if self.options.all_rewrites {
            return self.estimates.relation(rows) + 1.0;
        }
        // An unknown cardinality is no reason.
        let is_known = |key| groups::distinct_of(&self.estimates, key).is_some();
        if !keys.iter().all(is_known) {
            return 0.0;
        }
        let count = self.estimates.relation(rows);
        let computed: Vec<Computed> = keys.iter().map(as_computed).collect();
        let groups = groups::grouped(&self.estimates, count, &computed, None);
        let left = (groups / count.max(1.0)).min(1.0);
        // The rows may be found by an index on entering the joins; those that leave the joins are grouped.
        let last = above.rows.last().copied().unwrap_or(count);
        let top = above.rows.first().copied().unwrap_or(count);
        let joined = count.min(last) + above.rows.iter().sum::<f64>() + top;
        let eager = count + joined * left;
        if joined - eager > NEGLIGIBLE && joined > eager * RISK {
            joined - eager
        } else {
            0.0
        }
    }
}

/// A key as a column of its own number; any other key is not a known column.
fn as_computed(key: &Expression) -> Computed {
    let id = match key.kind {
        ExpressionKind::Column(id) => id,
        _ => ColumnId::MAX,
    };
    let expression = key.clone();
    Computed { id, expression }
}

/// Whether the rows of a join's inputs may be grouped below it.
fn is_open(join: &Join) -> bool {
    !join.lateral
        && join.lookup.is_none()
        && join.on.iter().all(is_plain)
        && join.null_aware.is_empty()
}

/// The relation that a path leads to.
fn at<'r>(relation: &'r mut Relation, turns: &[Turn]) -> Option<&'r mut Relation> {
    let Some((turn, rest)) = turns.split_first() else {
        return Some(relation);
    };
    match relation {
        Relation::Filter { input, .. } => at(input, turns),
        Relation::Join(join) => match turn {
            Turn::Left => at(&mut join.left, rest),
            Turn::Right => at(&mut join.right, rest),
        },
        _ => None,
    }
}

/// Columns by which rows are grouped below `above`; `None` if grouping is not possible.
fn keys_of(rows: &Relation, above: &Above<'_>, aggregate: &Aggregate) -> Option<Vec<Expression>> {
    let own = produced(rows);
    let mut readers = above.expressions.clone();
    for (_, call) in &aggregate.aggregates {
        match Part::of(call, &own)? {
            Part::Whole => readers.extend(&call.arguments),
            Part::Partial(in_two) => readers.extend(in_two.condition),
        }
    }
    let mut keys: Vec<Expression> = Vec::new();
    let mut is_fit = true;
    // Columns that a subquery reads are not visible here.
    if !readers.iter().copied().all(is_plain) {
        return None;
    }
    for reader in readers {
        visit_expression(reader, &mut |inner| {
            let ExpressionKind::Column(id) = inner.kind else {
                return is_fit;
            };
            if own.contains(id) {
                is_fit &= is_groupable(&inner.ty) && (is_exact(&inner.ty) || compares(reader, id));
                match keys.iter().find(|key| key.as_column() == Some(id)) {
                    Some(known) => is_fit &= known.ty == inner.ty,
                    None => keys.push(inner.clone()),
                }
            }
            is_fit
        });
    }
    // Without keys no rows make a group, too.
    (is_fit && !keys.is_empty()).then_some(keys)
}

fn is_groupable(ty: &SqlType) -> bool {
    let is_text = matches!(ty.kind, TypeKind::Char | TypeKind::VarChar) && !ty.is_binary_string();
    is_exact(ty) || is_text
}

/// Whether an expression uses a column only in comparisons for equality.
fn compares(expression: &Expression, id: ColumnId) -> bool {
    let is_side = |side: &Expression| side.as_column().is_some() || !side.columns().contains(id);
    match &expression.kind {
        ExpressionKind::Column(_) => true,
        ExpressionKind::Compare {
            comparison: Comparison::Equal,
            left,
            right,
        } => is_side(left) && is_side(right) && left.ty.collation == right.ty.collation,
        _ => false,
    }
}

/// Split of a call.
enum Part<'c> {
    /// The call stays unchanged above the joins.
    Whole,
    Partial(InTwo<'c>),
}

/// A call over partial groups, and the merge of their results.
struct InTwo<'c> {
    partial: Vec<AggregateCall>,
    /// Whether the call merges partial states, and not results of the function itself.
    merges: bool,
    /// Condition that a partial group must meet for its result to count.
    condition: Option<&'c Expression>,
    /// Whether a partial group that does not meet the condition counts as 0, so that a sum is not NULL.
    is_zero_otherwise: bool,
}

/// `CASE WHEN condition THEN value END`, or `… ELSE 0 END`.
struct Conditional<'c> {
    condition: &'c Expression,
    /// A column or a constant, which cannot fail in rows where the condition is not true.
    value: &'c Expression,
    is_zero_otherwise: bool,
}

impl<'c> Conditional<'c> {
    fn of(expression: &'c Expression) -> Option<Self> {
        let ExpressionKind::Case {
            branches,
            otherwise,
        } = &expression.kind
        else {
            return None;
        };
        let [(condition, value)] = branches.as_slice() else {
            return None;
        };
        let is_zero_otherwise = match otherwise.as_deref().map(|otherwise| &otherwise.kind) {
            None | Some(ExpressionKind::Literal(Value::Null)) => false,
            Some(ExpressionKind::Literal(value)) if is_zero(value) => true,
            Some(_) => return None,
        };
        let is_column = match &value.kind {
            ExpressionKind::Column(_) | ExpressionKind::Literal(_) => true,
            ExpressionKind::Cast(inner, None) => {
                inner.as_column().is_some() && is_widened(&inner.ty, &value.ty)
            }
            _ => false,
        };
        is_column.then_some(Self {
            condition,
            value,
            is_zero_otherwise,
        })
    }
}

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Int(number) => *number == 0,
        Value::UInt(number) => *number == 0,
        Value::Decimal { unscaled, .. } => *unscaled == i256::ZERO,
        _ => false,
    }
}

/// Whether every decimal of a type is also one of the other.
fn is_widened(from: &SqlType, to: &SqlType) -> bool {
    let is_decimal = |ty: &SqlType| ty.kind == TypeKind::Decimal;
    let whole = |ty: &SqlType| ty.length.saturating_sub(ty.decimals.into());
    is_decimal(from)
        && is_decimal(to)
        && from.decimals <= to.decimals
        && whole(from) <= whole(to)
        && from.unsigned <= to.unsigned
}

impl<'c> Part<'c> {
    /// Split of a call above rows with these columns; `None` where these must not be grouped.
    fn of(call: &'c AggregateCall, own: &ColumnSet) -> Option<Self> {
        if !call.arguments.iter().all(is_plain) || !call.order_by.is_empty() || call.merges {
            return None;
        }
        if !call.distinct
            && let Some(in_two) = InTwo::of(call, own)
        {
            return Some(Self::Partial(in_two));
        }
        call.minds_no_repeats().then_some(Self::Whole)
    }
}

impl<'c> InTwo<'c> {
    /// Split of a call that reads only these columns, except in a condition.
    fn of(call: &'c AggregateCall, own: &ColumnSet) -> Option<Self> {
        let mut arguments = call.arguments.iter();
        if arguments.all(|one| one.columns().is_subset(own)) {
            return Self::of_own(call);
        }
        let [argument] = call.arguments.as_slice() else {
            return None;
        };
        let conditional = Conditional::of(argument)?;
        if !conditional.value.columns().is_subset(own)
            || conditional.is_zero_otherwise && call.function.kind() != Kind::Sum
        {
            return None;
        }
        let of_value = AggregateCall {
            arguments: vec![conditional.value.clone()],
            ..call.clone()
        };
        let in_two = Self::of_own(&of_value)?;
        Some(Self {
            partial: in_two.partial,
            merges: in_two.merges,
            condition: Some(conditional.condition),
            is_zero_otherwise: conditional.is_zero_otherwise,
        })
    }

    fn of_own(call: &AggregateCall) -> Option<InTwo<'static>> {
        let signature = &call.signature;
        let count = || {
            let function = aggregate::by_name("count")?;
            let state = vec![SqlType::bigint()];
            let result = SqlType::bigint();
            Some(partial(call, function, state, result, false))
        };
        let sum = || {
            let state = signature.state.first()?;
            let function = aggregate::by_name("sum")?;
            let is_exact = state.kind == TypeKind::Decimal;
            let states = signature.state.clone();
            is_exact.then(|| partial(call, function, states, state.clone(), true))
        };
        let (partial, merges) = match call.function.kind() {
            Kind::Count => (vec![count()?], true),
            Kind::Sum => (vec![sum()?], false),
            Kind::Avg => (vec![sum()?, count()?], true),
            Kind::Min | Kind::Max | Kind::BitAnd | Kind::BitOr
                if signature.arguments.first() == Some(&signature.result) =>
            {
                (vec![call.clone()], false)
            }
            _ => return None,
        };
        Some(InTwo {
            partial,
            merges,
            condition: None,
            is_zero_otherwise: false,
        })
    }

    /// The call over the results of the partial ones, whose columns are numbered from `first` on.
    fn merged(&self, call: &AggregateCall, first: ColumnId) -> AggregateCall {
        let columns = (first..).zip(&self.partial);
        let arguments = columns.map(|(id, partial)| {
            let signature = &partial.signature;
            let column = Expression::column(id, signature.result.clone(), signature.nullable);
            match self.condition {
                None => column,
                // A missing count is 0.
                Some(condition) => {
                    let counts = partial.function.kind() == Kind::Count;
                    where_met(condition, column, counts || self.is_zero_otherwise)
                }
            }
        });
        let arguments: Vec<Expression> = arguments.collect();
        let signature = if self.merges {
            call.signature.clone()
        } else {
            AggregateSignature {
                arguments: arguments.iter().map(|one| one.ty.clone()).collect(),
                ..call.signature.clone()
            }
        };
        AggregateCall {
            signature,
            merges: self.merges,
            arguments,
            ..call.clone()
        }
    }
}

/// Value of a partial group that meets a condition; else 0, or NULL.
fn where_met(condition: &Expression, value: Expression, is_zero_otherwise: bool) -> Expression {
    let ty = value.ty.clone();
    let nullable = value.nullable || !is_zero_otherwise;
    let zero = || match ty.physical() {
        PhysicalType::Int64 => Value::Int(0),
        _ => Value::Decimal {
            unscaled: i256::ZERO,
            scale: ty.decimals,
        },
    };
    let zero = is_zero_otherwise.then(|| Box::new(Expression::literal(zero(), ty.clone())));
    let kind = ExpressionKind::Case {
        branches: vec![(condition.clone(), value)],
        otherwise: zero,
    };
    Expression::new(kind, ty, nullable)
}

/// A call over the same arguments with partial state.
fn partial(
    call: &AggregateCall,
    function: &'static aggregate::AggregateFunction,
    state: Vec<SqlType>,
    result: SqlType,
    nullable: bool,
) -> AggregateCall {
    AggregateCall {
        function,
        signature: AggregateSignature {
            arguments: call.signature.arguments.clone(),
            state,
            result,
            nullable,
        },
        ..call.clone()
    }
}
