//! Every golden file on MariaDB, so that all of its differences from MySQL are known.
//!
//! Runs when `MAYFLY_MARIADB_SOCKET` names a server; the repository's test command starts one.
//! A record that MariaDB answers differently carries `skipif mariadb` and the slug of its reason,
//! which must have a row in `COMPAT.md`.

use std::collections::BTreeSet;
use std::path::Path;

use libtest_mimic::{Failed, Trial};
use mayfly_testkit::complete::UNEXPLAINED;
use mayfly_testkit::corpus::{self, OWN_SERVER};
use mayfly_testkit::runner::{self, Paths, Strictness, verdict};
use mayfly_testkit::server::{self, Flavour, ServerSession};

/// A trial for each file, and one for the reasons of all differences.
pub(crate) fn trials() -> Vec<Trial> {
    let socket = server::socket(Flavour::MariaDb);
    let mut trials = vec![Trial::test("explained", explained)];
    for file in corpus::files("slt", "slt") {
        let socket = socket.clone();
        let needs = corpus::needs(&file).unwrap_or_default();
        let skipped = socket.is_none() || needs.iter().any(|need| need == OWN_SERVER);
        let trial = Trial::test(corpus::short_name(&file), move || match &socket {
            Some(socket) => run(socket, &file),
            None => Err("MAYFLY_MARIADB_SOCKET names no server".into()),
        });
        trials.push(trial.with_kind("mariadb").with_ignored_flag(skipped));
    }
    trials
}

fn run(socket: &Path, file: &Path) -> Result<(), Failed> {
    let paths = Paths::new().map_err(|error| error.to_string())?;
    let connect =
        |user: &str| ServerSession::connect_as(user, socket, Flavour::MariaDb, paths.clone());
    let restart = || Err("this server has other sessions".to_owned());
    let report = runner::run_file(file, Strictness::Family, connect, restart)?;
    paths.clean();
    verdict(report.failures.iter().map(ToString::to_string))
}

/// Each difference has a reason, each reason a row in COMPAT.md, and each row there a difference.
fn explained() -> Result<(), Failed> {
    let compat = std::fs::read_to_string(corpus::root().join("COMPAT.md"))?;
    let mut problems = BTreeSet::new();
    let mut used = BTreeSet::new();
    let (about_mayfly, about_mariadb) = compat.split_once("## Where MariaDB").unwrap_or_default();
    for file in corpus::files("slt", "slt") {
        let text = std::fs::read_to_string(&file)?;
        let name = corpus::short_name(&file);
        let mut previous = "";
        for line in text.lines() {
            if let Some(mark) = line.strip_prefix("# differs ") {
                let slug = mark.split(':').next().unwrap_or_default();
                used.insert(slug.to_owned());
                if slug == UNEXPLAINED {
                    problems.insert(format!("{name}: a difference without a reason: {mark}"));
                } else if !compat.contains(&format!("`{slug}`")) {
                    problems.insert(format!("{name}: `{slug}` has no row in COMPAT.md"));
                }
            } else if let Some(mark) = line.strip_prefix("# Mayfly differs ") {
                let slug = mark.split(':').next().unwrap_or_default();
                used.insert(slug.to_owned());
                if !about_mayfly.contains(&format!("| `{slug}` |")) {
                    problems.insert(format!("{name}: `{slug}` has no row in COMPAT.md"));
                }
            } else if line == "skipif mayfly" && !previous.starts_with("# Mayfly differs ") {
                problems.insert(format!(
                    "{name}: `skipif mayfly` without `# Mayfly differs`"
                ));
            } else if line == "skipif mariadb" && !previous.starts_with("# differs ") {
                problems.insert(format!("{name}: `skipif mariadb` without `# differs`"));
            }
            previous = line;
        }
    }
    for file in corpus::files("isolation", "script") {
        let text = std::fs::read_to_string(&file)?;
        let slugs = text.lines().filter_map(|line| {
            let (_, slug) = line.strip_prefix("only ")?.split_once('(')?;
            slug.strip_suffix(')')
        });
        for slug in slugs {
            used.insert(slug.to_owned());
            if !compat.contains(&format!("| `{slug}` |")) {
                let name = file.display();
                problems.insert(format!("{name}: `{slug}` has no row in COMPAT.md"));
            }
        }
    }
    for row in about_mariadb.lines() {
        if let Some((slug, _)) = row
            .strip_prefix("| `")
            .and_then(|rest| rest.split_once('`'))
            && !used.contains(slug)
        {
            problems.insert(format!("COMPAT.md: no record differs by `{slug}`"));
        }
    }
    verdict(problems)
}
