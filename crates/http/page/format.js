// Numbers for people: bytes in powers of 1024, times, counts. What is not known is a dash.

const DASH = '–';
const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

const isKnown = (value) => typeof value === 'number' && Number.isFinite(value);
const digits = (value) => (value >= 100 || Number.isInteger(value) ? 0 : value >= 10 ? 1 : 2);

/** Bytes as [number, unit]. */
export function byteParts(value) {
  if (!isKnown(value)) return [DASH, ''];
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) { value /= 1024; unit += 1; }
  return [unit === 0 ? String(Math.round(value)) : String(Number(value.toFixed(digits(value)))), UNITS[unit]];
}

export function bytes(value) {
  return byteParts(value).join(' ').trim();
}

const grouped = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

/** A count, with every digit up to a million. */
export function count(value) {
  if (!isKnown(value)) return DASH;
  return Math.abs(value) < 1e6 ? grouped.format(value) : compact.format(value);
}

/** A count with every digit. */
export function wholeCount(value) {
  return isKnown(value) ? grouped.format(value) : DASH;
}

export function rate(value) {
  if (!isKnown(value)) return DASH;
  return value >= 100 || value === 0 ? count(Math.round(value)) : String(Number(value.toFixed(value >= 10 ? 0 : 1)));
}

export function seconds(value) {
  if (!isKnown(value)) return DASH;
  if (value === 0) return '0 s';
  if (value < 1e-3) return `${Number((value * 1e6).toFixed(0))} µs`;
  if (value < 1) return `${Number((value * 1e3).toFixed(value < 1e-2 ? 2 : value < 0.1 ? 1 : 0))} ms`;
  if (value < 60) return `${Number(value.toFixed(value < 10 ? 2 : 1))} s`;
  if (value < 3600) return `${Math.floor(value / 60)} min ${Math.floor(value % 60)} s`;
  if (value < 86400) return `${Math.floor(value / 3600)} h ${Math.floor((value % 3600) / 60)} min`;
  return `${Math.floor(value / 86400)} d ${Math.floor((value % 86400) / 3600)} h`;
}

export function percent(part, whole) {
  if (!isKnown(part) || !isKnown(whole) || whole <= 0) return DASH;
  const value = (part / whole) * 100;
  return `${value > 0 && value < 1 ? '<1' : Math.round(value)} %`;
}

export function clock(milliseconds) {
  return new Date(milliseconds).toLocaleTimeString('en-GB');
}

/** The text of a digest as people write it: no quotes around plain names, no spaces around points and in brackets. */
export function statementText(text) {
  return String(text ?? '').replace(/`(\w+)`/g, '$1').replace(/ ?\. ?(?=[\w*`])/g, '.').replace(/ ,/g, ',').replace(/\( /g, '(').replace(/ \)/g, ')').replace(/(\w) \((?=\S)/g, (found, letter, index, all) => (/\b(IN|AS|FROM|AND|OR|ON|WHERE|BY|VALUES|UNION|ALL|NOT|SELECT|OVER|USING|JOIN|EXISTS|THEN|WHEN|ELSE|INTO)$/i.test(all.slice(0, index + 1)) ? found : `${letter}(`));
}

/** A text in one line, cut to a number of characters. */
export function short(text, most) {
  const line = String(text ?? '').replace(/\s+/g, ' ').trim();
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}
