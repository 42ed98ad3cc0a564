//! Traces of statements over the catalog of the tests.

use super::{Trace, TraceFeatures, TraceLayout};
use crate::testing::{FakeCatalog, parsed};
use crate::{Catalog, PlanOptions};

const ALL: TraceFeatures = TraceFeatures {
    greedy_search: true,
    range_optimizer: true,
};

const ONE_LINE: TraceLayout = TraceLayout {
    one_line: true,
    end_markers: false,
};

fn traced_with(sql: &str, features: TraceFeatures, options: &PlanOptions) -> String {
    let limits = vec![("tmp_table_size".to_owned(), 1 << 20)];
    let catalog = FakeCatalog::traced(Trace::new(features, limits));
    let trace = catalog.trace().expect("the catalog traces");
    crate::bind_query(&parsed(sql), &catalog, options).expect("the test's SQL is planned");
    trace.text(ONE_LINE)
}

fn traced(sql: &str) -> String {
    traced_with(sql, ALL, &PlanOptions::default())
}

fn assert_has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part} is not in {text}");
    }
}

#[test]
fn a_statement_is_prepared_then_optimized() {
    let text = traced("SELECT a FROM w WHERE id = 5");
    let start = r#"{"steps": [{"join_preparation": {"select#": 1,"steps": [{"expanded_query": "#;
    assert!(text.starts_with(start), "{text}");
    assert_has(
        &text,
        &[r#"{"join_optimization": {"select#": 1,"steps": ["#],
    );
    assert!(!text.contains("join_execution"), "it has not run: {text}");
}

#[test]
fn each_index_is_compared_with_the_table() {
    let text = traced("SELECT g FROM w WHERE id = 5 AND e < 7");
    assert_has(
        &text,
        &[
            r#"{"index": "PRIMARY","usable": true,"key_parts": ["id"]}"#,
            r#"{"index": "ka","usable": false,"cause": "not_applicable"}"#,
            r#"{"index": "PRIMARY","ranges": ["(id = 5)"],"index_only": true,"rows": 1,"#,
            r#""chosen": false,"cause": "cost""#,
            r#""range_access_plan": {"type": "range_scan","index": "PRIMARY""#,
        ],
    );
}

#[test]
fn parts_are_left_out_that_features_leave_out() {
    let features = TraceFeatures {
        greedy_search: false,
        range_optimizer: false,
    };
    let options = PlanOptions::default();
    let text = traced_with("SELECT g FROM w WHERE id = 5", features, &options);
    assert_has(
        &text,
        &[
            r#""range_analysis": "...""#,
            r#"{"considered_execution_plans": "..."}"#,
        ],
    );
}

#[test]
fn orders_of_joins_are_compared_input_by_input() {
    let text = traced("SELECT 1 FROM v JOIN w ON w.id = v.a JOIN u ON u.a = v.a");
    assert_has(
        &text,
        &[
            r#""considered_execution_plans": [{"plan_prefix": [],"table": "#,
            r#"{"plan_prefix": ["`v`"],"table": "`w`""#,
            // By the equality that follows from both.
            r#"{"plan_prefix": ["`v`"],"table": "`w`,`u`""#,
            r#"{"search": "all trees without cross products","pairs_compared": 6}"#,
            r#""access_type": "eq_ref","index": "PRIMARY""#,
        ],
    );
}

#[test]
fn subqueries_and_derived_tables_say_what_became_of_them() {
    let text = traced("SELECT a FROM t WHERE a IN (SELECT c FROM u)");
    let semijoin = r#"{"transformation": {"select#": 2,"from": "IN (SELECT)","to": "semijoin","chosen": true}}"#;
    assert_has(&text, &[semijoin]);
    let mut options = PlanOptions::default();
    options.switches.semijoin = false;
    let text = traced_with(
        "SELECT a FROM t WHERE a IN (SELECT c FROM u)",
        ALL,
        &options,
    );
    assert_has(
        &text,
        &[r#""chosen": false,"cause": "optimizer_switch semijoin=off""#],
    );
    let text = traced("SELECT d.a FROM (SELECT a FROM t) d");
    assert_has(
        &text,
        &[r#"{"derived": {"table": "`d`","select#": 2,"merged": true}}"#],
    );
    let text = traced("SELECT d.a FROM (SELECT DISTINCT a FROM t) d");
    assert_has(
        &text,
        &[r#"{"derived": {"table": "`d`","select#": 2,"merged": false,"#],
    );
}

#[test]
fn orders_and_temporary_tables_say_why() {
    let text = traced("SELECT a, COUNT(*) FROM t GROUP BY a ORDER BY 2");
    assert_has(
        &text,
        &[
            r#""reconsidering_access_paths_for_index_ordering": {"clause": "GROUP BY""#,
            r#""clause": "ORDER BY""#,
            r#""adding_tmp_table": {"purpose": "GROUP BY","cause": "GROUP BY has no index to follow","#,
            r#""limit": {"name": "tmp_table_size","bytes": 1048576}"#,
        ],
    );
    let text = traced("SELECT id FROM w ORDER BY id");
    assert_has(
        &text,
        &[
            r#""index_provides_order": true,"order_direction": "asc","index": "PRIMARY","plan_changed": true"#,
        ],
    );
}

#[test]
fn what_cannot_be_planned_leaves_nothing() {
    let catalog = FakeCatalog::traced(Trace::new(ALL, Vec::new()));
    let planned = crate::bind_query(
        &parsed("SELECT nosuch FROM t"),
        &catalog,
        &PlanOptions::default(),
    );
    assert!(planned.is_err());
    let trace = catalog.trace().expect("the catalog traces");
    assert_eq!(trace.text(ONE_LINE), r#"{"steps": []}"#);
}

#[test]
fn a_trace_changes_no_plan() {
    for sql in [
        "SELECT g FROM w WHERE id = 5 AND e < 7",
        "SELECT 1 FROM v JOIN w ON w.id = v.a JOIN u ON u.a = v.a",
        "SELECT a, COUNT(*) FROM t GROUP BY a ORDER BY 2 LIMIT 3",
        "SELECT a FROM t LEFT JOIN u USING (a) WHERE a IN (SELECT c FROM u)",
        "WITH c AS (SELECT a FROM t) SELECT * FROM c UNION SELECT c FROM u",
    ] {
        let options = PlanOptions::default();
        let plan = |catalog: &FakeCatalog| {
            let plan = crate::bind_query(&parsed(sql), catalog, &options);
            let plan = plan.expect("the test's SQL is planned");
            let tree = crate::explain::tree(&crate::explain::Subject::from(&plan));
            // The size of temporary tables is estimated more closely when asked for.
            let steps = tree
                .lines()
                .map(|line| line.split(" [").next().map(str::to_owned));
            steps.collect::<Vec<_>>()
        };
        let quiet = plan(&FakeCatalog::new());
        let traced = plan(&FakeCatalog::traced(Trace::new(ALL, Vec::new())));
        assert_eq!(quiet, traced, "{sql}");
    }
}
