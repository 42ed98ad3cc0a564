/** Options of a server. */
export interface MayflyOptions {
  /** The data directory, which is created if it is missing. Without it nothing is stored. */
  path?: string;
  /** The port; 0, the default, for any free one. */
  port?: number;
  /** The path of a Unix socket to listen on too. */
  socket?: string;
  /** The most memory for everything, in bytes or as "512M"; what does not fit goes on in files. */
  memoryLimit?: number | string;
  /** The most threads of a statement. */
  threads?: number;
  /** Global values of system variables. */
  variables?: Record<string, string | number | boolean>;
  /** Milliseconds in which the server must be ready; 30 000. */
  timeout?: number;
  /** The path of the program; that of this package by default. */
  program?: string;
}

/** Options of a connection, for mysql2 and other drivers. */
export interface MayflyConnectionOptions {
  host: string;
  port: number;
  user: string;
  password: string;
  database: string;
}

/** A running server. It listens on 127.0.0.1, and root has no password. It ends with this process at the latest. */
export interface MayflyServer {
  readonly host: string;
  readonly port: number;
  readonly socket: string | undefined;
  readonly user: string;
  readonly password: string;
  /** The database that is there at the start. */
  readonly database: string;
  /** The address: "mysql://root@127.0.0.1:41927/test". */
  readonly url: string;
  /** Host, port, account and database, for `mysql.createConnection` and `mysql.createPool` of mysql2. */
  readonly connectionOptions: MayflyConnectionOptions;
  /** Stops the server and waits for its end. */
  stop(): Promise<void>;
  /** Stops the server at the end of an `await using` declaration. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Starts a server and waits until clients can connect. */
export function startMayfly(options?: MayflyOptions): Promise<MayflyServer>;

/** The path of the `mayfly` program. */
export function programPath(): string;
