//! Values for the `?` of a statement.

use mayfly_engine::{CollationId, DateTime, Decimal, SqlType, TypeKind};

use crate::value::{Date, Time, Value};

/// A value of a parameter with its SQL type.
#[derive(Debug, Clone)]
pub struct Parameter(pub(crate) (mayfly_engine::Value, SqlType));

/// A type of Rust that can be a parameter.
pub trait ToParameter {
    /// The value and its SQL type.
    fn to_parameter(&self) -> Parameter;
}

fn text(text: &str) -> Parameter {
    let length = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
    let ty = SqlType::varchar(length, CollationId::UTF8MB4_0900_AI_CI);
    Parameter((text.into(), ty))
}

fn bytes(bytes: &[u8]) -> Parameter {
    let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    let ty = SqlType::varchar(length, CollationId::BINARY);
    Parameter((mayfly_engine::Value::Bytes(bytes.to_vec()), ty))
}

/// The digits of a fraction that a parameter has.
fn fraction(microseconds: i64) -> u8 {
    if microseconds % 1_000_000 == 0 { 0 } else { 6 }
}

macro_rules! parameters {
    ($($ty:ty: $value:ident => $parameter:expr;)*) => {$(
        impl ToParameter for $ty {
            fn to_parameter(&self) -> Parameter {
                let $value = self;
                $parameter
            }
        }
    )*};
}
parameters! {
    bool: value => Parameter((mayfly_engine::Value::Int((*value).into()), SqlType::bigint()));
    f32: value => f64::from(*value).to_parameter();
    f64: value => Parameter((mayfly_engine::Value::Float(*value), SqlType::double()));
    str: value => text(value);
    String: value => text(value);
    [u8]: value => bytes(value);
    Vec<u8>: value => bytes(value);
    Decimal: value => {
        let precision = value.precision().max(value.scale.saturating_add(1));
        let number = mayfly_engine::Value::Decimal { unscaled: value.unscaled, scale: value.scale };
        Parameter((number, SqlType::decimal(precision, value.scale)))
    };
    Date: value => {
        let packed = DateTime::date(value.year, value.month, value.day).pack();
        Parameter((mayfly_engine::Value::Int(packed), SqlType::temporal(TypeKind::Date, 0)))
    };
    DateTime: value => {
        let ty = SqlType::temporal(TypeKind::DateTime, fraction(value.microsecond.into()));
        Parameter((mayfly_engine::Value::Int(value.pack()), ty))
    };
    Time: value => {
        let ty = SqlType::temporal(TypeKind::Time, fraction(value.microseconds));
        Parameter((mayfly_engine::Value::Int(value.microseconds), ty))
    };
}

macro_rules! integers {
    ($variant:ident, $ty:expr, $wide:ty: $($narrow:ty),*) => {$(
        impl ToParameter for $narrow {
            fn to_parameter(&self) -> Parameter {
                Parameter((mayfly_engine::Value::$variant(<$wide>::from(*self)), $ty))
            }
        }
    )*};
}
integers!(Int, SqlType::bigint(), i64: i8, i16, i32, i64);
integers!(UInt, SqlType::bigint_unsigned(), u64: u8, u16, u32, u64);

impl ToParameter for Value<'_> {
    fn to_parameter(&self) -> Parameter {
        match self {
            Self::Null => Parameter((mayfly_engine::Value::Null, SqlType::null())),
            Self::Int(value) => value.to_parameter(),
            Self::UInt(value) => value.to_parameter(),
            Self::Double(value) => value.to_parameter(),
            Self::Decimal(value) => value.to_parameter(),
            Self::Date(value) => value.to_parameter(),
            Self::DateTime(value) => value.to_parameter(),
            Self::Time(value) => value.to_parameter(),
            Self::Text(value) => text(value),
            Self::Bytes(value) => bytes(value),
        }
    }
}

impl<T: ToParameter> ToParameter for Option<T> {
    fn to_parameter(&self) -> Parameter {
        match self {
            Some(value) => value.to_parameter(),
            None => Value::Null.to_parameter(),
        }
    }
}

impl<T: ToParameter + ?Sized> ToParameter for &T {
    fn to_parameter(&self) -> Parameter {
        (*self).to_parameter()
    }
}

/// The values of all `?` of a statement, in order: `()` for none, [`params!`](crate::params) for values of different
/// types, a slice or an array for values of one type.
pub trait Parameters {
    /// The values.
    fn values(&self) -> Vec<Parameter>;
}

impl Parameters for () {
    fn values(&self) -> Vec<Parameter> {
        Vec::new()
    }
}

impl Parameters for Vec<Parameter> {
    fn values(&self) -> Vec<Parameter> {
        self.clone()
    }
}

impl<T: ToParameter> Parameters for &[T] {
    fn values(&self) -> Vec<Parameter> {
        self.iter().map(T::to_parameter).collect()
    }
}

impl<T: ToParameter, const N: usize> Parameters for [T; N] {
    fn values(&self) -> Vec<Parameter> {
        self.iter().map(T::to_parameter).collect()
    }
}

/// The values of all `?` of a statement, of any types that are [`ToParameter`].
///
/// ```
/// # fn main() -> mayfly::Result<()> {
/// # let mut connection = mayfly::Database::in_memory()?.connect();
/// let row = connection.query_row("SELECT ? + 1, CONCAT(?, '!')", mayfly::params![41, "hello"])?;
/// assert_eq!(row.get::<i64>(0)?, 42);
/// assert_eq!(row.get::<String>(1)?, "hello!");
/// # Ok(())
/// # }
/// ```
#[macro_export]
macro_rules! params {
    ($($value:expr),* $(,)?) => {
        ::std::vec![$($crate::ToParameter::to_parameter(&$value)),*]
    };
}
