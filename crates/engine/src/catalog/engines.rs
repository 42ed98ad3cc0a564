//! Storage engines: the names that ENGINE= may have. Every table is Mayfly's own whatever its
//! definition names; the name is kept for SHOW CREATE TABLE.

/// A row of `information_schema.ENGINES`.
pub(crate) struct Engine {
    /// Its name.
    pub(crate) name: &'static str,
    /// DEFAULT, YES or NO.
    pub(crate) support: &'static str,
    /// What it is.
    pub(crate) comment: &'static str,
    /// Whether it has transactions, XA and savepoints.
    pub(crate) transactions: bool,
}

/// The engines.
pub(crate) const ENGINES: &[Engine] = &[
    Engine {
        name: "InnoDB",
        support: "DEFAULT",
        comment: "Mayfly's base tables, under the name that statements use",
        transactions: true,
    },
    Engine {
        name: "MEMORY",
        support: "YES",
        comment: "Mayfly's base tables; BLOB and TEXT columns are allowed",
        transactions: false,
    },
    Engine {
        name: "MyISAM",
        support: "YES",
        comment: "Mayfly's base tables, under the name that statements use",
        transactions: false,
    },
    Engine {
        name: "CSV",
        support: "YES",
        comment: "Mayfly's base tables, under the name that statements use",
        transactions: false,
    },
    Engine {
        name: "ARCHIVE",
        support: "YES",
        comment: "Mayfly's base tables, under the name that statements use",
        transactions: false,
    },
    Engine {
        name: "BLACKHOLE",
        support: "YES",
        comment: "Mayfly's base tables, under the name that statements use",
        transactions: false,
    },
    Engine {
        name: "PERFORMANCE_SCHEMA",
        support: "YES",
        comment: "What the engine knows of itself",
        transactions: false,
    },
];

/// The name as the engine writes it itself; HEAP is MEMORY.
pub(crate) fn canonical(name: &str) -> Option<&'static str> {
    let name = if name.eq_ignore_ascii_case("HEAP") {
        "MEMORY"
    } else {
        name
    };
    ENGINES
        .iter()
        .map(|engine| engine.name)
        .find(|known| known.eq_ignore_ascii_case(name))
}
