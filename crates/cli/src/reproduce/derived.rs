//! Article 1: a derived table with a long VARCHAR goes to disk, unless it is merged.

use mayfly_charts::{Axis, BarChart, BarGroup, Scale, Unit};
use serde_json::json;

use super::client::{Client, Trouble};
use super::published::{ARTICLES, DERIVED_MERGE_OFF, DERIVED_MERGE_ON, QUERIES};
use super::report::{Chart, Table, Told, ratio, ratio_cell, time_cell};
use super::stages;
use super::subject::Subject;
use super::timing::{Load, Outcome};
use crate::numbers;
use crate::what_if::settings::{Case, Engine};

/// The article's statement.
const STATEMENT: &str = "SELECT * FROM (SELECT user_id, created, (SELECT user_email FROM login2 b WHERE b.user_id = a.user_id) AS mail \
     FROM login2 a WHERE a.user_id IN (100005, 100002, 100004, 100003)) AS a ORDER BY created";
/// Rows of the article's table, by its AUTO_INCREMENT.
const ROWS: u64 = 2047;
/// Number of runs of each case, alternating; the median counts.
const ROUNDS: usize = 5;
/// Number of concurrent clients, as in the article.
const CLIENTS: usize = 2;

/// A variant of the statement.
struct Variant {
    /// Declared characters of `user_email`.
    length: u16,
    is_merged: bool,
    /// Whether the article's temporary table was on disk.
    on_disk: bool,
    published: Option<f64>,
}

const VARIANTS: [Variant; 4] = [
    Variant {
        length: 2000,
        is_merged: false,
        on_disk: true,
        published: Some(DERIVED_MERGE_OFF),
    },
    Variant {
        length: 2000,
        is_merged: true,
        on_disk: false,
        published: Some(DERIVED_MERGE_ON),
    },
    Variant {
        length: 513,
        is_merged: false,
        on_disk: true,
        published: None,
    },
    Variant {
        length: 512,
        is_merged: false,
        on_disk: false,
        published: None,
    },
];

impl Variant {
    fn title(&self) -> String {
        let merged = if self.is_merged { "on" } else { "off" };
        format!("varchar({}), derived_merge={merged}", self.length)
    }
}

/// A measured column: a subject with one of its engines.
struct Column<'s> {
    subject: &'s Subject,
    title: String,
    settings: Vec<String>,
}

/// Results of a variant: temporary tables of one run, those on disk, and the time of all queries.
struct Found {
    tables: u64,
    on_disk: u64,
    outcome: Outcome,
}

/// Runs the experiment.
pub(super) fn run(subjects: &[Subject], rows: u64) -> Result<Told, String> {
    let queries = (rows / 50).max(20);
    let size = format!(
        "{CLIENTS} clients run {queries} queries here; times are those of {QUERIES} queries, as in the article."
    );
    let mut told = Told::new(&ARTICLES[1], size);
    let columns = columns(subjects);
    let mut found: Vec<Vec<Found>> = columns.iter().map(|_| Vec::new()).collect();
    let mut profiles = Vec::new();
    for subject in subjects {
        make(subject.connect()?.as_mut())?;
    }
    for variant in &VARIANTS {
        for subject in subjects {
            subject.connect()?.run(&format!(
                "ALTER TABLE login2 MODIFY COLUMN user_email varchar({}) CHARACTER SET utf8",
                variant.length
            ))?;
        }
        eprintln!("mayfly: article 1: {} …", variant.title());
        let mut runs: Vec<Vec<Outcome>> = columns.iter().map(|_| Vec::new()).collect();
        for _ in 0..ROUNDS {
            for (column, runs) in columns.iter().zip(&mut runs) {
                runs.push(time(column, variant, queries));
            }
        }
        for ((column, found), runs) in columns.iter().zip(&mut found).zip(runs) {
            let outcome = Outcome::median(runs);
            let who = format!("{}, {}", column.title, variant.title());
            let is_mayfly = column.subject.is_mayfly();
            told.take("rows of all queries", &who, is_mayfly, &outcome);
            let [tables, on_disk] = count(column, variant)?;
            found.push(Found {
                tables,
                on_disk,
                outcome,
            });
        }
        if profiles.is_empty() {
            for subject in subjects {
                let settings = [switch(variant)];
                profiles.push(stages::profile(subject, &settings, STATEMENT).unwrap_or_default());
            }
        }
    }
    told.tables.push(places(&columns, &found));
    told.tables.push(times(&columns, &found));
    told.tables.push(stages::table(subjects, &profiles));
    if subjects.len() > 1 {
        told.notes.push(
            "Mayfly's clients are in its process, a server's go through connections: compare times within a column.".to_owned(),
        );
    }
    for subject in subjects {
        subject.connect()?.run("DROP TABLE login2")?;
    }
    Ok(told)
}

fn columns(subjects: &[Subject]) -> Vec<Column<'_>> {
    let engines = [
        ("MEMORY, MyISAM", Engine::Legacy("MYISAM")),
        ("MEMORY, InnoDB", Engine::Legacy("INNODB")),
        ("TempTable", Engine::TempTable),
    ];
    let mut columns = Vec::new();
    for subject in subjects {
        if !subject.is_mayfly() {
            columns.push(Column {
                subject,
                title: subject.name.clone(),
                settings: Vec::new(),
            });
            continue;
        }
        for (title, engine) in engines {
            let case = Case {
                engine,
                limit: 16 << 20,
                ..Case::unlimited()
            };
            let mut settings = case.statements();
            // The article's server is MariaDB, whose rules for derived tables are those of 10.11.
            let rules = if title == "MEMORY, MyISAM" {
                "mariadb1011"
            } else {
                "native"
            };
            settings.push(format!("SET SESSION tmp_table_compat = '{rules}'"));
            columns.push(Column {
                subject,
                title: title.to_owned(),
                settings,
            });
        }
    }
    columns
}

fn make(client: &mut dyn Client) -> Result<(), Trouble> {
    client.run(
        "CREATE TABLE login2 (user_id int(10) unsigned NOT NULL AUTO_INCREMENT, user_name varchar(50) DEFAULT NULL, \
         user_email varchar(2000) CHARACTER SET utf8 DEFAULT NULL, created datetime DEFAULT NULL, PRIMARY KEY (user_id)) \
         ENGINE=InnoDB DEFAULT CHARSET=latin1",
    )?;
    client.run(&format!(
        "INSERT INTO login2 SELECT 100001 + n, CONCAT('user', n), CONCAT('user', n, '@example.com'), \
         '2011-01-11 17:16:45' + INTERVAL n DIV 2 SECOND FROM {}",
        numbers::subquery(ROWS)
    ))
}

/// The switch for a variant.
fn switch(variant: &Variant) -> String {
    let merged = if variant.is_merged { "on" } else { "off" };
    format!("SET SESSION optimizer_switch = 'derived_merge={merged}'")
}

fn settings(column: &Column<'_>, variant: &Variant) -> Vec<String> {
    let mut settings = column.settings.clone();
    settings.push(switch(variant));
    settings
}

/// The temporary tables of one run, and those of them on disk.
fn count(column: &Column<'_>, variant: &Variant) -> Result<[u64; 2], Trouble> {
    let mut client = column.subject.connect()?;
    for sql in settings(column, variant) {
        client.run(&sql)?;
    }
    // Reading the counters counts too, and is subtracted.
    let first = counters(client.as_mut())?;
    let second = counters(client.as_mut())?;
    client.run(STATEMENT)?;
    let third = counters(client.as_mut())?;
    Ok([0, 1].map(|index| {
        let asking = second[index].saturating_sub(first[index]);
        let both = third[index].saturating_sub(second[index]);
        both.saturating_sub(asking)
    }))
}

/// The time of all queries.
fn time(column: &Column<'_>, variant: &Variant, queries: u64) -> Outcome {
    let load = Load {
        place: &column.subject.place,
        settings: &settings(column, variant),
        clients: CLIENTS,
        events: usize::try_from(queries).unwrap_or(usize::MAX),
        seconds: column.subject.seconds,
    };
    let result = load.run(&|_, client| client.sum(STATEMENT));
    let scaled = result.map(|(seconds, rows)| (seconds * QUERIES as f64 / queries as f64, rows));
    Outcome::of(scaled, column.subject.seconds)
}

/// Created_tmp_tables and Created_tmp_disk_tables.
fn counters(client: &mut dyn Client) -> Result<[u64; 2], Trouble> {
    let rows = client.rows("SHOW SESSION STATUS LIKE 'Created_tmp%tables'")?;
    let value = |name: &str| {
        let row = rows.iter().find(|row| {
            row.first()
                .is_some_and(|cell| cell.as_deref() == Some(name))
        })?;
        row.get(1)?.as_deref()?.parse().ok()
    };
    Ok(["Created_tmp_tables", "Created_tmp_disk_tables"].map(|name| value(name).unwrap_or(0)))
}

/// The table of temporary tables, and of those on disk.
fn places(columns: &[Column<'_>], found: &[Vec<Found>]) -> Table {
    let mut table = Table {
        title: "Created_tmp_disk_tables of Created_tmp_tables, of one run".to_owned(),
        statement: Some(STATEMENT.to_owned()),
        head: vec!["user_email".to_owned(), "article: on disk".to_owned()],
        ..Table::default()
    };
    table
        .head
        .extend(columns.iter().map(|column| column.title.clone()));
    for (index, variant) in VARIANTS.iter().enumerate() {
        let published = if variant.on_disk { "Yes" } else { "No" };
        let mut row = vec![variant.title(), published.to_owned()];
        let mut counts = Vec::new();
        for found in found {
            let found = &found[index];
            row.push(format!("{} of {}", found.on_disk, found.tables));
            counts.push([found.on_disk, found.tables]);
        }
        table.figures.push(json!({
            "length": variant.length, "derived_merge": variant.is_merged,
            "published_on_disk": variant.on_disk, "on_disk_of_all": counts,
        }));
        table.rows.push(row);
    }
    table
}

/// The times of all queries, and their ratio to that of the merged derived table.
fn times(columns: &[Column<'_>], found: &[Vec<Found>]) -> Table {
    let base = VARIANTS.iter().position(|it| it.is_merged).unwrap_or(0);
    let seconds = |column: usize, index: usize| found[column][index].outcome.seconds();
    let mut table = Table {
        title: format!(
            "Time of {QUERIES} queries by two clients, and to that with derived_merge=on"
        ),
        head: vec![
            "user_email".to_owned(),
            "article".to_owned(),
            "to merged".to_owned(),
        ],
        ..Table::default()
    };
    for column in columns {
        table
            .head
            .extend([column.title.clone(), "to merged".to_owned()]);
    }
    let mut groups = Vec::new();
    for (index, variant) in VARIANTS.iter().enumerate() {
        let published_ratio = ratio(variant.published, VARIANTS[base].published);
        let mut row = vec![
            variant.title(),
            variant
                .published
                .map_or_else(String::new, |it| Unit::Seconds.write(it)),
            ratio_cell(published_ratio),
        ];
        let mut ratios = vec![published_ratio];
        for (column, found) in found.iter().enumerate() {
            let ratio = ratio(seconds(column, index), seconds(column, base));
            let time = time_cell(&found[index].outcome);
            row.extend([time, ratio_cell(ratio)]);
            ratios.push(ratio);
        }
        let times: Vec<_> = (0..columns.len())
            .map(|column| seconds(column, index))
            .collect();
        table.figures.push(json!({
            "length": variant.length, "derived_merge": variant.is_merged,
            "published_seconds": variant.published, "seconds": times, "published_and_measured_ratios": ratios,
        }));
        table.rows.push(row);
        groups.push(BarGroup::of_values(variant.title(), ratios));
    }
    let series = std::iter::once("article, 2011".to_owned());
    table.chart = Some(Chart::Bars(BarChart {
        title: "Time to that with derived_merge=on".to_owned(),
        description: "How many times as long the queries take as with the derived table merged."
            .to_owned(),
        value: Axis {
            label: "time to that with derived_merge=on".to_owned(),
            scale: Scale::Linear,
            unit: Unit::Times,
        },
        series: series
            .chain(columns.iter().map(|column| column.title.clone()))
            .collect(),
        groups,
    }));
    table
}
