// A payment that thousands of notifications have come for is answered like any other.
import type { PaymentEvent } from '@paylog/domain/payments/events'
import { after, at, fold, says } from '@paylog/domain/payments/testStory'
import t from 'tap'
import { paymentHistoryUnderTest } from '../testing/paymentHistoryUnderTest.ts'

const length = 5_000
/** A second or so each, by itself; less than half of what a request may take, on a machine with much else to do. */
const boundMs = 20_000

const { payment, history, record } = await paymentHistoryUnderTest(t)

t.test(`${length} events are answered whole and in time, several times at once as well`, async (t) => {
  const settled = after('succeeded')
  const [late] = says('failed', 100)(fold(settled))
  if (late?.type !== 'ProviderEventIgnored') throw new Error('a late failure changes nothing')
  const notices = Array.from(
    { length: length - settled.length },
    (_, n): PaymentEvent => ({
      ...late,
      data: { ...late.data, occurred_at: at(200 + n), provider_event_id: `evt_late_${n}` },
    }),
  )
  const { id } = await record([...settled, ...notices])
  const timed = async <Answer>(ask: () => Promise<Answer>) => {
    const began = performance.now()
    const answer = await ask()
    const ms = Math.round(performance.now() - began)
    t.ok(ms < boundMs, `${ms} ms`)
    return answer
  }
  const { data, text } = await timed(() => history(id))
  t.same([data.length, data.at(-1)?.revision, data.at(-1)?.status_after], [length, length - 1, 'succeeded'])
  t.comment(`${text.length} bytes`)
  t.match(await timed(() => payment(id)), { status: 200, headers: { etag: `"${length - 1}"` } })
  const half = await timed(() => payment(id, `?as_of=${at(200 + length / 2)}`))
  t.match(half, { status: 200, headers: { etag: `"${settled.length + length / 2}"` }, data: { status: 'succeeded' } })
  const together = await timed(() => Promise.all([history(id), history(id), history(id), payment(id)]))
  t.same(new Set(together.map(({ status }) => status)), new Set([200]))
})
