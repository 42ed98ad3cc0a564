//! The forms of a report.

use super::{Nobody, Report, html, json, text};
use crate::{Event, Input, Schema, Server, SlowLog, Workload};

fn report() -> Report {
    let mut schema = Schema::new();
    schema.read_dump(
        "CREATE TABLE t (id int PRIMARY KEY, a varchar(30), b text)",
        "shop",
    );
    let server = Server::of_version("10.11.19-MariaDB", true);
    let mut workload = Workload::new();
    for seconds in [1.0, 2.5] {
        workload.add(Event {
            text: "SELECT b, '<script>&' FROM t GROUP BY b".to_owned(),
            database: Some("shop".to_owned()),
            query_time: seconds,
            time: Some(1_795_660_331_000_000),
            tables: Some(1),
            disk_tables: Some(1),
            bytes: Some(8192),
            ..Event::default()
        });
    }
    workload.add(Event {
        text: "SELECT 1".to_owned(),
        query_time: 0.5,
        tables: Some(0),
        ..Event::default()
    });
    let input = Input {
        workload: &workload,
        schema: &schema,
        server: &server,
    };
    Report::new(&input, vec!["slow.log".to_owned()], 20, &mut Nobody)
}

#[test]
fn text_fits_its_width_and_keeps_statements_whole() {
    let report = report();
    let text = text(&report, 80);
    assert!(
        text.contains("[certain] BLOB, TEXT or JSON in a temporary table (blob_column)"),
        "{text}"
    );
    assert!(
        text.contains("\n            ALTER TABLE `shop`.`t` MODIFY `b` varchar(512);\n"),
        "{text}"
    );
    for line in text.lines().filter(|line| {
        !line.starts_with("            ")
            && !line.starts_with("    CREATE")
            && !line.starts_with("    ALTER")
    }) {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

#[test]
fn json_has_its_members() {
    let value: serde_json::Value = serde_json::from_str(&json(&report())).expect("it is JSON");
    assert_eq!(value["format"], 1);
    assert_eq!(value["totals"]["disk_tables"], 2);
    assert_eq!(value["server"]["family"], "mariadb");
    let statement = &value["statements"][0];
    assert_eq!(
        (&statement["rank"], &statement["runs"]),
        (&1.into(), &2.into())
    );
    let causes: Vec<&str> = statement["findings"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|finding| finding["cause"].as_str())
        .collect();
    assert_eq!(causes, ["group_by_without_index", "blob_column"]);
    assert_eq!(statement["findings"][1]["confidence"], "certain");
    assert_eq!(value["changes"][0]["kind"], "alter");
    assert_eq!(value["changes"][0]["statements"][0], 1);
}

#[test]
fn html_stands_alone_and_escapes() {
    let page = html(&report());
    assert!(page.starts_with("<!doctype html>"));
    assert!(page.contains("&lt;script&gt;&amp;"));
    for word in ["<script", "http://", "https://", "@import", "src="] {
        let without_namespace = page.replace("http://www.w3.org/2000/svg", "");
        assert!(!without_namespace.contains(word), "{word}");
    }
    assert!(page.contains("prefers-color-scheme"));
    assert!(page.contains("<svg"));
}

#[test]
fn nothing_gives_an_empty_report() {
    let (workload, schema, server) = (Workload::new(), Schema::new(), Server::default());
    let mut log = SlowLog::new(&b""[..]).expect("memory can be read");
    assert!(log.next_event().expect("memory can be read").is_none());
    let input = Input {
        workload: &workload,
        schema: &schema,
        server: &server,
    };
    let report = Report::new(&input, Vec::new(), 20, &mut Nobody);
    assert!(text(&report, 80).contains("No statement was found"));
    assert!(html(&report).contains("</html>"));
}
