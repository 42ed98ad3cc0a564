//! Cost-based choice of the access path of each table (table scan or index), and of the join algorithm (index lookup
//! join or hash join).

use super::noted::access::best as best_noting;
use super::noted::joins;
use super::planning::Planning;
use crate::access::{lookup, path};
use crate::estimate::Estimates;
use crate::options::PlanOptions;
use crate::trace::Trace;
use crate::tree::access::{Access, HintPurpose};
use crate::tree::expression::{Expression, ExpressionKind};
use crate::tree::logical::{
    ColumnSet, Join, Query, Relation, Scan, SharedRelation, has_subquery, with_stack,
};
use crate::tree::physical::JoinKind;

pub(super) fn apply(query: &mut Query, planning: &Planning<'_>) {
    let options = planning.options;
    // Without indexes there is no choice, but the trace records that.
    if planning.trace.is_none() && query.tables.iter().all(|table| table.indexes.is_empty()) {
        return;
    }
    let chooser = Chooser {
        needed: needed_columns(query),
        estimates: Estimates::of(query),
        options,
        trace: planning.trace,
    };
    query.for_each_relation_mut(&mut |relation| match relation {
        Relation::Scan(scan) => chooser.scan(scan),
        Relation::Join(join) => chooser.join(join),
        _ => {}
    });
}

/// Columns that the statement reads anywhere.
pub(super) fn needed_columns(query: &mut Query) -> ColumnSet {
    let mut needed: ColumnSet = query.columns.iter().copied().collect();
    for shared in &query.shared {
        if let Some(source) = &shared.source {
            let last = match source {
                SharedRelation::Plain(_) => &shared.columns,
                SharedRelation::Recursive { step_columns, .. } => step_columns,
            };
            needed.extend_from(&shared.columns.iter().chain(last).copied().collect());
        }
    }
    query.for_each_relation_mut(&mut |relation| {
        relation.for_each_expression(&mut |expression| {
            crate::tree::logical::visit_expression(expression, &mut |inner| {
                match &inner.kind {
                    ExpressionKind::Column(id) => {
                        needed.insert(*id);
                    }
                    ExpressionKind::LogicalSubquery(subquery) => {
                        needed.extend_from(&subquery.columns.iter().copied().collect());
                    }
                    _ => {}
                }
                true
            });
        });
        if let Relation::SetOperation { inputs, .. } = relation {
            for (_, columns) in inputs {
                needed.extend_from(&columns.iter().copied().collect());
            }
        }
    });
    needed
}

struct Chooser<'a> {
    needed: ColumnSet,
    estimates: Estimates,
    options: &'a PlanOptions,
    trace: Option<&'a Trace>,
}

impl Chooser<'_> {
    fn scan(&self, scan: &mut Scan) {
        let (best, possible) = match self.trace {
            None => path::best(scan, &self.needed, self.options),
            Some(trace) => best_noting(scan, &self.needed, self.options, trace),
        };
        scan.possible = possible;
        scan.rows = Some(best.rows);
        scan.access = best.access;
    }

    fn join(&self, join: &mut Join) {
        let on = join.on.clone();
        self.note_possible(&mut join.right, &on);
        if join.kind == JoinKind::Inner {
            self.note_possible(&mut join.left, &on);
        }
        self.follow(join);
    }

    /// Records the indexes of the tables of one side by which a lookup join would be possible.
    fn note_possible(&self, side: &mut Relation, on: &[Expression]) {
        with_stack(|| match side {
            Relation::Scan(scan) => {
                add_possible(scan, lookup::possible(scan, on, self.options));
            }
            Relation::Filter { input, .. } => self.note_possible(input, on),
            Relation::Join(join) if join.kind == JoinKind::Inner => {
                self.note_possible(&mut join.left, on);
                self.note_possible(&mut join.right, on);
            }
            _ => {}
        });
    }

    fn follow(&self, join: &mut Join) {
        if join.lateral || !join.null_aware.is_empty() || join.kind == JoinKind::NullAwareAnti {
            return;
        }
        let left_rows = self.estimates.relation(&join.left);
        let Some(target) = target(&join.right, join.kind, &join.on) else {
            return;
        };
        let mut on = join.on.clone();
        on.extend(
            target
                .conditions
                .iter()
                .map(|condition| (*condition).clone()),
        );
        let scan = target.scan;
        let Some(best) = lookup::best(scan, &on, &self.needed, self.options) else {
            if let Some(trace) = self.trace {
                joins::without_index(join, scan, trace);
            }
            return;
        };
        let (alone, _) = path::best(scan, &self.needed, self.options);
        let joined = left_rows * best.rows_per_row;
        let hashing = match join.kind {
            JoinKind::Inner if !join.straight => {
                let (rows, scan) = (left_rows, 0.0);
                let (left, right) = (
                    lookup::Side { rows, scan },
                    lookup::Side {
                        rows: alone.rows,
                        scan: alone.cost,
                    },
                );
                lookup::inner_hash_cost(left, right, joined)
            }
            _ => lookup::hash_cost(alone.rows, left_rows, joined),
        };
        let hash = alone.cost + hashing;
        let has_key = on.len() > best.joined.iter().filter(|joined| !**joined).count();
        let forced = scan.hints.force(HintPurpose::Join);
        let follows = !has_key || forced || lookup::cost(left_rows, &best) <= hash;
        if let Some(trace) = self.trace {
            let ways = joins::Ways {
                follows,
                forced,
                lookup: lookup::cost(left_rows, &best),
                hash: has_key.then_some(hash),
                left_rows,
                right_rows: alone.rows,
            };
            joins::compared(join, scan, &best, &ways, trace);
        }
        if !follows {
            return;
        }
        let mut scan = scan.clone();
        scan.access = Access::Table;
        scan.rows = None;
        add_possible(&mut scan, vec![best.lookup.index]);
        let mut covered = best.covered.iter();
        scan.predicates
            .retain(|_| !covered.next().copied().unwrap_or(false));
        let mut joined = best.joined.iter();
        on.retain(|_| !joined.next().copied().unwrap_or(false));
        join.on = on;
        *join.right = Relation::Scan(scan);
        join.lookup = Some(best.lookup);
    }
}

/// Adds to the indexes that conditions could use.
pub(super) fn add_possible(scan: &mut Scan, indexes: Vec<usize>) {
    scan.possible.extend(indexes);
    scan.possible.sort_unstable();
    scan.possible.dedup();
}

/// A base table on the right side of a join.
pub(super) struct Target<'r> {
    pub(super) scan: &'r Scan,
    /// Conditions on its rows above it.
    conditions: Vec<&'r Expression>,
}

/// The base table that the right side of a join consists of.
pub(super) fn target<'r>(
    relation: &'r Relation,
    kind: JoinKind,
    on: &[Expression],
) -> Option<Target<'r>> {
    let mut read = ColumnSet::new();
    read.add_read_by(on);
    target_of(relation, kind, &read)
}

/// [`target`] with `read`, the columns that the join and the filters above read.
fn target_of<'r>(relation: &'r Relation, kind: JoinKind, read: &ColumnSet) -> Option<Target<'r>> {
    with_stack(|| match relation {
        Relation::Scan(scan) => Some(Target {
            scan,
            conditions: Vec::new(),
        }),
        Relation::Filter { input, predicates } => {
            if predicates.iter().any(has_subquery) {
                return None;
            }
            let mut read = read.clone();
            read.add_read_by(predicates);
            let mut target = target_of(input, kind, &read)?;
            target.conditions.extend(predicates);
            Some(target)
        }
        // A computed column is not needed in a row of which only the existence matters.
        Relation::Extend { input, columns } if kind.is_left_only() => {
            let is_read = columns.iter().any(|column| read.contains(column.id));
            if is_read {
                return None;
            }
            target_of(input, kind, read)
        }
        _ => None,
    })
}

/// Cost of reading a relation with the chosen access paths.
pub(super) fn cost(
    relation: &Relation,
    needed: &ColumnSet,
    estimates: &Estimates,
    options: &PlanOptions,
) -> f64 {
    let rows = |relation: &Relation| estimates.relation(relation);
    with_stack(|| {
        let inputs: f64 = match relation {
            Relation::Join(join) if join.lookup.is_some() => {
                cost(&join.left, needed, estimates, options)
            }
            _ => relation
                .inputs()
                .into_iter()
                .map(|input| cost(input, needed, estimates, options))
                .sum(),
        };
        let own = match relation {
            Relation::Scan(scan) => scan_cost(scan, needed, options),
            Relation::Join(join) => match (&join.lookup, &*join.right) {
                (Some(lookup), Relation::Scan(scan)) => {
                    let index = &scan.table.indexes[lookup.index];
                    let row = path::row_cost(scan, index, needed);
                    rows(&join.left) * (lookup::key_cost(scan) + lookup.rows_per_key * row)
                }
                _ => lookup::hash_cost(rows(&join.right), rows(&join.left), rows(relation)),
            },
            _ => rows(relation) * path::ROW_COST * 0.5,
        };
        inputs + own
    })
}

/// Cost of reading a table with the chosen access path.
pub(super) fn scan_cost(scan: &Scan, needed: &ColumnSet, options: &PlanOptions) -> f64 {
    let chosen = match &scan.access {
        Access::Table | Access::InOrder(_) => None,
        Access::Merge(merge) => return merge.cost,
        Access::Index(access) => match access.ranges {
            Some(_) => path::range_path(scan, access.index, needed, options),
            None => path::whole_path(scan, access.index, needed, options.locks_rows),
        },
    };
    chosen
        .unwrap_or_else(|| path::table_path(scan, needed, options.locks_rows))
        .cost
}
