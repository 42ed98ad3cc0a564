//! The power goes: of the pages of the data file that were written since the last checkpoint, any may
//! be on disk and any may be lost. What was committed is there all the same.

use super::model::Random;
use super::*;

const PAGE: usize = 4096;

/// What a disk may have of a file that was `before` when it was last synced, and is `now`.
fn torn(before: &[u8], now: &[u8], random: &mut Random) -> Vec<u8> {
    let mut disk = Vec::with_capacity(now.len());
    for (place, page) in now.chunks(PAGE).enumerate() {
        let old = before.get(place * PAGE..(place + 1) * PAGE);
        match random.below(3) {
            0 => disk.extend_from_slice(page),
            1 => disk.extend_from_slice(old.unwrap_or(&[0; PAGE])),
            _ => {
                // Half of a page.
                disk.extend_from_slice(&page[..PAGE / 2]);
                disk.extend_from_slice(&old.unwrap_or(&[0xaa; PAGE])[PAGE / 2..]);
            }
        }
    }
    disk
}

#[test]
fn a_power_cut_loses_nothing_that_was_synced() {
    let (directory, store, session) = new_table();
    let path = |name: &str| directory.path().join(name);
    session.commit().unwrap();
    store.checkpoint().unwrap();
    let mut before = std::fs::read(path("data.mdb")).unwrap();
    let mut random = Random(7);
    let mut states: Vec<Vec<Person>> = vec![Vec::new()];
    for round in 0..24 {
        let mut earlier = Vec::new();
        for _ in 0..3 {
            earlier = std::fs::read(path("redo.log")).unwrap();
            let id = random.below(5000).cast_signed();
            let rows: Vec<_> = (id..id + 40).map(person).collect();
            if session.insert(&rows).is_some() {
                session.roll_back();
                let first = states.last().unwrap().iter().take(9);
                let ids: Vec<i64> = first.map(|row| row.0).collect();
                session.delete(&ids);
            }
            session.commit().unwrap();
            states.push(session.rows());
            session.roll_back();
        }
        let now = std::fs::read(path("data.mdb")).unwrap();
        let log = std::fs::read(path("redo.log")).unwrap();
        for attempt in 0..3 {
            let disk = tempfile::tempdir().unwrap();
            let mut log = log.clone();
            let mut expected = &states[states.len() - 1..];
            if attempt == 2 {
                // The last sync was not finished: of what it was to write, something is missing.
                earlier.resize(log.len(), 0);
                let mut places = (0..log.len()).rev();
                let end = places.find(|place| log[*place] != earlier[*place]);
                log[end.unwrap()] ^= 0x40;
                expected = &states[states.len() - 2..states.len() - 1];
            }
            let torn = torn(&before, &now, &mut random);
            std::fs::write(disk.path().join("data.mdb"), torn).unwrap();
            std::fs::write(disk.path().join("redo.log"), log).unwrap();
            for opening in 0..2 {
                let store = open(disk.path());
                let session = session.another(&store);
                session.check(&store);
                let rows = session.rows();
                assert_eq!(rows, expected[0], "{round} {attempt} {opening}");
                session.insert(&[person(1_000_000)]);
                session.commit().unwrap();
                session.delete(&[1_000_000]);
                session.commit().unwrap();
            }
        }
        if round % 5 == 4 {
            store.checkpoint().unwrap();
            before = std::fs::read(path("data.mdb")).unwrap();
        }
    }
}

#[test]
fn a_long_commit_is_made_again_from_its_rows() {
    let (directory, store, session) = new_table();
    let path = |name: &str| directory.path().join(name);
    session.commit().unwrap();
    store.checkpoint().unwrap();
    let before = std::fs::read(path("data.mdb")).unwrap();
    let all = || session.rows();
    // What a process leaves that ends now, with the data file as of the checkpoint.
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
    // The first ones fill the table as a whole; others fall between them.
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
