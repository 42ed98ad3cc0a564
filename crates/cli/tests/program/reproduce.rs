//! `mayfly reproduce --quick`: every article's tables are in every form of the report, all results are equal, and no
//! file is left. No test depends on times.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn reproduce(directory: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mayfly"));
    command.arg("reproduce").args(arguments);
    command.args(["--tmpdir", "."]).current_dir(directory);
    command.output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Title of each article, and a line of each of its tables with a published figure.
const ARTICLES: [(&str, &[&str]); 5] = [
    (
        "How much overhead is caused by on disk temporary tables",
        &["gt: MEMORY", "545 s", "gtest: TempTable"],
    ),
    (
        "Back on disk temporary tables",
        &[
            "varchar(513), derived_merge=off",
            "9.43 ×",
            "removing tmp table",
        ],
    ),
    (
        "InnoDB Temporary Tables just got faster",
        &["create and drop tables", "about 11 ×"],
    ),
    (
        "MySQL 8.0: Support for BLOBs in TempTable engine",
        &[
            "DISTINCT, unique values",
            "+59.7 %",
            "JSON_SQL_DISTINCT_RANGE, 64 clients",
            "+791.2 %",
        ],
    ),
    (
        "MySQL: what read_buffer_size value is optimal?",
        &["8200", "4.58 s", "67.2 s"],
    ),
];

#[test]
fn every_article_is_run_quickly_and_all_results_are_equal() {
    let directory = tempfile::tempdir().unwrap();
    let arguments = [
        "--quick", "--rows", "2000", "--html", "r.html", "--json", "r.json",
    ];
    let output = reproduce(directory.path(), &arguments);
    let printed = text(&output.stdout);
    assert!(
        output.status.success(),
        "{printed}\n{}",
        text(&output.stderr)
    );
    assert!(printed.contains("All results were equal."), "{printed}");
    let read = |name: &str| std::fs::read_to_string(directory.path().join(name)).unwrap();
    let page = read("r.html");
    roxmltree::Document::parse(page.trim_start_matches("<!DOCTYPE html>")).unwrap();
    for (title, lines) in ARTICLES {
        assert!(printed.contains(title) && page.contains(title), "{title}");
        for line in lines {
            assert!(printed.contains(line), "{line}: {printed}");
            assert!(page.contains(line), "{line} in the page");
        }
    }

    let json: Value = serde_json::from_str(&read("r.json")).unwrap();
    assert_eq!(json["all_equal"], true);
    let articles = json["articles"].as_array().unwrap();
    let tables = |article: &Value| article["tables"].as_array().unwrap().len();
    assert_eq!(
        articles.iter().map(tables).collect::<Vec<_>>(),
        [2, 3, 1, 2, 2]
    );
    assert_eq!(page.matches("<svg").count(), 8);
    for article in articles {
        for check in article["checks"].as_array().unwrap() {
            assert_eq!(check["equal"], true, "{check}");
            assert!(check["of"].as_array().unwrap().len() > 1, "{check}");
        }
        assert_eq!(article["failures"], Value::Array(Vec::new()));
    }
    // The data directory of article 2 and the file of article 4 are gone.
    let left = std::fs::read_dir(directory.path()).unwrap();
    let mut left: Vec<String> = left
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    assert_eq!(left, ["r.html", "r.json"]);
}

#[test]
fn articles_are_picked_and_what_cannot_be_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let output = reproduce(directory.path(), &["--quick", "--article", "1"]);
    let printed = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(
        printed.contains("Article 1:") && !printed.contains("Article 0:"),
        "{printed}"
    );
    // The article's two lengths of a VARCHAR are on either side of MySQL's limit, here in engines that keep it.
    for line in [
        "varchar(513), derived_merge=off",
        "varchar(512), derived_merge=off",
    ] {
        let counts = printed
            .lines()
            .find(|it| it.contains(line) && it.contains(" of "))
            .unwrap();
        // MyISAM, InnoDB, and TempTable, which has no such limit.
        let on_disk = if line.contains("513") { 2 } else { 0 };
        assert_eq!(counts.matches("1 of 1").count(), on_disk, "{counts}");
    }
    for (arguments, error) in [
        (&["--datadir", "d"][..], "leave --datadir out"),
        (&["--server", "mysql://"], "is no server"),
        (&["--article", "7"], "0..=4"),
    ] {
        let output = reproduce(directory.path(), arguments);
        assert!(!output.status.success());
        assert!(
            text(&output.stderr).contains(error),
            "{}",
            text(&output.stderr)
        );
    }
}
