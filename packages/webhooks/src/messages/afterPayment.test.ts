// Canonical messages about what happens after a payment: refunds, disputes, and what needs attention.
import type { RecordedDomainEvent } from '@paylog/domain/recordedEvents'
import t from 'tap'
import {
  conflicted,
  type DataOf,
  dispute,
  disputeRecorded,
  endpointSettings,
  ignored,
  messagesTo,
  mismatched,
  ourPayment,
  payment_id,
  refund,
  refundRecorded,
} from '../testing/eventFixtures.ts'

const messagesOf = (event: RecordedDomainEvent) => messagesTo(event, endpointSettings(1, 'canonical'))
const bodiesOf = (event: RecordedDomainEvent) => messagesOf(event).map(({ body }) => JSON.parse(body))
const namesOf = (event: RecordedDomainEvent) => messagesOf(event).map((message) => message.event)

const bodyOf = (name: string, status: string, facts: string) =>
  `{"event":"${name}","provider":"stripe","timestamp":"2026-01-02T03:04:05.678Z","data":{"payment_id":"${payment_id}",` +
  `"amount":2200,"currency":"USD","status":${status},"user":{"id":"u1","type":"customer","email":"ann@example.com"},` +
  `"project":{"id":"shop"},${facts}}}`

const table = [
  [
    refundRecorded(),
    'payment.refunded',
    '"succeeded"',
    `"refund":{"id":"${refund.refund_id}","amount":700,"status":"succeeded","reason":"requested_by_customer"}`,
    'u1',
  ],
  [
    disputeRecorded(),
    'payment.disputed',
    '"succeeded"',
    `"dispute":{"id":"${dispute.dispute_id}","amount":2200,"status":"open","reason":"product_not_received",` +
      '"evidence_due_by":"2026-01-12T23:59:59.000Z"}',
    null,
  ],
  [
    conflicted({ attention: 'money_after_cancellation' }),
    'payment.attention',
    '"canceled"',
    '"attention":{"code":"money_after_cancellation","message":"Money arrived after the payment was canceled"}',
    null,
  ],
] as const
for (const [event, name, status, facts, user] of table)
  t.test(
    `${name} is the canonical payload with its facts, and only a refund is for the payer [10.4-refunded 10.4-disputed 10.4-attention]`,
    async (t) => {
      const sent = messagesOf(event).map(({ body, user_id }) => [body, user_id])
      t.strictSame(sent, [[bodyOf(name, status, facts), user]])
    },
  )

t.test('a refund is sent when it succeeds, and when it fails after that [10.4-refunded]', async (t) => {
  const table = [
    ['pending', false, []],
    ['pending', true, []],
    ['succeeded', false, ['payment.refunded']],
    ['succeeded', true, []],
    ['failed', false, []],
    ['failed', true, ['payment.refunded']],
  ] as const
  for (const [status, was_succeeded, expected] of table)
    t.strictSame(namesOf(refundRecorded({ status, was_succeeded })), expected, `${status} ${was_succeeded}`)
  t.match(bodiesOf(refundRecorded({ status: 'failed', was_succeeded: true })), [
    { data: { status: 'succeeded', refund: { amount: 700, status: 'failed' } } },
  ])
})

t.test('a dispute is sent when it is opened and when it is closed, not in between [10.4-disputed]', async (t) => {
  for (const status of ['open', 'won', 'lost'] as const)
    t.match(bodiesOf(disputeRecorded({ status })), [{ event: 'payment.disputed', data: { dispute: { status } } }])
  t.strictSame(namesOf(disputeRecorded({ is_new_status: false })), [])
})

t.test('every event with a mark for attention sends payment.attention, and no other event', async (t) => {
  const table = [
    [mismatched({ attention: 'amount_mismatch' }), 'amount_mismatch', null],
    [conflicted({ attention: 'unrequested_charge' }), 'unrequested_charge', 'succeeded'],
    [conflicted({ attention: 'money_after_cancellation' }), 'money_after_cancellation', 'canceled'],
    [ignored({ reason: 'foreign_intent', attention: 'foreign_intent' }), 'foreign_intent', null],
  ] as const
  for (const [event, code, status] of table)
    t.match(bodiesOf(event), [{ event: 'payment.attention', data: { status, attention: { code, message: /^[A-Z]/ } } }])
  for (const event of [mismatched(), conflicted(), ignored()]) t.strictSame(namesOf(event), [])
})

t.test('a pending refund that exceeds the payment sends payment.attention only', async (t) => {
  t.strictSame(namesOf(refundRecorded({ status: 'pending', attention: 'refund_exceeds_payment' })), [
    'payment.attention',
  ])
})

t.test('refunds and disputes of a payment that never succeeded have its status', async (t) => {
  t.match(bodiesOf(refundRecorded({ payment_status: 'canceled', attention: 'refund_exceeds_payment' })), [
    { data: { status: 'canceled' } },
    { data: { status: 'canceled' } },
  ])
  t.match(bodiesOf(disputeRecorded({ payment_status: 'pending' })), [{ data: { status: 'pending' } }])
})

t.test('unknown amounts and facts of refunds and disputes are null', async (t) => {
  t.match(bodiesOf(refundRecorded({ refund_cents: null })), [{ data: { amount: 2200, refund: { amount: null } } }])
  t.match(bodiesOf(disputeRecorded({ disputed_cents: null, reason: null, evidence_due_by: null })), [
    { data: { dispute: { amount: null, reason: null, evidence_due_by: null } } },
  ])
})

t.test('a refund or dispute in another currency has what was reported, and sends payment.attention', async (t) => {
  const reported = { reported_amount_cents: 5600, reported_currency: 'EUR' }
  const other = { ...reported, attention: 'reported_in_other_currency' } as const
  const attention = { event: 'payment.attention', data: { status: 'succeeded', attention: { code: other.attention } } }
  t.match(bodiesOf(refundRecorded({ refund_cents: null, ...other })), [
    { data: { refund: { amount: null, ...reported } } },
    attention,
  ])
  t.match(bodiesOf(disputeRecorded({ disputed_cents: null, ...other })), [
    { data: { dispute: { amount: null, ...reported } } },
    attention,
  ])
})

t.test('a create call that was never made or only throttled sends nothing [10.4-not-failed]', async (t) => {
  const failed = { ...ourPayment, attempt: 1, refund_id: null, failure_code: 'rate_limit', failure_message: 'no' }
  const everything = [endpointSettings(1, 'both'), { EXTERNAL_WEBHOOK_URLS: 'https://example.com/old' }] as const
  const sent = (event: RecordedDomainEvent) => messagesTo(event, ...everything).map((message) => message.event)
  const callFailed = (data: Pick<DataOf<'ProviderCallFailed'>, 'call' | 'outcome' | 'error_code'>) =>
    sent({ type: 'ProviderCallFailed', data: { ...failed, ...data } })
  t.strictSame(callFailed({ call: 'create', outcome: 'unknown', error_code: null }), [])
  for (const outcome of ['rejected', 'throttled'] as const)
    t.strictSame(callFailed({ call: 'create', outcome, error_code: 'provider_unavailable' }), [])
  for (const error_code of ['payment_declined', 'provider_rejected', 'currency_not_supported'] as const) {
    t.strictSame(callFailed({ call: 'create', outcome: 'rejected', error_code }), ['payment.failed'])
    for (const call of ['cancel', 'capture', 'refund'] as const)
      t.strictSame(callFailed({ call, outcome: 'rejected', error_code }), [])
  }
})
