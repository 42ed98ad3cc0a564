//! Random queries over the wire, counted: the share that Mayfly answers as another server does, with column types and
//! error numbers, as text and prepared in the binary protocol, in strict mode and not.
//!
//! It runs where `MAYFLY_QUERIES_COMPARED` gives the number of queries and a socket names a server: MySQL or MariaDB
//! (`MAYFLY_MYSQL_SOCKET`, `MAYFLY_MARIADB_SOCKET`), or the coordinator of a cluster (`MAYFLY_CLUSTER_SOCKET`), whose
//! tables are loaded into its secondary engine and whose warnings are compared too. It fails at a difference for which
//! [`KNOWN`] has no reason. A difference is reduced before a reason is sought, so that the reason is one for what is left.

use std::collections::BTreeMap;
use std::path::PathBuf;

use libtest_mimic::Failed;
use mayfly_engine::RootPassword;
use mayfly_testkit::client::{Answer as Packets, Client, ServerError};
use mayfly_testkit::fixture::Fixture;
use mayfly_testkit::runner::Paths;
use mayfly_testkit::server::{self, Flavour};
use mayfly_testkit::wire::Wire;
use mayfly_trials::{Random, first_seed, number};
use mysql::Value;
use mysql::consts::ColumnType;

use crate::queries::answers::Answer;
use crate::queries::case::Case;
use crate::queries::generate::Generator;
use crate::queries::known::{Difference, KNOWN};
use crate::queries::peers::{MARIADB_OFF, MYSQL_OFF};
use crate::queries::reduced::{Class, Pair, Reduced};
use crate::queries::schema::{Schema, Tables};

/// Number of queries on each set of tables.
const QUERIES: usize = 60;

/// Greatest number of differences without a reason that are printed.
const PRINTED: usize = 40;

/// Number of example queries of each kind of other difference; `MAYFLY_QUERIES_EXAMPLES` is another one.
const EXAMPLES: u64 = 8;

/// How many characters of an answer are printed beside such a query.
const ANSWER_SHOWN: usize = 300;

/// Answer of a server.
#[derive(Clone)]
pub(crate) struct Given {
    pub(crate) answer: Answer,
    pub(crate) types: Vec<ColumnType>,
    /// Levels and error numbers of the warnings, sorted; `None` where warnings are not asked for.
    pub(crate) warnings: Option<Vec<String>>,
}

/// A server with the statements for it.
pub(crate) struct Server {
    client: Client,
    socket: PathBuf,
    /// Whether its tables are loaded into a secondary engine, which answers.
    has_copies: bool,
    /// Whether it is asked for the warnings of each statement.
    tells_warnings: bool,
}

/// Kinds of differences, with how often there was one and the first queries.
type Kinds = BTreeMap<String, (usize, Vec<String>)>;

/// Number of equal answers.
#[derive(Default)]
struct Counts {
    asked: usize,
    /// Equal in rows, types and error numbers.
    equal: usize,
    /// Types of columns that differ (ours for theirs).
    types: Kinds,
    /// Differing error numbers, in the same form.
    errors: Kinds,
    /// Differences in rows, by their reasons, likewise.
    reasons: Kinds,
    unexplained: Vec<String>,
}

impl Server {
    fn connect(socket: PathBuf) -> Result<Self, ServerError> {
        let client = Client::connect(&socket, "root")?;
        let mut server = Self {
            client,
            socket,
            has_copies: false,
            tells_warnings: false,
        };
        // Mayfly shares this name with MySQL; MariaDB has another.
        let limits = ["max_execution_time = 5000", "max_statement_time = 5"];
        for limit in limits {
            let _ = server.client.query(&format!("SET {limit}"));
        }
        Ok(server)
    }

    fn begin(&mut self, schema: &Schema, strict: bool) {
        self.make(schema, true, strict);
    }

    /// Creates the tables, with their keys or without.
    fn make(&mut self, schema: &Schema, keys: bool, strict: bool) {
        // Several runs may use a server at a time.
        let name = format!("compared_{}", std::process::id());
        let mode = if strict { "STRICT_TRANS_TABLES" } else { "" };
        let mut statements = vec![
            format!("DROP DATABASE IF EXISTS {name}"),
            format!("CREATE DATABASE {name}"),
            format!("USE {name}"),
            "SET sql_mode = 'STRICT_TRANS_TABLES'".to_owned(),
        ];
        statements.extend(schema.settings());
        statements.extend(schema.statements(keys, Tables::Base));
        if self.has_copies {
            for table in &schema.tables {
                let name = &table.name;
                statements.push(format!("ALTER TABLE {name} SECONDARY_ENGINE = CLUSTER"));
                statements.push(format!("ALTER TABLE {name} SECONDARY_LOAD"));
            }
            statements.push("SET secondary_engine_cost_threshold = 0".to_owned());
        }
        statements.push(format!("SET sql_mode = '{mode}'"));
        for statement in statements {
            let _ = self.client.query(&statement);
        }
    }

    /// Number of statements that the secondary engine has answered.
    fn offloaded(&mut self) -> String {
        let status = "SHOW GLOBAL STATUS LIKE 'Secondary_engine_execution_count'";
        match self.client.query(status) {
            Ok(Packets::Rows { rows, .. }) => rows
                .iter()
                .flatten()
                .flatten()
                .last()
                .map_or_else(String::new, |value| String::from_utf8_lossy(value).into()),
            _ => String::new(),
        }
    }

    /// Levels and error numbers of the last statement's warnings.
    fn warnings(&mut self) -> Option<Vec<String>> {
        if !self.tells_warnings {
            return None;
        }
        let Ok(Packets::Rows { rows, .. }) = self.client.query("SHOW WARNINGS") else {
            return None;
        };
        let told = rows.iter().map(|row| {
            let cells = row.iter().take(2).flatten();
            let cells = cells.map(|cell| String::from_utf8_lossy(cell).into_owned());
            cells.collect::<Vec<_>>().join(" ")
        });
        let mut told: Vec<_> = told.collect();
        told.sort();
        // Of many warnings each run keeps the first ones that it has.
        told.dedup();
        Some(told)
    }

    /// A statement that changes rows.
    pub(crate) fn change(&mut self, statement: &str) {
        let _ = self.client.query(statement);
    }

    /// The answer to a query, given as text, or prepared with the values of its `?`.
    pub(crate) fn ask(
        &mut self,
        case: &Case,
        prepared: Option<&(String, Vec<Value>)>,
    ) -> Option<Given> {
        let found = match prepared {
            Some((text, values)) => self.client.execute(text, values.clone()),
            None => self.client.query(&case.text()),
        };
        let types = match &found {
            Ok(Packets::Rows { types, .. }) => types.clone(),
            _ => Vec::new(),
        };
        if found
            .as_ref()
            .is_err_and(|error| error.code == mayfly_testkit::client::LOST)
        {
            self.reconnect();
            return None;
        }
        let warnings = self.warnings();
        let answer = case.in_order(Answer::of_peer(found));
        Some(Given {
            answer,
            types,
            warnings,
        })
    }

    /// The server's answers to the text without its optimizations: as it is and from a derived table, with the keys of
    /// the tables and without them.
    fn plainly(&mut self, case: &Case, schema: &Schema, strict: bool) -> Vec<Answer> {
        let mut answers = Vec::new();
        for keys in [true, false] {
            self.make(schema, keys, strict);
            // A server refuses the switches of the other one.
            for off in [MYSQL_OFF, MARIADB_OFF] {
                let _ = self
                    .client
                    .query(&format!("SET optimizer_switch = '{off}'"));
            }
            answers.extend(self.ask(case, None).map(|given| given.answer));
            let derived = self.client.query(&case.derived());
            answers.push(case.in_order(Answer::of_peer(derived)));
            let _ = self.client.query("SET optimizer_switch = DEFAULT");
        }
        self.begin(schema, strict);
        answers
    }

    fn reconnect(&mut self) {
        for _ in 0..120 {
            std::thread::sleep(std::time::Duration::from_millis(500));
            if let Ok(server) = Self::connect(self.socket.clone()) {
                self.client = server.client;
                return;
            }
        }
        panic!("the server does not come back");
    }
}

impl Counts {
    /// Counts a reduced difference.
    fn count(&mut self, class: Class, found: &Reduced, place: &str, reason: Option<&str>) {
        let asked_for = match &found.prepared {
            None => found.case.text(),
            Some((text, values)) => format!("{text} {values:?}"),
        };
        let tables = found.tables();
        let answers = [&found.ours.answer, &found.theirs.answer].map(first_line);
        let answers = answers.join("\n      ");
        let example = || format!("{place}\n      {tables};\n      {asked_for}\n      {answers}");
        let Some(reason) = reason else {
            return self.unexplained.push(example());
        };
        match class {
            Class::Types(pair) | Class::Warnings(pair) => {
                note(&mut self.types, format!("{pair} ({reason})"), example);
            }
            Class::Errors(pair) => note(&mut self.errors, format!("{pair} ({reason})"), example),
            Class::Rows(..) => note(&mut self.reasons, reason.to_owned(), example),
        }
    }

    fn print(&self, flavour: Flavour) {
        let share = self.equal as f64 * 100.0 / self.asked.max(1) as f64;
        eprintln!(
            "{flavour:?}: {} queries, {} equal with types and errors ({share:.2} %)",
            self.asked, self.equal
        );
        let kinds = [
            ("reasons", &self.reasons),
            ("types", &self.types),
            ("errors", &self.errors),
        ];
        for (what, counts) in kinds {
            let mut all: Vec<_> = counts.iter().collect();
            all.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
            for (pair, (count, queries)) in all {
                eprintln!("  {what}: {count} {pair}:\n    {}", queries.join("\n    "));
            }
        }
        eprintln!("  rows without a reason: {}", self.unexplained.len());
        for one in self.unexplained.iter().take(PRINTED) {
            eprintln!("{one}\n");
        }
    }
}

/// Counts a difference of a kind.
fn note(into: &mut Kinds, kind: String, query: impl FnOnce() -> String) {
    let (count, queries) = into.entry(kind).or_default();
    *count += 1;
    if queries.len() < number("MAYFLY_QUERIES_EXAMPLES").unwrap_or(EXAMPLES) as usize {
        queries.push(query());
    }
}

/// The beginning of an answer.
fn first_line(answer: &Answer) -> String {
    let text = answer.to_string().replace('\n', " | ");
    text.chars().take(ANSWER_SHOWN).collect()
}

/// The query with its constants as parameters of random protocol types.
pub(crate) fn prepared(case: &Case, random: &mut Random) -> Option<(String, Vec<Value>)> {
    let (text, constants) = case.parameterized();
    let value = |constant: &String| -> Option<Value> {
        if let Some(inner) = constant.strip_prefix('\'') {
            let inner = inner.strip_suffix('\'')?;
            let plain = !inner.contains(['\'', '\\']);
            return plain.then(|| Value::Bytes(inner.as_bytes().to_vec()));
        }
        let whole: i64 = constant.parse().ok()?;
        Some(match random.below(4) {
            0 => Value::Bytes(constant.as_bytes().to_vec()),
            1 if whole.unsigned_abs() < 1 << 50 => Value::Double(whole as f64),
            _ => Value::Int(whole),
        })
    };
    let values: Option<Vec<Value>> = constants.iter().map(value).collect();
    Some((text, values?))
}

/// Whether a server lacks a function that Mayfly has: MySQL 9 removed some.
fn lacks_function(theirs: &Answer) -> bool {
    matches!(theirs, Answer::Error(1305, _))
}

/// Compares random queries with the other servers, and counts.
pub(crate) fn compare() -> Result<(), Failed> {
    let Some(wanted) = number("MAYFLY_QUERIES_COMPARED") else {
        return Ok(());
    };
    let flavours = [Flavour::MySql, Flavour::MariaDb, Flavour::Mayfly];
    let named = flavours.map(|flavour| (flavour, server::socket(flavour)));
    let mut peers: Vec<(Flavour, Server, Counts)> = Vec::new();
    for (flavour, socket) in named {
        if let Some(socket) = socket {
            let mut server = Server::connect(socket)?;
            server.has_copies = flavour == Flavour::Mayfly;
            server.tells_warnings = server.has_copies;
            peers.push((flavour, server, Counts::default()));
        }
    }
    let fixture = Fixture::open(|_| {});
    fixture.database.set_up_root(RootPassword::Empty)?;
    let wire = Wire::start(&fixture.database, Paths::new()?)?;
    let compared = Server::connect(wire.socket().to_owned())
        .map_err(Failed::from)
        .and_then(|mut own| {
            own.tells_warnings = peers.iter().any(|(_, peer, _)| peer.tells_warnings);
            ask_all(own, &mut peers, wanted)
        });
    if !wire.stop() {
        return Err("a connection does not end".into());
    }
    let asked = compared?;
    let mut unexplained = 0;
    for (flavour, server, counts) in &mut peers {
        counts.print(*flavour);
        if server.has_copies {
            eprintln!(
                "  statements of the secondary engine: {}",
                server.offloaded()
            );
        }
        unexplained += counts.unexplained.len();
    }
    match unexplained {
        0 => Ok(()),
        count => Err(format!("{count} of {asked} queries differ").into()),
    }
}

/// The reason for a reduced difference in rows, if there is one.
fn reason(
    found: &Reduced,
    flavour: Flavour,
    peer: &mut Server,
    strict: bool,
) -> Option<&'static str> {
    let (ours, theirs) = (&found.ours.answer, &found.theirs.answer);
    let (text, tables) = (found.case.text(), found.tables());
    let difference = Difference {
        flavour,
        query: &text,
        tables: &tables,
        ours,
        theirs,
    };
    let by_plan = ours.depends_on_rows() || theirs.depends_on_rows();
    if flavour == Flavour::Mayfly {
        let reason = "(an error of rows that a plan reads)";
        return (by_plan && !found.case.sees_all_rows()).then_some(reason);
    }
    if let Some(rule) = KNOWN.iter().find(|rule| (rule.explains)(&difference)) {
        return Some(rule.slug);
    }
    if by_plan && !found.case.sees_all_rows() {
        return Some("(an error of rows that a plan reads)");
    }
    // Its answer to the text is Mayfly's answer to both.
    let of_text = found
        .prepared
        .as_ref()
        .and_then(|_| peer.ask(&found.case, None));
    if of_text.is_some_and(|given| given.answer == *ours) {
        return Some("parameter-values");
    }
    let answers = peer.plainly(&found.case, &found.schema, strict);
    answers.contains(ours).then_some("(contradicts itself)")
}

/// The reason for a difference in the types of a column, `ours for theirs`, if there is one.
fn reason_of_types(pair: &str) -> Option<&'static str> {
    let are_all = |kinds: &[&str]| pair.split(" for ").all(|kind| kinds.contains(&kind));
    if are_all(&["TINY", "SHORT", "INT24", "LONG", "LONGLONG", "YEAR"]) {
        return Some("result-tables");
    }
    if are_all(&["NULL", "VAR_STRING"]) {
        return Some("result-tables");
    }
    let texts = [
        "STRING",
        "VAR_STRING",
        "ENUM",
        "SET",
        "TINY_BLOB",
        "BLOB",
        "MEDIUM_BLOB",
        "LONG_BLOB",
    ];
    are_all(&texts).then_some("string-kinds")
}

/// Runs `count` queries on all servers; returns their number.
fn ask_all(
    mut own: Server,
    peers: &mut [(Flavour, Server, Counts)],
    wanted: u64,
) -> Result<u64, Failed> {
    let mut seed = first_seed("queries compared");
    let mut asked = 0;
    while asked < wanted {
        let mut random = Random(seed);
        let portable = seed.is_multiple_of(3);
        let strict = random.below(2) == 0;
        let schema = Schema::random(&mut random, portable);
        own.begin(&schema, strict);
        for (_, peer, _) in &mut *peers {
            peer.begin(&schema, strict);
        }
        for at in 0..QUERIES {
            let tree = Generator::of_supported_queries(&mut random, &schema).statement();
            let case = Case { tree, law: None };
            let prepared = match at % 2 {
                0 => None,
                _ => prepared(&case, &mut random),
            };
            let Some(ours) = own.ask(&case, prepared.as_ref()) else {
                return Err(format!("seed {seed}: {} ended the connection", case.text()).into());
            };
            asked += 1;
            for (flavour, peer, counts) in &mut *peers {
                let is_asked = *flavour != Flavour::MariaDb || portable && case.is_plain();
                if !is_asked {
                    continue;
                }
                let Some(theirs) = peer.ask(&case, prepared.as_ref()) else {
                    peer.begin(&schema, strict);
                    continue;
                };
                // An error about a missing function is not an answer.
                if lacks_function(&theirs.answer) {
                    continue;
                }
                counts.asked += 1;
                let Some(class) = Class::of(&ours, &theirs) else {
                    counts.equal += 1;
                    continue;
                };
                let first = Reduced {
                    case: case.clone(),
                    schema: schema.clone(),
                    prepared: prepared.clone(),
                    ours: ours.clone(),
                    theirs,
                };
                let pair = Pair {
                    own: &mut own,
                    peer,
                    schema: schema.clone(),
                };
                let found = pair.reduce(first, &class);
                let reason = match &class {
                    Class::Rows(..) => reason(&found, *flavour, peer, strict),
                    Class::Types(_) | Class::Warnings(_) if *flavour == Flavour::Mayfly => None,
                    Class::Types(pair) => reason_of_types(pair),
                    Class::Warnings(_) => None,
                    Class::Errors(_) => Some("first-error"),
                };
                let place = format!("seed {seed}, query {at}, strict {strict}");
                counts.count(class, &found, &place, reason);
                own.begin(&schema, strict);
                peer.begin(&schema, strict);
            }
        }
        seed += 1;
    }
    Ok(asked)
}
