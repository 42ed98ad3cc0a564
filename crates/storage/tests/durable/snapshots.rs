//! Transactions that keep their moments for long.

use super::*;

/// More than the file has readers.
const TRANSACTIONS: usize = 8300;

#[test]
fn commits_go_on_beside_any_number_of_idle_snapshots() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    store.set_durability(Durability::EverySecond);
    let writer = store.session(storage());
    let definition = people(&writer);
    writer.commit().unwrap();
    let count = |session: &DurableTransaction| {
        let statement = session.statement(options(ReadView::Transaction));
        let table = statement.table(&definition)?;
        Ok::<_, mayfly_types::Error>(rows_of(table.scan(&ALL)?).len())
    };
    let busy = store.session(storage());
    busy.take_snapshot().unwrap();
    let statement = busy.statement(options(ReadView::Transaction));
    let being_read = statement.table(&definition).unwrap();
    insert(&writer, &definition, &[person(1_000_000)]).unwrap();
    writer.commit().unwrap();
    let mut idle = Vec::new();
    for number in 0..TRANSACTIONS {
        let session = store.session(storage());
        session.take_snapshot().unwrap();
        idle.push(session);
        if number == 0 {
            // Who has the same moment has the same snapshot.
            let session = store.session(storage());
            session.take_snapshot().unwrap();
            idle.push(session);
        }
        insert(&writer, &definition, &[person(number as i64)]).unwrap();
        writer.commit().unwrap();
    }
    assert_eq!(count(&writer).unwrap(), TRANSACTIONS + 1);
    writer.roll_back();
    // A statement that reads keeps what it reads, the newest ones are there, and the oldest are told.
    assert_eq!(rows_of(being_read.scan(&ALL).unwrap()).len(), 0);
    assert_eq!(count(&idle[TRANSACTIONS]).unwrap(), TRANSACTIONS);
    for oldest in &idle[..2] {
        let error = count(oldest).unwrap_err();
        assert!(error.message().contains("snapshot"), "{error}");
        assert!(count(oldest).is_err(), "it sees another moment");
        oldest.roll_back();
        assert_eq!(count(oldest).unwrap(), TRANSACTIONS + 1);
    }
}
