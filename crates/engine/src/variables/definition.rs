//! Definitions of system variables: one literal each, in the group's file.

/// Scope of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// One value for the whole engine.
    Global,
    /// A session value, without a global one.
    Session,
    /// A global value that each new session copies.
    Both,
}

/// Type and range of a variable's values, with the default.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    /// ON or OFF.
    Boolean(bool),
    /// An unsigned integer; set values are clamped to the range and rounded down to a multiple of
    /// `block`.
    Unsigned {
        default: u64,
        min: u64,
        max: u64,
        block: u64,
    },
    /// A signed integer, clamped to the range.
    Signed { default: i64, min: i64, max: i64 },
    /// A floating-point number, clamped to the range.
    Double { default: f64, min: f64, max: f64 },
    /// A text; `None` is NULL.
    Text(Option<&'static str>),
    /// One of a list of words, by name or number.
    Choice {
        default: usize,
        words: &'static [&'static str],
    },
    /// A set of words, separated by commas.
    Flags {
        default: u64,
        words: &'static [&'static str],
    },
    /// A set of switches, written `name=on,other=off`; the `inert` ones have no effect.
    Switches {
        default: u64,
        words: &'static [&'static str],
        inert: &'static [&'static str],
    },
    /// The name of a character set; NULL where `nullable`.
    CharacterSet {
        default: &'static str,
        nullable: bool,
    },
    /// The name of a collation.
    Collation(&'static str),
    /// A time zone: `SYSTEM`, an offset or a name.
    TimeZone,
    /// The name of a storage engine.
    Engine(&'static str),
    /// The name of a locale.
    Locale(&'static str),
}

/// What a change of a global value is applied to at once. Other values are read where they are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Limit of memory of all temporary tables.
    TemporaryTableMemory,
    /// Limit of all temporary space.
    TemporarySpace,
    /// Limits of each user.
    UserLimits,
    /// Key caches and buffer pool of the legacy engines.
    LegacyEngines,
    /// Limit of changes that wait to be written.
    WriteBuffer,
    /// Limit of cached statements.
    StatementCache,
    /// Limit of kept results.
    ResultCache,
    /// Compression of temporary files.
    Compression,
    /// When commits are on disk.
    Durability,
    /// Modes of the server: read-only, offline.
    Modes,
    /// Options and files of the logs.
    Logs,
    /// Roles that all accounts have.
    MandatoryRoles,
}

/// A system variable.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SystemVariable {
    /// Its name.
    pub(crate) name: &'static str,
    /// Its scope.
    pub(crate) scope: Scope,
    /// Type and range of its values.
    pub(crate) kind: Kind,
    /// Whether SET can change it.
    pub(crate) dynamic: bool,
    /// Whether SET can change the session's value (else only SET GLOBAL: error 1621).
    pub(crate) session_writable: bool,
    /// Whether the hint SET_VAR can change it for a statement.
    pub(crate) hintable: bool,
    /// Whether NULL is allowed as a text.
    pub(crate) nullable: bool,
    /// Whether values other than the default have no effect, and are accepted with a warning.
    pub(crate) without_effect: bool,
    /// Whether SET PERSIST_ONLY may set it for the next start, though it is read-only.
    pub(crate) read_at_start: bool,
    /// Whether setting the session's value needs a privilege (error 1227).
    pub(crate) restricted: bool,
    /// Whether its value is logged with a statement, which is thus safe (the manual, "Replication and Variables").
    pub(crate) logged: bool,
    /// What a change of the global value is applied to.
    pub(crate) effect: Option<Effect>,
    /// Whether it is deprecated: SET warns.
    pub(crate) deprecated: bool,
    /// Its description, in a sentence.
    pub(crate) documentation: &'static str,
}

impl SystemVariable {
    const fn new(
        name: &'static str,
        scope: Scope,
        kind: Kind,
        documentation: &'static str,
    ) -> Self {
        Self {
            name,
            scope,
            kind,
            dynamic: true,
            session_writable: true,
            hintable: false,
            nullable: false,
            without_effect: false,
            read_at_start: false,
            restricted: false,
            logged: false,
            effect: None,
            deprecated: false,
            documentation,
        }
    }

    /// The name of its type, and the range of a number.
    pub(crate) fn metadata(&self) -> (&'static str, Option<(String, String)>) {
        fn range<N: ToString>(min: N, max: N) -> Option<(String, String)> {
            Some((min.to_string(), max.to_string()))
        }
        match self.kind {
            Kind::Boolean(_) => ("Boolean", None),
            Kind::Unsigned { min, max, .. } => ("Integer", range(min, max)),
            Kind::Signed { min, max, .. } => ("Integer", range(min, max)),
            Kind::Double { min, max, .. } => ("Numeric", range(min, max)),
            Kind::Choice { .. } => ("Enumeration", None),
            Kind::Flags { .. } | Kind::Switches { .. } => ("Set", None),
            _ => ("String", None),
        }
    }

    /// A read-only variable: set at startup, if ever.
    pub(crate) const fn read_only(mut self) -> Self {
        self.dynamic = false;
        self
    }

    /// A variable without effect, kept because clients and scripts set it.
    pub(crate) const fn without_effect(mut self) -> Self {
        self.without_effect = true;
        self
    }

    /// Marks a read-only variable that SET PERSIST_ONLY may set.
    pub(crate) const fn read_at_start(mut self) -> Self {
        self.read_at_start = true;
        self
    }

    /// Marks a variable whose session value needs a privilege to be set.
    pub(crate) const fn restricted(mut self) -> Self {
        self.restricted = true;
        self
    }

    /// Marks a variable whose value is logged with a statement.
    pub(crate) const fn logged(mut self) -> Self {
        self.logged = true;
        self
    }

    /// Says what a change of the global value is applied to.
    pub(crate) const fn on_change(mut self, effect: Effect) -> Self {
        self.effect = Some(effect);
        self
    }

    /// Marks a deprecated variable.
    pub(crate) const fn deprecated(mut self) -> Self {
        self.deprecated = true;
        self
    }

    /// Marks a variable that the hint SET_VAR can change.
    pub(crate) const fn hintable(mut self) -> Self {
        self.hintable = true;
        self
    }

    /// Marks a text variable that can be NULL.
    pub(crate) const fn nullable(mut self) -> Self {
        self.nullable = true;
        self
    }

    /// Marks a variable of which only the global value can be set.
    pub(crate) const fn session_read_only(mut self) -> Self {
        self.session_writable = false;
        self
    }
}

/// A variable with a global value only.
pub(super) const fn global(
    name: &'static str,
    kind: Kind,
    documentation: &'static str,
) -> SystemVariable {
    SystemVariable::new(name, Scope::Global, kind, documentation)
}

/// A variable without a global value.
pub(super) const fn session(
    name: &'static str,
    kind: Kind,
    documentation: &'static str,
) -> SystemVariable {
    SystemVariable::new(name, Scope::Session, kind, documentation)
}

/// A variable with a global value that sessions copy.
pub(super) const fn both(
    name: &'static str,
    kind: Kind,
    documentation: &'static str,
) -> SystemVariable {
    SystemVariable::new(name, Scope::Both, kind, documentation)
}

/// ON or OFF.
pub(super) const fn switch(default: bool) -> Kind {
    Kind::Boolean(default)
}

/// An unsigned integer.
pub(super) const fn number(default: u64, min: u64, max: u64) -> Kind {
    blocks(default, min, max, 1)
}

/// An unsigned integer that is a multiple of `block`.
pub(super) const fn blocks(default: u64, min: u64, max: u64, block: u64) -> Kind {
    Kind::Unsigned {
        default,
        min,
        max,
        block,
    }
}

/// A text.
pub(super) const fn text(default: &'static str) -> Kind {
    Kind::Text(Some(default))
}

/// One of several words; `default` is a position.
pub(super) const fn choice(default: usize, words: &'static [&'static str]) -> Kind {
    Kind::Choice { default, words }
}

pub(super) const KIB: u64 = 1 << 10;
pub(super) const MIB: u64 = 1 << 20;
pub(super) const GIB: u64 = 1 << 30;
pub(super) const TIB: u64 = 1 << 40;
/// A year in seconds, MySQL's longest timeout.
pub(super) const YEAR: u64 = 31_536_000;
pub(super) const U32_MAX: u64 = u32::MAX as u64;
