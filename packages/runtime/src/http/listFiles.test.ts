import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { DomainError } from '@paylog/domain/errors'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { listFilesHarness } from '../testing/listFilesHarness.ts'

t.test('who prefers text/csv gets a file, and everybody else JSON [10.5-file-accept]', async (t) => {
  const { get } = await listFilesHarness(t)
  const isFile: Readonly<Record<string, boolean>> = {
    'text/csv': true,
    'TEXT/CSV': true,
    'text/*': true,
    'text/csv, application/json;q=0.9': true,
    'text/csv, */*;q=0.1': true,
    'application/json;q=0.5, text/csv;q=0.6': true,
    '*/*': false,
    'application/json': false,
    'application/json, text/csv': false,
    'text/csv;q=0.5, application/json': false,
    'text/csv;q=0': false,
    'text/csv;q=0, */*': false,
    'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8': false,
    'image/png': false,
    'not a media type': false,
  }
  for (const [accept, expected] of Object.entries(isFile)) {
    const response = await get('/numbers', accept)
    t.equal(response.status, 200, accept)
    t.equal(response.headers.get('content-type')?.startsWith('text/csv'), expected, accept)
    t.match(response.headers.get('vary'), /\bAccept\b/, accept)
  }
})

t.test('a file has all rows, its name, and how many they are [10.5-file-rows]', async (t) => {
  const { get } = await listFilesHarness(t)
  const response = await get('/numbers?rows=2&limit=1&time_zone=Europe/Berlin', 'text/csv')
  const { headers } = response
  t.equal(headers.get('content-type'), 'text/csv; charset=utf-8')
  t.match(headers.get('content-disposition'), /^attachment; filename="numbers-\d{4}-\d\d-\d\d\.csv"$/)
  t.equal(headers.get('x-row-count'), '2')
  t.equal(headers.get('content-length'), null)
  const bytes = Buffer.from(await response.arrayBuffer())
  const note = 'note '.repeat(40)
  t.equal(
    bytes.toString(),
    '\ufeffid,amount_cents,amount,currency,note,created_at (Europe/Berlin)\r\n' +
      `1,1,0.01,EUR,${note},2026-03-01T01:00:01.000+01:00\r\n2,2,0.02,EUR,${note},2026-03-01T01:00:02.000+01:00\r\n`,
  )
  t.match([...bytes.subarray(0, 3)], [0xef, 0xbb, 0xbf])
  const empty = await get('/numbers?rows=0', 'text/csv')
  t.equal(await empty.text(), 'id,amount_cents,amount,currency,note,created_at (UTC)\r\n', 'fetch drops the mark')
  t.equal(empty.headers.get('x-row-count'), '0')
  const bad = await get('/numbers?time_zone=Mars', 'text/csv')
  t.match(await bad.json(), { error: { code: 'invalid_request', details: { fields: [{ field: 'time_zone' }] } } })
})

t.test(
  'a file is audited before it is sent, with its filter, without what people typed, and with its rows [10.5-file-audited]',
  async (t) => {
    const { get, audited } = await listFilesHarness(t)
    await (await get('/numbers?rows=2&search=Ada%20Lovelace&limit=3', 'text/csv')).text()
    const details = { rows: 2, search: '(left out)', time_zone: 'UTC' }
    t.same(audited, [{ action: 'export_list', target: { kind: 'list', id: 'numbers' }, details }])
    await (await get('/numbers', 'application/json')).text()
    t.equal(audited.length, 1, 'JSON is no export')
  },
)

t.test('nothing is sent when the audit trail cannot be written', async (t) => {
  const { get, sessions } = await listFilesHarness(t, {
    record: () => {
      throw new DomainError('event_store_unavailable', 'no log')
    },
  })
  const response = await get('/numbers', 'text/csv')
  t.equal(response.status, 503)
  t.match(response.headers.get('content-type'), /json/)
  t.equal(response.headers.get('content-disposition'), null)
  await waitFor(async () => (await sessions()) === 0, { what: 'the end of the session' })
})

t.test('a file needs the right export beside that of the list [10.5-file-right]', async (t) => {
  const { get, audited } = await listFilesHarness(t)
  for (const [rights, accept, status] of [
    ['read', 'application/json', 200],
    ['read', 'text/csv', 403],
    ['export', 'text/csv', 403],
    ['read export', 'text/csv', 200],
  ] as const)
    t.equal((await get('/numbers', accept, { rights })).status, status, `${rights}, ${accept}`)
  t.match(await (await get('/numbers', 'text/csv', { rights: 'read' })).json(), {
    error: { details: { right: 'export' } },
  })
  t.equal(audited.length, 1)
})

t.test('HEAD has the headers of the file, and is no export', async (t) => {
  const { get, audited, sessions } = await listFilesHarness(t)
  const response = await get('/numbers?rows=449', 'text/csv', { method: 'HEAD' })
  t.equal(response.status, 200)
  t.equal(response.headers.get('x-row-count'), '449')
  t.match(response.headers.get('content-type'), /^text\/csv/)
  t.equal(await response.text(), '')
  t.same(audited, [])
  await waitFor(async () => (await sessions()) === 0, { what: 'the end of the session' })
})

t.test('Vary names the origin too, where CORS is on', async (t) => {
  const { get } = await listFilesHarness(t, { origins: 'https://shop.example.com' })
  const response = await get('/numbers', 'text/csv', { origin: 'https://shop.example.com' } as object)
  t.match(response.headers.get('vary'), /Origin, Accept/)
  t.match(response.headers.get('access-control-expose-headers'), /X-Row-Count/)
})

/** The response, when it has begun. */
async function begin(url: string): Promise<IncomingMessage> {
  const sent = request(url, { headers: { 'x-rights': 'read export', accept: 'text/csv' } }).end()
  const [response] = await once(sent, 'response')
  return response
}

t.test('an error after the first byte breaks off the connection [10.5-file-complete]', async (t) => {
  const { url, sessions } = await listFilesHarness(t, {
    rowsOf: ({ count, batches }) => ({
      count,
      batches: (async function* () {
        let sent = 0
        for await (const rows of batches) {
          if (sent >= 1_000) throw new Error('the database is gone')
          yield rows
          sent += rows.length
        }
      })(),
    }),
  })
  const response = await begin(`${url}/numbers?rows=100000`)
  t.equal(response.statusCode, 200)
  await t.rejects(
    async () => {
      for await (const _ of response);
    },
    { code: 'ECONNRESET' },
  )
  t.equal(response.complete, false)
  await waitFor(async () => (await sessions()) === 0, { what: 'the end of the session' })
})

t.test('a file with other rows than were counted breaks off, too', async (t) => {
  const { url } = await listFilesHarness(t, { rowsOf: ({ count, batches }) => ({ count: count + 1, batches }) })
  const response = await begin(`${url}/numbers?rows=10`)
  await t.rejects(
    async () => {
      for await (const _ of response);
    },
    { code: 'ECONNRESET' },
  )
})

t.test('a client that goes away ends the query, and one that does not read is disconnected', async (t) => {
  const { url, sessions } = await listFilesHarness(t)
  const left = await begin(`${url}/numbers?rows=10000000`)
  t.equal(await sessions(), 1)
  left.destroy()
  await waitFor(async () => (await sessions()) === 0, { what: 'the end of the session' })
  const idle = await begin(`${url}/numbers?rows=10000000`)
  idle.on('error', () => undefined)
  await waitFor(async () => (await sessions()) === 0, { what: 'the server to give up', timeoutMs: 60_000 })
})

t.test('a third file of one caller at a time is 429', async (t) => {
  const { url, get } = await listFilesHarness(t)
  const open = await Promise.all([begin(`${url}/numbers?rows=10000000`), begin(`${url}/numbers?rows=10000000`)])
  const third = await get('/numbers', 'text/csv')
  t.equal(third.status, 429)
  t.match(await third.json(), { error: { code: 'rate_limited' } })
  t.equal((await get('/numbers', 'application/json')).status, 200)
  for (const response of open) response.destroy()
  await waitFor(async () => (await get('/numbers', 'text/csv')).status === 200, { what: 'the next file' })
})
