// The page: views behind tabs, the numbers that come every second, and the keys.
import { make } from './elements.js';
import { server, setToken, takeToken } from './server.js';
import { createNow } from './now.js';
import { createStatements } from './statements.js';
import { createFindings } from './findings.js';
import { createExplain } from './explain.js';
import { createSettings } from './settings.js';

const INTERVAL = 1000;
const THEME = 'mayfly-theme';
const element = (id) => document.getElementById(id);

/** What the views know of the page. */
const app = {
  overview: null,
  refresh: () => poll(),
  failed,
  explain: (statement, database) => { open('explain'); views.explain.fill(statement, database); },
  badge: (name, number) => {
    const tab = element(`tab-${name}`);
    tab.querySelector('.count')?.remove();
    if (number) tab.append(make('span.count', { text: String(number) }));
  },
};

const views = { now: createNow(app), statements: createStatements(app), findings: createFindings(app), explain: createExplain(app), settings: createSettings(app) };
const names = Object.keys(views);
let current = null;
let isPaused = false;
let misses = 0;

function open(name, focusTab) {
  if (!views[name] || name === current) return;
  current = name;
  for (const other of names) {
    const tab = element(`tab-${other}`);
    tab.setAttribute('aria-selected', String(other === name));
    tab.tabIndex = other === name ? 0 : -1;
    if (other === name && focusTab) tab.focus();
  }
  const main = element('main');
  main.setAttribute('aria-labelledby', `tab-${name}`);
  main.replaceChildren(...views[name].elements);
  document.title = `${views[name].title} · Mayfly`;
  history.replaceState(null, '', `#${name}`);
  scrollTo(0, 0);
  views[name].show();
}

function setState(state, text) {
  element('state').dataset.state = state;
  if (element('state-text').textContent !== text) element('state-text').textContent = text;
}

function failed(error) {
  if (error.status === 401) askToken();
  else if (error.status === 0) setState('lost', error.message);
}

let timer;
let isAsking = false;
async function poll() {
  if (isAsking) return;
  isAsking = true;
  clearTimeout(timer);
  try {
    app.overview = await server.overview();
    misses = 0;
    element('version').textContent = app.overview.server.version;
    setState(isPaused ? 'paused' : 'live', isPaused ? 'Paused' : 'Live');
    views[current].tick();
  } catch (error) {
    misses += 1;
    if (error.status === undefined) throw error;
    failed(error);
    if (error.status > 0 && error.status !== 401) setState('lost', error.message);
  } finally {
    isAsking = false;
    if (!isPaused && !document.hidden && !document.querySelector('dialog.token')) timer = setTimeout(poll, Math.min(10, 2 ** Math.max(0, misses - 2)) * INTERVAL);
  }
}

function setPaused(value) {
  isPaused = value;
  element('pause').setAttribute('aria-pressed', String(value));
  element('pause').textContent = value ? 'Go on' : 'Pause';
  clearTimeout(timer);
  if (value) setState('paused', 'Paused');
  else poll();
}

function askToken() {
  if (document.querySelector('dialog.token')) return;
  setState('lost', 'The token is missing');
  const input = make('input', { type: 'password', id: 'token', autocomplete: 'off', required: true });
  const dialog = make('dialog.token', { 'aria-labelledby': 'token-title' },
    make('form', { method: 'dialog' },
      make('h2', { id: 'token-title', text: 'Token' }),
      make('p.muted', { text: 'It stands behind #token= in the address that the server printed when it started.' }),
      make('label.hidden', { for: 'token', text: 'Token' }), input, make('div.row', {}, make('button.primary.push', { text: 'Open' }))));
  dialog.addEventListener('cancel', (event) => event.preventDefault());
  dialog.addEventListener('close', () => { setToken(input.value.trim()); dialog.remove(); poll(); views[current].show(); });
  document.body.append(dialog);
  dialog.showModal();
}

const KEYS = [
  ['1 – 5', 'the views, in the order of the tabs'], ['/', 'to the filter, or to the statement to explain'], ['P', 'hold the numbers still, or go on'], ['R', 'read everything anew'],
  ['D', 'light or dark'], ['↑ ↓', 'the rows of a table; the operators of a plan, with ← →'], ['Enter', 'opens the row'], ['Delete', 'kills what is in the row, after a question'],
  ['Ctrl Enter', 'explains the statement'], ['Escape', 'closes what is open'], ['?', 'this list'],
];

function help() {
  const dialog = make('dialog', { 'aria-labelledby': 'help-title' },
    make('form', { method: 'dialog' }, make('h2', { id: 'help-title', text: 'Keys' }),
      make('dl.keys', {}, KEYS.map(([keys, text]) => [make('dt', {}, keys.split(' ').map((key) => (key === '–' ? ' – ' : make('kbd', { text: key })))), make('dd', { text })])),
      make('div.row', {}, make('button.push', { text: 'Close', autofocus: true }))));
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  try { localStorage.setItem(THEME, theme); } catch { /* A browser that keeps nothing asks the system again. */ }
}

function toggleTheme() {
  const system = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  setTheme((document.documentElement.dataset.theme ?? system) === 'dark' ? 'light' : 'dark');
}

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return;
  if (event.target.closest('input, textarea, select')) {
    if (event.key === 'Escape') event.target.blur();
    return;
  }
  const actions = {
    p: () => setPaused(!isPaused), d: toggleTheme, r: () => { poll(); views[current].show(); }, '?': help,
    '/': () => views[current].focusFilter?.(),
  };
  const view = names[Number(event.key) - 1];
  const action = view ? () => open(view, true) : actions[event.key.toLowerCase()];
  if (action) { event.preventDefault(); action(); }
}

function begin() {
  takeToken();
  try { const theme = localStorage.getItem(THEME); if (theme) document.documentElement.dataset.theme = theme; } catch { /* as above */ }
  document.addEventListener('keydown', pressed);
  for (const name of names) element(`tab-${name}`).addEventListener('click', () => open(name));
  document.querySelector('[role="tablist"]').addEventListener('keydown', (event) => {
    const index = names.indexOf(current);
    const goal = { ArrowRight: (index + 1) % names.length, ArrowLeft: (index + names.length - 1) % names.length, Home: 0, End: names.length - 1 }[event.key];
    if (goal !== undefined) { event.preventDefault(); open(names[goal], true); }
  });
  element('pause').addEventListener('click', () => setPaused(!isPaused));
  element('theme').addEventListener('click', toggleTheme);
  element('help').addEventListener('click', help);
  document.querySelector('.skip').addEventListener('click', (event) => { event.preventDefault(); element('main').focus(); });
  document.addEventListener('visibilitychange', () => { if (!document.hidden && !isPaused) poll(); });
  open(views[location.hash.slice(1)] ? location.hash.slice(1) : 'now');
  poll();
}

begin();
