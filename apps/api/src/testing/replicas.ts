// The system as an operator runs it: both sides apart, more than one process of each API, and each to be restarted.
import { createEventStore } from '@paylog/event-store/eventStore'
import { startEventStore } from '@paylog/testing/eventStore'
import { startFakeIdentity } from '@paylog/testing/fakeIdentity'
import { freePort, startProcess, type TestProcess } from '@paylog/testing/processes'
import { startFakeStripe } from '@paylog/testing/stripe/fakeStripe'
import type { Test } from 'tap'

const main = (app: string) => new URL(`../../../${app}/src/main.ts`, import.meta.url)

export type App = 'command-api' | 'query-api' | 'api' | 'projector' | 'worker'

export type Replica = {
  readonly app: App
  /** Of its API, or of its health page; the same after a restart. */
  readonly baseUrl: string
  readonly port: number
  /** The process that runs. */
  process(): TestProcess
  /** Stops it as its supervisor would, and starts it anew on the same port. @returns how it ended, and what it wrote */
  restart(): Promise<{ readonly code: number | null; readonly output: string }>
}

export type ReplicaBackends = Awaited<ReturnType<typeof startReplicaBackends>>

/** What the apps need: a log and tables, identities, Stripe; and a look into the log. */
export async function startReplicaBackends(t: Test, env: Readonly<Record<string, string>> = {}) {
  const [log, identity, stripe] = await Promise.all([startEventStore(t), startFakeIdentity(t), startFakeStripe(t)])
  const store = createEventStore({ connectionString: log.connectionString })
  t.teardown(() => store.close())
  const environment = {
    HOST: '127.0.0.1',
    DATABASE_URL: log.databaseUrl,
    EVENTSTORE_URL: log.connectionString,
    AUTH_URL: identity.authUrl,
    WEBHOOK_ALLOWED_PRIVATE_CIDRS: '127.0.0.0/8',
    LOG_LEVEL: 'info',
    // On a machine that has too much to do requests are refused: which is not what is looked at.
    SHED_EVENT_LOOP_DELAY: '0s',
    ...stripe.env,
    ...env,
  }
  return { log, identity, stripe, store, environment }
}

/** @param env more variables for this one */
export async function startReplica(
  t: Test,
  { environment }: { readonly environment: Readonly<Record<string, string>> },
  app: App,
  env: Readonly<Record<string, string>> = {},
): Promise<Replica> {
  const host = env.HOST ?? '127.0.0.1'
  const port = Number(env.PORT ?? (await freePort()))
  const own = { ...environment, PORT: String(port), HEALTH_PORT: String(port), ...env }
  const start = () => startProcess(t, { script: main(app), env: own })
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

/** The payments in the log, each with the types of its events. */
export async function paymentsOnLog(store: ReturnType<typeof createEventStore>): Promise<Map<string, string[]>> {
  const payments = new Map<string, string[]>()
  for await (const { stream, type } of store.readLog({ prefixes: ['payment-'] })) {
    const id = stream.slice('payment-'.length)
    payments.set(id, [...(payments.get(id) ?? []), type])
  }
  return payments
}

/** The lines of a log that are no mere news. */
export function warningsIn(output: string): string[] {
  return output.split('\n').filter((line) => line !== '' && !/^\{"level":"(info|debug|trace)"/.test(line))
}
