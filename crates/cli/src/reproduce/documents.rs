//! Article 3, with sysbench: many clients read, change and deduplicate JSON documents.
//!
//! The article's scripts were not published; the workloads are reconstructed from their names, with its ranges of 500
//! rows.

use mayfly_charts::{Axis, BarChart, BarGroup, Scale, Unit};
use serde_json::json;

use super::blobs;
use super::client::{Client, Trouble};
use super::published::{JSON, JSON_THREADS, JsonGain};
use super::report::{Chart, Table, Told, gain_cell, time_cell};
use super::subject::Subject;
use super::timing::{Load, Outcome};
use crate::row_sum::RowSum;
use crate::what_if::settings::Engine;

/// Rows of a range, as in the article.
const RANGE: u64 = 500;
/// Documents of one INSERT.
const BATCH: u64 = 250;
/// Number of attempts at a transaction after deadlocks.
const TRIES: usize = 20;

/// Number of runs of each engine, alternating; the median counts.
const ROUNDS: usize = 3;

/// Size of the experiment.
#[derive(Debug, Clone, Copy)]
struct Size {
    documents: u64,
    range: u64,
}

/// Measures, and adds a table.
pub(super) fn run(subjects: &[Subject], rows: u64, told: &mut Told) -> Result<(), String> {
    let documents = (rows / 50).max(200);
    let size = Size {
        documents,
        range: RANGE.min(documents / 4),
    };
    // Indexed by workload and number of clients, subject, and engine.
    let mut lines = Vec::new();
    for workload in &JSON {
        let events = events(workload, rows);
        for (index, threads) in JSON_THREADS.iter().enumerate() {
            let mut found = Vec::new();
            for subject in subjects {
                eprintln!(
                    "mayfly: article 3: {}: {}, {threads} clients …",
                    subject.name, workload.name
                );
                let engines = [Engine::TempTable, subject.disk_engine()];
                let mut runs = engines.map(|_| Vec::with_capacity(ROUNDS));
                for _ in 0..ROUNDS {
                    for (engine, runs) in engines.into_iter().zip(&mut runs) {
                        runs.push(measure(subject, engine, workload, *threads, events, size));
                    }
                }
                let engines: Vec<Outcome> = runs.into_iter().map(Outcome::median).collect();
                for (name, outcome) in ["TempTable", "on disk"].iter().zip(&engines) {
                    let who = format!("{}, {name}", subject.name);
                    let what = format!("{} with {threads} clients", workload.name);
                    told.take(&what, &who, subject.is_mayfly(), outcome);
                }
                found.push(engines);
            }
            lines.push((workload, index, events, found));
        }
    }
    told.tables.push(table(subjects, &lines));
    Ok(())
}

/// Events of a run, all clients together.
fn events(workload: &JsonGain, rows: u64) -> usize {
    let events = match workload.name {
        "JSON_SQL_DISTINCT_RANGE" => rows / 1000,
        _ => rows / 4000,
    };
    usize::try_from(events)
        .unwrap_or(usize::MAX)
        .clamp(64, 20_000)
}

fn measure(
    subject: &Subject,
    engine: Engine,
    workload: &JsonGain,
    clients: usize,
    events: usize,
    size: Size,
) -> Outcome {
    let Some(settings) = subject.settings(&blobs::case(engine)) else {
        return Outcome::Cannot;
    };
    let run = || {
        let mut client = subject.connect()?;
        make(client.as_mut(), size)?;
        let load = Load {
            place: &subject.place,
            settings: &settings,
            clients,
            events,
            seconds: subject.seconds,
        };
        let (seconds, mut rows) = load.run(&|event, client| {
            let mut random = Random(event as u64);
            match workload.name {
                "JSON_SQL_RW" => change(client, event as u64, &mut random, size),
                "JSON_SQL_RO" => read(client, &mut random, size),
                _ => {
                    let range = random.range(size);
                    client.sum(&format!(
                        "SELECT DISTINCT c FROM jbench WHERE {range} ORDER BY c"
                    ))
                }
            }
        })?;
        rows.merge(client.sum("SELECT id, k, c FROM jbench")?);
        client.run("DROP TABLE jbench")?;
        Ok((seconds, rows))
    };
    Outcome::of(run(), subject.seconds)
}

/// A document; its keys are in MySQL's storage order.
fn document(number: u64) -> String {
    let letter = char::from(b'a' + (number % 26) as u8);
    format!(
        r#"{{"id": {number}, "pad": "{}", "name": "user{}", "tags": ["a{}", "b{}", "c"]}}"#,
        letter.to_string().repeat(120),
        number % 5000,
        number % 10,
        number % 7,
    )
}

fn make(client: &mut dyn Client, size: Size) -> Result<(), Trouble> {
    client.run("DROP TABLE IF EXISTS jbench")?;
    client.run(
        "CREATE TABLE jbench (id int NOT NULL PRIMARY KEY, k int NOT NULL, c json, pad json, KEY (k)) ENGINE=InnoDB",
    )?;
    let ids: Vec<u64> = (1..=size.documents).collect();
    for part in ids.chunks(BATCH as usize) {
        let rows: Vec<String> = part
            .iter()
            .map(|id| {
                let (c, pad) = (document(*id), document(id * 3));
                format!("({id}, {}, '{c}', '{pad}')", id * 7919 % size.documents)
            })
            .collect();
        client.run(&format!("INSERT INTO jbench VALUES {}", rows.join(", ")))?;
    }
    Ok(())
}

/// Pseudorandom numbers that depend only on the event (SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (bits ^ (bits >> 31)) % end.max(1)
    }

    fn range(&mut self, size: Size) -> String {
        let first = 1 + self.below(size.documents - size.range);
        format!("id BETWEEN {first} AND {}", first + size.range - 1)
    }
}

/// Ten documents by their keys, and four kinds of ranges.
fn read(client: &mut dyn Client, random: &mut Random, size: Size) -> Result<RowSum, Trouble> {
    let mut sum = RowSum::default();
    for _ in 0..10 {
        let id = 1 + random.below(size.documents);
        sum.merge(client.sum(&format!("SELECT c FROM jbench WHERE id = {id}"))?);
    }
    for (what, order) in [
        ("c", ""),
        ("SUM(k)", ""),
        ("c", " ORDER BY c"),
        ("DISTINCT c", " ORDER BY c"),
    ] {
        let range = random.range(size);
        sum.merge(client.sum(&format!("SELECT {what} FROM jbench WHERE {range}{order}"))?);
    }
    Ok(sum)
}

/// Reads and changes. The rows read depend on concurrent changes, so only the final content counts.
fn change(
    client: &mut dyn Client,
    event: u64,
    random: &mut Random,
    size: Size,
) -> Result<RowSum, Trouble> {
    let counted = 1 + random.below(size.documents);
    // Each event has its own document, since 7919 is a prime.
    let own = 1 + event * 7919 % size.documents;
    let text = document(1 + random.below(1_000_000));
    let mut result = Ok(RowSum::default());
    for _ in 0..TRIES {
        result = transaction(client, counted, own, &text, random, size);
        match &result {
            Err(Trouble::Failed(error)) if error.contains("1213") || error.contains("1205") => {
                client.run("ROLLBACK")?;
            }
            _ => break,
        }
    }
    result
}

fn transaction(
    client: &mut dyn Client,
    counted: u64,
    own: u64,
    text: &str,
    random: &mut Random,
    size: Size,
) -> Result<RowSum, Trouble> {
    client.run("START TRANSACTION")?;
    read(client, random, size)?;
    client.run(&format!("UPDATE jbench SET k = k + 1 WHERE id = {counted}"))?;
    client.run(&format!("UPDATE jbench SET c = '{text}' WHERE id = {own}"))?;
    client.run("COMMIT")?;
    Ok(RowSum::default())
}

/// A workload, the index of a number of clients, the number of events, and the outcome of each engine of each subject.
type Line = (&'static JsonGain, usize, usize, Vec<Vec<Outcome>>);

fn table(subjects: &[Subject], lines: &[Line]) -> Table {
    let mut table = Table {
        title: "JSON documents: how many more events a second in TempTable than on disk in InnoDB"
            .to_owned(),
        head: ["workload", "events", "article: gain", "article, Windows"]
            .map(str::to_owned)
            .to_vec(),
        ..Table::default()
    };
    for subject in subjects {
        let head = [
            format!("{}: TempTable", subject.name),
            "on disk".to_owned(),
            "gain".to_owned(),
        ];
        table.head.extend(head);
    }
    let mut groups = Vec::new();
    for (workload, index, events, found) in lines {
        let title = format!("{}, {} clients", workload.name, JSON_THREADS[*index]);
        let published = [workload.large[*index], workload.windows[*index]].map(|gain| gain / 100.0);
        let mut row = vec![title.clone(), events.to_string()];
        row.extend(published.map(|gain| gain_cell(Some(gain))));
        let mut gains = vec![Some(published[0])];
        let mut seconds = Vec::new();
        for engines in found {
            let times: Vec<Option<f64>> = engines.iter().map(Outcome::seconds).collect();
            let gain = times[0].zip(times[1]).map(|(fast, slow)| slow / fast - 1.0);
            row.extend(engines.iter().map(time_cell));
            row.push(gain_cell(gain));
            gains.push(gain);
            seconds.push(times);
        }
        table.figures.push(json!({
            "workload": workload.name, "clients": JSON_THREADS[*index], "events": events, "published_gains": published,
            "seconds_temptable_on_disk": seconds, "gains": &gains[1..],
        }));
        table.rows.push(row);
        groups.push(BarGroup::of_values(title, gains));
    }
    let series = std::iter::once("article, 2019".to_owned());
    table.chart = Some(Chart::Bars(BarChart {
        title: "Gain of TempTable over tables on disk".to_owned(),
        description: "How many more events a second there are where temporary tables with JSON are in memory.".to_owned(),
        value: Axis {
            label: "more events a second".to_owned(),
            scale: Scale::Linear,
            unit: Unit::Percent,
        },
        series: series.chain(subjects.iter().map(|subject| subject.name.clone())).collect(),
        groups,
    }));
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_as_mysql_stores_them() {
        let text = document(27);
        assert!(
            serde_json::from_str::<serde_json::Value>(&text).is_ok(),
            "{text}"
        );
        assert!(text.starts_with(r#"{"id": 27, "pad": "bbb"#), "{text}");
        assert!(
            text.ends_with(r#""name": "user27", "tags": ["a7", "b6", "c"]}"#),
            "{text}"
        );
    }

    #[test]
    fn events_stay_in_the_table() {
        let size = Size {
            documents: 200,
            range: 50,
        };
        for event in 0..1000 {
            let range = Random(event).range(size);
            let ends: Vec<u64> = range
                .split(' ')
                .filter_map(|word| word.parse().ok())
                .collect();
            assert!(
                ends[0] >= 1 && ends[1] <= 200 && ends[1] - ends[0] == 49,
                "{range}"
            );
        }
    }
}
