//! Several directories: the order of their use, and the error when all are full.

use super::*;
use crate::budget::UNLIMITED;
use crate::io::SmallDevice;

/// A space whose directories are `tier-<n>` of the scratch directory, with these capacities.
fn tiered(io: Arc<dyn IoBackend>, scratch: &Scratch, capacities: &[u64]) -> TempSpace {
    TempSpace::new(io, options(scratch, capacities))
}

pub(super) fn options(scratch: &Scratch, capacities: &[u64]) -> TempSpaceOptions {
    let tier = |(number, capacity): (usize, &u64)| {
        let directory = scratch.0.join(format!("tier-{number}"));
        std::fs::create_dir_all(&directory).unwrap();
        TierOptions {
            directory,
            capacity: *capacity,
        }
    };
    TempSpaceOptions {
        tiers: capacities.iter().enumerate().map(tier).collect(),
        ..TempSpaceOptions::new(PathBuf::new(), 2, 1 << 20)
    }
}

/// The number of the directory that an extent begins in.
fn tier_of(extent: &Extent) -> usize {
    let path = extent.path().to_string_lossy();
    let number = path
        .split("tier-")
        .nth(1)
        .and_then(|rest| rest.chars().next());
    number.and_then(|digit| digit.to_digit(10)).unwrap() as usize
}

fn tiers_of(extents: &[Extent]) -> Vec<usize> {
    extents.iter().map(tier_of).collect()
}

#[test]
fn a_small_directory_overflows_to_the_next_and_is_used_again() {
    let scratch = Scratch::new("tiers");
    let space = tiered(Arc::new(SystemIo), &scratch, &[16 << 10, UNLIMITED]);
    let budget = Budget::unlimited(BudgetKind::TempSpace);
    let file = space.file(&budget);
    let mut extents = write_all(&file, [4096; 6]);
    assert_eq!(tiers_of(&extents), [0, 0, 0, 0, 1, 1]);
    assert_eq!(space.directories().len(), 2);
    let [first, second] = &space.tiers()[..] else {
        panic!("two directories")
    };
    assert_eq!((first.disk_bytes, first.used_bytes), (16 << 10, 16 << 10));
    assert_eq!((second.disk_bytes, second.used_bytes), (8 << 10, 8 << 10));
    assert_eq!((space.disk_bytes().0, budget.used()), (24 << 10, 24 << 10));
    drop(extents.remove(1));
    let again = file.write(&pattern(4096, 9)).unwrap();
    assert_eq!(tier_of(&again), 0);
    assert_pattern(&again, 9);
    for (n, extent) in [0, 2, 3, 4, 5].into_iter().zip(&extents) {
        assert_pattern(extent, n);
    }
    // Idle space of another file is returned for this one.
    drop((extents, again));
    let other = space.file(&budget);
    let extents = write_all(&other, [4096; 4]);
    assert_eq!(tiers_of(&extents), [0; 4]);
    drop((extents, file, other));
    space.trim();
    assert_eq!((space.disk_bytes().0, space.directories().len()), (0, 0));
    assert_eq!(budget.used(), 0);
}

#[test]
fn a_large_extent_is_in_several_directories() {
    let scratch = Scratch::new("spanning");
    let space = tiered(
        Arc::new(SystemIo),
        &scratch,
        &[300 << 10, 300 << 10, UNLIMITED],
    );
    let budget = Budget::unlimited(BudgetKind::TempSpace);
    let file = space.file(&budget);
    let extent = file.write(&pattern(1_000_001, 3)).unwrap();
    assert_eq!(extent.len(), 1_000_001);
    assert_pattern(&extent, 3);
    let used: Vec<u64> = space.tiers().iter().map(|tier| tier.used_bytes).collect();
    // Pieces of 256 KiB, the last one of 213 569 bytes.
    assert_eq!(used, [256 << 10, 256 << 10, (256 << 10) + 217_088]);
    drop(extent);
    assert_eq!((space.used_bytes(), budget.used()), (0, 0));
}

#[test]
fn all_directories_are_named_when_all_are_full() {
    let scratch = Scratch::new("all-full");
    let space = tiered(Arc::new(SystemIo), &scratch, &[8192, 4096]);
    let budget = Budget::unlimited(BudgetKind::TempSpace);
    let file = space.file(&budget);
    let extents = write_all(&file, [4096; 3]);
    assert_eq!(tiers_of(&extents), [0, 0, 1]);
    let error = file.write(&pattern(4096, 1)).unwrap_err();
    assert!(!error.is_memory_limit());
    let [first, second] = [0, 1].map(|n| scratch.0.join(format!("tier-{n}")));
    let expected = format!(
        "4096 bytes more of temporary space needed: \
         '{}' (tmpdir_capacity = 8192 bytes, 8192 in use), \
         '{}' (tmpdir_capacity = 4096 bytes, 4096 in use); \
         raise tmpdir_capacity, or add a directory to tmpdir",
        first.display(),
        second.display()
    );
    assert_eq!(error.to_string(), expected);
    assert_eq!(budget.used(), 12288);
}

#[test]
fn the_limit_of_all_directories_is_named() {
    let scratch = Scratch::new("total");
    let options = TempSpaceOptions {
        limit: 12288,
        limit_setting: "innodb_temp_data_file_path",
        ..options(&scratch, &[8192, UNLIMITED])
    };
    let space = TempSpace::new(Arc::new(SystemIo), options);
    let budget = Budget::unlimited(BudgetKind::TempSpace);
    let file = space.file(&budget);
    let extents = write_all(&file, [4096; 3]);
    assert_eq!(tiers_of(&extents), [0, 0, 1]);
    let error = file.write(&pattern(4096, 1)).unwrap_err().to_string();
    assert!(
        error.starts_with("innodb_temp_data_file_path = 12288 bytes"),
        "{error}"
    );
    drop(extents);
    // Another file needs the idle space of both directories.
    let other = space.file(&budget);
    assert_eq!(tiers_of(&write_all(&other, [4096; 3])), [0, 0, 1]);
}

#[test]
fn a_full_device_makes_the_next_directory_take_over_until_it_has_room() {
    let scratch = Scratch::new("full-device");
    let options = options(&scratch, &[UNLIMITED, UNLIMITED]);
    let first = options.tiers[0].directory.clone();
    let io = Arc::new(SmallDevice::new(Arc::new(SystemIo), first, 20 << 10));
    let space = TempSpace::new(io.clone(), options);
    let budget = Budget::unlimited(BudgetKind::TempSpace);
    let file = space.file(&budget);
    // Each takes two pages: the third finds one of them, which is given back.
    let mut extents = write_all(&file, [8000; 5]);
    assert_eq!(tiers_of(&extents), [0, 0, 1, 1, 1]);
    assert_eq!(io.used(), 16 << 10);
    assert_eq!(space.tiers()[0].disk_bytes, 16 << 10);
    for (n, extent) in extents.iter().enumerate() {
        assert_pattern(extent, n as u8);
    }
    // Space that is given back there is reused at once.
    drop(extents.remove(0));
    let again = file.write(&pattern(8000, 7)).unwrap();
    assert_eq!(tier_of(&again), 0);
    // Space that others have freed is found after some more requests.
    io.set_capacity(1 << 20);
    let more = write_all(&file, [4096; 200]);
    assert!(tiers_of(&more)[100..].iter().all(|tier| *tier == 0));
    assert_pattern(&more[199], 199);
    drop((extents, again, more));
    assert_eq!((space.used_bytes(), budget.used()), (0, 0));
}

#[test]
fn a_full_device_is_named_with_its_directory() {
    let scratch = Scratch::new("full-device-named");
    let options = options(&scratch, &[UNLIMITED, 8192]);
    let first = options.tiers[0].directory.clone();
    let io = Arc::new(SmallDevice::new(Arc::new(SystemIo), first.clone(), 4096));
    let space = TempSpace::new(io.clone(), options);
    let budget = Budget::unlimited(BudgetKind::TempSpace);
    let file = space.file(&budget);
    let extents = write_all(&file, [4096; 3]);
    assert_eq!(tiers_of(&extents), [0, 1, 1]);
    let error = file.write(&pattern(4096, 1)).unwrap_err().to_string();
    let full = format!(
        "'{}' (28 - No space left on device; write of 4096 bytes",
        first.display()
    );
    assert!(error.contains(&full), "{error}");
    assert!(
        error.contains("tmpdir_capacity = 8192 bytes, 8192 in use"),
        "{error}"
    );
    // Before the next error, a device is found to have room again.
    io.set_capacity(8192);
    assert_eq!(tier_of(&file.write(&pattern(4096, 1)).unwrap()), 0);
    assert_eq!(budget.used(), 12288);
}

#[test]
fn a_device_that_has_no_room_for_the_first_bytes_is_passed_over() {
    let scratch = Scratch::new("no-room-at-all");
    let options = TempSpaceOptions {
        initial: 64 << 10,
        ..options(&scratch, &[UNLIMITED, UNLIMITED])
    };
    let first = options.tiers[0].directory.clone();
    let io = Arc::new(SmallDevice::new(Arc::new(SystemIo), first, 8192));
    let space = TempSpace::new(io, options);
    let budget = Budget::unlimited(BudgetKind::TempSpace);
    let extent = space.file(&budget).write(&pattern(5000, 1)).unwrap();
    assert_eq!(tier_of(&extent), 1);
    assert_eq!(space.tiers()[0].disk_bytes, 0);
    assert_pattern(&extent, 1);
}

#[test]
fn other_failures_of_a_directory_are_errors() {
    let scratch = Scratch::new("no-failover");
    let options = options(&scratch, &[UNLIMITED, UNLIMITED]);
    let first = options.tiers[0].directory.clone();
    std::fs::remove_dir(&first).unwrap();
    let space = TempSpace::new(Arc::new(SystemIo), options);
    let budget = Budget::unlimited(BudgetKind::TempSpace);
    let error = space.file(&budget).write(b"bytes").unwrap_err().to_string();
    assert!(error.contains(&*first.to_string_lossy()), "{error}");
    assert_eq!(budget.used(), 0);
    assert!(!space.make_directory().unwrap().path().starts_with(&first));
}

#[test]
fn a_directory_that_cannot_be_used_is_named_at_the_start() {
    let scratch = Scratch::new("start");
    let good = scratch.0.join("tier-0");
    let wrong = scratch.0.join("tier-1");
    let checked = || {
        let space = tiered_as_is(&good, &wrong);
        let checked = space.check_directories();
        assert_eq!(std::fs::read_dir(&good).unwrap().count(), 0);
        checked
    };
    std::fs::create_dir(&good).unwrap();
    let error = checked().unwrap_err();
    assert_eq!(error.errno(), libc::ENOENT);
    assert!(error.path.starts_with(&wrong), "{error}");
    std::fs::write(&wrong, b"a file").unwrap();
    assert_eq!(checked().unwrap_err().errno(), libc::ENOTDIR);
    std::fs::remove_file(&wrong).unwrap();
    std::os::unix::fs::symlink(scratch.0.join("nowhere"), &wrong).unwrap();
    assert_eq!(checked().unwrap_err().errno(), libc::ENOENT);
    std::fs::remove_file(&wrong).unwrap();
    std::os::unix::fs::symlink(&good, &wrong).unwrap();
    checked().unwrap();
    // The same directory twice gives two directories in it.
    let space = tiered_as_is(&good, &wrong);
    let budget = Budget::unlimited(BudgetKind::TempSpace);
    let extents = write_all(&space.file(&budget), [4096; 3]);
    assert_eq!(std::fs::read_dir(&good).unwrap().count(), 4);
    for (n, extent) in extents.iter().enumerate() {
        assert_pattern(extent, n as u8);
    }
    drop((extents, space));
    assert_eq!(std::fs::read_dir(&good).unwrap().count(), 0);
}

fn tiered_as_is(first: &Path, second: &Path) -> TempSpace {
    let tier = |directory: &Path| TierOptions {
        directory: directory.to_owned(),
        capacity: 8192,
    };
    let options = TempSpaceOptions {
        tiers: vec![tier(first), tier(second)],
        ..TempSpaceOptions::new(PathBuf::new(), 1, 0)
    };
    TempSpace::new(Arc::new(SystemIo), options)
}

#[test]
fn orphans_are_removed_from_every_directory() {
    let scratch = Scratch::new("orphans-of-all");
    let space = tiered(Arc::new(SystemIo), &scratch, &[4096, UNLIMITED]);
    for n in 0..2 {
        let tier = scratch.0.join(format!("tier-{n}"));
        std::fs::create_dir(tier.join("mayfly-1-0")).unwrap();
        std::fs::write(tier.join("mayfly-1-0/lane-0.tmp"), b"left").unwrap();
        std::fs::write(tier.join("mayfly-1-0.lock"), b"").unwrap();
    }
    let budget = Budget::unlimited(BudgetKind::TempSpace);
    let extents = write_all(&space.file(&budget), [4096; 2]);
    assert_eq!(space.remove_orphans().unwrap(), 2);
    assert_eq!(space.remove_orphans().unwrap(), 0);
    assert_eq!(tiers_of(&extents), [0, 1]);
    assert_pattern(&extents[0], 0);
    drop((extents, space));
    for n in 0..2 {
        let tier = scratch.0.join(format!("tier-{n}"));
        assert_eq!(std::fs::read_dir(tier).unwrap().count(), 0);
    }
}
