//! The report for a terminal, in lines of a given width.

use super::{Report, StatementReport, time_text};
use crate::finding::{Change, ChangeKind};
use crate::quantities::{counted, runs, seconds, size};
use crate::sql_text::one_line;

/// The report as text. Lines are as wide as `width` says, but statements to copy are never broken.
pub fn text(report: &Report, width: usize) -> String {
    let mut page = Page {
        text: String::new(),
        width: width.clamp(40, 160),
    };
    head(&mut page, report);
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

    /// Words in lines, each behind an indent. What follows the first colon of a label stands under it.
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

    /// A statement as it is to be run.
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

fn of_change(page: &mut Page, change: &Change, number: usize) {
    let label = if number == 0 { "change" } else { "or" };
    page.paragraph("    ", &format!("{label}: {}", change.does));
    if change.kind != ChangeKind::Advice || !change.sql.is_empty() {
        page.statement("            ", &change.sql);
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
