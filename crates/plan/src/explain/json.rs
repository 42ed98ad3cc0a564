//! EXPLAIN FORMAT=JSON: the tree's steps as nested objects.

use std::fmt::Write;

use super::outline::{Step, outline};
use super::tree::number;
use super::{Fact, Subject};

/// The plan as a JSON document.
pub fn json(subject: &Subject<'_>) -> String {
    let steps = outline(subject);
    let cost = steps
        .first()
        .and_then(|step| step.estimate)
        .map_or(0.0, |(cost, _)| cost);
    let mut text = String::from("{\n  \"query_block\": {\n    \"select_id\": 1,\n");
    // Writing to a string does not fail.
    let _ = write!(
        text,
        "    \"cost_info\": {{\n      \"query_cost\": \"{cost:.2}\"\n    }},\n    \"steps\": "
    );
    write_steps(&mut text, &steps, 4);
    text.push_str("\n  }\n}");
    text
}

fn write_steps(text: &mut String, steps: &[Step], indent: usize) {
    text.push('[');
    for (index, step) in steps.iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        let _ = write!(text, "\n{:indent$}", "", indent = indent + 2);
        crate::tree::logical::with_stack(|| write_step(text, step, indent + 2));
    }
    let _ = write!(text, "\n{:indent$}]", "");
}

fn write_step(text: &mut String, step: &Step, indent: usize) {
    let inner = indent + 2;
    let _ = write!(text, "{{\n{:inner$}\"operation\": ", "");
    write_string(text, &step.text);
    if let Some((cost, rows)) = step.estimate {
        let _ = write!(
            text,
            ",\n{:inner$}\"estimated_total_cost\": {}",
            "",
            number(cost)
        );
        let _ = write!(text, ",\n{:inner$}\"estimated_rows\": {}", "", number(rows));
    }
    if let Some(cause) = &step.cause {
        let _ = write!(text, ",\n{:inner$}\"temporary_table_cause\": ", "");
        write_string(text, cause);
    }
    for (name, fact) in &step.facts {
        let _ = write!(text, ",\n{:inner$}\"{name}\": ", "");
        match fact {
            Fact::Text(value) => write_string(text, value),
            Fact::Flag(value) => text.push_str(if *value { "true" } else { "false" }),
            Fact::List(values) => {
                text.push('[');
                for (index, value) in values.iter().enumerate() {
                    if index > 0 {
                        text.push_str(", ");
                    }
                    write_string(text, value);
                }
                text.push(']');
            }
        }
    }
    if !step.inputs.is_empty() {
        let _ = write!(text, ",\n{:inner$}\"inputs\": ", "");
        write_steps(text, &step.inputs, inner);
    }
    let _ = write!(text, "\n{:indent$}}}", "");
}

fn write_string(text: &mut String, value: &str) {
    text.push('"');
    for character in value.chars() {
        match character {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            control if u32::from(control) < 0x20 => {
                let _ = write!(text, "\\u{:04x}", u32::from(control));
            }
            other => text.push(other),
        }
    }
    text.push('"');
}
