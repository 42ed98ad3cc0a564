//! `performance_schema`: statements, stages, sessions and temporary tables, from the engine's
//! [`instrumentation`](crate::instrumentation). Thread ids are connection ids.

mod accounts;
mod locks;
mod memory;
mod secondary;
mod setup;
mod stages;
mod statements;
mod summaries;
mod threads;

use super::relation::Relation;

pub(crate) use self::setup::{ACTOR, add_actor, change, remove_actors};

/// Value of EXECUTION_ENGINE.
fn engine_name(is_secondary: bool) -> &'static str {
    if is_secondary { "SECONDARY" } else { "PRIMARY" }
}

pub(super) const RELATIONS: &[&[Relation]] = &[
    accounts::RELATIONS,
    locks::RELATIONS,
    memory::RELATIONS,
    secondary::RELATIONS,
    setup::RELATIONS,
    stages::RELATIONS,
    statements::RELATIONS,
    summaries::RELATIONS,
    threads::RELATIONS,
];
