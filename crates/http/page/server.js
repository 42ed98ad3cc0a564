// What the page asks the server, and the token that it shows. The token is in the address' fragment, which browsers send to
// nobody; it is moved to the session's storage, so that it is neither in the history nor in a bookmark.

const KEY = 'mayfly-token';

export function takeToken() {
  const found = /[#&]token=([^&]+)/.exec(location.hash);
  if (!found) return;
  sessionStorage.setItem(KEY, decodeURIComponent(found[1]));
  history.replaceState(null, '', location.pathname);
}

export function setToken(text) {
  sessionStorage.setItem(KEY, text);
}

/** An answer that is an error: `code` is MySQL's number where a statement has failed. */
export class ServerError extends Error {
  constructor(status, message, code) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

async function ask(path, options = {}) {
  const headers = { ...options.headers };
  const token = sessionStorage.getItem(KEY);
  if (token) headers.Authorization = `Bearer ${token}`;
  let response;
  try {
    response = await fetch(path, { ...options, headers, cache: 'no-store', credentials: 'omit' });
  } catch {
    throw new ServerError(0, 'The server does not answer');
  }
  const body = await response.json().catch(() => null);
  if (!response.ok) throw new ServerError(response.status, body?.error?.message ?? response.statusText, body?.error?.code);
  return body;
}

const send = (path, body) => ask(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });

export const server = {
  overview: () => ask('/api/overview'),
  history: (seconds, points) => ask(`/api/history?seconds=${seconds}&points=${points}`),
  statements: (order) => ask(`/api/statements?order=${encodeURIComponent(order)}`),
  statement: (digest) => ask(`/api/statement?digest=${encodeURIComponent(digest)}`),
  findings: () => ask('/api/findings'),
  settings: () => ask('/api/settings'),
  databases: () => ask('/api/databases'),
  explain: (sql, database, analyze) => send('/api/explain', { sql, database, analyze }),
  kill: (what, id) => send('/api/kill', { what, id }),
};
