//! Transactions that hold their snapshots for long.

use super::*;

/// Number of transactions: more than the file has readers.
const TRANSACTIONS: usize = 8300;

#[test]
fn commits_go_on_beside_any_number_of_idle_snapshots() {
    let (_directory, store, writer) = new_table();
    store.set_durability(Durability::EverySecond);
    let definition = &writer.definition;
    writer.commit().unwrap();
    let look = |session: &DurableTransaction| {
        let statement = session.statement(options(ReadView::Transaction));
        let table = statement.table(definition)?;
        let names = rows_of(table.scan(&ScanRequest::of(&ALL))?)
            .into_iter()
            .map(|row| row.1);
        Ok::<_, mayfly_types::Error>(names.collect::<Vec<Vec<u8>>>())
    };
    let one = |number: usize| (1, format!("name {number}").into(), None);
    let busy = store.session(storage());
    busy.take_snapshot().unwrap();
    let statement = busy.statement(options(ReadView::Transaction));
    let being_read = statement.table(definition).unwrap();
    writer.insert(&[person(1)]);
    writer.commit().unwrap();
    let mut idle = Vec::new();
    for number in 0..TRANSACTIONS {
        let session = store.session(storage());
        session.take_snapshot().unwrap();
        idle.push(session);
        if number == 0 {
            // Transactions that began after the same commit share a snapshot.
            let session = store.session(storage());
            session.take_snapshot().unwrap();
            idle.push(session);
        }
        assert_eq!(writer.update(1, &one(number)), None);
        writer.commit().unwrap();
    }
    let newest = [one(TRANSACTIONS - 1).1];
    assert_eq!(look(&writer).unwrap(), newest);
    writer.roll_back();
    // A statement that is reading still has its snapshot, the newest ones are there, and the oldest expire.
    assert!(rows_of(being_read.scan(&ScanRequest::of(&ALL)).unwrap()).is_empty());
    assert_eq!(
        look(&idle[TRANSACTIONS]).unwrap(),
        [one(TRANSACTIONS - 2).1]
    );
    for oldest in &idle[..2] {
        let error = look(oldest).unwrap_err();
        assert!(error.message().contains("snapshot"), "{error}");
        assert!(look(oldest).is_err(), "it sees another snapshot");
        oldest.roll_back();
        assert_eq!(look(oldest).unwrap(), newest);
    }
}
