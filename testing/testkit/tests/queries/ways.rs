//! The ways in which a query is run in this process, all of which give the same.

use mayfly_engine::{HashMode, Session};
use mayfly_testkit::fixture::{DataDirectory, Fixture, must, rows};
use mayfly_testkit::random::Random;

use crate::answers::Answer;
use crate::case::Case;
use crate::schema::{Schema, Tables, VIEW};

/// Switches that are turned in one of the ways.
const SWITCHES: [&str; 10] = [
    "derived_merge=off",
    "derived_condition_pushdown=off",
    "semijoin=off",
    "index_merge=off",
    "index_merge_union=off,index_merge_sort_union=off",
    "index_merge_intersection=off",
    "use_invisible_indexes=on",
    "prefer_ordering_index=off",
    "group_by_limit_pushdown=off",
    "semijoin=off,derived_merge=off,materialization=off",
];

/// How a query is given to a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Text,
    /// Prepared, with its constants as parameters, and run twice.
    Prepared,
    /// The third time, by what was kept of it.
    Repeated,
}

/// A way to run queries in this process.
pub(crate) struct Way {
    pub(crate) name: &'static str,
    session: Session,
    keys: bool,
    tables: Tables,
    form: Form,
    turns: bool,
    /// Whether constants are parameters: beside a date those are taken for dates, as by MySQL.
    parameters: bool,
}

impl Way {
    fn new(name: &'static str, fixture: &Fixture, keys: bool, tables: Tables, form: Form) -> Self {
        let mut session = fixture.database.session();
        must(&mut session, "SET sql_mode = 'STRICT_TRANS_TABLES'");
        must(&mut session, "SET max_execution_time = 3000");
        Self {
            name,
            session,
            keys,
            tables,
            form,
            turns: false,
            parameters: false,
        }
    }

    /// Makes the tables; says which switch is turned.
    pub(crate) fn begin(&mut self, schema: &Schema, number: u64) -> &'static str {
        self.parameters = schema.portable;
        let database = format!("queries_{number}");
        must(&mut self.session, &format!("CREATE DATABASE {database}"));
        must(&mut self.session, &format!("USE {database}"));
        for statement in schema.settings() {
            must(&mut self.session, &statement);
        }
        for statement in schema.statements(self.keys, self.tables) {
            let _ = rows(&mut self.session, &statement);
        }
        if !self.turns {
            return "";
        }
        let switch = Random(number).pick(&SWITCHES);
        must(&mut self.session, "SET optimizer_switch = DEFAULT");
        must(
            &mut self.session,
            &format!("SET optimizer_switch = '{switch}'"),
        );
        switch
    }

    pub(crate) fn end(&mut self, schema: &Schema, number: u64) {
        if self.tables == Tables::Temporary {
            for table in &schema.tables {
                let drop = format!("DROP TEMPORARY TABLE IF EXISTS {}", table.name);
                must(&mut self.session, &drop);
            }
        }
        must(
            &mut self.session,
            &format!("DROP DATABASE queries_{number}"),
        );
    }

    /// A statement that changes rows.
    pub(crate) fn change(&mut self, statement: &str) {
        let _ = rows(&mut self.session, statement);
    }

    /// What a query gives; `None` if it cannot be asked so.
    pub(crate) fn answer(&mut self, case: &Case) -> Option<Answer> {
        let text = case.text();
        if self.lacks(&text) {
            return None;
        }
        let found = match self.form {
            Form::Text => rows(&mut self.session, &text),
            Form::Repeated => rows(&mut self.session, &text)
                .and_then(|_| rows(&mut self.session, &text))
                .and_then(|_| rows(&mut self.session, &text)),
            Form::Prepared => self.prepared(case),
        };
        Some(case.in_order(Answer::of_mayfly(found)))
    }

    /// Whether a text reads what is not there: there are no views over temporary tables.
    pub(crate) fn lacks(&self, text: &str) -> bool {
        self.tables == Tables::Temporary && text.contains(VIEW)
    }

    /// What a text gives.
    pub(crate) fn text(&mut self, query: &str) -> Answer {
        Answer::of_mayfly(rows(&mut self.session, query)).sorted()
    }

    fn prepared(&mut self, case: &Case) -> Result<Vec<String>, mayfly_engine::Error> {
        let (text, values) = match self.parameters {
            true => case.parameterized(),
            false => (case.text(), Vec::new()),
        };
        let text = text.replace('\\', "\\\\").replace('\'', "''");
        rows(&mut self.session, &format!("PREPARE q FROM '{text}'"))?;
        let mut names = Vec::new();
        for (at, value) in values.iter().enumerate() {
            rows(&mut self.session, &format!("SET @p{at} = {value}"))?;
            names.push(format!("@p{at}"));
        }
        let execute = match names.as_slice() {
            [] => "EXECUTE q".to_owned(),
            names => format!("EXECUTE q USING {}", names.join(", ")),
        };
        let found = rows(&mut self.session, &execute);
        let found = found.and_then(|_| rows(&mut self.session, &execute));
        let _ = rows(&mut self.session, "DEALLOCATE PREPARE q");
        found
    }
}

/// The databases of the ways.
pub(crate) struct Databases {
    fixtures: Vec<Fixture>,
    directory: DataDirectory,
}

impl Databases {
    pub(crate) fn open() -> (Self, Vec<Way>) {
        let directory = DataDirectory::new("queries");
        let plain = Fixture::open(|_| {});
        let tiny = Fixture::open(|options| {
            options.memory_limit = Some(16 << 20);
            options.batch_size = 1;
            options.force_overflow = true;
        });
        let simple = Fixture::open(|options| options.optimizer = false);
        let collides = Fixture::open(|options| {
            options.hash_mode = HashMode::Collide;
            options.threads = 1;
        });
        let durable = Fixture::open(|options| {
            options.datadir = Some(directory.path().to_owned());
            options.keep_all_plans = true;
            let synced = ("innodb_flush_log_at_trx_commit".to_owned(), "0".to_owned());
            options.variables.push(synced);
        });
        let (base, text) = (Tables::Base, Form::Text);
        let mut ways = vec![
            Way::new("as it is", &plain, true, base, text),
            Way::new("prepared", &plain, true, base, Form::Prepared),
            Way::new("without indexes", &plain, false, base, text),
            Way::new("temporary tables", &plain, true, Tables::Temporary, text),
            Way::new(
                "MEMORY tables, equal hashes",
                &collides,
                true,
                Tables::Memory,
                text,
            ),
            Way::new("a switch turned", &plain, true, base, text),
            Way::new("tiny limits", &tiny, true, base, text),
            Way::new("without optional rules", &simple, true, base, text),
            Way::new(
                "durable, the third time",
                &durable,
                true,
                base,
                Form::Repeated,
            ),
        ];
        ways[5].turns = true;
        let fixtures = vec![plain, tiny, simple, collides, durable];
        let databases = Self {
            fixtures,
            directory,
        };
        (databases, ways)
    }

    /// Closes them, when the ways are gone: nothing is left.
    pub(crate) fn finish(self) {
        for fixture in self.fixtures {
            fixture.finish();
        }
        drop(self.directory);
    }
}
