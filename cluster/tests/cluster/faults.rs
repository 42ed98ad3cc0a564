//! Processes that end or stand still, full disks, statements that are ended: the right answer, or a clear error, soon.

use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::fixture::{
    Cluster, Given, Place, SLOW, connect, execute, load_big, program, rows, send, start_coordinator,
};

/// The time within which a fault has to show.
const SOON: Duration = Duration::from_secs(10);
/// 3889
const SECONDARY_ENGINE: u16 = 3889;

/// Runs the slow statement with a fault at some time, and checks what comes.
fn run_with(signal: &'static str) {
    let mut cluster = Cluster::start();
    let mut client = cluster.client();
    load_big(&mut client);
    execute(&mut client, &["SET use_secondary_engine = OFF"]);
    let expected = rows(&mut client, SLOW).expect("rows");
    execute(&mut client, &["SET use_secondary_engine = FORCED"]);
    let start = Instant::now();
    assert_eq!(rows(&mut client, SLOW).expect("rows"), expected);
    let usual = start.elapsed();
    for tenth in [1, 4, 8] {
        let process = cluster.process(1);
        let at = usual * tenth / 10;
        let fault = thread::spawn(move || {
            thread::sleep(at);
            send(process, signal);
        });
        let start = Instant::now();
        let found = rows(&mut client, SLOW);
        let took = start.elapsed();
        fault.join().expect("fault");
        println!(
            "{signal} at {at:?} of {usual:?}: {} after {took:?}",
            found
                .as_ref()
                .map_or_else(|error| error.1.as_str(), |_| "rows")
        );
        match found {
            Ok(found) => assert_eq!(found, expected),
            Err((code, text)) => {
                assert_eq!(code, SECONDARY_ENGINE, "{text}");
                assert!(text.contains("executor"), "{text}");
            }
        }
        // Seen within seconds, and then the statement runs once more.
        assert!(took < SOON + 2 * usual, "{took:?}");
        cluster.replace(1);
    }
}

#[test]
fn an_executor_is_killed() {
    run_with("KILL");
}

#[test]
fn an_executor_stands_still() {
    run_with("STOP");
}

#[test]
fn full_temporary_space_is_an_error_of_the_statement() {
    let given = Given {
        memory: 8 << 20,
        temp_space: 1 << 20,
    };
    let cluster = Cluster::of(3, given);
    let mut client = cluster.client();
    load_big(&mut client);
    execute(&mut client, &["SET use_secondary_engine = FORCED"]);
    let start = Instant::now();
    let (code, text) = rows(&mut client, SLOW).expect_err("full");
    println!("{code} {text}");
    assert!(start.elapsed() < 3 * SOON);
    assert!([1114, SECONDARY_ENGINE].contains(&code), "{code} {text}");
    // The cluster goes on.
    let counted = rows(&mut client, "SELECT COUNT(*) FROM big").expect("rows");
    assert_eq!(counted, [[Some("120000".to_owned())]]);
}

#[test]
fn a_statement_that_ends_early_leaves_nothing_running() {
    let cluster = Cluster::start();
    let mut client = cluster.client();
    load_big(&mut client);
    execute(&mut client, &["SET use_secondary_engine = FORCED"]);
    let id = rows(&mut client, "SELECT CONNECTION_ID()").expect("id")[0][0]
        .clone()
        .expect("id");
    // KILL QUERY
    let mut other = cluster.client();
    let killer = thread::spawn(move || {
        thread::sleep(Duration::from_millis(500));
        execute(&mut other, &[&format!("KILL QUERY {id}")]);
        Instant::now()
    });
    let (code, text) = rows(&mut client, SLOW).expect_err("killed");
    let ended = Instant::now();
    assert_eq!(code, 1317, "{text}");
    let killed = killer.join().expect("killer");
    assert!(ended.saturating_duration_since(killed) < Duration::from_secs(1));
    idle(&cluster);
    // max_execution_time
    execute(&mut client, &["SET max_execution_time = 400"]);
    let start = Instant::now();
    let (code, text) = rows(&mut client, SLOW).expect_err("late");
    assert_eq!(code, 3024, "{text}");
    assert!(start.elapsed() < Duration::from_secs(2));
    idle(&cluster);
    // LIMIT
    execute(&mut client, &["SET max_execution_time = 0"]);
    assert_eq!(
        rows(&mut client, "SELECT c FROM big LIMIT 3")
            .expect("rows")
            .len(),
        3
    );
    idle(&cluster);
}

/// Waits until executors say that they run nothing.
fn idle(cluster: &Cluster) {
    let start = Instant::now();
    // What was said before the statement ended does not count.
    thread::sleep(Duration::from_millis(1200));
    while cluster
        .coordinator
        .members
        .alive()
        .iter()
        .any(|member| member.running > 0)
    {
        assert!(start.elapsed() < SOON, "fragments run on");
        thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn the_end_of_the_coordinator_is_an_error_of_its_clients_and_executors_stay() {
    let directory = tempfile::tempdir().expect("directory");
    let place = Place::Directory(directory.path().join("data"));
    let start = |executors: &str| start_coordinator(directory.path(), &place, executors, 2);
    let (mut coordinator, port, executors) = start("127.0.0.1:0");
    let mut executor = Command::new(program());
    executor
        .args(["executor", "--coordinator", &executors])
        .arg("--data")
        .arg(directory.path().join("data"));
    executor
        .arg("--directory")
        .arg(directory.path().join("executor"));
    let mut executor = executor
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("executor");
    let mut client = connect(port);
    load_big(&mut client);
    let waited = Instant::now();
    execute(&mut client, &["SET use_secondary_engine = FORCED"]);
    while rows(&mut client, "SELECT COUNT(*) FROM big").is_err() {
        assert!(waited.elapsed() < SOON);
        thread::sleep(Duration::from_millis(100));
    }
    let process = coordinator.id();
    let killer = thread::spawn(move || {
        thread::sleep(Duration::from_millis(300));
        send(process, "KILL");
    });
    let began = Instant::now();
    let ended = rows(&mut client, SLOW);
    killer.join().expect("killer");
    coordinator.wait().expect("coordinator");
    assert!(ended.is_err() && began.elapsed() < SOON);
    // Another coordinator at the same port finds the executor, and loads the table anew.
    let (mut coordinator, port, _) = start(&executors);
    let mut client = connect(port);
    execute(
        &mut client,
        &["USE faults", "SET use_secondary_engine = FORCED"],
    );
    let waited = Instant::now();
    let counted = loop {
        match rows(&mut client, "SELECT COUNT(*) FROM big") {
            Ok(counted) => break counted,
            Err((_, text)) => assert!(waited.elapsed() < 2 * SOON, "{text}"),
        }
        thread::sleep(Duration::from_millis(200));
    };
    assert_eq!(counted, [[Some("120000".to_owned())]]);
    for process in [&mut coordinator, &mut executor] {
        let _ = process.kill();
        let _ = process.wait();
    }
}
