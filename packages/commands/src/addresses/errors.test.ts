// Validation errors of the address routes, card numbers, and the precedence of errors.
import t from 'tap'
import { type AddressResponse, addressesHarness, billing, otherGuest } from '../testing/addressesHarness.ts'
import { ada, assertInvalid, guest, tooLong } from '../testing/commandApiHarness.ts'

const { post, put, remove, addressOf, recordsNothing } = await addressesHarness(t)

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

const card = '4242 4242 4242 4242'
t.test('a phone number may look like a card number, but not be too long for a phone number', async (t) => {
  t.match(await post({ ...billing, phone: '+4242 4242 4242 4242' }), {
    status: 422,
    error: { code: 'card_number_rejected' },
  })
  t.match(await post({ ...billing, phone: '+4222 222 222 222' }), { status: 201 })
})

t.test(
  'an address request of a guest with several errors reports the first one in contract order [10.1-order]',
  async (t) => {
    const id = await addressOf(guest)
    const foreign = { guest_email: 'other@example.com' }
    const cases: [string, () => Promise<AddressResponse>, number, string][] = [
      ['an expired token', () => post(billing, { 'x-guest-token': 'expired-guest-token' }), 401, 'unauthenticated'],
      ['a foreign e-mail, incomplete', () => post(foreign, guest), 403, 'forbidden'],
      ['a foreign e-mail, wrong', () => post({ ...foreign, name: 1 }, guest), 403, 'forbidden'],
      ['a foreign e-mail, card', () => post({ ...billing, ...foreign, name: card }, guest), 403, 'forbidden'],
      ['an e-mail alone, which cannot be updated', () => put(id, foreign, guest), 400, 'invalid_request'],
      ['incomplete and a card', () => post({ ...billing, city: null, name: card }), 400, 'invalid_request'],
      ["another's, card", () => put(id, { name: card }, { ...ada, 'if-match': '"9"' }), 404, 'not_found'],
      ["another guest's", () => remove(id, { ...otherGuest, 'if-match': '"9"' }), 404, 'not_found'],
    ]
    for (const [name, request, status, code] of cases)
      t.match(await recordsNothing(t, request, name), { status, error: { code, message: String } }, name)
  },
)

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
