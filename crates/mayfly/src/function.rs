//! Functions of a program that statements call.

use std::fmt::{self, Debug};
use std::sync::Arc;

use mayfly_engine::{DataAccess, FunctionBody, FunctionDefinition, Result, SqlType};

use crate::parameters::Parameter;
use crate::value::Value;

/// Work of a function: from its arguments to its result.
type Work = dyn Fn(&[Value<'_>]) -> Result<Parameter> + Send + Sync;

/// A function of a program that statements call for each row. [`Database::add_function`](crate::Database::add_function) puts it
/// into a database.
///
/// ```
/// use mayfly::{Database, Function, SqlType, ToParameter, Value};
///
/// # fn main() -> mayfly::Result<()> {
/// let bigint = SqlType::bigint();
/// let double = Function::new(vec![bigint.clone()], bigint, |arguments| {
///     Ok(match &arguments[0] {
///         Value::Int(number) => number.wrapping_mul(2).to_parameter(),
///         _ => Value::Null.to_parameter(),
///     })
/// });
/// let database = Database::in_memory()?;
/// database.add_function("twice", double.deterministic())?;
/// let row = database.connect().query_row("SELECT twice(21)", ())?;
/// assert_eq!(row.get::<i64>(0)?, 42);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Function {
    parameters: Vec<SqlType>,
    result: SqlType,
    is_deterministic: bool,
    work: Arc<Work>,
}

impl Function {
    /// A function of parameters and a result of these types. Arguments are converted to the types of the parameters, and what
    /// `work` gives to the type of the result.
    pub fn new(
        parameters: Vec<SqlType>,
        result: SqlType,
        work: impl Fn(&[Value<'_>]) -> Result<Parameter> + Send + Sync + 'static,
    ) -> Self {
        Self {
            parameters,
            result,
            is_deterministic: false,
            work: Arc::new(work),
        }
    }

    /// Promises equal results for equal arguments: calls with constants may be made once, and rows be read in batches.
    #[must_use]
    pub fn deterministic(self) -> Self {
        Self {
            is_deterministic: true,
            ..self
        }
    }

    /// The stored function of the engine.
    pub(crate) fn definition(self, name: &str) -> FunctionDefinition {
        let Self {
            parameters,
            result,
            is_deterministic,
            work,
        } = self;
        let named = (1..).zip(parameters);
        FunctionDefinition {
            name: name.to_owned(),
            parameters: named.map(|(n, ty)| (format!("p{n}"), ty)).collect(),
            result,
            is_deterministic,
            access: DataAccess::NoSql,
            body: FunctionBody::Work(Arc::new(move |arguments, _| {
                let values = arguments.iter().map(|(value, ty)| Value::of(value, ty));
                let values: Vec<Value<'_>> = values.collect();
                Ok(work(&values)?.0)
            })),
        }
    }
}

impl Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Function")
            .field("parameters", &self.parameters)
            .field("result", &self.result)
            .finish_non_exhaustive()
    }
}
