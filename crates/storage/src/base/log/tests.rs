//! Tests of the log's contents after failures.

use std::sync::Arc;

use mayfly_memory::io::Taken;
use mayfly_types::PhysicalType;
use tempfile::TempDir;

use super::super::redo::RowChange;
use super::*;

/// An empty data directory, removed when the `TempDir` is dropped.
fn directory() -> (TempDir, DataDirectory) {
    let path = tempfile::tempdir().expect("it can be made");
    let Ok(Taken::Free(directory)) = DataDirectory::lock(path.path()) else {
        panic!("nobody has it");
    };
    (path, directory)
}

/// A new log.
fn begun() -> (TempDir, DataDirectory, Log) {
    let (path, directory) = directory();
    let (mut log, pages) = Log::open(&directory).expect("it opens");
    assert!(pages.is_none());
    log.restart(b"pages", 0).expect("it is written");
    (path, directory, log)
}

/// Writes a group; returns its offset.
fn write(log: &mut Log, changes: &[Redo<'_>]) -> u64 {
    let start = log.begin();
    for change in changes {
        log.add(*change).expect("it is written");
    }
    log.finish(true).expect("it is written");
    start
}

/// The keys that a change affects.
fn names(change: Redo<'_>) -> Vec<Vec<u8>> {
    let row = |(key, row): &RowChange<'_>| [*key, b"->", row.unwrap_or_default()].concat();
    vec![match change {
        Redo::Put(key, value) => [key, b"=", &value[..3]].concat(),
        Redo::Remove(key) => [b"-", key].concat(),
        Redo::Clear(low, high) => [low, b"..", high].concat(),
        Redo::Count { tree, more, anew } => format!("{tree}: {more} {anew}").into_bytes(),
        Redo::Rows(tree, types, rows) => {
            let tree = format!("{tree}: {types:?}").into_bytes();
            return std::iter::once(tree).chain(rows.iter().map(row)).collect();
        }
    }]
}

/// The groups in a log, and the pages of its checkpoint.
fn groups(directory: &DataDirectory) -> (Vec<Vec<Vec<u8>>>, Option<Vec<u8>>) {
    let (mut log, pages) = Log::open(directory).expect("it opens");
    let mut groups = vec![Vec::new()];
    let each = |step: Step<'_>| {
        match step {
            Step::Change(change) => groups.last_mut().expect("one").extend(names(change)),
            Step::Commit(_) => groups.push(Vec::new()),
        }
        Ok(())
    };
    log.replay(|error| error, each).expect("it can be read");
    assert_eq!(groups.pop(), Some(Vec::new()));
    (groups, pages.map(|header| header.pages))
}

fn put(log: &mut Log, keys: &[&[u8]]) -> u64 {
    let changes: Vec<_> = keys.iter().map(|key| Redo::Put(key, b"value")).collect();
    write(log, &changes)
}

#[test]
fn what_was_written_is_read() {
    let (_path, directory, mut log) = begun();
    put(&mut log, &[b"a", b"b"]);
    log.begin();
    log.add(Redo::Remove(b"a")).expect("it is written");
    log.add(Redo::Clear(b"k", b"l")).expect("it is written");
    log.finish(false).expect("it is written");
    // A group that is not finished.
    log.begin();
    log.add(Redo::Remove(b"z")).expect("it is written");
    let read = groups(&directory);
    let first = vec![b"a=val".to_vec(), b"b=val".to_vec()];
    let second = vec![b"-a".to_vec(), b"k..l".to_vec()];
    assert_eq!(read, (vec![first, second], Some(b"pages".to_vec())));
    log.restart(b"others", 0).expect("it is written");
    assert_eq!(groups(&directory), (vec![], Some(b"others".to_vec())));
}

#[test]
fn damage_of_the_newest_header_is_reported() {
    let (_path, directory) = directory();
    let (mut log, _) = Log::open(&directory).expect("it opens");
    for pages in [b"first".as_slice(), b"second"] {
        log.restart(pages, 0).expect("it is written");
        put(&mut log, &[b"a"]);
    }
    let damage = |log: &Log| {
        let byte = slot_of(log.generation) + HEADER_BYTES as u64;
        log.file.write_at(b"x", byte).expect("it is written");
    };
    log.restart(b"third", 0).expect("it is written");
    // Nothing was changed since: the header before gives an equal state.
    damage(&log);
    let second = vec![vec![b"a=val".to_vec()]];
    assert_eq!(groups(&directory), (second, Some(b"second".to_vec())));
    put(&mut log, &[b"b"]);
    let error = Log::open(&directory).expect_err("the header has gone");
    assert_eq!(
        error.to_string(),
        "the newest header of the redo log is damaged"
    );
}

#[test]
fn rows_of_a_tree_come_with_its_types() {
    let (_path, directory, mut log) = begun();
    let types: Arc<[PhysicalType]> = Arc::from([
        PhysicalType::Bool,
        PhysicalType::Int64,
        PhysicalType::UInt64,
        PhysicalType::Float64,
        PhysicalType::Decimal128(2),
        PhysicalType::Decimal256(30),
        PhysicalType::Bytes,
    ]);
    let none = Arc::from([]);
    let changes = [
        Redo::Rows(7, &types, &[(b"a", Some(b"row")), (b"b", None)]),
        Redo::Rows(8, &none, &[(b"", Some(b""))]),
        Redo::Count {
            tree: 8,
            more: -3,
            anew: true,
        },
    ];
    write(&mut log, &changes);
    let expected = [
        format!("7: {types:?}").into_bytes(),
        b"a->row".to_vec(),
        b"b->".to_vec(),
        b"8: []".to_vec(),
        b"->".to_vec(),
        b"8: -3 true".to_vec(),
    ];
    assert_eq!(groups(&directory).0, [expected]);
}

#[test]
fn rows_go_on_in_the_next_frame() {
    let (_path, directory, mut log) = begun();
    let types: Arc<[PhysicalType]> = Arc::from([PhysicalType::Bytes]);
    let long = vec![b'x'; FRAME_FULL];
    let rows: [RowChange<'_>; 3] = [(b"a", Some(&long)), (b"b", None), (b"c", Some(&long))];
    write(&mut log, &[Redo::Rows(9, &types, &rows)]);
    let tree = b"9: [Bytes]".to_vec();
    let long = |key: &[u8]| [key, b"->", &long].concat();
    let expected = [tree.clone(), long(b"a"), tree, b"b->".to_vec(), long(b"c")];
    assert!(groups(&directory).0 == [expected]);
}

#[test]
fn large_groups_have_several_frames() {
    let (_path, directory, mut log) = begun();
    let long = vec![7; 700_000];
    for _ in 0..2 {
        write(
            &mut log,
            &[b"a", b"b", b"c", b"d"].map(|key| Redo::Put(key, &long)),
        );
    }
    let (read, _) = groups(&directory);
    assert_eq!(read.len(), 2);
    assert_eq!(read[1].len(), 4);
}

#[test]
fn a_failed_group_leaves_nothing_behind_a_shorter_one() {
    let (_path, directory, mut log) = begun();
    put(&mut log, &[b"a"]);
    // Frames of equal length, so that the second would follow the next group.
    let long = vec![7; FRAME_FULL];
    let start = write(&mut log, &[b"b", b"c"].map(|key| Redo::Put(key, &long)));
    log.cut(start);
    assert_eq!(groups(&directory).0.len(), 1);
    write(&mut log, &[Redo::Put(b"d", &long)]);
    let (read, _) = groups(&directory);
    assert_eq!(read, [[b"a=val".to_vec()], [b"d=\x07\x07\x07".to_vec()]]);
}

#[test]
fn a_cut_takes_what_is_behind_it() {
    let (_path, directory, mut log) = begun();
    put(&mut log, &[b"a"]);
    let offset = put(&mut log, &[b"b"]);
    put(&mut log, &[b"c"]);
    log.cut(offset);
    assert_eq!(groups(&directory).0, [[b"a=val".to_vec()]]);
    // The group behind it would follow this one again.
    put(&mut log, &[b"d"]);
    let expected = [[b"a=val".to_vec()], [b"d=val".to_vec()]];
    assert_eq!(groups(&directory).0, expected);
}

#[test]
fn what_a_process_of_before_has_left_behind_the_end_is_no_part_of_it() {
    let (path, directory, mut log) = begun();
    // Three frames of equal length, the second and third of one group.
    let long = vec![7; FRAME_FULL];
    write(&mut log, &[Redo::Put(b"a", &long)]);
    write(&mut log, &[b"b", b"c"].map(|key| Redo::Put(key, &long)));
    drop(log);
    // The first frame is lost.
    let file = path.path().join(LOG_FILE);
    let mut bytes = std::fs::read(&file).expect("it is there");
    bytes[usize::try_from(FRAMES).expect("it is small")] ^= 1;
    std::fs::write(&file, bytes).expect("it can be written");
    assert!(groups(&directory).0.is_empty());
    let (mut log, _) = Log::open(&directory).expect("it opens");
    log.replay(|error| error, |_| Ok(()))
        .expect("it can be read");
    write(&mut log, &[Redo::Put(b"d", &long)]);
    let (read, _) = groups(&directory);
    assert_eq!(read, [[b"d=\x07\x07\x07".to_vec()]]);
}

#[test]
fn groups_after_a_checkpoint_that_failed_count() {
    let (_path, directory, mut log) = begun();
    put(&mut log, &[b"a"]);
    let (generation, group, end) = (log.generation, log.group, log.end);
    log.restart(b"later", 0).expect("it is written");
    // As after a failed sync: whether the header is on disk is unknown.
    log.doubtful = Some(log.generation % 2 * SLOT_BYTES);
    (log.generation, log.group, log.end) = (generation, group, end);
    put(&mut log, &[b"b"]);
    assert!(log.doubtful.is_none());
    let (read, pages) = groups(&directory);
    assert_eq!(read, [[b"a=val".to_vec()], [b"b=val".to_vec()]]);
    assert_eq!(pages.as_deref(), Some(&b"pages"[..]));
}

#[test]
fn a_torn_end_is_no_part_of_it() {
    let (path, directory, mut log) = begun();
    put(&mut log, &[b"a"]);
    let whole = log.end;
    put(&mut log, &[b"b", b"c"]);
    let bytes = std::fs::read(path.path().join(LOG_FILE)).expect("it is there");
    for damaged in whole..log.end {
        let mut bytes = bytes.clone();
        bytes[usize::try_from(damaged).expect("it is small")] ^= 0x20;
        std::fs::write(path.path().join(LOG_FILE), bytes).expect("it can be written");
        assert_eq!(groups(&directory).0, [[b"a=val".to_vec()]], "{damaged}");
    }
    // A torn header leaves the one before in force.
    let mut torn = bytes.clone();
    torn[usize::try_from(SLOT_BYTES).expect("it is small") + 22] ^= 1;
    std::fs::write(path.path().join(LOG_FILE), torn).expect("it can be written");
    assert!(Log::open(&directory).is_err(), "it was the only one");
}
