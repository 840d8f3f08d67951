import { PaymentMethodResource } from '@paylog/domain/payment-methods/resource'
import { paymentMethodStream, providerCustomerStream } from '@paylog/event-store/streamName'
import t from 'tap'
import { ada, adaId, grace, guest, guestEmail } from '../testing/people.ts'
import { savingUnderTest } from '../testing/savingUnderTest.ts'

const { fake, save, remove, recordsNothing, eventsOf, typesOf, stateOf, bodyOf, addressOf } = await savingUnderTest(t)

t.test('the record is what the client said and what the provider tells, and nothing is left out', async (t) => {
  const billing_address_id = await addressOf(ada)
  const said = {
    type: 'card',
    organization_id: 'org-1',
    alias: 'Everyday card',
    billing_details: {
      name: 'Ada Example',
      email: 'ada@example.com',
      phone: '+49 30 000000',
      address: { line1: '1 Sample Street', city: 'Berlin', postal_code: '10115', country: 'DE' },
    },
  }
  const { status, data, id, headers, etag } = await save(
    bodyOf({
      ...said,
      wallet_type: 'apple_pay',
      customer_id: 'cus_of_somebody',
      billing_address_id: billing_address_id.toUpperCase(),
    }),
  )
  t.equal(status, 201)
  const { id: _, customer_id, created_at, updated_at, ...rest } = data ?? {}
  t.same(rest, {
    payment_type: 'card',
    wallet_type: 'apple_pay',
    card_brand: 'visa',
    last_four: '4242',
    expiry_month: '08',
    expiry_year: '2034',
    alias: 'Everyday card',
    type: 'card',
    provider_id: 'stripe',
    organization_id: 'org-1',
    billing_address_id,
    billing_details: {
      ...said.billing_details,
      address: { ...said.billing_details.address, line2: null, state: null },
    },
    is_default: false,
    guest_email: null,
  })
  t.same(Object.keys(data ?? {}).toSorted(), Object.keys(PaymentMethodResource.properties).toSorted())
  t.match(customer_id, /^cus_/)
  t.not(customer_id, 'cus_of_somebody')
  t.match(created_at, /Z$/)
  t.equal(updated_at, created_at)
  const [added, ...more] = await eventsOf(id)
  t.same(more, [])
  t.match(added, { type: 'PaymentMethodAdded', data: { user_id: adaId }, metadata: { actor: `session:${adaId}` } })
  t.equal(etag, '"0"')
  t.equal(headers['x-event-position'], String(added?.position.commit))
})

t.test('of what nobody says anything, null is kept', async (t) => {
  const { status, data } = await save({ ...bodyOf(), alias: null, billing_details: { email: null, address: null } })
  t.equal(status, 201)
  const nobody = { name: null, email: null, phone: null, address: null }
  t.match(data, { wallet_type: null, type: null, alias: null, organization_id: null, billing_address_id: null })
  t.same(data?.billing_details, nobody)
  t.equal((await save(bodyOf())).data?.billing_details, null)
})

t.test("the provider's word about the wallet counts more than the client's", async (t) => {
  const payment_method_token = fake.addMethod({ wallet: 'google_pay' }).id
  const { data } = await save({ payment_method_token, provider_id: 'stripe', wallet_type: 'apple_pay' })
  t.equal(data?.wallet_type, 'google_pay')
})

t.test('saved again by its owner it is answered as it is, and the provider is not asked', async (t) => {
  const body = bodyOf({ alias: 'First' })
  const first = await save(body)
  const calls = fake.calls.length
  const again = await recordsNothing(t, () => save({ ...body, alias: 'Second' }))
  t.equal(again.status, 200)
  t.same(again.data, first.data)
  t.equal(again.etag, first.etag)
  t.equal(again.headers['x-event-position'], first.headers['x-event-position'])
  t.equal(fake.calls.length, calls)
})

t.test("somebody else's is 422 in words that tell nothing of it, and the provider is not asked", async (t) => {
  const body = bodyOf({ alias: 'Secret words' })
  const { id } = await save(body)
  const calls = fake.calls.length
  for (const headers of [grace, guest]) {
    const refused = await recordsNothing(t, () => save(body, headers))
    t.same([refused.status, refused.code], [422, 'reference_not_found'])
    t.same(refused.error?.details, { field: 'payment_method_token' })
    t.notMatch(refused.text, new RegExp(`Secret words|${id}|4242`))
  }
  t.equal(fake.calls.length, calls)
})

t.test('once it was removed it can be added again, at the provider it is gone', async (t) => {
  const at = { payment_method_token: 'pm_card_amex', provider_id: 'sandbox' }
  const first = await save(at)
  t.equal((await remove(first.id)).status, 200)
  const again = await save({ ...at, alias: 'Again' })
  t.equal(again.status, 201)
  t.equal(again.id, first.id)
  t.match(again.data, { alias: 'Again', is_default: false })
  t.same(await typesOf(paymentMethodStream(first.id)), [
    'PaymentMethodAdded',
    'PaymentMethodRemoved',
    'PaymentMethodAdded',
  ])
  const body = bodyOf()
  await remove((await save(body)).id)
  t.match(await save(body), { status: 422, code: 'provider_rejected' })
})

t.test("what was a user's is nobody else's after it was removed, at the provider it is free", async (t) => {
  const body = bodyOf()
  await remove((await save(body)).id)
  const calls = fake.calls.length
  for (const headers of [grace, guest]) {
    const refused = await recordsNothing(t, () => save({ ...body, is_default: true }, headers))
    t.same([refused.status, refused.code], [422, 'reference_not_found'])
    t.same(refused.error?.details, { field: 'payment_method_token' })
    t.notMatch(refused.text, /4242|visa/)
  }
  t.equal(fake.calls.length, calls)
  const ofGuest = bodyOf()
  await remove((await save(ofGuest, guest)).id, guest)
  t.equal((await save(ofGuest, grace)).status, 201)
})

t.test("a guest's method is read and attached to nobody, and is another one than a user's", async (t) => {
  const before = fake.calls.length
  const body = bodyOf()
  const { status, data, id } = await save(body, guest)
  t.equal(status, 201)
  t.match(data, { guest_email: guestEmail, customer_id: null, card_brand: 'visa', last_four: '4242' })
  t.match(await stateOf(id), { user_id: null, provider_customer_id: null })
  t.notOk(fake.calls.slice(before).some(({ method }) => method === 'POST'))
  t.equal((await recordsNothing(t, () => save(body, guest))).status, 200)

  const own = { payment_method_token: 'pm_card_visa', provider_id: 'sandbox' }
  const ids = await Promise.all([save(own, guest), save(own), save(own, grace)])
  t.same(
    ids.map(({ status }) => status),
    [201, 201, 201],
  )
  t.equal(new Set(ids.map(({ id }) => id)).size, 3)
})

t.test("a guest learns nothing about a method that is a customer's at the provider", async (t) => {
  const attached = fake.addMethod()
  attached.customer = 'cus_of_somebody'
  const refused = await recordsNothing(t, () =>
    save({ payment_method_token: attached.id, provider_id: 'stripe' }, guest),
  )
  t.same([refused.status, refused.code], [422, 'provider_rejected'])
})

t.test('the customer is made with the e-mail of the user, and is on record once', async (t) => {
  await save(bodyOf(), { 'x-session-id': 'demo-admin-session' })
  const made = fake.calls.filter(({ path, params }) => path === '/v1/customers' && params.email === 'admin@example.com')
  t.equal(made.length, 1)
  const admin = '00000000-0000-4000-8000-000000000003'
  t.same(await typesOf(providerCustomerStream('stripe', admin)), ['ProviderCustomerLinked'])
})
