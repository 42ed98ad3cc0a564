//! Lowering of joins: the keys of a hash join, and its build side.

use mayfly_types::Result;

use crate::estimate::joins;
use crate::lower::build_side::builds_left;
use crate::lower::{Lowered, Lowering, covers, internal, narrowed};
use crate::predicates::sides_of_equality;
use crate::tree::access::LookupKey;
use crate::tree::expression::{Comparison, Expression, ExpressionKind};
use crate::tree::logical::{ColumnId, ColumnSet, Join, Relation, produced};
use crate::tree::physical::{
    IndexLookupJoin, JoinKey, JoinKind, Operator, POSITION, Purpose, TemporaryTable, position_type,
};

/// Splits a condition into equalities between both sides and the rest.
fn split(
    on: Vec<Expression>,
    left: &ColumnSet,
    right: &ColumnSet,
) -> (Vec<JoinKey>, Vec<Expression>) {
    let mut equalities = Vec::new();
    let mut rest = Vec::new();
    for predicate in on {
        match sides_of_equality(&predicate, left, right) {
            None => rest.push(predicate),
            Some(swapped) => {
                let ExpressionKind::Compare {
                    comparison,
                    left: a,
                    right: b,
                } = predicate.kind
                else {
                    continue;
                };
                let (mut left, right) = if swapped { (*b, *a) } else { (*a, *b) };
                // The collation is that of the side written first.
                if swapped && left.ty.is_string() && right.ty.is_string() {
                    left.ty.collation = right.ty.collation;
                }
                equalities.push(JoinKey {
                    left,
                    right,
                    null_safe: comparison == Comparison::NullSafeEqual,
                });
            }
        }
    }
    (equalities, rest)
}

/// Minimum build rows for the estimate of a filter's use: a smaller filter costs next to nothing.
const FILTERED_ROWS_MIN: f64 = 65536.0;

/// Maximum fraction of rows that a useful filter lets pass.
const PARTNERED_MIN: f64 = 0.75;

impl Lowering {
    pub(super) fn join(&mut self, join: Join, required: &ColumnSet) -> Result<Lowered> {
        let mut needed = required.clone();
        needed.add_read_by(&join.on);
        let pairs = join.null_aware.iter();
        needed.add_read_by(pairs.flat_map(|(left, right)| [left, right]));
        if join.lateral {
            return self.apply(join, &needed);
        }
        if join.lookup.is_some() {
            return self.lookup_join(join, needed);
        }
        let left_columns = produced(&join.left);
        let right_columns = produced(&join.right);
        let mut left = self.relation(*join.left, &needed)?;
        let right = self.relation(*join.right, &needed)?;
        let mut right = narrowed(right, &needed);
        let mut kind = join.kind;
        if !join.null_aware.is_empty() {
            kind = JoinKind::NullAwareAnti;
        }
        let left_rows = left.plan.estimated_rows;
        let right_rows = right.plan.estimated_rows;
        let estimated_rows = joins::joined(
            &self.estimates,
            kind,
            (left_rows, right_rows),
            &right_columns,
            (&join.on, &join.null_aware),
        );
        let build_left = !join.straight && builds_left(kind, &left.plan, &right.plan);
        let (probed, built, built_columns) = if build_left {
            (right_rows, left_rows, &left_columns)
        } else {
            (left_rows, right_rows, &right_columns)
        };
        let can_filter = matches!(kind, JoinKind::Inner | JoinKind::Semi);
        let partnered = can_filter && built >= FILTERED_ROWS_MIN && {
            let conditions = (&*join.on, &*join.null_aware);
            let sides = (probed, built);
            let met = joins::joined(
                &self.estimates,
                JoinKind::Semi,
                sides,
                built_columns,
                conditions,
            );
            met > probed * PARTNERED_MIN
        };
        let (mut equalities, residual) = split(join.on, &left_columns, &right_columns);
        if !join.null_aware.is_empty() {
            equalities.extend(join.null_aware.into_iter().map(|(left, right)| JoinKey {
                left,
                right,
                null_safe: false,
            }));
        }
        let mut both = left.layout.clone();
        both.extend_from_slice(&right.layout);
        let condition = self.conjunction(residual, &both)?;
        let mut output = left.plan.output.clone();
        let layout = if kind.is_left_only() {
            left.layout.clone()
        } else {
            output.extend_from_slice(&right.plan.output);
            both
        };
        if equalities.is_empty() {
            let cause = "join without an equality keeps its right side";
            let operator = Operator::NestedLoopJoin {
                kind,
                left: Box::new(left.plan),
                right: Box::new(right.plan),
                condition,
                temporary: TemporaryTable::new(Purpose::Join, cause),
            };
            return Ok(self
                .numbering
                .lowered(operator, output, estimated_rows, layout));
        }
        let filters = if matches!(kind, JoinKind::Inner | JoinKind::Semi) {
            let (probe, built) = if build_left {
                (&mut right, left_rows)
            } else {
                (&mut left, right_rows)
            };
            self.filter_by_keys(probe, built, &equalities, build_left)
        } else {
            Vec::new()
        };
        let keys = self.join_keys(equalities, &left.layout, &right.layout)?;
        let cause = "join has no index to follow: hash table over its smaller side";
        let built = if build_left { &left } else { &right };
        let temporary = TemporaryTable::new(Purpose::Join, cause);
        let temporary = self.sized(temporary, &built.layout, &built.plan.output);
        let operator = Operator::HashJoin {
            kind,
            left: Box::new(left.plan),
            right: Box::new(right.plan),
            keys,
            residual: condition,
            build_left,
            partnered,
            filters,
            temporary,
        };
        Ok(self
            .numbering
            .lowered(operator, output, estimated_rows, layout))
    }

    /// Lowers an index lookup join.
    fn lookup_join(&mut self, join: Join, mut needed: ColumnSet) -> Result<Lowered> {
        let (Some(lookup), Relation::Scan(mut scan)) = (join.lookup, *join.right) else {
            return Err(internal("a lookup join reads no table"));
        };
        needed.add_read_by(lookup.keys.iter().map(|key| &key.value));
        needed.add_read_by(&scan.predicates);
        let left = self.relation(*join.left, &needed)?;
        let mut both = left.layout.clone();
        let mut output = left.plan.output.clone();
        let mut columns = Vec::new();
        for (index, column) in scan.table.columns.iter().enumerate() {
            if needed.contains(scan.first + index) {
                columns.push(index);
                both.push(scan.first + index);
                output.push(column.ty.clone());
            }
        }
        if needed.contains(scan.position()) {
            columns.push(POSITION);
            both.push(scan.position());
            output.push(position_type());
        }
        let kept = self.estimates.kept(&scan, &lookup, &join.on);
        let found = lookup.rows_per_key * kept;
        let estimated_rows = joins::looked_up(join.kind, left.plan.estimated_rows, found);
        let finds_one = scan.table.indexes.get(lookup.index).is_some_and(|index| {
            let mut keys = lookup.keys.iter();
            index.unique && keys.len() == index.parts.len() && !keys.any(|key| key.null_safe)
        });
        let hash = match finds_one {
            true => self.adaptive_hash(
                (&scan, &lookup),
                &join.on,
                &columns,
                (&both, &output, left.layout.len()),
                &needed,
            )?,
            false => None,
        };
        let mut conditions = join.on;
        conditions.append(&mut scan.predicates);
        let keys = lookup
            .keys
            .into_iter()
            .map(|key| {
                Ok(LookupKey {
                    value: self.expression(key.value, &left.layout)?,
                    null_safe: key.null_safe,
                })
            })
            .collect::<Result<Vec<_>>>()?;
        let residual = self.conjunction(conditions, &both)?;
        let layout = if join.kind.is_left_only() {
            output.truncate(left.layout.len());
            left.layout
        } else {
            both
        };
        let operator = Operator::IndexLookupJoin(Box::new(IndexLookupJoin {
            kind: join.kind,
            left: left.plan,
            covering: covers(&scan.table, lookup.index, &columns),
            table: scan.table,
            alias: scan.alias,
            index: lookup.index,
            columns,
            keys,
            residual,
            rows_per_key: lookup.rows_per_key,
            kept,
            finds_one,
            hash,
            possible: scan.possible,
        }));
        Ok(self
            .numbering
            .lowered(operator, output, estimated_rows, layout))
    }

    fn join_keys(
        &mut self,
        equalities: Vec<JoinKey>,
        left: &[ColumnId],
        right: &[ColumnId],
    ) -> Result<Vec<JoinKey>> {
        equalities
            .into_iter()
            .map(|equality| {
                Ok(JoinKey {
                    left: self.expression(equality.left, left)?,
                    right: self.expression(equality.right, right)?,
                    null_safe: equality.null_safe,
                })
            })
            .collect()
    }

    /// Lowers a lateral join: the right side is run for every left row.
    fn apply(&mut self, join: Join, needed: &ColumnSet) -> Result<Lowered> {
        let mut left_needed = needed.clone();
        left_needed.extend_from(&crate::tree::logical::free_columns(&join.right));
        let left = self.relation(*join.left, &left_needed)?;
        let right = *join.right;
        let (right, parameters) =
            self.in_frame(&left.layout, |lowering| lowering.relation(right, needed))?;
        let mut both = left.layout.clone();
        both.extend_from_slice(&right.layout);
        let condition = self.conjunction(join.on, &both)?;
        let mut output = left.plan.output.clone();
        let layout = if join.kind.is_left_only() {
            left.layout.clone()
        } else {
            output.extend_from_slice(&right.plan.output);
            both
        };
        let (outer, inner) = (left.plan.estimated_rows, right.plan.estimated_rows);
        let estimated_rows = joins::lateral(join.kind, outer, inner);
        let operator = Operator::Apply {
            kind: join.kind,
            left: Box::new(left.plan),
            right: Box::new(right.plan),
            parameters,
            condition,
        };
        Ok(self
            .numbering
            .lowered(operator, output, estimated_rows, layout))
    }
}
