//! Article 2: the gain of users' temporary tables over ordinary tables.
//!
//! The article compares two releases: in the older one, temporary tables were logged like any other. So the gain here
//! is that of a temporary table over an ordinary, logged one on the same server.

use std::path::Path;

use mayfly_charts::{Axis, BarChart, BarGroup, Scale, Unit};
use serde_json::json;

use super::client::{Client, Trouble};
use super::published::{ARTICLES, CHANGE_GAIN, CREATE_DROP_GAIN};
use super::report::{Chart, Table, Told, ratio, ratio_cell};
use super::subject::Subject;
use super::timing;
use crate::options::Options;
use crate::row_sum::RowSum;

/// Number of operations of each kind.
#[derive(Debug, Clone, Copy)]
struct Counts {
    tables: u64,
    /// A third of the rows.
    rows: u64,
}

/// The workloads in their order, with the article's gain.
const WORKLOADS: [(&str, &str); 11] = [
    ("create tables", CREATE_DROP_GAIN),
    ("drop tables", CREATE_DROP_GAIN),
    ("create and drop tables", CREATE_DROP_GAIN),
    ("create and drop tables with six keys", CREATE_DROP_GAIN),
    ("insert: sorted, reverse, random", CHANGE_GAIN),
    ("update by the primary key", CHANGE_GAIN),
    ("update by a secondary key", CHANGE_GAIN),
    ("update all rows, twice", CHANGE_GAIN),
    ("delete by the primary key", CHANGE_GAIN),
    ("delete by a secondary key", CHANGE_GAIN),
    ("delete the rest by the primary key", CHANGE_GAIN),
];

/// Kinds of tables: keyword of CREATE and DROP.
const KINDS: [(&str, &str); 2] = [("kept", ""), ("temporary", "TEMPORARY ")];

/// The seconds of each workload, and the table's content after inserting, updating and deleting.
type Found = (Vec<f64>, [RowSum; 3]);

/// Runs the experiment. `directory`: parent of Mayfly's data directory.
pub(super) fn run(
    subjects: &[Subject],
    options: &Options,
    directory: &Path,
    rows: u64,
) -> Result<Told, String> {
    let counts = Counts {
        tables: (rows / 5000).max(5),
        rows: (rows / 100).max(30),
    };
    let size = format!(
        "Here {} tables are made and dropped, and {} rows inserted, a statement each; rows change within one transaction a line.",
        counts.tables,
        counts.rows * 3
    );
    let mut told = Told::new(&ARTICLES[2], size);
    told.notes.push(
        "The article's gain is that of MySQL 5.7 over 5.6, whose temporary tables were logged and had files as all others; measured \
         is the gain of a temporary table over one that is kept, of the same server."
            .to_owned(),
    );
    let seconds = subjects.first().map_or(120, |subject| subject.seconds);
    let kept = Subject::mayfly(options, Some(directory), seconds)?;
    let mut columns = Vec::new();
    for subject in subjects {
        let subject = if subject.is_mayfly() { &kept } else { subject };
        let mut kinds = Vec::new();
        for (name, keyword) in KINDS {
            eprintln!("mayfly: article 2: {}: {name} tables …", subject.name);
            let mut client = subject.connect()?;
            let (times, contents) = measure(client.as_mut(), keyword, counts)
                .map_err(|trouble| format!("{}: {}", subject.name, String::from(trouble)))?;
            let who = format!("{}, {name}", subject.name);
            for (what, sum) in ["inserting", "updating", "deleting"].iter().zip(contents) {
                told.check(&format!("the table after {what}"), &who, sum);
            }
            kinds.push(times);
        }
        columns.push(kinds);
    }
    told.tables.push(table(subjects, &columns));
    Ok(told)
}

/// Runs all workloads on one kind of table.
fn measure(client: &mut dyn Client, keyword: &str, counts: Counts) -> Result<Found, Trouble> {
    let n = counts.rows;
    let create = |index: u64, keys: &str| {
        format!(
            "CREATE {keyword}TABLE t{index} (id int NOT NULL PRIMARY KEY, a int NOT NULL, b varchar(64), KEY (a){keys}) ENGINE=InnoDB"
        )
    };
    let drop = |index: u64| format!("DROP {keyword}TABLE t{index}");
    let both = |keys: &'static str| {
        (0..counts.tables).flat_map(move |index| [create(index, keys), drop(index)])
    };
    let mut times = vec![
        timing::all(client, (0..counts.tables).map(|index| create(index, "")))?,
        timing::all(client, (0..counts.tables).map(drop))?,
        timing::all(client, both(""))?,
        timing::all(
            client,
            both(", KEY (b), KEY (a, b), KEY (b, a), KEY (id, a)"),
        )?,
    ];

    client.run(&create(0, ""))?;
    let insert = |id: u64| {
        format!(
            "INSERT INTO t0 VALUES ({id}, {}, 'row{id}')",
            id % (3 * n / 10)
        )
    };
    let sorted = (0..n).map(insert);
    let reverse = (n..2 * n).rev().map(insert);
    // 7919 is a prime, so that each number occurs once.
    let random = (0..n).map(|index| insert(2 * n + index * 7919 % n));
    times.push(in_transaction(client, sorted.chain(reverse).chain(random))?);
    let inserted = client.sum("SELECT id, a, b FROM t0")?;

    let of_all = |index: u64| index * 3;
    let update = |set: &str, key: &str, value: u64| {
        format!("UPDATE t0 SET b = '{set}{value}' WHERE {key} = {value}")
    };
    times.push(in_transaction(
        client,
        (0..n).map(|index| update("u", "id", of_all(index))),
    )?);
    times.push(in_transaction(
        client,
        (0..n / 10).map(|value| update("k", "a", value)),
    )?);
    times.push(in_transaction(
        client,
        (0..2).map(|_| "UPDATE t0 SET b = CONCAT(b, 'x')".to_owned()),
    )?);
    let updated = client.sum("SELECT id, a, b FROM t0")?;

    let delete = |key: &str, value: u64| format!("DELETE FROM t0 WHERE {key} = {value}");
    times.push(in_transaction(
        client,
        (0..n).map(|index| delete("id", of_all(index))),
    )?);
    times.push(in_transaction(
        client,
        (0..n / 10).map(|value| delete("a", value)),
    )?);
    times.push(in_transaction(
        client,
        (0..3 * n).map(|id| delete("id", id)),
    )?);
    let deleted = client.sum("SELECT id, a, b FROM t0")?;
    client.run(&drop(0))?;
    Ok((times, [inserted, updated, deleted]))
}

fn in_transaction(
    client: &mut dyn Client,
    statements: impl Iterator<Item = String>,
) -> Result<f64, Trouble> {
    let begin = std::iter::once("START TRANSACTION".to_owned());
    let end = std::iter::once("COMMIT".to_owned());
    timing::all(client, begin.chain(statements).chain(end))
}

/// The times of both kinds, and the gain.
fn table(subjects: &[Subject], columns: &[Vec<Vec<f64>>]) -> Table {
    let mut table = Table {
        title: "Temporary tables beside tables that are kept".to_owned(),
        head: vec!["work".to_owned(), "article: 5.7 to 5.6".to_owned()],
        ..Table::default()
    };
    for subject in subjects {
        let head = [
            format!("{}, kept", subject.name),
            "temporary".to_owned(),
            "gain".to_owned(),
        ];
        table.head.extend(head);
    }
    let mut groups = Vec::new();
    for (index, (work, published)) in WORKLOADS.iter().enumerate() {
        let mut row = vec![(*work).to_owned(), (*published).to_owned()];
        let mut gains = Vec::new();
        let mut seconds = Vec::new();
        for kinds in columns {
            let time = |kind: usize| kinds.get(kind)?.get(index).copied();
            let (kept, temporary) = (time(0), time(1));
            let gain = ratio(kept, temporary);
            for time in [kept, temporary] {
                row.push(time.map_or_else(String::new, |it| Unit::Seconds.write(it)));
            }
            row.push(ratio_cell(gain));
            gains.push(gain);
            seconds.push([kept, temporary]);
        }
        table.figures.push(json!({
            "work": work, "published_gain": published, "seconds_kept_and_temporary": seconds, "gains": gains,
        }));
        table.rows.push(row);
        groups.push(BarGroup::of_values(*work, gains));
    }
    table.chart = Some(Chart::Bars(BarChart {
        title: "Gain of temporary tables over kept ones".to_owned(),
        description: "How many times as long each work takes on a table that is kept.".to_owned(),
        value: Axis {
            label: "kept to temporary".to_owned(),
            scale: Scale::Log10,
            unit: Unit::Times,
        },
        series: subjects
            .iter()
            .map(|subject| subject.name.clone())
            .collect(),
        groups,
    }));
    table
}
