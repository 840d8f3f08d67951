// The load: payments through the API and appends of our own, while the event store and Postgres come and go. The apps stay.
import { execFile } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startKeys } from '@paylog/bench/harness/keys'
import { openEndpoint } from '@paylog/bench/harness/privateSystem'
import { startBenchmarkProgram } from '@paylog/bench/harness/program'
import { guestTokenFold, recordGuestTokenUse, type SeenGuestToken } from '@paylog/domain/guestToken'
import { createEventStore } from '@paylog/event-store/eventStore'
import { guestTokenStream } from '@paylog/event-store/streamName'
import { testMasterKey } from '@paylog/testing/dataKeys'
import { freePort } from '@paylog/testing/processes'
import type { Machine } from './machine.ts'
import type { Acknowledged } from './recovered.ts'

export type Load = Awaited<ReturnType<typeof startLoad>>

const run = promisify(execFile)
const appendWriters = 4
const payers = 6
const requestTimeoutMs = 10_000
const retryPauseMs = 50
const pollMs = 10
const progressTimeoutMs = 60_000
const app = (name: string) => new URL(`../../../apps/${name}/src/main.ts`, import.meta.url)
const guest = () => ({ email: `guest-${randomUUID()}@example.com`, name: 'Guest Example' })

/** @param stack stops it */
export async function startLoad(stack: AsyncDisposableStack, machine: Machine) {
  const endpoint = await openEndpoint(stack)
  const port = await freePort()
  const environment = { ...environmentOf(machine, port), ...endpoint.settings }
  const ops = (...args: readonly string[]) =>
    run(process.execPath, [fileURLToPath(app('ops')), ...args], { env: environment })
  await machine.startEventStore()
  await ops('migrate')
  for (const name of ['command-api', 'projector', 'worker'])
    await startBenchmarkProgram(app(name), { env: environment, stack })
  const keys = await startKeys(stack, environment)
  const store = createEventStore({ connectionString: machine.eventStoreUrl, keys, timing: { appendTimeoutMs: 2_000 } })
  stack.defer(() => store.close())
  const received = await endpoint.received(0, AbortSignal.timeout(requestTimeoutMs))
  const acknowledged: Acknowledged[] = []
  const payments: string[] = []
  let isOver = false

  async function pay(): Promise<void> {
    const response = await fetch(`http://127.0.0.1:${port}/payments/intents`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ total_cents: 2200, currency: 'EUR', provider_id: 'sandbox', guest_data: guest() }),
      signal: AbortSignal.timeout(requestTimeoutMs),
    })
    const { data } = (await response.json()) as { readonly data?: { readonly id: string } }
    if (response.status !== 201 || data === undefined) throw new Error(`not accepted: ${response.status}`)
    payments.push(data.id)
    acknowledged.push({ stream: `payment-${data.id}` })
  }

  async function append(): Promise<void> {
    const token = createHash('sha256').update(randomUUID()).digest('hex')
    const stream = guestTokenStream(token)
    const seen = { guest_email: guest().email, occurred_at: new Date().toISOString() }
    const metadata = { correlationId: token, causationId: token, actor: 'anonymous' } as const
    const decide = (assumed: SeenGuestToken | null) => recordGuestTokenUse(assumed, seen)
    const { firstEventId: id, ...at } = await store.handle({ stream, fold: guestTokenFold, decide, metadata })
    if (id === undefined || at.position === undefined) return
    const event = { id, stream, revision: String(at.revision), position: String(at.position.commit) }
    acknowledged.push({ stream, event })
  }

  const repeat = async (act: () => Promise<void>) => {
    while (!isOver) await act().catch(() => pause(retryPauseMs))
  }
  const working = Promise.all([...Array(payers).fill(pay), ...Array(appendWriters).fill(append)].map(repeat))
  const stop = async () => {
    isOver = true
    await working
  }
  stack.defer(stop)
  return {
    /** In the order of their responses. */
    acknowledged: acknowledged as readonly Acknowledged[],
    /** The ids of the payments among them. */
    payments: payments as readonly string[],
    /** The payments that the webhook endpoint got messages about. */
    notified: (): ReadonlySet<string> => new Set(received.map(({ paymentId }) => paymentId)),
    /** @throws when nothing happens for a minute, as `untilPaid` */
    untilAcknowledged: (more: number) => untilLonger(acknowledged, more),
    untilPaid: () => untilLonger(payments, 1),
    /** Compares all lists with the log. @returns what differs */
    verify: () =>
      ops('projections', 'verify', '--all').then(
        () => [],
        (error: Error) => [error.message],
      ),
    stop,
  }
}

async function untilLonger(list: readonly unknown[], more: number): Promise<void> {
  const wanted = list.length + more
  for (const deadline = performance.now() + progressTimeoutMs; list.length < wanted; await pause(pollMs))
    if (performance.now() > deadline) throw new Error('the system accepts nothing for a minute')
}

const environmentOf = ({ tablesUrl, eventStoreUrl }: Machine, port: number) => ({
  PATH: process.env.PATH ?? '',
  HOST: '127.0.0.1',
  PORT: String(port),
  DATABASE_URL: tablesUrl,
  EVENTSTORE_URL: eventStoreUrl,
  LOG_LEVEL: 'silent',
  // Nobody signs in.
  AUTH_URL: 'http://127.0.0.1:1',
  PII_MASTER_KEY: testMasterKey,
  SANDBOX_PROVIDER: 'true',
  SANDBOX_WEBHOOK_SECRET: randomUUID(),
  RATE_LIMIT_ANONYMOUS_PER_MINUTE: '0',
  SHED_EVENT_LOOP_DELAY: '0',
  WEBHOOK_ALLOWED_PRIVATE_CIDRS: '127.0.0.0/8',
})
