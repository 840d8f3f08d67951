import type { Provider } from '@paylog/providers/provider'
import { createSandbox } from '@paylog/providers/sandbox/sandbox'
import { signSandboxEvent } from '@paylog/providers/sandbox/signature'
import { connectAuthorizeNet, connectPaypal } from '@paylog/providers/testing/providerHarness'
import { startFakeAuthorizeNet } from '@paylog/testing/authorize-net/fakeAuthorizeNet'
import { startFakePaypal } from '@paylog/testing/paypal/fakePaypal'
import t from 'tap'
import { createCanonicalTableHarness, now, type Signed } from './canonicalTableHarness.ts'
import { genericCases } from './genericCases.ts'
import { body, occurred_at } from './genericFixtures.ts'

const timeoutMs = 15_000
const harness = await createCanonicalTableHarness(t)
const fakePaypal = await startFakePaypal(t)
const fakeGateway = await startFakeAuthorizeNet(t)
const secret = 'sandbox-secret'
const sandbox = createSandbox({ webhookSecrets: [secret] })
const paypal = connectPaypal(t, fakePaypal, { timeoutMs })
const gateway = connectAuthorizeNet(t, fakeGateway, { timeoutMs })

const signedBySandbox = (text: string): Signed => {
  const signature = signSandboxEvent(secret, text, Math.floor(now.getTime() / 1_000))
  return { body: text, headers: { 'sandbox-signature': signature } }
}
const providers: readonly (readonly [Provider, (text: string) => Signed])[] = [
  [sandbox, signedBySandbox],
  [paypal, (text) => fakePaypal.signed({ body: text })],
  [gateway, (text) => fakeGateway.signed({ body: text })],
]

for (const [provider, sign] of providers)
  for (const { type, object, canonical, legacy } of genericCases)
    t.test(
      `${provider.id}: ${type} sends ${canonical.map(([name]) => name).join(' and ') || 'no canonical webhook'}`,
      async (t) => {
        const expected = { provider_type: type, occurred_at, canonical, legacy }
        await harness.check(t, provider, sign(body(provider.id, type, object)), expected, 2)
      },
    )
