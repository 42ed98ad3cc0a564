// What is now: totals, memory and disk over time, temporary tables, sessions.
import { card, choice, confirmed, make, meter, notes, notice } from './elements.js';
import { bytes, byteParts, count, percent, rate, seconds, short, statementText, wholeCount } from './format.js';
import { Chart, sparkline } from './chart.js';
import { DataTable } from './table.js';
import { server } from './server.js';

const LIVE = 300;
const SERIES = ['memory', 'disk', 'tables', 'sessions', 'running', 'statements', 'temporary_tables', 'disk_tables'];

const sum = (rows, name) => rows.reduce((total, row) => total + (row[name] ?? 0), 0);
const largest = (rows, name) => Math.max(0, ...rows.map((row) => row[name] ?? 0));

/** Asks, then ends something. */
export async function kill(what, id, text, refresh) {
  const names = { statement: 'statement', connection: 'connection', temporary_table: 'temporary table' };
  const question = what === 'temporary_table'
    ? 'The statement that uses it ends with an error.'
    : what === 'connection' ? 'Its statement is rolled back, and its temporary tables are dropped.' : 'It ends with an error, and its changes are rolled back.';
  const shown = make('div.stack', {}, text ? make('pre.block', { text: short(text, 400) }) : null, make('p', { text: question }));
  if (!await confirmed(`Kill ${names[what]} ${id}?`, shown, 'Kill')) return;
  try {
    const { done } = await server.kill(what, id);
    notice(`Done: ${done}`);
    refresh();
  } catch (error) {
    notice(error.message, true);
  }
}

/** All that is known of a temporary table. */
function details(row) {
  const facts = [
    ['Purpose', row.purpose], ['Name', row.name === '(internal)' ? null : row.name], ['Engine', row.engine], ['Access', row.access], ['Session', row.session], ['Account', row.user],
    ['Rows', wholeCount(row.rows)], ['Memory', bytes(row.memory)], ['Memory at most', bytes(row.memory_peak)], ['Memory that it may have', row.memory_limit ? bytes(row.memory_limit) : null], ['Disk', bytes(row.disk)], ['Disk at most', bytes(row.disk_peak)],
    ['Sent between executors', row.exchanged === null || row.exchanged === undefined ? null : bytes(row.exchanged)], ['Executors that send', row.executors ?? null], ['Written to disk', bytes(row.written)], ['Read from disk', bytes(row.read)], ['Partitions', count(row.partitions)], ['Age', seconds(row.age)], ['Limit that it has hit', row.limit_hit],
  ].filter(([, value]) => value !== null && value !== undefined && value !== '–');
  const dialog = make('dialog', { 'aria-labelledby': 'details-title' },
    make('form', { method: 'dialog' }, make('h2', { id: 'details-title', text: `Temporary table ${row.id}` }),
      row.cause ? make('p', { text: row.cause }) : null,
      row.statement ? make('pre.block', { text: row.statement === row.digest_text ? statementText(row.statement) : row.statement, tabindex: 0, 'aria-label': 'Statement' }) : null,
      make('dl.facts', {}, facts.map(([name, value]) => make('div', {}, make('dt', { text: name }), make('dd', { text: String(value) })))),
      make('div.row', {}, make('button.push', { text: 'Close', autofocus: true }))));
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

class Tile {
  constructor(title, kind) {
    this.kind = kind;
    this.value = make('dd.value');
    this.of = make('dd.of');
    this.line = make('dd');
    this.element = make('div.card.tile', {}, make('dt', { text: title }), this.value, this.of, this.line);
  }

  update([value, unit], of, history) {
    this.value.replaceChildren(value, unit ? make('small', { text: unit }) : '');
    this.of.textContent = of;
    this.of.title = of;
    this.line.replaceChildren(sparkline(history.slice(-120), this.kind));
  }
}

const sql = (text, database, shown = text) => make('div', {}, make('div.clip', { text: short(shown, 400) || '–', title: short(text, 1000) }), database ? make('span.sub', { text: database }) : '');

export function createNow(app) {
  const history = { at: [], ...Object.fromEntries(SERIES.map((name) => [name, []])) };
  let span = LIVE;
  let grouping = 'table';

  const tiles = {
    memory: new Tile('Temporary memory', 'memory'), disk: new Tile('Temporary disk', 'disk'),
    tables: new Tile('Temporary tables now', 'plain'), made: new Tile('Temporary tables made', 'plain'), statements: new Tile('Statements', 'plain'),
  };
  const chart = new Chart('Memory and disk of temporary tables over time');
  const chartCard = card('Memory and disk', {
    id: 'chart-title',
    tools: [chart.legend, make('div.push', {}, choice('Time', [[LIVE, '5 min'], [3600, '1 h'], [86400, '24 h']], span, (value) => { span = value; loadHistory(); }))],
  });
  chartCard.body.append(chart.element);

  const limits = () => app.overview?.limits ?? {};
  // A table is measured against its own limit, which follows from its session's settings.
  const memoryLimit = (row) => row.memory_limit ?? null;
  const diskLimit = (row) => row.disk_limit ?? null;
  const memoryMeter = (row, rows, limit) => meter('memory', bytes(row.memory), row.memory ?? 0, limit,
    limit ? `${bytes(row.memory)} of ${bytes(limit)}; at most ${bytes(row.memory_peak)} so far` : `${bytes(row.memory)}; at most ${bytes(row.memory_peak)} so far`, largest(rows, 'memory'));
  const diskMeter = (row, rows, limit) => !row.disk ? make('span.muted', { text: '–' }) : meter('disk', bytes(row.disk), row.disk, limit,
    `${bytes(row.disk)} on disk; at most ${bytes(row.disk_peak)} so far`, largest(rows, 'disk'));

  const columns = {
    purpose: {
      id: 'purpose', title: 'Temporary table', class: 'wide', value: (row) => row.purpose, state: (row) => [row.purpose, row.cause, row.disk > 0, row.limit_hit, row.name, row.engine],
      cell: (row) => [
        make('div.row', { style: { gap: '6px' } }, make(row.disk > 0 ? 'span.chip.disk' : 'span.chip', { text: row.name && row.name !== '(internal)' ? row.name : row.purpose ?? '–' }),
          row.engine && row.engine !== 'TempTable' ? make('span.muted.small', { text: row.engine }) : null,
          row.limit_hit ? make('span.chip.bad', { text: row.limit_hit, title: 'The limit that it has hit' }) : null),
        make('span.sub', { text: short(row.cause, 90), title: row.cause }),
      ],
    },
    session: {
      id: 'session', title: 'Session', sort: true, number: true, value: (row) => row.session, state: (row) => [row.session, row.user],
      cell: (row) => [make('span', { text: String(row.session ?? '–') }), make('span.sub', { text: short(row.user, 24) })],
    },
    statement: { id: 'statement', title: 'Statement', class: 'sql', value: (row) => row.statement, cell: (row) => sql(row.statement, null, row.statement === row.digest_text ? statementText(row.statement) : row.statement) },
    tables: { id: 'tables', title: 'Tables', number: true, sort: true, value: (row) => row.tables, cell: (row) => count(row.tables) },
    rows: { id: 'rows', title: 'Rows', number: true, sort: true, value: (row) => row.rows, cell: (row) => make('span', { text: count(row.rows), title: wholeCount(row.rows) }) },
    memory: {
      id: 'memory', title: 'Memory', sort: true, value: (row) => row.memory, state: (row) => [row.memory, row.memory_limit, largest(shownRows, 'memory')],
      cell: (row) => memoryMeter(row, shownRows, grouping === 'table' && row.purpose !== 'user' ? memoryLimit(row) : null),
    },
    disk: { id: 'disk', title: 'Disk', sort: true, value: (row) => row.disk, state: (row) => [row.disk, largest(shownRows, 'disk')], cell: (row) => diskMeter(row, shownRows, grouping === 'table' ? diskLimit(row) : null) },
    age: { id: 'age', title: 'Age', number: true, sort: true, value: (row) => row.age, state: (row) => Math.round((row.age ?? 0) * 10), cell: (row) => seconds(row.age >= 10 ? Math.round(row.age) : row.age) },
    kill: {
      id: 'kill', title: 'Kill', hiddenTitle: true, class: 'actions', value: () => '',
      cell: (row) => make('button.danger', { type: 'button', text: 'Kill', 'aria-label': `Kill temporary table ${row.id}`, onclick: () => kill('temporary_table', row.id, row.statement, app.refresh) }),
    },
  };
  const shapes = {
    table: ['purpose', 'session', 'statement', 'rows', 'memory', 'disk', 'age', 'kill'],
    session: ['session', 'statement', 'tables', 'rows', 'memory', 'disk', 'age'],
    statement: ['statement', 'tables', 'rows', 'memory', 'disk', 'age'],
  };
  let shownRows = [];
  let tables;
  const tablesCard = card('Temporary tables', {
    id: 'tables-title',
    tools: [make('div.legend', {}, make('span', {}, make('i.memory'), 'memory'), make('span', {}, make('i.disk'), 'disk')),
      make('div.push', {}, choice('Group by', [['table', 'Each'], ['session', 'By session'], ['statement', 'By statement']], grouping, (value) => { grouping = value; buildTables(); drawTables(); }))],
  });
  tablesCard.count = make('span.muted');
  tablesCard.heading.append(tablesCard.count);
  function buildTables() {
    tables = new DataTable({
      label: 'Temporary tables', columns: shapes[grouping].map((id) => columns[id]), order: 'memory',
      key: (row) => (grouping === 'table' ? row.id : row[grouping]), open: grouping === 'table' ? details : null, empty: 'No temporary table is alive. One appears here while its statement runs, or until its session drops it.',
    });
    tablesCard.card.replaceChildren(tablesCard.head, tables.element);
  }
  function grouped(rows) {
    if (grouping === 'table') return rows;
    const groups = Map.groupBy ? Map.groupBy(rows, (row) => row[grouping] ?? '') : rows.reduce((all, row) => all.set(row[grouping] ?? '', [...(all.get(row[grouping] ?? '') ?? []), row]), new Map());
    return [...groups.values()].map((members) => ({
      session: members[0].session, user: members[0].user, statement: members.find((it) => it.statement)?.statement ?? members[0].name, digest_text: members.find((it) => it.statement)?.digest_text, tables: members.length,
      rows: sum(members, 'rows'), memory: sum(members, 'memory'), memory_peak: sum(members, 'memory_peak'), disk: sum(members, 'disk'), disk_peak: sum(members, 'disk_peak'), age: largest(members, 'age'),
    }));
  }
  function drawTables() {
    const rows = app.overview?.tables ?? [];
    shownRows = grouped(rows);
    tables.update(shownRows);
    const spilled = rows.filter((row) => row.disk > 0).length;
    tablesCard.count.textContent = rows.length ? `${rows.length} alive${spilled ? `, ${spilled} on disk` : ''}` : '';
  }

  const sessions = new DataTable({
    label: 'Sessions', order: 'memory', key: (row) => row.id, empty: 'Nobody is connected.',
    columns: [
      { id: 'id', title: 'Session', number: true, sort: true, value: (row) => row.id, cell: (row) => String(row.id) },
      { id: 'user', title: 'Account', sort: true, value: (row) => row.user ?? '', state: (row) => [row.user, row.host], cell: (row) => [make('span', { text: row.user ?? '–' }), make('span.sub', { text: short(row.host, 30) })] },
      {
        id: 'seconds', title: 'State', sort: true, value: (row) => row.seconds ?? 0, state: (row) => [row.command, row.state, row.seconds],
        cell: (row) => [make(row.command === 'Sleep' ? 'span.chip' : 'span.chip.accent', { text: row.state || row.command || '–' }), ' ', make('span.muted.small', { text: seconds(row.seconds) })],
      },
      { id: 'statement', title: 'Statement', class: 'sql', value: (row) => row.statement, state: (row) => [row.statement, row.database], cell: (row) => sql(row.statement, row.database) },
      { id: 'memory', title: 'Temporary memory', number: true, sort: true, value: (row) => row.memory, cell: (row) => (row.memory ? bytes(row.memory) : '–') },
      { id: 'disk', title: 'Temporary disk', number: true, sort: true, value: (row) => row.disk, cell: (row) => (row.disk ? bytes(row.disk) : '–') },
      {
        id: 'kill', title: 'Kill', hiddenTitle: true, class: 'actions', value: () => '', state: (row) => [row.command === 'Sleep', row.statement],
        cell: (row) => [
          row.statement ? make('button.quiet.small', { type: 'button', text: 'Explain', 'aria-label': `Explain the statement of session ${row.id}`, onclick: () => app.explain(row.statement, row.database) }) : null,
          row.command === 'Sleep' ? null : make('button.danger', { type: 'button', text: 'Kill statement', 'aria-label': `Kill the statement of session ${row.id}`, onclick: () => kill('statement', row.id, row.statement, app.refresh) }),
          make('button.danger', { type: 'button', text: 'Kill connection', 'aria-label': `Kill connection ${row.id}`, onclick: () => kill('connection', row.id, row.statement, app.refresh) }),
        ].filter(Boolean),
      },
    ],
  });
  const sessionsCard = card('Sessions', { id: 'sessions-title' });
  sessionsCard.count = make('span.muted');
  sessionsCard.heading.append(sessionsCard.count);
  sessionsCard.card.replaceChildren(sessionsCard.head, sessions.element);

  const cluster = new DataTable({
    label: 'Cluster', order: 'name', key: (row) => row.name, empty: 'No executor is there.',
    columns: [
      { id: 'name', title: 'Executor', sort: true, value: (row) => row.name, state: (row) => [row.name, row.address], cell: (row) => [make('span', { text: row.name }), make('span.sub', { text: row.address ?? '' })] },
      { id: 'state', title: 'State', sort: true, value: (row) => row.state, cell: (row) => make(row.state === 'AVAILABLE' ? 'span.chip.accent' : 'span.chip.bad', { text: row.state }) },
      { id: 'tasks', title: 'Tasks', number: true, sort: true, value: (row) => row.tasks, state: (row) => [row.tasks, row.slots], cell: (row) => `${count(row.tasks)} of ${count(row.slots)}` },
      { id: 'memory', title: 'Memory', sort: true, value: (row) => row.memory, state: (row) => [row.memory, row.memory_limit], cell: (row) => meter('memory', bytes(row.memory), row.memory ?? 0, row.memory_limit, `${bytes(row.memory)} of ${bytes(row.memory_limit)}`, row.memory_limit) },
      { id: 'disk', title: 'Temporary disk', number: true, sort: true, value: (row) => row.disk, cell: (row) => (row.disk ? bytes(row.disk) : '–') },
    ],
  });
  const clusterCard = card('Cluster', { id: 'cluster-title' });
  clusterCard.count = make('span.muted');
  clusterCard.heading.append(clusterCard.count);
  clusterCard.card.replaceChildren(clusterCard.head, cluster.element);
  clusterCard.card.hidden = true;
  function drawCluster(members, alive) {
    clusterCard.card.hidden = members.length === 0;
    if (members.length === 0) return;
    cluster.update(members);
    const exchanges = alive.filter((row) => row.purpose === 'EXCHANGE');
    const moved = exchanges.length ? `, ${exchanges.length} ${exchanges.length === 1 ? 'exchange' : 'exchanges'} with ${bytes(sum(exchanges, 'exchanged'))}` : '';
    clusterCard.count.textContent = `${members.length} ${members.length === 1 ? 'executor' : 'executors'}${moved}`;
  }
  const remarks = make('div.stack');
  buildTables();

  async function loadHistory() {
    try {
      const loaded = await server.history(span, 300);
      if (span === LIVE) {
        history.at = loaded.at;
        for (const name of SERIES) history[name] = loaded.series[name];
        chart.update(history);
      } else chart.update({ at: loaded.at, ...loaded.series });
      reloaded = Date.now();
    } catch (error) {
      app.failed(error);
    }
  }
  let reloaded = 0;

  function addSample(sample) {
    if (!sample || sample.at <= (history.at.at(-1) ?? 0)) return;
    history.at.push(sample.at);
    SERIES.forEach((name, index) => history[name].push(sample.values[index]));
    const since = sample.at - LIVE * 1000;
    while (history.at[0] < since) { history.at.shift(); SERIES.forEach((name) => history[name].shift()); }
  }

  function update() {
    const { tables: alive, sessions: all, counters, sample } = app.overview;
    if (sample && history.at.length && sample.at - history.at.at(-1) > 5000) loadHistory();
    addSample(sample);
    const [memory, disk] = [sum(alive, 'memory'), sum(alive, 'disk')];
    const limited = (used, limit) => (limit ? `${percent(used, limit)} of ${bytes(limit)}` : 'no limit is set');
    tiles.memory.update(byteParts(memory), limited(memory, limits().temptable_max_ram), history.memory);
    tiles.disk.update(byteParts(disk), limited(disk, limits().max_tmp_total_space_usage), history.disk);
    const spilled = alive.filter((row) => row.disk > 0).length;
    tiles.tables.update([String(alive.length), ''], alive.length ? `${spilled} on disk, ${count(sum(alive, 'rows'))} rows` : 'none', history.tables);
    const made = counters.created_tmp_tables;
    tiles.made.update([rate(history.temporary_tables.at(-1)), '/s'], `${count(made)} since the start, ${percent(counters.created_tmp_disk_tables, made)} to disk`, history.temporary_tables);
    const running = all.filter((row) => row.command !== 'Sleep' && row.command !== 'Daemon').length;
    tiles.statements.update([rate(history.statements.at(-1)), '/s'], `${all.length} ${all.length === 1 ? 'session' : 'sessions'}, ${running} running`, history.statements);
    if (span === LIVE) chart.update(history);
    else if (Date.now() - reloaded > (span > 3600 ? 60_000 : 10_000)) loadHistory();
    drawTables();
    const of = (id, name) => sum(alive.filter((row) => row.session === id), name);
    sessions.update(all.map((row) => ({ ...row, memory: of(row.id, 'memory'), disk: of(row.id, 'disk') })));
    sessionsCard.count.textContent = all.length ? `${all.length}, ${running} running` : '';
    drawCluster(app.overview.cluster ?? [], alive);
    const list = app.overview.notes;
    if (remarks.childElementCount !== list.length) remarks.replaceChildren(...notes(list));
  }

  return {
    title: 'Now',
    elements: [make('h1.hidden', { text: 'Now' }), make('dl.tiles', {}, Object.values(tiles).map((tile) => tile.element)), chartCard.card, tablesCard.card, clusterCard.card, sessionsCard.card, remarks],
    show: () => { loadHistory(); if (app.overview) update(); },
    tick: update,
  };
}
