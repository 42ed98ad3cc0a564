//! `mayfly tune` on a few megabytes: the form of its output and files, complete cleanup, and refused options. No test
//! depends on times.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn tune(directory: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mayfly"));
    command.arg("tune").args(arguments).current_dir(directory);
    command.output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

const SIZES: [&str; 13] = [
    "8200", "16K", "32K", "64K", "128K", "256K", "512K", "1M", "2M", "4M", "8M", "16M", "32M",
];

#[test]
fn a_small_table_is_measured_in_every_form() {
    let directory = tempfile::tempdir().unwrap();
    let arguments = [
        "--directory",
        ".",
        "--size",
        "3M",
        "--rounds",
        "1",
        "--seconds",
        "600",
    ];
    let files = ["--svg", "t.svg", "--html", "t.html", "--json", "t.json"];
    let output = tune(directory.path(), &[&arguments[..], &files[..]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let printed = text(&output.stdout);
    let read = |name: &str| std::fs::read_to_string(directory.path().join(name)).unwrap();

    let json: Value = serde_json::from_str(&read("t.json")).unwrap();
    let cases = json["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 13);
    let measured: Vec<&Value> = cases
        .iter()
        .filter(|case| case.get("skipped").is_none())
        .collect();
    // Any file system can be read through the cache.
    let is_measured = |name: &str| measured.iter().any(|case| case["name"] == name);
    for name in [
        "cached",
        "cached-many",
        "cached-parts",
        "cached-fragmented",
        "kept-buffer",
        "fresh-buffer",
    ] {
        assert!(is_measured(name), "{name}: {json:#}");
    }
    for case in &measured {
        let sizes = case["sizes"].as_array().unwrap();
        assert_eq!(sizes.len(), SIZES.len());
        assert_eq!(
            (&sizes[0]["size"], &sizes[0]["bytes_at_a_time"]),
            (&8200.into(), &8192.into())
        );
        for size in sizes {
            assert_eq!(size["seconds"].as_array().unwrap().len(), 1);
            assert!(size["median_seconds"].as_f64().unwrap() > 0.0);
        }
        let chosen = sizes
            .iter()
            .find(|size| size["size"] == case["chosen"])
            .unwrap();
        assert_eq!(chosen["is_as_good_as_best"], true);
        let best = sizes
            .iter()
            .find(|size| size["size"] == case["best"])
            .unwrap();
        assert_eq!(best["excess"], 0.0);
    }
    // The article's 32M from disk took 56 % longer than its 128K.
    let disk = cases.iter().find(|case| case["name"] == "disk").unwrap();
    if disk.get("skipped").is_none() {
        assert!((disk["sizes"][12]["article_excess"].as_f64().unwrap() - 0.5628).abs() < 1e-4);
    }

    for case in cases {
        let name = case["name"].as_str().unwrap();
        assert!(printed.contains(&format!("[{name}]")), "{printed}");
    }
    for size in SIZES {
        // The axis of a chart may begin with a size, too.
        let is_row =
            |line: &&str| line.split_whitespace().next() == Some(size) && line.contains(" ms ");
        let lines = printed.lines().filter(is_row);
        assert_eq!(lines.count(), measured.len(), "{size}: {printed}");
    }
    let lines = json["advice"]["option_file"].as_str().unwrap();
    assert!(
        lines.starts_with("[mysqld]\nread_buffer_size = "),
        "{lines}"
    );
    assert!(
        printed.contains(&format!("For my.cnf:\n\n{lines}")),
        "{printed}"
    );
    assert!(printed.contains("article, cached, 2007"), "{printed}");

    let svg = read("t.svg");
    let picture = roxmltree::Document::parse(&svg).unwrap();
    let count = |tag: &str| {
        picture
            .descendants()
            .filter(|node| node.tag_name().name() == tag)
            .count()
    };
    // A line for each case, and the article's two where its cases were measured.
    let article = ["cached", "disk"]
        .iter()
        .filter(|name| is_measured(name))
        .count();
    assert_eq!(count("polyline"), measured.len() + article);
    let page = read("t.html");
    let page = roxmltree::Document::parse(page.split_once('\n').unwrap().1).unwrap();
    let tables = page.descendants().filter(|node| node.has_tag_name("tbody"));
    assert!(tables.clone().all(|table| {
        table
            .children()
            .filter(|row| row.has_tag_name("tr"))
            .count()
            == SIZES.len()
    }));
    assert_eq!(tables.count(), measured.len());
    let mut left: Vec<_> = std::fs::read_dir(directory.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    left.sort();
    assert_eq!(left, ["t.html", "t.json", "t.svg"]);
}

#[test]
fn a_file_of_the_users_is_scanned_and_stays_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("rows.MYD");
    let bytes: Vec<u8> = (0..500_000_u32).map(|number| (number * 7) as u8).collect();
    std::fs::write(&path, &bytes).unwrap();
    let output = tune(
        directory.path(),
        &[
            "rows.MYD",
            "--row-bytes",
            "100",
            "--cases",
            "cached,fresh-buffer",
            "--rounds",
            "2",
        ],
    );
    assert!(output.status.success(), "{}", text(&output.stderr));
    let printed = text(&output.stdout);
    assert!(
        printed.contains("rows.MYD: 5000 rows of 100 bytes"),
        "{printed}"
    );
    assert!(printed.contains("2 complete rounds"), "{printed}");
    assert_eq!(printed.matches("KiB a scan").count(), 2, "{printed}");
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
}

#[test]
fn what_cannot_be_done_is_said() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("short"), "ten bytes.").unwrap();
    for (arguments, error) in [
        (&["missing"][..], "missing: No such file"),
        (&["short"], "short: there is no row of 55 bytes"),
        (&["--directory", "nowhere"], "nowhere: no such directory"),
        (&["--size", "100K"], "too small"),
        (&["--size", "4096T"], "are free in"),
        (
            &["--cases", "cached,warm", "--size", "2M"],
            "there is no case `warm`; there are cached, disk",
        ),
    ] {
        let output = tune(directory.path(), arguments);
        assert!(!output.status.success(), "{arguments:?}");
        assert!(
            text(&output.stderr).contains(error),
            "{arguments:?}: {}",
            text(&output.stderr)
        );
    }
}
