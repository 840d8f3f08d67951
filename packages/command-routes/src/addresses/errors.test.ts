// Validation errors of the address routes, card numbers, and the precedence of errors.
import t from 'tap'
import { type AddressResponse, addressesHarness, billing, otherGuest } from '../testing/addressesHarness.ts'
import { ada, assertInvalid, guest, tooLong } from '../testing/commandApiHarness.ts'

const { post, put, remove, addressOf, recordsNothing, logged } = await addressesHarness(t)

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

/** JSON that `JSON.stringify` would not produce. */
const badTexts = ['"\\u0000"', '"a\\u0000b"', '"\\ud800"', '"\\udc00x"', '1e999', '9007199254740993', '"\u0001"']

t.test(
  'an invalid field of a new address is 400 with its name, and nothing is recorded [2.5-validation]',
  async (t) => {
    t.equal(Object.keys(kinds).length, 20, 'every field of the interface')
    await recordsNothing(t, async () => {
      let last: AddressResponse | undefined
      for (const { field, value, name } of badBodies) {
        last = await post({ ...billing, [field]: value })
        assertInvalid(t, last, name, [field])
      }
      return last ?? (await post(billing))
    })
  },
)

t.test('an invalid field of an address update is 400 with its name, and nothing is recorded', async (t) => {
  const id = await addressOf(ada)
  await recordsNothing(t, async () => {
    for (const { field, value, name } of badBodies) {
      if (field === 'guest_email') continue
      assertInvalid(t, await put(id, { name: 'y', [field]: value }), name, [field])
    }
    return put(id, {})
  })
})

t.test('unstorable text and inexact numbers are rejected anywhere in an address body', async (t) => {
  const id = await addressOf(ada)
  const good = JSON.stringify(billing).slice(0, -1)
  await recordsNothing(t, async () => {
    for (const field of [...Object.keys(kinds), 'unknown'])
      for (const text of badTexts) {
        if (!(field in billing)) assertInvalid(t, await post(`${good},"${field}":${text}}`), `${field} ${text}`)
        assertInvalid(t, await put(id, `{"${field}":${text}}`), `${field} ${text}`)
      }
    return put(id, {})
  })
})

t.test('an address body that is not a JSON object is rejected', async (t) => {
  const id = await addressOf(ada)
  const bodies = ['', '{', '[]', 'null', '1', '"x"', '{"name":"a","name":"b"}', '{"__proto__":{}}', '\ufeff{}']
  const deep = `{"note":${'['.repeat(40)}${']'.repeat(40)}}`
  await recordsNothing(t, async () => {
    for (const body of [...bodies, deep]) {
      assertInvalid(t, await post(body), `POST ${body.slice(0, 20)}`)
      assertInvalid(t, await put(id, body), `PUT ${body.slice(0, 20)}`)
    }
    return put(id, '{}')
  })
})

const card = '4242 4242 4242 4242'
const names = ['organization_id', 'name', 'line1', 'line2', 'city', 'state', 'postal_code', 'business_name', 'alias']
const texts = [...names, 'tax_id', 'tax_id_type', 'phone', 'guest_name']

t.test('a card number in an address body is rejected in any field, field name or number', async (t) => {
  const id = await addressOf(ada)
  const holders = [
    ...texts.map((field) => ({ [field]: card })),
    { name: `Ada ${card} Example` },
    { line2: '4242-4242-4242-4242' },
    { email: '4242424242424242@example.com' },
    { unknown: card },
    { unknown: 4242424242424242 },
    { unknown: { deep: [{ x: card }] } },
    { [card]: 1 },
    { address_id: card },
  ]
  await recordsNothing(t, async () => {
    for (const holder of holders) {
      const name = JSON.stringify(holder)
      const responses = [await post({ ...billing, ...holder }), await put(id, { alias: 'x', ...holder })]
      for (const { status, error, text } of responses) {
        t.match({ status, error }, { status: 422, error: { code: 'card_number_rejected' } }, name)
        t.notMatch(text, /4242\D?4242/)
      }
      t.equal((await put(id, { name: 'x', is_default: true, ...holder })).status, 422, `${name} with a choice`)
    }
    return remove(id, ada, { note: card })
  })
  t.match(await post({ ...billing, phone: '+4242 4242 4242 4242' }), { status: 422 }, 'too long for a phone number')
  t.match(await post({ ...billing, phone: '+4222 222 222 222' }), { status: 201 }, 'a phone number may look like one')
  t.notMatch(logged.join(), /4242\D?4242/)
})

t.test('an address request with several errors reports the first one in contract order [10.1-order]', async (t) => {
  const id = await addressOf(guest)
  const mine = await addressOf(ada)
  const foreign = { guest_email: 'other@example.com' }
  const large = { name: 'x'.repeat(300_000) }
  const stale = { ...ada, 'if-match': '"9"' }
  const cases: [string, () => Promise<AddressResponse>, number, string][] = [
    ['nobody, nonsense', () => post('{', {}), 401, 'unauthenticated'],
    ['nobody, too large', () => put(id, large, {}), 401, 'unauthenticated'],
    ['nobody, removal', () => remove(id, {}), 401, 'unauthenticated'],
    ['an unknown session', () => post(billing, { 'x-session-id': 'unknown' }), 401, 'unauthenticated'],
    ['an expired token', () => post(billing, { 'x-guest-token': 'expired-guest-token' }), 401, 'unauthenticated'],
    ['a foreign e-mail, incomplete', () => post(foreign, guest), 403, 'forbidden'],
    ['a foreign e-mail, wrong', () => post({ ...foreign, name: 1 }, guest), 403, 'forbidden'],
    ['a foreign e-mail, card', () => post({ ...billing, ...foreign, name: card }, guest), 403, 'forbidden'],
    ['an e-mail alone, which cannot be updated', () => put(id, foreign, guest), 400, 'invalid_request'],
    ['too large', () => post(large), 413, 'body_too_large'],
    [
      'too large, of another type',
      () => post('x'.repeat(300_000), { ...ada, 'content-type': 'text/plain' }),
      413,
      'body_too_large',
    ],
    ['another type', () => post('a=b', { ...ada, 'content-type': 'text/plain' }), 415, 'unsupported_media_type'],
    ['malformed, not there', () => put('x', { name: 1 }), 400, 'invalid_request'],
    ['an unknown country, not there', () => put('x', { country: 'XX' }), 400, 'invalid_request'],
    ['an unknown country and a card', () => post({ ...billing, country: 'XX', name: card }), 400, 'invalid_request'],
    ['incomplete and a card', () => post({ ...billing, city: null, name: card }), 400, 'invalid_request'],
    [
      'a bad key and a card',
      () => post({ ...billing, name: card }, { ...ada, 'idempotency-key': '' }),
      400,
      'invalid_request',
    ],
    ['not there, stale', () => put('x', { name: 'x' }, stale), 404, 'not_found'],
    ['not there, card', () => put('x', { name: card }), 404, 'not_found'],
    ["another's, stale", () => put(id, { name: card }, stale), 404, 'not_found'],
    ["another guest's", () => remove(id, { ...otherGuest, 'if-match': '"9"' }), 404, 'not_found'],
    ['stale, card', () => put(mine, { name: card }, stale), 412, 'precondition_failed'],
    ['stale, incomplete', () => put(mine, { city: null }, stale), 412, 'precondition_failed'],
    ['incomplete, card', () => put(mine, { city: null, name: card }), 400, 'invalid_request'],
    ['stale, removal', () => remove(mine, stale), 412, 'precondition_failed'],
    ['card', () => put(mine, { name: card }), 422, 'card_number_rejected'],
  ]
  for (const [name, request, status, code] of cases) {
    const response = await recordsNothing(t, request, `${name}: nothing is recorded`)
    t.equal(response.status, status, name)
    t.match(JSON.parse(response.text), { success: false, error: { code, message: String, request_id: String } }, name)
  }
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
