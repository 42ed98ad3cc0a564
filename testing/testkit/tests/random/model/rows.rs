//! Effects of a statement row by row: unique keys, foreign keys and their actions.
//!
//! Effects that depend on the order in which an engine processes rows are found by trying several orders: where these
//! disagree, the model does not know the result of a statement, and it is not run.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use mayfly_trials::Random;

use crate::model::table::{Foreign, ReferenceOption, Row, Store, Table, hash};
use crate::model::values::{Key, Value};

pub(crate) type Tables = BTreeMap<String, Rc<Table>>;

/// The tables after the end of the server: those of the MEMORY engine have no rows.
pub(crate) fn durable(tables: &Tables) -> Tables {
    let mut tables = tables.clone();
    let memory = |table: &&mut Rc<Table>| table.store == Store::Memory && !table.rows.is_empty();
    for table in tables.values_mut().filter(memory) {
        let table = Rc::make_mut(table);
        table.rows.clear();
        table.forget_maps();
    }
    tables
}

pub(crate) const ER_DUP_ENTRY: u16 = 1062;
const ER_ROW_IS_REFERENCED: u16 = 1451;
const ER_NO_REFERENCED_ROW: u16 = 1452;

/// Reason why a row is not changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fail {
    Error(u16),
    /// MySQL's answer depends on facts that the model does not have.
    Unknown,
}

type Done = Result<(), Fail>;

/// The changes of one statement.
#[derive(Debug, Clone)]
pub(crate) struct Change<'w> {
    temporary: &'w Tables,
    now: &'w Tables,
    pub(crate) tables: BTreeMap<String, Table>,
    pub(crate) touched: BTreeMap<String, BTreeSet<u64>>,
    pub(crate) next: u64,
    /// Index of the order in which rows are processed.
    order: usize,
    has_foreign: bool,
}

impl<'w> Change<'w> {
    pub(crate) fn table(&mut self, name: &str) -> Option<&mut Table> {
        if !self.tables.contains_key(name) {
            let known = self.temporary.get(name).or_else(|| self.now.get(name))?;
            let mut table = Table::clone(known);
            table.know_maps();
            self.tables.insert(name.to_owned(), table);
        }
        self.tables.get_mut(name)
    }

    fn must(&mut self, name: &str) -> Result<&mut Table, Fail> {
        self.table(name).ok_or(Fail::Unknown)
    }

    /// Rows in this change's order.
    pub(crate) fn ordered<T>(&self, mut rows: Vec<T>) -> Vec<T> {
        match self.order {
            0 => {}
            1 => rows.reverse(),
            _ => {
                Random(self.order as u64).shuffle(&mut rows);
            }
        }
        rows
    }

    /// The foreign keys that reference a table.
    fn children(&self, parent: &str) -> Vec<(String, Foreign)> {
        if !self.has_foreign {
            return Vec::new();
        }
        let of = |(name, table): (&String, &Rc<Table>)| {
            let keys = table.foreign.iter().filter(|key| key.parent == parent);
            keys.map(|key| (name.clone(), key.clone()))
                .collect::<Vec<_>>()
        };
        self.ordered(self.now.iter().flat_map(of).collect())
    }

    fn key(table: &Table, column: &str, row: &Row) -> Key {
        let place = table.place(column);
        place.map_or(Key::Null, |place| {
            table.columns[place].kind.key(&row[place], None)
        })
    }

    /// Whether a row references a missing parent, by the foreign keys whose values have changed.
    fn is_orphan(&mut self, name: &str, row: &Row, before: Option<&Row>) -> Result<bool, Fail> {
        let foreign = self.must(name)?.foreign.clone();
        for key in foreign {
            let table = self.must(name)?;
            let place = table.place(&key.column).ok_or(Fail::Unknown)?;
            if row[place] == Value::Null || before.is_some_and(|before| before[place] == row[place])
            {
                continue;
            }
            let wanted = Self::key(table, &key.column, row);
            // A row may be its own parent.
            let own = key.parent == name && Self::key(table, &key.parent_column, row) == wanted;
            // Servers differ in whether the row's previous key counts as a parent.
            let was = |before| Self::key(table, &key.parent_column, before) == wanted;
            if key.parent == name && !own && before.is_some_and(was) {
                return Err(Fail::Unknown);
            }
            let parent = self.must(&key.parent)?;
            if !own && parent.identified(&key.parent_column, &wanted).is_none() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn touch(&mut self, name: &str, id: u64) {
        self.touched.entry(name.to_owned()).or_default().insert(id);
    }

    fn new_row(&mut self, name: &str, row: Row) -> Done {
        let id = self.next;
        self.next += 1;
        self.touch(name, id);
        self.must(name)?.put(id, row);
        Ok(())
    }

    pub(crate) fn insert(&mut self, name: &str, row: Row) -> Done {
        let is_known = !self.must(name)?.conflicts(&row).is_empty();
        match (is_known, self.is_orphan(name, &row, None)?) {
            (true, true) => Err(Fail::Unknown),
            (true, false) => Err(Fail::Error(ER_DUP_ENTRY)),
            (false, true) => Err(Fail::Error(ER_NO_REFERENCED_ROW)),
            (false, false) => self.new_row(name, row),
        }
    }

    pub(crate) fn replace(&mut self, name: &str, row: Row) -> Done {
        // An unchanged row is not touched, if it was found by the only unique key.
        let has_children = !self.children(name).is_empty();
        let table = self.must(name)?;
        let has_one_key = table.indexes.iter().filter(|index| index.unique).count() == 1;
        if let ([one], false, true) = (table.conflicts(&row).as_slice(), has_children, has_one_key)
            && *table.rows[one] == row
        {
            return Ok(());
        }
        let mut removed = false;
        while let Some(other) = self.must(name)?.conflicts(&row).first().copied() {
            self.delete(name, other, 0)?;
            removed = true;
        }
        match (self.is_orphan(name, &row, None)?, removed) {
            (true, true) if self.must(name)?.store == Store::Memory => Err(Fail::Unknown),
            (true, _) => Err(Fail::Error(ER_NO_REFERENCED_ROW)),
            (false, _) => self.new_row(name, row),
        }
    }

    /// Inserts a row, or updates the one with an equal unique key.
    pub(crate) fn upsert(
        &mut self,
        name: &str,
        row: Row,
        change: impl Fn(&Table, &Row, &Row) -> Option<Row>,
    ) -> Done {
        let table = self.must(name)?;
        match table.conflicts(&row).as_slice() {
            [] => self.insert(name, row),
            [one] => {
                let new = change(table, &table.rows[one], &row).ok_or(Fail::Unknown)?;
                let one = *one;
                if self.is_orphan(name, &row, None)? {
                    return Err(Fail::Unknown);
                }
                self.update(name, one, new, 0)
            }
            // The order of the indexes decides which of them is changed.
            _ => Err(Fail::Unknown),
        }
    }

    /// The rows of a child that reference a key.
    fn matching(&mut self, child: &str, foreign: &Foreign, key: &Key) -> Result<Vec<u64>, Fail> {
        let table = self.must(child)?;
        let place = table.place(&foreign.column).ok_or(Fail::Unknown)?;
        let kind = table.columns[place].kind;
        let rows = table.rows.iter();
        let rows = rows
            .filter(|(_, row)| row[place] != Value::Null && kind.key(&row[place], None) == *key);
        let ids = rows.map(|(id, _)| *id).collect();
        Ok(self.ordered(ids))
    }

    pub(crate) fn delete(&mut self, name: &str, id: u64, depth: usize) -> Done {
        if depth > 12 {
            return Err(Fail::Unknown);
        }
        let children = self.children(name);
        let table = self.must(name)?;
        let row = Rc::clone(table.rows.get(&id).ok_or(Fail::Unknown)?);
        // Checked before anything is changed.
        let (mut is_refused, mut has_actions) = (false, false);
        for (child, foreign) in &children {
            let key = Self::key(self.must(name)?, &foreign.parent_column, &row);
            let found = match key {
                Key::Null => Vec::new(),
                _ => self.matching(child, foreign, &key)?,
            };
            match foreign.on_delete {
                _ if found.is_empty() => {}
                ReferenceOption::Restrict | ReferenceOption::NoAction => {
                    if child == name && found.contains(&id) {
                        return Err(Fail::Unknown);
                    }
                    is_refused = true;
                }
                _ => has_actions = true,
            }
        }
        match (is_refused, has_actions) {
            (false, _) => {}
            (true, false) => return Err(Fail::Error(ER_ROW_IS_REFERENCED)),
            // An action may remove the referencing row, if its foreign key's name comes first.
            (true, true) => return Err(Fail::Unknown),
        }
        self.must(name)?.take(id);
        self.touch(name, id);
        for (child, foreign) in &children {
            let key = Self::key(self.must(name)?, &foreign.parent_column, &row);
            if key == Key::Null {
                continue;
            }
            for one in self.matching(child, foreign, &key)? {
                match foreign.on_delete {
                    ReferenceOption::Cascade if self.must(child)?.rows.contains_key(&one) => {
                        self.delete(child, one, depth + 1)?;
                    }
                    ReferenceOption::SetNull if self.must(child)?.rows.contains_key(&one) => {
                        let table = self.must(child)?;
                        let place = table.place(&foreign.column).ok_or(Fail::Unknown)?;
                        let mut row = Row::clone(&table.rows[&one]);
                        row[place] = Value::Null;
                        self.cascade_update(child, one, row, depth)?;
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Applies an update action, which must not fail in an unknown way.
    fn cascade_update(&mut self, child: &str, id: u64, row: Row, depth: usize) -> Done {
        match self.update(child, id, row, depth + 1) {
            Err(Fail::Error(ER_DUP_ENTRY | ER_NO_REFERENCED_ROW)) => Err(Fail::Unknown),
            other => other,
        }
    }

    pub(crate) fn update(&mut self, name: &str, id: u64, mut new: Row, depth: usize) -> Done {
        if depth > 12 {
            return Err(Fail::Unknown);
        }
        let children = self.children(name);
        let table = self.must(name)?;
        table.complete(&mut new);
        let old = Rc::clone(table.rows.get(&id).ok_or(Fail::Unknown)?);
        if *old == new {
            return Ok(());
        }
        let mut errors = BTreeSet::new();
        if table.conflicts(&new).iter().any(|other| *other != id) {
            errors.insert(ER_DUP_ENTRY);
        }
        let clustered = table.index("PRIMARY").cloned();
        let moves = clustered
            .is_some_and(|index| table.unique_key(&index, &old) != table.unique_key(&index, &new));
        if self.is_orphan(name, &new, Some(&old))? {
            errors.insert(ER_NO_REFERENCED_ROW);
        }
        let mut actions = Vec::new();
        for (child, foreign) in children {
            let table = self.must(name)?;
            let place = table.place(&foreign.parent_column).ok_or(Fail::Unknown)?;
            if old[place] == new[place] || old[place] == Value::Null {
                continue;
            }
            let (from, to) = (
                Self::key(table, &foreign.parent_column, &old),
                Self::key(table, &foreign.parent_column, &new),
            );
            let found = self.matching(&child, &foreign, &from)?;
            match (found.is_empty(), foreign.on_update) {
                (true, _) => {}
                _ if child == name || from == to => return Err(Fail::Unknown),
                (_, ReferenceOption::Restrict | ReferenceOption::NoAction) => {
                    errors.insert(ER_ROW_IS_REFERENCED);
                }
                (_, action) => {
                    let value = match action {
                        ReferenceOption::Cascade => new[place].clone(),
                        _ => Value::Null,
                    };
                    actions.extend(
                        found
                            .into_iter()
                            .map(|one| (child.clone(), one, foreign.column.clone(), value.clone())),
                    );
                }
            }
        }
        let mut errors = errors.into_iter();
        match (errors.next(), errors.next()) {
            (None, _) => {}
            (Some(errno), None) => return Err(Fail::Error(errno)),
            _ => return Err(Fail::Unknown),
        }
        let number = if moves { self.next } else { id };
        self.next += u64::from(moves);
        self.touch(name, id);
        self.touch(name, number);
        let table = self.must(name)?;
        table.take(id);
        table.put(number, new);
        for (child, one, column, value) in actions {
            let table = self.must(&child)?;
            let place = table.place(&column).ok_or(Fail::Unknown)?;
            let mut row = Row::clone(table.rows.get(&one).ok_or(Fail::Unknown)?);
            row[place] = value;
            self.cascade_update(&child, one, row, depth)?;
        }
        Ok(())
    }

    /// Processes a row of a statement with IGNORE: a failure has no effect.
    pub(crate) fn ignoring(&mut self, run: impl FnOnce(&mut Self) -> Done) -> Done {
        let before = self.has_foreign.then(|| self.clone());
        match run(self) {
            Err(Fail::Error(_)) => {
                if let Some(before) = before {
                    *self = before;
                }
                Ok(())
            }
            other => other,
        }
    }

    /// The changes as a number that does not depend on the numbers of rows.
    fn digest(&self) -> u128 {
        let mut sum = 0_u128;
        for (name, touched) in &self.touched {
            let before = self.temporary.get(name).or_else(|| self.now.get(name));
            for id in touched {
                let of = |row: Option<&Rc<Row>>| row.map_or(0, |row| hash(&(name, row.as_ref())));
                sum = sum.wrapping_add(of(self
                    .tables
                    .get(name)
                    .and_then(|table| table.rows.get(id))));
                sum = sum.wrapping_sub(of(before.and_then(|table| table.rows.get(id))));
            }
        }
        sum
    }
}

/// Runs a statement's changes in several orders; returns their common result, with its error.
pub(crate) fn settle<'w>(
    temporary: &'w Tables,
    now: &'w Tables,
    next: u64,
    orders: usize,
    body: impl Fn(&mut Change<'w>) -> Done,
) -> Option<(Change<'w>, u16)> {
    let has_foreign = now.values().any(|table| !table.foreign.is_empty());
    let mut first: Option<(Change<'w>, u16, u128)> = None;
    let count = orders.max(if has_foreign { 3 } else { 1 });
    let mut order = 0;
    while order < count {
        let mut change = Change {
            temporary,
            now,
            tables: BTreeMap::new(),
            touched: BTreeMap::new(),
            next,
            order,
            has_foreign,
        };
        let errno = match body(&mut change) {
            Ok(()) => 0,
            Err(Fail::Unknown) => return None,
            Err(Fail::Error(errno)) => {
                // Changes of tables without transactions before the error remain.
                change
                    .tables
                    .retain(|_, table| table.store == Store::Memory);
                let kept = &change.tables;
                change.touched.retain(|name, _| kept.contains_key(name));
                errno
            }
        };
        let digest = change.digest();
        if errno != 0 && orders > 1 {
            // The order decides which row fails first, and with which error.
            return None;
        }
        order += 1;
        match &first {
            None => first = Some((change, errno, digest)),
            Some((_, known, other)) if (errno, digest) != (*known, *other) => return None,
            Some(_) => {}
        }
    }
    first.map(|(change, errno, _)| (change, errno))
}
