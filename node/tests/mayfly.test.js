// The package as tests of an application use it, against mysql2.
'use strict';

const assert = require('node:assert/strict');
const { spawn, spawnSync } = require('node:child_process');
const { once } = require('node:events');
const fs = require('node:fs');
const net = require('node:net');
const os = require('node:os');
const path = require('node:path');
const { test } = require('node:test');
const mysql = require('mysql2/promise');
const { programPath, startMayfly } = require('../index.js');

const launcher = path.join(__dirname, '../bin/mayfly.js');

function temporary(t) {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'mayfly-node-'));
  t.after(() => fs.rmSync(directory, { recursive: true }));
  return directory;
}

async function canConnect(port) {
  const socket = net.connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

async function value(options, sql) {
  const connection = await mysql.createConnection({ ...options, rowsAsArray: true });
  try {
    const [[[first]]] = await connection.query(sql);
    return first;
  } finally {
    await connection.end();
  }
}

test('mysql2 connects with the options and with the URL', async () => {
  const server = await startMayfly();
  try {
    assert.equal(server.url, `mysql://root@127.0.0.1:${server.port}/test`);
    const pool = mysql.createPool(server.connectionOptions);
    await pool.query('CREATE TABLE t (a INT PRIMARY KEY, b VARCHAR(20))');
    await pool.execute('INSERT INTO t VALUES (?, ?)', [1, 'one']);
    await pool.end();
    const connection = await mysql.createConnection(server.url);
    const [rows] = await connection.execute('SELECT * FROM t WHERE a = ?', [1]);
    assert.deepEqual(rows, [{ a: 1, b: 'one' }]);
    await connection.end();
  } finally {
    await server.stop();
  }
});

test('servers run side by side, each with its own database', async () => {
  const [one, other] = await Promise.all([startMayfly(), startMayfly()]);
  await value(one.connectionOptions, "SELECT GET_LOCK('x', 0)");
  const count = "SELECT COUNT(*) FROM information_schema.tables WHERE table_name = 'only_here'";
  const connection = await mysql.createConnection(one.connectionOptions);
  await connection.query('CREATE TABLE only_here (a INT)');
  await connection.end();
  assert.equal(await value(one.connectionOptions, count), 1);
  assert.equal(await value(other.connectionOptions, count), 0);
  await Promise.all([one.stop(), other.stop()]);
});

test('stop ends the process, may be repeated, and disposal stops', async () => {
  const server = await startMayfly();
  assert.equal(await canConnect(server.port), true);
  await server.stop();
  await server.stop();
  assert.equal(await canConnect(server.port), false);
  const disposed = await startMayfly();
  await disposed[Symbol.asyncDispose]();
  assert.equal(await canConnect(disposed.port), false);
});

test('a directory is kept, and a socket is listened on', async (t) => {
  const directory = temporary(t);
  const options = { path: path.join(directory, 'data'), socket: path.join(directory, 'socket') };
  let server = await startMayfly(options);
  const connection = await mysql.createConnection({ socketPath: server.socket, user: 'root', database: 'test' });
  await connection.query('CREATE TABLE t AS SELECT 7 AS a');
  await connection.end();
  await server.stop();
  server = await startMayfly(options);
  assert.equal(await value(server.connectionOptions, 'SELECT a FROM t'), 7);
  await server.stop();
});

test('options of the server', async () => {
  const server = await startMayfly({ threads: 1, memoryLimit: '64M', variables: { max_connections: 33, autocommit: false } });
  const row = await value(server.connectionOptions, "SELECT CONCAT(@@max_connections, ' ', @@autocommit)");
  assert.equal(row, '33 0');
  await server.stop();
});

test('a server that cannot start tells why', async () => {
  const server = await startMayfly();
  await assert.rejects(startMayfly({ port: server.port }), new RegExp(`exit code 1: .*${server.port}`, 's'));
  await server.stop();
  await assert.rejects(startMayfly({ program: '/no/such/program' }), { code: 'ENOENT' });
});

test('a server that is not stopped ends with the process and does not keep it', () => {
  const text = `
    const { startMayfly } = require(${JSON.stringify(path.join(__dirname, '../index.js'))});
    startMayfly().then((server) => console.log(server.port));`;
  const ran = spawnSync(process.execPath, ['-e', text], { encoding: 'utf8', timeout: 30_000 });
  assert.equal(ran.status, 0, ran.stderr);
  return canConnect(Number(ran.stdout)).then((is) => assert.equal(is, false));
});

test('the launcher passes arguments, output, exit code and signals on', async () => {
  const run = (...line) => spawnSync(process.execPath, [launcher, ...line], { encoding: 'utf8', timeout: 30_000 });
  assert.equal(run('-N', '-e', 'SELECT 6 * 7').stdout, '42\n');
  assert.equal(run('-e', 'SELECT * FROM missing').status, 1);
  assert.equal(run('--no-such-option').status, 2);
  const line = [launcher, 'serve', '--ephemeral', '--insecure', '--port', '0'];
  const served = spawn(process.execPath, line, { stdio: ['ignore', 'pipe', 'ignore'] });
  const [ready] = await once(served.stdout, 'data');
  const port = Number(/port: (\d+)/.exec(ready)[1]);
  served.kill('SIGTERM');
  const [code, signal] = await once(served, 'exit');
  assert.deepEqual([code, signal], [0, null]);
  assert.equal(await canConnect(port), false);
});

test('the program is that of the environment, or of the package for the platform', () => {
  const known = process.env.MAYFLY_PROGRAM;
  try {
    process.env.MAYFLY_PROGRAM = '/some/where';
    assert.equal(programPath(), '/some/where');
    delete process.env.MAYFLY_PROGRAM;
    let found;
    try {
      found = programPath();
    } catch (error) {
      assert.match(error.message, /the package @mayfly\/\S+ is missing|has no program for/);
      return;
    }
    assert.ok(fs.existsSync(found));
  } finally {
    if (known !== undefined) process.env.MAYFLY_PROGRAM = known;
  }
});
