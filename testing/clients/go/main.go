// The test suite of Go's database/sql over go-sql-driver/mysql: statements without arguments go as text, others are prepared.
package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

const mib = 1 << 20

type option func(*mysql.Config)

// A pool of connections with the suite's options and these.
func open(options ...option) *sql.DB {
	config := mysql.NewConfig()
	config.User, config.Passwd, config.Net, config.Addr, config.DBName = user, password, "tcp", host+":"+port, database
	config.MaxAllowedPacket = 64 * mib
	config.Params = map[string]string{"time_zone": "'+00:00'"}
	charset("utf8mb4")(config)
	config.Logger = &mysql.NopLogger{}
	for _, change := range options {
		change(config)
	}
	return sql.OpenDB(got(mysql.NewConnector(config)))
}

func as(name, secret string) option {
	return func(c *mysql.Config) { c.User, c.Passwd = name, secret }
}
func charset(name string) option {
	return func(c *mysql.Config) { must(c.Apply(mysql.Charset(name, ""))) }
}
func encrypted(c *mysql.Config) { c.TLS = &tls.Config{InsecureSkipVerify: true} }
func unix(c *mysql.Config)      { c.Net, c.Addr = "unix", socket }
func in(name string) option     { return func(c *mysql.Config) { c.DBName = name } }
func multi(c *mysql.Config)     { c.MultiStatements = true }
func times(c *mysql.Config)     { c.ParseTime = true }
func filled(c *mysql.Config)    { c.InterpolateParams = true }
func anyFile(c *mysql.Config)   { c.AllowAllFiles = true }

var background = context.Background()

// Both *sql.DB, *sql.Conn and *sql.Tx.
type runs interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
	QueryRowContext(context.Context, string, ...any) *sql.Row
}

func exec(on runs, statement string, values ...any) sql.Result {
	return got(on.ExecContext(background, statement, values...))
}

// The first column of the first row.
func scalar[T any](on runs, statement string, values ...any) T {
	var value T
	must(on.QueryRowContext(background, statement, values...).Scan(&value))
	return value
}

// All rows as bytes, nil for NULL.
func rows(on runs, statement string, values ...any) [][][]byte {
	found := got(on.QueryContext(background, statement, values...))
	defer found.Close()
	columns := got(found.Columns())
	var all [][][]byte
	for found.Next() {
		row := make([][]byte, len(columns))
		into := make([]any, len(columns))
		for i := range row {
			into[i] = &row[i]
		}
		must(found.Scan(into...))
		all = append(all, row)
	}
	must(found.Err())
	return all
}

func texts(on runs, statement string, values ...any) string {
	var lines []string
	for _, row := range rows(on, statement, values...) {
		var cells []string
		for _, cell := range row {
			if cell == nil {
				cells = append(cells, "NULL")
			} else {
				cells = append(cells, string(cell))
			}
		}
		lines = append(lines, strings.Join(cells, ","))
	}
	return strings.Join(lines, ";")
}

// The error must be the server's, with this number, SQLSTATE and text.
func fails(err error, number uint16, state, text string) {
	var of *mysql.MySQLError
	if !errors.As(err, &of) {
		fail("expected error %d, got %v", number, err)
	}
	equal(of.Number, number, "number of "+of.Message)
	if state != "" {
		equal(string(of.SQLState[:]), state, "SQLSTATE")
	}
	if !strings.Contains(of.Message, text) {
		fail("got %q, expected %q", of.Message, text)
	}
}

func errorOf(on runs, statement string, values ...any) error {
	found, err := on.QueryContext(background, statement, values...)
	if err != nil {
		return err
	}
	defer found.Close()
	for found.Next() {
	}
	return found.Err()
}

func session(options ...option) (*sql.Conn, func()) {
	pool := open(options...)
	connection := got(pool.Conn(background))
	return connection, func() {
		connection.Close()
		pool.Close()
	}
}

func account(kind, plugin, secret string) string {
	name := "go_" + kind
	db := open(in(""))
	defer db.Close()
	exec(db, "DROP USER IF EXISTS '"+name+"'@'%'")
	with := "IDENTIFIED WITH " + plugin + " BY '" + secret + "'"
	if server == "mariadb" {
		with = "IDENTIFIED BY '" + secret + "'"
	}
	exec(db, "CREATE USER '"+name+"'@'%' "+with)
	exec(db, "GRANT ALL ON *.* TO '"+name+"'@'%'")
	return name
}

func status(on runs, name string) string {
	found := rows(on, "SHOW STATUS LIKE '"+name+"'")
	if len(found) == 0 {
		return ""
	}
	return string(found[0][1])
}

// Values with column names; FLOAT and DOUBLE are compared as numbers.
func sameValues(all [][][]byte) {
	expected := rowsOf("values.tsv")
	equal(len(all), 4, "rows")
	for number, row := range all {
		for i, cell := range row {
			column, want := expected[i][0], value(expected[i][number+1])
			switch {
			case column == "c_float" && want != nil:
				a, b := got(strconv.ParseFloat(string(cell), 32)), got(strconv.ParseFloat(string(want), 32))
				equal(float32(a), float32(b), column)
			case column == "c_double" && want != nil:
				equal(got(strconv.ParseFloat(string(cell), 64)), got(strconv.ParseFloat(string(want), 64)), column)
			default:
				if (cell == nil) != (want == nil) || !bytes.Equal(cell, want) {
					fail("%s of row %d: got %q, expected %q", column, number+1, cell, want)
				}
			}
		}
	}
}

func main() {
	check("setup", setup)
	connections()
	types()
	prepared()
	failures()
	transactions()
	others()
	if failed > 0 {
		os.Exit(1)
	}
}

func setup() {
	db := open(in(""))
	defer db.Close()
	exec(db, "DROP DATABASE IF EXISTS "+database)
	exec(db, "CREATE DATABASE "+database+" DEFAULT CHARACTER SET utf8mb4")
	exec(db, "SET GLOBAL local_infile = 1")
	exec(db, "SET GLOBAL max_allowed_packet = 67108864")
	inside := open()
	defer inside.Close()
	for _, statement := range statements("types.sql") {
		exec(inside, statement)
	}
}

func connections() {
	check("connect.tcp", func() {
		db := open()
		defer db.Close()
		must(db.Ping())
		equal(texts(db, "SELECT 1, DATABASE()"), "1,"+database, "row")
	})
	check("connect.unix_socket", func() {
		db := open(unix)
		defer db.Close()
		equal(scalar[string](db, "SELECT DATABASE()"), database, "database")
	})
	check("connect.no_database", func() {
		db := open(in(""))
		defer db.Close()
		equal(texts(db, "SELECT DATABASE()"), "NULL", "database")
		fails(errorOf(db, "SELECT * FROM every_type"), 1046, "3D000", "No database selected")
	})
	check("connect.unknown_database", func() {
		db := open(in("nosuch"))
		defer db.Close()
		fails(db.Ping(), 1049, "42000", "Unknown database 'nosuch'")
	})
	check("connect.wrong_password", func() {
		name := account("right", "caching_sha2_password", "right")
		for secret, said := range map[string]string{"wrong": "YES", "": "NO"} {
			db := open(as(name, secret))
			fails(db.Ping(), 1045, "28000", "Access denied for user '"+name+"'@")
			fails(db.Ping(), 1045, "28000", "(using password: "+said+")")
			db.Close()
		}
		db := open(as(name, "right"))
		defer db.Close()
		must(db.Ping())
	})
	check("connect.caching_sha2_over_tls", func() {
		needs(server != "mariadb", "MariaDB 10.11 has no caching_sha2_password")
		name := account("tls", "caching_sha2_password", "pä55 wörd€")
		for range 2 {
			db := open(as(name, "pä55 wörd€"), encrypted)
			equal(scalar[string](db, "SELECT CURRENT_USER()"), name+"@%", "user")
			if status(db, "Ssl_cipher") == "" {
				fail("no cipher")
			}
			db.Close()
		}
	})
	check("connect.caching_sha2_by_rsa", func() {
		needs(server != "mariadb", "MariaDB 10.11 has no caching_sha2_password")
		name := account("rsa", "caching_sha2_password", "secret")
		for range 2 {
			db := open(as(name, "secret"))
			equal(scalar[string](db, "SELECT CURRENT_USER()"), name+"@%", "user")
			equal(status(db, "Ssl_cipher"), "", "cipher")
			db.Close()
		}
	})
	check("connect.native_password", func() {
		needs(server != "mysql", "MySQL 9 has no mysql_native_password")
		name := account("native", "mysql_native_password", "secret")
		db := open(as(name, "secret"))
		defer db.Close()
		equal(scalar[string](db, "SELECT CURRENT_USER()"), name+"@%", "user")
		wrong := open(as(name, "wrong"))
		defer wrong.Close()
		fails(wrong.Ping(), 1045, "28000", "Access denied")
	})
	check("connect.empty_password", func() {
		name := account("empty", "caching_sha2_password", "")
		db := open(as(name, ""))
		defer db.Close()
		must(db.Ping())
	})
	check("connect.tls", func() {
		needs(server != "mariadb", "started without TLS")
		db := open(encrypted)
		defer db.Close()
		sameValues(rows(db, "SELECT * FROM every_type ORDER BY id"))
		if !strings.HasPrefix(status(db, "Ssl_version"), "TLSv1.") {
			fail("version")
		}
	})
	check("connect.compression", func() {
		db := open(func(c *mysql.Config) { must(c.Apply(mysql.EnableCompression(true))) })
		defer db.Close()
		equal(status(db, "Compression"), "ON", "Compression")
		sameValues(rows(db, "SELECT * FROM every_type ORDER BY id"))
		long := strings.Repeat("ü€😀x", 3*mib)
		equal(scalar[string](db, "SELECT ?", long) == long, true, "30 MiB there and back")
	})
	check("connect.attributes", func() {
		needs(server != "mariadb", "performance_schema")
		db := open(func(c *mysql.Config) { c.ConnectionAttributes = "round:go" })
		defer db.Close()
		equal(scalar[string](db, "SELECT attr_value FROM performance_schema.session_connect_attrs"+
			" WHERE processlist_id = CONNECTION_ID() AND attr_name = 'round'"), "go", "attribute")
	})
	check("charset.latin1", func() {
		db := open(charset("latin1"))
		defer db.Close()
		equal(rows(db, "SELECT CONVERT(X'C3BC' USING utf8mb4)")[0][0], []byte{0xfc}, "ü")
	})
}

func types() {
	check("types.text", func() {
		db := open()
		defer db.Close()
		sameValues(rows(db, "SELECT * FROM every_type ORDER BY id"))
	})
	check("types.prepared", func() {
		db := open()
		defer db.Close()
		sameValues(rows(db, "SELECT * FROM every_type WHERE id > ? ORDER BY id", 0))
	})
	check("types.interpolated", func() {
		db := open(filled)
		defer db.Close()
		sameValues(rows(db, "SELECT * FROM every_type WHERE id > ? AND c_varchar <> ? OR id = ? ORDER BY id", 0, "x'\"\\\x00", 3))
	})
	native := func(values ...any) {
		db := open(times)
		defer db.Close()
		found := got(db.Query("SELECT * FROM every_type WHERE id = "+fmt.Sprint(2)+strings.Repeat(" AND 1 = ?", len(values)), values...))
		defer found.Close()
		kinds := got(found.ColumnTypes())
		into := make([]any, len(kinds))
		of := map[string]*any{}
		for i := range into {
			into[i] = new(any)
			of[kinds[i].Name()] = into[i].(*any)
		}
		found.Next()
		must(found.Scan(into...))
		for column, want := range map[string]any{
			"c_tinyint": int64(127), "u_int": int64(4294967295), "c_bigint": int64(math.MaxInt64), "u_bigint": uint64(math.MaxUint64),
			"c_double": math.MaxFloat64, "c_float": float32(3.40282e38), "c_year": int64(2155),
			"c_date":     time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC),
			"c_datetime": time.Date(9999, 12, 31, 23, 59, 59, 999999000, time.UTC),
			"c_time":     []byte("838:59:59.000000"), "c_bit": bytes.Repeat([]byte{255}, 8), "c_varchar": []byte("varchar ü€😀 '\"\\"),
		} {
			if column == "u_bigint" && len(values) > 0 {
				want = []byte("18446744073709551615") // The driver's, where no int64 holds it.
			}
			equal(*of[column], want, column)
		}
	}
	check("types.native", func() { native() })
	check("types.native_prepared", func() { native(1) })
	check("types.written_by_parameters", func() {
		for _, options := range [][]option{nil, {filled}} {
			db := open(options...)
			exec(db, "DROP TABLE IF EXISTS written")
			exec(db, "CREATE TABLE written LIKE every_type")
			expected := rowsOf("values.tsv")
			for number := 1; number <= 4; number++ {
				var values []any
				for _, line := range expected {
					cell := value(line[number])
					switch {
					case cell == nil:
						values = append(values, nil)
					case line[0] == "c_bit":
						bits := uint64(0)
						for _, part := range cell {
							bits = bits<<8 | uint64(part)
						}
						values = append(values, bits)
					case line[0] == "c_bigint":
						values = append(values, got(strconv.ParseInt(string(cell), 10, 64)))
					case line[0] == "u_bigint":
						values = append(values, got(strconv.ParseUint(string(cell), 10, 64)))
					case line[0] == "c_double" || line[0] == "c_float":
						values = append(values, got(strconv.ParseFloat(string(cell), 64)))
					case line[0] == "c_datetime":
						values = append(values, got(time.Parse("2006-01-02 15:04:05.999999", string(cell))))
					case strings.HasPrefix(line[number], "0x"):
						values = append(values, cell)
					default:
						values = append(values, string(cell))
					}
				}
				exec(db, "INSERT INTO written VALUES (?"+strings.Repeat(", ?", len(values)-1)+")", values...)
			}
			sameValues(rows(db, "SELECT * FROM written ORDER BY id"))
			db.Close()
		}
	})
	check("metadata.of_every_type", func() {
		db := open()
		defer db.Close()
		for _, values := range [][]any{nil, {1}} {
			found := got(db.Query("SELECT * FROM every_type"+strings.Repeat(" WHERE 1 = ?", len(values)), values...))
			var names []string
			for _, kind := range got(found.ColumnTypes()) {
				precision, scale, _ := kind.DecimalSize()
				nullable, _ := kind.Nullable()
				names = append(names, fmt.Sprintf("%s %s %t %d %d %s", kind.Name(), kind.DatabaseTypeName(), nullable, precision, scale, kind.ScanType()))
			}
			found.Close()
			want := rowsOf("metadata_go.tsv")
			for i, name := range names {
				if server == "mariadb" && strings.HasPrefix(name, "c_json ") {
					continue
				}
				equal(name, strings.Join(want[i], " "), "column")
			}
		}
	})
}

func prepared() {
	check("prepared.executed_again", func() {
		db := open()
		defer db.Close()
		statement := got(db.Prepare("SELECT ?, ?"))
		defer statement.Close()
		for _, pair := range [][2]any{{int64(1), "a"}, {"x", 2.5}, {nil, nil}, {uint64(math.MaxUint64), []byte{0, 255}}, {int64(-1), "again"}} {
			var a, b any
			must(statement.QueryRow(pair[0], pair[1]).Scan(&a, &b))
			for i, cell := range []any{a, b} {
				want := pair[i]
				switch given := want.(type) {
				case string:
					want = []byte(given)
				case uint64:
					want = []byte(strconv.FormatUint(given, 10)) // The driver sends what no int64 holds as text.
				}
				equal(cell, want, "value")
			}
		}
	})
	check("prepared.many_parameters", func() {
		db := open()
		defer db.Close()
		values := make([]any, 65535)
		for i := range values {
			values[i] = i
		}
		list := "SELECT 65534 IN (?" + strings.Repeat(", ?", len(values)-1) + ")"
		equal(scalar[int](db, list, values...), 1, "65,535 parameters")
		_, err := db.Prepare("SELECT 1 IN (?" + strings.Repeat(", ?", 65535) + ")")
		fails(err, 1390, "HY000", "Prepared statement contains too many placeholders")
		must(db.Ping())
	})
	check("prepared.long_data", func() {
		db := open()
		defer db.Close()
		exec(db, "DROP TABLE IF EXISTS long_data")
		exec(db, "CREATE TABLE long_data (id INT PRIMARY KEY, b LONGBLOB, t LONGTEXT)")
		// What is longer than the driver's packets goes as COM_STMT_SEND_LONG_DATA.
		small := open(func(c *mysql.Config) { c.MaxAllowedPacket = mib })
		defer small.Close()
		blob := bytes.Repeat([]byte("0123456789\x00\xff'\\"), 5*mib/14)
		exec(small, "INSERT INTO long_data VALUES (?, ?, ?)", 1, blob, strings.Repeat("ü", mib))
		exec(small, "INSERT INTO long_data VALUES (?, ?, ?)", 2, []byte{}, nil)
		var b, t []byte
		must(db.QueryRow("SELECT b, t FROM long_data WHERE id = 1").Scan(&b, &t))
		equal(bytes.Equal(b, blob) && string(t) == strings.Repeat("ü", mib), true, "same")
		equal(texts(db, "SELECT b = '', t FROM long_data WHERE id = 2"), "1,NULL", "empty and NULL")
	})
	check("prepared.errors", func() {
		db, end := session()
		defer end()
		fails(errorOf(db, "SELECT * FROM nosuch WHERE id = ?", 1), 1146, "42S02", "")
		fails(errorOf(db, "INSERT INTO every_type (id) VALUES (?)", 1), 1062, "23000", "Duplicate entry '1'")
		exec(db, "CREATE TEMPORARY TABLE vanishing (id INT)")
		statement := got(db.PrepareContext(background, "SELECT * FROM vanishing WHERE id = ?"))
		defer statement.Close()
		must(got(statement.Query(1)).Close())
		exec(db, "ALTER TABLE vanishing ADD v INT")
		exec(db, "INSERT INTO vanishing VALUES (1, 2)")
		var id, v int
		must(statement.QueryRow(1).Scan(&id, &v))
		equal(v, 2, "prepared again by the server")
		exec(db, "DROP TEMPORARY TABLE vanishing")
		_, err := statement.Query(1)
		fails(err, 1146, "42S02", "")
	})
	check("results.affected_rows_and_insert_id", func() {
		db, end := session()
		defer end()
		exec(db, "CREATE TEMPORARY TABLE counted (id INT AUTO_INCREMENT PRIMARY KEY, v INT)")
		for _, values := range [][]any{nil, {1}} {
			mark := "1"
			if values != nil {
				mark = "?"
			}
			result := exec(db, "INSERT INTO counted (v) VALUES ("+mark+"), (2), (3)", values...)
			equal(got(result.RowsAffected()), int64(3), "rows")
			if id := got(result.LastInsertId()); id != 1 && id != 4 {
				fail("id %d", id)
			}
		}
		equal(got(exec(db, "UPDATE counted SET v = 9 WHERE v = ?", 2).RowsAffected()), int64(2), "changed")
		equal(got(exec(db, "UPDATE counted SET v = 9 WHERE v = ?", 9).RowsAffected()), int64(0), "not changed")
		equal(got(exec(db, "DELETE FROM counted").RowsAffected()), int64(6), "deleted")
		found, end := session(func(c *mysql.Config) { c.ClientFoundRows = true })
		defer end()
		exec(found, "CREATE TEMPORARY TABLE same (v INT)")
		exec(found, "INSERT INTO same VALUES (1), (1)")
		equal(got(exec(found, "UPDATE same SET v = 1").RowsAffected()), int64(2), "found")
	})
}

func failures() {
	for _, line := range rowsOf("errors.tsv") {
		check("errors."+line[0], func() {
			db, end := session()
			defer end()
			text := strings.ReplaceAll(line[3], "{database}", database)
			if server == "mariadb" {
				text = ""
			}
			fails(errorOf(db, line[4]), uint16(got(strconv.Atoi(line[1]))), line[2], text)
			equal(scalar[int](db, "SELECT 1"), 1, "afterwards")
		})
	}
	check("errors.lock_wait_timeout", func() {
		one, endOne := session()
		defer endOne()
		two, endTwo := session()
		defer endTwo()
		exec(one, "DROP TABLE IF EXISTS locks")
		exec(one, "CREATE TABLE locks (id INT PRIMARY KEY, v INT)")
		exec(one, "INSERT INTO locks VALUES (1, 0), (2, 0)")
		first := got(one.BeginTx(background, nil))
		exec(first, "UPDATE locks SET v = 1 WHERE id = ?", 1)
		exec(two, "SET innodb_lock_wait_timeout = 1")
		second := got(two.BeginTx(background, nil))
		fails(errorOf(second, "UPDATE locks SET v = 2 WHERE id = ?", 1), 1205, "HY000", "Lock wait timeout exceeded")
		must(first.Rollback())
		exec(second, "UPDATE locks SET v = 2 WHERE id = ?", 1)
		must(second.Commit())
	})
	check("errors.deadlock", func() {
		db := open()
		defer db.Close()
		first, second := got(db.Begin()), got(db.Begin())
		exec(first, "UPDATE locks SET v = 3 WHERE id = 1")
		exec(second, "UPDATE locks SET v = 4 WHERE id = 2")
		outcome := make(chan error)
		go func() {
			_, err := first.Exec("UPDATE locks SET v = 3 WHERE id = 2")
			outcome <- err
		}()
		time.Sleep(200 * time.Millisecond)
		_, err := second.Exec("UPDATE locks SET v = 4 WHERE id = 1")
		if err == nil {
			must(second.Commit())
			err = <-outcome
			first.Rollback()
		} else {
			must(<-outcome)
			must(first.Commit())
			second.Rollback()
		}
		fails(err, 1213, "40001", "Deadlock found when trying to get lock; try restarting transaction")
		equal(scalar[int](db, "SELECT COUNT(DISTINCT v) FROM locks"), 1, "one of them")
	})
	check("warnings.show", func() {
		db, end := session()
		defer end()
		exec(db, "SET sql_mode = ''")
		for _, values := range [][]any{nil, {"1x"}} {
			equal(scalar[int](db, "SELECT CAST("+strings.Repeat("?", len(values))+strings.Repeat("'1x'", 1-len(values))+" AS SIGNED)", values...), 1, "value")
			equal(texts(db, "SHOW WARNINGS"), "Warning,1292,Truncated incorrect INTEGER value: '1x'", "warnings")
		}
		equal(scalar[int](db, "SELECT @@warning_count"), 1, "count")
	})
}

func transactions() {
	check("transactions.commit_and_rollback", func() {
		db := open()
		defer db.Close()
		exec(db, "DROP TABLE IF EXISTS moves")
		exec(db, "CREATE TABLE moves (id INT PRIMARY KEY)")
		tx := got(db.Begin())
		exec(tx, "INSERT INTO moves VALUES (?)", 1)
		equal(scalar[int](db, "SELECT COUNT(*) FROM moves"), 0, "before commit")
		must(tx.Commit())
		equal(scalar[int](db, "SELECT COUNT(*) FROM moves"), 1, "after commit")
		tx = got(db.Begin())
		exec(tx, "INSERT INTO moves VALUES (?)", 2)
		exec(tx, "SAVEPOINT here")
		exec(tx, "INSERT INTO moves VALUES (?)", 3)
		exec(tx, "ROLLBACK TO here")
		equal(scalar[int](tx, "SELECT COUNT(*) FROM moves"), 2, "savepoint")
		must(tx.Rollback())
		equal(scalar[int](db, "SELECT COUNT(*) FROM moves"), 1, "after rollback")
	})
	check("transactions.isolation_levels", func() {
		db := open()
		defer db.Close()
		for level, name := range map[sql.IsolationLevel]string{sql.LevelReadCommitted: "READ-COMMITTED", sql.LevelRepeatableRead: "REPEATABLE-READ"} {
			exec(db, "DELETE FROM moves WHERE id > 1")
			tx := got(db.BeginTx(background, &sql.TxOptions{Isolation: level}))
			equal(scalar[int](tx, "SELECT COUNT(*) FROM moves"), 1, "at first")
			exec(db, "INSERT INTO moves VALUES (5)")
			want := map[string]int{"READ-COMMITTED": 2, "REPEATABLE-READ": 1}[name]
			equal(scalar[int](tx, "SELECT COUNT(*) FROM moves"), want, name)
			must(tx.Commit())
		}
		tx := got(db.BeginTx(background, &sql.TxOptions{ReadOnly: true}))
		_, err := tx.Exec("DELETE FROM moves")
		fails(err, 1792, "25006", "READ ONLY transaction")
		must(tx.Rollback())
	})
	check("temporary.per_connection", func() {
		one, endOne := session()
		two, endTwo := session()
		defer endTwo()
		exec(one, "CREATE TEMPORARY TABLE scratch (id INT PRIMARY KEY, v VARCHAR(20))")
		exec(one, "INSERT INTO scratch VALUES (?, ?), (2, 'b')", 1, "a")
		equal(texts(one, "SELECT * FROM scratch WHERE id < ? ORDER BY id", 9), "1,a;2,b", "rows")
		fails(errorOf(two, "SELECT * FROM scratch"), 1146, "42S02", "")
		endOne()
		three, endThree := session()
		defer endThree()
		fails(errorOf(three, "SELECT * FROM scratch"), 1146, "42S02", "")
	})
}

func others() {
	check("large.blob_and_text_of_20_mib", func() {
		for _, options := range [][]option{nil, {filled}} {
			db := open(options...)
			exec(db, "DROP TABLE IF EXISTS large")
			exec(db, "CREATE TABLE large (id INT PRIMARY KEY, b LONGBLOB, t LONGTEXT)")
			blob := bytes.Repeat([]byte("0123456789abcde\xff"), 20*mib/16)
			text := strings.Repeat("ab€😀é'\\\n", 20*mib/15)
			exec(db, "INSERT INTO large VALUES (?, ?, ?)", 1, blob, nil)
			exec(db, "INSERT INTO large VALUES (?, ?, ?)", 2, nil, text)
			for _, values := range [][]any{nil, {1}} {
				where := strings.Repeat(" AND 1 = ?", len(values))
				equal(bytes.Equal(scalar[[]byte](db, "SELECT b FROM large WHERE id = 1"+where, values...), blob), true, "BLOB")
				equal(scalar[string](db, "SELECT t FROM large WHERE id = 2"+where, values...) == text, true, "TEXT")
			}
			db.Close()
		}
	})
	check("large.result_of_200000_rows", func() {
		db, end := session()
		defer end()
		limit := "cte_max_recursion_depth"
		if server == "mariadb" {
			limit = "max_recursive_iterations"
		}
		exec(db, "SET "+limit+" = 1000000")
		for _, values := range [][]any{nil, {200000}} {
			mark := "200000"
			if values != nil {
				mark = "?"
			}
			found := got(db.QueryContext(background, "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < "+mark+")"+
				" SELECT i, CONCAT('row ', i) FROM n", values...))
			count := 0
			for found.Next() {
				var i int
				var label string
				must(found.Scan(&i, &label))
				count++
				if i != count || label != fmt.Sprint("row ", i) {
					fail("row %d: %d, %s", count, i, label)
				}
			}
			must(found.Err())
			found.Close()
			equal(count, 200000, "rows")
		}
	})
	check("multi.statements", func() {
		db := open(multi)
		defer db.Close()
		found := got(db.Query("SELECT 1; SELECT 'a' UNION ALL SELECT 'b'; SELECT NULL"))
		defer found.Close()
		var all []string
		for {
			for found.Next() {
				var text sql.NullString
				must(found.Scan(&text))
				all = append(all, text.String)
			}
			if !found.NextResultSet() {
				break
			}
		}
		must(found.Err())
		equal(all, []string{"1", "a", "b", ""}, "results")
		result := exec(db, "CREATE TEMPORARY TABLE two_inserts (id INT); INSERT INTO two_inserts VALUES (1), (2)")
		_ = got(result.RowsAffected())
		fails(errorOf(open(), "SELECT 1; SELECT 2"), 1064, "42000", "")
		_, err := db.Exec("DO 0; INSERT INTO nosuch VALUES (1); DO 0")
		fails(err, 1146, "42S02", "")
		must(db.Ping())
	})
	check("infile.reader", func() {
		db := open()
		defer db.Close()
		exec(db, "DROP TABLE IF EXISTS loaded")
		exec(db, "CREATE TABLE loaded (id INT PRIMARY KEY, v VARCHAR(50))")
		content := ""
		mysql.RegisterReaderHandler("content", func() io.Reader { return strings.NewReader(content) })
		for number := range 3000 {
			content += fmt.Sprintf("%d\tvalue ü%d\n", number, number)
		}
		result := exec(db, "LOAD DATA LOCAL INFILE 'Reader::content' INTO TABLE loaded CHARACTER SET utf8mb4")
		equal(got(result.RowsAffected()), int64(3000), "rows")
		equal(scalar[string](db, "SELECT v FROM loaded WHERE id = 7"), "value ü7", "value")
		content = ""
		equal(got(exec(db, "LOAD DATA LOCAL INFILE 'Reader::content' INTO TABLE loaded").RowsAffected()), int64(0), "empty")
	})
	check("infile.file_and_errors", func() {
		db, end := session(anyFile)
		defer end()
		path := filepath.Join(temporary, "go.txt")
		must(os.WriteFile(path, []byte("5000,\"a, b\"\n5001,\\N\n"), 0o600))
		exec(db, "LOAD DATA LOCAL INFILE '"+path+"' INTO TABLE loaded FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '\"'")
		equal(texts(db, "SELECT v FROM loaded WHERE id >= 5000 ORDER BY id"), "a, b;NULL", "rows")
		fails(errorOf(db, "LOAD DATA LOCAL INFILE '"+path+"' INTO TABLE nosuch"), 1146, "42S02", "")
		if err := errorOf(db, "LOAD DATA LOCAL INFILE '/nosuch/file' INTO TABLE loaded"); err == nil {
			fail("a file that is not there")
		}
		equal(scalar[int](db, "SELECT 1"), 1, "afterwards")
		plain, endPlain := session()
		defer endPlain()
		if err := errorOf(plain, "LOAD DATA LOCAL INFILE '"+path+"' INTO TABLE loaded"); err == nil || !strings.Contains(err.Error(), "not registered") {
			fail("refused by the client: %v", err)
		}
		equal(scalar[int](plain, "SELECT 1"), 1, "afterwards")
	})
	check("reset.pool", func() {
		db := open()
		db.SetMaxOpenConns(1)
		defer db.Close()
		connection := got(db.Conn(background))
		first := scalar[int](connection, "SELECT CONNECTION_ID()")
		must(connection.Close())
		equal(scalar[int](db, "SELECT CONNECTION_ID()"), first, "the pool's connection again")
	})
	check("kill.connection", func() {
		db, other := open(), open()
		db.SetMaxOpenConns(1)
		defer db.Close()
		defer other.Close()
		connection := got(db.Conn(background))
		number := scalar[int](connection, "SELECT CONNECTION_ID()")
		exec(other, fmt.Sprint("KILL ", number))
		waitUntil(func() bool {
			return scalar[int](other, "SELECT COUNT(*) FROM information_schema.processlist WHERE id = ?", number) == 0
		}, "the end")
		err := errorOf(connection, "SELECT 1")
		var of *mysql.MySQLError
		if !errors.Is(err, driver.ErrBadConn) && !errors.Is(err, mysql.ErrInvalidConn) && !(errors.As(err, &of) && of.Number == 4031) {
			fail("got %v", err)
		}
		connection.Close()
		// The pool gives another one.
		if scalar[int](db, "SELECT CONNECTION_ID()") == number {
			fail("the same connection")
		}
		number = scalar[int](db, "SELECT CONNECTION_ID()")
		exec(other, fmt.Sprint("KILL ", number))
		waitUntil(func() bool {
			return scalar[int](other, "SELECT COUNT(*) FROM information_schema.processlist WHERE id = ?", number) == 0
		}, "the end")
		equal(scalar[int](db, "SELECT 1"), 1, "after the pool's connection was lost")
	})
	check("kill.query_by_context", func() {
		db := open()
		defer db.Close()
		soon, cancel := context.WithTimeout(background, 200*time.Millisecond)
		defer cancel()
		_, err := db.ExecContext(soon, "DO SLEEP(20)")
		if !errors.Is(err, context.DeadlineExceeded) {
			fail("got %v", err)
		}
		must(db.Ping())
	})
	check("connect.many_at_once", func() {
		db := open()
		db.SetMaxOpenConns(20)
		defer db.Close()
		outcomes := make(chan error)
		for number := range 20 {
			go func() {
				var sum int
				outcomes <- db.QueryRow("SELECT ? + COUNT(*) FROM every_type", number).Scan(&sum)
			}()
		}
		for range 20 {
			must(<-outcomes)
		}
	})
}
