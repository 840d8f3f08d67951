import type { RecordedDomainEvent } from '@paylog/domain/recordedEvents'
import t from 'tap'
import {
  applied,
  appliedToMethod,
  canonicalOnly,
  endpointSettings,
  messagesTo,
  ourPayment,
  payment_id,
  received,
  simulated,
  tested,
  unmatched,
} from '../testing/eventFixtures.ts'
import type { ChatNotice } from './chatMessage.ts'
import { chatBody } from './chatServices.ts'

const slack = 'https://hooks.slack.com/services/T0/B0/x'
const messagesFor = (event: RecordedDomainEvent, mode: string) =>
  mode === 'legacy'
    ? messagesTo(event, { EXTERNAL_WEBHOOK_URLS: slack })
    : messagesTo(event, endpointSettings(1, mode, { URL: slack }))

const common = { provider: 'stripe', amount_cents: 2200, currency: 'USD', status: 'succeeded', is_test: false }
const ours = { ...common, timestamp: '2026-01-02T03:04:05.678Z', customer: 'ann@example.com', payment_id }
const theirs = { ...common, timestamp: '2026-01-02T03:04:05.000Z', customer: 'bo@example.com', payment_id: 'pi_1' }
const intent = 'stripe:payment_intent.succeeded'

const table: readonly (readonly [string, RecordedDomainEvent, string, readonly ChatNotice[]])[] = [
  [
    'our payment',
    { type: 'PaymentSucceeded', data: ourPayment },
    'canonical',
    [{ ...ours, event: 'payment.succeeded' }],
  ],
  [
    'an anonymous payment',
    { type: 'PaymentSucceeded', data: { ...ourPayment, payer: { id: null, type: 'guest', email: null } } },
    'canonical',
    [{ ...ours, event: 'payment.succeeded', customer: null }],
  ],
  ['a foreign payment', unmatched(), 'canonical', [{ ...theirs, event: 'payment.succeeded' }]],
  [
    "a foreign payment with the provider's status",
    unmatched({ status: 'requires_capture', customer_email: null }),
    'raw',
    [{ ...theirs, event: intent, customer: 'cus_1', status: 'requires_capture' }],
  ],
  [
    'a foreign payment for the legacy list',
    unmatched({ status: 'x' }),
    'legacy',
    [{ ...theirs, event: 'payment_intent.succeeded' }],
  ],
  [
    'a notification about our payment',
    applied({ status: 'paid' }),
    'raw',
    [{ ...theirs, event: intent, customer: 'ann@example.com', payment_id, status: 'paid' }],
  ],
  ['a received notification', received(), 'raw', []],
  [
    'a notification about our payment for the legacy list',
    applied({ status: 'paid' }),
    'legacy',
    [{ ...theirs, event: 'payment_intent.succeeded', customer: 'ann@example.com', payment_id }],
  ],
  [
    'a notification that only names our payment',
    applied({ is_foreign_intent: true }),
    'raw',
    [{ ...theirs, event: intent, customer: null }],
  ],
  [
    'a notification about our payment method',
    appliedToMethod(),
    'raw',
    [
      {
        ...theirs,
        event: 'stripe:payment_method.automatically_updated',
        amount_cents: null,
        currency: null,
        status: null,
        customer: null,
        payment_id: null,
      },
    ],
  ],
  [
    'a test of a canonical event',
    tested({ ...canonicalOnly, canonical_name: 'payment.failed' }),
    'both',
    [
      {
        ...ours,
        event: 'payment.failed',
        status: 'failed',
        customer: 'cy@example.com',
        payment_id: 'pi_1',
        is_test: true,
      },
    ],
  ],
  [
    'a simulated notification',
    simulated(),
    'both',
    [
      { ...ours, event: 'payment.succeeded', customer: 'bo@example.com', payment_id: 'pi_1', is_test: true },
      { ...ours, event: intent, customer: 'bo@example.com', payment_id: 'pi_1', is_test: true },
    ],
  ],
]

for (const [name, event, mode, notices] of table)
  t.test(`a ${mode} chat endpoint gets the expected messages for ${name} [6.2-chat-fields]`, async (t) => {
    const messages = messagesFor(event, mode)
    t.strictSame(
      messages.map(({ body }) => body),
      notices.map((notice) => chatBody('slack', notice, new URL(slack))),
    )
    t.strictSame(
      messages.map(({ event: name }) => name),
      notices.map(({ event: name }) => name),
    )
  })

t.test('a chat message belongs to the owner of its payment in the webhook log', async (t) => {
  const ownerOf = (event: RecordedDomainEvent, mode: string) =>
    messagesFor(event, mode).map((message) => [message.user_id, message.payment_id])
  t.strictSame(ownerOf(applied(), 'raw'), [['u1', payment_id]])
  t.strictSame(ownerOf(applied({ is_foreign_intent: true }), 'raw'), [[null, 'pi_1']])
  t.strictSame(ownerOf(unmatched(), 'raw'), [[null, 'pi_1']])
  t.strictSame(ownerOf(appliedToMethod(), 'raw'), [[null, null]])
  t.strictSame(ownerOf(simulated(), 'raw'), [['u7', null]], 'a test belongs to no payment')
})

t.test('each chat service gets its own body format, which may depend on the URL [6.2-chat]', async (t) => {
  const formats = ['slack', 'discord', 'teams', 'google-chat', 'mattermost', 'telegram'] as const
  const url = (format: string) => `https://example.com/${format}?chat_id=-1`
  const messages = messagesTo(
    { type: 'PaymentSucceeded', data: ourPayment },
    ...formats.map((format, index) => endpointSettings(index + 1, 'canonical', { URL: url(format), FORMAT: format })),
  )
  const notice = { ...ours, event: 'payment.succeeded' }
  t.strictSame(
    messages.map(({ body }) => body),
    formats.map((format) => chatBody(format, notice, new URL(url(format)))),
  )
})
