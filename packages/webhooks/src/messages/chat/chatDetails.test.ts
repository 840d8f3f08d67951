// Chat messages about refunds, disputes, and what needs attention.
import type { RecordedDomainEvent } from '@paylog/domain/recordedEvents'
import t from 'tap'
import {
  canonicalOnly,
  conflicted,
  disputeRecorded,
  endpointSettings,
  messagesTo,
  paymentFacts,
  refundRecorded,
  tested,
} from '../../testing/eventFixtures.ts'
import type { NamedFacts } from '../webhookFacts.ts'
import { chatFields, chatMessage } from './chatMessage.ts'
import { chatBody } from './chatServices.ts'

const refunded = (more: Partial<NamedFacts['refund']> = {}): NamedFacts => ({
  ...paymentFacts,
  event: 'payment.refunded',
  refund: { id: 'refund-1', amount: 700, status: 'succeeded', reason: 'requested_by_customer', ...more },
})
const disputed = (more: Partial<NamedFacts['dispute']> = {}): NamedFacts => ({
  ...paymentFacts,
  event: 'payment.disputed',
  dispute: {
    id: 'dispute-1',
    amount: 2200,
    status: 'open',
    reason: 'product_not_received',
    evidence_due_by: '2026-01-12T23:59:59.000Z',
    ...more,
  },
})
const attention: NamedFacts = {
  ...paymentFacts,
  event: 'payment.attention',
  attention: { code: 'unrequested_charge', message: 'The payer was charged more than once' },
}

const table: readonly (readonly [facts: NamedFacts, title: string, tone: string, details: string])[] = [
  [refunded(), 'Payment refunded', 'neutral', 'Refunded 7.00 USD (requested by customer)'],
  [refunded({ reason: 'other' }), 'Payment refunded', 'neutral', 'Refunded 7.00 USD'],
  [refunded({ amount: null, reason: 'other' }), 'Payment refunded', 'neutral', 'Refunded an unknown amount'],
  [
    refunded({ amount: null, reported_amount_cents: 5600, reported_currency: 'JPY', reason: 'other' }),
    'Payment refunded',
    'neutral',
    'Refunded 5600 JPY',
  ],
  [refunded({ status: 'failed' }), 'Refund failed', 'bad', 'The refund of 7.00 USD failed after it had succeeded'],
  [
    disputed(),
    'Payment disputed',
    'bad',
    'The payer disputes 22.00 USD; evidence is due by 2026-01-12 23:59:59 UTC; reason: product not received',
  ],
  [
    disputed({ amount: null, reason: null, evidence_due_by: null }),
    'Payment disputed',
    'bad',
    'The payer disputes an unknown amount',
  ],
  [disputed({ status: 'won' }), 'Dispute won', 'good', 'The dispute over 22.00 USD was won'],
  [disputed({ status: 'lost' }), 'Dispute lost', 'bad', 'The dispute over 22.00 USD was lost'],
  [attention, 'Payment needs attention', 'bad', 'The payer was charged more than once'],
]
for (const [facts, title, tone, details] of table)
  t.test(`a chat message has the sentence "${details}" before its other facts`, async (t) => {
    const message = chatMessage(facts)
    t.hasStrict(message, { title, tone, details })
    t.strictSame(
      chatFields(message).map(({ name }) => name),
      ['Details', 'Amount', 'Customer', 'Status', 'Payment', 'Time', 'Provider'],
    )
  })

t.test('the amounts of a refund have the decimals of its currency', async (t) => {
  t.equal(chatMessage({ ...refunded({ reason: 'other' }), currency: 'JPY' }).details, 'Refunded 700 JPY')
})

t.test('a Slack workflow gets the sentence as its status, because its variables are fixed', async (t) => {
  const url = new URL('https://hooks.slack.com/triggers/T0/1/abc')
  const variables = JSON.parse(chatBody('slack', disputed({ status: 'won' }), url))
  t.hasStrict(variables, { title: 'Dispute won', status: 'The dispute over 22.00 USD was won' })
  t.strictSame(Object.keys(variables).length, 8)
})

t.test('chat endpoints get the sentences of recorded events and of tests', async (t) => {
  const url = 'https://hooks.slack.com/triggers/T0/1/abc'
  const statusesOf = (event: RecordedDomainEvent) =>
    messagesTo(event, endpointSettings(1, 'canonical', { URL: url })).map(({ body }) => JSON.parse(body).status)
  t.strictSame(statusesOf(refundRecorded({ attention: 'refund_exceeds_payment' })), [
    'Refunded 7.00 USD (requested by customer)',
    'More was refunded than was received',
  ])
  t.strictSame(statusesOf(disputeRecorded({ status: 'lost' })), ['The dispute over 22.00 USD was lost'])
  t.strictSame(statusesOf(conflicted({ attention: 'money_after_cancellation' })), [
    'Money arrived after the payment was canceled',
  ])
  t.strictSame(statusesOf(tested({ ...canonicalOnly, canonical_name: 'payment.disputed' })), [
    'The payer disputes 22.00 USD',
  ])
})
