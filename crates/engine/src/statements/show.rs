//! SHOW: rewrites to SELECT over information_schema, and the few forms that are not relations.

use std::borrow::Cow;

use mayfly_functions::derive;
use mayfly_plan::Catalog;
use mayfly_syntax::ast::{
    BinaryOperator, Describe, Described, Expr, Ident, Query, SetExpr, Show, ShowCreate, ShowFilter,
    ShowKind, TableFunctionCall, TableName, VariableScope,
};
use mayfly_syntax::printer::{quoted_identifier, quoted_string};
use mayfly_types::error::codes;
use mayfly_types::temporal::TimeZone;
use mayfly_types::{CollationId, Condition, Level, Result, SqlMode, SqlType, TypeKind, Value};

use super::simple::{NAME, STATEMENT, text_rows};
use super::{accounts, select};
use crate::binding::session_catalog::SessionCatalog;
use crate::catalog::definition::SECONDARY_ENGINE;
use crate::catalog::show_create::{self, NameQuotes};
use crate::catalog::type_text::column_type;
use crate::catalog::view::ViewDefinition;
use crate::engines::Engine;
use crate::error::{ensure, parse_own_query};
use crate::result::{Outcome, ResultColumn, StatementResult};
use crate::session::StatementContext;
use crate::statements::table_names::qualified;
use crate::variables::typed;
use crate::{character_sets, information_schema};

/// Runs the statement.
pub(super) fn run(context: &mut StatementContext<'_>, show: &Show) -> Result<Outcome> {
    let text = match &show.kind {
        ShowKind::Warnings => return Ok(conditions(context, show, false)),
        ShowKind::Errors => return Ok(conditions(context, show, true)),
        ShowKind::CountWarnings => {
            return Ok(count(context, "@@session.warning_count", "warning_count"));
        }
        ShowKind::CountErrors => return Ok(count(context, "@@session.error_count", "error_count")),
        ShowKind::Create(object) => return create(context, object),
        ShowKind::Grants { account, using } => {
            return accounts::show::grants(context, account.as_ref(), using);
        }
        ShowKind::Privileges => return Ok(accounts::show::privileges()),
        ShowKind::Profiles => return Ok(profiles(context)),
        ShowKind::Profile { .. } => {
            warn_of_profile(context, "SHOW PROFILE");
            rewrite(context, &show.kind, None)? + &limit_text(show)
        }
        kind => rewrite(context, kind, show.filter.as_ref())?,
    };
    filtered(context, &text, show.filter.as_ref())
}

/// The SELECT that a SHOW is rewritten to.
/// Leaves shared temporary tables out: a dump has the tables that SHOW TABLES lists.
const LASTING: &str = " AND TABLE_TYPE <> 'SHARED TEMPORARY'";

fn rewrite(
    context: &StatementContext<'_>,
    kind: &ShowKind,
    filter: Option<&ShowFilter>,
) -> Result<String> {
    let schema = |database: &Option<String>| -> Result<String> {
        let name = context.database_or_current(database.as_deref())?;
        ensure(context.catalog().has_database(name), || {
            codes::ER_BAD_DB_ERROR.with(&[&name])
        })?;
        Ok(name.to_owned())
    };
    let pattern = match filter {
        Some(ShowFilter::Like(pattern)) => format!(" ({pattern})"),
        _ => String::new(),
    };
    Ok(match kind {
        ShowKind::Databases => {
            let name = quoted_identifier(&format!("Database{pattern}"));
            format!("SELECT SCHEMA_NAME AS {name} FROM information_schema.SCHEMATA")
        }
        ShowKind::Tables { full, database, .. } => {
            let schema = schema(database)?;
            let name = quoted_identifier(&format!("Tables_in_{schema}{pattern}"));
            let full = if *full { ", TABLE_TYPE AS Table_type" } else { "" };
            format!(
                "SELECT TABLE_NAME AS {name}{full} FROM information_schema.TABLES \
                 WHERE TABLE_SCHEMA = {}{LASTING}",
                quoted_string(&schema)
            )
        }
        ShowKind::TemporaryTables => {
            "SELECT ID AS Id, SESSION_ID AS Session, NAME AS Name, PURPOSE AS Purpose, CAUSE AS Cause, \
             `ROWS` AS `Rows`, MEMORY_BYTES AS Memory_bytes, DISK_BYTES AS Disk_bytes, AGE AS Age, \
             STATEMENT_DIGEST AS Digest, STATEMENT_DIGEST_TEXT AS Digest_text \
             FROM information_schema.TEMP_TABLES"
                .to_owned()
        }
        ShowKind::Cluster => {
            "SELECT NAME AS Name, ROLE AS Role, CONCAT_WS(':', IP, PORT) AS Address, \
             CASE STATUS WHEN 'AVAIL_RNSTATE' THEN 'AVAILABLE' WHEN 'DOWN_RNSTATE' THEN 'DOWN' ELSE 'STARTING' END AS State, \
             CORES AS Slots, TASKS AS Tasks, MEMORY_USAGE AS Memory_used, MEMORY_TOTAL AS Memory_limit, \
             DISK_USAGE AS Disk_used FROM performance_schema.rpd_nodes ORDER BY ID"
                .to_owned()
        }
        ShowKind::TableStatus { database } => format!(
            "SELECT TABLE_NAME AS Name, ENGINE AS Engine, VERSION AS Version, ROW_FORMAT AS Row_format, \
             TABLE_ROWS AS `Rows`, AVG_ROW_LENGTH AS Avg_row_length, DATA_LENGTH AS Data_length, \
             MAX_DATA_LENGTH AS Max_data_length, INDEX_LENGTH AS Index_length, DATA_FREE AS Data_free, \
             AUTO_INCREMENT AS Auto_increment, CREATE_TIME AS Create_time, UPDATE_TIME AS Update_time, \
             CHECK_TIME AS Check_time, TABLE_COLLATION AS Collation, CHECKSUM AS Checksum, \
             CREATE_OPTIONS AS Create_options, TABLE_COMMENT AS Comment FROM information_schema.TABLES \
             WHERE TABLE_SCHEMA = {}{LASTING}",
            quoted_string(&schema(database)?)
        ),
        ShowKind::OpenTables { database } => format!(
            "SELECT TABLE_SCHEMA AS `Database`, TABLE_NAME AS `Table`, 0 AS In_use, 0 AS Name_locked \
             FROM information_schema.TABLES WHERE TABLE_SCHEMA = {}",
            quoted_string(&schema(database)?)
        ),
        ShowKind::Columns { full, table, .. } => {
            let (database, name) = qualified(context, table)?;
            columns_text(context, &database, &name, *full, None)?
        }
        ShowKind::Index { table, .. } => {
            let (database, name) = qualified(context, table)?;
            let source = column_source(context, &database, &name, "STATISTICS", "#temporary_statistics")?;
            format!(
                "SELECT TABLE_NAME AS `Table`, NON_UNIQUE AS Non_unique, INDEX_NAME AS Key_name, \
                 SEQ_IN_INDEX AS Seq_in_index, COLUMN_NAME AS Column_name, COLLATION AS Collation, \
                 CARDINALITY AS Cardinality, SUB_PART AS Sub_part, PACKED AS Packed, NULLABLE AS `Null`, \
                 INDEX_TYPE AS Index_type, COMMENT AS Comment, INDEX_COMMENT AS Index_comment, \
                 IS_VISIBLE AS Visible, EXPRESSION AS Expression FROM {source}"
            )
        }
        ShowKind::Variables { scope } => of_scope(*scope, "variables"),
        ShowKind::Status { scope } => of_scope(*scope, "status"),
        ShowKind::Engines => "SELECT ENGINE AS Engine, SUPPORT AS Support, COMMENT AS Comment, \
             TRANSACTIONS AS Transactions, XA, SAVEPOINTS AS Savepoints FROM information_schema.ENGINES"
            .to_owned(),
        ShowKind::Collation => format!(
            "SELECT COLLATION_NAME AS Collation, CHARACTER_SET_NAME AS Charset, ID AS Id, \
             IF(CHARACTER_SET_NAME = 'utf8mb4', IF(COLLATION_NAME = '{}', 'Yes', ''), IS_DEFAULT) AS `Default`, \
             IS_COMPILED AS Compiled, SORTLEN AS Sortlen, PAD_ATTRIBUTE AS Pad_attribute \
             FROM information_schema.COLLATIONS",
            context.options().plan.utf8mb4_collation.name()
        ),
        ShowKind::CharacterSet => format!(
            "SELECT CHARACTER_SET_NAME AS Charset, DESCRIPTION AS Description, \
             IF(CHARACTER_SET_NAME = 'utf8mb4', '{}', DEFAULT_COLLATE_NAME) AS `Default collation`, \
             MAXLEN AS Maxlen FROM information_schema.CHARACTER_SETS",
            context.options().plan.utf8mb4_collation.name()
        ),
        ShowKind::ProcessList { full } => format!(
            "SELECT ID AS Id, USER AS User, HOST AS Host, DB AS db, COMMAND AS Command, TIME AS Time, \
             STATE AS State, {} FROM information_schema.PROCESSLIST",
            if *full { "INFO AS Info, TEMP_MEMORY AS Temp_memory, TEMP_DISK AS Temp_disk" } else { "LEFT(INFO, 100) AS Info" }
        ),
        ShowKind::Plugins => "SELECT PLUGIN_NAME AS Name, PLUGIN_STATUS AS Status, PLUGIN_TYPE AS Type, \
             PLUGIN_LIBRARY AS Library, PLUGIN_LICENSE AS License FROM information_schema.PLUGINS"
            .to_owned(),
        ShowKind::Profile { types, query } => profile_text(context, types, *query),
        ShowKind::Triggers { database, .. } => format!(
            "SELECT TRIGGER_NAME AS `Trigger`, EVENT_MANIPULATION AS Event, EVENT_OBJECT_TABLE AS `Table`, \
             ACTION_STATEMENT AS Statement, ACTION_TIMING AS Timing, CREATED AS Created, SQL_MODE AS sql_mode, \
             DEFINER AS Definer, {DEFINED_IN} FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = {}",
            quoted_string(&schema(database)?)
        ),
        ShowKind::Events { database } => format!(
            "SELECT EVENT_SCHEMA AS Db, EVENT_NAME AS Name, DEFINER AS Definer, TIME_ZONE AS `Time zone`, \
             EVENT_TYPE AS Type, EXECUTE_AT AS `Execute at`, INTERVAL_VALUE AS `Interval value`, \
             INTERVAL_FIELD AS `Interval field`, STARTS AS Starts, ENDS AS Ends, STATUS AS Status, \
             ORIGINATOR AS Originator, {DEFINED_IN} FROM information_schema.EVENTS WHERE EVENT_SCHEMA = {}",
            quoted_string(&schema(database)?)
        ),
        ShowKind::FunctionStatus => routines("FUNCTION"),
        ShowKind::ProcedureStatus => routines("PROCEDURE"),
        ShowKind::Engine { engine, what } => {
            let known = Engine::by_name(engine)
                .ok_or_else(|| codes::ER_UNKNOWN_STORAGE_ENGINE.with(&[engine]))?;
            if !what.eq_ignore_ascii_case("STATUS") || known != Engine::InnoDb {
                return Ok(empty(&["Type", "Name", "Status"]));
            }
            "SELECT 'InnoDB' AS Type, '' AS Name, GROUP_CONCAT(CONCAT(VARIABLE_NAME, ' ', VARIABLE_VALUE) \
             ORDER BY VARIABLE_NAME SEPARATOR '\\n') AS Status FROM performance_schema.global_status \
             WHERE VARIABLE_NAME LIKE 'Innodb%'"
                .to_owned()
        }
        ShowKind::Replicas => empty(&["Server_Id", "Host", "Port", "Source_Id", "Replica_UUID"]),
        ShowKind::ReplicaStatus { .. } => {
            let columns: Vec<String> = REPLICA_STATUS
                .split_whitespace()
                .map(|name| match name.strip_prefix('#') {
                    Some(name) => format!("0 AS {name}"),
                    None => format!("'' AS {name}"),
                })
                .collect();
            format!("SELECT {} WHERE FALSE", columns.join(", "))
        }
        ShowKind::BinaryLogStatus => "SELECT '' AS File, 0 AS Position, '' AS Binlog_Do_DB, \
             '' AS Binlog_Ignore_DB, '' AS Executed_Gtid_Set WHERE FALSE"
            .to_owned(),
        ShowKind::BinaryLogs | ShowKind::LogEvents { .. } => {
            return Err(codes::ER_NO_BINARY_LOGGING.error());
        }
        ShowKind::FunctionCode(_) | ShowKind::ProcedureCode(_) => {
            return Err(codes::ER_NOT_SUPPORTED_YET.with(&[&"stored programs"]));
        }
        ShowKind::Warnings | ShowKind::Errors | ShowKind::CountWarnings | ShowKind::CountErrors
        | ShowKind::Profiles | ShowKind::Create(_) | ShowKind::Grants { .. } | ShowKind::Privileges => String::new(),
    })
}

/// Columns of SHOW about the session in which an object was defined.
const DEFINED_IN: &str = "CHARACTER_SET_CLIENT AS character_set_client, \
     COLLATION_CONNECTION AS collation_connection, DATABASE_COLLATION AS `Database Collation`";

/// The columns of SHOW REPLICA STATUS; numbers begin with `#`.
const REPLICA_STATUS: &str = "\
    Replica_IO_State Source_Host Source_User #Source_Port #Connect_Retry Source_Log_File \
    #Read_Source_Log_Pos Relay_Log_File #Relay_Log_Pos Relay_Source_Log_File Replica_IO_Running \
    Replica_SQL_Running Replicate_Do_DB Replicate_Ignore_DB Replicate_Do_Table Replicate_Ignore_Table \
    Replicate_Wild_Do_Table Replicate_Wild_Ignore_Table #Last_Errno Last_Error #Skip_Counter \
    #Exec_Source_Log_Pos #Relay_Log_Space Until_Condition Until_Log_File #Until_Log_Pos \
    Source_SSL_Allowed Source_SSL_CA_File Source_SSL_CA_Path Source_SSL_Cert Source_SSL_Cipher \
    Source_SSL_Key #Seconds_Behind_Source Source_SSL_Verify_Server_Cert #Last_IO_Errno Last_IO_Error \
    #Last_SQL_Errno Last_SQL_Error Replicate_Ignore_Server_Ids #Source_Server_Id Source_UUID \
    Source_Info_File #SQL_Delay #SQL_Remaining_Delay Replica_SQL_Running_State #Source_Retry_Count \
    Source_Bind Last_IO_Error_Timestamp Last_SQL_Error_Timestamp Source_SSL_Crl Source_SSL_Crlpath \
    Retrieved_Gtid_Set Executed_Gtid_Set #Auto_Position Replicate_Rewrite_DB Channel_Name \
    Source_TLS_Version Source_public_key_path #Get_Source_public_key Network_Namespace";

/// SHOW FUNCTION STATUS and SHOW PROCEDURE STATUS.
fn routines(kind: &str) -> String {
    format!(
        "SELECT ROUTINE_SCHEMA AS Db, ROUTINE_NAME AS Name, ROUTINE_TYPE AS Type, \
         EXTERNAL_LANGUAGE AS Language, DEFINER AS Definer, LAST_ALTERED AS Modified, CREATED AS Created, \
         SECURITY_TYPE AS Security_type, ROUTINE_COMMENT AS Comment, {DEFINED_IN} \
         FROM information_schema.ROUTINES WHERE ROUTINE_TYPE = '{kind}'"
    )
}

/// SHOW VARIABLES and SHOW STATUS.
fn of_scope(scope: VariableScope, what: &str) -> String {
    let is_session = scope == VariableScope::Session;
    let scope = if is_session { "session" } else { "global" };
    format!(
        "SELECT VARIABLE_NAME AS Variable_name, VARIABLE_VALUE AS Value \
         FROM performance_schema.{scope}_{what}"
    )
}

/// Warns that SHOW PROFILE is deprecated. The statement itself is not profiled.
fn warn_of_profile(context: &mut StatementContext<'_>, syntax: &str) {
    context.session.profiles.is_discarded = context.options().profiling;
    context.warn(codes::ER_WARN_DEPRECATED_SYNTAX.with(&[&syntax, &"Performance Schema"]));
}

/// SHOW PROFILES
fn profiles(context: &mut StatementContext<'_>) -> Outcome {
    warn_of_profile(context, "SHOW PROFILES");
    let rows: Vec<[Value; 3]> = context
        .session
        .profiles
        .last(context.options().profiling_history_size)
        .map(|profile| {
            let id = i64::try_from(profile.id).unwrap_or(i64::MAX);
            let duration = profile.duration().as_secs_f64();
            [
                Value::Int(id),
                Value::Float(duration),
                Value::from(&*profile.text),
            ]
        })
        .collect();
    let duration = SqlType {
        length: 11,
        decimals: 8,
        ..SqlType::double()
    };
    let text = SqlType::varchar(300, CollationId::UTF8MB4_0900_AI_CI);
    let id = SqlType::integer(TypeKind::Int);
    let columns = [("Query_ID", id), ("Duration", duration), ("Query", text)];
    StatementResult::of_rows(&columns, &rows)
        .never_null(|column| column != "Query")
        .into()
}

/// The columns of each type of SHOW PROFILE.
const PROFILE_COLUMNS: &[(&str, &str)] = &[
    ("CPU", ", CPU_USER AS CPU_user, CPU_SYSTEM AS CPU_system"),
    (
        "CONTEXT SWITCHES",
        ", CONTEXT_VOLUNTARY AS Context_voluntary, CONTEXT_INVOLUNTARY AS Context_involuntary",
    ),
    (
        "BLOCK IO",
        ", BLOCK_OPS_IN AS Block_ops_in, BLOCK_OPS_OUT AS Block_ops_out",
    ),
    (
        "IPC",
        ", MESSAGES_SENT AS Messages_sent, MESSAGES_RECEIVED AS Messages_received",
    ),
    (
        "PAGE FAULTS",
        ", PAGE_FAULTS_MAJOR AS Page_faults_major, PAGE_FAULTS_MINOR AS Page_faults_minor",
    ),
    ("SWAPS", ", SWAPS AS Swaps"),
    (
        "SOURCE",
        ", SOURCE_FUNCTION AS Source_function, SOURCE_FILE AS Source_file, SOURCE_LINE AS Source_line",
    ),
];

/// SHOW PROFILE of a statement, by default the last one.
fn profile_text(context: &StatementContext<'_>, types: &[String], query: Option<u64>) -> String {
    let is_shown = |word: &str| types.iter().any(|known| known == "ALL" || known == word);
    let columns = PROFILE_COLUMNS.iter().filter(|(word, _)| is_shown(word));
    let columns: String = columns.map(|(_, columns)| *columns).collect();
    let query = query.unwrap_or_else(|| context.session.profiles.last_id());
    format!(
        "SELECT STATE AS Status, DURATION AS Duration{columns} FROM information_schema.`#profiling` \
         WHERE QUERY_ID = {query} ORDER BY SEQ"
    )
}

fn limit_text(show: &Show) -> String {
    match limit_of(show) {
        (0, usize::MAX) => String::new(),
        (offset, count) => format!(" LIMIT {offset}, {count}"),
    }
}

/// A SELECT of these columns that returns no row.
fn empty(names: &[&str]) -> String {
    let columns: Vec<String> = names
        .iter()
        .map(|name| format!("'' AS {}", quoted_identifier(name)))
        .collect();
    format!("SELECT {} WHERE FALSE", columns.join(", "))
}

/// The relation that lists a table's columns or keys, with its condition: 1146 for an unknown table.
fn column_source(
    context: &StatementContext<'_>,
    database: &str,
    name: &str,
    base: &str,
    temporary: &str,
) -> Result<String> {
    let relation = if context.temporary_table(database, name).is_some() {
        quoted_identifier(temporary)
    } else if context.find_table(database, name).is_some()
        || information_schema::table(database, name).is_some()
    {
        base.to_owned()
    } else if let Some(view) = context.catalog().view(database, name) {
        select::plan_trusted(context, &view.source.query)
            .map_err(|_| codes::ER_VIEW_INVALID.with(&[&database, &name]))?;
        base.to_owned()
    } else {
        return Err(context.missing_table(database, name));
    };
    let (database, name) = match information_schema::table(database, name) {
        Some(source) => (source.database.clone(), source.name.clone()),
        None => (database.to_owned(), name.to_owned()),
    };
    Ok(format!(
        "information_schema.{relation} WHERE BINARY TABLE_SCHEMA = {} AND BINARY TABLE_NAME = {}",
        quoted_string(&database),
        quoted_string(&name)
    ))
}

/// DESCRIBE: SHOW COLUMNS under another name.
pub(super) fn describe(
    context: &mut StatementContext<'_>,
    statement: &Describe,
) -> Result<Outcome> {
    let column = statement.column.as_deref();
    let text = match &statement.table {
        Described::Table(table) => {
            let (database, name) = qualified(context, table)?;
            columns_text(context, &database, &name, false, column)?
        }
        Described::Call(call) => called_columns_text(context, call, column)?,
    };
    filtered(context, &text, None)
}

/// The SELECT of DESCRIBE for the table of a call.
fn called_columns_text(
    context: &StatementContext<'_>,
    call: &TableFunctionCall,
    column: Option<&str>,
) -> Result<String> {
    let table = SessionCatalog::describing(context).table_function(call)?;
    let rows = table.columns.iter().map(|column| {
        format!(
            "SELECT {} AS Field, {} AS Type, '{}' AS `Null`, '' AS `Key`, NULL AS `Default`, '' AS Extra",
            quoted_string(&column.name),
            quoted_string(&column_type(&column.ty)),
            if column.nullable { "YES" } else { "NO" },
        )
    });
    let rows = rows.collect::<Vec<_>>().join(" UNION ALL ");
    let like = column.map(|column| format!(" WHERE Field LIKE {}", quoted_string(column)));
    Ok(format!(
        "SELECT * FROM ({rows}) AS `columns`{}",
        like.unwrap_or_default()
    ))
}

/// The SELECT of SHOW COLUMNS and DESCRIBE.
fn columns_text(
    context: &StatementContext<'_>,
    database: &str,
    name: &str,
    full: bool,
    column: Option<&str>,
) -> Result<String> {
    let source = column_source(context, database, name, "COLUMNS", "#temporary_columns")?;
    let (collation, tail) = if full {
        (
            ", COLLATION_NAME AS Collation",
            ", PRIVILEGES AS Privileges, COLUMN_COMMENT AS Comment",
        )
    } else {
        ("", "")
    };
    let like = column.map(|column| format!(" AND COLUMN_NAME LIKE {}", quoted_string(column)));
    Ok(format!(
        "SELECT COLUMN_NAME AS Field, COLUMN_TYPE AS Type{collation}, IS_NULLABLE AS `Null`, \
         COLUMN_KEY AS `Key`, COLUMN_DEFAULT AS `Default`, EXTRA AS Extra{tail} FROM {source}{}",
        like.unwrap_or_default()
    ))
}

/// Runs the SELECT of a SHOW, filtered by its LIKE or WHERE.
fn filtered(
    context: &mut StatementContext<'_>,
    text: &str,
    filter: Option<&ShowFilter>,
) -> Result<Outcome> {
    let text = match filter {
        None => text.to_owned(),
        Some(_) => format!("SELECT * FROM ({text}) AS `show`"),
    };
    let mut query = parse_own_query(&text)?;
    if let Some(filter) = filter {
        let condition = match filter {
            ShowFilter::Where(condition) => condition.clone(),
            ShowFilter::Like(pattern) => like(&text, pattern)?,
        };
        select_of(&mut query, condition);
    }
    let planned = select::plan_here(context, &query)?;
    // What SHOW reads is not counted as the user's work.
    let mut reading = select::Reading::start(context, &planned)?;
    let mut batches = Vec::new();
    while let Some(batch) = reading.next_batch(context)? {
        batches.push(batch);
    }
    let columns = planned.plan.columns.iter().map(|column| ResultColumn {
        origin: None,
        ..ResultColumn::from_plan(column)
    });
    Ok(StatementResult {
        columns: columns.collect(),
        batches,
        ..StatementResult::default()
    }
    .into())
}

fn select_of(query: &mut Query, condition: Expr) {
    if let SetExpr::Select(select) = &mut *query.body {
        select.selection = Some(match select.selection.take() {
            None => condition,
            Some(other) => Expr::BinaryOp {
                left: Box::new(other),
                op: BinaryOperator::And,
                right: Box::new(condition),
            },
        });
    }
}

/// `first column LIKE pattern`.
fn like(text: &str, pattern: &str) -> Result<Expr> {
    // The name of the first column stands between the first AS and what follows it.
    let name = text.split(" AS ").nth(1).unwrap_or("");
    let end = if let Some(rest) = name.strip_prefix('`') {
        rest.replace("``", "\0\0")
            .find('`')
            .map_or(name.len(), |end| end + 2)
    } else {
        name.find([',', ' ']).unwrap_or(name.len())
    };
    let column = name[..end].trim_matches('`').replace("``", "`");
    Ok(Expr::Like {
        negated: false,
        expr: Box::new(Expr::Identifier(Ident::with_quote('`', column))),
        pattern: Box::new(Expr::Value(mayfly_syntax::ast::Value::SingleQuotedString(
            pattern.to_owned(),
        ))),
        escape_char: None,
    })
}

fn conditions(context: &mut StatementContext<'_>, show: &Show, errors_only: bool) -> Outcome {
    context.keeps_found_rows = true;
    let shown = |condition: &&Condition| !errors_only || condition.level == Level::Error;
    let all = context.session.warnings();
    let (offset, count) = limit_of(show);
    let row = |condition: &Condition| {
        let level = match condition.level {
            Level::Note => "Note",
            Level::Warning => "Warning",
            Level::Error => "Error",
        };
        [
            Value::from(level),
            Value::UInt(condition.error.errno().into()),
            Value::from(condition.error.message()),
        ]
    };
    let shown = all.iter().filter(shown).skip(offset).take(count);
    let rows: Vec<[Value; 3]> = shown.map(row).collect();
    let text = |length| SqlType::varchar(length, CollationId::UTF8MB4_0900_AI_CI);
    let code = SqlType {
        unsigned: true,
        length: 5,
        ..SqlType::integer(TypeKind::Int)
    };
    let columns = [("Level", text(7)), ("Code", code), ("Message", text(512))];
    let result = StatementResult::of_rows(&columns, &rows);
    result.never_null(|_| true).into()
}

/// Offset and count of a SHOW's LIMIT.
fn limit_of(show: &Show) -> (usize, usize) {
    let number = |expr: Option<&Expr>, otherwise: usize| {
        let number = expr.and_then(|expr| expr.to_string().parse().ok());
        number.unwrap_or(otherwise)
    };
    let offset = show.limit.as_ref().and_then(|limit| limit.offset.as_ref());
    let count = show.limit.as_ref().map(|limit| &limit.limit);
    (number(offset, 0), number(count, usize::MAX))
}

fn count(context: &StatementContext<'_>, name: &str, variable: &str) -> Outcome {
    let value = context
        .computed_variables()
        .get(variable)
        .unwrap_or_default();
    StatementResult::of_rows(&[(name, derive::unsigned_bigint())], &[[value]]).into()
}

fn create(context: &StatementContext<'_>, object: &ShowCreate) -> Result<Outcome> {
    let options = context.options();
    let double = options.session.sql_mode.has(SqlMode::ANSI_QUOTES);
    let quotes = match options.quote_show_create {
        true if double => NameQuotes::Double,
        true => NameQuotes::Backticks,
        false => NameQuotes::WhereNeeded { double },
    };
    match object {
        ShowCreate::Table(table) => {
            let (database, name) = qualified(context, table)?;
            let catalog = context.catalog();
            if let Some(found) = context.find_table(&database, &name) {
                let definition = &found.definition;
                let next = match definition.auto_increment_column() {
                    Some(_) => found.numbers(context).next(),
                    None => definition.auto_increment_start,
                };
                let mut definition = Cow::Borrowed(&**definition);
                if options.shows_row_format {
                    let format = definition.row_format().to_uppercase();
                    definition.to_mut().set_option("ROW_FORMAT", Some(format));
                }
                let skip = typed::SHOW_CREATE_TABLE_SKIP_SECONDARY_ENGINE;
                if definition.secondary_engine().is_some() && context.settings().get(skip) {
                    definition.to_mut().set_option(SECONDARY_ENGINE, None);
                }
                let text =
                    show_create::table(&definition, next, quotes, &options.session.time_zone);
                Ok(created("Table", name, text))
            } else if let Some(view) = catalog.view(&database, &name) {
                create_view(context, &view)
            } else if let Some(system) = information_schema::definitions::table(&database, &name) {
                let text = show_create::table(&system, 1, quotes, &TimeZone::UTC);
                Ok(created("Table", name, text))
            } else {
                Err(catalog.missing_table(&database, &name))
            }
        }
        ShowCreate::Database {
            name,
            if_not_exists,
        } => {
            let unknown = || codes::ER_BAD_DB_ERROR.with(&[name]);
            let database = context.database_or_current(Some(name))?;
            let collation = context.catalog().database_collation(database);
            let collation = collation.ok_or_else(unknown)?;
            let text = show_create::database(name, collation, *if_not_exists, quotes);
            Ok(created("Database", name.clone(), text))
        }
        ShowCreate::View(table) => {
            let (database, name) = qualified(context, table)?;
            if context.find_table(&database, &name).is_some() {
                return Err(codes::ER_WRONG_OBJECT.with(&[&database, &name, &"VIEW"]));
            }
            let catalog = context.catalog();
            match catalog.view(&database, &name) {
                Some(view) => create_view(context, &view),
                None => Err(catalog.missing_table(&database, &name)),
            }
        }
        ShowCreate::Function(name) => create_function(context, name),
        ShowCreate::Procedure(name) => {
            Err(codes::ER_SP_DOES_NOT_EXIST.with(&[&"PROCEDURE", &name.name]))
        }
        ShowCreate::User(account) => accounts::show::create(context, account),
        ShowCreate::Trigger(_) => Err(codes::ER_TRG_DOES_NOT_EXIST.error()),
        ShowCreate::Event(name) => Err(codes::ER_EVENT_DOES_NOT_EXIST.with(&[&name.name])),
    }
}

/// SHOW CREATE FUNCTION: a function of an embedding program has no statement that makes it, and NULL in its place.
fn create_function(context: &StatementContext<'_>, name: &TableName) -> Result<Outcome> {
    let (database, own) = qualified(context, name)?;
    let missing = || codes::ER_SP_DOES_NOT_EXIST.with(&[&"FUNCTION", &name.name]);
    let catalog = context.catalog();
    let function = catalog.function(&database, &own).ok_or_else(missing)?;
    let of_database = catalog.database_collation(&database).unwrap_or_default();
    let columns = [
        ("Function", NAME),
        ("sql_mode", STATEMENT),
        ("Create Function", STATEMENT),
        ("character_set_client", 32),
        ("collation_connection", 32),
        ("Database Collation", 32),
    ];
    let texts = [
        Some(function.name.as_str()),
        Some(""),
        None,
        Some("utf8mb4"),
        Some("utf8mb4_0900_ai_ci"),
        Some(character_sets::row(of_database).name),
    ];
    let collation = CollationId::UTF8MB4_0900_AI_CI;
    let columns =
        columns.map(|(name, length)| (name, derive::string_type(u64::from(length), collation)));
    let row = texts.map(|text| text.map_or(Value::Null, Value::from));
    Ok(StatementResult::of_rows(&columns, &[row]).into())
}

/// The result of SHOW CREATE.
fn created(object: &str, name: String, text: String) -> Outcome {
    let statement = format!("Create {object}");
    let columns = [(object, NAME), (statement.as_str(), STATEMENT)];
    let result = text_rows(&columns, &[[name, text]]);
    result.never_null(|_| true).into()
}

fn create_view(context: &StatementContext<'_>, view: &ViewDefinition) -> Result<Outcome> {
    let mut text = view.create_text(context.current_database());
    if context.options().session.sql_mode.has(SqlMode::ANSI_QUOTES) {
        text = show_create::with_ansi_quotes(&text);
    }
    let columns = [
        ("View", NAME),
        ("Create View", STATEMENT),
        ("character_set_client", 32),
        ("collation_connection", 32),
    ];
    let row = [
        view.name().to_owned(),
        text,
        view.character_set.clone(),
        view.collation.clone(),
    ];
    if select::plan_trusted(context, &view.source.query).is_err() {
        context.warn(codes::ER_VIEW_INVALID.with(&[&view.database(), &view.name()]));
    }
    Ok(text_rows(&columns, &[row]).never_null(|_| true).into())
}
