//! A COMMIT that returned an error has no effect, whatever was written before the error; a failing background sync is
//! reported.

use std::path::Path;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mayfly_engine::{BackgroundErrors, Database, DatabaseOptions, Error};
use mayfly_testkit::fixture::{DataDirectory, SessionExt, Watchdog};
use mayfly_trials::{Random, first_seed};

use crate::calls::{Fault, Where, arm_for, disarm};
use crate::disk::{self, Loss, directory};
use crate::faults::alone;
use crate::power_cuts::{ONE_THREAD, Settings, try_open};

fn shown(directory: &Path, settings: Settings) -> Vec<String> {
    let database = try_open(directory, settings).unwrap();
    database.check().unwrap();
    database.session().must("SELECT i FROM test.t ORDER BY i")
}

/// No transaction commits after it before the process ends.
#[test]
fn what_failed_is_not_there_when_the_process_ends() {
    let _alone = alone();
    let _watchdog = Watchdog::new();
    let seed = first_seed("failed_commits");
    let mut random = Random(seed);
    let directories = ["failed", "failed-copy"].map(directory);
    let [root, copy] = directories.each_ref().map(DataDirectory::path);
    let faults = [Fault::DeviceError, Fault::LateError, Fault::ShortWrite];
    for (fault, write_buffer) in faults
        .into_iter()
        .flat_map(|fault| [(fault, 0), (fault, 1 << 20)])
    {
        let settings = Settings {
            write_buffer,
            ..ONE_THREAD
        };
        for call in 1.. {
            let _ = std::fs::remove_dir_all(root);
            let database = try_open(root, settings).unwrap();
            let mut session = database.session();
            session.must("CREATE TABLE test.t (i INT PRIMARY KEY, s TEXT); INSERT INTO test.t VALUES (1, 'a')");
            disk::watch(root, seed, 0, Box::new(Vec::new));
            arm_for(fault, Where::Files, call, 1);
            let done = session.rows("INSERT INTO test.t VALUES (2, REPEAT('b', 5000))");
            let has_failed = disarm() > 0;
            let snapshot = disk::now();
            drop((session, database));
            disk::stop();
            let expected: &[&str] = match done {
                Ok(_) => &["1", "2"],
                Err(_) => &["1"],
            };
            for loss in [Loss::Nothing, Loss::All, Loss::Some] {
                snapshot.cut_with(root, copy, loss, &mut random);
                assert_eq!(
                    shown(copy, settings),
                    expected,
                    "{fault:?} of call {call}, {loss:?}, buffer {write_buffer}, {done:?}, \
                     MAYFLY_SEED={seed}"
                );
            }
            if !has_failed {
                assert!(call > 1, "there are calls");
                break;
            }
        }
    }
}

#[derive(Debug)]
struct Reported(Mutex<Sender<Option<String>>>);

impl BackgroundErrors for Reported {
    fn sync(&self, error: Option<&Error>) {
        let _ = self.0.lock().unwrap().send(error.map(Error::to_string));
    }
}

#[test]
fn syncs_that_fail_in_the_background_are_reported() {
    let _alone = alone();
    let _watchdog = Watchdog::new();
    let root = directory("reported");
    let (sender, reported) = channel();
    let mut options = DatabaseOptions::new();
    options.datadir = Some(root.path().join("data"));
    options.background_errors = Some(Arc::new(Reported(Mutex::new(sender))));
    let flush = "innodb_flush_log_at_trx_commit".to_owned();
    options.variables = vec![(flush, "2".to_owned())];
    let database = Database::open(options).unwrap();
    let mut session = database.session();
    session.must("CREATE TABLE test.t (i INT PRIMARY KEY)");
    arm_for(Fault::DeviceError, Where::LogSyncs, 1, u64::MAX);
    session.must("INSERT INTO test.t VALUES (1)");
    let patience = Duration::from_secs(60);
    let error = reported.recv_timeout(patience).unwrap().unwrap();
    assert!(error.contains("Input/output error"), "{error}");
    disarm();
    assert_eq!(reported.recv_timeout(patience), Ok(None));
    drop((session, database));
    assert!(reported.try_recv().is_err(), "it is reported once");
}
