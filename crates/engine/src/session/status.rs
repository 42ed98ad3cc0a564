//! SHOW STATUS.

use crate::connections::Transport;
use crate::database::Database;
use crate::status::{COUNTERS, Counter, Counters, commands};

/// A session's part of [`rows`].
pub(crate) struct SessionStatus<'a> {
    /// The session's counters.
    pub(crate) counters: &'a Counters,
    /// Temporary space in use.
    pub(crate) temp_space_used: u64,
    /// Peak of temporary space in use.
    pub(crate) temp_space_peak: u64,
    /// The client's transport.
    pub(crate) transport: Option<&'a Transport>,
}

/// All rows of SHOW [SESSION | GLOBAL] STATUS, by name. `context` is the session of SHOW SESSION STATUS.
pub(crate) fn rows(
    database: &Database,
    context: Option<SessionStatus<'_>>,
) -> Vec<(String, String)> {
    let value = |counter: Counter| match &context {
        Some(context) => context.counters.get(counter),
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
        rows.push((name.to_owned(), text));
    }
    let (used, peak) = match &context {
        Some(context) => (context.temp_space_used, context.temp_space_peak),
        None => (database.temp_space_used(), database.temp_space_peak()),
    };
    rows.push(("Tmp_space_used".to_owned(), used.to_string()));
    rows.push(("Max_tmp_space_used".to_owned(), peak.to_string()));
    let transport = context.as_ref().and_then(|context| context.transport);
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
