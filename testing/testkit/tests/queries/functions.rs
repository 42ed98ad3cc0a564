//! Every function that Mayfly has, with the kinds of its arguments and of what it gives: as the
//! engine's own tables say, so that a new one is asked for by itself.

use std::sync::LazyLock;

use mayfly_functions::{
    Argument, Coercibility, ScalarFunction, SignatureContext, aggregate, scalar,
};
use mayfly_types::{CollationId, SqlMode, SqlType, TypeKind};

use crate::tree::Kind;

/// How a function is written, and of what.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) text: String,
    pub(crate) arguments: Vec<Kind>,
    pub(crate) result: Kind,
}

/// What depends on the server, the session, or chance, waits, or ends the statement on purpose.
const LEFT_OUT: [&str; 32] = [
    "load_file",
    "benchmark",
    "connection_id",
    "ps_current_thread_id",
    "ps_thread_id",
    "roles_graphml",
    "wait_for_executed_gtid_set",
    "row_count",
    "found_rows",
    "get_user_variable",
    "set_user_variable",
    "last_insert_id",
    "sleep",
    "source_pos_wait",
    "validate_password_strength",
    "version",
    "database",
    "user",
    "session_user",
    "current_user",
    "current_role",
    "icu_version",
    "name_const",
    "get_lock",
    "release_lock",
    "is_free_lock",
    "is_used_lock",
    "release_all_locks",
    "rand",
    "sysdate",
    "comparable date",
    "comparable datetime",
];

/// Functions that are written in a way of their own, with the letters of their arguments and result.
const WRITTEN: &[(&str, &str)] = &[
    ("addtime", "ADDTIME({}, {}):MI:M"),
    ("addtime", "ADDTIME({}, {}):II:I"),
    ("subtime", "SUBTIME({}, {}):MI:M"),
    ("subtime", "SUBTIME({}, {}):II:I"),
    ("timediff", "TIMEDIFF({}, {}):II:I"),
    ("timediff", "TIMEDIFF({}, {}):MM:I"),
    ("compress", "UNCOMPRESS(COMPRESS({})):T:B"),
    ("from_days", "FROM_DAYS(ABS({}) % 1000000 + 366):N:D"),
    ("member of", "({} MEMBER OF({})):JJ:N"),
    ("format", "FORMAT({}, 2):N:T"),
    ("maketime", "MAKETIME({} % 100, {} % 60, {} % 60):NNN:I"),
    ("position", "POSITION({} IN {}):TT:N"),
    ("trim", "TRIM({}):T:T"),
    ("trim", "TRIM({} FROM {}):TT:T"),
    ("trim", "TRIM(BOTH {} FROM {}):TT:T"),
    ("trim leading", "TRIM(LEADING {} FROM {}):TT:T"),
    ("trim trailing", "TRIM(TRAILING {} FROM {}):TT:T"),
    ("collate", "({} COLLATE utf8mb4_0900_bin):T:T"),
    ("convert using", "CONVERT({} USING utf8mb4):T:L"),
    ("convert using", "CONVERT({} USING latin1):T:L"),
    ("binary", "CAST({} AS BINARY):T:B"),
    ("negate", "(-{}):N:N"),
    ("~", "(~{}):N:N"),
    ("like", "({} LIKE {}):TT:N"),
    ("like", "({} NOT LIKE {}):TT:N"),
    ("regexp", "({} REGEXP 'a|^b'):T:N"),
    ("regexp", "({} REGEXP '[0-9]+$'):T:N"),
    ("regexp_like", "REGEXP_LIKE({}, 'A.?', 'i'):T:N"),
    ("regexp_substr", "REGEXP_SUBSTR({}, '[a-z]+', 1, 1):T:T"),
    ("regexp_replace", "REGEXP_REPLACE({}, 'a(.)', '<$1>'):T:T"),
    ("regexp_instr", "REGEXP_INSTR({}, 'b'):T:N"),
    ("date_add", "({} + INTERVAL ({} % 100) DAY):DN:D"),
    ("date_add", "({} + INTERVAL ({} % 100) MONTH):DN:D"),
    ("date_add", "({} + INTERVAL ({} % 100) HOUR):MN:M"),
    ("date_add", "({} + INTERVAL ({} % 100) SECOND):IN:I"),
    (
        "date_add",
        "DATE_ADD({}, INTERVAL ({} % 100) MICROSECOND):MN:M",
    ),
    ("date_add", "DATE_ADD({}, INTERVAL {} DAY_SECOND):MT:M"),
    ("date_sub", "({} - INTERVAL ({} % 100) YEAR):DN:D"),
    ("date_sub", "DATE_SUB({}, INTERVAL ({} % 100) WEEK):DN:D"),
    ("date_sub", "DATE_SUB({}, INTERVAL ({} % 100) MINUTE):MN:M"),
    ("date_sub", "DATE_SUB({}, INTERVAL {} YEAR_MONTH):MT:M"),
    ("timestampadd", "TIMESTAMPADD(QUARTER, {} % 100, {}):NM:M"),
    ("timestampadd", "TIMESTAMPADD(SECOND, {} % 100, {}):NM:M"),
    ("timestampdiff", "TIMESTAMPDIFF(MONTH, {}, {}):MM:N"),
    ("timestampdiff", "TIMESTAMPDIFF(SECOND, {}, {}):MM:N"),
    ("timestampdiff", "TIMESTAMPDIFF(YEAR, {}, {}):DM:N"),
    ("extract", "EXTRACT(YEAR_MONTH FROM {}):D:N"),
    ("extract", "EXTRACT(DAY_MICROSECOND FROM {}):M:N"),
    ("extract", "EXTRACT(HOUR_SECOND FROM {}):I:N"),
    ("extract", "EXTRACT(WEEK FROM {}):D:N"),
    ("get_format", "GET_FORMAT(DATE, 'EUR'):-:T"),
    ("date_format", "DATE_FORMAT({}, '%Y-%m-%d %H:%i:%s.%f'):M:T"),
    (
        "date_format",
        "DATE_FORMAT({}, '%a %b %c %D %e %j %M %p %r %T'):M:T",
    ),
    (
        "date_format",
        "DATE_FORMAT({}, '%U %u %V %v %W %w %X %x %y %h %k %l'):D:T",
    ),
    ("time_format", "TIME_FORMAT({}, '%H %k %h %i %s %f %p'):I:T"),
    ("str_to_date", "STR_TO_DATE({}, '%Y-%m-%d'):T:D"),
    ("str_to_date", "STR_TO_DATE({}, '%H:%i:%s'):T:I"),
    ("convert_tz", "CONVERT_TZ({}, '+00:00', '-05:30'):M:M"),
    ("comparison", "({} = {}):**:N"),
    ("comparison", "({} <=> {}):**:N"),
    ("comparison", "({} < {}):**:N"),
    ("comparison", "({} >= {}):**:N"),
    ("comparison", "({} <> {}):**:N"),
    ("comparison", "({} BETWEEN {} AND {}):NNN:N"),
    ("comparison", "({} BETWEEN {} AND {}):TTT:N"),
    ("comparison", "({} BETWEEN {} AND {}):DMD:N"),
    ("comparison", "({} NOT BETWEEN {} AND {}):LLL:N"),
    ("comparison", "({} IN ({}, {})):NNN:N"),
    ("comparison", "({} IN ({}, {})):TTT:N"),
    ("comparison", "({} NOT IN ({}, {})):DDD:N"),
    ("comparison", "({} NOT IN ({}, {})):MMM:N"),
    ("comparison", "({} = {}):JJ:N"),
    ("comparison", "({} < {}):JN:N"),
    ("comparison", "({} <=> {}):BB:N"),
    ("comparison", "(({}, {}) = ({}, {})):****:N"),
    ("comparison", "(({}, {}) < ({}, {})):NTNT:N"),
    ("case", "(CASE {} WHEN {} THEN 1 WHEN {} THEN 2 END):NNN:N"),
    ("logic", "({} IS TRUE):*:N"),
    ("logic", "({} IS NOT FALSE):*:N"),
    ("logic", "({} AND {}):**:N"),
    ("logic", "({} OR {}):**:N"),
    ("logic", "(NOT {}):*:N"),
    ("cast", "CAST({} AS SIGNED):+:N"),
    ("cast", "CAST({} AS UNSIGNED):+:N"),
    ("cast", "CAST({} AS DECIMAL(12,3)):+:N"),
    ("cast", "CAST({} AS DECIMAL):+:N"),
    ("cast", "CAST({} AS DOUBLE):*:F"),
    ("cast", "CAST({} AS FLOAT):*:F"),
    ("cast", "CAST({} AS CHAR):*:T"),
    ("cast", "CAST({} AS CHAR(3)):*:T"),
    ("cast", "CAST({} AS BINARY(4)):+:B"),
    ("cast", "CAST({} AS DATE):T:D"),
    ("cast", "CAST({} AS DATE):M:D"),
    ("cast", "CAST({} AS TIME):T:I"),
    ("cast", "CAST({} AS TIME):M:I"),
    ("cast", "CAST({} AS TIME(2)):T:I"),
    ("cast", "CAST({} AS TIME(2)):M:I"),
    ("cast", "CAST({} AS DATETIME):T:M"),
    ("cast", "CAST({} AS DATETIME):M:M"),
    ("cast", "CAST({} AS DATETIME(4)):T:M"),
    ("cast", "CAST({} AS DATETIME(4)):M:M"),
    ("cast", "CAST({} AS YEAR):+:N"),
    ("cast", "CAST({} AS JSON):+:J"),
    ("interval", "INTERVAL({}, {}, {}):NNN:N"),
    ("json_extract", "JSON_EXTRACT({}, '$.a'):J:J"),
    ("json_extract", "JSON_EXTRACT({}, '$[0]', '$**.b'):J:J"),
    (
        "json_unquote",
        "JSON_UNQUOTE(JSON_EXTRACT({}, '$.b[1]')):J:T",
    ),
    ("json_value", "JSON_VALUE({}, '$.a'):J:T"),
    ("json_value", "JSON_VALUE({}, '$[0]' RETURNING SIGNED):J:N"),
    ("json_contains", "JSON_CONTAINS({}, {}):JJ:N"),
    (
        "json_contains_path",
        "JSON_CONTAINS_PATH({}, 'one', '$.a', '$[1]'):J:N",
    ),
    ("json_keys", "JSON_KEYS({}):J:J"),
    ("json_length", "JSON_LENGTH({}, '$.b'):J:N"),
    ("json_length", "JSON_LENGTH({}):J:N"),
    ("json_search", "JSON_SEARCH({}, 'all', {}):JT:J"),
    ("json_set", "JSON_SET({}, '$.a', {}):J+:J"),
    ("json_insert", "JSON_INSERT({}, '$[1]', {}):J+:J"),
    ("json_replace", "JSON_REPLACE({}, '$.b', {}):J+:J"),
    ("json_remove", "JSON_REMOVE({}, '$.a'):J:J"),
    ("json_array_append", "JSON_ARRAY_APPEND({}, '$', {}):J+:J"),
    (
        "json_array_insert",
        "JSON_ARRAY_INSERT({}, '$[0]', {}):J+:J",
    ),
    ("json_object", "JSON_OBJECT('k', {}, 'l', {}):++:J"),
    ("json_array", "JSON_ARRAY({}, {}):++:J"),
    ("json_merge_patch", "JSON_MERGE_PATCH({}, {}):JJ:J"),
    ("json_merge_preserve", "JSON_MERGE_PRESERVE({}, {}):JJ:J"),
    ("json_overlaps", "JSON_OVERLAPS({}, {}):JJ:N"),
    ("json_pretty", "JSON_PRETTY({}):J:T"),
    ("json_type", "JSON_TYPE({}):J:T"),
    ("json_depth", "JSON_DEPTH({}):J:N"),
    (
        "json_schema_valid",
        "JSON_SCHEMA_VALID('{\"type\": \"object\"}', {}):J:N",
    ),
    (
        "json_schema_validation_report",
        "JSON_SCHEMA_VALIDATION_REPORT('{\"type\": \"array\"}', {}):J:J",
    ),
    ("json_storage_free", "JSON_STORAGE_FREE({}):J:N"),
    // How JSON is stored is each server's own.
    ("json_storage_size", "(JSON_STORAGE_SIZE({}) > 0):J:N"),
    ("conv", "CONV({}, 10, 16):N:T"),
    ("conv", "CONV({}, 16, 10):T:T"),
    ("charset", "CHARSET({}):*:T"),
    ("collation", "COLLATION({}):*:T"),
    ("aes_encrypt", "AES_ENCRYPT({}, 'key'):T:B"),
    ("aes_decrypt", "AES_DECRYPT(AES_ENCRYPT({}, {}), 'a'):TT:B"),
    ("repeat", "REPEAT({}, 3):T:T"),
    ("space", "SPACE(LEAST({}, 9)):N:T"),
    ("lpad", "LPAD({}, 6, 'xy'):T:T"),
    ("rpad", "RPAD({}, 6, 'é'):T:T"),
    ("weight_string", "HEX(WEIGHT_STRING({})):T:T"),
    ("weight_string", "HEX(WEIGHT_STRING({} AS CHAR(3))):T:T"),
    ("period_add", "PERIOD_ADD(202401, {} % 100):N:N"),
    ("period_diff", "PERIOD_DIFF(202401, {} * 100 + 1):N:N"),
    ("char", "CHAR({}, {}):NN:B"),
    ("char", "CHAR({} USING latin1):N:L"),
    ("round", "ROUND({}, {}):NN:N"),
    ("round", "ROUND({}):N:N"),
    ("round", "ROUND({}, 1):F:F"),
    ("truncate", "TRUNCATE({}, {}):NN:N"),
];

/// Aggregate functions whose rows have an order, or that are written in a way of their own.
const AGGREGATES: &[(&str, &str)] = &[
    ("count", "COUNT(DISTINCT {}, {}):**:N"),
    ("count", "COUNT({}):*:N"),
    ("group_concat", "GROUP_CONCAT({} ORDER BY 1):T:T"),
    (
        "group_concat",
        "GROUP_CONCAT(DISTINCT {} ORDER BY 1 DESC SEPARATOR '/'):T:T",
    ),
    ("json_arrayagg", "JSON_LENGTH(JSON_ARRAYAGG({})):*:N"),
    (
        "json_objectagg",
        "JSON_LENGTH(JSON_OBJECTAGG(COALESCE({}, ''), {})):T*:N",
    ),
    ("bit_and", "BIT_AND({}):N:N"),
    ("bit_or", "BIT_OR({}):N:N"),
    ("bit_xor", "BIT_XOR({}):N:N"),
    ("sum", "SUM({}):N:N"),
    ("sum", "SUM(DISTINCT {}):N:N"),
    ("avg", "AVG({}):N:N"),
];

/// Functions that give one of their arguments.
const CHOOSING: [&str; 7] = [
    "IF({}, {}, {})",
    "IFNULL({}, {})",
    "NULLIF({}, {})",
    "COALESCE({}, {})",
    "GREATEST({}, {})",
    "LEAST({}, {})",
    "ANY_VALUE({})",
];

/// All calls.
pub(crate) static SCALAR: LazyLock<Vec<Call>> = LazyLock::new(|| {
    let mut all: Vec<Call> = WRITTEN
        .iter()
        .filter_map(|(_, call)| written(call))
        .collect();
    for text in CHOOSING {
        let count = text.matches("{}").count();
        all.extend(Kind::VALUES.map(|kind| Call {
            text: text.to_owned(),
            arguments: match text.starts_with("IF(") {
                true => vec![Kind::Condition, kind, kind],
                false => vec![kind; count],
            },
            result: kind,
        }));
    }
    for function in scalar::all() {
        let names = function.names();
        let is = |name: &&str| names.contains(name);
        let elsewhere = LEFT_OUT.iter().any(&is)
            || WRITTEN.iter().any(|(name, _)| is(name))
            || CHOOSING.iter().any(|text| {
                let name = text.split('(').next().unwrap_or_default();
                is(&name.to_lowercase().as_str())
            })
            || function.volatility() == scalar::Volatility::Volatile;
        if !elsewhere {
            all.extend(probed(function));
        }
    }
    all
});

/// All aggregates.
pub(crate) static AGGREGATE: LazyLock<Vec<Call>> = LazyLock::new(|| {
    let mut all: Vec<Call> = AGGREGATES
        .iter()
        .filter_map(|(_, call)| written(call))
        .collect();
    for function in aggregate::FUNCTIONS {
        let name = function.names()[0];
        if AGGREGATES.iter().any(|(own, _)| *own == name) || name == "any_value" {
            continue;
        }
        // What gives one of its arguments, and what is a number.
        let chooses = function.ignores_duplicates();
        for kind in Kind::VALUES.into_iter().filter(|kind| kind.is_exact()) {
            all.push(Call {
                text: format!("{}({{}})", name.to_uppercase()),
                arguments: vec![kind],
                result: if chooses { kind } else { Kind::Float },
            });
        }
    }
    all
});

/// A call from its text: `TEXT:arguments:result`.
fn written(call: &str) -> Option<Call> {
    let (rest, result) = call.rsplit_once(':')?;
    let (text, arguments) = rest.rsplit_once(':')?;
    Some(Call {
        text: text.to_owned(),
        arguments: arguments.chars().filter_map(kind_of_letter).collect(),
        result: result.chars().find_map(kind_of_letter)?,
    })
}

fn kind_of_letter(letter: char) -> Option<Kind> {
    Some(match letter {
        'N' => Kind::Number,
        'F' => Kind::Float,
        'T' => Kind::Text,
        'L' => Kind::Loose,
        'B' => Kind::Binary,
        'D' => Kind::Date,
        'I' => Kind::Time,
        'M' => Kind::Moment,
        'J' => Kind::Json,
        // Any.
        '*' => Kind::Fixed,
        // Any that has one meaning as all other types.
        '+' => Kind::Query,
        _ => return None,
    })
}

/// The calls of a function with one, two, … arguments, whose kinds are those that it converts a text to.
fn probed(function: &ScalarFunction) -> Vec<Call> {
    let name = function.names()[0];
    let arity = function.arity();
    let most = (*arity.end()).min(*arity.start() + 2).min(6);
    let context = SignatureContext {
        sql_mode: SqlMode::default(),
        div_precision_increment: 4,
        group_concat_max_len: 1024,
        collation_connection: CollationId::default(),
    };
    let text = SqlType::varchar(20, CollationId::default());
    // The current time takes no more than a literal.
    let most = match function.volatility() {
        scalar::Volatility::Immutable => most,
        _ => *arity.start(),
    };
    let counts = *arity.start()..=most;
    let calls = counts.filter_map(|count| {
        let argument = Argument {
            ty: &text,
            nullable: true,
            constant: None,
            coercibility: Coercibility::Coercible,
        };
        let signature = function.signature(&vec![argument; count], &context).ok();
        let arguments = signature.as_ref().map(|signature| &signature.arguments);
        let kinds = (0..count).map(|at| arguments.map_or(Kind::Text, |all| kind(&all[at])));
        let holes = vec!["{}"; count].join(", ");
        let is_word = name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let call = match (is_word && !["mod", "div", "xor"].contains(&name), count) {
            (true, _) => format!("{}({holes})", name.to_uppercase()),
            // An operator; what has a space in its name is the planner's.
            (false, 2) if !name.contains(' ') => format!("({{}} {} {{}})", name.to_uppercase()),
            (false, _) => return None,
        };
        Some(Call {
            text: call,
            arguments: kinds.collect(),
            result: signature
                .as_ref()
                .map_or(Kind::Text, |signature| kind(&signature.result)),
        })
    });
    calls.collect()
}

fn kind(ty: &SqlType) -> Kind {
    match ty.kind {
        TypeKind::Float | TypeKind::Double => Kind::Float,
        TypeKind::Date => Kind::Date,
        TypeKind::Time => Kind::Time,
        TypeKind::DateTime | TypeKind::Timestamp => Kind::Moment,
        TypeKind::Json => Kind::Json,
        TypeKind::Enum | TypeKind::Set => Kind::Loose,
        _ if ty.is_numeric() => Kind::Number,
        _ if ty.is_binary_string() => Kind::Binary,
        _ => Kind::Text,
    }
}
