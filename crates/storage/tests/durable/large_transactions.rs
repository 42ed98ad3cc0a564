//! Transactions that change more of the file than the library keeps in memory: pages are written before their
//! transaction commits, read again and changed again.

use std::collections::BTreeMap;

use super::*;

/// A generator that the same seed repeats (Steele, Lea and Flood, 2014).
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % end
    }
}

const ROWS: i64 = 30_000;
/// Rows of one statement.
const AT_ONCE: usize = 5000;

fn wide(id: i64, random: &mut Random) -> Person {
    let length = 50 + random.below(700) as usize;
    let text = format!("{:08}", random.below(100_000_000));
    let name: String = text.chars().cycle().take(length).collect();
    (id, name, Some(id * 3))
}

fn content(session: &DurableTransaction, definition: &Arc<TableDefinition>) -> Vec<Person> {
    rows_of(table(session, definition).scan(&ALL).unwrap())
}

#[test]
fn what_does_not_fit_is_read_and_written_again() {
    let directory = tempfile::tempdir().unwrap();
    let mut random = Random(7);
    let mut store = open(directory.path());
    let mut session = store.session(storage());
    let definition = people(&session);
    let mut model: BTreeMap<i64, Person> = BTreeMap::new();
    for (round, is_kept) in [true, false, true, true].into_iter().enumerate() {
        let before = model.clone();
        // In an order that has nothing to do with that of any key.
        let mut ids: Vec<i64> = (0..ROWS).collect();
        for place in (1..ids.len()).rev() {
            ids.swap(place, random.below(place as u64 + 1) as usize);
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
            assert_eq!(insert(&session, &definition, &rows).unwrap(), None);
            model.extend(rows.into_iter().map(|row| (row.0, row)));
            if !removed.is_empty() {
                assert_eq!(
                    delete(&session, &definition, &removed),
                    removed.len() as u64
                );
                model.retain(|id, _| !removed.contains(id));
            }
            if !changed.is_empty() {
                let table = table(&session, &definition);
                let positions = positions(&table, &changed);
                let rows: Vec<Person> = changed.iter().map(|id| wide(*id, &mut random)).collect();
                let mut writer = table.writer().unwrap();
                let written = writer.update(&positions, &batch(&rows)).unwrap();
                assert!(written.duplicate.is_none());
                writer.finish().unwrap();
                model.extend(rows.into_iter().map(|row| (row.0, row)));
            }
        }
        match is_kept {
            true => session.commit().unwrap(),
            false => {
                session.roll_back();
                model = before;
            }
        }
        store.check(std::slice::from_ref(&definition)).unwrap();
        let expected: Vec<Person> = model.values().cloned().collect();
        assert!(content(&session, &definition) == expected, "round {round}");
        session.commit().unwrap();
        if round == 2 {
            drop((session, store));
            store = open(directory.path());
            session = store.session(storage());
        }
    }
}
