//! Defaults of system variables that depend on the machine and on the engine's use.

use mayfly_memory::{physical_memory, usable_memory};

use crate::options::{DatabaseOptions, Defaults};
use crate::variables::Settings;
use crate::variables::typed;

/// Divisor of the memory that the process may use: the share of temporary tables. Tables, their transactions and the
/// operating system's file cache, where rows go that do not fit, need the rest.
const TEMPORARY_PART: u64 = 2;
/// Minimum of `temptable_max_ram`.
const LEAST: u64 = 2 << 20;
/// Minimum and maximum of MySQL's `temptable_max_ram`, 3 % of the machine's memory (manual, Server System Variables,
/// temptable_max_ram).
const MYSQL_RAM: (u64, u64) = (1 << 30, 4 << 30);
const MYSQL_RAM_PERCENT: u64 = 3;
/// MySQL's `tmp_table_size`.
const MYSQL_TABLE_SIZE: u64 = 16 << 20;
/// MariaDB's `group_concat_max_len`.
const LONG_GROUP_CONCAT: u64 = 1 << 20;

/// Sets the defaults selected by `options`; see [`Defaults`].
pub(crate) fn put(globals: &mut Settings, options: &DatabaseOptions) {
    if options.defaults == Defaults::MySql {
        let part = physical_memory().unwrap_or_default() / 100 * MYSQL_RAM_PERCENT;
        globals.put(
            typed::TEMPTABLE_MAX_RAM,
            part.clamp(MYSQL_RAM.0, MYSQL_RAM.1),
        );
        globals.put(typed::TMP_TABLE_SIZE, MYSQL_TABLE_SIZE);
        return;
    }
    // A limit of all memory is enforced on all users of memory, including temporary tables. Where the system does not
    // report its memory, the machine-independent default stays.
    let part = || usable_memory().map(|memory| memory / TEMPORARY_PART);
    if let Some(bytes) = options.memory_limit.or_else(part) {
        globals.put(typed::TEMPTABLE_MAX_RAM, bytes.max(LEAST));
    }
    if options.defaults == Defaults::Embedded {
        globals.put(typed::CTE_MAX_RECURSION_DEPTH, u64::from(u32::MAX));
        globals.put(typed::GROUP_CONCAT_MAX_LEN, LONG_GROUP_CONCAT);
    }
}
