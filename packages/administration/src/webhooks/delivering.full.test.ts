// What an administrator starts over HTTP, down to the requests that the endpoint gets from a real worker.
import { randomUUID } from 'node:crypto'
import type { PaymentEvent } from '@paylog/domain/payments/events'
import { paymentFold } from '@paylog/domain/payments/fold'
import { eventsAfter } from '@paylog/domain/payments/testing/paymentFixture'
import { paymentStream } from '@paylog/event-store/streamName'
import { startFakeEndpoint } from '@paylog/testing/fakeEndpoint'
import { waitFor } from '@paylog/testing/waitFor'
import { decodeEndpoints } from '@paylog/webhooks/endpoints/endpoints'
import { createWorkerProcessHarness } from '@paylog/webhooks/testing/workerProcessHarness'
import { Webhook } from 'standardwebhooks'
import t, { type Test } from 'tap'
import { operatorHarness } from '../testing/operatorHarness.ts'

const longTimeout = { timeoutMs: 30_000 }
const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
type Variables = Readonly<Record<string, string>>

const endpoint = (name: string, url: string, more: Variables = {}): Variables =>
  Object.fromEntries(
    Object.entries({ ENABLED: 'true', URL: url, RETRY_SCHEDULE: '50ms', EVENTS: 'payment.succeeded', ...more }).map(
      ([suffix, value]) => [`WEBHOOK_${name}_${suffix}`, value],
    ),
  )

/** @param endpoints of the operator API, and of the workers without others */
async function harness(t: Test, endpoints: Variables) {
  const api = await operatorHarness(t, { endpoints: decodeEndpoints(endpoints).endpoints })
  const worker = await createWorkerProcessHarness(t, {}, api.eventStore)
  const dataOf = async (sent: ReturnType<typeof api.get>) => {
    const response = await sent
    if (response.statusCode >= 300) throw new Error(`${response.statusCode} ${response.body}`)
    return response.json().data
  }
  const list = (query = '') => dataOf(api.get(`/admin/webhook-deliveries${query}`))
  return {
    startWorker: (variables: Variables = endpoints) => worker.start(variables),
    get: (path: string) => dataOf(api.get(`/admin/${path}`)),
    post: (path: string, body?: object) => dataOf(api.post(`/admin/${path}`, body)),
    list,
    /** Records succeeded payments. Each causes one webhook. @returns their ids */
    async pay(count: number): Promise<string[]> {
      const ids = Array.from({ length: count }, () => randomUUID())
      for (const payment_id of ids) {
        const events = eventsAfter('succeeded').map(
          (event) => ({ ...event, data: { ...event.data, payment_id } }) as PaymentEvent,
        )
        const metadata = { correlationId: 'c', causationId: 'c', actor: 'provider:sandbox' }
        await api.store.handle({ stream: paymentStream(payment_id), fold: paymentFold, decide: () => events, metadata })
      }
      return ids
    },
    waitForStatus: (status: string, count: number) =>
      waitFor(async () => (await list(`?status=${status}&limit=100`)).length === count, {
        what: `${count} ${status} deliveries`,
        ...longTimeout,
      }),
    jobEnd: api.ended,
  }
}

t.test('a redelivered webhook arrives with the same id and body, signed by the worker [10.4-redeliver]', async (t) => {
  const shop = await startFakeEndpoint(t, (response, index) => {
    response.statusCode = index < 3 ? 500 : 200
    response.end(`response ${index}`)
  })
  const { startWorker, pay, post, get, list, waitForStatus } = await harness(
    t,
    endpoint('1', shop.url, { SECRET: secret }),
  )
  await startWorker()
  const [payment] = await pay(1)
  await waitForStatus('failed', 1)
  const [failed] = await list(`?payment_id=${payment}`)
  const before = await get(`webhook-deliveries/${failed.id}`)
  t.match(before, { status: 'failed', attempts: 2, last_error: 'unexpected_status' })
  t.match(before.tries, [
    { http_status: 500, error: 'unexpected_status', response: 'response 0' },
    { http_status: 500, error: 'unexpected_status', response: 'response 1' },
  ])
  t.match(shop.received[0]?.headers, before.headers, 'the request has the headers that the API shows')
  t.equal(shop.received[0]?.body, before.payload)

  t.match(await post(`webhook-deliveries/${failed.id}/redeliver`), { id: failed.id })
  // The third attempt fails too, so that only a new retry schedule leads to the fourth.
  await waitForStatus('succeeded', 1)
  t.equal(shop.received.length, 4)
  const last = shop.received[3]
  t.match(last, { id: failed.id, body: before.payload })
  t.doesNotThrow(() => new Webhook(secret).verify(last?.body ?? '', (last?.headers ?? {}) as Record<string, string>))
  const after = await get(`webhook-deliveries/${failed.id}`)
  t.match(after, { status: 'succeeded', attempts: 4, payload: before.payload })
  t.match(after.tries[3], { http_status: 200, error: null, response: 'response 3' })
  t.match(await get('webhook-endpoints'), [{ endpoint: '1', recent: { deliveries: 1, succeeded: 1 } }])
})

t.test('redelivering a pending webhook sends it now, and once', async (t) => {
  const shop = await startFakeEndpoint(t, (response, index) => {
    response.statusCode = index === 0 ? 500 : 200
    response.end()
  })
  const api = await harness(t, endpoint('1', shop.url, { RETRY_SCHEDULE: '1h' }))
  await api.startWorker()
  await api.pay(1)
  const [{ id }] = await waitFor(
    async () => {
      const found = await api.list()
      return found[0]?.attempts === 1 && found
    },
    { what: 'the first attempt', ...longTimeout },
  )
  t.match(await api.post(`webhook-deliveries/${id}/redeliver`), { id, ended_at: null })
  await api.waitForStatus('succeeded', 1)
  t.same(
    shop.received.map((webhook) => webhook.id),
    [id, id],
  )
})

t.test('all failed webhooks of an endpoint are sent again, except in a dry run', async (t) => {
  let isDown = true
  const shop = await startFakeEndpoint(t, (response) => {
    response.statusCode = isDown ? 500 : 200
    response.end()
  })
  const api = await harness(t, endpoint('1', shop.url))
  await api.startWorker()
  await api.pay(5)
  await api.waitForStatus('failed', 5)
  isDown = false
  const dry = await api.post('webhook-endpoints/1/redeliver', { dry_run: true })
  t.same(dry, { deliveries: 5, held: 0, is_complete: true })
  const later = new Date(Date.now() + 60_000).toISOString()
  t.same(await api.post('webhook-endpoints/1/redeliver', { since: later }), {
    deliveries: 0,
    held: 0,
    is_complete: true,
  })
  await api.waitForStatus('failed', 5)
  const ids = (await api.list()).map(({ id }: { id: string }) => id).sort()
  const sent = shop.received.length
  t.same(await api.post('webhook-endpoints/1/redeliver'), { deliveries: 5, held: 0, is_complete: true })
  await api.waitForStatus('succeeded', 5)
  t.same(
    shop.received
      .slice(sent)
      .map(({ id }) => id)
      .sort(),
    ids,
  )
  t.same(await api.post('webhook-endpoints/1/redeliver', {}), { deliveries: 0, held: 0, is_complete: true })
})

t.test('an enabled endpoint gets the webhooks that were held', async (t) => {
  let isGone = true
  const shop = await startFakeEndpoint(t, (response) => {
    response.statusCode = isGone ? 410 : 200
    response.end()
  })
  const api = await harness(t, endpoint('1', shop.url))
  await api.startWorker()
  await api.pay(1)
  await api.waitForStatus('held', 1)
  await api.pay(2)
  await api.waitForStatus('held', 3)
  const [paused] = await api.get('webhook-endpoints')
  t.match(paused, { endpoint: '1', disabled_at: String, pending: 3 })
  const [held] = await api.list()
  t.match(await api.post(`webhook-deliveries/${held.id}/redeliver`), { status: 'held' })
  t.equal(shop.received.length, 1, 'nothing is sent while it is paused')
  isGone = false
  t.same(await api.post('webhook-endpoints/1/enable'), { endpoint: '1', disabled_at: paused.disabled_at, held: 3 })
  await api.waitForStatus('succeeded', 3)
  t.same(await api.post('webhook-endpoints/1/enable'), { endpoint: '1', disabled_at: null, held: 0 })
})

t.test('a backfill creates what a new endpoint missed, and its dry run nothing', async (t) => {
  const [old, added] = await Promise.all([startFakeEndpoint(t), startFakeEndpoint(t)])
  const first = endpoint('1', old.url)
  const both = { ...first, ...endpoint('2', added.url) }
  const api = await harness(t, both)
  const worker = await api.startWorker(first)
  await api.pay(3)
  await api.waitForStatus('succeeded', 3)
  await worker.stop()
  await worker.exited
  await api.startWorker(both)

  const dry = await api.post('webhook-endpoints/2/backfill', { dry_run: true })
  t.match(dry, { kind: 'backfill', subject: '2', status: 'running', requested_by: /^session:/ })
  const counted = await api.jobEnd(dry.id)
  t.match(counted, { status: 'succeeded', result: { too_old: 0, missing: 3, present: 0, dry_run: true } })
  t.same(await api.list('?endpoint=2'), [])

  const made = await api.jobEnd((await api.post('webhook-endpoints/2/backfill')).id)
  t.same(made.result, { ...counted.result, dry_run: false })
  await api.waitForStatus('succeeded', 6)
  t.equal(added.received.length, 3)
  t.equal(old.received.length, 3)
  t.same(
    added.received.map(({ body }) => JSON.parse(body).data.payment_id).sort(),
    old.received.map(({ body }) => JSON.parse(body).data.payment_id).sort(),
  )
  const again = await api.jobEnd((await api.post('webhook-endpoints/2/backfill', { from: '0' })).id)
  t.match(again.result, { missing: 0, present: 3, dry_run: false })
  const fromEnd = await api.jobEnd((await api.post('webhook-endpoints/2/backfill', { from: made.result?.position })).id)
  t.match(fromEnd.result, { events: 1 })
})
