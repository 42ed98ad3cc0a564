//! Client-related state of a session: options, prepared statements, files and tracked changes. [`begin_settings`]
//! applies the client's options to the variables of a new session.

use std::collections::HashMap;
use std::fmt::Debug;
use std::io::Read;
use std::sync::Arc;

use mayfly_types::{CollationId, Result};

use super::state_changes::Tracker;
use crate::character_sets;
use crate::connections::SessionOptions;
use crate::prepared::Prepared;
use crate::variables::{Settings, sql_mode, typed};

/// Source of LOAD DATA LOCAL for a client outside of this process.
pub trait LocalFiles: Debug + Send {
    /// Requests a file from the client. Its bytes are read to the end, or dropped after an error of the statement:
    /// the implementation then skips what the client still sends.
    fn open(&mut self, name: &str) -> Result<Box<dyn Read + Send>>;
}

/// Client-related state of a session.
#[derive(Debug)]
pub(crate) struct ClientState {
    pub(super) is_interactive: bool,
    /// Whether an UPDATE reports found rows in place of changed ones (CLIENT_FOUND_ROWS).
    pub(crate) counts_found_rows: bool,
    pub(super) ignores_space: bool,
    /// PREPARE
    pub(crate) prepared: HashMap<String, Arc<Prepared>>,
    /// Source of LOAD DATA LOCAL, if not the files of the process.
    pub(super) local_files: Option<Box<dyn LocalFiles>>,
    pub(super) tracker: Option<Box<Tracker>>,
}

impl ClientState {
    /// State of a new session.
    pub(super) fn new(options: &SessionOptions) -> Self {
        Self {
            is_interactive: options.interactive,
            counts_found_rows: options.found_rows,
            ignores_space: options.ignore_space,
            prepared: HashMap::new(),
            local_files: None,
            tracker: None,
        }
    }

    /// Opens the client's file of a name, if the client is outside of this process.
    pub(crate) fn open_local_file(&mut self, name: &str) -> Option<Result<Box<dyn Read + Send>>> {
        Some(self.local_files.as_mut()?.open(name))
    }
}

/// The settings of a new session.
pub(super) fn begin_settings(settings: &mut Settings, options: &SessionOptions) {
    if options.interactive {
        let seconds = settings.get(typed::INTERACTIVE_TIMEOUT);
        settings.put(typed::WAIT_TIMEOUT, seconds);
    }
    if options.ignore_space {
        let mode = sql_mode::bit("IGNORE_SPACE") | settings.get(typed::SQL_MODE);
        settings.put(typed::SQL_MODE, mode);
    }
    // A character set that statements cannot use is replaced by the server's.
    let usable = |collation: &CollationId| character_sets::may_be_the_clients(collation.charset());
    let Some(collation) = options.collation.filter(usable) else {
        return;
    };
    let text = |text: &str| Some(Arc::from(text));
    let charset = collation.charset().name();
    settings.put(typed::CHARACTER_SET_CLIENT, text(charset));
    let results = character_sets::results_name(character_sets::row(collation));
    settings.put(typed::CHARACTER_SET_RESULTS, text(results));
    settings.put(typed::CHARACTER_SET_CONNECTION, text(charset));
    settings.put(typed::COLLATION_CONNECTION, text(collation.name()));
}
