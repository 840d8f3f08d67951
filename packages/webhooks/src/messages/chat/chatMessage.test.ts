import t from 'tap'
import { customerNamed, paymentFacts } from '../../testing/eventFixtures.ts'
import type { NamedFacts } from '../webhookFacts.ts'
import { chatFields, chatMessage } from './chatMessage.ts'

const messageFor = (more: Partial<NamedFacts>) => chatMessage({ ...paymentFacts, ...more })
const facts = (more: Partial<NamedFacts>) => chatFields(messageFor(more)).map(({ name, text }) => `${name}: ${text}`)

const titles = {
  'payment.succeeded': 'Payment succeeded',
  'membership.cancelled': 'Membership cancelled',
  'payment_intent.requires_action': 'Payment intent requires action',
  'stripe:customer.subscription.trial_will_end': 'Customer subscription trial will end',
  'paypal:PAYMENT.CAPTURE.COMPLETED': 'Payment capture completed',
  'authorize-net:net.authorize.customer.paymentProfile.created': 'Customer payment profile created',
  'stripe:<!channel> *now*\n@here': 'Channel now here',
  'stripe:…': 'Event',
  // Changing the case of these letters adds combining marks, which are not letters.
  'stripe:İstanbul.ǰ': 'Istanbul ǰ',
  'stripe:ǰ': 'J',
}
for (const [event, title] of Object.entries(titles)) {
  t.test(`the chat title of ${JSON.stringify(event)} is ${title}`, async (t) => {
    t.equal(messageFor({ event }).title, title)
  })
}

t.test('the chat title of a canceled payment is canceled, not failed', async (t) => {
  const canceled = messageFor({ event: 'payment.failed', status: 'canceled', is_test: true })
  t.equal(canceled.title, 'Test: Payment canceled')
  t.equal(canceled.tone, 'bad')
  t.equal(canceled.event, 'payment.failed')
  t.equal(messageFor({ event: 'payment.failed', status: 'failed' }).title, 'Payment failed')
  t.equal(messageFor({ event: 'stripe:charge.failed', status: 'canceled' }).title, 'Charge failed')
})

t.test('the tone of a chat message follows its event', async (t) => {
  t.equal(messageFor({}).tone, 'good')
  t.equal(messageFor({ event: 'payment.failed', is_test: true }).tone, 'bad')
  t.equal(messageFor({ event: 'subscription.cancelled' }).tone, 'bad')
  t.equal(messageFor({ event: 'customer.updated' }).tone, 'neutral')
})

t.test('a chat message omits unknown facts', async (t) => {
  t.same(
    facts({
      amount: null,
      currency: null,
      ...customerNamed(null),
      status: ' \u0000\u200b ',
      payment_id: null,
      timestamp: 'long ago',
      provider: '',
    }),
    [],
  )
})

const amounts = [
  [2200, 'USD', '22.00 USD'],
  [5, 'EUR', '0.05 EUR'],
  [0, 'EUR', '0.00 EUR'],
  [-1, 'EUR', '-0.01 EUR'],
  ...['JPY', 'KRW', 'VND', 'CLP'].map((code) => [2200, code, `2200 ${code}`] as const),
  ...['BHD', 'JOD', 'KWD', 'OMR', 'TND', 'IQD'].map((code) => [12, code, `0.012 ${code}`] as const),
  [999_999_999_999, 'USD', '9999999999.99 USD'],
  [2200, null, '22.00'],
  [2200, '<b>', '22.00'],
] as const
for (const [amount, currency, text] of amounts) {
  t.test(`chat amount: ${amount} minor units of ${currency} are ${text}`, async (t) => {
    t.equal(messageFor({ amount, currency }).amount, text)
  })
}

t.test('untrusted text becomes one line of visible characters', async (t) => {
  t.equal(messageFor(customerNamed(' a\r\n\tb\u202egnp.exe\u2028c\u0000 ')).customer, 'a b gnp.exe c')
  t.equal(messageFor({ status: 'half \ud83d' }).status, 'half \ufffd')
})

t.test('long text is cut without splitting a character', async (t) => {
  t.equal(messageFor(customerNamed('x'.repeat(320))).customer, 'x'.repeat(320))
  t.equal(messageFor(customerNamed('x'.repeat(321))).customer, `${'x'.repeat(319)}…`)
  t.equal(messageFor(customerNamed('😀'.repeat(161))).customer, `${'😀'.repeat(159)}…`)
  t.equal(messageFor({ event: 'x'.repeat(500) }).title, `X${'x'.repeat(119)}`)
  t.equal(messageFor({ event: `a${'𝓍'.repeat(500)}`, is_test: true }).title, `Test: A${'𝓍'.repeat(59)}`)
})
