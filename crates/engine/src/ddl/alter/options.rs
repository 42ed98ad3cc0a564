//! Table options, and changes of the table as a whole: its character set, partitions, how the statement is to run.

use mayfly_syntax::ast::{AlterAction, ColumnAttribute, GeneratedStorage, TableOption};
use mayfly_types::Result;
use mayfly_types::error::codes;

use crate::ddl::alter::Alteration;
use crate::ddl::{column_type, partitioning, secondary};
use crate::engines::Engine;
use crate::error::{ensure, refuse};

impl Alteration<'_> {
    pub(super) fn options(&mut self) -> Result<()> {
        for action in self.actions {
            match action {
                AlterAction::Option(option) if option.name == "ALGORITHM" => {
                    const KNOWN: &[&str] = &["DEFAULT", "INSTANT", "INPLACE", "COPY"];
                    known(option, KNOWN, &codes::ER_UNKNOWN_ALTER_ALGORITHM)?;
                }
                AlterAction::Option(option) if option.name == "LOCK" => {
                    const KNOWN: &[&str] = &["DEFAULT", "NONE", "SHARED", "EXCLUSIVE"];
                    known(option, KNOWN, &codes::ER_UNKNOWN_ALTER_LOCK)?;
                }
                AlterAction::Option(option) => self.builder.option(option)?,
                AlterAction::ConvertToCharset { charset, collation } => {
                    self.convert_to(charset.as_deref(), collation.as_deref())?;
                }
                AlterAction::Partition(partitioning) => {
                    refuse(self.old.has_private_rows(), || {
                        codes::ER_PARTITION_NO_TEMPORARY.error()
                    })?;
                    let computed = partitioning::computed(self.session(), partitioning);
                    self.builder.table.partitioning = Some(computed);
                    self.session()
                        .warn(codes::WARN_OPTION_IGNORED.with(&[&"PARTITION BY"]));
                }
                AlterAction::RemovePartitioning => {
                    let partitioning = self.builder.table.partitioning.take();
                    let none = || codes::ER_PARTITION_MGMT_ON_NONPARTITIONED.error();
                    partitioning.ok_or_else(none)?;
                }
                AlterAction::Validation => self.check_validation()?,
                AlterAction::DisableKeys | AlterAction::EnableKeys
                    if !matches!(self.old.engine, Engine::MyIsam | Engine::Aria) =>
                {
                    self.session()
                        .note(codes::ER_ILLEGAL_HA.with(&[&self.old.name]));
                }
                AlterAction::Other(text)
                    if self.old.partitioning.is_none()
                        && text.to_ascii_uppercase().contains("PARTITION") =>
                {
                    return Err(codes::ER_PARTITION_MGMT_ON_NONPARTITIONED.error());
                }
                AlterAction::Other(text) => {
                    let what = format!("ALTER TABLE … {text}");
                    return Err(codes::ER_NOT_SUPPORTED_YET.with(&[&what]));
                }
                _ => {}
            }
        }
        secondary::check_altered(self.session(), self.old, &self.builder.table, self.actions)?;
        let (was, is) = (self.old.engine, self.builder.table.engine);
        let joined = was.has_foreign_keys()
            && (!self.old.foreign_keys.is_empty() || !self.references().is_empty());
        refuse(was != is && joined, || {
            codes::ER_FK_CANNOT_CHANGE_ENGINE.error()
        })
    }

    /// WITH and WITHOUT VALIDATION apply to an added or changed virtual column: 1221 without one. Values are always
    /// computed anew, so validation cannot be skipped.
    fn check_validation(&self) -> Result<()> {
        let is_virtual = |action: &AlterAction| match action {
            AlterAction::AddColumn { column, .. }
            | AlterAction::ChangeColumn { column, .. }
            | AlterAction::ModifyColumn { column, .. } => {
                let mut attributes = column.attributes.iter();
                attributes.any(|attribute| {
                    matches!(attribute, ColumnAttribute::Generated { storage, .. }
                        if *storage == GeneratedStorage::Virtual)
                })
            }
            _ => false,
        };
        ensure(self.actions.iter().any(is_virtual), || {
            codes::ER_WRONG_USAGE.with(&[&"ALTER", &"WITH VALIDATION"])
        })
    }

    /// CONVERT TO CHARACTER SET: for the columns, and for the table unless another option overrides it.
    fn convert_to(&mut self, charset: Option<&str>, collation: Option<&str>) -> Result<()> {
        let written = column_type::resolve_collation(self.session().options(), charset, collation)?;
        let catalog = &self.session().database().catalog;
        let converted = written
            .or_else(|| catalog.database_collation(&self.old.database))
            .unwrap_or_default();
        let declared = &mut self.builder.collation;
        declared.charset(converted.charset().name())?;
        declared.collation(converted.collation().name)?;
        self.builder.table.collation = converted;
        self.converted = Some(converted);
        Ok(())
    }
}

fn known(option: &TableOption, words: &[&str], unknown: &mayfly_types::ErrorCode) -> Result<()> {
    let is_known = |word: &&str| word.eq_ignore_ascii_case(&option.value);
    ensure(words.iter().any(is_known), || {
        unknown.with(&[&option.value])
    })
}
