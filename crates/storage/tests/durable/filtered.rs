//! Scans whose rows are chosen by some of their columns.

use arrow_buffer::BooleanBuffer;
use mayfly_storage::RowFilter;
use mayfly_types::{Error, Selection};

use super::*;

/// Wants the rows whose number is NULL or divisible.
struct Divisible {
    by: i64,
    /// Where the number is in the scan.
    place: [usize; 1],
    /// Batches after which it fails.
    fails_after: usize,
}

impl Divisible {
    fn wants(&self, number: Option<i64>) -> bool {
        number.is_none_or(|number| number % self.by == 0)
    }
}

impl RowFilter for Divisible {
    fn columns(&self) -> &[usize] {
        &self.place
    }

    fn select(&mut self, columns: &[ArrayRef], rows: usize) -> mayfly_types::Result<Selection> {
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

/// The rows of a scan of all columns in another order that a filter wants, and how many it has read.
fn filtered(table: &DurableTable, filter: &mut Divisible) -> (Vec<Person>, usize) {
    let mut scan = table
        .scan(&[ColumnId(1), ColumnId(2), ColumnId(0)])
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
    // What the transaction has changed is laid over the blocks.
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
        // From none to all; 3 divides every number.
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
    session.insert(&(0..20_000).map(person).collect::<Vec<_>>());
    let table = session.table();
    let mut scan = table.scan(&ALL).unwrap();
    let mut filter = divisible(2, 2);
    filter.fails_after = 3;
    let mut batches = 0;
    let error = loop {
        match scan.next_filtered(&mut filter) {
            Ok(Some(_)) => batches += 1,
            Ok(None) => panic!("the scan goes on to its end"),
            Err(error) => break error,
        }
    };
    assert_eq!(batches, 3);
    assert!(error.to_string().contains("no more"), "{error}");
}
