// A table that is brought up to date in place: what has the focus keeps it. One row can be reached by Tab, the others by the
// arrow keys; Enter opens a row, Delete presses its button of danger.
import { make } from './elements.js';

const MOST = 200;

export class DataTable {
  /**
   * columns: { id, title, number, value(row), cell(row), sort } – `cell` makes the content of `value` changes;
   * key(row): what a row is known by; open(row): what Enter and a click do; sorted(id): what a click on a heading does
   * instead of sorting here.
   */
  constructor({ label, columns, key, open, empty, order, descending = true, sorted }) {
    Object.assign(this, { columns, key, open, order, descending, sorted, emptyText: empty });
    this.rows = [];
    this.lines = new Map();
    this.head = make('tr');
    this.body = make('tbody');
    this.table = make('table', { 'aria-label': label }, make('thead', {}, this.head), this.body);
    this.empty = make('p.empty', { text: empty });
    this.more = make('p.empty', { hidden: true });
    this.element = make('div', {}, make('div.scroll', {}, this.table), this.empty, this.more);
    this.body.addEventListener('keydown', (event) => this.pressed(event));
    this.body.addEventListener('focusin', (event) => this.reach(event.target.closest('tr')));
    this.drawHead();
    this.update([]);
  }

  drawHead() {
    this.head.replaceChildren(...this.columns.map((column) => {
      const isChosen = column.id === this.order;
      const title = column.sort
        ? make('button', { type: 'button', text: column.title, title: column.hint, onclick: () => this.sortBy(column.id) })
        : make('span', { title: column.hint }, column.hiddenTitle ? make('span.hidden', { text: column.title }) : column.title);
      return make(['th', column.number && 'number', column.class].filter(Boolean).join('.'), {
        scope: 'col', 'aria-sort': isChosen ? (this.descending ? 'descending' : 'ascending') : null, 'data-column': column.id,
      }, title);
    }));
  }

  sortBy(id) {
    this.descending = this.order === id && !this.sorted ? !this.descending : true;
    this.order = id;
    this.drawHead();
    this.head.querySelector(`[data-column="${id}"] button`)?.focus();
    if (this.sorted) this.sorted(id);
    else this.update(this.rows, true);
  }

  ordered(rows) {
    const column = this.columns.find((it) => it.id === this.order);
    if (!column || this.sorted) return rows;
    const value = (row) => column.value(row) ?? -Infinity;
    const sign = this.descending ? -1 : 1;
    return [...rows].sort((a, b) => {
      const [one, other] = [value(a), value(b)];
      return sign * (typeof one === 'string' ? one.localeCompare(String(other)) : one - other);
    });
  }

  /** The order of the rows that are there, while someone points at one or has the focus in it: nothing moves under a hand. */
  held(rows) {
    const byKey = new Map(rows.map((row) => [String(this.key(row)), row]));
    const kept = [...this.lines.keys()].filter((key) => byKey.has(key));
    return [...kept.map((key) => byKey.get(key)), ...this.ordered(rows).filter((row) => !this.lines.has(String(this.key(row))))];
  }

  update(rows, isSorted = false) {
    this.rows = rows;
    const isHeld = !isSorted && !this.sorted && this.body.matches(':hover, :focus-within');
    const shown = (isHeld ? this.held(rows) : this.ordered(rows)).slice(0, MOST);
    const keys = new Set(shown.map((row) => String(this.key(row))));
    let isLost = false;
    for (const [key, { element }] of this.lines) {
      if (keys.has(key)) continue;
      isLost ||= element.contains(document.activeElement);
      element.remove();
      this.lines.delete(key);
    }
    const old = this.lines;
    this.lines = new Map();
    shown.forEach((row, index) => {
      const key = String(this.key(row));
      const line = old.get(key) ?? this.line(key);
      this.lines.set(key, line);
      line.row = row;
      this.columns.forEach((column, position) => {
        const state = JSON.stringify(column.state ? column.state(row) : column.value(row)) ?? '';
        if (line.states[position] === state) return;
        line.states[position] = state;
        line.element.cells[position].replaceChildren(...[column.cell ? column.cell(row) : column.value(row) ?? '–'].flat());
        this.reachButtons(line.element);
      });
      if (this.body.rows[index] !== line.element) this.body.insertBefore(line.element, this.body.rows[index] ?? null);
    });
    this.empty.hidden = rows.length > 0;
    this.table.hidden = rows.length === 0;
    this.more.hidden = rows.length <= MOST;
    this.more.textContent = `and ${rows.length - MOST} more`;
    const current = this.body.querySelector('tr[tabindex="0"]') ?? this.body.rows[0];
    if (current?.tabIndex !== 0) this.reach(current);
    if (isLost) current?.focus();
  }

  line(key) {
    const line = { states: [] };
    const cells = this.columns.map((column) => make(['td', column.number && 'number', column.class].filter(Boolean).join('.'), { 'data-title': column.title }));
    line.element = make(this.open ? 'tr.opens' : 'tr', { tabindex: -1, 'data-key': key, 'aria-selected': this.open ? 'false' : null }, cells);
    if (this.open) line.element.addEventListener('click', (event) => { if (!event.target.closest('button')) this.open(line.row); });
    return line;
  }

  /** Marks the row that is opened. */
  select(key) {
    for (const [own, { element }] of this.lines) element.setAttribute('aria-selected', String(own === String(key)));
  }

  /** Tab comes to this row and its buttons. */
  reach(row) {
    if (!row) return;
    for (const { element } of this.lines.values()) {
      element.tabIndex = element === row ? 0 : -1;
      this.reachButtons(element);
    }
  }

  reachButtons(element) {
    for (const button of element.querySelectorAll('button')) button.tabIndex = element.tabIndex;
  }

  pressed(event) {
    const row = event.target.closest('tr');
    if (!row || event.ctrlKey || event.metaKey || event.altKey) return;
    const rows = [...this.body.rows];
    const index = rows.indexOf(row);
    const goals = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: rows.length - 1, PageDown: index + 10, PageUp: index - 10 };
    if (event.key in goals) {
      event.preventDefault();
      rows[Math.max(0, Math.min(rows.length - 1, goals[event.key]))].focus();
    } else if (event.target === row && event.key === 'Enter' && this.open) {
      event.preventDefault();
      this.open(this.lines.get(row.dataset.key).row);
    } else if (event.key === 'Delete') {
      row.querySelector('button.danger')?.click();
    }
  }
}
