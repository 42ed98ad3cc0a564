//! Evaluation of a path on a document.

use std::cmp::Ordering;

use mayfly_types::convert::float_text::append_double;
use mayfly_types::convert::{CastContext, cast_value};
use mayfly_types::error::codes;
use mayfly_types::sql_type::DECIMALS_NOT_FIXED;
use mayfly_types::{CollationId, Diagnostics, Result, SqlType, Value};

use super::document::{Document, Kind, Node};
use super::path::{Arithmetic, Axis, Comparison, Function, XPath};
use crate::EvaluationContext;
use crate::comparison::compare_texts;

/// Maximum number of nodes of a step.
const NODES_MAX: usize = 1_000_000;

/// A node of a path's result, for which a predicate is evaluated.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    pub(super) node: usize,
    /// Its position among the nodes found from one node.
    position: usize,
    /// The number of nodes, where it stands for all of them in a predicate.
    count: usize,
}

/// A value other than a node set.
#[derive(Debug)]
enum Scalar {
    Null,
    Number(f64, u8),
    Text(Vec<u8>),
}

/// Evaluator of paths on one document.
pub(super) struct Evaluation<'d> {
    document: &'d Document,
    xml: &'d [u8],
    collation: CollationId,
    context: &'d EvaluationContext,
}

impl<'d> Evaluation<'d> {
    pub(super) fn new(
        document: &'d Document,
        xml: &'d [u8],
        collation: CollationId,
        context: &'d EvaluationContext,
    ) -> Self {
        Self {
            document,
            xml,
            collation,
            context,
        }
    }

    /// Appends the text of a path's result; false for NULL.
    pub(super) fn append_text(&mut self, path: &XPath, out: &mut Vec<u8>) -> Result<bool> {
        if path.is_nodes() {
            let nodes = self.nodes(path, None)?;
            self.append_texts(&nodes, out);
            return Ok(true);
        }
        match self.scalar(path, None)? {
            Scalar::Null => return Ok(false),
            Scalar::Number(number, decimals) => append_double(out, number, decimals),
            Scalar::Text(text) => out.extend_from_slice(&text),
        }
        Ok(true)
    }

    /// Appends the texts directly below some nodes, separated by spaces.
    fn append_texts(&self, nodes: &[Found], out: &mut Vec<u8>) {
        let mut texts: Vec<usize> = nodes.iter().flat_map(|found| self.texts(*found)).collect();
        texts.sort_unstable();
        texts.dedup();
        for (index, text) in texts.into_iter().enumerate() {
            if index > 0 {
                out.push(b' ');
            }
            out.extend_from_slice(&self.xml[self.document.nodes[text].text.clone()]);
        }
    }

    fn texts(&self, found: Found) -> impl Iterator<Item = usize> {
        let is_text = move |node: &Node| node.parent == found.node && node.kind == Kind::Text;
        let below = self.document.below(found.node);
        below.filter_map(move |(number, node)| is_text(node).then_some(number))
    }

    /// The node set of a path. `context` is the node of the enclosing predicate.
    pub(super) fn nodes(&mut self, path: &XPath, context: Option<Found>) -> Result<Vec<Found>> {
        self.context.interrupt.check()?;
        match path {
            XPath::Root => Ok(vec![found(Document::ROOT, 0)]),
            XPath::Context => Ok(context.into_iter().collect()),
            XPath::Step(from, axis, name) => {
                let from = self.nodes(from, context)?;
                self.step(&from, *axis, name.as_deref())
            }
            XPath::Filter(from, predicate) => {
                let from = self.nodes(from, context)?;
                self.filter(&from, predicate)
            }
            XPath::Union(left, right) => {
                let mut numbers: Vec<usize> = self
                    .nodes(left, context)?
                    .into_iter()
                    .chain(self.nodes(right, context)?)
                    .map(|found| found.node)
                    .collect();
                Ok(in_order(&mut numbers))
            }
            _ => Ok(Vec::new()),
        }
    }

    /// The nodes that a step leads to from each node: from nested nodes some are found several times.
    fn step(&self, from: &[Found], axis: Axis, name: Option<&str>) -> Result<Vec<Found>> {
        let nodes = &self.document.nodes;
        let is_called =
            |node: &Node| name.is_none_or(|name| self.xml[node.text.clone()] == *name.as_bytes());
        let mut reached: Vec<Found> = Vec::new();
        match axis {
            Axis::Child | Axis::Attribute => {
                let kind = match axis {
                    Axis::Child => Kind::Element,
                    _ => Kind::Attribute,
                };
                for from in from {
                    self.go_on(&reached)?;
                    let is_reached = |node: &Node| {
                        node.parent == from.node && node.kind == kind && is_called(node)
                    };
                    let below = self.document.below(from.node);
                    let children = below.filter(|(_, node)| is_reached(node));
                    let places = children.enumerate();
                    reached.extend(places.map(|(position, (node, _))| found(node, position)));
                }
            }
            Axis::Own => {
                let own = from.iter().filter(|from| is_called(&nodes[from.node]));
                let places = own.enumerate();
                reached.extend(places.map(|(position, from)| found(from.node, position)));
            }
            Axis::Descendant | Axis::DescendantOrSelf => {
                for from in from {
                    self.go_on(&reached)?;
                    let is_own = axis == Axis::DescendantOrSelf && is_called(&nodes[from.node]);
                    let own = is_own.then_some(from.node);
                    let is_reached = |node: &Node| node.kind == Kind::Element && is_called(node);
                    let below = self.document.below(from.node);
                    let below = below
                        .filter(|(_, node)| is_reached(node))
                        .map(|(node, _)| node);
                    let places = own.into_iter().chain(below).enumerate();
                    reached.extend(places.map(|(position, node)| found(node, position)));
                }
            }
            Axis::Parent => {
                let parents = from.iter().map(|from| nodes[from.node].parent);
                let mut parents: Vec<usize> = parents
                    .filter(|parent| is_called(&nodes[*parent]))
                    .collect();
                return Ok(in_order(&mut parents));
            }
            Axis::Ancestor | Axis::AncestorOrSelf => {
                let mut numbers = Vec::new();
                for from in from {
                    self.go_on(&reached)?;
                    if axis == Axis::AncestorOrSelf && is_called(&nodes[from.node]) {
                        numbers.push(from.node);
                    }
                    let mut above = nodes[from.node].parent;
                    while above != Document::ROOT {
                        if is_called(&nodes[above]) {
                            numbers.push(above);
                        }
                        above = nodes[above].parent;
                    }
                }
                reached = in_order(&mut numbers);
                // The nearest node is the first.
                let count = reached.len();
                for (index, ancestor) in reached.iter_mut().enumerate() {
                    ancestor.position = count - 1 - index;
                }
            }
        }
        Ok(reached)
    }

    /// Checks for KILL, and limits the number of nodes found.
    fn go_on(&self, reached: &[Found]) -> Result<()> {
        self.context.interrupt.check()?;
        if reached.len() > NODES_MAX {
            let message = format!("XPATH leads to more than {NODES_MAX} nodes");
            return Err(codes::ER_UNKNOWN_ERROR.with(&[&message]));
        }
        Ok(())
    }

    fn filter(&mut self, from: &[Found], predicate: &XPath) -> Result<Vec<Found>> {
        let mut kept = Vec::new();
        for candidate in from {
            self.go_on(&kept)?;
            let own = Found {
                count: from.len(),
                ..*candidate
            };
            let is_kept = if predicate.is_truth() {
                self.truth(predicate, Some(own))?.unwrap_or(false)
            } else {
                let index = self.scalar(predicate, Some(own))?;
                let index = self
                    .number(index)?
                    .map_or(0.0, |(number, _)| number.trunc());
                index == candidate.position as f64 + 1.0
            };
            if is_kept {
                kept.push(found(candidate.node, kept.len()));
            }
        }
        Ok(kept)
    }

    /// The truth of an expression; a node set is true if it has exactly one node.
    fn truth(&mut self, path: &XPath, context: Option<Found>) -> Result<Option<bool>> {
        if path.is_nodes() {
            return Ok(Some(self.nodes(path, context)?.len() == 1));
        }
        let value = self.scalar(path, context)?;
        Ok(self.number(value)?.map(|(number, _)| number != 0.0))
    }

    fn scalar(&mut self, path: &XPath, context: Option<Found>) -> Result<Scalar> {
        if path.is_nodes() {
            let nodes = self.nodes(path, context)?;
            let mut text = Vec::new();
            self.append_texts(&nodes, &mut text);
            return Ok(Scalar::Text(text));
        }
        Ok(match path {
            XPath::Number(number, decimals) => Scalar::Number(*number, *decimals),
            XPath::Text(text) => Scalar::Text(text.as_bytes().to_vec()),
            XPath::Variable(name) => self.variable(name)?,
            XPath::Compare(comparison, left, right) => {
                self.compare(*comparison, left, right, context)?
            }
            XPath::And(left, right) => {
                let left = self.truth(left, context)?;
                match left {
                    Some(false) => truth(Some(false)),
                    _ => truth(match self.truth(right, context)? {
                        Some(true) => left,
                        other => other,
                    }),
                }
            }
            XPath::Or(left, right) => {
                let left = self.truth(left, context)?;
                match left {
                    Some(true) => truth(Some(true)),
                    _ => truth(match self.truth(right, context)? {
                        Some(false) => left,
                        other => other,
                    }),
                }
            }
            XPath::Negate(operand) => {
                let operand = self.scalar(operand, context)?;
                match self.number(operand)? {
                    Some((number, decimals)) => Scalar::Number(-number, decimals),
                    None => Scalar::Null,
                }
            }
            XPath::Arithmetic(operation, left, right) => {
                let left = self.scalar(left, context)?;
                let right = self.scalar(right, context)?;
                self.calculate(*operation, left, right)?
            }
            XPath::Call(function, arguments) => self.call(*function, arguments, context)?,
            _ => Scalar::Null,
        })
    }

    fn variable(&self, name: &str) -> Result<Scalar> {
        let name = name.to_lowercase();
        let Some((ty, value)) = self.context.user_variables.get(&name) else {
            return Ok(Scalar::Null);
        };
        Ok(match value {
            Value::Null => Scalar::Null,
            Value::Bytes(text) => Scalar::Text(text),
            value => match cast_value(&value, &ty, &SqlType::double(), &self.context.cast(""))? {
                Value::Float(number) => Scalar::Number(number, ty.decimals),
                _ => Scalar::Null,
            },
        })
    }

    /// A value as a number, with its number of decimals; an invalid text raises warning 1292.
    fn number(&self, value: Scalar) -> Result<Option<(f64, u8)>> {
        let text = match value {
            Scalar::Null => return Ok(None),
            Scalar::Number(number, decimals) => return Ok(Some((number, decimals))),
            Scalar::Text(text) => text,
        };
        if text.is_empty() {
            return Ok(Some((0.0, DECIMALS_NOT_FIXED)));
        }
        let number = self.number_of(text, &self.context.cast(""))?;
        Ok(number.map(|number| (number, DECIMALS_NOT_FIXED)))
    }

    fn number_of(&self, text: Vec<u8>, context: &CastContext<'_>) -> Result<Option<f64>> {
        let from = SqlType::varchar(u32::MAX, self.collation);
        let to = SqlType::double();
        Ok(
            match cast_value(&Value::Bytes(text), &from, &to, context)? {
                Value::Float(number) => Some(number),
                _ => None,
            },
        )
    }

    fn text(&self, value: Scalar) -> Option<Vec<u8>> {
        match value {
            Scalar::Null => None,
            Scalar::Text(text) => Some(text),
            Scalar::Number(number, decimals) => {
                let mut text = Vec::new();
                append_double(&mut text, number, decimals);
                Some(text)
            }
        }
    }

    fn compare(
        &mut self,
        comparison: Comparison,
        left: &XPath,
        right: &XPath,
        context: Option<Found>,
    ) -> Result<Scalar> {
        // For a node set it suffices that one text satisfies the comparison.
        for (nodes, value, is_left) in [(left, right, true), (right, left, false)] {
            if !nodes.is_nodes() {
                continue;
            }
            let nodes = self.nodes(nodes, context)?;
            let value = self.scalar(value, context)?;
            for node in nodes {
                for text in self.texts(node).collect::<Vec<_>>() {
                    let text = &self.xml[self.document.nodes[text].text.clone()];
                    let order = self.order(&Scalar::Text(text.to_vec()), &value)?;
                    let order = if is_left {
                        order
                    } else {
                        order.map(Ordering::reverse)
                    };
                    if order.is_some_and(|order| holds(comparison, order)) {
                        return Ok(truth(Some(true)));
                    }
                }
            }
            return Ok(truth(Some(false)));
        }
        let left = self.scalar(left, context)?;
        let right = self.scalar(right, context)?;
        let order = self.order(&left, &right)?;
        Ok(truth(order.map(|order| holds(comparison, order))))
    }

    fn order(&self, left: &Scalar, right: &Scalar) -> Result<Option<Ordering>> {
        let number = |value: &Scalar| match value {
            Scalar::Null => Ok(None),
            Scalar::Number(number, decimals) => Ok(Some((*number, *decimals))),
            Scalar::Text(text) => self.number(Scalar::Text(text.clone())),
        };
        match (left, right) {
            (Scalar::Text(left), Scalar::Text(right)) => {
                Ok(Some(compare_texts(left, right, self.collation)))
            }
            _ => Ok(number(left)?
                .zip(number(right)?)
                .and_then(|(left, right)| left.0.partial_cmp(&right.0))),
        }
    }

    fn calculate(&self, operation: Arithmetic, left: Scalar, right: Scalar) -> Result<Scalar> {
        let (left, right) = (self.number(left)?, self.number(right)?);
        let Some(((left, left_decimals), (right, right_decimals))) = left.zip(right) else {
            return Ok(Scalar::Null);
        };
        let divides = matches!(operation, Arithmetic::Divide | Arithmetic::Remainder);
        if divides && right == 0.0 {
            self.context
                .diagnostics
                .warn(codes::ER_DIVISION_BY_ZERO.error());
            return Ok(Scalar::Null);
        }
        let widest = left_decimals.max(right_decimals);
        Ok(match operation {
            Arithmetic::Add => Scalar::Number(left + right, widest),
            Arithmetic::Subtract => Scalar::Number(left - right, widest),
            Arithmetic::Multiply => {
                let decimals = left_decimals.saturating_add(right_decimals);
                Scalar::Number(left * right, decimals.min(DECIMALS_NOT_FIXED))
            }
            Arithmetic::Divide => Scalar::Number((left / right).trunc(), 0),
            Arithmetic::Remainder => Scalar::Number(left % right, widest),
        })
    }

    fn call(
        &mut self,
        function: Function,
        arguments: &[XPath],
        context: Option<Found>,
    ) -> Result<Scalar> {
        let count = |count: usize| Scalar::Number(count as f64, 0);
        match function {
            Function::True => return Ok(truth(Some(true))),
            Function::False => return Ok(truth(Some(false))),
            Function::Position => {
                return Ok(count(context.map_or(0, |found| found.position + 1)));
            }
            Function::Last => return Ok(count(context.map_or(0, |found| found.count))),
            Function::Count => return Ok(count(self.nodes(&arguments[0], context)?.len())),
            Function::Boolean => return Ok(truth(self.truth(&arguments[0], context)?)),
            Function::Not => {
                let value = self.truth(&arguments[0], context)?;
                return Ok(truth(value.map(|value| !value)));
            }
            Function::Sum => {
                let mut sum = 0.0;
                for node in self.nodes(&arguments[0], context)? {
                    for text in self.texts(node).collect::<Vec<_>>() {
                        let text = self.xml[self.document.nodes[text].text.clone()].to_vec();
                        // Here an invalid number is 0 without a warning.
                        let diagnostics = Diagnostics::new(0);
                        let context = CastContext {
                            diagnostics: &diagnostics,
                            ..self.context.cast("")
                        };
                        let number = self.number_of(text, &context)?;
                        sum += number.unwrap_or(0.0);
                    }
                }
                return Ok(Scalar::Number(sum, DECIMALS_NOT_FIXED));
            }
            _ => {}
        }
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            values.push(self.scalar(argument, context)?);
        }
        let mut values = values.into_iter();
        let mut next = || values.next().unwrap_or(Scalar::Number(0.0, 0));
        let whole = |number: f64| Scalar::Number(number, 0);
        Ok(match function {
            Function::Ceiling => self.number(next())?.map(|it| whole(it.0.ceil())),
            Function::Floor => self.number(next())?.map(|it| whole(it.0.floor())),
            Function::Round => self.number(next())?.map(|it| whole(it.0.round())),
            Function::Number => {
                let number = self.number(next())?;
                number.map(|(number, decimals)| Scalar::Number(number, decimals))
            }
            Function::StringLength => self.text(next()).map(|text| {
                let characters = String::from_utf8_lossy(&text).chars().count();
                count(characters)
            }),
            // MySQL concatenates the first two arguments only.
            Function::Concat => self.text(next()).zip(self.text(next())).map(|(mut a, b)| {
                a.extend_from_slice(&b);
                Scalar::Text(a)
            }),
            Function::Contains => self
                .text(next())
                .zip(self.text(next()))
                .map(|(text, part)| truth(Some(self.contains(&text, &part)))),
            Function::Substring => {
                let text = self.text(next());
                let start = self.number(next())?;
                let length = match arguments.len() {
                    3 => self.number(next())?,
                    _ => Some((f64::MAX, 0)),
                };
                text.zip(start.zip(length))
                    .map(|(text, (start, length))| Scalar::Text(part(&text, start.0, length.0)))
            }
            _ => None,
        }
        .unwrap_or(Scalar::Null))
    }

    /// Whether a text contains a part, by the collation.
    fn contains(&self, text: &[u8], part: &[u8]) -> bool {
        let (text, part) = (String::from_utf8_lossy(text), String::from_utf8_lossy(part));
        let characters = part.chars().count();
        if characters == 0 {
            return true;
        }
        let starts: Vec<usize> = text
            .char_indices()
            .map(|(at, _)| at)
            .chain([text.len()])
            .collect();
        let windows = starts.windows(characters + 1);
        windows.into_iter().any(|window| {
            let here = &text[window[0]..window[characters]];
            compare_texts(here.as_bytes(), part.as_bytes(), self.collation).is_eq()
        })
    }
}

fn found(node: usize, position: usize) -> Found {
    Found {
        node,
        position,
        count: 1,
    }
}

/// Nodes in document order, without duplicates.
fn in_order(numbers: &mut Vec<usize>) -> Vec<Found> {
    numbers.sort_unstable();
    numbers.dedup();
    let places = numbers.iter().enumerate();
    places
        .map(|(position, node)| found(*node, position))
        .collect()
}

fn truth(value: Option<bool>) -> Scalar {
    value.map_or(Scalar::Null, |value| {
        Scalar::Number(f64::from(u8::from(value)), 0)
    })
}

fn holds(comparison: Comparison, order: Ordering) -> bool {
    match comparison {
        Comparison::Equal => order.is_eq(),
        Comparison::NotEqual => order.is_ne(),
        Comparison::Less => order.is_lt(),
        Comparison::LessOrEqual => order.is_le(),
        Comparison::Greater => order.is_gt(),
        Comparison::GreaterOrEqual => order.is_ge(),
    }
}

/// SUBSTRING(): from a position, or from the end if it is negative.
fn part(text: &[u8], start: f64, length: f64) -> Vec<u8> {
    let text = String::from_utf8_lossy(text);
    let count = text.chars().count();
    let start = start.round() as i64;
    let skipped = match start {
        0 => return Vec::new(),
        1.. => usize::try_from(start - 1).unwrap_or(usize::MAX),
        _ => match usize::try_from(start.unsigned_abs()) {
            Ok(back) if back <= count => count - back,
            _ => return Vec::new(),
        },
    };
    let length = length.round().max(0.0) as usize;
    let part: String = text.chars().skip(skipped).take(length).collect();
    part.into_bytes()
}
