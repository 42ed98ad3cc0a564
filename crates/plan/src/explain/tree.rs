//! EXPLAIN FORMAT=TREE: a line for each step, as MySQL writes it. Behind the line of a step that makes a
//! temporary table, what is known of that table stands in brackets.

use std::fmt::Write;

use super::Subject;
use super::facts::TableFacts;
use super::measured::Actual;
use super::outline::{Estimate, Step, outline};

/// The plan as a tree of lines, each with its operation, cost and rows.
pub fn tree(subject: &Subject<'_>) -> String {
    let mut text = String::new();
    write_step(&mut text, &outline(subject), 0);
    text
}

// Writing to a string does not fail.
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
    write_table(text, step.table.as_ref());
    crate::tree::logical::with_stack(|| {
        for input in &step.inputs {
            write_step(text, input, depth + 1);
        }
        // Beside the statement's first step, and below those of tables.
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

/// `cost=1.25..8.5 rows=10`
fn estimate_text(estimate: Estimate) -> String {
    let Estimate { cost, first, rows } = estimate;
    let first = first.map_or_else(String::new, |first| format!("{}..", number(first)));
    format!("cost={first}{} rows={}", number(cost), number(rows))
}

/// `actual time=0.04..0.12 rows=1000 loops=1`: of each loop.
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

/// A number as MySQL writes it in trees: three significant digits, more of whole ones below a million; outside
/// of 0.001 to 999999.5 with an exponent that three divides.
pub(super) fn number(value: f64) -> String {
    const SMALLEST: f64 = 1e-12;
    if !value.is_finite() {
        return "(infinite)".to_owned();
    }
    let size = value.abs();
    if size < SMALLEST {
        "0".to_owned()
    } else if (0.001..999_999.5).contains(&size) {
        rounded(value)
    } else {
        let mut exponent = (size.log10() / 3.0).floor() as i32 * 3;
        let mut mantissa = value / 10_f64.powi(exponent);
        if mantissa.abs() >= 999.5 {
            mantissa /= 1000.0;
            exponent += 3;
        }
        format!("{}e{exponent:+}", rounded(mantissa))
    }
}

/// Three significant digits, or all of a whole number's, without zeros at the end of a fraction.
fn rounded(value: f64) -> String {
    let digits_before = value.abs().log10().floor() as i32 + 1;
    let decimals = usize::try_from(3 - digits_before).unwrap_or(0);
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_have_three_digits_as_those_of_mysql() {
        let cases = [
            (0.0, "0"),
            (1.0, "1"),
            (2.3, "2.3"),
            (0.012_110_489, "0.0121"),
            (0.255, "0.255"),
            (16.7, "16.7"),
            (101.75, "102"),
            (1050.0, "1050"),
            (100_103.11, "100103"),
            (999_999.4, "999999"),
            (1e6, "1e+6"),
            (1_234_567.0, "1.23e+6"),
            (999_500_000.0, "1e+9"),
            (40e-6, "40e-6"),
            (894e-6, "894e-6"),
            (1e-13, "0"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value), text, "{value}");
        }
    }
}
