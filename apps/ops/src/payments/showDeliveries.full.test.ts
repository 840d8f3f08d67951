// The webhooks of a payment in `payments show`, on a real log, database and worker.

import type { PaymentEvent } from '@paylog/domain/payments/events'
import type { ProviderNotificationEvent } from '@paylog/domain/providerEvents'
import { paymentStream, providerEventStream } from '@paylog/event-store/streamName'
import { startFakeEndpoint } from '@paylog/testing/fakeEndpoint'
import { waitFor } from '@paylog/testing/waitFor'
import { eventSamples } from '@paylog/webhooks/testing/paymentFixture'
import t from 'tap'
import { runOps } from '../testing/runOps.ts'
import { endpointVariables, webhooksHarness } from '../testing/webhooksHarness.ts'
import type { shownDelivery } from './paymentDeliveries.ts'

type Listed = ReturnType<typeof shownDelivery>

const harness = await webhooksHarness(t)
const { env, store } = harness
const working = await startFakeEndpoint(t)
const failing = await startFakeEndpoint(t, (response) => {
  response.statusCode = 500
  response.end()
})
await harness.startWorker({
  ...endpointVariables('1', working.url, { EVENT_MODE: 'both' }),
  ...endpointVariables('2', failing.url),
  ...endpointVariables('3', failing.url, { RETRY_SCHEDULE: '1h' }),
  EXTERNAL_WEBHOOK_URLS: working.url,
})

const noState = { initialState: undefined, evolve: () => undefined }

/** Appends events in one command. @returns the events of the stream */
async function append(
  stream: string,
  events: readonly (PaymentEvent | ProviderNotificationEvent)[],
  causationId: string,
) {
  const metadata = { correlationId: 'request-2', causationId, actor: 'provider:fake' }
  await store.handle({ stream, fold: noState, decide: () => events, metadata })
  return await store.readStream(stream)
}

/** A payment, and the fields of events about a notification that comes a second later. */
async function openPayment() {
  const [payment_id = ''] = await harness.pay(1)
  const opened = await store.readStream(paymentStream(payment_id))
  const occurred_at = new Date(Date.now() + 1_000).toISOString()
  return { id: payment_id, opened, facts: { payment_id, occurred_at, provider_event_id: `evt_${payment_id}` } }
}

/** A payment with a notification and what follows from it. */
async function notifiedPayment() {
  const { id, opened, facts } = await openPayment()
  const received = {
    type: 'ProviderNotificationReceived',
    data: { ...eventSamples.ProviderNotificationReceived, ...facts },
  } as const
  const succeeded = { type: 'PaymentSucceeded', data: { ...eventSamples.PaymentSucceeded, ...facts } } as const
  const events = await append(paymentStream(id), [received, succeeded], 'request-2')
  return { id, opened, events, facts }
}

const show = (...args: string[]) => runOps(['payments', 'show', ...args], env)
const deliveriesIn = (stdout: string): Listed[] => JSON.parse(stdout).deliveries

/** Waits until the worker has created these deliveries and attempted them. */
const attempted = (id: string, count: number) =>
  waitFor(
    async () => {
      const found = deliveriesIn((await show(id, '--json')).stdout)
      return found.length === count && found.every((one) => one.status === endOf[one.node]) && found
    },
    { what: `${count} attempted deliveries`, timeoutMs: 30_000 },
  )
const endOf: Readonly<Record<string, string>> = {
  1: 'succeeded',
  2: 'failed',
  3: 'pending',
  'legacy-1': 'succeeded',
}

/** The lines of the history, without ids of deliveries and times. */
const linesIn = (stdout: string) =>
  (stdout.split('\n\n')[1] ?? '')
    .split('\n')
    .slice(2)
    .map((line) =>
      line
        .replaceAll(/ {2,}/g, ' ')
        .replaceAll(/\d{4}-\d\d-\S+Z/g, 'T')
        .replace(/ [\da-f]{8}-[-\da-f]{27}$/, ' ID'),
    )

t.test('payments show prints the cause and the deliveries of each event, sent, failed and pending', async (t) => {
  const { id, opened, facts } = await notifiedPayment()
  const found = await attempted(id, 8)
  t.ok(found.every(({ attempts, node }) => attempts === (node === '2' ? 2 : 1)))
  const { code, stdout, stderr } = await show(id)
  t.same([code, stderr], [0, ''])
  const notification = `fake ${facts.provider_event_id} payment.succeeded`
  t.same(linesIn(stdout), [
    ' T PaymentInitiated pending anonymous',
    ' caused by request request-1',
    ' T ProviderIntentCreated pending anonymous',
    ' caused by PaymentInitiated ID',
    ' endpoint 1 payment.created canonical succeeded 1 attempt last T ID',
    ' endpoint 2 payment.created canonical failed 2 attempts last T ID',
    ' endpoint 3 payment.created canonical pending 1 attempt next T ID',
    ' T ProviderNotificationReceived pending provider:fake',
    ` ${notification}, caused by request request-2`,
    ' endpoint 1 fake:payment.succeeded raw succeeded 1 attempt last T ID',
    ' endpoint legacy-1 payment_intent.succeeded legacy succeeded 1 attempt last T ID',
    ' T PaymentSucceeded succeeded provider:fake',
    ` caused by ${notification}`,
    ' endpoint 1 payment.succeeded canonical succeeded 1 attempt last T ID',
    ' endpoint 2 payment.succeeded canonical failed 2 attempts last T ID',
    ' endpoint 3 payment.succeeded canonical pending 1 attempt next T ID',
  ])
  t.match(stdout, `caused by PaymentInitiated ${opened[0]?.id}\n`)
  for (const one of found) t.match(stdout, one.id)
})

t.test('payments show --json lists the deliveries with the events that they came from', async (t) => {
  const { id, events } = await notifiedPayment()
  const deliveries = await attempted(id, 8)
  const { stdout } = await show(id, '--json')
  t.same(Object.keys(JSON.parse(stdout)), ['payment', 'history', 'deliveries'])
  t.same(
    deliveries.map(({ revision, node, event }) => [revision, node, event]),
    [
      [1, '1', 'payment.created'],
      [1, '2', 'payment.created'],
      [1, '3', 'payment.created'],
      [2, '1', 'fake:payment.succeeded'],
      [2, 'legacy-1', 'payment_intent.succeeded'],
      [3, '1', 'payment.succeeded'],
      [3, '2', 'payment.succeeded'],
      [3, '3', 'payment.succeeded'],
    ],
  )
  for (const { event_id, revision, stream } of deliveries)
    t.same([event_id, stream], [events[revision]?.id, paymentStream(id)])
  const [sent] = working.received.filter((webhook) => webhook.id === deliveries[0]?.id)
  t.ok(sent, 'the id is the webhook-id')
  const pending = deliveries.find(({ node }) => node === '3')
  t.match(pending, { mode: 'canonical', attempts: 1, last_attempt_at: /Z$/, next_attempt_at: /Z$/ })
})

t.test('payments show --at shows only the deliveries of the events until then', async (t) => {
  const { id, opened } = await notifiedPayment()
  await attempted(id, 8)
  const last = opened.at(-1)
  if (last?.type !== 'ProviderIntentCreated') throw new Error('expected an intent')
  await waitFor(async () => (await show(id, '--at', '0s')).code === 0, { what: 'the time of the last event' })
  const { stdout } = await show(id, '--at', last.data.occurred_at, '--json')
  t.same(
    deliveriesIn(stdout).map(({ event_id, node }) => [event_id, node]),
    ['1', '2', '3'].map((node) => [last.id, node]),
  )
})

t.test('payments show includes the deliveries of a notification that was stored before it was applied', async (t) => {
  const { id, facts } = await openPayment()
  const { occurred_at, provider_event_id } = facts
  const stream = providerEventStream('fake', provider_event_id)
  const data = { ...eventSamples.ProviderEventReceived, provider_event_id }
  const [received] = await append(stream, [{ type: 'ProviderEventReceived', data }], 'request-2')
  const succeeded = { ...eventSamples.PaymentSucceeded, ...facts }
  const events = await append(paymentStream(id), [{ type: 'PaymentSucceeded', data: succeeded }], received?.id ?? '')
  const applied = { ...eventSamples.ProviderEventApplied, payment_id: id, provider_event_id, occurred_at }
  await append(stream, [{ type: 'ProviderEventApplied', data: applied }], received?.id ?? '')
  const found = await attempted(id, 8)
  t.same(
    found.filter((one) => one.stream === stream).map(({ revision, mode }) => [revision, mode]),
    [
      [0, 'raw'],
      [1, 'legacy'],
    ],
  )
  t.equal(events.length, 3)
  const { stdout } = await show(id)
  t.same(linesIn(stdout).slice(-7), [
    ' T PaymentSucceeded succeeded provider:fake',
    ` caused by fake ${provider_event_id}, request request-2`,
    ' endpoint 1 payment.succeeded canonical succeeded 1 attempt last T ID',
    ' endpoint 2 payment.succeeded canonical failed 2 attempts last T ID',
    ' endpoint 3 payment.succeeded canonical pending 1 attempt next T ID',
    ' endpoint 1 fake:payment_intent.succeeded raw succeeded 1 attempt last T ID',
    ' endpoint legacy-1 payment_intent.succeeded legacy succeeded 1 attempt last T ID',
  ])
})

t.test('payments show without Postgres shows the payment, and says why not its deliveries', async (t) => {
  const { id } = await notifiedPayment()
  const { DATABASE_URL, ...withoutDatabase } = env
  const unreachable = { ...env, DATABASE_URL: 'postgres://127.0.0.1:1/x' }
  const unmigrated = { ...env, DATABASE_URL: Object.assign(new URL(DATABASE_URL), { pathname: '/postgres' }).href }
  const reasons: [Record<string, string>, string][] = [
    [withoutDatabase, 'Bad configuration: DATABASE_URL is required'],
    [unreachable, 'Postgres cannot be reached: connect ECONNREFUSED 127.0.0.1:1'],
    [unmigrated, 'the tables of this database do not match this version: '],
  ]
  for (const [environment, reason] of reasons) {
    const problem = `The deliveries cannot be shown: ${reason}`
    const text = await runOps(['payments', 'show', id], environment)
    t.same([text.code, text.stderr], [0, ''])
    t.same(text.stdout.split('\n').filter((line) => line.startsWith(problem)).length, 1, reason)
    t.match(text.stdout, /^ {2}status {19}succeeded$/m)
    const json = await runOps(['payments', 'show', id, '--json'], environment)
    t.match(JSON.parse(json.stdout), { payment: { id }, deliveries: null })
    t.ok(json.code === 0 && json.stderr.startsWith(problem))
    t.match(json.stderr.trimEnd().split('\n')[1], `Personal data cannot be shown: ${reason}`)
  }
})
