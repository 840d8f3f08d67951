import t from 'tap'
import { admin, freshKey } from '../testing/people.ts'
import { mug, plan, productsUnderTest } from '../testing/productsUnderTest.ts'

const { post, put, eventsOf, recordsNothing, store } = await productsUnderTest(t)

const keyed = () => ({ ...admin, ...freshKey() })

t.test('the same request under the same key is answered as it was the first time', async (t) => {
  const headers = keyed()
  const first = await post(plan, headers)
  t.match(first, { status: 201, headers: { etag: '"0"', 'idempotent-replayed': undefined } })
  t.match((await eventsOf(first.data.id))[0]?.data, { request_fingerprint: /^[\da-f]{64}$/ })
  const { currency, ...rest } = plan
  for (const body of [plan, { currency, ...rest }, { ...plan, unknown: 1 }]) {
    const again = await recordsNothing(t, () => post(body, headers))
    t.equal(again.status, 201)
    t.equal(again.text, first.text)
    t.equal(again.headers['idempotent-replayed'], 'true')
    t.equal(again.headers.etag, first.headers.etag)
    t.equal(again.headers['x-event-position'], first.headers['x-event-position'])
  }
})

t.test('also after the product was changed or deactivated', async (t) => {
  const headers = keyed()
  const first = await post(plan, headers)
  for (const change of [{ name: 'x' }, { total_cents: 5 }, { is_active: false }]) {
    t.equal((await put(first.data.id, change)).status, 200)
    const again = await recordsNothing(t, () => post(plan, headers))
    const { 'x-event-position': position } = first.headers
    t.match(again, {
      status: 201,
      headers: { etag: '"0"', 'idempotent-replayed': 'true', 'x-event-position': position },
    })
    t.equal(again.text, first.text)
  }
})

t.test('another body under the same key is refused, and what is wrong by itself is told first', async (t) => {
  const headers = keyed()
  await post(mug, headers)
  const others = [plan, { ...mug, description: null }, { ...mug, is_active: true }, { ...mug, currency: 'eur' }]
  for (const body of [...others, { ...mug, tax_cents: 0 }]) {
    const { status, error } = await recordsNothing(t, () => post(body, headers))
    t.match({ status, error }, { status: 422, error: { code: 'idempotency_key_reused' } }, JSON.stringify(body))
  }
  for (const [body, status, code] of [
    [{ ...mug, name: ' ' }, 400, 'invalid_request'],
    [{ ...mug, subtotal_cents: 1 }, 422, 'amount_inconsistent'],
    [{ ...mug, name: '4242424242424242' }, 422, 'card_number_rejected'],
  ] as const)
    t.match(await recordsNothing(t, () => post(body, headers)), { status, error: { code } })
})

t.test('what was refused is not kept: the key is free for the corrected request', async (t) => {
  const headers = keyed()
  for (const body of [
    { ...mug, name: ' ' },
    { ...mug, subtotal_cents: 1 },
    { ...mug, name: '4242424242424242' },
  ])
    t.ok((await recordsNothing(t, () => post(body, headers))).error)
  t.match(await post(mug, headers), { status: 201, headers: { 'idempotent-replayed': undefined } })
})

t.test('16 identical requests at once add one product, and all are told of it', async (t) => {
  const headers = keyed()
  const answers = await Promise.all(Array.from({ length: 16 }, () => post(mug, headers)))
  t.same(new Set(answers.map(({ status }) => status)), new Set([201]))
  t.equal(new Set(answers.map(({ text }) => text)).size, 1)
  t.equal(answers.filter(({ headers: answered }) => answered['idempotent-replayed'] === undefined).length, 1)
  t.equal(new Set(answers.map(({ headers: answered }) => answered['x-event-position'])).size, 1)
  const events = await eventsOf(answers[0]?.data.id ?? '')
  t.same(
    events.map(({ type }) => type),
    ['ProductAdded'],
  )
})

t.test('of different requests at once under one key one is made, and the others are told', async (t) => {
  const headers = keyed()
  const answers = await Promise.all(['a', 'b', 'c', 'd'].map((name) => post({ ...mug, name }, headers)))
  t.same(answers.map(({ status }) => status).toSorted(), [201, 422, 422, 422])
  for (const { status, error } of answers) if (status === 422) t.equal(error?.code, 'idempotency_key_reused')
  const made = answers.find(({ status }) => status === 201)
  t.match((await eventsOf(made?.data.id ?? ''))[0]?.data, { name: made?.data.name })
})

t.test('a key that is empty, too long or unprintable is refused', async (t) => {
  const before = await store.head()
  for (const key of ['', 'x'.repeat(256), 'a\u00e9'])
    t.equal((await post(mug, { ...admin, 'idempotency-key': key })).status, 400, JSON.stringify(key.slice(0, 9)))
  t.same(await store.head(), before)
})

t.test('without a key every request adds a product, and an update knows no key', async (t) => {
  const answers = await Promise.all([post(mug), post(mug), post(mug)])
  t.equal(new Set(answers.map(({ data }) => data.id)).size, 3)
  const headers = keyed()
  const [{ data }] = answers
  t.match(await put(data.id, { name: 'a' }, headers), { status: 200, data: { name: 'a' } })
  t.match(await put(data.id, { name: 'b' }, headers), { status: 200, data: { name: 'b' } })
})
