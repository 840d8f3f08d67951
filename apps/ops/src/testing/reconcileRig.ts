// What `payments reconcile` needs around it: a real log, and providers that speak over the wire.
import { createAuthorizeNet } from '@paylog/providers/authorize-net/authorizeNet'
import { createPaypal } from '@paylog/providers/paypal/paypal'
import { createStripe } from '@paylog/providers/stripe/stripe'
import { type FakeAuthorizeNet, startFakeAuthorizeNet } from '@paylog/testing/authorize-net/fakeAuthorizeNet'
import { type FakePaypal, startFakePaypal } from '@paylog/testing/paypal/fakePaypal'
import { type FakeStripe, startFakeStripe } from '@paylog/testing/stripe/fakeStripe'
import type { Test } from 'tap'
import { startPaymentsOnLog } from './paymentsOnLog.ts'
import type { Ended } from './runOps.ts'

export const reconcile = ['payments', 'reconcile']

function connectStripe(t: Test, { origin: apiBase, secretKey, webhookSecret, env }: FakeStripe) {
  const provider = createStripe({ secretKey, webhookSecrets: [webhookSecret], apiBase, timeoutMs: 2_000 })
  t.teardown(() => provider.close())
  return { provider, env }
}

function connectPaypal(t: Test, { apiBase, clientId, clientSecret, webhookIds, env }: FakePaypal) {
  const provider = createPaypal({ clientId, clientSecret, webhookIds, apiBase, timeoutMs: 2_000 })
  t.teardown(() => provider.close())
  return { provider, env }
}

function connectAuthorizeNet(t: Test, fake: FakeAuthorizeNet) {
  const { apiLoginId, transactionKey, signatureKey, origin: apiBase, env } = fake
  const credentials = { apiLoginId, transactionKey, signatureKeys: [signatureKey] }
  const provider = createAuthorizeNet({ ...credentials, apiBase, timeoutMs: 2_000 })
  t.teardown(() => provider.close())
  return { provider, env }
}

/** A log, providers with state, and the environment that leads to them. */
export async function startReconcileRig(t: Test, { allowDouble = false } = {}) {
  const [payments, fakeStripe, fakePaypal, fakeAuthorizeNet] = await Promise.all([
    startPaymentsOnLog(t),
    startFakeStripe(t),
    startFakePaypal(t, { allowDouble }),
    startFakeAuthorizeNet(t),
  ])
  const stripe = connectStripe(t, fakeStripe)
  const paypal = connectPaypal(t, fakePaypal)
  const authorizeNet = connectAuthorizeNet(t, fakeAuthorizeNet)
  const given = { EVENTSTORE_URL: payments.connectionString, PROVIDER_TIMEOUT_MS: '1000' }
  return {
    payments,
    fakeStripe,
    fakePaypal,
    fakeAuthorizeNet,
    stripe: stripe.provider,
    paypal: paypal.provider,
    authorizeNet: authorizeNet.provider,
    env: { ...given, ...stripe.env, ...paypal.env, ...authorizeNet.env },
  }
}

/** The findings' lines, and the last one. */
export function readJson({ stdout }: Ended) {
  const lines: Record<string, unknown>[] = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  return { found: lines.slice(0, -1), summary: lines.at(-1) }
}
