// A payment as of any time is the fold of what had happened by then.

import { existing } from '@paylog/domain/payments/payment'
import { randomStreams } from '@paylog/domain/payments/randomStory'
import { paymentResource } from '@paylog/domain/payments/resource'
import { after, at, fold } from '@paylog/domain/payments/testStory'
import t from 'tap'
import { paymentHistoryUnderTest } from '../testing/paymentHistoryUnderTest.ts'

const { payment, history, record } = await paymentHistoryUnderTest(t)
const asOf = (ms: number) => `?as_of=${new Date(ms).toISOString()}`

t.test('at the time of every event, and just before it, it is the fold of the events up to then', async (t) => {
  const stories = await Promise.all(randomStreams(12, 9).map(record))
  const outOfOrder = stories.filter(({ events }) =>
    events.some((each, n) => each.data.occurred_at < (events[n - 1]?.data.occurred_at ?? '')),
  )
  t.ok(outOfOrder.length > 2, 'some of the stories run backwards')
  let answers = 0
  for (const { id, events } of stories) {
    const times = new Set(
      events.flatMap(({ data }) => [Date.parse(data.occurred_at) - 1, Date.parse(data.occurred_at)]),
    )
    for (const time of times) {
      const later = events.findIndex(({ data }) => Date.parse(data.occurred_at) > time)
      const past = events.slice(0, later < 0 ? events.length : later)
      const { status, data, headers } = await payment(id, asOf(time))
      answers++
      if (past.length === 0) {
        t.equal(status, 404, 'before it began')
        t.equal((await history(id, undefined, asOf(time))).status, 404)
        continue
      }
      t.same(
        [status, headers.etag, data],
        [200, `"${past.length - 1}"`, paymentResource(existing(fold(past)), null)],
        `${id} ${time}`,
      )
      const told = (await history(id, undefined, asOf(time))).data
      t.same(
        told.map(({ data }) => data),
        past.map(({ data }) => data),
      )
    }
    const now = await payment(id)
    t.same([now.headers.etag, now.data], [`"${events.length - 1}"`, paymentResource(existing(fold(events)), null)])
    t.same((await payment(id, '?as_of=9999-12-31T23:59:59Z')).text, now.text, 'in the future')
    const { data } = await history(id)
    t.same(
      data.map(({ data }) => data),
      events.map(({ data }) => data),
    )
    t.same(
      data.map(({ status_after }) => status_after),
      events.map((_, n) => existing(fold(events.slice(0, n + 1))).status),
    )
  }
  t.comment(`${answers} answers`)
  t.ok(answers > 100)
})

t.test('a time is an instant, in whatever offset and however fine it is written', async (t) => {
  const { id } = await record(after('processing', 'succeeded'))
  t.equal(at(21), '2026-01-01T00:00:21.000Z')
  const statuses = {
    '2026-01-01T00:00:20.999Z': 'processing',
    '2026-01-01T00:00:20.9999999Z': 'processing',
    '2026-01-01T00:00:21Z': 'succeeded',
    '2026-01-01T00:00:21.0001Z': 'succeeded',
    '2026-01-01T01:00:20.999%2B01:00': 'processing',
    '2026-01-01T01:00:21%2B01:00': 'succeeded',
    '2025-12-31T19:00:20-05:00': 'processing',
    '2025-12-31T19:00:21-05:00': 'succeeded',
    '9999-12-31T23:59:59%2B23:59': 'succeeded',
  }
  for (const [time, status] of Object.entries(statuses))
    t.match(await payment(id, `?as_of=${time}`), { status: 200, data: { status } }, time)
  for (const time of ['0000-01-01T00:00:00Z', '2025-12-31T23:59:59.999Z'])
    t.match(await payment(id, `?as_of=${time}`), { status: 404, error: { code: 'not_found' } }, time)
})
