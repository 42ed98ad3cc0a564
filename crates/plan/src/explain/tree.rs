//! EXPLAIN FORMAT=TREE

use std::fmt::Write;

use super::Subject;
use super::outline::{Step, outline};

/// The plan as a tree of lines, each with its operation, cost and rows.
pub fn tree(subject: &Subject<'_>) -> String {
    let mut text = String::new();
    for step in outline(subject) {
        write_step(&mut text, &step, 0);
    }
    text
}

fn write_step(text: &mut String, step: &Step, depth: usize) {
    // Writing to a string does not fail.
    let _ = write!(text, "{:indent$}-> {}", "", step.text, indent = depth * 4);
    if let Some((cost, rows)) = step.estimate {
        let _ = write!(text, "  (cost={} rows={})", number(cost), number(rows));
    }
    if let Some(cause) = &step.cause {
        let _ = write!(text, " [{cause}]");
    }
    text.push('\n');
    crate::tree::logical::with_stack(|| {
        for input in &step.inputs {
            write_step(text, input, depth + 1);
        }
    });
}

/// Three significant digits; whole numbers whole.
pub(super) fn number(value: f64) -> String {
    if value >= 100.0 || value == value.trunc() {
        return format!("{value:.0}");
    }
    let digits = if value >= 10.0 {
        1
    } else if value >= 1.0 {
        2
    } else {
        3
    };
    let text = format!("{value:.digits$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
