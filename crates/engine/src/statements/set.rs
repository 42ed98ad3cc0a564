//! SET. All values are computed and checked before the first variable changes, so that a failing statement changes
//! none.

use std::borrow::Cow;

use mayfly_syntax::ast::{SetItem, SetTarget, SetValue, VariableScope};
use mayfly_types::charset::{Charset, CharsetRow};
use mayfly_types::collation::Collation;
use mayfly_types::error::codes;
use mayfly_types::{Result, SqlMode, SqlType, Value};

use super::locking_subqueries;
use crate::binding::expressions;
use crate::character_sets;
use crate::error::{ensure, refuse};
use crate::persisted::PersistedVariable;
use crate::session::StatementContext;
use crate::statements::admission;
use crate::variable_checks::Check;
use crate::variables::structured::{self, StructuredName};
use crate::variables::typed;
use crate::variables::{self, Scope, Setting, SystemVariable};

/// A checked assignment.
enum Change {
    User {
        name: String,
        ty: SqlType,
        value: Value,
    },
    /// The global or session value of a system variable.
    Setting {
        global: bool,
        position: usize,
        setting: Setting,
    },
    /// SET PERSIST: the text of a global variable's value.
    Persist { position: usize, text: String },
    /// A session variable that is not a setting.
    Computed { name: &'static str, number: u64 },
    /// A setting of a named key cache.
    KeyCache { name: StructuredName, value: u64 },
}

impl Change {
    fn of(global: bool, (position, setting): (usize, Setting)) -> Self {
        Self::Setting {
            global,
            position,
            setting,
        }
    }
}

/// Runs the statement.
pub(super) fn run(context: &mut StatementContext<'_>, items: &[SetItem]) -> Result<()> {
    let mut changes = Vec::with_capacity(items.len());
    for item in items {
        let mut item = Cow::Borrowed(item);
        if let SetItem::Assign { target, value } = &*item
            && let SetValue::Expr(expr) = value
            && let Cow::Owned(expr) = locking_subqueries::of_expression(context, expr)?
        {
            item = Cow::Owned(SetItem::Assign {
                target: target.clone(),
                value: SetValue::Expr(expr),
            });
        }
        check(context, &item, &mut changes)?;
    }
    refuse_while_open(context, &changes)?;
    let had_autocommit = context.options().autocommit;
    persist(context, &changes)?;
    for change in changes {
        apply(context, change)?;
    }
    if context.options().autocommit && !had_autocommit {
        context.transaction_mut().commit()?;
    }
    Ok(())
}

/// The session's settings after a SET.
pub(super) fn session_settings(
    context: &mut StatementContext<'_>,
    items: &[SetItem],
) -> Result<Vec<(usize, Setting)>> {
    let mut changes = Vec::with_capacity(items.len());
    for item in items {
        check(context, item, &mut changes)?;
    }
    let settings = changes.into_iter().filter_map(|change| match change {
        Change::Setting {
            global: false,
            position,
            setting,
        } => Some((position, setting)),
        _ => None,
    });
    Ok(settings.collect())
}

/// SET PERSIST: writes the values of all its variables together.
fn persist(context: &StatementContext<'_>, changes: &[Change]) -> Result<()> {
    let persisted = changes.iter().filter_map(|change| {
        let Change::Persist { position, text } = change else {
            return None;
        };
        let variable = variables::all()[*position];
        let persisted = PersistedVariable {
            value: text.clone(),
            dynamic: variable.dynamic,
            user: context.privileges().user().to_owned(),
            host: context.privileges().host().to_owned(),
            timestamp: context.now(),
        };
        Some((variable.name.to_owned(), persisted))
    });
    let persisted: Vec<_> = persisted.collect();
    if persisted.is_empty() {
        return Ok(());
    }
    context.database().persisted.set(persisted)
}

/// RESET PERSIST
pub(super) fn reset_persist(
    context: &StatementContext<'_>,
    name: Option<&str>,
    if_exists: bool,
) -> Result<()> {
    let persisted = &context.database().persisted;
    let Some(name) = name else {
        return persisted.clear();
    };
    if persisted.remove(&name.to_ascii_lowercase())? {
        return Ok(());
    }
    context.warn_if(if_exists, codes::ER_VAR_DOES_NOT_EXIST.with(&[&name]))
}

/// 1192: a session with an open transaction or locked tables cannot make the server read-only.
fn refuse_while_open(context: &StatementContext<'_>, changes: &[Change]) -> Result<()> {
    let makes_read_only = changes.iter().any(|change| match change {
        Change::Setting {
            global: true,
            position,
            setting: Setting::Boolean(true),
        } => matches!(
            variables::all()[*position].name,
            "read_only" | "super_read_only"
        ),
        _ => false,
    });
    let is_open =
        context.transaction().has_written() || context.session.transaction.has_locked_tables();
    refuse(makes_read_only && is_open, || {
        codes::ER_LOCK_OR_ACTIVE_TRANSACTION.error()
    })
}

fn check(
    context: &mut StatementContext<'_>,
    item: &SetItem,
    changes: &mut Vec<Change>,
) -> Result<()> {
    match item {
        SetItem::Assign {
            target: SetTarget::User(name),
            value,
        } => {
            mayfly_plan::check_user_variable(name)?;
            let (value, ty) = user_value(context, value)?;
            let name = name.clone();
            changes.push(Change::User { name, ty, value });
            Ok(())
        }
        SetItem::Assign {
            target: SetTarget::System { scope, name },
            value,
        } => system(context, *scope, name, value, changes),
        SetItem::Names { charset, collation } => {
            let set = named_set(context, charset.as_deref())?;
            let collation = named_collation(context, collation.as_deref(), set)?;
            let results = character_sets::results_name(collation);
            names(set, results, set.name, collation.name, changes);
            Ok(())
        }
        SetItem::CharacterSet { charset } => {
            let set = named_set(context, charset.as_deref())?;
            let database = context.settings().get(typed::COLLATION_DATABASE);
            let collation = database.and_then(|name| character_sets::collation_by_name(name));
            let collation = collation.unwrap_or(character_sets::row(set.default_collation));
            let connection = collation.charset.name();
            names(set, set.name, connection, collation.name, changes);
            Ok(())
        }
        SetItem::Other(text) => Err(codes::ER_NOT_SUPPORTED_YET.with(&[&format!("SET {text}")])),
    }
}

fn user_value(context: &mut StatementContext<'_>, value: &SetValue) -> Result<(Value, SqlType)> {
    match value {
        SetValue::Expr(expr) => expressions::evaluate(context, expr),
        SetValue::Word(word) => Err(codes::ER_BAD_FIELD_ERROR.with(&[word, &"field list"])),
        SetValue::Default => Err(codes::ER_PARSE_ERROR.with(&[&"DEFAULT", &1])),
    }
}

fn named_set(context: &StatementContext<'_>, name: Option<&str>) -> Result<&'static CharsetRow> {
    let name = name.unwrap_or("utf8mb4");
    if name.eq_ignore_ascii_case("utf8") {
        context.warn(codes::ER_DEPRECATED_UTF8_ALIAS.error());
    }
    let set = character_sets::by_name(name);
    let set = set.ok_or_else(|| codes::ER_UNKNOWN_CHARACTER_SET.with(&[&name]))?;
    ensure(character_sets::may_be_the_clients(set.charset), || {
        codes::ER_WRONG_VALUE_FOR_VAR.with(&[&"character_set_client", &set.name])
    })?;
    Ok(set)
}

fn named_collation(
    context: &StatementContext<'_>,
    name: Option<&str>,
    set: &'static CharsetRow,
) -> Result<&'static Collation> {
    let Some(name) = name else {
        return Ok(character_sets::row(match set.charset {
            Charset::Utf8mb4 => context.options().plan.utf8mb4_collation,
            _ => set.default_collation,
        }));
    };
    let row = character_sets::collation_by_name(name)
        .ok_or_else(|| codes::ER_UNKNOWN_COLLATION.with(&[&name]))?;
    if row.charset != set.charset {
        return Err(codes::ER_COLLATION_CHARSET_MISMATCH.with(&[&row.name, &set.name]));
    }
    Ok(row)
}

fn names(
    set: &CharsetRow,
    results: &str,
    connection: &str,
    collation: &str,
    changes: &mut Vec<Change>,
) {
    let settings = [
        (typed::CHARACTER_SET_CLIENT, set.name),
        (typed::CHARACTER_SET_RESULTS, results),
        (typed::CHARACTER_SET_CONNECTION, connection),
        (typed::COLLATION_CONNECTION, collation),
    ];
    for (variable, value) in settings {
        changes.push(Change::of(false, variable.setting(Some(value.into()))));
    }
}

fn system(
    context: &mut StatementContext<'_>,
    scope: Option<VariableScope>,
    name: &str,
    value: &SetValue,
    changes: &mut Vec<Change>,
) -> Result<()> {
    let unknown = || codes::ER_UNKNOWN_SYSTEM_VARIABLE.with(&[&name]);
    let (position, structured) = structured::position(name).ok_or_else(unknown)?;
    let variable = variables::all()[position];
    let is_at_start = scope == Some(VariableScope::PersistOnly);
    let is_settable = variable.dynamic || is_at_start && variable.read_at_start;
    if !is_settable {
        let not_persistent = if is_at_start { "non persistent " } else { "" };
        let kind = format!("{not_persistent}read only");
        return Err(codes::ER_INCORRECT_GLOBAL_LOCAL_VAR.with(&[&variable.name, &kind]));
    }
    let is_persisted = is_at_start || scope == Some(VariableScope::Persist);
    let global = is_persisted || scope == Some(VariableScope::Global);
    if global && variable.scope == Scope::Session {
        return Err(codes::ER_LOCAL_VARIABLE.with(&[&variable.name]));
    }
    if !global && variable.scope == Scope::Global {
        return Err(codes::ER_GLOBAL_VARIABLE.with(&[&variable.name]));
    }
    if context.privileges().is_unrestricted() {
        // All variables may be set.
    } else if global {
        admission::global_variable(&context.rights(), variable.name)?;
    } else {
        admission::session_variable(&context.rights(), variable)?;
    }
    if structured.is_some() {
        context.warn(codes::ER_WARN_DEPRECATED_STRUCTURED_VARIABLE.with(&[&name]));
    }
    let structured = structured.filter(|name| !name.is_of_default());
    let setting = match value {
        SetValue::Default => default(context, variable, position, global),
        _ => {
            let (value, ty) = system_value(context, value)?;
            let globals;
            let before = if global {
                globals = context.database().globals();
                globals.at(position)
            } else {
                context.settings().at(position)
            };
            let check = Check {
                diagnostics: context.diagnostics(),
                strict: context
                    .options()
                    .session
                    .sql_mode
                    .has(SqlMode::STRICT_ALL_TABLES),
                before,
            };
            variable.check(&value, &ty, &check)?
        }
    };
    if !global && !variable.session_writable {
        let error = codes::ER_VARIABLE_IS_READONLY;
        return Err(error.with(&[&"SESSION", &variable.name, &"SET GLOBAL"]));
    }
    if global {
        check_log_file(context, variable, &setting)?;
    }
    if let (Some(name), &Setting::Unsigned(value)) = (structured, &setting) {
        refuse(is_persisted, || {
            codes::ER_NOT_SUPPORTED_YET.with(&[&"SET PERSIST of a named key cache"])
        })?;
        changes.push(Change::KeyCache { name, value });
        return Ok(());
    }
    check_key_cache(context, variable, &setting)?;
    check_tmp_debug(context, variable, &setting)?;
    if let Some(warning) = variable.warning_of(&setting) {
        context.warn(warning);
    }
    if is_persisted {
        let text = variable.display(&setting).unwrap_or_default();
        changes.push(Change::Persist { position, text });
    }
    if is_at_start {
        return Ok(());
    }
    let computed = match variable.name {
        "last_insert_id" | "identity" => Some("last_insert_id"),
        "insert_id" => Some("insert_id"),
        "rand_seed1" => Some("rand_seed1"),
        "rand_seed2" => Some("rand_seed2"),
        _ => None,
    };
    if let (Some(name), &Setting::Unsigned(number)) = (computed, &setting) {
        changes.push(Change::Computed { name, number });
        return Ok(());
    }
    changes.push(Change::of(global, (position, setting.clone())));
    together(variable.name, &setting, global, changes);
    Ok(())
}

/// 1438 for dropping the default key cache, 1284 for an unknown key cache.
fn check_key_cache(
    context: &StatementContext<'_>,
    variable: &SystemVariable,
    setting: &Setting,
) -> Result<()> {
    match (variable.name, setting) {
        ("key_buffer_size", Setting::Unsigned(0)) => {
            Err(codes::ER_WARN_CANT_DROP_DEFAULT_KEYCACHE.error())
        }
        ("tmp_key_cache", Setting::Text(name)) => {
            let name = name.as_deref().unwrap_or("NULL");
            let cache = context.database().legacy_engines.key_caches.get(name);
            ensure(cache.is_some(), || {
                codes::ER_UNKNOWN_KEY_CACHE.with(&[&name])
            })
        }
        _ => Ok(()),
    }
}

/// 1290 for faults of temporary space where the server was started without them.
fn check_tmp_debug(
    context: &StatementContext<'_>,
    variable: &SystemVariable,
    setting: &Setting,
) -> Result<()> {
    let is_faulty = variable.name == "tmp_debug"
        && matches!(setting, Setting::Text(Some(text)) if !text.is_empty());
    refuse(
        is_faulty && !context.database().options.allow_tmp_debug,
        || codes::ER_OPTION_PREVENTS_STATEMENT.with(&[&"--allow-tmp-debug=OFF"]),
    )
}

/// 1231 for a file that cannot be written to as a log.
fn check_log_file(
    context: &StatementContext<'_>,
    variable: &SystemVariable,
    setting: &Setting,
) -> Result<()> {
    if !["slow_query_log_file", "general_log_file"].contains(&variable.name) {
        return Ok(());
    }
    let name = match setting {
        Setting::Text(Some(name)) => &**name,
        _ => "NULL",
    };
    let database = context.database();
    let path = database.logs.full_path(name);
    ensure(
        !name.is_empty() && database.file_rules.may_be_log(&path),
        || codes::ER_WRONG_VALUE_FOR_VAR.with(&[&variable.name, &name]),
    )
}

/// Linked variables: a character set and its collation change together, and so do `read_only` and `super_read_only`.
fn together(name: &str, setting: &Setting, global: bool, changes: &mut Vec<Change>) {
    if name == "max_join_size" {
        let is_any = matches!(setting, Setting::Unsigned(u64::MAX));
        changes.push(Change::of(global, typed::SQL_BIG_SELECTS.setting(is_any)));
    }
    let other = match (name, setting) {
        ("super_read_only", Setting::Boolean(true)) => Some("read_only"),
        ("read_only", Setting::Boolean(false)) => Some("super_read_only"),
        _ => None,
    };
    if let Some(position) = other.and_then(variables::position) {
        changes.push(Change::of(true, (position, setting.clone())));
    }
    let Setting::Text(Some(text)) = setting else {
        return;
    };
    let (other, value) = if let Some(rest) = name.strip_prefix("collation_") {
        let collation = character_sets::collation_by_name(text);
        let value = collation.map(|collation| collation.charset.name());
        (format!("character_set_{rest}"), value)
    } else if let Some(rest) = name.strip_prefix("character_set_") {
        let set = character_sets::by_name(text);
        let value = set.map(|set| set.default_collation.name());
        (format!("collation_{rest}"), value)
    } else {
        return;
    };
    if let (Some(position), Some(value)) = (variables::position(&other), value) {
        let setting = Setting::Text(Some(value.into()));
        changes.push(Change::of(global, (position, setting)));
    }
}

fn default(
    context: &StatementContext<'_>,
    variable: &SystemVariable,
    position: usize,
    global: bool,
) -> Setting {
    if global && let Some(file) = default_log_file(context, position) {
        return file;
    }
    if global || variable.scope == Scope::Session {
        return context.database().defaults.at(position).clone();
    }
    context.database().globals().at(position).clone()
}

fn default_log_file(context: &StatementContext<'_>, position: usize) -> Option<Setting> {
    let database = context.database();
    database.logs.default_file(&database.globals(), position)
}

fn system_value(context: &mut StatementContext<'_>, value: &SetValue) -> Result<(Value, SqlType)> {
    match value {
        SetValue::Word(word) => {
            let ty = SqlType::varchar(64, context.options().session.collation_connection);
            Ok((Value::from(word.as_str()), ty))
        }
        SetValue::Expr(expr) => expressions::evaluate(context, expr),
        SetValue::Default => Ok((Value::Null, SqlType::null())),
    }
}

fn apply(context: &mut StatementContext<'_>, change: Change) -> Result<()> {
    match change {
        Change::User { name, ty, value } => {
            let variables = context.session.settings.user_variables();
            variables.set(&name, ty, value)?;
            context.session.note_state_change();
        }
        Change::Setting {
            global: false,
            position,
            setting,
        } => {
            let name = variables::all()[position].name;
            if ["optimizer_trace_offset", "optimizer_trace_limit"].contains(&name) {
                context.session.traces.clear();
            }
            context.session.set_tracked(position, setting);
        }
        Change::Setting {
            position, setting, ..
        } => {
            let goes_offline = variables::all()[position].name == "offline_mode"
                && setting == Setting::Boolean(true);
            let globals = context.database().globals();
            let logs = &context.database().logs;
            logs.will_be(&globals, (position, &setting))?;
            drop(globals);
            context.database().set_global(position, setting);
            if goes_offline {
                context.database().send_away();
            }
        }
        // Written by `persist` already.
        Change::Persist { .. } => {}
        Change::KeyCache { name, value } => {
            let database = context.database();
            database
                .legacy_engines
                .set_key_cache(&database.options, &name, value);
        }
        Change::Computed { name, number } => match name {
            "last_insert_id" => context.session.diagnostics.set_last_insert_id(number),
            "insert_id" => context.session.diagnostics.insert_id = number,
            _ => context.session.settings.set_random_seed(name, number),
        },
    }
    Ok(())
}
