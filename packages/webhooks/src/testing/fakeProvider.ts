// A fake provider in this process: keeps intents, honours idempotency keys, and fails or delays calls on request.
import type { PaymentStatus } from '@paylog/domain/payments/payment'
import { type IntentSnapshot, type Provider, ProviderError } from '@paylog/providers/provider'
import { createSandbox } from '@paylog/providers/sandbox/sandbox'
import { createChargeLedger } from '@paylog/testing/fakeServer'
import type { Test } from 'tap'

export type FakeProvider = Provider & {
  /** All calls in order, each with its idempotency key or intent id. */
  readonly calls: readonly string[]
  /** The successful charges. Charging a payment twice fails the test. */
  readonly charges: readonly unknown[]
  /** Sets an intent's status at the provider; `approved` waits for a capture. */
  set(intentId: string, status: PaymentStatus | 'approved'): void
  /** Awaited by every call before it has an effect. */
  before: () => Promise<void>
  /** Awaited by every call after it had its effect. */
  after: () => Promise<void>
}

/** For `before` and `after`: makes the call fail. */
export const fails = (kind: 'unknown' | 'unavailable') => async (): Promise<never> => {
  throw new ProviderError(kind, kind === 'unknown' ? 'timeout' : 'connection_refused', 'The provider is down')
}
export const passes = async (): Promise<void> => undefined

let providerCount = 0

/**
 * Each provider has a unique id, so that the workers of one test ignore the payments of another.
 * @param overrides replaces or removes capabilities; notifications are those of the sandbox
 */
export function createFakeProvider(t: Test, overrides: Partial<Provider> = {}): FakeProvider {
  const intents = new Map<string, { id: string; payment_id: string; status: PaymentStatus | 'approved' }>()
  const ledger = createChargeLedger(t)
  const calls: string[] = []
  const find = (id: string) => [...intents.values()].find((intent) => intent.id === id)

  async function call<Result>(name: string, act: () => Result): Promise<Result> {
    calls.push(name)
    await fake.before()
    const result = act()
    await fake.after()
    return result
  }

  const snapshot = (id: string, status: PaymentStatus | 'approved'): IntentSnapshot => ({
    report: {
      status: status === 'approved' ? 'processing' : status,
      provider_time: new Date().toISOString(),
      provider_event_id: null,
      provider_intent_id: id,
      provider_payment_id: status === 'succeeded' ? `charge-${id}` : null,
      amount_cents: 2200,
      currency: 'USD',
    },
    further_charges: [],
    awaits_capture: status === 'approved',
  })

  const fake: FakeProvider = {
    ...createSandbox({ webhookSecrets: ['secret'] }),
    id: `fake-${providerCount++}`,
    calls,
    charges: ledger.charges,
    before: passes,
    after: passes,
    set(intentId, status) {
      const intent = find(intentId)
      if (!intent) throw new Error(`Unknown intent ${intentId}`)
      intent.status = status
    },
    createIntent: ({ idempotency_key, payment_id }) =>
      call(`create ${idempotency_key}`, () => {
        const intent = intents.get(idempotency_key) ?? {
          id: `intent-${intents.size}-${payment_id}`,
          payment_id,
          status: 'pending',
        }
        intents.set(idempotency_key, intent)
        return { provider_intent_id: intent.id, client_secret: 'secret' }
      }),
    retrieveIntent: ({ provider_intent_id: id }) =>
      call(`retrieve ${id}`, () => {
        const intent = find(id)
        return intent ? snapshot(id, intent.status) : null
      }),
    cancelIntent: ({ provider_intent_id: id }) =>
      call(`cancel ${id}`, () => {
        const intent = find(id)
        if (intent && intent.status !== 'succeeded') intent.status = 'canceled'
        return intent ? snapshot(id, intent.status) : null
      }),
    findPaymentId: async ({ provider_intent_id }) => find(provider_intent_id ?? '')?.payment_id ?? null,
    captureIntent: ({ provider_intent_id: id, payment_id, idempotency_key }) =>
      call(`capture ${idempotency_key}`, () => {
        if (find(id)?.status === 'approved') {
          fake.set(id, 'succeeded')
          ledger.add({ charge_id: `charge-${id}`, intent_id: id, payment_id, amount_cents: 2200, currency: 'USD' })
        }
        return snapshot(id, find(id)?.status ?? 'failed')
      }),
    ...overrides,
  }
  return fake
}
