//! Transactions that change more of the file than LMDB keeps in memory: pages are written before their transaction
//! commits, read again and changed again.

use std::collections::BTreeMap;

use super::*;
use mayfly_trials::Random;

const ROWS: i64 = 30_000;
/// Number of rows of one statement.
const AT_ONCE: usize = 5000;

fn wide(id: i64, random: &mut Random) -> Person {
    let length = 50 + random.below_u64(700) as usize;
    let text = format!("{:08}", random.below_u64(100_000_000));
    let name: String = text.chars().cycle().take(length).collect();
    (id, name.into(), Some(id * 3))
}

#[test]
fn what_does_not_fit_is_read_and_written_again() {
    let (directory, mut store, mut session) = new_table();
    let definition = Arc::clone(&session.definition);
    let mut random = Random(7);
    let mut model: BTreeMap<i64, Person> = BTreeMap::new();
    for (round, is_kept) in [true, false, true, true].into_iter().enumerate() {
        let before = model.clone();
        // In an order unrelated to that of any key.
        let mut ids: Vec<i64> = (0..ROWS).collect();
        for index in (1..ids.len()).rev() {
            ids.swap(index, random.below_u64(index as u64 + 1) as usize);
        }
        for ids in ids.chunks(AT_ONCE) {
            let (old, new): (Vec<i64>, Vec<i64>) =
                ids.iter().partition(|id| model.contains_key(id));
            let removed: Vec<i64> = old
                .iter()
                .copied()
                .filter(|id| id % 7 == round as i64)
                .collect();
            let changed: Vec<i64> = old
                .into_iter()
                .filter(|id| id % 7 != round as i64)
                .collect();
            let rows: Vec<Person> = new.iter().map(|id| wide(*id, &mut random)).collect();
            assert_eq!(session.insert(&rows), None);
            model.extend(rows.into_iter().map(|row| (row.0, row)));
            if !removed.is_empty() {
                assert_eq!(session.delete(&removed), removed.len() as u64);
                model.retain(|id, _| !removed.contains(id));
            }
            if !changed.is_empty() {
                let table = session.table();
                let positions = positions(&table, &changed);
                let rows: Vec<Person> = changed.iter().map(|id| wide(*id, &mut random)).collect();
                let mut writer = table.writer().unwrap();
                let written = writer.update(&positions, &batch(&rows)).unwrap();
                assert!(written.duplicate.is_none());
                writer.finish().unwrap();
                model.extend(rows.into_iter().map(|row| (row.0, row)));
            }
        }
        if is_kept {
            session.commit().unwrap();
        } else {
            session.roll_back();
            model = before;
        }
        session.check(&store);
        let expected: Vec<Person> = model.values().cloned().collect();
        assert!(session.rows() == expected, "round {round}");
        session.commit().unwrap();
        if round == 2 {
            drop((session, store));
            store = open(directory.path());
            session = Session::new(&store, &definition);
        }
    }
}

/// Recovery from the state that a process leaves when it ends before the next checkpoint.
#[test]
fn a_long_commit_is_made_again_from_its_rows() {
    let (directory, store, session) = new_table();
    let path = |name: &str| directory.path().join(name);
    session.commit().unwrap();
    store.checkpoint().unwrap();
    let before = std::fs::read(path("data.mdb")).unwrap();
    let all = || session.rows();
    // The state that a process leaves when it ends now, with the data file as of the checkpoint.
    let opened_again_is = |expected: &[Person]| {
        let disk = tempfile::tempdir().unwrap();
        std::fs::write(disk.path().join("data.mdb"), &before).unwrap();
        std::fs::copy(path("redo.log"), disk.path().join("redo.log")).unwrap();
        let store = open(disk.path());
        let session = session.another(&store);
        session.check(&store);
        let rows = session.rows();
        assert_eq!(rows, expected);
    };
    let rows = |ids: std::ops::Range<i64>| ids.map(person).collect::<Vec<_>>();
    // The first ones are a bulk load of the table; others fall between them.
    let even: Vec<_> = (0..5_000).map(|id| person(2 * id)).collect();
    session.insert(&even);
    session.commit().unwrap();
    let odd: Vec<_> = (0..20_000).map(|id| person(2 * id + 1)).collect();
    session.insert(&odd);
    session.commit().unwrap();
    let ids: Vec<i64> = (1_000..9_000).collect();
    session.delete(&ids);
    session.commit().unwrap();
    assert!(std::fs::metadata(path("redo.log")).unwrap().len() > 3 << 20);
    opened_again_is(&all());
    session.table().truncate().unwrap();
    session.insert(&rows(7..9));
    session.commit().unwrap();
    assert_eq!(all(), rows(7..9));
    opened_again_is(&rows(7..9));
}
