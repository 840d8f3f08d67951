// The admin routes of payments and their history.
import { randomUUID } from 'node:crypto'
import type { PaymentEvent } from '@paylog/domain/payments/events'
import { at, eventsAfter, fold, notifies } from '@paylog/domain/payments/testing/paymentFixture'
import { paymentStream } from '@paylog/event-store/streamName'
import t from 'tap'
import { ada, adaId, admin } from '../testing/commandApiHarness.ts'
import { paymentHistoryHarness } from '../testing/paymentHistoryHarness.ts'

const harness = await paymentHistoryHarness(t)
const { store, send, payment, history, record } = harness
const intent = {
  total_cents: 2599,
  currency: 'EUR',
  provider_id: 'sandbox',
  concept: 'Order 1001',
  metadata: { order: 1 },
}

t.test(
  'an administrator sees any payment like its owner, with what needs attention, and its history with actors [10.2-history]',
  async (t) => {
    const opened = await send<{ id: string }>('POST', '/payments/intents', ada, intent)
    const { id } = opened.data
    const shown = await payment(id)
    t.same(shown.data, { ...opened.data, attention: [] })
    t.equal(shown.headers.etag, opened.headers.etag)
    const { status, data, headers } = await history(id)
    t.equal(status, 200)
    t.notOk('etag' in headers)
    const recorded = await store.readStream(paymentStream(id))
    const request = opened.headers['x-request-id']
    t.same(
      data,
      recorded.map(({ type, position, data }, revision, [initiated]) => ({
        position: String(position.commit),
        revision,
        type,
        occurred_at: data && 'occurred_at' in data && data.occurred_at,
        actor: `session:${adaId}`,
        correlation_id: request,
        causation_id: revision === 0 ? request : initiated?.id,
        status_after: 'pending',
        data,
      })),
    )
    t.same(
      data.map(({ type }) => type),
      ['PaymentInitiated', 'ProviderIntentCreated'],
    )
    t.same(Object.keys(data[0] ?? {}), [
      'position',
      'revision',
      'type',
      'occurred_at',
      'actor',
      'correlation_id',
      'causation_id',
      'status_after',
      'data',
    ])
    t.equal(data.at(-1)?.position, opened.headers['x-event-position'], 'the X-Event-Position of the write')
  },
)

t.test('an invalid as_of is rejected by name before the payment is looked up', async (t) => {
  const { id } = await record(eventsAfter('succeeded'))
  const times = [
    '',
    'soon',
    '2026-03-01',
    '2026-03-01T10:00:00',
    '2026-02-30T10:00:00Z',
    '1767225600',
    '24h',
    '2016-12-31T23:59:60Z',
    '2026-03-01T10:00:00+01:00',
    '%00',
    '2026-03-01T10:00:00Z&as_of=2026-03-01T10:00:00Z',
  ]
  for (const time of times)
    for (const path of [id, randomUUID(), 'no-id'])
      t.match(
        await payment(path, `?as_of=${time}`),
        {
          status: 400,
          error: { code: 'invalid_request', details: { fields: [{ field: 'as_of', message: /^must be/ }] } },
        },
        `${path} ${time}`,
      )
  t.equal((await payment(id, '?as_of=9999-12-31T23:59:59%2B23:59')).status, 200, 'any offset')
  for (const read of [
    payment(id, '', { ...admin, 'x-read-after': 'soon' }),
    history(id, { ...admin, 'x-read-after': '-1' }),
  ])
    t.match(await read, { status: 400, error: { details: { fields: [{ field: 'x-read-after' }] } } })
})

t.test('a malformed payment id and an unknown one give the same 404', async (t) => {
  const errors = new Set<string>()
  for (const id of [randomUUID(), 'no-id', `${randomUUID()}x`, `payment-${randomUUID()}`])
    for (const { status, error } of [
      await payment(id),
      await payment(id, '?as_of=2026-03-01T10:00:00Z'),
      await history(id),
    ])
      errors.add(`${status} ${error?.code} ${error?.message}`)
  t.same([...errors], ['404 not_found No payment with this id'])
})

t.test('an unreadable event makes the payment and its history 500', async (t) => {
  const { id } = await record(eventsAfter('succeeded'))
  const data = { payment_id: id, occurred_at: at(99) }
  const metadata = { $correlationId: 'c', $causationId: 'k', actor: 'worker', schema: 1 }
  await store.client.appendToStream(paymentStream(id), {
    id: randomUUID(),
    contentType: 'application/json',
    type: 'PaymentVanished',
    data,
    metadata,
  })
  for (const response of [await payment(id), await history(id)]) {
    t.match(response, { status: 500, error: { code: 'internal_error' } })
    t.notMatch(response.text, /PaymentVanished/)
  }
  t.match(harness.logged.join(''), /PaymentVanished.* has an unknown type/, 'the log line names the type')
})

const length = 2_000
/** About a second each when idle, and less than half of the request timeout on a loaded machine. */
const boundMs = 20_000

t.test(`a history of ${length} events is returned completely and in time, also concurrently`, async (t) => {
  const settled = eventsAfter('succeeded')
  const [late] = notifies('failed', 100)(fold(settled))
  if (late?.type !== 'ProviderEventIgnored') throw new Error('expected ProviderEventIgnored')
  const ignored = Array.from(
    { length: length - settled.length },
    (_, n): PaymentEvent => ({
      ...late,
      data: { ...late.data, occurred_at: at(200 + n), provider_event_id: `evt_late_${n}` },
    }),
  )
  const { id } = await record([...settled, ...ignored])
  const timed = async <Response>(request: () => Promise<Response>) => {
    const startedAt = performance.now()
    const response = await request()
    const ms = Math.round(performance.now() - startedAt)
    t.ok(ms < boundMs, `${ms} ms`)
    return response
  }
  const { data, text } = await timed(() => history(id))
  t.same([data.length, data.at(-1)?.revision, data.at(-1)?.status_after], [length, length - 1, 'succeeded'])
  t.comment(`${text.length} bytes`)
  t.match(await timed(() => payment(id)), { status: 200, headers: { etag: `"${length - 1}"` } })
  const half = await timed(() => payment(id, `?as_of=${at(200 + length / 2)}`))
  t.match(half, { status: 200, headers: { etag: `"${settled.length + length / 2}"` }, data: { status: 'succeeded' } })
  const together = await timed(() => Promise.all([history(id), history(id), history(id), payment(id)]))
  t.same(new Set(together.map(({ status }) => status)), new Set([200]))
})
