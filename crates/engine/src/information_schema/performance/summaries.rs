//! `events_statements_summary_…` and the histograms of statement times.

use std::collections::BTreeMap;
use std::sync::Arc;

use mayfly_types::Value;

use crate::convert;
use crate::information_schema::context::RelationContext;
use crate::information_schema::relation::Relation;
use crate::information_schema::row::{Row, row};
use crate::instrumentation::{
    DigestSummary, Instrument, StatementSums, TimeBucket, event_name, picoseconds,
};
use crate::status::Counter;

pub(super) const RELATIONS: &[Relation] = &[
    Relation::new(
        "performance_schema.events_statements_summary_by_digest",
        by_digest,
    ),
    Relation::new(
        "performance_schema.events_statements_summary_global_by_event_name",
        global,
    ),
    Relation::new(
        "performance_schema.events_statements_summary_by_thread_by_event_name",
        by_thread,
    ),
    Relation::new(
        "performance_schema.events_statements_summary_by_account_by_event_name",
        by_account,
    ),
    Relation::new(
        "performance_schema.events_statements_summary_by_user_by_event_name",
        by_user,
    ),
    Relation::new(
        "performance_schema.events_statements_summary_by_host_by_event_name",
        by_host,
    ),
    Relation::new(
        "performance_schema.events_statements_histogram_by_digest",
        histogram_by_digest,
    ),
    Relation::new(
        "performance_schema.events_statements_histogram_global",
        histogram_global,
    ),
];

/// Nanoseconds in picoseconds.
fn pico(nanoseconds: u64) -> u64 {
    nanoseconds.saturating_mul(1000)
}

/// COUNT_STAR to COUNT_SECONDARY.
fn sums_row(sums: &StatementSums) -> Row {
    let average = sums.nanoseconds.checked_div(sums.count).unwrap_or(0);
    row![
        sums.count,
        pico(sums.nanoseconds),
        pico(sums.nanoseconds_least()),
        pico(average),
        pico(sums.nanoseconds_most),
        pico(sums.nanoseconds_locked),
        sums.errors,
        sums.warnings,
        sums.rows_affected,
        sums.rows_sent,
        sums.rows_examined,
        sums.created_tmp_disk_tables,
        sums.created_tmp_tables,
        sums.select_full_join,
        sums.select_full_range_join,
        sums.select_range,
        0,
        sums.select_scan,
        sums.sort_merge_passes,
        sums.sort_range,
        sums.sort_rows,
        sums.sort_scan,
        sums.no_index_used,
        0,
        0,
        sums.tmp_bytes_most,
        sums.tmp_bytes_most,
        sums.on_secondary,
    ]
}

/// Mayfly's columns after MySQL's.
fn temporary_row(sums: &StatementSums) -> Row {
    row![
        sums.tmp_bytes,
        sums.tmp_bytes_most,
        sums.tmp_bytes_written,
        sums.tmp_disk_bytes_most,
        sums.hit_tmp_table_size,
        sums.hit_max_ram,
        sums.bytes_exchanged,
    ]
}

/// A time in nanoseconds since the engine was started, as TIMESTAMP in the session's time zone; the zero date for 0.
/// `started` is in microseconds since 1970 UTC.
fn timestamp(context: &RelationContext, started: i64, nanoseconds: u64) -> Value {
    if nanoseconds == 0 {
        return Value::Int(0);
    }
    let microseconds = i64::try_from(nanoseconds / 1000).unwrap_or(i64::MAX);
    let time = started.saturating_add(microseconds);
    convert::datetime_of_unix(time, &context.options().session.time_zone)
}

fn by_digest(context: &RelationContext) -> Vec<Row> {
    let (database, instrumentation) = (context.database(), &context.database().instrumentation);
    let digests = &instrumentation.digests;
    let started = instrumentation.started_utc(database.options.clock.now_utc_microseconds());
    let row = |digest: &Arc<DigestSummary>| {
        let sums = digest.sums();
        let (first, last) = digest.seen();
        let sample = digest.sample();
        let quantile = |share| picoseconds(digest.quantile(share));
        let mut row = row![
            digest.database.as_deref(),
            digest.hash(),
            digest.text.as_deref()
        ];
        row.extend(sums_row(&sums));
        row.extend(row![
            timestamp(context, started, first),
            timestamp(context, started, last),
            quantile(0.95),
            quantile(0.99),
            quantile(0.999),
            sample.text.as_deref(),
            timestamp(context, started, sample.seen),
            picoseconds(sample.elapsed),
        ]);
        row.extend(temporary_row(&sums));
        row
    };
    digests.all().iter().map(row).collect()
}

/// Totals by statement kind.
type ByKind = BTreeMap<String, StatementSums>;

fn add_kinds(sums: &mut ByKind, more: impl Iterator<Item = (Option<Counter>, StatementSums)>) {
    for (command, more) in more {
        sums.entry(event_name(command)).or_default().add(&more);
    }
}

/// A row for each statement kind, after these columns.
fn kind_rows(before: Row, sums: &ByKind) -> Vec<Row> {
    let row = |(name, sums): (&String, &StatementSums)| {
        let mut row = before.clone();
        row.extend(row![name]);
        row.extend(sums_row(sums));
        row.extend(temporary_row(sums));
        row
    };
    sums.iter().map(row).collect()
}

/// The totals by kind of all sessions of each account, including ended ones, grouped by the key that `key` returns.
fn by_key<K: Ord>(context: &RelationContext, key: impl Fn(&str, &str) -> K) -> BTreeMap<K, ByKind> {
    let mut all: BTreeMap<K, ByKind> = BTreeMap::new();
    let database = context.database();
    for ((user, host), account) in database.instrumentation.accounts.all() {
        add_kinds(
            all.entry(key(&user, &host)).or_default(),
            account.ended.get(),
        );
    }
    for session in database.living_sessions() {
        let identity = session.identity();
        let sums = all.entry(key(&identity.user, &identity.host)).or_default();
        add_kinds(sums, session.statements.get());
    }
    all
}

/// The global totals of every kind, including those that never ran.
fn global(context: &RelationContext) -> Vec<Row> {
    let mut sums = by_key(context, |_, _| ()).remove(&()).unwrap_or_default();
    for instrument in Instrument::all() {
        if matches!(instrument, Instrument::Statement(_)) {
            sums.entry(instrument.name()).or_default();
        }
    }
    kind_rows(row![], &sums)
}

fn by_thread(context: &RelationContext) -> Vec<Row> {
    let sessions = context.database().living_sessions();
    let rows = sessions.iter().flat_map(|session| {
        let mut sums = ByKind::new();
        add_kinds(&mut sums, session.statements.get());
        kind_rows(row![session.id], &sums)
    });
    rows.collect()
}

fn by_account(context: &RelationContext) -> Vec<Row> {
    let all = by_key(context, |user, host| (user.to_owned(), host.to_owned()));
    let rows = all.iter();
    rows.flat_map(|((user, host), sums)| kind_rows(row![user, host], sums))
        .collect()
}

fn by_user(context: &RelationContext) -> Vec<Row> {
    let all = by_key(context, |user, _| user.to_owned());
    let rows = all.iter();
    rows.flat_map(|(user, sums)| kind_rows(row![user], sums))
        .collect()
}

fn by_host(context: &RelationContext) -> Vec<Row> {
    let all = by_key(context, |_, host| host.to_owned());
    let rows = all.iter();
    rows.flat_map(|(host, sums)| kind_rows(row![host], sums))
        .collect()
}

/// Rows of the non-empty buckets, after these columns.
fn histogram_rows(before: &[Value], buckets: impl Iterator<Item = TimeBucket> + Clone) -> Vec<Row> {
    let all: u64 = buckets.clone().map(|bucket| bucket.count).sum();
    let mut lower = 0;
    let rows = buckets.filter(|bucket| bucket.count > 0).map(|bucket| {
        lower += bucket.count;
        let mut row = before.to_vec();
        row.extend(row![
            bucket.number,
            pico(bucket.low),
            pico(bucket.high),
            bucket.count,
            lower,
            Value::Float(lower as f64 / all.max(1) as f64),
        ]);
        row
    });
    rows.collect()
}

fn histogram_by_digest(context: &RelationContext) -> Vec<Row> {
    let digests = context.database().instrumentation.digests.all();
    let rows = digests.iter().flat_map(|digest| {
        let before = row![digest.database.as_deref(), digest.hash()];
        let buckets: Vec<TimeBucket> = digest.buckets().collect();
        histogram_rows(&before, buckets.into_iter())
    });
    rows.collect()
}

fn histogram_global(context: &RelationContext) -> Vec<Row> {
    let times = context.database().instrumentation.digests.times();
    histogram_rows(&[], times.into_iter())
}
