//! Article 3, its own test: DISTINCT, GROUP BY and a join over texts, in TempTable and on disk.
//!
//! The article no longer has the definitions of its tables and queries; they are reconstructed from the names in its
//! table of results.

use mayfly_charts::{Axis, BarChart, BarGroup, Scale, Unit};
use serde_json::json;

use super::client::{Client, Trouble};
use super::published::{BLOB_QUERIES, BlobQuery};
use super::report::{Chart, Table, Told, gain_cell, time_cell};
use super::subject::Subject;
use super::timing::{self, Outcome};
use crate::numbers;
use crate::what_if::settings::{Case, Engine};

/// The queries, in the order of the published ones.
const QUERIES: [&str; 7] = [
    "SELECT DISTINCT t FROM repeating",
    "SELECT t, count(*) FROM repeating GROUP BY t",
    "SELECT t, count(*), min(id), max(id) FROM repeating GROUP BY t",
    "SELECT DISTINCT t FROM uniques",
    "SELECT SUBSTRING(t, 1, 3) s, count(*) FROM uniques GROUP BY s",
    "SELECT SUBSTRING(t, 1, 4) s, count(*), max(t) FROM uniques GROUP BY s",
    "SELECT DISTINCT u.t, r.t FROM uniques u JOIN repeating r ON r.id = u.id",
];

/// Engines of the temporary tables.
const ENGINES: [(&str, Engine); 3] = [
    ("TempTable", Engine::TempTable),
    ("InnoDB", Engine::Legacy("INNODB")),
    ("MyISAM", Engine::Legacy("MYISAM")),
];

/// The case of an engine: TempTable in memory, the others on disk from the first row on.
pub(super) fn case(engine: Engine) -> Case {
    Case {
        engine,
        on_disk: engine != Engine::TempTable,
        ..Case::unlimited()
    }
}

/// Measures, and adds a table.
pub(super) fn run(subjects: &[Subject], rows: u64, told: &mut Told) -> Result<(), String> {
    // Indexed by subject, engine and query.
    let mut found = Vec::new();
    for subject in subjects {
        eprintln!("mayfly: article 3: making the tables on {} …", subject.name);
        let mut client = subject.connect()?;
        make(client.as_mut(), rows)?;
        let mut engines = Vec::new();
        for (name, engine) in ENGINES {
            eprintln!("mayfly: article 3: {}: {name} …", subject.name);
            let mut client = subject.connect()?;
            let is_there = subject.set(client.as_mut(), &case(engine))?;
            let mut outcomes = Vec::new();
            for (query, published) in QUERIES.iter().zip(&BLOB_QUERIES) {
                let outcome = if is_there {
                    Outcome::of(timing::statement(client.as_mut(), query), subject.seconds)
                } else {
                    Outcome::Cannot
                };
                let who = format!("{}, {name}", subject.name);
                told.take(published.name, &who, subject.is_mayfly(), &outcome);
                outcomes.push(outcome);
            }
            engines.push(outcomes);
        }
        found.push(engines);
        client.run("DROP TABLE repeating, uniques")?;
    }
    told.tables.push(table(subjects, &found));
    Ok(())
}

fn make(client: &mut dyn Client, rows: u64) -> Result<(), Trouble> {
    let numbers = numbers::subquery(rows);
    for (table, value) in [
        ("repeating", "REPEAT(CHAR(97 + n % 25), 100 + n % 20)"),
        (
            "uniques",
            "CONCAT(LEFT(SHA2(n, 256), 40), REPEAT('-', 20), LEFT(SHA2(n + 1, 256), 40))",
        ),
    ] {
        client.run(&format!(
            "CREATE TABLE {table} (id int NOT NULL PRIMARY KEY, t text) ENGINE=InnoDB DEFAULT CHARSET=latin1"
        ))?;
        client.run(&format!(
            "INSERT INTO {table} SELECT n, {value} FROM {numbers}"
        ))?;
    }
    Ok(())
}

/// The share of the slower time that is saved: the article's definition of gain.
fn gain(fast: Option<f64>, slow: Option<f64>) -> Option<f64> {
    Some(1.0 - fast? / slow?)
}

fn table(subjects: &[Subject], found: &[Vec<Vec<Outcome>>]) -> Table {
    let mut table = Table {
        title: "Texts: TempTable, and engines on disk; the gain is the share of InnoDB's time that is saved".to_owned(),
        head: ["query", "article: TempTable", "InnoDB", "gain"].map(str::to_owned).to_vec(),
        ..Table::default()
    };
    for subject in subjects {
        let own = match (subject.is_mayfly(), subject.is_mariadb()) {
            (false, true) => "Aria",
            _ => "MyISAM",
        };
        let head = [
            format!("{}: TempTable", subject.name),
            "InnoDB".to_owned(),
            "gain".to_owned(),
            own.to_owned(),
        ];
        table.head.extend(head);
    }
    let mut groups = Vec::new();
    for (
        index,
        (
            BlobQuery {
                name,
                temptable,
                innodb,
                gain: published,
            },
            query,
        ),
    ) in BLOB_QUERIES.iter().zip(QUERIES).enumerate()
    {
        let seconds = |value: f64| format!("{value:.2} s");
        let mut row = vec![
            (*name).to_owned(),
            seconds(*temptable),
            seconds(*innodb),
            format!("{published:+.1} %"),
        ];
        let mut gains = vec![Some(published / 100.0)];
        let mut times = Vec::new();
        for engines in found {
            let outcome = |engine: usize| &engines[engine][index];
            let gain = gain(outcome(0).seconds(), outcome(1).seconds());
            row.extend([
                time_cell(outcome(0)),
                time_cell(outcome(1)),
                gain_cell(gain),
                time_cell(outcome(2)),
            ]);
            gains.push(gain);
            times.push(
                engines
                    .iter()
                    .map(|outcomes| outcomes[index].seconds())
                    .collect::<Vec<_>>(),
            );
        }
        table.figures.push(json!({
            "query": name, "statement": query, "published_seconds": [temptable, innodb],
            "seconds_temptable_innodb_myisam": times, "published_and_measured_gains": gains,
        }));
        table.rows.push(row);
        groups.push(BarGroup::of_values(*name, gains));
    }
    let series = std::iter::once("article, 2019".to_owned());
    table.chart = Some(Chart::Bars(BarChart {
        title: "Share of InnoDB's time that TempTable saves".to_owned(),
        description: "How much of the time on disk each query saves in TempTable.".to_owned(),
        value: Axis {
            label: "time saved".to_owned(),
            scale: Scale::Linear,
            unit: Unit::Percent,
        },
        series: series
            .chain(subjects.iter().map(|subject| subject.name.clone()))
            .collect(),
        groups,
    }));
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gain_is_a_share_of_the_slower_time() {
        assert_eq!(gain(Some(1.0), Some(4.0)), Some(0.75));
        assert_eq!(gain(Some(2.0), Some(1.0)), Some(-1.0));
        assert_eq!(gain(None, Some(1.0)), None);
    }
}
