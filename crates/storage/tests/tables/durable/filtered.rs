//! Filtered scans of durable tables.

use arrow_array::types::{Decimal128Type, UInt64Type};
use arrow_array::{Decimal128Array, UInt64Array};
use arrow_buffer::BooleanBuffer;
use arrow_schema::DataType;
use mayfly_storage::{FilterKind, NumberRange, RowFilter, ScanRequest};
use mayfly_types::coded::coded;
use mayfly_types::{Error, IndexMethod, Selection};

use super::*;

/// Filter for rows whose number is NULL or divisible.
struct Divisible {
    by: i64,
    /// Index of the number in the scan.
    place: [usize; 1],
    /// Number of batches after which the filter fails.
    fails_after: usize,
}

impl Divisible {
    fn wants(&self, number: Option<i64>) -> bool {
        number.is_none_or(|number| number % self.by == 0)
    }
}

impl RowFilter for Divisible {
    fn steps(&self) -> usize {
        1
    }

    fn columns(&self, _step: usize) -> &[usize] {
        &self.place
    }

    fn kind(&mut self, _step: usize) -> mayfly_types::Result<FilterKind> {
        Ok(FilterKind::Rows)
    }

    fn select(
        &mut self,
        _step: usize,
        columns: &[ArrayRef],
        rows: usize,
    ) -> mayfly_types::Result<Selection> {
        if self.fails_after == 0 {
            return Err(Error::internal("no more"));
        }
        self.fails_after -= 1;
        let numbers = columns[self.place[0]].as_primitive::<Int64Type>();
        assert_eq!(numbers.len(), rows);
        let wanted = |row| self.wants(numbers.is_valid(row).then(|| numbers.value(row)));
        Ok(Selection::of_bits(BooleanBuffer::collect_bool(
            rows, wanted,
        )))
    }
}

fn divisible(by: i64, place: usize) -> Divisible {
    Divisible {
        by,
        place: [place],
        fails_after: usize::MAX,
    }
}

/// The rows that pass a filter, in a scan of all columns in another order, and the number of rows read.
fn filtered(table: &DurableTable, filter: &mut Divisible) -> (Vec<Person>, usize) {
    let mut scan = table
        .scan(&ScanRequest::of(&[ColumnId(1), ColumnId(2), ColumnId(0)]))
        .unwrap();
    let (mut rows, mut read) = (Vec::new(), 0);
    while let Some(found) = scan.next_filtered(filter).unwrap() {
        read += found.rows_read;
        if let Some(batch) = found.batch {
            let columns = [2, 0, 1].map(|place| Arc::clone(batch.column(place)));
            people_of(&Batch::new(columns.to_vec(), batch.row_count()), &mut rows);
        }
    }
    (rows, read)
}

#[test]
fn the_rows_that_a_filter_wants_come_with_all_their_columns() {
    let (_directory, _store, session) = new_table();
    let number = |id: i64| (id % 11 != 0).then_some(id * 3);
    let name = |id: i64| match id % 5 {
        0 => "short".to_owned(),
        _ => format!("name {} and more of it", id % 97),
    };
    let rows: Vec<Person> = (0..20_000)
        .map(|id| (id, name(id).into(), number(id)))
        .collect();
    session.insert(&rows);
    session.commit().unwrap();
    // The transaction's changes are laid over the blocks.
    for changed in [false, true] {
        if changed {
            session.update(700, &(700, b"changed in the transaction".to_vec(), None));
            session.update(800, &(800, b"changed".to_vec(), Some(1_000_001)));
            session.delete(&(900..1000).collect::<Vec<i64>>());
            session.insert(&[(
                30_000,
                b"a new one of some length".to_vec(),
                Some(30_030 * 4),
            )]);
        }
        let all = session.rows();
        let table = session.table();
        // From no rows to all; 3 divides every number.
        for by in [1, 2, 3, 5, 7, 30, 1000, 1 << 40] {
            let mut filter = divisible(by, 1);
            let (found, read) = filtered(&table, &mut filter);
            let wanted = all.iter().filter(|row| filter.wants(row.2));
            assert_eq!(found, wanted.cloned().collect::<Vec<_>>(), "by {by}");
            assert_eq!(read, all.len());
        }
    }
}

#[test]
fn a_filter_that_fails_ends_the_scan() {
    let (_directory, _store, session) = new_table();
    // More than the blocks whose rows a filter evaluates at once.
    session.insert(&(0..150_000).map(person).collect::<Vec<_>>());
    let table = session.table();
    let mut scan = table.scan(&ScanRequest::of(&ALL)).unwrap();
    let mut filter = divisible(2, 2);
    filter.fails_after = 1;
    let mut rows = 0;
    let error = loop {
        match scan.next_filtered(&mut filter) {
            Ok(Some(found)) => rows += found.batch.map_or(0, |batch| batch.row_count()),
            Ok(None) => panic!("the scan goes on to its end"),
            Err(error) => break error,
        }
    };
    assert!((1..75_000).contains(&rows), "{rows}");
    assert!(error.to_string().contains("no more"), "{error}");
}

/// Value of a row: a number or a string.
#[derive(Debug, Clone, PartialEq)]
enum Cell {
    Null,
    Number(i128),
    Text(Vec<u8>),
}

/// Step of [`Steps`] with its predicate.
struct Step {
    place: [usize; 1],
    kind: FilterKind,
    wants: Box<dyn Fn(&Cell) -> bool>,
}

/// Filter of steps that read one column each.
struct Steps {
    steps: Vec<Step>,
    /// Number of values that were evaluated.
    asked: usize,
}

fn cell(column: &ArrayRef, row: usize) -> Cell {
    if column.is_null(row) {
        return Cell::Null;
    }
    match column.data_type() {
        DataType::Int64 => Cell::Number(column.as_primitive::<Int64Type>().value(row).into()),
        DataType::UInt64 => Cell::Number(column.as_primitive::<UInt64Type>().value(row).into()),
        DataType::Decimal128(..) => {
            Cell::Number(column.as_primitive::<Decimal128Type>().value(row))
        }
        _ => Cell::Text(column.as_binary_view().value(row).to_vec()),
    }
}

impl RowFilter for Steps {
    fn steps(&self) -> usize {
        self.steps.len()
    }

    fn columns(&self, step: usize) -> &[usize] {
        &self.steps[step].place
    }

    fn kind(&mut self, step: usize) -> mayfly_types::Result<FilterKind> {
        Ok(self.steps[step].kind)
    }

    fn select(
        &mut self,
        step: usize,
        columns: &[ArrayRef],
        rows: usize,
    ) -> mayfly_types::Result<Selection> {
        let step = &self.steps[step];
        let column = &columns[step.place[0]];
        assert_eq!(column.len(), rows);
        self.asked += rows;
        let wanted = |row| (step.wants)(&cell(column, row));
        Ok(Selection::of_bits(BooleanBuffer::collect_bool(
            rows, wanted,
        )))
    }
}

const WIDE_TYPES: [PhysicalType; 6] = [
    PhysicalType::Int64,
    PhysicalType::Int64,
    PhysicalType::UInt64,
    PhysicalType::Decimal128(2),
    PhysicalType::Bytes,
    PhysicalType::Bytes,
];

/// Rows whose numbers take each width of a block, some with equal low bits, and whose strings repeat or not.
fn wide_batch(first: i64, rows: i64, random: &mut Random) -> Batch {
    let ids: Vec<i64> = (first..first + rows).collect();
    let mut nullable = |one_of: u64| random.below_u64(one_of) != 0;
    let signed: Int64Array = ids
        .iter()
        .map(|id| nullable(9).then_some(((id / 5000 * 1_000_000 - 3_000_000 + id % 200) << 20) + 5))
        .collect();
    let unsigned: UInt64Array = ids
        .iter()
        .map(|id| match id / 10_000 % 3 {
            0 => Some(7),
            1 => nullable(5).then_some(id.cast_unsigned().wrapping_mul(0x9E37_79B9_7F4A_7C15)),
            _ => Some(u64::MAX - id.cast_unsigned() * 70_000),
        })
        .collect();
    let decimals: Decimal128Array = ids
        .iter()
        .map(|id| match id % 4999 {
            0 => Some(i128::from(*id) << 70),
            _ => nullable(50).then_some(i128::from(id % 1000) - 500),
        })
        .collect();
    let few: BinaryViewArray = ids
        .iter()
        .map(|id| nullable(6).then(|| format!("one of a few long strings: {}", id % 11)))
        .collect();
    let many = BinaryViewArray::from_iter_values(ids.iter().map(|id| format!("{id:x}")));
    let decimals = decimals.with_data_type(PhysicalType::Decimal128(2).arrow());
    Batch::new(
        vec![
            Arc::new(Int64Array::from(ids)),
            Arc::new(signed),
            Arc::new(unsigned),
            Arc::new(decimals),
            Arc::new(few),
            Arc::new(many),
        ],
        rows as usize,
    )
}

fn random_step(random: &mut Random, all: &[Vec<Cell>]) -> Step {
    let place = random.below_u64(6) as usize;
    let some_number = |random: &mut Random| {
        let row = &all[random.below_u64(all.len() as u64) as usize];
        match row[place] {
            Cell::Number(number) => number + i128::from(random.below_u64(3)) - 1,
            _ => i128::from(random.below_u64(1000)),
        }
    };
    let (least, greatest) = match random.below_u64(6) {
        0 => (i128::MIN, some_number(random)),
        1 => (some_number(random), i128::MAX),
        2 => {
            let number = some_number(random);
            (number, number)
        }
        3 => (i128::MIN, i128::MAX),
        _ => (some_number(random), some_number(random)),
    };
    let parts = random.below_u64(7) + 1;
    let kind = match random.below_u64(3) {
        0 if place < 4 => FilterKind::Within(NumberRange { least, greatest }),
        1 => FilterKind::Rows,
        _ => FilterKind::Values,
    };
    let wants = move |cell: &Cell| match (kind, cell) {
        (FilterKind::Within(_), Cell::Number(number)) => least <= *number && *number <= greatest,
        (FilterKind::Within(_), _) => false,
        (_, Cell::Null) => parts.is_multiple_of(2),
        (_, Cell::Number(number)) => number.unsigned_abs() % u128::from(parts) != 1,
        (_, Cell::Text(text)) => text
            .last()
            .is_some_and(|last| u64::from(*last) % parts != 1),
    };
    Step {
        place: [place],
        kind,
        wants: Box::new(wants),
    }
}

fn wide_rows(batch: &Batch, out: &mut Vec<Vec<Cell>>) {
    for row in 0..batch.row_count() {
        out.push(
            batch
                .columns()
                .iter()
                .map(|column| cell(column, row))
                .collect(),
        );
    }
}

/// Steps of every kind, over blocks and over a transaction's changes, select the rows that they select one by one; so
/// do they on batches.
#[test]
fn steps_want_what_they_want_of_each_row() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let transaction = store.session(storage());
    let [tree, of_index] = [(); 2].map(|()| transaction.new_tree().unwrap());
    let index = IndexSpec::binary(&[0], true, IndexMethod::Clustered);
    let definition = TableDefinition::new(WIDE_TYPES.to_vec(), vec![index], tree, vec![of_index]);
    let definition = Arc::new(definition);
    let of_rows = |batch_rows: usize| {
        let options = StatementOptions {
            batch_rows,
            ..options(ReadView::Statement)
        };
        transaction.statement(options).table(&definition).unwrap()
    };
    let mut random = Random(11);
    let mut writer = of_rows(8192).writer().unwrap();
    for first in (0..60_000).step_by(10_000) {
        writer
            .insert(&wide_batch(first, 10_000, &mut random))
            .unwrap();
    }
    writer.finish().unwrap();
    transaction.commit().unwrap();
    let columns: Vec<ColumnId> = (0..6).map(ColumnId).collect();
    let (mut by_code, mut by_codes) = (0, 0);
    for changed in [false, true] {
        if changed {
            let table = of_rows(8192);
            let mut writer = table.writer().unwrap();
            let ids: Vec<i64> = (20_000..20_500).chain([5, 77, 40_001]).collect();
            writer.delete(&positions(&table, &ids)).unwrap();
            writer
                .insert(&wide_batch(70_000, 300, &mut random))
                .unwrap();
            writer.insert(&wide_batch(20_100, 10, &mut random)).unwrap();
            writer.finish().unwrap();
        }
        let mut all = Vec::new();
        let mut scan = of_rows(8192).scan(&ScanRequest::of(&columns)).unwrap();
        while let Some(batch) = scan.next_batch().unwrap() {
            wide_rows(&batch, &mut all);
        }
        assert_eq!(all.len(), if changed { 59_807 } else { 60_000 });
        // The rows again, with strings as dictionary codes where they are few.
        let mut scan = of_rows(8192).scan(&ScanRequest::of(&columns)).unwrap();
        scan.give_codes(&[5, 4, 0]);
        let (mut found, mut coded_columns) = (Vec::new(), [0; 6]);
        while let Some(batch) = scan.next_batch().unwrap() {
            for (count, column) in coded_columns.iter_mut().zip(batch.columns()) {
                *count += usize::from(coded(column).is_some());
            }
            wide_rows(&batch.decoded(), &mut found);
        }
        assert!(found == all);
        assert!(coded_columns[4] > 0, "{coded_columns:?}");
        assert_eq!(coded_columns[..4], [0; 4]);
        for case in 0..120 {
            let steps = (0..random.below_u64(5))
                .map(|_| random_step(&mut random, &all))
                .collect();
            let mut filter = Steps { steps, asked: 0 };
            let is_wanted = |row: &&Vec<Cell>| {
                let mut steps = filter.steps.iter();
                steps.all(|step| (step.wants)(&row[step.place[0]]))
            };
            let expected: Vec<Vec<Cell>> = all.iter().filter(is_wanted).cloned().collect();
            let table = of_rows([8192, 30_000, 100][case % 3]);
            let mut scan = table.scan(&ScanRequest::of(&columns)).unwrap();
            if case % 2 == 0 {
                scan.give_codes(&[4, 5]);
            }
            let (mut found, mut read) = (Vec::new(), 0);
            while let Some(rows) = scan.next_filtered(&mut filter).unwrap() {
                read += rows.rows_read;
                if let Some(batch) = rows.batch {
                    by_codes += usize::from(coded(batch.column(4)).is_some());
                    wide_rows(&batch.decoded(), &mut found);
                }
            }
            assert_eq!(read, all.len());
            let kinds: Vec<_> = filter
                .steps
                .iter()
                .map(|step| (step.place, step.kind))
                .collect();
            assert!(
                found == expected,
                "case {case}, {kinds:?}: {} rows of {}",
                found.len(),
                expected.len()
            );
            if let [([4], FilterKind::Values)] = kinds[..] {
                by_code += usize::from(filter.asked < 10_000);
            }
        }
    }
    assert!(by_code > 0, "strings are asked about once for each code");
    assert!(by_codes > 0, "strings that are left come as codes");
}

/// Lookups of keys in any order find what a scan finds.
#[test]
fn lookups_in_any_order_find_their_rows() {
    let (_directory, _store, session) = new_table();
    let rows: Vec<Person> = (0..30_000).map(|id| person(id * 3)).collect();
    session.insert(&rows);
    session.commit().unwrap();
    let table = session.table();
    let mut random = Random(5);
    let ascending: Vec<i64> = (-5..200)
        .chain(44_000..46_000)
        .chain(89_990..90_010)
        .collect();
    let mut descending = ascending.clone();
    descending.reverse();
    let strewn: Vec<i64> = (0..3000)
        .map(|_| random.below_u64(95_000) as i64 - 2000)
        .collect();
    let repeated: Vec<i64> = (0..500).map(|n| n / 7 * 3).collect();
    for ids in [ascending, descending, strewn, repeated] {
        let keys: ArrayRef = Arc::new(Int64Array::from(ids.clone()));
        let found = table.index_lookup(IndexId(0), &[keys], &[false], &ALL);
        let (found, of) = found.unwrap();
        let is_there = |id: &i64| (0..90_000).contains(id) && id % 3 == 0;
        let places = ids.iter().enumerate().filter(|(_, id)| is_there(id));
        let (places, people): (Vec<u32>, Vec<Person>) = places
            .map(|(place, id)| (place as u32, person(*id)))
            .unzip();
        let mut out = Vec::new();
        people_of(&found, &mut out);
        assert_eq!(out, people);
        assert_eq!(of.values().to_vec(), places);
    }
}
