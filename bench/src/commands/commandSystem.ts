// command-api as in production, and two bare routes: one on the same Postgres, one on the same event store.
import { randomBytes } from 'node:crypto'
import { freePort } from '@paylog/testing/processes'
import { type PrivateServer, startPrivateServer } from '../event-store/privateServer.ts'
import { startBenchmarkProgram } from '../harness/program.ts'

export type Side = {
  readonly port: number
  readonly path: string
  /** The processes whose CPU time a request takes, besides Postgres, with their pids. */
  readonly processes: Readonly<Record<string, number>>
}

export type CommandSystem = {
  readonly server: PrivateServer
  readonly connectionString: string
  readonly api: Side
  readonly insert: Side
  readonly appends: Side
}

/**
 * Starts the event store, the identity backend, command-api with the sandbox provider, and the bare routes.
 * @param eventStoreUrl an event store that runs already; its CPU time is not measured
 */
export async function startCommandSystem(stack: AsyncDisposableStack, eventStoreUrl?: string): Promise<CommandSystem> {
  const server = await startPrivateServer(stack)
  const connectionString = eventStoreUrl ?? server.connectionString
  const [apiPort, insertPort, appendsPort] = [await freePort(), await freePort(), await freePort()]
  const identityPort = await freePort()
  const start = (script: string, env: Readonly<Record<string, string>>) =>
    startBenchmarkProgram(new URL(script, import.meta.url), { env, stack })
  const authUrl = `http://127.0.0.1:${identityPort}`
  const identity = await start('../../../apps/local/src/identity.ts', { PORT: String(identityPort) })
  const api = await start('../../../apps/command-api/src/main.ts', {
    PORT: String(apiPort),
    EVENTSTORE_URL: connectionString,
    DATABASE_URL: server.postgres.databaseUrl,
    AUTH_URL: authUrl,
    SANDBOX_PROVIDER: 'true',
    SANDBOX_WEBHOOK_SECRET: randomBytes(24).toString('hex'),
  })
  const insert = await start('./bareRoute.ts', {
    PORT: String(insertPort),
    DATABASE_URL: server.postgres.databaseUrl,
  })
  const appends = await start('./bareAppends.ts', {
    PORT: String(appendsPort),
    EVENTSTORE_URL: connectionString,
    AUTH_URL: authUrl,
  })
  const others = {
    identity: identity.pid,
    ...(eventStoreUrl === undefined && { 'embedded-event-store': server.pid() }),
  }
  return {
    server,
    connectionString,
    api: {
      port: apiPort,
      path: '/payments/intents',
      processes: { 'command-api': api.pid, ...others },
    },
    insert: { port: insertPort, path: '/orders', processes: { 'bare route': insert.pid } },
    appends: { port: appendsPort, path: '/orders', processes: { 'bare route': appends.pid, ...others } },
  }
}
