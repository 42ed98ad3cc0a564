//! The lines above a statement: `# Name: value  Name: value`, in the forms of every server.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use crate::event::Event;

/// Takes what a line that begins with `#` says of an event.
pub(super) fn read_header(line: &str, event: &mut Event) {
    let body = line.trim_start_matches('#').trim();
    if let Some(time) = body.strip_prefix("Time:") {
        event.time = time_of(time.trim());
    } else if let Some(account) = body.strip_prefix("User@Host:") {
        read_account(account, event);
    } else if let Some(row) = body.strip_prefix("explain:") {
        event.explain.push(row.trim_start().to_owned());
    } else {
        read_values(body, event);
    }
}

/// `root[root] @ localhost [127.0.0.1]  Id:     8`
fn read_account(text: &str, event: &mut Event) {
    let (user, host) = text.split_once(" @ ").unwrap_or((text, ""));
    let user = user.split('[').next().unwrap_or_default().trim();
    let host = host.split("Id:").next().unwrap_or_default().trim();
    let (name, address) = host.split_once('[').unwrap_or((host, ""));
    let name = match name.trim() {
        "" => address.trim_end_matches(']').trim(),
        name => name,
    };
    event.account = format!("{user}@{name}");
}

/// `Query_time: 0.1  Lock_time: 0.0  Rows_sent: 1`: names end with a colon, a value may be empty.
fn read_values(body: &str, event: &mut Event) {
    let mut rest = body;
    while let Some((name, behind)) = rest.split_once(':') {
        let name = name.trim();
        let behind = behind.strip_prefix(' ').unwrap_or(behind);
        // An empty value is followed by the blanks before the next name.
        let (value, next) = if behind.starts_with(' ') {
            ("", behind)
        } else {
            behind.split_once(' ').unwrap_or((behind, ""))
        };
        read_value(name, value, event);
        rest = next.trim_start();
    }
}

fn read_value(name: &str, value: &str, event: &mut Event) {
    let number = || value.parse::<u64>().ok();
    let yes = || match value {
        "Yes" => Some(true),
        "No" => Some(false),
        _ => None,
    };
    match name {
        "Query_time" => event.query_time = seconds(value),
        "Lock_time" => event.lock_time = seconds(value),
        "Rows_sent" => event.rows_sent = number().unwrap_or_default(),
        "Rows_examined" => event.rows_examined = number().unwrap_or_default(),
        "Schema" if !value.is_empty() => event.database = Some(value.to_owned()),
        "Tmp_tables" | "Created_tmp_tables" => event.tables = number(),
        "Tmp_disk_tables" | "Created_tmp_disk_tables" => event.disk_tables = number(),
        "Tmp_table_sizes" => event.bytes = number(),
        "Count_hit_tmp_table_size" => event.size_limit_hits = number(),
        "Merge_passes" | "Sort_merge_passes" => event.merge_passes = number(),
        // A flag adds to a number that another line gives, and never takes from it.
        "Tmp_table" => event.tables = event.tables.or(yes().map(u64::from)),
        "Tmp_table_on_disk" => event.disk_tables = event.disk_tables.or(yes().map(u64::from)),
        "Filesort_on_disk" => event.sort_on_disk = yes(),
        "Full_join" => event.full_join = yes(),
        _ => {}
    }
}

fn seconds(text: &str) -> f64 {
    let seconds = text.parse::<f64>().unwrap_or_default();
    if seconds.is_finite() {
        seconds.max(0.0)
    } else {
        0.0
    }
}

/// `2026-11-26T02:32:11.123456Z`, with an offset, or `261126  2:32:11` in a zone that the log does not name, which is
/// read as UTC.
fn time_of(text: &str) -> Option<i64> {
    if text.contains('T') {
        let parsed = text.parse::<jiff::Timestamp>().ok();
        return parsed.map(|time| time.as_microsecond());
    }
    let (date, time) = text.split_once(' ')?;
    let two = |range: std::ops::Range<usize>| date.get(range)?.parse::<i8>().ok();
    let mut parts = time.trim().split(':').map(|part| part.parse::<i8>().ok());
    let mut next = || parts.next().flatten();
    let year = 2000 + i16::from(two(0..2)?);
    let day = DateTime::new(year, two(2..4)?, two(4..6)?, next()?, next()?, next()?, 0).ok()?;
    let zoned = day.to_zoned(TimeZone::UTC).ok()?;
    Some(zoned.timestamp().as_microsecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_values_do_not_shift_the_others() {
        let mut event = Event::default();
        read_header("# Thread_id: 4  Schema:   QC_hit: No", &mut event);
        assert_eq!(event.database, None);
        read_header("# Thread_id: 5  Schema: t  QC_hit: No", &mut event);
        assert_eq!(event.database.as_deref(), Some("t"));
    }

    #[test]
    fn accounts() {
        for (line, account) in [
            (
                "# User@Host: root[root] @ localhost []  Id:     8",
                "root@localhost",
            ),
            ("# User@Host: app[app] @  [10.0.0.7]", "app@10.0.0.7"),
            (
                "# User@Host: app[app] @ db.example [10.0.0.7]",
                "app@db.example",
            ),
        ] {
            let mut event = Event::default();
            read_header(line, &mut event);
            assert_eq!(event.account, account, "{line}");
        }
    }

    #[test]
    fn times_of_every_age() {
        // 1795660331 is 2026-11-26 02:32:11 UTC.
        for text in [
            "261126  2:32:11",
            "2026-11-26T02:32:11.000000Z",
            "2026-11-26T03:32:11+01:00",
        ] {
            assert_eq!(time_of(text), Some(1_795_660_331_000_000), "{text}");
        }
        for text in ["", "2:32", "269926  2:32:11", "yesterday T"] {
            assert_eq!(time_of(text), None, "{text}");
        }
    }
}
