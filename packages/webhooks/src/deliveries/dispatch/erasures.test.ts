import type { ServerResponse } from 'node:http'
import { startEventStore } from '@paylog/testing/eventStore'
import { startFakeEndpoint } from '@paylog/testing/fakeEndpoint'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { createErasureHarness, projects } from '../../testing/erasureHarness.ts'
import { endpointSettings } from '../../testing/eventFixtures.ts'
import { backfill } from '../operations/backfill.ts'
import { enableEndpoint, redeliver } from '../operations/redelivery.ts'
import { restartWorker } from '../subscriptions/restart.ts'

const eventStore = await startEventStore(t)

const ann = 'ann@example.com'
const bob = 'bob@example.com'
const emailIn = (body: string | undefined) => JSON.parse(body ?? 'null')?.data.user.email
const isOver = (rows: readonly { status: string }[]) =>
  rows.length > 0 && rows.every(({ status }) => status !== 'pending')

t.test('an erasure empties finished and held deliveries, and what is sent later is without the person', async (t) => {
  let isGone = true
  const echo = await startFakeEndpoint(t, (response) => response.end(echo.received.at(-1)?.body))
  const gone = await startFakeEndpoint(t, (response) => response.writeHead(isGone ? 410 : 200).end('ok'))
  const rawGone = await startFakeEndpoint(t, (response) => response.writeHead(isGone ? 410 : 200).end('ok'))
  const harness = await createErasureHarness(
    t,
    {
      ...endpointSettings(1, 'canonical', { URL: echo.url }),
      ...endpointSettings(2, 'raw', { URL: echo.url }),
      ...endpointSettings(3, 'canonical', { URL: gone.url }),
      ...endpointSettings(4, 'raw', { URL: rawGone.url }),
    },
    eventStore,
  )
  const { pool, keys } = harness
  await harness.pay('ann', ann)
  await harness.pay('bob', bob)
  await harness.notify('ann', JSON.stringify({ email: ann }))
  await harness.dispatch()
  for (const endpoint of ['1', '2']) await harness.until(endpoint, isOver)
  for (const endpoint of ['3', '4'])
    await harness.until(endpoint, (rows) => rows.some(({ last_error }) => last_error === 'gone'))
  t.match(await harness.tables(), /ann@example\.com/)

  const keyIds = await harness.recordErasure('ann')
  await harness.dispatch()
  t.equal(keyIds.length, 1)
  t.strictSame(await keys.find({ user: 'ann' }), [], 'the key is destroyed')
  const left = await harness.tables()
  t.notMatch(left, /ann@example\.com/)
  t.match(left, /bob@example\.com/, 'of another person everything is left')
  const [sent] = await harness.rows('2')
  t.match(sent, { status: 'succeeded', body: null, last_error: null })
  t.strictSame(sent?.attempts_made[0]?.slice(2), [200, null, null], 'the response is erased, the result is not')

  isGone = false
  const before = gone.received.length
  const heldIds = (await harness.rows('3')).map(({ id }) => id)
  for (const endpoint of ['3', '4']) await enableEndpoint(pool, endpoint, new Date())
  for (const endpoint of ['3', '4']) await harness.until(endpoint, isOver)
  const later = gone.received.slice(before)
  t.strictSame(new Set(later.map(({ id }) => id)), new Set(heldIds), 'with the same ids')
  t.strictSame(later.map(({ body }) => emailIn(body)).toSorted(), [bob, null])
  t.equal(rawGone.received.length, 1, 'a raw message is not sent when nothing is left of it')
  t.match((await harness.rows('4'))[0], { status: 'failed', last_error: 'erased', body: null })

  const redelivered = (await harness.rows('1')).find(({ body }) => body === null)
  await redeliver(pool, [redelivered?.id ?? ''], new Date())
  await waitFor(() => echo.received.filter(({ id }) => id === redelivered?.id).length === 2, { what: 'the redelivery' })
  const [first, second] = echo.received.filter(({ id }) => id === redelivered?.id)
  t.equal(emailIn(first?.body), ann)
  t.equal(emailIn(second?.body), null, 'a redelivery is built from the log')
  await harness.until('1', isOver)
  t.match(
    (await harness.rows('1')).find(({ id }) => id === redelivered?.id),
    { body: null, status: 'succeeded' },
  )
})

t.test('events around an erasure in one batch lead to deliveries without the person, also after a crash', async (t) => {
  const shop = await startFakeEndpoint(t)
  const harness = await createErasureHarness(t, endpointSettings(1, 'canonical', { URL: shop.url }), eventStore)
  await harness.pay('ann', ann)
  await harness.recordErasure('ann')
  // Sealed before the worker destroys the key, and decoded with it in the same batch.
  const after = await harness.pay('ann', ann)
  const crash = { ...harness.erasures, apply: () => Promise.reject(new Error('killed')) }
  await t.rejects(harness.dispatch(crash), /killed/)
  await harness.until('1', (rows) => rows.length === 1 && isOver(rows))
  t.match(await harness.tables(), /ann@example\.com/, 'it was recorded before the erasure')
  const killedLater = {
    ...harness.erasures,
    withoutKeys: () => Promise.reject(new Error('killed later')),
  }
  await t.rejects(harness.dispatch(killedLater), /killed later/)
  t.notMatch(await harness.tables(), /ann@example\.com/)
  await harness.dispatch()
  await harness.until('1', (rows) => rows.length === 2 && isOver(rows))
  t.notMatch(await harness.tables(), /ann@example\.com/)
  const sent = shop.received.map(({ body }) => [JSON.parse(body).data.payment_id, emailIn(body)])
  t.equal(sent.length, 2)
  t.strictSame(sent[1], [after.replace('payment-', ''), null])
})

t.test(
  'the response of a request that runs during the erasure is not kept, and its retry is without the person',
  async (t) => {
    const held: ServerResponse[] = []
    const shop = await startFakeEndpoint(t, (response, index) => {
      if (index === 0) held.push(response)
      else response.end('ok')
    })
    const harness = await createErasureHarness(t, {
      ...endpointSettings(1, 'canonical', { URL: shop.url }),
      WEBHOOK_1_RETRY_SCHEDULE: '100ms',
    })
    await harness.pay('ann', ann)
    await harness.dispatch()
    await waitFor(() => held.length === 1, { what: 'the request' })
    await harness.recordErasure('ann')
    await harness.dispatch()
    held[0]?.writeHead(500).end(`unknown customer ${ann}`)
    await harness.until('1', isOver)
    t.notMatch(await harness.tables(), /ann@example\.com/)
    const [row] = await harness.rows('1')
    t.strictSame(
      row?.attempts_made.map((made) => made.slice(2)),
      [
        [500, 'unexpected_status', null],
        [200, null, null],
      ],
    )
    t.strictSame(
      shop.received.map(({ body }) => emailIn(body)),
      [ann, null],
    )
    t.equal(new Set(shop.received.map(({ id }) => id)).size, 1)
  },
)

t.test('erasures that the worker is told to skip are applied all the same', async (t) => {
  const shop = await startFakeEndpoint(t)
  const harness = await createErasureHarness(t, endpointSettings(1, 'canonical', { URL: shop.url }), eventStore)
  const { pool, store } = harness
  await harness.pay('ann', ann)
  await harness.pay('bob', bob)
  await harness.dispatch()
  await harness.until('1', isOver)
  await harness.recordErasure('ann')
  await restartWorker({ pool, store }, await store.checkpointBefore(undefined), new Date())
  const left = await harness.tables()
  t.notMatch(left, /ann@example\.com/)
  t.match(left, /bob@example\.com/)
})

t.test('a backfill brings back nothing that was erased, whatever its process still knows', async (t) => {
  const shop = await startFakeEndpoint(t)
  const harness = await createErasureHarness(t, {
    ...endpointSettings(1, 'canonical', { URL: shop.url }),
    ...endpointSettings(2, 'raw', { URL: shop.url }),
  })
  const { pool, store, keys, endpoints } = harness
  const options = {
    projects,
    from: undefined,
    notBefore: undefined,
    now: () => new Date(),
    signal: new AbortController().signal,
  }
  const fill = (index: number, isDryRun = false) => {
    const filled = endpoints[index]
    if (filled === undefined) throw new Error('no such endpoint')
    return backfill({ pool, store }, { ...options, endpoint: filled, isDryRun, onProgress: () => undefined })
  }
  await harness.pay('ann', ann)
  await harness.pay('bob', bob)
  await harness.notify('ann', JSON.stringify({ email: ann }))
  // The worker has emptied the deliveries, and this process has not noticed that the key is destroyed.
  const keyIds = await keys.find({ user: 'ann' })
  await pool.query('insert into webhooks.erased_keys select unnest($1::uuid[])', [keyIds])
  t.match(await fill(0, true), { missing: 2 })
  t.match(await fill(0), { missing: 2, present: 0 })
  t.match(await fill(1), { missing: 0, present: 0 }, 'nothing is left of the notification')
  t.notMatch(await harness.tables(), /ann@example\.com/)
  await harness.until('1', isOver)
  t.strictSame(shop.received.map(({ body }) => emailIn(body)).toSorted(), [bob, null])
})
