//! The work of an ALTER TABLE: whether Mayfly copies the rows, and which algorithm InnoDB would use, which decides
//! the number of affected rows and what ALGORITHM and LOCK may ask for.

use mayfly_syntax::ast::{AlterAction, KeyKind, TableOption};
use mayfly_types::error::codes;
use mayfly_types::{Error, Result, SqlType, TypeKind};

use crate::catalog::definition::{
    ColumnDefinition, KeyDefinition, KeyPart, KeyTarget, TableDefinition,
};
use crate::ddl::alter::Altered;
use crate::engines::Engine;
use crate::error::refuse;
use crate::session::StatementContext;

/// The best algorithm that InnoDB has for a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Algorithm {
    /// In the data dictionary alone.
    Instant,
    /// Without a copy; with a lock, for the given reason.
    InPlace(Option<&'static str>),
    /// By a copy of the table.
    Copy(CopyReasons),
}

/// Why a table must be copied: the reasons in errors about other algorithms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CopyReasons {
    /// ALGORITHM=INPLACE
    in_place: Option<&'static str>,
    /// ALGORITHM=INSTANT
    instant: Option<&'static str>,
    /// Algorithm that the error suggests in place of ALGORITHM=INSTANT.
    instead_of_instant: &'static str,
    /// LOCK=NONE
    without_lock: Option<&'static str>,
}

const COPY_LOCKS: &str = "COPY algorithm requires a lock";
const COPY_OR_IN_PLACE: &str = "ALGORITHM=COPY/INPLACE";

/// No other algorithm is supported.
const ALWAYS: CopyReasons = CopyReasons {
    instead_of_instant: "ALGORITHM=COPY",
    without_lock: Some(COPY_LOCKS),
    ..NO_REASON
};
/// The engine gives no reason.
const NO_REASON: CopyReasons = CopyReasons {
    in_place: None,
    instant: None,
    instead_of_instant: COPY_OR_IN_PLACE,
    without_lock: None,
};
/// The type of a column changes.
const OTHER_TYPE: CopyReasons = CopyReasons {
    instant: Some("Need to rebuild the table to change column type"),
    ..because("Cannot change column type INPLACE")
};

/// Copying, for a reason of the storage engine.
const fn because(reason: &'static str) -> CopyReasons {
    CopyReasons {
        in_place: Some(reason),
        instant: Some(reason),
        instead_of_instant: COPY_OR_IN_PLACE,
        without_lock: Some(reason),
    }
}

impl Algorithm {
    /// 1845, 1846 and 1221 if ALGORITHM or LOCK ask for something unsupported.
    pub(super) fn allow(self, table: &TableDefinition, actions: &[AlterAction]) -> Result<()> {
        let option = |name: &str| {
            let mut values = actions.iter().filter_map(|action| match action {
                AlterAction::Option(option) if option.name == name => Some(&option.value),
                _ => None,
            });
            let last = values.next_back();
            last.map_or(String::new(), |value| value.to_ascii_uppercase())
        };
        let (asked, lock) = (option("ALGORITHM"), option("LOCK"));
        let is_locking = matches!(lock.as_str(), "NONE" | "SHARED" | "EXCLUSIVE");
        if asked == "INSTANT" && is_locking {
            let (algorithm, lock) = ("ALGORITHM=INSTANT", "LOCK=NONE/SHARED/EXCLUSIVE");
            return Err(codes::ER_WRONG_USAGE.with(&[&algorithm, &lock]));
        }
        // No other session sees a temporary table.
        if table.is_temporary() {
            return refuse(matches!(asked.as_str(), "INPLACE" | "INSTANT"), || {
                refused(&format!("ALGORITHM={asked}"), None, "ALGORITHM=COPY")
            });
        }
        if actions.iter().all(is_of_name) && matches!(lock.as_str(), "NONE" | "SHARED") {
            return Err(refused("LOCK=NONE/SHARED", None, "LOCK=EXCLUSIVE"));
        }
        if asked == "COPY" {
            return refuse(lock == "NONE", || {
                refused("LOCK=NONE", Some(COPY_LOCKS), "LOCK=SHARED")
            });
        }
        match (self, asked.as_str()) {
            (Self::Copy(reasons), "INPLACE") => Err(refused(
                "ALGORITHM=INPLACE",
                reasons.in_place,
                "ALGORITHM=COPY",
            )),
            (Self::Copy(reasons), "INSTANT") => Err(refused(
                "ALGORITHM=INSTANT",
                reasons.instant,
                reasons.instead_of_instant,
            )),
            (Self::InPlace(because), "INSTANT") => {
                Err(refused("ALGORITHM=INSTANT", because, COPY_OR_IN_PLACE))
            }
            (Self::Copy(CopyReasons { without_lock, .. }), _) if lock == "NONE" => {
                Err(refused("LOCK=NONE", without_lock, "LOCK=SHARED"))
            }
            (Self::InPlace(because @ Some(_)), _) if lock == "NONE" => {
                Err(refused("LOCK=NONE", because, "LOCK=SHARED"))
            }
            _ => Ok(()),
        }
    }
}

/// Whether an action concerns the table's name, or how the statement runs, and nothing in the table.
fn is_of_name(action: &AlterAction) -> bool {
    match action {
        AlterAction::RenameTo(_) | AlterAction::EnableKeys | AlterAction::DisableKeys => true,
        AlterAction::Option(option) => !is_of_table(option),
        _ => false,
    }
}

/// Whether an option is of the table rather than of the statement.
fn is_of_table(option: &TableOption) -> bool {
    !matches!(option.name.as_str(), "ALGORITHM" | "LOCK")
}

fn refused(what: &str, because: Option<&str>, instead: &str) -> Error {
    match because {
        Some(reason) => {
            codes::ER_ALTER_OPERATION_NOT_SUPPORTED_REASON.with(&[&what, &reason, &instead])
        }
        None => codes::ER_ALTER_OPERATION_NOT_SUPPORTED.with(&[&what, &instead]),
    }
}

/// The work of a statement.
pub(super) struct Work {
    /// Rows are copied.
    pub(super) rows_move: bool,
    /// Whether MySQL copies the rows and so reports their number; a change in place reports 0.
    pub(super) counts_rows: bool,
    /// The best algorithm that InnoDB has for it.
    pub(super) algorithm: Algorithm,
}

impl Work {
    /// The work of changing `old` to the new definition.
    pub(super) fn of(
        context: &StatementContext<'_>,
        old: &TableDefinition,
        altered: &Altered,
        actions: &[AlterAction],
    ) -> Self {
        let new = &altered.definition;
        let old_column = |index: usize| altered.sources[index].map(|source| &old.columns[source]);
        let in_order = altered
            .sources
            .iter()
            .copied()
            .eq((0..old.columns.len()).map(Some));
        let pairs = || {
            let columns = new.columns.iter().enumerate();
            columns.filter_map(|(index, new)| Some((old_column(index)?, new)))
        };
        let same_values = |(old, new): (&ColumnDefinition, &ColumnDefinition)| {
            holds_the_same(&old.ty, &new.ty)
                && (new.nullable || !old.nullable)
                && old.auto_increment == new.auto_increment
                && generated_text(old) == generated_text(new)
        };
        let mut keys = old.keys.iter().zip(&new.keys);
        let same_keys = old.keys.len() == new.keys.len()
            && keys.all(|(old, new)| same_key(old, new, &altered.sources));
        let enforced = |definition: &TableDefinition| {
            let checks = definition.checks.iter().filter(|check| check.enforced);
            checks.map(|check| check.text.clone()).collect::<Vec<_>>()
        };
        let old_checks = enforced(old);
        let new_check = enforced(new).iter().any(|it| !old_checks.contains(it));
        // A clause ENGINE rebuilds the table, even if it names the table's own engine.
        let force = actions.iter().any(|action| match action {
            AlterAction::Force => true,
            AlterAction::Option(option) => option.name == "ENGINE",
            _ => false,
        });
        let is_order = |action: &AlterAction| matches!(action, AlterAction::OrderBy(_));
        let sorted = actions.iter().any(is_order);
        let same_definition = in_order && pairs().all(same_values) && same_keys && !new_check;
        let rows_move = !same_definition || old.engine != new.engine || force || sorted;

        let foreign = |definition: &TableDefinition| definition.foreign_keys.len();
        let adds_foreign = foreign(new) > foreign(old) && context.options().foreign_key_checks;
        let in_place = |(old, new): (&ColumnDefinition, &ColumnDefinition)| {
            is_in_place(&old.ty, &new.ty) && stored_text(old) == stored_text(new)
        };
        let adds_stored = new.columns.iter().enumerate().any(|(index, column)| {
            let is_filled = stored_text(column).is_some() || column.is_hidden();
            old_column(index).is_none() && is_filled
        });
        let by_copy = actions.iter().any(|action| {
            matches!(action, AlterAction::Option(option)
                if option.name == "ALGORITHM" && option.value.eq_ignore_ascii_case("COPY"))
        });
        let loses_key = has_primary(old) && !has_primary(new);
        let transactional = |definition: &TableDefinition| definition.engine == Engine::InnoDb;
        let copies = !pairs().all(in_place)
            || new_check
            || adds_stored
            || adds_foreign
            || by_copy
            || sorted
            || loses_key
            || old.engine != new.engine;
        // Tables of other engines, and temporary ones, are copied for all that moves rows.
        let always_copied = !transactional(old) || old.has_private_rows();
        let counts_rows = copies || (always_copied && rows_move);
        let retyped = pairs().any(|(old, new)| old.ty != new.ty && !is_in_place(&old.ty, &new.ty));
        let same_order = altered.sources.iter().flatten().is_sorted();
        let is_instant = |(old, new): (&ColumnDefinition, &ColumnDefinition)| {
            (old.ty == new.ty || old.ty.kind == TypeKind::Enum)
                && old.nullable == new.nullable
                && old.auto_increment == new.auto_increment
                && generated_text(old) == generated_text(new)
        };
        let added = |kind: KeyKind| {
            let of_kind = |key: &&KeyDefinition| key.kind == kind;
            let count = |table: &TableDefinition| table.keys.iter().filter(of_kind).count();
            count(new) > count(old)
        };
        let mut new_columns = new.columns.iter().enumerate();
        let adds_number = new_columns.any(|(index, column)| {
            column.auto_increment && !old_column(index).is_some_and(|old| old.auto_increment)
        });
        let sets_options = actions
            .iter()
            .any(|action| matches!(action, AlterAction::Option(option) if is_of_table(option)));
        let algorithm = if old.engine != new.engine || new_check || sorted {
            Algorithm::Copy(ALWAYS)
        } else if !transactional(old) {
            if rows_move {
                Algorithm::Copy(NO_REASON)
            } else {
                Algorithm::Instant
            }
        } else if retyped {
            Algorithm::Copy(OTHER_TYPE)
        } else if loses_key {
            Algorithm::Copy(because(
                "Dropping a primary key is not allowed without also adding a new primary key",
            ))
        } else if adds_foreign {
            Algorithm::Copy(because("Adding foreign keys needs foreign_key_checks=OFF"))
        } else if copies && !by_copy {
            Algorithm::Copy(NO_REASON)
        } else if added(KeyKind::FullText) {
            Algorithm::InPlace(Some("Fulltext index creation requires a lock"))
        } else if adds_number {
            Algorithm::InPlace(Some("Adding an auto-increment column requires a lock"))
        } else if force
            || sets_options
            || !same_keys
            || !same_order
            || foreign(new) > foreign(old)
            || !pairs().all(is_instant)
        {
            Algorithm::InPlace(None)
        } else {
            Algorithm::Instant
        };
        Self {
            rows_move: rows_move || by_copy,
            counts_rows,
            algorithm,
        }
    }
}

fn has_primary(definition: &TableDefinition) -> bool {
    let mut keys = definition.keys.iter();
    keys.any(|key| key.kind == KeyKind::Primary)
}

fn generated_text(column: &ColumnDefinition) -> Option<(&str, bool)> {
    let generated = column.generated.as_ref()?;
    Some((&generated.text, generated.stored))
}

fn stored_text(column: &ColumnDefinition) -> Option<&str> {
    let (text, is_stored) = generated_text(column)?;
    is_stored.then_some(text)
}

/// Whether a key has the same columns as before; `sources` are the old positions of the new columns.
fn same_key(old: &KeyDefinition, new: &KeyDefinition, sources: &[Option<usize>]) -> bool {
    let same_target = |old: &KeyTarget, new: &KeyTarget| match (old, new) {
        (KeyTarget::Column(old), KeyTarget::Column(new))
        | (KeyTarget::Expression(old), KeyTarget::Expression(new)) => {
            sources.get(*new).copied().flatten() == Some(*old)
        }
        _ => false,
    };
    let same_part = |(old, new): (&KeyPart, &KeyPart)| {
        same_target(&old.target, &new.target)
            && old.prefix == new.prefix
            && old.descending == new.descending
    };
    old.kind == new.kind
        && old.using == new.using
        && old.parts.len() == new.parts.len()
        && old.parts.iter().zip(&new.parts).all(same_part)
}

/// Whether values of a column are stored alike under both types.
fn holds_the_same(old: &SqlType, new: &SqlType) -> bool {
    if old == new {
        return true;
    }
    let same_strings = old.kind == new.kind && old.collation == new.collation;
    match old.kind {
        TypeKind::VarChar => same_strings && old.length <= new.length,
        TypeKind::Enum => same_strings && new.members.starts_with(&old.members),
        _ => false,
    }
}

/// Whether InnoDB changes a column's type in place.
fn is_in_place(old: &SqlType, new: &SqlType) -> bool {
    if old == new {
        return true;
    }
    let bytes =
        |ty: &SqlType| u64::from(ty.length) * u64::from(ty.collation.charset().max_length());
    // The length of a VARCHAR is stored in one byte, or in two.
    let one_byte = |ty: &SqlType| bytes(ty) < 256;
    match old.kind {
        TypeKind::VarChar => holds_the_same(old, new) && one_byte(old) == one_byte(new),
        _ => holds_the_same(old, new),
    }
}
