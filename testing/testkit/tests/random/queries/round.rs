//! All systems that answer queries, and the treatment of differences.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use mayfly_testkit::server::Flavour;

use crate::queries::answers::Answer;
use crate::queries::case::Case;
use crate::queries::known::{Difference, KNOWN};
use crate::queries::peers::Peer;
use crate::queries::schema::{Schema, Tables};
use crate::queries::ways::Way;

/// The error of a query that exceeds its time limit.
const TIME_LIMIT: u16 = 3024;

/// Greatest number of rows that are compared.
const ROWS_MAX: usize = 20_000;

/// Greatest time to reduce a difference.
const PATIENCE: Duration = Duration::from_secs(20);

/// A difference.
pub(crate) struct Found {
    /// The differing system, and whether by rows or by which errors: a smaller script must show the same difference.
    class: (usize, u16, u16),
    text: String,
}

/// All systems that answer queries on some tables.
pub(crate) struct Round {
    pub(crate) ways: Vec<Way>,
    pub(crate) peers: Vec<Peer>,
    pub(crate) explained: BTreeMap<&'static str, usize>,
    schema: Schema,
    number: u64,
    pub(crate) switch: &'static str,
    /// Number of laws tried so far, each in another way.
    laws: usize,
}

impl Round {
    pub(crate) fn new(ways: Vec<Way>, peers: Vec<Peer>, schema: Schema) -> Self {
        Self {
            ways,
            peers,
            explained: BTreeMap::new(),
            schema,
            number: 0,
            switch: "",
            laws: 0,
        }
    }

    pub(crate) fn begin(&mut self, schema: &Schema, number: u64) {
        self.schema = schema.clone();
        self.number = number;
        for (at, way) in self.ways.iter_mut().enumerate() {
            let switch = way.begin(schema, number * 10 + at as u64);
            self.switch = if switch.is_empty() {
                self.switch
            } else {
                switch
            };
        }
        let peers = self.peers.iter_mut().filter(|peer| peer.takes(schema));
        peers.for_each(|peer| peer.begin(schema));
    }

    pub(crate) fn end(&mut self) {
        for (at, way) in self.ways.iter_mut().enumerate() {
            way.end(&self.schema, self.number * 10 + at as u64);
        }
    }

    /// The difference in the answers to a case; `None` if they agree.
    pub(crate) fn difference(&mut self, case: &Case) -> Option<Found> {
        self.laws += usize::from(case.law.is_some());
        self.difference_again(case)
    }

    /// [`Self::difference`] in the ways of the last search.
    fn difference_again(&mut self, case: &Case) -> Option<Found> {
        match case.queries() {
            Some(queries) => self.breach(&queries),
            None => self.disagreement(case),
        }
    }

    /// The difference between two equivalent queries.
    fn breach(&mut self, queries: &[String; 2]) -> Option<Found> {
        let other = 1 + self.laws % (self.ways.len() - 1);
        let is_of_texts = queries[1].starts_with("SELECT CONCAT(");
        for at in [0, other] {
            let way = &mut self.ways[at];
            if way.lacks(&queries[0]) {
                continue;
            }
            let [one, another] = queries.each_ref().map(|query| way.text(query));
            let failed = one.is_internal() || another.is_internal();
            let unknown = one.class() != 0 || another.class() != 0;
            let broken = !unknown && one != another;
            if failed || broken && !(is_of_texts && way.sends_chosen_bits(&queries[0])) {
                return Some(Found {
                    class: (0, one.class(), another.class()),
                    text: format!("{}:\n{one}\n{another}", way.name),
                });
            }
        }
        None
    }

    fn disagreement(&mut self, case: &Case) -> Option<Found> {
        let all_rows = case.sees_all_rows();
        let first = self.ways[0].answer(case)?;
        let found = |number: usize, name: &str, theirs: &Answer| Found {
            class: (number, first.class(), theirs.class()),
            text: format!("{name}: {theirs}\nas it is: {first}"),
        };
        if first.is_internal() {
            return Some(found(0, "as it is", &first));
        }
        // A query that takes too long once, or returns too many rows, does so everywhere.
        if first.class() == TIME_LIMIT || first.count() > ROWS_MAX {
            return None;
        }
        for (number, way) in self.ways.iter_mut().enumerate().skip(1) {
            let Some(answer) = way.answer(case) else {
                continue;
            };
            let unknown = !all_rows && (first.depends_on_rows() || answer.depends_on_rows());
            if !first.agrees(&answer) && !unknown {
                return Some(found(number, way.name, &answer));
            }
        }
        let text = case.text();
        let tables = self.schema.statements(true, Tables::Base).join(";\n");
        let mut against = None;
        for peer in self.peers.iter_mut().rev() {
            let is_asked = peer.flavour == Flavour::MySql || case.is_plain();
            if !peer.takes(&self.schema) || !is_asked {
                continue;
            }
            let Some(theirs) = peer.answer(case, &self.schema) else {
                continue;
            };
            let unknown = !all_rows && (first.depends_on_rows() || theirs.depends_on_rows());
            if unknown || first.agrees(&theirs) {
                // MySQL decides.
                against = None;
                continue;
            }
            let difference = Difference {
                flavour: peer.flavour,
                query: &text,
                tables: &tables,
                ours: &first,
                theirs: &theirs,
            };
            let known = KNOWN.iter().find(|rule| (rule.explains)(&difference));
            let contradicts_itself = known.is_none() && {
                let answers = peer.plain_answers(case, &self.schema);
                answers.iter().any(|plain| first.agrees(plain))
            };
            let slug = match known {
                Some(rule) => rule.slug,
                None if contradicts_itself => "(contradicts itself)",
                None => {
                    let (number, name) = match peer.flavour {
                        Flavour::MySql => (100, "MySQL"),
                        _ => (101, "MariaDB"),
                    };
                    against = Some(found(number, name, &theirs));
                    continue;
                }
            };
            *self.explained.entry(slug).or_default() += 1;
            if peer.flavour == Flavour::MySql {
                against = None;
            }
        }
        against
    }

    /// The smallest script with the difference that is found by leaving out parts and rows.
    pub(crate) fn reduce(&mut self, case: Case, first: &Found) -> String {
        let begun = Instant::now();
        let mut case = case;
        let Some(mut difference) = self.difference_again(&case) else {
            let (text, found) = (case.text(), &first.text);
            let tables = self.schema.statements(true, Tables::Base).join(";\n");
            return format!("{tables};\n{text};\nwhich does not show a second time:\n{found}");
        };
        let class = difference.class;
        'smaller: while begun.elapsed() < PATIENCE {
            let size = case.text().len();
            for candidate in case.smaller() {
                if candidate.text().len() < size
                    && let Some(found) = self.difference_again(&candidate)
                    && found.class == class
                {
                    (case, difference) = (candidate, found);
                    continue 'smaller;
                }
            }
            break;
        }
        for table in 0..self.schema.tables.len() {
            let name = self.schema.tables[table].name.clone();
            for row in (0..self.schema.tables[table].rows.len()).rev() {
                if begun.elapsed() > 2 * PATIENCE {
                    break;
                }
                let (number, values) = self.schema.tables[table].rows.remove(row);
                self.change(&format!("DELETE FROM {name} WHERE id = {number}"));
                let found = self.difference_again(&case);
                let found = found.filter(|found| found.class == class);
                if let Some(found) = found {
                    difference = found;
                } else {
                    let list = values.join(", ");
                    self.change(&format!(
                        "INSERT IGNORE INTO {name} VALUES ({number}, {list})"
                    ));
                    self.schema.tables[table].rows.insert(row, (number, values));
                }
            }
        }
        let text = case.text();
        let schema = self.schema.named_by(&text);
        let statements = schema.statements(true, Tables::Base).join(";\n");
        format!("{statements};\n{text};\n{}", difference.text)
    }

    fn change(&mut self, statement: &str) {
        self.ways.iter_mut().for_each(|way| way.change(statement));
        let schema = &self.schema;
        let peers = self.peers.iter_mut().filter(|peer| peer.takes(schema));
        peers.for_each(|peer| peer.change(statement));
    }
}
