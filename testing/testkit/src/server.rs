//! The driver for MariaDB and MySQL: one connection per session for the whole file.
//!
//! It must be one connection: a pool that resets connections would drop temporary tables, user variables and session
//! variables between two statements of a file.

use std::path::{Path, PathBuf};

use mysql::consts::ColumnType;
use sqllogictest::{DB, DBOutput};

use crate::cell;
use crate::client::{Answer, Client, ServerError};
use crate::column::ColumnKind;
use crate::runner::{Paths, ROOT};

/// The servers that golden files are run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flavour {
    /// The oracle that the expectations come from.
    MySql,
    /// The peer whose results are compared with every file.
    MariaDb,
    /// Mayfly over the wire.
    Mayfly,
}

impl Flavour {
    /// The label of `skipif` and `onlyif` lines.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::MySql => "mysql",
            Self::MariaDb => "mariadb",
            Self::Mayfly => "mayfly",
        }
    }

    /// Statements that give a session of this server the settings of a fresh MySQL 8.4 session.
    fn start(self) -> &'static [&'static str] {
        match self {
            Self::MySql => &[
                "SET NAMES utf8mb4",
                "SET time_zone = '+00:00'",
                "SET explain_format = TRADITIONAL",
            ],
            Self::MariaDb => &[
                "SET sql_mode = 'ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,\
                 NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'",
                "SET NAMES utf8mb4 COLLATE utf8mb4_uca1400_nopad_ai_ci",
                "SET collation_server = utf8mb4_uca1400_nopad_ai_ci",
                "SET time_zone = '+00:00'",
                "SET default_storage_engine = InnoDB",
                // Hash joins: the files join tens of thousands of rows without an index.
                "SET join_cache_level = 4",
            ],
            Self::Mayfly => &["SET NAMES utf8mb4", "USE test"],
        }
    }
}

/// MySQL's default collation.
const COLLATION: &str = "utf8mb4_0900_ai_ci";

/// The nearest collation of MariaDB 10.11: newer Unicode, no padding.
const MARIADB_COLLATION: &str = "utf8mb4_uca1400_nopad_ai_ci";

/// A session on a MariaDB or MySQL server.
#[derive(Debug)]
pub struct ServerSession {
    client: Client,
    flavour: Flavour,
    paths: Paths,
}

impl ServerSession {
    /// Connects as an account without a password, without a database unless that is root, and sets the session up.
    ///
    /// # Errors
    /// The server cannot be reached, or refuses the account or a setting.
    pub fn connect_as(
        user: &str,
        socket: &Path,
        flavour: Flavour,
        paths: Paths,
    ) -> Result<Self, ServerError> {
        let mut client = Client::connect(socket, user)?;
        for statement in flavour.start() {
            if user == ROOT || !statement.starts_with("USE") {
                client.query(statement)?;
            }
        }
        Ok(Self {
            client,
            flavour,
            paths,
        })
    }

    fn localise(&self, sql: &str) -> String {
        let sql = self.paths.insert(sql);
        match self.flavour {
            Flavour::MariaDb => sql.replace(COLLATION, MARIADB_COLLATION),
            Flavour::MySql | Flavour::Mayfly => sql,
        }
    }

    fn globalise(&self, text: &str) -> String {
        let text = self.paths.remove(text);
        match self.flavour {
            Flavour::MariaDb => text.replace(MARIADB_COLLATION, COLLATION),
            Flavour::MySql | Flavour::Mayfly => text,
        }
    }
}

impl DB for ServerSession {
    type Error = ServerError;
    type ColumnType = ColumnKind;

    fn run(&mut self, sql: &str) -> Result<DBOutput<ColumnKind>, ServerError> {
        match self.client.query(&self.localise(sql)) {
            Ok(Answer::Done(count)) => Ok(DBOutput::StatementComplete(count)),
            Ok(Answer::Rows { types, rows }) => {
                let types = types.into_iter().map(kind).collect();
                let rows = rows
                    .iter()
                    .map(|row| {
                        let cells = row.iter().map(|value| cell::escape(value.as_deref()));
                        cells.map(|text| self.globalise(&text)).collect()
                    })
                    .collect();
                Ok(DBOutput::Rows { types, rows })
            }
            Err(mut error) => {
                error.message = self.globalise(&error.message);
                Err(error)
            }
        }
    }

    fn engine_name(&self) -> &str {
        self.flavour.label()
    }

    fn error_sql_state(error: &ServerError) -> Option<String> {
        Some(error.state.clone())
    }
}

/// The family of a type of the protocol (`enum_field_types`).
fn kind(of: ColumnType) -> ColumnKind {
    match of as u8 {
        0 | 246 => ColumnKind::Decimal,
        1 | 2 | 3 | 8 | 9 | 13 | 16 => ColumnKind::Integer,
        4 | 5 => ColumnKind::Real,
        7 | 10 | 11 | 12 | 14 | 17 | 18 | 19 => ColumnKind::Temporal,
        _ => ColumnKind::Text,
    }
}

/// The socket of a server of this flavour on this machine, from the environment variable `MAYFLY_MARIADB_SOCKET`,
/// `MAYFLY_MYSQL_SOCKET` or, for the coordinator of a cluster, `MAYFLY_CLUSTER_SOCKET`, if set.
#[must_use]
pub fn socket(flavour: Flavour) -> Option<PathBuf> {
    let name = match flavour {
        Flavour::MySql => "MAYFLY_MYSQL_SOCKET",
        Flavour::MariaDb => "MAYFLY_MARIADB_SOCKET",
        Flavour::Mayfly => "MAYFLY_CLUSTER_SOCKET",
    };
    std::env::var_os(name).map(PathBuf::from)
}
