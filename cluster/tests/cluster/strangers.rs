//! Who has no certificate of the cluster, or another version, gets nothing.

use std::process::{Command, Output};
use std::time::Duration;

use datafusion_distributed::{ChannelResolver, GetWorkerInfoRequest};
use mayfly_cluster::connections::Connections;
use mayfly_cluster::coordinator::Coordinator;
use mayfly_cluster::members::{Beat, PROTOCOL, beat};
use mayfly_cluster::tls::{self, Credentials};
use url::Url;

use crate::fixture::{connect, execute, options, program, rows, serve};

/// Runs the program to its end.
fn ended(arguments: &[&str]) -> Output {
    Command::new(program())
        .args(arguments)
        .output()
        .expect("program")
}

#[test]
fn ports_of_a_cluster_with_certificates_refuse_strangers() {
    let directory = tempfile::tempdir().expect("directory");
    let path = |name: &str| directory.path().join(name);
    let made = ended(&[
        "certificates",
        path("ours").to_str().expect("path"),
        "coordinator",
        "executor",
    ]);
    assert!(made.status.success());
    tls::make(&path("others"), &["executor".to_owned()]).expect("certificates");
    let mut given = options(directory.path());
    given.process.tls = Some(path("ours/coordinator"));
    let coordinator = Coordinator::start(&given).expect("coordinator");
    let start = |certificates: &str, name: &str| {
        let mut command = Command::new(program());
        command.args([
            "executor",
            "--coordinator",
            &coordinator.executors.to_string(),
            "--name",
            name,
        ]);
        command.arg("--tls").arg(path(certificates));
        command
            .arg("--data")
            .arg(path("data"))
            .arg("--directory")
            .arg(path(name));
        command.spawn().expect("executor")
    };
    let mut ours = start("ours/executor", "ours");
    let mut others = start("others/executor", "others");
    coordinator
        .wait_for_executors(1, Duration::from_secs(20))
        .expect("executor");
    std::thread::sleep(Duration::from_secs(3));
    let members = coordinator.members.alive();
    assert_eq!(
        members
            .iter()
            .map(|member| member.name.as_str())
            .collect::<Vec<_>>(),
        ["ours"]
    );
    // The cluster works.
    let (_database, server) = serve(&coordinator, directory.path());
    let mut client = connect(server.address().port());
    execute(
        &mut client,
        &[
            "CREATE DATABASE strangers",
            "USE strangers",
            "CREATE TABLE t (a INT PRIMARY KEY) SECONDARY_ENGINE=CLUSTER",
            "INSERT INTO t VALUES (1), (2)",
            "ALTER TABLE t SECONDARY_LOAD",
            "SET use_secondary_engine = FORCED",
        ],
    );
    assert_eq!(
        rows(&mut client, "SELECT SUM(a) FROM t").expect("rows"),
        [[Some("3".to_owned())]]
    );
    // An executor answers its own, and nobody else.
    let executor = Url::parse(&members[0].address).expect("address");
    let mut plain = executor.clone();
    plain.set_scheme("http").expect("scheme");
    let runtime = tokio::runtime::Runtime::new().expect("runtime");
    let ask = |connections: Connections, url: &Url| {
        runtime.block_on(async {
            let mut worker = connections.get_worker_client_for_url(url).await?;
            worker.get_worker_info(GetWorkerInfoRequest {}).await
        })
    };
    let credentials = |name: &str| {
        Credentials::read(&path(name))
            .expect("credentials")
            .client()
    };
    assert!(
        ask(
            Connections::new(Some(credentials("ours/coordinator"))),
            &executor
        )
        .is_ok()
    );
    assert!(
        ask(
            Connections::new(Some(credentials("others/executor"))),
            &executor
        )
        .is_err()
    );
    assert!(ask(Connections::new(None), &plain).is_err());
    for process in [&mut ours, &mut others] {
        let _ = process.kill();
        let _ = process.wait();
    }
}

#[test]
fn an_address_of_the_network_without_certificates_is_refused() {
    let directory = tempfile::tempdir().expect("directory");
    let path = directory.path().to_str().expect("path");
    for role in [
        vec![
            "executor",
            "--coordinator",
            "127.0.0.1:1",
            "--listen",
            "0.0.0.0:0",
        ],
        vec!["coordinator", "--listen-executors", "0.0.0.0:0"],
    ] {
        let refused = ended(&[role, vec!["--data", path, "--directory", path]].concat());
        let text = String::from_utf8_lossy(&refused.stderr);
        assert!(
            !refused.status.success() && text.contains("--tls"),
            "{text}"
        );
    }
}

#[test]
fn an_executor_of_another_version_is_refused_by_name() {
    let directory = tempfile::tempdir().expect("directory");
    let coordinator = Coordinator::start(&options(directory.path())).expect("coordinator");
    let runtime = tokio::runtime::Runtime::new().expect("runtime");
    let url = Url::parse(&format!("http://{}", coordinator.executors)).expect("address");
    let refused = runtime.block_on(async {
        let own = Beat {
            protocol: PROTOCOL + 1,
            address: "http://127.0.0.1:9".into(),
            ..Beat::default()
        };
        beat(Connections::default().channel(&url).expect("channel"), own).await
    });
    let text = refused.expect_err("refused").message().to_owned();
    assert!(
        text.contains("http://127.0.0.1:9") && text.contains("protocol"),
        "{text}"
    );
    assert!(coordinator.members.alive().is_empty());
}
