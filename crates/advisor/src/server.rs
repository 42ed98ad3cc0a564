//! The server's version, and its rules of temporary tables.
//!
//! MySQL manual: "Internal Temporary Table Use in MySQL"; MariaDB documentation: "Internal Temporary Tables". Facts
//! that the manuals leave open were measured on MariaDB 10.11 and MySQL 9.7.

use std::collections::BTreeMap;

use serde::Serialize;

/// A family of servers that share their optimizer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// MySQL and Percona Server.
    MySql,
    /// MariaDB.
    MariaDb,
    /// Mayfly, whose temporary tables have no rule that sends them to disk.
    Mayfly,
}

/// A server: its family, version and settings, as far as they are known.
#[derive(Debug, Clone, Serialize)]
pub struct Server {
    /// Its family, whose rules apply.
    pub family: Family,
    /// Major, minor and patch.
    pub version: (u32, u32, u32),
    /// Its name and version as readable text.
    pub name: String,
    /// Whether the version was given or detected, and not assumed.
    pub known: bool,
    /// Global variables; empty when there is only a log.
    #[serde(skip)]
    pub variables: BTreeMap<String, String>,
}

/// Strings longer than this, in characters, are made BLOBs by servers that keep fixed-length rows
/// (`CONVERT_IF_BIGGER_TO_BLOB`).
pub(crate) const LONG_STRING_CHARACTERS: u64 = 512;

/// The default of `tmp_table_size` and of `max_heap_table_size`.
const LIMIT_DEFAULT: u64 = 16 << 20;

impl Default for Server {
    /// The newest MySQL, whose rules give the fewest findings.
    fn default() -> Self {
        Self::of_version("8.4.0", false)
    }
}

impl Server {
    /// The server with a version from `VERSION()`, such as `10.11.6-MariaDB-log` or `8.0.36-28`.
    pub fn of_version(version: &str, known: bool) -> Self {
        let lower = version.to_ascii_lowercase();
        // Old clients are sent 5.5.5 before MariaDB's own version.
        let digits = version.strip_prefix("5.5.5-").unwrap_or(version);
        let mut numbers = digits
            .split(|c: char| !c.is_ascii_digit())
            .map(|part| part.parse().unwrap_or_default());
        let mut next = || numbers.next().unwrap_or_default();
        let numbers = (next(), next(), next());
        let family = if lower.contains("mayfly") {
            Family::Mayfly
        } else if lower.contains("mariadb") || (10..=13).contains(&numbers.0) {
            Family::MariaDb
        } else {
            Family::MySql
        };
        let title = match family {
            Family::MySql => "MySQL",
            Family::MariaDb => "MariaDB",
            Family::Mayfly => "Mayfly",
        };
        Self {
            family,
            version: numbers,
            name: format!("{title} {}.{}.{}", numbers.0, numbers.1, numbers.2),
            known,
            variables: BTreeMap::new(),
        }
    }

    /// The server that wrote a log with this first line.
    pub(crate) fn of_banner(banner: &str) -> Option<Self> {
        let (_, behind) = banner.split_once("Version: ")?;
        let (version, comment) = behind.split_once(' ').unwrap_or((behind, ""));
        let mut server = Self::of_version(version, true);
        if comment.to_ascii_lowercase().contains("percona") {
            server.name = server.name.replace("MySQL", "Percona Server");
        }
        Some(server)
    }

    /// A global variable's text.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// The numeric value of a global variable.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.variable(name)?.parse().ok()
    }

    /// Whether a flag of `optimizer_switch` is set.
    pub fn switch(&self, name: &str) -> Option<bool> {
        let flags = self.variable("optimizer_switch")?;
        let mut flags = flags.split(',').filter_map(|flag| flag.split_once('='));
        flags
            .find(|(flag, _)| *flag == name)
            .map(|(_, value)| value == "on")
    }

    /// Size in bytes at which a temporary table goes to disk.
    pub(crate) fn size_limit(&self) -> u64 {
        let limit = |name| self.number(name).unwrap_or(LIMIT_DEFAULT);
        if self.has_temp_table_engine() {
            limit("tmp_table_size")
        } else {
            limit("tmp_table_size").min(limit("max_heap_table_size"))
        }
    }

    /// The settings that determine [`Self::size_limit`].
    pub(crate) fn size_settings(&self) -> &'static [&'static str] {
        if self.has_temp_table_engine() {
            &["tmp_table_size"]
        } else {
            &["tmp_table_size", "max_heap_table_size"]
        }
    }

    /// Whether it has the engine TempTable of MySQL and Mayfly, which keeps strings at their actual length.
    pub(crate) fn has_temp_table_engine(&self) -> bool {
        let engine = self.variable("internal_tmp_mem_storage_engine");
        let has = match self.family {
            Family::MySql => self.version >= (8, 0, 2),
            Family::Mayfly => true,
            Family::MariaDb => false,
        };
        has && !engine.is_some_and(|engine| engine.eq_ignore_ascii_case("memory"))
    }

    /// Whether a temporary table with a BLOB, TEXT or JSON column is created on disk.
    pub(crate) fn blobs_on_disk(&self) -> bool {
        match self.family {
            Family::MariaDb => self.version < (13, 1, 0),
            Family::MySql => !self.has_temp_table_engine() || self.version < (8, 0, 13),
            Family::Mayfly => false,
        }
    }

    /// Whether joined rows and groups go through a temporary table into the sort of ORDER BY, and not directly.
    pub(crate) fn sorts_in_tables(&self) -> bool {
        !(self.family == Family::MySql && self.version >= (8, 0, 20))
    }

    /// Whether a derived table is merged although its select list has a subquery.
    pub(crate) fn merges_selected_subqueries(&self) -> bool {
        self.family != Family::MySql
    }

    /// Whether GROUP BY sorts its result, unless there is ORDER BY NULL.
    pub fn sorts_groups(&self) -> bool {
        match self.family {
            Family::MySql => self.version < (8, 0, 13),
            Family::MariaDb => true,
            Family::Mayfly => false,
        }
    }

    /// Whether tables are joined by a hash join where no index finds rows.
    pub(crate) fn has_hash_joins(&self) -> bool {
        match self.family {
            Family::MySql => self.version >= (8, 0, 20),
            Family::MariaDb => false,
            Family::Mayfly => true,
        }
    }

    /// Whether an index may be on an expression: `CREATE INDEX … ((expression))`.
    pub(crate) fn has_functional_indexes(&self) -> bool {
        self.family == Family::MySql && self.version >= (8, 0, 13)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_by_their_version() {
        for (version, family, numbers, blobs_on_disk) in [
            (
                "10.11.19-MariaDB-0+deb12u1-log",
                Family::MariaDb,
                (10, 11, 19),
                true,
            ),
            ("5.5.5-10.6.4-MariaDB", Family::MariaDb, (10, 6, 4), true),
            ("13.1.0-MariaDB", Family::MariaDb, (13, 1, 0), false),
            ("8.0.36-28", Family::MySql, (8, 0, 36), false),
            ("8.0.11", Family::MySql, (8, 0, 11), true),
            ("5.7.44-log", Family::MySql, (5, 7, 44), true),
            ("9.7.4-2", Family::MySql, (9, 7, 4), false),
        ] {
            let server = Server::of_version(version, true);
            assert_eq!(server.family, family, "{version}");
            assert_eq!(server.version, numbers, "{version}");
            assert_eq!(server.blobs_on_disk(), blobs_on_disk, "{version}");
        }
    }

    #[test]
    fn mayfly_has_a_limit_of_its_own() {
        let banner = "mayfly, Version: 8.4.0-mayfly (Mayfly). started with:";
        let mut server = Server::of_banner(banner).expect("a banner");
        assert_eq!(server.family, Family::Mayfly);
        assert_eq!(server.size_settings(), ["tmp_table_size"]);
        server
            .variables
            .insert("internal_tmp_mem_storage_engine".into(), "MEMORY".into());
        assert_eq!(
            server.size_settings(),
            ["tmp_table_size", "max_heap_table_size"]
        );
    }

    #[test]
    fn servers_by_their_logs() {
        let banner = "/usr/sbin/mysqld, Version: 8.0.36-28 (Percona Server (GPL), Release 28). started with:";
        let server = Server::of_banner(banner).expect("a banner");
        assert_eq!(server.name, "Percona Server 8.0.36");
        assert!(Server::of_banner("nothing").is_none());
    }

    #[test]
    fn the_smaller_setting_limits_rows_of_fixed_length() {
        let mut server = Server::of_version("10.11.19-MariaDB", true);
        assert_eq!(server.size_limit(), 16 << 20);
        server
            .variables
            .insert("tmp_table_size".into(), "1048576".into());
        server
            .variables
            .insert("max_heap_table_size".into(), "2097152".into());
        assert_eq!(server.size_limit(), 1 << 20);
        server
            .variables
            .insert("optimizer_switch".into(), "a=on,derived_merge=off".into());
        assert_eq!(server.switch("derived_merge"), Some(false));
        assert_eq!(server.switch("b"), None);
    }
}
