//! Table functions: calls in FROM that give a table, as `FROM read_csv('a.csv', header => true)`.
//!
//! A function gets the values of its arguments and the facts of the statement that it may need
//! ([`TableFunctionContext`]), and returns the provider of the table's rows. The table is bound anew by each statement: no
//! plan with a call is kept, so that none has the columns of a file that has changed since. `FROM 'name'` is a call of
//! [`FILE_FUNCTION`], which finds the function for the file.

use std::collections::BTreeMap;
use std::fmt::{self, Debug};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mayfly_offload::CallOption;
use mayfly_storage::WorkerPool;
use mayfly_types::error::codes;
use mayfly_types::{Diagnostics, Error, Interrupt, Result, SessionParameters, SqlType, Value};
use parking_lot::RwLock;

use super::provider::TableProvider;
use crate::error::refuse;
use crate::files::{StatementFiles, shown_path};
use crate::names::same_name;
use crate::statement_memory::StatementMemory;

/// The function that `FROM 'name'` calls.
pub(crate) const FILE_FUNCTION: &str = "read_file";

/// A function that gives a table.
pub trait TableFunction: Debug + Send + Sync {
    /// The table of a call, for one statement.
    ///
    /// # Errors
    /// 1210 for arguments that the function does not take; any error of finding out the columns.
    fn table(
        &self,
        arguments: TableArguments,
        context: &TableFunctionContext,
    ) -> Result<Arc<dyn TableProvider>>;
}

/// Facts of the statement that calls a table function. Cloning shares them.
#[derive(Clone)]
pub struct TableFunctionContext {
    /// The files that the statement may read.
    pub files: StatementFiles,
    /// `time_zone`, `sql_mode` and other settings of the session.
    pub session: Arc<SessionParameters>,
    /// The memory of the statement.
    pub memory: StatementMemory,
    /// Ends the statement when it is killed or takes too long.
    pub interrupt: Interrupt,
    /// Receives warnings.
    pub diagnostics: Arc<Diagnostics>,
    /// The workers that may help.
    pub workers: WorkerPool,
    /// The most threads of the statement.
    pub threads: usize,
    /// The number of rows of a batch.
    pub batch_rows: usize,
    /// Whether types of columns may come from the first rows.
    pub sampling: TypeSampling,
    /// Reads types of columns.
    pub(crate) column_types: ReadColumnTypes,
}

/// Reads the columns that a text declares, each with its type.
pub(crate) type ReadColumnTypes = Arc<dyn Fn(&str) -> Result<Vec<(String, SqlType)>> + Send + Sync>;

impl TableFunctionContext {
    /// The columns that a text declares as CREATE TABLE does: `day DATE, amount DECIMAL(9,2)`.
    ///
    /// # Errors
    /// 1064 for another text, 1235 for attributes of a column, and the errors of types.
    pub fn column_types(&self, text: &str) -> Result<Vec<(String, SqlType)>> {
        (self.column_types)(text)
    }
}

/// Permission of a statement to take types of columns from the first rows of a table. Cloning shares it.
///
/// A type that was sampled is refuted by a later value that does not fit it. The statement is then planned and run again with types of all rows, so
/// that its result is the one that these give; this is why only statements without effects have the permission.
#[derive(Debug, Clone, Default)]
pub struct TypeSampling {
    /// Whether types were sampled; `None` without the permission.
    used: Option<Arc<AtomicBool>>,
}

impl TypeSampling {
    /// The permission, not used yet.
    pub(crate) fn allowed() -> Self {
        Self {
            used: Some(Arc::default()),
        }
    }

    /// Whether types may be sampled.
    pub fn is_allowed(&self) -> bool {
        self.used.is_some()
    }

    /// Notes that types were sampled: the table's scans return [`Self::refuted`] for a value that does not fit.
    pub fn note_use(&self) {
        if let Some(used) = &self.used {
            used.store(true, Ordering::Relaxed);
        }
    }

    /// Whether types were sampled.
    pub(crate) fn was_used(&self) -> bool {
        let used = self.used.as_ref();
        used.is_some_and(|used| used.load(Ordering::Relaxed))
    }

    /// 1615: a value does not fit a sampled type. The client never sees it.
    pub fn refuted() -> Error {
        codes::ER_NEED_REPREPARE.error()
    }
}

impl Debug for TableFunctionContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableFunctionContext")
            .finish_non_exhaustive()
    }
}

/// The arguments of a call, of which a function takes one after another; [`Self::end`] refuses what is left.
#[derive(Debug)]
pub struct TableArguments {
    function: String,
    positional: Vec<(Value, SqlType)>,
    named: Vec<(String, Value, SqlType)>,
    /// The options that the function has asked for.
    known: Vec<&'static str>,
}

impl TableArguments {
    /// No arguments, for errors that name `function`.
    pub fn none(function: &str) -> Self {
        Self::new(function, [])
    }

    /// The arguments of a call, each with its type and, if it has one, its name.
    pub(crate) fn new(
        function: &str,
        arguments: impl IntoIterator<Item = (Option<String>, Value, SqlType)>,
    ) -> Self {
        let mut new = Self {
            function: function.to_owned(),
            positional: Vec::new(),
            named: Vec::new(),
            known: Vec::new(),
        };
        for (name, value, ty) in arguments {
            match name {
                Some(name) => new.named.push((name, value, ty)),
                None => new.positional.push((value, ty)),
            }
        }
        new
    }

    /// The name of the function.
    pub fn function(&self) -> &str {
        &self.function
    }

    /// The options of the call, for the same call elsewhere.
    pub fn options(&self) -> Vec<CallOption> {
        let options = self.named.iter().cloned();
        let option = |(name, value, ty)| CallOption { name, value, ty };
        options.map(option).collect()
    }

    /// 1210: an error of the arguments.
    pub fn error(&self, why: impl fmt::Display) -> Error {
        let what = format!("{}: {why}", self.function);
        codes::ER_WRONG_ARGUMENTS.with(&[&what])
    }

    /// Takes the arguments without names, which are all texts and at least one.
    ///
    /// # Errors
    /// 1210 if there is none, or one is no text.
    pub fn texts(&mut self) -> Result<Vec<String>> {
        let given = std::mem::take(&mut self.positional);
        refuse(given.is_empty(), || self.error("no file is named"))?;
        let text = |(value, ty): &(Value, SqlType)| match value {
            Value::Bytes(bytes) if ty.is_string() => {
                Ok(String::from_utf8_lossy(bytes).into_owned())
            }
            _ => Err(self.error("the name of a file is a text")),
        };
        given.iter().map(text).collect()
    }

    /// Takes the value of an option; `None` where the call does not name it, or gives NULL.
    ///
    /// # Errors
    /// 1210 for an option that is given twice.
    pub fn option(&mut self, name: &'static str) -> Result<Option<(Value, SqlType)>> {
        self.known.push(name);
        let mut found = None;
        while let Some(at) = self.named.iter().position(|it| same_name(&it.0, name)) {
            let (_, value, ty) = self.named.remove(at);
            refuse(found.is_some(), || {
                self.error(format!("option '{name}' is given twice"))
            })?;
            found = Some((value, ty));
        }
        Ok(found.filter(|(value, _)| *value != Value::Null))
    }

    /// Takes an option that is a text.
    ///
    /// # Errors
    /// 1210 for a value of another kind.
    pub fn text(&mut self, name: &'static str) -> Result<Option<String>> {
        match self.option(name)? {
            None => Ok(None),
            Some((Value::Bytes(bytes), ty)) if ty.is_string() => String::from_utf8(bytes.to_vec())
                .map(Some)
                .map_err(|_| self.error(format!("option '{name}' is no text"))),
            Some(_) => Err(self.error(format!("option '{name}' takes a text"))),
        }
    }

    /// Takes an option that is true or false.
    ///
    /// # Errors
    /// 1210 for a value of another kind.
    pub fn flag(&mut self, name: &'static str) -> Result<Option<bool>> {
        match self.option(name)? {
            None => Ok(None),
            Some((Value::Int(number @ (0 | 1)), _)) => Ok(Some(number == 1)),
            Some(_) => Err(self.error(format!("option '{name}' takes true or false"))),
        }
    }

    /// Takes an option that is a number of rows or the like.
    ///
    /// # Errors
    /// 1210 for a value of another kind.
    pub fn count(&mut self, name: &'static str) -> Result<Option<u64>> {
        match self.option(name)? {
            None => Ok(None),
            Some((Value::Int(number), _)) if number >= 0 => Ok(Some(number.unsigned_abs())),
            Some((Value::UInt(number), _)) => Ok(Some(number)),
            Some(_) => Err(self.error(format!("option '{name}' takes a number from 0 on"))),
        }
    }

    /// Ends the taking.
    ///
    /// # Errors
    /// 1210 for arguments that the function has not taken, with the option of the nearest name.
    pub fn end(self) -> Result<()> {
        refuse(!self.positional.is_empty(), || {
            self.error("too many arguments without a name")
        })?;
        let Some((name, ..)) = self.named.first() else {
            return Ok(());
        };
        Err(self.error(match nearest(name, &self.known) {
            Some(near) => format!("there is no option '{name}'; did you mean '{near}'?"),
            None => format!(
                "there is no option '{name}'; its options are {}",
                self.known.join(", ")
            ),
        }))
    }
}

/// The one of some names that a mistyped name most likely means.
fn nearest<'n>(name: &str, known: &[&'n str]) -> Option<&'n str> {
    const LIKE: f64 = 0.7;
    let name = name.to_lowercase();
    let scored = known
        .iter()
        .map(|known| (strsim::jaro_winkler(&name, known), *known));
    let best = scored.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (best.0 >= LIKE).then_some(best.1)
}

/// The table functions of a database, by their names in lower case.
#[derive(Debug, Default)]
pub(crate) struct TableFunctions(RwLock<BTreeMap<String, Arc<dyn TableFunction>>>);

impl TableFunctions {
    /// Adds a function, in place of one of its name.
    pub(crate) fn add(&self, name: &str, function: Arc<dyn TableFunction>) {
        self.0.write().insert(name.to_lowercase(), function);
    }

    /// The function of a name: 1305 when there is none.
    pub(crate) fn get(&self, name: &str) -> Result<Arc<dyn TableFunction>> {
        let functions = self.0.read();
        if let Some(function) = functions.get(&name.to_lowercase()) {
            return Ok(Arc::clone(function));
        }
        let known: Vec<&str> = functions.keys().map(String::as_str).collect();
        let name = match nearest(name, &known) {
            Some(near) => format!("{name} (did you mean {near}?)"),
            None => name.to_owned(),
        };
        Err(codes::ER_SP_DOES_NOT_EXIST.with(&[&"FUNCTION", &name]))
    }
}

/// The name of the table that a file is: the last part of its path without the endings.
pub(crate) fn table_name(path: &str) -> String {
    let path = shown_path(path);
    let last = path.trim_end_matches('/').rsplit('/').next();
    let last = last.unwrap_or_default();
    let stem = last.split('.').find(|part| !part.is_empty());
    stem.unwrap_or(last).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_names_its_table() {
        for (path, name) in [
            ("sales.csv", "sales"),
            ("/data/sales.csv.gz", "sales"),
            ("years/*.parquet", "*"),
            ("years/", "years"),
            (".hidden", "hidden"),
            ("https://host/sales.csv?signature=a/b", "sales"),
        ] {
            assert_eq!(table_name(path), name, "{path}");
        }
    }

    #[test]
    fn arguments_that_are_left_are_refused_with_the_nearest_name() {
        let text = SqlType::text(
            mayfly_types::TypeKind::VarChar,
            mayfly_types::CollationId::default(),
        );
        let option = (Some("delimter".to_owned()), Value::Int(1), text);
        let mut arguments = TableArguments::new("read_csv", [option]);
        assert!(arguments.flag("header").expect("is not given").is_none());
        assert!(arguments.text("delimiter").expect("is not given").is_none());
        let error = arguments.end().expect_err("an option is left").to_string();
        assert!(error.contains("did you mean 'delimiter'?"), "{error}");
    }
}
