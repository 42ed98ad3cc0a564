// The test suite of Java's Connector/J: plain statements, prepared ones at the client and at the server, cursors, metadata.
import java.io.ByteArrayInputStream;
import java.io.StringReader;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Savepoint;
import java.sql.Statement;
import java.sql.Types;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;

public class Round {
    static final Map<String, String> ENV = System.getenv();
    static final String SERVER = ENV.get("ROUND_SERVER"); // mayfly, mysql or mariadb
    static final String DATABASE = ENV.get("ROUND_DATABASE");
    static final int MIB = 1 << 20;

    interface Work {
        void run() throws Exception;
    }

    static class Skip extends RuntimeException {
        Skip(String reason) {
            super(reason);
        }
    }

    static int failed = 0;

    static void check(String name, Work work) {
        if (!name.contains(ENV.getOrDefault("ROUND_CHECK", ""))) {
            return;
        }
        try {
            work.run();
            System.out.println("ok " + name);
        } catch (Skip why) {
            System.out.println("skip " + name + ": " + why.getMessage());
        } catch (Throwable why) {
            failed++;
            int line = Arrays.stream(why.getStackTrace()).filter(f -> "Round.java".equals(f.getFileName()) && f.getMethodName().startsWith("lambda"))
                .mapToInt(StackTraceElement::getLineNumber).findFirst().orElse(0);
            System.out.println("FAIL " + name + ": " + String.valueOf(why).replaceAll("\\s+", " ") + " (Round.java:" + line + ")");
        }
    }

    static void needs(boolean condition, String reason) {
        if (!condition) {
            throw new Skip(reason);
        }
    }

    static void equal(Object got, Object expected, String what) {
        boolean same = got instanceof byte[] one && expected instanceof byte[] other ? Arrays.equals(one, other) : Objects.equals(got, expected);
        if (!same) {
            throw new AssertionError(what + ": got " + shorten(got) + ", expected " + shorten(expected));
        }
    }

    static String shorten(Object value) {
        String text = value instanceof byte[] bytes ? Arrays.toString(bytes) : String.valueOf(value);
        return (value == null ? "" : value.getClass().getSimpleName() + " ") + (text.length() > 300 ? text.substring(0, 300) + "..." : text);
    }

    static void isTrue(boolean condition, String what) {
        if (!condition) {
            throw new AssertionError(what);
        }
    }

    static List<String[]> rowsOf(String name) throws Exception {
        List<String[]> rows = new ArrayList<>();
        for (String line : Files.readAllLines(Path.of(ENV.get("ROUND_COMMON"), name))) {
            rows.add(line.split("\t", -1));
        }
        return rows;
    }

    // Options are name=value pairs; `user`, `password` and `database` are the account's and the schema's.
    static Connection open(String... options) throws SQLException {
        Properties properties = new Properties();
        properties.setProperty("user", ENV.get("ROUND_USER"));
        properties.setProperty("password", ENV.getOrDefault("ROUND_PASSWORD", ""));
        properties.setProperty("sslMode", "DISABLED");
        properties.setProperty("allowPublicKeyRetrieval", "true");
        properties.setProperty("connectionTimeZone", "UTC");
        properties.setProperty("forceConnectionTimeZoneToSession", "true");
        properties.setProperty("characterEncoding", "UTF-8");
        String database = DATABASE;
        for (String option : options) {
            String[] pair = option.split("=", 2);
            if (pair[0].equals("database")) {
                database = pair[1];
            } else {
                properties.setProperty(pair[0], pair[1]);
            }
        }
        return DriverManager.getConnection("jdbc:mysql://" + ENV.get("ROUND_HOST") + ":" + ENV.get("ROUND_PORT") + "/" + database, properties);
    }

    static void exec(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    static PreparedStatement with(PreparedStatement statement, Object... values) throws SQLException {
        for (int i = 0; i < values.length; i++) {
            statement.setObject(i + 1, values[i]);
        }
        return statement;
    }

    // Rows as text, a comma between columns and a semicolon between rows.
    static String texts(Connection connection, String sql, Object... values) throws SQLException {
        if (values.length == 0) {
            try (Statement statement = connection.createStatement()) {
                return texts(statement.executeQuery(sql));
            }
        }
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            return texts(with(statement, values).executeQuery());
        }
    }

    static String texts(ResultSet rows) throws SQLException {
        List<String> lines = new ArrayList<>();
        while (rows.next()) {
            List<String> cells = new ArrayList<>();
            for (int i = 1; i <= rows.getMetaData().getColumnCount(); i++) {
                cells.add(String.valueOf(rows.getString(i)));
            }
            lines.add(String.join(",", cells));
        }
        return String.join(";", lines);
    }

    static String column(ResultSet rows, String... names) throws SQLException {
        List<String> lines = new ArrayList<>();
        while (rows.next()) {
            List<String> cells = new ArrayList<>();
            for (String name : names) {
                cells.add(String.valueOf(rows.getString(name)));
            }
            lines.add(String.join(",", cells));
        }
        return String.join(";", lines);
    }

    static SQLException fails(Work work, int number, String state, String text) throws Exception {
        try {
            work.run();
        } catch (SQLException error) {
            equal(error.getErrorCode(), number, "errno of " + error.getMessage());
            if (state != null) {
                equal(error.getSQLState(), state, "SQLSTATE");
            }
            if (text != null) {
                isTrue(error.getMessage().contains(text), error.getMessage() + ", expected " + text);
            }
            return error;
        }
        throw new AssertionError("no error, expected " + number);
    }

    static String account(String kind, String plugin, String secret) throws SQLException {
        String name = "java_" + kind;
        try (Connection connection = open("database=")) {
            exec(connection, "DROP USER IF EXISTS '" + name + "'@'%'");
            exec(connection, "CREATE USER '" + name + "'@'%' " + (SERVER.equals("mariadb") ? "IDENTIFIED BY '" : "IDENTIFIED WITH " + plugin + " BY '") + secret + "'");
            exec(connection, "GRANT ALL ON *.* TO '" + name + "'@'%'");
        }
        return name;
    }

    static String status(Connection connection, String name) throws SQLException {
        String row = texts(connection, "SHOW STATUS LIKE '" + name + "'");
        return row.isEmpty() ? "" : row.substring(row.indexOf(',') + 1);
    }

    // A value of common/values.tsv as getObject gives it.
    static Object nativeValue(String column, String text) {
        if (text.equals("\\N")) {
            return null;
        }
        if (text.startsWith("0x")) {
            byte[] bytes = new byte[(text.length() - 2) / 2];
            for (int i = 0; i < bytes.length; i++) {
                bytes[i] = (byte) Integer.parseInt(text.substring(2 + 2 * i, 4 + 2 * i), 16);
            }
            return bytes;
        }
        return switch (column) {
            case "id", "c_tinyint", "u_tinyint", "c_smallint", "u_smallint", "c_mediumint", "u_mediumint", "c_int" -> Integer.valueOf(text);
            case "u_int", "c_bigint" -> Long.valueOf(text);
            case "u_bigint" -> new BigInteger(text);
            case "c_decimal" -> new BigDecimal(text);
            case "c_float" -> Float.valueOf(text);
            case "c_double" -> Double.valueOf(text);
            case "c_year" -> java.sql.Date.valueOf(text + "-01-01");
            case "c_date" -> LocalDate.parse(text);
            case "c_datetime", "c_timestamp" -> LocalDateTime.parse(text.replace(' ', 'T'));
            default -> text.replace("\\t", "\t").replace("\\n", "\n").replace("\\\\", "\\");
        };
    }

    static void sameValues(ResultSet rows) throws Exception {
        List<String[]> expected = rowsOf("values.tsv");
        int number = 0;
        while (rows.next()) {
            number++;
            for (int i = 1; i <= expected.size(); i++) {
                String column = expected.get(i - 1)[0];
                Object want = nativeValue(column, expected.get(i - 1)[number]);
                // A java.sql.Date before 1582 is in another calendar, a java.sql.Time holds no more than a day.
                Object got = switch (column) {
                    case "c_date" -> rows.getObject(i, LocalDate.class);
                    case "c_datetime", "c_timestamp" -> rows.getObject(i, LocalDateTime.class);
                    case "c_time" -> rows.getString(i);
                    default -> rows.getObject(i);
                };
                if (column.equals("c_time") && got != null) {
                    got = ((String) got).replaceFirst("\\.?0+$", "");
                    want = ((String) want).replaceFirst("\\.?0+$", "");
                }
                equal(got, want, column + " of row " + number);
                equal(rows.wasNull(), want == null, "wasNull of " + column);
            }
        }
        equal(number, 4, "rows");
    }

    static final String[] AT_CLIENT = {"useServerPrepStmts=false"};
    static final String[] AT_SERVER = {"useServerPrepStmts=true"};
    static final String[] CURSOR = {"useServerPrepStmts=true", "useCursorFetch=true", "defaultFetchSize=2"};

    public static void main(String[] arguments) throws Exception {
        check("setup", Round::setup);
        connections();
        types();
        prepared();
        errors();
        transactions();
        metadata();
        others();
        System.exit(failed == 0 ? 0 : 1);
    }

    static void setup() throws Exception {
        try (Connection connection = open("database=")) {
            exec(connection, "DROP DATABASE IF EXISTS " + DATABASE);
            exec(connection, "CREATE DATABASE " + DATABASE + " DEFAULT CHARACTER SET utf8mb4");
            exec(connection, "SET GLOBAL local_infile = 1");
            exec(connection, "SET GLOBAL max_allowed_packet = 67108864");
            connection.setCatalog(DATABASE);
            StringBuilder sql = new StringBuilder();
            for (String line : Files.readAllLines(Path.of(ENV.get("ROUND_COMMON"), "types.sql"))) {
                if (line.startsWith("--")) {
                    continue;
                }
                sql.append(line).append('\n');
                if (line.endsWith(";")) {
                    exec(connection, sql.substring(0, sql.length() - 2));
                    sql.setLength(0);
                }
            }
        }
    }

    static void connections() {
        check("connect.tcp", () -> {
            try (Connection connection = open()) {
                equal(texts(connection, "SELECT 1, DATABASE()"), "1," + DATABASE, "row");
                isTrue(connection.isValid(5), "ping");
            }
        });
        check("connect.no_database", () -> {
            try (Connection connection = open("database=")) {
                equal(texts(connection, "SELECT DATABASE()"), "null", "database");
                fails(() -> texts(connection, "SELECT * FROM every_type"), 1046, "3D000", "No database selected");
            }
        });
        check("connect.unknown_database", () -> fails(() -> open("database=nosuch"), 1049, "42000", "Unknown database 'nosuch'"));
        check("connect.created_database", () -> {
            try (Connection connection = open("database=" + DATABASE + "_made", "createDatabaseIfNotExist=true")) {
                equal(connection.getCatalog(), DATABASE + "_made", "catalog");
                exec(connection, "DROP DATABASE " + DATABASE + "_made");
            }
        });
        check("connect.wrong_password", () -> {
            String user = account("right", "caching_sha2_password", "right");
            fails(() -> open("user=" + user, "password=wrong"), 1045, "28000", "Access denied for user '" + user + "'@");
            open("user=" + user, "password=right").close();
        });
        check("connect.caching_sha2_over_tls", () -> {
            needs(!SERVER.equals("mariadb"), "MariaDB 10.11 has no caching_sha2_password");
            String user = account("tls", "caching_sha2_password", "pä55 wörd€");
            for (int again = 0; again < 2; again++) {
                try (Connection connection = open("user=" + user, "password=pä55 wörd€", "sslMode=REQUIRED")) {
                    equal(texts(connection, "SELECT CURRENT_USER()"), user + "@%", "user");
                    isTrue(!status(connection, "Ssl_cipher").isEmpty(), "no cipher");
                }
            }
        });
        check("connect.caching_sha2_by_rsa", () -> {
            needs(!SERVER.equals("mariadb"), "MariaDB 10.11 has no caching_sha2_password");
            String user = account("rsa", "caching_sha2_password", "secret");
            for (int again = 0; again < 2; again++) {
                try (Connection connection = open("user=" + user, "password=secret")) {
                    equal(texts(connection, "SELECT CURRENT_USER()"), user + "@%", "user");
                    equal(status(connection, "Ssl_cipher"), "", "cipher");
                }
            }
        });
        check("connect.native_password", () -> {
            needs(!SERVER.equals("mysql"), "MySQL 9 has no mysql_native_password");
            String user = account("native", "mysql_native_password", "secret");
            open("user=" + user, "password=secret").close();
            fails(() -> open("user=" + user, "password=wrong"), 1045, "28000", "Access denied");
        });
        check("connect.empty_password", () -> {
            String user = account("empty", "caching_sha2_password", "");
            open("user=" + user, "password=").close();
        });
        check("connect.tls", () -> {
            needs(!SERVER.equals("mariadb"), "started without TLS");
            for (String version : new String[] {"TLSv1.2", "TLSv1.3"}) {
                try (Connection connection = open("sslMode=REQUIRED", "tlsVersions=" + version); Statement statement = connection.createStatement()) {
                    equal(status(connection, "Ssl_version"), version, "version");
                    sameValues(statement.executeQuery("SELECT * FROM every_type ORDER BY id"));
                }
            }
        });
        check("connect.compression", () -> {
            try (Connection connection = open("useCompression=true"); Statement statement = connection.createStatement()) {
                equal(status(connection, "Compression"), "ON", "Compression");
                sameValues(statement.executeQuery("SELECT * FROM every_type ORDER BY id"));
                String text = "ü€😀x".repeat(2 * MIB);
                equal(texts(connection, "SELECT ?", text).equals(text), true, "20 MiB there and back");
            }
        });
        check("connect.attributes", () -> {
            needs(!SERVER.equals("mariadb"), "performance_schema");
            try (Connection connection = open("connectionAttributes=round:java")) {
                equal(texts(connection, "SELECT attr_value FROM performance_schema.session_connect_attrs WHERE processlist_id = CONNECTION_ID() AND attr_name = 'round'"), "java", "attribute");
            }
        });
        check("connect.session_state", () -> {
            try (Connection connection = open("sessionVariables=sql_mode='ANSI_QUOTES'", "trackSessionState=true", "jdbcCompliantTruncation=false")) {
                equal(texts(connection, "SELECT @@sql_mode"), "ANSI_QUOTES", "mode");
                connection.setCatalog("information_schema");
                equal(texts(connection, "SELECT DATABASE()"), "information_schema", "catalog");
            }
        });
        check("charset.latin1", () -> {
            try (Connection connection = open("characterEncoding=ISO-8859-1")) {
                equal(texts(connection, "SELECT 'grün', HEX('ü')"), "grün,FC", "row");
            }
        });
    }

    static void types() {
        check("types.text", () -> {
            try (Connection connection = open("yearIsDateType=true"); Statement statement = connection.createStatement()) {
                sameValues(statement.executeQuery("SELECT * FROM every_type ORDER BY id"));
            }
        });
        for (String[] options : List.of(AT_CLIENT, AT_SERVER, CURSOR)) {
            String how = options == AT_CLIENT ? "at_client" : options == AT_SERVER ? "at_server" : "with_cursor";
            check("types.prepared_" + how, () -> {
                try (Connection connection = open(options); PreparedStatement statement = connection.prepareStatement("SELECT * FROM every_type WHERE id > ? ORDER BY id")) {
                    sameValues(with(statement, 0).executeQuery());
                    sameValues(with(statement, "0").executeQuery());
                }
            });
            check("types.written_" + how, () -> {
                needs(!SERVER.equals("mariadb"), "the driver takes MariaDB for a MySQL older than fractions of seconds");
                try (Connection connection = open(options)) {
                    exec(connection, "DROP TABLE IF EXISTS written");
                    exec(connection, "CREATE TABLE written LIKE every_type");
                    List<String[]> values = rowsOf("values.tsv");
                    String marks = "?, ".repeat(values.size() - 1) + "?";
                    try (PreparedStatement statement = connection.prepareStatement("INSERT INTO written VALUES (" + marks + ")")) {
                        for (int number = 1; number <= 4; number++) {
                            for (int i = 1; i <= values.size(); i++) {
                                String column = values.get(i - 1)[0];
                                Object value = nativeValue(column, values.get(i - 1)[number]);
                                if (value == null) {
                                    statement.setNull(i, Types.NULL);
                                } else if (column.equals("c_year")) {
                                    statement.setInt(i, Integer.parseInt(values.get(i - 1)[number]));
                                } else {
                                    statement.setObject(i, value);
                                }
                            }
                            equal(statement.executeUpdate(), 1, "rows");
                        }
                    }
                    try (Statement statement = connection.createStatement()) {
                        sameValues(statement.executeQuery("SELECT * FROM written ORDER BY id"));
                    }
                }
            });
        }
        check("types.getters", () -> {
            for (String[] options : List.of(AT_CLIENT, AT_SERVER)) {
                try (Connection connection = open(options); PreparedStatement statement = connection.prepareStatement("SELECT * FROM every_type WHERE id = ?")) {
                    ResultSet row = with(statement, 4).executeQuery();
                    row.next();
                    equal(row.getLong("c_bit"), 258L, "bit");
                    equal(row.getInt("c_year"), 2000, "year");
                    equal(row.getDate("c_date").toString(), "2024-02-29", "date");
                    equal(row.getTimestamp("c_datetime").toLocalDateTime(), LocalDateTime.of(2024, 2, 29, 12, 34, 56, 1000), "datetime");
                    equal(row.getBigDecimal("c_decimal"), new BigDecimal("0.000000000000000000000000000001"), "decimal");
                    equal(row.getString("c_longblob"), "d", "blob");
                    equal(row.getBoolean("u_tinyint"), true, "boolean");
                    fails(() -> row.getInt("u_bigint"), 0, "22003", null);
                }
            }
        });
    }

    static void prepared() {
        for (String[] options : List.of(AT_CLIENT, AT_SERVER, CURSOR)) {
            String how = options == AT_CLIENT ? "at_client" : options == AT_SERVER ? "at_server" : "with_cursor";
            check("prepared.executed_again_" + how, () -> {
                try (Connection connection = open(options); PreparedStatement statement = connection.prepareStatement("SELECT CONCAT(?, '!'), ? IS NULL")) {
                    for (Object[] pair : new Object[][] {{1, "a"}, {"x", null}, {2.5, 3}, {null, null}, {true, new byte[] {0, 1}}}) {
                        String first = pair[0] == null ? "null" : (pair[0].equals(true) ? "1" : pair[0]) + "!";
                        equal(texts(with(statement, pair).executeQuery()), first + "," + (pair[1] == null ? 1 : 0), "row");
                    }
                }
            });
            check("prepared.many_parameters_" + how, () -> {
                try (Connection connection = open(options)) {
                    Object[] values = new Object[5000];
                    Arrays.setAll(values, i -> i);
                    equal(texts(connection, "SELECT 4999 IN (?" + ", ?".repeat(4999) + ")", values), "1", "row");
                }
            });
            check("prepared.streams_" + how, () -> {
                try (Connection connection = open(options)) {
                    exec(connection, "DROP TABLE IF EXISTS long_data");
                    exec(connection, "CREATE TABLE long_data (id INT PRIMARY KEY, b LONGBLOB, t LONGTEXT)");
                    byte[] blob = new byte[20 * MIB];
                    for (int i = 0; i < blob.length; i++) {
                        blob[i] = (byte) (i * 31);
                    }
                    // The driver cuts a stream of characters between surrogates, so there are none.
                    String text = "ab€é'\\\n".repeat(MIB / 2);
                    try (PreparedStatement statement = connection.prepareStatement("INSERT INTO long_data VALUES (?, ?, ?)")) {
                        statement.setInt(1, 1);
                        statement.setBinaryStream(2, new ByteArrayInputStream(blob));
                        statement.setNull(3, Types.VARCHAR);
                        statement.execute();
                        statement.setInt(1, 2);
                        statement.setNull(2, Types.BLOB);
                        statement.setCharacterStream(3, new StringReader(text));
                        statement.execute();
                        statement.setInt(1, 3);
                        statement.setBytes(2, blob);
                        statement.setString(3, text);
                        statement.execute();
                    }
                    try (PreparedStatement statement = connection.prepareStatement("SELECT * FROM long_data ORDER BY id"); ResultSet rows = statement.executeQuery()) {
                        rows.next();
                        equal(Arrays.equals(rows.getBytes(2), blob) && rows.getString(3) == null, true, "BLOB as a stream");
                        rows.next();
                        equal(rows.getBytes(2) == null && text.equals(rows.getString(3)), true, "TEXT as a stream");
                        rows.next();
                        equal(Arrays.equals(rows.getBinaryStream(2).readAllBytes(), blob) && text.equals(rows.getString(3)), true, "both as values");
                    }
                }
            });
            check("prepared.batch_" + how, () -> {
                for (String rewrite : new String[] {"false", "true"}) {
                    String[] more = Arrays.copyOf(options, options.length + 1);
                    more[options.length] = "rewriteBatchedStatements=" + rewrite;
                    try (Connection connection = open(more)) {
                        exec(connection, "CREATE TEMPORARY TABLE batched (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(20))");
                        connection.setAutoCommit(false);
                        try (PreparedStatement statement = connection.prepareStatement("INSERT INTO batched (v) VALUES (?)", Statement.RETURN_GENERATED_KEYS)) {
                            for (int i = 0; i < 1000; i++) {
                                statement.setString(1, "v" + i);
                                statement.addBatch();
                            }
                            equal(statement.executeBatch().length, 1000, "counts");
                            ResultSet keys = statement.getGeneratedKeys();
                            for (int i = 1; i <= 1000; i++) {
                                isTrue(keys.next() && keys.getInt(1) == i, "key " + i);
                            }
                        }
                        try (PreparedStatement statement = connection.prepareStatement("UPDATE batched SET v = ? WHERE id = ?")) {
                            for (int i = 1; i <= 10; i++) {
                                with(statement, "u" + i, i).addBatch();
                            }
                            equal(Arrays.stream(statement.executeBatch()).sum(), 10, "updates");
                        }
                        connection.commit();
                        equal(texts(connection, "SELECT COUNT(*), SUM(v LIKE 'u%') FROM batched"), "1000,10", "rows");
                    }
                }
            });
        }
        check("prepared.metadata_before_execution", () -> {
            try (Connection connection = open(AT_SERVER); PreparedStatement statement = connection.prepareStatement("SELECT id, c_varchar FROM every_type WHERE id = ?")) {
                equal(statement.getMetaData().getColumnName(2), "c_varchar", "name");
                equal(statement.getParameterMetaData().getParameterCount(), 1, "parameters");
            }
        });
        check("prepared.changed_table", () -> {
            try (Connection connection = open(AT_SERVER)) {
                exec(connection, "CREATE TEMPORARY TABLE vanishing (id INT)");
                try (PreparedStatement statement = connection.prepareStatement("SELECT id FROM vanishing WHERE id = ?")) {
                    equal(texts(with(statement, 1).executeQuery()), "", "empty");
                    exec(connection, "ALTER TABLE vanishing ADD v INT");
                    exec(connection, "INSERT INTO vanishing VALUES (1, 2)");
                    equal(texts(with(statement, 1).executeQuery()), "1", "prepared again by the server");
                    exec(connection, "DROP TEMPORARY TABLE vanishing");
                    fails(() -> with(statement, 1).executeQuery(), 1146, "42S02", null);
                }
            }
        });
        check("cursors.fetch_size", () -> {
            try (Connection connection = open("useCursorFetch=true", "useServerPrepStmts=true")) {
                exec(connection, "SET " + (SERVER.equals("mariadb") ? "max_recursive_iterations" : "cte_max_recursion_depth") + " = 1000000");
                String sql = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT i, CONCAT('row ', i) FROM n";
                try (PreparedStatement statement = connection.prepareStatement(sql); PreparedStatement other = connection.prepareStatement("SELECT ? + 1")) {
                    statement.setFetchSize(1000);
                    ResultSet rows = with(statement, 200000).executeQuery();
                    int count = 0;
                    while (rows.next()) {
                        count++;
                        isTrue(rows.getInt(1) == count && rows.getString(2).equals("row " + count), "row " + count);
                        if (count == 5000) {
                            equal(texts(with(other, 1).executeQuery()), "2", "another statement while the cursor is open");
                        }
                    }
                    equal(count, 200000, "rows");
                    ResultSet again = with(statement, 5000).executeQuery();
                    again.next();
                    again.close();
                    equal(texts(connection, "SELECT 7"), "7", "after a cursor closed early");
                    statement.setFetchSize(3);
                    equal(texts(with(statement, 3).executeQuery()), "1,row 1;2,row 2;3,row 3", "as many as are fetched");
                    equal(texts(with(statement, 3).executeQuery()), "1,row 1;2,row 2;3,row 3", "again");
                }
                try (PreparedStatement statement = connection.prepareStatement("SELECT id FROM every_type WHERE id > ? ORDER BY id")) {
                    statement.setFetchSize(2);
                    equal(texts(with(statement, 100).executeQuery()), "", "no rows");
                    ResultSet rows = with(statement, 0).executeQuery();
                    rows.next();
                    exec(connection, "CREATE TEMPORARY TABLE meanwhile (id INT)");
                    exec(connection, "INSERT INTO every_type (id) VALUES (90)");
                    exec(connection, "DELETE FROM every_type WHERE id = 90");
                    equal(texts(rows), "2;3;4", "the rows of before");
                }
            }
        });
        check("cursors.streaming", () -> {
            try (Connection connection = open(); Statement statement = connection.createStatement(ResultSet.TYPE_FORWARD_ONLY, ResultSet.CONCUR_READ_ONLY)) {
                exec(connection, "SET " + (SERVER.equals("mariadb") ? "max_recursive_iterations" : "cte_max_recursion_depth") + " = 1000000");
                statement.setFetchSize(Integer.MIN_VALUE);
                ResultSet rows = statement.executeQuery("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000) SELECT i FROM n");
                long sum = 0;
                while (rows.next()) {
                    sum += rows.getLong(1);
                }
                equal(sum, 200000L * 200001 / 2, "sum");
            }
        });
        check("cursors.updatable", () -> {
            try (Connection connection = open(); Statement statement = connection.createStatement(ResultSet.TYPE_SCROLL_SENSITIVE, ResultSet.CONCUR_UPDATABLE)) {
                exec(connection, "DROP TABLE IF EXISTS updatable");
                exec(connection, "CREATE TABLE updatable (id INT PRIMARY KEY, v VARCHAR(20))");
                exec(connection, "INSERT INTO updatable VALUES (1, 'a'), (2, 'b')");
                ResultSet rows = statement.executeQuery("SELECT id, v FROM updatable ORDER BY id");
                rows.next();
                rows.updateString("v", "changed");
                rows.updateRow();
                rows.moveToInsertRow();
                rows.updateInt("id", 3);
                rows.updateString("v", "new");
                rows.insertRow();
                rows.absolute(2);
                rows.deleteRow();
                equal(texts(connection, "SELECT * FROM updatable ORDER BY id"), "1,changed;3,new", "rows");
            }
        });
    }

    static void errors() throws Exception {
        for (String[] line : rowsOf("errors.tsv")) {
            check("errors." + line[0], () -> {
                try (Connection connection = open()) {
                    String text = SERVER.equals("mariadb") ? null : line[3].replace("{database}", DATABASE);
                    // The driver makes one exception of them that has its own SQLSTATE.
                    String state = List.of("too_long", "out_of_range", "division_by_zero").contains(line[0]) ? null : line[2];
                    fails(() -> exec(connection, line[4]), Integer.parseInt(line[1]), state, text);
                    equal(texts(connection, "SELECT 1"), "1", "afterwards");
                }
            });
        }
        check("errors.lock_wait_timeout", () -> {
            try (Connection one = open(); Connection two = open()) {
                exec(one, "DROP TABLE IF EXISTS locks");
                exec(one, "CREATE TABLE locks (id INT PRIMARY KEY, v INT)");
                exec(one, "INSERT INTO locks VALUES (1, 0), (2, 0)");
                one.setAutoCommit(false);
                exec(one, "UPDATE locks SET v = 1 WHERE id = 1");
                exec(two, "SET innodb_lock_wait_timeout = 1");
                fails(() -> exec(two, "UPDATE locks SET v = 2 WHERE id = 1"), 1205, null, "Lock wait timeout exceeded; try restarting transaction");
                one.rollback();
                exec(two, "UPDATE locks SET v = 2 WHERE id = 1");
            }
        });
        check("errors.deadlock", () -> {
            try (Connection one = open(); Connection two = open()) {
                one.setAutoCommit(false);
                two.setAutoCommit(false);
                exec(one, "UPDATE locks SET v = 3 WHERE id = 1");
                exec(two, "UPDATE locks SET v = 4 WHERE id = 2");
                List<SQLException> lost = new ArrayList<>();
                CompletableFuture<Void> other = CompletableFuture.runAsync(() -> {
                    try {
                        exec(one, "UPDATE locks SET v = 3 WHERE id = 2");
                        one.commit();
                    } catch (SQLException error) {
                        synchronized (lost) {
                            lost.add(error);
                        }
                    }
                });
                Thread.sleep(200);
                try {
                    exec(two, "UPDATE locks SET v = 4 WHERE id = 1");
                    two.commit();
                } catch (SQLException error) {
                    synchronized (lost) {
                        lost.add(error);
                    }
                }
                other.get();
                equal(lost.size(), 1, "one loses");
                equal(lost.get(0).getErrorCode() + lost.get(0).getSQLState(), "121340001", "error");
                one.rollback();
                equal(texts(one, "SELECT COUNT(DISTINCT v) FROM locks"), "1", "rows");
            }
        });
        check("warnings.chain", () -> {
            try (Connection connection = open("jdbcCompliantTruncation=false"); Statement statement = connection.createStatement()) {
                exec(connection, "SET sql_mode = ''");
                exec(connection, "CREATE TEMPORARY TABLE narrow (a TINYINT)");
                statement.executeUpdate("INSERT INTO narrow VALUES (1000), (-1000)");
                SQLWarning warning = statement.getWarnings();
                equal(warning.getErrorCode() + " " + warning.getMessage(), "1264 Out of range value for column 'a' at row 1", "first");
                equal(warning.getNextWarning().getMessage(), "Out of range value for column 'a' at row 2", "second");
                statement.execute("DROP TABLE IF EXISTS nosuch");
                equal(statement.getWarnings().getErrorCode(), 1051, "note");
            }
        });
        check("errors.query_timeout", () -> {
            try (Connection connection = open(); Statement statement = connection.createStatement()) {
                statement.setQueryTimeout(1);
                try {
                    statement.executeQuery("SELECT COUNT(*) FROM information_schema.columns a, information_schema.columns b WHERE SLEEP(1) = 5");
                    throw new AssertionError("no error");
                } catch (java.sql.SQLTimeoutException expected) {
                    equal(texts(connection, "SELECT 1"), "1", "afterwards");
                }
            }
        });
    }

    static void transactions() {
        check("transactions.commit_and_rollback", () -> {
            try (Connection one = open(); Connection two = open()) {
                exec(one, "DROP TABLE IF EXISTS moves");
                exec(one, "CREATE TABLE moves (id INT PRIMARY KEY)");
                one.setAutoCommit(false);
                exec(one, "INSERT INTO moves VALUES (1)");
                equal(texts(two, "SELECT COUNT(*) FROM moves"), "0", "before commit");
                one.commit();
                equal(texts(two, "SELECT COUNT(*) FROM moves"), "1", "after commit");
                exec(one, "INSERT INTO moves VALUES (2)");
                Savepoint named = one.setSavepoint("here");
                exec(one, "INSERT INTO moves VALUES (3)");
                one.rollback(named);
                Savepoint unnamed = one.setSavepoint();
                exec(one, "INSERT INTO moves VALUES (4)");
                one.releaseSavepoint(unnamed);
                one.commit();
                equal(texts(two, "SELECT id FROM moves ORDER BY id"), "1;2;4", "rows");
                exec(one, "DELETE FROM moves");
                one.rollback();
                one.setAutoCommit(true);
                equal(texts(one, "SELECT COUNT(*) FROM moves"), "3", "after rollback");
            }
        });
        check("transactions.isolation_levels", () -> {
            try (Connection one = open(); Connection two = open()) {
                equal(one.getTransactionIsolation(), Connection.TRANSACTION_REPEATABLE_READ, "default");
                for (int level : new int[] {Connection.TRANSACTION_READ_UNCOMMITTED, Connection.TRANSACTION_READ_COMMITTED, Connection.TRANSACTION_REPEATABLE_READ}) {
                    exec(two, "DELETE FROM moves WHERE id = 9");
                    one.setTransactionIsolation(level);
                    equal(one.getTransactionIsolation(), level, "level");
                    one.setAutoCommit(false);
                    equal(texts(one, "SELECT COUNT(*) FROM moves"), "3", "at first");
                    exec(two, "INSERT INTO moves VALUES (9)");
                    equal(texts(one, "SELECT COUNT(*) FROM moves"), level == Connection.TRANSACTION_REPEATABLE_READ ? "3" : "4", "level " + level);
                    one.commit();
                    one.setAutoCommit(true);
                }
                one.setReadOnly(true);
                one.setAutoCommit(false);
                try {
                    exec(one, "DELETE FROM moves");
                    throw new AssertionError("no error");
                } catch (SQLException error) {
                    isTrue(error.getErrorCode() == 1792 || error.getMessage().contains("read-only"), error.getMessage());
                }
                one.rollback();
            }
        });
        check("temporary.reset_and_change_user", () -> {
            String user = account("other", "caching_sha2_password", "other");
            try (Connection connection = open()) {
                com.mysql.cj.jdbc.JdbcConnection jdbc = connection.unwrap(com.mysql.cj.jdbc.JdbcConnection.class);
                for (boolean reset : new boolean[] {true, false}) {
                    exec(connection, "CREATE TEMPORARY TABLE scratch (id INT)");
                    exec(connection, "INSERT INTO scratch VALUES (1)");
                    exec(connection, "SET @kept = 1");
                    String id = texts(connection, "SELECT CONNECTION_ID()");
                    if (reset) {
                        jdbc.resetServerState();
                        equal(texts(connection, "SELECT CONNECTION_ID()"), id, "connection");
                    } else {
                        jdbc.changeUser(user, "other");
                        equal(texts(connection, "SELECT CURRENT_USER()"), user + "@%", "user");
                    }
                    equal(texts(connection, "SELECT @kept"), "null", "variable");
                    fails(() -> texts(connection, "SELECT * FROM " + DATABASE + ".scratch"), 1146, "42S02", null);
                    connection.setCatalog(DATABASE);
                }
            }
        });
    }

    static void metadata() {
        check("metadata.of_every_type", () -> {
            List<String> got = new ArrayList<>();
            try (Connection connection = open("yearIsDateType=true"); Statement statement = connection.createStatement()) {
                ResultSetMetaData of = statement.executeQuery("SELECT * FROM every_type LIMIT 0").getMetaData();
                for (int i = 1; i <= of.getColumnCount(); i++) {
                    got.add(String.join("\t", of.getColumnName(i), of.getColumnTypeName(i), "" + of.getColumnType(i), "" + of.getPrecision(i),
                        "" + of.getScale(i), "" + of.isNullable(i), "" + of.isSigned(i), of.getColumnClassName(i), "" + of.getColumnDisplaySize(i)));
                    equal(of.getCatalogName(i) + "." + of.getTableName(i), DATABASE + ".every_type", "table");
                }
            }
            if (ENV.containsKey("ROUND_WRITE")) {
                Files.write(Path.of(ENV.get("ROUND_COMMON"), "metadata_java.tsv"), got);
            }
            List<String> expected = Files.readAllLines(Path.of(ENV.get("ROUND_COMMON"), "metadata_java.tsv"));
            for (int i = 0; i < expected.size(); i++) {
                if (!SERVER.equals("mariadb")) {
                    equal(got.get(i), expected.get(i), "column");
                }
            }
        });
        check("metadata.database", () -> {
            try (Connection connection = open()) {
                exec(connection, "DROP TABLE IF EXISTS child, parent");
                exec(connection, "DROP VIEW IF EXISTS seen");
                exec(connection, "CREATE TABLE parent (a INT, b VARCHAR(10), c DECIMAL(10,2) NOT NULL DEFAULT 1.5, d ENUM('x','y'), PRIMARY KEY (b, a)) COMMENT 'of children'");
                exec(connection, "CREATE TABLE child (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, a INT, b VARCHAR(10) COMMENT 'the second', n INT GENERATED ALWAYS AS (a + 1),"
                    + " UNIQUE KEY once (a), KEY pair (b, a), CONSTRAINT of_parent FOREIGN KEY (b, a) REFERENCES parent (b, a) ON DELETE CASCADE ON UPDATE SET NULL)");
                exec(connection, "CREATE VIEW seen AS SELECT a, b FROM parent");
                for (String source : new String[] {"false", "true"}) {
                    try (Connection other = open("useInformationSchema=" + source)) {
                        DatabaseMetaData of = other.getMetaData();
                        equal(column(of.getTables(DATABASE, null, "%", new String[] {"TABLE"}), "TABLE_NAME").contains("child"), true, "getTables");
                        equal(column(of.getTables(DATABASE, null, "seen", null), "TABLE_NAME", "TABLE_TYPE"), "seen,VIEW", "a view");
                        equal(column(of.getTables(DATABASE, null, "parent", null), "TABLE_CAT", "TABLE_TYPE", "REMARKS"), DATABASE + ",TABLE," + (source.equals("true") ? "of children" : ""), "a table");
                        String columns = column(of.getColumns(DATABASE, null, "child", "%"), "COLUMN_NAME", "TYPE_NAME", "COLUMN_SIZE", "NULLABLE", "REMARKS", "ORDINAL_POSITION", "IS_AUTOINCREMENT", "IS_GENERATEDCOLUMN");
                        equal(columns, "id,BIGINT UNSIGNED,20,0,,1,YES,NO;a,INT,10,1,,2,NO,NO;b,VARCHAR,10,1,the second,3,NO,NO;n,INT,10,1,,4,NO,YES", "getColumns");
                        equal(column(of.getColumns(DATABASE, null, "parent", "_"), "COLUMN_NAME", "DATA_TYPE", "DECIMAL_DIGITS", "COLUMN_DEF", "IS_NULLABLE").toLowerCase(),
                            "a,4,null,null,no;b,12,null,null,no;c,3,2,1.50,no;d,1,null,null,yes", "getColumns of parent");
                        equal(new TreeSet<>(Arrays.asList(column(of.getPrimaryKeys(DATABASE, null, "parent"), "COLUMN_NAME", "KEY_SEQ", "PK_NAME").split(";"))).toString(), "[a,2,PRIMARY, b,1,PRIMARY]", "getPrimaryKeys");
                        equal(column(of.getIndexInfo(DATABASE, null, "child", false, false), "INDEX_NAME", "NON_UNIQUE", "ORDINAL_POSITION", "COLUMN_NAME").toLowerCase()
                            .replace(",false,", ",0,").replace(",true,", ",1,"), "once,0,1,a;primary,0,1,id;pair,1,1,b;pair,1,2,a", "getIndexInfo");
                        equal(column(of.getImportedKeys(DATABASE, null, "child"), "PKTABLE_NAME", "PKCOLUMN_NAME", "FKCOLUMN_NAME", "KEY_SEQ", "UPDATE_RULE", "DELETE_RULE", "FK_NAME"),
                            "parent,b,b,1,2,0,of_parent;parent,a,a,2,2,0,of_parent", "getImportedKeys");
                        equal(column(of.getExportedKeys(DATABASE, null, "parent"), "FKTABLE_NAME", "FKCOLUMN_NAME"), "child,b;child,a", "getExportedKeys");
                        isTrue((";" + column(of.getCatalogs(), "TABLE_CAT") + ";").contains(";" + DATABASE + ";"), "getCatalogs");
                        equal(column(of.getBestRowIdentifier(DATABASE, null, "child", DatabaseMetaData.bestRowSession, true), "COLUMN_NAME"), "id", "getBestRowIdentifier");
                        column(of.getTablePrivileges(DATABASE, null, "child"), "PRIVILEGE");
                        column(of.getProcedures(DATABASE, null, "%"), "PROCEDURE_NAME");
                        column(of.getFunctions(DATABASE, null, "%"), "FUNCTION_NAME");
                    }
                }
                DatabaseMetaData of = connection.getMetaData();
                equal(of.getDatabaseProductName(), "MySQL", "product");
                equal(of.getUserName().split("@")[0], ENV.get("ROUND_USER"), "user");
                isTrue(of.getSQLKeywords().length() > 100, "keywords");
                isTrue(texts(connection, "SELECT VERSION()").equals(of.getDatabaseProductVersion()) || SERVER.equals("mariadb"), "version");
            }
        });
    }

    static void others() {
        check("multi.queries", () -> {
            try (Connection connection = open("allowMultiQueries=true"); Statement statement = connection.createStatement()) {
                isTrue(statement.execute("SELECT 1; SET @a = 5; SELECT @a UNION ALL SELECT 6; DO 0"), "first");
                equal(texts(statement.getResultSet()), "1", "first");
                isTrue(!statement.getMoreResults() && statement.getUpdateCount() == 0, "second");
                isTrue(statement.getMoreResults(), "third");
                equal(texts(statement.getResultSet()), "5;6", "third");
                isTrue(!statement.getMoreResults() && statement.getUpdateCount() == 0, "fourth");
                isTrue(!statement.getMoreResults() && statement.getUpdateCount() == -1, "end");
                statement.execute("SELECT 1; SELECT 2");
                statement.getMoreResults();
                fails(() -> exec(connection, "DO 0; SELECT * FROM nosuch; DO 0"), 1146, "42S02", null);
            }
            try (Connection connection = open()) {
                fails(() -> exec(connection, "SELECT 1; SELECT 2"), 1064, "42000", null);
            }
        });
        check("results.counts_and_keys", () -> {
            try (Connection connection = open(); Statement statement = connection.createStatement()) {
                exec(connection, "CREATE TEMPORARY TABLE counted (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, v INT)");
                equal(statement.executeUpdate("INSERT INTO counted (v) VALUES (1), (2), (3)", Statement.RETURN_GENERATED_KEYS), 3, "inserted");
                equal(texts(statement.getGeneratedKeys()), "1;2;3", "keys");
                equal(statement.executeUpdate("UPDATE counted SET v = 1"), 3, "this driver counts rows found");
                equal(statement.executeLargeUpdate("DELETE FROM counted"), 3L, "deleted");
            }
            try (Connection connection = open("useAffectedRows=true"); Statement statement = connection.createStatement()) {
                exec(connection, "CREATE TEMPORARY TABLE counted (v INT)");
                exec(connection, "INSERT INTO counted VALUES (1), (2)");
                equal(statement.executeUpdate("UPDATE counted SET v = 1"), 1, "rows changed");
            }
        });
        check("infile.stream_and_file", () -> {
            try (Connection connection = open("allowLoadLocalInfile=true"); Statement statement = connection.createStatement()) {
                com.mysql.cj.jdbc.JdbcStatement jdbc = statement.unwrap(com.mysql.cj.jdbc.JdbcStatement.class);
                exec(connection, "DROP TABLE IF EXISTS loaded");
                exec(connection, "CREATE TABLE loaded (id INT PRIMARY KEY, v VARCHAR(50))");
                StringBuilder lines = new StringBuilder();
                for (int i = 0; i < 3000; i++) {
                    lines.append(i).append("\tvalue ü").append(i).append('\n');
                }
                jdbc.setLocalInfileInputStream(new ByteArrayInputStream(lines.toString().getBytes(StandardCharsets.UTF_8)));
                equal(statement.executeUpdate("LOAD DATA LOCAL INFILE '' INTO TABLE loaded CHARACTER SET utf8mb4"), 3000, "loaded");
                equal(texts(connection, "SELECT v FROM loaded WHERE id = 7"), "value ü7", "value");
                jdbc.setLocalInfileInputStream(null);
                Path empty = Path.of(ENV.get("ROUND_TEMPORARY"), "java_empty.txt");
                Files.writeString(empty, "");
                equal(statement.executeUpdate("LOAD DATA LOCAL INFILE '" + empty + "' INTO TABLE loaded"), 0, "empty");
                fails(() -> statement.executeUpdate("LOAD DATA LOCAL INFILE '" + empty + "' INTO TABLE nosuch"), 1146, "42S02", null);
                equal(texts(connection, "SELECT 1"), "1", "afterwards");
            }
            try (Connection connection = open("allowLoadLocalInfile=false")) {
                try {
                    exec(connection, "LOAD DATA LOCAL INFILE '/etc/hostname' INTO TABLE loaded");
                    throw new AssertionError("no error");
                } catch (SQLException expected) {
                    equal(texts(connection, "SELECT 1"), "1", "afterwards");
                }
            }
        });
        check("large.packets", () -> {
            try (Connection connection = open(AT_SERVER)) {
                for (int size : new int[] {16 * MIB - 10, 16 * MIB - 5, 16 * MIB - 4, 16 * MIB, 32 * MIB}) {
                    equal(texts(connection, "SELECT REPEAT('x', ?)", size).length(), size, "length");
                    equal(texts(connection, "SELECT LENGTH('" + "x".repeat(size) + "')"), "" + size, "length of a statement");
                }
            }
        });
        check("kill.connection", () -> {
            try (Connection other = open()) {
                Connection connection = open();
                String id = texts(connection, "SELECT CONNECTION_ID()");
                exec(other, "KILL " + id);
                Thread.sleep(300);
                try {
                    texts(connection, "SELECT 1");
                    throw new AssertionError("no error");
                } catch (SQLException error) {
                    isTrue(error.getSQLState().equals("08S01") || error.getErrorCode() == 4031, error.getSQLState() + " " + error.getMessage());
                }
                isTrue(!connection.isValid(1), "valid");
            }
        });
        check("reconnect.automatic", () -> {
            try (Connection other = open(); Connection connection = open("autoReconnect=true")) {
                String id = texts(connection, "SELECT CONNECTION_ID()");
                exec(other, "KILL " + id);
                Thread.sleep(300);
                try {
                    texts(connection, "SELECT 1");
                } catch (SQLException lost) {
                    isTrue("08S01".equals(lost.getSQLState()) || lost.getErrorCode() == 4031, lost.getMessage());
                }
                equal(texts(connection, "SELECT 1"), "1", "connected again");
            }
        });
    }
}
