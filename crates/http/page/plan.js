// A plan as a picture: the operators as a tree, rows flowing upwards, and the temporary tables with why they are there and
// what would remove them. It reads version 2 of MySQL's EXPLAIN FORMAT=JSON.
import { draw, make } from './elements.js';
import { bytes, count, seconds, short, wholeCount } from './format.js';

const WIDTH = 232;
const GAP = 26;
const LEVEL = 44;
const PADDING = 22;
const LINE = 15;

const number = (value) => (value === undefined || value === null || value === '' || Number.isNaN(Number(value)) ? undefined : Number(value));

/** The tree of a plan, or null if the JSON has none. */
export function planTree(plan) {
  const root = plan?.query_plan ?? plan?.query_block?.steps ?? (plan?.operation ? plan : null);
  if (!root) return null;
  const roots = (Array.isArray(root) ? root : [root]).map(node);
  return roots.length === 1 ? roots[0] : { title: 'Statement', members: {}, inputs: roots };
}

function node(step) {
  const inputs = [];
  const members = {};
  for (const [name, value] of Object.entries(step)) {
    if (name.startsWith('inputs') && Array.isArray(value)) inputs.push(...value.map((it) => ({ ...node(it), edge: name === 'inputs' ? null : name.replace(/^inputs_from_/, '').replaceAll('_', ' ') })));
    else if (name !== 'operation' && name !== 'temporary_table') members[name] = value;
  }
  const table = step.temporary_table ?? (step.temporary_table_cause ? { cause: step.temporary_table_cause } : null);
  const loops = number(step.actual_loops);
  const last = number(step.actual_last_row_ms);
  return {
    title: step.operation ?? step.heading ?? 'Step',
    rows: number(step.actual_rows) ?? number(step.estimated_rows),
    estimated: number(step.estimated_rows),
    actual: number(step.actual_rows),
    loops,
    seconds: last === undefined ? undefined : (last * (loops ?? 1)) / 1e3,
    table, members, inputs,
  };
}

/** Whether a temporary table was measured. */
const isMeasured = (table) => table.actual_memory_bytes !== undefined || table.actual_disk_bytes !== undefined;

/** Whether a temporary table goes to disk: whether it went there if it was measured, else whether it is expected to. */
export const spills = (table) => (isMeasured(table) ? number(table.actual_disk_bytes) > 0 : table.fits === false);

/** The bytes of a temporary table, measured or else expected. */
export const bytesOf = (table) => (isMeasured(table) ? (number(table.actual_memory_bytes) ?? 0) + (number(table.actual_disk_bytes) ?? 0) : number(table.estimated_bytes));

const nameOf = (limit) => (limit && typeof limit === 'object' ? limit.name : limit);

/** Every operator that has a temporary table. */
export function tablesOf(tree) {
  return [...(tree.table ? [tree] : []), ...tree.inputs.flatMap(tablesOf)];
}

const context = document.createElement('canvas').getContext('2d');

function wrapped(text, size, most, weight = 400) {
  context.font = `${weight} ${size}px system-ui, sans-serif`;
  const width = WIDTH - 24;
  const lines = [];
  let line = '';
  for (const word of String(text).split(/\s+/)) {
    const longer = line ? `${line} ${word}` : word;
    if (context.measureText(longer).width <= width) { line = longer; continue; }
    if (line) lines.push(line);
    line = word;
    while (context.measureText(line).width > width && line.length > 1) {
      let end = line.length;
      while (end > 1 && context.measureText(line.slice(0, end)).width > width) end -= 1;
      lines.push(line.slice(0, end));
      line = line.slice(end);
    }
  }
  if (line) lines.push(line);
  if (lines.length > most) return [...lines.slice(0, most - 1), `${lines[most - 1].slice(0, -1)}…`];
  return lines;
}

/** The lines of a temporary table in the picture. */
function tableLines(table) {
  const rows = number(table.actual_rows) ?? number(table.estimated_rows);
  const lines = wrapped(`Temporary table${table.purpose ? `: ${table.purpose}` : ''}`, 11, 2, 600).map((text) => ({ text, strong: true }));
  const size = [rows === undefined ? '' : `${count(rows)} rows`, bytesOf(table) === undefined ? '' : bytes(bytesOf(table))].filter(Boolean).join(', ');
  const limit = nameOf(table.actual_limit ?? table.limit) ?? 'its limit';
  const fits = isMeasured(table)
    ? (spills(table) ? `${bytes(number(table.actual_disk_bytes))} on disk at ${limit}` : 'stayed in memory')
    : table.fits === true ? 'fits in memory' : table.fits === false ? `exceeds ${limit}` : '';
  for (const text of wrapped([size, fits].filter(Boolean).join(' · '), 11, 2)) if (text) lines.push({ text });
  if (table.cause) lines.push(...wrapped(table.cause, 11, 3).map((text) => ({ text })));
  if (table.removed_by) lines.push(...wrapped(`${table.removed_by} would remove it`, 11, 3, 600).map((text) => ({ text, strong: true })));
  return lines;
}

function measured(tree) {
  tree.lines = wrapped(tree.title, 12, 3, 600);
  tree.tableLines = tree.table ? tableLines(tree.table) : [];
  const actual = tree.actual !== undefined;
  tree.facts = [
    tree.rows === undefined ? '' : `${count(tree.rows)} ${Math.round(tree.rows) === 1 ? 'row' : 'rows'}${actual ? '' : ' expected'}`,
    tree.loops > 1 ? `× ${count(tree.loops)}` : '',
    tree.seconds === undefined ? '' : seconds(tree.seconds),
  ].filter(Boolean).join(' · ');
  tree.tableTop = 12 + tree.lines.length * LINE + (tree.facts ? LINE : 0) + (tree.seconds === undefined ? 4 : 12);
  tree.height = tree.tableTop + (tree.tableLines.length ? tree.tableLines.length * LINE + 14 : 2);
  tree.inputs.forEach(measured);
}

/** Places a tree: each parent over the middle of its inputs, no two side by side touching. */
function placed(tree) {
  const heights = [];
  const level = (it, depth) => { heights[depth] = Math.max(heights[depth] ?? 0, it.height); it.depth = depth; it.inputs.forEach((input) => level(input, depth + 1)); };
  level(tree, 0);
  const tops = heights.map((_, depth) => PADDING + heights.slice(0, depth).reduce((sum, height) => sum + height + LEVEL, 0));
  // The right edge of what is placed at each depth.
  const edges = heights.map(() => PADDING);
  const move = (it, by) => { it.x += by; edges[it.depth] = Math.max(edges[it.depth], it.x + WIDTH + GAP); it.inputs.forEach((input) => move(input, by)); };
  const place = (it) => {
    it.inputs.forEach(place);
    const own = it.inputs.length ? (it.inputs[0].x + it.inputs.at(-1).x) / 2 : edges[it.depth];
    it.x = Math.max(own, edges[it.depth]);
    it.y = tops[it.depth];
    if (it.x > own) it.inputs.forEach((input) => move(input, it.x - own));
    edges[it.depth] = it.x + WIDTH + GAP;
  };
  place(tree);
  return { width: Math.max(...edges) - GAP + PADDING, height: tops.at(-1) + heights.at(-1) + PADDING };
}

function label(tree) {
  const parts = [tree.title, tree.facts];
  if (tree.table) {
    parts.push('makes a temporary table', tree.table.purpose, tree.table.cause, tree.table.removed_by && `${tree.table.removed_by} would remove it`);
    if (spills(tree.table)) parts.push(isMeasured(tree.table) ? 'it went to disk' : 'it will go to disk');
  }
  return parts.filter(Boolean).join(', ');
}

/** The picture. `choose` is told which operator is looked at. */
export class PlanPicture {
  constructor(tree, choose) {
    this.tree = tree;
    this.choose = choose;
    measured(tree);
    this.size = placed(tree);
    this.total = Math.max(...all(tree).map((it) => it.seconds ?? 0));
    this.svg = draw('svg', { viewBox: `0 0 ${this.size.width} ${this.size.height}`, role: 'tree', 'aria-label': 'The operators of the plan; rows flow from the leaves to the root' });
    this.edges = draw('g', { 'aria-hidden': 'true' });
    this.svg.append(this.edges);
    this.items = new Map();
    this.add(tree, null, 1);
    this.element = make('div.plan', {}, this.svg);
    this.svg.addEventListener('keydown', (event) => this.pressed(event));
    this.zoom(1);
  }

  add(tree, parent, depth) {
    tree.parent = parent;
    const item = draw('g', { role: 'treeitem', 'aria-level': depth, 'aria-selected': 'false', tabindex: depth === 1 ? 0 : -1, 'aria-label': label(tree), transform: `translate(${tree.x} ${tree.y})` },
      draw('rect.ring', { x: -4, y: -4, width: WIDTH + 8, height: tree.height + 8, rx: 11 }), draw('rect.box', { width: WIDTH, height: tree.height, rx: 8 }));
    tree.lines.forEach((text, index) => item.append(draw('text.title', { x: 12, y: 20 + index * LINE, text })));
    if (tree.facts) item.append(draw('text.quiet-text', { x: 12, y: 20 + tree.lines.length * LINE, text: tree.facts }));
    if (tree.seconds !== undefined) {
      // What the operator takes itself, without its inputs.
      const own = Math.max(0, tree.seconds - tree.inputs.reduce((sum, input) => sum + (input.seconds ?? 0), 0));
      const part = this.total > 0 ? own / this.total : 0;
      item.append(draw('rect.time-track', { x: 12, y: tree.tableTop - 8, width: WIDTH - 24, height: 3, rx: 1.5 }), draw('rect.time', { x: 12, y: tree.tableTop - 8, width: (WIDTH - 24) * part, height: 3, rx: 1.5 }));
    }
    if (tree.table) {
      const kind = spills(tree.table) ? '.spills' : '';
      item.append(draw(`rect.table-box${kind}`, { x: 6, y: tree.tableTop, width: WIDTH - 12, height: tree.tableLines.length * LINE + 8, rx: 5 }),
        draw(`rect.table-edge${kind}`, { x: 6, y: tree.tableTop, width: 3, height: tree.tableLines.length * LINE + 8, rx: 1.5 }));
      tree.tableLines.forEach(({ text, strong }, index) => item.append(draw(`text.table-text${strong ? '.strong' : ''}`, { x: 15, y: tree.tableTop + 15 + index * LINE, text })));
    }
    item.addEventListener('click', () => this.select(tree));
    item.addEventListener('focus', () => this.select(tree));
    this.items.set(tree, item);
    this.svg.append(item);
    for (const input of tree.inputs) {
      this.add(input, tree, depth + 1);
      const [fromX, fromY, toX, toY] = [input.x + WIDTH / 2, input.y, tree.x + WIDTH / 2, tree.y + tree.height];
      const middle = (fromY + toY) / 2;
      this.edges.append(draw('path.edge', { d: `M${fromX} ${fromY}C${fromX} ${middle} ${toX} ${middle} ${toX} ${toY}`, 'stroke-width': 1.2 + Math.log10((input.rows ?? 0) + 1) * 0.75 }));
      const text = [input.rows === undefined ? '' : count(input.rows * Math.max(1, input.loops ?? 1)), input.edge ?? ''].filter(Boolean).join(' · ');
      if (text) this.edges.append(draw('text.edge-text', { x: fromX + 8, y: fromY - 9, text }));
    }
  }

  select(tree) {
    for (const [own, item] of this.items) {
      item.setAttribute('aria-selected', String(own === tree));
      item.setAttribute('tabindex', own === tree ? 0 : -1);
    }
    this.choose?.(tree);
  }

  pressed(event) {
    const tree = [...this.items].find(([, item]) => item === event.target)?.[0];
    if (!tree) return;
    const siblings = tree.parent?.inputs ?? [tree];
    const beside = (by) => siblings[siblings.indexOf(tree) + by];
    const goal = { ArrowUp: tree.parent, ArrowDown: tree.inputs[0], ArrowLeft: beside(-1), ArrowRight: beside(1), Home: this.tree }[event.key];
    if (!goal) return;
    event.preventDefault();
    this.items.get(goal).focus();
  }

  zoom(scale) {
    this.scale = Math.max(0.25, Math.min(2, scale));
    this.svg.setAttribute('width', this.size.width * this.scale);
    this.svg.setAttribute('height', this.size.height * this.scale);
  }

  /** As large as there is room, and not so small that it cannot be read. */
  fit() {
    const room = this.element.clientWidth - 4;
    if (room > 0) this.zoom(Math.max(0.62, Math.min(1, room / this.size.width)));
  }
}

const all = (tree) => [tree, ...tree.inputs.flatMap(all)];

const NAMES = { estimated_total_cost: 'cost', estimated_first_row_cost: 'cost of the first row', actual_last_row_ms: 'last row after', actual_first_row_ms: 'first row after' };

function factText(name, value) {
  if (value && typeof value === 'object') return value.name && value.bytes !== undefined ? `${value.name}, ${bytes(value.bytes)}` : Array.isArray(value) ? value.map((it) => (typeof it === 'object' ? JSON.stringify(it) : it)).join(', ') : JSON.stringify(value);
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (name.includes('_bytes')) return bytes(value);
  if (name.endsWith('_ms')) return seconds(value / 1e3);
  if (typeof value === 'number') return name.endsWith('rows') || value >= 1000 ? wholeCount(Math.round(value)) : String(value);
  return short(value, 300);
}

const factList = (members) => make('dl.facts', {}, Object.entries(members).map(([name, value]) => make('div', {}, make('dt', { text: (NAMES[name] ?? name).replaceAll('_', ' ') }), make('dd', { text: factText(name, value) }))));

/** All that is known of an operator, and of its temporary table. */
export function operatorFacts(tree) {
  return [factList(tree.members), ...(tree.table ? [make('h3', { text: 'Its temporary table' }), factList(tree.table)] : [])];
}
