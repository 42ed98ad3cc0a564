//! Model of the disk of a directory, as opposed to the page cache, with the guarantees of a file system, which are
//! weaker than those of most real ones.
//!
//! The files themselves are the page cache. For each file, the model has the pages that a sync has written to disk, and
//! every version that an unsynced page has had since. A failed sync leaves the pages clean: some of them are on disk,
//! and no later sync writes the others, unless they are written again (as in Linux). A new file or directory is
//! permanent when the directory above is synced. A power cut leaves any of the versions of each unsynced page, or parts
//! of two of them, any of the lengths that the file has had, and any of the entries.
#![expect(
    unsafe_code,
    reason = "asks the kernel past the functions of the C library that are replaced here"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_int;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mayfly_testkit::fixture::DataDirectory;
use mayfly_trials::Random;

const PAGE: usize = 4096;
const SECTOR: usize = 512;
/// Part of the names of these tests' directories, whose files are never really synced.
const NAME: &str = "mayfly-power-cuts";

/// A directory for one of these tests.
pub(crate) fn directory(name: &str) -> DataDirectory {
    let directory = DataDirectory::new(&format!("power-cuts-{name}"));
    std::fs::create_dir_all(directory.path()).unwrap();
    directory
}

type Page = Arc<[u8; PAGE]>;

/// Model of a file.
#[derive(Debug, Clone, Default)]
struct File {
    on_disk: Arc<BTreeMap<u64, Page>>,
    length: u64,
    /// Versions of unsynced pages, in order.
    dirty: BTreeMap<u64, Vec<Page>>,
    /// The lengths since.
    lengths: Vec<u64>,
}

impl File {
    fn newest_length(&self) -> u64 {
        self.lengths.last().copied().unwrap_or(self.length)
    }

    /// Marks a page dirty: the next sync writes it again.
    fn dirty(&mut self, page: u64, bytes: Page) {
        let versions = self.dirty.entry(page).or_default();
        if versions.len() == 4 {
            versions.remove(1);
        }
        versions.push(bytes);
    }

    fn sync(&mut self, is_on_disk: impl Fn(&mut Random) -> bool, random: &mut Random) {
        let dirty = std::mem::take(&mut self.dirty);
        if dirty.is_empty() {
            return;
        }
        let on_disk = Arc::make_mut(&mut self.on_disk);
        for (page, mut versions) in dirty {
            if is_on_disk(random)
                && let Some(newest) = versions.pop()
            {
                on_disk.insert(page, newest);
            }
        }
    }
}

/// The files and directories at one point in time, and the state of the work then.
#[derive(Debug, Clone)]
pub(crate) struct Snapshot {
    files: BTreeMap<PathBuf, File>,
    /// Permanent entries.
    entries: BTreeSet<PathBuf>,
    /// All existing entries.
    there: Vec<(PathBuf, bool)>,
    /// Acknowledged work.
    pub(crate) acknowledged: Vec<u64>,
    /// Name for messages.
    pub(crate) name: String,
}

type Ask = Box<dyn Fn() -> Vec<u64> + Send>;

/// The directory that is watched.
struct Watched {
    root: PathBuf,
    files: BTreeMap<PathBuf, File>,
    entries: BTreeSet<PathBuf>,
    random: Random,
    ask: Ask,
    /// Number of snapshots to keep.
    wanted: usize,
    seen: usize,
    snapshots: Vec<Snapshot>,
    failed_syncs: u64,
}

static WATCHED: Mutex<Option<Watched>> = Mutex::new(None);

fn watched() -> MutexGuard<'static, Option<Watched>> {
    WATCHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Watches a directory, all of which is on disk. Of the following states, `wanted` are kept; `ask` returns the
/// acknowledged work.
pub(crate) fn watch(root: &Path, seed: u64, wanted: usize, ask: Ask) {
    let mut files = BTreeMap::new();
    let mut entries = BTreeSet::new();
    for (path, is_directory) in entries_of(root) {
        if !is_directory && is_of_data(&path) {
            let bytes = std::fs::read(&path).unwrap();
            let pages = bytes.chunks(PAGE).enumerate();
            let pages = pages.map(|(number, bytes)| {
                let mut page = [0; PAGE];
                page[..bytes.len()].copy_from_slice(bytes);
                (number as u64, Arc::new(page))
            });
            let file = File {
                on_disk: Arc::new(pages.collect()),
                length: bytes.len() as u64,
                ..File::default()
            };
            files.insert(path.clone(), file);
        }
        entries.insert(path);
    }
    *watched() = Some(Watched {
        root: root.to_path_buf(),
        files,
        entries,
        random: Random(seed),
        ask,
        wanted,
        seen: 0,
        snapshots: Vec::new(),
        failed_syncs: 0,
    });
}

/// Ends watching: the kept snapshots, the number of all snapshots, and the number of failed syncs.
pub(crate) fn stop() -> (Vec<Snapshot>, usize, u64) {
    let watched = watched().take().unwrap();
    (watched.snapshots, watched.seen, watched.failed_syncs)
}

/// The state now.
pub(crate) fn now() -> Snapshot {
    watched().as_ref().unwrap().now("now")
}

/// All entries in a directory, and whether each is a directory.
fn entries_of(directory: &Path) -> Vec<(PathBuf, bool)> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let (path, is_directory) = (entry.path(), entry.path().is_dir());
        all.push((path.clone(), is_directory));
        if is_directory {
            all.extend(entries_of(&path));
        }
    }
    all
}

/// Whether a file is one whose content matters.
fn is_of_data(path: &Path) -> bool {
    path.file_name()
        .is_some_and(|name| name == "data.mdb" || name == "redo.log")
}

/// The path of a descriptor.
pub(crate) fn path_of(file: c_int) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/self/fd/{file}")).ok()
}

/// Whether the file is in a directory of these tests.
pub(crate) fn is_simulated(path: Option<&PathBuf>) -> bool {
    path.is_some_and(|path| path.to_string_lossy().contains(NAME))
}

/// Guard of the model while a file is changed.
pub(crate) struct Change {
    watched: MutexGuard<'static, Option<Watched>>,
    path: PathBuf,
}

/// Begins a change of a file, if it is watched.
pub(crate) fn begin(file: c_int) -> Option<Change> {
    let path = path_of(file)?;
    if !is_simulated(Some(&path)) {
        return None;
    }
    let watched = watched();
    let root = &watched.as_ref()?.root;
    let is_of_root = path.starts_with(root) && (is_of_data(&path) || path.is_dir());
    is_of_root.then_some(Change { watched, path })
}

fn length_of(file: c_int) -> u64 {
    // SAFETY: the struct is plain data, which the call fills.
    unsafe {
        let mut stat: libc::stat = std::mem::zeroed();
        match libc::fstat(file, &raw mut stat) {
            0 => u64::try_from(stat.st_size).unwrap_or(0),
            _ => 0,
        }
    }
}

fn page_of(file: c_int, page: u64) -> Page {
    let mut bytes = [0_u8; PAGE];
    let at = page * PAGE as u64;
    // SAFETY: the buffer has room for the bytes of a page.
    unsafe { libc::syscall(libc::SYS_pread64, file, bytes.as_mut_ptr(), PAGE, at) };
    Arc::new(bytes)
}

impl Change {
    /// Changes the model of the file.
    fn note(&mut self, change: impl FnOnce(&mut File, &mut Random)) -> &mut Watched {
        let watched = self.watched.as_mut().unwrap();
        let known = watched.files.entry(self.path.clone()).or_default();
        change(known, &mut watched.random);
        watched
    }

    /// Notes that bytes were written.
    pub(crate) fn written(mut self, file: c_int, at: u64, bytes: u64) {
        let watched = self.note(|known, _| {
            if bytes > 0 {
                for page in at / PAGE as u64..=(at + bytes - 1) / PAGE as u64 {
                    known.dirty(page, page_of(file, page));
                }
            }
            let length = length_of(file);
            if length != known.newest_length() {
                known.lengths.push(length);
            }
        });
        if watched.random.one_in(8) {
            watched.snapshot("after a write");
        }
    }

    /// Notes a change of the file's length.
    pub(crate) fn resized(mut self, file: c_int) {
        self.note(|known, _| {
            let length = length_of(file);
            if length < known.newest_length() {
                let first = length / PAGE as u64;
                let pages = known.on_disk.range(first..).map(|(page, _)| *page);
                let pages: BTreeSet<u64> = pages
                    .chain(known.dirty.range(first..).map(|(page, _)| *page))
                    .collect();
                for page in pages {
                    known.dirty(page, page_of(file, page));
                }
            }
            known.lengths.push(length);
        });
    }

    /// Takes a snapshot before a sync, when the power may be cut.
    pub(crate) fn before_sync(&mut self) {
        let name = format!("before a sync of {}", self.path.display());
        self.watched.as_mut().unwrap().snapshot(&name);
    }

    /// Notes that a sync has succeeded or failed.
    pub(crate) fn synced(mut self, file: c_int, is_done: bool) {
        let path = self.path.clone();
        if path.is_dir() {
            let watched = self.watched.as_mut().unwrap();
            watched.failed_syncs += u64::from(!is_done);
            if is_done {
                let entries = std::fs::read_dir(&path).into_iter().flatten().flatten();
                watched.entries.extend(entries.map(|entry| entry.path()));
            }
            watched.snapshot(&format!("after a sync of {}", path.display()));
            return;
        }
        let watched = self.note(|known, random| {
            if is_done {
                known.sync(|_| true, random);
                known.length = length_of(file);
                known.lengths.clear();
            } else {
                known.sync(|random| random.one_in(3), random)
            }
        });
        watched.failed_syncs += u64::from(!is_done);
        let name = format!("after a sync of {}", path.display());
        watched.snapshot(&name);
    }
}

impl Watched {
    fn now(&self, name: &str) -> Snapshot {
        Snapshot {
            files: self.files.clone(),
            entries: self.entries.clone(),
            there: entries_of(&self.root),
            acknowledged: (self.ask)(),
            name: format!("{name}, snapshot {}", self.seen),
        }
    }

    /// Keeps this snapshot, or not, so that each has an equal chance (Vitter's algorithm R).
    fn snapshot(&mut self, name: &str) {
        self.seen += 1;
        let place = self.random.below(self.seen);
        if self.snapshots.len() >= self.wanted && place >= self.wanted {
            return;
        }
        let snapshot = self.now(name);
        if self.snapshots.len() < self.wanted {
            self.snapshots.push(snapshot);
        } else {
            self.snapshots[place] = snapshot;
        }
    }
}

/// Unsynced changes that a power cut loses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loss {
    All,
    Nothing,
    Some,
}

impl Snapshot {
    /// Makes the directory `to` a possible state of `root` after a power cut in this state.
    pub(crate) fn cut(&self, root: &Path, to: &Path, random: &mut Random) {
        let loss = match random.below(5) {
            0 => Loss::All,
            1 => Loss::Nothing,
            _ => Loss::Some,
        };
        self.cut_with(root, to, loss, random);
    }

    /// [`Self::cut`] with a given loss.
    pub(crate) fn cut_with(&self, root: &Path, to: &Path, loss: Loss, random: &mut Random) {
        let _ = std::fs::remove_dir_all(to);
        std::fs::create_dir_all(to).unwrap();
        let survives = |random: &mut Random| match loss {
            Loss::All => false,
            Loss::Nothing => true,
            Loss::Some => random.one_in(2),
        };
        // Index of the surviving one of several unsynced versions.
        let version = |count: usize, random: &mut Random| match loss {
            Loss::Nothing => count - 1,
            _ => random.below(count),
        };
        let mut gone: Vec<&Path> = Vec::new();
        for (path, is_directory) in &self.there {
            let is_there = self.entries.contains(path) || survives(random);
            if !is_there || gone.iter().any(|gone| path.starts_with(gone)) {
                gone.push(path);
                continue;
            }
            let copy = to.join(path.strip_prefix(root).unwrap());
            if *is_directory {
                std::fs::create_dir_all(copy).unwrap();
                continue;
            }
            let Some(file) = self.files.get(path) else {
                continue;
            };
            let length = match survives(random) {
                true if !file.lengths.is_empty() => {
                    file.lengths[version(file.lengths.len(), random)]
                }
                _ => file.length,
            };
            let mut bytes = vec![0; usize::try_from(length).unwrap()];
            let mut put = |number: u64, page: &[u8; PAGE]| {
                let at = usize::try_from(number).unwrap() * PAGE;
                if let Some(place) = bytes.get_mut(at..) {
                    let length = place.len().min(PAGE);
                    place[..length].copy_from_slice(&page[..length]);
                }
            };
            for (number, page) in &*file.on_disk {
                put(*number, page);
            }
            for (number, versions) in &file.dirty {
                if !survives(random) {
                    continue;
                }
                let mut page = *versions[version(versions.len(), random)];
                if loss == Loss::Some && random.one_in(8) {
                    // Some sectors have their old content.
                    let before = file.on_disk.get(number).map_or([0; PAGE], |page| **page);
                    for sector in (0..PAGE).step_by(SECTOR) {
                        if random.one_in(2) {
                            let sector = sector..sector + SECTOR;
                            page[sector.clone()].copy_from_slice(&before[sector]);
                        }
                    }
                }
                put(*number, &page);
            }
            std::fs::write(copy, bytes).unwrap();
        }
    }
}
