//! Subjects of the experiments: Mayfly with each of its engines of temporary tables, and a server if one is named.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use mayfly_advisor::{Family, Server};
use mayfly_engine::Database;

use super::client::{Client, DATABASE, Place, Trouble};
use crate::access;
use crate::options::Options;
use crate::what_if::settings::{Case, Engine};

/// A system that runs the experiments.
pub(super) struct Subject {
    /// Its name for people.
    pub(super) name: String,
    pub(super) place: Place,
    /// `None` for Mayfly, which has all engines.
    server: Option<Abilities>,
    /// Time limit of a statement in seconds.
    pub(super) seconds: u64,
    /// Directory that is removed with the subject.
    directory: Option<PathBuf>,
}

/// Engines that a server has for its internal temporary tables.
struct Abilities {
    family: Family,
    /// MEMORY can hold them.
    memory: bool,
    /// TempTable can hold them.
    temptable: bool,
    /// The engine on disk.
    disk: &'static str,
}

impl Subject {
    /// Mayfly in this process. Tables are kept in memory, or in a separate data directory below `directory`.
    pub(super) fn mayfly(
        options: &Options,
        directory: Option<&Path>,
        seconds: u64,
    ) -> Result<Self, String> {
        let mut database_options = options.engine.database_options()?;
        let own = directory
            .map(|directory| directory.join(format!("mayfly-reproduce-{}", std::process::id())));
        database_options.datadir.clone_from(&own);
        let database = Database::open(database_options).map_err(|error| error.to_string())?;
        let subject = Self {
            name: "Mayfly".to_owned(),
            place: Place::Here(Arc::clone(&database)),
            server: None,
            seconds,
            directory: own,
        };
        make_database(&subject.place)?;
        Ok(subject)
    }

    /// The server at an address.
    pub(super) fn server(
        text: &str,
        trust: &access::TrustOptions,
        seconds: u64,
    ) -> Result<Self, String> {
        let (mut address, at) = access::of_text(text)?;
        trust.apply(&mut address)?;
        let place = Place::There(address);
        let fail = |trouble: Trouble| format!("{at}: {}", String::from(trouble));
        let mut client = place.connect_outside(seconds).map_err(fail)?;
        let mut value = |sql: &str| {
            let rows = client.rows(sql).map_err(fail)?;
            Ok::<_, String>(rows.into_iter().flatten().flatten().next_back())
        };
        let version = value("SELECT VERSION()")?.unwrap_or_default();
        let server = Server::of_version(&version, true);
        let is_maria = server.family == Family::MariaDb;
        let has = |row: Option<String>| row.is_some();
        let temptable = has(value(
            "SHOW VARIABLES LIKE 'internal_tmp_mem_storage_engine'",
        )?);
        let disk = if is_maria {
            let aria = value("SHOW VARIABLES LIKE 'aria_used_for_temp_tables'")?;
            if aria.as_deref() == Some("ON") {
                "Aria"
            } else {
                "MyISAM"
            }
        } else {
            let disk = value("SHOW VARIABLES LIKE 'internal_tmp_disk_storage_engine'")?;
            let is_myisam = disk.is_some_and(|engine| engine.eq_ignore_ascii_case("myisam"));
            if is_myisam || (!temptable && server.version < (5, 7, 0)) {
                "MyISAM"
            } else {
                "InnoDB"
            }
        };
        let memory = !temptable
            || client
                .run("SET SESSION internal_tmp_mem_storage_engine = MEMORY")
                .is_ok();
        if client
            .rows(&format!("SHOW DATABASES LIKE '{DATABASE}'"))
            .is_ok_and(|rows| !rows.is_empty())
        {
            return Err(format!(
                "{at}: there is a database `{DATABASE}` already: if an interrupted run left it, drop it"
            ));
        }
        // From here on the database is dropped at the end.
        make_database(&place).map_err(|error| format!("{at}: {error}"))?;
        Ok(Self {
            name: server.name,
            place,
            server: Some(Abilities {
                family: server.family,
                memory,
                temptable,
                disk,
            }),
            seconds,
            directory: None,
        })
    }

    /// Whether it is Mayfly.
    pub(super) fn is_mayfly(&self) -> bool {
        self.server.is_none()
    }

    /// A client in the database of the experiments.
    pub(super) fn connect(&self) -> Result<Box<dyn Client>, Trouble> {
        self.place.connect(self.seconds)
    }

    /// Its engines of internal temporary tables, for a heading.
    pub(super) fn engines(&self) -> String {
        match &self.server {
            None => "Mayfly".to_owned(),
            Some(it) => {
                let memory = match (it.memory, it.temptable) {
                    (true, true) => "MEMORY or TempTable",
                    (_, true) => "TempTable",
                    _ => "MEMORY",
                };
                format!("{} ({memory}, {})", self.name, it.disk)
            }
        }
    }

    /// The statements that set up a case; `None` where it has no such engine.
    pub(super) fn settings(&self, case: &Case) -> Option<Vec<String>> {
        let Some(abilities) = &self.server else {
            return Some(case.statements());
        };
        let engine = match case.engine {
            Engine::TempTable if abilities.temptable => Some("TempTable"),
            // A table that stays in memory needs no engine on disk.
            Engine::Legacy(disk) if abilities.has(disk) || case.stays_in_memory() => {
                // Tables that are on disk from their first row on need no engine in memory.
                match (abilities.temptable, abilities.memory || case.on_disk) {
                    (false, _) => None,
                    (true, true) if abilities.memory => Some("MEMORY"),
                    (true, true) => Some("TempTable"),
                    (true, false) => return None,
                }
            }
            _ => return None,
        };
        let mut statements = vec![
            format!(
                "SET SESSION tmp_table_size = {0}, max_heap_table_size = {0}",
                case.limit.max(16 << 10)
            ),
            format!("SET SESSION big_tables = {}", u8::from(case.on_disk)),
        ];
        if let Some(engine) = engine {
            statements.push(format!(
                "SET SESSION internal_tmp_mem_storage_engine = {engine}"
            ));
        }
        Some(statements)
    }

    /// Sets up a case; returns whether there is such an engine.
    pub(super) fn set(&self, client: &mut dyn Client, case: &Case) -> Result<bool, Trouble> {
        let Some(statements) = self.settings(case) else {
            return Ok(false);
        };
        for sql in statements {
            client.run(&sql)?;
        }
        Ok(true)
    }

    /// Notes on a server's figures.
    pub(super) fn notes(&self) -> Vec<String> {
        let Some(it) = &self.server else {
            return Vec::new();
        };
        let name = &self.name;
        let mut notes = vec![format!(
            "{name} is asked through a connection, and its global settings are left as they are: key_buffer_size, the buffer pool and \
             temptable_max_ram are its own. Its tables on disk are {}.",
            it.disk
        )];
        if !it.memory {
            notes.push(format!(
                "{name} has no choice of MEMORY for internal temporary tables, so cases of it are left out there."
            ));
        }
        if !it.temptable {
            notes.push(format!(
                "{name} has no TempTable engine, so cases of it are left out there."
            ));
        }
        notes
    }

    /// Whether two cases that differ only in global settings would be equal here.
    pub(super) fn keeps_global_settings(&self) -> bool {
        self.server.is_some()
    }

    /// The engine of temporary tables on disk that is compared with TempTable: InnoDB, or a server's replacement for
    /// it.
    pub(super) fn disk_engine(&self) -> Engine {
        match &self.server {
            Some(it) if !it.has("INNODB") => Engine::Legacy("MYISAM"),
            _ => Engine::Legacy("INNODB"),
        }
    }

    /// Whether it is a MariaDB.
    pub(super) fn is_mariadb(&self) -> bool {
        self.server
            .as_ref()
            .is_some_and(|it| it.family == Family::MariaDb)
    }
}

/// Makes the database of the experiments.
fn make_database(place: &Place) -> Result<(), String> {
    let mut client = place.connect_outside(0)?;
    client.run(&format!(
        "CREATE DATABASE {DATABASE} DEFAULT CHARACTER SET utf8mb4"
    ))?;
    Ok(())
}

impl Abilities {
    /// Whether its engine on disk corresponds to one of the two that Mayfly has; Aria is MyISAM's successor.
    fn has(&self, disk: &str) -> bool {
        (disk == "INNODB") == (self.disk == "InnoDB")
    }
}

impl Drop for Subject {
    fn drop(&mut self) {
        // Failures of the cleanup are ignored.
        if self.server.is_some()
            && let Ok(mut client) = self.place.connect_outside(0)
        {
            let _ = client.run(&format!("DROP DATABASE {DATABASE}"));
        }
        if let Some(directory) = &self.directory {
            let _ = std::fs::remove_dir_all(directory);
        }
    }
}
