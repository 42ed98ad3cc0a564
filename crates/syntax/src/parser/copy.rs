//! `COPY … TO`, `COPY … FROM`, and the clauses of `INTO OUTFILE` for files of a data format.
//!
//! `COPY … TO` is a query with a file as its target, as DuckDB has it. `COPY t FROM 'path' (options)` is
//! `INSERT INTO t SELECT * FROM read_file('path', options)`, whose privileges, conversions and errors it has, and so is
//! `LOAD DATA INFILE 'path' INTO TABLE t FORMAT …`. `INTO OUTFILE 'path' FORMAT …` has the clauses of
//! MySQL HeatWave ("Exporting Query Results to Object Storage").

use super::build;
use super::cursor::{Parser, Result};
use crate::ast::{
    DataFile, Expr, FileOption, GroupBy, Ident, InsertSource, InsertStatement, IntoTarget, Query,
    Select, SelectIntoStatement, SelectItem, SelectModifiers, SetExpr, Statement, TableFactor,
    TableFunctionArgument, TableFunctionCall, TableName, TableWithJoins, Value,
};
use crate::keywords::{Kw, kw};
use crate::lexer::token::Kind;

impl Parser<'_> {
    /// `COPY {table [(columns)] | (query)} TO 'path' [[WITH] (options)]`,
    /// `COPY table [(columns)] FROM 'path' [[WITH] (options)]`
    pub(crate) fn copy(&mut self) -> Result<Statement> {
        self.take();
        let query = if self.eat_kind(Kind::LeftParen) {
            self.query_in_parens()?
        } else {
            let table = self.table_name()?;
            let columns = match self.at_kind(Kind::LeftParen) {
                true => Some(self.paren_list(Self::ident)?),
                false => None,
            };
            if self.eat(Kw::FROM) {
                return self.copy_from(table, columns);
            }
            match columns {
                Some(columns) => query_of(columns_of(&table, columns)),
                None => query_of(SetExpr::Table(table)),
            }
        };
        self.expect(Kw::TO)?;
        let mut file = DataFile {
            path: self.string()?,
            options: Vec::new(),
            partition_by: Vec::new(),
        };
        if self.eat(Kw::WITH) || self.at_kind(Kind::LeftParen) {
            self.paren_list(|parser| parser.copy_option(&mut file))?;
        }
        Ok(Statement::SelectInto(Box::new(SelectIntoStatement {
            query,
            target: IntoTarget::DataFile(file),
        })))
    }

    /// `'path' [[WITH] (options)]` behind `COPY table [(columns)] FROM`.
    fn copy_from(&mut self, table: TableName, columns: Option<Vec<Ident>>) -> Result<Statement> {
        let mut file = DataFile {
            path: self.string()?,
            options: Vec::new(),
            partition_by: Vec::new(),
        };
        if self.eat(Kw::WITH) || self.at_kind(Kind::LeftParen) {
            self.paren_list(|parser| {
                if parser.is_word(0, "PARTITION_BY") {
                    return parser.fail();
                }
                parser.copy_option(&mut file)
            })?;
        }
        let columns = columns.map(|columns| columns.into_iter().map(|it| vec![it]).collect());
        Ok(insert_from(
            file,
            InsertStatement {
                columns,
                ..insert_into(table)
            },
        ))
    }

    /// `FORMAT name [(columns)]` behind the table of LOAD DATA, for a statement with its other clauses.
    pub(super) fn load_format(
        &mut self,
        path: String,
        insert: InsertStatement,
    ) -> Result<Statement> {
        self.expect(Kw::FORMAT)?;
        let format = FileOption {
            name: Ident::new("FORMAT"),
            value: build::string(self.name_or_string()?),
        };
        let columns = match self.at_kind(Kind::LeftParen) {
            true => Some(self.paren_list_or_empty(Self::ident)?),
            false => None,
        };
        // An empty list is that of all columns, as in LOAD DATA.
        let columns = columns.filter(|columns| !columns.is_empty());
        let file = DataFile {
            path,
            options: vec![format],
            partition_by: Vec::new(),
        };
        let columns = columns.map(|columns| columns.into_iter().map(|it| vec![it]).collect());
        Ok(insert_from(file, InsertStatement { columns, ..insert }))
    }

    /// `NAME`, `NAME value` or `PARTITION_BY (columns)`.
    fn copy_option(&mut self, file: &mut DataFile) -> Result<()> {
        let is_partition = self.is_word(0, "PARTITION_BY");
        let name = self.ident()?;
        if is_partition {
            if !file.partition_by.is_empty() {
                return self.fail_at_previous();
            }
            file.partition_by = match self.at_kind(Kind::LeftParen) {
                true => self.paren_list(Self::ident)?,
                false => vec![self.ident()?],
            };
            return Ok(());
        }
        let value = match self.kind() {
            Kind::Comma | Kind::RightParen => build::value(Value::Boolean(true)),
            _ => self.option_value()?,
        };
        file.options.push(FileOption { name, value });
        Ok(())
    }

    /// A constant, or a word that stands for itself.
    fn option_value(&mut self) -> Result<Expr> {
        if let Some(word) = self.eat_any(&kw![ON OFF]) {
            return Ok(build::value(Value::Boolean(word == Kw::ON)));
        }
        let is_word = self.at_identifier()
            && matches!(
                self.ahead(1).kind,
                Kind::Comma | Kind::RightParen | Kind::End
            );
        if is_word {
            return self.name().map(build::string);
        }
        self.expr()
    }

    /// `FORMAT name [COMPRESSION 'name'] [HEADER {ON | OFF}]` behind the path of `INTO OUTFILE`.
    pub(super) fn data_file_clauses(&mut self, path: String) -> Result<DataFile> {
        let mut options = Vec::new();
        let mut add = |name: &str, value: Expr| {
            let name = Ident::new(name);
            options.push(FileOption { name, value });
        };
        self.expect(Kw::FORMAT)?;
        add("FORMAT", build::string(self.name_or_string()?));
        if self.eat(Kw::COMPRESSION) {
            add("COMPRESSION", build::string(self.string()?));
        }
        if self.is_word(0, "HEADER") {
            self.take();
            let is_on = self.expect_any(&kw![ON OFF])? == Kw::ON;
            add("HEADER", build::value(Value::Boolean(is_on)));
        }
        Ok(DataFile {
            path,
            options,
            partition_by: Vec::new(),
        })
    }
}

/// `INSERT INTO table VALUES ()`, whose clauses a statement replaces by its own.
pub(super) fn insert_into(table: TableName) -> InsertStatement {
    InsertStatement {
        replace: false,
        priority: None,
        ignore: false,
        table,
        partitions: Vec::new(),
        columns: None,
        source: InsertSource::Values(Vec::new()),
        row_alias: None,
        on_duplicate_key_update: Vec::new(),
        returning: Vec::new(),
    }
}

/// An INSERT or REPLACE of `SELECT * FROM read_file('path', options)`.
fn insert_from(file: DataFile, insert: InsertStatement) -> Statement {
    let path = TableFunctionArgument {
        name: None,
        value: build::string(file.path),
    };
    let options = file.options.into_iter();
    let options = options.map(|option| TableFunctionArgument {
        name: Some(option.name),
        value: option.value,
    });
    let call = TableFunctionCall {
        name: Some(Ident::new("read_file")),
        arguments: [path].into_iter().chain(options).collect(),
    };
    let rows = TableFactor::Function { call, alias: None };
    Statement::Insert(Box::new(InsertStatement {
        source: InsertSource::Query(query_of(select(vec![SelectItem::Wildcard], rows))),
        ..insert
    }))
}

/// A query of nothing but its body.
fn query_of(body: SetExpr) -> Box<Query> {
    Box::new(Query {
        with: None,
        body: Box::new(body),
        order_by: Vec::new(),
        limit_clause: None,
        locks: Vec::new(),
    })
}

/// `SELECT columns FROM table`
fn columns_of(table: &TableName, columns: Vec<Ident>) -> SetExpr {
    let columns = columns.into_iter();
    let columns = columns.map(|column| SelectItem::UnnamedExpr(Expr::Identifier(column)));
    let table = TableFactor::Table {
        name: table.to_object_name(),
        alias: None,
        partitions: Vec::new(),
        index_hints: Vec::new(),
    };
    select(columns.collect(), table)
}

/// `SELECT projection FROM table`
fn select(projection: Vec<SelectItem>, relation: TableFactor) -> SetExpr {
    SetExpr::Select(Box::new(Select {
        optimizer_hints: Vec::new(),
        distinct: false,
        select_modifiers: SelectModifiers::default(),
        projection,
        from: vec![TableWithJoins {
            relation,
            joins: Vec::new(),
        }],
        selection: None,
        group_by: GroupBy::default(),
        having: None,
        named_window: Vec::new(),
    }))
}
