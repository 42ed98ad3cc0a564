// The test suite of Node's mysql2: `query` goes as text, `execute` is prepared.
import { Buffer } from 'node:buffer';
import { readFileSync, writeFileSync, createReadStream } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { Readable } from 'node:stream';
import { isDeepStrictEqual, inspect } from 'node:util';

// The package is in the cache of environments, not beside this file.
const mysql = createRequire(path.join(process.env.ROUND_MODULES, 'x.js'))('mysql2/promise');

const env = process.env;
const server = env.ROUND_SERVER; // mayfly, mysql or mariadb
const database = env.ROUND_DATABASE;
const MIB = 1 << 20;

class Skip extends Error {}
const needs = (condition, reason) => { if (!condition) throw new Skip(reason); };
const equal = (got, expected, what = '') => {
  if (!isDeepStrictEqual(got, expected)) throw new Error(`${what}: got ${shorten(got)}, expected ${shorten(expected)}`);
};
const shorten = (value) => inspect(value, { depth: 5, breakLength: Infinity }).slice(0, 300);
const isTrue = (condition, what) => { if (!condition) throw new Error(what); };
const common = (name) => readFileSync(path.join(env.ROUND_COMMON, name), 'utf8');
const statements = (name) => common(name).split('\n').filter((line) => !line.startsWith('--')).join('\n')
  .split(/;$/m).map((text) => text.trim()).filter(Boolean);
const rowsOf = (name) => common(name).replace(/\n$/, '').split('\n').map((line) => line.split('\t'));
const sleep = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

const checks = [];
const check = (name, work) => checks.push([name, work]);

const options = (more = {}) => ({
  host: env.ROUND_HOST, port: Number(env.ROUND_PORT), user: env.ROUND_USER, password: env.ROUND_PASSWORD, database,
  charset: 'utf8mb4', supportBigNumbers: true, bigNumberStrings: false, dateStrings: true, timezone: 'Z', ...more,
});
const open = async (more) => {
  const connection = await mysql.createConnection(options(more));
  connection.connection.on('error', () => {}); // What ends a connection is seen by the next statement.
  await connection.query("SET time_zone = '+00:00'");
  return connection;
};
const rows = async (connection, sql, values) => (await connection.query({ sql, values, rowsAsArray: true }))[0];
const scalar = async (connection, sql, values) => (await rows(connection, sql, values))[0][0];
const executed = async (connection, sql, values) => (await connection.execute({ sql, values, rowsAsArray: true }))[0];
const status = async (connection, name) => (await rows(connection, `SHOW STATUS LIKE '${name}'`))[0]?.[1] ?? '';
const fails = async (work, errno, state, text) => {
  let error;
  try { await work(); } catch (caught) { error = caught; }
  isTrue(error, `no error, expected ${errno}`);
  equal(error.errno, errno, `errno of ${error.message}`);
  if (state) equal(error.sqlState, state, 'SQLSTATE');
  if (text) isTrue(error.message.includes(text), `text ${error.message}, expected ${text}`);
  return error;
};
const account = async (kind, plugin, secret) => {
  const name = `node_${kind}`;
  const connection = await open({ database: undefined });
  await connection.query(`DROP USER IF EXISTS '${name}'@'%'`);
  const identified = server === 'mariadb' ? `IDENTIFIED BY '${secret}'` : `IDENTIFIED WITH ${plugin} BY '${secret}'`;
  await connection.query(`CREATE USER '${name}'@'%' ${identified}`);
  await connection.query(`GRANT ALL ON *.* TO '${name}'@'%'`);
  await connection.end();
  return name;
};

// A value of common/values.tsv as this client gives it.
const unescape = (text) => text.replace(/\\([\\tn])/g, (_, c) => ({ '\\': '\\', t: '\t', n: '\n' })[c]);
const native = (column, text) => {
  if (text === '\\N') return null;
  if (text.startsWith('0x')) return Buffer.from(text.slice(2), 'hex');
  if (/^(id|._(tiny|small|medium)?int|c_float|c_double|c_year)$/.test(column)) return Number(text);
  // Whole numbers that no double holds exactly come as text.
  if (/bigint$/.test(column)) return Number.isSafeInteger(Number(text)) ? Number(text) : text;
  if (column === 'c_json') return JSON.parse(text);
  return unescape(text);
};
const values = rowsOf('values.tsv');
// The collation that this client asks for in its handshake, utf8mb4_general_ci, stands where a server's default one is not meant.
const ofConnection = (charset) => (charset === '255' ? 45 : Number(charset));
// The binary protocol leaves out a fraction of zero; the client prints what it gets.
const sameValues = (got, binary) => {
  equal(got.length, 4, 'rows');
  got.forEach((row, number) => row.forEach((cell, i) => {
    const column = values[i][0];
    let expected = native(column, values[i][number + 1]);
    if (column === 'c_float' && cell !== null) {
      equal(Math.fround(cell), Math.fround(expected), column);
      return;
    }
    if (binary && typeof expected === 'string' && /^c_(time|datetime|timestamp)$/.test(column)) {
      expected = expected.replace(/0+$/, '').replace(/\.$/, '');
      cell = cell.includes('.') ? cell.replace(/0+$/, '').replace(/\.$/, '') : cell;
    }
    equal(cell, expected, `${column} of row ${number + 1}`);
  }));
};

check('setup', async () => {
  const connection = await open({ database: undefined });
  await connection.query(`DROP DATABASE IF EXISTS ${database}`);
  await connection.query(`CREATE DATABASE ${database} DEFAULT CHARACTER SET utf8mb4`);
  await connection.query('SET GLOBAL local_infile = 1');
  await connection.query('SET GLOBAL max_allowed_packet = 67108864');
  await connection.query(`USE ${database}`);
  for (const sql of statements('types.sql')) await connection.query(sql);
  await connection.end();
});

check('connect.tcp', async () => {
  const connection = await open();
  equal(await rows(connection, 'SELECT 1, DATABASE()'), [[1, database]]);
  await connection.end();
});
check('connect.unix_socket', async () => {
  const connection = await open({ socketPath: env.ROUND_SOCKET });
  equal(await scalar(connection, 'SELECT DATABASE()'), database);
  await connection.end();
});
check('connect.no_database', async () => {
  const connection = await open({ database: undefined });
  equal(await scalar(connection, 'SELECT DATABASE()'), null);
  await fails(() => connection.query('SELECT * FROM every_type'), 1046, '3D000', 'No database selected');
  await connection.end();
});
check('connect.unknown_database', () => fails(() => open({ database: 'nosuch' }), 1049, '42000', "Unknown database 'nosuch'"));
check('connect.wrong_password', async () => {
  const user = await account('right', 'caching_sha2_password', 'right');
  for (const [password, said] of [['wrong', 'YES'], ['', 'NO']]) {
    const error = await fails(() => open({ user, password }), 1045, '28000', `Access denied for user '${user}'@`);
    isTrue(error.message.includes(`(using password: ${said})`), error.message);
  }
  await (await open({ user, password: 'right' })).end();
});
check('connect.caching_sha2_over_tls', async () => {
  needs(server !== 'mariadb', 'MariaDB 10.11 has no caching_sha2_password');
  const user = await account('tls', 'caching_sha2_password', 'pä55 wörd€');
  for (let again = 0; again < 2; again += 1) {
    const connection = await open({ user, password: 'pä55 wörd€', ssl: { rejectUnauthorized: false } });
    equal(await scalar(connection, 'SELECT CURRENT_USER()'), `${user}@%`);
    isTrue(await status(connection, 'Ssl_cipher'), 'no cipher');
    await connection.end();
  }
});
check('connect.caching_sha2_by_rsa', async () => {
  needs(server !== 'mariadb', 'MariaDB 10.11 has no caching_sha2_password');
  const user = await account('rsa', 'caching_sha2_password', 'secret');
  for (let again = 0; again < 2; again += 1) {
    const connection = await open({ user, password: 'secret' });
    equal(await scalar(connection, 'SELECT CURRENT_USER()'), `${user}@%`);
    equal(await status(connection, 'Ssl_cipher'), '');
    await connection.end();
  }
});
check('connect.native_password', async () => {
  needs(server !== 'mysql', 'MySQL 9 has no mysql_native_password');
  const user = await account('native', 'mysql_native_password', 'secret');
  const connection = await open({ user, password: 'secret' });
  equal(await scalar(connection, 'SELECT CURRENT_USER()'), `${user}@%`);
  await connection.end();
  await fails(() => open({ user, password: 'wrong' }), 1045, '28000');
});
check('connect.empty_password', async () => {
  const user = await account('empty', 'caching_sha2_password', '');
  await (await open({ user, password: '' })).end();
});
check('connect.tls', async () => {
  needs(server !== 'mariadb', 'started without TLS');
  const connection = await open({ ssl: { rejectUnauthorized: false } });
  sameValues(await rows(connection, 'SELECT * FROM every_type ORDER BY id'));
  isTrue((await status(connection, 'Ssl_version')).startsWith('TLSv1.'), 'version');
  await connection.end();
});
check('connect.compression', async () => {
  const connection = await open({ compress: true });
  equal(await status(connection, 'Compression'), 'ON');
  sameValues(await rows(connection, 'SELECT * FROM every_type ORDER BY id'));
  const long = 'ü€😀x'.repeat(2 * MIB);
  isTrue(await scalar(connection, 'SELECT ?', [long]) === long, '20 MiB there and back');
  await connection.end();
});
check('connect.attributes', async () => {
  needs(server !== 'mariadb', 'performance_schema');
  const connection = await open({ connectAttributes: { round: 'node' } });
  const sql = "SELECT attr_value FROM performance_schema.session_connect_attrs WHERE processlist_id = CONNECTION_ID() AND attr_name = 'round'";
  equal(await scalar(connection, sql), 'node');
  await connection.end();
});
check('charset.latin1', async () => {
  const connection = await open({ charset: 'LATIN1_SWEDISH_CI' });
  equal(await scalar(connection, 'SELECT @@character_set_results'), 'latin1');
  equal(await rows(connection, "SELECT 'grün', HEX('ü')"), [['grün', 'FC']]);
  await connection.end();
});

check('types.text', async () => {
  const connection = await open();
  sameValues(await rows(connection, 'SELECT * FROM every_type ORDER BY id'));
  await connection.end();
});
check('types.prepared', async () => {
  const connection = await open();
  sameValues(await executed(connection, 'SELECT * FROM every_type WHERE id > ? ORDER BY id', [0]), true);
  await connection.end();
});
check('types.dates', async () => {
  const connection = await open({ dateStrings: false });
  const expected = [[new Date('2024-02-29T00:00:00Z'), new Date('2024-02-29T12:34:56.789Z')]];
  equal(await rows(connection, 'SELECT c_date, c_timestamp FROM every_type WHERE id = 4'), expected, 'text');
  equal(await executed(connection, 'SELECT c_date, c_timestamp FROM every_type WHERE id = ?', [4]), expected, 'prepared');
  await connection.end();
});
for (const method of ['query', 'execute']) {
  check(`types.written_by_${method}`, async () => {
    const connection = await open();
    await connection.query('DROP TABLE IF EXISTS written');
    await connection.query('CREATE TABLE written LIKE every_type');
    for (let number = 1; number <= 4; number += 1) {
      const row = values.map(([column, ...cells]) => {
        const value = native(column, cells[number - 1]);
        return column === 'c_json' && value !== null ? JSON.stringify(value) : value;
      });
      await connection[method](`INSERT INTO written VALUES (${row.map(() => '?').join(', ')})`, row);
    }
    sameValues(await rows(connection, 'SELECT * FROM written ORDER BY id'));
    await connection.end();
  });
}
check('metadata.of_every_type', async () => {
  needs(server !== 'mariadb', "MariaDB's flags and lengths differ");
  const connection = await open();
  for (const [, fields] of [
    await connection.query('SELECT * FROM every_type t LIMIT 0'),
    await connection.execute('SELECT * FROM every_type t WHERE id = ?', [3]),
  ]) {
    rowsOf('metadata.tsv').forEach(([name, type, charset, length, flags, decimals], i) => {
      const field = fields[i];
      equal([field.name, field.columnType, field.characterSet, field.columnLength, field.flags, field.decimals],
        [name, Number(type), ofConnection(charset), Number(length), Number(flags), Number(decimals)], name);
      equal([field.schema, field.table, field.orgTable, field.orgName], [database, 't', 'every_type', name]);
    });
  }
  await connection.end();
});
check('metadata.of_expressions', async () => {
  needs(server !== 'mariadb', "MariaDB's flags and lengths differ");
  const connection = await open();
  for (const [name, type, charset, length, flags, decimals, sql] of rowsOf('metadata_expressions.tsv')) {
    const [, [field]] = await connection.query(sql);
    equal([field.columnType, field.characterSet, field.columnLength, field.flags, field.decimals, field.schema, field.table],
      [Number(type), ofConnection(charset), Number(length), Number(flags), Number(decimals), '', ''], name);
  }
  await connection.end();
});

check('prepared.executed_again', async () => {
  const connection = await open();
  const statement = await connection.prepare('SELECT ? AS a, ? AS b');
  for (const pair of [['1', 'a'], ['x', null], [null, null], ['ü', 'again']]) {
    const [[row]] = await statement.execute(pair);
    equal([row.a, row.b], pair);
  }
  const [[row]] = await statement.execute([41.5, Buffer.from([0, 255])]);
  equal([row.a, Buffer.isBuffer(row.b) ? [...row.b] : row.b], [41.5, [0, 255]]);
  await statement.close();
  await connection.end();
});
check('prepared.many_parameters', async () => {
  const connection = await open();
  const list = Array.from({ length: 10000 }, (_, i) => i);
  equal(await executed(connection, `SELECT 9999 IN (${list.map(() => '?').join(', ')})`, list), [[1]]);
  await fails(() => connection.prepare(`SELECT 1 IN (${'?, '.repeat(65535)}?)`), 1390, 'HY000');
  equal(await scalar(connection, 'SELECT 1'), 1);
  await connection.end();
});
check('prepared.many_statements', async () => {
  const connection = await open({ maxPreparedStatements: 10 });
  for (let number = 0; number < 50; number += 1) {
    equal(await executed(connection, `SELECT ${number} + ?`, [1]), [[number + 1]]);
  }
  await connection.end();
});
check('prepared.errors', async () => {
  const connection = await open();
  await fails(() => connection.execute('SELECT * FROM nosuch WHERE id = ?', [1]), 1146, '42S02');
  await fails(() => connection.execute('INSERT INTO every_type (id) VALUES (?)', [1]), 1062, '23000', "Duplicate entry '1'");
  await connection.query('CREATE TEMPORARY TABLE vanishing (id INT)');
  const sql = 'SELECT * FROM vanishing WHERE id = ?';
  equal(await executed(connection, sql, [1]), []);
  await connection.query('ALTER TABLE vanishing ADD v INT');
  await connection.query('INSERT INTO vanishing VALUES (1, 2)');
  equal(await executed(connection, sql, [1]), [[1, 2]]);
  await connection.query('DROP TEMPORARY TABLE vanishing');
  await fails(() => executed(connection, sql, [1]), 1146, '42S02');
  await connection.end();
});
check('results.affected_rows_and_insert_id', async () => {
  const connection = await open();
  await connection.query('CREATE TEMPORARY TABLE counted (id INT AUTO_INCREMENT PRIMARY KEY, v INT)');
  let [result] = await connection.query('INSERT INTO counted (v) VALUES (1), (2), (3)');
  equal([result.affectedRows, result.insertId, result.info], [3, 1, 'Records: 3  Duplicates: 0  Warnings: 0']);
  [result] = await connection.execute('INSERT INTO counted (v) VALUES (?)', [4]);
  equal([result.affectedRows, result.insertId], [1, 4]);
  [result] = await connection.query('UPDATE counted SET v = 9 WHERE v IN (1, 2)');
  equal([result.affectedRows, result.changedRows], [2, 2]);
  [result] = await connection.query('UPDATE counted SET v = 9');
  equal([result.affectedRows, result.changedRows], [4, 2], 'this client counts rows found');
  await connection.end();
});

for (const [name, errno, state, text, sql] of rowsOf('errors.tsv')) {
  check(`errors.${name}`, async () => {
    const connection = await open();
    await fails(() => connection.query(sql), Number(errno), state, server === 'mariadb' ? '' : text.replace('{database}', database));
    equal(await scalar(connection, 'SELECT 1'), 1, 'afterwards');
    await connection.end();
  });
}
check('errors.lock_wait_timeout', async () => {
  const [one, two] = [await open(), await open()];
  await one.query('DROP TABLE IF EXISTS locks');
  await one.query('CREATE TABLE locks (id INT PRIMARY KEY, v INT)');
  await one.query('INSERT INTO locks VALUES (1, 0), (2, 0)');
  await one.beginTransaction();
  await one.execute('UPDATE locks SET v = 1 WHERE id = ?', [1]);
  await two.query('SET innodb_lock_wait_timeout = 1');
  await fails(() => two.execute('UPDATE locks SET v = 2 WHERE id = ?', [1]), 1205, 'HY000', 'Lock wait timeout exceeded; try restarting transaction');
  await one.rollback();
  await two.execute('UPDATE locks SET v = 2 WHERE id = ?', [1]);
  await one.end();
  await two.end();
});
check('errors.deadlock', async () => {
  const [one, two] = [await open(), await open()];
  await one.beginTransaction();
  await two.beginTransaction();
  await one.query('UPDATE locks SET v = 3 WHERE id = 1');
  await two.query('UPDATE locks SET v = 4 WHERE id = 2');
  const settled = Promise.allSettled([
    one.query('UPDATE locks SET v = 3 WHERE id = 2').then(() => one.commit()),
    sleep(100).then(() => two.query('UPDATE locks SET v = 4 WHERE id = 1')).then(() => two.commit()),
  ]);
  const lost = (await settled).filter((outcome) => outcome.status === 'rejected').map((outcome) => outcome.reason);
  equal(lost.map((error) => [error.errno, error.sqlState]), [[1213, '40001']]);
  equal(await scalar(one, 'SELECT COUNT(DISTINCT v) FROM locks'), 1);
  await one.end();
  await two.end();
});
check('warnings.show', async () => {
  const connection = await open();
  const [result] = await connection.query('DROP TABLE IF EXISTS nosuch');
  equal(result.warningStatus, 1);
  equal(await rows(connection, 'SHOW WARNINGS'), [['Note', 1051, `Unknown table '${database}.nosuch'`]]);
  equal(await executed(connection, 'SELECT CAST(? AS SIGNED)', ['1x']), [[1]]);
  equal(await rows(connection, 'SHOW WARNINGS'), [['Warning', 1292, "Truncated incorrect INTEGER value: '1x'"]]);
  await connection.end();
});

check('transactions.commit_and_rollback', async () => {
  const [one, two] = [await open(), await open()];
  await one.query('DROP TABLE IF EXISTS moves');
  await one.query('CREATE TABLE moves (id INT PRIMARY KEY)');
  await one.beginTransaction();
  await one.execute('INSERT INTO moves VALUES (?)', [1]);
  equal(await scalar(two, 'SELECT COUNT(*) FROM moves'), 0);
  await one.commit();
  equal(await scalar(two, 'SELECT COUNT(*) FROM moves'), 1);
  await one.query('SET autocommit = 0');
  await one.execute('INSERT INTO moves VALUES (?)', [2]);
  await one.query('SAVEPOINT here');
  await one.execute('INSERT INTO moves VALUES (?)', [3]);
  await one.query('ROLLBACK TO here');
  equal(await scalar(one, 'SELECT COUNT(*) FROM moves'), 2);
  await one.rollback();
  equal(await scalar(one, 'SELECT COUNT(*) FROM moves'), 1);
  await one.query('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED');
  await one.query('START TRANSACTION READ ONLY');
  await fails(() => one.query('DELETE FROM moves'), 1792, '25006');
  await one.commit();
  await one.end();
  await two.end();
});
check('temporary.reset_and_change_user', async () => {
  const user = await account('other', 'caching_sha2_password', 'other');
  const connection = await open();
  const scratch = async () => {
    await connection.query(`USE ${database}`);
    await connection.query('CREATE TEMPORARY TABLE scratch (id INT)');
    await connection.query("INSERT INTO scratch VALUES (1)");
    await connection.query("SET @kept = 1, SESSION sql_mode = ''");
    equal(await executed(connection, 'SELECT id + ? FROM scratch', [1]), [[2]]);
  };
  const gone = async () => {
    await fails(() => connection.query('SELECT * FROM scratch'), 1146, '42S02');
    equal(await rows(connection, "SELECT @kept, @@sql_mode = ''"), [[null, 0]]);
  };
  const id = await scalar(connection, 'SELECT CONNECTION_ID()');
  await scratch();
  await connection.reset();
  await gone();
  equal(await scalar(connection, 'SELECT CONNECTION_ID()'), id);
  await scratch();
  await connection.changeUser({ user, password: 'other', database });
  await gone();
  equal(await scalar(connection, 'SELECT CURRENT_USER()'), `${user}@%`);
  await fails(() => connection.changeUser({ user, password: 'wrong', database }), 1045, '28000');
  connection.destroy();
});
check('reset.pool', async () => {
  const pool = mysql.createPool(options({ connectionLimit: 2 }));
  const outcomes = await Promise.all(Array.from({ length: 20 }, (_, i) => pool.execute('SELECT ? + COUNT(*) AS n FROM every_type', [i])));
  equal(outcomes.map(([[row]]) => row.n), Array.from({ length: 20 }, (_, i) => i + 4));
  const connection = await pool.getConnection();
  connection.connection.on('error', () => {});
  const id = await scalar(connection, 'SELECT CONNECTION_ID()');
  const other = await open();
  await other.query(`KILL ${id}`);
  await sleep(300);
  let error;
  try { await connection.query('SELECT 1'); } catch (caught) { error = caught; }
  isTrue(error && (error.fatal || /closed state/.test(error.message)), `lost: ${error}`);
  connection.release();
  const [[row]] = await pool.query('SELECT 1 AS one');
  equal(row.one, 1);
  await pool.end();
  await other.end();
});
check('kill.query', async () => {
  const [connection, other] = [await open(), await open()];
  const id = await scalar(connection, 'SELECT CONNECTION_ID()');
  const heavy = 'SELECT COUNT(*) FROM information_schema.columns a, information_schema.columns b, information_schema.columns c WHERE SLEEP(1) = 5';
  const running = fails(() => connection.query(heavy), 1317, '70100', 'Query execution was interrupted');
  await sleep(300);
  await other.query(`KILL QUERY ${id}`);
  await running;
  await connection.ping();
  await connection.end();
  await other.end();
});
check('large.blob_and_text_of_20_mib', async () => {
  const connection = await open();
  for (const method of ['query', 'execute']) {
    await connection.query('DROP TABLE IF EXISTS large');
    await connection.query('CREATE TABLE large (id INT PRIMARY KEY, b LONGBLOB, t LONGTEXT)');
    const blob = Buffer.alloc(20 * MIB, '0123456789abcde\xff', 'latin1');
    const text = "ab€😀é'\\\n".repeat(20 * MIB / 15 | 0);
    await connection[method]('INSERT INTO large VALUES (1, ?, NULL)', [blob]);
    await connection[method]('INSERT INTO large VALUES (2, NULL, ?)', [text]);
    const [[one]] = await connection[method]('SELECT b FROM large WHERE id = 1');
    const [[two]] = await connection[method]('SELECT t FROM large WHERE id = 2');
    isTrue(one.b.equals(blob), 'BLOB');
    isTrue(two.t === text, 'TEXT');
  }
  await connection.end();
});
check('large.result_of_200000_rows', async () => {
  const connection = await open();
  await connection.query(`SET ${server === 'mariadb' ? 'max_recursive_iterations' : 'cte_max_recursion_depth'} = 1000000`);
  const sql = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000) SELECT i, CONCAT('row ', i) AS label FROM n";
  for (const method of ['query', 'execute']) {
    let count = 0;
    for await (const row of connection.connection[method](sql).stream()) {
      count += 1;
      if (row.i !== count || row.label !== `row ${count}`) throw new Error(`row ${count}: ${inspect(row)}`);
    }
    equal(count, 200000);
  }
  await connection.end();
});
check('multi.statements', async () => {
  const connection = await open({ multipleStatements: true });
  const [results] = await connection.query("SELECT 1 AS a; SET @a = 5; SELECT @a AS b UNION ALL SELECT 6; DO 0");
  equal(JSON.stringify([results[0], results[2]]), '[[{"a":1}],[{"b":5},{"b":6}]]');
  equal(results.length, 4);
  await fails(() => connection.query('SELECT 1; SELECT * FROM nosuch; SELECT 3'), 1146, '42S02');
  equal(await scalar(connection, 'SELECT 2'), 2);
  await connection.end();
  const single = await open();
  await fails(() => single.query('SELECT 1; SELECT 2'), 1064, '42000');
  await single.end();
});
check('infile.streams', async () => {
  const connection = await open();
  await connection.query('DROP TABLE IF EXISTS loaded');
  await connection.query('CREATE TABLE loaded (id INT PRIMARY KEY, v VARCHAR(50))');
  const load = (content, sql) => connection.query({ sql, infileStreamFactory: () => (typeof content === 'string' ? Readable.from([Buffer.from(content)]) : content) });
  const lines = Array.from({ length: 3000 }, (_, i) => `${i}\tvalue ü${i}\n`).join('');
  let [result] = await load(lines, "LOAD DATA LOCAL INFILE 'x' INTO TABLE loaded CHARACTER SET utf8mb4");
  equal(result.affectedRows, 3000);
  equal(await scalar(connection, 'SELECT v FROM loaded WHERE id = 7'), 'value ü7');
  [result] = await load(Readable.from([]), "LOAD DATA LOCAL INFILE 'x' INTO TABLE loaded");
  equal(result.affectedRows, 0);
  const file = path.join(env.ROUND_TEMPORARY, 'node.txt');
  writeFileSync(file, '5000,"a, b"\n5001,\\N\n');
  await load(createReadStream(file), "LOAD DATA LOCAL INFILE 'x' INTO TABLE loaded FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '\"'");
  equal(await rows(connection, 'SELECT v FROM loaded WHERE id >= 5000 ORDER BY id'), [['a, b'], [null]]);
  await fails(() => load('1\tx\n', "LOAD DATA LOCAL INFILE 'x' INTO TABLE nosuch"), 1146, '42S02');
  equal(await scalar(connection, 'SELECT 1'), 1, 'afterwards');
  await connection.query('CREATE TEMPORARY TABLE checked (id INT PRIMARY KEY, v VARCHAR(50))');
  const many = Array.from({ length: 100000 }, (_, i) => `${i}\tvalue\n`).join('');
  await fails(() => load(many, "LOAD DATA LOCAL INFILE 'x' INTO TABLE checked (id, @v) SET v = IF(id = 500, (SELECT 1 UNION SELECT 2), @v)"), 1242, '21000');
  equal(await scalar(connection, 'SELECT 1'), 1, 'afterwards');
  await connection.end();
});

let failed = 0;
for (const [name, work] of checks) {
  if (!name.includes(env.ROUND_CHECK ?? '')) continue;
  try {
    await work();
    console.log(`ok ${name}`);
  } catch (error) {
    if (error instanceof Skip) {
      console.log(`skip ${name}: ${error.message}`);
    } else {
      failed += 1;
      console.log(`FAIL ${name}: ${error.message.replace(/\s+/g, ' ')} (${(error.stack.match(/round\.mjs:\d+/g) ?? [''])[0]})`);
    }
  }
}
process.exit(failed ? 1 : 0);
