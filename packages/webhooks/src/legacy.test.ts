import type { RecordedDomainEvent } from '@paylog/domain/recordedEvents'
import t from 'tap'
import {
  applied,
  appliedToMethod,
  messagesTo,
  ourPayment,
  payment_id,
  received,
  simulated,
  tested,
  unmatched,
} from './testing/eventFixtures.ts'

const list = { EXTERNAL_WEBHOOK_URLS: 'https://example.com/old' }
const messagesFor = (event: RecordedDomainEvent) => messagesTo(event, list)
/** The one message. */
function theMessage(event: RecordedDomainEvent) {
  const [message, ...others] = messagesFor(event)
  if (message === undefined || others.length > 0) throw new Error(`${1 + others.length} messages, or none`)
  return message
}
const head = '"provider":"stripe","timestamp":"2026-01-02T03:04:05.000Z"'

t.test('a payment of ours is told with exactly the payload of the interface [6.2-legacy-payload]', async (t) => {
  const message = theMessage(applied({ status: "the provider's own" }))
  t.equal(
    message.body,
    `{"event":"payment_intent.succeeded",${head},` +
      `"data":{"payment_id":"${payment_id}","amount":2200,"currency":"USD",` +
      '"customer_email":"ann@example.com","status":"succeeded"}}',
  )
  t.match(message, {
    node: 'legacy-1',
    event: 'payment_intent.succeeded',
    mode: 'legacy',
    provider: 'stripe',
    payment_id,
    user_id: 'u1',
    is_test: false,
  })
})

t.test("a foreign payment carries the provider's id and customer, and belongs to nobody here", async (t) => {
  const message = theMessage(unmatched())
  t.equal(
    message.body,
    `{"event":"payment_intent.succeeded",${head},"data":{"payment_id":"pi_1","amount":2200,"currency":"USD",` +
      '"customer_email":"bo@example.com","status":"succeeded"}}',
  )
  t.match(message, { payment_id: 'pi_1', user_id: null })
})

t.test('what a notification does not say is null', async (t) => {
  const silent = { amount_cents: null, currency: null, status: null, customer_email: null, object_id: null }
  t.equal(
    theMessage(unmatched({ generic_type: 'customer.updated', ...silent })).body,
    `{"event":"customer.updated",${head},` +
      '"data":{"payment_id":null,"amount":null,"currency":null,"customer_email":null,"status":null}}',
  )
})

t.test('an intent that only claims to be of a payment of ours is told as a foreign one', async (t) => {
  const message = theMessage(applied({ object_id: 'pi_other', amount_cents: 1, is_foreign_intent: true }))
  t.strictSame(JSON.parse(message.body).data, {
    payment_id: 'pi_other',
    amount: 1,
    currency: 'USD',
    customer_email: null,
    status: 'succeeded',
  })
  t.match(message, { payment_id: 'pi_other', user_id: null })
})

t.test('a method of ours is told without a word of whose it is', async (t) => {
  const message = theMessage(appliedToMethod())
  t.strictSame(JSON.parse(message.body), {
    event: 'payment_method.updated',
    provider: 'stripe',
    timestamp: '2026-01-02T03:04:05.000Z',
    data: { payment_id: null, amount: null, currency: null, customer_email: null, status: null },
  })
  t.match(message, { payment_id: null, user_id: null })
})

t.test("a payment's status is in our words, anything else's in the provider's [6.2-legacy-families]", async (t) => {
  for (const [generic_type, status] of [
    ['payment_intent.created', 'pending'],
    ['payment_intent.requires_action', 'pending'],
    ['payment_intent.processing', 'processing'],
    ['payment_intent.succeeded', 'succeeded'],
    ['payment_intent.failed', 'failed'],
    ['payment_intent.canceled', 'canceled'],
    ['payment_method.attached', 'x'],
    ['subscription.deleted', 'x'],
    ['subscription.trial_will_end', 'x'],
    ['invoice.payment_failed', 'x'],
    ['customer.deleted', 'x'],
  ] as const) {
    const { event, body } = theMessage(unmatched({ generic_type, status: 'x' }))
    const { event: name, data } = JSON.parse(body)
    t.strictSame([event, name, data.status], [generic_type, generic_type, status])
  }
})

t.test('only what is about a payment has the id of one', async (t) => {
  const subscription = {
    subscription_id: 'sub_1',
    current_period_end: null,
    status_changed: false,
    is_first_invoice: false,
  }
  const idOf = (generic_type: string, object_id: string) => {
    const { body, payment_id } = theMessage(unmatched({ generic_type, object_id, subscription }))
    t.equal(JSON.parse(body).data.payment_id, payment_id)
    return payment_id
  }
  t.equal(idOf('invoice.payment_succeeded', 'in_1'), 'in_1')
  t.equal(idOf('invoice.payment_failed', 'sub_1'), null, 'a report on the subscription alone')
  t.equal(idOf('subscription.updated', 'sub_1'), null)
  t.equal(idOf('customer.created', 'cus_1'), null)
  t.equal(idOf('payment_method.attached', 'pm_1'), null)
})

t.test(
  'only what has a name of the interface is told, once, and only of what the provider said [6.2-legacy-only]',
  async (t) => {
    t.strictSame(messagesFor(received()), [], 'not before it is known whose it is')
    t.strictSame(messagesFor({ type: 'PaymentSucceeded', data: ourPayment }), [], 'the notification tells it')
    for (const generic_type of [null, 'payment.succeeded', 'dispute.created', 'constructor', ''])
      for (const event of [unmatched({ generic_type }), applied({ generic_type }), simulated({ generic_type })])
        t.strictSame(messagesFor(event), [], `${generic_type}`)
  },
)

t.test('patterns choose by the generic name, and with a prefix by the native one [6.2-list-all]', async (t) => {
  const deleted = unmatched({ provider_type: 'customer.subscription.deleted', generic_type: 'subscription.deleted' })
  const isTold = (EXTERNAL_WEBHOOK_EVENTS: string) =>
    messagesTo(deleted, list, { EXTERNAL_WEBHOOK_EVENTS }).length === 1
  for (const pattern of ['all', 'subscription.*', 'subscription.deleted', 'stripe:*', 'stripe:customer.*'])
    t.ok(isTold(pattern), pattern)
  for (const pattern of ['customer.*', 'customer.subscription.deleted', 'paypal:*', 'stripe:subscription.*'])
    t.notOk(isTold(pattern), pattern)
})

t.test('tests and simulations say so at the top, and belong to whoever asked', async (t) => {
  const test = theMessage(tested())
  t.equal(
    test.body,
    '{"event":"payment_intent.succeeded","provider":"stripe","timestamp":"2026-01-02T03:04:05.678Z",' +
      '"data":{"payment_id":"pi_1","amount":2200,"currency":"USD","customer_email":"cy@example.com",' +
      '"status":"succeeded"},"test":true}',
  )
  t.match(test, { user_id: 'u7', is_test: true })
  const simulation = theMessage(simulated())
  t.match(JSON.parse(simulation.body), { test: true, data: { customer_email: 'bo@example.com' } })
  t.match(simulation, { user_id: 'u7', is_test: true })
  t.strictSame(messagesFor(tested({ canonical_name: 'payment.succeeded' })), [], 'a canonical event was asked for')
  t.strictSame(messagesFor(simulated({ provider_type: null })), [])
})
