import t from 'tap'
import { addressesHarness, billing, kelvinGuest, sameGuest } from '../testing/addressesHarness.ts'
import { ada, adaId, assertInvalid, guest, tooLong } from '../testing/commandApiHarness.ts'

const { post, put, remove, addressOf, eventsOf, recordsNothing } = await addressesHarness(t)

const everything = {
  address_type: 'shipping',
  organization_id: 'org-1',
  name: 'Ada Example',
  line1: '1 Sample Street',
  line2: 'Second floor',
  city: 'S\u00e3o Paulo',
  state: 'SP',
  postal_code: '01310-100',
  country: 'bR',
  is_partial: true,
  is_business: true,
  business_name: 'Example Ltd',
  tax_id: 'BR-12',
  tax_id_type: 'br_cnpj',
  phone: '+55 11 5555 0100',
  email: 'office@example.com',
  alias: 'Office',
  is_default: true,
  guest_email: 'contact@example.com',
  guest_name: 'Contact Example',
}

const empty = {
  organization_id: null,
  name: null,
  line1: null,
  line2: null,
  city: null,
  state: null,
  postal_code: null,
  country: null,
  is_partial: false,
  is_business: false,
  business_name: null,
  tax_id: null,
  tax_id_type: null,
  phone: null,
  email: null,
  alias: null,
  is_default: false,
  guest_email: null,
  guest_name: null,
}

t.test('a session creates an address with every field [2.5-fields]', async (t) => {
  const { status, data, headers } = await post(everything)
  t.equal(status, 201)
  const { id, created_at, updated_at, ...content } = data
  t.same(content, { ...everything, country: 'BR', user_id: adaId })
  t.match(created_at, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
  t.equal(updated_at, created_at)
  const [added, ...more] = await eventsOf(id)
  t.same(more, [])
  t.match(added, {
    type: 'AddressAdded',
    data: { address_id: id, user_id: adaId, is_default: true, request_fingerprint: null, country: 'BR' },
    metadata: { actor: `session:${adaId}`, requestId: headers['x-request-id'] },
  })
  t.equal(headers.etag, '"0"')
  t.ok(Number(headers['x-event-position']) > Number(added?.position.commit), 'the position of the choice')
  t.equal(headers['idempotent-replayed'], undefined)
})

t.test('omitted and null address fields are null', async (t) => {
  const asNull = Object.fromEntries(Object.entries(empty).filter(([, value]) => value === null))
  for (const more of [{}, { ...asNull, is_partial: true }, { ...asNull, ...billing }]) {
    const { status, data } = await post({ ...billing, ...more })
    t.equal(status, 201)
    t.match(data, { ...empty, ...billing, ...more })
  }
})

t.test('missing address fields are reported by name, and nothing is recorded [2.7-address-required]', async (t) => {
  const cases: [object, string[]][] = [
    [{}, ['address_type', 'line1', 'city', 'country']],
    [{ ...billing, line1: ' \t' }, ['line1']],
    [{ address_type: 'shipping', is_partial: true, is_business: true }, ['business_name']],
    [{ address_type: 'shipping', is_business: true }, ['line1', 'city', 'country', 'business_name']],
  ]
  for (const [body, missing] of cases) {
    const { status, error } = await recordsNothing(t, () => post(body))
    t.match(
      { status, error },
      { status: 400, error: { code: 'invalid_request', message: String } },
      JSON.stringify(body),
    )
    t.same(error?.details, { fields: missing.map((field) => ({ field, message: 'is required' })) })
  }
  t.equal((await post({ address_type: 'shipping', is_partial: true })).status, 201)
  t.equal((await post({ ...billing, is_business: true, business_name: 'Example Ltd' })).status, 201)
})

t.test('an address update ignores what a client sends back, and a creation refuses it [10.1-sent-back]', async (t) => {
  const sentBack = { id: 'x', user_id: 'y', created_at: 'z', updated_at: 1 }
  t.equal((await recordsNothing(t, () => post({ ...billing, ...sentBack }))).status, 400)
  const { data } = await post(billing)
  t.equal((await recordsNothing(t, () => put(data.id, { ...data, aliass: 'Home' }))).status, 400)
  const changed = await put(data.id, { ...data, ...sentBack, guest_email: 'x@example.com', alias: 'Home' })
  t.match(changed, { status: 200, data: { id: data.id, user_id: adaId, guest_email: null, alias: 'Home' } })
  t.same((await eventsOf(data.id)).at(-1)?.data, {
    address_id: data.id,
    occurred_at: changed.data.updated_at,
    changes: { alias: 'Home' },
  })
})

t.test(
  'an address update keeps omitted fields, clears null ones, and records only differences [4-update-address]',
  async (t) => {
    const { data: before } = await post({ ...everything, is_default: false })
    const changed = await put(before.id, { line2: null, city: 'Rio', country: 'br', name: before.name })
    t.equal(changed.status, 200)
    t.same(changed.data, { ...before, line2: null, city: 'Rio', updated_at: changed.data.updated_at })
    t.equal(changed.headers.etag, '"1"')
    const [, event, ...more] = await eventsOf(before.id)
    t.same(more, [])
    t.match(event, { type: 'AddressChanged', metadata: { actor: `session:${adaId}` } })
    t.same(event?.type === 'AddressChanged' && event.data.changes, { line2: null, city: 'Rio' })
    t.equal(changed.headers['x-event-position'], String(event?.position.commit))
  },
)

t.test('an address update without a difference records nothing and returns the address', async (t) => {
  const { data, headers } = await post({ ...everything, is_default: false })
  for (const body of [{ alias: 'Office', country: 'br' }, { is_default: false }]) {
    const same = await recordsNothing(t, () => put(data.id, body))
    t.equal(same.status, 200)
    t.same(same.data, data)
    t.equal(same.headers.etag, '"0"')
    t.equal(same.headers['x-event-position'], headers['x-event-position'])
  }
})

t.test('an address update without a known field is rejected', async (t) => {
  const id = await addressOf(ada)
  for (const body of [{}, { guest_email: 'x@example.com' }, { id }, { user_id: 'x', created_at: 'y' }]) {
    const { status, error } = await recordsNothing(t, () => put(id, body))
    t.match({ status, error }, { status: 400, error: { code: 'invalid_request', details: { fields: Array } } })
  }
})

t.test('an address update must satisfy the rules of creation [4.12-put-rules]', async (t) => {
  const id = await addressOf(ada)
  const cases: [object, string[]][] = [
    [{ city: ' ', country: null }, ['city', 'country']],
    [{ line1: null, is_default: true }, ['line1']],
    [{ line1: null, address_type: 'shipping' }, ['line1']],
  ]
  for (const [body, missing] of cases) {
    const { status, error } = await recordsNothing(t, () => put(id, body))
    t.match({ status, error }, { status: 400, error: { code: 'invalid_request' } }, JSON.stringify(body))
    t.same(error?.details, { fields: missing.map((field) => ({ field, message: 'is required' })) })
  }
  t.match(await put(id, { line1: null, is_partial: true }), { status: 200, data: { line1: null, is_partial: true } })
})

t.test('a removed address is not found, like an unknown one [4-delete-address]', async (t) => {
  const id = await addressOf(ada)
  const { status, text, headers } = await remove(id)
  t.equal(status, 200)
  t.same(JSON.parse(text), { success: true, data: { id, deleted: true } })
  const last = (await eventsOf(id)).at(-1)
  t.match(last, { type: 'AddressRemoved', metadata: { actor: `session:${adaId}` } })
  t.equal(headers['x-event-position'], String(last?.position.commit))
  const errors = [
    () => remove(id),
    () => put(id, { line1: null }),
    () => put(id, { alias: '4242 4242 4242 4242' }),
    () => put(id, { is_default: true }),
    () => remove('018f0000-0000-7000-8000-000000000001'),
    () => put('nonsense%2f..%2fx', { is_default: true }),
  ]
  const responses = []
  for (const request of errors) {
    const { status, error } = await recordsNothing(t, request)
    responses.push({ status, code: error?.code, message: error?.message, details: error?.details })
  }
  const notFound = { status: 404, code: 'not_found', message: 'No address with this id', details: undefined }
  t.same(
    responses,
    errors.map(() => notFound),
  )
})

t.test("a guest's address has the token's e-mail and no user id [4.6-guest]", async (t) => {
  const cases: [Readonly<Record<string, string>>, object, string][] = [
    [guest, {}, 'guest@example.com'],
    [guest, { guest_email: null }, 'guest@example.com'],
    [guest, { guest_email: 'Guest@EXAMPLE.com' }, 'Guest@EXAMPLE.com'],
    [sameGuest, {}, 'GUEST@Example.com'],
    [sameGuest, { guest_email: 'guest@example.com' }, 'guest@example.com'],
    [kelvinGuest, {}, '\u212aim@example.com'],
  ]
  for (const [headers, more, guest_email] of cases) {
    const { status, data } = await post({ ...billing, ...more, guest_name: 'Kim' }, headers)
    t.match({ status, data }, { status: 201, data: { user_id: null, guest_email, guest_name: 'Kim' } })
  }
})

// The comparison of e-mails: payments/intentBody.test.ts.
t.test('an address from a guest with any other guest_email, even a malformed one, is forbidden', async (t) => {
  const id = await addressOf(guest)
  for (const guest_email of ['other@example.com', ' guest@example.com', 'x', '']) {
    const { status, error } = await recordsNothing(t, () => post({ ...billing, guest_email }, guest))
    t.match({ status, error }, { status: 403, error: { code: 'forbidden' } }, JSON.stringify(guest_email))
  }
  const changed = await put(id, { alias: 'y', guest_email: 'other@example.com' }, guest)
  t.match(changed, { status: 200, data: { alias: 'y', guest_email: 'guest@example.com' } }, 'the owner stays')
})

type Kind = 'text' | 'email' | 'country' | 'flag' | 'type'
const kinds: Readonly<Record<string, Kind>> = {
  address_type: 'type',
  organization_id: 'text',
  name: 'text',
  line1: 'text',
  line2: 'text',
  city: 'text',
  state: 'text',
  postal_code: 'text',
  country: 'country',
  is_partial: 'flag',
  is_business: 'flag',
  business_name: 'text',
  tax_id: 'text',
  tax_id_type: 'text',
  phone: 'text',
  email: 'email',
  alias: 'text',
  is_default: 'flag',
  guest_email: 'email',
  guest_name: 'text',
}

const noText: readonly unknown[] = [0, 1, 1.5, -1, true, false, [], ['x'], {}, { toString: 'x' }]
const bad: Readonly<Record<Kind, readonly unknown[]>> = {
  text: [...noText, tooLong],
  email: [...noText, '', 'x', 'x@', '@example.com', 'a b@example.com', 'a@b@c', `${'x'.repeat(250)}@example.com`],
  country: [...noText, tooLong, '', 'D', 'DEU', 'XX', 'UK', 'EU', 'ZZ', '\u00df', ' DE', '49', 'Germany'],
  flag: [null, 0, 1, '', 'true', 'false', [], {}],
  type: [...noText, null, '', 'Billing', 'home', 'billing ', tooLong],
}

/** Every invalid value of every field, each in an otherwise valid body. */
const badBodies = Object.entries(kinds).flatMap(([field, kind]) =>
  bad[kind].map((value) => ({ field, value, name: `${field}: ${JSON.stringify(value).slice(0, 30)}` })),
)

t.test('an invalid field of an address is 400 with its name, and nothing is recorded [2.5-validation]', async (t) => {
  t.equal(Object.keys(kinds).length, 20, 'every field of the interface')
  const id = await addressOf(ada)
  await recordsNothing(t, async () => {
    for (const { field, value, name } of badBodies) {
      assertInvalid(t, await post({ ...billing, [field]: value }), name, [field])
      if (field !== 'guest_email') assertInvalid(t, await put(id, { name: 'y', [field]: value }), name, [field])
    }
  })
})

t.test('a phone number may look like a card number, but not be too long for a phone number', async (t) => {
  t.match(await post({ ...billing, phone: '+4242 4242 4242 4242' }), {
    status: 422,
    error: { code: 'card_number_rejected' },
  })
  t.match(await post({ ...billing, phone: '+4222 222 222 222' }), { status: 201 })
})

t.test('POST /addresses reports every error of the body in one response', async (t) => {
  const wrong = { name: 1, is_business: true, country: 'XX', email: 'x' }
  const expected = ['address_type', 'name', 'email', 'country', 'line1', 'city', 'business_name']
  const response = await post(wrong)
  assertInvalid(t, response, 'POST', expected)
  t.equal(JSON.parse(response.text).error.details.fields.length, expected.length)
  const ofPartial = ['address_type', 'name', 'email', 'country', 'business_name']
  assertInvalid(t, await post({ ...wrong, is_partial: true }), 'partial', ofPartial)
  assertInvalid(t, await put(await addressOf(ada), { name: 1, country: 'XX' }), 'PUT', ['name', 'country'])
})
