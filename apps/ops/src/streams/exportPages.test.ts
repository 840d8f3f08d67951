// GET /admin/events and `streams export` have the same lines, byte for byte.
import { readFileSync } from 'node:fs'
import { operatorHarness } from '@paylog/administration/testing/operatorHarness'
import t from 'tap'
import { exportHarness } from '../testing/exportHarness.ts'

const harness = await exportHarness(t)
const { append, exportTo, newPath, rows, sql, store } = harness
const { get } = await operatorHarness(t, {}, store)

const odd = '{"b":1.10,"a":12345678901234567890, "c":1e400,\r\n"\\u00e4":"\\n"}'
for (let number = 0; number < 20; number++) {
  await append(`payment-${number}`, { type: 'PaymentInitiated', data: odd }, { type: 'PaymentSucceeded' })
  if (number % 8 === 0) await append(`product-${number}`, { type: 'ProductAdded', metadata: '\xff\0' })
  if (number % 7 === 0) await append('$settings-1', { type: 'PaymentInitiated' })
}
await append('bytes-1', { contentType: 'application/octet-stream', data: '\0\xff' }, { data: 'no JSON' })
// Far enough in the past for `until`.
await sql('update event_store.events set created_ticks = created_ticks - 36000000000 + position * 10000000')
const all = await rows()
const timeOf = (index: number) => new Date(Number((all[index]?.created_ticks ?? 0n) / 10_000n)).toISOString()

type Filters = Readonly<Record<string, string>>

/** A header, or null without it. */
const headerOf = ({ headers }: { readonly headers: Readonly<Record<string, unknown>> }, name: string) =>
  headers[name] === undefined ? null : String(headers[name])

/** Reads all pages. @param end the last position to read @param between called after each page */
async function pagesOf(filters: Filters, limit: number, end: string | null = null, between = async () => {}) {
  const pages: string[] = []
  let [after, head]: (string | null)[] = [null, end]
  do {
    const query = new URLSearchParams({
      ...filters,
      limit: String(limit),
      ...(after === null ? {} : { after }),
      ...(head === null ? {} : { head }),
    })
    const response = await get(`/admin/events?${query}`)
    if (response.statusCode !== 200) throw new Error(response.body)
    if (head !== null && headerOf(response, 'x-log-head') !== head) throw new Error('another head')
    pages.push(response.body)
    after = headerOf(response, 'x-next-position')
    head = headerOf(response, 'x-log-head')
    await between()
  } while (after !== null)
  return { pages, head }
}

const selections: readonly Filters[] = [
  {},
  { category: 'payment' },
  { category: 'product' },
  { category: 'pay' },
  { stream: 'payment-7' },
  { stream: 'payment-none' },
  { type: 'PaymentSucceeded' },
  { category: 'payment', type: 'PaymentSucceeded' },
  { since: timeOf(20) },
  { until: timeOf(20) },
  { since: timeOf(10), until: timeOf(35), type: 'PaymentInitiated' },
  { until: '2001-01-01T00:00:00Z' },
]

t.test('the pages of every selection and page size are the file of streams export [10.2-event-pages]', async (t) => {
  for (const filters of selections) {
    const path = newPath()
    const flags = Object.entries(filters).flatMap(([name, value]) => [`--${name}`, value])
    const manifest = await exportTo(path, ...flags)
    for (const limit of [1, 7, 1_000]) {
      const { pages, head } = await pagesOf(filters, limit, manifest.head)
      const name = `${JSON.stringify(filters)}, ${limit} lines a page`
      t.ok(Buffer.from(pages.join('')).equals(readFileSync(path)), name)
      t.equal(head, manifest.head, 'the head of the manifest')
      t.ok(pages.every((page) => page.split('\n').length - 1 <= limit))
      if (limit === 1) t.ok(pages.length >= manifest.count)
    }
  }
})

t.test('the pages end at the head of the first one while events are recorded', async (t) => {
  for (const filters of [{}, { category: 'payment' }]) {
    const path = newPath()
    const flags = Object.entries(filters).flatMap(([name, value]) => [`--${name}`, value])
    const { head: before } = await exportTo(path, ...flags)
    const { pages, head } = await pagesOf(filters, 10, before, () =>
      append('payment-later', { type: 'PaymentInitiated' }),
    )
    t.equal(head, before)
    t.equal(pages.join(''), readFileSync(path, 'utf8'))
    t.match((await get('/admin/events?stream=payment-later')).body, /payment-later/, 'events were recorded meanwhile')
  }
})

t.test('a page of the log is ndjson', async (t) => {
  const response = await get('/admin/events?limit=1')
  t.match(response.headers['content-type'], /^application\/x-ndjson/)
  t.match(response.body, /^\{.*\}\n$/)
})

t.test('a page after the head is empty and the last one', async (t) => {
  const { head } = await pagesOf({}, 5_000)
  for (const after of [head, '18446744073709551615', '99999999999999999999']) {
    const response = await get(`/admin/events?after=${after}&head=${head}`)
    t.same([response.statusCode, response.body], [200, ''], `after ${after}`)
    t.equal(headerOf(response, 'x-next-position'), null)
  }
})

t.test('an invalid selection of the log is rejected as in streams export', async (t) => {
  const later = new Date(Date.now() + 60_000).toISOString()
  for (const [query, field] of [
    ['category=payment-1', 'category'],
    ['category=', 'category'],
    ['category=$settings', 'category'],
    ['stream=$settings-1', 'stream'],
    ['type=', 'type'],
    ['since=yesterday', 'since'],
    [`since=${later}`, 'since'],
    ['since=2016-12-31T23:59:60Z', 'since'],
    [`until=${new Date(Date.now() - 5_000).toISOString()}`, 'until'],
    [`until=${later}`, 'until'],
    ['since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z', 'since'],
    ['after=-1', 'after'],
    ['after=1&after=2', 'after'],
    ['head=99999999999999999999', 'head'],
    ['head=x', 'head'],
    ['limit=0', 'limit'],
    ['limit=5001', 'limit'],
  ])
    t.match(
      (await get(`/admin/events?${query}`)).json(),
      { success: false, error: { code: 'invalid_request', details: { fields: [{ field }] } } },
      query ?? '',
    )
})

t.test('a rare selection of a long log is read in pages without lines, and completely', async (t) => {
  const { head: before } = await pagesOf({}, 5_000)
  const filler = Array.from({ length: 500 }, () => ({ type: 'Filler' }))
  for (let batch = 0; batch < 22; batch++) await append(`filler-${batch}`, ...filler)
  await append('filler-22', { type: 'Rare' }, { type: 'Filler' })
  const filters = { category: 'filler', type: 'Rare' }
  const { pages } = await pagesOf(filters, 1_000)
  t.same(
    pages.map((page) => page.split('\n').length - 1),
    [0, 1],
    'the first page ends after 10,000 events',
  )
  const path = newPath()
  await exportTo(path, '--category', 'filler', '--type', 'Rare')
  t.equal(pages.join(''), readFileSync(path, 'utf8'))
  const earlier = await get(`/admin/events?category=filler&head=${before}`)
  t.equal(earlier.body, '')
  t.same(
    [headerOf(earlier, 'x-next-position'), headerOf(earlier, 'x-log-head')],
    [null, before],
    'up to an earlier head',
  )
})
