//! Stored forms of bytes: compressed, encrypted, checked.

use super::super::sizes::PIECE;
use super::*;
use crate::budget::UNLIMITED;
use crate::error::MemoryError;
use std::os::unix::fs::FileExt;

/// Bytes that no compressor makes shorter.
fn noise(length: usize, mut seed: u64) -> Vec<u8> {
    let mut next = || {
        // splitmix64
        seed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = seed;
        word = (word ^ word >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ word >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^ word >> 31
    };
    (0..length).map(|_| next() as u8).collect()
}

/// Text like that of rows.
fn text(length: usize) -> Vec<u8> {
    let words = (0..).flat_map(|n: u32| format!("order {n} of customer {}; ", n % 97).into_bytes());
    words.take(length).collect()
}

fn bytes_of(extent: &Extent) -> Result<Vec<u8>> {
    let mut bytes = vec![0; extent.len()];
    extent.read(&mut bytes).map(|()| bytes)
}

/// All bytes of the files of a space.
fn bytes_in_files(space: &TempSpace) -> Vec<u8> {
    let mut bytes = Vec::new();
    for directory in space.directories() {
        for file in std::fs::read_dir(directory).unwrap() {
            bytes.extend(std::fs::read(file.unwrap().path()).unwrap());
        }
    }
    bytes
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

fn made(mode: (Compression, bool), scratch: &Scratch) -> (TempSpace, Budget, TempFile) {
    let space = TempSpace::new(Arc::new(SystemIo), in_mode(mode, scratch));
    let budget = Budget::unlimited(BudgetKind::TempSpace);
    let file = space.file(&budget);
    (space, budget, file)
}

#[test]
fn every_mode_gives_back_what_was_written() {
    for mode in MODES {
        let scratch = Scratch::new("modes");
        let (space, budget, file) = made(mode, &scratch);
        let lengths = [
            1,
            15,
            4095,
            4096,
            4097,
            8192,
            100_000,
            PIECE - 1,
            PIECE,
            PIECE + 1,
        ];
        for length in lengths.into_iter().chain([3 * PIECE, 1_000_003]) {
            for bytes in [text(length), noise(length, 1), vec![0; length]] {
                let extent = file.write(&bytes).unwrap();
                assert_eq!(bytes_of(&extent).unwrap(), bytes, "{mode:?} {length}");
                assert_eq!(extent.stored_bytes(), budget.used());
            }
        }
        assert_eq!((budget.used(), space.used_bytes()), (0, 0));
    }
}

#[test]
fn what_compresses_takes_less_and_what_does_not_takes_the_same() {
    for encrypted in [false, true] {
        let scratch = Scratch::new("compressed");
        let (_space, budget, file) = made((Compression::Lz4, encrypted), &scratch);
        let extent = file.write(&vec![7; 1 << 20]).unwrap();
        // LZ4 stores a run in one byte for each 255 of it: 1 KiB and some a piece, so a unit each.
        assert_eq!(budget.used(), 4 * 4096);
        assert_eq!((extent.len(), extent.stored_bytes()), (1 << 20, 4 * 4096));
        drop(extent);
        let random = file.write(&noise(100_000, 2)).unwrap();
        assert_eq!((random.stored_bytes(), budget.used()), (102_400, 102_400));
        drop(random);
        // One unit is one unit.
        assert_eq!(file.write(&[0; 4096]).unwrap().stored_bytes(), 4096);
        assert_eq!(file.write(&[0; 4097]).unwrap().stored_bytes(), 4096);
        assert_eq!(budget.used(), 0);
    }
}

#[test]
fn compression_changes_while_the_space_is_in_use() {
    let scratch = Scratch::new("changes");
    let (space, _, file) = made((Compression::None, false), &scratch);
    let bytes = text(100_000);
    let plain = file.write(&bytes).unwrap();
    space.set_compression(Compression::Lz4);
    assert_eq!(space.compression(), Compression::Lz4);
    let compressed = file.write(&bytes).unwrap();
    space.set_compression(Compression::None);
    let again = file.write(&bytes).unwrap();
    assert!(compressed.stored_bytes() < plain.stored_bytes());
    assert_eq!(again.stored_bytes(), plain.stored_bytes());
    for extent in [plain, compressed, again] {
        assert_eq!(bytes_of(&extent).unwrap(), bytes);
    }
}

#[test]
fn files_hold_the_plain_text_unless_they_are_encrypted() {
    let secret = b"a salary of 123456.78 is nobody's business";
    for mode @ (_, encrypted) in MODES {
        let scratch = Scratch::new("secret");
        let (space, _, file) = made(mode, &scratch);
        // Noise before it keeps the compressor from changing it.
        let with_noise = [noise(3000, 3), secret.to_vec(), noise(3000, 4)].concat();
        let alone = file.write(secret).unwrap();
        let between = file.write(&with_noise).unwrap();
        let repeated = file.write(&secret.repeat(1000)).unwrap();
        let stored = bytes_in_files(&space);
        for part in [&secret[..], &with_noise[..16], &secret[5..21]] {
            assert_eq!(contains(&stored, part), !encrypted, "{mode:?}");
        }
        assert_eq!(bytes_of(&alone).unwrap(), secret);
        assert_eq!(bytes_of(&between).unwrap(), with_noise);
        assert_eq!(bytes_of(&repeated).unwrap(), secret.repeat(1000));
    }
}

#[test]
fn no_two_writes_are_encrypted_alike() {
    let scratch = Scratch::new("nonces");
    let (space, _, file) = made((Compression::None, true), &scratch);
    let mut seen = std::collections::HashSet::new();
    for round in 0..20 {
        // Equal bytes at the same position.
        let extents = write_all(&file, [4096; 1]);
        let mut stored = vec![0; 4096];
        let path = extents[0].path();
        let lane = std::fs::File::open(path).unwrap();
        lane.read_exact_at(&mut stored, 0).unwrap();
        assert!(seen.insert(stored[..32].to_vec()), "{round}");
    }
    let zeros = file.write(&[0; 8192]).unwrap();
    let stored = bytes_in_files(&space);
    let equal = stored[..4096].iter().zip(&stored[4096..8192]);
    assert!(equal.filter(|(a, b)| a == b).count() < 100);
    drop(zeros);
    // Another key.
    let other = TempSpaceOptions {
        encryption: Some(EncryptionKey::new([8; 32])),
        ..in_mode((Compression::None, true), &scratch)
    };
    let other = TempSpace::new(Arc::new(SystemIo), other);
    let budget = Budget::unlimited(BudgetKind::TempSpace);
    let _held = write_all(&other.file(&budget), [4096; 1]);
    assert!(seen.insert(bytes_in_files(&other)[..32].to_vec()));
}

#[test]
fn the_key_is_not_shown() {
    let key = EncryptionKey::new([0xAB; 32]);
    let scratch = Scratch::new("key");
    let (space, ..) = made((Compression::None, true), &scratch);
    assert!(space.options().encryption.is_none() && space.is_encrypted());
    for shown in [format!("{key:?}"), format!("{space:?}")] {
        assert!(!shown.contains("171") && !shown.contains("7, 7"), "{shown}");
    }
}

/// The file of an extent, for changes that the space does not see.
fn open(extent: &Extent) -> std::fs::File {
    let options = std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(extent.path());
    options.unwrap()
}

fn assert_corrupt(extent: &Extent, what: &str) {
    let error = bytes_of(extent).unwrap_err();
    assert!(
        matches!(error, MemoryError::Corrupt { .. }),
        "{what}: {error}"
    );
    let text = error.to_string();
    assert!(
        text.contains("mayfly-") && text.contains("checksum mismatch"),
        "{text}"
    );
}

#[test]
fn a_changed_file_is_found_out_in_every_mode() {
    for mode in MODES {
        let scratch = Scratch::new("changed");
        let (_space, _, file) = made(mode, &scratch);
        for bytes in [text(20_000), noise(20_000, 5)] {
            let extent = file.write(&bytes).unwrap();
            let lane = open(&extent);
            // Whatever part of the last unit is stored, it includes the first byte.
            let last = extent.stored_bytes() - 4096;
            for offset in [0, 1, 100, 4095, 4096, last] {
                let mut byte = [0];
                lane.read_exact_at(&mut byte, offset).unwrap();
                for bit in [0x01, 0x80] {
                    lane.write_all_at(&[byte[0] ^ bit], offset).unwrap();
                    assert_corrupt(&extent, &format!("{mode:?} at {offset}"));
                }
                lane.write_all_at(&byte, offset).unwrap();
                assert_eq!(bytes_of(&extent).unwrap(), bytes, "{mode:?}");
            }
        }
    }
}

#[test]
fn bytes_of_another_place_or_of_before_are_found_out() {
    for mode in MODES {
        let scratch = Scratch::new("swapped");
        let (_space, _, file) = made(mode, &scratch);
        let two = [1, 2].map(|seed| file.write(&noise(4096, seed)).unwrap());
        let lane = open(&two[0]);
        let mut stored = vec![0; 8192];
        lane.read_exact_at(&mut stored, 0).unwrap();
        stored.rotate_left(4096);
        lane.write_all_at(&stored, 0).unwrap();
        for extent in &two {
            assert_corrupt(extent, "swapped");
        }
        drop(two);
        let extent = file.write(&noise(4096, 3)).unwrap();
        lane.write_all_at(&stored[4096..], 0).unwrap();
        assert_corrupt(&extent, "of before");
    }
}

#[test]
fn a_truncated_file_is_an_error() {
    for mode in MODES {
        let scratch = Scratch::new("truncated");
        let (_space, budget, file) = made(mode, &scratch);
        let extents =
            [text(300_000), noise(300_000, 6), vec![1; 10]].map(|b| file.write(&b).unwrap());
        let lane = open(&extents[0]);
        let length = lane.metadata().unwrap().len();
        for cut in (0..length)
            .step_by(40_000)
            .collect::<Vec<_>>()
            .into_iter()
            .rev()
        {
            lane.set_len(cut).unwrap();
            for extent in &extents {
                // Extents before the cut are whole.
                if let Err(error) = bytes_of(extent) {
                    assert!(error.to_string().contains("mayfly-"), "{error}");
                }
            }
        }
        for extent in &extents {
            let error = bytes_of(extent).unwrap_err();
            assert!(matches!(error, MemoryError::Io(_)), "{mode:?}: {error}");
        }
        // The space remains usable.
        drop(extents);
        assert_eq!(budget.used(), 0);
        let extent = file.write(&text(70_000)).unwrap();
        assert_eq!(bytes_of(&extent).unwrap(), text(70_000));
    }
}

#[test]
fn working_memory_is_charged_while_it_is_in_use_and_never_missing() {
    for limit in [0, 300_000, u64::MAX] {
        let scratch = Scratch::new("workspaces");
        // Nothing may pass the limit of the node above.
        let above = Budget::root(BudgetKind::Memory, "memory_limit", limit);
        let options = TempSpaceOptions {
            working_memory: Some(above.child("none", UNLIMITED)),
            ..in_mode((Compression::Lz4, true), &scratch)
        };
        let space = TempSpace::new(Arc::new(SystemIo), options);
        let budget = Budget::unlimited(BudgetKind::TempSpace);
        std::thread::scope(|scope| {
            for thread in 0..6_u64 {
                let (space, budget) = (&space, &budget);
                scope.spawn(move || {
                    let file = space.file(budget);
                    for round in 0..10 {
                        let bytes = [text(PIECE), noise(5000, thread + round)].concat();
                        let extent = file.write(&bytes).unwrap();
                        assert_eq!(bytes_of(&extent).unwrap(), bytes);
                        space.trim();
                    }
                });
            }
        });
        assert!(above.peak() <= limit.min(2 * 320_000), "{}", above.peak());
        assert_eq!(above.peak() > 0, limit > 320_000);
        assert_eq!((above.used(), budget.used()), (0, 0));
    }
}
