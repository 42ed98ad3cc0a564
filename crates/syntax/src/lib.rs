//! The MySQL 8.4 dialect: from a statement's text to its tree.
//!
//! [`parse`] gives [`ast::Statement`]s. The way is text → tokens (`lexer`) → tree (`parser`), without backtracking, so
//! that an error is where MySQL sees it. The tree has MySQL's nodes alone: the tree of the crate `sqlparser`, with the
//! nodes of many dialects, took more time to compile in each crate that copies, compares or walks over it than the rest
//! of that crate.
//!
//! Architecture invariant: this crate sees no catalog, no value and no session; what a session
//! decides comes in as [`ParseOptions`]. Parsing never panics, and no tree it returns is higher than
//! [`DEPTH_MAX`], so that walking and dropping it needs a bounded stack (see [`with_stack`]).

pub mod ast;
pub mod chain;
mod client_text;
mod compound;
mod digest;
pub mod encodings;
mod error;
mod keywords;
mod lexer;
mod options;
mod parameterize;
mod parser;
mod placeholders;
pub mod printer;
mod secrets;
mod statements;
pub mod window_text;

pub use self::client_text::client_text;
pub use self::compound::CompoundScanner;
pub use self::digest::{digest, digest_hash, digest_text, digest_with_options};
pub use self::error::{SyntaxError, SyntaxErrorKind};
pub use self::keywords::{all_keywords, is_keyword, is_reserved_word};
pub use self::options::ParseOptions;
pub use self::parameterize::{Parameterized, PlainLiteral, parameterize};
pub use self::placeholders::with_parameters;
pub use self::secrets::{text_without_passwords, without_passwords};
pub use self::statements::{
    ParsedStatement, Statements, VariableUse, parse, parse_one, statements, with_stack,
};

/// The greatest height of a statement's tree, in levels; a query block counts as four. MySQL, whose
/// parser lives on a thread stack of 1 MiB, gives up between a thousand and some thousands of levels.
pub const DEPTH_MAX: u32 = 512;

/// The greatest length of a text, in bytes: MySQL's largest `max_allowed_packet`.
pub const LENGTH_MAX: usize = 1 << 30;
