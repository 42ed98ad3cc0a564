//! Random steps that fit the current state.

use mayfly_trials::Random;

use crate::model::definitions::{Alteration, is_like, is_possible};
use crate::model::steps::{Action, Fill, Given, Lock, Set, Step, Verb};
use crate::model::table::{
    Column, Condition, Foreign, Func, Generated, Index, Operand, Part, ReferenceOption, Row, Store,
    Table, Test,
};
use crate::model::values::{Family, KINDS, Value};
use crate::model::world::{Expected, Level, SESSIONS, World};

/// Generator of the steps of a seed.
#[derive(Debug, Clone)]
pub(crate) struct Generator {
    pub(crate) random: Random,
    names: usize,
    /// Greatest number of rows of a bulk load.
    largest_load: usize,
}

const SIGNS: &[&str] = &["=", "<", "<=", ">", ">=", "<>", "<=>"];

impl Generator {
    pub(crate) fn new(seed: u64, largest_load: usize) -> Self {
        Self {
            random: Random(seed),
            names: 0,
            largest_load,
        }
    }

    /// The next step that the model can take, and its expected answer.
    pub(crate) fn next(&mut self, world: &mut World) -> (Step, Expected) {
        loop {
            let session = self.below(SESSIONS);
            if let Some(action) = self.action(world, session) {
                let step = Step { session, action };
                if let Some(expected) = world.take(&step) {
                    return (step, expected);
                }
            }
        }
    }

    fn below(&mut self, end: usize) -> usize {
        self.random.below(end)
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("t{}", self.names)
    }

    /// A table that a session knows.
    fn table<'w>(&mut self, world: &'w World, session: usize) -> Option<&'w Table> {
        let temporary = world.sessions[session].temporary.values();
        let all: Vec<_> = temporary.chain(world.now.values()).collect();
        if all.is_empty() {
            None
        } else {
            Some(all[self.below(all.len())])
        }
    }

    fn action(&mut self, world: &World, session: usize) -> Option<Action> {
        let count = world.now.len() + world.sessions[session].temporary.len();
        if world.now.len() < 2 || (count < 6 && self.random.one_in(25)) {
            return Some(self.create());
        }
        match self.below(200) {
            0..=19 => self.transaction(world, session),
            20..=49 => {
                let table = self.table(world, session)?.name.clone();
                let none = Lock::None;
                let locks = [none, none, none, Lock::Share, Lock::Update];
                Some(Action::Look {
                    table,
                    lock: self.random.pick(&locks),
                    seed: self.random.next_number(),
                })
            }
            50..=69 => self.define(world, session),
            70..=77 => self.load(world, session),
            78..=83 => self.two(world, session),
            84..=91 => self.select(world, session),
            92..=93 => Some(Action::Definition(self.table(world, session)?.name.clone())),
            94 if self.random.one_in(4) => Some(Action::Restart),
            95 if self.random.one_in(4) => Some(Action::Backup),
            _ => self.change(world, session),
        }
    }

    fn transaction(&mut self, world: &World, session: usize) -> Option<Action> {
        let Some(transaction) = &world.sessions[session].transaction else {
            let levels = [
                Level::RepeatableRead,
                Level::RepeatableRead,
                Level::RepeatableRead,
                Level::ReadCommitted,
                Level::ReadUncommitted,
                Level::Serializable,
            ];
            let level = self.random.pick(&levels);
            return Some(Action::Begin(level, self.random.one_in(3)));
        };
        let count = transaction.savepoints.len();
        let name = match count {
            0 => String::new(),
            _ => transaction.savepoints[self.below(count)].0.clone(),
        };
        Some(match self.below(8) {
            0 | 1 => Action::Commit,
            2 => Action::Rollback,
            3 | 4 => Action::Savepoint(format!("s{}", self.below(3))),
            5 | 6 => Action::RollbackTo(name),
            _ => Action::Release(name),
        })
    }

    fn column(&mut self, table: &mut Table) -> Column {
        table.named += 1;
        let name = format!("c{}", table.named);
        let given: Vec<&Column> = table.given().collect();
        if self.random.one_in(6) && table.store != Store::Memory {
            let of = given[self.below(given.len())].clone();
            let generated = Generated {
                of: of.name.clone(),
                func: if of.kind.collation().is_some() {
                    Func::Left3
                } else {
                    Func::Mod7
                },
                stored: self.random.one_in(2),
            };
            if generated.func.takes(of.kind)
                && let Some(kind) = generated.kind(of.kind)
            {
                return Column {
                    name,
                    kind,
                    nullable: true,
                    default: Value::Null,
                    generated: Some(generated),
                };
            }
        }
        let kind = loop {
            let kind = &KINDS[self.below(KINDS.len())];
            if table.store != Store::Memory || !kind.is_blob() {
                break kind;
            }
        };
        let nullable = self.random.one_in(2);
        let default = if nullable && self.random.one_in(2) && kind.greatest < 100 {
            kind.value(true, &mut self.random)
        } else {
            Value::Null
        };
        Column {
            name,
            kind,
            nullable,
            default,
            generated: None,
        }
    }

    fn index(&mut self, table: &Table, name: String, unique: bool) -> Option<Index> {
        let mut columns: Vec<&Column> = table
            .columns
            .iter()
            .filter(|column| !unique || column.name != "n")
            .collect();
        let mut parts = Vec::new();
        for _ in 0..1 + self.below(3) {
            if columns.is_empty() {
                break;
            }
            let column = columns.swap_remove(self.below(columns.len()));
            let kind = column.kind;
            let mut part = Part::of(&column.name);
            part.descending = table.store != Store::Memory && self.random.one_in(4);
            let longest = (kind.greatest.max(1) as usize).min(700);
            if name != "PRIMARY" && table.store != Store::Memory && self.random.one_in(6) {
                let funcs = [Func::Mod7, Func::Left3, Func::IsNull];
                part.func = Some(self.random.pick(&funcs));
            } else if kind.is_blob() || (kind.collation().is_some() && self.random.one_in(2)) {
                let lengths = [1, 2, 3, 10, 190, 255, 1 + self.below(longest)];
                part.prefix = Some(self.random.pick(&lengths).min(longest));
                if part.prefix == Some(kind.greatest as usize) {
                    part.prefix = None;
                }
            }
            parts.push(part);
        }
        let mut index = Index {
            name,
            parts,
            unique,
            btree: self.random.one_in(2),
        };
        while !is_possible(table, &index) {
            index.parts.pop();
            if index.parts.is_empty() {
                return None;
            }
        }
        Some(index)
    }

    fn create(&mut self) -> Action {
        let store = match self.below(6) {
            0 | 1 => Store::Temporary,
            2 => Store::Memory,
            _ => Store::Durable,
        };
        let columns = vec![Column::plain("id"), Column::plain("n")];
        let mut table = Table::new(self.name(), store, columns);
        for _ in 0..1 + self.below(4) {
            let column = self.column(&mut table);
            table.columns.push(column);
        }
        if self.below(4) > 0 {
            let key = self.index(&table, "PRIMARY".to_owned(), true);
            let key = key.filter(|_| self.random.one_in(3));
            table.indexes.push(key.unwrap_or_else(Index::primary));
        }
        for number in 0..self.below(4) {
            let unique = self.random.one_in(3);
            table
                .indexes
                .extend(self.index(&table, format!("k{number}"), unique));
        }
        Action::Create(Box::new(table))
    }

    fn define(&mut self, world: &World, session: usize) -> Option<Action> {
        let mut table = self.table(world, session)?.clone();
        let name = table.name.clone();
        Some(match self.below(20) {
            0 if self.random.one_in(4) => Action::Drop(name),
            1 => Action::Rename(name, self.name()),
            2 if self.random.one_in(2) => Action::Truncate(name),
            3 if self.random.one_in(2) => Action::Like {
                name: self.name(),
                of: name,
                temporary: self.random.one_in(2),
            },
            4 => Action::CreateSelect {
                name: self.name(),
                of: name,
                temporary: self.random.one_in(2),
                primary: self.random.one_in(2),
                condition: self.condition(&table),
            },
            _ => {
                let mut changes = Vec::new();
                match self.below(5) {
                    0 if table.foreign.len() < 2 => {
                        changes.extend(self.foreign(world, &mut table).unwrap_or_default());
                    }
                    _ => {
                        for _ in 0..1 + self.below(3) / 2 {
                            changes.extend(self.alteration(&mut table));
                        }
                    }
                }
                (!changes.is_empty()).then_some(Action::Alter {
                    table: name,
                    changes,
                    by_index: self.random.one_in(2),
                })?
            }
        })
    }

    fn alteration(&mut self, table: &mut Table) -> Option<Alteration> {
        let column = table.columns[self.below(table.columns.len())].clone();
        let index = match table.indexes.len() {
            0 => None,
            count => Some(table.indexes[self.below(count)].clone()),
        };
        Some(match self.below(14) {
            0..=3 if table.indexes.len() < 7 => {
                table.named += 1;
                let unique = self.random.one_in(3);
                let is_first = table.index("PRIMARY").is_none() && self.random.one_in(2);
                let name = if is_first {
                    "PRIMARY".to_owned()
                } else {
                    format!("j{}", table.named + self.below(1000) * 100)
                };
                Alteration::AddIndex(self.index(table, name, unique || is_first)?)
            }
            4 | 5 => Alteration::DropIndex(index?.name),
            6 => Alteration::RenameIndex(index?.name, format!("r{}", self.below(100_000))),
            7 if table.columns.len() < 9 => {
                let mut column = self.column(table);
                column.name = format!("d{}", self.below(1_000_000));
                if !column.nullable && column.generated.is_none() {
                    column.nullable = true;
                }
                Alteration::AddColumn(column)
            }
            8 if table.columns.len() > 3 => Alteration::DropColumn(column.name),
            9 | 10 => {
                let kind = loop {
                    let kind = &KINDS[self.below(KINDS.len())];
                    if is_like(kind, column.kind) {
                        break kind;
                    }
                };
                let kind = if self.random.one_in(3) {
                    column.kind
                } else {
                    kind
                };
                Alteration::Modify(column.name, kind, self.random.one_in(2))
            }
            11 => Alteration::RenameColumn(column.name, format!("e{}", self.below(1_000_000))),
            12 => {
                let behind = table.columns[self.below(table.columns.len())].name.clone();
                (behind != column.name).then_some(Alteration::Move(column.name, behind))?
            }
            _ => match self.below(4) {
                0 => Alteration::Force,
                1 if !table.foreign.is_empty() => {
                    Alteration::DropForeign(table.foreign[0].name.clone())
                }
                2 => Alteration::Engine(Store::Memory),
                _ => Alteration::Engine(Store::Durable),
            },
        })
    }

    /// A new column that names rows of a parent by one of its unique keys.
    fn foreign(&mut self, world: &World, table: &mut Table) -> Option<Vec<Alteration>> {
        (table.store == Store::Durable && table.rows.len() < 400).then_some(())?;
        let parents: Vec<(&Table, &Column)> = world
            .now
            .values()
            .filter(|parent| parent.store == Store::Durable && parent.rows.len() < 400)
            .flat_map(|parent| {
                let columns = parent.given().filter(move |column| {
                    let mut indexes = parent.indexes.iter();
                    indexes.any(|index| index.identifies(&column.name))
                });
                columns.map(move |column| (parent.as_ref(), column))
            })
            .collect();
        if parents.is_empty() {
            return None;
        }
        let (parent, column) = parents[self.below(parents.len())];
        let number = self.below(1_000_000);
        let name = format!("f{number}");
        let actions = [
            ReferenceOption::Cascade,
            ReferenceOption::Cascade,
            ReferenceOption::SetNull,
            ReferenceOption::Restrict,
            ReferenceOption::NoAction,
        ];
        let key = Foreign {
            name: format!("fk{number}"),
            column: name.clone(),
            parent: parent.name.clone(),
            parent_column: column.name.clone(),
            on_delete: self.random.pick(&actions),
            on_update: self.random.pick(&actions),
        };
        let index = Index {
            name: format!("fi{number}"),
            parts: vec![Part::of(&name)],
            unique: false,
            btree: false,
        };
        let column = Column {
            name,
            kind: column.kind,
            nullable: true,
            default: Value::Null,
            generated: None,
        };
        Some(vec![
            Alteration::AddColumn(column),
            Alteration::AddIndex(index),
            Alteration::AddForeign(key),
        ])
    }

    pub(crate) fn condition(&mut self, table: &Table) -> Condition {
        let mut tests = Vec::new();
        for _ in 0..1 + self.below(2) {
            let place = self.below(table.columns.len());
            let column = &table.columns[place];
            let kind = column.kind;
            let mut func = None;
            if self.random.one_in(6) {
                let funcs = [Func::Mod7, Func::Left3, Func::IsNull];
                func = Some(self.random.pick(&funcs)).filter(|func| func.takes(kind));
            }
            let mut value = || {
                let known = if table.rows.is_empty() || self.random.one_in(4) {
                    Value::Null
                } else {
                    let place_of = self.random.below(table.rows.len().min(200));
                    let row = table.rows.values().nth(place_of);
                    row.map_or(Value::Null, |row| row[place].clone())
                };
                let known = match known {
                    Value::Null => kind.value(false, &mut self.random),
                    known => known,
                };
                func.map_or(known.clone(), |func| func.apply(&known))
            };
            let values = [value(), value(), value()];
            let [a, b, c] = values;
            tests.push((
                Operand {
                    column: column.name.clone(),
                    func,
                },
                match self.below(8) {
                    // A zero date in a NOT NULL column matches IS NULL.
                    0 if !kind.sql.starts_with("DATE") => Test::Null(self.random.one_in(2)),
                    1 => Test::In(vec![a, b, c]),
                    2 => Test::Between(a, b),
                    _ => Test::Compare(self.random.pick(SIGNS), a),
                },
            ));
        }
        Condition {
            tests,
            all: self.below(3) > 0,
        }
    }

    /// A value for a column; for a foreign key, mostly one that a parent has.
    fn value(&mut self, world: &World, table: &Table, column: &Column) -> Value {
        let foreign = table.foreign.iter().find(|key| key.column == column.name);
        if let Some(key) = foreign
            && self.below(8) > 0
            && let Some(parent) = world.now.get(&key.parent)
            && let Some(place) = parent.place(&key.parent_column)
            && !parent.rows.is_empty()
        {
            let number = self.below(parent.rows.len());
            let row = parent.rows.values().nth(number);
            return row.map_or(Value::Null, |row| row[place].clone());
        }
        column.kind.value(column.nullable, &mut self.random)
    }

    fn rows(&mut self, world: &World, table: &Table, columns: &[&Column]) -> Vec<Row> {
        let first = table.new_id();
        let count = if self.random.one_in(10) {
            1 + self.below(40)
        } else {
            1 + self.below(4)
        };
        let mut rows = Vec::new();
        for number in 0..count as i128 {
            let known = !table.rows.is_empty() && self.random.one_in(8);
            let id = if known {
                let place = self.below(table.rows.len());
                let row = table.rows.values().nth(place);
                row.map_or(first, |row| Table::id_of(row))
            } else {
                first + number
            };
            let row = columns.iter().map(|column| match column.name.as_str() {
                "id" => Value::Number(id),
                "n" => Value::Number(self.below(5) as i128),
                _ => self.value(world, table, column),
            });
            rows.push(row.collect());
        }
        rows
    }

    /// One statement that changes rows of one table.
    fn change(&mut self, world: &World, session: usize) -> Option<Action> {
        let table = self.table(world, session)?.clone();
        let name = table.name.clone();
        match self.below(10) {
            0..=5 => {
                let is_short = self.random.one_in(5);
                let columns: Vec<&Column> = table
                    .given()
                    .filter(|column| {
                        let plain = ["id", "n"].contains(&column.name.as_str());
                        plain || !is_short || !column.nullable || self.random.one_in(2)
                    })
                    .collect();
                let rows = self.rows(world, &table, &columns);
                let verbs = [
                    Verb::Insert,
                    Verb::Insert,
                    Verb::Ignore,
                    Verb::Replace,
                    Verb::Add,
                    Verb::Copy,
                ];
                let verb = self.random.pick(&verbs);
                let is_bit = columns
                    .iter()
                    .any(|column| column.kind.sql.starts_with("BIT"));
                Some(Action::Insert {
                    verb,
                    columns: columns.iter().map(|column| column.name.clone()).collect(),
                    table: name,
                    rows,
                    file: self.random.one_in(8)
                        && !is_bit
                        && matches!(verb, Verb::Insert | Verb::Ignore | Verb::Replace),
                })
            }
            6..=8 => {
                let columns: Vec<Column> = table.given().cloned().collect();
                let mut set = Vec::new();
                for _ in 0..1 + self.below(3) / 2 {
                    let column = &columns[self.below(columns.len())];
                    let is_plain = ["id", "n"].contains(&column.name.as_str());
                    let to = match (is_plain, self.random.one_in(2)) {
                        (true, true) => Set::More(1 + self.below(3) as i128),
                        (true, false) => Set::To(Value::Number(self.below(300) as i128)),
                        _ => Set::To(self.value(world, &table, column)),
                    };
                    if set.iter().all(|(other, _)| *other != column.name) {
                        set.push((column.name.clone(), to));
                    }
                }
                let forced = match table.indexes.len() {
                    count if count > 0 && self.random.one_in(2) => {
                        Some(table.indexes[self.below(count)].name.clone())
                    }
                    _ => None,
                };
                Some(Action::Update {
                    table: name,
                    ignore: self.random.one_in(6),
                    forced,
                    set,
                    condition: self.condition(&table),
                    limit: self.random.one_in(8).then(|| self.random.below(4)),
                })
            }
            _ => Some(Action::Delete {
                table: name,
                ignore: self.random.one_in(6),
                condition: self.condition(&table),
                limit: self.random.one_in(3).then(|| self.random.below(4)),
            }),
        }
    }

    /// A statement that changes rows of two tables joined by id.
    fn two(&mut self, world: &World, session: usize) -> Option<Action> {
        let first = self.table(world, session)?;
        let second = self.table(world, session)?;
        let tables = [first.name.clone(), second.name.clone()];
        let condition = self.condition(first);
        Some(match self.below(3) {
            0 => Action::UpdateTwo { tables, condition },
            kind => Action::DeleteTwo {
                tables,
                condition,
                both: kind == 1,
            },
        })
    }

    /// INSERT … SELECT from another table, or from the target.
    fn select(&mut self, world: &World, session: usize) -> Option<Action> {
        let table = self.table(world, session)?.clone();
        let of = self.table(world, session)?.clone();
        if of.rows.len() > self.largest_load || table.rows.len() > self.largest_load {
            return None;
        }
        let more = self.random.pick(&[0, table.new_id()]);
        let mut columns = vec![
            ("id".to_owned(), Given::Id(more)),
            ("n".to_owned(), Given::Column("n".to_owned())),
        ];
        let given: Vec<Column> = table.given().skip(2).cloned().collect();
        for column in given {
            let alike: Vec<&Column> = of
                .columns
                .iter()
                .filter(|other| {
                    other.kind.sql == column.kind.sql && (column.nullable || !other.nullable)
                })
                .collect();
            let from = if alike.is_empty() {
                Given::Value(self.value(world, &table, &column))
            } else {
                Given::Column(alike[self.below(alike.len())].name.clone())
            };
            columns.push((column.name.clone(), from));
        }
        let verbs = [Verb::Insert, Verb::Ignore, Verb::Replace, Verb::Add];
        Some(Action::Select {
            table: table.name.clone(),
            verb: self.random.pick(&verbs),
            condition: self.condition(&of),
            of: of.name.clone(),
            columns,
        })
    }

    /// Many rows by one statement, in order of the ids or not.
    fn load(&mut self, world: &World, session: usize) -> Option<Action> {
        let table = self.table(world, session)?.clone();
        let largest = match table.store {
            // MEMORY tables are small.
            Store::Memory => 500.min(self.largest_load),
            _ if world.family(&table.name).len() > 1 || !table.foreign.is_empty() => 40,
            _ => self.largest_load,
        };
        if table.rows.len() > largest {
            return None;
        }
        let exponents = largest.ilog2() as usize + 1;
        let exponent = self.below(exponents);
        let count = (1 + self.below(2 << exponent)).min(largest);
        let stride = self.random.pick(&[1, 200_002, 7_919]);
        let mut columns = Vec::new();
        for column in table
            .given()
            .filter(|column| !["id", "n"].contains(&column.name.as_str()))
        {
            let kind = column.kind;
            let is_foreign = table.foreign.iter().any(|key| key.column == column.name);
            let fill = match kind.family {
                _ if is_foreign => Fill::Value(Value::Null),
                Family::Number(0) if kind.greatest >= i128::from(i32::MAX) => Fill::Number,
                Family::Text(_) if kind.greatest > 300 => {
                    Fill::Run(self.random.pick(&[1, 100, 260, 500, 690]))
                }
                Family::Text(_) if kind.greatest == 40 => Fill::Run(self.below(30)),
                _ => Fill::Value(kind.value(column.nullable, &mut self.random)),
            };
            columns.push((column.name.clone(), fill));
        }
        let verbs = [Verb::Insert, Verb::Insert, Verb::Ignore, Verb::Replace];
        Some(Action::Load {
            table: table.name.clone(),
            verb: self.random.pick(&verbs),
            columns,
            first: table.new_id(),
            count,
            stride,
        })
    }
}
