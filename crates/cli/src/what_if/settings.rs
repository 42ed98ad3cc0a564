//! The cases of `mayfly what-if`: the limits and engines under which the statement runs.

use mayfly_engine::{Result, Session};

/// Value that means no limit, for a setting without a special value for it.
const UNLIMITED: u64 = 1 << 40;
/// MySQL's default of `tmp_table_size` and `max_heap_table_size`.
const DEFAULT_SIZE: u64 = 16 << 20;
/// MySQL's default of `key_buffer_size`, and the first article's value.
const KEY_BUFFERS: [u64; 2] = [8 << 20, 128 << 20];
/// The least limit that is tried.
const LIMIT_MIN: u64 = 1 << 20;

/// The engines of internal temporary tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Engine {
    /// Mayfly's own.
    TempTable,
    /// MEMORY, with this engine on disk.
    Legacy(&'static str),
}

/// A case: one way to run the statement.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) title: String,
    pub(crate) engine: Engine,
    /// Greatest bytes of memory of a temporary table.
    pub(crate) limit: u64,
    /// Bytes of the key cache, which MyISAM's indexes use.
    pub(crate) key_buffer: u64,
    /// Whether tables are on disk from their first row on.
    pub(crate) on_disk: bool,
}

impl Case {
    /// Whether no limit sends a table to disk.
    pub(crate) fn stays_in_memory(&self) -> bool {
        !self.on_disk && self.limit == UNLIMITED
    }

    /// TempTable without a memory limit.
    pub(crate) fn unlimited() -> Self {
        Self {
            title: "TempTable, in memory".to_owned(),
            engine: Engine::TempTable,
            limit: UNLIMITED,
            key_buffer: KEY_BUFFERS[0],
            on_disk: false,
        }
    }

    /// Applies the settings of the case; other settings are unchanged.
    pub(crate) fn apply(&self, session: &mut Session) -> Result<()> {
        for sql in self.statements() {
            session.execute(&sql)?;
        }
        Ok(())
    }

    /// The statements that apply the case.
    pub(crate) fn statements(&self) -> Vec<String> {
        let (memory, disk) = match self.engine {
            Engine::TempTable => ("TempTable", "INNODB"),
            Engine::Legacy(disk) => ("MEMORY", disk),
        };
        let global = self.limit.max(2 << 20);
        let big = u8::from(self.on_disk);
        vec![
            format!(
                "SET tmp_table_size = {0}, max_heap_table_size = {0}, big_tables = {big}",
                self.limit
            ),
            format!("SET GLOBAL temptable_max_ram = {global}"),
            format!("SET internal_tmp_mem_storage_engine = '{memory}'"),
            format!("SET internal_tmp_disk_storage_engine = '{disk}'"),
            format!("SET GLOBAL key_buffer_size = {}", self.key_buffer),
        ]
    }
}

/// The cases for a statement whose largest temporary table needs `peak` bytes: both kinds of engine in memory, then at
/// `limits`, or at MySQL's default and a tenth of the peak where none are given; and on disk from the first row on.
pub(crate) fn cases(peak: u64, limits: &[u64]) -> Vec<Case> {
    let mut limits = limits.to_vec();
    if limits.is_empty() {
        // A size that users write: whole mebibytes.
        let tenth = peak / 10 / LIMIT_MIN * LIMIT_MIN;
        limits = vec![DEFAULT_SIZE, tenth.max(LIMIT_MIN)];
    }
    limits.sort_unstable_by(|a, b| b.cmp(a));
    limits.dedup();
    let size = |bytes: u64| mayfly_charts::Unit::Bytes.write(bytes as f64);
    let mut cases = vec![Case::unlimited()];
    for limit in &limits {
        cases.push(Case {
            title: format!("TempTable, {}", size(*limit)),
            limit: *limit,
            ..Case::unlimited()
        });
    }
    cases.push(Case {
        title: "MEMORY, in memory".to_owned(),
        engine: Engine::Legacy("MYISAM"),
        ..Case::unlimited()
    });
    for limit in &limits {
        for key_buffer in KEY_BUFFERS {
            cases.push(Case {
                title: format!(
                    "MEMORY {}, then MyISAM, key buffer {}",
                    size(*limit),
                    size(key_buffer)
                ),
                engine: Engine::Legacy("MYISAM"),
                limit: *limit,
                key_buffer,
                on_disk: false,
            });
        }
        cases.push(Case {
            title: format!("MEMORY {}, then InnoDB", size(*limit)),
            engine: Engine::Legacy("INNODB"),
            limit: *limit,
            ..Case::unlimited()
        });
    }
    cases
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_are_those_of_the_limits_largest_first() {
        let titles =
            |cases: Vec<Case>| cases.into_iter().map(|case| case.title).collect::<Vec<_>>();
        assert_eq!(
            titles(cases(500 << 20, &[])),
            [
                "TempTable, in memory",
                "TempTable, 50M",
                "TempTable, 16M",
                "MEMORY, in memory",
                "MEMORY 50M, then MyISAM, key buffer 8M",
                "MEMORY 50M, then MyISAM, key buffer 128M",
                "MEMORY 50M, then InnoDB",
                "MEMORY 16M, then MyISAM, key buffer 8M",
                "MEMORY 16M, then MyISAM, key buffer 128M",
                "MEMORY 16M, then InnoDB",
            ]
        );
        assert_eq!(titles(cases(25_503_560, &[]))[2], "TempTable, 2M");
        assert_eq!(cases(0, &[1 << 20, 1 << 20]).len(), 6);
    }
}
