//! `KEY_CACHES`, as in MariaDB: the key caches of internal temporary tables in the MyISAM engine.

use mayfly_types::Value;

use super::context::RelationContext;
use super::relation::Relation;
use super::row::{Row, row};

pub(super) const RELATIONS: &[Relation] = &[Relation::new("KEY_CACHES", rows)];

fn rows(context: &RelationContext) -> Vec<Row> {
    let caches = context.database().legacy_engines.key_caches.all();
    let rows = caches.into_iter().map(|(name, cache)| {
        let (options, counters) = (cache.options(), cache.counters());
        row![
            name,
            Value::Null,
            Value::Null,
            options.key_buffer_size,
            u64::from(options.block_size),
            counters.blocks_used,
            counters.blocks_unused,
            counters.blocks_not_flushed,
            counters.read_requests,
            counters.reads,
            counters.write_requests,
            counters.writes,
        ]
    });
    rows.collect()
}
