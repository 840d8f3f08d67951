// Defaults and fields of webhook tests.
import { genericNames } from '@paylog/providers/genericEvent'
import { matchList } from '@paylog/testing/assertions'
import { canonicalMessages } from '@paylog/webhooks/messages/canonical'
import { canonicalNames } from '@paylog/webhooks/messages/canonicalNames'
import t from 'tap'
import { testFacts } from './webhookTestFacts.ts'

const id = '018f0000-0000-7000-8000-000000000001'
const at = new Date('2026-01-02T03:04:05.678Z')
const ann = { id: 'user-1', type: 'customer', email: 'änn@example.com' }

type Data = Readonly<Record<string, unknown>>
const tested = (event: string, test_data: Data = {}) => testFacts({ event, test_data, id, at })

function meaning(event: string, test_data: Data = {}) {
  return canonicalMessages({
    type: 'WebhookTestRequested',
    data: {
      ...tested(event, test_data),
      webhook_test_id: id,
      requested_by: ann,
      request_fingerprint: null,
      plan: { canonical_events: [], deliveries: [] },
    },
  })
}

t.test(
  'a webhook test of every canonical name gives one canonical event about the requesting user [6.2-canonical-test]',
  async (t) => {
    for (const name of canonicalNames) {
      const messages = meaning(name)
      t.same(
        messages.map((message) => message.event),
        [name],
      )
      t.hasStrict(messages[0], { provider: 'sandbox', user: ann, owner: 'user-1', is_test: true }, name)
      t.hasStrict(tested(name), { canonical_name: name, provider_type: null, generic_type: null, body: null }, name)
    }
  },
)

t.test('a webhook test of every generic name gives a notification with that name', async (t) => {
  const canonical: readonly string[] = canonicalNames
  for (const name of genericNames.filter((each) => !canonical.includes(each))) {
    const facts = tested(name)
    t.hasStrict(facts, { canonical_name: null, provider_type: name, generic_type: name, provider_id: 'sandbox' }, name)
    t.hasStrict(JSON.parse(facts.body ?? ''), { type: name, data: { object: { id: `test_${id}` } } }, name)
  }
})

t.test('omitted test_data fields get recognizable default values', async (t) => {
  matchList(t, meaning('payment.succeeded'), [
    { payment_id: `test_${id}`, amount: 1000, currency: 'USD', status: 'succeeded', customer_id: undefined },
  ])
  matchList(t, meaning('payment.failed'), [{ amount: 1000, status: 'failed' }])
  matchList(t, meaning('payment.created'), [{ amount: 1000, status: 'pending' }])
  const current_period_end = '2026-02-01T03:04:05.678Z'
  const subscription = { payment_id: null, subscription_id: `test_${id}`, current_period_end }
  matchList(t, meaning('subscription.created'), [{ ...subscription, status: 'active' }])
  matchList(t, meaning('subscription.cancelled'), [{ ...subscription, status: 'canceled' }])
  matchList(t, meaning('membership.activated'), [{ ...subscription, status: 'active' }])
  matchList(t, meaning('membership.pending'), [{ ...subscription, status: 'incomplete' }])
  matchList(t, meaning('membership.cancelled'), [{ ...subscription, status: 'canceled' }])
  matchList(t, meaning('membership.extended'), [
    { payment_id: `test_${id}`, subscription_id: `test_sub_${id}`, current_period_end, status: 'paid', amount: 1000 },
  ])
  matchList(t, meaning('customer.created'), [
    { payment_id: null, customer_id: `test_${id}`, amount: null, currency: null },
  ])
})

t.test('test_data fields appear in the message [4.10-data]', async (t) => {
  const given = { id: 'order-17', amount: 2599, currency: 'eur', status: 'canceled' }
  const expected = { payment_id: 'order-17', amount: 2599, currency: 'EUR' }
  matchList(t, meaning('payment.succeeded', given), [{ ...expected, status: 'succeeded' }])
  matchList(t, meaning('payment.failed', given), [{ ...expected, status: 'canceled' }])
  matchList(t, meaning('payment_intent.succeeded', given), [{ ...expected, event: 'payment.succeeded' }])
  matchList(t, meaning('payment.succeeded', { amount: 0 }), [{ amount: 0, currency: 'USD' }])
  const { body } = tested('payment_intent.succeeded', { ...given, note: 'as it came', amount: 5 })
  t.hasStrict(JSON.parse(body ?? ''), { data: { object: { ...given, note: 'as it came', amount: 5 } } })
})

t.test('raw endpoints get the whole test_data [4.10-raw]', async (t) => {
  const object = { id: 'order-17', amount: 5, note: { deep: [1, null] }, data: { a: 1 }, resource: {}, payload: {} }
  const { body } = tested('payment_intent.succeeded', object)
  t.match(JSON.parse(body ?? '').data.object, object)
  const event = { id: 'evt_1', more: 'kept', data: { object, previous_attributes: { amount: 4 } }, created: 1 }
  t.match(JSON.parse(tested('payment_intent.succeeded', event).body ?? ''), event, "an event in the interface's shape")
})

t.test('a test_data field of another type is null in the message, not an error', async (t) => {
  const odd: readonly Data[] = [
    { amount: '1000', currency: 'dollars' },
    { amount: 10.5, currency: 'U$D' },
    { amount: -1, currency: 840 },
    { amount: null, currency: null },
  ]
  for (const event of ['payment.succeeded', 'payment_intent.succeeded'])
    for (const data of odd) matchList(t, meaning(event, data), [{ amount: null, currency: null, is_test: true }])
  for (const bad of [null, '', {}, 'x'.repeat(201)])
    matchList(t, meaning('payment.succeeded', { id: bad, status: {} }), [{ payment_id: `test_${id}`, amount: 1000 }])
  matchList(t, meaning('payment.failed', { id: 17 }), [{ payment_id: '17' }])
})

t.test('a webhook test with an unknown name is rejected with the known names', async (t) => {
  const others = [
    'payment.suceeded',
    'stripe:charge.failed',
    'sandbox:payment_intent.succeeded',
    'all',
    'payment.*',
    ' ',
  ]
  for (const event of others)
    t.throws(() => tested(event), {
      code: 'invalid_request',
      message: /event must be one of payment\.created, .*membership\.extended, .*invoice\.payment_failed/,
      details: { fields: [{ field: 'event' }] },
    })
})
