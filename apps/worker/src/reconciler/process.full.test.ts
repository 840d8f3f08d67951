import { randomUUID } from 'node:crypto'
import { paymentStream } from '@paylog/event-store/streamName'
import { startProcess } from '@paylog/testing/processes'
import { startFakeStripe } from '@paylog/testing/stripe/fakeStripe'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { createReconcilerHarness } from '../testing/reconcilerHarness.ts'

const harness = await createReconcilerHarness(t)
const script = new URL('../main.ts', import.meta.url)
const env = { DATABASE_URL: harness.databaseUrl, EVENTSTORE_URL: harness.connectionString }

t.test('a stopping worker waits for follow-ups in progress and exits with 0', async (t) => {
  const fake = await startFakeStripe(t)
  // An hour ago, so that the worker finds the payment due.
  harness.forward(-3_600_000)
  const id = await harness.initiate({ id: 'stripe' })
  // Longer than a stop waits for a part that has nothing in flight.
  fake.faults.next({ kind: 'slow', ms: 4_000 })
  const variables = { ...env, ...fake.env, PROVIDER_TIMEOUT_MS: '9000', STOP_TIMEOUT: '14s' }
  const worker = await startProcess(t, { script, env: variables })
  await waitFor(() => fake.calls.length > 0, { what: 'the call' })
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
  const worker = await startProcess(t, { script, env }).catch((error: Error) => error)
  const output = worker instanceof Error ? worker.message : (await worker.exited) && worker.output()
  t.match(output, /UnreadableEventError/)
  t.match(output, id)
  if (!(worker instanceof Error)) t.match(await worker.exited, { code: 1 })
})
