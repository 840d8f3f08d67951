// Idempotency-Key and If-Match on the address routes.
import { userOwner } from '@paylog/domain/actor'
import t from 'tap'
import { addressesHarness, billing, shipping } from '../testing/addressesHarness.ts'
import { ada, adaId, freshKey, guest } from '../testing/commandApiHarness.ts'

const { post, put, remove, addressOf, eventsOf, stateOf, defaultOf, recordsNothing, store } = await addressesHarness(t)

t.test('a repeated address creation with the same key returns the first response', async (t) => {
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

t.test(
  'a replayed creation returns the first response after the address was changed, made the default or removed',
  async (t) => {
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
  },
)

t.test('another address body with the same key is rejected, after validation of the body', async (t) => {
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

t.test('the key of a rejected address creation can be used for the corrected request', async (t) => {
  const headers = { ...ada, ...freshKey() }
  t.equal((await recordsNothing(t, () => post({ ...billing, city: null }, headers))).status, 400)
  t.equal((await recordsNothing(t, () => post({ ...billing, name: '4242424242424242' }, headers))).status, 422)
  const { status, headers: answered } = await post(billing, headers)
  t.match({ status, replayed: answered['idempotent-replayed'] }, { status: 201, replayed: undefined })
})

t.test(
  '32 concurrent identical requests add one address and return the same response',
  { timeout: 60_000 },
  async (t) => {
    for (const body of [billing, { ...shipping, is_default: true }]) {
      const headers = { ...ada, ...freshKey() }
      const responses = await Promise.all(Array.from({ length: 32 }, () => post(body, headers)))
      t.same(new Set(responses.map(({ status }) => status)), new Set([201]))
      t.equal(new Set(responses.map(({ text }) => text)).size, 1)
      t.equal(responses.filter(({ headers: answered }) => answered['idempotent-replayed'] === undefined).length, 1)
      t.equal(new Set(responses.map(({ headers: answered }) => answered['x-event-position'])).size, 1)
      const id = responses[0]?.data.id ?? ''
      t.same(
        (await eventsOf(id)).map(({ type }) => type),
        ['AddressAdded'],
      )
    }
  },
)

t.test('of concurrent different address bodies with one key one is created, the others are rejected', async (t) => {
  const headers = { ...ada, ...freshKey() }
  const bodies = ['a', 'b', 'c', 'd'].map((alias) => ({ ...billing, alias, is_default: true }))
  const responses = await Promise.all(bodies.map((body) => post(body, headers)))
  t.same(responses.map(({ status }) => status).toSorted(), [201, 422, 422, 422])
  for (const { status, error } of responses) if (status === 422) t.equal(error?.code, 'idempotency_key_reused')
  const made = responses.find(({ status }) => status === 201)
  t.match(await stateOf(made?.data.id ?? ''), { alias: made?.data.alias })
  t.equal(await defaultOf(userOwner(adaId), 'billing'), made?.data.id)
})

t.test('an address creation with an empty, too long or unprintable key is rejected', async (t) => {
  const before = await store.head()
  for (const key of ['', 'x'.repeat(256), 'a\u00e9'])
    t.equal((await post(billing, { ...ada, 'idempotency-key': key })).status, 400, JSON.stringify(key.slice(0, 9)))
  t.same(await store.head(), before)
})

t.test('every address creation without a key adds an address', async (t) => {
  const responses = await Promise.all([post(billing), post(billing), post(billing)])
  t.equal(new Set(responses.map(({ data }) => data.id)).size, 3)
})

const matching = (tag: string, caller: Readonly<Record<string, string>> = ada) => ({ ...caller, 'if-match': tag })

t.test('an address change with the current ETag succeeds and returns the next ETag', async (t) => {
  const { data, headers } = await post(billing)
  let tag = String(headers.etag)
  for (const alias of ['a', 'b', 'c']) {
    const changed = await put(data.id, { alias }, matching(tag))
    t.equal(changed.status, 200)
    t.not(changed.headers.etag, tag)
    tag = String(changed.headers.etag)
  }
  t.equal(tag, '"3"')
  t.equal((await remove(data.id, matching(tag))).status, 200)
})

t.test('an address change with a stale ETag is 412 with the current ETag, and nothing is recorded', async (t) => {
  const id = await addressOf(ada)
  await put(id, { alias: 'x' })
  for (const tag of [
    '"0"',
    '"2"',
    '"9007199254740993"',
    'W/"1"',
    '1',
    '""',
    '',
    '"0", "2"',
    'W/"0", W/"1"',
    '"*"',
    "'1'",
  ]) {
    const responses = [
      await recordsNothing(t, () => put(id, { alias: 'y' }, matching(tag))),
      await recordsNothing(t, () => put(id, { alias: 'x' }, matching(tag))),
      await recordsNothing(t, () => put(id, { is_default: true }, matching(tag))),
      await recordsNothing(t, () => remove(id, matching(tag))),
    ]
    for (const { status, error } of responses) {
      t.match({ status, error }, { status: 412, error: { code: 'precondition_failed' } }, tag)
      t.same(error?.details, { etag: '"1"' })
    }
  }
  t.equal((await eventsOf(id)).length, 2)
})

t.test('an address change with * or a list that contains the current ETag succeeds', async (t) => {
  const id = await addressOf(guest)
  let revision = 0
  for (const tag of [() => `"${revision}"`, () => `"77", "${revision}"`, () => `W/"5","${revision}" ,"8"`, () => '*']) {
    t.equal((await put(id, { alias: `${revision}` }, matching(tag(), guest))).status, 200, tag())
    revision += 1
  }
  t.equal((await remove(id, matching('*', guest))).status, 200)
})

t.test('If-Match: * on an unknown address is not found', async (t) => {
  const id = await addressOf(ada)
  await remove(id)
  for (const gone of [id, '018f0000-0000-7000-8000-000000000001', 'x']) {
    t.equal((await recordsNothing(t, () => put(gone, { alias: 'x' }, matching('*')))).status, 404)
    t.equal((await recordsNothing(t, () => remove(gone, matching('*')))).status, 404)
  }
})

t.test('of concurrent address changes with the same ETag exactly one succeeds', async (t) => {
  for (let round = 0; round < 10; round++) {
    const id = await addressOf(ada)
    const requests = [
      put(id, { alias: 'a' }, matching('"0"')),
      put(id, { alias: 'b' }, matching('"0"')),
      put(id, { alias: 'c', is_default: true }, matching('"0"')),
      remove(id, matching('"0"')),
    ]
    const statuses = (await Promise.all(requests)).map(({ status }) => status)
    t.equal(statuses.filter((status) => status === 200).length, 1, statuses.join())
    t.same(
      statuses.filter((status) => ![200, 412, 404].includes(status)),
      [],
    )
    const requestIds = new Set((await eventsOf(id)).map(({ metadata }) => metadata.requestId))
    t.equal(requestIds.size, 2, 'the creation and one change')
  }
})

t.test('of two concurrent address updates with the same ETag one succeeds, the other is 412', async (t) => {
  for (let round = 0; round < 20; round++) {
    const id = await addressOf(ada)
    const both = ['a', 'b'].map((alias) => put(id, { alias }, matching('"0"')))
    t.same((await Promise.all(both)).map(({ status }) => status).toSorted(), [200, 412])
    t.same(
      (await eventsOf(id)).map(({ type }) => type),
      ['AddressAdded', 'AddressChanged'],
    )
  }
})

t.test('concurrent address updates without If-Match all succeed', async (t) => {
  const id = await addressOf(ada)
  const fields = ['name', 'line2', 'state', 'postal_code', 'tax_id', 'phone', 'alias', 'guest_name'] as const
  const responses = await Promise.all(fields.map((field) => put(id, { [field]: 'x' })))
  t.same(
    responses.map(({ status }) => status),
    fields.map(() => 200),
  )
  const { data, headers } = await put(id, { is_default: false })
  for (const field of fields) t.equal(data[field], 'x')
  t.equal(headers.etag, '"8"')
})
