//! The report for a terminal, in lines of a given width.

use super::{GroupReport, Report, StatementReport, time_text};
use crate::comparison::{Comparison, Side};
use crate::distribution::Percentiles;
use crate::finding::{Change, ChangeKind, Tried};
use crate::quantities::{counted, runs, seconds, size};
use crate::sql_text::one_line;

/// The report as text. Lines have at most `width` characters, except statements to copy, which are never broken.
pub fn text(report: &Report, width: usize) -> String {
    let mut page = Page {
        text: String::new(),
        width: width.clamp(40, 160),
    };
    head(&mut page, report);
    for (title, groups) in [
        ("user", &report.groups.users),
        ("host", &report.groups.hosts),
        ("schema", &report.groups.schemas),
    ] {
        of_groups(&mut page, title, groups);
    }
    if let Some(comparison) = &report.comparison {
        of_comparison(&mut page, comparison);
    }
    for statement in &report.statements {
        of_statement(&mut page, statement);
    }
    if report.statements.is_empty() {
        page.line(
            "No statement was found that makes a temporary table which a change would remove.",
        );
    }
    if report.statements_left_out > 0 {
        page.blank();
        page.line(&format!(
            "{} more statements have findings (--limit).",
            report.statements_left_out
        ));
    }
    if !report.changes.is_empty() {
        page.blank();
        page.line("Changes, those that help most first:");
        for change in &report.changes {
            let ranks: Vec<String> = change
                .statements
                .iter()
                .map(|rank| format!("#{rank}"))
                .collect();
            let disk = if change.disk_tables > 0 {
                format!(", {}", counted(change.disk_tables, "disk table"))
            } else {
                String::new()
            };
            page.paragraph(
                "  ",
                &format!(
                    "helps {} ({}{disk})",
                    ranks.join(", "),
                    seconds(change.seconds)
                ),
            );
            page.statement("    ", &change.change.sql);
        }
    }
    if !report.notes.is_empty() {
        page.blank();
        for note in &report.notes {
            page.paragraph("", &format!("Note: {note}"));
        }
    }
    page.text
}

struct Page {
    text: String,
    width: usize,
}

impl Page {
    fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    fn blank(&mut self) {
        self.text.push('\n');
    }

    /// Appends words in lines, each behind an indent. Text behind the first colon of a label is aligned below it.
    fn paragraph(&mut self, indent: &str, words: &str) {
        const LABEL: usize = 8;
        let (label, words) = match words.split_once(": ") {
            Some((label, rest)) if label.len() < LABEL && !label.contains(' ') => (label, rest),
            _ => ("", words),
        };
        let hanging = if label.is_empty() { 0 } else { LABEL };
        let mut line = if label.is_empty() {
            indent.to_owned()
        } else {
            format!("{indent}{:<LABEL$}", format!("{label}:"))
        };
        let mut is_empty = true;
        for word in words.split_whitespace() {
            let length = line.chars().count() + 1 + word.chars().count();
            if !is_empty && length > self.width {
                self.line(&line);
                line = format!("{indent}{}", " ".repeat(hanging));
                is_empty = true;
            }
            if !is_empty {
                line.push(' ');
            }
            line.push_str(word);
            is_empty = false;
        }
        self.line(&line);
    }

    /// Appends a table: the first line has the titles; the first and the last column are left-aligned. Each line is
    /// followed by one of `below`, unless that is empty.
    fn table(&mut self, lines: &[Vec<String>], below: impl IntoIterator<Item = String>) {
        let mut below = below.into_iter();
        let columns = lines.first().map_or(0, Vec::len);
        let width = |column: usize| {
            let widths = lines
                .iter()
                .filter_map(|line| line.get(column))
                .map(|cell| cell.chars().count());
            widths.max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for line in lines {
            let mut text = String::from(" ");
            for (column, cell) in line.iter().enumerate() {
                let blanks = " ".repeat(widths[column].saturating_sub(cell.chars().count()));
                text.push(' ');
                if column == 0 || column + 1 == columns {
                    text.push_str(cell);
                    text.push_str(&blanks);
                } else {
                    text.push_str(&blanks);
                    text.push_str(cell);
                }
                text.push(' ');
            }
            let cut: String = text.chars().take(self.width).collect();
            self.line(&cut);
            if let Some(text) = below.next().filter(|text| !text.is_empty()) {
                self.line(&format!("          {text}"));
            }
        }
    }

    /// Appends a statement to be copied.
    fn statement(&mut self, indent: &str, sql: &str) {
        let mut lines = sql.lines().peekable();
        while let Some(line) = lines.next() {
            let end = if lines.peek().is_none() && !line.trim_end().ends_with(';') {
                ";"
            } else {
                ""
            };
            self.line(&format!("{indent}{line}{end}"));
        }
    }
}

fn head(page: &mut Page, report: &Report) {
    let totals = &report.totals;
    page.paragraph("", &format!("Read {}.", report.sources.join(", ")));
    page.paragraph(
        "",
        &format!(
            "{} of {} statements, {}, {} to {} (UTC)",
            runs(totals.runs),
            totals.digests,
            seconds(totals.seconds),
            time_text(totals.first),
            time_text(totals.last)
        ),
    );
    let known = if report.server.known {
        ""
    } else {
        " (assumed)"
    };
    page.paragraph(
        "",
        &format!(
            "{}{known}; {} tables and {} views of the schema are known",
            report.server.name, totals.schema_tables, totals.schema_views
        ),
    );
    if let Some(percentiles) = &totals.percentiles {
        page.paragraph("", &format!("of a run: {}", percentiles_text(percentiles)));
    }
    if totals.counted {
        let bytes = totals
            .bytes
            .map(|bytes| format!(", {}", size(bytes)))
            .unwrap_or_default();
        let share = if totals.temporary_tables > 0 {
            format!(
                " ({:.0} %)",
                100.0 * totals.disk_tables as f64 / totals.temporary_tables as f64
            )
        } else {
            String::new()
        };
        page.paragraph(
            "",
            &format!(
                "{} temporary tables, {} on disk{share}{bytes}",
                totals.temporary_tables, totals.disk_tables
            ),
        );
    }
}

/// `half within 2.0 ms, 95 % within 0.5 s, 99 % within 1.2 s`
pub(super) fn percentiles_text(percentiles: &Percentiles) -> String {
    let median = percentiles
        .median
        .map(|median| format!("half within {}, ", seconds(median)))
        .unwrap_or_default();
    format!(
        "{median}95 % within {}, 99 % within {}",
        seconds(percentiles.p95),
        seconds(percentiles.p99)
    )
}

/// Appends the lines of users, hosts or schemas.
fn of_groups(page: &mut Page, title: &str, groups: &[GroupReport]) {
    const SHOWN: usize = 5;
    if groups.is_empty() {
        return;
    }
    let time = |value: Option<f64>| value.map_or_else(|| "?".to_owned(), seconds);
    let head = [
        title, "runs", "time", "share", "half", "95 %", "99 %", "tables", "on disk",
    ];
    let mut lines = vec![head.map(str::to_owned).to_vec()];
    lines.extend(groups.iter().take(SHOWN).map(|group| {
        vec![
            one_line(&group.name, 24),
            group.runs.to_string(),
            seconds(group.seconds),
            format!("{:.0} %", 100.0 * group.seconds_share),
            time(group.percentiles.and_then(|one| one.median)),
            time(group.percentiles.map(|one| one.p95)),
            time(group.percentiles.map(|one| one.p99)),
            group.temporary_tables.to_string(),
            group.disk_tables.to_string(),
        ]
    }));
    page.blank();
    page.table(&lines, []);
    if groups.len() > SHOWN {
        page.line(&format!("  {} more", groups.len() - SHOWN));
    }
}

/// Appends the comparison with an earlier workload.
fn of_comparison(page: &mut Page, comparison: &Comparison) {
    page.blank();
    page.paragraph(
        "",
        &format!("Compared with {}:", comparison.sources.join(", ")),
    );
    let head = ["", "runs", "time", "a run", "95 %", "on disk"];
    let mut lines = vec![head.map(str::to_owned).to_vec()];
    let all = cells(&Some(comparison.before), &Some(comparison.after));
    lines.push([vec!["all".to_owned()], all].concat());
    for one in &comparison.statements {
        let name = vec![one.verdict.name().to_owned()];
        lines.push([name, cells(&one.before, &one.after)].concat());
    }
    // Each statement is printed below its numbers.
    let room = page.width.saturating_sub(10);
    let statements = comparison.statements.iter();
    let statements = statements.map(|one| one_line(&one.example, room));
    page.table(
        &lines,
        [String::new(), String::new()].into_iter().chain(statements),
    );
    if comparison.statements_left_out > 0 {
        page.line(&format!(
            "  {} more (--limit)",
            comparison.statements_left_out
        ));
    }
}

/// Cells of runs, time, time of a run, percentile and disk tables: before and after.
pub(super) fn cells(before: &Option<Side>, after: &Option<Side>) -> Vec<String> {
    let pair = |value: &dyn Fn(&Side) -> Option<String>| {
        let side = |side: &Option<Side>| side.as_ref().and_then(value);
        match (side(before), side(after)) {
            (None, None) => "?".to_owned(),
            (before, after) => format!(
                "{} → {}",
                before.unwrap_or_else(|| "–".to_owned()),
                after.unwrap_or_else(|| "–".to_owned())
            ),
        }
    };
    vec![
        pair(&|side| Some(side.runs.to_string())),
        pair(&|side| Some(seconds(side.seconds))),
        pair(&|side| Some(seconds(side.average()))),
        pair(&|side| side.p95.map(seconds)),
        pair(&|side| side.disk_tables.map(|tables| tables.to_string())),
    ]
}

fn of_statement(page: &mut Page, statement: &StatementReport) {
    page.blank();
    let room = page.width.saturating_sub(5);
    page.line(&format!(
        "#{:<3} {}",
        statement.rank,
        one_line(&statement.example, room)
    ));
    let mut facts = vec![format!(
        "{}, {} ({:.0} % of all), longest {}",
        runs(statement.runs),
        seconds(statement.seconds),
        100.0 * statement.seconds_share,
        seconds(statement.seconds_max)
    )];
    if let Some(percentiles) = statement
        .percentiles
        .as_ref()
        .filter(|_| statement.runs > 1)
    {
        facts.push(percentiles_text(percentiles));
    }
    if let (Some(tables), Some(disk)) = (statement.temporary_tables, statement.disk_tables) {
        facts.push(format!(
            "{}, {disk} on disk",
            counted(tables, "temporary table")
        ));
    }
    facts.extend(statement.bytes.filter(|bytes| *bytes > 0).map(size));
    facts.extend(
        statement
            .sort_merge_passes
            .filter(|passes| *passes > 0)
            .map(|passes| counted(passes, "round") + " of merging"),
    );
    facts.push(format!(
        "digest {}",
        statement.digest.get(..16).unwrap_or(&statement.digest)
    ));
    page.paragraph("     ", &facts.join("; "));
    for finding in &statement.findings {
        page.blank();
        page.paragraph(
            "  ",
            &format!(
                "[{}] {} ({})",
                finding.confidence.name(),
                finding.cause.title(),
                finding.cause.name()
            ),
        );
        page.paragraph("    ", &format!("why: {}", finding.evidence));
        page.paragraph("    ", &format!("sure: {}", finding.because));
        if !finding.gain.is_empty() {
            page.paragraph("    ", &format!("gain: {}", finding.gain));
        }
        for (number, change) in finding.changes.iter().enumerate() {
            of_change(page, change, number);
        }
    }
}

/// `on a copy of 60000 rows: 1.3 s → 0.2 s, temporary tables 1 → 0, on disk 1 → 0`
pub(super) fn tried_text(tried: &Tried) -> String {
    let (before, after) = (&tried.before, &tried.after);
    let of = if tried.whole { "" } else { "the first " };
    let mut text = format!(
        "on a copy of {of}{}: {} → {}, temporary tables {} → {}, on disk {} → {}",
        counted(tried.rows, "row"),
        seconds(before.seconds),
        seconds(after.seconds),
        before.temporary_tables,
        after.temporary_tables,
        before.disk_tables,
        after.disk_tables
    );
    if before.sort_merge_passes + after.sort_merge_passes > 0 {
        text.push_str(&format!(
            ", rounds of merging {} → {}",
            before.sort_merge_passes, after.sort_merge_passes
        ));
    }
    if before.full_joins + after.full_joins > 0 {
        text.push_str(&format!(
            ", joins without an index {} → {}",
            before.full_joins, after.full_joins
        ));
    }
    text
}

fn of_change(page: &mut Page, change: &Change, number: usize) {
    let (label, does) = match change.does.strip_prefix("not ") {
        // A change that was tried and did not help.
        Some(rest) => ("not", rest),
        None if number == 0 => ("change", change.does.as_str()),
        None => ("or", change.does.as_str()),
    };
    page.paragraph("    ", &format!("{label}: {does}"));
    if change.kind != ChangeKind::Advice || !change.sql.is_empty() {
        page.statement("            ", &change.sql);
    }
    if let Some(tried) = &change.tried {
        page.paragraph("    ", &format!("tried: {}", tried_text(tried)));
    }
    if let Some(check) = &change.check {
        page.paragraph("    ", "check: this must give 1");
        page.statement("            ", check);
    }
    if !change.risk.is_empty() {
        page.paragraph("    ", &format!("risk: {}", change.risk));
    }
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&text(self, 100))
    }
}
