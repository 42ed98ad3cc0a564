//! The layers of crates: a crate may use only crates on lower floors.
//!
//! No other tool prevents cycles between layers. The table is the one of ARCHITECTURE.md; the
//! dependencies of a crate come from `cargo metadata`.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// Each crate and its floor.
const FLOORS: &[(&str, u8)] = &[
    ("mayfly-types", 0),
    ("mayfly-syntax", 0),
    ("mayfly-memory", 0),
    ("mayfly-charts", 0),
    ("mayfly-tuning", 1),
    ("mayfly-http", 0),
    ("mayfly-client", 1),
    ("mayfly-functions", 1),
    ("mayfly-storage", 1),
    ("mayfly-legacy", 2),
    ("mayfly-plan", 2),
    ("mayfly-exec", 3),
    ("mayfly-advisor", 3),
    ("mayfly-offload", 4),
    ("mayfly-engine", 5),
    ("mayfly-files", 6),
    ("mayfly-wire", 6),
    ("mayfly", 7),
    ("mayfly-cli", 7),
    ("mayfly-bench", 7),
    ("mayfly-python", 8),
];

/// Crates that only tests may use.
const OF_TESTS: [&str; 2] = ["mayfly-testkit", "mayfly-trials"];

/// Crates that a crate must not use although the floors would allow it, with the reason.
const FORBIDDEN: &[(&str, &[&str], &str)] = &[
    (
        "mayfly-plan",
        &["mayfly-storage"],
        "plans read tables only through their own `Catalog`",
    ),
    (
        "mayfly-storage",
        &["mayfly-functions"],
        "storage sees column ids and batches, no SQL",
    ),
    (
        "mayfly-cli",
        &[
            "mayfly-exec",
            "mayfly-legacy",
            "mayfly-plan",
            "mayfly-storage",
        ],
        "the engine is the API boundary",
    ),
    (
        "mayfly-exec",
        &["mayfly-legacy"],
        "operators know engines of internal temporary tables by their trait",
    ),
];

/// One line for each dependency that does not go down.
pub(crate) fn check(root: &Path) -> Result<Vec<String>, String> {
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--no-deps",
            "--offline",
            "--format-version",
            "1",
        ])
        .current_dir(root)
        .output()
        .map_err(|error| format!("cargo metadata: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let metadata: serde_json::Value =
        serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
    Ok(problems(&packages(&metadata)))
}

/// The non-dev dependencies of each package, by name.
fn packages(metadata: &serde_json::Value) -> BTreeMap<String, Vec<String>> {
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let list = |value: &serde_json::Value| value.as_array().cloned().unwrap_or_default();
    let mut packages = BTreeMap::new();
    for package in list(&metadata["packages"]) {
        let dependencies = list(&package["dependencies"]);
        let used = dependencies
            .iter()
            .filter(|dependency| dependency["kind"].as_str() != Some("dev"));
        packages.insert(
            text(&package["name"]),
            used.map(|used| text(&used["name"])).collect(),
        );
    }
    packages
}

fn problems(packages: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    let floor = |name: &str| {
        FLOORS
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, floor)| *floor)
    };
    let mut problems = Vec::new();
    for (name, used) in packages {
        let Some(own) = floor(name) else {
            if name.starts_with("mayfly-") && !OF_TESTS.contains(&name.as_str()) {
                problems.push(format!(
                    "{name} has no floor: add it to xtask/src/floors.rs"
                ));
            }
            continue;
        };
        for other in used {
            if let Some(theirs) = floor(other)
                && theirs >= own
            {
                problems.push(format!(
                    "{name} (floor {own}) uses {other} (floor {theirs})"
                ));
            }
            if OF_TESTS.contains(&other.as_str()) {
                problems.push(format!("{name} uses {other} outside of its tests"));
            }
            let is_forbidden = |(from, to, _): &&(&str, &[&str], &str)| {
                *from == name && to.contains(&other.as_str())
            };
            if let Some((.., why)) = FORBIDDEN.iter().find(is_forbidden) {
                problems.push(format!("{name} uses {other}: {why}"));
            }
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sideways_and_upward_dependencies_are_found() {
        let uses = |name: &str, used: &[&str]| {
            (
                name.to_owned(),
                used.iter().map(ToString::to_string).collect::<Vec<_>>(),
            )
        };
        let good = BTreeMap::from([uses("mayfly-exec", &["mayfly-plan", "arrow-array"])]);
        assert!(problems(&good).is_empty());
        let bad = BTreeMap::from([
            uses("mayfly-types", &["mayfly-memory"]),
            uses("mayfly-plan", &["mayfly-storage", "mayfly-engine"]),
            uses("mayfly-new", &[]),
        ]);
        assert_eq!(problems(&bad).len(), 4);
    }
}
