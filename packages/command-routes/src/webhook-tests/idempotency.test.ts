// A test or a simulation that is asked for again goes out once.
import t from 'tap'
import { ada, freshKey, grace } from '../testing/commandApiHarness.ts'
import { webhookTestsHarness } from '../testing/webhookTestsHarness.ts'

const { test, simulate, eventsOf, recordsNothing, time, nodes } = await webhookTestsHarness(t)
const paid = { event: 'payment.succeeded', provider: 'stripe', payload: { id: 'pi_1', amount: 2599, currency: 'eur' } }

for (const [route, ask, body, other] of [
  ['test', test, { event: 'payment.succeeded', test_data: { amount: 5 } }, { event: 'payment.succeeded' }],
  ['simulation', simulate, paid, { ...paid, payload: { ...paid.payload, amount: 1 } }],
] as const) {
  t.test(`the same key and body give the same answer, and one ${route}`, async (t) => {
    const headers = { ...ada, ...freshKey() }
    const first = await ask(body, headers)
    t.equal(first.status, 202)
    t.equal(first.headers['idempotent-replayed'], undefined)
    const now = time.now
    time.now = () => new Date(Date.now() + 3_600_000)
    const again = await recordsNothing(t, () => ask(Object.fromEntries(Object.entries(body).reverse()), headers))
    time.now = now
    t.equal(again.status, 202)
    t.strictSame(again.answer, first.answer)
    t.equal(again.headers['idempotent-replayed'], 'true')
    t.equal(again.headers['x-event-position'], first.headers['x-event-position'])
    t.equal((await eventsOf(first.data.id)).length, 1)
  })

  t.test(`the same key with another body is no ${route}`, async (t) => {
    const headers = { ...ada, ...freshKey() }
    const first = await ask(body, headers)
    const answer = await recordsNothing(t, () => ask(other, headers))
    t.equal(answer.status, 422)
    t.equal(answer.error?.code, 'idempotency_key_reused')
    t.strictSame((await ask(body, headers)).answer, first.answer, 'and the first one still holds')
  })

  t.test(`ten identical requests at once are one ${route}`, async (t) => {
    const headers = { ...ada, ...freshKey() }
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask(body, headers)))
    t.same([...new Set(answers.map(({ status }) => status))], [202])
    t.equal(new Set(answers.map(({ text }) => text)).size, 1)
    t.equal(answers.filter((answer) => answer.headers['idempotent-replayed'] === undefined).length, 1)
    t.equal(new Set(answers.map((answer) => answer.headers['x-event-position'])).size, 1)
    t.equal((await eventsOf(answers[0]?.data.id ?? '')).length, 1)
  })

  t.test(`of two different requests with one key, five times each at once, one is a ${route}`, async (t) => {
    const headers = { ...ada, ...freshKey() }
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        ask({ ...body, event: index % 2 ? 'payment.failed' : body.event }, headers),
      ),
    )
    const accepted = answers.filter(({ status }) => status === 202)
    t.equal(accepted.length, 5)
    t.equal(new Set(accepted.map(({ text }) => text)).size, 1)
    t.same([...new Set(answers.map(({ error }) => error?.code))].sort(), ['idempotency_key_reused', undefined].sort())
    t.equal((await eventsOf(accepted[0]?.data.id ?? '')).length, 1)
  })

  t.test(`another session with the same key asks for a ${route} of its own`, async (t) => {
    const key = freshKey()
    const first = await ask(body, { ...ada, ...key })
    const second = await ask(body, { ...grace, ...key })
    t.equal(second.status, 202)
    t.equal(second.headers['idempotent-replayed'], undefined)
    t.not(second.data.id, first.data.id)
  })

  t.test(`without a key every request is a ${route}`, async (t) => {
    const [first, second] = [await ask(body), await ask(body)]
    t.not(first.data.id, second.data.id)
  })
}

t.test('a key counts for one route', async (t) => {
  const headers = { ...ada, ...freshKey() }
  const tested = await test({ event: 'payment.succeeded' }, headers)
  const simulated = await simulate(paid, headers)
  t.equal(simulated.status, 202)
  t.not(simulated.data.id, tested.data.id)
})

t.test('the answer of the first request holds when other nodes are configured since', async (t) => {
  const headers = { ...ada, ...freshKey() }
  const first = await test({ event: 'payment.succeeded' }, headers)
  t.equal(first.data.deliveries.length, 3)
  const configured = nodes.splice(0)
  const again = await test({ event: 'payment.succeeded' }, headers)
  const fresh = await test({ event: 'payment.succeeded' })
  nodes.push(...configured)
  t.strictSame(again.answer, first.answer)
  t.same(fresh.data.deliveries, [])
})
