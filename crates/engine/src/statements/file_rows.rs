//! Rows of files for a member of a secondary engine: the member has a database of its own, of which it uses what reads files.
//!
//! The call comes from the process that has planned the statement. The types of the columns and the version of the files
//! must be those that the plan is for.

use std::sync::Arc;

use mayfly_offload::{Rows, Share, TableCall};
use mayfly_storage::{ColumnId, ColumnTerm, ScanRequest};
use mayfly_types::error::codes;
use mayfly_types::{Batch, Diagnostics, Interrupt, Result, SessionParameters, SqlType};

use crate::binding::table_functions;
use crate::catalog::provider::ProvidedRows;
use crate::catalog::table_functions::TableArguments;
use crate::database::Database;
use crate::session::StatementContext;

/// A share of the rows of a table of files.
#[derive(Debug)]
pub struct FileRows<'r> {
    /// The call.
    pub call: &'r TableCall,
    /// Types of the columns of the table.
    pub types: &'r [SqlType],
    /// Columns to be read, by index.
    pub columns: &'r [usize],
    /// Terms on the columns read, which each row that is wanted meets.
    pub terms: &'r [ColumnTerm],
    /// The share.
    pub share: Share,
    /// Settings of the session.
    pub session: &'r SessionParameters,
    /// The end of the statement.
    pub interrupt: &'r Interrupt,
    /// Receives warnings.
    pub diagnostics: &'r Arc<Diagnostics>,
}

impl Database {
    /// Starts to read files. TIMESTAMPs are in UTC.
    ///
    /// # Errors
    /// 3889 for files or types that are not those of the call; any error of reading.
    pub fn file_rows(self: &Arc<Self>, rows: &FileRows<'_>) -> Result<Box<dyn Rows>> {
        let call = rows.call;
        let mut session = self.session();
        let context = StatementContext::internal(&mut session);
        let rights = context.rights();
        let mut facts = table_functions::facts_until(&context, &rights, rows.interrupt);
        facts.session = Arc::new(rows.session.clone());
        facts.diagnostics = Arc::clone(rows.diagnostics);
        facts.threads = 1;
        let text = SqlType::varchar(u32::from(u16::MAX), Default::default());
        let files = call.files.iter();
        let files = files.map(|path| (None, path.as_str().into(), text.clone()));
        let options = call.options.iter();
        let options = options.map(|it| (Some(it.name.clone()), it.value.clone(), it.ty.clone()));
        let arguments = TableArguments::new(&call.function, files.chain(options));
        let function = self.catalog.table_functions.get(&call.function)?;
        let provider = function.table(arguments, &facts)?;
        let columns = provider.columns();
        let types = columns.iter().map(|column| &column.ty);
        let is_same = provider
            .call()
            .is_some_and(|own| own.version == call.version)
            && types.eq(rows.types);
        if !is_same {
            let path = call.files.first().map_or("", String::as_str);
            let reason = format!("the files of '{path}' have changed, or are others on the member");
            return Err(codes::ER_SECONDARY_ENGINE.with(&[&reason]));
        }
        let columns: Vec<ColumnId> = rows.columns.iter().copied().map(ColumnId).collect();
        let terms = rows.terms.iter().filter_map(|term| {
            let column = *columns.get(term.column.0)?;
            Some(ColumnTerm {
                column,
                ..term.clone()
            })
        });
        let terms: Vec<ColumnTerm> = terms.collect();
        let request = ScanRequest {
            terms: &terms,
            ..ScanRequest::of(&columns)
        };
        let rows = provider.scan_share(&request, rows.share)?;
        Ok(Box::new(Given(rows)))
    }
}

/// Rows of a provider.
struct Given(Box<dyn ProvidedRows>);

impl Rows for Given {
    fn next_batch(&mut self) -> Result<Option<Batch>> {
        self.0.next_batch()
    }
}
