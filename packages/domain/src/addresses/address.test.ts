import { given as givenEvents } from '@paylog/testing/assertions'
import t, { type Test } from 'tap'
import { addAddress, addressFold, addressResource, changeAddress, existingAddress, removeAddress } from './address.ts'
import { type AddressContent, type AddressEvent, emptyAddressContent } from './events.ts'

const address_id = '018f0000-0000-7000-8000-000000000001'
const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toISOString()

const content: AddressContent = {
  ...emptyAddressContent,
  address_type: 'billing',
  name: 'Ada Example',
  line1: '1 Sample Street',
  city: 'Berlin',
  postal_code: '10115',
  country: 'DE',
}
const adding = {
  address_id,
  occurred_at: at(0),
  user_id: 'user-1',
  guest_email: null,
  ...content,
  is_default: false,
  request_fingerprint: null,
}
const facts = { address_id, occurred_at: at(1) }
const added: AddressEvent = { type: 'AddressAdded', data: adding }
const removed: AddressEvent = { type: 'AddressRemoved', data: facts }

const given = (t: Test, ...history: AddressEvent[]) => givenEvents(t, addressFold, history)
const change = (changes: Partial<AddressContent>) => changeAddress.bind(null, { occurred_at: at(1), changes })

/** The details of the invalid_request that a command throws. */
function missing(t: Test, decide: () => unknown): unknown {
  try {
    decide()
  } catch (error) {
    t.match(error, { code: 'invalid_request' })
    return error instanceof Error && 'details' in error ? error.details : undefined
  }
  return t.fail('the command was accepted')
}

const isRequired = (...fields: string[]) => ({ fields: fields.map((field) => ({ field, message: 'is required' })) })

t.test('adding an address records its content, which the API resource shows', async (t) => {
  const address = existingAddress(given(t).when(addAddress.bind(null, adding)).then([added]))
  t.same(addressResource(address, false), {
    id: address_id,
    user_id: 'user-1',
    guest_email: null,
    ...content,
    is_default: false,
    created_at: at(0),
    updated_at: at(0),
  })
})

t.test('adding an address that exists or was removed records nothing', async (t) => {
  given(t, added).when(addAddress.bind(null, adding)).then([])
  given(t, added, removed).when(addAddress.bind(null, adding)).then([])
})

t.test('a new address needs line1, city and country unless partial, and business_name if a business', async (t) => {
  const incomplete = (more: Partial<AddressContent>) =>
    missing(t, () => addAddress({ ...adding, ...more }, addressFold.initialState))
  for (const field of ['line1', 'city', 'country'])
    for (const empty of [null, '', ' \t\u00a0'])
      t.same(incomplete({ [field]: empty }), isRequired(field), `${field} ${JSON.stringify(empty)}`)
  for (const business_name of [null, '', '  '])
    t.same(incomplete({ is_business: true, business_name }), isRequired('business_name'))
  const nothing = { line1: null, city: null, country: null }
  t.same(incomplete({ ...nothing, is_business: true }), isRequired('line1', 'city', 'country', 'business_name'))
  t.same(incomplete({ ...nothing, is_partial: true, is_business: true }), isRequired('business_name'))
  given(t)
    .when(addAddress.bind(null, { ...adding, ...nothing, is_partial: true }))
    .then([{ type: 'AddressAdded' }])
  given(t)
    .when(addAddress.bind(null, { ...adding, is_business: true, business_name: 'Example Ltd' }))
    .then([{ type: 'AddressAdded' }])
})

t.test('a change records only the fields with a new value', async (t) => {
  const state = given(t, added)
    .when(change({ alias: 'Home', city: 'Berlin', line2: null, postal_code: null }))
    .then([{ type: 'AddressChanged' }])
  const [event] = change({ alias: 'Home', city: 'Berlin', line2: null, postal_code: null })(
    addressFold.evolve(addressFold.initialState, added),
  )
  t.same(event?.data, { ...facts, changes: { alias: 'Home', postal_code: null } })
  t.match(existingAddress(state), {
    alias: 'Home',
    postal_code: null,
    city: 'Berlin',
    created_at: at(0),
    updated_at: at(1),
  })
})

t.test('a change without new values records nothing', async (t) => {
  given(t, added).when(change({})).then([])
  given(t, added)
    .when(change({ name: 'Ada Example', is_partial: false, line2: null }))
    .then([])
})

t.test('a change that leaves required fields empty is rejected', async (t) => {
  const state = addressFold.evolve(addressFold.initialState, added)
  t.same(
    missing(t, () => change({ line1: null, city: '' })(state)),
    isRequired('line1', 'city'),
  )
  t.same(
    missing(t, () => change({ is_business: true })(state)),
    isRequired('business_name'),
  )
  given(t, added)
    .when(change({ line1: null, is_partial: true }))
    .then([{ type: 'AddressChanged' }])
  const partial: AddressEvent = { type: 'AddressAdded', data: { ...adding, is_partial: true, city: null } }
  given(t, partial)
    .when(change({ is_partial: false }))
    .thenThrows('invalid_request')
  given(t, partial)
    .when(change({ is_partial: false, city: 'Berlin' }))
    .then([{ type: 'AddressChanged' }])
})

t.test('changing or removing a removed address is not_found', async (t) => {
  given(t, added)
    .when(removeAddress.bind(null, { occurred_at: at(1) }))
    .then([removed])
  for (const history of [[], [added, removed]]) {
    given(t, ...history)
      .when(removeAddress.bind(null, { occurred_at: at(1) }))
      .thenThrows('not_found')
    given(t, ...history)
      .when(change({ alias: 'Home' }))
      .thenThrows('not_found')
    given(t, ...history)
      .when(change({ line1: null }))
      .thenThrows('not_found')
  }
})

t.test('events of an address that was never added leave the state unchanged', async (t) => {
  const changed: AddressEvent = { type: 'AddressChanged', data: { ...facts, changes: { alias: 'Home' } } }
  for (const event of [changed, removed])
    t.same(addressFold.evolve(addressFold.initialState, event), { status: 'none' }, event.type)
})
