//! Session information: VERSION(), DATABASE(), USER(), CURRENT_USER(), CURRENT_ROLE(), ICU_VERSION(),
//! CONNECTION_ID(), PS_CURRENT_THREAD_ID(), ROW_COUNT(), FOUND_ROWS(), LAST_INSERT_ID().

use std::sync::atomic::Ordering;

use arrow_array::ArrayRef;
use mayfly_types::{CollationId, Result, SqlType, Value};

use crate::derive::LENGTH_LIMIT;
use crate::scalar::Row;
use crate::scalar::facts::Fact;
use crate::{Binding, Call, Coercibility, Signature, derive, input, output};

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(&["version"], 0..=0, text::<60, false>, |call| {
        show(call, call.context.facts.version)
    })
    .with(&[
        Fact::GivesArgument,
        Fact::OnlyInDefaults,
        Fact::UnsafeInLogs,
    ])
    .stable(),
    Row::new(&["database", "schema"], 0..=0, text::<64, true>, |call| {
        show(call, call.context.facts.database.as_deref())
    })
    .with(&[Fact::OnlyInDefaults])
    .stable(),
    Row::new(
        &["user", "session_user", "system_user"],
        0..=0,
        text::<288, true>,
        |call| show(call, &*call.context.facts.user),
    )
    .with(&[Fact::OnlyInDefaults, Fact::UnsafeInLogs])
    .stable(),
    Row::new(&["current_user"], 0..=0, text::<288, true>, |call| {
        show(call, &*call.context.facts.current_user)
    })
    .with(&[Fact::OnlyInDefaults, Fact::UnsafeInLogs])
    .stable(),
    Row::new(
        &["current_role"],
        0..=0,
        text::<LENGTH_LIMIT, true>,
        |call| show(call, &*call.context.facts.current_role),
    )
    .with(&[Fact::OnlyInDefaults])
    .stable(),
    Row::new(
        &["icu_version"],
        0..=0,
        text::<{ ICU.len() as u64 }, false>,
        |call| show(call, ICU),
    )
    .with(&[Fact::GivesArgument, Fact::UnsafeInLogs])
    .stable(),
    Row::new(&["connection_id"], 0..=0, number::<true, false>, |call| {
        Ok(call.constant(&Value::UInt(call.context.facts.connection_id)))
    })
    .with(&[Fact::OnlyInDefaults])
    .stable(),
    // A session's thread in performance_schema has its number.
    Row::new(
        &["ps_current_thread_id"],
        0..=0,
        number::<true, true>,
        |call| Ok(call.constant(&Value::UInt(call.context.facts.connection_id))),
    )
    .stable(),
    Row::new(&["row_count"], 0..=0, number::<false, false>, |call| {
        Ok(call.constant(&Value::Int(call.context.facts.row_count)))
    })
    .with(&[Fact::NotInDefinitions, Fact::UnsafeInLogs])
    .stable(),
    Row::new(&["found_rows"], 0..=0, number::<false, false>, |call| {
        let rows = i64::try_from(call.context.facts.found_rows);
        Ok(call.constant(&Value::Int(rows.unwrap_or(i64::MAX))))
    })
    .with(&[Fact::NotInDefinitions, Fact::UnsafeInLogs])
    .stable(),
    Row::new(
        &["last_insert_id"],
        0..=1,
        last_insert_id_signature,
        last_insert_id,
    )
    .with(&[Fact::NotInDefinitions])
    .volatile(),
];

/// The ICU version whose regular expressions the REGEXP functions follow.
const ICU: &str = "77.1";

/// The signature of a text of at most `CHARACTERS` characters.
fn text<const CHARACTERS: u64, const NULLABLE: bool>(_: &Binding<'_>) -> Result<Signature> {
    let result = derive::string_type(CHARACTERS, CollationId::UTF8MB3_GENERAL_CI);
    let signature = Signature::new(Vec::new(), result, NULLABLE);
    Ok(signature.with_coercibility(Coercibility::SystemConstant))
}

fn show<'a>(call: &Call<'_>, text: impl Into<Option<&'a str>>) -> Result<ArrayRef> {
    let value = text.into().map_or(Value::Null, Value::from);
    Ok(call.constant(&value))
}

fn number<const UNSIGNED: bool, const NULLABLE: bool>(_: &Binding<'_>) -> Result<Signature> {
    let result = SqlType {
        unsigned: UNSIGNED,
        ..derive::bigint_of_width(21)
    };
    Ok(Signature::new(Vec::new(), result, NULLABLE))
}

fn last_insert_id_signature(binding: &Binding<'_>) -> Result<Signature> {
    let types = binding.each(|_| derive::unsigned_bigint());
    let nullable = binding.any_nullable();
    Ok(Signature::new(types, derive::unsigned_bigint(), nullable))
}

/// LAST_INSERT_ID(value) sets the result of the next call.
fn last_insert_id(call: &Call<'_>) -> Result<ArrayRef> {
    let last = &call.context.facts.last_insert_id;
    let Some(values) = call.optional(0, input::uints)? else {
        return output::uints(call.rows, |_| Ok(Some(last.load(Ordering::Relaxed))));
    };
    output::uints(call.rows, |row| {
        let value = values.get(row);
        last.store(value.unwrap_or(0), Ordering::Relaxed);
        Ok(value)
    })
}
