//! From a CREATE TABLE statement to a definition: names, types, defaults, keys, options, and their errors.

mod functional_keys;

use mayfly_syntax::ast::{
    self, ColumnAttribute, CreateTable, Expr, GeneratedStorage, KeyKind, KeyPartTarget, OnCommit,
    Period, TableElement, TableKind, TimeToLive,
};
use mayfly_types::error::codes;
use mayfly_types::{CollationId, Result, SqlMode, SqlType, TypeKind, Value};

use crate::binding::expressions;
use crate::catalog::definition::{
    CheckConstraint, ColumnDefault, ColumnDefinition, GeneratedColumn, KeyDefinition, KeyPart,
    KeyTarget, SECONDARY_ENGINE, TABLE_OPTIONS, TableDefinition,
};
use crate::catalog::{engine_limits, expression_text, fixed_literals, zoned_default};
use crate::ddl::column_type::{self, DeclaredCollation};
use crate::ddl::{checks, partitioning, structured_keys};
use crate::engines::Engine;
use crate::error::{ensure, refuse};
use crate::names::{check_name, same_name};
use crate::session::StatementContext;
use crate::storing::Storing;
use crate::variables::typed;

/// Term for a virtual column in a primary key in MySQL's error.
const VIRTUAL_PRIMARY_KEY: &str = "Defining a virtual generated column as primary key";

/// 1221: an attribute that generated columns cannot have.
fn refuse_beside_generated(attributes: &[ColumnAttribute]) -> Result<()> {
    let is_generated = |it: &ColumnAttribute| matches!(it, ColumnAttribute::Generated { .. });
    if !attributes.iter().any(is_generated) {
        return Ok(());
    }
    let other = attributes.iter().find_map(|attribute| match attribute {
        ColumnAttribute::Default(_) => Some("DEFAULT"),
        ColumnAttribute::OnUpdate(_) => Some("ON UPDATE"),
        ColumnAttribute::AutoIncrement => Some("AUTO_INCREMENT"),
        _ => None,
    });
    match other {
        Some(name) => Err(codes::ER_WRONG_USAGE.with(&[&name, &"generated column"])),
        None => Ok(()),
    }
}

/// Maximum number of columns.
const COLUMNS_MAX: usize = 4096;

/// Maximum number of keys.
const KEYS_MAX: usize = 64;

/// 1069 if a table would have more than `KEYS_MAX` keys. Checked before any of the keys.
pub(super) fn check_key_count(keys: usize) -> Result<()> {
    refuse(keys > KEYS_MAX, || {
        codes::ER_TOO_MANY_KEYS.with(&[&KEYS_MAX])
    })
}

/// Whether a column's attribute declares a key.
fn is_key(attribute: &ColumnAttribute) -> bool {
    matches!(
        attribute,
        ColumnAttribute::PrimaryKey | ColumnAttribute::UniqueKey
    )
}

/// The definition of a statement, without the columns of its SELECT.
pub(crate) fn definition(
    context: &StatementContext<'_>,
    database: &str,
    database_collation: CollationId,
    statement: &CreateTable,
    extra_columns: Vec<ColumnDefinition>,
) -> Result<TableDefinition> {
    let keys = statement.elements.iter().map(|element| match element {
        TableElement::Key(_) => 1,
        TableElement::Column(column) => column.attributes.iter().filter(|it| is_key(it)).count(),
        TableElement::ForeignKey(_) | TableElement::Check(_) => 0,
    });
    check_key_count(keys.sum())?;
    let is_column = |element: &&TableElement| matches!(element, TableElement::Column(_));
    if statement.elements.iter().filter(is_column).count() > COLUMNS_MAX {
        return Err(codes::ER_TOO_MANY_FIELDS.error());
    }
    if statement.kind != TableKind::Base && statement.partitioning.is_some() {
        return Err(codes::ER_PARTITION_NO_TEMPORARY.error());
    }
    let partitioning = statement.partitioning.as_ref();
    let partitioning = partitioning.map(|clause| partitioning::computed(context, clause));
    let mut builder = Builder {
        context,
        table: TableDefinition {
            collation: database_collation,
            engine: default_engine(context, statement.kind),
            partitioning,
            kind: statement.kind,
            on_commit: on_commit(statement),
            ttl: time_to_live(statement)?,
            created: context.now(),
            ..TableDefinition::new(database, &statement.name.name)
        },
        foreign_indexes: Vec::new(),
        dropped_foreign_keys: Vec::new(),
        collation: DeclaredCollation::new(context.options()),
    };
    for option in &statement.options {
        builder.option(option)?;
    }
    let mut key_asts: Vec<ast::KeyDefinition> = Vec::new();
    let interrupt = context.interrupt();
    for element in &statement.elements {
        interrupt.check()?;
        if let TableElement::Column(column) = element {
            builder.column(column, &mut key_asts)?;
        }
    }
    builder.merge_columns(extra_columns)?;
    for element in &statement.elements {
        interrupt.check()?;
        match element {
            TableElement::Column(column) => builder.column_constraints(column)?,
            TableElement::Key(key) => key_asts.push(key.clone()),
            TableElement::ForeignKey(foreign) => builder.foreign_key(foreign)?,
            TableElement::Check(check) => builder.check(check)?,
        }
    }
    for key in &key_asts {
        builder.key(key)?;
        if key.kind == KeyKind::Primary && names_null_column(statement, key) {
            return Err(codes::ER_PRIMARY_CANT_HAVE_NULL.error());
        }
    }
    builder.finish()
}

/// Whether a column is declared NULL.
pub(super) fn is_null(column: &ast::ColumnDefinition) -> bool {
    let is_it = |attribute: &ColumnAttribute| matches!(attribute, ColumnAttribute::Null);
    column.attributes.iter().any(is_it)
}

/// Whether a key part is a column that the statement declares NULL.
fn names_null_column(statement: &CreateTable, key: &ast::KeyDefinition) -> bool {
    let is_it = |element: &TableElement, name: &str| match element {
        TableElement::Column(column) => same_name(&column.name, name) && is_null(column),
        _ => false,
    };
    key.parts.iter().any(|part| match &part.target {
        KeyPartTarget::Column { name, .. } => statement
            .elements
            .iter()
            .any(|element| is_it(element, name)),
        KeyPartTarget::Expression(_) => false,
    })
}

/// What a commit does to the rows: what the statement says, else DELETE ROWS for a global temporary table, as in the SQL
/// standard, and PRESERVE ROWS for the session's own, as in MySQL.
pub(crate) fn on_commit(statement: &CreateTable) -> OnCommit {
    statement.on_commit.unwrap_or(match statement.kind {
        TableKind::GlobalTemporary => OnCommit::DeleteRows,
        TableKind::Temporary | TableKind::SharedTemporary | TableKind::Base => {
            OnCommit::PreserveRows
        }
    })
}

/// Longest time to live, in seconds: a hundred years.
pub(crate) const LONGEST_LIFE: u64 = 100 * 365 * 86_400;

/// The TTL clause; 1525 for a time that is none, or too long.
pub(crate) fn time_to_live(statement: &CreateTable) -> Result<Option<TimeToLive>> {
    let Some(ttl) = statement.ttl else {
        return Ok(None);
    };
    let Period { count, unit } = ttl.period;
    let seconds = count.saturating_mul(unit.seconds());
    refuse(!(1..=LONGEST_LIFE).contains(&seconds), || {
        codes::ER_WRONG_VALUE.with(&[&"TTL", &format!("{count} {}", unit.name())])
    })?;
    Ok(Some(ttl))
}

fn default_engine(context: &StatementContext<'_>, kind: TableKind) -> Engine {
    let variable = match kind {
        // The only engine with snapshots and row locks.
        TableKind::SharedTemporary => return Engine::InnoDb,
        TableKind::Temporary | TableKind::GlobalTemporary => typed::DEFAULT_TMP_STORAGE_ENGINE,
        TableKind::Base => typed::DEFAULT_STORAGE_ENGINE,
    };
    Engine::by_name(context.settings().text(variable)).unwrap_or(Engine::InnoDb)
}

/// Whether a column may default to the current time with `digits` fractional digits.
fn takes_now(ty: &SqlType, digits: u8) -> bool {
    matches!(ty.kind, TypeKind::DateTime | TypeKind::Timestamp) && ty.decimals == digits
}

/// Builder of a definition: for CREATE TABLE from an empty one, for ALTER TABLE from the old one.
pub(super) struct Builder<'s> {
    pub(super) context: &'s StatementContext<'s>,
    pub(super) table: TableDefinition,
    /// Indexes for new foreign keys, unless another one serves: (name, columns).
    pub(super) foreign_indexes: Vec<(Option<String>, Vec<usize>)>,
    /// Names of dropped foreign keys, which new ones cannot have.
    pub(super) dropped_foreign_keys: Vec<String>,
    /// The table's declared collation.
    pub(super) collation: DeclaredCollation,
}

impl Builder<'_> {
    /// Applies a table option; others are unchanged.
    pub(super) fn option(&mut self, option: &ast::TableOption) -> Result<()> {
        let value = option.value.as_str();
        match option.name.as_str() {
            "ENGINE" => self.engine(value)?,
            "CHARACTER SET" | "CHARSET" | "DEFAULT CHARACTER SET" => {
                self.collation.charset(value)?
            }
            "COLLATE" | "DEFAULT COLLATE" => self.collation.collation(value)?,
            "COMMENT" => self.table.comment = value.to_owned(),
            "AUTO_INCREMENT" => {
                self.table.auto_increment_start = value.parse().unwrap_or(1);
            }
            name if TABLE_OPTIONS.contains(&name) => {
                let is_none = value.is_empty() && !(option.quoted && name == SECONDARY_ENGINE);
                let is_default = value.eq_ignore_ascii_case("DEFAULT") || is_none;
                let value = (!is_default).then(|| match name {
                    "ROW_FORMAT" => value.to_uppercase(),
                    SECONDARY_ENGINE => value.to_owned(),
                    _ if option.quoted => mayfly_syntax::printer::quoted_string(value),
                    _ => value.to_owned(),
                });
                self.table.set_option(name, value);
            }
            _ => {}
        }
        if let Some(collation) = self.collation.named() {
            self.table.collation = collation;
        }
        Ok(())
    }

    fn engine(&mut self, name: &str) -> Result<()> {
        if let Some(known) = Engine::by_name(name) {
            self.table.engine = known;
            return Ok(());
        }
        let unknown = codes::ER_UNKNOWN_STORAGE_ENGINE.with(&[&name]);
        let mode = self.context.options().session.sql_mode;
        if mode.has(SqlMode::NO_ENGINE_SUBSTITUTION) {
            return Err(unknown);
        }
        let diagnostics = self.context.diagnostics();
        diagnostics.warn(unknown);
        let other = codes::ER_WARN_USING_OTHER_HANDLER;
        diagnostics.warn(other.with(&[&self.table.engine, &self.table.name]));
        Ok(())
    }

    fn column(
        &mut self,
        column: &ast::ColumnDefinition,
        keys: &mut Vec<ast::KeyDefinition>,
    ) -> Result<()> {
        if self.table.column_position(&column.name).is_some() {
            return Err(codes::ER_DUP_FIELDNAME.with(&[&column.name]));
        }
        let new = self.column_definition(column, keys)?;
        self.table.columns.push(new);
        Ok(())
    }

    /// A column as written. The keys of its attributes go to `keys`.
    pub(super) fn column_definition(
        &mut self,
        column: &ast::ColumnDefinition,
        keys: &mut Vec<ast::KeyDefinition>,
    ) -> Result<ColumnDefinition> {
        check_name(&column.name, &codes::ER_WRONG_COLUMN_NAME)?;
        let types = column_type::TypeContext {
            options: self.context.options(),
            table_collation: self.table.collation,
            strict: self.context.options().session.sql_mode.is_strict(),
            diagnostics: self.context.diagnostics(),
        };
        let (ty, explicit_collation) =
            column_type::resolve(&column.name, &column.data_type, &types)?;
        refuse_beside_generated(&column.attributes)?;
        let mut new = ColumnDefinition {
            explicit_collation,
            ..ColumnDefinition::new(&*column.name, ty)
        };
        for attribute in &column.attributes {
            match attribute {
                ColumnAttribute::Null => new.nullable = true,
                ColumnAttribute::NotNull => new.nullable = false,
                ColumnAttribute::Default(_) => {}
                ColumnAttribute::OnUpdate(expr) => {
                    let digits = expressions::now_digits(expr);
                    if !digits.is_some_and(|digits| takes_now(&new.ty, digits)) {
                        return Err(codes::ER_INVALID_ON_UPDATE.with(&[&column.name]));
                    }
                    new.on_update_now = true;
                }
                ColumnAttribute::AutoIncrement => new.auto_increment = true,
                ColumnAttribute::PrimaryKey => keys.push(single_key(KeyKind::Primary, column)),
                ColumnAttribute::UniqueKey => keys.push(single_key(KeyKind::Unique, column)),
                ColumnAttribute::Comment(comment) => new.comment.clone_from(comment),
                ColumnAttribute::Generated { expr, storage, .. } => {
                    let expression = self.fixed(expr);
                    new.generated = Some(GeneratedColumn {
                        text: expression_text::text(&expression),
                        expression: Box::new(expression),
                        stored: *storage == GeneratedStorage::Stored,
                        elements: None,
                    });
                }
                ColumnAttribute::Visible(visible) => new.invisible = !visible,
                ColumnAttribute::Srid(srid) => {
                    new.ty.srid = Some(column_type::srid(&new.ty, *srid)?)
                }
                ColumnAttribute::NotSecondary => new.not_secondary = true,
                ColumnAttribute::Check(_)
                | ColumnAttribute::References(_)
                | ColumnAttribute::Other(..) => {}
            }
        }
        if new.auto_increment {
            let numeric =
                new.ty.is_integer() || matches!(new.ty.kind, TypeKind::Float | TypeKind::Double);
            if !numeric || matches!(new.ty.kind, TypeKind::Bit | TypeKind::Year) {
                return Err(codes::ER_WRONG_FIELD_SPEC.with(&[&column.name]));
            }
            new.nullable = false;
        }
        for attribute in &column.attributes {
            if let ColumnAttribute::Default(expr) = attribute {
                if new.auto_increment {
                    return Err(codes::ER_INVALID_DEFAULT.with(&[&column.name]));
                }
                new.default = self.default(&new, expr)?;
            }
        }
        let is_primary = |it: &ColumnAttribute| matches!(it, ColumnAttribute::PrimaryKey);
        if is_null(column) && column.attributes.iter().any(is_primary) {
            return Err(codes::ER_PRIMARY_CANT_HAVE_NULL.error());
        }
        Ok(new)
    }

    /// An expression of the definition with the values that its temporal literals have now.
    pub(super) fn fixed(&self, expression: &Expr) -> Expr {
        fixed_literals::fixed(expression, &self.context.options().session)
    }

    /// The default of a column from an expression.
    pub(super) fn default(&self, column: &ColumnDefinition, expr: &Expr) -> Result<ColumnDefault> {
        let invalid = || codes::ER_INVALID_DEFAULT.with(&[&column.name]);
        if let Expr::Subquery(_) = expr {
            let disallowed = codes::ER_DEFAULT_VAL_GENERATED_FUNCTION_IS_NOT_ALLOWED;
            return Err(disallowed.with(&[&column.name]));
        }
        if let Expr::Nested(inner) = expr {
            let expression = self.fixed(inner);
            return Ok(ColumnDefault::Expression {
                text: expression_text::text(&expression),
                expression: Box::new(expression),
            });
        }
        if let Some(digits) = expressions::now_digits(expr) {
            ensure(takes_now(&column.ty, digits), invalid)?;
            return Ok(ColumnDefault::Now);
        }
        // Only an expression in parentheses may depend on the session.
        ensure(!fixed_literals::has_offset(expr), invalid)?;
        let (value, ty) = expressions::evaluate_in_definition(self.context, expr)?;
        if value.is_null() {
            ensure(column.nullable, invalid)?;
            return Ok(ColumnDefault::Null);
        }
        if column.ty.is_blob() || column.ty.kind == TypeKind::Json {
            return Err(codes::ER_BLOB_CANT_HAVE_DEFAULT.with(&[&column.name]));
        }
        let storing = Storing::strict(self.context.clock(), &self.table.name);
        let stored = storing.value(&value, &ty, column, 1, self.context.diagnostics());
        let stored = stored.map_err(|_| invalid())?;
        let zone = &self.context.options().session.time_zone;
        let stored = zoned_default::value_to_utc(zone, stored, &column.ty);
        Ok(ColumnDefault::Value(stored))
    }

    /// Adds the columns of CREATE TABLE … SELECT after those that only the statement names. A column named in both
    /// has the statement's definition.
    fn merge_columns(&mut self, columns: Vec<ColumnDefinition>) -> Result<()> {
        let mut selected: Vec<ColumnDefinition> = Vec::with_capacity(columns.len());
        for column in columns {
            // A query's column name that is too long is also invalid.
            let wrong = codes::ER_WRONG_COLUMN_NAME;
            check_name(&column.name, &wrong).map_err(|_| wrong.with(&[&column.name]))?;
            let same = |other: &ColumnDefinition| same_name(&other.name, &column.name);
            if selected.iter().any(same) {
                return Err(codes::ER_DUP_FIELDNAME.with(&[&column.name]));
            }
            let named = self.table.column_position(&column.name);
            let named = named.map(|position| self.table.columns.remove(position));
            selected.push(named.unwrap_or(column));
        }
        self.table.columns.append(&mut selected);
        Ok(())
    }

    /// Adds a CHECK constraint: 3822 when its name is taken.
    pub(super) fn check(&mut self, check: &ast::CheckDefinition) -> Result<()> {
        let name = check.name.clone().unwrap_or_else(|| {
            let names = self.table.checks.iter().map(|check| check.name.as_str());
            generated_name(&self.table.name, "_chk_", names)
        });
        let taken = |known: &CheckConstraint| same_name(&known.name, &name);
        if self.table.checks.iter().any(taken) {
            return Err(codes::ER_CHECK_CONSTRAINT_DUP_NAME.with(&[&name]));
        }
        let expression = self.fixed(&check.expr);
        self.table.checks.push(CheckConstraint {
            name,
            text: expression_text::text(&expression),
            expression: Box::new(expression),
            enforced: check.enforced,
        });
        self.table.checks.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(())
    }

    /// Adds a key after the existing ones.
    pub(super) fn key(&mut self, key: &ast::KeyDefinition) -> Result<()> {
        let primary = key.kind == KeyKind::Primary;
        if primary && self.table.primary_key().is_some() {
            return Err(codes::ER_MULTIPLE_PRI_KEY.error());
        }
        let parts = key.parts.iter().map(|part| self.key_part(key, part));
        let parts: Vec<KeyPart> = parts.collect::<Result<_>>()?;
        let is_array = |part: &&KeyPart| {
            let column = self.table.columns.get(part.stored_column());
            column.is_some_and(|column| column.elements().is_some())
        };
        refuse(parts.iter().filter(is_array).count() > 1, || {
            codes::ER_NOT_SUPPORTED_YET.with(&[&"more than one multi-valued key part per index"])
        })?;
        self.check_full_text(key.kind, &parts)?;
        self.check_lengths(&parts)?;
        for (index, part) in parts.iter().enumerate() {
            let same = |other: &KeyPart| part.column().is_some() && other.column() == part.column();
            if let (Some(position), true) = (part.column(), parts[..index].iter().any(same)) {
                let name = &self.table.columns[position].name;
                return Err(codes::ER_DUP_FIELDNAME.with(&[name]));
            }
        }
        if primary {
            for position in parts.iter().filter_map(KeyPart::column) {
                let column = &mut self.table.columns[position];
                if column.generated.as_ref().is_some_and(|it| !it.stored) {
                    let unsupported = codes::ER_UNSUPPORTED_ACTION_ON_GENERATED_COLUMN;
                    return Err(unsupported.with(&[&VIRTUAL_PRIMARY_KEY]));
                }
                column.nullable = false;
                if matches!(column.default, ColumnDefault::Null) {
                    return Err(codes::ER_PRIMARY_CANT_HAVE_NULL.error());
                }
            }
        }
        let name = match (&key.name, primary) {
            (_, true) => "PRIMARY".to_owned(),
            (Some(name), false) => {
                check_name(name, &codes::ER_WRONG_NAME_FOR_INDEX)?;
                if name.eq_ignore_ascii_case("PRIMARY") {
                    return Err(codes::ER_WRONG_NAME_FOR_INDEX.with(&[name]));
                }
                if self.table.has_key(name) {
                    return Err(codes::ER_DUP_KEYNAME.with(&[name]));
                }
                name.clone()
            }
            (None, false) => self.key_name(&parts),
        };
        let is_same = |other: &KeyDefinition| other.kind == key.kind && other.parts == parts;
        if parts.iter().all(|part| part.column().is_some()) && self.table.keys.iter().any(is_same) {
            let TableDefinition {
                database,
                name: table,
                ..
            } = &self.table;
            self.context
                .warn(codes::ER_DUP_INDEX.with(&[&name, database, table]));
        }
        let option = |name: &str| {
            let found = key.options.iter().find(|option| option.name == name);
            found.map(|option| option.value.clone())
        };
        self.table.keys.push(KeyDefinition {
            name,
            using: self.key_type(key.using.clone().or_else(|| option("USING"))),
            comment: option("COMMENT").unwrap_or_default(),
            block_size: option("KEY_BLOCK_SIZE").filter(|size| size != "0"),
            parser: option("WITH PARSER"),
            invisible: option("INVISIBLE").is_some(),
            ..KeyDefinition::new(key.kind, parts)
        });
        Ok(())
    }

    /// 1283: the columns of a FULLTEXT key have one collation.
    fn check_full_text(&self, kind: KeyKind, parts: &[KeyPart]) -> Result<()> {
        let columns = parts.iter().filter_map(KeyPart::column);
        let columns = columns.filter_map(|position| self.table.columns.get(position));
        let mut columns = columns.filter(|_| kind == KeyKind::FullText);
        let Some(first) = columns.next() else {
            return Ok(());
        };
        match columns.find(|column| column.ty.collation != first.ty.collation) {
            Some(other) => Err(codes::ER_BAD_FT_COLUMN.with(&[&other.name])),
            None => Ok(()),
        }
    }

    /// 1167: a column of length 0 cannot be indexed.
    fn check_lengths(&self, parts: &[KeyPart]) -> Result<()> {
        let columns = parts.iter().filter_map(KeyPart::column);
        let mut columns = columns.filter_map(|position| self.table.columns.get(position));
        let is_empty = |column: &&ColumnDefinition| {
            matches!(column.ty.kind, TypeKind::Char | TypeKind::VarChar) && column.ty.length == 0
        };
        match columns.find(is_empty) {
            Some(column) => Err(codes::ER_WRONG_KEY_COLUMN.with(&[&column.name])),
            None => Ok(()),
        }
    }

    /// The algorithm that a key asks for, if the engine supports it.
    fn key_type(&self, using: Option<String>) -> Option<String> {
        if using.as_deref() == Some("HASH") && self.table.engine != Engine::Memory {
            let note = codes::ER_UNSUPPORTED_INDEX_ALGORITHM.with(&[&"HASH"]);
            self.context.note(note);
            return None;
        }
        using
    }

    /// The name that MySQL generates: the first column's, with a number when it is taken.
    pub(super) fn key_name(&self, parts: &[KeyPart]) -> String {
        let base = match parts.first().and_then(KeyPart::column) {
            Some(position) => self.table.columns[position].name.clone(),
            None => "functional_index".to_owned(),
        };
        let taken = |name: &str| name.eq_ignore_ascii_case("PRIMARY") || self.table.has_key(name);
        if !taken(&base) {
            return base;
        }
        let mut numbered = (2..).map(|number| format!("{base}_{number}"));
        numbered.find(|name| !taken(name)).unwrap_or(base)
    }

    fn key_part(&mut self, key: &ast::KeyDefinition, part: &ast::KeyPart) -> Result<KeyPart> {
        let (name, prefix) = match &part.target {
            KeyPartTarget::Expression(expr) => {
                checks::check_key_expression(key, expr)?;
                return Ok(KeyPart {
                    target: self.key_expression(expr, part.is_ordered)?,
                    prefix: None,
                    descending: part.descending,
                });
            }
            KeyPartTarget::Column { name, prefix } => (name, *prefix),
        };
        let missing = || codes::ER_KEY_COLUMN_DOES_NOT_EXIST.with(&[name]);
        let position = self.table.column_position(name).ok_or_else(missing)?;
        let column = &self.table.columns[position];
        let ty = &column.ty;
        let is_long = ty.is_blob();
        structured_keys::check(key.kind, key.parts.len(), column, prefix, part.is_ordered)?;
        if key.kind == KeyKind::FullText && ty.kind == TypeKind::Json {
            return Err(codes::ER_JSON_USED_AS_KEY.with(&[name]));
        }
        if key.kind == KeyKind::FullText && (!ty.is_string() || ty.is_binary_string()) {
            return Err(codes::ER_BAD_FT_COLUMN.with(&[name]));
        }
        if key.kind == KeyKind::FullText {
            return Ok(KeyPart::of_column(position));
        }
        if is_long && prefix.is_none() {
            return Err(codes::ER_BLOB_KEY_WITHOUT_LENGTH.with(&[name]));
        }
        if ty.kind == TypeKind::Json {
            return Err(codes::ER_JSON_USED_AS_KEY.with(&[name]));
        }
        let mut prefix = prefix;
        if let Some(length) = prefix {
            refuse(length == 0, || codes::ER_KEY_PART_0.with(&[name]))?;
            if !ty.is_string() || (!is_long && length > u64::from(ty.length)) {
                return Err(codes::ER_WRONG_SUB_KEY.error());
            }
            // A prefix of the column's full length is none.
            if !is_long && length == u64::from(ty.length) {
                prefix = None;
            }
        }
        Ok(KeyPart {
            target: KeyTarget::Column(position),
            prefix,
            descending: part.descending,
        })
    }

    /// Puts the keys in order and checks the whole.
    pub(super) fn finish(mut self) -> Result<TableDefinition> {
        if self.table.columns.is_empty() {
            return Err(codes::ER_TABLE_WITHOUT_COLUMNS.error());
        }
        self.index_foreign_keys()?;
        self.key_expressions_may_be_null()?;
        self.table.foreign_keys.sort_by(|a, b| a.name.cmp(&b.name));
        let table = &mut self.table;
        let columns = &table.columns;
        let any_part = |key: &KeyDefinition, is_such: fn(&ColumnDefinition) -> bool| {
            let mut parts = key.parts.iter().map(KeyPart::column);
            parts.any(|column| column.is_none_or(|position| is_such(&columns[position])))
        };
        let nullable = |key: &KeyDefinition| any_part(key, |column| column.nullable);
        let functional = |key: &KeyDefinition| any_part(key, |_| false);
        // MySQL's order: the primary key, unique keys (NOT NULL first), others as written, functional keys, full-text
        // keys.
        table.keys.sort_by_key(|key| match key.kind {
            KeyKind::Primary => 0,
            KeyKind::Unique if !nullable(key) => 1,
            KeyKind::Unique => 2,
            KeyKind::FullText => 5,
            _ if functional(key) => 4,
            _ => 3,
        });
        functional_keys::put_in_order(table);
        if let Some(position) = table.auto_increment_column() {
            // MyISAM numbers rows separately for each value of the preceding parts.
            let parts = if table.engine.numbers_by_prefix() {
                usize::MAX
            } else {
                1
            };
            let is_it = |part: &KeyPart| part.column() == Some(position);
            let has_key = table
                .keys
                .iter()
                .any(|key| key.parts.iter().take(parts).any(is_it));
            let numbered = table.columns.iter().filter(|column| column.auto_increment);
            if numbered.count() > 1 || !has_key {
                return Err(codes::ER_WRONG_AUTO_KEY.error());
            }
        }
        for column in &table.columns {
            let is_wrong = match column.default {
                ColumnDefault::Null => !column.nullable,
                ColumnDefault::Value(Value::Null) => true,
                _ => false,
            };
            refuse(is_wrong, || codes::ER_INVALID_DEFAULT.with(&[&column.name]))?;
        }
        if table.columns.iter().all(|column| column.invisible) {
            return Err(codes::ER_TABLE_MUST_HAVE_VISIBLE_COLUMN.error());
        }
        check_engine(self.context, table)?;
        checks::check(self.context, &self.table)?;
        Ok(self.table)
    }
}

/// Checks the limits of a table's engine.
pub(crate) fn check_engine(context: &StatementContext<'_>, table: &TableDefinition) -> Result<()> {
    engine_limits::check(table)?;
    if table.is_volatile() && table.engine == Engine::InnoDb {
        check_compression(context, table)?;
    }
    Ok(())
}

/// 3500 for a compressed temporary table; a warning with `innodb_strict_mode=OFF`.
fn check_compression(context: &StatementContext<'_>, table: &TableDefinition) -> Result<()> {
    let option = |name: &str| table.options.iter().find(|(known, _)| known == name);
    let mut ignored = Vec::new();
    if option("KEY_BLOCK_SIZE").is_some_and(|(_, size)| size != "0") {
        ignored.push("KEY_BLOCK_SIZE is ignored for TEMPORARY TABLE.");
    }
    if option("ROW_FORMAT").is_some_and(|(_, format)| format == "COMPRESSED") {
        ignored.push("ROW_FORMAT=COMPRESSED is ignored for TEMPORARY TABLE.");
        ignored.push("assuming ROW_FORMAT=DYNAMIC.");
    }
    let is_strict = context.settings().get(typed::INNODB_STRICT_MODE);
    refuse(is_strict && !ignored.is_empty(), || {
        codes::ER_UNSUPPORT_COMPRESSED_TEMPORARY_TABLE.error()
    })?;
    for what in ignored {
        context.warn(codes::ER_IGNORED_HA_CREATE_OPTION.with(&[&what]));
    }
    Ok(())
}

/// The constraint name that MySQL generates: the table's with a number greater than all in use.
pub(super) fn generated_name<'n>(
    table: &str,
    infix: &str,
    names: impl Iterator<Item = &'n str>,
) -> String {
    let number = |name: &str| name.strip_prefix(table)?.strip_prefix(infix)?.parse().ok();
    let last: u64 = names.filter_map(number).max().unwrap_or(0);
    format!("{table}{infix}{}", last.saturating_add(1))
}

fn single_key(kind: KeyKind, column: &ast::ColumnDefinition) -> ast::KeyDefinition {
    ast::KeyDefinition {
        kind,
        name: None,
        using: None,
        parts: vec![ast::KeyPart {
            target: KeyPartTarget::Column {
                name: column.name.clone(),
                prefix: None,
            },
            descending: false,
            is_ordered: false,
        }],
        options: Vec::new(),
    }
}
