// The setup intent route under test, with a provider that stores setup intents by idempotency key.
import { providerCustomerFold } from '@paylog/domain/providerCustomer'
import type { EventStore } from '@paylog/event-store/eventStore'
import { providerCustomerStream, setupIntentStream } from '@paylog/event-store/streamName'
import {
  type CreateSetupIntent,
  type Provider,
  ProviderError,
  type ProviderErrorKind,
} from '@paylog/providers/provider'
import { createSandbox } from '@paylog/providers/sandbox/sandbox'
import type { Test } from 'tap'
import { requestIdentity } from '../idempotency.ts'
import { ada, adaId, commandApiHarness } from './commandApiHarness.ts'

export const url = '/payment-methods/setup-intent'
export const sandbox = createSandbox({ webhookSecrets: ['secret'] })

/** The stream of the setup intent that Ada's request with this key creates. */
export function streamOf(key: { readonly 'idempotency-key': string }): string {
  const actor = { user_id: adaId, user_type: 'user', user_email: null, is_administrator: false }
  const session = { kind: 'session', ...actor } as const
  // The id of a session's request needs no keyed hash.
  return setupIntentStream(requestIdentity(String, key['idempotency-key'], session, `POST ${url}`, {}).id)
}

/** Records a user's customer at a provider. */
export async function linkCustomer(
  store: EventStore,
  customer: { readonly provider_id: string; readonly user_id: string; readonly provider_customer_id: string },
): Promise<void> {
  await store.handle({
    stream: providerCustomerStream(customer.provider_id, customer.user_id),
    fold: providerCustomerFold,
    decide: () => [{ type: 'ProviderCustomerLinked', data: { ...customer, occurred_at: new Date().toISOString() } }],
    metadata: { correlationId: 'test', causationId: 'test', actor: 'operator' },
  })
}

/** Each test of `t` starts with a fresh state. */
export async function setupIntentsHarness(
  t: Test,
  options: Pick<NonNullable<Parameters<typeof commandApiHarness>[1]>, 'log'> = {},
) {
  const card = {
    calls: [] as CreateSetupIntent[],
    made: new Map<string, string>(),
    /** The kind of error that all calls fail with. */
    fails: undefined as ProviderErrorKind | undefined,
    /** Calls wait for this. */
    delay: undefined as Promise<unknown> | undefined,
  }
  const provider: Provider = {
    ...sandbox,
    id: 'stripe',
    async createSetupIntent(request) {
      card.calls.push(request)
      await card.delay
      if (card.fails) throw new ProviderError(card.fails, 'some_code', 'Message for the caller')
      const id = card.made.get(request.idempotency_key) ?? `seti_${card.made.size + 1}`
      card.made.set(request.idempotency_key, id)
      return { provider_setup_intent_id: id, client_secret: `${id}_secret` }
    },
  }
  const api = await commandApiHarness(t, { ...options, providers: [provider], timing: { readRetryTimeoutMs: 4_000 } })
  const { app, backend, providers } = api
  t.beforeEach(() => {
    Object.assign(card, { calls: [], fails: undefined, delay: undefined })
    card.made.clear()
    backend.breakWith(undefined)
    providers.clear()
    providers.set(provider.id, provider)
  })
  return {
    ...api,
    card,
    /** @param payload a string as it is, anything else as JSON; none if omitted */
    post: (payload?: unknown, headers: Record<string, string> = ada) =>
      app.inject({
        method: 'POST',
        url,
        headers: payload === undefined ? headers : { 'content-type': 'application/json', ...headers },
        ...(payload === undefined ? {} : { payload: typeof payload === 'string' ? payload : JSON.stringify(payload) }),
      }),
  }
}
