//! The history file `~/.mayfly_history`: its owner alone may read it, and no statement with a password is in it.

use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use reedline::{
    FileBackedHistory, History, HistoryItem, HistoryItemId, HistorySessionId, Result, SearchQuery,
};

/// The most lines of the file.
const LINES: usize = 10_000;

/// Words of statements that are not kept, as `histignore` of the `mysql` client has them.
const SECRET_WORDS: [&str; 2] = ["identified", "password"];

/// A history in a file, without what has a password.
pub(super) struct PrivateHistory(FileBackedHistory);

impl PrivateHistory {
    /// The history in a file, which is made if it is not there, and made private if it is not.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let mut options = File::options();
        options.append(true).create(true).mode(0o600);
        options
            .open(path)?
            .set_permissions(Permissions::from_mode(0o600))?;
        let history = FileBackedHistory::with_file(LINES, path.to_owned());
        history.map(Self).map_err(io::Error::other)
    }
}

fn has_secret(line: &str) -> bool {
    let line = line.to_ascii_lowercase();
    SECRET_WORDS.iter().any(|word| line.contains(word))
}

impl History for PrivateHistory {
    fn save(&mut self, item: HistoryItem) -> Result<HistoryItem> {
        if has_secret(&item.command_line) {
            return Ok(item);
        }
        self.0.save(item)
    }

    fn load(&self, id: HistoryItemId) -> Result<HistoryItem> {
        self.0.load(id)
    }

    fn count(&self, query: SearchQuery) -> Result<i64> {
        self.0.count(query)
    }

    fn search(&self, query: SearchQuery) -> Result<Vec<HistoryItem>> {
        self.0.search(query)
    }

    fn update(
        &mut self,
        id: HistoryItemId,
        updater: &dyn Fn(HistoryItem) -> HistoryItem,
    ) -> Result<()> {
        self.0.update(id, updater)
    }

    fn clear(&mut self) -> Result<()> {
        self.0.clear()
    }

    fn delete(&mut self, id: HistoryItemId) -> Result<()> {
        self.0.delete(id)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.sync()
    }

    fn session(&self) -> Option<HistorySessionId> {
        self.0.session()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;

    #[test]
    fn the_file_is_private_and_has_no_passwords() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("history");
        std::fs::write(&path, "SELECT 1;\n").unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        let mut history = PrivateHistory::open(&path).unwrap();
        for line in [
            "CREATE USER ann IDENTIFIED BY 'sesame';",
            "SET password = 'sesame';",
            "SELECT 2;",
        ] {
            history.save(HistoryItem::from_command_line(line)).unwrap();
        }
        history.sync().unwrap();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(
            std::fs::read_to_string(&path).unwrap(),
            "SELECT 1;\nSELECT 2;\n"
        );
    }
}
