//! Damaged files end in rows or an error.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{Cursor, Read as _, Write as _};

use flate2::Compression;
use flate2::write::GzEncoder;
use mayfly_trials::{Random, Trials};
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

use crate::support::{Files, parquet_bytes};

/// Damaged copies of each file in a trial.
const ROUNDS: usize = 10;

/// Files of `tests/odd` up to this size are damaged too.
const ODD_MAX: usize = 20 << 10;

/// Cuts, flips, repeats and removes bytes.
fn mutated(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=random.below(4) {
        if bytes.is_empty() {
            break;
        }
        let at = random.below(bytes.len());
        match random.below(5) {
            0 => bytes.truncate(at),
            1 => bytes[at] ^= 1 << random.below(8),
            2 => bytes[at] = [0, 0xFF, b'"', b'\n', b',', 0x7F][random.below(6)],
            3 => {
                let end = (at + random.below(16)).min(bytes.len());
                bytes.drain(at..end);
            }
            _ => {
                let end = (at + random.below(16)).min(bytes.len());
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part);
            }
        }
    }
    bytes
}

/// Damages a part of an archive, whose checksum is then right.
fn with_damaged_part(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).expect("is an archive");
    let damaged = random.below(archive.len());
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for index in 0..archive.len() {
        let mut part = archive.by_index(index).expect("has a part");
        let name = part.name().expect("has a name").into_owned();
        let mut content = Vec::new();
        part.read_to_end(&mut content).expect("reads a part");
        if index == damaged {
            content = mutated(&content, random);
        }
        let options = SimpleFileOptions::default();
        writer.start_file(name, options).expect("begins a part");
        writer.write_all(&content).expect("writes a part");
    }
    writer.finish().expect("ends").into_inner()
}

/// The files that are damaged.
fn originals() -> Vec<(String, Vec<u8>)> {
    let (mut csv, mut json) = (String::from("id,name,day,amount\n"), String::new());
    for row in 0..50 {
        let day = row % 28 + 1;
        let _ = writeln!(
            csv,
            "{row},\"name {row}, \"\"x\"\"\",2024-01-{day:02},{row}.50"
        );
        let _ = writeln!(
            json,
            "{{\"id\": {row}, \"n\": \"\\u00e9{row}\", \"l\": [1, {{\"x\": null}}]}}"
        );
    }
    let array = format!("[{}]", json.lines().collect::<Vec<_>>().join(","));
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(csv.as_bytes()).expect("compresses");
    let batches = crate::arrow::batches();
    let mut files = vec![
        ("f.csv", csv.into_bytes()),
        ("f.csv.gz", packed.finish().expect("ends")),
        ("f.ndjson", json.into_bytes()),
        ("f.json", array.into_bytes()),
        ("f.parquet", parquet_bytes(&batches)),
        ("f.arrow", crate::arrow::file_bytes(&batches)),
    ];
    files.extend(crate::excel::originals());
    let mut files: Vec<(String, Vec<u8>)> = files
        .into_iter()
        .map(|(name, content)| (name.to_owned(), content))
        .collect();
    files.extend(crate::odd::files(ODD_MAX));
    files
}

/// What became of the damaged files of a format.
#[derive(Debug, Default)]
struct Fates {
    read: usize,
    refused: usize,
}

/// Whether an error is one of a file, of a value, of a type, or of a limit.
fn is_known(error: &str) -> bool {
    let known = ["1105 ", "1235 ", "1264 ", "3170 "];
    known.iter().any(|code| error.starts_with(code)) && !error.contains("internal")
}

/// Nothing is allocated because a file says so: each number of eight bytes in messages of Arrow is replaced by large ones.
#[test]
fn lengths_of_arrow_that_are_too_large() {
    let files = Files::new();
    let mut session = files.database.session();
    let names = [
        "compressed_lz4.arrow",
        "compressed_zstd.arrow",
        "stream.arrows",
    ];
    let originals = crate::odd::files(ODD_MAX).into_iter();
    for (name, original) in originals.filter(|(name, _)| names.contains(&&**name)) {
        for at in (0..original.len() - 8).step_by(8) {
            for large in [1 << 33, 1 << 47, i64::MAX] {
                let mut bytes = original.clone();
                bytes[at..at + 8].copy_from_slice(&large.to_le_bytes());
                files.write(&name, &bytes);
                let read = files.run(&mut session, &format!("SELECT * FROM '@/{name}'"));
                assert!(
                    read.as_ref().err().is_none_or(|it| is_known(it)),
                    "{name} {at}: {read:?}"
                );
            }
        }
    }
}

#[test]
fn damaged_files() {
    let files = Files::with(|options| options.memory_limit = Some(64 << 20));
    let originals = originals();
    let mut session = files.database.session();
    let mut fates: BTreeMap<String, Fates> = BTreeMap::new();
    for seed in Trials::of("damaged_files") {
        let mut random = Random(seed);
        for (name, original) in &originals {
            for round in 0..ROUNDS {
                let is_archive = ZipArchive::new(Cursor::new(original)).is_ok();
                let bytes = match is_archive && random.below(4) > 0 {
                    true => with_damaged_part(original, &mut random),
                    false => mutated(original, &mut random),
                };
                files.write(name, &bytes);
                let read = files.run(&mut session, &format!("SELECT * FROM '@/{name}'"));
                assert!(
                    read.as_ref().err().is_none_or(|it| is_known(it)),
                    "MAYFLY_SEED={seed} {name} {round}: {read:?}"
                );
                let format = name.split_once('.').map_or("", |(_, ending)| ending);
                let fate = fates.entry(format.to_owned()).or_default();
                match read {
                    Ok(_) => fate.read += 1,
                    Err(_) => fate.refused += 1,
                }
            }
        }
    }
    println!("{fates:?}");
    assert_eq!(files.run(&mut session, "SELECT 1").expect("goes on"), ["1"]);
    drop(session);
}
