import t from 'tap'
import { subscriptionNotification, unchangedSubscription, unmatchedMessagesByMode } from '../testing/eventFixtures.ts'

const changed = { ...unchangedSubscription, status_changed: true }
/** The canonical bodies of a foreign notification. */
const translated = (data: Parameters<typeof unmatchedMessagesByMode>[0]) =>
  unmatchedMessagesByMode(data)
    .filter(({ endpoint }) => endpoint === '1')
    .map(({ body }) => JSON.parse(body))
function onlyMessage(data: Parameters<typeof unmatchedMessagesByMode>[0]) {
  const [message, ...others] = translated(data)
  if (message === undefined || others.length > 0) throw new Error('Expected exactly one message')
  return message
}

const envelope = { provider: 'stripe', timestamp: subscriptionNotification.provider_time }
const user = { id: 'cus_1', type: 'customer', email: 'bo@example.com' }

t.test(
  "a message about a foreign payment has the provider's ids, and there is none without an amount or id",
  async (t) => {
    for (const [generic_type, event, status] of [
      ['payment_intent.created', 'payment.created', 'pending'],
      ['payment_intent.succeeded', 'payment.succeeded', 'succeeded'],
      ['payment_intent.failed', 'payment.failed', 'failed'],
      ['payment_intent.canceled', 'payment.failed', 'canceled'],
    ] as const) {
      t.strictSame(translated({ generic_type, status: "the provider's" }), [
        {
          event,
          ...envelope,
          data: {
            payment_id: 'obj_1',
            amount: 500,
            currency: 'EUR',
            status,
            user,
            project: { id: 'shop' },
          },
        },
      ])
      for (const missing of [{ amount_cents: null }, { object_id: null }])
        t.strictSame(translated({ generic_type, ...missing }), [])
      t.match(onlyMessage({ generic_type, currency: null }), { event, data: { amount: 500, currency: null } })
    }
  },
)

t.test('messages about a subscription have its id, its period end and its customer', async (t) => {
  const about = (event: string, status: string) => ({
    event,
    ...envelope,
    data: {
      payment_id: null,
      amount: 500,
      currency: 'EUR',
      status,
      user,
      project: { id: 'shop' },
      subscription_id: 'sub_1',
      customer_id: 'cus_1',
      current_period_end: '2026-02-02T03:04:05.000Z',
    },
  })
  const subject = { object_id: 'sub_1', subscription: changed }
  t.strictSame(translated({ ...subject, generic_type: 'subscription.created', status: 'trialing' }), [
    about('subscription.created', 'trialing'),
    about('membership.activated', 'trialing'),
  ])
  t.strictSame(translated({ ...subject, generic_type: 'subscription.updated', status: 'paused' }), [
    about('subscription.updated', 'paused'),
    about('membership.pending', 'paused'),
  ])
  t.strictSame(translated({ ...subject, generic_type: 'subscription.deleted', status: 'expired' }), [
    about('subscription.cancelled', 'expired'),
    about('membership.cancelled', 'expired'),
  ])
  t.strictSame(translated({ ...subject, generic_type: 'subscription.deleted' }), [
    about('subscription.cancelled', 'canceled'),
    about('membership.cancelled', 'canceled'),
  ])
})

t.test('messages about an invoice have its id as payment_id, and its subscription', async (t) => {
  for (const generic_type of ['invoice.payment_succeeded', 'invoice.payment_failed']) {
    const invoice = { generic_type, object_id: 'in_1', status: 'open', subscription: unchangedSubscription }
    const message = onlyMessage(invoice)
    t.match(message.data, {
      payment_id: 'in_1',
      status: 'open',
      subscription_id: 'sub_1',
      customer_id: 'cus_1',
      current_period_end: '2026-02-02T03:04:05.000Z',
    })
    const withoutInvoice = onlyMessage({ generic_type, object_id: 'sub_1', subscription: unchangedSubscription })
    t.match(withoutInvoice.data, { payment_id: null, subscription_id: 'sub_1' }, 'only the subscription is reported')
  }
})

t.test('an invoice without a subscription leads to no membership message', async (t) => {
  for (const generic_type of ['invoice.payment_succeeded', 'invoice.payment_failed'])
    t.strictSame(translated({ generic_type, subscription: { ...changed, subscription_id: null } }), [])
})

t.test('unknown subscription fields are omitted', async (t) => {
  const unknown = { ...changed, subscription_id: null, current_period_end: null }
  const money = { amount_cents: null, currency: null, object_id: null, customer_id: null }
  for (const nothing of [
    { generic_type: 'subscription.updated', ...money, subscription: unknown },
    { generic_type: 'invoice.payment_failed', ...money },
  ]) {
    const message = onlyMessage(nothing)
    t.strictSame(Object.keys(message.data), ['payment_id', 'amount', 'currency', 'status', 'user', 'project'])
    t.match(message.data, { payment_id: null, amount: null, currency: null, status: null })
  }
  const updated = onlyMessage({ generic_type: 'subscription.updated', subscription: unknown })
  t.equal(updated.data.subscription_id, 'obj_1')
})

t.test('a notification recorded without subscription fields is still mapped', async (t) => {
  for (const generic_type of ['subscription.updated', 'subscription.trial_will_end']) {
    const message = onlyMessage({ generic_type, status: 'active' })
    t.strictSame(message.data.subscription_id, 'obj_1')
    t.notOk('current_period_end' in message.data)
  }
  const invoice = onlyMessage({ generic_type: 'invoice.payment_succeeded' })
  t.strictSame([invoice.event, invoice.data.payment_id], ['membership.extended', 'obj_1'])
  t.notOk('subscription_id' in invoice.data)
})

t.test('messages about a customer have its id', async (t) => {
  const updated = onlyMessage({ generic_type: 'customer.updated', object_id: 'cus_9', customer_id: null })
  t.match(updated.data, { customer_id: 'cus_9', user: { id: 'cus_9', type: 'customer' } })
  t.match(onlyMessage({ generic_type: 'customer.created', object_id: null }).data, { customer_id: 'cus_1' })
})

t.test('messages about foreign objects belong to no user', async (t) => {
  for (const generic_type of ['payment_intent.succeeded', 'subscription.created', 'customer.created'])
    for (const message of unmatchedMessagesByMode({ generic_type })) t.equal(message.user_id, null)
})
