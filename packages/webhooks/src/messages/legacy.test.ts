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
  unchangedSubscription,
  unmatched,
} from '../testing/eventFixtures.ts'

const list = { EXTERNAL_WEBHOOK_URLS: 'https://example.com/old' }
const messagesFor = (event: RecordedDomainEvent) => messagesTo(event, list)
function onlyMessage(event: RecordedDomainEvent) {
  const [message, ...others] = messagesFor(event)
  if (message === undefined || others.length > 0) throw new Error('Expected exactly one message')
  return message
}
const head = '"provider":"stripe","timestamp":"2026-01-02T03:04:05.000Z"'

t.test('a legacy body about our payment is exactly the payload of the interface [6.2-legacy-payload]', async (t) => {
  const message = onlyMessage(applied({ status: "the provider's own" }))
  t.equal(
    message.body,
    `{"event":"payment_intent.succeeded",${head},` +
      `"data":{"payment_id":"${payment_id}","amount":2200,"currency":"USD",` +
      '"customer_email":"ann@example.com","status":"succeeded"}}',
  )
  t.match(message, {
    endpoint: 'legacy-1',
    event: 'payment_intent.succeeded',
    mode: 'legacy',
    provider: 'stripe',
    payment_id,
    user_id: 'u1',
    is_test: false,
  })
})

t.test("a legacy message about a foreign payment has the provider's id and customer, and no user", async (t) => {
  const message = onlyMessage(unmatched())
  t.equal(
    message.body,
    `{"event":"payment_intent.succeeded",${head},"data":{"payment_id":"pi_1","amount":2200,"currency":"USD",` +
      '"customer_email":"bo@example.com","status":"succeeded"}}',
  )
  t.match(message, { payment_id: 'pi_1', user_id: null })
})

t.test('unknown values in a legacy body are null', async (t) => {
  const unknownFields = { amount_cents: null, currency: null, status: null, customer_email: null, object_id: null }
  t.equal(
    onlyMessage(unmatched({ generic_type: 'customer.updated', ...unknownFields })).body,
    `{"event":"customer.updated",${head},` +
      '"data":{"payment_id":null,"amount":null,"currency":null,"customer_email":null,"status":null}}',
  )
})

t.test('a legacy message about an intent that only names our payment reports it as foreign', async (t) => {
  const message = onlyMessage(applied({ object_id: 'pi_other', amount_cents: 1, is_foreign_intent: true }))
  t.strictSame(JSON.parse(message.body).data, {
    payment_id: 'pi_other',
    amount: 1,
    currency: 'USD',
    customer_email: null,
    status: 'succeeded',
  })
  t.match(message, { payment_id: 'pi_other', user_id: null })
})

t.test('a legacy message about our payment method does not reveal its owner', async (t) => {
  const message = onlyMessage(appliedToMethod())
  t.strictSame(JSON.parse(message.body), {
    event: 'payment_method.updated',
    provider: 'stripe',
    timestamp: '2026-01-02T03:04:05.000Z',
    data: { payment_id: null, amount: null, currency: null, customer_email: null, status: null },
  })
  t.match(message, { payment_id: null, user_id: null })
})

t.test(
  "a legacy message has our status for payments and the provider's for other objects [6.2-legacy-families]",
  async (t) => {
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
      const { event, body } = onlyMessage(unmatched({ generic_type, status: 'x' }))
      const { event: name, data } = JSON.parse(body)
      t.strictSame([event, name, data.status], [generic_type, generic_type, status])
    }
  },
)

t.test('only legacy messages about payments and invoices have a payment_id', async (t) => {
  const subscription = { ...unchangedSubscription, current_period_end: null }
  const idOf = (generic_type: string, object_id: string) => {
    const { body, payment_id } = onlyMessage(unmatched({ generic_type, object_id, subscription }))
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
  'the legacy list gets only settled notifications with a generic name of the interface [6.2-legacy-only]',
  async (t) => {
    t.strictSame(messagesFor(received()), [], 'not settled yet')
    t.strictSame(
      messagesFor({ type: 'PaymentSucceeded', data: ourPayment }),
      [],
      'the notification leads to the message',
    )
    for (const generic_type of [null, 'payment.succeeded', 'dispute.created', 'constructor', ''])
      for (const event of [unmatched({ generic_type }), applied({ generic_type }), simulated({ generic_type })])
        t.strictSame(messagesFor(event), [], `${generic_type}`)
  },
)

t.test(
  'patterns of the legacy list match generic names, and native ones with a provider prefix [6.2-list-all]',
  async (t) => {
    const deleted = unmatched({ provider_type: 'customer.subscription.deleted', generic_type: 'subscription.deleted' })
    const isSent = (EXTERNAL_WEBHOOK_EVENTS: string) =>
      messagesTo(deleted, list, { EXTERNAL_WEBHOOK_EVENTS }).length === 1
    for (const pattern of ['all', 'subscription.*', 'subscription.deleted', 'stripe:*', 'stripe:customer.*'])
      t.ok(isSent(pattern), pattern)
    for (const pattern of ['customer.*', 'customer.subscription.deleted', 'paypal:*', 'stripe:subscription.*'])
      t.notOk(isSent(pattern), pattern)
  },
)

t.test(
  'legacy messages of tests and simulations have test:true and belong to the user who requested them',
  async (t) => {
    const test = onlyMessage(tested())
    t.equal(
      test.body,
      '{"event":"payment_intent.succeeded","provider":"stripe","timestamp":"2026-01-02T03:04:05.678Z",' +
        '"data":{"payment_id":"pi_1","amount":2200,"currency":"USD","customer_email":"cy@example.com",' +
        '"status":"succeeded"},"test":true}',
    )
    t.match(test, { user_id: 'u7', is_test: true })
    const simulation = onlyMessage(simulated())
    t.match(JSON.parse(simulation.body), { test: true, data: { customer_email: 'bo@example.com' } })
    t.match(simulation, { user_id: 'u7', is_test: true })
    t.strictSame(messagesFor(tested({ canonical_name: 'payment.succeeded' })), [], 'a canonical event was requested')
    t.strictSame(messagesFor(simulated({ provider_type: null })), [])
  },
)
