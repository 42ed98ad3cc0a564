//! Article 0: a grouping of mostly unique text, in MEMORY and on disk.

use std::time::Instant;

use mayfly_charts::{Axis, BarChart, BarGroup, Scale, Unit};
use serde_json::json;

use super::client::{Client, Rows, Trouble};
use super::published::{ARTICLES, grouping as published};
use super::report::{Chart, Table, Told, ratio, ratio_cell, time_cell};
use super::subject::Subject;
use super::timing::{self, Outcome};
use crate::numbers;
use crate::row_sum::RowSum;
use crate::what_if::settings::{Case, Engine};

/// Rows of the article's smaller table; the other one has four times as many.
const ARTICLE_ROWS: u64 = 1_000_000;

/// A line of the tables.
struct Line {
    title: String,
    table: &'static str,
    case: Case,
    published: Option<f64>,
    /// Whether it differs from the line before only in a global setting.
    is_global: bool,
}

/// The lines: the article's, followed by newer engines. Limits are in proportion to the rows.
fn lines(rows: u64) -> Vec<Line> {
    let scaled = |bytes: u64| ((bytes * rows / ARTICLE_ROWS) >> 10 << 10).max(64 << 10);
    let size = |bytes: u64| Unit::Bytes.write(bytes as f64);
    let limit = scaled(16 << 20);
    let line = |title: String, table, case, published| Line {
        title,
        table,
        case,
        published,
        is_global: false,
    };
    let memory = || Case {
        engine: Engine::Legacy("MYISAM"),
        ..Case::unlimited()
    };
    let on_disk = |disk, key_buffer| Case {
        engine: Engine::Legacy(disk),
        limit,
        key_buffer,
        ..Case::unlimited()
    };
    let limited = || Case {
        limit,
        ..Case::unlimited()
    };
    let mut lines = Vec::new();
    for (table, buffers, seconds) in [
        (
            "gt",
            &[
                (128 << 20, published::MYISAM_LARGE_KEY_BUFFER),
                (8 << 20, published::MYISAM),
            ][..],
            published::MEMORY,
        ),
        (
            "gtest",
            &[(256 << 20, published::MYISAM_4M)][..],
            published::MEMORY_4M,
        ),
    ] {
        lines.push(line(
            format!("{table}: MEMORY"),
            table,
            memory(),
            Some(seconds),
        ));
        for (index, (buffer, seconds)) in buffers.iter().enumerate() {
            let buffer = scaled(*buffer);
            let title = format!(
                "{table}: MEMORY {}, then MyISAM, key buffer {}",
                size(limit),
                size(buffer)
            );
            lines.push(Line {
                is_global: index > 0,
                ..line(title, table, on_disk("MYISAM", buffer), Some(*seconds))
            });
        }
        if table == "gt" {
            let title = format!("{table}: MEMORY {}, then InnoDB", size(limit));
            lines.push(line(title, table, on_disk("INNODB", 8 << 20), None));
        }
        lines.push(line(
            format!("{table}: TempTable"),
            table,
            Case::unlimited(),
            None,
        ));
        lines.push(line(
            format!("{table}: TempTable, {}", size(limit)),
            table,
            limited(),
            None,
        ));
    }
    lines
}

/// The article's statement: any ten of the groups.
fn first_groups(table: &str) -> String {
    format!("SELECT count(*) cnt, c FROM {table} GROUP BY c ORDER BY NULL LIMIT 10")
}

/// The article's grouping with all groups computed, whatever a plan could skip.
fn every_group(table: &str) -> String {
    format!(
        "SELECT count(*), sum(cnt), max(cnt), min(c), max(c) \
         FROM (SELECT count(*) cnt, c FROM {table} GROUP BY c ORDER BY NULL) g"
    )
}

/// Runs the experiment.
pub(super) fn run(subjects: &[Subject], rows: u64) -> Result<Told, String> {
    let size = format!(
        "Here gt has {rows} rows and gtest {}, where the article's have 1000000 and 4000000{}.",
        rows * 4,
        if rows == ARTICLE_ROWS {
            ""
        } else {
            "; limits and key buffers are in proportion"
        }
    );
    let mut told = Told::new(&ARTICLES[0], size);
    for subject in subjects {
        eprintln!("mayfly: article 0: making the tables on {} …", subject.name);
        let mut client = subject.connect()?;
        make(client.as_mut(), "gt", rows)?;
        make(client.as_mut(), "gtest", rows * 4)?;
        told.notes.extend(subject.notes());
    }
    told.notes.extend([
        "A LIMIT without an order is content with the groups that come first: TempTable counts only these. The legacy engines make all of \
         them, as in the article; the second table needs all everywhere."
            .to_owned(),
        "The article's disk had to take the pages of the index that did not fit into the key buffer; where files stay in the page cache, a \
         page costs a system call."
            .to_owned(),
    ]);
    let lines = lines(rows);
    for is_whole in [false, true] {
        let outcomes = subjects
            .iter()
            .map(|subject| column(subject, &lines, is_whole, &mut told))
            .collect::<Result<Vec<_>, String>>()?;
        told.tables
            .push(table(subjects, &lines, &outcomes, is_whole));
    }
    for subject in subjects {
        let mut client = subject.connect()?;
        client.run("DROP TABLE gt, gtest")?;
    }
    Ok(told)
}

/// Makes the article's table. One value in twenty repeats an earlier one, about as often as in the article.
fn make(client: &mut dyn Client, table: &str, rows: u64) -> Result<(), Trouble> {
    client.run(&format!(
        "CREATE TABLE {table} (i int unsigned NOT NULL, c char(50) NOT NULL) ENGINE=MyISAM DEFAULT CHARSET=latin1"
    ))?;
    client.run(&format!(
        "INSERT INTO {table} SELECT CRC32(n) % 100000, LEFT(SHA2(IF(n % 20 = 19, n - 19, n), 256), 40) FROM {}",
        numbers::subquery(rows)
    ))
}

/// The outcomes of the lines on a subject.
fn column(
    subject: &Subject,
    lines: &[Line],
    is_whole: bool,
    told: &mut Told,
) -> Result<Vec<Outcome>, String> {
    let mut client = subject.connect()?;
    let mut outcomes = Vec::with_capacity(lines.len());
    for line in lines {
        eprintln!("mayfly: article 0: {}: {} …", subject.name, line.title);
        let is_repeated = line.is_global && subject.keeps_global_settings();
        let outcome = if is_repeated || !subject.set(client.as_mut(), &line.case)? {
            Outcome::Cannot
        } else {
            let result = if is_whole {
                timing::statement(client.as_mut(), &every_group(line.table))
            } else {
                timing::repeated(|| ten_groups(client.as_mut(), line.table))
            };
            Outcome::of(result, subject.seconds)
        };
        let what = if is_whole {
            "every group"
        } else {
            "ten groups, counted again"
        };
        let who = format!("{}, {}", subject.name, line.title);
        told.take(
            &format!("{what} of {}", line.table),
            &who,
            subject.is_mayfly(),
            &outcome,
        );
        outcomes.push(outcome);
    }
    Ok(outcomes)
}

/// The article's statement. Any ten groups are right, if each has as many rows as in the table.
fn ten_groups(client: &mut dyn Client, table: &str) -> Result<(f64, RowSum), Trouble> {
    let begin = Instant::now();
    let groups = client.rows(&first_groups(table))?;
    let seconds = begin.elapsed().as_secs_f64();
    let texts: Vec<String> = groups
        .iter()
        .filter_map(|row| Some(format!("'{}'", row.get(1)?.as_deref()?)))
        .collect();
    let counted = client.rows(&format!(
        "SELECT count(*) cnt, c FROM {table} WHERE c IN ({}) GROUP BY c",
        texts.join(", ")
    ))?;
    let sum = |rows: &Rows| {
        let mut sum = RowSum::default();
        rows.iter().for_each(|row| sum.add(row));
        sum
    };
    if sum(&groups) != sum(&counted) {
        return Err(Trouble::Failed(
            "a group has another number of rows".to_owned(),
        ));
    }
    Ok((seconds, sum(&groups).only_count()))
}

/// The published and the measured times, and the ratio of each to that of MEMORY.
fn table(subjects: &[Subject], lines: &[Line], outcomes: &[Vec<Outcome>], is_whole: bool) -> Table {
    let base = |index: usize| {
        let table = lines[index].table;
        lines
            .iter()
            .position(|line| line.table == table)
            .unwrap_or(0)
    };
    let mut head = ["temporary table", "article", "to MEMORY"]
        .map(str::to_owned)
        .to_vec();
    for subject in subjects {
        head.extend([subject.engines(), "to MEMORY".to_owned()]);
    }
    let mut rows = Vec::new();
    let mut figures = Vec::new();
    let mut groups = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let published_ratio = ratio(line.published, lines[base(index)].published);
        let mut row = vec![
            line.title.clone(),
            line.published
                .map_or_else(String::new, |seconds| Unit::Seconds.write(seconds)),
            ratio_cell(published_ratio),
        ];
        let mut measured = Vec::new();
        for column in outcomes {
            let seconds = column[index].seconds();
            let ratio = ratio(seconds, column[base(index)].seconds());
            row.extend([time_cell(&column[index]), ratio_cell(ratio)]);
            measured.push(ratio);
        }
        let seconds = outcomes.iter().map(|column| column[index].seconds());
        figures.push(json!({
            "temporary_table": line.title, "table": line.table,
            "published_seconds": line.published, "published_ratio": published_ratio,
            "seconds": seconds.collect::<Vec<_>>(), "ratios": measured,
        }));
        let ratios = std::iter::once(published_ratio).chain(measured.iter().copied());
        groups.push(BarGroup::of_values(&line.title, ratios));
        rows.push(row);
    }
    let title = if is_whole {
        "The same with every group made"
    } else {
        "The article's statement"
    };
    let series = std::iter::once("article, 2007".to_owned());
    Table {
        title: title.to_owned(),
        statement: Some(if is_whole {
            every_group("gt")
        } else {
            first_groups("gt")
        }),
        head,
        rows,
        chart: Some(Chart::Bars(BarChart {
            title: format!("{title}: time to that in MEMORY"),
            description:
                "How many times as long the grouping takes as in a MEMORY table of the same server."
                    .to_owned(),
            value: Axis {
                label: "time to that in MEMORY".to_owned(),
                scale: Scale::Log10,
                unit: Unit::Times,
            },
            series: series
                .chain(subjects.iter().map(|subject| subject.name.clone()))
                .collect(),
            groups,
        })),
        figures,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_lines_are_the_articles() {
        let lines = lines(ARTICLE_ROWS);
        let published = lines.iter().filter(|line| line.published.is_some());
        let titles: Vec<&str> = published.map(|line| line.title.as_str()).collect();
        assert_eq!(
            titles,
            [
                "gt: MEMORY",
                "gt: MEMORY 16M, then MyISAM, key buffer 128M",
                "gt: MEMORY 16M, then MyISAM, key buffer 8M",
                "gtest: MEMORY",
                "gtest: MEMORY 16M, then MyISAM, key buffer 256M",
            ]
        );
    }
}
