// `npm run bench -- sealing`: what sealing personal data costs a command and a projection, beside events that are not sealed.
import { randomUUIDv7 } from 'node:crypto'
import { parseArgs } from 'node:util'
import { jsonEvent } from '@eventstore/db-client'
import { paymentFold } from '@paylog/domain/payments/fold'
import { initiatePayment, recordIntentCreated } from '@paylog/domain/payments/initiate'
import { type Codec, domainCodec } from '@paylog/event-store/codec/codec'
import { createEventStore, type EventStore, newStream } from '@paylog/event-store/eventStore'
import { paymentStream } from '@paylog/event-store/streamName'
import { readModelMigrations } from '@paylog/projections/registry'
import { migrate } from '@paylog/runtime/postgres/migrate'
import { createPool } from '@paylog/runtime/postgres/pool'
import { createLog } from '@paylog/runtime/telemetry/log'
import { type PrivateServer, startPrivateServer } from '../event-store/privateServer.ts'
import {
  alternateRounds,
  type BenchmarkOptions,
  type BenchmarkResult,
  type BenchmarkRow,
  measureRate,
  median,
  quantile,
  summarizeRounds,
} from '../harness/benchmark.ts'
import { fillLog } from '../projections/fillLog.ts'
import { paymentLog } from '../projections/paymentLog.ts'
import { run } from '../projections/task.ts'

/** Writes events as they were before they were sealed. Both codecs read both. */
const openCodec: Codec = {
  ...domainCodec,
  partsOf: () => [],
  encode: ({ type, data }, id, { correlationId, causationId, ...rest }) =>
    jsonEvent({
      id,
      type,
      data,
      metadata: { $correlationId: correlationId, $causationId: causationId, ...rest, schema: 1 },
    }),
}

/** @throws Error for invalid options */
export async function sealing(options: BenchmarkOptions): Promise<BenchmarkResult> {
  const { events, rounds, durationMs } = optionsOf(options)
  const server = await startPrivateServer(options.stack)
  const commands = await measureCommands(options, server, { rounds, durationMs })
  return {
    postgres: server.postgres.description,
    rows: [...commands, await measureProjection(options, { events, rounds })],
  }
}

/** Two appends as of a payment that gets its intent: of the same user, and of a new guest each. */
async function measureCommands(
  { stack }: BenchmarkOptions,
  { connectionString, keys }: PrivateServer,
  { rounds, durationMs }: { readonly rounds: number; readonly durationMs: number },
): Promise<BenchmarkRow[]> {
  const storeWith = (codec: Codec) => {
    const store = createEventStore({ connectionString, keys, codec })
    stack.defer(() => store.close())
    return store
  }
  const [sealed, open] = [storeWith(domainCodec), storeWith(openCodec)]
  const rows: BenchmarkRow[] = []
  for (const payer of ['a known user', 'a new guest'] as const) {
    for (const inFlight of [1, 64]) {
      const measure = async (store: EventStore) =>
        (await measureRate(() => createPayment(store, payer), { inFlight, durationMs })).times
      const pairs = await alternateRounds(
        rounds,
        () => measure(sealed),
        () => measure(open),
      )
      for (const [name, q] of [
        ['p50', 0.5],
        ['p99', 0.99],
      ] as const) {
        const summary = summarizeRounds(
          pairs.map(({ ours, bare }) => ({ ours: quantile(ours, q), bare: quantile(bare, q) })),
          'not sealed',
        )
        const target =
          payer === 'a known user' && name === 'p50' ? { target: { of: 'ratio', atMost: 1.1 } as const } : {}
        rows.push({
          name: `${name} of a payment's appends, ${payer}, ${inFlight} in flight`,
          unit: 'ms',
          ...summary,
          ...target,
        })
      }
    }
  }
  return rows
}

const user = { id: 'user-1', type: 'user', email: 'ada@example.com' }

async function createPayment(store: EventStore, payer: 'a known user' | 'a new guest'): Promise<void> {
  const payment_id = randomUUIDv7()
  const email = `guest-${payment_id}@example.com`
  const isGuest = payer === 'a new guest'
  const occurred_at = new Date().toISOString()
  const metadata = { correlationId: payment_id, causationId: payment_id, actor: isGuest ? 'guest' : 'session:user-1' }
  const stream = paymentStream(payment_id)
  const command = {
    ...{ payment_id, occurred_at, provider_id: 'sandbox', currency: 'EUR', payment_method_id: null },
    ...{ subtotal_cents: 1_000, tax_cents: 200, discount_cents: 0, total_cents: 1_200 },
    ...{
      concept: 'Winter shoes',
      description: 'Order of winter shoes',
      reference_code: 'R-1',
      category: null,
      tags: null,
    },
    ...{ metadata: { order_id: 'order-1' }, request_fingerprint: null },
    payer: isGuest ? { id: null, type: 'guest', email } : user,
    ...{ is_guest_payment: isGuest, guest_email: isGuest ? email : null, guest_name: null, guest_phone: null },
  }
  const begun = await store.handle({
    stream,
    fold: paymentFold,
    decide: (state) => initiatePayment(command, state),
    metadata,
    known: newStream(paymentFold),
  })
  const intent = {
    occurred_at,
    attempt: 1,
    provider_intent_id: `pi_${payment_id}`,
    client_secret: `secret_${payment_id}`,
  }
  await store.handle({
    stream,
    fold: paymentFold,
    decide: (state) => recordIntentCreated(intent, state),
    metadata,
    known: begun,
  })
}

/** Rebuilds the payments from a log of sealed events and from one that is not. */
async function measureProjection(
  { stack, print }: BenchmarkOptions,
  { events, rounds }: { readonly events: number; readonly rounds: number },
): Promise<BenchmarkRow> {
  const filled = async (codec: Codec) => {
    const server = await startPrivateServer(stack)
    const log = createLog({ app: 'bench', level: 'error' })
    const pool = createPool({ databaseUrl: server.postgres.databaseUrl, applicationName: 'bench', max: 1, log })
    stack.defer(() => pool.end())
    await migrate(pool, readModelMigrations)
    const store = createEventStore({ connectionString: server.connectionString, keys: server.keys, codec })
    stack.defer(() => store.close())
    await fillLog(store, paymentLog({ mixed: 0 }), events)
    return server
  }
  const [sealed, open] = [await filled(domainCodec), await filled(openCodec)]
  print(`two logs of ${events} events are filled`)
  const rate = async (server: PrivateServer) => {
    const { ms } = await run('rebuild', events, server)
    return (events * 1_000) / ms
  }
  const pairs = await alternateRounds(
    rounds,
    () => rate(sealed),
    () => rate(open),
  )
  print(`median of both: ${median(pairs.map(({ ours }) => ours))} and ${median(pairs.map(({ bare }) => bare))}`)
  const summary = summarizeRounds(pairs, 'not sealed')
  return { name: `events of a rebuild of ${events}`, unit: '/s', ...summary, target: { of: 'ratio', atLeast: 0.8 } }
}

function optionsOf({ args, isQuick }: BenchmarkOptions) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      events: { type: 'string', default: isQuick ? '10000' : '200000' },
      rounds: { type: 'string', default: isQuick ? '1' : '5' },
      seconds: { type: 'string', default: isQuick ? '2' : '8' },
    },
  })
  const [events, rounds, seconds] = [Number(values.events), Number(values.rounds), Number(values.seconds)]
  if (!(events > 0 && rounds > 0 && seconds > 0))
    throw new Error('--events, --rounds and --seconds are numbers above 0')
  return { events, rounds, durationMs: seconds * 1_000 }
}
