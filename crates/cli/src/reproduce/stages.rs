//! Article 1's profile: the stages of its statement, beside those of SHOW PROFILE here.

use serde_json::json;

use super::client::Trouble;
use super::published::STAGES;
use super::report::Table;
use super::subject::Subject;

/// Stages and their seconds, each stage once.
pub(super) type Stages = Vec<(String, f64)>;

/// The stages of a statement, and their seconds.
pub(super) fn profile(
    subject: &Subject,
    settings: &[String],
    statement: &str,
) -> Result<Stages, Trouble> {
    let mut client = subject.connect()?;
    for sql in settings {
        client.run(sql)?;
    }
    // The first run prepares caches that later runs use.
    client.run(statement)?;
    client.run("SET SESSION profiling = 1")?;
    client.run(statement)?;
    let rows = client.rows("SHOW PROFILE")?;
    client.run("SET SESSION profiling = 0")?;
    let mut stages: Stages = Vec::new();
    for row in rows {
        if let [Some(stage), Some(seconds), ..] = row.as_slice() {
            let seconds = seconds.parse().unwrap_or(0.0);
            match stages
                .iter_mut()
                .find(|(name, _)| name.eq_ignore_ascii_case(stage))
            {
                Some((_, sum)) => *sum += seconds,
                None => stages.push((stage.clone(), seconds)),
            }
        }
    }
    Ok(stages)
}

/// The article's stages beside measured ones.
pub(super) fn table(subjects: &[Subject], profiles: &[Stages]) -> Table {
    let published: Vec<(&str, [Option<f64>; 2])> = STAGES
        .iter()
        .map(|(stage, mariadb, mysql)| (*stage, [Some(*mariadb), Some(*mysql)]))
        .collect();
    let mut lines = published;
    for (stage, _) in profiles.iter().flatten() {
        if !lines
            .iter()
            .any(|(name, _)| name.eq_ignore_ascii_case(stage))
        {
            lines.push((stage, [None, None]));
        }
    }
    let mut table = Table {
        title: "SHOW PROFILE of one run with varchar(2000) and derived_merge=off".to_owned(),
        head: ["stage", "article: MariaDB", "article: MySQL"]
            .map(str::to_owned)
            .to_vec(),
        ..Table::default()
    };
    table
        .head
        .extend(subjects.iter().map(|subject| subject.name.clone()));
    let mut sums = vec![0.0; 2 + profiles.len()];
    let cell = |seconds: Option<f64>| seconds.map_or_else(String::new, |it| format!("{it:.6}"));
    for (stage, published) in lines {
        let mut times = published.to_vec();
        for profile in profiles {
            let found = profile
                .iter()
                .find(|(name, _)| name.eq_ignore_ascii_case(stage));
            times.push(found.map(|(_, seconds)| *seconds));
        }
        for (sum, time) in sums.iter_mut().zip(&times) {
            *sum += time.unwrap_or(0.0);
        }
        table
            .figures
            .push(json!({"stage": stage, "seconds": times}));
        table.rows.push(
            std::iter::once(stage.to_owned())
                .chain(times.into_iter().map(cell))
                .collect(),
        );
    }
    let sums = sums.into_iter().map(|sum| cell(Some(sum)));
    table
        .rows
        .push(std::iter::once("all".to_owned()).chain(sums).collect());
    table
}
