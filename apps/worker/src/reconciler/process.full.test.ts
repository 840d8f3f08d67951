// The worker process: killed, stopped, and with an unreadable log.
import { randomUUID } from 'node:crypto'
import { paymentStream } from '@paylog/event-store/streamName'
import { startProcess } from '@paylog/testing/processes'
import { startFakeStripe } from '@paylog/testing/stripe/fakeStripe'
import { waitFor } from '@paylog/testing/waitFor'
import t, { type Test } from 'tap'
import { createReconcilerHarness } from '../testing/reconcilerHarness.ts'

const script = new URL('../main.ts', import.meta.url)
const sampleKey = 'sk_test_example'

const harness = await createReconcilerHarness(t)
const fake = await startFakeStripe(t, { secretKey: sampleKey })
// Payments here are an hour old, so that the worker finds them due.
harness.forward(-3_600_000)
const env = {
  DATABASE_URL: harness.databaseUrl,
  EVENTSTORE_URL: harness.connectionString,
  STRIPE_SECRET_KEY: sampleKey,
  STRIPE_WEBHOOK_SECRET: fake.webhookSecret,
  STRIPE_API_BASE: fake.origin,
  PROVIDER_TIMEOUT_MS: '3000',
}
const start = (t: Test) => startProcess(t, { script, env })

t.test('a follow-up of a killed worker is finished by the next one after its lease expires', async (t) => {
  const { id: method } = fake.addMethod()
  const provider_method = { provider_method_id: method, provider_customer_id: null }
  const id = await harness.initiate({ id: 'stripe' }, { payment_method_id: randomUUID(), provider_method })
  fake.faults.always({ kind: 'hang', commits: true })
  const first = await start(t)
  await waitFor(() => fake.calls.length > 0, { what: 'the call' })
  await first.kill('SIGKILL')
  fake.faults.always(undefined)
  const calls = fake.calls.length
  await start(t)
  t.match(await harness.entry(paymentStream(id)), { lease: String }, 'the killed worker still has the lease')
  t.equal(fake.calls.length, calls)
  await harness.pool.query(`update webhooks.follow_ups set leased_until = leased_until - interval '30 s'`)
  await waitFor(async () => (await harness.payment(id)).create.outcome === 'done', { what: 'the intent' })
  t.same(await harness.eventsOf(id), ['PaymentInitiated', 'ProviderIntentCreated'])
  const made = fake.calls.flatMap(({ method, key, params }) =>
    method === 'POST' ? [[key, params.payment_method]] : [],
  )
  t.ok(made.length > calls)
  for (const call of made) t.same(call, [id, method], 'all calls have the same key and method')
  const intents = fake.intents().filter(({ metadata }) => metadata.payment_id === id)
  t.match(intents, [{ payment_method: method }])
  t.equal(intents.length, 1)
})

t.test('a stopping worker waits for follow-ups in progress and exits with 0', async (t) => {
  const id = await harness.initiate({ id: 'stripe' })
  fake.faults.next({ kind: 'slow', ms: 1_000 })
  const calls = fake.calls.length
  const worker = await start(t)
  await waitFor(() => fake.calls.length > calls, { what: 'the call' })
  await worker.stop()
  t.same(await worker.exited, { code: 0, signal: null })
  t.equal((await harness.payment(id)).create.outcome, 'done')
  t.equal((await harness.pool.query('select 1 from webhooks.follow_ups where lease is not null')).rowCount, 0)
})

t.test('an undecodable event stops the worker with an error that names it', async (t) => {
  const id = randomUUID()
  const unknown = {
    id: randomUUID(),
    type: 'PaymentFrozen',
    contentType: 'application/json',
    data: {},
    metadata: {},
  } as const
  await harness.store.client.appendToStream(paymentStream(id), unknown)
  const worker = await start(t).catch((error: Error) => error)
  const output = worker instanceof Error ? worker.message : (await worker.exited) && worker.output()
  t.match(output, /UnreadableEventError/)
  t.match(output, id)
  if (!(worker instanceof Error)) t.match(await worker.exited, { code: 1 })
})
