//! EXPLAIN FORMAT=TREE: a line for each step, as in MySQL. The line of a step that creates a temporary table has a
//! description of it in brackets.

use std::fmt::Write;

use super::facts::TableFacts;
use super::measured::Actual;
use super::number::number;
use super::outline::{Estimate, Step, outline};
use super::subject::Subject;

/// The plan as a tree of lines, each with its operation, cost and rows.
pub fn tree(subject: &Subject<'_>) -> String {
    let mut text = String::new();
    write_step(&mut text, &outline(subject), 0);
    text
}

// Writing to a string cannot fail.
fn write_step(text: &mut String, step: &Step, depth: usize) {
    let mut depth = depth;
    if let Some(heading) = &step.heading {
        let _ = write!(
            text,
            "{:indent$}-> {}",
            "",
            heading.text,
            indent = depth * 4
        );
        write_table(text, heading.table.as_ref());
        depth += 1;
    }
    let _ = write!(text, "{:indent$}-> {}", "", step.text, indent = depth * 4);
    if let Some(estimate) = step.estimate {
        let _ = write!(text, "  ({})", estimate_text(estimate));
    }
    if let Some(actual) = step.actual {
        let gap = if step.estimate.is_some() { "" } else { " " };
        let _ = write!(text, "{gap} ({})", actual_text(actual));
    }
    if let Some(times) = step.underestimated() {
        let times = number(times.round());
        let _ = write!(text, " [{times} times as many rows as estimated]");
    }
    write_table(text, step.table.as_ref());
    crate::tree::logical::with_stack(|| {
        for input in &step.inputs {
            write_step(text, input, depth + 1);
        }
        // Subqueries are beside the statement's first step, and below those of tables.
        let below = if depth == 0 { 0 } else { depth + 1 };
        for subquery in &step.of_select_list {
            write_step(text, subquery, below);
        }
    });
}

fn write_table(text: &mut String, table: Option<&TableFacts>) {
    if let Some(table) = table {
        let _ = write!(text, " [{}]", table.text());
    }
    text.push('\n');
}

/// Text of an estimate: `cost=1.25..8.5 rows=10`.
fn estimate_text(estimate: Estimate) -> String {
    let Estimate { cost, first, rows } = estimate;
    let first = first.map_or_else(String::new, |first| format!("{}..", number(first)));
    format!("cost={first}{} rows={}", number(cost), number(rows))
}

/// Text of measurements per loop: `actual time=0.04..0.12 rows=1000 loops=1`.
fn actual_text(actual: Actual) -> String {
    if actual.loops == 0 {
        return "never executed".to_owned();
    }
    let (first, last) = actual.times_of_loop();
    format!(
        "actual time={}..{} rows={} loops={}",
        number(first),
        number(last),
        number(actual.rows_of_loop()),
        actual.loops
    )
}
