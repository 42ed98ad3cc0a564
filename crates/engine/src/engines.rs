//! Storage engines: the valid names of ENGINE=, and the rules that MySQL's engine of each name has. Every table is
//! stored by Mayfly itself, whatever its definition names.

use std::fmt::{self, Display, Formatter};

/// Storage engine that a table's definition names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Engine {
    InnoDb,
    Memory,
    MyIsam,
    Aria,
    Csv,
    Archive,
    Blackhole,
    PerformanceSchema,
    /// Tables whose rows are outside of the engine (a registered table). CREATE TABLE cannot name it.
    External,
}

impl Engine {
    /// The engines that ENGINE= may name, in the order of `information_schema.ENGINES`.
    pub(crate) const ALL: &[Self] = &[
        Self::InnoDb,
        Self::Memory,
        Self::MyIsam,
        Self::Aria,
        Self::Csv,
        Self::Archive,
        Self::Blackhole,
        Self::PerformanceSchema,
    ];

    /// The engine of a name in any case; HEAP is MEMORY.
    pub(crate) fn by_name(name: &str) -> Option<Self> {
        if name.eq_ignore_ascii_case("HEAP") {
            return Some(Self::Memory);
        }
        let mut engines = Self::ALL.iter().copied();
        engines.find(|engine| engine.name().eq_ignore_ascii_case(name))
    }

    /// Canonical spelling of the name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::InnoDb => "InnoDB",
            Self::Memory => "MEMORY",
            Self::MyIsam => "MyISAM",
            Self::Aria => "Aria",
            Self::Csv => "CSV",
            Self::Archive => "ARCHIVE",
            Self::Blackhole => "BLACKHOLE",
            Self::PerformanceSchema => "PERFORMANCE_SCHEMA",
            Self::External => "EXTERNAL",
        }
    }

    /// Description in `information_schema.ENGINES`.
    pub(crate) fn comment(self) -> &'static str {
        match self {
            Self::PerformanceSchema => "What the engine knows of itself",
            _ => "Mayfly's base tables, under the name that statements use",
        }
    }

    /// Whether tables have foreign keys.
    pub(crate) fn has_foreign_keys(self) -> bool {
        self == Self::InnoDb
    }

    /// Whether tables take part in transactions, XA and savepoints.
    pub(crate) fn has_transactions(self) -> bool {
        matches!(self, Self::InnoDb | Self::External)
    }

    /// Whether AUTO_INCREMENT numbers rows for each value of the key parts before the column.
    pub(crate) fn numbers_by_prefix(self) -> bool {
        matches!(self, Self::MyIsam | Self::Aria)
    }
}

impl Display for Engine {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
