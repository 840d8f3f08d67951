import type { RecordedDomainEvent } from '@paylog/domain/recordedEvents'
import t from 'tap'
import {
  applied,
  appliedToMethod,
  customerNamed,
  endpointSettings,
  messagesTo,
  ourPayment,
  payment_id,
  paymentFacts,
  simulated,
  unmatched,
} from '../../testing/eventFixtures.ts'
import type { NamedFacts } from '../webhookFacts.ts'
import { chatBody, chatServices } from './chatServices.ts'

const slack = 'https://hooks.slack.com/services/T0/B0/x'
const messagesFor = (event: RecordedDomainEvent, mode: string) =>
  mode === 'legacy'
    ? messagesTo(event, { EXTERNAL_WEBHOOK_URLS: slack })
    : messagesTo(event, endpointSettings(1, mode, { URL: slack }))

const ours = paymentFacts
const theirs = {
  ...paymentFacts,
  timestamp: '2026-01-02T03:04:05.000Z',
  ...customerNamed('bo@example.com'),
  payment_id: 'pi_1',
}
const intent = 'stripe:payment_intent.succeeded'

const table: readonly (readonly [string, RecordedDomainEvent, string, readonly NamedFacts[]])[] = [
  ['our payment', { type: 'PaymentSucceeded', data: ourPayment }, 'canonical', [ours]],
  ['a foreign payment', unmatched(), 'canonical', [theirs]],
  [
    "a foreign payment with the provider's status",
    unmatched({ status: 'requires_capture', customer_email: null }),
    'raw',
    [{ ...theirs, event: intent, ...customerNamed('cus_1'), status: 'requires_capture' }],
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
    [{ ...theirs, event: intent, ...customerNamed('ann@example.com'), payment_id, status: 'paid' }],
  ],
  [
    'a simulated notification',
    simulated(),
    'both',
    [
      { ...ours, ...customerNamed('bo@example.com'), payment_id: 'pi_1', is_test: true },
      { ...ours, event: intent, ...customerNamed('bo@example.com'), payment_id: 'pi_1', is_test: true },
    ],
  ],
]

for (const [name, event, mode, expected] of table)
  t.test(`a ${mode} chat endpoint gets the expected messages for ${name} [6.2-chat-fields]`, async (t) => {
    const messages = messagesFor(event, mode)
    t.strictSame(
      messages.map(({ body }) => body),
      expected.map((facts) => chatBody('slack', facts, new URL(slack))),
    )
    t.strictSame(
      messages.map(({ event: name }) => name),
      expected.map(({ event: name }) => name),
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
  const url = (format: string) => `https://example.com/${format}?chat_id=-1`
  const messages = messagesTo(
    { type: 'PaymentSucceeded', data: ourPayment },
    ...chatServices.map((format, index) =>
      endpointSettings(index + 1, 'canonical', { URL: url(format), FORMAT: format }),
    ),
  )
  t.strictSame(
    messages.map(({ body }) => body),
    chatServices.map((format) => chatBody(format, ours, new URL(url(format)))),
  )
})
