// The plan of a statement that someone types.
import { card, make } from './elements.js';
import { bytes, seconds } from './format.js';
import { PlanPicture, bytesOf, operatorFacts, planTree, spills, tablesOf } from './plan.js';
import { server } from './server.js';

export function createExplain(app) {
  const text = make('textarea', { id: 'explain-sql', spellcheck: 'false', autocapitalize: 'off', autocomplete: 'off', placeholder: 'SELECT customer, COUNT(*) FROM orders GROUP BY customer', 'aria-label': 'Statement' });
  const database = make('input', { type: 'text', id: 'explain-database', list: 'explain-databases', size: 14, autocomplete: 'off', spellcheck: 'false' });
  const databases = make('datalist', { id: 'explain-databases' });
  const analyze = make('input', { type: 'checkbox', id: 'explain-analyze' });
  const run = make('button.primary', { type: 'submit', text: 'Explain' });
  const ask = card('Explain', { id: 'explain-title' });
  const form = make('form.stack', { onsubmit: (event) => { event.preventDefault(); explain(); } }, text,
    make('div.row', {},
      make('label.row', { for: 'explain-database' }, 'Database', database), databases,
      make('label.check', { title: 'Runs the statement, in a transaction that may only read' }, analyze, 'Run it and measure'),
      make('span.push.muted.small', {}, make('kbd', { text: 'Ctrl' }), ' ', make('kbd', { text: 'Enter' })), run));
  ask.body.append(form);
  text.addEventListener('keydown', (event) => { if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) { event.preventDefault(); explain(); } });
  const result = make('div.stack', { style: { gap: '16px' }, 'aria-live': 'polite' });

  async function explain() {
    if (!text.value.trim()) { text.focus(); return; }
    run.disabled = true;
    run.textContent = analyze.checked ? 'Running' : 'Asking';
    try {
      const measured = analyze.checked;
      show((await server.explain(text.value, database.value.trim() || null, measured)).plan, measured);
    } catch (error) {
      app.failed(error);
      result.replaceChildren(make('p.note.bad', { role: 'alert', text: error.code ? `${error.message} (error ${error.code})` : error.message }));
    } finally {
      run.disabled = false;
      run.textContent = 'Explain';
    }
  }

  async function loadDatabases() {
    try {
      databases.replaceChildren(...(await server.databases()).databases.map((name) => make('option', { value: name })));
    } catch (error) {
      app.failed(error);
    }
  }

  /** The longest time in a tree: the operator that changes rows is not run, and has none. */
  const secondsOf = (tree) => tree.seconds ?? (tree.inputs ?? []).reduce((most, child) => { const own = secondsOf(child); return own === undefined ? most : Math.max(most ?? 0, own); }, undefined);

  function show(plan, measured) {
    const tree = planTree(plan);
    const json = make('details', {}, make('summary', { text: 'JSON' }), make('pre.block', { text: JSON.stringify(plan, null, 2), tabindex: 0 }));
    if (!tree) {
      const plain = card('Plan');
      plain.body.append(make('p.muted', { text: 'The server has no tree for this statement.' }), json);
      if (measured) plain.body.prepend(make('p.note', { role: 'status', text: 'Not measured: the server measures statements that have a tree.' }));
      result.replaceChildren(plain.card);
      return;
    }
    const ran = secondsOf(tree);
    const isWhole = tree.seconds !== undefined;
    const remark = !measured || isWhole ? null : ran === undefined ? 'Not measured: this statement cannot be run where nothing may be changed. What stands here is expected.'
      : 'Measured is how the rows are found. Nothing was changed, so that the change itself has no time.';
    const tables = tablesOf(tree);
    const large = tables.filter((it) => spills(it.table)).length;
    const size = tables.reduce((total, it) => total + (bytesOf(it.table) || 0), 0);
    const facts = make('section.stack', { 'aria-live': 'off' });
    const picture = new PlanPicture(tree, (chosen) => {
      facts.replaceChildren(make('h3', { text: chosen.title }), ...operatorFacts(chosen));
    });
    const zoom = (by) => () => picture.zoom(picture.scale * by);
    const shown = card('Plan', {
      id: 'plan-title',
      tools: [
        tables.length ? make(large ? 'span.chip.disk' : 'span.chip.accent', { text: `${tables.length} temporary ${tables.length === 1 ? 'table' : 'tables'}${size ? `, ${ran === undefined ? 'about ' : ''}${bytes(size)}` : ''}` }) : make('span.chip.good', { text: 'no temporary table' }),
        large ? make('span.chip.disk', { text: ran === undefined ? `${large} will not fit in memory` : `${large} went to disk` }) : null,
        ran === undefined ? make('span.muted.small', { text: 'expected, not run' }) : make('span.chip', { text: isWhole ? `ran ${seconds(ran)}` : `found its rows in ${seconds(ran)}` }),
        make('div.choice.push', { role: 'group', 'aria-label': 'Size' },
          make('button', { type: 'button', text: '−', 'aria-label': 'Smaller', onclick: zoom(0.8) }), make('button', { type: 'button', text: 'Fit', onclick: () => picture.fit() }), make('button', { type: 'button', text: '+', 'aria-label': 'Larger', onclick: zoom(1.25) })),
      ],
    });
    const remedies = tables.filter((it) => it.table.removed_by);
    const advice = remedies.length ? make('section.stack', {}, make('h3', { text: remedies.length === 1 ? 'What would remove a table' : 'What would remove the tables' }),
      make('ul.stack', {}, remedies.map((it) => make('li.remedy', {}, make('strong', { text: it.table.removed_by }), make('span.muted.small', { text: it.title }))))) : null;
    shown.card.replaceChildren(shown.head, remark ? make('p.note', { role: 'status', text: remark }) : '', make('div.beside', {}, picture.element, make('aside', { 'aria-label': 'The operator that is chosen' }, advice ?? '', facts, json)));
    result.replaceChildren(shown.card);
    picture.fit();
    picture.select(tables[0] ?? tree);
  }

  return {
    title: 'Explain',
    elements: [make('h1.hidden', { text: 'Explain' }), ask.card, result],
    show: loadDatabases,
    tick: () => {},
    focusFilter: () => text.focus(),
    /** Explains a statement that another view shows. */
    fill: (statement, name) => { text.value = statement; database.value = name ?? ''; explain(); },
  };
}
