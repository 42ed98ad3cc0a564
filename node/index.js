// Servers of Mayfly for tests: `startMayfly` starts the program on a free port and waits until clients can connect.
'use strict';

const { spawn } = require('node:child_process');
const { programPath } = require('./program.js');

const ready = /: ready for connections\. port: (\d+)/;
const running = new Set();
// Servers end with this process.
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** Whether this process waits for a server before it ends: `ref` or `unref`. */
function hold(child, how) {
  for (const part of [child, child.stdout, child.stderr]) part[how]();
}

class MayflyServer {
  #child;
  #ended;

  constructor(child, ended, options) {
    this.#child = child;
    this.#ended = ended;
    this.host = '127.0.0.1';
    this.port = options.port;
    this.socket = options.socket;
    this.user = 'root';
    this.password = '';
    this.database = 'test';
    this.url = `mysql://${this.user}@${this.host}:${this.port}/${this.database}`;
  }

  get connectionOptions() {
    const { host, port, user, password, database } = this;
    return { host, port, user, password, database };
  }

  async stop() {
    if (running.has(this.#child)) {
      hold(this.#child, 'ref');
      this.#child.kill('SIGTERM');
    }
    await this.#ended;
  }

  // Node before 20 has no symbol of this name.
  async [Symbol.asyncDispose ?? Symbol.for('nodejs.asyncDispose')]() {
    await this.stop();
  }
}

function commandLine({ path, port = 0, socket, memoryLimit, threads, variables = {} }) {
  const line = ['serve', '--insecure', '--port', String(port), '--log-level', 'error'];
  line.push(...(path === undefined ? ['--ephemeral'] : ['--datadir', path]));
  if (socket !== undefined) line.push('--socket', socket);
  if (memoryLimit !== undefined) line.push('--memory-limit', String(memoryLimit));
  if (threads !== undefined) line.push('--threads', String(threads));
  for (const [name, value] of Object.entries(variables)) {
    line.push('--set', `${name}=${typeof value === 'boolean' ? Number(value) : value}`);
  }
  return line;
}

async function startMayfly(options = {}) {
  const { program = programPath(), timeout = 30_000, socket } = options;
  const child = spawn(program, commandLine(options), { stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  let output = '';
  let errors = '';
  const ended = new Promise((resolve) => {
    child.once('error', resolve);
    child.once('close', resolve);
  }).then(() => running.delete(child));
  try {
    const port = await new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`mayfly is not ready after ${timeout} ms`)), timeout);
      child.once('error', reject);
      child.once('close', (code) => reject(new Error(`mayfly ended with exit code ${code}: ${errors.trim()}`)));
      child.stderr.on('data', (data) => {
        // What is read last tells why the server has ended.
        errors = (errors + data).slice(-10_000);
      });
      child.stdout.on('data', (data) => {
        output += data;
        const found = ready.exec(output);
        if (found === null) return;
        clearTimeout(timer);
        resolve(Number(found[1]));
      });
      child.once('close', () => clearTimeout(timer));
    });
    // A test that forgets the server still ends.
    hold(child, 'unref');
    return new MayflyServer(child, ended, { port, socket });
  } catch (error) {
    child.kill('SIGKILL');
    await ended;
    throw error;
  }
}

exports.startMayfly = startMayfly;
exports.programPath = programPath;
