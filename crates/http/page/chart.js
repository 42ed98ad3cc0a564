// Lines over time: small ones in tiles, and the large one of memory and disk with a cursor.
import { draw, make } from './elements.js';
import { bytes, clock } from './format.js';

/** A line without axes. */
export function sparkline(values, kind) {
  const known = values.map((value) => value ?? 0);
  const svg = draw('svg', { viewBox: '0 0 100 34', preserveAspectRatio: 'none', 'aria-hidden': 'true' });
  if (known.length < 2) return svg;
  const top = Math.max(...known) || 1;
  const points = known.map((value, index) => `${((index / (known.length - 1)) * 100).toFixed(2)},${(32 - (value / top) * 28).toFixed(2)}`);
  svg.append(
    draw(`polygon.fill-${kind}`, { points: `0,34 ${points.join(' ')} 100,34` }),
    draw(`polyline.line-${kind}`, { points: points.join(' ') }),
  );
  return svg;
}

/** Steps of an axis of bytes: powers of two, three or four of them. */
function steps(top) {
  let step = 1024;
  while (top / step > 4) step *= 2;
  return Array.from({ length: Math.floor(top / step) + 1 }, (_, index) => index * step);
}

const LEFT = 66;
const BOTTOM = 22;
const HEIGHT = 188;

/** Memory and, on top of it, disk. */
export class Chart {
  constructor(label) {
    this.label = label;
    this.data = { at: [], memory: [], disk: [] };
    this.values = { memory: make('b'), disk: make('b'), at: make('span.muted') };
    this.legend = make('div.legend', {},
      make('span', {}, make('i.memory'), 'Memory ', this.values.memory), make('span', {}, make('i.disk'), 'Disk ', this.values.disk), this.values.at);
    this.svg = draw('svg', { 'aria-hidden': 'true' });
    this.element = make('div.chart', { role: 'img', tabindex: 0 }, this.svg);
    this.element.addEventListener('pointermove', (event) => this.point(event.clientX - this.element.getBoundingClientRect().left));
    this.element.addEventListener('pointerleave', () => this.setCursor(null));
    this.element.addEventListener('blur', () => this.setCursor(null));
    this.element.addEventListener('keydown', (event) => {
      const last = this.data.at.length - 1;
      const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -20, PageDown: 20 }[event.key];
      if (step && last >= 0) { event.preventDefault(); this.setCursor(Math.max(0, Math.min(last, (this.cursor ?? last) + step))); }
    });
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  update(data) {
    this.data = data;
    this.draw();
  }

  setCursor(index) {
    this.cursor = index;
    this.draw();
  }

  point(x) {
    const { at } = this.data;
    if (at.length < 2) return;
    const part = (x - LEFT) / (this.element.clientWidth - LEFT);
    const time = at[0] + part * (at.at(-1) - at[0]);
    let index = at.findIndex((it) => it >= time);
    if (index < 0) index = at.length - 1;
    this.setCursor(Math.max(0, index));
  }

  draw() {
    const width = this.element.clientWidth;
    const { at, memory, disk } = this.data;
    this.svg.replaceChildren();
    const shown = this.cursor ?? at.length - 1;
    this.values.memory.textContent = bytes(memory[shown]);
    this.values.disk.textContent = bytes(disk[shown]);
    this.values.at.textContent = this.cursor === null || this.cursor === undefined ? '' : clock(at[shown]);
    const totals = at.map((_, index) => (memory[index] ?? 0) + (disk[index] ?? 0));
    const most = Math.max(...totals, 0);
    this.element.setAttribute('aria-label', `${this.label}. Now ${bytes(memory.at(-1))} in memory and ${bytes(disk.at(-1))} on disk; at most ${bytes(most)} together. The arrow keys read other times.`);
    if (width < 100) return;
    if (at.length < 2) {
      this.svg.append(draw('text', { x: width / 2, y: HEIGHT / 2, 'text-anchor': 'middle', text: 'The line begins with the second sample.' }));
      return;
    }
    const top = Math.max(most * 1.08, 4096);
    const x = (index) => LEFT + ((at[index] - at[0]) / (at.at(-1) - at[0] || 1)) * (width - LEFT);
    const y = (value) => 8 + (1 - value / top) * (HEIGHT - BOTTOM - 8);
    for (const value of steps(top)) {
      this.svg.append(draw('line.grid', { x1: LEFT, x2: width, y1: y(value), y2: y(value) }),
        draw('text', { x: LEFT - 8, y: y(value) + 4, 'text-anchor': 'end', text: value ? bytes(value) : '0' }));
    }
    const line = (values) => values.map((value, index) => `${x(index).toFixed(1)},${y(value).toFixed(1)}`);
    const [lower, upper, ground] = [line(memory.map((value) => value ?? 0)), line(totals), line(at.map(() => 0))];
    const area = (kind, above, below) => this.svg.append(
      draw(`polygon.fill-${kind}`, { points: [...above, ...[...below].reverse()].join(' ') }), draw(`polyline.line-${kind}`, { points: above.join(' ') }));
    if (disk.some((value) => value > 0)) area('disk', upper, lower);
    area('memory', lower, ground);
    const marks = Math.max(2, Math.min(6, Math.floor(width / 160)));
    for (let mark = 0; mark <= marks; mark += 1) {
      const time = at[0] + (mark / marks) * (at.at(-1) - at[0]);
      const text = clock(time).slice(0, at.at(-1) - at[0] > 1_200_000 ? 5 : 8);
      this.svg.append(draw('text', { x: LEFT + (mark / marks) * (width - LEFT), y: HEIGHT - 4, text, 'text-anchor': mark === 0 ? 'start' : mark === marks ? 'end' : 'middle' }));
    }
    if (this.cursor !== null && this.cursor !== undefined && at[this.cursor]) {
      this.svg.append(draw('line.cursor', { x1: x(this.cursor), x2: x(this.cursor), y1: 4, y2: HEIGHT - BOTTOM }));
    }
  }
}
