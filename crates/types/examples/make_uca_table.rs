//! Packs Unicode's `allkeys.txt` (the Default Unicode Collation Element Table, UTS #10), read from
//! standard input, into the form that `collation::uca` loads, written to standard output:
//! `make_uca_table < allkeys-9.0.0.txt > uca_900.bin`.
//!
//! A record is: the distance of its first code point from the last record's, the number of further
//! code points and these, the number of collation elements, and for each its primary and secondary
//! weight as zigzag differences from the last and from 32, and its tertiary weight. All numbers are
//! base-128 varints. A distance is 0 for a further record of the same first code point.

use std::io::{self, Read, Write};

fn varint(out: &mut Vec<u8>, mut value: u32) {
    while value >= 128 {
        out.push(value as u8 | 128);
        value >>= 7;
    }
    out.push(value as u8);
}

fn zigzag(value: i32) -> u32 {
    ((value << 1) ^ (value >> 31)) as u32
}

fn main() -> io::Result<()> {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text)?;
    let hex = |text: &str| u32::from_str_radix(text, 16).unwrap_or(0);
    let mut records = Vec::new();
    for line in text.lines() {
        let Some((left, right)) = line.split_once(';') else {
            continue;
        };
        let points: Vec<u32> = left.split_whitespace().map(hex).collect();
        if points.is_empty() || !right.trim_start().starts_with('[') {
            continue;
        }
        let right = right.split('#').next().unwrap_or("");
        let elements: Vec<[u32; 3]> = right
            .split('[')
            .skip(1)
            .map(|element| {
                let mut weights = element
                    .trim_matches(|c: char| c == ']' || c == '.' || c == '*' || c.is_whitespace())
                    .split('.')
                    .map(hex);
                std::array::from_fn(|_| weights.next().unwrap_or(0))
            })
            .collect();
        records.push((points, elements));
    }
    records.sort();
    let mut out = Vec::new();
    let (mut last_point, mut last_primary) = (0, 0);
    for (points, elements) in records {
        varint(&mut out, points[0] - last_point);
        last_point = points[0];
        varint(&mut out, points.len() as u32 - 1);
        for point in &points[1..] {
            varint(&mut out, *point);
        }
        varint(&mut out, elements.len() as u32);
        for [primary, secondary, tertiary] in elements {
            varint(&mut out, zigzag(primary as i32 - last_primary));
            last_primary = primary as i32;
            varint(&mut out, zigzag(secondary as i32 - 32));
            varint(&mut out, tertiary);
        }
    }
    io::stdout().write_all(&out)
}
