import { webhookHeaders } from '@paylog/webhooks/messages/signing'
import { canonicalOnly, messagesByMode, received, refundRecorded, tested } from '@paylog/webhooks/testing/eventFixtures'
import t from 'tap'
import { verifyWebhook } from './verifyWebhook.ts'

const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
const otherSecret = `whsec_${Buffer.alloc(24, 8).toString('base64')}`

const [refunded, raw] = [messagesByMode(refundRecorded())[0], messagesByMode(received())[0]]
const [test] = messagesByMode(tested({ ...canonicalOnly, canonical_name: 'payment.succeeded' }))
if (!refunded || !raw || !test) throw new Error('the fixtures lead to webhooks')

/** The headers as the worker sends them. */
const signed = (body: string, secrets = [secret], at = new Date()) =>
  webhookHeaders({ id: 'msg_1', at, body, secrets, sequence: 3n })

t.test('a canonical webhook is verified, and its event says what it has', async (t) => {
  const { body } = refunded
  for (const headers of [signed(body), new Headers(signed(body))]) {
    const message = verifyWebhook(body, headers, secret)
    if (message.event !== 'payment.refunded') throw new Error(message.event)
    const { amount, status }: { amount: number | null; status: string } = message.data.refund
    t.same({ amount, status }, { amount: 700, status: 'succeeded' })
    t.equal(message.test, undefined)
  }
  t.same(verifyWebhook(new TextEncoder().encode(body), signed(body), secret), JSON.parse(body))
})

t.test("a raw webhook has the provider's notification, and a test is marked", async (t) => {
  const message = verifyWebhook(raw.body, signed(raw.body), secret)
  t.match(message, { event: 'stripe:payment_intent.succeeded', data: { id: 'evt_1' } })
  t.equal(verifyWebhook(test.body, signed(test.body), secret).test, true)
})

t.test('while a secret is rotated, either one verifies', async (t) => {
  const { body } = refunded
  const both = signed(body, [otherSecret, secret])
  for (const secrets of [secret, otherSecret, [secret, otherSecret], ['whsec_AAAA', secret]])
    t.match(verifyWebhook(body, both, secrets), { event: 'payment.refunded' })
  t.match(verifyWebhook(body, signed(body), [otherSecret, secret]), { event: 'payment.refunded' })
})

t.test('a forged, changed, old or unsigned webhook is rejected', async (t) => {
  const { body } = refunded
  const headers = signed(body)
  const noMatch = { name: 'Error', message: /No matching signature/ }
  t.throws(() => verifyWebhook(body, signed(body, [otherSecret]), secret), noMatch)
  t.throws(() => verifyWebhook(body.replace('700', '900'), headers, secret), noMatch)
  t.throws(() => verifyWebhook(body, { ...headers, 'webhook-id': 'msg_2' }, secret), noMatch)
  t.throws(() => verifyWebhook(body, headers, [otherSecret, otherSecret]), noMatch)
  t.throws(() => verifyWebhook(body, signed(body, [secret], new Date(Date.now() - 600_000)), secret), /too old/)
  t.throws(() => verifyWebhook(body, signed(body, []), secret), /Missing required headers/)
  t.throws(() => verifyWebhook(body, headers, []), /secret is required/)
})
