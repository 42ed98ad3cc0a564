//! The types of columns that a call declares: `types => 'day DATE, amount DECIMAL(9,2)'`.
//!
//! They count more than those found in the files. A text that is no value of its type, or of which the type would not hold
//! all, is an error with its line.

use mayfly_engine::{Error, Result, SqlType, TableArguments, TableFunctionContext};

/// The declared types of a call.
#[derive(Debug, Clone, Default)]
pub(crate) struct Declared(Vec<(String, SqlType)>);

impl Declared {
    /// Takes the option `types`.
    pub(crate) fn of(
        arguments: &mut TableArguments,
        context: &TableFunctionContext,
    ) -> Result<Self> {
        let Some(text) = arguments.text("types")? else {
            return Ok(Self::default());
        };
        match context.column_types(&text) {
            Ok(types) => Ok(Self(types)),
            Err(error) => {
                let why = format!(
                    "option 'types' takes columns with types: {}",
                    error.message()
                );
                Err(arguments.error(why))
            }
        }
    }

    /// The type of a column, if it is declared.
    pub(crate) fn of_column(&self, name: &str) -> Option<&SqlType> {
        let mut types = self.0.iter();
        let found = types.find(|(declared, _)| declared.to_lowercase() == name.to_lowercase());
        found.map(|(_, ty)| ty)
    }

    /// The types of columns, each by its name; 1210 for a type of a column that there is not.
    pub(crate) fn of_columns<'n>(
        &self,
        names: impl Iterator<Item = &'n str> + Clone,
        arguments: &TableArguments,
    ) -> Result<Vec<Option<SqlType>>> {
        for (declared, _) in &self.0 {
            let declared = declared.to_lowercase();
            if !names.clone().any(|name| name.to_lowercase() == declared) {
                let why = format!("option 'types': there is no column '{declared}'");
                return Err(arguments.error(why));
            }
        }
        Ok(names.map(|name| self.of_column(name).cloned()).collect())
    }
}

/// Why a text is no value of its column, without the number of the row, in whose place the line stands.
pub(crate) fn reason(error: &Error) -> String {
    let message = error.message();
    let end = message.rfind(" at row ").unwrap_or(message.len());
    message.get(..end).unwrap_or(message).to_owned()
}
