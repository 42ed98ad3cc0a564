//! The files in `deploy`: they have no field that the platforms do not know, their parts agree with each other, and their
//! command lines make a cluster that answers.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use clap::Parser;
use docker_compose_types::Compose;
use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Service};
use k8s_openapi::api::networking::v1::NetworkPolicy;
use mayfly_cluster::arguments::{Arguments, Role};
use mayfly_cluster::tls;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::fixture::{connect, execute, program, rows};

const COMPOSE: &str = include_str!("../../deploy/compose.yaml");
const KUBERNETES: &str = include_str!("../../deploy/kubernetes.yaml");

/// A value read by the types of a platform, which leave out what they do not know. What is left out is an error.
fn typed<T: DeserializeOwned + Serialize>(value: &Value) -> T {
    let read: T = serde_json::from_value(value.clone()).expect("the types of the platform");
    let written = serde_json::to_value(&read).expect("JSON");
    known(value, &written, "");
    read
}

/// Checks that `written` has whatever `given` has.
fn known(given: &Value, written: &Value, path: &str) {
    match (given, written) {
        (Value::Object(given), Value::Object(written)) => {
            for (name, value) in given {
                let path = format!("{path}.{name}");
                let written = written.get(name);
                known(
                    value,
                    written.unwrap_or_else(|| panic!("{path} is unknown")),
                    &path,
                );
            }
        }
        (Value::Array(given), Value::Array(written)) => {
            assert_eq!(given.len(), written.len(), "{path}");
            for (at, (given, written)) in given.iter().zip(written).enumerate() {
                known(given, written, &format!("{path}[{at}]"));
            }
        }
        // A member without a value.
        (Value::Null, Value::Object(written)) => assert!(written.is_empty(), "{path}"),
        _ => assert_eq!(given, written, "{path}"),
    }
}

/// A list of texts.
fn texts(value: &Value) -> Vec<String> {
    let list = value.as_array().expect("a list").iter();
    list.map(|text| text.as_str().expect("a text").to_owned())
        .collect()
}

/// The value of an option of a command line.
fn option<'a>(line: &'a [String], name: &str) -> &'a str {
    let start = format!("--{name}=");
    let found = line.iter().find_map(|word| word.strip_prefix(&start));
    found.unwrap_or_else(|| panic!("{line:?} has no --{name}"))
}

/// Checks that the program takes a command line.
fn accepted(line: &[String]) -> Role {
    let words = ["mayfly-cluster"]
        .into_iter()
        .chain(line.iter().map(String::as_str));
    Arguments::try_parse_from(words)
        .expect("a command line")
        .role
}

/// Checks the command lines of a cluster with `executors` executors. Each directory must be one of the container's.
fn check(
    coordinator: &[String],
    executor: &[String],
    executors: usize,
    directories: [&[String]; 2],
) {
    let (Role::Coordinator(server), Role::Executor(worker)) =
        (accepted(coordinator), accepted(executor))
    else {
        panic!("other roles");
    };
    assert_eq!(server.cluster.partitions, executors * worker.tasks);
    let (_, port) = worker.coordinator.rsplit_once(':').expect("a port");
    assert_eq!(port, server.cluster.listen_executors.port().to_string());
    for (line, directories) in [coordinator, executor].into_iter().zip(directories) {
        for name in ["data", "tls"] {
            let path = Path::new(option(line, name));
            let is_covered = directories
                .iter()
                .any(|directory| path.starts_with(directory));
            assert!(is_covered, "{path:?} is in none of {directories:?}");
        }
    }
}

/// Starts a process with a command line whose paths are below `root` and whose hosts and ports are this machine's.
fn start(line: &[String], root: &Path, ports: &BTreeMap<&str, String>, more: &[String]) -> Child {
    let words = line.iter().map(|word| {
        let Some((name, value)) = word.split_once('=') else {
            return word.clone();
        };
        if let Some(port) = ports.get(name) {
            return format!("{name}=127.0.0.1:{port}");
        }
        match value.strip_prefix('/') {
            Some(path) => format!("{name}={}", root.join(path).display()),
            None => word.clone(),
        }
    });
    let mut command = Command::new(program());
    command
        .args(words)
        .args(more)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.spawn().expect("a process")
}

/// Processes that end with the test.
struct Processes(Vec<Child>);

impl Drop for Processes {
    fn drop(&mut self) {
        for process in &mut self.0 {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

fn free_port() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener
        .local_addr()
        .expect("an address")
        .port()
        .to_string()
}

/// Runs a cluster with these command lines on this machine, and a statement on it. `certificates` are where the two roles
/// look for theirs.
fn run(coordinator: &[String], executor: &[String], executors: usize, certificates: [&str; 2]) {
    let directory = tempfile::tempdir().expect("a directory");
    let made = directory.path().join("made");
    tls::make(&made, &["coordinator".to_owned(), "executor".to_owned()]).expect("certificates");
    let (clients, heard) = (free_port(), free_port());
    let ports = BTreeMap::from([
        ("--listen-executors", heard.clone()),
        ("--coordinator", heard),
    ]);
    // Each process has a file system of its own, but for the data.
    let root = |name: &str, role: usize| {
        let root = directory.path().join(name);
        let own = root.join(certificates[role].trim_start_matches('/'));
        std::fs::create_dir_all(own.parent().expect("a parent")).expect("a directory");
        std::os::unix::fs::symlink(made.join(["coordinator", "executor"][role]), own)
            .expect("certificates");
        std::fs::create_dir_all(directory.path().join("data")).expect("a directory");
        std::os::unix::fs::symlink(directory.path().join("data"), root.join("data")).expect("data");
        root
    };
    let more = ["--insecure".to_owned(), format!("--port={clients}")];
    let mut processes = Processes(vec![start(
        coordinator,
        &root("coordinator", 0),
        &ports,
        &more,
    )]);
    for number in 0..executors {
        let name = format!("executor-{number}");
        let port = free_port();
        let mut ports = ports.clone();
        ports.insert("--listen", port.clone());
        ports.insert("--advertise", port);
        let line: Vec<String> = executor
            .iter()
            .map(|word| word.replace("$(POD_NAME)", &name))
            .collect();
        processes.0.push(start(&line, &root(&name, 1), &ports, &[]));
    }
    let port: u16 = clients.parse().expect("a port");
    let waited = Instant::now();
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(
            waited.elapsed() < Duration::from_secs(20),
            "the coordinator does not listen"
        );
        std::thread::sleep(Duration::from_millis(50));
    }
    let mut client = connect(port);
    let heard = |client: &mut _| rows(client, "SHOW CLUSTER").expect("members").len();
    while heard(&mut client) < executors {
        assert!(
            waited.elapsed() < Duration::from_secs(30),
            "executors are missing"
        );
        std::thread::sleep(Duration::from_millis(50));
    }
    execute(
        &mut client,
        &[
            "CREATE DATABASE deployed",
            "USE deployed",
            "CREATE TABLE t (a INT PRIMARY KEY, b INT) SECONDARY_ENGINE=CLUSTER",
            "INSERT INTO t WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 900) SELECT n, n % 30 FROM n",
            "ALTER TABLE t SECONDARY_LOAD",
            "SET use_secondary_engine = FORCED",
        ],
    );
    let found = rows(
        &mut client,
        "SELECT COUNT(*), SUM(n) FROM (SELECT b, COUNT(*) n FROM t GROUP BY b) g",
    );
    let expected = ["30", "900"].map(|text| Some(text.to_owned()));
    assert_eq!(found.expect("rows"), [expected]);
}

#[test]
fn the_compose_file_makes_a_cluster() {
    let file: Value = serde_saphyr::from_str(COMPOSE).expect("YAML");
    let _: Compose = typed(&file);
    let service = |name: &str| &file["services"][name];
    let directories = |name: &str| -> Vec<String> {
        let mounts = texts(&service(name)["volumes"]).into_iter();
        mounts
            .map(|mount| mount.split(':').nth(1).expect("a path").to_owned())
            .collect()
    };
    for name in ["certificates", "coordinator", "executor"] {
        for mount in texts(&service(name)["volumes"]) {
            let volume = mount.split(':').next().expect("a volume");
            assert!(file["volumes"].get(volume).is_some(), "{volume}");
        }
    }
    let (coordinator, executor) = (
        texts(&service("coordinator")["command"]),
        texts(&service("executor")["command"]),
    );
    let replicas = service("executor")["deploy"]["replicas"]
        .as_u64()
        .expect("a number");
    let replicas = usize::try_from(replicas).expect("a number");
    let mounted = [directories("coordinator"), directories("executor")];
    check(
        &coordinator,
        &executor,
        replicas,
        [&mounted[0], &mounted[1]],
    );
    assert!(option(&executor, "coordinator").starts_with("coordinator:"));
    let Role::Certificates {
        directory,
        names,
        keep: true,
    } = accepted(&texts(&service("certificates")["command"]))
    else {
        panic!("another role");
    };
    let certificates = ["coordinator", "executor"].map(|role| directory.join(role));
    assert_eq!(names, ["coordinator", "executor"]);
    assert_eq!(Path::new(option(&coordinator, "tls")), certificates[0]);
    assert_eq!(Path::new(option(&executor, "tls")), certificates[1]);
    run(
        &coordinator,
        &executor,
        replicas,
        ["/certificates/coordinator", "/certificates/executor"],
    );
}

#[test]
fn the_manifests_for_kubernetes_make_a_cluster() {
    let documents: Vec<Value> = serde_saphyr::from_multiple(KUBERNETES).expect("YAML");
    let mut sets: BTreeMap<String, StatefulSet> = BTreeMap::new();
    let mut services: BTreeMap<String, Service> = BTreeMap::new();
    let mut claims = Vec::new();
    for document in &documents {
        assert_eq!(document["metadata"]["namespace"], "mayfly");
        let name = document["metadata"]["name"]
            .as_str()
            .expect("a name")
            .to_owned();
        match document["kind"].as_str().expect("a kind") {
            "StatefulSet" => drop(sets.insert(name, typed(document))),
            "Service" => drop(services.insert(name, typed(document))),
            "PersistentVolumeClaim" => {
                let _: PersistentVolumeClaim = typed(document);
                claims.push(name);
            }
            "NetworkPolicy" => drop(typed::<NetworkPolicy>(document)),
            other => panic!("{other}"),
        }
    }
    let mut lines = Vec::new();
    let mut mounted = Vec::new();
    for (name, set) in &sets {
        let set = set.spec.as_ref().expect("a specification");
        let pod = set.template.spec.as_ref().expect("a pod");
        let labels = set
            .template
            .metadata
            .as_ref()
            .and_then(|it| it.labels.as_ref());
        assert_eq!(set.selector.match_labels.as_ref(), labels);
        let container = &pod.containers[0];
        // The service leads to ports that the container names.
        let service = services[name].spec.as_ref().expect("a specification");
        assert_eq!(set.service_name.as_ref(), Some(name));
        assert_eq!(service.selector.as_ref(), labels);
        for port in service.ports.iter().flatten() {
            let own = container
                .ports
                .iter()
                .flatten()
                .find(|it| it.name == port.name);
            assert_eq!(own.expect("a port").container_port, port.port);
        }
        // Each mount has a volume.
        let templates = set.volume_claim_templates.iter().flatten();
        let mut volumes: Vec<String> = templates
            .filter_map(|it| it.metadata.name.clone())
            .collect();
        for volume in pod.volumes.iter().flatten() {
            volumes.push(volume.name.clone());
            if let Some(claim) = &volume.persistent_volume_claim {
                assert!(claims.contains(&claim.claim_name), "{}", claim.claim_name);
            }
            if let Some(secret) = &volume.secret {
                assert_eq!(secret.secret_name, Some(format!("mayfly-{name}")));
            }
        }
        let mounts = container.volume_mounts.iter().flatten();
        assert!(mounts.clone().all(|mount| volumes.contains(&mount.name)));
        mounted.push(
            mounts
                .map(|mount| mount.mount_path.clone())
                .collect::<Vec<_>>(),
        );
        lines.push(container.args.clone().expect("arguments"));
    }
    let replicas = sets["executor"]
        .spec
        .as_ref()
        .and_then(|it| it.replicas)
        .expect("a number");
    let replicas = usize::try_from(replicas).expect("a number");
    check(&lines[0], &lines[1], replicas, [&mounted[0], &mounted[1]]);
    assert!(option(&lines[1], "advertise").starts_with("$(POD_NAME).executor:"));
    run(
        &lines[0],
        &lines[1],
        replicas,
        ["/certificates", "/certificates"],
    );
}
