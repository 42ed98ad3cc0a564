// What statements have cost since the start, by their digest.
import { card, make, notes, notice } from './elements.js';
import { bytes, count, seconds, short, statementText, wholeCount } from './format.js';
import { DataTable } from './table.js';
import { PlanPicture, planTree, spills, tablesOf } from './plan.js';
import { server } from './server.js';

const RELOAD = 5000;

function planTitle(tables) {
  const large = tables.filter((it) => spills(it.table)).length;
  if (!tables.length) return 'The plan: no temporary table';
  return `The plan: ${tables.length} temporary ${tables.length === 1 ? 'table' : 'tables'}${large ? `, ${large} of them too large for memory` : ''}`;
}

export function createStatements(app) {
  let order = 'seconds';
  let rows = [];
  let chosen = null;
  let loaded = 0;
  const top = (name) => Math.max(0, ...rows.map((row) => row[name] ?? 0));
  const share = (name, text, kind) => (row) => {
    // Nothing is no share of anything.
    if (!row[name]) return make('span.muted', { text: text(row[name]) });
    const whole = top(name);
    const part = whole > 0 ? (row[name] ?? 0) / whole : 0;
    return make(`span.share${kind ?? ''}`, { text: text(row[name]), style: { '--part': `${Math.round(part * 100)}%` } });
  };
  const measure = (id, title, text, kind, hint, isExtra) => ({ id, title, hint, class: isExtra ? 'extra' : undefined, number: true, sort: true, value: (row) => row[id], state: (row) => [row[id], top(id)], cell: share(id, text, kind) });
  const table = new DataTable({
    label: 'Statements', order, key: (row) => `${row.digest} ${row.database}`, open: (row) => choose(row),
    sorted: (id) => { order = id; load(); },
    empty: 'No statement has been counted yet.',
    columns: [
      { id: 'statement', title: 'Statement', class: 'sql', value: (row) => row.statement, cell: (row) => make('div', {}, make('div.clip', { text: short(statementText(row.statement), 300), title: short(row.statement, 1000) }), row.database ? make('span.sub', { text: row.database }) : '') },
      measure('executions', 'Runs', count),
      measure('seconds', 'Time', seconds, undefined, 'In all runs together'),
      measure('seconds_mean', 'Mean', seconds, undefined, 'Time of one run', true),
      measure('rows_examined', 'Rows read', count, undefined, 'Rows read in all runs together', true),
      measure('temporary_tables', 'Temp. tables', count, '.memory', 'Internal temporary tables', true),
      measure('disk_tables', 'To disk', count, '.disk', 'Internal temporary tables that went to disk'),
      measure('temporary_bytes', 'Temp. bytes', bytes, '.memory', 'Bytes in temporary tables, in all runs together', true),
      measure('spilled_bytes', 'Spilled', bytes, '.disk', 'Bytes that temporary tables wrote to disk'),
    ],
  });
  const filter = make('input', { type: 'search', placeholder: 'Filter by text', 'aria-label': 'Filter statements by text', oninput: () => drawList() });
  const list = card('Statements', { id: 'statements-title', tools: [make('div.push', {}, filter)] });
  const counted = make('span.muted');
  list.heading.append(counted);
  const remarks = make('div.stack');
  list.card.replaceChildren(list.head, table.element);
  const detail = make('section.card.detail', { 'aria-label': 'The statement that is chosen', hidden: true });
  const split = make('div.split', {}, list.card, detail);

  function drawList() {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = rows.filter((row) => words.every((word) => `${row.statement} ${row.database}`.toLowerCase().includes(word)));
    table.update(found);
    table.select(chosen ?? '');
    counted.textContent = rows.length ? (found.length === rows.length ? `the ${rows.length} with most ${words_of(order)}` : `${found.length} of ${rows.length}`) : '';
  }
  const words_of = (id) => ({ seconds: 'time', seconds_mean: 'time in a run', executions: 'runs', rows_examined: 'rows read', temporary_tables: 'temporary tables', disk_tables: 'tables on disk', temporary_bytes: 'temporary bytes', spilled_bytes: 'spilled bytes' })[id];

  async function load() {
    loaded = Date.now();
    try {
      const answer = await server.statements(order);
      rows = answer.statements;
      if (answer.order !== order) { order = answer.order; table.order = order; table.drawHead(); }
      drawList();
      remarks.replaceChildren(...notes(answer.notes));
    } catch (error) {
      app.failed(error);
    }
  }

  function close() {
    const key = chosen;
    chosen = null;
    detail.hidden = true;
    split.classList.remove('open');
    table.select('');
    table.lines.get(key)?.element.focus();
  }

  async function choose(row) {
    chosen = `${row.digest} ${row.database}`;
    table.select(chosen);
    let answer;
    try {
      answer = await server.statement(row.digest);
    } catch (error) {
      notice(error.message, true);
      return;
    }
    const it = answer.statement;
    const sample = it.sample ?? answer.events.find((event) => event.statement)?.statement;
    const fact = (name, text) => make('div', {}, make('dt', { text: name }), make('dd', { text }));
    const picture = make('div.stack');
    const closing = make('button.quiet.icon.push', { type: 'button', 'aria-label': 'Close', title: 'Close (Escape)', text: '×', onclick: close });
    detail.replaceChildren(
      make('div.head', {}, make('h2', { text: 'Statement' }), make('code.muted', { text: short(it.digest, 17) }), closing),
      make('div.body.stack', {},
        make('pre.block', { text: sample ?? statementText(it.statement), tabindex: 0, 'aria-label': sample ? 'A run of the statement' : 'The statement' }),
        make('div.row', {}, sample ? make('button', { type: 'button', text: 'Explain it', onclick: () => app.explain(sample, it.database) }) : null,
          it.disk_tables > 0 ? make('span.chip.disk', { text: `${count(it.disk_tables)} temporary tables to disk` }) : it.temporary_tables > 0 ? make('span.chip.good', { text: 'stays in memory' }) : null,
          it.errors > 0 ? make('span.chip.bad', { text: `${count(it.errors)} errors` }) : null),
        make('dl.facts', {},
          fact('Runs', wholeCount(it.executions)), fact('Time in all', seconds(it.seconds)), fact('Mean', seconds(it.seconds_mean)), fact('95 % within', seconds(it.seconds_95)), fact('Longest', seconds(it.seconds_max)),
          fact('Rows sent', count(it.rows_sent)), fact('Rows read', count(it.rows_examined)), fact('Rows sorted', count(it.sort_rows)),
          fact('Temporary tables', count(it.temporary_tables)), fact('Of them to disk', count(it.disk_tables)), fact('Largest', bytes(it.temporary_bytes_max)), fact('Most on disk', bytes(it.disk_bytes_max)), fact('Spilled in all', bytes(it.spilled_bytes)),
          fact('Hit tmp_table_size', count(it.hit_tmp_table_size)), fact('Hit temptable_max_ram', count(it.hit_temptable_max_ram)), fact('Last seen', String(it.last_seen ?? '–').slice(0, 19))),
        picture));
    detail.hidden = false;
    split.classList.add('open');
    closing.focus({ preventScroll: true });
    if (sample) drawPlan(picture, sample, it.database);
  }

  async function drawPlan(place, sample, database) {
    let tree;
    try {
      tree = planTree((await server.explain(sample, database, false)).plan);
    } catch (error) {
      place.append(make('p.note', { text: `No plan: ${error.message}` }));
      return;
    }
    if (!tree) return;
    const tables = tablesOf(tree);
    const picture = new PlanPicture(tree);
    place.append(make('h3', { text: planTitle(tables) }), picture.element);
    picture.fit();
  }
  detail.addEventListener('keydown', (event) => { if (event.key === 'Escape') close(); });

  return {
    title: 'Statements',
    elements: [make('h1.hidden', { text: 'Statements' }), split, remarks],
    show: load,
    tick: () => { if (Date.now() - loaded > RELOAD) load(); },
    focusFilter: () => filter.focus(),
  };
}
