import t from 'tap'
import { addressesUnderTest, billing, shipping } from '../testing/addressesUnderTest.ts'
import { ada, freshKey, guest } from '../testing/people.ts'

const { post, put, remove, eventsOf, stateOf, recordsNothing, store } = await addressesUnderTest(t)

t.test('the same request under the same key is answered as it was the first time', async (t) => {
  for (const caller of [ada, guest]) {
    const headers = { ...caller, ...freshKey() }
    const first = await post(billing, headers)
    t.equal(first.headers['idempotent-replayed'], undefined)
    const { country, ...rest } = billing
    for (const body of [billing, { country, ...rest }, { ...billing, unknown: 1 }]) {
      const again = await recordsNothing(t, () => post(body, headers))
      t.equal(again.status, 201)
      t.equal(again.text, first.text)
      t.equal(again.headers['idempotent-replayed'], 'true')
      t.equal(again.headers.etag, first.headers.etag)
      t.equal(again.headers['x-event-position'], first.headers['x-event-position'])
    }
  }
})

t.test('also after the address was changed, made the default, or removed', async (t) => {
  const headers = { ...ada, ...freshKey() }
  const first = await post(billing, headers)
  const { id } = first.data
  for (const happens of [
    () => put(id, { alias: 'x', address_type: 'shipping' }),
    () => put(id, { is_default: true }),
    () => remove(id),
  ]) {
    t.equal((await happens()).status, 200)
    const again = await recordsNothing(t, () => post(billing, headers))
    t.match(again, { status: 201, text: first.text, headers: { etag: '"0"', 'idempotent-replayed': 'true' } })
  }
  t.match(await stateOf(id), { status: 'removed' })
})

t.test('another body under the same key is refused, and what is wrong by itself is told first', async (t) => {
  const headers = { ...ada, ...freshKey() }
  await post(billing, headers)
  for (const body of [
    shipping,
    { ...billing, line2: null },
    { ...billing, is_default: true },
    { ...billing, country: 'de' },
  ]) {
    const { status, error } = await recordsNothing(t, () => post(body, headers))
    t.match({ status, error }, { status: 422, error: { code: 'idempotency_key_reused' } }, JSON.stringify(body))
  }
  t.equal((await recordsNothing(t, () => post({ ...billing, city: null }, headers))).status, 400)
  const card = await recordsNothing(t, () => post({ ...billing, name: '4242424242424242' }, headers))
  t.equal(card.error?.code, 'card_number_rejected')
})

t.test('what was refused is not kept: the key is free for the corrected request', async (t) => {
  const headers = { ...ada, ...freshKey() }
  t.equal((await recordsNothing(t, () => post({ ...billing, city: null }, headers))).status, 400)
  t.equal((await recordsNothing(t, () => post({ ...billing, name: '4242424242424242' }, headers))).status, 422)
  const { status, headers: answered } = await post(billing, headers)
  t.match({ status, replayed: answered['idempotent-replayed'] }, { status: 201, replayed: undefined })
})

t.test('64 identical requests at once add one address, and all are told of it', { timeout: 60_000 }, async (t) => {
  for (const body of [billing, { ...shipping, is_default: true }]) {
    const headers = { ...ada, ...freshKey() }
    const answers = await Promise.all(Array.from({ length: 64 }, () => post(body, headers)))
    t.same(new Set(answers.map(({ status }) => status)), new Set([201]))
    t.equal(new Set(answers.map(({ text }) => text)).size, 1)
    t.equal(answers.filter(({ headers: answered }) => answered['idempotent-replayed'] === undefined).length, 1)
    t.equal(new Set(answers.map(({ headers: answered }) => answered['x-event-position'])).size, 1)
    const id = answers[0]?.data.id ?? ''
    t.same(
      (await eventsOf(id)).map(({ type }) => type),
      ['AddressAdded'],
    )
  }
})

t.test('of different requests at once under one key one is made, and the others are told', async (t) => {
  const headers = { ...ada, ...freshKey() }
  const bodies = ['a', 'b', 'c', 'd'].map((alias) => ({ ...billing, alias, is_default: true }))
  const answers = await Promise.all(bodies.map((body) => post(body, headers)))
  t.same(answers.map(({ status }) => status).toSorted(), [201, 422, 422, 422])
  for (const { status, error } of answers) if (status === 422) t.equal(error?.code, 'idempotency_key_reused')
  const made = answers.find(({ status }) => status === 201)
  t.match(await stateOf(made?.data.id ?? ''), { is_default: true, alias: made?.data.alias })
})

t.test('a key that is empty, too long or unprintable is refused', async (t) => {
  const before = await store.head()
  for (const key of ['', 'x'.repeat(256), 'a\u00e9'])
    t.equal((await post(billing, { ...ada, 'idempotency-key': key })).status, 400, JSON.stringify(key.slice(0, 9)))
  t.same(await store.head(), before)
})

t.test('without a key every request adds an address', async (t) => {
  const answers = await Promise.all([post(billing), post(billing), post(billing)])
  t.equal(new Set(answers.map(({ data }) => data.id)).size, 3)
})
