// Truncation and order of log entries.
import t from 'tap'
import { asAdmin } from '../testing/queryApiHarness.ts'
import { failed, webhookLogHarness } from '../testing/webhookLogHarness.ts'

const kib = 1024
/** A body with this many bytes. */
const bodyOf = (bytes: number, letter = 'x') => `{"text":"${letter.repeat((bytes - 11) / Buffer.byteLength(letter))}"}`

t.test('the log list truncates long texts, and the single entry shows them whole [4.11-entry]', async (t) => {
  const { send, get } = await webhookLogHarness(t)
  const long = 'y'.repeat(16 * kib)
  const tried = Array.from({ length: 40 }, (_, n) => ({ ...failed, responseBody: n === 39 ? long : 'z'.repeat(n) }))
  const ids = {
    fits: await send({ body: bodyOf(16 * kib) }),
    tooLong: await send({ body: bodyOf(16 * kib + 1) }),
    ofUmlauts: await send({ body: bodyOf(16 * kib + 1, 'ü') }),
    mebibyte: await send({ body: bodyOf(1024 * kib) }, tried),
  }
  const entries: { id: string; payload: object; response: { body: string; attempts: object[] } }[] = (
    await get('/webhooks/logs', asAdmin)
  ).json()
  const listed = new Map(entries.map((entry) => [entry.id, entry]))
  t.same(listed.get(ids.fits)?.payload, JSON.parse(bodyOf(16 * kib)))
  t.same(listed.get(ids.tooLong)?.payload, { truncated: true, bytes: 16 * kib + 1 })
  t.same(
    listed.get(ids.ofUmlauts)?.payload,
    { truncated: true, bytes: 16 * kib + 1 },
    'the limit counts bytes, not characters',
  )
  const mebibyte = listed.get(ids.mebibyte)
  t.same(mebibyte?.payload, { truncated: true, bytes: 1024 * kib })
  t.equal(mebibyte?.response.body, long.slice(0, kib), 'the start of the last response')
  const { data } = (await get(`/webhooks/logs/${ids.mebibyte}`, asAdmin)).json()
  t.same(data.payload, JSON.parse(bodyOf(1024 * kib)))
  t.equal(data.response.body, long)
  t.equal(data.response.attempts.length, 40)
  t.same(mebibyte?.response.attempts, data.response.attempts.slice(-25), 'the last attempts in order')
})

t.test('a log page is limited in bytes for entries of any content', async (t) => {
  const { send, get, pool } = await webhookLogHarness(t)
  // Control characters take the most bytes in JSON. The list shows at most 1 KiB of a response.
  const responseBody = '\u0001'.repeat(2 * kib)
  const id = await send({ body: bodyOf(16 * kib) }, [{ ...failed, responseBody }])
  await pool.query(
    `insert into webhooks.finished_deliveries (id, node, event, mode, provider, body, source_stream, source_revision,
       source_event_id, correlation_id, causation_id, is_test, attempts, attempts_made, last_attempt_at, last_error,
       last_http_status, created_at, ended_at)
     select gen_random_uuid(), node, event, mode, provider, case when n < 900 then $2 else body end, source_stream,
       source_revision, source_event_id, correlation_id, causation_id, is_test, 25,
       (select jsonb_agg(finished_deliveries.attempts_made -> (n * 0)) from generate_series(1, 25) as n), last_attempt_at, last_error,
       last_http_status, created_at + make_interval(secs => n), ended_at
     from webhooks.finished_deliveries, generate_series(1, 999) as n where id = $1`,
    [id, bodyOf(1638)],
  )
  for (const limit of [100, 1000]) {
    const { rawPayload } = await get(`/webhooks/logs?limit=${limit}`, asAdmin)
    t.ok(rawPayload.length < 4 * kib * kib, `limit=${limit}: ${rawPayload.length} bytes`)
    const entries: { payload: object; response: { body: string; attempts: object[] } }[] = JSON.parse(
      String(rawPayload),
    )
    const whole = entries.filter(({ payload }) => 'text' in payload)
    t.same([entries.length, whole.length], limit === 100 ? [100, 100] : [1000, 899], 'short payloads are complete')
  }
  const [newest] = (await get('/webhooks/logs?limit=1000', asAdmin)).json()
  t.same(newest.payload, { truncated: true, bytes: 16 * kib })
  t.equal(newest.response.body.length, 102)
  t.equal(newest.response.attempts.length, 3)
})

t.test('a single log entry shows the last attempts when there are very many', async (t) => {
  const { send, get, pool } = await webhookLogHarness(t)
  const id = await send({}, [failed])
  await pool.query(
    `update webhooks.finished_deliveries set attempts = 1100, attempts_made = attempts_made || (
       select jsonb_agg(jsonb_build_array(0, n, 500, 'http_status', 'response ' || n) order by n)
       from generate_series(2, 1100) as n
     )`,
  )
  const { data } = (await get(`/webhooks/logs/${id}`, asAdmin)).json()
  const shown = data.response.attempts.map(({ ms }: { ms: number }) => ms)
  t.same([shown.length, shown[0], shown.at(-1)], [1000, 101, 1100])
  t.equal(data.response.body, 'response 1100')
})

t.test('a payload is returned unchanged, with large numbers and deep nesting', async (t) => {
  const { send, get } = await webhookLogHarness(t)
  const exact = '{"n":12345678901234567890,"d":1.0,"__proto__":{"a":1},"u":"\\u0000\\ud800"}'
  const deep = `{"data":${'['.repeat(8_000)}${']'.repeat(8_000)}}`
  for (const body of [exact, deep]) {
    const id = await send({ body })
    for (const url of ['/webhooks/logs?limit=1', `/webhooks/logs/${id}`]) {
      const response = await get(url, asAdmin)
      t.equal(response.statusCode, 200)
      t.ok(response.body.includes(`"payload":${body}`), url)
      t.doesNotThrow(() => JSON.parse(response.body))
    }
  }
})

t.test(
  'log entries of the same time have a stable order without duplicates across pages, 100 per page by default [4.11-limit]',
  async (t) => {
    const { record, attempt, get } = await webhookLogHarness(t)
    const ids = await record(Array.from({ length: 105 }, () => ({})))
    for (const [index, id] of ids.entries()) await attempt(id, [index % 3 === 0 ? failed : {}])
    const page = async (query: string): Promise<string[]> =>
      (await get(`/webhooks/logs?${query}`, asAdmin)).json().map(({ id }: { id: string }) => id)
    const whole = await page('limit=1000')
    t.same(whole, ids.toSorted().toReversed())
    const pages = [await page('limit=40'), await page('limit=40&offset=40'), await page('limit=40&offset=80')]
    t.same(pages.flat(), whole)
    t.same(await page(''), whole.slice(0, 100))
    t.same(await page('offset=100'), whole.slice(100))
    await record([{}])
    const [id = ''] = await record([{}])
    await attempt(id, [{}])
    t.same(await page('limit=25'), [id, ...whole.slice(0, 24)], 'a new entry moves the others back')
  },
)
