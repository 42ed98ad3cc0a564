//! Compound statements of stored programs: where a semicolon ends a statement, and where it only ends one inside another
//! (the manual, "Compound Statement Syntax").
//!
//! Only the definitions of procedures, functions, triggers and events, and MariaDB's `BEGIN NOT ATOMIC`, contain such
//! statements; anywhere else BEGIN, IF and REPEAT have other meanings. A [`CompoundScanner`] reads the words and symbols
//! of one statement and keeps a stack of the blocks that are open. The words are keywords by their place: IF, REPEAT
//! and the like begin a block only where a statement may begin, and CASE begins an expression anywhere else. So no
//! parser is needed, and each reader of texts may have its own kind of tokens: the lexer, the shell, which reads a
//! script piece by piece, and the advisor.

/// A scanner of one statement.
#[derive(Debug, Clone, Default)]
pub struct CompoundScanner {
    part: Part,
    /// Depth of parentheses before the body.
    depth: usize,
    /// The blocks that are open, the innermost last.
    blocks: Vec<Block>,
    /// Whether a statement of a block begins here.
    at_statement: bool,
    /// Whether the word before this may be a label.
    behind_label: bool,
    /// Whether an END was before this: the kind of its block may follow.
    behind_end: bool,
    /// Whether the statement of a handler is still to come.
    in_handler: bool,
    /// Whether the next word means nothing: a name, or a type.
    skips_word: bool,
}

/// Part of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Part {
    #[default]
    Start,
    /// Behind CREATE or ALTER: the kind of object is not known yet.
    Definition,
    /// Before the body of a program.
    Header(Program),
    /// Behind what must come before the body; clauses of the header may still follow.
    BeforeBody,
    /// Behind BEGIN, or BEGIN NOT: ATOMIC would begin a block.
    Begin,
    /// In a block.
    Body,
    /// No block can follow.
    Plain,
}

/// Kind of a stored program, as far as its header differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Program {
    /// The body follows the list of parameters.
    Routine,
    /// The body follows FOR EACH ROW.
    Trigger,
    /// The body follows DO.
    Event,
}

/// Kind of an open block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Block {
    /// BEGIN, LOOP, and others whose statements have begun.
    Statements,
    /// IF and the statement CASE: statements follow THEN and ELSE.
    Branches,
    /// WHILE and FOR: statements follow DO.
    BeforeDo,
    /// REPEAT: UNTIL ends its statements.
    Repeat,
    /// The condition behind UNTIL.
    Until,
    /// The expression CASE.
    Expression,
}

impl CompoundScanner {
    /// Whether a semicolon here is inside the statement.
    pub fn is_open(&self) -> bool {
        self.blocks.iter().any(|block| *block != Block::Expression)
    }

    /// Whether every later semicolon ends the statement, so that the rest of it need not be read.
    pub fn is_plain(&self) -> bool {
        self.part == Part::Plain
    }

    /// Reads a word without quotes.
    pub fn word(&mut self, word: &[u8]) {
        if std::mem::take(&mut self.skips_word) {
            return;
        }
        let is = |keyword: &str| word.eq_ignore_ascii_case(keyword.as_bytes());
        let is_one_of = |keywords: &[&str]| keywords.iter().any(|keyword| is(keyword));
        match self.part {
            Part::Start if is("BEGIN") => self.part = Part::Begin,
            Part::Start if is_one_of(&["CREATE", "ALTER"]) => self.part = Part::Definition,
            Part::Start => self.part = Part::Plain,
            Part::Definition if is_one_of(&["PROCEDURE", "FUNCTION"]) => {
                self.part = Part::Header(Program::Routine);
            }
            Part::Definition if is("TRIGGER") => self.part = Part::Header(Program::Trigger),
            Part::Definition if is("EVENT") => self.part = Part::Header(Program::Event),
            Part::Definition if is_one_of(OBJECTS) => self.part = Part::Plain,
            Part::Header(Program::Trigger) if is("ROW") => self.part = Part::BeforeBody,
            Part::Header(Program::Event) if is("DO") => self.part = Part::BeforeBody,
            Part::BeforeBody if self.depth == 0 => self.word_before_body(word),
            Part::Begin if is("ATOMIC") => self.open(Block::Statements, true),
            Part::Begin if !is("NOT") => self.part = Part::Plain,
            Part::Body => self.word_in_body(word),
            _ => {}
        }
    }

    fn word_before_body(&mut self, word: &[u8]) {
        if word.eq_ignore_ascii_case(b"RETURNS") {
            self.skips_word = true;
        } else if !self.begins_block(word) && is_verb(word) {
            self.part = Part::Plain;
        }
    }

    /// Opens the block that a word begins where a statement may begin, if it does.
    fn begins_block(&mut self, word: &[u8]) -> bool {
        let (block, begins_statement) = match () {
            () if word.eq_ignore_ascii_case(b"BEGIN") => (Block::Statements, true),
            () if word.eq_ignore_ascii_case(b"LOOP") => (Block::Statements, true),
            () if word.eq_ignore_ascii_case(b"REPEAT") => (Block::Repeat, true),
            () if word.eq_ignore_ascii_case(b"IF") => (Block::Branches, false),
            () if word.eq_ignore_ascii_case(b"CASE") => (Block::Branches, false),
            () if word.eq_ignore_ascii_case(b"WHILE") => (Block::BeforeDo, false),
            () if word.eq_ignore_ascii_case(b"FOR") => (Block::BeforeDo, false),
            () => return false,
        };
        self.open(block, begins_statement);
        true
    }

    fn open(&mut self, block: Block, begins_statement: bool) {
        self.part = Part::Body;
        self.blocks.push(block);
        self.at_statement = begins_statement;
        self.in_handler = false;
    }

    fn close(&mut self) {
        let closed = self.blocks.pop();
        self.behind_end = closed != Some(Block::Expression);
        if !self.is_open() {
            self.part = Part::Plain;
        }
    }

    fn word_in_body(&mut self, word: &[u8]) {
        let is = |keyword: &str| word.eq_ignore_ascii_case(keyword.as_bytes());
        let at_statement = std::mem::take(&mut self.at_statement);
        let behind_end = std::mem::take(&mut self.behind_end);
        self.behind_label = false;
        // END IF
        if behind_end {
            return;
        }
        match self.blocks.last().copied() {
            Some(Block::Expression | Block::Until) if is("END") => self.close(),
            _ if at_statement && is("END") => self.close(),
            Some(Block::Branches) if at_statement && is("ELSE") => self.at_statement = true,
            Some(Block::Branches) if !at_statement && is("THEN") => self.at_statement = true,
            Some(Block::BeforeDo) if is("DO") => {
                self.at_statement = true;
                if let Some(block) = self.blocks.last_mut() {
                    *block = Block::Statements;
                }
            }
            Some(Block::Repeat) if at_statement && is("UNTIL") => {
                if let Some(block) = self.blocks.last_mut() {
                    *block = Block::Until;
                }
            }
            _ if at_statement && self.begins_block(word) => {}
            _ if at_statement => self.behind_label = true,
            _ if is("HANDLER") => self.in_handler = true,
            // The statement of a handler follows the conditions behind its FOR.
            _ if self.in_handler && !is("FOR") && self.begins_block(word) => {}
            _ if is("CASE") => self.open(Block::Expression, false),
            _ if self.in_handler && is_verb(word) => self.in_handler = false,
            _ => {}
        }
    }

    /// Reads a character outside of words and quotes.
    pub fn symbol(&mut self, symbol: u8) {
        match (self.part, symbol) {
            (Part::Start, _) if symbol != b';' => self.part = Part::Plain,
            // DEFINER = name
            (Part::Definition, b'=' | b'@') => self.skips_word = true,
            (Part::Header(_) | Part::BeforeBody, b'(') => self.depth += 1,
            (Part::Header(_) | Part::BeforeBody, b')') => {
                self.depth = self.depth.saturating_sub(1);
                if self.depth == 0 && self.part == Part::Header(Program::Routine) {
                    self.part = Part::BeforeBody;
                }
            }
            (Part::Body, _) => {
                let behind_label = std::mem::take(&mut self.behind_label);
                self.behind_end = false;
                self.at_statement = symbol == b';' || (symbol == b':' && behind_label);
                self.in_handler &= symbol != b';';
            }
            _ => {}
        }
    }

    /// Reads a quoted name, a string, a number, a variable or the like.
    pub fn other(&mut self) {
        self.skips_word = false;
        match self.part {
            Part::Start => self.part = Part::Plain,
            Part::Body => {
                self.behind_label = std::mem::take(&mut self.at_statement);
                self.behind_end = false;
            }
            _ => {}
        }
    }
}

/// What CREATE and ALTER define that has no body.
const OBJECTS: &[&str] = &[
    "DATABASE",
    "INDEX",
    "INSTANCE",
    "LOGFILE",
    "REFERENCE",
    "RESOURCE",
    "ROLE",
    "SCHEMA",
    "SEQUENCE",
    "SERVER",
    "TABLE",
    "TABLESPACE",
    "USER",
    "VIEW",
];

/// Whether a word begins a statement that is no block.
fn is_verb(word: &[u8]) -> bool {
    const VERBS: &[&str] = &[
        "ALTER", "CALL", "CREATE", "DELETE", "DO", "DROP", "EXECUTE", "INSERT", "LEAVE", "REPLACE",
        "RESIGNAL", "RETURN", "SELECT", "SET", "SIGNAL", "TRUNCATE", "UPDATE", "VALUES", "WITH",
    ];
    VERBS
        .iter()
        .any(|verb| word.eq_ignore_ascii_case(verb.as_bytes()))
}

#[cfg(test)]
mod tests {
    use crate::ParseOptions;
    use crate::lexer::lex_statement;

    /// The statements of a text, without blanks around them.
    fn split(text: &str) -> Vec<&str> {
        let mut statements = Vec::new();
        let mut at = 0;
        while at < text.len() {
            let next = lex_statement(text, at, &ParseOptions::MYSQL_DEFAULT).next;
            statements.push(text[at..next].trim().trim_end_matches(';').trim_end());
            at = next;
        }
        statements.retain(|statement| !statement.is_empty());
        statements
    }

    #[test]
    fn programs_end_behind_their_last_block() {
        for program in [
            "CREATE PROCEDURE p() BEGIN SELECT 1; SELECT 2; END",
            "CREATE PROCEDURE p() SELECT IF(1, 2, 3)",
            "create or replace procedure p (a int, b set('x;', ')')) begin end",
            "CREATE DEFINER=begin@localhost PROCEDURE IF NOT EXISTS p() outer_: BEGIN LEAVE outer_; END outer_",
            "CREATE DEFINER = CURRENT_USER() FUNCTION f(a INT) RETURNS SET('a') DETERMINISTIC COMMENT 'BEGIN' \
             BEGIN DECLARE x INT DEFAULT CASE a WHEN 1 THEN IF(a, 1, 2) ELSE 3 END; RETURN x; END",
            "CREATE FUNCTION f() RETURNS INT RETURN CASE WHEN 1 THEN 2 END",
            "CREATE FUNCTION f() RETURNS TEXT RETURN REPEAT('a', 2)",
            "CREATE FUNCTION f RETURNS STRING SONAME 'begin.so'",
            "CREATE PROCEDURE p() IF (a) THEN SELECT 1; ELSEIF b THEN SELECT 2; ELSE SELECT 3; END IF",
            "CREATE PROCEDURE p() CASE a WHEN 1 THEN SELECT CASE WHEN a THEN 1 END; ELSE BEGIN END; END CASE",
            "CREATE PROCEDURE p() BEGIN IF a THEN IF b THEN SELECT 1; END IF; END IF; SELECT 2; END",
            "CREATE PROCEDURE p() l: LOOP SET a = a + 1; IF a > 3 THEN LEAVE l; END IF; END LOOP l",
            "CREATE PROCEDURE p() BEGIN `l`: WHILE a DO DO IF(a, 1, 2); SET a = 0; END WHILE `l`; END",
            "CREATE PROCEDURE p() REPEAT SET a = REPEAT('x', 2); UNTIL CASE a WHEN 1 THEN 2 END END REPEAT",
            "CREATE PROCEDURE p() BEGIN DECLARE EXIT HANDLER FOR 1062, SQLSTATE '23000' BEGIN SELECT 1; END; \
             DECLARE CONTINUE HANDLER FOR NOT FOUND SET done = IF(a, 1, 2); SELECT 2; END",
            "CREATE PROCEDURE p() BEGIN SELECT 1 AS end; DROP TABLE IF EXISTS t; SELECT 'END;' /* END; */; END",
            "CREATE TRIGGER begin BEFORE INSERT ON t FOR EACH ROW FOLLOWS x BEGIN SET NEW.a = 1; END",
            "CREATE TRIGGER x BEFORE INSERT ON t FOR EACH ROW SET NEW.a = IF(1, 2, 3)",
            "CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO BEGIN SELECT 1; END",
            "ALTER EVENT e DO IF 1 THEN SELECT 1; END IF",
            "/*!50003 CREATE*/ /*!50017 DEFINER=`root`@`localhost`*/ /*!50003 TRIGGER x BEFORE INSERT ON t FOR EACH \
             ROW BEGIN SELECT 1; END */",
            "BEGIN NOT ATOMIC SELECT 1; SELECT 2; END",
        ] {
            let text = format!("SELECT 0;{program}; SELECT 'after';");
            assert_eq!(split(&text), ["SELECT 0", program, "SELECT 'after'"]);
        }
    }

    #[test]
    fn other_statements_end_at_semicolons() {
        for statement in [
            "BEGIN",
            "BEGIN WORK",
            "SELECT IF(1, 2, 3)",
            "CREATE TABLE begin (event INT, a INT AS (CASE WHEN event THEN 1 END))",
            "CREATE VIEW trigger_ AS SELECT 1",
            "CREATE DEFINER = procedure@localhost VIEW v AS SELECT 1",
            "CREATE TABLE t SELECT REPEAT('a', 3)",
            "ALTER TABLE t ADD COLUMN function_ INT",
            "CREATE USER event",
            "CALL p()",
            "IF 1 THEN",
        ] {
            let text = format!("{statement}; SELECT 2");
            assert_eq!(split(&text), [statement, "SELECT 2"]);
        }
    }

    #[test]
    fn a_program_without_its_end_takes_the_rest() {
        let text = "CREATE PROCEDURE p() BEGIN SELECT 1; SELECT 2;";
        assert_eq!(split(text), [&text[..text.len() - 1]]);
    }
}
