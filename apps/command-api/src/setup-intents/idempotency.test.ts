import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { ada, freshKey, grace } from '../testing/people.ts'
import { setupIntentsUnderTest, streamOf } from '../testing/setupIntentsUnderTest.ts'

const { store, providers, card, post } = await setupIntentsUnderTest(t)

t.test('after a lost answer the same key asks for the same setup intent', async (t) => {
  const headers = { ...ada, ...freshKey() }
  card.fails = 'unknown'
  t.equal((await post({}, headers)).statusCode, 504)
  card.fails = undefined
  const response = await post({}, headers)
  t.equal(response.statusCode, 201)
  t.equal(response.headers['idempotent-replayed'], undefined)
  t.equal(card.calls.length, 2)
  t.equal(card.calls[0]?.idempotency_key, card.calls[1]?.idempotency_key)
})

t.test('the same key and body give the same answer without another call; another body is 422', async (t) => {
  const key = freshKey()
  const headers = { ...ada, ...key }
  const first = await post({ provider_id: 'stripe' }, headers)
  card.fails = 'unavailable'
  providers.clear()
  const again = await post({ provider_id: 'stripe' }, headers)
  t.equal(again.statusCode, 201)
  t.same(again.json(), first.json())
  t.equal(again.headers['idempotent-replayed'], 'true')
  t.equal(again.headers['x-event-position'], first.headers['x-event-position'])
  for (const other of [{}, { provider_id: 'sandbox' }]) {
    const response = await post(other, headers)
    t.equal(response.statusCode, 422)
    t.match(response.json(), { error: { code: 'idempotency_key_reused' } })
  }
  t.equal(card.calls.length, 1)
  t.equal((await store.readStream(streamOf(key))).length, 1)
})

t.test('no body and an empty one are the same request, and another user has keys of its own', async (t) => {
  const key = freshKey()
  const first = await post(undefined, { ...ada, ...key })
  const again = await post({}, { ...ada, ...key })
  t.equal(again.headers['idempotent-replayed'], 'true')
  t.same(again.json(), first.json())
  const other = await post({}, { ...grace, ...key })
  t.equal(other.statusCode, 201)
  t.equal(other.headers['idempotent-replayed'], undefined)
  t.not(other.json().setup_intent_id, first.json().setup_intent_id)
})

t.test('64 identical requests at once make one setup intent, and all get it', async (t) => {
  const key = freshKey()
  const release = Promise.withResolvers<void>()
  card.delay = release.promise
  const answering = Array.from({ length: 64 }, () => post({}, { ...ada, ...key }))
  await waitFor(() => card.calls.length === 64, { what: 'all of them at the provider' })
  release.resolve()
  const answers = await Promise.all(answering)
  t.same([...new Set(answers.map(({ statusCode }) => statusCode))], [201])
  t.equal(new Set(answers.map(({ body }) => body)).size, 1)
  t.equal(card.made.size, 1)
  t.equal(answers.filter(({ headers }) => headers['idempotent-replayed'] === undefined).length, 1)
  t.equal(new Set(answers.map(({ headers }) => headers['x-event-position'])).size, 1)
  t.same(
    (await store.readStream(streamOf(key))).map(({ type }) => type),
    ['SetupIntentCreated'],
  )
})

t.test(
  'a request that the provider refuses because it is busy with an equal one gets the answer of that one',
  async (t) => {
    const headers = { ...ada, ...freshKey() }
    const [quick, slow] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    card.delay = quick.promise
    const first = post({}, headers)
    await waitFor(() => card.calls.length === 1, { what: 'the first call' })
    card.delay = slow.promise
    const second = post({}, headers)
    await waitFor(() => card.calls.length === 2, { what: 'the second call' })
    quick.resolve()
    const answered = await first
    card.fails = 'unknown'
    slow.resolve()
    t.equal((await second).statusCode, 201)
    t.same((await second).json(), answered.json())
    t.equal((await second).headers['idempotent-replayed'], 'true')
  },
)

t.test('of two different requests at once under one key, one is told that the key was used', async (t) => {
  const headers = { ...ada, ...freshKey() }
  const release = Promise.withResolvers<void>()
  card.delay = release.promise
  const answering = [post({}, headers), post({ provider_id: 'stripe' }, headers)]
  await waitFor(() => card.calls.length === 2, { what: 'both at the provider' })
  release.resolve()
  const statuses = (await Promise.all(answering)).map(({ statusCode }) => statusCode)
  t.same(statuses.toSorted(), [201, 422])
})
