//! A COMMIT that gave an error has done nothing, whatever of it was written before the error; and what fails
//! where no client is there to be told is told to whoever has asked for it.

use std::path::Path;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mayfly_engine::{BackgroundErrors, Database, DatabaseOptions, Error};
use mayfly_testkit::fixture::{Watchdog, must, rows};

use crate::calls::{Fault, Where, arm_for, disarm};
use crate::disk::{self, Loss};
use crate::faults::alone;
use crate::model::Numbers;
use crate::power_cuts::{Settings, directory, first_seed, try_open};

fn shown(directory: &Path, settings: Settings) -> Vec<String> {
    let database = try_open(directory, settings).unwrap();
    database.check().unwrap();
    must(&mut database.session(), "SELECT i FROM test.t ORDER BY i")
}

/// Nobody commits anything behind it before the process ends.
#[test]
fn what_failed_is_not_there_when_the_process_ends() {
    let _alone = alone();
    let _watchdog = Watchdog::new();
    let seed = first_seed();
    let mut numbers = Numbers::new(seed);
    let (root, copy) = (directory("failed"), directory("failed-copy"));
    let settings = |write_buffer| Settings {
        threads: 1,
        write_buffer,
        flush: 1,
    };
    let faults = [Fault::DeviceError, Fault::LateError, Fault::ShortWrite];
    for (fault, write_buffer) in faults
        .into_iter()
        .flat_map(|fault| [(fault, 0), (fault, 1 << 20)])
    {
        let settings = settings(write_buffer);
        for call in 1.. {
            let _ = std::fs::remove_dir_all(&root);
            let database = try_open(&root, settings).unwrap();
            let mut session = database.session();
            must(
                &mut session,
                "CREATE TABLE test.t (i INT PRIMARY KEY, s TEXT); INSERT INTO test.t VALUES (1, 'a')",
            );
            disk::watch(&root, seed, 0, Box::new(Vec::new));
            arm_for(fault, Where::Files, call, 1);
            let done = rows(
                &mut session,
                "INSERT INTO test.t VALUES (2, REPEAT('b', 5000))",
            );
            let has_failed = disarm() > 0;
            let moment = disk::now();
            drop((session, database));
            disk::stop();
            let expected: &[&str] = match done {
                Ok(_) => &["1", "2"],
                Err(_) => &["1"],
            };
            for loss in [Loss::Nothing, Loss::All, Loss::Some] {
                moment.cut_with(&root, &copy, loss, &mut numbers);
                assert_eq!(
                    shown(&copy, settings),
                    expected,
                    "{fault:?} of call {call}, {loss:?}, buffer {write_buffer}, {done:?}, \
                     MAYFLY_POWER_CUTS_SEED={seed}"
                );
            }
            if !has_failed {
                assert!(call > 1, "there are calls");
                break;
            }
        }
    }
    for directory in [root, copy] {
        let _ = std::fs::remove_dir_all(directory);
    }
}

#[derive(Debug)]
struct Told(Mutex<Sender<Option<String>>>);

impl BackgroundErrors for Told {
    fn sync(&self, error: Option<&Error>) {
        let _ = self.0.lock().unwrap().send(error.map(Error::to_string));
    }
}

#[test]
fn syncs_that_fail_in_the_background_are_told() {
    let _alone = alone();
    let _watchdog = Watchdog::new();
    let root = directory("told");
    let _ = std::fs::remove_dir_all(&root);
    let (sender, told) = channel();
    let mut options = DatabaseOptions::new();
    options.datadir = Some(root.join("data"));
    options.background_errors = Some(Arc::new(Told(Mutex::new(sender))));
    let flush = "innodb_flush_log_at_trx_commit".to_owned();
    options.variables = vec![(flush, "2".to_owned())];
    let database = Database::open(options).unwrap();
    let mut session = database.session();
    must(&mut session, "CREATE TABLE test.t (i INT PRIMARY KEY)");
    arm_for(Fault::DeviceError, Where::LogSyncs, 1, u64::MAX);
    must(&mut session, "INSERT INTO test.t VALUES (1)");
    let patience = Duration::from_secs(60);
    let error = told.recv_timeout(patience).unwrap().unwrap();
    assert!(error.contains("Input/output error"), "{error}");
    disarm();
    assert_eq!(told.recv_timeout(patience), Ok(None));
    drop((session, database));
    assert!(told.try_recv().is_err(), "it is told once");
    let _ = std::fs::remove_dir_all(&root);
}
