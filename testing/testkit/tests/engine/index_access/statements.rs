//! Random statements over a table, with every way in which an index could be read for them.

use crate::index_access::kinds::LISTS;
use crate::index_access::table::Table;
use mayfly_trials::Random;

impl Table {
    /// A condition on rows of the table.
    pub(crate) fn condition(&self, alias: &str, depth: usize, random: &mut Random) -> String {
        const SIGNS: &[&str] = &["=", "<=>", "<>", "<", "<=", ">", ">=", "=", "="];
        if depth > 0 && random.below(3) > 0 {
            let a = self.condition(alias, depth - 1, random);
            let b = self.condition(alias, depth - 1, random);
            return match random.below(9) {
                0..=4 => format!("({a} AND {b})"),
                5..=7 => format!("({a} OR {b})"),
                _ => format!("(NOT {a})"),
            };
        }
        let operand = self.operand(alias, random);
        let name = &operand.text;
        let mut value = || self.compared(&operand, random);
        let (x, y, z) = (value(), value(), value());
        match random.below(20) {
            0..=7 => format!("{name} {} {x}", random.pick(SIGNS)),
            8 => format!("{x} {} {name}", random.pick(SIGNS)),
            9 | 10 => format!("{name} BETWEEN {x} AND {y}"),
            11 => format!("{name} NOT BETWEEN {x} AND {y}"),
            12 | 13 => format!("{name} IN ({x}, {y}, {z})"),
            14 => format!("{name} NOT IN ({x}, {y})"),
            15 => format!("{name} IS NULL"),
            16 => format!("{name} IS NOT NULL"),
            17 => format!("{name} LIKE {}", random.pick(LISTS.items("patterns"))),
            place => {
                let other = random.below(self.kinds.len());
                let (u, v) = (self.constant(other, random), self.constant(other, random));
                let pair = format!("({name}, {alias}c{other})");
                match place {
                    18 => format!("{pair} {} ({x}, {u})", random.pick(SIGNS)),
                    _ => format!("{pair} IN (({x}, {u}), ({y}, {v}))"),
                }
            }
        }
    }

    fn order(&self, alias: &str, random: &mut Random) -> String {
        let parts: Vec<String> = (0..1 + random.below(2))
            .map(|_| {
                let operand = self.operand(alias, random);
                let direction = if random.one_in(2) { " DESC" } else { "" };
                format!("{}{direction}", operand.text)
            })
            .collect();
        parts.join(", ")
    }

    /// A statement with `{t}` for the table.
    pub(crate) fn statement(&self, other: &Self, random: &mut Random) -> String {
        let condition = self.condition("t.", 2, random);
        let column = random.below(self.kinds.len());
        let theirs = random.below(other.kinds.len());
        let sign = if random.one_in(5) { "<=>" } else { "=" };
        let ours = if random.one_in(4) {
            self.operand("t.", random).text
        } else {
            format!("t.c{column}")
        };
        let and = format!("{ours} {sign} u.c{theirs}");
        let more = if random.one_in(2) {
            let second = random.below(self.kinds.len());
            let of = random.below(other.kinds.len());
            format!(" AND t.c{second} = u.c{of}")
        } else {
            String::new()
        };
        let rest = if random.one_in(2) {
            format!(" AND {}", self.condition("t.", 0, random))
        } else {
            String::new()
        };
        let is_text = ["CHAR", "TEXT", "BINARY", "BLOB"]
            .iter()
            .any(|name| self.kinds[column].sql.contains(name));
        match random.below(24) {
            0..=8 => format!("SELECT id FROM {{t}} WHERE {condition}"),
            limited @ 9..=11 => {
                let order = self.order("t.", random);
                let ranks = ranks(&order);
                let limit = if limited == 11 {
                    String::new()
                } else {
                    format!(" LIMIT {}", random.below(6))
                };
                format!("SELECT {ranks} FROM {{t}} WHERE {condition} ORDER BY {order}{limit}")
            }
            counted @ 12..=14 => {
                let order = self.order("t.", random).replace(" DESC", "");
                if counted == 14 {
                    let distinct = format!("SELECT DISTINCT {order} FROM {{t}} WHERE {condition}");
                    format!("SELECT COUNT(*) FROM ({distinct}) AS x")
                } else {
                    format!(
                        "SELECT COUNT(*), SUM(id), MIN(id) FROM {{t}} WHERE {condition} GROUP BY {order}"
                    )
                }
            }
            15 | 16 => {
                let end = random.pick(&["MIN", "MAX"]);
                let end = format!("{end}(t.c{column})");
                if is_text {
                    let found = format!("SELECT {end} FROM {{t}} WHERE {condition}");
                    format!("SELECT COUNT(*) FROM f AS o WHERE o.c{column} <=> ({found})")
                } else {
                    format!("SELECT {end} + 0, COUNT(*) > 0 FROM {{t}} WHERE {condition}")
                }
            }
            17 | 18 => format!(
                "SELECT STRAIGHT_JOIN u.id, t.id FROM u JOIN {{t}} ON {and}{more} WHERE 1{rest}"
            ),
            19 => format!("SELECT u.id, t.id FROM u LEFT JOIN {{t}} ON {and}{more}{rest}"),
            membership @ (20 | 21) => {
                let not = if membership == 21 { "NOT " } else { "" };
                let list = format!("SELECT t.c{column} FROM {{t}} WHERE 1{rest}");
                format!("SELECT u.id FROM u WHERE u.c{theirs} {not}IN ({list})")
            }
            22 => {
                let not = if random.one_in(2) { "NOT " } else { "" };
                let row = format!("SELECT 1 FROM {{t}} WHERE {and}{more}{rest}");
                format!("SELECT u.id FROM u WHERE {not}EXISTS ({row})")
            }
            _ => {
                format!("SELECT u.id, (SELECT COUNT(*) FROM {{t}} WHERE {and}{more}{rest}) FROM u")
            }
        }
    }
}

/// The rank of each row by each key of an order: rows that compare equal may be in any order.
fn ranks(order: &str) -> String {
    let keys = order.replace(" DESC", "");
    let ranks = keys.split(", ").map(|key| {
        let theirs = key.replace("t.c", "o.c");
        format!("(SELECT COUNT(*) FROM f AS o WHERE {theirs} < {key})")
    });
    ranks.collect::<Vec<_>>().join(", ")
}
