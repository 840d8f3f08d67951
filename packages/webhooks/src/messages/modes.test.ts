import type { RecordedDomainEvent } from '@paylog/domain/recordedEvents'
import t from 'tap'
import {
  applied,
  appliedToMethod,
  canonicalOnly,
  conflicted,
  disputeRecorded,
  endpointSettings,
  messagesTo,
  ourPayment,
  received,
  refundRecorded,
  simulated,
  tested,
  unchangedSubscription,
  unmatched,
} from '../testing/eventFixtures.ts'

const slack = 'https://hooks.slack.com/services/T0/B0/x'
/** Endpoints of each mode with JSON, each mode with a chat service, and both formats in the legacy list. */
const allEndpoints = [
  endpointSettings(1, 'canonical'),
  endpointSettings(2, 'raw'),
  endpointSettings(3, 'both'),
  endpointSettings(4, 'canonical', { URL: slack }),
  endpointSettings(5, 'raw', { URL: slack }),
  endpointSettings(6, 'both', { URL: slack }),
  { EXTERNAL_WEBHOOK_URLS: `https://example.com/old,${slack}` },
]

const succeeded: RecordedDomainEvent = { type: 'PaymentSucceeded', data: ourPayment }
const subscription = { ...unchangedSubscription, current_period_end: null }
const activation = {
  provider_type: 'customer.subscription.created',
  generic_type: 'subscription.created',
  object_id: 'sub_1',
  status: 'active',
  subscription,
}
const intent = 'stripe:payment_intent.succeeded'
const native = 'stripe:customer.subscription.created'
const canonical = (name: string) => [`1 ${name}`, `3 ${name}`, `4 ${name}`, `6 ${name}`]
const testRequest = { ...canonicalOnly, canonical_name: 'membership.extended' }

const kinds: readonly (readonly [string, RecordedDomainEvent, readonly string[]])[] = [
  ['our payment', succeeded, canonical('payment.succeeded')],
  [
    'a refund that needs attention',
    refundRecorded({ attention: 'refund_exceeds_payment' }),
    [...canonical('payment.refunded'), ...canonical('payment.attention')],
  ],
  ['a dispute', disputeRecorded(), canonical('payment.disputed')],
  ['a received notification', received(), [`2 ${intent}`, `3 ${intent}`]],
  [
    'a notification about our payment',
    applied(),
    [`5 ${intent}`, `6 ${intent}`, 'legacy-1 payment_intent.succeeded', 'legacy-2 payment_intent.succeeded'],
  ],
  [
    'a notification about our payment method',
    appliedToMethod(),
    [
      '5 stripe:payment_method.automatically_updated',
      '6 stripe:payment_method.automatically_updated',
      'legacy-1 payment_method.updated',
      'legacy-2 payment_method.updated',
    ],
  ],
  [
    'a foreign notification',
    unmatched(activation),
    [
      ...canonical('subscription.created'),
      ...canonical('membership.activated'),
      `5 ${native}`,
      `6 ${native}`,
      'legacy-1 subscription.created',
      'legacy-2 subscription.created',
    ],
  ],
  [
    'a notification without a generic name',
    unmatched({ provider_type: 'charge.refunded', generic_type: null }),
    ['5 stripe:charge.refunded', '6 stripe:charge.refunded'],
  ],
  ...[tested(activation), simulated(activation)].map(
    (event) =>
      [
        `a notification by ${event.type}`,
        event,
        [
          ...canonical('subscription.created'),
          ...canonical('membership.activated'),
          `2 ${native}`,
          `3 ${native}`,
          `5 ${native}`,
          `6 ${native}`,
          'legacy-1 subscription.created',
          'legacy-2 subscription.created',
        ],
      ] as const,
  ),
  ...[tested(testRequest), simulated(testRequest)].map(
    (event) => [`a canonical event by ${event.type}`, event, canonical('membership.extended')] as const,
  ),
]

for (const [kind, event, expected] of kinds)
  t.test(`endpoints of every mode and format get ${kind} once, as their mode requires [6.2-modes]`, async (t) => {
    const messages = messagesTo(event, ...allEndpoints)
    t.strictSame(messages.map(({ endpoint, event: name }) => `${endpoint} ${name}`).sort(), [...expected].sort())
    for (const { endpoint, mode, event: name } of messages)
      t.equal(mode, endpoint.startsWith('legacy') ? 'legacy' : name.includes(':') ? 'raw' : 'canonical')
  })

t.test("patterns select messages in every mode by that mode's names [6.2-patterns-modes]", async (t) => {
  const table: readonly (readonly [RecordedDomainEvent, string, string, readonly string[]])[] = [
    [succeeded, 'canonical', 'payment.*', ['payment.succeeded']],
    [succeeded, 'canonical', 'payment.failed', []],
    [succeeded, 'canonical', 'stripe:*', []],
    [succeeded, 'both', 'customer.*,payment.succeeded', ['payment.succeeded']],
    [succeeded, 'raw', 'all', []],
    [disputeRecorded(), 'canonical', 'payment.refunded,payment.attention', []],
    [conflicted({ attention: 'unrequested_charge' }), 'both', 'payment.attention', ['payment.attention']],
    [received(), 'raw', 'payment_intent.*', [intent]],
    [received(), 'raw', 'stripe:*', [intent]],
    [received(), 'raw', 'payment.*', []],
    [received(), 'both', 'payment.*,stripe:payment_intent.*', [intent]],
    [received(), 'canonical', 'all', []],
    [unmatched(activation), 'canonical', 'membership.*', ['membership.activated']],
    [unmatched(activation), 'canonical', 'customer.*', []],
    [tested(activation), 'both', 'subscription.*', ['subscription.created', native]],
    [tested(activation), 'both', 'membership.*,stripe:customer.*', ['membership.activated', native]],
  ]
  for (const [event, mode, EVENTS, expected] of table)
    t.strictSame(
      messagesTo(event, endpointSettings(1, mode, { EVENTS })).map(({ event: name }) => name),
      expected,
      `${event.type} for ${mode} with ${EVENTS}`,
    )
})

t.test('numbered endpoints and the legacy list use their own patterns and bodies [9-both]', async (t) => {
  const messages = messagesTo(
    unmatched(activation),
    endpointSettings(1, 'canonical', { EVENTS: 'membership.*' }),
    endpointSettings(2, 'both', { EVENTS: 'subscription.*' }),
    { EXTERNAL_WEBHOOK_URLS: 'https://example.com/old', EXTERNAL_WEBHOOK_EVENTS: 'subscription.created' },
  )
  t.strictSame(
    messages.map(({ endpoint, event, body }) => [endpoint, event, Object.keys(JSON.parse(body).data).slice(0, 4)]),
    [
      ['2', 'subscription.created', ['payment_id', 'amount', 'currency', 'status']],
      ['1', 'membership.activated', ['payment_id', 'amount', 'currency', 'status']],
      ['legacy-1', 'subscription.created', ['payment_id', 'amount', 'currency', 'customer_email']],
    ],
  )
})
