//! Table definitions: from CREATE TABLE and ALTER TABLE to the catalog's definition, with all checks.

pub(crate) mod account;
pub(crate) mod alter;
mod checks;
pub(crate) mod column_type;
pub(crate) mod create;
mod foreign_key_builder;
pub(crate) mod foreign_key_checks;
pub(crate) mod load;
pub(crate) mod partitioning;
pub(crate) mod primary_keys;
mod registered;
pub(crate) mod secondary;
mod structured_keys;
