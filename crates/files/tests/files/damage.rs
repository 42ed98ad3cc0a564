//! Damaged files end in rows or an error.

use std::fmt::Write;

use crate::support::{Files, parquet_bytes};

/// Numbers that a seed decides (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound as u64).expect("is below")
    }
}

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

fn damage(name: &str, bytes: &[u8]) {
    let files = Files::with(|options| options.memory_limit = Some(64 << 20));
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut session = files.database.session();
    let (mut read, mut refused) = (0, 0);
    for round in 0..400 {
        files.write(name, mutated(bytes, &mut random));
        match files.run(&mut session, &format!("SELECT * FROM '@/{name}'")) {
            Ok(_) => read += 1,
            Err(error) => {
                let is_of_file = ["1105 file ", "1105 ", "1264 ", "1235 ", "3140 ", "1105"];
                let known = is_of_file.iter().any(|begin| error.starts_with(begin));
                assert!(known, "round {round}: {error}");
                refused += 1;
            }
        }
        assert_eq!(files.run(&mut session, "SELECT 1").expect("goes on"), ["1"]);
    }
    assert!(
        read > 0 && refused > 0,
        "{name}: {read} read, {refused} refused"
    );
    drop(session);
}

#[test]
fn damaged_csv() {
    let mut text = String::from("id,name,day,amount\n");
    for row in 0..50 {
        let _ = writeln!(
            text,
            "{row},\"name {row}, \"\"x\"\"\",2024-01-{:02},{row}.50",
            row % 28 + 1
        );
    }
    damage("f.csv", text.as_bytes());
}

#[test]
fn damaged_arrow() {
    damage(
        "f.arrow",
        &crate::arrow::file_bytes(&crate::arrow::batches()),
    );
}

#[test]
fn damaged_parquet() {
    damage("f.parquet", &parquet_bytes(&crate::arrow::batches()));
}

#[test]
fn damaged_gzip() {
    use std::io::Write as _;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    for row in 0..200 {
        writeln!(encoder, "{row},x{row}").expect("compresses");
    }
    damage("f.csv.gz", &encoder.finish().expect("ends"));
}

#[test]
fn damaged_json() {
    let mut text = String::new();
    for row in 0..50 {
        let _ = writeln!(
            text,
            "{{\"id\": {row}, \"name\": \"n\\u00e9{row}\", \"list\": [1, {{\"x\": null}}]}}"
        );
    }
    damage("f.ndjson", text.as_bytes());
    let rows: Vec<&str> = text.lines().collect();
    damage("f.json", format!("[{}]", rows.join(",")).as_bytes());
}
