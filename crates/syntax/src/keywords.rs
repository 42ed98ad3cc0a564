//! MySQL 8.4's keywords: which exist, which are reserved, and which are keywords only directly
//! before a parenthesis (manual section "Function Name Parsing and Resolution").
//!
//! A word is looked up once, while the text is cut into tokens; the parser then compares numbers.
//! The table is a hash table with open addressing, filled at compile time.

macro_rules! keywords {
    (
        reserved: [$($reserved:ident)*]
        plain: [$($plain:ident)*]
        call: [$($call:ident)*]
    ) => {
        /// A keyword; `OTHER` is every other word.
        #[expect(non_camel_case_types, reason = "spelled as the manual and the text do")]
        #[expect(clippy::upper_case_acronyms, reason = "spelled as the manual and the text do")]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(u16)]
        pub(crate) enum Kw {
            $($reserved,)*
            $($plain,)*
            $($call,)*
            OTHER,
        }

        /// Every keyword with its spelling, in the order of their numbers.
        static KEYWORDS: &[(&str, Kw)] = &[
            $((stringify!($reserved), Kw::$reserved),)*
            $((stringify!($plain), Kw::$plain),)*
            $((stringify!($call), Kw::$call),)*
        ];

        const RESERVED_COUNT: u16 = [$(Kw::$reserved),*].len() as u16;
        const CALL_START: u16 = RESERVED_COUNT + [$(Kw::$plain),*].len() as u16;
    };
}

keywords! {
    reserved: [
        ACCESSIBLE ADD ALL ALTER ANALYZE AND AS ASC ASENSITIVE BEFORE BETWEEN BIGINT BINARY
        BLOB BOTH BY CALL CASCADE CASE CHANGE CHAR CHARACTER CHECK COLLATE COLUMN CONDITION
        CONSTRAINT CONTINUE CONVERT CREATE CROSS CUBE CUME_DIST CURRENT_DATE CURRENT_TIME
        CURRENT_TIMESTAMP CURRENT_USER CURSOR DATABASE DATABASES DAY_HOUR DAY_MICROSECOND
        DAY_MINUTE DAY_SECOND DEC DECIMAL DECLARE DEFAULT DELAYED DELETE DENSE_RANK DESC
        DESCRIBE DETERMINISTIC DISTINCT DISTINCTROW DIV DOUBLE DROP DUAL EACH ELSE ELSEIF
        EMPTY ENCLOSED ESCAPED EXCEPT EXISTS EXIT EXPLAIN FALSE FETCH FIRST_VALUE FLOAT FLOAT4
        FLOAT8 FOR FORCE FOREIGN FROM FULLTEXT FUNCTION GENERATED GET GRANT GROUP GROUPING
        GROUPS HAVING HIGH_PRIORITY HOUR_MICROSECOND HOUR_MINUTE HOUR_SECOND IF IGNORE IN
        INDEX INFILE INNER INOUT INSENSITIVE INSERT INT INT1 INT2 INT3 INT4 INT8 INTEGER
        INTERSECT INTERVAL INTO IO_AFTER_GTIDS IO_BEFORE_GTIDS IS ITERATE JOIN JSON_TABLE KEY
        KEYS KILL LAG LAST_VALUE LATERAL LEAD LEADING LEAVE LEFT LIKE LIMIT LINEAR LINES LOAD
        LOCALTIME LOCALTIMESTAMP LOCK LONG LONGBLOB LONGTEXT LOOP LOW_PRIORITY MANUAL MATCH
        MAXVALUE MEDIUMBLOB MEDIUMINT MEDIUMTEXT MIDDLEINT MINUTE_MICROSECOND MINUTE_SECOND
        MOD MODIFIES NATURAL NOT NO_WRITE_TO_BINLOG NTH_VALUE NTILE NULL NUMERIC OF ON
        OPTIMIZE OPTIMIZER_COSTS OPTION OPTIONALLY OR ORDER OUT OUTER OUTFILE OVER PARALLEL
        PARTITION PERCENT_RANK PRECISION PRIMARY PROCEDURE PURGE QUALIFY RANGE RANK READ READS
        READ_WRITE REAL RECURSIVE REFERENCES REGEXP RELEASE RENAME REPEAT REPLACE REQUIRE
        RESIGNAL RESTRICT RETURN REVOKE RIGHT RLIKE ROW ROWS ROW_NUMBER SCHEMA SCHEMAS
        SECOND_MICROSECOND SELECT SENSITIVE SEPARATOR SET SHOW SIGNAL SMALLINT SPATIAL
        SPECIFIC SQL SQLEXCEPTION SQLSTATE SQLWARNING SQL_BIG_RESULT SQL_CALC_FOUND_ROWS
        SQL_SMALL_RESULT SSL STARTING STORED STRAIGHT_JOIN SYSTEM TABLE TABLESAMPLE TERMINATED
        THEN TINYBLOB TINYINT TINYTEXT TO TRAILING TRIGGER TRUE UNDO UNION UNIQUE UNLOCK
        UNSIGNED UPDATE USAGE USE USING UTC_DATE UTC_TIME UTC_TIMESTAMP VALUES VARBINARY
        VARCHAR VARCHARACTER VARYING VIRTUAL WHEN WHERE WHILE WINDOW WITH WRITE XOR YEAR_MONTH
        ZEROFILL
    ]
    plain: [
        ACCOUNT ACTION ACTIVE ADMIN AFTER AGAINST AGGREGATE ALGORITHM ALWAYS ANY ARRAY ASCII
        AT ATTRIBUTE AUTHENTICATION AUTO AUTOEXTEND_SIZE AUTO_INCREMENT AVG AVG_ROW_LENGTH
        BACKUP BEGIN BERNOULLI BINLOG BIT BLOCK BOOL BOOLEAN BTREE BUCKETS BULK BYTE CACHE
        CASCADED CATALOG_NAME CHAIN CHALLENGE_RESPONSE CHANGED CHANNEL CHARSET CHECKSUM CIPHER
        CLASS_ORIGIN CLIENT CLONE CLOSE COALESCE CODE COLLATION COLUMNS COLUMN_FORMAT
        COLUMN_NAME COMMENT COMMIT COMMITTED COMPACT COMPLETION COMPONENT COMPRESSED
        COMPRESSION CONCURRENT CONNECTION CONSISTENT CONSTRAINT_CATALOG CONSTRAINT_NAME
        CONSTRAINT_SCHEMA CONTAINS CONTEXT CPU CURRENT CURSOR_NAME DATA DATAFILE DATE DATETIME
        DAY DEALLOCATE DEFAULT_AUTH DEFINER DEFINITION DELAY_KEY_WRITE DESCRIPTION DIAGNOSTICS
        DIRECTORY DISABLE DISCARD DISK DO DUMPFILE DUPLICATE DYNAMIC ENABLE ENCRYPTION END
        ENDS ENFORCED ENGINE ENGINES ENGINE_ATTRIBUTE ENUM ERROR ERRORS ESCAPE EVENT EVENTS
        EVERY EXCHANGE EXCLUDE EXECUTE EXPANSION EXPIRE EXPORT EXTENDED EXTENT_SIZE FACTOR
        FAILED_LOGIN_ATTEMPTS FAST FAULTS FIELDS FILE FILE_BLOCK_SIZE FILTER FINISH FIRST
        FIXED FLUSH FOLLOWING FOLLOWS FORMAT FOUND FULL GENERAL GENERATE GEOMCOLLECTION
        GEOMETRY GEOMETRYCOLLECTION GET_FORMAT GET_SOURCE_PUBLIC_KEY GLOBAL GRANTS
        GROUP_REPLICATION GTIDS GTID_ONLY HANDLER HASH HELP HISTOGRAM HISTORY HOST HOSTS HOUR
        IDENTIFIED IGNORE_SERVER_IDS IMPORT INACTIVE INDEXES INITIAL INITIAL_SIZE INITIATE
        INSERT_METHOD INSTALL INSTANCE INVISIBLE INVOKER IO IO_THREAD IPC ISOLATION ISSUER
        JSON JSON_VALUE KEYRING KEY_BLOCK_SIZE LANGUAGE LAST LEAVES LESS LEVEL LINESTRING LIST
        LOCAL LOCKED LOCKS LOG LOGFILE LOGS MASTER MAX_CONNECTIONS_PER_HOUR
        MAX_QUERIES_PER_HOUR MAX_ROWS MAX_SIZE MAX_UPDATES_PER_HOUR MAX_USER_CONNECTIONS
        MEDIUM MEMBER MEMORY MERGE MESSAGE_TEXT MICROSECOND MIGRATE MINUTE MIN_ROWS MODE
        MODIFY MONTH MULTILINESTRING MULTIPOINT MULTIPOLYGON MUTEX MYSQL_ERRNO NAME NAMES
        NATIONAL NCHAR NDB NDBCLUSTER NESTED NETWORK_NAMESPACE NEVER NEW NEXT NO NODEGROUP
        NONE NOWAIT NO_WAIT NULLS NUMBER NVARCHAR OFF OFFSET OJ OLD ONE ONLY OPEN OPTIONAL
        OPTIONS ORDINALITY ORGANIZATION OTHERS OWNER PACK_KEYS PAGE PARSER PARSE_TREE PARTIAL
        PARTITIONING PARTITIONS PASSWORD PASSWORD_LOCK_TIME PATH PERSIST PERSIST_ONLY PHASE
        PLUGIN PLUGINS PLUGIN_DIR POINT POLYGON PORT PRECEDES PRECEDING PREPARE PRESERVE PREV
        PRIVILEGES PRIVILEGE_CHECKS_USER PROCESS PROCESSLIST PROFILE PROFILES PROXY QUARTER
        QUERY QUICK RANDOM READ_ONLY REBUILD RECOVER REDUNDANT REFERENCE REGISTRATION RELAY
        RELAYLOG RELAY_LOG_FILE RELAY_LOG_POS RELAY_THREAD RELOAD REMOVE REORGANIZE REPAIR
        REPEATABLE REPLICA REPLICAS REPLICATION REQUIRE_ROW_FORMAT RESET RESOURCE RESPECT
        RESTART RESTORE RESUME RETAIN RETURNED_SQLSTATE RETURNING RETURNS REUSE REVERSE ROLE
        ROLLBACK ROLLUP ROTATE ROUTINE ROW_COUNT ROW_FORMAT RTREE SAVEPOINT SCHEDULE
        SCHEMA_NAME SECOND SECONDARY SECONDARY_ENGINE SECONDARY_ENGINE_ATTRIBUTE
        SECONDARY_LOAD SECONDARY_UNLOAD SECURITY SERIAL SERIALIZABLE SERVER SESSION SHARE
        SHUTDOWN SIGNED SIMPLE SKIP SLAVE SLOW SNAPSHOT SOCKET SOME SONAME SOUNDS SOURCE
        SQL_AFTER_GTIDS SQL_BEFORE_GTIDS SQL_BUFFER_RESULT SQL_NO_CACHE SQL_THREAD SQL_TSI_DAY
        SQL_TSI_HOUR SQL_TSI_MINUTE SQL_TSI_MONTH SQL_TSI_QUARTER SQL_TSI_SECOND SQL_TSI_WEEK
        SQL_TSI_YEAR SRID STACKED START STARTS STATS_AUTO_RECALC STATS_PERSISTENT
        STATS_SAMPLE_PAGES STATUS STOP STORAGE STREAM STRING SUBCLASS_ORIGIN SUBJECT
        SUBPARTITION SUBPARTITIONS SUPER SUSPEND SWAPS SWITCHES TABLES TABLESPACE
        TABLE_CHECKSUM TABLE_NAME TEMPORARY TEMPTABLE TEXT THAN THREAD_PRIORITY TIES TIME
        TIMESTAMP TIMESTAMPADD TIMESTAMPDIFF TLS TRANSACTION TRIGGERS TRUNCATE TYPE TYPES
        UNBOUNDED UNCOMMITTED UNDEFINED UNDOFILE UNDO_BUFFER_SIZE UNICODE UNINSTALL UNKNOWN
        UNREGISTER UNTIL UPGRADE URL USER USER_RESOURCES USE_FRM VALIDATION VALUE VARIABLES
        VCPU VECTOR VIEW VISIBLE WAIT WARNINGS WEEK WEIGHT_STRING WITHOUT WORK WRAPPER X509 XA
        XID XML YEAR ZONE
    ]
    call: [
        ADDDATE BIT_AND BIT_OR BIT_XOR CAST COUNT CURDATE CURTIME DATE_ADD DATE_SUB EXTRACT
        GROUP_CONCAT JSON_ARRAYAGG JSON_OBJECTAGG MAX MID MIN NOW POSITION SESSION_USER STD
        STDDEV STDDEV_POP STDDEV_SAMP SUBDATE SUBSTR SUBSTRING SUM SYSDATE SYSTEM_USER TRIM
        VARIANCE VAR_POP VAR_SAMP
    ]
}

/// An array of keywords: `kw![NOT NULL]`.
macro_rules! kw {
    ($($keyword:ident)*) => {
        [$($crate::keywords::Kw::$keyword),*]
    };
}
pub(crate) use kw;

/// Size of the hash table: a power of two well above the number of keywords, so that probes stay
/// short.
const SLOTS: usize = 4096;
const EMPTY: u16 = u16::MAX;
const _: () = assert!(KEYWORDS_COUNT * 4 < SLOTS);
const KEYWORDS_COUNT: usize = Kw::OTHER as usize;

static TABLE: [u16; SLOTS] = fill();

const fn fill() -> [u16; SLOTS] {
    let mut table = [EMPTY; SLOTS];
    let mut index = 0;
    while index < KEYWORDS.len() {
        let mut slot = hash(KEYWORDS[index].0.as_bytes());
        while table[slot] != EMPTY {
            slot = (slot + 1) % SLOTS;
        }
        table[slot] = index as u16;
        index += 1;
    }
    table
}

/// FNV-1a hash of a word regardless of case. Underscore and digits have bit 5 cleared or kept alike
/// in both spellings, so setting it is harmless.
const fn hash(word: &[u8]) -> usize {
    let mut hash: u32 = 0x811c_9dc5;
    let mut index = 0;
    while index < word.len() {
        hash = (hash ^ (word[index] | 0x20) as u32).wrapping_mul(0x0100_0193);
        index += 1;
    }
    ((hash >> 15) ^ hash) as usize % SLOTS
}

impl Kw {
    /// The keyword that a word spells, whatever its case.
    pub(crate) fn lookup(word: &[u8]) -> Kw {
        let mut slot = hash(word);
        loop {
            match TABLE
                .get(slot)
                .and_then(|index| KEYWORDS.get(usize::from(*index)))
            {
                Some((spelling, keyword)) if word.eq_ignore_ascii_case(spelling.as_bytes()) => {
                    return *keyword;
                }
                Some(_) => slot = (slot + 1) % SLOTS,
                None => return Kw::OTHER,
            }
        }
    }

    /// Whether the word cannot be an identifier unless quoted.
    pub(crate) fn is_reserved(self) -> bool {
        (self as u16) < RESERVED_COUNT
    }

    /// Whether the word is a keyword only directly before a parenthesis.
    pub(crate) fn is_call_only(self) -> bool {
        (self as u16) >= CALL_START && self != Kw::OTHER
    }

    /// The keyword in capitals; empty for `OTHER`.
    pub(crate) fn spelling(self) -> &'static str {
        KEYWORDS
            .get(self as usize)
            .map_or("", |(spelling, _)| spelling)
    }
}

/// Whether a word, whatever its case, has to be quoted to be an identifier.
pub fn is_reserved_word(word: &str) -> bool {
    Kw::lookup(word.as_bytes()).is_reserved()
}

/// Whether a word, whatever its case, is a keyword, reserved or not.
pub fn is_keyword(word: &str) -> bool {
    Kw::lookup(word.as_bytes()) != Kw::OTHER
}

/// Every keyword in capitals, for completion in a shell.
pub fn all_keywords() -> impl Iterator<Item = &'static str> {
    KEYWORDS.iter().map(|(spelling, _)| *spelling)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_keyword_is_found_in_any_case() {
        for (index, (spelling, keyword)) in KEYWORDS.iter().enumerate() {
            assert_eq!(*keyword as usize, index);
            assert_eq!(Kw::lookup(spelling.as_bytes()), *keyword);
            assert_eq!(Kw::lookup(spelling.to_lowercase().as_bytes()), *keyword);
            assert_eq!(keyword.spelling(), *spelling);
        }
        assert_eq!(Kw::lookup(b"gtest"), Kw::OTHER);
        assert_eq!(Kw::lookup(b""), Kw::OTHER);
    }

    #[test]
    fn reserved_and_call_only_words() {
        assert!(Kw::SELECT.is_reserved() && Kw::ZEROFILL.is_reserved());
        assert!(!Kw::STATUS.is_reserved() && !Kw::COUNT.is_reserved());
        assert!(Kw::COUNT.is_call_only() && !Kw::YEAR.is_call_only() && !Kw::OTHER.is_call_only());
        assert!(is_reserved_word("rank") && !is_reserved_word("date"));
    }
}
