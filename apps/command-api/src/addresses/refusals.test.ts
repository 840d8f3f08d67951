import t from 'tap'
import { type AddressAnswer, addressesUnderTest, billing, otherGuest } from '../testing/addressesUnderTest.ts'
import { ada, guest } from '../testing/people.ts'

const { post, put, remove, addressOf, recordsNothing, logged } = await addressesUnderTest(t)

const card = '4242 4242 4242 4242'
const names = ['organization_id', 'name', 'line1', 'line2', 'city', 'state', 'postal_code', 'business_name', 'alias']
const texts = [...names, 'tax_id', 'tax_id_type', 'phone', 'guest_name']

t.test('a card number is refused in every field, in unknown ones, in names and as a number', async (t) => {
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
      const answers = [await post({ ...billing, ...holder }), await put(id, { alias: 'x', ...holder })]
      for (const { status, error, text } of answers) {
        t.match({ status, error }, { status: 422, error: { code: 'card_number_rejected' } }, name)
        t.notMatch(text, /4242/)
      }
      t.equal((await put(id, { name: 'x', is_default: true, ...holder })).status, 422, `${name} with a choice`)
    }
    return remove(id, ada, { note: card })
  })
  t.match(
    await post({ ...billing, phone: '+4242 4242 4242 4242' }),
    { status: 201 },
    'a phone number may look like one',
  )
  t.notMatch(logged.join(), /4242/)
})

t.test('what is wrong first in the order of the contract is told', async (t) => {
  const id = await addressOf(guest)
  const mine = await addressOf(ada)
  const foreign = { guest_email: 'other@example.com' }
  const large = { name: 'x'.repeat(300_000) }
  const stale = { ...ada, 'if-match': '"9"' }
  const cases: [string, () => Promise<AddressAnswer>, number, string][] = [
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
    const answer = await recordsNothing(t, request, `${name}: nothing is recorded`)
    t.equal(answer.status, status, name)
    t.match(JSON.parse(answer.text), { success: false, error: { code, message: String, request_id: String } }, name)
  }
})
