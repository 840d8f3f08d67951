import { given as givenEvents } from '@paylog/testing/assertions'
import t, { type Test } from 'tap'
import {
  type AddressChoice,
  addAddress,
  addressFold,
  addressResource,
  type ChangeAddress,
  changeAddress,
  clearDefaultAddress,
  existingAddress,
  removeAddress,
} from './address.ts'
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
  default_choice: null,
  request_fingerprint: null,
}
const facts = { address_id, occurred_at: at(1) }
const added: AddressEvent = { type: 'AddressAdded', data: adding }
const addedAsDefault: AddressEvent = { type: 'AddressAdded', data: { ...adding, default_choice: 3 } }
const cleared: AddressEvent = { type: 'AddressDefaultCleared', data: facts }
const removed: AddressEvent = { type: 'AddressRemoved', data: facts }
const madeDefault = (default_choice: number): AddressEvent => ({
  type: 'AddressMadeDefault',
  data: { ...facts, default_choice },
})

const given = (t: Test, ...history: AddressEvent[]) => givenEvents(t, addressFold, history)
const change = (changes: Partial<AddressContent>, more: Pick<ChangeAddress, 'default_choice'> = {}) =>
  changeAddress.bind(null, { occurred_at: at(1), changes, ...more })
const billing = (choice: number): AddressChoice => ({ address_type: 'billing', choice })
const shipping = (choice: number): AddressChoice => ({ address_type: 'shipping', choice })

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
  t.same(addressResource(address), {
    id: address_id,
    user_id: 'user-1',
    guest_email: null,
    ...content,
    is_default: false,
    created_at: at(0),
    updated_at: at(0),
  })
})

t.test('an address added with a choice is the default', async (t) => {
  const state = given(t)
    .when(addAddress.bind(null, { ...adding, default_choice: 3 }))
    .then([{ type: 'AddressAdded', data: { default_choice: 3 } }])
  t.match(existingAddress(state), { is_default: true, default_choice: 3 })
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
  given(t, added)
    .when(change({}, { default_choice: null }))
    .then([])
  given(t, addedAsDefault)
    .when(change({ address_type: 'billing' }, { default_choice: billing(3) }))
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

t.test('a choice makes the address the default, and a later or repeated one after a clear does too', async (t) => {
  const state = given(t, added)
    .when(change({ alias: 'Home' }, { default_choice: billing(3) }))
    .then([{ type: 'AddressChanged' }, { type: 'AddressMadeDefault', data: { default_choice: 3 } }])
  t.match(existingAddress(state), { is_default: true, default_choice: 3 })
  given(t, addedAsDefault)
    .when(change({}, { default_choice: billing(5) }))
    .then([{ type: 'AddressMadeDefault', data: { default_choice: 5 } }])
  given(t, addedAsDefault, cleared)
    .when(change({}, { default_choice: billing(3) }))
    .then([{ type: 'AddressMadeDefault', data: { default_choice: 3 } }])
})

t.test('a choice older than the latest one of the address records nothing', async (t) => {
  given(t, addedAsDefault)
    .when(change({}, { default_choice: billing(2) }))
    .then([])
  given(t, addedAsDefault, cleared)
    .when(change({}, { default_choice: billing(2) }))
    .then([])
})

t.test('clearing the default keeps the number of the choice', async (t) => {
  const state = given(t, addedAsDefault)
    .when(change({}, { default_choice: null }))
    .then([{ type: 'AddressDefaultCleared', data: facts }])
  t.match(existingAddress(state), { is_default: false, default_choice: 3 })
})

t.test('changing the type clears the default, unless the change has a choice of the new type', async (t) => {
  const moved = given(t, addedAsDefault)
    .when(change({ address_type: 'shipping' }))
    .then([{ type: 'AddressChanged', data: { changes: { address_type: 'shipping' } } }])
  t.match(existingAddress(moved), { address_type: 'shipping', is_default: false })
  t.equal(existingAddress(moved).default_choice, null, 'the number does not apply to the other list')
  const chosen = given(t, addedAsDefault)
    .when(change({ address_type: 'shipping' }, { default_choice: shipping(3) }))
    .then([{ type: 'AddressChanged' }, { type: 'AddressMadeDefault', data: { default_choice: 3 } }])
  t.match(existingAddress(chosen), { address_type: 'shipping', is_default: true, default_choice: 3 })
  const notDefault = given(t, addedAsDefault)
    .when(change({ address_type: 'shipping' }, { default_choice: null }))
    .then([{ type: 'AddressChanged' }])
  t.match(existingAddress(notDefault), { is_default: false })
})

t.test('a choice from the list of another type is concurrent_modification', async (t) => {
  given(t, added)
    .when(change({}, { default_choice: shipping(0) }))
    .thenThrows('concurrent_modification')
  given(t, added)
    .when(change({ address_type: 'shipping' }, { default_choice: billing(0) }))
    .thenThrows('concurrent_modification')
})

t.test('only a later choice of the same list clears the default', async (t) => {
  const clear = (superseded_by: AddressChoice) => clearDefaultAddress.bind(null, { occurred_at: at(1), superseded_by })
  given(t, addedAsDefault)
    .when(clear(billing(4)))
    .then([cleared])
  for (const other of [billing(3), billing(2), shipping(4)]) given(t, addedAsDefault).when(clear(other)).then([])
  given(t)
    .when(clear(billing(4)))
    .then([])
  given(t, added)
    .when(clear(billing(4)))
    .then([])
  given(t, addedAsDefault, cleared)
    .when(clear(billing(4)))
    .then([])
  given(t, addedAsDefault, removed)
    .when(clear(billing(4)))
    .then([])
  given(t, addedAsDefault, madeDefault(5))
    .when(clear(billing(4)))
    .then([])
})

t.test('a removed address is no longer the default, and changing or removing it again is not_found', async (t) => {
  const state = given(t, addedAsDefault)
    .when(removeAddress.bind(null, { occurred_at: at(1) }))
    .then([removed])
  t.match(state, { status: 'removed', is_default: false, default_choice: 3 })
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
  for (const event of [changed, madeDefault(1), cleared, removed])
    t.same(addressFold.evolve(addressFold.initialState, event), { status: 'none' }, event.type)
})
