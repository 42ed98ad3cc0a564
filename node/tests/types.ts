// Compiled, not run: the types as a program uses them, together with those of mysql2.
import { programPath, startMayfly, type MayflyServer } from '..';
import { createPool } from 'mysql2/promise';

async function use(): Promise<number> {
  await using server: MayflyServer = await startMayfly({ threads: 2, variables: { sql_mode: 'ANSI', max_connections: 9 } });
  const pool = createPool(server.connectionOptions);
  await pool.end();
  await server.stop();
  // @ts-expect-error: there is no such option.
  await startMayfly({ prot: 1 });
  return server.port + programPath().length;
}

export { use };
