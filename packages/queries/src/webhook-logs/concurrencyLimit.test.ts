// The limit of concurrent log pages per caller.
import { once } from 'node:events'
import { createHttp } from '@paylog/runtime/http/http'
import { createConcurrencyLimit } from '@paylog/runtime/limits/concurrencyLimit'
import { createLog } from '@paylog/runtime/telemetry/log'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { asAda, asAdmin } from '../testing/queryApiHarness.ts'
import { webhookLogHarness } from '../testing/webhookLogHarness.ts'

t.test('a third concurrent log page of one caller is 429, and other requests continue', async (t) => {
  const { get, send, pool } = await webhookLogHarness(t)
  const id = await send({})
  const holder = await pool.connect()
  const waiting = async () => {
    const { rows } = await pool.query(
      `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
    )
    return rows.length
  }
  try {
    await holder.query('begin; lock table webhooks.deliveries')
    const lists = [get('/webhooks/logs', asAda), get('/webhooks/logs', asAda)]
    await waitFor(async () => (await waiting()) === 2, { what: 'two pages in progress' })
    const third = await get('/webhooks/logs', asAda)
    t.match(third.json(), { success: false, error: { code: 'rate_limited' } })
    t.equal(third.statusCode, 429)
    t.equal(third.headers['retry-after'], '1')
    const others = [get('/webhooks/logs', asAdmin), get(`/webhooks/logs/${id}`, asAda)]
    await waitFor(async () => (await waiting()) === 4, { what: 'another caller and a single entry to wait' })
    await holder.query('commit')
    const statuses = (await Promise.all([...lists, ...others])).map(({ statusCode }) => statusCode)
    t.same(statuses, [200, 200, 200, 404])
    t.equal((await get('/webhooks/logs', asAda)).statusCode, 200, 'the next page is allowed when they are done')
  } finally {
    holder.release()
  }
})

t.test('a client that disconnects during a log page may request another one', async (t) => {
  const http = createHttp({ log: createLog({ app: 'test', level: 'silent' }) })
  const one = createConcurrencyLimit(1)
  const closing = new AbortController()
  const started = Promise.withResolvers<void>()
  const untilClosed = async ({ raw }: { raw: { headers: object; socket: NodeJS.EventEmitter } }) => {
    if (!('x-closes' in raw.headers)) return
    const closed = once(raw.socket, 'close')
    closing.abort()
    await closed
  }
  http.get('/', { onRequest: untilClosed }, async (_request, reply) =>
    one('ada', reply, async () => {
      started.resolve()
      return 'page'
    }),
  )
  t.teardown(() => http.close())
  const url = await http.listen({ port: 0, host: '127.0.0.1' })
  await t.rejects(fetch(url, { headers: { 'x-closes': 'yes' }, signal: closing.signal }), { name: 'AbortError' })
  await started.promise
  const response = await waitFor(async () => (await fetch(url)).status === 200, { what: 'a page', timeoutMs: 5_000 })
  t.ok(response)
})
