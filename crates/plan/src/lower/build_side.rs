//! Build sides of hash joins: which side it is, and how the filter of its keys reduces the other one.
//!
//! The smaller side is the build side. Its keys filter the scans of the probe side, and so do those of the joins above:
//! a side that they make the smaller one becomes the build side, and filters the other.

use mayfly_types::PhysicalType;

use crate::estimate::joins;
use crate::lower::{Lowered, Lowering};
use crate::tree::expression::{Expression, ExpressionKind};
use crate::tree::logical::with_stack;
use crate::tree::physical::{JoinKey, JoinKind, Operator, Plan};

/// Minimum ratio of the other side's rows for a preserved side to be the build side: matches must be marked, and its
/// rows are kept whole.
const PRESERVED_ROWS_FACTOR: f64 = 1.5;

/// Maximum build rows that are assumed to stay in memory from round to round of a recursion.
const SAME_IN_ROUNDS_MAX: f64 = 250_000.0;

/// Whether a plan reads the rows of the previous round of a recursion.
fn reads_round(plan: &Plan) -> bool {
    if matches!(plan.operator, Operator::WorkingTable { .. }) {
        return true;
    }
    let mut found = false;
    with_stack(|| plan.for_each_input(&mut |input| found = found || reads_round(input)));
    found
}

/// Whether the left side is the build side.
pub(super) fn builds_left(kind: JoinKind, left: &Plan, right: &Plan) -> bool {
    let (left_rows, right_rows) = (left.estimated_rows, right.estimated_rows);
    // A hash table over rows that are equal in all rounds of a recursion is built once.
    if right_rows < SAME_IN_ROUNDS_MAX && reads_round(left) {
        return false;
    }
    if kind == JoinKind::Inner && left_rows < SAME_IN_ROUNDS_MAX && reads_round(right) {
        return true;
    }
    match kind {
        JoinKind::Inner => left_rows < right_rows,
        JoinKind::Left | JoinKind::Semi | JoinKind::Anti => {
            let held = HeldTables::of(left);
            let rows = left_rows * PRESERVED_ROWS_FACTOR + held.rows;
            rows < right_rows && (held.count <= HELD_TABLES_MAX || rows < HELD_ROWS_MIN)
        }
        // A NULL on the right side affects all rows.
        JoinKind::NullAwareAnti => false,
    }
}

/// Maximum number of hash tables below a join that builds over its preserved side: each of a chain of such joins would
/// hold its own while the next one is filled, where memory may be short.
const HELD_TABLES_MAX: usize = 3;

/// Number of rows that hash tables may hold together without counting as many.
const HELD_ROWS_MIN: f64 = 65536.0;

/// Hash tables that a plan holds while its rows are read.
#[derive(Default)]
struct HeldTables {
    count: usize,
    /// Rows of all of them.
    rows: f64,
}

impl HeldTables {
    fn of(plan: &Plan) -> Self {
        let mut held = Self::default();
        held.add(plan);
        held
    }

    /// Adds the hash tables of a plan, up to the maximum.
    fn add(&mut self, plan: &Plan) {
        if self.count > HELD_TABLES_MAX && self.rows >= HELD_ROWS_MIN {
            return;
        }
        with_stack(|| {
            if let Operator::HashJoin {
                left,
                right,
                build_left,
                ..
            } = &plan.operator
            {
                let built = if *build_left { left } else { right };
                self.count += 1;
                self.rows += built.estimated_rows;
            }
            plan.for_each_input(&mut |input| self.add(input));
        });
    }
}

/// Maximum number of keys of a hash join that filter the scans of its probe side.
const FILTERED_KEYS_MAX: usize = 2;

/// Reduces the estimates of a plan and its inputs by a filter on a column that is pushed down to the scan. Returns
/// whether the filter reached a scan.
fn leave_out(plan: &mut Plan, column: usize, part: f64) -> bool {
    let is_filtered = with_stack(|| match &mut plan.operator {
        Operator::TableScan { .. } => true,
        Operator::Filter { input, .. } | Operator::Block { input, .. } => {
            leave_out(input, column, part)
        }
        Operator::Project { input, expressions } => match expressions.get(column) {
            Some(Expression {
                kind: ExpressionKind::Column(column),
                ..
            }) => leave_out(input, *column, part),
            _ => false,
        },
        Operator::HashJoin {
            kind,
            left,
            right,
            keys,
            build_left,
            filters,
            ..
        } => {
            let is_filtered = match column.checked_sub(left.output.len()) {
                None => leave_out(left, column, part),
                Some(column) => *kind == JoinKind::Inner && leave_out(right, column, part),
            };
            if is_filtered && *kind == JoinKind::Inner {
                change_sides((left, right), keys, build_left, filters, part);
            }
            is_filtered
        }
        Operator::Aggregate { input, grouping } if grouping.takes_key_filter() => {
            match grouping.keys.get(column).map(|key| &key.kind) {
                Some(ExpressionKind::Column(column)) => leave_out(input, *column, part),
                _ => false,
            }
        }
        Operator::IndexLookupJoin(join) => {
            column < join.left.output.len() && leave_out(&mut join.left, column, part)
        }
        _ => false,
    });
    if is_filtered {
        plan.estimated_rows *= part;
    }
    is_filtered
}

/// Whether the values of a key on the build side filter scans of the probe side.
fn has_filter(key: &&JoinKey) -> bool {
    let physical = [key.left.ty.physical(), key.right.ty.physical()];
    !key.null_safe
        && physical[0] == physical[1]
        && matches!(physical[0], PhysicalType::Int64 | PhysicalType::UInt64)
}

/// Makes the probe side of an inner join the build side if a filter from above, which lets a `part` of its rows pass,
/// has made it the smaller one. It filters the other side then, and no longer has filters by the other's keys.
fn change_sides(
    (left, right): (&mut Plan, &mut Plan),
    keys: &[JoinKey],
    build_left: &mut bool,
    filters: &mut Vec<(usize, f64)>,
    part: f64,
) {
    let (probe, built) = match *build_left {
        true => (right, left),
        false => (left, right),
    };
    let own: f64 = filters.iter().map(|(_, part)| part).product();
    let all = probe.estimated_rows / own.max(f64::MIN_POSITIVE);
    if all >= built.estimated_rows || reads_round(probe) {
        return;
    }
    for (column, part) in filters.drain(..) {
        leave_out(probe, column, 1.0 / part);
    }
    *build_left = !*build_left;
    for key in keys.iter().filter(has_filter).take(FILTERED_KEYS_MAX) {
        let own = match *build_left {
            true => &key.right,
            false => &key.left,
        };
        if let ExpressionKind::Column(column) = own.kind
            && leave_out(built, column, part)
        {
            filters.push((column, part));
        }
    }
}

impl Lowering {
    /// Reduces the estimates of the scans on the probe side of a hash join by the filters of the build side's keys. Returns
    /// the filters that reach a scan: (column of the probe side, fraction of the rows that it lets pass).
    pub(super) fn filter_by_keys(
        &self,
        probe: &mut Lowered,
        built_rows: f64,
        equalities: &[JoinKey],
        build_left: bool,
    ) -> Vec<(usize, f64)> {
        let mut filters = Vec::new();
        for key in equalities.iter().filter(has_filter).take(FILTERED_KEYS_MAX) {
            let (own, other) = if build_left {
                (&key.right, &key.left)
            } else {
                (&key.left, &key.right)
            };
            let ExpressionKind::Column(id) = own.kind else {
                continue;
            };
            if let Some(position) = probe.layout.iter().position(|known| *known == id) {
                let part = joins::met_keys(&self.estimates, own, other, built_rows);
                // A part of none could not be taken back.
                let part = part.max(f64::MIN_POSITIVE.sqrt());
                if leave_out(&mut probe.plan, position, part) {
                    filters.push((position, part));
                }
            }
        }
        filters
    }
}
