// Runs the system with separate APIs, several processes of each app, and restarts.
import type { EventStore } from '@paylog/event-store/eventStore'
import { connectEventStore } from '@paylog/event-store/testing/eventStoreHarness'
import { startEventStore } from '@paylog/testing/eventStore'
import { startFakeIdentity } from '@paylog/testing/fakeIdentity'
import { freePort, startProcess, type TestProcess } from '@paylog/testing/processes'
import { startFakeStripe } from '@paylog/testing/stripe/fakeStripe'
import type { Test } from 'tap'

const main = (app: string) => new URL(`../../../${app}/src/main.ts`, import.meta.url)

export type App = 'command-api' | 'query-api' | 'api' | 'projector' | 'worker'

export type Replica = {
  readonly app: App
  /** Of its API or its health page. The same after a restart. */
  readonly baseUrl: string
  readonly port: number
  process(): TestProcess
  /** Stops the process and starts it again on the same port. @returns the exit code and output of the old process */
  restart(): Promise<{ readonly code: number | null; readonly output: string }>
}

export type ReplicaBackends = Awaited<ReturnType<typeof startReplicaBackends>>

/** The backends of the apps (event store, Postgres, identity, Stripe) and access to the log. */
export async function startReplicaBackends(t: Test, env: Readonly<Record<string, string>> = {}) {
  const [log, identity, stripe] = await Promise.all([startEventStore(t), startFakeIdentity(t), startFakeStripe(t)])
  const store = connectEventStore(t, { connectionString: log.connectionString, keys: log.keys })
  const environment = {
    HOST: '127.0.0.1',
    DATABASE_URL: log.databaseUrl,
    EVENTSTORE_URL: log.connectionString,
    AUTH_URL: identity.authUrl,
    WEBHOOK_ALLOWED_PRIVATE_CIDRS: '127.0.0.0/8',
    LOG_LEVEL: 'info',
    // No load shedding, which would fail these tests on a busy machine.
    SHED_EVENT_LOOP_DELAY: '0s',
    ...stripe.env,
    ...env,
  }
  return { log, identity, stripe, store, environment }
}

/** @param env more variables for this app */
export async function startReplica(
  t: Test,
  { environment }: { readonly environment: Readonly<Record<string, string>> },
  app: App,
  env: Readonly<Record<string, string>> = {},
): Promise<Replica> {
  const host = env.HOST ?? '127.0.0.1'
  const port = Number(env.PORT ?? (await freePort()))
  const appEnvironment = { ...environment, PORT: String(port), HEALTH_PORT: String(port), ...env }
  const start = () => startProcess(t, { script: main(app), env: appEnvironment })
  let running = await start()
  return {
    app,
    port,
    baseUrl: `http://${host}:${port}`,
    process: () => running,
    async restart() {
      const before = running
      await before.stop()
      const { code } = await before.exited
      running = await start()
      return { code, output: before.output() }
    },
  }
}

/** Addresses of two replicas of an app, which have the same port as behind one name. */
export const replicaHosts = ['127.0.0.1', '127.0.0.2'] as const

/**
 * Starts two of each API.
 * @returns also `ports`, the variables with which the edge finds them
 */
export async function startApis(t: Test, backends: Pick<ReplicaBackends, 'environment'>) {
  const [commandPort, queryPort] = [String(await freePort()), String(await freePort())]
  const startBoth = (app: App, PORT: string) =>
    Promise.all(replicaHosts.map((HOST) => startReplica(t, backends, app, { HOST, PORT })))
  const [commands, queries] = await Promise.all([
    startBoth('command-api', commandPort),
    startBoth('query-api', queryPort),
  ])
  return { commands, queries, ports: { COMMAND_API_PORT: commandPort, QUERY_API_PORT: queryPort } }
}

/** The payments in the log, each with its event types. */
export async function paymentsOnLog(store: EventStore): Promise<Map<string, string[]>> {
  const payments = new Map<string, string[]>()
  for await (const { stream, type } of store.readLog({ prefixes: ['payment-'] })) {
    const id = stream.slice('payment-'.length)
    payments.set(id, [...(payments.get(id) ?? []), type])
  }
  return payments
}

/** The log lines at level warn or above. */
export function warningsIn(output: string): string[] {
  return output.split('\n').filter((line) => line !== '' && !/^\{"level":"(info|debug|trace)"/.test(line))
}
