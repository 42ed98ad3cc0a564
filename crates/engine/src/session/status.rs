//! SHOW STATUS.

use std::sync::atomic::Ordering;

use crate::connections::SessionShared;
use crate::database::Database;
use crate::status::{COUNTERS, Counter, commands};

/// All rows of SHOW [SESSION | GLOBAL] STATUS, by name. `session` is that of SHOW SESSION STATUS.
pub(crate) fn rows(database: &Database, session: Option<&SessionShared>) -> Vec<(String, String)> {
    let value = |counter: Counter| match session {
        Some(session) => session.counters.get(counter),
        None => database.counter(counter),
    };
    let mut rows: Vec<(String, String)> = COUNTERS
        .iter()
        .map(|(counter, name)| ((*name).to_owned(), value(*counter).to_string()))
        .collect();
    for name in commands::ABSENT {
        rows.push(((*name).to_owned(), "0".to_owned()));
    }
    // Counters without session values show the global ones.
    for (name, text) in database.computed_status() {
        let session = session.filter(|session| session.counts_predicted.load(Ordering::Relaxed));
        let text = match session {
            Some(session) if name == "Created_tmp_files" => {
                session.predicted_files.load(Ordering::Relaxed).to_string()
            }
            _ => text,
        };
        rows.push((name.to_owned(), text));
    }
    let space = session.map(|session| session.memory().temp_space);
    let (used, peak) = match space {
        Some(space) => (space.used(), space.peak()),
        None => (database.temp_space_used(), database.temp_space_peak()),
    };
    rows.push(("Tmp_space_used".to_owned(), used.to_string()));
    rows.push(("Max_tmp_space_used".to_owned(), peak.to_string()));
    let transport = session.and_then(|session| session.transport.get());
    let encryption = transport.and_then(|transport| transport.encryption.as_ref());
    let (version, cipher) = encryption.map_or(("", ""), |it| (&it.version, &it.cipher));
    rows.push(("Ssl_version".to_owned(), version.to_owned()));
    rows.push(("Ssl_cipher".to_owned(), cipher.to_owned()));
    let compression = transport.and_then(|transport| transport.compression.as_ref());
    let (algorithm, level) = compression.map_or(("", 0), |it| (&it.algorithm, it.level));
    let is_compressed = if compression.is_some() { "ON" } else { "OFF" };
    rows.push(("Compression".to_owned(), is_compressed.to_owned()));
    rows.push(("Compression_algorithm".to_owned(), algorithm.to_owned()));
    rows.push(("Compression_level".to_owned(), level.to_string()));
    rows.sort();
    rows
}
