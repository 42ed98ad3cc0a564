//! `accounts`, `users` and `hosts`: connections by account.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use mayfly_types::Value;

use crate::information_schema::context::RelationContext;
use crate::information_schema::relation::Relation;
use crate::information_schema::row::{Row, row};

pub(super) const RELATIONS: &[Relation] = &[
    Relation::new("performance_schema.accounts", accounts),
    Relation::new("performance_schema.users", users),
    Relation::new("performance_schema.hosts", hosts),
];

#[derive(Default)]
struct Connections {
    now: u64,
    all: u64,
    memory_most: u64,
}

/// The connections of accounts, grouped by the columns that `key` returns.
fn by_key(context: &RelationContext, key: impl Fn(&str, &str) -> Vec<String>) -> Vec<Row> {
    let mut all: BTreeMap<Vec<String>, Connections> = BTreeMap::new();
    let database = context.database();
    for ((user, host), account) in database.instrumentation.accounts.all() {
        let sum = all.entry(key(&user, &host)).or_default();
        sum.now += account.connected.load(Ordering::Relaxed);
        sum.all += account.connections.load(Ordering::Relaxed);
        let most = account.memory_most.load(Ordering::Relaxed);
        sum.memory_most = sum.memory_most.max(most);
    }
    for session in database.living_sessions() {
        let identity = session.identity();
        let sum = all.entry(key(&identity.user, &identity.host)).or_default();
        sum.memory_most = sum.memory_most.max(session.memory().rows.peak());
    }
    let rows = all.into_iter().map(|(key, sum)| {
        let number = |number: u64| Value::Int(i64::try_from(number).unwrap_or(i64::MAX));
        let mut row: Row = key.into_iter().flat_map(|part| row![part]).collect();
        row.extend([number(sum.now), number(sum.all)]);
        row.extend(row![sum.memory_most, sum.memory_most]);
        row
    });
    rows.collect()
}

fn accounts(context: &RelationContext) -> Vec<Row> {
    by_key(context, |user, host| vec![user.to_owned(), host.to_owned()])
}

fn users(context: &RelationContext) -> Vec<Row> {
    by_key(context, |user, _| vec![user.to_owned()])
}

fn hosts(context: &RelationContext) -> Vec<Row> {
    by_key(context, |_, host| vec![host.to_owned()])
}
