import assert from 'node:assert/strict'
import type { RecordedDomainEvent } from '@paylog/domain/recordedEvents'
import fc from 'fast-check'
import t from 'tap'
import type { WebhookEndpoint } from '../endpoints/endpoints.ts'
import { eventModes } from '../endpoints/endpointVariables.ts'
import {
  applied,
  appliedToMethod,
  canonicalOnly,
  conflicted,
  disputeRecorded,
  endpointsFrom,
  ignored,
  mismatched,
  ourPayment,
  received,
  recorded,
  refundRecorded,
  type Settings,
  simulated,
  tested,
  unmatched,
} from '../testing/eventFixtures.ts'
import { messageErrors } from '../testing/messageErrors.ts'
import { canonicalNames } from './canonicalNames.ts'
import { chatServices } from './chat/chatServices.ts'
import { type Outbound, outboundMessages, plannedDeliveries } from './outbound.ts'

const types = [
  ['payment_intent.succeeded', 'payment_intent.succeeded'],
  ['PAYMENT.CAPTURE.DENIED', 'payment_intent.failed'],
  ['customer.subscription.created', 'subscription.created'],
  ['customer.subscription.updated', 'subscription.updated'],
  ['invoice.payment_succeeded', 'invoice.payment_succeeded'],
  ['net.authorize.customer.deleted', 'customer.deleted'],
  ['payment_method.attached', 'payment_method.attached'],
  ['charge.refunded', null],
  ['__proto__', null],
] as const

const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null })
const text = fc.string({ unit: 'binary', maxLength: 12 })
const names = fc.constantFrom(...types).chain(([provider_type, generic_type]) =>
  fc.record({
    provider_id: fc.constantFrom('stripe', 'paypal', 'authorize-net', 'sandbox'),
    provider_type: fc.constant(provider_type),
    generic_type: fc.constant(generic_type),
  }),
)
const subject = fc.record({
  object_id: maybe(text),
  amount_cents: maybe(fc.nat()),
  currency: maybe(fc.constantFrom('usd', 'EUR')),
  status: maybe(fc.constantFrom('active', 'paused', 'paid', 'odd')),
})
const customer = fc.record({ customer_id: maybe(text), customer_email: maybe(text) })
const subscription = fc.record({
  subscription_id: maybe(text),
  current_period_end: maybe(fc.constant('2026-02-02T00:00:00.000Z')),
  status_changed: fc.boolean(),
  is_first_invoice: fc.boolean(),
})
const sharedFact = fc.record({
  recorded: maybe(fc.record({ kind: fc.constantFrom('ended_subscription', 'paid_invoice'), is_first: fc.boolean() })),
})
const about = fc
  .tuple(names, subject, customer, maybe(subscription), maybe(sharedFact))
  .map(([name, facts, customerFields, subscription, shared_fact]) => ({
    ...{ ...name, ...facts, ...customerFields, subscription },
    // Events of 1.0.0 have none.
    ...(shared_fact && { shared_fact: shared_fact.recorded }),
  }))
const testRequests = fc.oneof(
  about,
  fc.tuple(about, fc.constantFrom(...canonicalNames)).map(([facts, canonical_name]) => ({
    ...facts,
    ...canonicalOnly,
    canonical_name,
  })),
)

const refunds = fc
  .record({
    refund_cents: maybe(fc.nat()),
    status: fc.constantFrom('pending', 'succeeded', 'failed'),
    was_succeeded: fc.boolean(),
    reason: fc.constantFrom('duplicate', 'fraudulent', 'requested_by_customer', 'other'),
    attention: maybe(fc.constantFrom('refund_exceeds_payment', 'reported_in_other_currency')),
    reported_amount_cents: maybe(fc.nat()),
    reported_currency: maybe(text),
  })
  .map(refundRecorded)
const disputes = fc
  .record({
    disputed_cents: maybe(fc.nat()),
    status: fc.constantFrom('open', 'won', 'lost'),
    is_new_status: fc.boolean(),
    reason: maybe(text),
    evidence_due_by: maybe(fc.constantFrom('2026-02-02T00:00:00.000Z', 'soon')),
  })
  .map(disputeRecorded)

const event: fc.Arbitrary<RecordedDomainEvent> = fc.oneof(
  fc.tuple(names, fc.json()).map(([name, body]) => received({ ...name, body })),
  fc
    .tuple(names, subject, fc.boolean())
    .map(([name, facts, is_foreign_intent]) => applied({ ...name, ...facts, is_foreign_intent })),
  fc.constant(appliedToMethod()),
  about.map(unmatched),
  testRequests.map(tested),
  testRequests.map(simulated),
  refunds,
  disputes,
  fc.constantFrom(conflicted(), conflicted({ attention: 'money_after_cancellation' })),
  fc.constantFrom(mismatched({ attention: 'amount_mismatch' }), ignored({ attention: 'foreign_intent' })),
  fc.constantFrom<RecordedDomainEvent>(
    { type: 'PaymentSucceeded', data: ourPayment },
    { type: 'PaymentCanceled', data: { ...ourPayment, reason: null } },
    { type: 'PaymentProcessingStarted', data: { ...ourPayment, capturable_cents: 0 } },
  ),
)

const patterns = fc
  .array(
    fc.constantFrom(
      'all',
      'payment.*',
      'payment.attention',
      'payment_intent.*',
      'subscription.*',
      'membership.*',
      'stripe:*',
      'charge.refunded',
    ),
    { minLength: 1, maxLength: 3 },
  )
  .map((words) => words.join())
const endpoint = fc.record({
  EVENT_MODE: fc.constantFrom(...eventModes),
  EVENTS: patterns,
  FORMAT: fc.constantFrom('json', ...chatServices),
})
const settings: fc.Arbitrary<Settings> = fc
  .tuple(fc.array(endpoint, { maxLength: 4 }), maybe(patterns))
  .map(([endpoints, list]) => {
    const variables = endpoints.flatMap((own, index) =>
      Object.entries({ ENABLED: 'true', URL: `https://example.com/${index}?chat_id=-1`, ...own }).map(
        ([suffix, value]) => [`WEBHOOK_${index + 1}_${suffix}`, value] as const,
      ),
    )
    const old = { EXTERNAL_WEBHOOK_URLS: 'https://example.com,https://hooks.slack.com/services/T0/B0/x' }
    return { ...Object.fromEntries(variables), ...(list === null ? {} : { ...old, EXTERNAL_WEBHOOK_EVENTS: list }) }
  })

const options = { projectId: 'shop', projectIds: [] }
type Check = (source: RecordedDomainEvent, endpoints: readonly WebhookEndpoint[], sent: readonly Outbound[]) => void

/** Checks the webhooks of random events for random endpoints. */
function check(numRuns: number, holds: Check): void {
  fc.assert(
    fc.property(event, settings, (source, env) => {
      const endpoints = endpointsFrom(env)
      holds(source, endpoints, outboundMessages(recorded(source), endpoints, options))
    }),
    { numRuns },
  )
}

t.test('plannedDeliveries matches outboundMessages for random events and endpoints', async () => {
  check(500, (source, endpoints, sent) =>
    assert.deepEqual(
      plannedDeliveries(source, endpoints),
      sent.map(({ endpoint, event, mode }) => ({ node: endpoint, event, mode })),
    ),
  )
})

t.test('mapping a random event twice gives the same webhooks, with distinct ids', async () => {
  check(200, (source, endpoints, sent) => {
    assert.deepEqual(outboundMessages(recorded(source), endpoints, options), sent)
    assert.equal(new Set(sent.map(({ id }) => id)).size, sent.length)
  })
})

t.test('the webhooks for an endpoint do not depend on other endpoints', async () => {
  check(200, (source, endpoints, sent) => {
    for (const each of endpoints)
      assert.deepEqual(
        outboundMessages(recorded(source), [each], options),
        sent.filter(({ endpoint }) => endpoint === each.name),
      )
  })
})

t.test(
  'every JSON body of a random event is well-formed, as documented, and has its event name and test flag',
  async () => {
    check(300, (source, endpoints, sent) => {
      const isTest = source.type === 'WebhookTestRequested' || source.type === 'WebhookSimulationRequested'
      for (const { endpoint, body, event: sentAs, mode, is_test } of sent) {
        assert.ok(body.isWellFormed() && !body.includes('\0'))
        const parsed = JSON.parse(body)
        assert.equal(is_test, isTest)
        if (endpoints.find(({ name }) => name === endpoint)?.format !== 'json') continue
        assert.equal(parsed.event, sentAs)
        assert.deepEqual(messageErrors(mode, parsed), [])
        assert.equal(parsed.test, isTest ? true : undefined)
      }
    })
  },
)
