//! Optimizer hints about indexes and derived tables: USE, FORCE and IGNORE INDEX behind a table, and in the comment
//! behind SELECT, which overrides them, `INDEX`, `JOIN_INDEX`, `ORDER_INDEX`, `GROUP_INDEX`, `INDEX_MERGE` and their
//! negations, and `MERGE` and `NO_MERGE` of derived tables (the manual, "Index Hints", "Index-Level Optimizer Hints",
//! "Table-Level Optimizer Hints"). A hint without effect is a warning.

use mayfly_syntax::ast::{TableIndexHintForClause, TableIndexHintType, TableIndexHints};
use mayfly_types::Result;
use mayfly_types::error::codes;

use super::scope::{IndexHint, MergeHint};
use crate::bind::binder::Binder;
use crate::bind::block::same_name;
use crate::catalog::TableSource;
use crate::tree::access::{HintPurpose, IndexHints};
use crate::tree::logical::{JoinHint, JoinHintKind};
use crate::tree::physical::Freshness;

const EVERY: &[HintPurpose] = &[
    HintPurpose::Join,
    HintPurpose::OrderBy,
    HintPurpose::GroupBy,
];

const MERGE: &[HintPurpose] = &[HintPurpose::Merge];

/// Index hints: (name, purposes, whether the indexes are excluded).
const HINTS: &[(&str, &[HintPurpose], bool)] = &[
    ("INDEX", EVERY, false),
    ("NO_INDEX", EVERY, true),
    ("JOIN_INDEX", &[HintPurpose::Join], false),
    ("NO_JOIN_INDEX", &[HintPurpose::Join], true),
    ("ORDER_INDEX", &[HintPurpose::OrderBy], false),
    ("NO_ORDER_INDEX", &[HintPurpose::OrderBy], true),
    ("GROUP_INDEX", &[HintPurpose::GroupBy], false),
    ("NO_GROUP_INDEX", &[HintPurpose::GroupBy], true),
    ("INDEX_MERGE", MERGE, false),
    ("NO_INDEX_MERGE", MERGE, true),
];

/// Hints that are applied before a statement is planned.
const OF_STATEMENTS: &[&str] = &["SET_VAR", "MAX_EXECUTION_TIME"];

/// Other hints of MySQL: the alternatives do not exist here.
const WITHOUT_EFFECT: &[&str] = &[
    "BKA",
    "NO_BKA",
    "BNL",
    "NO_BNL",
    "DERIVED_CONDITION_PUSHDOWN",
    "NO_DERIVED_CONDITION_PUSHDOWN",
    "HASH_JOIN",
    "NO_HASH_JOIN",
    "MRR",
    "NO_MRR",
    "NO_ICP",
    "NO_RANGE_OPTIMIZATION",
    "RESOURCE_GROUP",
    "SEMIJOIN",
    "NO_SEMIJOIN",
    "SKIP_SCAN",
    "NO_SKIP_SCAN",
    "SUBQUERY",
];

/// Join order hints.
const JOIN_HINTS: &[(&str, JoinHintKind)] = &[
    ("JOIN_ORDER", JoinHintKind::Order),
    ("JOIN_PREFIX", JoinHintKind::Prefix),
    ("JOIN_SUFFIX", JoinHintKind::Suffix),
];

/// Hint by which joins keep the order in which they are written.
const FIXED_ORDER: &str = "JOIN_FIXED_ORDER";

/// A parsed hint comment: hints about indexes, derived tables and the order of joins, and the name of its query block.
#[derive(Debug, Default, PartialEq)]
struct Comment {
    hints: Vec<IndexHint>,
    orders: Vec<(JoinHintKind, Vec<String>)>,
    fixed_order: bool,
    merges: Vec<MergeHint>,
    block: Option<String>,
    result_cache: Option<Freshness>,
    /// Hints without effect.
    ignored: Vec<&'static str>,
    /// Text from the first invalid hint on.
    unknown: Option<String>,
}

/// Parses the comment behind a SELECT.
fn read(text: &str) -> Comment {
    let mut comment = Comment::default();
    let mut words = Words(text);
    loop {
        let rest = words.0.trim_start();
        let Some(name) = words.next() else {
            break;
        };
        let is = |hint: &&&str| name.eq_ignore_ascii_case(hint);
        if !words.eat("(") {
            // JOIN_FIXED_ORDER may have no arguments.
            match WITHOUT_EFFECT.iter().find(is) {
                None if name.eq_ignore_ascii_case(FIXED_ORDER) => comment.fixed_order = true,
                Some(name) => comment.ignored.push(name),
                None => {
                    comment.unknown.get_or_insert_with(|| rest.to_owned());
                }
            }
            continue;
        }
        let mut inside = Vec::new();
        let mut depth = 1;
        while let Some(word) = words.next() {
            match word.as_str() {
                "(" => depth += 1,
                ")" => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                break;
            }
            inside.push(word);
        }
        if name.eq_ignore_ascii_case("QB_NAME") {
            comment.block = inside.into_iter().next();
            continue;
        }
        let known = HINTS
            .iter()
            .find(|(hint, ..)| name.eq_ignore_ascii_case(hint));
        if let Some((name, purposes, negated)) = known {
            comment
                .hints
                .extend(hint((name, purposes, *negated), &inside));
        } else if name.eq_ignore_ascii_case("RESULT_CACHE") {
            comment.result_cache = Freshness::parse(&inside.join(" "));
            if comment.result_cache.is_none() {
                comment.unknown.get_or_insert_with(|| rest.to_owned());
            }
        } else if let Some(merges) = merges(&name) {
            comment.merges.extend(merge_hints(merges, &inside));
        } else if let Some(kind) = join_hint(&name) {
            comment.orders.push((kind, tables_of(&inside)));
        } else if name.eq_ignore_ascii_case(FIXED_ORDER) {
            comment.fixed_order |= inside.is_empty();
        } else if let Some(name) = WITHOUT_EFFECT.iter().find(is) {
            comment.ignored.push(name);
        } else if !OF_STATEMENTS.iter().any(|hint| is(&hint)) {
            comment.unknown.get_or_insert_with(|| rest.to_owned());
        }
    }
    comment
}

/// The hint RESULT_CACHE among the comments behind a SELECT.
pub(super) fn result_cache(comments: &[String]) -> Option<Freshness> {
    comments
        .iter()
        .find_map(|comment| read(comment).result_cache)
}

/// Kind of join order hint of this name.
fn join_hint(name: &str) -> Option<JoinHintKind> {
    let mut known = JOIN_HINTS.iter();
    let (_, kind) = known.find(|(hint, _)| name.eq_ignore_ascii_case(hint))?;
    Some(*kind)
}

/// Parses `table [, table] …`; names of other blocks are skipped.
fn tables_of(words: &[String]) -> Vec<String> {
    let tables = words.split(|word| word == ",");
    let named = tables.filter_map(|words| match words {
        [table] => Some(table.clone()),
        _ => None,
    });
    named.collect()
}

/// Whether a hint of this name merges derived tables.
fn merges(name: &str) -> Option<bool> {
    match () {
        () if name.eq_ignore_ascii_case("MERGE") => Some(true),
        () if name.eq_ignore_ascii_case("NO_MERGE") => Some(false),
        () => None,
    }
}

/// Parses `[table [, table] …]`; names of other blocks are skipped.
fn merge_hints(merges: bool, words: &[String]) -> Vec<MergeHint> {
    if words.is_empty() {
        return vec![MergeHint {
            merges,
            table: None,
            used: true,
        }];
    }
    let tables = words.split(|word| word == ",");
    let named = tables.filter_map(|words| match words {
        [table] => Some(MergeHint {
            merges,
            table: Some(table.clone()),
            used: false,
        }),
        _ => None,
    });
    named.collect()
}

/// Parses `[@block] table[@block] [index [, index] …]`.
fn hint(
    (name, purposes, negated): (&'static str, &'static [HintPurpose], bool),
    words: &[String],
) -> Option<IndexHint> {
    let mut words = words.iter();
    let mut word = words.next()?;
    let mut block = None;
    if word == "@" {
        block = words.next().cloned();
        word = words.next()?;
    }
    let table = word.clone();
    let mut indexes = Vec::new();
    while let Some(word) = words.next() {
        match word.as_str() {
            "@" => block = words.next().cloned(),
            "," => {}
            index => indexes.push(index.to_owned()),
        }
    }
    Some(IndexHint {
        name,
        purposes,
        negated,
        block,
        table,
        indexes,
        used: false,
    })
}

/// Tokens of a hint comment; quoted names come without their quotes.
struct Words<'t>(&'t str);

impl Words<'_> {
    fn eat(&mut self, sign: &str) -> bool {
        let rest = self.0.trim_start();
        match rest.strip_prefix(sign) {
            Some(rest) => {
                self.0 = rest;
                true
            }
            None => false,
        }
    }

    fn next(&mut self) -> Option<String> {
        let rest = self.0.trim_start();
        let first = rest.chars().next()?;
        if let quote @ ('`' | '"' | '\'') = first {
            let inside = &rest[1..];
            let end = inside.find(quote).unwrap_or(inside.len());
            self.0 = inside.get(end + 1..).unwrap_or("");
            return Some(inside[..end].to_owned());
        }
        let is_word =
            |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '#') || !c.is_ascii();
        let length = if is_word(first) {
            rest.find(|c| !is_word(c)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (word, rest) = rest.split_at(length);
        self.0 = rest;
        Some(word.to_owned())
    }
}

impl Binder<'_> {
    /// Takes the index hints of a query block's comments, and those of enclosing blocks that name it.
    pub(super) fn take_index_hints(&mut self, comments: &[String], select_id: usize) {
        if comments.is_empty() && self.block_hints.is_empty() {
            return;
        }
        let (mut own, mut merges) = (Vec::new(), Vec::new());
        let mut orders = Vec::new();
        let mut names = vec![format!("select#{select_id}")];
        for comment in comments {
            let read = read(comment);
            names.extend(read.block);
            own.extend(read.hints);
            merges.extend(read.merges);
            self.fixed_order |= read.fixed_order;
            orders.extend(read.orders.into_iter().map(|(kind, tables)| JoinHint {
                select_id,
                kind,
                tables,
            }));
            for name in read.ignored {
                let hint = format!("hint {name}");
                self.catalog
                    .warn(codes::ER_NOT_SUPPORTED_YET.with(&[&hint]));
            }
            if let Some(near) = read.unknown {
                self.catalog
                    .warn(codes::WARN_OPTIMIZER_HINT_SYNTAX_ERROR.with(&[&near.trim_end()]));
            }
        }
        own.append(&mut self.block_hints);
        let is_own = |hint: &IndexHint| match &hint.block {
            None => true,
            Some(block) => names.iter().any(|name| same_name(name, block)),
        };
        let (mut here, elsewhere): (Vec<_>, Vec<_>) = own.into_iter().partition(is_own);
        here.iter_mut().for_each(|hint| hint.block = None);
        self.block_hints = elsewhere;
        self.join_hints.append(&mut orders);
        let scope = self.scope();
        scope.index_hints = here;
        scope.merge_hints = merges;
    }

    /// Whether hints of the query block merge a derived table; `None` without a hint.
    pub(super) fn merge_hint(&mut self, alias: &str) -> Option<bool> {
        let mut hints = self.scopes.last_mut()?.merge_hints.iter_mut();
        let hint = hints.find(|hint| match &hint.table {
            Some(table) => same_name(table, alias),
            None => true,
        })?;
        hint.used = true;
        Some(hint.merges)
    }

    /// Warns of the hints whose table does not exist.
    pub(super) fn end_index_hints(&mut self, select_id: usize) {
        let own = self.join_hints.iter();
        for hint in own.filter(|hint| hint.select_id == select_id) {
            let named = JOIN_HINTS.iter().find(|(_, kind)| *kind == hint.kind);
            let name = named.map_or("", |(name, _)| name);
            let tables = self.scopes.last().map_or(&[][..], |scope| &scope.tables);
            for table in &hint.tables {
                if !tables.iter().any(|known| same_name(&known.alias, table)) {
                    let table = format!("`{table}`@`select#{select_id}`");
                    self.catalog
                        .warn(codes::ER_WARN_UNKNOWN_HINT_NAME.with(&[&table, &name]));
                }
            }
        }
        for hint in std::mem::take(&mut self.scope().merge_hints) {
            if let (Some(table), false) = (&hint.table, hint.used) {
                let table = format!("`{table}`@`select#{select_id}`");
                let name = if hint.merges { "MERGE" } else { "NO_MERGE" };
                self.catalog
                    .warn(codes::ER_WARN_UNKNOWN_HINT_NAME.with(&[&table, &name]));
            }
        }
        for hint in std::mem::take(&mut self.scope().index_hints) {
            if hint.used {
                continue;
            }
            let table = format!("`{}`@`select#{select_id}`", hint.table);
            self.catalog
                .warn(codes::ER_WARN_UNKNOWN_HINT_NAME.with(&[&table, &hint.name]));
            for index in &hint.indexes {
                let name = format!("{table} `{index}`");
                self.catalog
                    .warn(codes::ER_WARN_UNKNOWN_HINT_NAME.with(&[&name, &hint.name]));
            }
        }
    }

    /// Index hints of a table.
    pub(super) fn index_hints(
        &mut self,
        table: &TableSource,
        alias: &str,
        written: &[TableIndexHints],
    ) -> Result<IndexHints> {
        let mut allowed = behind_table(table, alias, written)?;
        let Some(scope) = self.scopes.last_mut() else {
            return Ok(allowed);
        };
        let select_id = scope.select_id;
        let mut first = true;
        let mut said: Vec<(HintPurpose, usize)> = Vec::new();
        let mut warnings = Vec::new();
        for hint in &mut scope.index_hints {
            if !same_name(&hint.table, alias) {
                continue;
            }
            hint.used = true;
            let mut named = Vec::with_capacity(hint.indexes.len());
            for index in &hint.indexes {
                match index_by_name(table, index) {
                    Some(index) => named.push(index),
                    None => {
                        let name = format!("`{}`@`select#{select_id}` `{index}`", hint.table);
                        warnings.push(codes::ER_WARN_UNKNOWN_HINT_NAME.with(&[&name, &hint.name]));
                    }
                }
            }
            if hint.indexes.is_empty() {
                named = (0..table.indexes.len()).collect();
            } else if named.is_empty() {
                continue;
            }
            let contradicts = |index: &usize| {
                let mut purposes = hint.purposes.iter();
                purposes.any(|purpose| said.contains(&(*purpose, *index)))
            };
            if named.iter().any(contradicts) {
                let indexes: Vec<String> = hint.indexes.iter().map(|i| format!("`{i}`")).collect();
                let text = format!("{}(`{}`  {})", hint.name, hint.table, indexes.join(", "));
                warnings.push(codes::ER_WARN_CONFLICTING_HINT.with(&[&text]));
                continue;
            }
            if std::mem::take(&mut first) {
                allowed = IndexHints::default();
            }
            for purpose in hint.purposes {
                said.extend(named.iter().map(|index| (*purpose, *index)));
                if hint.negated {
                    let ignored = named.iter().map(|index| (*purpose, *index));
                    allowed.ignored.extend(ignored);
                } else if !hint.indexes.is_empty() || *purpose == HintPurpose::Merge {
                    allowed.only.push((*purpose, named.clone(), true));
                }
            }
        }
        warnings.into_iter().for_each(|one| self.catalog.warn(one));
        Ok(allowed)
    }
}

/// Hints by USE, FORCE and IGNORE INDEX: error 1176 for an index that the table does not have, 1221 for USE and FORCE
/// together.
fn behind_table(table: &TableSource, alias: &str, hints: &[TableIndexHints]) -> Result<IndexHints> {
    let is = |hint: &TableIndexHints, kind| hint.hint_type == kind;
    if hints.iter().any(|hint| is(hint, TableIndexHintType::Use))
        && hints.iter().any(|hint| is(hint, TableIndexHintType::Force))
    {
        return Err(codes::ER_WRONG_USAGE.with(&[&"USE INDEX", &"FORCE INDEX"]));
    }
    let mut allowed = IndexHints::default();
    for hint in hints {
        let purposes = match hint.for_clause {
            None => EVERY,
            Some(TableIndexHintForClause::Join) => &EVERY[..1],
            Some(TableIndexHintForClause::OrderBy) => &EVERY[1..2],
            Some(TableIndexHintForClause::GroupBy) => &EVERY[2..],
        };
        let named = hint
            .index_names
            .iter()
            .map(|name| {
                index_by_name(table, &name.value).ok_or_else(|| {
                    codes::ER_KEY_DOES_NOT_EXITS.with(&[&name.value.as_str(), &alias])
                })
            })
            .collect::<Result<Vec<usize>>>()?;
        for purpose in purposes {
            match hint.hint_type {
                TableIndexHintType::Ignore => allowed
                    .ignored
                    .extend(named.iter().map(|index| (*purpose, *index))),
                kind => {
                    allowed
                        .only
                        .push((*purpose, named.clone(), kind == TableIndexHintType::Force))
                }
            }
        }
    }
    Ok(allowed)
}

/// Index by its name, or by an unambiguous prefix of it.
fn index_by_name(table: &TableSource, name: &str) -> Option<usize> {
    let exact = table
        .indexes
        .iter()
        .position(|index| same_name(&index.name, name));
    if exact.is_some() {
        return exact;
    }
    let begins = |index: &&crate::catalog::IndexSource| {
        let start = index.name.get(..name.len());
        start.is_some_and(|start| same_name(start, name))
    };
    let mut found = table.indexes.iter().filter(begins);
    let only = found.next()?;
    match found.next() {
        None => table
            .indexes
            .iter()
            .position(|index| index.name == only.name),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn a_comment_holds_hints_of_several_kinds() {
        let comment = read(
            " QB_NAME(q) SET_VAR(a = 'x)') INDEX(t a, `b c`) NO_INDEX(u@r) BKA(t) JOIN_INDEX(@s v i) ",
        );
        assert_eq!(comment.block.as_deref(), Some("q"));
        let found: Vec<String> = comment
            .hints
            .iter()
            .map(|hint| {
                let block = hint.block.as_deref().unwrap_or("-");
                format!(
                    "{} {block} {} {}",
                    hint.name,
                    hint.table,
                    hint.indexes.join("|")
                )
            })
            .collect();
        assert_eq!(
            found,
            ["INDEX - t a|b c", "NO_INDEX r u ", "JOIN_INDEX s v i"]
        );
    }
}
