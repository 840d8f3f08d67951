import { randomBytes } from 'node:crypto'
import { signingKey as keyOfWorker, webhookHeaders } from '@paylog/webhooks/messages/signing'
import t from 'tap'
import { signedHeaders, signingKey } from './signature.ts'

const attempt = { id: '018f0000-0000-7000-8000-0000000000aa', at: '2026-01-31T12:00:05.999Z', body: '{"word":"ñ €"}' }

t.test('the page computes the headers that the worker sends', async (t) => {
  for (const bytes of [24, 32, 64]) {
    const secret = `whsec_${randomBytes(bytes).toString('base64')}`
    const key = signingKey(secret)
    if (key === undefined) throw new Error('the secret is valid')
    const { id, at, body } = attempt
    const sent = webhookHeaders({ id, body, at: new Date(at), secrets: [secret], sequence: 1n })
    t.match(sent, signedHeaders(key, attempt), `${bytes} bytes`)
  }
})

t.test('the page accepts the secrets that the worker accepts', async (t) => {
  const valid = randomBytes(24).toString('base64')
  const texts = [valid, `whsec_${valid}`, valid.slice(0, -1), `${valid}=`, `${valid}A`, '', 'whsec_', ' ', `${valid}-_`]
  for (const text of [...texts, randomBytes(23).toString('base64'), randomBytes(65).toString('base64')])
    t.same(signingKey(text) ?? null, keyOfWorker(text) ? new Uint8Array(keyOfWorker(text) ?? []) : null, text)
})
