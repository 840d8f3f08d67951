import { addPaymentTo } from '@paylog/projections/testing/logFixture'
import t from 'tap'
import { createCheckpointWatcher } from './readAfter.ts'
import { describedLists } from './testing/lists.ts'
import { ada, asAda, asAdmin, queryApiHarness } from './testing/queryApiHarness.ts'

t.test('a read with X-Read-After waits for the position and returns the resource [10.1-read-after]', async (t) => {
  const { log, project, get } = await queryApiHarness(t)
  const id = addPaymentTo(log, ada)
  const { position } = log.batch()
  const reading = get(`/payments/${id}`, { ...asAda, 'x-read-after': String(position.commit) })
  const before = await get(`/payments/${id}`)
  t.equal(before.statusCode, 404, 'the payment is not projected yet')
  await project()
  const response = await reading
  t.equal(response.statusCode, 200)
  t.notOk('x-read-stale' in response.headers)
  const list = await get('/payments', { ...asAda, 'x-read-after': String(position.commit) })
  t.equal(list.json().meta.total, 1)
})

t.test('a read whose position is not reached in time responds with X-Read-Stale [10.1-read-stale]', async (t) => {
  const { log, project, get } = await queryApiHarness(t)
  addPaymentTo(log, ada)
  await project()
  const startedAt = performance.now()
  const responses = await Promise.all([
    get('/payments', { ...asAda, 'x-read-after': '99999999999999999999' }),
    get(`/payments/${ada.payer.id}`, { ...asAda, 'x-read-after': '5000' }),
  ])
  const tookMs = performance.now() - startedAt
  t.ok(tookMs > 1_900 && tookMs < 4_000, `took ${tookMs} ms`)
  t.match(responses[0], { statusCode: 200, headers: { 'x-read-stale': 'true' } })
  t.equal(responses[0].json().meta.total, 1)
  t.match(responses[1], { statusCode: 404, headers: { 'x-read-stale': 'true' } })
})

t.test('an X-Read-After that is not a position is 400 [10.1-read-malformed]', async (t) => {
  const { get } = await queryApiHarness(t)
  for (const position of ['', 'x', '-1', '1.5', '1, 2', '0x10', '9'.repeat(21)])
    for (const url of ['/payments', '/payments/x']) {
      const response = await get(url, { ...asAda, 'x-read-after': position })
      t.equal(response.statusCode, 400, `${url} after ${position}`)
      t.match(response.json().error, { code: 'invalid_request', details: { fields: [{ field: 'x-read-after' }] } })
    }
  t.equal((await get('/payments', { 'x-read-after': 'x' })).statusCode, 401, 'authentication comes before validation')
})

const nothing = async () => {}

t.test('waiting reads share checkpoint queries, and none run when no read waits', async (t) => {
  let checks = 0
  let position = 0n
  const checked = Promise.withResolvers<void>()
  const watcher = createCheckpointWatcher(async () => {
    checks += 1
    if (checks === 3) checked.resolve()
    return new Map([['payments', position]])
  }, nothing)
  const waits = Promise.all(Array.from({ length: 50 }, (_, index) => watcher.reaches(BigInt(index + 1), ['payments'])))
  await checked.promise
  position = 50n
  t.ok((await waits).every(Boolean))
  t.ok(checks < 20, `${checks} queries for 50 reads`)
  const before = checks
  t.equal(await watcher.reaches(50n, ['payments']), true)
  t.equal(checks, before, 'a reached position needs no query')
})

t.test('a read waits for exactly the projections that it names', async (t) => {
  const positions = new Map([['payments', 9n]])
  const watcher = createCheckpointWatcher(async () => positions, nothing)
  t.equal(await watcher.reaches(9n, ['payments']), true)
  const both = watcher.reaches(9n, ['payments', 'payment_methods'])
  const undecided = Symbol('undecided')
  t.equal(await Promise.race([both, watcher.reaches(9n, ['payments']).then(() => undecided)]), undecided)
  positions.set('payment_methods', 9n)
  t.equal(await both, true)
})

t.test('the watcher notifies late projections at the second check and every twelve checks after it', async (t) => {
  const positions = new Map([['payments', 5n]])
  const notified: [check: number, names: readonly string[]][] = []
  let checks = 0
  const watcher = createCheckpointWatcher(
    async () => {
      checks += 1
      return positions
    },
    async (names) => {
      notified.push([checks, names])
      if (notified.length === 1) throw new Error('no database')
      positions.set('addresses', 5n)
    },
  )
  t.equal(await watcher.reaches(5n, ['payments', 'addresses']), true)
  t.same(notified, [
    [2, ['addresses']],
    [14, ['addresses']],
  ])
})

t.test('a failed checkpoint query does not end the wait', async (t) => {
  let checks = 0
  const watcher = createCheckpointWatcher(async () => {
    checks += 1
    if (checks < 3) throw new Error('no database')
    return new Map([['payments', 7n]])
  }, nothing)
  t.equal(await watcher.reaches(7n, ['payments']), true)
})

t.test(
  'each route waits for the projections it shows, and payment lists without include only for payments',
  async (t) => {
    const { log, project, pool, get } = await queryApiHarness(t)
    const id = addPaymentTo(log, ada)
    await project()
    const position = String(log.batch().position.commit)
    const isStale = async (url: string) => {
      const caller = url.startsWith('/admin') ? asAdmin : asAda
      return 'x-read-stale' in (await get(url, { ...caller, 'x-read-after': position })).headers
    }
    await pool.query(`update read_models.checkpoints set commit_position = 0 where name not like 'payments@%'`)
    const lists = Object.entries(describedLists).map(
      ([url, { reads }]) => [url, reads.some((name) => name !== 'payments')] as const,
    )
    const others = [
      `/payments/${id}`,
      `/payment-methods/${id}`,
      `/admin/products/${id}`,
      '/admin/stats?from=2026-03-01T00:00:00Z&to=2026-03-02T00:00:00Z',
      `/payments/${id}/refunds`,
    ].map((url) => [url, true] as const)
    await Promise.all([...lists, ...others].map(async ([url, waits]) => t.equal(await isStale(url), waits, url)))
  },
)
