import { randomUUID } from 'node:crypto'
import { WebhookLogEntry } from '@paylog/domain/webhookLog'
import { emptyDeliveries } from '@paylog/webhooks/deliveries/tables/erasure'
import t from 'tap'
import { Compile } from 'typebox/compile'
import { ada, asAda, asAdmin, asGrace, asGuest, grace } from '../testing/queryApiHarness.ts'
import { failed, webhookLogHarness } from '../testing/webhookLogHarness.ts'

const idsOf = (entries: readonly { id: string }[]) => entries.map(({ id }) => id)

t.test(
  'a log entry has every field of the interface, its attempts and its source [2.6-fields 4.11-array]',
  async (t) => {
    const { send, get } = await webhookLogHarness(t)
    const body = '{"event":"payment.succeeded","provider":"sandbox","data":{"amount":1}}'
    const source = { source_stream: 'payment-1', source_revision: 7n, source_event_id: randomUUID() }
    const id = await send(
      {
        ...source,
        endpoint: 'legacy-1',
        body,
        user_id: ada.payer.id,
        correlation_id: 'request1',
        causation_id: 'cause1',
      },
      [
        { ...failed, at: new Date('2026-03-01T10:00:00.120Z') },
        { error: 'timeout', httpStatus: null, responseBody: null, at: new Date('2026-03-01T10:00:05.000Z') },
        { httpStatus: 200, responseBody: 'thanks', at: new Date('2026-03-01T10:00:15.000Z') },
      ],
    )
    const response = await get(`/webhooks/logs/${id}`)
    t.equal(response.statusCode, 200)
    t.equal(response.headers['content-type'], 'application/json; charset=utf-8')
    t.equal(response.headers.etag, '"3"')
    const entry = {
      id,
      provider: 'sandbox',
      event_type: 'payment.succeeded',
      status: 'success',
      response: {
        node: 'legacy-1',
        test: false,
        requested_by: null,
        http_status: 200,
        error: null,
        body: 'thanks',
        attempts: [
          { at: '2026-03-01T10:00:00.120Z', ms: 12, http_status: 500, error: 'http_status' },
          { at: '2026-03-01T10:00:05.000Z', ms: 12, http_status: null, error: 'timeout' },
          { at: '2026-03-01T10:00:15.000Z', ms: 12, http_status: 200, error: null },
        ],
        next_attempt_at: null,
        causation: {
          stream: 'payment-1',
          revision: 7,
          event_id: source.source_event_id,
          causation_id: 'cause1',
          correlation_id: 'request1',
        },
      },
      created_at: '2026-03-01T10:00:00.000Z',
      payload: JSON.parse(body),
    }
    t.same(response.json(), { success: true, data: entry })
    t.same(Compile(WebhookLogEntry).Errors(response.json().data), [])
    t.same(Object.keys(response.json().data).sort(), Object.keys(WebhookLogEntry.properties).sort())
    t.same((await get('/webhooks/logs')).json(), [entry], 'the list is an array of entries')
    t.equal((await get(`/webhooks/logs/${id.toUpperCase()}`)).statusCode, 200, 'ids are case-insensitive')
  },
)

t.test('a log entry appears with the first attempt, with the status of the last attempt [3-log-status]', async (t) => {
  const { record, attempt, redeliver, get, pool } = await webhookLogHarness(t)
  const [id = ''] = await record([{ user_id: ada.payer.id }])
  const shown = async () => {
    const single = await get(`/webhooks/logs/${id}`)
    const list: object[] = (await get('/webhooks/logs')).json()
    t.same(list, single.statusCode === 404 ? [] : [single.json().data], 'list and entry are equal')
    const { status, response } = single.json().data ?? {}
    return [single.statusCode, status, response?.error, response?.attempts.length, response?.next_attempt_at]
  }
  t.same((await shown())[0], 404, 'not before')
  const next = new Date('2026-03-01T10:00:05.000Z')
  await attempt(id, [{ ...failed, next }])
  t.same(await shown(), [200, 'failed', 'http_status', 1, next.toISOString()], 'failed, with a retry')
  await attempt(id, [{ error: 'gone', httpStatus: 410, pausesEndpoint: true }], 1)
  t.same(await shown(), [200, 'failed', 'gone', 2, null], 'held by a paused endpoint')
  await pool.query('update webhooks.deliveries set next_attempt_at = $1', [next])
  t.same((await shown())[4], null, 'a held delivery has no next attempt')
  await pool.query(`update webhooks.nodes set disabled_at = null`)
  t.same((await shown())[4], next.toISOString(), 'enabling the endpoint restores the next attempt')
  await pool.query(`update webhooks.nodes set is_configured = false`)
  t.same((await shown())[4], null, 'an endpoint that is not configured has no next attempt')
  await pool.query(`update webhooks.nodes set is_configured = true`)
  await attempt(id, [{}], 2)
  t.same(await shown(), [200, 'success', null, 3, null], 'succeeded')
  await redeliver(id)
  t.same(await shown(), [200, 'success', null, 3, '2026-03-01T10:01:00.000Z'], 'redelivered')
  await attempt(id, [failed, failed], 3)
  t.same(await shown(), [200, 'failed', 'http_status', 5, null], 'the redelivery failed')
})

t.test('users see their own log entries, administrators all, and others none [4.11-own]', async (t) => {
  const { send, get } = await webhookLogHarness(t)
  const ofAda = await send({ user_id: ada.payer.id })
  const ofGrace = await send({ user_id: grace.payer.id }, [failed])
  const withoutOwner = await send()
  const unknown = randomUUID()
  const lists = [
    [asAda, [ofAda]],
    [asGrace, [ofGrace]],
    [asAdmin, [withoutOwner, ofGrace, ofAda]],
  ] as const
  for (const [headers, own] of lists) {
    t.same(idsOf((await get('/webhooks/logs', headers)).json()), own)
    for (const id of [ofAda, ofGrace, withoutOwner, unknown]) {
      const isOwn = own.some((one) => one === id)
      t.equal((await get(`/webhooks/logs/${id}`, headers)).statusCode, isOwn ? 200 : 404)
    }
  }
  for (const url of ['/webhooks/logs', '/webhooks/logs?limit=bad', `/webhooks/logs/${ofAda}`]) {
    t.equal((await get(url, asGuest)).statusCode, 403, 'guests')
    t.equal((await get(`${url}${url.includes('?') ? '&' : '?'}token=demo-guest-token`, {})).statusCode, 403)
    t.equal((await get(url, {})).statusCode, 401, 'anonymous')
    t.equal((await get(url, { 'x-session-id': 'no-such-session' })).statusCode, 401)
  }
})

t.test('a log entry of a webhook test is marked and names the requesting session', async (t) => {
  const { send, get } = await webhookLogHarness(t)
  const requested = { is_test: true, payment_id: null, source_stream: 'webhookTest-1', user_id: ada.payer.id }
  const [test, real] = [await send(requested), await send({ user_id: ada.payer.id })]
  for (const as of [asAda, asAdmin]) {
    const responseOf = async (id: string) => (await get(`/webhooks/logs/${id}`, as)).json().data.response
    t.match(await responseOf(test), { test: true, requested_by: ada.payer.id, causation: { stream: 'webhookTest-1' } })
    t.match(await responseOf(real), { test: false, requested_by: null })
  }
})

t.test('GET /webhooks/logs applies every parameter, newest first [4.11-filters]', async (t) => {
  const { send, record, attempt, get } = await webhookLogHarness(t)
  const named = new Map<string, string>()
  named.set(await send({ provider: 'stripe', event: 'stripe:charge.succeeded' }), 'a')
  named.set(await send({ provider: 'stripe' }, [failed]), 'b')
  named.set(await send({ provider: 'paypal' }, [failed, {}]), 'c')
  named.set(await send({ provider: 'paypal', event: 'payment.failed' }, [{ ...failed, next: new Date() }]), 'd')
  await record([{ provider: 'stripe' }])
  const [late = ''] = await record([{ provider: 'sandbox' }])
  await attempt(late, [{}])
  named.set(late, 'e')
  const expected: [string, string][] = [
    ['', 'edcba'],
    ['status=success', 'eca'],
    ['status=failed', 'db'],
    ['provider=stripe', 'ba'],
    ['provider=Stripe', ''],
    ['provider=nobody', ''],
    ['event_type=payment.succeeded', 'ecb'],
    ['event_type=stripe:charge.succeeded', 'a'],
    ['event_type=payment.*', ''],
    ['event_type=payment', ''],
    ['provider=stripe&event_type=payment.succeeded', 'b'],
    ['provider=stripe&status=success', 'a'],
    ['event_type=payment.succeeded&status=success', 'ec'],
    ['provider=paypal&event_type=payment.succeeded&status=success', 'c'],
    ['provider=paypal&event_type=payment.succeeded&status=failed', ''],
    ['limit=1', 'e'],
    ['limit=2&offset=1', 'dc'],
    ['limit=2&offset=4', 'a'],
    ['offset=5', ''],
    ['limit=1000&offset=2147483647', ''],
    ['status=failed&limit=1&offset=1', 'b'],
    [`event_type=${'x'.repeat(300)}`, ''],
    ["event_type='%20or%20true--", ''],
    ['unknown=1&page=2&orderDir=asc', 'edcba'],
  ]
  for (const [query, names] of expected) {
    const response = await get(`/webhooks/logs?${query}`, asAdmin)
    t.equal(response.statusCode, 200, query)
    t.equal(
      idsOf(response.json())
        .map((id) => named.get(id))
        .join(''),
      names,
      query,
    )
  }
})

t.test('webhook log reads validate X-Read-After as other reads do', async (t) => {
  const { get } = await webhookLogHarness(t)
  const odd = { ...asAda, 'x-read-after': 'soon' }
  t.equal((await get('/webhooks/logs', odd)).statusCode, 400)
  t.equal((await get(`/webhooks/logs/${randomUUID()}`, odd)).statusCode, 400)
})

t.test('webhook log reads ignore X-Read-After', async (t) => {
  const { send, get } = await webhookLogHarness(t)
  const id = await send({ user_id: ada.payer.id })
  const startedAt = performance.now()
  for (const url of ['/webhooks/logs', `/webhooks/logs/${id}`]) {
    const response = await get(url, { ...asAda, 'x-read-after': '9'.repeat(20) })
    t.equal(response.statusCode, 200)
    t.notOk(response.headers['x-read-stale'])
  }
  t.ok(performance.now() - startedAt < 3_500, 'two waits would take 4 s')
})

t.test('the payload and the response of an erased log entry are null, its result is not', async (t) => {
  const { send, get, pool } = await webhookLogHarness(t)
  const key = randomUUID()
  const id = await send({ user_id: ada.payer.id, body: '{"mine":"CANARY-ada"}', key_ids: [key] }, [
    { ...failed, responseBody: 'CANARY-ada' },
    { responseBody: 'CANARY-ada' },
  ])
  t.equal(await emptyDeliveries(pool, [key]), 1)
  const { data } = (await get(`/webhooks/logs/${id}`)).json()
  t.match(data, { payload: null, status: 'success', response: { http_status: 200, body: null, attempts: [{}, {}] } })
  t.same(Compile(WebhookLogEntry).Errors(data), [])
  t.same((await get('/webhooks/logs')).json(), [data])
})
