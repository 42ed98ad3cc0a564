//! Base tables: what is scanned is what was appended, at any limit.
#![expect(clippy::unwrap_used, reason = "a test")]

mod common;

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BinaryViewArray, BooleanArray, Decimal256Array};
use arrow_buffer::i256;
use common::{Fixture, Random, random_batches, rows};
use mayfly_memory::{Budget, BudgetKind};
use mayfly_storage::{BaseTableContext, ColumnId, ColumnarTable, Table};
use mayfly_types::{Batch, PhysicalType};

const TYPES: [PhysicalType; 5] = [
    PhysicalType::Bytes,
    PhysicalType::Int64,
    PhysicalType::UInt64,
    PhysicalType::Float64,
    PhysicalType::Decimal128(2),
];

fn table(
    fixture: &Fixture,
    memory: &Budget,
    batch_rows: usize,
    types: &[PhysicalType],
) -> ColumnarTable {
    let context = BaseTableContext {
        resources: fixture.resources.clone(),
        memory: memory.clone(),
        temp_space: fixture.temp_space.clone(),
        batch_rows,
    };
    ColumnarTable::new(context, types.to_vec())
}

fn scan(table: &dyn Table, columns: &[usize]) -> Vec<Batch> {
    let columns: Vec<_> = columns.iter().map(|column| ColumnId(*column)).collect();
    let mut scan = table.scan(&columns).unwrap();
    let mut batches = Vec::new();
    while let Some(batch) = scan.next_batch().unwrap() {
        assert!(!batch.is_empty());
        for column in batch.columns() {
            column.to_data().validate_full().unwrap();
        }
        batches.push(batch);
    }
    batches
}

fn append(table: &dyn Table, batches: &[Batch]) {
    let mut writer = table.writer().unwrap();
    for batch in batches {
        writer.append(batch).unwrap();
    }
    writer.finish().unwrap();
}

#[test]
fn rows_come_back_in_order_at_any_limit() {
    for (limit, distinct, long) in [
        (u64::MAX, 1 << 20, 40),
        (u64::MAX, 300, 60),
        (u64::MAX, 1 << 40, 3000),
        (300 << 10, 1 << 40, 200),
        (300 << 10, 50, 9),
        (0, 1 << 20, 60),
    ] {
        let fixture = Fixture::new(&format!("base-{limit}-{distinct}"));
        let memory = Budget::root(BudgetKind::Memory, "base", limit);
        let batches = random_batches(&mut Random(9), &TYPES, 70_000, distinct, long);
        let table = table(&fixture, &memory, 1000, &TYPES);
        append(&table, &batches[..5]);
        append(&table, &batches[5..]);
        let expected = rows(&batches);
        assert_eq!(rows(&scan(&table, &[0, 1, 2, 3, 4])), expected);
        let swapped: Vec<_> = expected
            .iter()
            .map(|row| vec![row[3].clone(), row[0].clone()])
            .collect();
        assert_eq!(rows(&scan(&table, &[3, 0])), swapped);
        let counted: usize = scan(&table, &[]).iter().map(Batch::row_count).sum();
        assert_eq!(counted, 70_000);
        let statistics = table.statistics();
        assert_eq!(statistics.rows, 70_000);
        assert!(limit == u64::MAX || statistics.disk_bytes > 0);
        assert!(memory.used() <= limit);
        // An open scan keeps its rows.
        let mut open = table.scan(&[ColumnId(0)]).unwrap();
        table.truncate().unwrap();
        assert!(scan(&table, &[0]).is_empty());
        let mut kept = 0;
        while let Some(batch) = open.next_batch().unwrap() {
            kept += batch.row_count();
        }
        assert_eq!(kept, 70_000);
        drop((open, table));
        assert_eq!(memory.used(), 0);
        fixture.assert_clean();
    }
}

#[test]
fn every_kind_of_column_is_kept() {
    let fixture = Fixture::new("base-kinds");
    let memory = Budget::unlimited(BudgetKind::Memory);
    let types = [
        PhysicalType::Bytes,
        PhysicalType::Bytes,
        PhysicalType::Bool,
        PhysicalType::Decimal256(0),
        PhysicalType::Decimal128(0),
        PhysicalType::Int64,
    ];
    let n = 5000_i64;
    let big = vec![b'x'; 3 << 20];
    let columns: Vec<ArrayRef> = vec![
        Arc::new(
            (0..n)
                .map(|_| Some(b"forty bytes of text, all of one length!!".as_slice()))
                .collect::<BinaryViewArray>(),
        ),
        Arc::new(
            (0..n)
                .map(|n| match n {
                    7 => Some(big.as_slice()),
                    8 => Some(b"".as_slice()),
                    9 => None,
                    _ => Some(&big[..(n % 30) as usize]),
                })
                .collect::<BinaryViewArray>(),
        ),
        Arc::new(
            (0..n)
                .map(|n| (n % 5 != 0).then_some(n % 3 == 0))
                .collect::<BooleanArray>(),
        ),
        Arc::new(
            (0..n)
                .map(|n| {
                    Some(i256::from_i128(i128::MAX).wrapping_mul(i256::from_i128(i128::from(n))))
                })
                .collect::<Decimal256Array>()
                .with_data_type(PhysicalType::Decimal256(0).arrow()),
        ),
        Arc::new(
            (0..n)
                .map(|n| Some(i128::from(n) << 80))
                .collect::<arrow_array::Decimal128Array>()
                .with_data_type(PhysicalType::Decimal128(0).arrow()),
        ),
        Arc::new(
            (0..n)
                .map(|_| None::<i64>)
                .collect::<arrow_array::Int64Array>(),
        ),
    ];
    let batch = Batch::new(columns, n as usize);
    let table = table(&fixture, &memory, 777, &types);
    append(&table, std::slice::from_ref(&batch));
    let found = scan(&table, &[0, 1, 2, 3, 4, 5]);
    let mut start = 0;
    for found in &found {
        for (found, column) in found.columns().iter().zip(batch.columns()) {
            assert_eq!(found, &column.slice(start, found.len()));
        }
        start += found.row_count();
    }
    assert_eq!(start, n as usize);
    drop((found, table));
    assert_eq!(memory.used(), 0);
    fixture.assert_clean();
}

#[test]
fn single_rows_make_few_chunks_and_workers_share_a_scan() {
    let fixture = Fixture::new("base-single");
    let memory = Budget::unlimited(BudgetKind::Memory);
    let batches = random_batches(&mut Random(5), &TYPES, 3000, 1 << 30, 20);
    let table = table(&fixture, &memory, 8192, &TYPES);
    for batch in &batches {
        for row in 0..batch.row_count() {
            append(&table, &[batch.slice(row, 1)]);
        }
    }
    let found = scan(&table, &[0, 1, 2, 3, 4]);
    assert!(found.len() <= 16, "{} chunks", found.len());
    assert_eq!(rows(&found), rows(&batches));
    let mut first = table.scan(&[ColumnId(0)]).unwrap();
    let mut second = first.for_another_worker();
    let mut seen = 0;
    loop {
        let (a, b) = (first.next_batch().unwrap(), second.next_batch().unwrap());
        if a.is_none() && b.is_none() {
            break;
        }
        seen += [a, b].iter().flatten().map(Batch::row_count).sum::<usize>();
    }
    assert_eq!(seen, 3000);
    drop((found, first, second, table));
    fixture.assert_clean();
}

#[test]
fn a_temporary_table_takes_the_memory_of_chunks_and_they_come_back() {
    use mayfly_storage::{Access, KeyColumn, Purpose, TempTable, TempTableOptions, TempTableSpec};
    let fixture = Fixture::new("base-reclaim");
    fixture.memory.set_limit(8 << 20);
    let base = fixture.memory.child("base", 7 << 20);
    let batches = random_batches(&mut Random(9), &TYPES, 60_000, 1 << 40, 60);
    let table = table(&fixture, &base, 8192, &TYPES);
    append(&table, &batches);
    let before = table.statistics();
    assert!(
        before.memory_bytes > 4 << 20 && before.disk_bytes == 0,
        "{before:?}"
    );
    let context = fixture.context(TempTableOptions::default());
    let spec = TempTableSpec {
        purpose: Purpose::GroupBy,
        cause: "test".into(),
        columns: TYPES.to_vec(),
        access: Access::Hash(vec![KeyColumn::binary(1)]),
    };
    let temp = TempTable::create(&context, spec).unwrap();
    let mut writer = temp.writer();
    for batch in &batches {
        writer.append(batch).unwrap();
    }
    assert!(table.statistics().memory_bytes < before.memory_bytes / 2);
    assert!(fixture.memory.used() <= 8 << 20);
    writer.finish().unwrap();
    // Not all batches at once: there is no memory for that.
    let mut all = table.scan(&[0, 1, 2, 3, 4].map(ColumnId)).unwrap();
    let mut found = Vec::new();
    while let Some(batch) = all.next_batch().unwrap() {
        found.extend(rows(&[batch]));
    }
    drop(all);
    assert_eq!(found, rows(&batches));
    assert!(fixture.memory.peak() <= 8 << 20);
    drop((temp, context));
    // With plenty of memory a scan brings them back.
    fixture.memory.set_limit(1 << 30);
    base.set_limit(1 << 30);
    drop(scan(&table, &[0, 1, 2, 3, 4]));
    assert_eq!(table.statistics().memory_bytes, before.memory_bytes);
    drop(table);
    fixture.assert_clean();
}
