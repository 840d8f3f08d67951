import type { RecordedDomainEvent } from '@paylog/domain/recordedEvents'
import t from 'tap'
import {
  canonicalOnly,
  endpointSettings,
  payment_id as id,
  messagesTo,
  simulated,
  tested,
  unchangedSubscription,
  unmatched,
} from '../testing/eventFixtures.ts'
import { canonicalNames } from './canonicalNames.ts'

const canonical = (event: RecordedDomainEvent) => messagesTo(event, endpointSettings(1, 'canonical'))
const bodiesOf = (event: RecordedDomainEvent) => canonical(event).map(({ body }) => JSON.parse(body))
const subscription = { ...unchangedSubscription, status_changed: true }
const named = (canonical_name: string, more: object = {}) => ({ ...canonicalOnly, canonical_name, ...more })

t.test('a requested canonical event is one message of that name, owned by the user who requested it', async (t) => {
  for (const name of canonicalNames)
    for (const event of [tested(named(name)), simulated(named(name))]) {
      const messages = canonical(event)
      t.strictSame(
        messages.map(({ event: sent, user_id, is_test }) => [sent, user_id, is_test]),
        [[name, 'u7', true]],
      )
      t.match(JSON.parse(messages[0]?.body ?? ''), { event: name, test: true })
    }
})

t.test(
  "the user of a test is the one who requested it, and the user of a simulation the provider's customer",
  async (t) => {
    for (const more of [named('membership.extended'), {}]) {
      for (const { data } of bodiesOf(tested(more)))
        t.strictSame(data.user, { id: 'u7', type: 'admin', email: 'cy@example.com' })
      for (const { data } of bodiesOf(simulated(more)))
        t.strictSame(data.user, { id: 'cus_1', type: 'customer', email: 'bo@example.com' })
    }
  },
)

t.test('a requested canonical message has the fields of a foreign notification', async (t) => {
  const dataOf = (name: string, more: object = {}) => bodiesOf(simulated(named(name, more)))[0]?.data
  const about = { subscription_id: 'sub_1', current_period_end: '2026-02-02T03:04:05.000Z', customer_id: 'cus_1' }
  const paid = { payment_id: 'pi_1', amount: 2200, currency: 'USD', status: 'succeeded' }
  const unknownDispute = { reason: null, evidence_due_by: null }
  const table = [
    ['payment.created', {}, { payment_id: 'pi_1', amount: 2200, currency: 'USD', status: 'pending' }],
    ['payment.succeeded', {}, { payment_id: 'pi_1', amount: 2200, currency: 'USD', status: 'succeeded' }],
    ['payment.failed', {}, { payment_id: 'pi_1', status: 'failed' }],
    ['payment.failed', { status: 'canceled' }, { payment_id: 'pi_1', status: 'canceled' }],
    ['payment.refunded', {}, { ...paid, refund: { id, amount: 2200, status: 'succeeded', reason: 'other' } }],
    ['payment.refunded', { status: 'failed' }, { ...paid, refund: { status: 'failed' } }],
    ['payment.disputed', {}, { ...paid, dispute: { id, amount: 2200, status: 'open', ...unknownDispute } }],
    ['payment.disputed', { status: 'won' }, { ...paid, dispute: { status: 'won' } }],
    ['payment.disputed', { status: 'lost' }, { ...paid, dispute: { status: 'lost' } }],
    ['payment.attention', {}, { payment_id: 'pi_1', status: null, attention: { code: 'amount_mismatch' } }],
    ['subscription.created', { subscription, status: 'trialing' }, { payment_id: null, status: 'trialing', ...about }],
    ['subscription.cancelled', { subscription, status: null }, { payment_id: null, status: 'canceled', ...about }],
    ['membership.activated', { subscription, status: 'active' }, { payment_id: null, status: 'active', ...about }],
    ['membership.cancelled', { subscription, status: 'x' }, { payment_id: null, status: 'x', ...about }],
    ['membership.extended', { subscription, object_id: 'in_1' }, { payment_id: 'in_1', ...about }],
    ['membership.pending', { subscription, object_id: 'sub_1' }, { payment_id: null, ...about }],
    ['customer.created', { object_id: 'cus_9' }, { payment_id: null, customer_id: 'cus_9' }],
    ['customer.updated', { object_id: 'cus_9', status: 'deleted' }, { customer_id: 'cus_9', status: 'deleted' }],
  ] as const
  for (const [name, facts, expected] of table)
    t.match(dataOf(name, facts), expected, `${name} ${JSON.stringify(facts)}`)
})

t.test('a test without an amount has a null amount, for canonical and generic names', async (t) => {
  const withoutAmount = { amount_cents: null, currency: null }
  for (const name of canonicalNames)
    t.match(bodiesOf(simulated(named(name, withoutAmount))), [{ event: name, data: { amount: null, currency: null } }])
  const generic = simulated({ generic_type: 'payment_intent.succeeded', ...withoutAmount })
  t.match(bodiesOf(generic), [{ event: 'payment.succeeded', data: { amount: null, currency: null }, test: true }])
})

t.test('a test message belongs to no payment in the webhook log, and a payment message does', async (t) => {
  const endpoints = [endpointSettings(1, 'both')] as const
  for (const event of [tested(), simulated(), tested(named('payment.succeeded'))])
    for (const message of messagesTo(event, ...endpoints, { EXTERNAL_WEBHOOK_URLS: 'https://example.com' }))
      t.hasStrict(message, { payment_id: null, user_id: 'u7', is_test: true }, `${message.mode} ${message.event}`)
  t.hasStrict(messagesTo(unmatched(), ...endpoints)[0], { payment_id: 'pi_1', is_test: false })
})

t.test('a simulated notification leads to the same canonical messages as a real one', async (t) => {
  for (const [generic_type, more] of [
    ['payment_intent.succeeded', {}],
    ['subscription.updated', { subscription, status: 'active' }],
    ['invoice.payment_succeeded', { subscription, object_id: 'in_1' }],
    ['customer.deleted', { object_id: 'cus_1' }],
    ['payment_intent.processing', {}],
  ] as const) {
    const occurred_at = '2026-01-02T03:04:05.000Z'
    const real = bodiesOf(unmatched({ generic_type, ...more }))
    t.strictSame(
      bodiesOf(simulated({ generic_type, occurred_at, ...more })),
      real.map((body) => ({ ...body, test: true })),
      generic_type,
    )
  }
})

t.test('a test with an unknown canonical name leads to no messages', async (t) => {
  for (const name of ['payment.refund', 'constructor', ''])
    for (const event of [tested({ canonical_name: name }), simulated({ canonical_name: name })])
      t.strictSame(messagesTo(event, endpointSettings(1, 'both')), [], name)
})

t.test('a test for one endpoint goes to no other, and whatever its patterns', async (t) => {
  const sent = (event: RecordedDomainEvent) =>
    messagesTo(event, endpointSettings(1, 'canonical', { EVENTS: 'customer.*' }), endpointSettings(2, 'both'), {
      EXTERNAL_WEBHOOK_URLS: 'https://example.com/legacy',
    }).map(({ endpoint, event: name }) => `${endpoint} ${name}`)
  const succeeded = named('payment.succeeded')
  t.same(sent(tested(succeeded)), ['2 payment.succeeded'])
  t.same(sent(tested({ ...succeeded, endpoint: '1' })), ['1 payment.succeeded'])
  t.same(sent(tested({ endpoint: 'legacy-1' })), ['legacy-1 payment_intent.succeeded'])
  t.same(sent(tested({ ...succeeded, endpoint: 'legacy-1' })), [], 'its mode still counts')
  t.same(sent(tested({ endpoint: '9' })), [])
})
