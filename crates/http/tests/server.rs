//! The server over sockets: admission, the answer of each path, and slow and numerous clients.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use mayfly_http::{Limits, Options, Server, Session, Source, Token};
use serde_json::{Value, json};

mod fake;

use fake::{Fake, digest};

const TOKEN: &str = "a-token-for-tests-only";

struct Page {
    server: Server,
    fake: Arc<Fake>,
}

impl Page {
    fn of(fake: Fake, change: impl FnOnce(&mut Options)) -> Self {
        let fake = Arc::new(fake);
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let mut options = Options::new(address, Some(Token::new(TOKEN).expect("a token")));
        change(&mut options);
        let source = Arc::clone(&fake) as Arc<dyn Source>;
        let server = Server::start(source, options).expect("a server");
        Self { server, fake }
    }

    fn new() -> Self {
        Self::of(Fake::default(), |_| {})
    }

    fn connect(&self) -> TcpStream {
        let socket = TcpStream::connect(self.server.address()).expect("a connection");
        socket
            .set_read_timeout(Some(Duration::from_secs(30)))
            .expect("a limit");
        socket
    }

    /// Sends bytes and reads to the end.
    fn raw(&self, text: &str) -> (u16, String, String) {
        let mut socket = self.connect();
        socket.write_all(text.as_bytes()).expect("sent");
        let mut answer = String::new();
        socket.read_to_string(&mut answer).expect("an answer");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
        let code = head.split(' ').nth(1).and_then(|code| code.parse().ok());
        (code.expect("a status"), head.to_owned(), body.to_owned())
    }

    fn send(&self, first: &str, more: &str, body: &str) -> (u16, Value) {
        let (code, _, answer) = self.raw(&format!(
            "{first} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: {}\r\n{more}\r\n{body}",
            self.server.address(), body.len()
        ));
        (
            code,
            serde_json::from_str(&answer).unwrap_or(Value::String(answer)),
        )
    }

    fn get(&self, path: &str) -> Value {
        let (code, body) = self.send(&format!("GET {path}"), &bearer(), "");
        assert_eq!(code, 200, "{path}: {body}");
        body
    }

    fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        let headers = format!("Content-Type: application/json\r\n{}", bearer());
        self.send(&format!("POST {path}"), &headers, &body.to_string())
    }

    /// Statements of users, without those of the page itself.
    fn asked(&self) -> Vec<String> {
        let ran = self.fake.ran.lock().expect("no panic");
        let asked = ran.iter().filter(|(session, _)| *session == Session::Asked);
        asked.map(|(_, sql)| sql.clone()).collect()
    }
}

fn bearer() -> String {
    format!("Authorization: Bearer {TOKEN}\r\n")
}

#[test]
fn without_the_token_there_are_only_the_pages_own_files() {
    let page = Page::new();
    let (code, head, body) = page.raw("GET / HTTP/1.0\r\nHost: localhost\r\n\r\n");
    assert_eq!(code, 200);
    assert!(body.starts_with("<!doctype html>"));
    for header in [
        "Content-Security-Policy: default-src 'none'; script-src 'self';",
        "frame-ancestors 'none'",
        "X-Content-Type-Options: nosniff",
        "Cache-Control: no-store",
    ] {
        assert!(head.contains(header), "{header} in {head}");
    }
    for path in [
        "/api/overview",
        "/api/history",
        "/api/statements",
        "/api/settings",
        "/api/findings",
        "/metrics",
        "/nothing",
    ] {
        for token in ["", "Authorization: Bearer a-token-for-tests-onlY\r\n"] {
            let (code, body) = page.send(&format!("GET {path}"), token, "");
            assert_eq!(code, 401, "{path}");
            assert!(
                body.to_string().contains("the token is missing or wrong"),
                "{body}"
            );
        }
    }
    let json = "Content-Type: application/json\r\n";
    let kill = json!({"what": "connection", "id": 12}).to_string();
    assert_eq!(page.send("POST /api/kill", json, &kill).0, 401);
    assert_eq!(page.asked(), [""; 0]);
    assert_eq!(page.send("GET /nothing", &bearer(), "").0, 404);
    assert_eq!(
        page.send("POST /api/overview", &format!("{json}{}", bearer()), "")
            .0,
        404
    );
}

#[test]
fn another_sites_page_is_refused_even_with_the_token() {
    let page = Page::of(Fake::default(), |options| {
        options.names = vec!["db.example".to_owned()]
    });
    let kill = json!({"what": "connection", "id": 12}).to_string();
    let post = |host: &str, more: &str| {
        let (code, ..) = page.raw(&format!(
            "POST /api/kill HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{}Content-Length: {}\r\n{more}\r\n{kill}",
            bearer(), kill.len()
        ));
        code
    };
    let json = "Content-Type: application/json\r\n";
    assert_eq!(post("evil.example", json), 403);
    assert_eq!(
        post(
            "localhost",
            &format!("{json}Origin: http://evil.example\r\n")
        ),
        403
    );
    assert_eq!(
        post(
            "localhost",
            &format!("{json}Sec-Fetch-Site: cross-site\r\n")
        ),
        403
    );
    // Content that an HTML form can send to another site.
    assert_eq!(post("localhost", "Content-Type: text/plain\r\n"), 415);
    assert_eq!(post("localhost", ""), 415);
    assert_eq!(page.asked(), [""; 0]);
    assert_eq!(
        post(
            "db.example:80",
            &format!("{json}Origin: http://db.example:80\r\n")
        ),
        200
    );
    assert_eq!(page.asked(), ["KILL 12"]);
}

#[test]
fn the_overview_has_what_is_now_without_the_page_itself() {
    let page = Page::new();
    let overview = page.get("/api/overview");
    let ids: Vec<_> = overview["tables"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|it| it["id"].clone())
        .collect();
    assert_eq!(ids, [101, 102, 103, 104, 105, 106]);
    assert_eq!(overview["tables"][0]["session"], 12);
    assert_eq!(overview["tables"][0]["digest"], digest("9f2c41d7a0"));
    assert_eq!(overview["tables"][5]["name"], "shop.basket");
    assert_eq!(overview["tables"][5]["statement"], Value::Null);
    // The statement with its literals, and the limit of its own session.
    let statement = overview["tables"][0]["statement"].as_str().expect("a text");
    assert!(statement.ends_with("LIMIT 100"), "{statement}");
    assert_eq!(overview["tables"][0]["memory_limit"], 32 << 20);
    assert_eq!(overview["tables"][0]["disk_limit"], Value::Null);
    let sessions = overview["sessions"].as_array().expect("a list");
    assert!(sessions.iter().all(|it| it["id"] != fake::WATCHER));
    assert_eq!(sessions[0]["database"], "shop");
    assert_eq!(overview["limits"]["tmp_table_size"], 16 << 20);
    assert_eq!(
        overview["limits"]["max_tmp_session_space_usage"],
        Value::Null,
        "0 is no limit"
    );
    assert_eq!(
        overview["limits"]["tmp_disk_table_size"],
        Value::Null,
        "the largest number is no limit"
    );
    assert_eq!(overview["server"]["account"], "root@localhost");
    assert_eq!(overview["cluster"][2]["name"], "executor-3");
    assert_eq!(overview["cluster"][2]["memory_limit"], 1 << 30);
    assert_eq!(overview["notes"], json!([]));
}

#[test]
fn databases_are_listed() {
    let page = Page::new();
    let answer = page.get("/api/databases");
    assert_eq!(answer["databases"], json!(["shop", "stock"]));
}

#[test]
fn the_history_grows() {
    let page = Page::new();
    let samples = || {
        page.get("/api/history?seconds=60&points=60")["at"]
            .as_array()
            .map_or(0, Vec::len)
    };
    for _ in 0..1000 {
        if samples() >= 2 {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let history = page.get("/api/history?seconds=60&points=60");
    let count = history["at"].as_array().expect("a list").len();
    assert!(count >= 2, "{history}");
    for (name, values) in history["series"].as_object().expect("an object") {
        assert_eq!(values.as_array().map(Vec::len), Some(count), "{name}");
    }
    // The page's own table of 104857 bytes is not counted.
    assert!(history["series"]["memory"][0].as_f64().expect("bytes") > 0.0);
    assert_eq!(history["series"]["tables"][0], 6.0);
    assert_eq!(
        history["series"]["statements"][0],
        Value::Null,
        "a rate needs two"
    );
}

#[test]
fn statements_come_in_the_order_that_is_asked_for() {
    let page = Page::new();
    let first = |order: &str| {
        let answer = page.get(&format!("/api/statements?order={order}"));
        (
            answer["order"].clone(),
            answer["statements"][0]["digest"].clone(),
        )
    };
    assert_eq!(
        first("seconds"),
        (json!("seconds"), json!(digest("9f2c41d7a0")))
    );
    assert_eq!(
        first("executions"),
        (json!("executions"), json!(digest("e83b2a6f14")))
    );
    assert_eq!(
        first("disk_tables"),
        (json!("disk_tables"), json!(digest("9f2c41d7a0")))
    );
    assert_eq!(
        first("1;DROP"),
        (json!("seconds"), json!(digest("9f2c41d7a0")))
    );
    let one = page.get(&format!("/api/statement?digest={}", digest("c60a7752ee")));
    assert_eq!(one["statement"]["seconds"], 601.0);
    assert_eq!(one["statement"]["executions"], 9120);
    assert!(
        one["statement"]["sample"]
            .as_str()
            .is_some_and(|it| it.starts_with("SELECT DISTINCT"))
    );
    let (code, _) = page.send("GET /api/statement?digest=00", &bearer(), "");
    assert_eq!(code, 404);
    for bad in ["", "?digest=", "?digest='--", "?digest=0%27"] {
        assert_eq!(
            page.send(&format!("GET /api/statement{bad}"), &bearer(), "")
                .0,
            400,
            "{bad}"
        );
    }
}

#[test]
fn what_the_server_lacks_is_left_out_with_a_note() {
    let mut fake = Fake::default();
    fake.lacks = vec![
        "SUM_TMP_DISK_BYTES_WRITTEN",
        "performance_schema.processlist",
        "advisor",
    ];
    let page = Page::of(fake, |_| {});
    let answer = page.get("/api/statements?order=spilled_bytes");
    assert_eq!(answer["order"], "seconds");
    assert_eq!(answer["statements"].as_array().map(Vec::len), Some(8));
    assert!(
        answer["notes"][0]
            .as_str()
            .is_some_and(|it| it.contains("SUM_TMP_DISK_BYTES_WRITTEN"))
    );
    let overview = page.get("/api/overview");
    assert_eq!(overview["sessions"], json!([]));
    assert_eq!(overview["tables"].as_array().map(Vec::len), Some(6));
    assert!(
        overview["notes"][0]
            .as_str()
            .is_some_and(|it| it.contains("processlist"))
    );
    assert_eq!(page.get("/api/findings"), json!({ "report": null }));

    let mut fake = Fake::default();
    fake.lacks = vec!["performance_schema.", "information_schema."];
    let page = Page::of(fake, |options| options.metrics_digests = 3);
    let answer = page.get("/api/statements");
    assert_eq!(
        (
            answer["statements"].clone(),
            answer["notes"].as_array().map(Vec::len)
        ),
        (json!([]), Some(1))
    );
    assert_eq!(
        page.get("/api/settings")["notes"].as_array().map(Vec::len),
        Some(2)
    );
    let metrics = page.get("/metrics");
    for relation in [
        "global_status",
        "temp_tables",
        "global_variables",
        "memory_summary",
        "statements_summary",
    ] {
        let line = format!("mayfly_relation_readable{{relation=\"{relation}\"}} 0\n");
        assert!(
            metrics.as_str().is_some_and(|text| text.contains(&line)),
            "{line}"
        );
    }
}

#[test]
fn settings_have_their_meaning() {
    let page = Page::new();
    let settings = page.get("/api/settings");
    let memory = &settings["groups"][0];
    assert_eq!(memory["title"], "Memory");
    assert_eq!(memory["settings"][0]["name"], "tmp_table_size");
    assert_eq!(memory["settings"][0]["value"], "16777216");
    assert_eq!(memory["settings"][0]["unit"], "bytes");
    assert!(
        memory["settings"][0]["meaning"]
            .as_str()
            .is_some_and(|it| it.starts_with("The most memory"))
    );
    // 0, and the greatest value.
    for name in ["max_tmp_statement_memory_usage", "connection_memory_limit"] {
        let settings = memory["settings"].as_array().expect("a list");
        let none = settings.iter().find(|it| it["name"] == name);
        assert_eq!(none.expect("the setting")["unit"], "none", "{name}");
    }
}

#[test]
fn a_plan_is_asked_for_in_one_session() {
    let page = Page::new();
    let (code, answer) = page.post(
        "/api/explain",
        &json!({"sql": " SELECT 1 ;\n", "database": "a`b"}),
    );
    assert_eq!(
        (code, &answer["plan"]["json_schema_version"]),
        (200, &json!("2.0"))
    );
    let before = "SET SESSION explain_json_format_version = 2";
    assert_eq!(
        page.asked(),
        [before, "USE `a``b`", "EXPLAIN FORMAT=JSON SELECT 1"]
    );
    let page = Page::new();
    let (code, answer) = page.post("/api/explain", &json!({"sql": "SELECT 1", "analyze": true}));
    assert_eq!(
        (code, &answer["plan"]["query_plan"]["actual_rows"]),
        (200, &json!(310_000.0))
    );
    let limits = [
        "SET SESSION max_execution_time = 60000",
        "START TRANSACTION READ ONLY",
    ];
    assert_eq!(
        page.asked(),
        [
            before,
            limits[0],
            limits[1],
            "EXPLAIN ANALYZE FORMAT=JSON SELECT 1"
        ]
    );
    let (code, answer) = page.post("/api/explain", &json!({"sql": "SELEC 1"}));
    assert_eq!((code, &answer["error"]["code"]), (422, &json!(1064)));
    for bad in [
        json!({}),
        json!({"sql": "  ; "}),
        json!({"sql": 1}),
        json!([]),
    ] {
        assert_eq!(page.post("/api/explain", &bad).0, 400, "{bad}");
    }
}

#[test]
fn each_kill_is_its_statement() {
    let page = Page::new();
    for (what, statement) in [
        ("statement", "KILL QUERY 12"),
        ("connection", "KILL 12"),
        ("temporary_table", "KILL TEMPORARY TABLE 12"),
    ] {
        let (code, answer) = page.post("/api/kill", &json!({"what": what, "id": 12}));
        assert_eq!((code, answer), (200, json!({"done": statement})));
    }
    assert_eq!(
        page.asked(),
        ["KILL QUERY 12", "KILL 12", "KILL TEMPORARY TABLE 12"]
    );
    let (code, answer) = page.post("/api/kill", &json!({"what": "statement", "id": 999}));
    assert_eq!((code, &answer["error"]["code"]), (422, &json!(1094)));
    for bad in [
        json!({"what": "all", "id": 1}),
        json!({"what": "statement", "id": "1; DROP"}),
        json!({"what": "statement", "id": -1}),
        json!(7),
    ] {
        assert_eq!(page.post("/api/kill", &bad).0, 400, "{bad}");
    }
    assert_eq!(page.asked().len(), 4);
}

#[test]
fn slow_clients_are_given_up() {
    let limits = Limits {
        connections: 2,
        request_time: Duration::from_millis(100),
        idle_time: Duration::from_millis(400),
        ..Limits::default()
    };
    let page = Page::of(Fake::default(), |options| options.limits = limits);
    // Half a request.
    let (code, ..) = page.raw("GET / HTTP/1.1\r\nHost: loc");
    assert_eq!(code, 408);
    let (code, ..) = page.raw(&format!(
        "POST /api/kill HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{}Content-Length: 10\r\n\r\n123",
        bearer()
    ));
    assert_eq!(code, 408);
    // Nothing at all: the connection ends without an answer.
    let mut text = String::new();
    page.connect().read_to_string(&mut text).expect("the end");
    assert_eq!(text, "");
}

#[test]
fn who_has_shown_the_token_is_not_shut_out_by_those_who_have_not() {
    let limits = Limits {
        connections: 2,
        request_time: Duration::from_secs(600),
        ..Limits::default()
    };
    let page = Page::of(Fake::default(), |options| options.limits = limits);
    let keep = format!(
        "GET /api/settings HTTP/1.1\r\nHost: localhost\r\n{}\r\n",
        bearer()
    );
    let ask = |socket: &mut TcpStream| {
        socket.write_all(keep.as_bytes()).expect("sent");
        let mut begin = [0; 13];
        socket.read_exact(&mut begin).expect("an answer");
        assert_eq!(&begin, b"HTTP/1.1 200 ");
    };
    // Two silent ones hold all places: the older is closed, and then the other one.
    let mut silent = [page.connect(), page.connect()];
    let mut trusted = [page.connect(), page.connect()];
    trusted.iter_mut().for_each(ask);
    for socket in &mut silent {
        let mut rest = Vec::new();
        socket.read_to_end(&mut rest).expect("the end");
        assert_eq!(rest, b"");
    }
    // No connection can be closed for a new one.
    let mut answer = String::new();
    let _ = page.connect().read_to_string(&mut answer);
    assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
    drop(trusted);
    // They close, and others connect.
    let mut codes = (0..1000).map(|_| {
        std::thread::sleep(Duration::from_millis(5));
        let mut socket = page.connect();
        let mut answer = String::new();
        let _ = socket.write_all(b"GET / HTTP/1.0\r\nHost: localhost\r\n\r\n");
        let _ = socket.read_to_string(&mut answer);
        answer.starts_with("HTTP/1.1 200 ")
    });
    assert!(codes.any(|is_served| is_served));
}

#[test]
fn the_token_is_asked_for_before_a_body_is_read() {
    let page = Page::new();
    for path in ["POST /api/explain", "GET /"] {
        // The missing body is not waited for.
        let (code, head, _) = page.raw(&format!(
            "{path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n"
        ));
        assert_eq!(code, 401, "{path}");
        assert!(head.contains("Connection: close"), "{path}: {head}");
    }
    assert!(page.asked().is_empty());
}

#[test]
fn a_stop_ends_connections_and_listening() {
    let mut page = Page::new();
    let mut idle = page.connect();
    assert!(page.server.stop(Duration::from_secs(30)));
    let mut text = String::new();
    let _ = idle.read_to_string(&mut text);
    assert_eq!(text, "");
    assert!(TcpStream::connect(page.server.address()).is_err());
    assert_eq!(
        Arc::strong_count(&page.fake),
        1,
        "no thread holds the source"
    );
}

/// The metric families of a Prometheus text, after a check of the rules of its format: one HELP and TYPE before a
/// family's samples, families contiguous, no sample twice, counters declared as such.
fn families(text: &str) -> Vec<String> {
    assert!(text.ends_with('\n'));
    let (mut families, mut seen) = (Vec::<String>::new(), std::collections::HashSet::new());
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let help = line
            .strip_prefix("# HELP ")
            .unwrap_or_else(|| panic!("{line}"));
        let (name, help) = help.split_once(' ').expect("a text");
        assert!(help.ends_with('.') && help.len() > 8, "{line}");
        assert!(
            name.starts_with("mayfly_")
                && name
                    .bytes()
                    .all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'_'),
            "{name}"
        );
        assert!(!families.contains(&name.to_owned()), "{name} twice");
        let kind = lines
            .next()
            .and_then(|line| line.strip_prefix(&format!("# TYPE {name} ")))
            .expect("a type");
        assert_eq!(kind == "counter", name.ends_with("_total"), "{name} {kind}");
        while let Some(sample) = lines.next_if(|line| !line.starts_with('#')) {
            let (series, value) = sample.rsplit_once(' ').expect("a value");
            let end = series.find('{').unwrap_or(series.len());
            assert_eq!(&series[..end], name);
            assert!(end == series.len() || series.ends_with("\"}"), "{series}");
            assert!(
                value.parse::<f64>().expect("a number").is_finite(),
                "{sample}"
            );
            assert!(seen.insert(series.to_owned()), "{series} twice");
        }
        families.push(name.to_owned());
    }
    families
}

#[test]
fn metrics_are_what_prometheus_reads() {
    let page = Page::of(Fake::default(), |options| options.metrics_digests = 3);
    let text = page.get("/metrics");
    let text = text.as_str().expect("no JSON");
    let names = families(text);
    for line in [
        "mayfly_build_info{version=\"8.4.0-mayfly\"} 1\n",
        "mayfly_temporary_tables{purpose=\"GROUP BY\",engine=\"TempTable\"} 2\n",
        "mayfly_temporary_tables{purpose=\"user\",engine=\"TempTable\"} 1\n",
        "mayfly_limit_bytes{limit=\"tmp_table_size\"} 16777216\n",
        "mayfly_commands_total{command=\"insert_select\"} 96\n",
        "mayfly_temptable_peak_bytes{place=\"physical_ram\"} 268435456\n",
        "mayfly_hit_tmp_table_size_total 640\n",
        "mayfly_relation_readable{relation=\"statements_summary\"} 1\n",
    ] {
        assert!(text.contains(line), "{line} in {text}");
    }
    assert!(
        !text.contains("purpose=\"information_schema\""),
        "the page's own table"
    );
    assert!(
        !text.contains("limit=\"tmp_disk_table_size\""),
        "no limit is set"
    );
    assert_eq!(text.matches("mayfly_digest_seconds_total{").count(), 3);
    assert!(names.contains(&"mayfly_digest_spilled_bytes_total".to_owned()));
    let page = Page::new();
    assert!(
        !page.get("/metrics").to_string().contains("digest"),
        "only where it is asked for"
    );
}

#[test]
fn the_dashboard_and_the_documentation_use_metrics_that_exist() {
    let page = Page::of(Fake::default(), |options| options.metrics_digests = 3);
    let metrics = page.get("/metrics");
    let names = families(metrics.as_str().expect("no JSON"));
    let words = |text: &str| -> Vec<String> {
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let words = text
            .split(|letter| !is_part(letter))
            .filter(|word| word.starts_with("mayfly_"));
        words.map(str::to_owned).collect()
    };
    let dashboard = include_str!("../../../contrib/grafana/mayfly.json");
    let parsed: Value = serde_json::from_str(dashboard).expect("JSON");
    let panels = parsed["panels"].as_array().expect("panels");
    let expressions: Vec<&str> = panels
        .iter()
        .flat_map(|panel| panel["targets"].as_array().into_iter().flatten())
        .filter_map(|target| target["expr"].as_str())
        .collect();
    assert!(expressions.len() >= 12);
    for expression in &expressions {
        let used = words(expression);
        assert!(!used.is_empty(), "{expression}");
        for name in used {
            assert!(
                names.contains(&name),
                "{expression}: no metric is called {name}"
            );
        }
        for rate in ["rate(", "increase("] {
            for part in expression.split(rate).skip(1) {
                let name = words(part).into_iter().next().expect("a metric");
                assert!(
                    name.ends_with("_total"),
                    "{expression}: the rate of a gauge"
                );
            }
        }
    }
    let documented = words(include_str!("../../../docs/live-page.md"));
    for name in &names {
        assert!(
            documented.contains(name),
            "docs/live-page.md says nothing of {name}"
        );
    }
    for name in documented {
        assert!(
            names.contains(&name),
            "docs/live-page.md: no metric is called {name}"
        );
    }
}
