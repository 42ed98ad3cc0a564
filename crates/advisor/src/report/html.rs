//! The report as one self-contained page: it includes styles and charts, for light and dark, screen and paper.

use std::fmt::Write as _;

use super::text::{cells, percentiles_text, tried_text};
use super::{GroupReport, Report, StatementReport, time_text};
use crate::comparison::Comparison;
use crate::finding::Change;
use crate::quantities::{runs, seconds, size};
use crate::sql_text::one_line;

const STYLE: &str = include_str!("page.css");
/// Greatest number of bars of a chart.
const BARS_MAX: usize = 12;

/// The report as HTML.
pub fn html(report: &Report) -> String {
    let mut page =
        String::from("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    page.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Temporary tables: findings</title>\n");
    let _ = write!(page, "<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n");
    head(&mut page, report);
    charts(&mut page, report);
    changes(&mut page, report);
    if let Some(comparison) = &report.comparison {
        of_comparison(&mut page, comparison);
    }
    for (title, groups) in [
        ("User", &report.groups.users),
        ("Host", &report.groups.hosts),
        ("Schema", &report.groups.schemas),
    ] {
        of_groups(&mut page, title, groups);
    }
    if report.statements.is_empty() {
        page.push_str("<p>No statement was found that makes a temporary table which a change would remove.</p>\n");
    } else {
        page.push_str("<h2>Statements</h2>\n");
    }
    for statement in &report.statements {
        of_statement(&mut page, statement);
    }
    if report.statements_left_out > 0 {
        let _ = writeln!(
            page,
            "<p>{} more statements have findings.</p>",
            report.statements_left_out
        );
    }
    if !report.notes.is_empty() {
        page.push_str("<h2>Notes</h2>\n<ul>\n");
        for note in &report.notes {
            let _ = writeln!(page, "<li>{}</li>", escaped(note));
        }
        page.push_str("</ul>\n");
    }
    page.push_str("</main>\n</body>\n</html>\n");
    page
}

fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            other => safe.push(other),
        }
    }
    safe
}

fn head(page: &mut String, report: &Report) {
    let totals = &report.totals;
    let assumed = if report.server.known {
        ""
    } else {
        " (assumed)"
    };
    let _ = writeln!(
        page,
        "<h1>Temporary tables: findings</h1>\n<p class=\"source\">{} · {}{assumed} · {} to {} UTC</p>",
        escaped(&report.sources.join(", ")),
        escaped(&report.server.name),
        time_text(totals.first),
        time_text(totals.last)
    );
    let mut tiles = vec![
        ("statements run".to_owned(), totals.runs.to_string()),
        ("in all".to_owned(), seconds(totals.seconds)),
        (
            "different statements".to_owned(),
            totals.digests.to_string(),
        ),
    ];
    if totals.counted {
        tiles.push((
            "temporary tables".to_owned(),
            totals.temporary_tables.to_string(),
        ));
        tiles.push(("on disk".to_owned(), totals.disk_tables.to_string()));
    }
    tiles.extend(
        totals
            .bytes
            .map(|bytes| ("of temporary tables".to_owned(), size(bytes))),
    );
    page.push_str("<dl class=\"tiles\">\n");
    for (name, value) in tiles {
        let _ = writeln!(
            page,
            "<div><dd>{}</dd><dt>{}</dt></div>",
            escaped(&value),
            escaped(&name)
        );
    }
    page.push_str("</dl>\n");
}

fn charts(page: &mut String, report: &Report) {
    if report.statements.is_empty() {
        return;
    }
    let time: Vec<(String, f64, String)> = report
        .statements
        .iter()
        .map(|one| (label(one), one.seconds, seconds(one.seconds)))
        .collect();
    chart(page, "Time of statements with findings", &time);
    let disk: Vec<(String, f64, String)> = report
        .statements
        .iter()
        .filter_map(|one| {
            Some((
                label(one),
                one.disk_tables.filter(|disk| *disk > 0)? as f64,
                one.disk_tables?.to_string(),
            ))
        })
        .collect();
    chart(page, "Temporary tables on disk", &disk);
    let mut causes: Vec<(String, f64, String)> = Vec::new();
    for statement in &report.statements {
        for finding in &statement.findings {
            let name = finding.cause.title().to_owned();
            match causes.iter_mut().find(|(known, ..)| *known == name) {
                Some((_, sum, _)) => *sum += statement.seconds,
                None => causes.push((name, statement.seconds, String::new())),
            }
        }
    }
    for cause in &mut causes {
        cause.2 = seconds(cause.1);
    }
    chart(page, "Time of the statements with each cause", &causes);
}

fn label(statement: &StatementReport) -> String {
    format!("#{} {}", statement.rank, one_line(&statement.example, 46))
}

/// Bars from left to right, the longest first.
fn chart(page: &mut String, title: &str, bars: &[(String, f64, String)]) {
    let mut bars = bars.to_vec();
    bars.retain(|(_, value, _)| *value > 0.0);
    bars.sort_by(|a, b| b.1.total_cmp(&a.1));
    bars.truncate(BARS_MAX);
    let Some(longest) = bars.first().map(|(_, value, _)| *value) else {
        return;
    };
    let height = 22 * bars.len() + 6;
    let _ = writeln!(
        page,
        "<figure>\n<figcaption>{title}</figcaption>\n<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 720 {height}\" role=\"img\" aria-label=\"{title}\">"
    );
    for (row, (name, value, shown)) in bars.iter().enumerate() {
        let y = 22 * row + 4;
        let width = (300.0 * value / longest).max(1.0);
        let _ = writeln!(
            page,
            "<text x=\"0\" y=\"{}\">{}</text><rect x=\"340\" y=\"{y}\" width=\"{width:.1}\" height=\"15\" rx=\"2\"/><text x=\"{:.1}\" y=\"{}\">{}</text>",
            y + 12,
            escaped(&one_line(name, 52)),
            346.0 + width,
            y + 12,
            escaped(shown)
        );
    }
    page.push_str("</svg>\n</figure>\n");
}

fn changes(page: &mut String, report: &Report) {
    if report.changes.is_empty() {
        return;
    }
    page.push_str("<h2>Changes, those that help most first</h2>\n<table>\n<thead><tr><th scope=\"col\">Change</th><th scope=\"col\">Helps</th><th scope=\"col\">Time</th><th scope=\"col\">Disk tables</th></tr></thead>\n<tbody>\n");
    for change in &report.changes {
        let links: Vec<String> = change
            .statements
            .iter()
            .map(|rank| format!("<a href=\"#s{rank}\">#{rank}</a>"))
            .collect();
        let _ = writeln!(
            page,
            "<tr><td><pre>{}</pre></td><td>{}</td><td>{}</td><td>{}</td></tr>",
            escaped(&change.change.sql),
            links.join(" "),
            seconds(change.seconds),
            change.disk_tables
        );
    }
    page.push_str("</tbody>\n</table>\n");
}

/// A table with titles above its columns.
fn table(page: &mut String, titles: &[&str], lines: impl Iterator<Item = Vec<String>>) {
    let label = titles.first().filter(|title| !title.is_empty());
    let label = label.copied().unwrap_or("Comparison");
    let _ = write!(
        page,
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{label}\">\n<table>\n<thead><tr>"
    );
    for title in titles {
        let _ = write!(page, "<th scope=\"col\">{title}</th>");
    }
    page.push_str("</tr></thead>\n<tbody>\n");
    for line in lines {
        page.push_str("<tr>");
        for cell in line {
            let _ = write!(page, "<td>{}</td>", escaped(&cell));
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</tbody>\n</table>\n</div>\n");
}

fn of_groups(page: &mut String, title: &str, groups: &[GroupReport]) {
    if groups.is_empty() {
        return;
    }
    let _ = writeln!(page, "<h2>By {}</h2>", title.to_lowercase());
    let time = |value: Option<f64>| value.map_or_else(|| "?".to_owned(), seconds);
    let titles = [
        title,
        "Runs",
        "Time",
        "Share",
        "Half within",
        "95 % within",
        "99 % within",
        "Temporary tables",
        "On disk",
    ];
    let lines = groups.iter().map(|group| {
        vec![
            group.name.clone(),
            group.runs.to_string(),
            seconds(group.seconds),
            format!("{:.0} %", 100.0 * group.seconds_share),
            time(group.percentiles.and_then(|one| one.median)),
            time(group.percentiles.map(|one| one.p95)),
            time(group.percentiles.map(|one| one.p99)),
            group.temporary_tables.to_string(),
            group.disk_tables.to_string(),
        ]
    });
    table(page, &titles, lines);
}

fn of_comparison(page: &mut String, comparison: &Comparison) {
    let _ = writeln!(
        page,
        "<h2>Compared with {}</h2>",
        escaped(&comparison.sources.join(", "))
    );
    let titles = [
        "",
        "Runs",
        "Time",
        "A run",
        "95 % within",
        "On disk",
        "Statement",
    ];
    let all = cells(&Some(comparison.before), &Some(comparison.after));
    let all = [vec!["all".to_owned()], all, vec![String::new()]].concat();
    let lines = comparison.statements.iter().map(|one| {
        let name = vec![one.verdict.name().to_owned()];
        let statement = vec![one_line(&one.example, 200)];
        [name, cells(&one.before, &one.after), statement].concat()
    });
    table(page, &titles, std::iter::once(all).chain(lines));
    if comparison.statements_left_out > 0 {
        let _ = writeln!(
            page,
            "<p>{} more statements.</p>",
            comparison.statements_left_out
        );
    }
}

fn of_statement(page: &mut String, statement: &StatementReport) {
    let _ = writeln!(
        page,
        "<section id=\"s{}\">\n<h3>#{} <span>{}</span></h3>",
        statement.rank,
        statement.rank,
        runs(statement.runs)
    );
    let _ = writeln!(page, "<pre>{}</pre>", escaped(&statement.example));
    let mut facts = vec![
        (
            "time",
            format!(
                "{} ({:.0} %), longest {}",
                seconds(statement.seconds),
                100.0 * statement.seconds_share,
                seconds(statement.seconds_max)
            ),
        ),
        (
            "rows",
            format!(
                "{} sent, {} read",
                statement.rows_sent, statement.rows_examined
            ),
        ),
    ];
    if let Some(percentiles) = statement
        .percentiles
        .as_ref()
        .filter(|_| statement.runs > 1)
    {
        facts.push(("of a run", percentiles_text(percentiles)));
    }
    if let (Some(tables), Some(disk)) = (statement.temporary_tables, statement.disk_tables) {
        facts.push(("temporary tables", format!("{tables}, {disk} on disk")));
    }
    facts.extend(statement.bytes.map(|bytes| ("bytes", size(bytes))));
    facts.extend(
        statement
            .database
            .clone()
            .map(|database| ("database", database)),
    );
    facts.push(("accounts", statement.accounts.join(", ")));
    facts.push(("digest", statement.digest.clone()));
    page.push_str("<dl class=\"facts\">\n");
    for (name, value) in facts.iter().filter(|(_, value)| !value.is_empty()) {
        let _ = writeln!(page, "<dt>{name}</dt><dd>{}</dd>", escaped(value));
    }
    page.push_str("</dl>\n");
    for finding in &statement.findings {
        let _ = writeln!(
            page,
            "<article class=\"{0}\">\n<h4><span class=\"sure\">{0}</span> {1}</h4>\n<p>{2}</p>\n<p class=\"because\">{3}.{4}</p>",
            finding.confidence.name(),
            escaped(finding.cause.title()),
            escaped(&finding.evidence),
            escaped(&finding.because),
            if finding.gain.is_empty() {
                String::new()
            } else {
                format!(" Expected: {}.", escaped(&finding.gain))
            }
        );
        if !finding.changes.is_empty() {
            page.push_str("<ol>\n");
            for change in &finding.changes {
                of_change(page, change);
            }
            page.push_str("</ol>\n");
        }
        page.push_str("</article>\n");
    }
    page.push_str("</section>\n");
}

fn of_change(page: &mut String, change: &Change) {
    let _ = write!(page, "<li>{}", escaped(&change.does));
    if !change.sql.is_empty() {
        let _ = write!(page, "<pre>{}</pre>", escaped(&change.sql));
    }
    if let Some(tried) = &change.tried {
        let _ = write!(page, "<p>Tried {}.</p>", escaped(&tried_text(tried)));
    }
    if let Some(check) = &change.check {
        let _ = write!(
            page,
            "<p>Ask first; it must give 1:</p><pre>{}</pre>",
            escaped(check)
        );
    }
    if !change.risk.is_empty() {
        let _ = write!(
            page,
            "<p class=\"risk\">Risk: {}</p>",
            escaped(&change.risk)
        );
    }
    page.push_str("</li>\n");
}
