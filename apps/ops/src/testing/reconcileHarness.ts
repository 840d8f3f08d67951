// Runs `payments reconcile` on a real log with fake providers over HTTP.
import { connect } from '@paylog/providers/testing/providerHarness'
import { startFakeAuthorizeNet } from '@paylog/testing/authorize-net/fakeAuthorizeNet'
import { startFakePaypal } from '@paylog/testing/paypal/fakePaypal'
import { startFakeStripe } from '@paylog/testing/stripe/fakeStripe'
import type { Test } from 'tap'
import { paymentsHarness } from './paymentsHarness.ts'
import { type CommandResult, jsonLines } from './runOps.ts'

export const reconcile = ['payments', 'reconcile']

const timeoutMs = 2_000

/** A log, fake providers, and the environment that points to them. */
export async function reconcileHarness(t: Test, { allowDouble = false } = {}) {
  const [payments, fakeStripe, fakePaypal, fakeAuthorizeNet] = await Promise.all([
    paymentsHarness(t),
    startFakeStripe(t),
    startFakePaypal(t, { allowDouble }),
    startFakeAuthorizeNet(t),
  ])
  return {
    payments,
    fakeStripe,
    fakePaypal,
    fakeAuthorizeNet,
    stripe: await connect(t, fakeStripe.env, { timeoutMs }),
    paypal: await connect(t, fakePaypal.env, { timeoutMs }),
    authorizeNet: await connect(t, fakeAuthorizeNet.env, { timeoutMs }),
    env: {
      ...payments.env,
      ...{ PROVIDER_TIMEOUT_MS: '1000', ...fakeStripe.env, ...fakePaypal.env, ...fakeAuthorizeNet.env },
    },
  }
}

/** The finding lines, and the summary line. */
export function readJson(result: CommandResult) {
  const lines = jsonLines(result)
  return { found: lines.slice(0, -1), summary: lines.at(-1) }
}
