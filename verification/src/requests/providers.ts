// The fake providers behind the receivers: their payers, examples of their notifications, and their signatures.
import { createHmac } from 'node:crypto'
import { simulators } from '@paylog/providers/simulation'
import { startFakeAuthorizeNet } from '@paylog/testing/authorize-net/fakeAuthorizeNet'
import { goldenSamples } from '@paylog/testing/goldenSamples'
import { startFakePaypal } from '@paylog/testing/paypal/fakePaypal'
import { startFakeStripe } from '@paylog/testing/stripe/fakeStripe'
import type { Random } from '../campaign/random.ts'
import { oneOf } from './mutations.ts'
import type { Pool } from './pool.ts'

export type Providers = {
  readonly env: Readonly<Record<string, string>>
  /** The payer may act, and the provider then has notifications. @param payment the `data` of the response */
  pay(payment: object, random: Random): void
  /** The JSON of a notification to a receiver; `undefined` for another path. */
  notification(path: string, random: Random): string | undefined
  sign(path: string, body: Buffer): Readonly<Record<string, string>>
}

const sandboxSecret = 'sandbox-secret-of-the-requests'
const simulated =
  'payment_intent.succeeded payment_method.attached invoice.payment_failed subscription.updated customer.created'

export async function startProviders(stack: AsyncDisposableStack, pool: Pool): Promise<Providers> {
  const t = { teardown: (stop: () => unknown) => void stack.defer(async () => void (await stop())) }
  const stripe = await startFakeStripe(t)
  const paypal = await startFakePaypal(t)
  // A payer may fill in its form twice.
  const authorizeNet = await startFakeAuthorizeNet(t, { allowDouble: true })
  const sandboxEvents: object[] = []
  const examples = examplesOfNotifications()
  /** What payers caused, by receiver. */
  const caused: Readonly<Record<string, () => readonly (object | string)[]>> = {
    stripe: () => stripe.events,
    paypal: () => paypal.events.map(({ body }) => body),
    'authorize-net': () => authorizeNet.events.map(({ body }) => body),
    sandbox: () => sandboxEvents,
  }
  const outcomes = { succeeded: 6, failed: 1, processing: 1, requires_action: 1, canceled: 1 }

  function act(payment: object, random: Random): void {
    const { provider_id, provider_intent_id: id, client_secret, total_cents: amount, currency } = Object(payment)
    if (provider_id === 'paypal') paypal.approve(id)
    if (provider_id === 'authorize-net') authorizeNet.pay({ token: client_secret })
    if (provider_id === 'stripe') {
      stripe.pay(id, random.weighted(outcomes))
      if (random.isIn(0.1)) stripe.dispute(id)
    }
    if (provider_id !== 'sandbox') return
    const status = oneOf(random, ['succeeded', 'failed', 'canceled'])
    const data = { object: { id, amount, currency, status, customer: null } }
    const created = Math.floor(Date.now() / 1_000)
    sandboxEvents.push({ id: `evt_${id}`, type: `payment_intent.${status}`, created, data })
  }

  return {
    env: {
      ...{ ...stripe.env, ...paypal.env, ...authorizeNet.env },
      ...{ SANDBOX_PROVIDER: 'true', SANDBOX_WEBHOOK_SECRET: sandboxSecret },
    },
    pay(payment, random) {
      try {
        if (random.isIn(0.7)) act(payment, random)
      } catch {
        // The fakes throw at what a payer cannot do: the payment was declined, or is over.
      }
    },
    notification(path, random) {
      const provider = /^\/webhooks\/([\w-]+)$/.exec(path)?.[1] ?? ''
      const recent = caused[provider]?.().slice(random.isIn(0.5) ? -10 : -200) ?? []
      const texts = random.isIn(0.6) && recent.length > 0 ? recent : (examples.get(provider) ?? [])
      if (texts.length === 0) return undefined
      const chosen = oneOf(random, texts)
      // What a payer wrote is about their payment alone.
      const text = (typeof chosen === 'string' ? chosen : JSON.stringify(chosen)).replaceAll(/canary\.\w+\./g, 'text.')
      const payment = random.isIn(0.1) ? pool.pick('payments', { random, owner: '' }) : undefined
      return payment ? text.replaceAll(/"payment_id":"[^"]*"/g, `"payment_id":"${payment}"`) : text
    },
    sign(path, body) {
      const at = Math.floor(Date.now() / 1_000)
      const mac = (hash: string, key: string, before = `${at}.`) =>
        createHmac(hash, key).update(before).update(body).digest('hex')
      if (path.endsWith('stripe')) return { 'stripe-signature': `t=${at},v1=${mac('sha256', stripe.webhookSecret)}` }
      if (path.endsWith('sandbox')) return { 'sandbox-signature': `t=${at},v1=${mac('sha256', sandboxSecret)}` }
      if (path.endsWith('paypal')) return paypal.signed({ body: body.toString() }).headers
      return { 'x-anet-signature': `sha512=${mac('sha512', authorizeNet.signatureKey, '').toUpperCase()}` }
    },
  }
}

/** Recorded and simulated notifications, by provider. */
function examplesOfNotifications(): ReadonlyMap<string, readonly string[]> {
  const recorded = goldenSamples().flatMap(({ data }) => {
    const { provider_id, body } = Object(data)
    return typeof body === 'string' ? [[String(provider_id), body] as const] : []
  })
  const made = [...simulators].flatMap(([provider, simulator]) =>
    simulated.split(' ').map((generic_type) => {
      const about = { payload: {}, id: '018f0000-0000-7000-8000-000000000000', at: new Date() }
      const type = simulator.nativeType(generic_type) ?? generic_type
      return [provider, simulator.simulate({ type, generic_type, ...about }).body] as const
    }),
  )
  const all = Map.groupBy([...recorded, ...made], ([provider]) => provider)
  return new Map([...all].map(([provider, bodies]) => [provider, bodies.map(([, body]) => body)]))
}
