//! Reduction of a difference between two servers: the smallest query and tables with it that are found by leaving out
//! parts and rows.

use std::time::{Duration, Instant};

use mayfly_trials::Random;
use mysql::Value;

use crate::queries::answers::Answer;
use crate::queries::case::Case;
use crate::queries::compared::{Given, Server, prepared};
use crate::queries::schema::{Schema, Tables};

/// Greatest time to reduce a difference.
const PATIENCE: Duration = Duration::from_secs(2);

/// What differs between two answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Class {
    /// The types of a column: ours for theirs.
    Types(String),
    /// Error numbers, in the same form.
    Errors(String),
    /// Warnings, likewise.
    Warnings(String),
    /// Rows, or rows and an error; the number is that of the error.
    Rows(u16, u16),
}

impl Class {
    /// The difference of two answers; `None` if they are equal.
    pub(crate) fn of(ours: &Given, theirs: &Given) -> Option<Self> {
        match (&ours.answer, &theirs.answer) {
            (Answer::Rows(a), Answer::Rows(b)) if a == b => {
                let mut both = ours.types.iter().zip(&theirs.types);
                let Some((a, b)) = both.find(|(a, b)| a != b) else {
                    let (a, b) = (ours.warnings.as_ref()?, theirs.warnings.as_ref()?);
                    return (a != b).then(|| Self::Warnings(format!("{a:?} for {b:?}")));
                };
                let pair = format!("{a:?} for {b:?}").replace("MYSQL_TYPE_", "");
                Some(Self::Types(pair))
            }
            (Answer::Error(a, _), Answer::Error(b, _)) => {
                (a != b).then(|| Self::Errors(format!("{a} for {b}")))
            }
            (ours, theirs) => Some(Self::Rows(ours.class(), theirs.class())),
        }
    }
}

/// A difference, reduced.
pub(crate) struct Reduced {
    pub(crate) case: Case,
    pub(crate) schema: Schema,
    pub(crate) prepared: Option<(String, Vec<Value>)>,
    pub(crate) ours: Given,
    pub(crate) theirs: Given,
}

impl Reduced {
    /// The statements that create the tables.
    pub(crate) fn tables(&self) -> String {
        self.schema.statements(true, Tables::Base).join(";\n")
    }
}

/// Form in which a reduced query is asked.
#[derive(Debug, Clone, Copy)]
enum Form {
    Text,
    /// Prepared, with values that a seed gives.
    Prepared(u64),
}

/// Two servers with equal tables.
pub(crate) struct Pair<'p> {
    pub(crate) own: &'p mut Server,
    pub(crate) peer: &'p mut Server,
    pub(crate) schema: Schema,
}

impl Pair<'_> {
    /// The smallest case with a difference of a class, in which `first` differs; leaves the tables of both servers
    /// without the rows that do not matter.
    pub(crate) fn reduce(mut self, first: Reduced, class: &Class) -> Reduced {
        let forms = match first.prepared {
            None => vec![Form::Text],
            Some(_) => vec![
                Form::Text,
                Form::Prepared(1),
                Form::Prepared(2),
                Form::Prepared(3),
            ],
        };
        let mut forms = forms.into_iter();
        let Some((form, mut found)) = forms.find_map(|form| {
            let found = self.difference(&first.case, form, class)?;
            Some((form, found))
        }) else {
            return first;
        };
        let begun = Instant::now();
        'smaller: while begun.elapsed() < PATIENCE {
            let size = found.case.text().len();
            for candidate in found.case.smaller() {
                if candidate.text().len() < size
                    && let Some(smaller) = self.difference(&candidate, form, class)
                {
                    found = smaller;
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
                match self.difference(&found.case, form, class) {
                    Some(smaller) => found = smaller,
                    None => {
                        let list = values.join(", ");
                        let row_again =
                            format!("INSERT IGNORE INTO {name} VALUES ({number}, {list})");
                        self.change(&row_again);
                        self.schema.tables[table].rows.insert(row, (number, values));
                    }
                }
            }
        }
        found.schema = self.schema.named_by(&found.case.text());
        found
    }

    fn change(&mut self, statement: &str) {
        self.own.change(statement);
        self.peer.change(statement);
    }

    /// The case with the answers, if they differ in this way.
    fn difference(&mut self, case: &Case, form: Form, class: &Class) -> Option<Reduced> {
        let prepared = match form {
            Form::Text => None,
            Form::Prepared(seed) => Some(prepared(case, &mut Random(seed))?),
        };
        let ours = self.own.ask(case, prepared.as_ref())?;
        let theirs = self.peer.ask(case, prepared.as_ref())?;
        (Class::of(&ours, &theirs).as_ref() == Some(class)).then(|| Reduced {
            case: case.clone(),
            schema: self.schema.clone(),
            prepared,
            ours,
            theirs,
        })
    }
}
