//! Log files that cannot be written: statements are not affected, and the server's log reports it once.

use std::io::{Error, ErrorKind, Result, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use mayfly_engine::{BackgroundErrors, LogFiles, SystemLogFiles};
use mayfly_testkit::fixture::SessionExt;

use crate::logs::Logged;
use crate::logs::reader::entries;

/// A disk that becomes full after a number of bytes, when a test says so.
#[derive(Debug, Default)]
struct Disk {
    is_full: AtomicBool,
    room: AtomicUsize,
}

#[derive(Debug, Clone)]
struct FullFiles(Arc<Disk>);

impl LogFiles for FullFiles {
    fn open(&self, path: &Path) -> Result<Box<dyn Write + Send>> {
        let file = SystemLogFiles.open(path)?;
        Ok(Box::new(FullFile(file, Arc::clone(&self.0))))
    }
}

struct FullFile(Box<dyn Write + Send>, Arc<Disk>);

impl Write for FullFile {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        if !self.1.is_full.load(Ordering::SeqCst) {
            return self.0.write(bytes);
        }
        let room = self.1.room.load(Ordering::SeqCst).min(bytes.len());
        if room == 0 {
            return Err(Error::from(ErrorKind::StorageFull));
        }
        self.1.room.fetch_sub(room, Ordering::SeqCst);
        self.0.write(&bytes[..room])
    }

    fn flush(&mut self) -> Result<()> {
        self.0.flush()
    }
}

#[derive(Debug, Default)]
struct Reported(Mutex<Vec<Option<ErrorKind>>>);

impl BackgroundErrors for Reported {
    fn sync(&self, _error: Option<&mayfly_engine::Error>) {}

    fn log_file(&self, file: &Path, error: Option<&Error>) {
        assert!(file.ends_with("slow.log"));
        self.0.lock().unwrap().push(error.map(Error::kind));
    }
}

#[test]
fn a_full_disk_costs_entries_and_nothing_else() {
    for room in [0, 1, 40, 200, 300] {
        let (disk, reported) = (Arc::new(Disk::default()), Arc::new(Reported::default()));
        let logged = Logged::with(&[], |options| {
            options.log_files = Arc::new(FullFiles(Arc::clone(&disk)));
            options.background_errors = Some(Arc::clone(&reported) as _);
        });
        let mut session = logged.fixture.session();
        session.must("SELECT 'before'");
        disk.room.store(room, Ordering::SeqCst);
        disk.is_full.store(true, Ordering::SeqCst);
        for number in 0..5 {
            assert_eq!(
                session.value(&format!("SELECT {number}")),
                number.to_string()
            );
        }
        let full = Some(ErrorKind::StorageFull);
        assert_eq!(*reported.0.lock().unwrap(), [full], "once");
        disk.is_full.store(false, Ordering::SeqCst);
        session.must("SELECT 'after'");
        session.must("SELECT 'at last'");
        assert_eq!(*reported.0.lock().unwrap(), [full, None]);
        let log = logged.slow();
        // The text behind an incomplete entry begins on its own line, and repeats time and database.
        let behind = &log[log.rfind("\n# Time: ").unwrap() + 1..];
        assert_eq!(entries(behind)[0].statement, "SELECT 'at last'");
        assert!(log.contains("\nSELECT 'after';\n"), "{log}");
        let after = log.find("SELECT 'after'").unwrap();
        assert!(log[..after].contains("\nuse test;\n"));
    }
}

#[test]
fn a_start_without_the_file_is_reported_and_goes_on() {
    let reported = Arc::new(Reported::default());
    let logged = Logged::with(&[("slow_query_log_file", "/nosuch/slow.log")], |options| {
        options.background_errors = Some(Arc::clone(&reported) as _);
    });
    let mut session = logged.fixture.session();
    session.must_all(["SELECT 1", "SELECT 2"]);
    assert_eq!(*reported.0.lock().unwrap(), [Some(ErrorKind::NotFound)]);
}
