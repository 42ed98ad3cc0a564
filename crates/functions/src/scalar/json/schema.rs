//! Validator for JSON Schema, draft 4, as far as JSON_SCHEMA_VALID() supports it: whether a document satisfies a
//! schema, and the first failed requirement. Keywords with invalid values are ignored.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};

use fancy_regex::Regex;
use mayfly_types::json::{self, Json, JsonObject};

/// Maximum depth of nested schemas.
const DEPTH_MAX: usize = 200;

/// The first failed requirement of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// JSON pointer to the schema with the requirement.
    pub(crate) schema: String,
    /// JSON pointer to the failing value.
    pub(crate) document: String,
    /// The keyword of the requirement.
    pub(crate) keyword: &'static str,
}

/// A schema, with references resolved within it.
#[derive(Debug)]
pub(crate) struct Schema<'s> {
    root: &'s Json,
    /// Outcomes for a value and the target of a reference, by their addresses: satisfied while still being checked,
    /// so that cyclic references end.
    known: RefCell<HashMap<(*const Json, *const Json), Outcome>>,
    is_too_deep: Cell<bool>,
}

type Outcome = Result<(), Failure>;

/// A part of a schema or document, with the path to it.
#[derive(Debug, Clone, Copy)]
struct Place<'a> {
    value: &'a Json,
    step: Option<(&'a Place<'a>, Step<'a>)>,
}

#[derive(Debug, Clone, Copy)]
enum Step<'a> {
    Member(&'a str),
    Element(usize),
    /// The target of a reference, which starts a new pointer.
    Pointer(&'a str),
}

impl<'a> Place<'a> {
    fn root(value: &'a Json) -> Self {
        Self { value, step: None }
    }

    fn inside(&'a self, step: Step<'a>, value: &'a Json) -> Self {
        Self {
            value,
            step: Some((self, step)),
        }
    }

    /// The path as a JSON pointer in a URI fragment.
    fn pointer(&self) -> String {
        let Some((parent, step)) = &self.step else {
            return "#".to_owned();
        };
        match step {
            Step::Pointer(pointer) => (*pointer).to_owned(),
            Step::Element(index) => format!("{}/{index}", parent.pointer()),
            Step::Member(name) => {
                let mut pointer = parent.pointer();
                pointer.push('/');
                for byte in name.bytes() {
                    match byte {
                        b'~' => pointer.push_str("~0"),
                        b'/' => pointer.push_str("~1"),
                        b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'-' | b'.' | b'_' => {
                            pointer.push(char::from(byte));
                        }
                        other => pointer.push_str(&format!("%{other:02X}")),
                    }
                }
                pointer
            }
        }
    }
}

impl<'s> Schema<'s> {
    pub(crate) fn new(root: &'s Json) -> Self {
        Self {
            root,
            known: RefCell::default(),
            is_too_deep: Cell::new(false),
        }
    }

    /// Whether a check reached the maximum depth.
    pub(crate) fn is_too_deep(&self) -> bool {
        self.is_too_deep.get()
    }

    /// Whether the schema refers to another document.
    pub(crate) fn has_remote_reference(&self) -> bool {
        fn inside(value: &Json) -> bool {
            match value {
                Json::Array(elements) => elements.iter().any(inside),
                Json::Object(object) => object.members().iter().any(|(name, value)| match value {
                    Json::String(target) if name == "$ref" => !target.starts_with('#'),
                    other => inside(other),
                }),
                _ => false,
            }
        }
        inside(self.root)
    }

    /// The first failed requirement of a document.
    pub(crate) fn failure(&self, document: &Json) -> Option<Failure> {
        self.check(&Place::root(self.root), &Place::root(document), 0)
            .err()
    }

    /// Earlier outcomes are found by address: schema and document do not move.
    fn check(&self, schema: &Place<'_>, document: &Place<'_>, depth: usize) -> Outcome {
        let Json::Object(keywords) = schema.value else {
            return Ok(());
        };
        if depth > DEPTH_MAX {
            self.is_too_deep.set(true);
            return Ok(());
        }
        let depth = depth + 1;
        if let Some(Json::String(pointer)) = keywords.get("$ref") {
            let Some(target) = self.resolve(pointer) else {
                return Ok(());
            };
            let pair: (*const Json, *const Json) = (target, document.value);
            if let Some(outcome) = self.known.borrow().get(&pair) {
                return outcome.clone();
            }
            self.known.borrow_mut().insert(pair, Ok(()));
            let target = schema.inside(Step::Pointer(pointer), target);
            let outcome = self.check(&target, document, depth);
            self.known.borrow_mut().insert(pair, outcome.clone());
            return outcome;
        }
        let fails = |keyword| failure(schema, document, keyword);
        if keywords
            .get("type")
            .is_some_and(|types| !has_type(document.value, types))
        {
            return fails("type");
        }
        match document.value {
            Json::Int(_) | Json::UInt(_) | Json::Double(_) | Json::Decimal(_) => {
                if let Some(keyword) = number_failure(keywords, document.value) {
                    return fails(keyword);
                }
            }
            Json::String(text) | Json::Typed(text, _) => {
                if let Some(keyword) = string_failure(keywords, text) {
                    return fails(keyword);
                }
            }
            Json::Array(elements) => {
                self.check_array(keywords, schema, document, elements, depth)?
            }
            Json::Object(object) => self.check_object(keywords, schema, document, object, depth)?,
            Json::Null | Json::Bool(_) => {}
        }
        match self.combination_failure(keywords, schema, document, depth) {
            Some(keyword) => fails(keyword),
            None => Ok(()),
        }
    }

    /// The value at a pointer within the schema.
    fn resolve(&self, pointer: &str) -> Option<&'s Json> {
        let path = pointer.strip_prefix('#')?;
        let mut value = self.root;
        for step in path.split('/').skip(1) {
            let name = unescaped(step);
            value = match value {
                Json::Object(object) => object.get(&name)?,
                Json::Array(elements) => elements.get(name.parse::<usize>().ok()?)?,
                _ => return None,
            };
        }
        Some(value)
    }

    fn check_array(
        &self,
        keywords: &JsonObject,
        schema: &Place<'_>,
        document: &Place<'_>,
        elements: &[Json],
        depth: usize,
    ) -> Outcome {
        let is_unique = matches!(keywords.get("uniqueItems"), Some(Json::Bool(true)));
        let mut seen = HashSet::new();
        for (index, element) in elements.iter().enumerate() {
            let element = document.inside(Step::Element(index), element);
            let items = keywords.get("items");
            match items {
                Some(Json::Array(schemas)) if index < schemas.len() => {
                    let list = schema.inside(Step::Member("items"), schema.value);
                    let item = list.inside(Step::Element(index), &schemas[index]);
                    self.check(&item, &element, depth)?;
                }
                Some(Json::Array(_)) => match keywords.get("additionalItems") {
                    Some(Json::Bool(false)) => return failure(schema, &element, "additionalItems"),
                    Some(additional) => {
                        let item = schema.inside(Step::Member("additionalItems"), additional);
                        self.check(&item, &element, depth)?;
                    }
                    None => {}
                },
                Some(items) => {
                    let item = schema.inside(Step::Member("items"), items);
                    self.check(&item, &element, depth)?;
                }
                None => {}
            }
            if is_unique {
                let mut key = Vec::new();
                json::append_sort_key(&element.value.to_text(), &mut key);
                if !seen.insert(key) {
                    return failure(schema, &element, "uniqueItems");
                }
            }
        }
        let fails = |keyword| failure(schema, document, keyword);
        if limit(keywords, "minItems").is_some_and(|least| elements.len() < least) {
            return fails("minItems");
        }
        if limit(keywords, "maxItems").is_some_and(|most| elements.len() > most) {
            return fails("maxItems");
        }
        Ok(())
    }

    fn check_object(
        &self,
        keywords: &JsonObject,
        schema: &Place<'_>,
        document: &Place<'_>,
        object: &JsonObject,
        depth: usize,
    ) -> Outcome {
        let named = object_of(keywords, "properties");
        let patterns: Vec<(Regex, &str, &Json)> = object_of(keywords, "patternProperties")
            .into_iter()
            .flat_map(JsonObject::members)
            .filter_map(|(pattern, schema)| Some((Regex::new(pattern).ok()?, &**pattern, schema)))
            .collect();
        for (name, value) in object.members() {
            let member = document.inside(Step::Member(name), value);
            let property = named.and_then(|named| named.get(name));
            if let Some(property) = property {
                let list = schema.inside(Step::Member("properties"), schema.value);
                self.check(&list.inside(Step::Member(name), property), &member, depth)?;
            }
            let mut is_known = property.is_some();
            for (pattern, text, property) in &patterns {
                if !pattern.is_match(name).unwrap_or(false) {
                    continue;
                }
                is_known = true;
                let list = schema.inside(Step::Member("patternProperties"), schema.value);
                let property = list.inside(Step::Member(text), property);
                if self.check(&property, &member, depth).is_err() {
                    return failure(schema, &member, "patternProperties");
                }
            }
            match keywords.get("additionalProperties") {
                _ if is_known => {}
                Some(Json::Bool(false)) => {
                    return failure(schema, &member, "additionalProperties");
                }
                Some(additional) => {
                    let property = schema.inside(Step::Member("additionalProperties"), additional);
                    self.check(&property, &member, depth)?;
                }
                None => {}
            }
        }
        let fails = |keyword| failure(schema, document, keyword);
        if !has_all(object, keywords.get("required")) {
            return fails("required");
        }
        if limit(keywords, "minProperties").is_some_and(|least| object.len() < least) {
            return fails("minProperties");
        }
        if limit(keywords, "maxProperties").is_some_and(|most| object.len() > most) {
            return fails("maxProperties");
        }
        let dependencies = object_of(keywords, "dependencies");
        for (name, dependency) in dependencies.into_iter().flat_map(JsonObject::members) {
            let list = schema.inside(Step::Member("dependencies"), schema.value);
            let is_satisfied = match dependency {
                _ if object.get(name).is_none() => true,
                Json::Array(_) => has_all(object, Some(dependency)),
                other => {
                    let dependency = list.inside(Step::Member(name), other);
                    self.check(&dependency, document, depth).is_ok()
                }
            };
            if !is_satisfied {
                return fails("dependencies");
            }
        }
        Ok(())
    }

    /// Checks `enum`, and combined schemas.
    fn combination_failure(
        &self,
        keywords: &JsonObject,
        schema: &Place<'_>,
        document: &Place<'_>,
        depth: usize,
    ) -> Option<&'static str> {
        if let Some(Json::Array(values)) = keywords.get("enum") {
            let text = document.value.to_text();
            let is_same = |value: &Json| json::compare(&value.to_text(), &text).is_eq();
            if !values.iter().any(is_same) {
                return Some("enum");
            }
        }
        let satisfies = |schema: &Place<'_>| self.check(schema, document, depth).is_ok();
        let satisfied = |keyword: &'static str| {
            let Some(Json::Array(schemas)) = keywords.get(keyword) else {
                return None;
            };
            let list = schema.inside(Step::Member(keyword), schema.value);
            let counted = schemas.iter().enumerate().filter(|(index, schema)| {
                let alternative = list.inside(Step::Element(*index), schema);
                satisfies(&alternative)
            });
            Some((counted.count(), schemas.len()))
        };
        if satisfied("allOf").is_some_and(|(count, all)| count < all) {
            return Some("allOf");
        }
        if satisfied("anyOf").is_some_and(|(count, all)| count == 0 && all > 0) {
            return Some("anyOf");
        }
        if satisfied("oneOf").is_some_and(|(count, all)| count != 1 && all > 0) {
            return Some("oneOf");
        }
        let refused = keywords
            .get("not")
            .filter(|not| matches!(not, Json::Object(_)));
        let is_refused = refused.is_some_and(|not| {
            let not = schema.inside(Step::Member("not"), not);
            satisfies(&not)
        });
        is_refused.then_some("not")
    }
}

fn failure(schema: &Place<'_>, document: &Place<'_>, keyword: &'static str) -> Outcome {
    Err(Failure {
        schema: schema.pointer(),
        document: document.pointer(),
        keyword,
    })
}

/// A step of a pointer, unescaped.
fn unescaped(step: &str) -> String {
    let mut bytes = Vec::with_capacity(step.len());
    let mut rest = step.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        let code = after.get(..2).filter(|_| *byte == b'%');
        let code = code.and_then(|digits| std::str::from_utf8(digits).ok());
        match code.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(decoded) => {
                bytes.push(decoded);
                rest = &after[2..];
            }
            None => {
                bytes.push(*byte);
                rest = after;
            }
        }
    }
    let text = String::from_utf8_lossy(&bytes);
    text.replace("~1", "/").replace("~0", "~")
}

fn object_of<'j>(keywords: &'j JsonObject, name: &str) -> Option<&'j JsonObject> {
    match keywords.get(name)? {
        Json::Object(object) => Some(object),
        _ => None,
    }
}

/// A limit of characters, elements or members.
fn limit(keywords: &JsonObject, name: &str) -> Option<usize> {
    match keywords.get(name)? {
        Json::Int(limit) => usize::try_from(*limit).ok(),
        Json::UInt(limit) => usize::try_from(*limit).ok(),
        _ => None,
    }
}

/// Whether an object has all members named in a list.
fn has_all(object: &JsonObject, names: Option<&Json>) -> bool {
    let Some(Json::Array(names)) = names else {
        return true;
    };
    names.iter().all(|name| match name {
        Json::String(name) => object.get(name).is_some(),
        _ => true,
    })
}

/// Whether a value is of a type, or of one of several types.
fn has_type(value: &Json, types: &Json) -> bool {
    let is = |name: &str| match value {
        Json::Null => name == "null",
        Json::Bool(_) => name == "boolean",
        Json::Int(_) | Json::UInt(_) => matches!(name, "integer" | "number"),
        Json::Double(_) | Json::Decimal(_) => name == "number",
        Json::String(_) | Json::Typed(..) => name == "string",
        Json::Array(_) => name == "array",
        Json::Object(_) => name == "object",
    };
    match types {
        Json::String(name) => is(name),
        Json::Array(names) => names
            .iter()
            .any(|name| matches!(name, Json::String(name) if is(name))),
        _ => true,
    }
}

fn as_number(value: &Json) -> Option<f64> {
    match value {
        Json::Int(number) => Some(*number as f64),
        Json::UInt(number) => Some(*number as f64),
        Json::Double(number) => Some(*number),
        Json::Decimal(number) => Some(number.to_f64()),
        _ => None,
    }
}

fn number_failure(keywords: &JsonObject, value: &Json) -> Option<&'static str> {
    let bound = |name: &str| {
        let bound = keywords
            .get(name)
            .filter(|bound| as_number(bound).is_some())?;
        Some(json::compare(&value.to_text(), &bound.to_text()))
    };
    let is_exclusive = |name: &str| matches!(keywords.get(name), Some(Json::Bool(true)));
    if bound("minimum")
        .is_some_and(|order| order.is_lt() || order.is_eq() && is_exclusive("exclusiveMinimum"))
    {
        return Some("minimum");
    }
    if bound("maximum")
        .is_some_and(|order| order.is_gt() || order.is_eq() && is_exclusive("exclusiveMaximum"))
    {
        return Some("maximum");
    }
    let (number, factor) = (
        as_number(value)?.abs(),
        as_number(keywords.get("multipleOf")?)?.abs(),
    );
    // Exact only up to double rounding: 0.3 counts as three times 0.1.
    let times = number / factor;
    let whole = (times + 0.5).floor();
    let is_multiple = (whole - times).abs() <= (times + whole) * f64::EPSILON;
    (factor > 0.0 && !is_multiple).then_some("multipleOf")
}

fn string_failure(keywords: &JsonObject, text: &str) -> Option<&'static str> {
    let length = text.chars().count();
    if limit(keywords, "minLength").is_some_and(|least| length < least) {
        return Some("minLength");
    }
    if limit(keywords, "maxLength").is_some_and(|most| length > most) {
        return Some("maxLength");
    }
    let Some(Json::String(pattern)) = keywords.get("pattern") else {
        return None;
    };
    let is_found = |pattern: Regex| pattern.is_match(text).unwrap_or(true);
    (!Regex::new(pattern).map_or(true, is_found)).then_some("pattern")
}
