// Idempotency-Key and If-Match on the product routes.
import t from 'tap'
import { admin, freshKey } from '../testing/commandApiHarness.ts'
import { mug, plan, productsHarness } from '../testing/productsHarness.ts'

const { post, put, productOf, eventsOf, stateOf, recordsNothing, store } = await productsHarness(t)

const keyed = () => ({ ...admin, ...freshKey() })

t.test('a repeated product creation with the same key returns the first response', async (t) => {
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

t.test('a replayed creation returns the first response after the product was changed or deactivated', async (t) => {
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

t.test('another product body with the same key is rejected, after validation of the body', async (t) => {
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

t.test('the key of a rejected product creation can be used for the corrected request', async (t) => {
  const headers = keyed()
  for (const body of [
    { ...mug, name: ' ' },
    { ...mug, subtotal_cents: 1 },
    { ...mug, name: '4242424242424242' },
  ])
    t.ok((await recordsNothing(t, () => post(body, headers))).error)
  t.match(await post(mug, headers), { status: 201, headers: { 'idempotent-replayed': undefined } })
})

t.test('16 concurrent identical product requests add one product and return the same response', async (t) => {
  const headers = keyed()
  const responses = await Promise.all(Array.from({ length: 16 }, () => post(mug, headers)))
  t.same(new Set(responses.map(({ status }) => status)), new Set([201]))
  t.equal(new Set(responses.map(({ text }) => text)).size, 1)
  t.equal(responses.filter(({ headers: received }) => received['idempotent-replayed'] === undefined).length, 1)
  t.equal(new Set(responses.map(({ headers: received }) => received['x-event-position'])).size, 1)
  const events = await eventsOf(responses[0]?.data.id ?? '')
  t.same(
    events.map(({ type }) => type),
    ['ProductAdded'],
  )
})

t.test('of concurrent product bodies with one key only one is created, and the others are rejected', async (t) => {
  const headers = keyed()
  const responses = await Promise.all(['a', 'b', 'c', 'd'].map((name) => post({ ...mug, name }, headers)))
  t.same(responses.map(({ status }) => status).toSorted(), [201, 422, 422, 422])
  for (const { status, error } of responses) if (status === 422) t.equal(error?.code, 'idempotency_key_reused')
  const created = responses.find(({ status }) => status === 201)
  t.match((await eventsOf(created?.data.id ?? ''))[0]?.data, { name: created?.data.name })
})

t.test('a product creation with an empty, too long or unprintable key is rejected', async (t) => {
  const before = await store.head()
  for (const key of ['', 'x'.repeat(256), 'a\u00e9'])
    t.equal((await post(mug, { ...admin, 'idempotency-key': key })).status, 400, JSON.stringify(key.slice(0, 9)))
  t.same(await store.head(), before)
})

t.test('every product creation without a key adds a product, and updates ignore the key', async (t) => {
  const responses = await Promise.all([post(mug), post(mug), post(mug)])
  t.equal(new Set(responses.map(({ data }) => data.id)).size, 3)
  const headers = keyed()
  const [{ data }] = responses
  t.match(await put(data.id, { name: 'a' }, headers), { status: 200, data: { name: 'a' } })
  t.match(await put(data.id, { name: 'b' }, headers), { status: 200, data: { name: 'b' } })
})

const matching = (tag: string) => ({ ...admin, 'if-match': tag })

t.test('a product change with the current ETag succeeds and returns the next ETag', async (t) => {
  const { data, headers } = await post(mug)
  let tag = String(headers.etag)
  for (const name of ['a', 'b', 'c']) {
    const changed = await put(data.id, { name }, matching(tag))
    t.equal(changed.status, 200)
    t.not(changed.headers.etag, tag)
    tag = String(changed.headers.etag)
  }
  t.equal(tag, '"3"')
})

t.test('a product change with a stale ETag is 412 with the current ETag, and nothing is recorded', async (t) => {
  const id = await productOf()
  await put(id, { name: 'x' })
  const lists = ['"0", "2"', 'W/"0", W/"1"']
  for (const tag of ['"0"', '"2"', '"9007199254740993"', 'W/"1"', '1', '""', '', ...lists, '"*"', "'1'"])
    for (const body of [{ name: 'y' }, { name: 'x' }, { is_active: false }]) {
      const { status, error } = await recordsNothing(t, () => put(id, body, matching(tag)))
      t.match({ status, error }, { status: 412, error: { code: 'precondition_failed' } }, tag)
      t.same(error?.details, { etag: '"1"' })
    }
})

t.test('a product change with * or a list that contains the current ETag succeeds', async (t) => {
  const id = await productOf()
  let revision = 0
  for (const tag of [() => `"${revision}"`, () => `"77", "${revision}"`, () => `W/"5","${revision}" ,"8"`, () => '*']) {
    t.equal((await put(id, { name: `${revision}` }, matching(tag()))).status, 200, tag())
    revision += 1
  }
  t.equal((await recordsNothing(t, () => put(id, { name: '3' }, matching('"4"')))).status, 200, 'nothing changes')
})

t.test('If-Match * on an unknown product is 404', async (t) => {
  for (const id of ['018f0000-0000-7000-8000-000000000001', 'x'])
    t.equal((await recordsNothing(t, () => put(id, { name: 'x' }, matching('*')))).status, 404)
})

t.test('of concurrent product changes with the same ETag exactly one succeeds', async (t) => {
  for (let round = 0; round < 20; round++) {
    const id = await productOf()
    const bodies = [{ name: 'a' }, { name: 'b' }, { is_active: false }, { total_cents: 5, is_active: false }]
    const responses = await Promise.all(bodies.map((body) => put(id, body, matching('"0"'))))
    t.same(responses.map(({ status }) => status).toSorted(), [200, 412, 412, 412])
    const [created] = responses.filter(({ status }) => status === 200)
    t.same(await stateOf(id).then((state) => state.status === 'kept' && state.name), created?.data.name)
  }
})

t.test('concurrent product changes without If-Match all apply, one after the other', async (t) => {
  const id = await productOf(plan)
  const changes = [
    { name: 'x' },
    { description: 'x' },
    { product_type: 'service' },
    { tax_cents: 200 },
    { discount_cents: 100 },
    { billing_interval: 'year' },
    { trial_days: 3 },
    { category_id: 'x' },
    { is_active: false },
    { currency: 'usd' },
  ]
  const responses = await Promise.all(changes.map((change) => put(id, change)))
  t.same(
    responses.map(({ status }) => status),
    changes.map(() => 200),
  )
  const { data, headers } = await put(id, { is_active: false })
  t.match(data, Object.assign({}, ...changes, { currency: 'USD' }))
  t.match(data, { subtotal_cents: 990, total_cents: 990 + 200 - 100 })
  t.equal(headers.etag, `"${changes.length}"`)
  const revisions = responses.map(({ headers: received }) => received.etag)
  t.equal(new Set(revisions).size, changes.length, 'each response has its own revision')
})

t.test('of two conflicting concurrent product changes only one is recorded', async (t) => {
  const pairs: [object, object, object, number][] = [
    [plan, { is_recurring: false, billing_interval: null }, { trial_days: 7 }, 400],
    [{ ...mug, tax_cents: 100 }, { discount_cents: 1400 }, { tax_cents: 0, subtotal_cents: 1000 }, 422],
  ]
  for (const [body, one, other, rejected] of pairs)
    for (let round = 0; round < 10; round++) {
      const id = await productOf(body)
      const responses = await Promise.all(round % 2 ? [put(id, one), put(id, other)] : [put(id, other), put(id, one)])
      t.same(responses.map(({ status }) => status).toSorted(), [200, rejected])
      t.equal((await eventsOf(id)).length, 2)
    }
})

t.test(
  '16 concurrent changes of one product field are all recorded, and the last one stays',
  { timeout: 60_000 },
  async (t) => {
    const id = await productOf()
    const responses = await Promise.all(Array.from({ length: 16 }, (_, index) => put(id, { total_cents: index })))
    t.same(new Set(responses.map(({ status }) => status)), new Set([200]))
    for (const [index, { data }] of responses.entries()) t.match(data, { total_cents: index, subtotal_cents: index })
    const events = await eventsOf(id)
    t.equal(events.length, 17)
    const last = events.at(-1)
    const total = last?.type === 'ProductChanged' ? last.data.changes.total_cents : undefined
    t.match(await stateOf(id), { total_cents: total, subtotal_cents: total })
  },
)

t.test('16 concurrent equal product changes are recorded once', async (t) => {
  const id = await productOf()
  const responses = await Promise.all(Array.from({ length: 16 }, () => put(id, { name: 'x', is_active: false })))
  t.same(new Set(responses.map(({ status, headers }) => `${status} ${headers.etag}`)), new Set(['200 "2"']))
  t.equal(new Set(responses.map(({ headers }) => headers['x-event-position'])).size, 1)
  t.equal((await eventsOf(id)).length, 3)
})
