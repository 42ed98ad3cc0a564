//! A process that writes is killed at random moments: what it acknowledged is there, and nothing half.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use super::*;

const CHILD: &str = "MAYFLY_KILL_TEST_DIRECTORY";
/// Rows of one transaction, which are there together or not at all.
const ROWS: i64 = 7;

fn transaction(number: i64) -> Vec<Person> {
    (0..ROWS)
        .map(|row| {
            let id = (number * 7919 % 100_000) * 10 + row;
            (
                id,
                format!("{number} {}", "x".repeat((number % 300) as usize)),
                Some(id),
            )
        })
        .collect()
}

/// The record with the trees of the table.
const TABLE: &[u8] = b"table";

fn definition_of(store: &DurableStore) -> Arc<TableDefinition> {
    let session = store.session(storage());
    match store.record(TABLE).unwrap() {
        Some(record) => people_in(record.iter().map(|tree| u32::from(*tree)).collect()),
        None => {
            let trees: Vec<_> = (0..4).map(|_| session.new_tree().unwrap()).collect();
            let record: Vec<u8> = trees.iter().map(|tree| *tree as u8).collect();
            session.set_record(TABLE, Some(&record)).unwrap();
            session.commit().unwrap();
            people_in(trees)
        }
    }
}

/// What the child does: transactions without end, each told once it is committed.
fn write(directory: &Path) {
    let store = open(directory);
    let definition = definition_of(&store);
    let next = std::sync::atomic::AtomicI64::new(1 + count(&store, &definition) as i64 / ROWS);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let session = Session::new(&store, &definition);
                loop {
                    let number = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    let rows = transaction(number);
                    if session.insert(&rows[..3]).is_none() {
                        assert_eq!(session.insert(&rows[3..]), None);
                        session.commit().unwrap();
                        println!("committed {number}");
                    } else {
                        session.roll_back();
                    }
                }
            });
        }
    });
}

fn count(store: &DurableStore, definition: &Arc<TableDefinition>) -> usize {
    Session::new(store, definition).rows().len()
}

#[test]
fn what_was_acknowledged_survives_a_kill() {
    if let Some(directory) = std::env::var_os(CHILD) {
        write(Path::new(&directory));
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let mut acknowledged: Vec<i64> = Vec::new();
    for round in 0..12_u64 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "what_was_acknowledged_survives_a_kill",
                "--nocapture",
                "--test-threads=1",
            ])
            .env(CHILD, directory.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        // So many transactions, and then a moment that is no moment of theirs.
        let wanted = 1 + round * 37 % 50;
        let mut seen = 0;
        let number = |line: &str| {
            line.rsplit_once("committed ")
                .and_then(|(_, n)| n.parse().ok())
        };
        while seen < wanted {
            let line = lines.next().expect("the child writes").unwrap();
            if let Some(number) = number(&line) {
                acknowledged.push(number);
                seen += 1;
            }
        }
        std::thread::sleep(Duration::from_micros(round * 731 % 3000));
        child.kill().unwrap();
        child.wait().unwrap();
        acknowledged.extend(
            lines
                .map_while(|line| line.ok())
                .filter_map(|line| number(&line)),
        );

        let store = open(directory.path());
        let definition = definition_of(&store);
        let session = Session::new(&store, &definition);
        session.check(&store);
        let rows = session.rows();
        let of = |row: &Person| row.1.split_once(' ').unwrap().0.parse::<i64>().unwrap();
        let mut found = std::collections::BTreeMap::<i64, i64>::new();
        rows.iter()
            .for_each(|row| *found.entry(of(row)).or_default() += 1);
        assert!(
            found.values().all(|rows| *rows == ROWS),
            "no half transaction"
        );
        for number in &acknowledged {
            assert!(
                found.contains_key(number),
                "transaction {number} was acknowledged"
            );
        }
    }
}
