import { providerFromEnv } from '@paylog/commands/testing/fakeProviders'
import { createSandbox } from '@paylog/providers/sandbox/sandbox'
import { startFakePaypal } from '@paylog/testing/paypal/fakePaypal'
import { startFakeStripe } from '@paylog/testing/stripe/fakeStripe'
import t from 'tap'
import { checkProviders } from './providerChecks.ts'

t.test('at start the log says which provider refuses our credentials, and which does not respond', async (t) => {
  const [stripe, paypal] = await Promise.all([startFakeStripe(t), startFakePaypal(t)])
  const logged: [string, object][] = []
  const log = {
    error: (fields: object) => void logged.push(['error', fields]),
    warn: (fields: object) => void logged.push(['warn', fields]),
  }
  const wrong = await providerFromEnv(t, { ...paypal.env, PAYPAL_CLIENT_SECRET: 'another' })
  const right = await providerFromEnv(t, stripe.env)
  await checkProviders([right, wrong, createSandbox({ webhookSecrets: ['secret'] })], log)
  t.same(logged, [['error', { provider: 'paypal', refusal: 'Client Authentication failed' }]])
  stripe.readFaults.always({ kind: 'status', status: 500, commits: false })
  await checkProviders([right], log)
  t.match(logged[1], ['warn', { provider: 'stripe' }])
})
