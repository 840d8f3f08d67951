// Idempotency-Key on the webhook test routes.
import t from 'tap'
import { ada, freshKey, grace } from '../testing/commandApiHarness.ts'
import { webhookTestsHarness } from '../testing/webhookTestsHarness.ts'

const { test, simulate, eventsOf, recordsNothing, time, endpoints } = await webhookTestsHarness(t)
const paid = { event: 'payment.succeeded', provider: 'stripe', payload: { id: 'pi_1', amount: 2599, currency: 'eur' } }

for (const [route, post, body, other] of [
  ['webhook test', test, { event: 'payment.succeeded', test_data: { amount: 5 } }, { event: 'payment.succeeded' }],
  ['simulation', simulate, paid, { ...paid, payload: { ...paid.payload, amount: 1 } }],
] as const) {
  t.test(`a repeated ${route} request with the same key replays the response`, async (t) => {
    const headers = { ...ada, ...freshKey() }
    const first = await post(body, headers)
    t.equal(first.status, 202)
    t.equal(first.headers['idempotent-replayed'], undefined)
    const now = time.now
    time.now = () => new Date(Date.now() + 3_600_000)
    const again = await recordsNothing(t, () => post(Object.fromEntries(Object.entries(body).reverse()), headers))
    time.now = now
    t.equal(again.status, 202)
    t.strictSame(again.json, first.json)
    t.equal(again.headers['idempotent-replayed'], 'true')
    t.equal(again.headers['x-event-position'], first.headers['x-event-position'])
    t.equal((await eventsOf(first.data.id)).length, 1)
  })

  t.test(`a ${route} request with a used key and another body is 422 and records nothing`, async (t) => {
    const headers = { ...ada, ...freshKey() }
    const first = await post(body, headers)
    const response = await recordsNothing(t, () => post(other, headers))
    t.equal(response.status, 422)
    t.equal(response.error?.code, 'idempotency_key_reused')
    t.strictSame((await post(body, headers)).json, first.json, 'the first response is unchanged')
  })

  t.test(`ten concurrent identical ${route} requests are recorded once`, async (t) => {
    const headers = { ...ada, ...freshKey() }
    const responses = await Promise.all(Array.from({ length: 10 }, () => post(body, headers)))
    t.same([...new Set(responses.map(({ status }) => status))], [202])
    t.equal(new Set(responses.map(({ text }) => text)).size, 1)
    t.equal(responses.filter((response) => response.headers['idempotent-replayed'] === undefined).length, 1)
    t.equal(new Set(responses.map((response) => response.headers['x-event-position'])).size, 1)
    t.equal((await eventsOf(responses[0]?.data.id ?? '')).length, 1)
  })

  t.test(
    `of two different concurrent ${route} requests with one key, sent five times each, only one is recorded`,
    async (t) => {
      const headers = { ...ada, ...freshKey() }
      const responses = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          post({ ...body, event: index % 2 ? 'payment.failed' : body.event }, headers),
        ),
      )
      const accepted = responses.filter(({ status }) => status === 202)
      t.equal(accepted.length, 5)
      t.equal(new Set(accepted.map(({ text }) => text)).size, 1)
      t.same(
        [...new Set(responses.map(({ error }) => error?.code))].sort(),
        ['idempotency_key_reused', undefined].sort(),
      )
      t.equal((await eventsOf(accepted[0]?.data.id ?? '')).length, 1)
    },
  )

  t.test(`a ${route} request of another session with the same key is recorded separately`, async (t) => {
    const key = freshKey()
    const first = await post(body, { ...ada, ...key })
    const second = await post(body, { ...grace, ...key })
    t.equal(second.status, 202)
    t.equal(second.headers['idempotent-replayed'], undefined)
    t.not(second.data.id, first.data.id)
  })

  t.test(`every ${route} request without a key is recorded`, async (t) => {
    const [first, second] = [await post(body), await post(body)]
    t.not(first.data.id, second.data.id)
  })
}

t.test('the webhook test routes do not share idempotency keys', async (t) => {
  const headers = { ...ada, ...freshKey() }
  const tested = await test({ event: 'payment.succeeded' }, headers)
  const simulated = await simulate(paid, headers)
  t.equal(simulated.status, 202)
  t.not(simulated.data.id, tested.data.id)
})

t.test('a replayed webhook test returns the first plan after the endpoints changed', async (t) => {
  const headers = { ...ada, ...freshKey() }
  const first = await test({ event: 'payment.succeeded' }, headers)
  t.equal(first.data.deliveries.length, 3)
  const configured = endpoints.splice(0)
  const again = await test({ event: 'payment.succeeded' }, headers)
  const fresh = await test({ event: 'payment.succeeded' })
  endpoints.push(...configured)
  t.strictSame(again.json, first.json)
  t.same(fresh.data.deliveries, [])
})
