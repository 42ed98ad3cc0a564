// What the advisor has found: the statements with most to gain, why, and what would help.
import { card, make, notice } from './elements.js';
import { bytes, count, percent, seconds, short, statementText } from './format.js';
import { server } from './server.js';

const sure = { certain: ['good', 'certain'], likely: ['accent', 'likely'], possible: ['', 'possible'] };

function copy(text) {
  navigator.clipboard?.writeText(text).then(() => notice('Copied'), () => notice('The browser does not let this page copy', true));
}

function change(it) {
  return make('div.change', {},
    make('div.row', {}, make('span', { text: it.does }), it.sql ? make('button.quiet.push', { type: 'button', text: 'Copy', 'aria-label': `Copy: ${short(it.sql, 60)}`, onclick: () => copy(it.sql) }) : null),
    it.sql ? make('pre.block', { text: it.sql }) : null,
    it.check ? make('details', {}, make('summary', { text: 'Ask this first' }), make('pre.block', { text: it.check })) : null,
    it.risk ? make('p.muted.small', { text: it.risk }) : null);
}

function finding(it, statement) {
  const [kind, text] = sure[it.confidence] ?? ['', it.confidence];
  const [first, ...others] = it.changes ?? [];
  return make('article.finding', {},
    make('div.row', {}, make('h3', { text: it.evidence || String(it.cause).replaceAll('_', ' ') }), make(`span.chip${kind ? `.${kind}` : ''}.push`, { text, title: it.because })),
    it.because ? make('p.muted', { text: it.because }) : null,
    it.gain ? make('p', {}, make('strong', { text: 'To gain: ' }), it.gain) : null,
    first ? change(first) : null,
    others.length ? make('details', {}, make('summary', { text: `${others.length} other ${others.length === 1 ? 'way' : 'ways'}` }), make('div.stack', {}, others.map(change))) : null,
    statement);
}

export function createFindings(app) {
  const place = make('div.stack', { style: { gap: '16px' } });
  const reload = make('button', { type: 'button', text: 'Look again', onclick: () => load() });
  const top = card('Findings', { id: 'findings-title', tools: [make('div.push', {}, reload)] });
  const summary = make('p.muted');
  top.body.append(summary);

  async function load() {
    reload.disabled = true;
    let report;
    try {
      ({ report } = await server.findings());
    } catch (error) {
      app.failed(error);
      if (error.status) summary.textContent = error.message;
      return;
    } finally {
      reload.disabled = false;
    }
    const statements = report?.statements ?? [];
    const all = statements.reduce((total, it) => total + it.findings.length, 0);
    app.badge('findings', all);
    if (!report) summary.textContent = 'This server has no advisor. `mayfly advise` reads its statements from outside and says what to change.';
    else if (!all) summary.textContent = 'Nothing to change: no statement that has run lost time to a temporary table that could be avoided.';
    else summary.textContent = `${all} ${all === 1 ? 'finding' : 'findings'} in ${statements.length} ${statements.length === 1 ? 'statement' : 'statements'}, the one with most to gain first. Nothing is changed unless you run it.`;
    place.replaceChildren(...statements.map((it) => {
      const made = card(short(statementText(it.text), 130));
      made.heading.classList.add('sql');
      made.head.append(make('div.row.push.muted.small', {}, make('span', { text: `${count(it.runs)} runs` }), make('span', { text: `${seconds(it.seconds)} (${percent(it.seconds_share, 1)})` }),
        it.disk_tables ? make('span.chip.disk', { text: `${count(it.disk_tables)} to disk` }) : null, it.bytes ? make('span', { text: bytes(it.bytes) }) : null));
      made.card.replaceChildren(made.head, ...it.findings.map((one) => finding(one, null)),
        make('div.finding', {}, make('div.row', {}, make('details', {}, make('summary', { text: 'The statement as it ran' }), make('pre.block', { text: it.example || it.text })),
          make('button.push', { type: 'button', text: 'Explain it', onclick: () => app.explain(it.example || it.text, it.database) }))));
      return made.card;
    }), ...(report?.notes ?? []).map((text) => make('p.note', { text })));
  }

  return { title: 'Findings', elements: [make('h1.hidden', { text: 'Findings' }), top.card, place], show: load, tick: () => {} };
}
