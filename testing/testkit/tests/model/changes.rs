//! Steps that change rows.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::table::{Condition, Row, Store, Table};
use crate::values::{Family, Key, Value};
use crate::world::{Act, Step, World};

const ER_DUP_ENTRY: u16 = 1062;

fn step(sql: String, errno: u16, table: &Table) -> Option<Step> {
    Some(Step {
        act: Act::Write,
        sql,
        errno,
        table: Some(table.name.clone()),
    })
}

impl World {
    /// One statement that changes rows of one table.
    pub(crate) fn change(&mut self) -> Option<Step> {
        let name = self.any_table();
        let table = Table::clone(&self.tables[&name]);
        match self.random().below(10) {
            0..=3 => self.insert(table),
            4 => self.replace(table),
            5 => self.upsert(table),
            6 | 7 => self.update(table),
            8 => self.delete(table),
            _ => {
                let empty = Table {
                    rows: Vec::new(),
                    ..table
                };
                match self.random().one_in(12) && self.is_quiet() {
                    true => {
                        let found = step(format!("TRUNCATE TABLE {}", empty.name), 0, &empty);
                        self.set(empty);
                        found
                    }
                    false => None,
                }
            }
        }
    }

    fn new_rows(&mut self, table: &Table) -> Vec<Row> {
        let first = table.new_id();
        let count = 1 + self.random().below(4);
        let random = self.random();
        (0..count as i128)
            .map(|number| {
                let known = !table.rows.is_empty() && random.one_in(8);
                let id = match known {
                    true => match &table.rows[random.below(table.rows.len())][0] {
                        Value::Number(id) => *id,
                        _ => first,
                    },
                    false => first + number,
                };
                table.row(id, random)
            })
            .collect()
    }

    fn insert(&mut self, mut table: Table) -> Option<Step> {
        let rows = self.new_rows(&table);
        let ignores = self.random().one_in(3);
        let literals: Vec<String> = rows.iter().map(|row| table.literals(row)).collect();
        let ignore = if ignores { "IGNORE " } else { "" };
        let sql = format!(
            "INSERT {ignore}INTO {} VALUES {}",
            table.name,
            literals.join(", ")
        );
        let before = table.rows.len();
        let mut errno = 0;
        for row in rows {
            match table.conflicts(&row).is_empty() {
                true => table.rows.push(row),
                false if ignores => {}
                false => {
                    errno = ER_DUP_ENTRY;
                    break;
                }
            }
        }
        // What is not transactional keeps what was written before the error.
        if errno != 0 && table.store != Store::Memory {
            table.rows.truncate(before);
        }
        let found = step(sql, errno, &table);
        self.set(table);
        found
    }

    fn replace(&mut self, mut table: Table) -> Option<Step> {
        let rows = self.new_rows(&table);
        let literals: Vec<String> = rows.iter().map(|row| table.literals(row)).collect();
        let sql = format!("REPLACE INTO {} VALUES {}", table.name, literals.join(", "));
        for row in rows {
            let conflicts = table.conflicts(&row);
            remove(&mut table, &conflicts);
            table.rows.push(row);
        }
        let found = step(sql, 0, &table);
        self.set(table);
        found
    }

    fn upsert(&mut self, mut table: Table) -> Option<Step> {
        let rows = self.new_rows(&table);
        let literals: Vec<String> = rows.iter().map(|row| table.literals(row)).collect();
        let sql = format!(
            "INSERT INTO {} VALUES {} ON DUPLICATE KEY UPDATE n = n + 10",
            table.name,
            literals.join(", ")
        );
        for row in rows {
            let conflicts: Vec<usize> = table.conflicts(&row).into_iter().collect();
            match conflicts.as_slice() {
                [] => table.rows.push(row),
                [place] => add(&mut table.rows[*place][1], 10),
                // Which of them is changed is a matter of the order of the indexes.
                _ => return None,
            }
        }
        let found = step(sql, 0, &table);
        self.set(table);
        found
    }

    fn update(&mut self, mut table: Table) -> Option<Step> {
        let random = self.random();
        let condition = table.condition(random);
        let column = random.below(table.columns.len());
        let of = &table.columns[column];
        let (assignment, value) = match (column, random.one_in(2)) {
            (0 | 1, true) => {
                let more = random.below(3) as i128 + 1;
                (format!("{0} = {0} + {more}", of.name), Err(more))
            }
            (0 | 1, false) => {
                let value = Value::Number(random.below(300) as i128);
                (
                    format!("{} = {}", of.name, of.kind.literal(&value)),
                    Ok(value),
                )
            }
            _ => {
                let value = of.kind.value(of.nullable, random);
                (
                    format!("{} = {}", of.name, of.kind.literal(&value)),
                    Ok(value),
                )
            }
        };
        let forced = match table.indexes.as_slice() {
            [] => String::new(),
            indexes if random.one_in(2) => {
                format!(
                    " FORCE INDEX ({})",
                    indexes[random.below(indexes.len())].name
                )
            }
            _ => String::new(),
        };
        let mut changed = HashMap::new();
        for place in table.found(&condition) {
            let mut row = table.rows[place].clone();
            match &value {
                Ok(value) => row[column] = value.clone(),
                Err(more) => add(&mut row[column], *more),
            }
            changed.insert(place, row);
        }
        let possible = table.may_change(&changed)?;
        if !possible && table.store == Store::Memory {
            return None;
        }
        let sql = format!(
            "UPDATE {}{forced} SET {assignment} WHERE {}",
            table.name,
            table.condition_sql(&condition, "")
        );
        if possible {
            changed
                .into_iter()
                .for_each(|(place, row)| table.rows[place] = row);
        }
        let found = step(sql, if possible { 0 } else { ER_DUP_ENTRY }, &table);
        self.set(table);
        found
    }

    fn delete(&mut self, mut table: Table) -> Option<Step> {
        let random = self.random();
        let condition = table.condition(random);
        let limit = random.one_in(3).then(|| random.below(4));
        let mut places = table.found(&condition);
        let mut rest = String::new();
        if let Some(limit) = limit {
            // Ids need not be different: what is behind the limit must not be as good.
            places.sort_by(|a, b| table.rows[*a][0].cmp(&table.rows[*b][0]));
            let id = |place: Option<&usize>| place.map(|place| table.rows[*place][0].clone());
            if limit > 0
                && limit < places.len()
                && id(places.get(limit - 1)) == id(places.get(limit))
            {
                return None;
            }
            places.truncate(limit);
            rest = format!(" ORDER BY id LIMIT {limit}");
        }
        let sql = format!(
            "DELETE FROM {} WHERE {}{rest}",
            table.name,
            table.condition_sql(&condition, "")
        );
        remove(&mut table, &places.into_iter().collect());
        let found = step(sql, 0, &table);
        self.set(table);
        found
    }

    /// A statement that changes the rows of two tables which have the same id.
    pub(crate) fn change_two(&mut self) -> Option<Step> {
        let (a, b) = (self.any_table(), self.any_table());
        if a == b {
            return None;
        }
        let mut left = Table::clone(&self.tables[&a]);
        let mut right = Table::clone(&self.tables[&b]);
        let condition: Condition = left.condition(self.random());
        let met: Vec<usize> = left.found(&condition);
        let ids: HashSet<Value> = met
            .iter()
            .map(|place| left.rows[*place][0].clone())
            .collect();
        let rows = right.rows.iter().enumerate();
        let partners: HashSet<usize> = rows
            .filter(|(_, row)| ids.contains(&row[0]))
            .map(|(place, _)| place)
            .collect();
        let found: HashSet<Value> = partners
            .iter()
            .map(|place| right.rows[*place][0].clone())
            .collect();
        let met: HashSet<usize> = met
            .into_iter()
            .filter(|place| found.contains(&left.rows[*place][0]))
            .collect();
        let wanted = left.condition_sql(&condition, "x.");
        let sql = match self.random().below(3) {
            0 => {
                remove(&mut left, &met);
                remove(&mut right, &partners);
                format!("DELETE x, y FROM {a} AS x JOIN {b} AS y ON x.id = y.id WHERE {wanted}")
            }
            1 => {
                remove(&mut right, &partners);
                format!("DELETE y FROM {a} AS x JOIN {b} AS y ON x.id = y.id WHERE {wanted}")
            }
            _ => {
                met.iter()
                    .for_each(|place| add(&mut left.rows[*place][1], 100));
                partners
                    .iter()
                    .for_each(|place| add(&mut right.rows[*place][1], 1000));
                format!(
                    "UPDATE {a} AS x JOIN {b} AS y ON x.id = y.id SET x.n = x.n + 100, y.n = y.n + 1000 WHERE {wanted}"
                )
            }
        };
        let found = step(sql, 0, &left);
        self.set(left);
        self.set(right);
        found
    }

    /// Many rows by one statement, in order of the ids or not.
    pub(crate) fn load(&mut self) -> Option<Step> {
        const PRIME: i128 = 200_003;
        let name = self.any_table();
        let mut table = Table::clone(&self.tables[&name]);
        let largest = match table.store {
            // It is full soon.
            Store::Memory => 1000.min(self.largest_load()),
            _ => self.largest_load(),
        };
        if table.rows.len() > largest {
            return None;
        }
        let exponents = largest.ilog2() as usize + 1;
        let exponent = self.random().below(exponents);
        let count = (1 + self.random().below(2 << exponent)).min(largest);
        let step_of = match self.random().below(3) {
            0 => 1,
            1 => PRIME - 1,
            _ => 7_919,
        };
        let first = table.new_id();
        let mut sql = vec![format!("{first} + p"), "p % 5".to_owned()];
        let mut makers: Vec<Box<dyn Fn(i128) -> Value>> = Vec::new();
        for column in &table.columns[2..] {
            let random = self.random();
            match column.kind.family {
                Family::Number(0) if column.kind.greatest >= i128::from(i32::MAX) => {
                    sql.push("p".to_owned());
                    makers.push(Box::new(Value::Number));
                }
                Family::Text(_) if column.kind.greatest > 300 => {
                    let lengths = [1, 100, 260, 500];
                    let run = lengths[random.below(lengths.len())];
                    sql.push(format!("CONCAT(REPEAT('a', {run}), p)"));
                    let run = "a".repeat(run);
                    makers.push(Box::new(move |p| Value::Text(format!("{run}{p}"))));
                }
                _ => {
                    let value = column.kind.value(column.nullable, random);
                    sql.push(column.kind.literal(&value));
                    makers.push(Box::new(move |_| value.clone()));
                }
            }
        }
        let ignores = self.random().one_in(4);
        let before = table.rows.len();
        for number in 0..count as i128 {
            let p = number * step_of % PRIME;
            let mut row = vec![Value::Number(first + p), Value::Number(p % 5)];
            row.extend(makers.iter().map(|maker| maker(p)));
            table.rows.push(row);
        }
        let mut errno = 0;
        let indexes: Vec<_> = table
            .indexes
            .iter()
            .filter(|index| index.unique)
            .cloned()
            .collect();
        if ignores {
            let loaded = table.rows.split_off(before);
            for index in &indexes {
                // Which of two new rows comes first is not known.
                if table.has_duplicates(index, loaded.iter()) {
                    return None;
                }
            }
            let known: Vec<HashSet<Vec<Key>>> = indexes
                .iter()
                .map(|index| {
                    let rows = table.rows.iter();
                    rows.filter_map(|row| table.unique_key(index, row))
                        .collect()
                })
                .collect();
            for row in loaded {
                let is_known = indexes.iter().zip(&known).any(|(index, known)| {
                    let key = table.unique_key(index, &row);
                    key.is_some_and(|key| known.contains(&key))
                });
                if !is_known {
                    table.rows.push(row);
                }
            }
        } else if indexes
            .iter()
            .any(|index| table.has_duplicates(index, table.rows.iter()))
        {
            if table.store == Store::Memory {
                return None;
            }
            errno = ER_DUP_ENTRY;
            table.rows.truncate(before);
        }
        let ignore = if ignores { "IGNORE " } else { "" };
        let sql = format!(
            "INSERT {ignore}INTO {name} WITH RECURSIVE r (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM r \
             WHERE i < {}) SELECT {} FROM (SELECT i * {step_of} % {PRIME} AS p FROM r) AS q",
            count - 1,
            sql.join(", ")
        );
        let found = step(sql, errno, &table);
        self.tables.insert(name, Rc::new(table));
        found
    }
}

fn add(value: &mut Value, more: i128) {
    if let Value::Number(number) = value {
        *number += more;
    }
}

fn remove(table: &mut Table, places: &HashSet<usize>) {
    let mut place = 0;
    table.rows.retain(|_| {
        place += 1;
        !places.contains(&(place - 1))
    });
}
