//! The table of errors: name, errno, SQLSTATE, text (the manual, "Server Error Message Reference").

use super::ErrorCode;

macro_rules! codes {
    ($($name:ident = ($errno:literal, $sqlstate:literal, $format:literal);)*) => {
        $(
            #[doc = concat!($errno, ": ", $format)]
            pub const $name: ErrorCode =
                ErrorCode { errno: $errno, sqlstate: $sqlstate, format: $format };
        )*

        /// Every row of the table, by errno.
        pub const ALL: &[ErrorCode] = &[$($name),*];
    };
}

codes! {
    ER_DB_CREATE_EXISTS = (1007, "HY000", "Can't create database '{}'; database exists");
    ER_DB_DROP_EXISTS = (1008, "HY000", "Can't drop database '{}'; database doesn't exist");
    ER_DISK_FULL = (1021, "HY000", "Disk full ({}); {}");
    ER_ERROR_ON_READ = (1024, "HY000", "Error reading file '{}' (errno: {})");
    ER_ERROR_ON_WRITE = (1026, "HY000", "Error writing file '{}' (errno: {})");
    ER_OUT_OF_MEMORY = (1037, "HY001", "Out of memory: {}");
    ER_CON_COUNT_ERROR = (1040, "08004", "Too many connections");
    ER_NO_DB_ERROR = (1046, "3D000", "No database selected");
    ER_BAD_NULL_ERROR = (1048, "23000", "Column '{}' cannot be null");
    ER_BAD_DB_ERROR = (1049, "42000", "Unknown database '{}'");
    ER_TABLE_EXISTS_ERROR = (1050, "42S01", "Table '{}' already exists");
    ER_BAD_TABLE_ERROR = (1051, "42S02", "Unknown table '{}'");
    ER_NON_UNIQ_ERROR = (1052, "23000", "Column '{}' in {} is ambiguous");
    ER_BAD_FIELD_ERROR = (1054, "42S22", "Unknown column '{}' in '{}'");
    ER_WRONG_FIELD_WITH_GROUP = (1055, "42000", "Expression #{} of {} is not in GROUP BY clause and contains nonaggregated column '{}' which is not functionally dependent on columns in GROUP BY clause; this is incompatible with sql_mode=only_full_group_by");
    ER_WRONG_GROUP_FIELD = (1056, "42000", "Can't group on '{}'");
    ER_DUP_FIELDNAME = (1060, "42S21", "Duplicate column name '{}'");
    ER_DUP_KEYNAME = (1061, "42000", "Duplicate key name '{}'");
    ER_DUP_ENTRY = (1062, "23000", "Duplicate entry '{}' for key '{}'");
    ER_PARSE_ERROR = (1064, "42000", "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right syntax to use near '{}' at line {}");
    ER_EMPTY_QUERY = (1065, "42000", "Query was empty");
    ER_NONUNIQ_TABLE = (1066, "42000", "Not unique table/alias: '{}'");
    ER_INVALID_DEFAULT = (1067, "42000", "Invalid default value for '{}'");
    ER_TOO_BIG_FIELDLENGTH = (1074, "42000", "Column length too big for column '{}' (max = {}); use BLOB or TEXT instead");
    ER_FILE_NOT_FOUND = (1017, "HY000", "Can't find file: '{}' (errno: {})");
    ER_FILE_EXISTS_ERROR = (1086, "HY000", "File '{}' already exists");
    ER_UNKNOWN_TABLE = (1109, "42S02", "Unknown table '{}' in {}");
    ER_INVALID_GROUP_FUNC_USE = (1111, "HY000", "Invalid use of group function");
    ER_RECORD_FILE_FULL = (1114, "HY000", "The table '{}' is full");
    ER_RECORD_FILE_FULL_LIMIT = (1114, "HY000", "The table '{}' is full: {}");
    ER_UNKNOWN_CHARACTER_SET = (1115, "42000", "Unknown character set: '{}'");
    ER_UNKNOWN_ERROR = (1105, "HY000", "{}");
    ER_WRONG_VALUE_COUNT_ON_ROW = (1136, "21S01", "Column count doesn't match value count at row {}");
    ER_CANT_REOPEN_TABLE = (1137, "HY000", "Can't reopen table: '{}'");
    ER_MIX_OF_GROUP_FUNC_AND_FIELDS_V2 = (1140, "42000", "In aggregated query without GROUP BY, expression #{} of {} contains nonaggregated column '{}'; this is incompatible with sql_mode=only_full_group_by");
    ER_NO_SUCH_TABLE = (1146, "42S02", "Table '{}.{}' doesn't exist");
    ER_UNKNOWN_SYSTEM_VARIABLE = (1193, "HY000", "Unknown system variable '{}'");
    ER_WRONG_USAGE = (1221, "HY000", "Incorrect usage of {} and {}");
    ER_WRONG_NUMBER_OF_COLUMNS_IN_SELECT = (1222, "21000", "The used SELECT statements have a different number of columns");
    ER_LOCAL_VARIABLE = (1228, "HY000", "Variable '{}' is a SESSION variable and can't be used with SET GLOBAL");
    ER_GLOBAL_VARIABLE = (1229, "HY000", "Variable '{}' is a GLOBAL variable and should be set with SET GLOBAL");
    ER_WRONG_VALUE_FOR_VAR = (1231, "42000", "Variable '{}' can't be set to the value of '{}'");
    ER_WRONG_TYPE_FOR_VAR = (1232, "42000", "Incorrect argument type to variable '{}'");
    ER_CANT_USE_OPTION_HERE = (1234, "42000", "Incorrect usage/placement of '{}'");
    ER_NOT_SUPPORTED_YET = (1235, "42000", "This version of Mayfly doesn't yet support '{}'");
    ER_INCORRECT_GLOBAL_LOCAL_VAR = (1238, "HY000", "Variable '{}' is a {} variable");
    ER_OPERAND_COLUMNS = (1241, "21000", "Operand should contain {} column(s)");
    ER_SUBQUERY_NO_1_ROW = (1242, "21000", "Subquery returns more than 1 row");
    ER_ILLEGAL_REFERENCE = (1247, "42S22", "Reference '{}' not supported ({})");
    ER_DERIVED_MUST_HAVE_ALIAS = (1248, "42000", "Every derived table must have its own alias");
    ER_TABLENAME_NOT_ALLOWED_HERE = (1250, "42000", "Table '{}' from one of the SELECTs cannot be used in {}");
    ER_WARN_TOO_FEW_RECORDS = (1261, "01000", "Row {} doesn't contain data for all columns");
    ER_WARN_TOO_MANY_RECORDS = (1262, "01000", "Row {} was truncated; it contained more data than there were input columns");
    ER_WARN_NULL_TO_NOTNULL = (1263, "22004", "Column set to default value; NULL supplied to NOT NULL column '{}' at row {}");
    ER_WARN_DATA_OUT_OF_RANGE = (1264, "22003", "Out of range value for column '{}' at row {}");
    WARN_DATA_TRUNCATED = (1265, "01000", "Data truncated for column '{}' at row {}");
    ER_CANT_AGGREGATE_2COLLATIONS = (1267, "HY000", "Illegal mix of collations ({},{}) and ({},{}) for operation '{}'");
    ER_UNKNOWN_COLLATION = (1273, "HY000", "Unknown collation: '{}'");
    ER_WARN_DEPRECATED_SYNTAX = (1287, "HY000", "'{}' is deprecated and will be removed in a future release. Please use {} instead");
    ER_OPTION_PREVENTS_STATEMENT = (1290, "HY000", "The MySQL server is running with the {} option so it cannot execute this statement");
    ER_TRUNCATED_WRONG_VALUE = (1292, "22007", "Truncated incorrect {} value: '{}'");
    ER_WRONG_TEMPORAL_VALUE = (1292, "22007", "Incorrect {} value: '{}'");
    ER_WRONG_COLUMN_TEMPORAL_VALUE = (1292, "22007", "Incorrect {} value: '{}' for column '{}' at row {}");
    ER_UNKNOWN_TIME_ZONE = (1298, "HY000", "Unknown or incorrect time zone: '{}'");
    ER_INVALID_CHARACTER_STRING = (1300, "HY000", "Invalid {} character string: '{}'");
    ER_WARN_ALLOWED_PACKET_OVERFLOWED = (1301, "HY000", "Result of {}() was larger than max_allowed_packet ({}) - truncated");
    ER_SP_DOES_NOT_EXIST = (1305, "42000", "{} {} does not exist");
    ER_QUERY_INTERRUPTED = (1317, "70100", "Query execution was interrupted");
    ER_DIVISION_BY_ZERO = (1365, "22012", "Division by 0");
    ER_NO_DEFAULT_FOR_FIELD = (1364, "HY000", "Field '{}' doesn't have a default value");
    ER_TRUNCATED_WRONG_VALUE_FOR_FIELD = (1366, "HY000", "Incorrect {} value: '{}' for column '{}' at row {}");
    ER_CANNOT_CONVERT_STRING = (3854, "HY000", "Cannot convert string '{}' from {} to {}");
    ER_ILLEGAL_VALUE_FOR_TYPE = (1367, "22007", "Illegal {} '{}' value found during parsing");
    ER_VIEW_NO_EXPLAIN = (1345, "HY000", "EXPLAIN/SHOW can not be issued; lacking privileges for underlying table");
    ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT = (1582, "42000", "Incorrect parameter count in the call to native function '{}'");
    ER_WRONG_PARAMETERS_TO_NATIVE_FCT = (1583, "42000", "Incorrect parameters in the call to native function '{}'");
    ER_DATA_TOO_LONG = (1406, "22001", "Data too long for column '{}' at row {}");
    ER_WRONG_ARGUMENTS = (1210, "HY000", "Incorrect arguments to {}");
    ER_DATETIME_FUNCTION_OVERFLOW = (1441, "22008", "Datetime function: {} field overflow");
    ER_STACK_OVERRUN_NEED_MORE = (1436, "HY000", "Thread stack overrun: {} bytes used of a {} byte stack, and {} bytes needed. Use 'mysqld --thread_stack=#' to specify a bigger stack.");
    ER_DATA_OUT_OF_RANGE = (1690, "22003", "{} value is out of range in '{}'");
    ER_VIEW_WRONG_LIST = (1353, "HY000", "In definition of view, derived table or common table expression, SELECT list and column names list have different column counts");
    ER_CTE_RECURSIVE_REQUIRES_UNION = (3573, "HY000", "Recursive Common Table Expression '{}' should contain a UNION");
    ER_CTE_RECURSIVE_REQUIRES_NONRECURSIVE_FIRST = (3574, "HY000", "Recursive Common Table Expression '{}' should have one or more non-recursive query blocks followed by one or more recursive ones");
    ER_CTE_RECURSIVE_FORBIDS_AGGREGATION = (3575, "HY000", "Recursive Common Table Expression '{}' can contain neither aggregation nor window functions in recursive query block");
    ER_CTE_MAX_RECURSION_DEPTH = (3636, "HY000", "Recursive query aborted after {} iterations. Try increasing @@cte_max_recursion_depth to a larger value.");
    ER_INVALID_JSON_TEXT = (3140, "22032", "Invalid JSON text: \"{}\" at position {} in value for column '{}'.");
    ER_INVALID_JSON_TEXT_IN_PARAM = (3141, "22032", "Invalid JSON text in argument {} to function {}: \"{}\" at position {}.");
    ER_INVALID_JSON_PATH = (3143, "42000", "Invalid JSON path expression. The error is around character position {}.");
    ER_INVALID_TYPE_FOR_JSON = (3146, "22032", "Invalid data type for JSON data in argument {} to function {}; a JSON string or JSON type is required.");
    ER_INVALID_BITWISE_OPERANDS_SIZE = (3513, "HY000", "Binary operands of bitwise operators must be of equal length");
    ER_TABLE_WITHOUT_COLUMNS = (1113, "42000", "A table must have at least 1 column");
}
