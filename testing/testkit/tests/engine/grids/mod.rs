//! Grids of real behaviour: Mayfly's answers over the wire to statements composed from lists of words, compared with
//! the answers of MySQL and MariaDB (`testing/grids`, whose README describes the files).
//!
//! Where both servers gave the same value, and where MySQL gave a type, Mayfly must give it too. Cells that differ on
//! purpose are in `testing/grids/exceptions.txt` with a slug of COMPAT.md. Cells that differ without a reason are in
//! `testing/grids/NAME.pending`, which only shrinks: a cell that is right must be removed. `MAYFLY_GRIDS_COMPLETE=1`
//! removes those; `MAYFLY_GRIDS_COMPLETE=all MAYFLY_TESTS=all` writes the files again, for a new grid.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod client;
mod differences;
mod grid;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use mayfly_trials::Draw;

use self::client::Client;
use self::differences::{Exceptions, Place};
use self::grid::{Atom, Grid};
use super::server::raw::Host;

/// Greatest number of differences in a failure message.
const SHOWN: usize = 40;

#[test]
fn functions_and_operators() {
    replay("functions");
}

#[test]
fn conversions() {
    replay("conversions");
}

#[test]
fn parameters() {
    replay("parameters");
}

#[test]
fn types_of_pairs() {
    replay("types");
}

#[test]
fn windows() {
    replay("windows");
}

#[test]
fn locks() {
    replay("locks");
}

/// A file of `testing/grids`.
fn path(name: &str) -> PathBuf {
    let above = concat!(env!("CARGO_MANIFEST_DIR"), "/../grids");
    PathBuf::from(above).join(name)
}

fn text(name: &str) -> String {
    std::fs::read_to_string(path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Runs the drawn blocks on Mayfly.
fn replay(name: &str) {
    let grid = Grid::read(&text(&format!("{name}.grid")));
    let answers = read_answers(&text(&format!("{name}.cells")));
    let exceptions = Exceptions::read(&text("exceptions.txt"), name);
    let complete = std::env::var("MAYFLY_GRIDS_COMPLETE").ok();
    let is_one_block = grid.blocks().len() == 1;
    let draw = Draw::of(name);
    let host = Host::with(&[("local_infile", "1")]);
    let mut client = Client::connect(host.address());
    client
        .query("CREATE DATABASE mayfly_grids CHARACTER SET utf8mb4")
        .ok();
    let mut other = Client::connect(host.address());
    for statement in SESSION {
        client.query(statement).ok();
        other.query(statement).ok();
    }
    for statement in grid.statements() {
        // An error of the setup is not part of the answers.
        client.query(&statement).ok();
    }
    let mut found = BTreeMap::new();
    let mut asked = BTreeSet::new();
    for (number, block) in (0..).zip(grid.blocks()) {
        // In a grid of one block, rows are drawn.
        if !is_one_block && !draw.has(number) {
            continue;
        }
        let head = names(&block);
        for (row, cell) in grid.cells(&block).enumerate() {
            if is_one_block && !draw.has(row as u64) {
                continue;
            }
            let place = Place::new(&head, &cell);
            let Some(expected) = answers.get(&place) else {
                panic!("{name}.cells is older than {name}.grid: {place:?}");
            };
            let atoms = grid.run(&mut client, &mut other, &cell);
            let mut different = differing(expected, &atoms);
            different.retain(|number| !exceptions.has(&place, *number));
            if !different.is_empty() {
                let given = atoms.iter().map(|atom| atom.text.as_str());
                let given = given.collect::<Vec<_>>().join("|");
                let text = format!("{place:?}\n  servers {expected}\n  Mayfly  {given}");
                found.insert(place.clone(), (different, text));
            }
            asked.insert(place);
        }
    }
    let file = format!("{name}.pending");
    let mut pending = match complete.as_deref() {
        Some("all") => BTreeMap::new(),
        _ => differences::read(&text(&file)),
    };
    let none = Vec::new();
    let mut wrong = Vec::new();
    for (place, (different, text)) in &found {
        let known = pending.get(place).unwrap_or(&none);
        if different.iter().any(|number| !known.contains(number)) {
            wrong.push(format!(
                "{text}\n  differs in {different:?}, known is {known:?}"
            ));
        }
    }
    if let Some(which) = complete {
        for place in asked {
            let known = pending.remove(&place).unwrap_or_default();
            let Some((mut different, _)) = found.remove(&place) else {
                continue;
            };
            different.retain(|number| which == "all" || known.contains(number));
            if !different.is_empty() {
                pending.insert(place, different);
            }
        }
        std::fs::write(path(&file), differences::write(&pending)).unwrap();
        if which == "all" {
            return;
        }
    } else {
        for (place, known) in pending.iter().filter(|(place, _)| asked.contains(place)) {
            let still = found.get(place).map_or(&none, |(different, _)| different);
            if known.iter().any(|number| !still.contains(number)) {
                wrong.push(format!(
                    "{place:?} was wrong in {known:?}, is wrong in {still:?}: {file} can be shorter (MAYFLY_GRIDS_COMPLETE=1)"
                ));
            }
        }
    }
    let count = wrong.len();
    wrong.truncate(SHOWN);
    assert!(wrong.is_empty(), "{count} cells:\n{}", wrong.join("\n"));
}

/// Settings of a session like those of the servers.
const SESSION: &[&str] = &[
    "SET time_zone = '+00:00'",
    "SET sql_mode = 'ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'",
    "SET NAMES utf8mb4",
    "USE mayfly_grids",
];

fn names(words: &grid::Words<'_>) -> String {
    let names = words.iter().map(|(_, word)| word[0].1.as_str());
    names.collect::<Vec<_>>().join(" ; ")
}

/// The answers of a file of cells.
fn read_answers(text: &str) -> BTreeMap<Place, String> {
    let mut answers = BTreeMap::new();
    let mut block = "";
    for line in text.lines().skip(1) {
        if let Some(head) = line.strip_prefix("= ") {
            block = head;
            continue;
        }
        let mut parts = line.split('\t');
        let rows = parts.next().unwrap();
        for part in parts {
            let (columns, answer) = part.split_once('=').unwrap();
            for row in rows.split(' ') {
                for column in differences::columns(columns) {
                    let place = Place {
                        block: block.to_owned(),
                        row: row.to_owned(),
                        column,
                    };
                    answers.insert(place, answer.to_owned());
                }
            }
        }
    }
    answers
}

/// The numbers of the atoms that should differ.
fn differing(expected: &str, atoms: &[Atom]) -> Vec<usize> {
    if expected.contains("~~") {
        return Vec::new();
    }
    let expected: Vec<&str> = expected.split('|').collect();
    if expected.iter().any(|atom| atom.contains("lost")) {
        return Vec::new();
    }
    if expected.len() != atoms.len() {
        return vec![WHOLE];
    }
    let pairs = expected.iter().zip(atoms).enumerate();
    let different = pairs.filter(|(_, (expected, atom))| {
        let wanted = match expected.split_once('~') {
            Some((mysql, _)) if atom.is_type => mysql,
            Some(_) => return false,
            None => expected,
        };
        // An error has no type.
        let is_beside_error = atom.is_type && (wanted == "-" || atom.text == "-");
        !is_beside_error && wanted != atom.text
    });
    different.map(|(number, _)| number).collect()
}

/// Stands for an atom's number where the number of atoms differs.
const WHOLE: usize = 99;
