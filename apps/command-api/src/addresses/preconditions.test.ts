import t from 'tap'
import { addressesUnderTest, billing } from '../testing/addressesUnderTest.ts'
import { ada, guest } from '../testing/people.ts'

const { post, put, remove, addressOf, eventsOf, recordsNothing } = await addressesUnderTest(t)

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
    t.equal(new Set((await eventsOf(id)).map(({ metadata }) => metadata.requestId)).size <= 3, true)
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
