import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { signingKey, webhookHeaders } from './signing.ts'

// The specification's published example.
const published = {
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  at: new Date(1614265330_000),
  body: '{"test": 2432232314}',
  signature: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  sequence: 9_007_199_254_740_993n,
}
const otherSecret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

t.test("webhookHeaders signs the specification's example as published", async (t) => {
  t.strictSame(webhookHeaders({ ...published, secrets: [published.secret] }), {
    'webhook-id': published.id,
    'webhook-timestamp': '1614265330',
    'webhook-sequence': '9007199254740993',
    'webhook-signature': published.signature,
  })
})

t.test('a signing secret works with and without its prefix', async (t) => {
  const bare = published.secret.replace('whsec_', '')
  t.equal(webhookHeaders({ ...published, secrets: [bare] })['webhook-signature'], published.signature)
})

t.test('a webhook is signed with every secret, and each one verifies it [10.4-signing]', async (t) => {
  const message = { id: 'a1', at: new Date(), body: '{"event":"payment.succeeded","amount":1}', sequence: 0n }
  const headers = webhookHeaders({ ...message, secrets: [published.secret, otherSecret] })
  t.strictSame(new Webhook(published.secret).verify(message.body, headers), JSON.parse(message.body))
  t.strictSame(new Webhook(otherSecret).verify(message.body, headers), JSON.parse(message.body))
  t.throws(() => new Webhook(otherSecret).verify(`${message.body} `, headers), /No matching signature/)
})

t.test('a webhook without a secret has no signature', async (t) => {
  const names = Object.keys(webhookHeaders({ ...published, secrets: [] }))
  t.strictSame(names, ['webhook-id', 'webhook-timestamp', 'webhook-sequence'])
})

t.test('a signing secret must have 24 to 64 bytes', async (t) => {
  const secretOf = (bytes: number) => `whsec_${Buffer.alloc(bytes).toString('base64')}`
  for (const bytes of [24, 64]) t.equal(signingKey(secretOf(bytes))?.length, bytes)
  const oneMissing = Buffer.alloc(27).toString('base64').slice(0, -3)
  for (const bad of ['', 'whsec_', 'whsec_not base64', oneMissing, secretOf(23), secretOf(65)])
    t.equal(signingKey(bad), undefined, bad)
  t.throws(() => webhookHeaders({ ...published, secrets: ['whsec_short'] }), /24 to 64 bytes/)
})
