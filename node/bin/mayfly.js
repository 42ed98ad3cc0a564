#!/usr/bin/env node
// Runs the `mayfly` program with the arguments of this process, and ends as it ends.
'use strict';

const { spawn } = require('node:child_process');
const { programPath } = require('../program.js');

const child = spawn(programPath(), process.argv.slice(2), { stdio: 'inherit' });
// A terminal sends SIGINT to both processes.
process.on('SIGINT', () => {});
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('error', (error) => {
  console.error(`mayfly: ${error.message}`);
  process.exitCode = 1;
});
child.on('exit', (code, signal) => {
  if (signal === null) {
    process.exitCode = code;
    return;
  }
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
