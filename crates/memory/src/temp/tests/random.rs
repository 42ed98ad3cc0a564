//! Random operations on temporary space, compared with a model: every way to store bytes, several directories with
//! capacities, devices that are full, and calls that fail.

use super::super::sizes::PIECE;
use super::*;
use crate::budget::UNLIMITED;
use crate::error::MemoryError;
use crate::io::SmallDevice;
use proptest::prelude::*;

/// Content of an extent.
#[derive(Debug, Clone, Copy)]
enum Content {
    Zeros,
    Pattern,
    Noise,
}

#[derive(Debug, Clone)]
enum Step {
    Write(usize, Content, u8, usize),
    Read(usize),
    Drop(usize),
    Compress(bool),
    /// The device of the first directory has `n` pages.
    Device(u64),
    Fault(Fault, u64),
    Trim,
}

fn step() -> impl Strategy<Value = Step> {
    let length = prop_oneof![
        1..5000_usize,
        1..70_000_usize,
        (PIECE - 5)..(PIECE + 5),
        1..700_000_usize
    ];
    let content = prop_oneof![
        Just(Content::Zeros),
        Just(Content::Pattern),
        Just(Content::Noise)
    ];
    let fault = prop::sample::select(&Fault::ALL[..]);
    prop_oneof![
        8 => (length, content, any::<u8>(), 0..3_usize)
            .prop_map(|(length, content, seed, file)| Step::Write(length, content, seed, file)),
        4 => any::<usize>().prop_map(Step::Read),
        5 => any::<usize>().prop_map(Step::Drop),
        1 => any::<bool>().prop_map(Step::Compress),
        1 => (0..200_u64).prop_map(Step::Device),
        1 => (fault, 1..6_u64).prop_map(|(fault, at)| Step::Fault(fault, at)),
        1 => Just(Step::Trim),
    ]
}

fn bytes_of(length: usize, content: Content, seed: u8) -> Vec<u8> {
    match content {
        Content::Zeros => vec![seed; length],
        Content::Pattern => pattern(length, seed),
        Content::Noise => {
            let mut state = u64::from(seed) + 1;
            let mut next = || {
                // xorshift64
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                state as u8
            };
            (0..length).map(|_| next()).collect()
        }
    }
}

#[derive(Debug, Clone)]
struct Setting {
    encrypted: bool,
    capacities: Vec<u64>,
    limit: u64,
    idle_limit: u64,
    initial: u64,
}

fn setting() -> impl Strategy<Value = Setting> {
    let pages = prop_oneof![1 => Just(UNLIMITED), 2 => (0..300_u64).prop_map(|pages| pages * 4096)];
    let limit = prop_oneof![2 => Just(UNLIMITED), 1 => (1..400_u64).prop_map(|pages| pages * 4096)];
    let idle = prop_oneof![Just(0), Just(64 << 10), Just(16 << 20)];
    let initial = prop_oneof![Just(0), Just(128 << 10)];
    let capacities = prop::collection::vec(pages, 1..4);
    (any::<bool>(), capacities, limit, idle, initial).prop_map(
        |(encrypted, capacities, limit, idle_limit, initial)| Setting {
            encrypted,
            capacities,
            limit,
            idle_limit,
            initial,
        },
    )
}

fn run(name: &str, setting: &Setting, steps: &[Step]) {
    let scratch = Scratch::new(name);
    let options = TempSpaceOptions {
        encryption: setting.encrypted.then(|| EncryptionKey::new([9; 32])),
        limit: setting.limit,
        limit_setting: "innodb_temp_data_file_path",
        idle_limit: setting.idle_limit,
        initial: setting.initial,
        ..tiers::options(&scratch, &setting.capacities)
    };
    let directories: Vec<_> = options
        .tiers
        .iter()
        .map(|tier| tier.directory.clone())
        .collect();
    let system = Arc::new(SystemIo);
    let device = Arc::new(SmallDevice::new(system, directories[0].clone(), UNLIMITED));
    let faults = Arc::new(FaultIo::new(device.clone(), Fault::DeviceError, 0));
    let space = TempSpace::new(faults.clone(), options);
    let budget = Budget::unlimited(BudgetKind::TempSpace);
    let files = [(); 3].map(|()| space.file(&budget));
    let mut held: Vec<(Extent, Vec<u8>)> = Vec::new();
    let mut is_device_limited = false;
    let mut is_fault_armed = false;
    for step in steps {
        match step {
            Step::Write(length, content, seed, file) => {
                let bytes = bytes_of(*length, *content, *seed);
                match files[*file].write(&bytes) {
                    Ok(extent) => held.push((extent, bytes)),
                    Err(MemoryError::NoRoom(error)) if !is_device_limited && !is_fault_armed => {
                        // There really is no room.
                        for full in error.directories {
                            let needed = full.used + error.requested;
                            assert!(needed > full.capacity, "{full}");
                        }
                    }
                    Err(MemoryError::Limit(error)) => {
                        let needed = error.used + error.requested;
                        assert!(needed > setting.limit || is_fault_armed, "{error}");
                    }
                    Err(error) => assert!(is_device_limited || is_fault_armed, "{error}"),
                }
            }
            Step::Read(index) if !held.is_empty() => {
                let (extent, bytes) = &held[index % held.len()];
                let mut read = vec![0xEE; bytes.len() + 1];
                match extent.read(&mut read) {
                    Ok(()) => {
                        assert_eq!(read.pop(), Some(0xEE));
                        assert!(read == *bytes, "a wrong result, not an error");
                    }
                    Err(error) => assert!(is_fault_armed, "{error}"),
                }
            }
            Step::Drop(index) if !held.is_empty() => {
                drop(held.swap_remove(index % held.len()));
            }
            Step::Read(_) | Step::Drop(_) => {}
            Step::Compress(true) => space.set_compression(Compression::Lz4),
            Step::Compress(false) => space.set_compression(Compression::None),
            Step::Device(pages) => {
                device.set_capacity(pages * 4096);
                is_device_limited = true;
            }
            Step::Fault(fault, fail_at) => {
                faults.arm(*fault, *fail_at);
                is_fault_armed = true;
            }
            Step::Trim => space.trim(),
        }
        let stored: u64 = held.iter().map(|(extent, _)| extent.stored_bytes()).sum();
        assert_eq!(budget.used(), stored);
        assert_eq!(space.used_bytes(), stored);
        let tiers = space.tiers();
        for tier in &tiers {
            assert!(tier.used_bytes <= tier.disk_bytes, "{tier:?}");
            assert!(tier.disk_bytes <= tier.options.capacity, "{tier:?}");
        }
        let taken: u64 = tiers.iter().map(|tier| tier.disk_bytes).sum();
        assert_eq!(space.disk_bytes().0, taken);
        assert!(taken <= setting.limit);
        // The allocation of the device is accounted for.
        assert!(device.used() <= tiers[0].disk_bytes);
    }
    faults.arm(Fault::DeviceError, 0);
    for (extent, bytes) in &held {
        let mut read = vec![0; bytes.len()];
        extent.read(&mut read).unwrap();
        assert!(read == *bytes);
    }
    drop(held);
    assert_eq!((budget.used(), space.used_bytes()), (0, 0));
    space.trim();
    assert_eq!((space.disk_bytes().0, device.used()), (0, 0));
    drop((files, space));
    for directory in directories {
        assert_eq!(std::fs::read_dir(directory).unwrap().count(), 0);
    }
}

proptest! {
    #[test]
    fn random_work_gives_back_what_was_written(
        setting in setting(),
        steps in prop::collection::vec(step(), 1..60),
    ) {
        run("random", &setting, &steps);
    }
}
