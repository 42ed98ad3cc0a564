//! The ways in which a query runs in this process, all of which must give the same rows.

use mayfly_engine::{HashMode, Session, TypeKind};
use mayfly_testkit::cell;
use mayfly_testkit::fixture::{DataDirectory, Fixture, SessionExt};
use mayfly_testkit::prepared::literal;
use mayfly_testkit::secondary::MemoryEngine;
use mayfly_trials::Random;

use crate::queries::answers::Answer;
use crate::queries::case::Case;
use crate::queries::schema::{Schema, Tables, VIEW};

/// Switches that one of the ways changes.
const SWITCHES: [&str; 23] = [
    "derived_merge=off",
    "derived_condition_pushdown=off",
    "semijoin=off",
    "index_merge=off",
    "index_merge_union=off,index_merge_sort_union=off",
    "index_merge_intersection=off",
    "use_invisible_indexes=on",
    "prefer_ordering_index=off",
    "group_by_limit_pushdown=off",
    "or_factoring=off",
    "equality_propagation=off",
    "subquery_unnesting=off",
    "subquery_to_derived=on",
    "subquery_to_derived=on,semijoin=off",
    "outer_join_simplification=off",
    "group_key_reduction=off",
    "window_limit_pushdown=off",
    "group_elimination=off",
    "sum_reduction=off",
    "join_elimination=off",
    "outer_join_to_antijoin=off",
    "eager_aggregation=off",
    "semijoin=off,derived_merge=off,materialization=off",
];

/// Form in which a session gets a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Text,
    /// Prepared, with its constants as parameters, and run twice.
    Prepared,
    /// Prepared through the library, with typed values, as in the binary protocol.
    Values,
    /// The third time, with the cached plan.
    Repeated,
    /// As a derived table, a common table expression, or a view, alternating.
    Within,
}

/// A way to run queries in this process.
pub(crate) struct Way {
    pub(crate) name: &'static str,
    session: Session,
    keys: bool,
    tables: Tables,
    form: Form,
    turns: bool,
    /// Number of queries so far.
    asked: usize,
    /// Whether constants are parameters: compared with a date those are taken for dates, as in MySQL.
    parameters: bool,
}

impl Way {
    fn new(name: &'static str, fixture: &Fixture, keys: bool, tables: Tables, form: Form) -> Self {
        let mut session = fixture.session();
        session.must("SET sql_mode = 'STRICT_TRANS_TABLES'");
        session.must("SET max_execution_time = 3000");
        Self {
            name,
            session,
            keys,
            tables,
            form,
            turns: false,
            asked: 0,
            parameters: false,
        }
    }

    /// Creates the tables; returns the changed switch.
    pub(crate) fn begin(&mut self, schema: &Schema, number: u64) -> &'static str {
        self.parameters = schema.portable;
        let database = format!("queries_{number}");
        self.session.must(&format!("CREATE DATABASE {database}"));
        self.session.must(&format!("USE {database}"));
        self.session.must_all(schema.settings());
        for statement in schema.statements(self.keys, self.tables) {
            let _ = self.session.rows(&statement);
        }
        if !self.turns {
            return "";
        }
        let switch = Random(number).pick(&SWITCHES);
        self.session.must("SET optimizer_switch = DEFAULT");
        self.session
            .must(&format!("SET optimizer_switch = '{switch}'"));
        switch
    }

    pub(crate) fn end(&mut self, schema: &Schema, number: u64) {
        if self.tables == Tables::Temporary {
            for table in &schema.tables {
                let drop = format!("DROP TEMPORARY TABLE IF EXISTS {}", table.name);
                self.session.must(&drop);
            }
        }
        self.session
            .must(&format!("DROP DATABASE queries_{number}"));
    }

    /// The rows of the tables added to two copies, by VALUES and by SELECT, in strict mode and without; returns the
    /// differences.
    pub(crate) fn copies(&mut self, schema: &Schema) -> Option<String> {
        for table in &schema.tables {
            for (number, values) in &table.rows {
                let values = format!("{number}, {}", values.join(", "));
                let values = values.trim_end_matches(", ");
                for mode in ["STRICT_TRANS_TABLES", ""] {
                    let ways = [
                        format!("INSERT INTO copied VALUES ({values})"),
                        format!("INSERT INTO copied SELECT {values}"),
                    ];
                    let [one, other] = ways.each_ref().map(|insert| {
                        let name = &table.name;
                        let (set, make) = (
                            format!("SET sql_mode = '{mode}'"),
                            format!("CREATE TEMPORARY TABLE copied LIKE {name}"),
                        );
                        self.session.must_all([set, make]);
                        let found = self.session.rows(insert).map_err(|error| error.errno());
                        let rows = self.session.must("SELECT * FROM copied");
                        self.session.must("DROP TEMPORARY TABLE copied");
                        (found, rows)
                    });
                    self.session.must("SET sql_mode = 'STRICT_TRANS_TABLES'");
                    if one != other {
                        let tables = schema.statements(true, Tables::Base).join(";\n");
                        let [first, second] = ways;
                        return Some(format!(
                            "{tables};\n'{mode}': {first} gives {one:?}\n{second} gives {other:?}"
                        ));
                    }
                }
            }
        }
        None
    }

    /// A statement that changes rows.
    pub(crate) fn change(&mut self, statement: &str) {
        let _ = self.session.rows(statement);
    }

    /// The answer to a query; `None` if it cannot be run in this way.
    pub(crate) fn answer(&mut self, case: &Case) -> Option<Answer> {
        let text = case.text();
        if self.lacks(&text) {
            return None;
        }
        let found = match self.form {
            Form::Text => self.session.rows(&text),
            Form::Repeated => self
                .session
                .rows(&text)
                .and_then(|_| self.session.rows(&text))
                .and_then(|_| self.session.rows(&text)),
            Form::Prepared => self.prepared(case),
            Form::Values => self.with_values(case),
            Form::Within => self.within(case),
        };
        // A derived table cannot have duplicate column names.
        if found.as_ref().is_err_and(|error| error.errno() == 1060) {
            return None;
        }
        Some(case.in_order(Answer::of_mayfly(found)))
    }

    /// Whether a text names a missing view: there are no views over temporary tables.
    pub(crate) fn lacks(&self, text: &str) -> bool {
        self.tables == Tables::Temporary && text.contains(VIEW)
    }

    /// The answer to a text.
    pub(crate) fn text(&mut self, query: &str) -> Answer {
        Answer::of_mayfly(self.session.rows(query)).sorted()
    }

    /// Whether a query sends a choice of BITs: its bytes, while its text in an expression is its digits.
    pub(crate) fn sends_chosen_bits(&mut self, query: &str) -> bool {
        let results = self.session.execute(query).unwrap_or_default();
        let mut columns = results.iter().flat_map(|result| result.columns.iter());
        columns.any(|column| column.ty.kind == TypeKind::Bit && column.origin.is_none())
    }

    fn within(&mut self, case: &Case) -> Result<Vec<String>, mayfly_engine::Error> {
        self.asked += 1;
        let (query, order) = case.query_and_order();
        match self.asked % 3 {
            0 => self.session.rows(&case.derived()),
            // As in MySQL, a view's CAST(… AS CHAR) has the default collation of its character set.
            2 if query.contains(" AS CHAR)") => self.session.rows(&case.derived()),
            1 if !query.starts_with("WITH") => {
                let text = format!("WITH w AS ({query}) SELECT * FROM w{order}");
                self.session.rows(&text)
            }
            _ => {
                let view = format!("CREATE OR REPLACE VIEW within AS {query}");
                self.session.rows(&view)?;
                self.session.rows(&format!("SELECT * FROM within{order}"))
            }
        }
    }

    fn with_values(&mut self, case: &Case) -> Result<Vec<String>, mayfly_engine::Error> {
        let (text, constants) = if self.parameters {
            case.parameterized()
        } else {
            (case.text(), Vec::new())
        };
        let collation = self.session.connection_collation();
        let values = constants
            .iter()
            .map(|constant| literal(constant, collation));
        let Some(values) = values.collect::<Option<Vec<_>>>() else {
            return self.session.rows(&case.text());
        };
        let statement = self.session.prepare(&text)?;
        let mut run = || {
            let outcome = self.session.execute_prepared(&statement, &values)?;
            outcome.into_result()
        };
        run()?;
        let result = run()?;
        let line = |row| cell::line(&result.row_bytes(row));
        Ok((0..result.row_count()).map(line).collect())
    }

    fn prepared(&mut self, case: &Case) -> Result<Vec<String>, mayfly_engine::Error> {
        let (text, values) = if self.parameters {
            case.parameterized()
        } else {
            (case.text(), Vec::new())
        };
        let text = text.replace('\\', "\\\\").replace('\'', "''");
        self.session.rows(&format!("PREPARE q FROM '{text}'"))?;
        let mut names = Vec::new();
        for (at, value) in values.iter().enumerate() {
            self.session.rows(&format!("SET @p{at} = {value}"))?;
            names.push(format!("@p{at}"));
        }
        let execute = match names.as_slice() {
            [] => "EXECUTE q".to_owned(),
            names => format!("EXECUTE q USING {}", names.join(", ")),
        };
        let found = self.session.rows(&execute);
        let found = found.and_then(|_| self.session.rows(&execute));
        let _ = self.session.rows("DEALLOCATE PREPARE q");
        found
    }
}

/// The databases of the ways, dropped after them: nothing may be left.
pub(crate) struct Databases {
    _fixtures: Vec<Fixture>,
    _directory: DataDirectory,
}

impl Databases {
    pub(crate) fn open() -> (Self, Vec<Way>) {
        let directory = DataDirectory::new("queries");
        let plain = Fixture::open(|_| {});
        let tiny = Fixture::open(|options| {
            options.memory_limit = Some(16 << 20);
            options.batch_size = 1;
            options.force_overflow = true;
            options.all_rewrites = true;
        });
        let rewritten = Fixture::open(|options| options.all_rewrites = true);
        let simple = Fixture::open(|options| options.optimizer = false);
        let collides = Fixture::open(|options| {
            options.hash_mode = HashMode::Collide;
            options.threads = 1;
        });
        let cluster = Fixture::open(|options| options.offloads_all = true);
        let engine = MemoryEngine::new(50);
        let plugged = cluster.database.set_secondary_engine(Some(engine));
        plugged.expect("an engine is plugged in");
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
            Way::new(
                "without indexes, all rewrites",
                &rewritten,
                false,
                base,
                text,
            ),
            Way::new("temporary tables", &plain, true, Tables::Temporary, text),
            Way::new(
                "MEMORY tables, equal hashes",
                &collides,
                true,
                Tables::Memory,
                text,
            ),
            Way::new("on a secondary engine", &cluster, true, base, text),
            Way::new("a switch turned", &plain, true, base, text),
            Way::new("with typed values", &plain, true, base, Form::Values),
            Way::new("in another query", &plain, true, base, Form::Within),
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
        let turned = ways.iter_mut().find(|way| way.name == "a switch turned");
        turned.into_iter().for_each(|way| way.turns = true);
        let databases = Self {
            _fixtures: vec![plain, tiny, rewritten, simple, collides, cluster, durable],
            _directory: directory,
        };
        (databases, ways)
    }
}
