//! Views: a query under a name.

use std::sync::Arc;

use itertools::Itertools;
use mayfly_plan::{ViewSource, has_aggregates, has_window_functions};
use mayfly_syntax::ast::{AccountReference, CreateView, SetExpr, ViewAlgorithm};
use mayfly_syntax::printer::quoted_identifier;

use super::expression_text::query_text;

/// A view's definition. It never changes; a view that is made anew has another one.
#[derive(Debug, Clone)]
pub(crate) struct ViewDefinition {
    /// Its query and names, as the planner reads them.
    pub(crate) source: Arc<ViewSource>,
    /// The statement named the columns.
    pub(crate) columns_named: bool,
    /// ALGORITHM
    pub(crate) algorithm: ViewAlgorithm,
    /// DEFINER: the account's name and host.
    pub(crate) definer: (String, String),
    /// SQL SECURITY INVOKER
    pub(crate) invoker_security: bool,
    /// Its query has aggregates or window functions.
    pub(crate) aggregates: bool,
    /// When it was made: microseconds since 1970 UTC.
    pub(crate) created: i64,
    /// `character_set_client` of the session that made it.
    pub(crate) character_set: String,
    /// `collation_connection` of the session that made it.
    pub(crate) collation: String,
}

impl ViewDefinition {
    /// The database.
    pub(crate) fn database(&self) -> &str {
        &self.source.database
    }

    /// The name.
    pub(crate) fn name(&self) -> &str {
        &self.source.name
    }

    /// The same view under another name.
    pub(crate) fn renamed(&self, name: &str) -> Self {
        let mut source = ViewSource::clone(&self.source);
        name.clone_into(&mut source.name);
        Self {
            source: Arc::new(source),
            ..self.clone()
        }
    }

    /// The query as `information_schema.VIEWS` shows it.
    pub(crate) fn query_text(&self) -> String {
        query_text(&self.source.query, None)
    }

    /// The statement that makes it again, wherever it is run: with every name in full.
    pub(crate) fn full_text(&self) -> String {
        self.statement(None, true)
    }

    /// A view of its full text, without what is not in that.
    pub(crate) fn of_full_text(statement: &CreateView, database: &str) -> Self {
        let definer = match &statement.definer {
            Some(AccountReference::Named { user, host }) => {
                (user.clone(), host.clone().unwrap_or_else(|| "%".to_owned()))
            }
            Some(AccountReference::Current) | None => (String::new(), String::new()),
        };
        let invoker_security = statement.invoker_security == Some(true);
        Self {
            source: Arc::new(ViewSource {
                database: database.to_owned(),
                name: statement.name.name.clone(),
                columns: statement.columns.clone(),
                query: statement.query.clone(),
                materialized: statement.algorithm == ViewAlgorithm::TempTable,
                check_option: statement.check_option,
                definer: (!invoker_security).then(|| definer.clone()),
            }),
            columns_named: false,
            algorithm: statement.algorithm,
            definer,
            invoker_security,
            aggregates: has_aggregates(&statement.query) || has_window_functions(&statement.query),
            created: 0,
            character_set: String::new(),
            collation: String::new(),
        }
    }

    /// The statement that makes it again, as SHOW CREATE VIEW prints it in a session whose database
    /// is `current`.
    pub(crate) fn create_text(&self, current: Option<&str>) -> String {
        self.statement(current, self.columns_named)
    }

    fn statement(&self, current: Option<&str>, names_columns: bool) -> String {
        let algorithm = match self.algorithm {
            ViewAlgorithm::Undefined => "UNDEFINED",
            ViewAlgorithm::Merge => "MERGE",
            ViewAlgorithm::TempTable => "TEMPTABLE",
        };
        let security = self.security();
        let hides = current == Some(self.database());
        let mut name = quoted_identifier(self.name());
        if !hides {
            name = format!("{}.{name}", quoted_identifier(self.database()));
        }
        if names_columns {
            let columns = self.source.columns.iter();
            let columns = columns.map(|name| quoted_identifier(name));
            name += &format!(" ({})", columns.format(","));
        }
        let mut query = query_text(&self.source.query, hides.then(|| self.database()));
        if self.source.check_option.is_some() {
            query += &format!(" WITH {} CHECK OPTION", self.check_option_name());
        }
        let (user, host) = &self.definer;
        let (user, host) = (quoted_identifier(user), quoted_identifier(host));
        format!(
            "CREATE ALGORITHM={algorithm} DEFINER={user}@{host} SQL SECURITY {security} VIEW {name} AS {query}"
        )
    }

    /// SQL SECURITY by its name.
    pub(crate) fn security(&self) -> &'static str {
        if self.invoker_security {
            "INVOKER"
        } else {
            "DEFINER"
        }
    }

    /// Whether each of its rows is a row of what it reads: no grouping, no DISTINCT, no LIMIT, no union.
    pub(crate) fn is_mergeable(&self) -> bool {
        let query = &self.source.query;
        let SetExpr::Select(select) = &*query.body else {
            return false;
        };
        query.limit_clause.is_none()
            && !select.distinct
            && select.having.is_none()
            && select.group_by.keys.is_empty()
            && !select.from.is_empty()
            && !self.aggregates
    }

    /// WITH CHECK OPTION by its name.
    pub(crate) fn check_option_name(&self) -> &'static str {
        match self.source.check_option {
            None => "NONE",
            Some(true) => "CASCADED",
            Some(false) => "LOCAL",
        }
    }
}
