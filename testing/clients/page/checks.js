// What a reader with other eyes or hands needs of a page; gives what is missing as a list of lines.
const problems = [];
const isShown = (it) => it.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true });
const where = (it) => `${it.tagName.toLowerCase()}${it.id ? `#${it.id}` : ''}${typeof it.className === 'string' && it.className ? `.${it.className.split(' ').join('.')}` : ''} "${it.textContent.trim().slice(0, 30)}"`;
const byId = (ids) => (ids ?? '').split(' ').map((id) => document.getElementById(id)?.textContent.trim() ?? '').join(' ').trim();
const nameOf = (it) => it.getAttribute('aria-label') || byId(it.getAttribute('aria-labelledby')) || [...(it.labels ?? [])].map((label) => label.textContent).join(' ').trim() || it.getAttribute('alt') || it.textContent.trim() || it.title;

// Names, roles and relations.
for (const it of document.querySelectorAll('button, a[href], input, textarea, select, [role="tab"], [role="tabpanel"], [role="treeitem"], [role="img"], table, dialog, summary')) {
  if (isShown(it) && !nameOf(it)) problems.push(`no name: ${where(it)}`);
}
for (const it of document.querySelectorAll('[aria-controls], [aria-labelledby], label[for]')) {
  for (const attribute of ['aria-controls', 'aria-labelledby', 'for']) {
    for (const id of (it.getAttribute(attribute) ?? '').split(' ').filter(Boolean)) if (!document.getElementById(id)) problems.push(`${attribute}="${id}" leads nowhere: ${where(it)}`);
  }
}
const ids = [...document.querySelectorAll('[id]')].map((it) => it.id);
for (const id of new Set(ids.filter((id, index) => ids.indexOf(id) !== index))) problems.push(`two elements are called ${id}`);
for (const image of document.querySelectorAll('img:not([alt])')) problems.push(`no text instead of an image: ${where(image)}`);
if (document.querySelectorAll('h1').length !== 1) problems.push('not one h1');
if (document.querySelectorAll('main').length !== 1) problems.push('not one main');
if (!document.documentElement.lang) problems.push('no language');
if (document.querySelectorAll('[role="tab"][aria-selected="true"]').length !== 1) problems.push('not one tab is selected');
for (const it of document.querySelectorAll('th')) if (!it.scope) problems.push(`no scope: ${where(it)}`);
for (const it of document.querySelectorAll('[tabindex]')) if (it.tabIndex > 0) problems.push(`changes the order of Tab: ${where(it)}`);

// Contrast, as WCAG 2 computes it: 4.5 for text, 3 for large text.
const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
const rgba = (color) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1); return canvas.getImageData(0, 0, 1, 1).data; };
const over = (top, below) => [0, 1, 2].map((index) => (top[index] * top[3] + below[index] * (255 - top[3])) / 255);
const light = (color) => { const [r, g, b] = color.map((value) => { const part = value / 255; return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const ground = (it) => { const layers = []; for (let at = it; at; at = at.parentElement) { const color = rgba(getComputedStyle(at).backgroundColor); layers.push(color); if (color[3] === 255) break; } return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255]); };
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const it = walker.currentNode.parentElement;
  if (!walker.currentNode.textContent.trim() || !isShown(it) || it.closest('.hidden, .skip, :disabled, noscript')) continue;
  const style = getComputedStyle(it);
  const isSvg = it.namespaceURI.endsWith('svg');
  let below = ground(isSvg ? it.closest('svg').parentElement : it);
  if (isSvg) { const box = it.parentElement.querySelector(it.classList.contains('table-text') ? '.table-box' : '.box'); if (box) below = over(rgba(getComputedStyle(box).fill), below); }
  const own = over(rgba(isSvg ? style.fill : style.color), below);
  const [a, b] = [light(own), light(below)].sort((x, y) => y - x);
  const ratio = (a + 0.05) / (b + 0.05);
  const size = parseFloat(style.fontSize);
  const needed = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
  if (ratio < needed) problems.push(`contrast ${ratio.toFixed(2)} of ${needed}: ${where(it)}`);
}

// Nothing is wider than the window, and what is to be pressed is not too small.
const [width] = arguments;
if (document.documentElement.scrollWidth > width + 1) problems.push(`the page is ${document.documentElement.scrollWidth} wide in a window of ${width}`);
for (const it of document.querySelectorAll('button, summary')) {
  const box = it.getBoundingClientRect();
  if (isShown(it) && box.width && (box.width < 24 || box.height < 18)) problems.push(`too small to press, ${Math.round(box.width)} × ${Math.round(box.height)}: ${where(it)}`);
}
return [...new Set(problems)];
