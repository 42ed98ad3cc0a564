//! The import graph of each crate's files.
//!
//! An import is a path that names an item which another file defines; a path through a re-export leads to the defining
//! file. Files that reach each other are a cycle: none of them can be read, tested or moved alone. A folder's file and
//! its children may be a cycle, as long as it is small.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;
use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, Item, ItemMod, ItemUse, UseTree, Visibility};

use crate::tidy::{root, rust_files};

/// Greatest number of files in a cycle.
const CYCLE_MAX: usize = 4;

/// The floors of a crate's modules, the lowest first: a module imports only modules of lower floors, and those of its
/// own floor where that makes no cycle.
const MODULE_FLOORS: &[(&str, &[&str])] = &[(
    "engine",
    &[
        // Modules that need no other part of the engine.
        "builder character_sets convert direct_changes engines error files locales names options system_schemas \
         statement_memory temp_data_files temp_debug time_zones transaction",
        "delimited status spool variables",
        "statement_options result",
        "instrumentation logs storage_errors",
        "budgets client defaults kept_results legacy_engines persisted temp_space",
        "accounts secondary",
        "connections",
        "locks",
        "catalog storing",
        "arrow_in arrow_out cached_plan",
        "prepared",
        "variable_checks",
        // Modules shared by sessions.
        "statement_cache database server_facts",
        "session",
        "information_schema",
        "binding ddl stream",
        "statements",
        // Modules for programs that embed the engine.
        "authentication opening visible_names",
    ],
)];

/// The names of the modules from the crate's root to a module.
type ModulePath = Vec<String>;

/// A `use` that a module exports under a name; `*` for a glob.
struct Reexport {
    name: String,
    target: Vec<String>,
}

/// The modules of a crate.
#[derive(Default)]
struct Modules {
    /// The file of each module, by index.
    files: BTreeMap<ModulePath, usize>,
    reexports: BTreeMap<ModulePath, Vec<Reexport>>,
}

impl Modules {
    /// The file that defines the item of a path in a module; `None` for paths into other crates.
    fn resolve(&self, module: &[String], path: &[String], depth: usize) -> Option<usize> {
        // Two modules may re-export each other by globs.
        const DEPTH_MAX: usize = 16;
        let mut current: ModulePath = module.to_vec();
        let mut rest = path;
        match path.first()?.as_str() {
            "crate" => {
                current.clear();
                rest = &rest[1..];
            }
            "self" => rest = &rest[1..],
            "super" => {}
            first => {
                let child = [module, &[first.to_owned()]].concat();
                if !self.files.contains_key(&child) && self.reexported(module, first).is_none() {
                    return None;
                }
            }
        }
        while let Some((first, others)) = rest.split_first() {
            let child = [current.as_slice(), std::slice::from_ref(first)].concat();
            if first == "super" {
                current.pop();
            } else if self.files.contains_key(&child) {
                current = child;
            } else if depth < DEPTH_MAX
                && let Some(target) = self.reexported(&current, first)
                && let Some(file) = self.resolve(&current, &[target, others].concat(), depth + 1)
            {
                return Some(file);
            } else {
                return self
                    .in_all_of_others(&current, rest, depth)
                    .or_else(|| self.files.get(&current).copied());
            }
            rest = others;
        }
        self.files.get(&current).copied()
    }

    fn reexported(&self, module: &[String], name: &str) -> Option<&[String]> {
        let mut known = self.reexports.get(module)?.iter();
        let found = known.find(|reexport| reexport.name == name)?;
        Some(&found.target)
    }

    /// The file of a name that a module exports by a glob of another one.
    fn in_all_of_others(&self, module: &[String], path: &[String], depth: usize) -> Option<usize> {
        let globs = self
            .reexports
            .get(module)?
            .iter()
            .filter(|reexport| reexport.name == "*");
        for glob in globs.filter(|_| depth < 4) {
            let own = self.files.get(module);
            let of_glob = self.resolve(module, &glob.target, depth + 1);
            let found = self.resolve(module, &[glob.target.as_slice(), path].concat(), depth + 1);
            if found.is_some() && found != own.copied() && found != of_glob {
                return found;
            }
        }
        None
    }
}

/// Whether an item exists only for tests.
fn is_of_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute
                .meta
                .require_list()
                .is_ok_and(|list| list.tokens.to_string().contains("test"))
    })
}

/// The paths that a `use` imports, each with its local name.
fn used(tree: &UseTree, before: &mut Vec<String>, found: &mut Vec<Reexport>) {
    match tree {
        UseTree::Path(path) => {
            before.push(path.ident.to_string());
            used(&path.tree, before, found);
            before.pop();
        }
        UseTree::Group(group) => group
            .items
            .iter()
            .for_each(|item| used(item, before, found)),
        UseTree::Name(name) if name.ident == "self" => found.push(Reexport {
            name: before.last().cloned().unwrap_or_default(),
            target: before.clone(),
        }),
        UseTree::Name(name) => found.push(Reexport {
            name: name.ident.to_string(),
            target: [before.as_slice(), &[name.ident.to_string()]].concat(),
        }),
        UseTree::Rename(rename) => found.push(Reexport {
            name: rename.rename.to_string(),
            target: [before.as_slice(), &[rename.ident.to_string()]].concat(),
        }),
        UseTree::Glob(_) => found.push(Reexport {
            name: "*".to_owned(),
            target: before.clone(),
        }),
    }
}

/// Visitor that collects the inline modules and the re-exports of a file.
struct Declarations<'m> {
    modules: &'m mut Modules,
    module: ModulePath,
    file: usize,
}

impl<'ast> Visit<'ast> for Declarations<'_> {
    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if item.content.is_none() || is_of_tests(&item.attrs) {
            return;
        }
        self.module.push(item.ident.to_string());
        self.modules.files.insert(self.module.clone(), self.file);
        visit::visit_item_mod(self, item);
        self.module.pop();
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        if matches!(item.vis, Visibility::Inherited) || is_of_tests(&item.attrs) {
            return;
        }
        let reexports = self
            .modules
            .reexports
            .entry(self.module.clone())
            .or_default();
        used(&item.tree, &mut Vec::new(), reexports);
    }
}

/// Visitor that collects the files that a file imports.
struct Imports<'m> {
    modules: &'m Modules,
    module: ModulePath,
    files: BTreeSet<usize>,
}

impl Imports<'_> {
    fn add(&mut self, path: &[String]) {
        self.files
            .extend(self.modules.resolve(&self.module, path, 0));
    }

    /// Adds paths in the arguments of a macro, which are only tokens.
    fn add_tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Punct(punct) if punct.as_char() == ':' && !path.is_empty() => {
                    colons += 1
                }
                TokenTree::Ident(ident) if colons == 2 => {
                    path.push(ident.to_string());
                    colons = 0;
                }
                other => {
                    self.add_of_macro(&path);
                    path.clear();
                    colons = 0;
                    match other {
                        TokenTree::Ident(ident) => path.push(ident.to_string()),
                        TokenTree::Group(group) => self.add_tokens(group.stream()),
                        _ => {}
                    }
                }
            }
        }
        self.add_of_macro(&path);
    }

    fn add_of_macro(&mut self, path: &[String]) {
        if path.len() > 1 {
            self.add(path);
        }
    }
}

impl<'ast> Visit<'ast> for Imports<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        let attributes: &[Attribute] = match item {
            Item::Fn(item) => &item.attrs,
            Item::Impl(item) => &item.attrs,
            Item::Mod(item) => &item.attrs,
            Item::Use(item) => &item.attrs,
            _ => &[],
        };
        if !is_of_tests(attributes) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        self.module.push(item.ident.to_string());
        visit::visit_item_mod(self, item);
        self.module.pop();
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        // A file does not depend on items that it only re-exports.
        if matches!(item.vis, Visibility::Inherited) {
            let mut found = Vec::new();
            used(&item.tree, &mut Vec::new(), &mut found);
            found.iter().for_each(|import| self.add(&import.target));
        }
    }

    /// Paths in visibilities are not imports.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> = path
            .segments
            .iter()
            .map(|segment| segment.ident.to_string())
            .collect();
        if names.len() > 1 {
            self.add(&names);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        self.add_tokens(item.tokens.clone());
        visit::visit_macro(self, item);
    }
}

/// The module of a file in `src/`.
fn module_of(file: &Path) -> ModulePath {
    let mut names: ModulePath = file
        .iter()
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    let last = names.pop().unwrap_or_default();
    let stem = last.trim_end_matches(".rs");
    if !["mod", "lib", "main"].contains(&stem) {
        names.push(stem.to_owned());
    }
    names
}

/// A cycle of files.
#[derive(Debug)]
struct Cycle {
    /// The modules of the files.
    files: Vec<String>,
    /// Imports among them, with the size of the largest cycle that would remain without each.
    imports: Vec<(String, String, usize)>,
}

type Graph = DiGraphMap<usize, ()>;

/// The cycles of a graph's files, largest first.
fn cycles_of(graph: &Graph) -> Vec<Vec<usize>> {
    let mut cycles = tarjan_scc(graph);
    cycles.retain(|cycle| cycle.len() > 1);
    cycles.sort_by_key(|cycle| std::cmp::Reverse(cycle.len()));
    cycles
}

/// The import graph of a crate's files.
fn graph_of(files: &[(ModulePath, syn::File)]) -> Graph {
    let mut modules = Modules::default();
    for (number, (module, _)) in files.iter().enumerate() {
        modules.files.insert(module.clone(), number);
    }
    for (file, (module, parsed)) in files.iter().enumerate() {
        Declarations {
            modules: &mut modules,
            module: module.clone(),
            file,
        }
        .visit_file(parsed);
    }
    let mut graph = Graph::new();
    for (file, (module, parsed)) in files.iter().enumerate() {
        let mut imports = Imports {
            modules: &modules,
            module: module.clone(),
            files: BTreeSet::new(),
        };
        imports.visit_file(parsed);
        for other in imports.files.into_iter().filter(|other| *other != file) {
            graph.add_edge(file, other, ());
        }
    }
    graph
}

/// Imports of a crate's files that go up its floors.
fn imports_upwards(
    graph: &Graph,
    files: &[(ModulePath, syn::File)],
    floors: &[&str],
) -> Vec<String> {
    let floor = |file: usize| {
        let module = files[file].0.first()?;
        let is_own = |floor: &&str| floor.split(' ').any(|known| known == module);
        floors.iter().position(is_own)
    };
    let mut found = Vec::new();
    for (file, (module, _)) in files.iter().enumerate() {
        if floor(file).is_none() && !module.is_empty() {
            found.push(format!("{} has no floor", module.join("::")));
        }
    }
    for (from, to, ()) in graph.all_edges() {
        if let (Some(low), Some(high)) = (floor(from), floor(to))
            && low < high
        {
            let [from, to] = [from, to].map(|file| files[file].0.join("::"));
            found.push(format!("{from} imports {to}, which is above it"));
        }
    }
    found.sort();
    found
}

/// The cycles of a crate's files, largest first.
fn cycles(graph: &Graph, files: &[(ModulePath, syn::File)]) -> Vec<Cycle> {
    let name = |file: usize| files[file].0.join("::");
    let described = cycles_of(graph).into_iter().map(|cycle| {
        let edges = graph.all_edges();
        let inside: Vec<(usize, usize)> = edges
            .map(|(from, to, ())| (from, to))
            .filter(|(from, to)| cycle.contains(from) && cycle.contains(to))
            .collect();
        let without = |edge: &(usize, usize)| {
            let others = inside.iter().filter(|other| *other != edge);
            let left = cycles_of(&Graph::from_edges(others));
            (name(edge.0), name(edge.1), left.first().map_or(1, Vec::len))
        };
        let mut imports: Vec<_> = inside.iter().map(without).collect();
        imports.sort_by_key(|(.., left)| *left);
        let mut files: Vec<String> = cycle.iter().map(|file| name(*file)).collect();
        files.sort();
        Cycle { files, imports }
    });
    described.collect()
}

/// Whether a cycle is a small folder: a module and modules directly below it, or all the modules directly below one
/// that only declares them. `modules` are all modules of the crate.
fn is_small_folder(cycle: &[String], modules: &[String]) -> bool {
    let above = |name: &String| {
        name.rsplit_once("::")
            .map_or("", |(above, _)| above)
            .to_owned()
    };
    let Some(first) = cycle.iter().min_by_key(|name| name.len()) else {
        return true;
    };
    let (inside, folder) = (above(first), first.clone());
    let is_folder = cycle
        .iter()
        .all(|name| *name == folder || above(name) == folder);
    let is_inside = |name: &String| above(name) == inside;
    let are_siblings = !inside.is_empty()
        && cycle.iter().all(is_inside)
        && modules
            .iter()
            .filter(|name| is_inside(name))
            .all(|name| cycle.contains(name));
    cycle.len() <= CYCLE_MAX && (is_folder || are_siblings)
}

/// Findings of a crate.
struct Findings {
    modules: Vec<String>,
    cycles: Vec<Cycle>,
    upwards: Vec<String>,
}

/// The cycles and the imports upwards of each crate.
fn of_crates() -> Result<BTreeMap<String, Findings>, String> {
    let mut found = BTreeMap::new();
    let folder = root().join("crates");
    let entries =
        std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let crates = entries.map(|entry| entry.map(|entry| entry.path()));
    for package in crates.chain([Ok(root().join("python"))]) {
        let package = package.map_err(|error| error.to_string())?;
        let source = package.join("src");
        let mut files = Vec::new();
        for path in rust_files(&source) {
            let own = path.strip_prefix(&source).unwrap_or(&path);
            if is_for_tests(own) {
                continue;
            }
            let in_file = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
            let text = std::fs::read_to_string(&path).map_err(|error| in_file(&error))?;
            let parsed = syn::parse_file(&text).map_err(|error| in_file(&error))?;
            files.push((module_of(own), parsed));
        }
        let name = package.file_name().unwrap_or_default();
        let name = name.to_string_lossy().into_owned();
        let graph = graph_of(&files);
        let floors = MODULE_FLOORS.iter().find(|(known, _)| *known == name);
        let findings = Findings {
            modules: files.iter().map(|(module, _)| module.join("::")).collect(),
            cycles: cycles(&graph, &files),
            upwards: floors.map_or_else(Vec::new, |(_, floors)| {
                imports_upwards(&graph, &files, floors)
            }),
        };
        found.insert(name, findings);
    }
    Ok(found)
}

/// Whether a file of `src/` exists only for tests, or is a separate program.
fn is_for_tests(path: &Path) -> bool {
    path.iter().any(|name| {
        let name = name.to_string_lossy();
        ["tests", "testing", "bin", "examples"].contains(&name.trim_end_matches(".rs"))
    })
}

/// Prints every cycle and every import that goes up the floors of a crate; an error if there is such an import, or a
/// cycle that is more than a small folder. For a named crate, also prints the imports within its cycles: first those
/// whose removal would make them smallest.
pub(crate) fn run(named: Option<&str>) -> Result<(), String> {
    let found = of_crates()?;
    let mut too_large = 0;
    for (name, findings, cycle) in found.iter().flat_map(|(name, findings)| {
        let cycles = findings.cycles.iter();
        cycles.map(move |cycle| (name, findings, cycle))
    }) {
        let is_small = is_small_folder(&cycle.files, &findings.modules);
        too_large += usize::from(!is_small);
        let verdict = if is_small {
            "a small folder"
        } else {
            "too large"
        };
        let (count, files) = (cycle.files.len(), cycle.files.join(" "));
        println!("{name}: {count} files, {verdict}: {files}");
        if named == Some(name) {
            for (from, to, left) in &cycle.imports {
                println!("  {from} -> {to}: {left} without");
            }
        }
    }
    let upwards: Vec<&String> = found.values().flat_map(|found| &found.upwards).collect();
    for import in &upwards {
        println!("{import}");
    }
    let summary = format!(
        "imports: {too_large} cycles are too large, {} imports go up",
        upwards.len()
    );
    if too_large > 0 || !upwards.is_empty() {
        return Err(summary);
    }
    println!("{summary}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        let parsed: Vec<_> = files
            .iter()
            .map(|(name, text)| {
                (
                    module_of(Path::new(name)),
                    syn::parse_file(text).expect("Rust"),
                )
            })
            .collect();
        let cycles = cycles(&graph_of(&parsed), &parsed).into_iter();
        cycles.map(|cycle| cycle.files).collect()
    }

    #[test]
    fn files_that_reach_each_other_are_a_cycle() {
        let found = of(&[
            ("a.rs", "use crate::b::B; pub struct A;"),
            ("b.rs", "pub struct B; fn f() { crate::c::f() }"),
            ("c.rs", "pub fn f() { println!(\"{:?}\", crate::a::A) }"),
            ("d.rs", "use super::a::A;"),
        ]);
        assert_eq!(found, [["a", "b", "c"]]);
    }

    #[test]
    fn what_is_passed_on_leads_to_its_file() {
        let found = of(&[
            ("lib.rs", "mod base; pub use base::Tree;"),
            (
                "base/mod.rs",
                "mod tree; mod rows; pub use tree::{Tree, Leaf as Page}; pub use rows::*;",
            ),
            (
                "base/tree.rs",
                "use super::Row; pub struct Tree; pub struct Leaf;",
            ),
            ("base/rows.rs", "pub struct Row;"),
            ("user.rs", "use crate::Tree; use crate::base::Page;"),
        ]);
        assert!(found.is_empty(), "{found:?}");
        let found = of(&[
            ("base/mod.rs", "mod tree; mod rows; pub use tree::Tree;"),
            ("base/tree.rs", "use super::rows::Row; pub struct Tree;"),
            ("base/rows.rs", "use super::Tree; pub struct Row;"),
        ]);
        assert_eq!(found, [["base::rows", "base::tree"]]);
    }

    #[test]
    fn imports_that_go_up_are_found() {
        let parsed: Vec<_> = [
            ("low/mod.rs", "pub struct A;"),
            ("low/child.rs", "use crate::high::B;"),
            ("high.rs", "use crate::low::A; pub struct B;"),
            ("other.rs", ""),
        ]
        .map(|(name, text)| {
            let parsed = syn::parse_file(text).expect("Rust");
            (module_of(Path::new(name)), parsed)
        })
        .into();
        let found = imports_upwards(&graph_of(&parsed), &parsed, &["low", "high"]);
        let expected = [
            "low::child imports high, which is above it",
            "other has no floor",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn tests_do_not_count() {
        let found = of(&[
            (
                "a.rs",
                "pub struct A; #[cfg(test)] mod tests { use crate::b::B; }",
            ),
            ("b.rs", "use crate::a::A; pub struct B;"),
        ]);
        assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn a_small_folder_is_a_module_and_what_is_right_below_it() {
        let names = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        let modules = names(&["base", "base::rows", "base::tree", "exec"]);
        let is_small = |cycle: &[&str]| is_small_folder(&names(cycle), &modules);
        assert!(is_small(&["base", "base::rows", "base::tree"]));
        assert!(is_small(&["base", "base::tree"]));
        assert!(
            is_small(&["base::rows", "base::tree"]),
            "base only declares them"
        );
        assert!(!is_small(&["base", "exec"]));

        let modules = names(&["base", "base::rows", "base::tree", "base::view"]);
        let is_small = |cycle: &[&str]| is_small_folder(&names(cycle), &modules);
        assert!(
            !is_small(&["base::rows", "base::tree"]),
            "base::view is not one of them"
        );
    }
}
