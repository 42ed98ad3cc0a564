//! Locks that sessions agree on by name: GET_LOCK(name, seconds), RELEASE_LOCK(name),
//! IS_FREE_LOCK(name), IS_USED_LOCK(name), RELEASE_ALL_LOCKS() (the manual, "Locking Functions").

use std::time::Duration;

use arrow_array::ArrayRef;
use mayfly_types::charset::case::append_lower;
use mayfly_types::error::codes;
use mayfly_types::{Error, Result, SqlType};

use crate::context::UserLocks;
use crate::scalar::ScalarKernel;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// The most characters of a name.
const NAME_LENGTH_MAX: usize = 64;

/// GET_LOCK()
#[derive(Debug)]
pub(crate) struct GetLock;

impl ScalarKernel for GetLock {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        Ok(Signature::new(
            vec![
                derive::text_of(&arguments[0], context),
                derive::integer_of(&arguments[1]),
            ],
            derive::int_of_width(1),
            true,
        ))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        _signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let names = input::texts(&arguments[0])?;
        let seconds = input::counts(&arguments[1])?;
        output::ints(row_count, |row| {
            let name = lock_name(names.get(row))?;
            let longest = longest_wait(seconds.get(row).unwrap_or(0));
            let locks = &context.user_locks;
            let is_held = locks.acquire(&name, longest, &context.interrupt)?;
            Ok(Some(i64::from(is_held)))
        })
    }
}

/// A negative number of seconds is as long as it takes.
fn longest_wait(seconds: i64) -> Duration {
    u64::try_from(seconds).map_or(Duration::MAX, Duration::from_secs)
}

/// A function that asks one thing of one lock.
#[derive(Debug)]
pub(crate) struct OfLock {
    result: fn() -> SqlType,
    answer: fn(&dyn UserLocks, &str) -> Option<u64>,
}

/// RELEASE_LOCK()
pub(crate) static RELEASE_LOCK: OfLock = OfLock {
    result: || derive::int_of_width(1),
    answer: |locks, name| locks.release(name).map(u64::from),
};
/// IS_FREE_LOCK()
pub(crate) static IS_FREE_LOCK: OfLock = OfLock {
    result: || derive::int_of_width(1),
    answer: |locks, name| Some(u64::from(locks.holder(name).is_none())),
};
/// IS_USED_LOCK()
pub(crate) static IS_USED_LOCK: OfLock = OfLock {
    result: derive::unsigned_bigint,
    answer: |locks, name| locks.holder(name),
};

impl ScalarKernel for OfLock {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        Ok(Signature::new(
            vec![derive::text_of(&arguments[0], context)],
            (self.result)(),
            true,
        ))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let names = input::texts(&arguments[0])?;
        let answer = |row| {
            let name = lock_name(names.get(row))?;
            Ok((self.answer)(&*context.user_locks, &name))
        };
        match signature.result.unsigned {
            true => output::uints(row_count, answer),
            false => output::ints(row_count, |row| Ok(answer(row)?.map(u64::cast_signed))),
        }
    }
}

/// RELEASE_ALL_LOCKS()
#[derive(Debug)]
pub(crate) struct ReleaseAllLocks;

impl ScalarKernel for ReleaseAllLocks {
    fn signature(
        &self,
        _arguments: &[Argument<'_>],
        _context: &SignatureContext,
    ) -> Result<Signature> {
        Ok(Signature::new(Vec::new(), derive::unsigned_bigint(), false))
    }

    fn evaluate(
        &self,
        _arguments: &[Column],
        row_count: usize,
        _signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        output::uints(row_count, |_| Ok(Some(context.user_locks.release_all())))
    }
}

/// A name as locks are known by it, in lower case: 3057 and 4163 for one that is none.
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

/// Bytes that are no text, as errors show them.
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
