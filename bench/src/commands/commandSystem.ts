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
  const [insertPort, appendsPort] = [await freePort(), await freePort()]
  const start = (script: string, env: Readonly<Record<string, string>>) =>
    startBenchmarkProgram(new URL(script, import.meta.url), { env, stack })
  const identity = await startIdentity(stack)
  const { authUrl } = identity
  const api = await startCommandApi(stack, { server: { ...server, connectionString }, authUrl })
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
      port: api.port,
      path: '/payments/intents',
      processes: { 'command-api': api.pid, ...others },
    },
    insert: { port: insertPort, path: '/orders', processes: { 'bare route': insert.pid } },
    appends: { port: appendsPort, path: '/orders', processes: { 'bare route': appends.pid, ...others } },
  }
}

export async function startIdentity(stack: AsyncDisposableStack) {
  const port = await freePort()
  const script = new URL('../../../apps/local/src/identity.ts', import.meta.url)
  const { pid } = await startBenchmarkProgram(script, { env: { PORT: String(port) }, stack })
  return { pid, authUrl: `http://127.0.0.1:${port}` }
}

/** Starts command-api with the sandbox provider. @param options `script` runs it with changes */
export async function startCommandApi(
  stack: AsyncDisposableStack,
  {
    server: { connectionString, postgres },
    authUrl,
    script = new URL('../../../apps/command-api/src/main.ts', import.meta.url),
  }: {
    readonly server: Pick<PrivateServer, 'connectionString' | 'postgres'>
    readonly authUrl: string
    readonly script?: URL
  },
) {
  const port = await freePort()
  const env = {
    PORT: String(port),
    EVENTSTORE_URL: connectionString,
    DATABASE_URL: postgres.databaseUrl,
    AUTH_URL: authUrl,
    RATE_LIMIT_ANONYMOUS_PER_MINUTE: '0',
    SANDBOX_PROVIDER: 'true',
    SANDBOX_WEBHOOK_SECRET: randomBytes(24).toString('hex'),
  }
  return { port, pid: (await startBenchmarkProgram(script, { env, stack })).pid }
}
