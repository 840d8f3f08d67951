// Stripe's setup intents. https://docs.stripe.com/api/setup_intents
import type Stripe from 'stripe'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { Code } from '../fields.ts'
import type { CreateSetupIntent, ProviderSetupIntent } from '../provider.ts'
import { isMissing, type StripeApi } from './api.ts'

const setupIntent = Compile(Type.Object({ id: Code, client_secret: Type.String({ minLength: 1, maxLength: 500 }) }))

/** Lets a client save a card or a wallet. https://docs.stripe.com/api/setup_intents @throws ProviderError */
export async function createSetupIntent(
  api: StripeApi,
  { idempotency_key, provider_customer_id }: CreateSetupIntent,
): Promise<ProviderSetupIntent> {
  const create = async (customer: string | null, key: string) => {
    const params = {
      usage: 'off_session',
      // A mobile payment sheet cannot show methods that redirect out of the app.
      automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
      ...(customer === null ? {} : { customer }),
    } satisfies Stripe.SetupIntentCreateParams
    const { body } = await api.request(setupIntent, { method: 'POST', path: '/v1/setup_intents', params, key })
    return { provider_setup_intent_id: body.id, client_secret: body.client_secret }
  }
  if (provider_customer_id === null) return create(null, idempotency_key)
  try {
    // The key includes the customer, which may be another one, or none, in the next call.
    return await create(provider_customer_id, `${idempotency_key}-${provider_customer_id}`)
  } catch (error) {
    if (!isMissing(error, 'customer')) throw error
    return create(null, idempotency_key)
  }
}
