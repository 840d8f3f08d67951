import { fails } from '@paylog/commands/testing/fakeSteps'
import { paymentStream } from '@paylog/event-store/streamName'
import { startEventStore } from '@paylog/testing/eventStore'
import { startTcpProxy } from '@paylog/testing/tcpProxy'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { createReconcilerHarness, fakeProvider, reconcileAfterMs } from '../testing/reconcilerHarness.ts'

const second = 1_000
const { connectionString, databaseUrl, keys } = await startEventStore(t)
const proxy = await startTcpProxy(t, Number(new URL(connectionString).port))
const harness = await createReconcilerHarness(t, {
  connectionString: `esdb://127.0.0.1:${proxy.port}?tls=false`,
  databaseUrl,
  keys,
})

const entryOf = (id: string) => harness.entry(paymentStream(id))
const statusOf = async (id: string) => (await harness.payment(id)).status
const succeeded = (id: string) =>
  waitFor(async () => (await statusOf(id)) === 'succeeded', { what: `the success of ${id}` })
const created = (id: string) =>
  waitFor(async () => (await harness.payment(id)).create.outcome === 'done', { what: `the intent of ${id}` })
const offTheList = (id: string) =>
  waitFor(async () => (await entryOf(id)) === undefined, { what: `the end of the follow-up of ${id}` })
const looked = (id: string) =>
  waitFor(
    async () => {
      const entry = await entryOf(id)
      return entry && entry.lease === null && entry.pauses > 0 && entry
    },
    { what: `a look at ${id}` },
  )
const fromNow = (time: Date | null | undefined) =>
  Math.round(((time?.getTime() ?? 0) - harness.now().getTime()) / second)

t.test('a create call interrupted by a crash is repeated with its idempotency key', async (t) => {
  const { fake, provider } = fakeProvider(t)
  await harness.startWorker(t, provider)
  const id = await harness.initiate(provider)
  t.ok(fromNow((await entryOf(id))?.finish) >= 28)
  t.strictSame(fake.calls, [], 'the request gets time to finish itself')
  harness.forward(31 * second)
  await created(id)
  t.equal(fake.calls[0], `create ${id}`)
  t.strictSame(await harness.eventsOf(id), ['PaymentInitiated', 'ProviderIntentCreated'])
  const [first, last] = await harness.store.readStream(paymentStream(id))
  t.match(last?.metadata, { correlationId: 'request-1', causationId: first?.id, actor: 'worker' })
  await waitFor(async () => (await entryOf(id))?.watch, { what: 'the watch' })
  t.match(await entryOf(id), { finish: null, ask: null })
})

t.test(
  'an unknown outcome is resolved by repeating the call, and the payment is charged once [10.2-charged-once]',
  async (t) => {
    const { fake, provider } = fakeProvider(t)
    await harness.startWorker(t, provider)
    fake.meanwhile = fails('unknown')
    const id = await harness.open(provider)
    t.match(await harness.payment(id), { create: { outcome: 'unknown' }, provider_intent_id: null })
    t.ok(Math.abs(fromNow((await entryOf(id))?.finish) - 10) <= 1)
    harness.forward(11 * second)
    await waitFor(() => fake.calls.length >= 2, { what: 'the second call' })
    t.ok(Math.abs(fromNow((await looked(id)).finish) - 12.5) <= 1, 'still unknown, so the pause grows')
    fake.meanwhile = undefined
    harness.forward(14 * second)
    await created(id)
    t.strictSame(new Set(fake.calls.slice(0, 3)), new Set([`create ${id}`]))
    t.strictSame(await harness.eventsOf(id), ['PaymentInitiated', 'ProviderCallFailed', 'ProviderIntentCreated'])
    fake.set(id, 'approved')
    await harness.notify(id, { status: 'processing' })
    await succeeded(id)
    t.equal(fake.ledger.charges.length, 1)
  },
)

t.test('an approval that a notification reports is captured at once, and not when the worker polls', async (t) => {
  const { fake, provider } = fakeProvider(t)
  await harness.startWorker(t, provider)
  const tookMs: number[] = []
  // Each end of a follow-up starts the second until the next poll. The fastest counts, because the machine may be busy.
  const fastest = () => Math.min(...tookMs.slice(1))
  while (tookMs.length < 10 && fastest() > 600) {
    const id = await harness.open(provider)
    await entryOf(id)
    fake.set(id, 'approved')
    await harness.notify(id, { status: 'processing' })
    const before = performance.now()
    await succeeded(id)
    tookMs.push(Math.round(performance.now() - before))
    await offTheList(id)
  }
  t.ok(fastest() <= 600, `captured after ${tookMs.join(', ')} ms`)
})

t.test('an approved payment is captured only once, with several workers', async (t) => {
  const { fake, provider } = fakeProvider(t)
  await harness.startWorker(t, provider)
  await harness.startWorker(t, provider)
  const ids = await Promise.all(Array.from({ length: 10 }, () => harness.open(provider)))
  for (const id of ids) {
    fake.set(id, 'approved')
    await harness.notify(id, { status: 'processing' })
  }
  for (const id of ids) await succeeded(id)
  for (const id of ids) await offTheList(id)
  t.equal(fake.ledger.charges.length, ids.length)
  t.equal(fake.calls.filter((call) => call.startsWith('capture')).length, ids.length)
})

t.test('a payment without reports is looked at less and less often', async (t) => {
  const { fake, provider } = fakeProvider(t)
  await harness.startWorker(t, provider)
  const id = await harness.open(provider)
  await entryOf(id)
  t.equal(fake.calls.length, 1)
  harness.forward(reconcileAfterMs + second)
  await waitFor(() => fake.calls.length === 2, { what: 'the first query' })
  const minutes = Math.round(fromNow((await looked(id)).watch) / 60)
  t.equal(minutes, 69)
  fake.set(id, 'succeeded')
  harness.forward(2 * reconcileAfterMs + second)
  await succeeded(id)
  await offTheList(id)
  // The planner may take it off the list before the reconciler has logged its result.
  await waitFor(() => harness.lines.some((line) => line.includes(id) && line.includes('"finding":"late"')), {
    what: 'the result in the log',
  })
})

t.test('a payment unpaid for 90 days is no longer watched, which is logged once', async (t) => {
  const { provider } = fakeProvider(t)
  await harness.startWorker(t, provider)
  const id = await harness.open(provider)
  await entryOf(id)
  harness.forward(91 * 24 * 3_600_000)
  await offTheList(id)
  t.equal(harness.lines.filter((line) => line.includes(id) && line.includes('stopped watching')).length, 1)
})

t.test('a provider that was down is queried again, and its status counts', async (t) => {
  const { fake, provider } = fakeProvider(t)
  await harness.startWorker(t, provider)
  const id = await harness.open(provider)
  fake.set(id, 'succeeded')
  fake.before = fails('unavailable')
  harness.forward(reconcileAfterMs + second)
  for (const [round, minutes] of [20, 40].entries()) {
    await waitFor(() => fake.calls.length === round + 2, { what: `query ${round + 1}` })
    const { ask, watch } = await looked(id)
    t.ok(Math.abs(fromNow(watch) - minutes * 60) <= 1, `next look in ${minutes} min`)
    t.equal(ask, null, 'the follow-up is not urgent')
    harness.forward((minutes * 60 + 1) * second)
  }
  t.ok(harness.lines.some((line) => line.includes(id) && line.includes('"finding":"unreachable"')))
  fake.before = undefined
  harness.forward(161 * 60 * second)
  await succeeded(id)
  await offTheList(id)
})

t.test('a provider that does not respond delays no other provider', async (t) => {
  const { fake, provider: silent } = fakeProvider(t)
  const { provider: quick } = fakeProvider(t)
  const silence = Promise.withResolvers<void>()
  await harness.startWorker(t, silent, quick)
  for (let n = 0; n < 20; n++) await harness.initiate(silent)
  const id = await harness.initiate(quick)
  fake.before = () => silence.promise
  harness.forward(31 * second)
  await created(id)
  await waitFor(() => fake.calls.length >= 8, { what: 'the concurrency limit to be reached' })
  t.equal(fake.calls.length, 8, 'the limit is not exceeded')
  fake.before = undefined
  silence.resolve()
  await waitFor(() => new Set(fake.calls.filter((call) => call.startsWith('create'))).size === 20, {
    what: 'the others',
  })
})

t.test('a follow-up of a disabled provider waits until the provider is enabled', async (t) => {
  const { provider } = fakeProvider(t)
  const without = await harness.startWorker(t)
  const id = await harness.initiate(provider)
  t.match(await entryOf(id), { finish: Date })
  harness.forward(31 * second)
  await without.stop()
  await harness.startWorker(t)
  t.ok(harness.lines.some((line) => line.includes(provider.id) && line.includes('disabled provider')))
  await harness.startWorker(t, provider)
  await created(id)
})

t.test('the provider is not queried about a payment that has ended, even if it is on the list', async (t) => {
  const { fake, provider } = fakeProvider(t)
  const id = await harness.open(provider)
  await harness.notify(id, { status: 'succeeded' })
  const worker = await harness.startWorker(t)
  t.equal(await entryOf(id), undefined)
  await worker.stop()
  await harness.pool.query(
    `insert into webhooks.follow_ups (subject, provider_id, payment_id, ask_at, pauses, correlation_id, event_id)
     values ($1, $2, $3, now(), 0, 'request-1', gen_random_uuid())`,
    [paymentStream(id), provider.id, id],
  )
  await harness.startWorker(t, provider)
  await offTheList(id)
  t.equal(fake.calls.length, 1)
})

t.test('a follow-up waits while the event store is down and is handled afterwards', async (t) => {
  const { fake, provider } = fakeProvider(t)
  await harness.startWorker(t, provider)
  const id = await harness.initiate(provider)
  await entryOf(id)
  await proxy.refuse()
  harness.forward(31 * second)
  await waitFor(() => harness.lines.some((line) => line.includes(id) && line.includes('a follow-up failed')), {
    what: 'a failure',
  })
  t.strictSame(fake.calls, [], 'no call is made while its result could not be recorded')
  await proxy.accept()
  harness.forward(60 * second)
  await created(id)
})
