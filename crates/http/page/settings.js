// The settings that decide about temporary tables. They are read here, and changed by SET GLOBAL.
import { card, make, notes } from './elements.js';
import { bytes, count } from './format.js';
import { DataTable } from './table.js';
import { server } from './server.js';

// Larger numbers than a machine has bytes stand for no limit.
const NO_LIMIT = 2 ** 60;

function shown(setting) {
  if (setting.unit === 'none') return [make('span', { text: 'no limit' }), make('span.sub.mono', { text: setting.value })];
  const value = Number(setting.value);
  if (setting.unit === 'bytes' && Number.isFinite(value)) {
    return value >= NO_LIMIT ? [make('span', { text: 'no limit' })] : [make('span', { text: bytes(value) }), make('span.sub.mono', { text: setting.value })];
  }
  if (setting.unit === 'rows' && Number.isFinite(value)) return [make('span', { text: count(value) })];
  if (setting.value.includes(',') && setting.value.includes('=')) {
    const flags = setting.value.split(',').map((flag) => flag.split('='));
    const off = flags.filter(([, state]) => state === 'off').map(([name]) => name);
    return [make('span', { text: off.length ? `all on but ${off.join(', ')}` : 'all on' })];
  }
  return [make('span.mono', { text: setting.value || '–' })];
}

export function createSettings(app) {
  const place = make('div.stack', { style: { gap: '16px' } });
  async function load() {
    try {
      const answer = await server.settings();
      const cards = answer.groups.filter((group) => group.settings.length).map((group) => {
        const made = card(group.title);
        const table = new DataTable({
          label: group.title, key: (row) => row.name, empty: '',
          columns: [
            { id: 'name', title: 'Variable', value: (row) => row.name, cell: (row) => make('code', { text: row.name }) },
            { id: 'value', title: 'Value', value: (row) => row.value, cell: shown },
            { id: 'meaning', title: 'What it means', value: (row) => row.meaning ?? '', cell: (row) => make('span.muted', { text: row.meaning ?? '–' }) },
          ],
        });
        table.table.classList.add('settings');
        table.update(group.settings);
        made.card.replaceChildren(made.head, table.element);
        return made.card;
      });
      place.replaceChildren(make('p.note', {}, 'The global values, which new sessions begin with. ', make('code', { text: 'SET GLOBAL name = value' }), ' changes one while the server runs.'), ...cards, ...notes(answer.notes));
    } catch (error) {
      app.failed(error);
    }
  }
  return { title: 'Settings', elements: [make('h1.hidden', { text: 'Settings' }), place], show: load, tick: () => {} };
}
