// Writing an address twice by one Idempotency-Key, and on the condition of an If-Match.
import t from 'tap'
import { addressesHarness, billing, shipping } from '../testing/addressesHarness.ts'
import { ada, freshKey, guest } from '../testing/commandApiHarness.ts'

const { post, put, remove, addressOf, eventsOf, stateOf, recordsNothing, store } = await addressesHarness(t)

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

t.test('32 identical requests at once add one address, and all are told of it', { timeout: 60_000 }, async (t) => {
  for (const body of [billing, { ...shipping, is_default: true }]) {
    const headers = { ...ada, ...freshKey() }
    const answers = await Promise.all(Array.from({ length: 32 }, () => post(body, headers)))
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

const matching = (tag: string, caller: Readonly<Record<string, string>> = ada) => ({ ...caller, 'if-match': tag })

t.test('a change is made to what the client has seen, and answered with the next tag', async (t) => {
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

t.test('what was changed since is refused with the present tag, and nothing is recorded', async (t) => {
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
    const answers = [
      await recordsNothing(t, () => put(id, { alias: 'y' }, matching(tag))),
      await recordsNothing(t, () => put(id, { alias: 'x' }, matching(tag))),
      await recordsNothing(t, () => put(id, { is_default: true }, matching(tag))),
      await recordsNothing(t, () => remove(id, matching(tag))),
    ]
    for (const { status, error } of answers) {
      t.match({ status, error }, { status: 412, error: { code: 'precondition_failed' } }, tag)
      t.same(error?.details, { etag: '"1"' })
    }
  }
  t.equal((await eventsOf(id)).length, 2)
})

t.test('a list with the present tag in it, and a star, are met', async (t) => {
  const id = await addressOf(guest)
  let revision = 0
  for (const tag of [() => `"${revision}"`, () => `"77", "${revision}"`, () => `W/"5","${revision}" ,"8"`, () => '*']) {
    t.equal((await put(id, { alias: `${revision}` }, matching(tag(), guest))).status, 200, tag())
    revision += 1
  }
  t.equal((await remove(id, matching('*', guest))).status, 200)
})

t.test('a star does not make what is not there', async (t) => {
  const id = await addressOf(ada)
  await remove(id)
  for (const gone of [id, '018f0000-0000-7000-8000-000000000001', 'x']) {
    t.equal((await recordsNothing(t, () => put(gone, { alias: 'x' }, matching('*')))).status, 404)
    t.equal((await recordsNothing(t, () => remove(gone, matching('*')))).status, 404)
  }
})

t.test('of several changes at once to the same tag exactly one is made', async (t) => {
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
    t.equal(requestIds.size, 2, 'its creation and the one change')
  }
})

t.test('two updates at once to the same tag: one is made, the other is told', async (t) => {
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

t.test('updates at once without a tag are all made', async (t) => {
  const id = await addressOf(ada)
  const fields = ['name', 'line2', 'state', 'postal_code', 'tax_id', 'phone', 'alias', 'guest_name'] as const
  const answers = await Promise.all(fields.map((field) => put(id, { [field]: 'x' })))
  t.same(
    answers.map(({ status }) => status),
    fields.map(() => 200),
  )
  const { data, headers } = await put(id, { is_default: false })
  for (const field of fields) t.equal(data[field], 'x')
  t.equal(headers.etag, '"8"')
})
