//! Tests of temporary space: round trips, recycling, faults, and other processes' files.

use super::*;
use crate::budget::BudgetKind;
use crate::io::{Fault, FaultIo, SystemIo};

mod random;
mod stored;
mod tiers;

struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("mayfly-test-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn entries(&self) -> usize {
        std::fs::read_dir(&self.0).unwrap().count()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn space(io: Arc<dyn IoBackend>, scratch: &Scratch, idle_limit: u64) -> TempSpace {
    TempSpace::new(io, TempSpaceOptions::new(scratch.0.clone(), 2, idle_limit))
}

fn pattern(length: usize, seed: u8) -> Vec<u8> {
    (0..length)
        .map(|n| (n as u8).wrapping_mul(31).wrapping_add(seed))
        .collect()
}

/// Each way to store bytes: whether they are compressed, and whether they are encrypted.
const MODES: [(Compression, bool); 4] = [
    (Compression::None, false),
    (Compression::Lz4, false),
    (Compression::None, true),
    (Compression::Lz4, true),
];

/// Options of a space that stores bytes in one of the [`MODES`].
fn in_mode((compression, encrypted): (Compression, bool), scratch: &Scratch) -> TempSpaceOptions {
    TempSpaceOptions {
        compression,
        encryption: encrypted.then(|| EncryptionKey::new([7; 32])),
        ..TempSpaceOptions::new(scratch.0.clone(), 2, 1 << 20)
    }
}

/// Extents of these lengths, each with the pattern of its number.
fn write_all(file: &TempFile, lengths: impl IntoIterator<Item = usize>) -> Vec<Extent> {
    let numbered = lengths.into_iter().enumerate();
    numbered
        .map(|(n, length)| file.write(&pattern(length, n as u8)).unwrap())
        .collect()
}

fn assert_pattern(extent: &Extent, seed: u8) {
    let mut bytes = vec![0; extent.len()];
    extent.read(&mut bytes).unwrap();
    assert_eq!(bytes, pattern(extent.len(), seed));
}

#[test]
fn extents_come_back_as_written_and_no_file_is_touched_before() {
    let scratch = Scratch::new("roundtrip");
    let space = space(Arc::new(SystemIo), &scratch, 1 << 20);
    let budget = Budget::unlimited(BudgetKind::TempSpace);
    let file = space.file(&budget);
    assert_eq!(
        (scratch.entries(), space.counters().created_files()),
        (0, 0)
    );
    let extents = write_all(&file, (1..=20).map(|n| 1000 * n));
    assert_eq!(space.counters().created_files(), 1);
    for (n, extent) in extents.iter().enumerate().rev() {
        assert_eq!(extent.len(), 1000 * (n + 1));
        assert_pattern(extent, n as u8);
    }
    assert_eq!(budget.used(), space.used_bytes());
    drop(extents);
    assert_eq!((budget.used(), space.used_bytes()), (0, 0));
    assert!(space.idle_bytes() > 0);
    space.trim();
    assert_eq!((space.idle_bytes(), scratch.entries()), (0, 0));
    drop(file.write(b"again").unwrap());
    drop((file, space));
    assert_eq!(scratch.entries(), 0);
}

#[test]
fn space_is_recycled_and_bounded() {
    let scratch = Scratch::new("recycle");
    let space = space(Arc::new(SystemIo), &scratch, 2 * 64 * 4096);
    let budget = Budget::unlimited(BudgetKind::TempSpace);
    let file = space.file(&budget);
    let keep = file.write(&pattern(4096, 0)).unwrap();
    for _ in 0..50 {
        drop(write_all(&file, [4096; 40]));
    }
    assert_eq!(space.idle_bytes(), 40 * 4096);
    drop(write_all(&file, [4096; 200]));
    assert!(space.idle_bytes() <= 64 * 4096, "{}", space.idle_bytes());
    assert_pattern(&keep, 0);
    let again = write_all(&file, [4096; 200]);
    for (n, extent) in again.iter().enumerate() {
        assert_pattern(extent, n as u8);
    }
    drop((again, keep));
    assert!(space.idle_bytes() <= 64 * 4096);
}

#[test]
fn the_limit_of_temporary_space_is_named() {
    let scratch = Scratch::new("limit");
    let space = space(Arc::new(SystemIo), &scratch, 0);
    let budget = Budget::root(BudgetKind::TempSpace, "max_tmp_session_space_usage", 10_000);
    let file = space.file(&budget);
    let held = file.write(&pattern(8000, 1)).unwrap();
    let error = file.write(&pattern(8000, 2)).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("max_tmp_session_space_usage = 10000"),
        "{error}"
    );
    assert!(!error.is_memory_limit());
    drop(held);
    assert_eq!((budget.used(), space.used_bytes()), (0, 0));
}

#[test]
fn every_failing_call_gives_an_error_and_leaves_nothing() {
    for mode in MODES {
        every_failing_call(mode);
    }
}

fn every_failing_call(mode: (Compression, bool)) {
    for fault in Fault::ALL {
        let scratch = Scratch::new(&format!("fault-{fault:?}"));
        let mut failures = 0;
        for fail_at in 1.. {
            let io = Arc::new(FaultIo::new(Arc::new(SystemIo), fault, fail_at));
            let options = in_mode(mode, &scratch);
            let space = TempSpace::new(Arc::clone(&io) as Arc<dyn IoBackend>, options);
            let budget = Budget::unlimited(BudgetKind::TempSpace);
            let file = space.file(&budget);
            let run = || -> Result<()> {
                let extents: Result<Vec<_>> =
                    (0..5).map(|n| file.write(&pattern(5000, n))).collect();
                for (n, extent) in extents?.iter().enumerate() {
                    let mut bytes = vec![0; extent.len()];
                    extent.read(&mut bytes)?;
                    assert_eq!(
                        bytes,
                        pattern(5000, n as u8),
                        "a wrong result, not an error"
                    );
                }
                Ok(())
            };
            let result = run();
            assert_eq!((budget.used(), space.used_bytes()), (0, 0));
            let calls = io.calls();
            drop((file, space));
            assert_eq!(scratch.entries(), 0, "{fault:?} at call {fail_at}");
            if let Err(error) = result {
                failures += 1;
                let text = error.to_string();
                assert!(text.contains("mayfly-"), "the path is named: {text}");
            }
            if fail_at > calls {
                break;
            }
        }
        // Three calls make the files; then there are five writes and five reads.
        let expected = match fault {
            Fault::DeviceError => 13,
            Fault::DiskFull => 8,
            Fault::OpenError => 3,
            Fault::ReadError | Fault::CorruptRead | Fault::ShortWrite => 5,
            Fault::ShortMove | Fault::Signal => 0,
        };
        assert_eq!(failures, expected, "{fault:?}");
    }
}

#[test]
fn orphans_are_removed_and_neighbours_left_alone() {
    let scratch = Scratch::new("orphans");
    let dead = scratch.0.join("mayfly-1-0");
    std::fs::create_dir(&dead).unwrap();
    std::fs::write(dead.join("lane-0.tmp"), b"left").unwrap();
    std::fs::create_dir(dead.join("#innodb_temp")).unwrap();
    std::fs::write(dead.join("#innodb_temp/temp_1.ibt"), b"left").unwrap();
    std::fs::write(scratch.0.join("mayfly-1-0.lock"), b"").unwrap();
    std::fs::write(scratch.0.join("mayfly-notes.lock"), b"not ours").unwrap();
    let neighbour = space(Arc::new(SystemIo), &scratch, 0);
    let budget = Budget::unlimited(BudgetKind::TempSpace);
    let held = neighbour.file(&budget).write(b"alive").unwrap();
    let newcomer = space(Arc::new(SystemIo), &scratch, 0);
    assert_eq!(newcomer.remove_orphans().unwrap(), 1);
    assert!(!dead.exists() && scratch.0.join("mayfly-notes.lock").exists());
    let mut bytes = [0; 5];
    held.read(&mut bytes).unwrap();
    assert_eq!(&bytes, b"alive");
    assert!(neighbour.directories()[0].exists());
    let other = newcomer.file(&budget).write(b"mine").unwrap();
    assert_ne!(neighbour.directories(), newcomer.directories());
    drop((held, other));
}

#[test]
fn orphans_are_not_looked_for_behind_links() {
    use std::os::unix::fs::symlink;

    let (scratch, other) = (Scratch::new("linked-orphans"), Scratch::new("other-files"));
    let kept = other.0.join("mayfly-7-0");
    std::fs::create_dir(&kept).unwrap();
    std::fs::write(kept.join("data.mdb"), b"kept").unwrap();
    std::fs::write(other.0.join("mayfly-7-0.lock"), b"").unwrap();
    // A link instead of the directory, instead of the lock file, and within a directory of ours.
    symlink(&kept, scratch.0.join("mayfly-1-0")).unwrap();
    std::fs::write(scratch.0.join("mayfly-1-0.lock"), b"").unwrap();
    symlink(
        other.0.join("mayfly-7-0.lock"),
        scratch.0.join("mayfly-7-0.lock"),
    )
    .unwrap();
    std::fs::create_dir(scratch.0.join("mayfly-2-0")).unwrap();
    symlink(&other.0, scratch.0.join("mayfly-2-0/inner")).unwrap();
    std::fs::write(scratch.0.join("mayfly-2-0.lock"), b"").unwrap();
    let space = space(Arc::new(SystemIo), &scratch, 0);
    space.remove_orphans().unwrap();
    assert_eq!(std::fs::read(kept.join("data.mdb")).unwrap(), b"kept");
    assert!(other.0.join("mayfly-7-0.lock").exists());
    assert!(!scratch.0.join("mayfly-2-0").exists());
}

#[test]
fn threads_write_side_by_side() {
    let scratch = Scratch::new("threads");
    let space = space(Arc::new(SystemIo), &scratch, 1 << 20);
    let budget = Budget::unlimited(BudgetKind::TempSpace);
    std::thread::scope(|scope| {
        for thread in 0..4_u8 {
            let (space, budget) = (&space, &budget);
            scope.spawn(move || {
                for _ in 0..10 {
                    let file = space.file(budget);
                    let written = |n: u8| {
                        let bytes = pattern(4096 * (1 + n as usize % 3), thread + n);
                        file.write(&bytes).unwrap()
                    };
                    let extents: Vec<_> = (0..10).map(written).collect();
                    for (n, extent) in extents.iter().enumerate() {
                        assert_eq!(extent.len(), 4096 * (1 + n % 3));
                        assert_pattern(extent, thread + n as u8);
                    }
                }
            });
        }
    });
    assert_eq!(budget.used(), 0);
}

/// Bytes of the files in the directory of a temporary space, as the file system counts them.
fn bytes_on_disk(space: &TempSpace) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let files = std::fs::read_dir(&space.directories()[0]).unwrap();
    let files = files.map(|file| file.unwrap().metadata().unwrap());
    files.map(|file| file.blocks() * 512).sum()
}

#[test]
fn files_are_made_with_their_first_bytes_and_never_take_more_than_the_limit() {
    let scratch = Scratch::new("capped");
    let options = TempSpaceOptions {
        initial: 64 << 10,
        limit: 256 << 10,
        limit_setting: "innodb_temp_data_file_path",
        names: vec!["ibtmp1".to_owned()],
        ..TempSpaceOptions::new(scratch.0.clone(), 2, 1 << 20)
    };
    let space = TempSpace::new(Arc::new(SystemIo), options);
    let budget = Budget::unlimited(BudgetKind::TempSpace);
    let (one, two) = (space.file(&budget), space.file(&budget));
    let first = one.write(&pattern(4096, 1)).unwrap();
    assert!(first.path().ends_with("ibtmp1"));
    assert_eq!(space.disk_bytes(), (32 << 10, 256 << 10));
    assert_eq!(bytes_on_disk(&space), 32 << 10);
    // One file takes all that there is and gives it back, then the other one needs it.
    let many = write_all(&one, [4096; 63]);
    let error = one.write(&pattern(4096, 1)).unwrap_err().to_string();
    assert!(
        error.contains("innodb_temp_data_file_path = 262144 bytes of temporary space"),
        "{error}"
    );
    drop(many);
    assert_eq!(space.disk_bytes().0, 256 << 10);
    let others = write_all(&two, [4096; 63]);
    assert!(others[0].path().ends_with("ibtmp1.1"));
    assert!(bytes_on_disk(&space) <= 256 << 10);
    for (n, extent) in others.iter().enumerate() {
        assert_pattern(extent, n as u8);
    }
    assert_pattern(&first, 1);
    assert!(two.write(&pattern(4096, 1)).is_err());
    drop((others, first));
    assert_eq!((budget.used(), space.used_bytes()), (0, 0));
    space.trim();
    assert_eq!((space.disk_bytes().0, scratch.entries()), (0, 0));
}

#[test]
fn a_file_that_a_panic_left_half_made_is_made_again() {
    let scratch = Scratch::new("half_made");
    let options = TempSpaceOptions {
        initial: 64 << 10,
        ..TempSpaceOptions::new(scratch.0.clone(), 1, 1 << 20)
    };
    let budget = Budget::unlimited(BudgetKind::TempSpace);
    let calls = {
        let io = Arc::new(FaultIo::new(Arc::new(SystemIo), Fault::DeviceError, 0));
        let file = TempSpace::new(io.clone(), options.clone()).file(&budget);
        drop(file.write(&pattern(4096, 1)).unwrap());
        io.calls()
    };
    assert!(calls >= 3, "creating, allocating and writing");
    for due in 1..=calls {
        let io = FaultIo::listening(Arc::new(SystemIo), move |call| {
            assert_ne!(call, due, "an injected bug");
        });
        let space = TempSpace::new(Arc::new(io), options.clone());
        let file = space.file(&budget);
        let write = || file.write(&pattern(4096, 1)).map(drop);
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(write));
        assert!(panicked.is_err(), "call {due}");
        let extent = file.write(&pattern(4096, 2)).unwrap();
        assert_eq!(space.disk_bytes().0, 64 << 10, "call {due}");
        drop((extent, file));
        space.trim();
        assert_eq!((space.disk_bytes().0, scratch.entries()), (0, 0));
    }
}

#[test]
fn a_file_does_not_grow_while_what_is_free_would_do() {
    let scratch = Scratch::new("steady");
    let space = space(Arc::new(SystemIo), &scratch, 16 << 20);
    let budget = Budget::unlimited(BudgetKind::TempSpace);
    let file = space.file(&budget);
    let _keep = file.write(&pattern(100, 0)).unwrap();
    let mut most = 0;
    for round in 0..200_usize {
        // Other sizes in every round, given back in another order than they were taken in.
        let sizes = (0..20).map(|n| 4096 * (1 + (round * 7 + n * 13) % 9));
        let mut extents = write_all(&file, sizes);
        while !extents.is_empty() {
            drop(extents.swap_remove(round % extents.len()));
        }
        most = most.max(space.disk_bytes().0);
    }
    // Twenty extents of at most nine pages, and the one that stays.
    assert!(most <= (20 * 9 + 1) * 4096, "{most}");
    assert_eq!(space.used_bytes(), 4096);
}
