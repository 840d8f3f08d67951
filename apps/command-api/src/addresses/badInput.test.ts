import t, { type Test } from 'tap'
import { type AddressAnswer, addressesUnderTest, billing } from '../testing/addressesUnderTest.ts'
import { ada } from '../testing/people.ts'

const { post, put, addressOf, recordsNothing } = await addressesUnderTest(t)

const tooLong = 'x'.repeat(256)

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

/** Of every field everything bad, by itself in an otherwise good body. */
const badBodies = Object.entries(kinds).flatMap(([field, kind]) =>
  bad[kind].map((value) => ({ field, value, name: `${field}: ${JSON.stringify(value).slice(0, 30)}` })),
)

/** As they stand in JSON: what `JSON.stringify` would not write. */
const badTexts = ['"\\u0000"', '"a\\u0000b"', '"\\ud800"', '"\\udc00x"', '1e999', '9007199254740993', '"\u0001"']

/** Refused as malformed, naming the field without its value. */
function isInvalid(t: Test, { status, error, text }: AddressAnswer, name: string, field?: string): void {
  t.match({ status, error }, { status: 400, error: { code: 'invalid_request', message: String } }, name)
  if (field === undefined) return
  const { fields } = Object(error?.details)
  t.same(
    fields.map((each: { field: string }) => each.field),
    [field],
    `${name} is named`,
  )
  t.match(fields[0].message, /./)
  t.notMatch(text, tooLong)
}

t.test('whatever is wrong with a field of a new address is told, and nothing is recorded', async (t) => {
  t.equal(Object.keys(kinds).length, 20, 'every field of the interface')
  await recordsNothing(t, async () => {
    let last: AddressAnswer | undefined
    for (const { field, value, name } of badBodies) {
      last = await post({ ...billing, [field]: value })
      isInvalid(t, last, name, field)
    }
    return last ?? (await post(billing))
  })
})

t.test('whatever is wrong with a field of an update is told, and nothing is recorded', async (t) => {
  const id = await addressOf(ada)
  await recordsNothing(t, async () => {
    for (const { field, value, name } of badBodies) {
      if (field === 'guest_email') continue
      isInvalid(t, await put(id, { name: 'y', [field]: value }), name, field)
    }
    return put(id, {})
  })
})

t.test('text that cannot be stored and numbers that cannot be kept are refused wherever they stand', async (t) => {
  const id = await addressOf(ada)
  const good = JSON.stringify(billing).slice(0, -1)
  await recordsNothing(t, async () => {
    for (const field of [...Object.keys(kinds), 'unknown'])
      for (const text of badTexts) {
        if (!(field in billing)) isInvalid(t, await post(`${good},"${field}":${text}}`), `${field} ${text}`)
        isInvalid(t, await put(id, `{"${field}":${text}}`), `${field} ${text}`)
      }
    return put(id, {})
  })
})

t.test('what is no object of JSON is refused', async (t) => {
  const id = await addressOf(ada)
  const bodies = ['', '{', '[]', 'null', '1', '"x"', '{"name":"a","name":"b"}', '{"__proto__":{}}', '\ufeff{}']
  const deep = `{"note":${'['.repeat(40)}${']'.repeat(40)}}`
  await recordsNothing(t, async () => {
    for (const body of [...bodies, deep]) {
      isInvalid(t, await post(body), `POST ${body.slice(0, 20)}`)
      isInvalid(t, await put(id, body), `PUT ${body.slice(0, 20)}`)
    }
    return put(id, '{}')
  })
})
