// command-api as in production, with a bare route on the same Postgres.
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

export type CommandSystem = { readonly server: PrivateServer; readonly api: Side; readonly bare: Side }

/** Starts the event store, the identity backend, command-api with the sandbox provider, and the bare route. */
export async function startCommandSystem(stack: AsyncDisposableStack): Promise<CommandSystem> {
  const server = await startPrivateServer(stack)
  const [apiPort, barePort, identityPort] = [await freePort(), await freePort(), await freePort()]
  const start = (script: string, env: Readonly<Record<string, string>>) =>
    startBenchmarkProgram(new URL(script, import.meta.url), { env, stack })
  const identity = await start('../../../apps/local/src/identity.ts', { PORT: String(identityPort) })
  const api = await start('../../../apps/command-api/src/main.ts', {
    PORT: String(apiPort),
    EVENTSTORE_URL: server.connectionString,
    AUTH_URL: `http://127.0.0.1:${identityPort}`,
    SANDBOX_PROVIDER: 'true',
    SANDBOX_WEBHOOK_SECRET: randomBytes(24).toString('hex'),
  })
  const bare = await start('./bareRoute.ts', {
    PORT: String(barePort),
    DATABASE_URL: server.postgres.databaseUrl,
  })
  return {
    server,
    api: {
      port: apiPort,
      path: '/payments/intents',
      processes: { 'command-api': api.pid, identity: identity.pid, 'embedded-event-store': server.pid() },
    },
    bare: { port: barePort, path: '/orders', processes: { 'bare route': bare.pid } },
  }
}
