import t from 'tap'
import { ada, grace, guest } from '../testing/people.ts'
import { savingUnderTest } from '../testing/savingUnderTest.ts'

const { fake, stripe, app, save, providers, recordsNothing, freshToken, bodyOf, addressOf } = await savingUnderTest(t)

t.test('a malformed body is 400 whatever the rest is, and nothing is recorded', async (t) => {
  const long = 'x'.repeat(256)
  const bad: readonly (readonly [string, unknown])[] = [
    ['no token', { provider_id: 'stripe' }],
    ['an empty token', bodyOf({ payment_method_token: '' })],
    ['a token that is null', bodyOf({ payment_method_token: null })],
    ['a token that is a number', bodyOf({ payment_method_token: 17 })],
    ['a token that is too long', bodyOf({ payment_method_token: 'x'.repeat(8_001) })],
    ['is_default as text', bodyOf({ is_default: 'true' })],
    ['is_default as null', bodyOf({ is_default: null })],
    ['a provider as a number', bodyOf({ provider_id: 1 })],
    ...['type', 'wallet_type', 'customer_id', 'organization_id', 'alias', 'billing_address_id'].flatMap(
      (field): (readonly [string, unknown])[] => [
        [`${field} as a number`, bodyOf({ [field]: 1 })],
        [`${field} that is too long`, bodyOf({ [field]: long })],
      ],
    ),
    ['an e-mail that is none', bodyOf({ billing_details: { email: 'ada' } })],
    ['a billing name as a list', bodyOf({ billing_details: { name: [] } })],
    ['a billing line that is too long', bodyOf({ billing_details: { address: { line1: long } } })],
    ['billing details as text', bodyOf({ billing_details: 'Ada' })],
    ['a list', []],
    ['text', '"text"'],
    ['a duplicate key', '{"payment_method_token":"a","payment_method_token":"b"}'],
    ['no provider among several', { payment_method_token: 'pm_card_visa' }],
  ]
  for (const [name, body] of bad) {
    const refused = await recordsNothing(t, () => save(body), name)
    t.same([refused.status, refused.code], [400, 'invalid_request'], name)
  }
  t.same([(await save(bodyOf(), { ...ada, 'idempotency-key': 'ü' })).status], [400])
})

t.test('a token may be as long as those of Authorize.Net are', async (t) => {
  const refused = await save({ payment_method_token: 'x'.repeat(8_000), provider_id: 'sandbox' })
  t.same([refused.status, refused.code], [422, 'provider_rejected'])
})

t.test('nobody is 401, and is told so before the body is looked at', async (t) => {
  const refused = await recordsNothing(t, () => save({}, {}))
  t.same([refused.status, refused.code], [401, 'unauthenticated'])
})

t.test('a provider that keeps no methods, or is not enabled, is 422 with those that do', async (t) => {
  providers.set('stripe', { ...stripe, methods: null })
  const refused = await recordsNothing(t, () => save(bodyOf()))
  t.same(
    [refused.status, refused.code, refused.error?.details],
    [422, 'provider_not_enabled', { enabled: ['sandbox'] }],
  )
  for (const provider_id of ['paypal', 'nobody', '__proto__'])
    t.match(await recordsNothing(t, () => save(bodyOf({ provider_id }))), { status: 422, code: 'provider_not_enabled' })
})

t.test('the provider may be left out when there is one', async (t) => {
  providers.delete('sandbox')
  t.equal((await save({ payment_method_token: freshToken() })).status, 201)
})

t.test('a card number anywhere is 422, and the provider never sees it', async (t) => {
  const number = '4242 4242 4242 4242'
  const calls = fake.calls.length
  for (const more of [
    { payment_method_token: number },
    { alias: `My ${number}` },
    { billing_details: { address: { line2: number } } },
    { unknown: { deep: [number] } },
    { [number]: true },
    { unknown: 4242424242424242 },
  ]) {
    const refused = await recordsNothing(t, () => save(bodyOf(more)))
    t.same([refused.status, refused.code], [422, 'card_number_rejected'], JSON.stringify(more))
  }
  t.equal(fake.calls.length, calls)
})

t.test('a billing address has to be one of the caller, and still there', async (t) => {
  const own = await addressOf(ada)
  const removed = await addressOf(ada)
  await app.inject({ method: 'DELETE', url: `/addresses/${removed}`, headers: ada })
  const foreign = [await addressOf(grace), await addressOf(guest)]
  const missing = ['00000000-0000-4000-8000-00000000dead', 'no id', 'ü', '']
  const calls = fake.calls.length
  const refusals = new Set<string>()
  for (const billing_address_id of [removed, ...foreign, ...missing]) {
    const refused = await recordsNothing(t, () => save(bodyOf({ billing_address_id })))
    t.same([refused.status, refused.code], [422, 'reference_not_found'], billing_address_id)
    t.same(refused.error?.details, { field: 'billing_address_id' })
    refusals.add(refused.error?.message ?? '')
  }
  t.equal(refusals.size, 1, 'in the same words')
  t.equal(fake.calls.length, calls)
  t.equal((await save(bodyOf({ billing_address_id: own }))).status, 201)
  t.equal((await save(bodyOf({ billing_address_id: await addressOf(guest) }), guest)).status, 201)
})

t.test('what the provider refuses is told with its code, and nothing of the method is recorded', async (t) => {
  await save(bodyOf())
  const error = { message: 'Words of Stripe', type: 'invalid_request_error' } as const
  const card = { message: 'Words of Stripe', type: 'card_error', code: 'card_declined' } as const
  for (const [status, body, expected, code] of [
    [402, card, 402, 'payment_declined'],
    [400, error, 422, 'provider_rejected'],
    [401, error, 502, 'provider_unavailable'],
    [429, error, 502, 'provider_unavailable'],
  ] as const) {
    fake.refuseNext({ status, error: body })
    const refused = await recordsNothing(t, () => save(bodyOf()), code)
    t.same([refused.status, refused.code], [expected, code])
    t.notMatch(refused.text, /Words/)
  }
  fake.faults.always({ kind: 'drop', commits: false })
  t.match(await recordsNothing(t, () => save(bodyOf())), { status: 504, code: 'provider_outcome_unknown' })
  fake.faults.always(undefined)
  t.match(await recordsNothing(t, () => save({ payment_method_token: 'pm_card_declined', provider_id: 'sandbox' })), {
    status: 402,
    code: 'payment_declined',
  })
})
