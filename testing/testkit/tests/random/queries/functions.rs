//! Every function of Mayfly, with the kinds of its arguments and of its result, from the engine's own tables, so that a
//! new function is tested without further work.

use std::sync::LazyLock;

use mayfly_functions::{Argument, Coercibility, ScalarFunction, aggregate, scalar};
use mayfly_testkit::groups::Groups;
use mayfly_types::{CollationId, SessionParameters, SqlMode, SqlType, TypeKind};

use crate::queries::tree::Kind;

/// A form of a call, with the kinds of its arguments.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) text: String,
    pub(crate) arguments: Vec<Kind>,
    pub(crate) result: Kind,
}

/// Excluded functions: they depend on the server, the session, or chance, wait, or end the statement on purpose.
static LEFT_OUT: LazyLock<Groups> =
    LazyLock::new(|| Groups::read(include_str!("functions_left_out.txt")));

/// Functions with special syntax, with the letters of their arguments and result.
static WRITTEN: LazyLock<Groups> = LazyLock::new(|| Groups::read(include_str!("functions.txt")));

/// Aggregate functions whose rows have an order, or with special syntax.
static AGGREGATES: LazyLock<Groups> =
    LazyLock::new(|| Groups::read(include_str!("aggregates.txt")));

/// Functions that return one of their arguments.
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
    let mut all = written(&WRITTEN);
    for text in CHOOSING {
        let count = text.matches("{}").count();
        all.extend(Kind::VALUES.map(|kind| Call {
            text: text.to_owned(),
            arguments: if text.starts_with("IF(") {
                vec![Kind::Condition, kind, kind]
            } else {
                vec![kind; count]
            },
            result: kind,
        }));
    }
    for function in scalar::all() {
        let names = function.names();
        let is = |name: &&str| names.contains(name);
        let elsewhere = LEFT_OUT.items("left out").iter().any(is)
            || WRITTEN.iter().any(|(name, _)| is(&name))
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
    let mut all = written(&AGGREGATES);
    for function in aggregate::FUNCTIONS {
        let name = function.names()[0];
        if AGGREGATES.iter().any(|(own, _)| own == name) || name == "any_value" {
            continue;
        }
        // Whether it returns one of its arguments, and whether it returns a number.
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

/// The calls of a file.
fn written(calls: &Groups) -> Vec<Call> {
    let texts = calls.iter().flat_map(|(_, calls)| calls);
    texts.filter_map(|text| call(text)).collect()
}

/// A call from its text: `TEXT:arguments:result`.
fn call(call: &str) -> Option<Call> {
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
        // Any kind.
        '*' => Kind::Fixed,
        // Any kind whose meaning is the same in all types.
        '+' => Kind::Query,
        _ => return None,
    })
}

/// The calls of a function with one, two, … arguments, whose kinds are those that it converts a text to.
fn probed(function: &ScalarFunction) -> Vec<Call> {
    let name = function.names()[0];
    let arity = function.arity();
    let most = (*arity.end()).min(*arity.start() + 2).min(6);
    let session = SessionParameters {
        sql_mode: SqlMode::default(),
        ..SessionParameters::default()
    };
    let text = SqlType::varchar(20, CollationId::default());
    // Functions of the current time take at most a literal.
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
            mixes_integers: false,
        };
        let signature = function.signature(&vec![argument; count], &session).ok();
        let arguments = signature.as_ref().map(|signature| &signature.arguments);
        let kinds = (0..count).map(|at| arguments.map_or(Kind::Text, |all| kind(&all[at])));
        let holes = vec!["{}"; count].join(", ");
        let is_word = name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let call = match (is_word && !["mod", "div", "xor"].contains(&name), count) {
            (true, _) => format!("{}({holes})", name.to_uppercase()),
            // An operator; names with a space belong to the planner.
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
