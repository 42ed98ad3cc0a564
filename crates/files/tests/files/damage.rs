//! Damaged files end in rows or an error.

use std::fmt::Write as _;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use mayfly_trials::{Random, Trials};

use crate::support::{Files, parquet_bytes};

/// Damaged files of each format in a trial.
const ROUNDS: usize = 40;

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

/// The files that are damaged.
fn originals() -> Vec<(&'static str, Vec<u8>)> {
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
    vec![
        ("f.csv", csv.into_bytes()),
        ("f.csv.gz", packed.finish().expect("ends")),
        ("f.ndjson", json.into_bytes()),
        ("f.json", array.into_bytes()),
        ("f.parquet", parquet_bytes(&batches)),
        ("f.arrow", crate::arrow::file_bytes(&batches)),
    ]
}

#[test]
fn damaged_files() {
    let files = Files::with(|options| options.memory_limit = Some(64 << 20));
    let originals = originals();
    let mut session = files.database.session();
    for seed in Trials::of("damaged_files") {
        let mut random = Random(seed);
        for (name, original) in &originals {
            for round in 0..ROUNDS {
                let bytes = mutated(original, &mut random);
                files.write(name, &bytes);
                let read = files.run(&mut session, &format!("SELECT * FROM '@/{name}'"));
                // Errors of a file, of a value, or of a type.
                let is_known = |error: &String| {
                    let known = ["1105 ", "1235 ", "1264 "];
                    known.iter().any(|code| error.starts_with(code)) && !error.contains("internal")
                };
                assert!(
                    read.as_ref().err().is_none_or(is_known),
                    "MAYFLY_SEED={seed} {name} {round}: {read:?}"
                );
                if bytes == *original {
                    assert!(read.is_ok_and(|rows| !rows.is_empty()), "{name}");
                }
            }
        }
    }
    assert_eq!(files.run(&mut session, "SELECT 1").expect("goes on"), ["1"]);
    drop(session);
}
