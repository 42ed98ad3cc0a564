//! Adaptive joins: the hash join that an index lookup join changes to when more left rows come than were estimated.
//!
//! Estimates of joined and filtered rows are wrong by orders of magnitude where columns are correlated. A lookup costs
//! tens of times as much as a row of a scan, so that a lookup join for a few rows is the worst plan for many. Once the
//! lookups have cost as much as a hash join with the whole right table, the executor makes its hash table, and the
//! join costs at most about twice the better plan. (The choice at run time between both is that of SQL Server's adaptive
//! joins; the point of change is that of the ski rental problem.)
//!
//! Only joins whose keys find one row each change: those rows come in the order of the left ones either way.

use mayfly_types::{Result, SqlType};

use crate::access::lookup;
use crate::estimate::selectivity;
use crate::lower::Lowering;
use crate::tree::access::{HintPurpose, Lookup, LookupKey};
use crate::tree::expression::Expression;
use crate::tree::logical::{ColumnId, ColumnSet, Scan, expression_is_volatile, has_subquery};
use crate::tree::physical::{AdaptiveHash, POSITION, Purpose, TemporaryTable};

/// Cause of the temporary table, for users.
const CAUSE: &str = "more rows than estimated: hash join instead of further lookups";

/// Whether a lookup by a value compares like a hash join by it.
fn is_hashed_alike(value: &SqlType, column: &SqlType) -> bool {
    let same = value.kind == column.kind && value.decimals == column.decimals;
    value.physical() == column.physical()
        && column.members.is_empty()
        && (same
            || value.is_integer() && column.is_integer()
            || value.is_string() && column.is_string())
}

impl Lowering {
    /// Hash join that may replace the lookups of a join into `scan`, whose conditions that the index does not answer are
    /// `on` and those of `scan`. `columns` are read of the table, and `layout` are the columns of both sides, with the
    /// `left` ones first.
    pub(super) fn adaptive_hash(
        &mut self,
        (scan, lookup): (&Scan, &Lookup),
        on: &[Expression],
        columns: &[usize],
        (layout, types, left): (&[ColumnId], &[SqlType], usize),
        needed: &ColumnSet,
    ) -> Result<Option<AdaptiveHash>> {
        let Some(index) = scan.table.indexes.get(lookup.index) else {
            return Ok(None);
        };
        let conditions = || on.iter().chain(&scan.predicates);
        let is_plain = |one: &Expression| !has_subquery(one) && !expression_is_volatile(one);
        let is_alike = |(key, column): (&LookupKey, usize)| {
            let ty = &scan.table.columns[column].ty;
            !key.null_safe && is_hashed_alike(&key.value.ty, ty)
        };
        let key_columns = || index.parts.iter().map(|part| part.column);
        if scan.table.scans.is_some()
            || scan.hints.force(HintPurpose::Join)
            || columns.contains(&POSITION)
            || !lookup.keys.iter().zip(key_columns()).all(is_alike)
            || !conditions().all(is_plain)
        {
            return Ok(None);
        }
        let (right, types) = (&layout[left..], &types[left..]);
        let own: ColumnSet = right.iter().copied().collect();
        let (of_table, of_both): (Vec<Expression>, Vec<Expression>) = conditions()
            .cloned()
            .partition(|condition| condition.columns().is_subset(&own));
        let kept = selectivity::of_conjunction(scan, &scan.predicates);
        let rows = scan.table.row_count as f64 * kept;
        let temporary = TemporaryTable::new(Purpose::Join, CAUSE);
        Ok(Some(AdaptiveHash {
            after: match self.hashes_at_once {
                true => 0,
                false => lookup::count_at_cost_of_hash(scan, lookup, rows, needed),
            },
            rows,
            keys: key_columns().take(lookup.keys.len()).collect(),
            predicate: self.conjunction(of_table, right)?,
            residual: self.conjunction(of_both, layout)?,
            temporary: self.sized(temporary, right, types),
        }))
    }
}
