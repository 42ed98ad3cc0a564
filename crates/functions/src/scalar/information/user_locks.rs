//! Named locks of sessions: GET_LOCK(name, seconds), RELEASE_LOCK(name), IS_FREE_LOCK(name), IS_USED_LOCK(name),
//! RELEASE_ALL_LOCKS() (the manual, "Locking Functions").

use std::time::Duration;

use arrow_array::ArrayRef;
use mayfly_types::charset::case::append_lower;
use mayfly_types::error::codes;
use mayfly_types::{Error, Result};

use crate::context::UserLocks;
use crate::scalar::Row;
use crate::scalar::facts::Fact;
use crate::{Binding, Call, Signature, derive, output};

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(&["get_lock"], 2..=2, get_lock_signature, get_lock)
        .with(&[Fact::NotInDefinitions, Fact::UnsafeInLogs])
        .volatile(),
    Row::new(&["release_lock"], 1..=1, truth_signature, |call| {
        truth(call, |locks, name| locks.release(name))
    })
    .with(&[Fact::NotInDefinitions, Fact::UnsafeInLogs])
    .volatile(),
    Row::new(&["is_free_lock"], 1..=1, truth_signature, |call| {
        truth(call, |locks, name| Some(locks.holder(name).is_none()))
    })
    .with(&[Fact::NotInDefinitions, Fact::UnsafeInLogs])
    .volatile(),
    Row::new(&["is_used_lock"], 1..=1, holder_signature, holder)
        .with(&[Fact::NotInDefinitions, Fact::UnsafeInLogs])
        .volatile(),
    Row::new(
        &["release_all_locks"],
        0..=0,
        release_all_signature,
        release_all,
    )
    .with(&[Fact::NotInDefinitions, Fact::UnsafeInLogs])
    .volatile(),
];

/// Maximum length of a name in characters.
const NAME_LENGTH_MAX: usize = 64;

fn get_lock_signature(binding: &Binding<'_>) -> Result<Signature> {
    let types = vec![binding.text(0), derive::integer_of(&binding.arguments[1])];
    Ok(Signature::new(types, derive::int_of_width(1), true))
}

fn get_lock(call: &Call<'_>) -> Result<ArrayRef> {
    let (names, seconds) = (call.texts(0)?, call.counts(1)?);
    output::ints(call.rows, |row| {
        let name = lock_name(names.get(row))?;
        let longest = longest_wait(seconds.get(row).unwrap_or(0));
        let locks = &call.context.user_locks;
        let is_held = locks.acquire(&name, longest, &call.context.interrupt)?;
        Ok(Some(i64::from(is_held)))
    })
}

/// The time limit of a wait; a negative number is none.
fn longest_wait(seconds: i64) -> Duration {
    u64::try_from(seconds).map_or(Duration::MAX, Duration::from_secs)
}

fn truth_signature(binding: &Binding<'_>) -> Result<Signature> {
    binding.of_texts_or_null(derive::int_of_width(1))
}

/// A result computed from one lock's name.
fn truth(
    call: &Call<'_>,
    answer: impl Fn(&dyn UserLocks, &str) -> Option<bool>,
) -> Result<ArrayRef> {
    let names = call.texts(0)?;
    output::ints(call.rows, |row| {
        let name = lock_name(names.get(row))?;
        Ok(answer(&*call.context.user_locks, &name).map(i64::from))
    })
}

fn holder_signature(binding: &Binding<'_>) -> Result<Signature> {
    binding.of_texts_or_null(derive::unsigned_bigint())
}

fn holder(call: &Call<'_>) -> Result<ArrayRef> {
    let names = call.texts(0)?;
    output::uints(call.rows, |row| {
        let name = lock_name(names.get(row))?;
        Ok(call.context.user_locks.holder(&name))
    })
}

fn release_all_signature(_binding: &Binding<'_>) -> Result<Signature> {
    Ok(Signature::new(Vec::new(), derive::unsigned_bigint(), false))
}

fn release_all(call: &Call<'_>) -> Result<ArrayRef> {
    let locks = &call.context.user_locks;
    output::uints(call.rows, |_| Ok(Some(locks.release_all())))
}

/// A lock's name in lower case: 3057 and 4163 for an invalid one.
fn lock_name(name: Option<&[u8]>) -> Result<String> {
    let wrong = |shown: &str| codes::ER_USER_LOCK_WRONG_NAME.with(&[&shown]);
    let bytes = name.ok_or_else(|| wrong("NULL"))?;
    let name = str::from_utf8(bytes).map_err(|_| wrong(&escaped(bytes)))?;
    // Names are in utf8mb3, whatever the session's character set.
    if name.is_empty() || name.chars().any(|character| character > '\u{FFFF}') {
        return Err(wrong(
            &name.replace(|character| character > '\u{FFFF}', "?"),
        ));
    }
    if name.chars().count() > NAME_LENGTH_MAX {
        return Err(too_long(name));
    }
    let mut lower = Vec::with_capacity(name.len());
    append_lower(bytes, &mut lower);
    Ok(String::from_utf8_lossy(&lower).into_owned())
}

fn too_long(name: &str) -> Error {
    codes::ER_USER_LOCK_OVERLONG_NAME.with(&[&name, &NAME_LENGTH_MAX])
}

/// Invalid bytes as errors show them.
fn escaped(bytes: &[u8]) -> String {
    let mut shown = String::new();
    for byte in bytes {
        match byte {
            0x20..0x7F => shown.push(char::from(*byte)),
            byte => shown.push_str(&format!("\\x{byte:02X}")),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{lock_name, longest_wait};
    use crate::testing::{NULL, b, check, i, t};

    #[test]
    fn a_context_without_sessions_gives_no_locks() {
        check(&[
            ("get_lock", &[t("a"), i(0)], "0"),
            ("release_lock", &[t("a")], "NULL"),
            ("is_free_lock", &[t("a")], "1"),
            ("is_used_lock", &[t("a")], "NULL"),
            ("release_all_locks", &[], "0"),
        ]);
    }

    #[test]
    fn names() {
        let wrong = |name: &str| {
            format!(
                "ERROR 3057 (42000): Incorrect user-level lock name '{name}'. The name is empty, \
                 NULL, or can not be expressed in the current character-set."
            )
        };
        check(&[
            ("is_free_lock", &[NULL], &wrong("NULL")),
            ("is_free_lock", &[t("")], &wrong("")),
            ("is_free_lock", &[t("\u{1F600}")], &wrong("?")),
            ("is_free_lock", &[b(b"\xFFA")], &wrong("\\xFFA")),
        ]);
        assert_eq!(lock_name(Some("ÉA ".as_bytes())).unwrap(), "éa ");
        assert!(lock_name(Some("é".repeat(64).as_bytes())).is_ok());
        let error = lock_name(Some("a".repeat(65).as_bytes())).unwrap_err();
        assert_eq!(error.errno(), 4163);
    }

    #[test]
    fn a_negative_wait_has_no_end() {
        assert_eq!(longest_wait(2), Duration::from_secs(2));
        assert_eq!(longest_wait(-1), Duration::MAX);
    }
}
