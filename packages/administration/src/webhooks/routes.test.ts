// The lists of endpoints and deliveries, and one delivery, on given rows.
import { randomUUID } from 'node:crypto'
import type { PaymentEvent } from '@paylog/domain/payments/events'
import { paymentFold } from '@paylog/domain/payments/fold'
import { eventsAfter } from '@paylog/domain/payments/testing/paymentFixture'
import { paymentStream, providerEventStream } from '@paylog/event-store/streamName'
import { emptyDeliveries } from '@paylog/webhooks/deliveries/tables/erasure'
import { decodeEndpoints } from '@paylog/webhooks/endpoints/endpoints'
import t from 'tap'
import { operatorHarness } from '../testing/operatorHarness.ts'

const now = new Date()
const secondsAgo = (seconds: number) => new Date(now.getTime() - seconds * 1_000)
const id = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`

const { endpoints } = decodeEndpoints({
  WEBHOOK_1_ENABLED: 'true',
  WEBHOOK_1_URL: 'https://shop.example.com/hooks/k3yk3yk3yk3y?token=secret',
  WEBHOOK_1_NAME: 'Shop',
  WEBHOOK_1_RETRY_SCHEDULE: '500ms,1m',
  WEBHOOK_1_EVENTS: 'payment.*',
  WEBHOOK_2_ENABLED: 'true',
  WEBHOOK_2_URL: 'https://hooks.slack.com/services/T0/B0/secret',
  WEBHOOK_4_ENABLED: 'true',
  WEBHOOK_4_URL: 'https://new.example.com/',
})
const { pool, store, get, post } = await operatorHarness(t, { endpoints, now: () => now })

/** When a delivery with this number is created. */
const createdAt = (number: number) => secondsAgo(1_000 - 10 * Math.floor(number / 2)).toISOString()

type Facts = {
  readonly node?: string
  readonly event?: string
  readonly stream?: string
  readonly error?: string | null
  readonly isTest?: boolean
  readonly attempts?: readonly (readonly [number, number, number | null, string | null, string | null])[]
  readonly age?: number
}

/** Inserts a delivery. Those with a higher number are newer, two by two in the same moment. */
async function insert(number: number, status: 'pending' | 'succeeded' | 'failed', facts: Facts = {}): Promise<void> {
  const { node = '1', event = 'payment.succeeded', stream = 'payment-1', isTest = false, attempts = [] } = facts
  const { error = status === 'failed' ? 'timeout' : null, age = 1_000 - 10 * Math.floor(number / 2) } = facts
  const [table, time] = status === 'pending' ? ['deliveries', 'next_attempt_at'] : ['finished_deliveries', 'ended_at']
  await pool.query(
    `insert into webhooks.${table} (id, node, event, mode, provider, body, source_stream, source_revision, source_event_id,
       correlation_id, causation_id, attempts, attempts_made, last_error, last_http_status, last_attempt_at, ${time},
       created_at, is_test)
     values ($1, $2, $3, 'canonical', 'sandbox', $4, $5, 7, $1, 'correlation', 'causation', $6, $7, $8, $9, $10, $10, $11, $12)`,
    [id(number), node, event, `{"number":${number}, "exact":12345678901234567890}`, stream, attempts.length]
      .concat([JSON.stringify(attempts), error, attempts.at(-1)?.[2] ?? null] as never[])
      .concat([facts.age === undefined ? now : secondsAgo(age), secondsAgo(age), isTest] as never[]),
  )
}

const at = now.getTime() - 5_000
const made = (ms: number) => [[at, ms, 200, null, 'ok']] as const
await insert(1, 'succeeded', { attempts: made(10) })
await insert(2, 'failed', {
  attempts: [
    [at, 30, 500, 'unexpected_status', 'out of order'],
    [at + 100, 90, null, 'timeout', null],
  ],
})
await insert(3, 'pending')
await insert(4, 'pending', { attempts: [[at, 5, 503, 'unexpected_status', '']], error: 'unexpected_status' })
await insert(5, 'pending', { node: '2', attempts: [[at, 5, 410, 'gone', '']], error: 'gone' })
await insert(6, 'succeeded', { node: '2', event: 'payment.created', attempts: made(20) })
await insert(7, 'pending', { node: '3', event: 'payment.created' })
await insert(8, 'succeeded', { isTest: true, attempts: made(40) })
await insert(9, 'pending', { isTest: true, node: '2' })
await pool.query(
  `insert into webhooks.nodes (name, is_configured, disabled_at) values ('1', true, null), ('2', true, $1), ('3', false, null)`,
  [secondsAgo(60)],
)

type Listed = { readonly id: string; readonly status: string }
async function list(
  query = '',
): Promise<{ status: number; numbers: number[]; data: Listed[]; meta: { next_cursor: string | null } }> {
  const response = await get(`/admin/webhook-deliveries${query}`)
  const { data, meta } = response.json()
  return {
    status: response.statusCode,
    data,
    meta,
    numbers: (data ?? []).map((each: Listed) => Number(each.id.slice(-4))),
  }
}

const filters: Readonly<Record<string, readonly number[]>> = {
  '': [9, 8, 7, 6, 5, 4, 3, 2, 1],
  '?status=pending': [7, 4, 3],
  '?status=held': [9, 5],
  '?status=succeeded': [8, 6, 1],
  '?status=failed': [2],
  '?endpoint=1': [8, 4, 3, 2, 1],
  '?endpoint=2': [9, 6, 5],
  '?endpoint=2&status=pending': [],
  '?endpoint=2&status=held': [9, 5],
  '?endpoint=unknown': [],
  '?event=payment.created': [7, 6],
  '?event=payment': [],
  '?test=true': [9, 8],
  '?test=false': [7, 6, 5, 4, 3, 2, 1],
  '?test=true&endpoint=1&status=succeeded': [8],
  // Neither bound is included.
  [`?created_at_from=${createdAt(4)}`]: [9, 8, 7, 6],
  [`?created_at_to=${createdAt(6)}`]: [5, 4, 3, 2, 1],
  [`?created_at_from=${createdAt(1)}&created_at_to=${createdAt(6)}&status=pending`]: [4, 3],
  '?payment_id=no-id': [],
  [`?payment_id=${randomUUID()}`]: [],
}

t.test('every filter of the deliveries selects the matching ones, newest first', async (t) => {
  for (const [query, expected] of Object.entries(filters)) {
    const { status, numbers, meta } = await list(query)
    t.same([status, numbers], [200, expected], query)
    t.equal(meta.next_cursor, null)
  }
})

t.test('the pages of the deliveries have each of them once, in any page size', async (t) => {
  for (const filter of ['', 'status=pending&', 'endpoint=1&', 'test=false&'])
    for (const limit of [1, 2, 3]) {
      const found: number[] = []
      for (let cursor: string | null = '', pages = 0; cursor !== null && pages < 20; pages++) {
        const page: Awaited<ReturnType<typeof list>> = await list(
          `?${filter}limit=${limit}${cursor === '' ? '' : `&cursor=${cursor}`}`,
        )
        found.push(...page.numbers)
        cursor = page.meta.next_cursor
      }
      t.same(found, (await list(`?${filter}`)).numbers, `${filter} ${limit}`)
    }
})

t.test('a cursor of the deliveries belongs to its filters', async (t) => {
  const { meta } = await list('?limit=2&test=false')
  t.ok(meta.next_cursor)
  const others = ['', '&test=true', '&test=false&endpoint=1', '&test=false&status=pending']
  for (const query of [...others, `&test=false&created_at_to=${now.toISOString()}`])
    t.equal((await get(`/admin/webhook-deliveries?limit=2${query}&cursor=${meta.next_cursor}`)).statusCode, 400, query)
  t.same((await list(`?limit=5&test=false&cursor=${meta.next_cursor}`)).numbers, [5, 4, 3, 2, 1], 'another limit')
})

t.test('a delivery older than the newest partitions is listed after the others, and found by a cursor', async (t) => {
  const days = 20
  await pool.query(`select webhooks.create_partitions(current_date - ${days + 1}, current_date)`)
  await insert(11, 'succeeded', { event: 'old', age: days * 86_400 })
  t.same((await list()).numbers, [9, 8, 7, 6, 5, 4, 3, 2, 1, 11])
  const { meta } = await list('?limit=9')
  t.same((await list(`?limit=9&cursor=${meta.next_cursor}`)).numbers, [11])
  const aDay = (ago: number) => secondsAgo(ago * 86_400).toISOString()
  t.same((await list(`?created_at_from=${aDay(days + 1)}&created_at_to=${aDay(days - 1)}`)).numbers, [11])
  t.same((await list(`?created_at_to=${aDay(days - 1)}`)).numbers, [11])
  await pool.query('delete from webhooks.finished_deliveries where id = $1', [id(11)])
})

t.test('payment_id finds the deliveries of a payment and of notifications that were stored on their own', async (t) => {
  const payment = randomUUID()
  const events = eventsAfter('succeeded').map(
    (event) => ({ ...event, data: { ...event.data, payment_id: payment } }) as PaymentEvent,
  )
  const notified = events.flatMap(({ data }) => ('provider_event_id' in data ? [data] : [])).at(0)
  if (typeof notified?.provider_event_id !== 'string') throw new Error('no event of a notification')
  const metadata = { correlationId: 'c', causationId: 'c', actor: 'provider:sandbox' }
  await store.handle({ stream: paymentStream(payment), fold: paymentFold, decide: () => events, metadata })
  const stored = providerEventStream(notified.provider_id, notified.provider_event_id)
  t.notSame(stored, paymentStream(payment))
  await insert(21, 'failed', { stream: paymentStream(payment), attempts: made(1) })
  await insert(22, 'pending', { stream: stored, node: '2' })
  await insert(23, 'succeeded', { stream: 'payment-other' })
  t.same((await list(`?payment_id=${payment.toUpperCase()}`)).numbers, [22, 21])
  t.same((await list(`?payment_id=${payment}&status=failed`)).numbers, [21])
  const { meta } = await list(`?payment_id=${payment}&limit=1`)
  t.same((await list(`?payment_id=${payment}&limit=1&cursor=${meta.next_cursor}`)).numbers, [21])
  for (const table of ['deliveries', 'finished_deliveries'])
    await pool.query(`delete from webhooks.${table} where id = any($1)`, [[21, 22, 23].map(id)])
})

t.test('one delivery has its request and every try, and the list shows the same facts', async (t) => {
  const response = await get(`/admin/webhook-deliveries/${id(2).toUpperCase()}`)
  const { data } = response.json()
  const { url, headers, payload, tries, ...listed } = data
  t.same(
    listed,
    (await list()).data.find((each) => each.id === id(2)),
  )
  t.same(listed, {
    id: id(2),
    endpoint: '1',
    event: 'payment.succeeded',
    mode: 'canonical',
    provider: 'sandbox',
    status: 'failed',
    is_test: false,
    attempts: 2,
    last_http_status: null,
    last_error: 'timeout',
    last_attempt_at: now.toISOString(),
    next_attempt_at: null,
    created_at: secondsAgo(990).toISOString(),
    ended_at: now.toISOString(),
    source: {
      stream: 'payment-1',
      revision: 7,
      event_id: id(2),
      causation_id: 'causation',
      correlation_id: 'correlation',
    },
  })
  t.equal(url, 'https://shop.example.com/hooks/…')
  t.same(headers, {
    'content-type': 'application/json',
    'user-agent': 'paylog-webhooks/1',
    'webhook-id': id(2),
    'webhook-sequence': '7',
  })
  t.equal(payload, '{"number":2, "exact":12345678901234567890}')
  t.same(tries, [
    { at: new Date(at).toISOString(), ms: 30, http_status: 500, error: 'unexpected_status', response: 'out of order' },
    { at: new Date(at + 100).toISOString(), ms: 90, http_status: null, error: 'timeout', response: null },
  ])
  for (const [number, more] of [
    [8, { is_test: true, headers: { 'webhook-test': 'true' } }],
    [5, { status: 'held', next_attempt_at: null, url: 'https://hooks.slack.com/…' }],
    [7, { status: 'pending', next_attempt_at: null, url: null }],
    [3, { status: 'pending', next_attempt_at: now.toISOString(), tries: [] }],
  ] as const)
    t.match((await get(`/admin/webhook-deliveries/${id(number)}`)).json().data, more, `${number}`)
})

t.test('the endpoints have their configuration without secrets, their backlog and recent figures', async (t) => {
  const response = await get('/admin/webhook-endpoints')
  t.notMatch(response.body, /secret|k3yk3y/)
  const idle = {
    ...{ is_configured: false, disabled_at: null, pending: 0, failed: 0, oldest_pending_at: null, recent: null },
    ...{ last_success_at: null, last_failure: null },
  }
  const usual = { name: null, retry_schedule: [5, 10, 20], timeout_ms: 10_000 }
  t.same(response.json().data, [
    {
      ...{ endpoint: '1', name: 'Shop', retry_schedule: [0.5, 60], timeout_ms: 10_000 },
      url: 'https://shop.example.com/hooks/…',
      events: ['payment.*'],
      mode: 'canonical',
      format: 'json',
      is_configured: true,
      disabled_at: null,
      pending: 2,
      failed: 1,
      oldest_pending_at: secondsAgo(990).toISOString(),
      last_success_at: now.toISOString(),
      last_failure: { at: now.toISOString(), http_status: null, error: 'timeout' },
      recent: { deliveries: 3, succeeded: 2, p50_ms: 40, p95_ms: 90 },
    },
    {
      ...{ endpoint: '2', ...usual },
      url: 'https://hooks.slack.com/…',
      events: ['all'],
      mode: 'canonical',
      format: 'slack',
      is_configured: true,
      disabled_at: secondsAgo(60).toISOString(),
      pending: 2,
      failed: 0,
      oldest_pending_at: secondsAgo(980).toISOString(),
      last_success_at: now.toISOString(),
      last_failure: { at: now.toISOString(), http_status: 410, error: 'gone' },
      recent: { deliveries: 1, succeeded: 1, p50_ms: 20, p95_ms: 20 },
    },
    {
      endpoint: '3',
      ...{ name: null, url: null, events: null, mode: null, format: null, retry_schedule: null, timeout_ms: null },
      ...idle,
      pending: 1,
      oldest_pending_at: secondsAgo(970).toISOString(),
    },
    {
      ...{ endpoint: '4', url: 'https://new.example.com/', events: ['all'], mode: 'canonical', format: 'json' },
      ...{ ...usual, ...idle },
    },
  ])
})

t.test('the statistics of an endpoint count its deliveries where they were created, by their status', async (t) => {
  const statistics = async (endpoint: string, query: string) => {
    const { data, error } = (await get(`/admin/webhook-endpoints/${endpoint}/statistics?${query}`)).json()
    return error?.details?.fields?.[0]?.field ?? error?.code ?? data
  }
  const hourMs = 3_600_000
  const [from, to] = [now.getTime() - 3 * hourMs, now.getTime()].map((ms) => new Date(ms).toISOString())
  const hours = await statistics('1', `from=${from}&to=${to}&interval=hour`)
  t.equal(hours[0].from, from, 'the first one begins with the period')
  t.equal(hours.at(-1).to, to, 'and the last one ends with it')
  for (const [at, hour] of hours.entries())
    if (at > 0) t.same([hour.from, Date.parse(hour.from) % hourMs], [hours[at - 1].to, 0])
  const sum = (name: string) => hours.reduce((all: number, hour: Record<string, number>) => all + (hour[name] ?? 0), 0)
  t.same(['succeeded', 'failed', 'pending'].map(sum), [2, 1, 2])
  t.match(await statistics('1', `from=${createdAt(2)}&to=${createdAt(4)}`), [{ succeeded: 0, failed: 1, pending: 1 }])
  t.match(await statistics('4', `from=${from}&to=${to}`), [{ succeeded: 0, failed: 0, pending: 0 }])
  t.equal(await statistics('9', `from=${from}&to=${to}`), 'not_found')
  t.equal(await statistics('1', `from=${to}&to=${from}`), 'to')
  t.equal(await statistics('1', 'from=2026-01-01T00:00:00Z&to=2026-01-05T04:00:00.001Z&interval=hour'), 'to')
  t.equal((await statistics('1', 'from=2026-01-01T00:00:00Z&to=2026-01-05T04:00:00Z&interval=hour')).length, 100)
})

t.test('an unknown delivery or endpoint is 404, and an invalid request 400', async (t) => {
  t.equal((await get(`/admin/webhook-deliveries/${id(99)}`)).statusCode, 404)
  // It still has deliveries, but this process cannot make them.
  t.equal((await post('/admin/webhook-endpoints/3/backfill')).statusCode, 404)
  for (const query of [
    'status=done',
    'test=1',
    'limit=0',
    'limit=101',
    'cursor=x',
    'endpoint=',
    'event=%00',
    'created_at_to=now',
  ])
    t.equal((await get(`/admin/webhook-deliveries?${query}`)).statusCode, 400, query)
  for (const [action, body] of [
    ['redeliver', { since: 'yesterday' }],
    ['redeliver', { since: '2016-12-31T23:59:60Z' }],
    ['redeliver', { dry_run: 'yes' }],
    ['redeliver', { dryRun: true }],
    ['backfill', { dryRun: true }],
    ['enable', { dry_run: true }],
    ['backfill', { from: 0 }],
    ['backfill', { from: '-1' }],
    ['backfill', { from: '99999999999999999999' }],
  ] as const)
    t.match(
      (await post(`/admin/webhook-endpoints/1/${action}`, body)).json(),
      { error: { code: 'invalid_request', details: { fields: [{ field: Object.keys(body)[0] }] } } },
      JSON.stringify(body),
    )
})

t.test('an erased delivery has no payload and no responses, and can be redelivered', async (t) => {
  await insert(20, 'succeeded', { attempts: made(10) })
  const key = id(99)
  await pool.query('update webhooks.finished_deliveries set key_ids = $1 where id = $2', [[key], id(20)])
  t.equal(await emptyDeliveries(pool, [key]), 1)
  const erased = { payload: null, tries: [{ http_status: 200, error: null, response: null }] }
  t.match((await get(`/admin/webhook-deliveries/${id(20)}`)).json().data, { ...erased, status: 'succeeded' })
  const redelivered = await post(`/admin/webhook-deliveries/${id(20)}/redeliver`)
  t.match(redelivered.json().data, { ...erased, status: 'pending' })
})
