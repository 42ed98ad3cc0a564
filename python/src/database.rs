//! Open databases. A process has each directory, and each named database in memory, open once: connections to it share it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use mayfly::{Database, Options};

/// The path of a database in memory; a name may follow, by which connections find each other.
const MEMORY: &str = ":memory:";

/// The open databases of the process that others can find, by path or name. Held while one is opened or closed.
static OPEN: Mutex<Option<HashMap<PathBuf, Weak<OpenDatabase>>>> = Mutex::new(None);

/// An open database.
#[derive(Debug)]
pub(crate) struct OpenDatabase {
    pub(crate) database: Database,
    /// The options that it was opened with, as given.
    options: String,
}

/// A share in an open database. The last one closes it, before another one opens the directory again.
pub(crate) struct Open(Mutex<Option<Arc<OpenDatabase>>>);

impl Open {
    pub(crate) fn new(database: &Arc<OpenDatabase>) -> Self {
        Self(Mutex::new(Some(Arc::clone(database))))
    }

    /// The database; `None` once the connection is closed.
    pub(crate) fn database(&self) -> Option<Arc<OpenDatabase>> {
        lock(&self.0).clone()
    }

    pub(crate) fn close(&self) {
        let share = lock(&self.0).take();
        let _open = lock(&OPEN);
        drop(share);
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.close();
    }
}

/// Why a database is not opened.
pub(crate) enum Refused {
    Engine(mayfly::Error),
    /// The database is open already.
    Options {
        known: String,
        asked: String,
    },
}

/// The database of a path, which is opened with these options if it is not open. `given` names the options.
///
/// # Errors
/// Those of the engine, and options that are others than those that it is open with.
pub(crate) fn open(
    path: Option<PathBuf>,
    options: Options,
    given: String,
) -> Result<Arc<OpenDatabase>, Refused> {
    let new = |options: Options, given: &str| {
        let database = options.open().map_err(Refused::Engine)?;
        Ok(Arc::new(OpenDatabase {
            database,
            options: given.to_owned(),
        }))
    };
    let is_in_memory = |path: &PathBuf| path.to_string_lossy().starts_with(MEMORY);
    let Some(path) = path.filter(|path| path.as_os_str() != MEMORY) else {
        return new(options, &given);
    };
    let mut open = lock(&OPEN);
    let open = open.get_or_insert_default();
    open.retain(|_, database| database.strong_count() > 0);
    let known = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
    if let Some(found) = open.get(&known(&path)).and_then(Weak::upgrade) {
        if !given.is_empty() && given != found.options {
            return Err(Refused::Options {
                known: found.options.clone(),
                asked: given,
            });
        }
        return Ok(found);
    }
    let options = match is_in_memory(&path) {
        true => options,
        false => options.directory(&path),
    };
    let opened = new(options, &given)?;
    open.insert(known(&path), Arc::downgrade(&opened));
    Ok(opened)
}

/// The content of a mutex, also after a panic.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
