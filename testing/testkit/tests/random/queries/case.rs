//! A test case: a query, or a law with its parts.

use crate::queries::answers::Answer;
use crate::queries::laws::Law;
use crate::queries::tree::Tree;

/// A test case.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) tree: Tree,
    pub(crate) law: Option<Law>,
}

impl Case {
    pub(crate) fn text(&self) -> String {
        let text = self.tree.text();
        match self.queries() {
            Some([one, other]) => format!("{one};\n{other}"),
            None => text,
        }
    }

    /// The two queries of a law.
    pub(crate) fn queries(&self) -> Option<[String; 2]> {
        self.law?.queries(&self.tree.parts())
    }

    pub(crate) fn parameterized(&self) -> (String, Vec<String>) {
        self.tree.parameterized()
    }

    /// Whether all of its expressions are evaluated for all rows in every plan.
    pub(crate) fn sees_all_rows(&self) -> bool {
        let text = self.tree.text();
        let is_plain = |word: &str| !text.contains(word);
        self.law.is_none()
            && text.matches("SELECT").count() == 1
            && [
                " WHERE ",
                " JOIN ",
                " GROUP ",
                " HAVING ",
                "IF(",
                "CASE ",
                "COALESCE(",
                "IFNULL(",
                "NULLIF(",
                "ELT(",
                "MAKE_SET(",
                " AND ",
                " OR ",
            ]
            .iter()
            .all(|word| is_plain(word))
    }

    /// Whether MariaDB answers it as MySQL does: its subqueries, common table expressions and ROLLUP treat NULL and
    /// empty sets differently.
    pub(crate) fn is_plain(&self) -> bool {
        let text = self.tree.text();
        let odd = ["(SELECT", "WITH ", "REPLACE("];
        !odd.iter().any(|word| text.contains(word))
    }

    /// The query as a derived table, in the query's order.
    pub(crate) fn derived(&self) -> String {
        let (query, order) = self.query_and_order();
        format!("SELECT * FROM ({query}) AS d{order}")
    }

    /// The query without its ORDER BY, and the ORDER BY, which may be empty.
    pub(crate) fn query_and_order(&self) -> (String, String) {
        let text = self.tree.text();
        let last = self.tree.parts().pop().unwrap_or_default();
        let order = if last.starts_with(" ORDER BY") {
            last
        } else {
            String::new()
        };
        let query = text.strip_suffix(order.as_str()).unwrap_or(&text);
        (query.to_owned(), order)
    }

    /// An answer in its order, if the query defines one.
    pub(crate) fn in_order(&self, answer: Answer) -> Answer {
        let last = self.tree.parts().pop().unwrap_or_default();
        if last.starts_with(" ORDER BY") {
            answer
        } else {
            answer.sorted()
        }
    }

    /// Smaller cases.
    pub(crate) fn smaller(&self) -> Vec<Self> {
        let law = self.law;
        let trees = self.tree.smaller().into_iter();
        trees.map(|tree| Self { tree, law }).collect()
    }
}
