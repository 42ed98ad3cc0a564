// Elements. Text is always set as text: nothing here makes HTML of a string.

const SVG = 'http://www.w3.org/2000/svg';

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'text') element.textContent = value;
    else if (name === 'style') for (const [key, text] of Object.entries(value)) element.style.setProperty(key, text);
    else element.setAttribute(name, value === true ? '' : value);
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child !== undefined && child !== null && child !== false) element.append(child);
  }
}

/** An element: its name with classes (`div.card.head`), properties, children. */
export function make(name, properties, ...children) {
  const [tag, ...classes] = name.split('.');
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(' ');
  return fill(element, properties, children);
}

/** An element of SVG. */
export function draw(name, properties, ...children) {
  const [tag, ...classes] = name.split('.');
  const element = document.createElementNS(SVG, tag);
  if (classes.length) element.setAttribute('class', classes.join(' '));
  return fill(element, properties, children);
}

/** A card with a heading. Gives the card and its parts. */
export function card(title, { tools = [], id } = {}) {
  const heading = make('h2', { id }, title);
  const head = make('div.head', {}, heading, tools);
  const body = make('div.body');
  return { card: make('section.card', { 'aria-labelledby': id }, head, body), heading, head, body };
}

/** Buttons of which one is pressed. */
export function choice(label, options, chosen, choose) {
  const buttons = options.map(([value, text]) => make('button', {
    type: 'button', 'aria-pressed': String(value === chosen), text,
    onclick: () => {
      buttons.forEach((button, index) => button.setAttribute('aria-pressed', String(options[index][0] === value)));
      choose(value);
    },
  }));
  return make('div.choice', { role: 'group', 'aria-label': label }, buttons);
}

/** A line at the corner for some seconds. */
export function notice(text, isBad) {
  const line = make(isBad ? 'div.bad' : 'div', { text });
  document.getElementById('notices').append(line);
  setTimeout(() => line.remove(), isBad ? 9000 : 4500);
}

/** Asks before something is done; the promise says whether to do it. */
export function confirmed(title, text, action) {
  return new Promise((resolve) => {
    const dialog = make('dialog', { 'aria-labelledby': 'confirm-title' },
      make('form', { method: 'dialog' },
        make('h2', { id: 'confirm-title', text: title }), make('div', {}, text),
        make('div.row', {}, make('button.push', { value: 'no', text: 'Cancel' }), make('button.primary.danger', { value: 'yes', text: action, autofocus: true }))));
    dialog.addEventListener('close', () => { dialog.remove(); resolve(dialog.returnValue === 'yes'); });
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** Notes of what the server does not have. */
export function notes(list) {
  return (list ?? []).map((text) => make('p.note', { text: `Not shown: ${text}` }));
}

/** Bytes with a bar, against a limit or else against the largest of its kind. */
export function meter(kind, text, value, limit, limitText, largest) {
  const whole = limit ?? largest;
  const part = whole > 0 ? Math.min(1, value / whole) : 0;
  return make(`div.meter.${kind}${limit && value >= limit * 0.98 ? '.full' : ''}`, { title: limitText },
    make('div.top', {}, make('span', { text }), limit ? make('span.muted', { text: `${Math.round(part * 100)} %` }) : null),
    make('div.track', { 'aria-hidden': 'true' }, make('div', { style: { width: `${value > 0 ? Math.max(2, part * 100) : 0}%` } })));
}
