//! Operands of geometry and VECTOR types, whose bytes are no text: where MySQL refuses them.
//!
//! A geometry is a binary string for most functions; those of numbers refuse it. A VECTOR is refused by every function that
//! is not in [`VECTOR_FUNCTIONS`]. Both are compared for equality only, a VECTOR with VECTORs alone.

use mayfly_functions::aggregate::Kind;
use mayfly_functions::scalar::Fact;
use mayfly_functions::{AggregateFunction, ScalarFunction};
use mayfly_types::error::codes;
use mayfly_types::{Error, PhysicalType, Result, SqlType, TypeKind, Value};

use crate::tree::expression::{Expression, ExpressionKind};

/// The functions that take VECTOR arguments, by their canonical names; those of geometries take any.
const VECTOR_FUNCTIONS: &[&str] = &[
    "aes_encrypt",
    "any_value",
    "ascii",
    "benchmark",
    "bit_count",
    "bit_length",
    "char_length",
    "charset",
    "coercibility",
    "collation",
    "compress",
    "crc32",
    "crc32c",
    "field",
    "find_in_set",
    "from_vector",
    "get_lock",
    "hex",
    "inet6_aton",
    "inet_aton",
    "inet_ntoa",
    "instr",
    "interval",
    "isnull",
    "length",
    "locate",
    "md5",
    "ord",
    "regexp",
    "regexp_instr",
    "regexp_like",
    "regexp_replace",
    "regexp_substr",
    "set_user_variable",
    "sha1",
    "sha2",
    "sleep",
    "strcmp",
    "to_base64",
    "to_vector",
    "validate_password_strength",
    "vector_dim",
    "xor",
];

/// The functions that refuse geometries.
const NUMBER_FUNCTIONS: &[&str] = &[
    "%",
    "&",
    "*",
    "+",
    "-",
    "/",
    "<<",
    ">>",
    "^",
    "abs",
    "acos",
    "asin",
    "atan",
    "atan2",
    "bin",
    "ceiling",
    "conv",
    "cos",
    "cot",
    "degrees",
    "div",
    "exp",
    "floor",
    "format",
    "greatest",
    "least",
    "like",
    "ln",
    "log",
    "log10",
    "log2",
    "name_const",
    "negate",
    "oct",
    "pow",
    "radians",
    "rand",
    "round",
    "sign",
    "sin",
    "sqrt",
    "tan",
    "truncate",
    "|",
    "~",
];

/// The names of functions in error 1210 that differ from their canonical names.
const ERROR_NAMES: &[(&str, &str)] = &[
    ("bin", "conv"),
    ("date_add", "date_add_interval"),
    ("date_sub", "date_add_interval"),
    ("date", "cast_as_date"),
    ("datediff", "to_days"),
    ("div", "DIV"),
    ("mod", "%"),
    ("name_const", "NAME_CONST"),
    ("negate", "-"),
    ("oct", "conv"),
    ("stddev_pop", "std"),
    ("substring", "substr"),
    ("var_pop", "variance"),
];

fn wrong_arguments(name: &str) -> Error {
    let mut names = ERROR_NAMES.iter();
    let name = names
        .find(|(own, _)| *own == name)
        .map_or(name, |row| row.1);
    codes::ER_WRONG_ARGUMENTS.with(&[&name])
}

fn has_vector(operands: &[Expression]) -> bool {
    operands.iter().any(|it| it.ty.kind == TypeKind::Vector)
}

fn has_geometry(operands: &[Expression]) -> bool {
    operands.iter().any(|it| it.ty.is_geometry())
}

/// Checks the arguments of a call.
pub(super) fn check_call(function: &ScalarFunction, arguments: &[Expression]) -> Result<()> {
    let name = function.name();
    if has_vector(arguments) {
        let is_choice = matches!(name, "coalesce" | "ifnull" | "greatest" | "least");
        if is_choice {
            check_choice(arguments.iter().map(|argument| &argument.ty))?;
        }
        let takes = VECTOR_FUNCTIONS.contains(&name)
            || name.starts_with("st_")
            || name.starts_with("cast as ")
            || matches!(name, "coalesce" | "ifnull");
        if !takes {
            return Err(wrong_arguments(name));
        }
    }
    let refuses = NUMBER_FUNCTIONS.contains(&name) || name == "mod";
    match refuses && has_geometry(arguments) {
        true => Err(wrong_arguments(name)),
        false => Ok(()),
    }
}

/// The first argument of a function that collects geometries which is of another type.
pub(super) fn wrong_element<'e>(
    function: &ScalarFunction,
    arguments: &'e [Expression],
) -> Option<&'e Expression> {
    let mut elements = arguments.iter();
    let is_wrong = |element: &&Expression| {
        let is_given = matches!(element.kind, ExpressionKind::Parameter(_));
        !element.ty.is_geometry() && !is_given
    };
    elements.find(|element| function.has(Fact::CollectsGeometries) && is_wrong(element))
}

/// The text of a hexadecimal literal in error 1367.
pub(super) fn literal_text(element: &Expression) -> Option<String> {
    let literal = element.as_literal().filter(|_| element.ty.is_bytes_literal);
    let Some(Value::Bytes(bytes)) = literal else {
        return None;
    };
    let digits = bytes.iter().map(|byte| format!("{byte:02x}"));
    Some(format!("0x{}", digits.collect::<String>()))
}

/// Checks the arguments of an aggregate function.
pub(super) fn check_aggregate(
    function: &AggregateFunction,
    arguments: &[Expression],
) -> Result<()> {
    let takes = |kind: Kind| matches!(kind, Kind::Count | Kind::AnyValue | Kind::GroupConcat);
    let is_bitwise = matches!(function.kind(), Kind::BitAnd | Kind::BitOr | Kind::BitXor);
    let is_refused = has_vector(arguments) || has_geometry(arguments) && !is_bitwise;
    match is_refused && !takes(function.kind()) {
        true => Err(wrong_arguments(function.name())),
        false => Ok(()),
    }
}

/// Checks the arguments of a window function that returns one of them.
pub(super) fn check_window(name: &str, arguments: &[Expression]) -> Result<()> {
    match has_vector(arguments) {
        true => Err(wrong_arguments(&name.to_ascii_lowercase())),
        false => Ok(()),
    }
}

/// Checks the operands of a comparison that messages call `operation`.
pub(super) fn check_comparison(left: &SqlType, right: &SqlType, operation: &str) -> Result<()> {
    let is_vector = |ty: &SqlType| ty.kind == TypeKind::Vector;
    if !left.is_structured_bytes() && !right.is_structured_bytes() {
        return Ok(());
    }
    let name = operation.trim();
    match name {
        "<" | "<=" | ">" | ">=" | "between" => Err(wrong_arguments(name)),
        "=" | "<>" | "<=>" | "IN" if is_vector(left) != is_vector(right) => {
            Err(wrong_arguments(if name == "IN" { "=" } else { name }))
        }
        _ => Ok(()),
    }
}

/// Checks the operand of NOT, which MySQL compares with 0.
pub(super) fn check_negated(operand: &SqlType) -> Result<()> {
    match operand.kind {
        TypeKind::Vector => Err(wrong_arguments("=")),
        _ => Ok(()),
    }
}

/// Checks the operand of CONVERT(… USING …).
pub(super) fn check_converted(operand: &SqlType, charset_is_binary: bool) -> Result<()> {
    match operand.kind {
        TypeKind::Vector if !charset_is_binary => Err(wrong_arguments("convert")),
        _ => Ok(()),
    }
}

/// Checks the target of a cast: a VECTOR becomes bytes only, a geometry no integer.
pub(super) fn check_cast(operand: &SqlType, target: &SqlType) -> Result<()> {
    let name = match target.kind {
        TypeKind::BigInt if target.unsigned => "cast_as_unsigned",
        TypeKind::BigInt => "cast_as_signed",
        TypeKind::Year => "cast_as_year",
        TypeKind::Decimal => "cast_as_decimal",
        TypeKind::Float | TypeKind::Double => "cast_as_real",
        TypeKind::Date => "cast_as_date",
        TypeKind::Time => "cast_as_time",
        TypeKind::DateTime => "cast_as_datetime",
        TypeKind::Json => "cast_as_json",
        _ => "cast_as_char",
    };
    let is_integer = matches!(
        target.physical(),
        PhysicalType::Int64 | PhysicalType::UInt64
    ) && !target.is_temporal();
    let is_refused = match operand.kind {
        TypeKind::Geometry(_) => is_integer,
        TypeKind::Vector => !target.is_binary_string(),
        _ => false,
    };
    match is_refused {
        true => Err(wrong_arguments(name)),
        false => Ok(()),
    }
}

/// Checks that alternatives (of CASE, UNION and the like) have a common type: a VECTOR has one with VECTORs and NULL.
pub(super) fn check_choice<'a>(types: impl Iterator<Item = &'a SqlType> + Clone) -> Result<()> {
    let typed = types.filter(|ty| ty.kind != TypeKind::Null);
    let mut others = typed.clone().filter(|ty| ty.kind != TypeKind::Vector);
    let has_vector = typed.clone().any(|ty| ty.kind == TypeKind::Vector);
    match (has_vector, others.next()) {
        (true, Some(other)) => {
            let first = typed.map(aggregated_name).next().unwrap_or_default();
            let vector = aggregated_name(&SqlType::vector(1));
            let (first, second) = match first == vector {
                true => (vector, aggregated_name(other)),
                false => (first, vector),
            };
            Err(codes::ER_INCOMPATIBLE_TYPE_AGG.with(&[&first, &second]))
        }
        _ => Ok(()),
    }
}

/// The name of a type in error 6135.
fn aggregated_name(ty: &SqlType) -> &'static str {
    match ty.kind {
        TypeKind::Null => "NULL",
        TypeKind::TinyInt => "TINY",
        TypeKind::SmallInt => "SHORT",
        TypeKind::MediumInt => "INT24",
        TypeKind::Int => "LONG",
        TypeKind::Boolean | TypeKind::BigInt => "LONGLONG",
        TypeKind::Decimal => "NEWDECIMAL",
        TypeKind::Float => "FLOAT",
        TypeKind::Double => "DOUBLE",
        TypeKind::Bit => "BIT",
        TypeKind::Year => "YEAR",
        TypeKind::Date => "DATE",
        TypeKind::Time => "TIME",
        TypeKind::DateTime => "DATETIME",
        TypeKind::Timestamp => "TIMESTAMP",
        TypeKind::Char => "STRING",
        TypeKind::VarChar => "VARCHAR",
        TypeKind::TinyText => "TINY_BLOB",
        TypeKind::Text => "BLOB",
        TypeKind::MediumText => "MEDIUM_BLOB",
        TypeKind::LongText => "LONG_BLOB",
        TypeKind::Enum => "ENUM",
        TypeKind::Set => "SET",
        TypeKind::Json => "JSON",
        TypeKind::Geometry(_) => "GEOMETRY",
        TypeKind::Vector => "VECTOR",
    }
}
