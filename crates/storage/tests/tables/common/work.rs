//! Uses of each access structure, common to tests with and without faults and limits: each piece of work returns its
//! result as text that does not depend on memory.

use std::sync::Arc;

use arrow_array::{Float64Array, Int64Array};
use mayfly_storage::{
    Access, GroupIndex, JoinIndex, JoinMatches, KeyColumn, PartitionQueue, TempTable,
    TempTableContext, TempTableWriter,
};
use mayfly_types::{Batch, PhysicalType, Result, Value};

use super::{Fixture, drain, filled_by, row, rows, sort_keys, sorted_text, spec};

/// Column types of the work's batches.
pub(crate) const TYPES: [PhysicalType; 3] = [
    PhysicalType::Bytes,
    PhysicalType::Int64,
    PhysicalType::Float64,
];

/// Use of a table; returns the result as text.
pub(crate) type Work = fn(&Fixture, &TempTableContext, &[Batch]) -> Result<Vec<String>>;

/// The uses of every access structure.
pub(crate) const WORKS: [(&str, Work); 8] = [
    ("plain", plain),
    ("distinct", distinct),
    ("aggregate", aggregate),
    ("join by partitions", join_by_partitions),
    ("join in pieces", join_in_pieces),
    ("join by index", join_by_index),
    ("sort", sort),
    ("sort with limit", sort_with_limit),
];

fn fill(context: &TempTableContext, access: Access, batches: &[Batch]) -> Result<TempTable> {
    filled_by(2, context, spec(&TYPES, access), batches)
}

fn plain(_: &Fixture, context: &TempTableContext, batches: &[Batch]) -> Result<Vec<String>> {
    let table = fill(context, Access::Plain, batches)?;
    let mut found = Vec::new();
    let mut scan = table.scan(None);
    // Twice, like a common table expression that is referenced twice.
    for _ in 0..2 {
        found.extend(drain(|| scan.next_batch())?);
        scan.rewind();
    }
    Ok(sorted_text(&found))
}

fn distinct(_: &Fixture, context: &TempTableContext, batches: &[Batch]) -> Result<Vec<String>> {
    let keys = vec![KeyColumn::binary(0), KeyColumn::binary(1)];
    let table = fill(context, Access::Hash(keys), batches)?;
    let queue = table.partitions();
    let mut found = Vec::new();
    while let Some(partition) = queue.next_partition()? {
        let groups = partition.groups()?;
        found.extend(rows(&[partition.gather(&[0, 1], groups.first_rows())?]));
    }
    Ok(sorted_text(&found))
}

fn aggregate(_: &Fixture, context: &TempTableContext, batches: &[Batch]) -> Result<Vec<String>> {
    // Like the operator: an index as long as it has room, then a partitioned table of the index's rows and the
    // remaining ones.
    let keys = vec![KeyColumn::binary(0)];
    let table = TempTable::create(context, spec(&TYPES, Access::Hash(keys)))?;
    let mut index = GroupIndex::for_table(&table)?;
    let mut writer = table.writer();
    let mut counts: Vec<i64> = Vec::new();
    let mut ids = Vec::new();
    let flush = |index: &mut GroupIndex, counts: &mut Vec<i64>, writer: &mut TempTableWriter| {
        let groups = index.group_count();
        let mut start = 0;
        while start < groups {
            let end = groups.min(start + 500);
            let mut columns = index.keys(start..end)?.into_columns();
            let part = counts[start..end].iter().copied();
            columns.push(Arc::new(part.collect::<Int64Array>()));
            columns.push(Arc::new(Float64Array::from(vec![0.0; end - start])));
            writer.append(&Batch::new(columns, end - start))?;
            start = end;
        }
        index.clear();
        counts.clear();
        Ok::<_, mayfly_types::Error>(())
    };
    for batch in batches {
        let mut start = 0;
        while start < batch.row_count() {
            let rest = batch.slice(start, batch.row_count() - start);
            let taken = index.find_or_insert(&rest.columns()[..1], rest.row_count(), &mut ids)?;
            counts.resize(index.group_count(), 0);
            for id in &ids {
                counts[*id as usize] += 1;
            }
            start += taken;
            if start < batch.row_count() {
                flush(&mut index, &mut counts, &mut writer)?;
            }
        }
    }
    flush(&mut index, &mut counts, &mut writer)?;
    drop(index);
    writer.finish()?;
    let queue = table.partitions();
    let mut found = Vec::new();
    while let Some(partition) = queue.next_partition()? {
        let groups = partition.groups()?;
        let mut counts = vec![0; groups.group_count()];
        let all = partition.read(&[1], 0..partition.row_count())?;
        for (n, id) in groups.ids().iter().enumerate() {
            if let Value::Int(count) = row(&all, n)[0] {
                counts[*id as usize] += count;
            }
        }
        let keys = partition.gather(&[0], groups.first_rows())?;
        for (n, count) in counts.iter().enumerate() {
            let mut key = row(&keys, n);
            key.push(Value::Int(*count));
            found.push(key);
        }
    }
    Ok(sorted_text(&found))
}

fn matches(index: &JoinIndex, probe: &Batch, found: &mut Vec<Vec<Value>>) -> Result<()> {
    let mut state = index.probe(&[probe.column(1).clone()], probe.row_count())?;
    let mut matches = JoinMatches::default();
    while index.next_matches(&mut state, 300, &mut matches) {
        let columns = index.gather(&[0, 2], &matches.build_rows)?;
        let build = Batch::new(columns, matches.build_rows.len());
        for (n, probe_row) in matches.probe_rows.iter().enumerate() {
            let mut pair = row(probe, *probe_row as usize);
            pair.extend(row(&build, n));
            found.push(pair);
        }
    }
    Ok(())
}

fn join_key() -> Access {
    Access::Hash(vec![KeyColumn {
        null_safe: false,
        ..KeyColumn::binary(1)
    }])
}

/// Part of the rows, so that a join does not give too many.
fn some(batches: &[Batch]) -> &[Batch] {
    &batches[..batches.len().div_ceil(4)]
}

fn join_by_partitions(
    _: &Fixture,
    context: &TempTableContext,
    batches: &[Batch],
) -> Result<Vec<String>> {
    join_pairs(context, batches, some(batches))
}

/// A join of few rows with all, with one key for all rows.
fn join_in_pieces(
    _: &Fixture,
    context: &TempTableContext,
    batches: &[Batch],
) -> Result<Vec<String>> {
    let of_one_key = |batch: &Batch| {
        let mut columns = batch.columns().to_vec();
        columns[1] = Arc::new(Int64Array::from(vec![7; batch.row_count()]));
        Batch::new(columns, batch.row_count())
    };
    let build: Vec<Batch> = batches.iter().map(of_one_key).collect();
    let probe = build[0].slice(0, 2.min(build[0].row_count()));
    join_pairs(context, &build, &[probe])
}

fn join_pairs(context: &TempTableContext, build: &[Batch], probe: &[Batch]) -> Result<Vec<String>> {
    let build = fill(context, join_key(), build)?;
    let probe = fill(context, join_key(), probe)?;
    let queue = PartitionQueue::pairs(&build, &probe);
    let mut found = Vec::new();
    while let Some(mut pair) = queue.next_pair()? {
        while let Some(index) = pair.next_index()? {
            while let Some(batch) = pair.next_probed(&mut Vec::new())? {
                matches(&index, &batch, &mut found)?;
            }
        }
    }
    Ok(sorted_text(&found))
}

fn join_by_index(
    fixture: &Fixture,
    context: &TempTableContext,
    batches: &[Batch],
) -> Result<Vec<String>> {
    let build = fill(context, join_key(), batches)?;
    let Some(index) = build.join_index()? else {
        drop(build);
        return join_by_partitions(fixture, context, batches);
    };
    let mut found = Vec::new();
    for batch in some(batches) {
        matches(&index, batch, &mut found)?;
    }
    Ok(sorted_text(&found))
}

fn ordered(
    context: &TempTableContext,
    batches: &[Batch],
    offset: u64,
    limit: Option<u64>,
) -> Result<Vec<String>> {
    let access = Access::Ordered {
        keys: sort_keys(&[(0, false), (1, true)]),
        limit: limit.map(|limit| limit + offset),
    };
    let table = fill(context, access, batches)?;
    let mut scan = table.sorted(offset, limit)?;
    let found = drain(|| scan.next_batch())?;
    Ok(found.iter().map(|row| format!("{row:?}")).collect())
}

fn sort(_: &Fixture, context: &TempTableContext, batches: &[Batch]) -> Result<Vec<String>> {
    ordered(context, batches, 0, None)
}

fn sort_with_limit(
    _: &Fixture,
    context: &TempTableContext,
    batches: &[Batch],
) -> Result<Vec<String>> {
    // The number of rows exceeds the limits, although rows beyond the LIMIT are dropped early.
    ordered(context, batches, 1000, Some(4200))
}
